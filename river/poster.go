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
	Updated        // it replaced another
	Unchanged      // it is stored already
	Kept           // the stored value stays, by the policy or because a later product wrote it
	Rejected       // out of its gross range, or called bad: in rejecteddata
	Unknown        // of a station that the database does not have
	Inactive       // of one that is not posted (location.post)
	Filtered       // the ingest filter has it off, or not at all
	Outside        // the time window
	Posted         // the engine does not report whether it was inserted, updated or unchanged
	Refused        // the database refuses it, even when it is posted by itself
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
	// Post posts products, those of a station in their order, durably, and reports the fate of the
	// values of each. It is one transaction, except for a large backlog into Barograph's own tables
	// of a server, which is one for each connection: after an error some of it may be stored, and
	// posting it again completes it.
	Post(ctx context.Context, products []*Product) ([]Tally, error)
	// Reload reads anew what the poster goes by.
	Reload(ctx context.Context) error
	// Again reports whether an error is of the connection, of the database or of a
	// conflict, so that the same is tried until it succeeds; others are of what was
	// posted.
	Again(err error) bool
	Close() error
}

// settler posts products and finds what the database refuses of them.
type settler struct {
	to   Poster
	post func([]*Product) ([]Tally, error)
	// wait is called before the next attempt. refused: a single value was refused, which may be a
	// conflict with another session. Its error ends the posting.
	wait    func(err error, refused bool) error
	checked bool // the tables that the poster needs existed after the last error
}

// mostRefusals bounds the reasons that a product keeps; its Tally counts all.
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
		refused := !x.to.Again(err)
		if !refused || !x.checked { // once for all values that are refused: it reads every station
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
		broken := !errors.Is(err, engine.ErrUnreachable) // while it was posted: less may fit between two crashes
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

// Post posts the products of texts once, in batches, and gives what became of
// each.
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
