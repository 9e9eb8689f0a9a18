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

// Fate is what the poster did with a value, such as inserting or rejecting it.
type Fate byte

// The fates; each value has one.
const (
	Inserted  Fate = iota
	Updated        // replaced the stored value
	Unchanged      // was stored already
	Kept           // not stored: the stored value stays, by the policy or because a later product wrote it
	Rejected       // stored in rejecteddata: out of its gross range, or marked bad by the sender
	Unknown        // the database does not have the station; Tokens.Unknown decides what is stored
	Inactive       // not stored: the database does not want values of the station (location.post)
	Filtered       // not stored: the ingest filter excludes the series, or does not contain it
	Outside        // not stored: outside the time window
	Posted         // accepted by an engine that does not report whether it was inserted, updated or unchanged
	Refused        // not stored: the database returns an error even if it is posted by itself
	numFates
)

// Fates returns the names of all fates, in their order.
func Fates() []string {
	return []string{
		"inserted", "updated", "unchanged", "kept", "rejected", "unknown", "inactive", "filtered", "outside", "posted", "refused",
	}
}

// Tally counts values by their fates.
type Tally [numFates]int64

// Add adds the counts of another tally.
func (t *Tally) Add(o Tally) {
	for i := range t {
		t[i] += o[i]
	}
}

// Values returns the number of all values.
func (t *Tally) Values() (n int64) {
	for _, k := range t {
		n += k
	}
	return n
}

// Poster posts products. Only one goroutine may use it.
type Poster interface {
	// Post posts products durably, those of a station in their order, and returns a Tally for each. It is one
	// transaction, except for an Archive with several Posters: after an error some values may be stored, and posting the
	// products again stores the others.
	Post(ctx context.Context, products []*Product) ([]Tally, error)
	// Reload opens a lost connection, and reads the tables of stations and filters again.
	Reload(ctx context.Context) error
	// IsTemporary reports whether a later attempt may succeed: the error concerns the connection, the server, or a
	// conflict with another session. All other errors concern the posted values.
	IsTemporary(err error) bool
	Close() error
}

// bisector posts products and finds the values that the database refuses.
type bisector struct {
	poster Poster
	post   func([]*Product) ([]Tally, error)
	// wait is called before the next attempt. refused = the database refused a single value, possibly because of another
	// session. An error of wait ends the posting.
	wait     func(err error, refused bool) error
	reloaded bool // Reload succeeded after an error, so the tables that the poster needs exist
}

// maxRefusals limits Product.Refusals; the Tally counts all refused values.
const maxRefusals = 20

// postAccepted posts products. It finds the values that the database refuses by bisection. Their fate is Refused, and
// it posts the accepted values. An error of the database itself, such as a full disk, never counts as a refusal,
// because the service would then move every file to failed/.
func (x *bisector) postAccepted(ctx context.Context, products []*Product) ([]Tally, error) {
	values := 0
	for _, p := range products {
		values += len(p.Values)
	}
	for refusals := 0; ; {
		tallies, err := x.post(products)
		if err == nil {
			return tallies, nil
		}
		refused := !x.poster.IsTemporary(err)
		if !refused || !x.reloaded { // once for all refused values, because Reload reads every station
			x.reloaded = x.poster.Reload(ctx) == nil
			refused = refused && x.reloaded
		}
		if refused && (len(products) > 1 || values > 1) {
			break
		}
		if refused {
			refusals++
		}
		if refusals >= attempts {
			p := products[0]
			what := "product " + p.ID
			if len(p.Values) > 0 {
				what = describe(&p.Values[0])
			}
			p.Refusals = []string{fmt.Sprintf("the database refuses %s: %v", what, err)}
			return []Tally{{Refused: int64(values)}}, nil
		}
		wasReachable := !errors.Is(err, engine.ErrUnreachable)
		if err := x.wait(err, refused); err != nil {
			return nil, err
		}
		if wasReachable && len(products) > 1 { // if a server crashes repeatedly, half of them may succeed
			break
		}
	}
	if len(products) > 1 {
		first, err := x.postAccepted(ctx, products[:len(products)/2])
		if err != nil {
			return nil, err
		}
		second, err := x.postAccepted(ctx, products[len(products)/2:])
		return append(first, second...), err
	}
	p := products[0]
	total := make([]Tally, 1)
	for _, values := range [][]record.Gauge{p.Values[:values/2], p.Values[values/2:]} {
		half := *p
		half.Values, half.Refusals = values, nil
		tallies, err := x.postAccepted(ctx, []*Product{&half})
		if err != nil {
			return nil, err
		}
		total[0].Add(tallies[0])
		p.Refusals = append(p.Refusals, half.Refusals[:min(len(half.Refusals), maxRefusals-len(p.Refusals))]...)
	}
	return total, nil
}

// Post posts the products of texts once, in batches, and calls each with the Tally of every product.
func Post(
	ctx context.Context, texts *formats.Texts, in *Input, poster Poster, each func(p *Product, t Tally) error,
) error {
	var all []*Product
	values := 0
	x := bisector{poster: poster}
	x.post = func(products []*Product) ([]Tally, error) { return poster.Post(ctx, products) }
	x.wait = func(err error, refused bool) error {
		if refused {
			return nil
		}
		return err
	}
	flush := func() error {
		x.reloaded = false
		tallies, err := x.postAccepted(ctx, all)
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

// describe identifies a value in messages.
func describe(g *record.Gauge) string {
	return fmt.Sprintf("%s %s %s = %v", g.Station, g.Code, time.Unix(g.Time, 0).UTC().Format(time.RFC3339), g.Value)
}
