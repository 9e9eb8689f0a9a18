package archive

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// Offer is what an engine promises of verification archives: an element of
// engine.Driver.Abilities. Promised = delivered: the suite asks every case in every
// flavour of every design.
type Offer struct {
	Designs map[design.Name][]flavour.Name
	Means   []design.Name // those under which questions with Mean are answered, by the engine alone
}

// Promised is what a driver offers. An engine that keeps no archives has no designs.
func Promised(d *engine.Driver) Offer { return engine.Promised[Offer](d) }

// Of is the ability of an open database; nil = it keeps no archives. Every call of an
// archive that it opens fails after the engine's file was replaced.
func Of(e *engine.Engine) Database {
	db := engine.Find[Database](e)
	if db != nil && e.File != nil {
		return placed{db, *e.File}
	}
	return db
}

// Keeps reports whether an engine keeps verification archives.
func Keeps(d *engine.Driver) bool { return len(Promised(d).Designs) > 0 }

// Require refuses an engine that keeps no verification archives.
func Require(r engine.Registry, d *engine.Driver) error {
	if Keeps(d) {
		return nil
	}
	return &fault.Error{Setting: "engine " + d.Scheme, Problem: "keeps no verification archives", Cure: "choose one of " + strings.Join(r.Those(Keeps), ", ")}
}

// Flavours are those that an engine offers under a design.
func Flavours(d *engine.Driver, n design.Name) []flavour.Name { return Promised(d).Designs[n] }

// Designs are those that the engine offers, in the documented order, then its own.
func Designs(d *engine.Driver) []design.Name {
	offered := Promised(d).Designs
	var out []design.Name
	for _, n := range append(design.Names(), slices.Sorted(maps.Keys(offered))...) {
		if _, ok := offered[n]; ok && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Express reports whether the engine can be asked a question in a flavour under
// a design; the error wraps flavour.ErrCannotExpress. Whether the flavour can express the
// question's times is not known before the question is phrased.
func Express(d *engine.Driver, n design.Name, f flavour.Name, q *question.Question) error {
	if q.Mean != "" && !slices.Contains(Promised(d).Means, n) {
		return fmt.Errorf("%s, %s: the engine computes no means: %w", d.Scheme, n, flavour.ErrCannotExpress)
	}
	if slices.Contains(Flavours(d, n), f) {
		return nil
	}
	return fmt.Errorf("%s, %s, %s: %w", d.Scheme, n, f, flavour.ErrCannotExpress)
}
