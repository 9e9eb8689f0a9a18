package tables

import (
	"context"

	"github.com/barograph/barograph/engine"
)

// The abilities that an engine promises, one for each function of Databases.
const (
	OwnTables     engine.Ability = "own tables"   // Databases.Own
	StarOverDisks engine.Ability = "star"         // Databases.Star
	ObjectStore   engine.Ability = "object store" // Databases.Lake
)

// Databases opens the tables of a database. A nil function means "cannot".
type Databases struct {
	Own  func(ctx context.Context) (*Tables, error)
	Star Scans
	Lake func(ctx context.Context, s engine.Store) (*Lake, error)
}

// Of is the ability of an open database. It is never nil.
func Of(e *engine.Engine) *Databases {
	if d := engine.Find[*Databases](e); d != nil {
		return d
	}
	return &Databases{}
}
