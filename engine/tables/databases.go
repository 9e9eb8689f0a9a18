package tables

import (
	"context"
	"slices"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
)

// Ability names a function of Databases, which a driver promises separately. In package engine, an ability is a complete
// contract, such as *Databases.
type Ability string

// The abilities.
const (
	OwnTables     Ability = "own tables"   // Databases.Own
	StarOverDisks Ability = "star"         // Databases.Star
	ObjectStore   Ability = "object store" // Databases.Lake
)

// Offer lists what an engine promises. It is an element of engine.Driver.Offers.
type Offer []Ability

// Offers reports whether a driver offers an ability.
func Offers(d *engine.Driver, a Ability) bool { return slices.Contains(engine.OfferOf[Offer](d), a) }

// Databases opens the tables of a database. If a function is nil, the engine does not offer it.
type Databases struct {
	// Own opens a user's own tables. It keeps the tables of an earlier run if keep is set, and otherwise removes them.
	Own  func(ctx context.Context, keep bool) (*Tables, error)
	Star Scans
	Lake func(ctx context.Context, s launch.Store) (*Lake, error)
}

// DatabasesOf returns the Databases of an open engine. It is never nil.
func DatabasesOf(e *engine.Engine) *Databases {
	if d := engine.Find[*Databases](e); d != nil {
		return d
	}
	return &Databases{}
}
