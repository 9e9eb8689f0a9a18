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

// Offer lists what an engine promises for verification archives. It is an element of
// engine.Driver.Offers. The suite tests the promise: it sends every case in every flavour
// of every design.
type Offer struct {
	Designs     map[design.Name][]flavour.Name
	MeanDesigns []design.Name // the designs in which the engine itself computes the results of questions with Mean
	NoTrim      bool          // its loaders cannot remove records: Trim returns errors.ErrUnsupported
}

// SQLOffer is the usual offer of an SQL engine in these designs. The engine computes means in each of them.
func SQLOffer(designs ...design.Name) Offer {
	all := map[design.Name][]flavour.Name{
		design.Normalized: {flavour.MetviewerSQL, flavour.SQL, flavour.ISORange, flavour.EpochRange},
		design.Document:   {flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys},
		design.Wide:       {flavour.SQL, flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange},
	}
	maps.DeleteFunc(all, func(n design.Name, _ []flavour.Name) bool { return !slices.Contains(designs, n) })
	return Offer{Designs: all, MeanDesigns: designs}
}

// OfferOf returns a driver's offer. The offer of an engine without archives has no designs.
func OfferOf(d *engine.Driver) Offer { return engine.OfferOf[Offer](d) }

// DatabaseOf returns the archive database of an open engine; nil = the engine has no archives. If the engine's file is
// replaced, every later call of its archives returns an error.
func DatabaseOf(e *engine.Engine) Database {
	db := engine.Find[Database](e)
	if db != nil && e.File != nil {
		return guardedDatabase{db, *e.File}
	}
	return db
}

// IsOffered reports whether an engine offers verification archives.
func IsOffered(d *engine.Driver) bool { return len(OfferOf(d).Designs) > 0 }

// Require returns an error if an engine offers no verification archives.
func Require(r engine.Registry, d *engine.Driver) error {
	if IsOffered(d) {
		return nil
	}
	return &fault.Error{Setting: "engine " + d.Scheme, Problem: "offers no verification archives", Cure: "choose one of " + strings.Join(r.SchemesWhere(IsOffered), ", ")}
}

// Flavours returns the flavours that an engine offers for a design.
func Flavours(d *engine.Driver, n design.Name) []flavour.Name { return OfferOf(d).Designs[n] }

// Designs returns the designs that an engine offers: the documented ones in their order, then its own.
func Designs(d *engine.Driver) []design.Name {
	offered := OfferOf(d).Designs
	var out []design.Name
	for _, n := range append(design.Names(), slices.Sorted(maps.Keys(offered))...) {
		if _, ok := offered[n]; ok && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// CanExpress reports whether the engine can answer a question in a flavour of a design. The
// error wraps flavour.ErrCannotExpress. CanExpress cannot decide whether the flavour can
// express the question's times; only Archive.Phrase does.
func CanExpress(d *engine.Driver, n design.Name, f flavour.Name, q *question.Question) error {
	if q.Mean != "" && !slices.Contains(OfferOf(d).MeanDesigns, n) {
		return fmt.Errorf("%s, %s: the engine computes no means: %w", d.Scheme, n, flavour.ErrCannotExpress)
	}
	if slices.Contains(Flavours(d, n), f) {
		return nil
	}
	return fmt.Errorf("%s, %s, %s: %w", d.Scheme, n, f, flavour.ErrCannotExpress)
}
