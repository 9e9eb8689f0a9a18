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

// Message is a decoded product. It is valid until the next step of the iteration.
type Message struct {
	posts.Message
	Text    []byte        // of the product
	Parse   time.Duration // time of decoding
	Account shef.Account
}

// Source returns products in the order of their posting. Products may be called more than once.
type Source interface {
	Products() iter.Seq2[*Message, error]
	// Words describes the source.
	Words() string
	// Moment is the time that decides the years of dates without a year.
	Moment() time.Time
}

// Feed is a synthetic feed. It generates every product as text and decodes it.
type Feed struct {
	*synth.Feed
	Text string // description for reports
}

// Words describes the feed.
func (f Feed) Words() string { return f.Text }

// Moment is the middle of the feed.
func (f Feed) Moment() time.Time { return f.Now() }

// Products decodes the feed's products.
func (f Feed) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		d := shef.NewDecoder(shef.Options{Now: f.Now()})
		var generated synth.Message
		var result shef.Result
		var m Message
		for i := range f.Messages {
			f.Make(i, &generated)
			p := shef.Product{
				File: "feed", Number: i + 1, Part: 1, Line: 1,
				Heading: generated.Heading, AWIPS: generated.AWIPS, Issued: generated.Issued, Text: generated.Text,
			}
			began := time.Now()
			d.Decode(&p, &result)
			m.Parse = time.Since(began)
			m.Message = posts.Message{Product: generated.AWIPS, Issued: generated.Issued, Values: result.Values}
			m.Text, m.Account = generated.Text, result.Account
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
	Text string    // description for reports
}

// Words describes the files.
func (f Files) Words() string { return f.Text }

// Moment returns Now.
func (f Files) Moment() time.Time { return f.Now }

// Products decodes the files' products. It skips a file that cannot be read.
func (f Files) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		d := productReader{o: shef.Options{Now: f.Now}}
		for path, text := range f.All() {
			if !d.each(path, text, yield) {
				return
			}
		}
	}
}

// productReader joins the portions in which the reader returns large products.
type productReader struct {
	o      shef.Options
	result shef.Result
	m      Message
}

// each yields the products of a text. It returns false after an error, or if the caller stops the iteration.
func (d *productReader) each(name string, text io.Reader, yield func(*Message, error) bool) bool {
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
			p := &d.result.Product
			message := posts.Message{Product: productID(p), Issued: p.Issued, Values: d.m.Values[:0]}
			d.m = Message{Message: message, Text: d.m.Text[:0]}
			pending = true
		}
		d.m.Text = append(d.m.Text, r.Text()...)
		d.m.Values = append(d.m.Values, d.result.Values...)
		d.m.Parse += took
		d.m.Account.Add(&d.result.Account)
	}
}

// productID returns the AWIPS id, or the first characters of the heading.
func productID(p *shef.Product) string {
	id := p.AWIPS
	if id == "" {
		id = p.Heading
	}
	return id[:min(len(id), 10)]
}

// shift returns a function that adds a number to values. Posting shifted values again updates rows. It does not change
// missing values.
func shift(by float64) func(*record.Gauge) {
	return func(g *record.Gauge) {
		if !g.IsMissing() {
			g.Value += by
		}
	}
}

// renameForNoise makes the station of the second poster from a station: it appends '_', or replaces the eighth
// character. No SHEF station contains '_', so the second poster never writes a measured value.
func renameForNoise(station *record.ID) { station[min(station.Len(), 7)] = '_' }

// Contents describes the values of a source.
type Contents struct {
	Stations []record.ID
	Series   []posts.Series
	Read     run.DecodeCounts
	First    int64 // time of the earliest observation; record.NoTime = none
}

// Survey decodes a source and describes its values.
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
