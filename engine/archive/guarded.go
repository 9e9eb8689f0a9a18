package archive

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
)

// guardedDatabase opens archives whose calls fail after the engine's file or folder was replaced.
type guardedDatabase struct {
	Database
	location engine.Location
}

func (g guardedDatabase) Open(ctx context.Context, n design.Name) (Archive, error) {
	a, err := g.Database.Open(ctx, n)
	if err != nil {
		return nil, err
	}
	return errorWrapper{a, func(err error) error { // it also sees nil: a call that succeeded on the replaced file must fail
		if replaced := g.location.CheckReplaced(); replaced != nil {
			return replaced
		}
		return err
	}}, nil
}
