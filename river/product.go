// Package river brings products of SHEF into a database that a river forecast
// centre works with, once or as a service: IHFS, the Weather Service's own, into
// tables that exist, and the tables of Barograph's post workload. A product
// posted twice changes nothing, and nothing is emptied.
package river

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // no secret: two copies of a product are alike
	"errors"
	"io"
	"time"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// Product is a decoded product on its way.
type Product struct {
	ID      string    // CCCC and AWIPS id as IHFS has it, at most 10 characters
	Issued  time.Time // of its heading, else when it was received
	Values  []record.Gauge
	Account shef.Account // of its text
	Left    int          // values that a filter left out
	Sum     [md5.Size]byte
}

// noHeading is what AWIPS calls a product without a WMO heading.
const noHeading = "MSGPRODID"

// Input says how texts are read.
type Input struct {
	shef.Options
	Filter shef.Filter
}

// Read gives the products of a text as they end. received is the time of those
// that have no heading, and decides years where Now does not. A product is its
// receiver's.
func (in *Input) Read(r io.Reader, name string, received time.Time, each func(*Product) error) error {
	o := in.Options
	if o.Now.IsZero() {
		o.Now = received
	}
	split, decoder, sum := shef.NewSplitter(r, name, o.Now), shef.NewDecoder(o), md5.New() //nolint:gosec // no secret
	var text shef.Product
	var out shef.Result
	var p *Product
	send := func() error {
		if p == nil {
			return nil
		}
		done := p
		p = nil
		done.Left = in.Filter.Apply(&done.Values)
		sum.Sum(done.Sum[:0])
		return each(done)
	}
	for {
		if err := split.Next(&text); errors.Is(err, io.EOF) {
			return send()
		} else if err != nil {
			return errors.Join(err, send())
		}
		if p == nil {
			p = &Product{ID: productID(&text), Issued: received.UTC().Truncate(time.Second)}
			if text.Issued != record.NoTime {
				p.Issued = time.Unix(text.Issued, 0).UTC()
			}
			sum.Reset()
		}
		decoder.Decode(&text, &out)
		p.Values = append(p.Values, out.Values...)
		p.Account.Add(&out.Account)
		sum.Write(bare(&text))
		if text.Last {
			if err := send(); err != nil {
				return err
			}
		}
	}
}

// bare is a text without what differs between two ways of sending one product:
// what stands before its heading, blanks, ends of lines and control characters.
func bare(p *shef.Product) []byte {
	text := p.Text
	if at := bytes.Index(text, []byte(p.Heading)); at >= 0 && p.Part == 1 {
		text = text[at:]
	}
	return bytes.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, text)
}

func productID(p *shef.Product) string {
	if p.Heading == "" {
		return noHeading
	}
	id := p.Heading[7:11] + p.AWIPS
	return id[:min(len(id), 10)]
}

// Fate is what became of a value.
type Fate byte

// The fates; each value has one.
const (
	Inserted  Fate = iota
	Updated        // it replaced another
	Unchanged      // it is there already
	Kept           // what is there stays, by the policy or as it is of a later product
	Rejected       // out of its gross range, or called bad: in rejecteddata
	Unknown        // of a station that the database does not have
	Inactive       // of one that is not posted (location.post)
	Filtered       // the ingest filter has it off, or not at all
	Outside        // the time window
	Posted         // whether it was inserted, updated or there already, the engine does not tell
	numFates
)

// Fates are the names of all, in their order.
func Fates() []string {
	return []string{"inserted", "updated", "unchanged", "kept", "rejected", "unknown", "inactive", "filtered", "outside", "posted"}
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
	// Post posts products in their order, all or none, durable when it returns,
	// and tells what became of each one's values.
	Post(ctx context.Context, products []*Product) ([]Tally, error)
	// Reload reads anew what the poster goes by.
	Reload(ctx context.Context) error
	// Again reports whether an error is of the connection or of a conflict, so
	// that the same may be tried again; others are of what was posted.
	Again(err error) bool
	Close() error
}
