package post

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/synth"
)

// Message is a product on its way: its text, decoded, how long that took, and
// what became of it. It is valid until the next step.
type Message struct {
	posts.Message
	Text    []byte
	Parse   time.Duration
	Account shef.Account
}

// Source gives products in the order of their posting. It can be walked more
// than once.
type Source interface {
	Products() iter.Seq2[*Message, error]
	// Words describes the source.
	Words() string
	// Moment decides the years of dates without one.
	Moment() time.Time
}

// Feed is a synthetic feed: every product is made as text and decoded.
type Feed struct {
	*synth.Feed
	Text string // in words
}

// Words describes the feed.
func (f Feed) Words() string { return f.Text }

// Moment is the middle of the feed.
func (f Feed) Moment() time.Time { return f.Now() }

// Products decodes the feed's products.
func (f Feed) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		d := shef.NewDecoder(shef.Options{Now: f.Now()})
		var made synth.Message
		var result shef.Result
		var m Message
		for i := range f.Messages {
			f.Make(i, &made)
			p := shef.Product{File: "feed", Number: i + 1, Part: 1, Line: 1, Heading: made.Heading, AWIPS: made.AWIPS, Issued: made.Issued, Text: made.Text}
			began := time.Now()
			d.Decode(&p, &result)
			m.Parse = time.Since(began)
			m.Message = posts.Message{Product: made.AWIPS, Issued: made.Issued, Values: result.Values}
			m.Text, m.Account = made.Text, result.Account
			if !yield(&m, nil) {
				return
			}
		}
	}
}

// Files are SHEF files.
type Files struct {
	*formats.Texts
	Now  time.Time // decides years
	Text string
}

// Words describes the files.
func (f Files) Words() string { return f.Text }

// Moment is that of the call.
func (f Files) Moment() time.Time { return f.Now }

// Products decodes the files' products; a file that cannot be read is passed over.
func (f Files) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		d := decoded{o: shef.Options{Now: f.Now}}
		for path, text := range f.All() {
			if !d.each(path, text, yield) {
				return
			}
		}
	}
}

// decoded joins the parts of products.
type decoded struct {
	o      shef.Options
	result shef.Result
	m      Message
}

// each gives the products of a text; false = no more are wanted.
func (d *decoded) each(name string, text io.Reader, yield func(*Message, error) bool) bool {
	r := shef.NewReader(text, name, d.o)
	pending := false
	send := func() bool { return !pending || yield(&d.m, nil) }
	for {
		began := time.Now()
		err := r.Next(&d.result)
		took := time.Since(began)
		if errors.Is(err, io.EOF) {
			return send()
		}
		if err != nil {
			yield(nil, err)
			return false
		}
		if d.result.Product.Part == 1 {
			if !send() {
				return false
			}
			d.m = Message{Message: posts.Message{Product: productID(&d.result.Product), Issued: d.result.Product.Issued, Values: d.m.Values[:0]}, Text: d.m.Text[:0]}
			pending = true
		}
		d.m.Text = append(d.m.Text, r.Text()...)
		d.m.Values = append(d.m.Values, d.result.Values...)
		d.m.Parse += took
		d.m.Account.Add(&d.result.Account)
	}
}

// productID is the AWIPS id, or the begin of the heading.
func productID(p *shef.Product) string {
	id := p.AWIPS
	if id == "" {
		id = p.Heading
	}
	return id[:min(len(id), 10)]
}

// shift adds a number to values, which makes updates of inserts; missing ones
// stay missing.
func shift(by float64) func(*record.Gauge) {
	return func(g *record.Gauge) {
		if !g.IsMissing() {
			g.Value += by
		}
	}
}

// rename gives a station another name: one that a second poster posts.
func rename(station *record.ID) { station[min(station.Len(), 7)] = '_' }

// Contents is what a source holds.
type Contents struct {
	Stations []record.ID
	Series   []posts.Series
	Read     run.DecodeCounts
	First    int64 // moment of an observation; record.NoTime = there is none
}

// Survey walks a source once.
func Survey(ctx context.Context, s Source) (*Contents, error) {
	c := &Contents{First: record.NoTime}
	known, all := map[record.ID]bool{}, map[posts.Series]bool{}
	var last posts.Series
	for m, err := range s.Products() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		c.Read.Products++
		c.Read.Values += int64(len(m.Values))
		c.Read.Lost += m.Account.Lost
		c.Read.Errors += m.Account.Errors
		c.Read.Warnings += m.Account.Warnings
		for i := range m.Values {
			g := &m.Values[i]
			if c.First == record.NoTime || g.Time < c.First {
				c.First = g.Time
			}
			x := posts.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
			if x == last {
				continue
			}
			last = x
			if !known[x.Station] {
				known[x.Station] = true
				c.Stations = append(c.Stations, x.Station)
			}
			if !all[x] {
				all[x] = true
				c.Series = append(c.Series, x)
			}
		}
	}
	return c, nil
}
