package river

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/record"
)

// Fate is what became of a value.
type Fate byte

// The fates; each value has one.
const (
	Inserted  Fate = iota
	Updated        // replaced the stored value
	Unchanged      // was stored already
	Kept           // not stored: the stored value stays, by the policy or because a later product wrote it
	Rejected       // stored in rejecteddata: out of its gross range, or marked bad by the sender
	Unknown        // the database does not have the station; Tokens.Unknown decides what is stored
	Inactive       // not stored: the station is not to be posted (location.post)
	Filtered       // not stored: the ingest filter excludes the series, or does not contain it
	Outside        // not stored: outside the time window
	Posted         // accepted by an engine that does not report whether it was inserted, updated or unchanged
	Refused        // not stored: the database returns an error even if it is posted by itself
	numFates
)

// Fates are the names of all, in their order.
func Fates() []string {
	return []string{"inserted", "updated", "unchanged", "kept", "rejected", "unknown", "inactive", "filtered", "outside", "posted", "refused"}
}

// Tally counts values by what became of them.
type Tally [numFates]int64

// Add adds another.
func (t *Tally) Add(o Tally) {
	for i := range t {
		t[i] += o[i]
	}
}

// Values is their number.
func (t *Tally) Values() (n int64) {
	for _, k := range t {
		n += k
	}
	return n
}

// Poster posts products. It is used by one goroutine.
type Poster interface {
	// Post posts products durably, those of a station in their order, and returns a Tally for each. It
	// is one transaction, except for an Archive with several Posters: after an error some values may be
	// stored, and posting the products again stores the others.
	Post(ctx context.Context, products []*Product) ([]Tally, error)
	// Reload opens a lost connection, and reads the tables of stations and filters again.
	Reload(ctx context.Context) error
	// IsTemporary reports whether a later attempt may succeed: the error concerns the connection, the
	// server, or a conflict with another session. All other errors concern the posted values.
	IsTemporary(err error) bool
	Close() error
}

// settler posts products and finds the values that the database refuses.
type settler struct {
	to   Poster
	post func([]*Product) ([]Tally, error)
	// wait is called before the next attempt. refused = a single value was refused, possibly because of
	// another session. An error of wait ends the posting.
	wait    func(err error, refused bool) error
	checked bool // the tables that the poster needs existed after the last error
}

// mostRefusals limits Product.Refusals; the Tally counts all refused values.
const mostRefusals = 20

// settle posts products. It finds what the database refuses by bisection, down to single values:
// those are Refused, and it posts everything else. A fault of the database itself never counts as
// refused, because a full disk would then set everything aside.
func (x *settler) settle(ctx context.Context, products []*Product) ([]Tally, error) {
	values := 0
	for _, p := range products {
		values += len(p.Values)
	}
	for attempt := 1; ; attempt++ {
		tallies, err := x.post(products)
		if err == nil {
			return tallies, nil
		}
		refused := !x.to.IsTemporary(err)
		if !refused || !x.checked { // once for all refused values, because Reload reads every station
			x.checked = x.to.Reload(ctx) == nil
			refused = refused && x.checked
		}
		if refused && (len(products) > 1 || values > 1) {
			break
		}
		if refused && attempt >= attempts {
			p := products[0]
			what := "product " + p.ID
			for i := range p.Values {
				what = describe(&p.Values[i])
			}
			p.Refusals = []string{fmt.Sprintf("the database refuses %s: %v", what, err)}
			return []Tally{{Refused: int64(values)}}, nil
		}
		// If a server crashes during a transaction, a smaller one may succeed between two crashes.
		broken := !errors.Is(err, engine.ErrUnreachable)
		if err := x.wait(err, refused); err != nil {
			return nil, err
		}
		if broken && len(products) > 1 {
			break
		}
	}
	if len(products) > 1 {
		first, err := x.settle(ctx, products[:len(products)/2])
		if err != nil {
			return nil, err
		}
		second, err := x.settle(ctx, products[len(products)/2:])
		return append(first, second...), err
	}
	p := products[0]
	total := make([]Tally, 1)
	for _, half := range [][]record.Gauge{p.Values[:values/2], p.Values[values/2:]} {
		part := *p
		part.Values, part.Refusals = half, nil
		one, err := x.settle(ctx, []*Product{&part})
		if err != nil {
			return nil, err
		}
		total[0].Add(one[0])
		p.Refusals = append(p.Refusals, part.Refusals[:min(len(part.Refusals), mostRefusals-len(p.Refusals))]...)
	}
	return total, nil
}

// Post posts the products of texts once, in batches, and calls each with the Tally of every product.
func Post(ctx context.Context, texts *formats.Texts, in *Input, to Poster, each func(p *Product, t Tally) error) error {
	var all []*Product
	values := 0
	x := settler{to: to}
	x.post = func(products []*Product) ([]Tally, error) { return to.Post(ctx, products) }
	x.wait = func(err error, refused bool) error {
		if refused {
			return nil
		}
		return err
	}
	flush := func() error {
		x.checked = false
		tallies, err := x.settle(ctx, all)
		for i := 0; i < len(tallies) && err == nil; i++ {
			err = each(all[i], tallies[i])
		}
		all, values = nil, 0
		return err
	}
	for name, text := range texts.All() {
		received := time.Now()
		if info, err := os.Stat(name); err == nil {
			received = info.ModTime()
		}
		err := in.Read(text, name, received, func(p *Product) error {
			all, values = append(all, p), values+len(p.Values)
			if len(all) < BatchProducts && values < batchValues && name != formats.Stdin {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
	}
	return flush()
}

// describe names a value.
func describe(g *record.Gauge) string {
	return fmt.Sprintf("%s %s %s = %v", g.Station, g.Code, time.Unix(g.Time, 0).UTC().Format(time.RFC3339), g.Value)
}
