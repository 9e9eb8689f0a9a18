package archive

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
)

// placed opens archives whose every call fails after the file or folder was replaced.
type placed struct {
	Database
	at engine.Location
}

func (p placed) Open(ctx context.Context, n design.Name) (Archive, error) {
	a, err := p.Database.Open(ctx, n)
	if err != nil {
		return nil, err
	}
	return explained{a, func(err error) error {
		if replaced := p.at.Replaced(); replaced != nil {
			return replaced
		}
		return err
	}}, nil
}
