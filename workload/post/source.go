package post

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
	"github.com/barograph/barograph/synth"
)

// Message is a product on its way: decoded, how long that took, and what became
// of its text. It is valid until the next step.
type Message struct {
	engine.PostMessage
	Parse   time.Duration
	Account shef.Account
}

// Source gives products in the order of their posting. It can be walked more
// than once.
type Source interface {
	Products() iter.Seq2[*Message, error]
	// Words describes the source.
	Words() string
}

// Feed is a synthetic feed: every product is made as text and decoded.
type Feed struct {
	*synth.Feed
	Text string // in words
}

// Words describes the feed.
func (f Feed) Words() string { return f.Text }

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
			m.PostMessage = engine.PostMessage{Product: made.AWIPS, Issued: made.Issued, Values: result.Values}
			m.Account = result.Account
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
			d.m = Message{PostMessage: engine.PostMessage{Product: productID(&d.result.Product), Issued: d.result.Product.Issued, Values: d.m.Values[:0]}}
			pending = true
		}
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

// shifted is a source whose values have a number added, which makes updates of
// inserts; missing ones stay missing.
type shifted struct {
	Source
	by float64
}

// Products shifts the source's values.
func (s shifted) Products() iter.Seq2[*Message, error] {
	if s.by == 0 {
		return s.Source.Products()
	}
	return mapped(s.Source, func(g *record.Gauge) {
		if !g.IsMissing() {
			g.Value += s.by
		}
	})
}

// renamed is a source of stations of other names: what a second poster posts.
type renamed struct{ Source }

// Products renames the source's stations.
func (s renamed) Products() iter.Seq2[*Message, error] {
	return mapped(s.Source, func(g *record.Gauge) { rename(&g.Station) })
}

func rename(station *record.ID) { station[min(station.Len(), 7)] = '_' }

func mapped(s Source, f func(*record.Gauge)) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for m, err := range s.Products() {
			if err == nil {
				for i := range m.Values {
					f(&m.Values[i])
				}
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// Contents is what a source holds.
type Contents struct {
	Stations []record.ID
	Series   []engine.Series
	Read     run.Decoded
	First    int64 // moment of an observation; record.NoTime = there is none
}

// Survey walks a source once.
func Survey(ctx context.Context, s Source) (*Contents, error) {
	c := &Contents{First: record.NoTime}
	known, all := map[record.ID]bool{}, map[engine.Series]bool{}
	var last engine.Series
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
			x := engine.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
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
