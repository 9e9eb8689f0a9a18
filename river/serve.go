package river

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // no secret: two copies of a product are alike
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// Service posts the products of a spool, for as long as its context lasts.
type Service struct {
	Spool   *Spool
	Poster  Poster
	Input   Input
	Log     *slog.Logger // a line for each product
	Metrics *Metrics
	// Landed is called with each product whose rows are committed; nil = nobody is.
	Landed func(p *Product, latency time.Duration)
	// Reread requests that the poster read its tables and settings again; nil = never.
	Reread <-chan func() error
	// Ended is closed after the last product: the service ends when the spool is empty; nil =
	// never.
	Ended <-chan struct{}

	held   []*held
	values int
	most   int         // products of the next transaction, at most
	broken atomic.Bool // the transaction in flight was interrupted
	files  []*Waiting  // that are not put away yet
	flight *flight     // nil = none
	pinged time.Time
}

// flight is a transaction in flight, while the next products are read.
type flight struct {
	held    []*held
	memory  [][]record.Gauge // of their values
	began   time.Time
	tallies chan []Tally
}

// held is a product that waits for its transaction.
type held struct {
	*Product
	file *Waiting
}

// Most that is posted in one transaction.
const (
	BatchProducts = 1000
	batchValues   = 30_000
)

const (
	poll     = 500 * time.Millisecond // also if the system reports no change, as on NFS
	anew     = 12 * time.Hour         // what the poster goes by is read again
	attempts = 2                      // until a product that a database refuses is set aside
	longest  = 30 * time.Second       // between two attempts to reach it
)

// alone waits until no other process posts from the spool; false = nothing is left to post.
func (s *Service) alone(ctx context.Context) (bool, error) {
	for said := false; ctx.Err() == nil; said = true {
		if own, err := s.Spool.own(); own || err != nil {
			return own, err
		}
		if !said {
			s.Log.Info("another process posts from the folder: this one waits for its end", "folder", s.Spool.Dir)
		}
		select {
		case <-ctx.Done():
		case <-time.After(poll):
		}
		select {
		case <-s.Ended:
			if _, files, err := s.Spool.Ready(); files == 0 || err != nil {
				return false, err
			}
		default:
		}
	}
	return false, nil
}

// Run posts until the context ends, and finishes the current transaction. It returns an error of
// the spool; faults of a database or a product are not errors.
func (s *Service) Run(ctx context.Context) error {
	if alone, err := s.alone(ctx); !alone || err != nil {
		return err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close() //nolint:errcheck // it only reported
	if err := watcher.Add(s.Spool.Dir); err != nil {
		return err
	}
	// After a kill the first transaction has one product, the next ones twice as many
	// each: a service that is killed again and again gets on with its backlog.
	if s.most = BatchProducts; s.Spool.killed {
		s.most = 1
		s.Log.Warn("the service before was killed: transactions begin small and grow again")
	}
	tick := time.NewTicker(min(poll, max(s.Spool.Settle, 50*time.Millisecond)))
	defer tick.Stop()
	read := time.Now()
	for ctx.Err() == nil {
		if time.Since(read) > anew {
			read = time.Now()
			s.reload(ctx, func() error { return nil })
		}
		select { // also while files arrive all the time
		case again := <-s.Reread:
			read = time.Now()
			s.reload(ctx, again)
		default:
		}
		ready, files, err := s.Spool.Ready()
		if err != nil {
			return err
		}
		for _, path := range s.Spool.reportOdd() {
			s.Log.Warn("is left where it is: it is neither a file nor a link to one", "path", path)
		}
		if err := s.round(ctx, ready); err != nil && ctx.Err() == nil {
			return err
		}
		ended := s.Ended
		if len(ready) > 0 {
			continue
		}
		if files > 0 {
			ended = nil
		}
		select {
		case <-ctx.Done():
		case <-watcher.Events:
			drain(watcher.Events)
		case <-watcher.Errors: //nolint:errcheck // too many events: the tick finds what they were
		case <-tick.C:
			s.ping(ctx)
		case again := <-s.Reread:
			read = time.Now()
			s.reload(ctx, again)
		case <-ended:
			if _, files, err := s.Spool.Ready(); files == 0 || err != nil {
				return err
			}
		}
	}
	return nil
}

// pause is the interval at which an idle service checks its database.
const pause = 15 * time.Second

// ping checks whether the database of an idle service is reachable.
func (s *Service) ping(ctx context.Context) {
	p, ok := s.Poster.(interface {
		Ping(ctx context.Context) error
	})
	if !ok || s.flight != nil || time.Since(s.pinged) < pause {
		return
	}
	one, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	s.Metrics.Up(p.Ping(one))
	s.pinged = time.Now()
}

func drain[T any](c <-chan T) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

func (s *Service) reload(ctx context.Context, first func() error) {
	err := first()
	if err == nil {
		err = s.Poster.Reload(ctx)
	}
	if succeeded(s.Metrics.reread, err); err != nil {
		s.Log.Error("what the poster goes by was not read anew; it goes on with what it has", "error", err)
		return
	}
	s.Log.Info("what the poster goes by was read anew")
}

// round posts the ready files. If the context ends, the others remain in the spool.
func (s *Service) round(ctx context.Context, ready []*Waiting) error {
	s.held, s.files, s.values = nil, nil, 0
	for _, w := range ready {
		s.files = append(s.files, w)
		if err := errors.Join(ctx.Err(), s.file(ctx, w)); err != nil {
			return errors.Join(err, s.land(ctx))
		}
	}
	if err := s.post(ctx); err != nil {
		return err
	}
	return s.land(ctx)
}

// file reads a file's products.
func (s *Service) file(ctx context.Context, w *Waiting) error {
	var unread error
	texts, err := formats.NewTexts(ctx, []string{w.Path}, nil, func(err error) { unread = err })
	if err != nil {
		return nil //nolint:nilerr // it is gone: somebody took it
	}
	products := 0
	for name, text := range texts.All() {
		err = s.Input.Read(text, name, w.Received, func(p *Product) error {
			products++
			if s.Spool.Doubled(p) || s.holds(p) {
				s.Metrics.Doubled.Inc()
				s.Log.Info("product", "id", p.ID, "issued", p.Issued, "file", w.Path, "doubled", true)
				return nil
			}
			w.left++
			s.held, s.values = append(s.held, &held{Product: p, file: w}), s.values+len(p.Values)
			if len(s.held) < s.most && s.values < batchValues {
				return nil
			}
			return s.post(ctx)
		})
	}
	w.read = true
	if unread = errors.Join(unread, texts.Incomplete()); err == nil && (unread != nil || products == 0) {
		if w.why = "there is no product in it"; unread != nil {
			w.why = unread.Error()
		}
		s.Metrics.Failed.Inc()
		s.Log.Error("file", "file", w.Path, "error", w.why)
	}
	return err
}

// holds reports whether a product waits already, or is in flight.
func (s *Service) holds(p *Product) bool {
	same := func(h *held) bool { return h.Sum == p.Sum }
	return slices.ContainsFunc(s.held, same) || s.flight != nil && slices.ContainsFunc(s.flight.held, same)
}

// post starts to post the waiting products when the transaction in flight has finished.
func (s *Service) post(ctx context.Context) error {
	if err := s.land(ctx); err != nil {
		return err
	}
	f := &flight{held: s.held, memory: s.Input.taken(), began: time.Now(), tallies: make(chan []Tally, 1)}
	s.held, s.values, s.flight = nil, 0, f
	if len(f.held) == 0 {
		f.tallies <- []Tally{}
		return nil
	}
	go func() { f.tallies <- s.insist(ctx, f.held) }()
	return nil
}

// land waits for the transaction in flight, and moves the files whose products are all posted.
func (s *Service) land(ctx context.Context) error {
	f := s.flight
	if f == nil {
		return nil
	}
	tallies := <-f.tallies
	if s.flight = nil; tallies == nil {
		return ctx.Err()
	}
	if len(f.held) > 0 {
		if s.most = min(2*s.most, BatchProducts); s.broken.Swap(false) {
			s.most = 1
		}
		s.Metrics.commit(time.Since(f.began))
		var posted []*Product
		for i, h := range f.held {
			h.file.left--
			s.tell(h, tallies[i], time.Since(f.began)/time.Duration(len(f.held)))
			if len(h.Refusals) == 0 {
				posted = append(posted, h.Product)
			}
		}
		if err := s.Spool.Posted(posted); err != nil { // what comes twice is posted twice, which changes nothing
			s.Log.Error("which products were posted is not remembered", "error", err)
		}
	}
	s.Input.give(f.memory)
	var open []*Waiting
	for _, w := range s.files {
		if !w.read || w.left > 0 {
			open = append(open, w)
		} else if err := s.Spool.Done(w); err != nil {
			return err
		}
	}
	s.files = open
	return nil
}

// tell counts a product and writes its line.
func (s *Service) tell(h *held, t Tally, took time.Duration) {
	args := []any{"id", h.ID, "issued", h.Issued, "file", h.file.Path, "values", len(h.Values), "lost", h.Account.Lost, "parse", h.Parse.Seconds(), "post", took.Seconds(), "latency", time.Since(h.file.Received).Seconds()}
	if h.Account.Rescued > 0 {
		args = append(args, "rescued", h.Account.Rescued)
	}
	for i, name := range Fates() {
		if t[i] > 0 {
			args = append(args, name, t[i])
		}
	}
	s.Metrics.posted(h, t)
	if len(h.Refusals) > 0 {
		why := h.refusal(&t)
		h.file.why = strings.TrimPrefix(h.file.why+"\n"+why, "\n")
		s.Metrics.Failed.Inc()
		s.Log.Error("product", append(args, "error", why)...)
		return
	}
	s.Log.Info("product", args...)
	if s.Landed != nil {
		s.Landed(h.Product, time.Since(h.file.Received))
	}
}

// insist posts until it is done: a database that is away is waited for, and what it
// refuses is found and set aside. nil = the context ended before.
func (s *Service) insist(ctx context.Context, all []*held) []Tally {
	products := make([]*Product, len(all))
	for i, h := range all {
		products[i] = h.Product
	}
	delay := 50 * time.Millisecond
	x := settler{to: s.Poster}
	x.post = func(products []*Product) ([]Tally, error) {
		// A transaction that has started is finished; one that hangs is not waited for.
		one, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
		defer stop()
		tallies, err := s.Poster.Post(one, products)
		if s.Metrics.Up(err); err == nil {
			delay = 50 * time.Millisecond
		}
		return tallies, err
	}
	x.wait = func(err error, refused bool) error {
		s.Metrics.Retries.Inc()
		if refused {
			return nil
		}
		what := "the database is unreachable"
		if !errors.Is(err, engine.ErrUnreachable) {
			what = "the database refuses"
			s.broken.Store(true)
		}
		s.Log.Warn(what, "products", len(all), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case again := <-s.Reread:
			s.reload(ctx, again)
		case <-time.After(delay/2 + rand.N(delay)): //nolint:gosec // no secret
		}
		delay = min(2*delay, longest)
		return nil
	}
	tallies, err := x.settle(ctx, products)
	if err != nil {
		return nil
	}
	return tallies
}

// Product is a decoded product to be posted.
type Product struct {
	ID       string    // CCCC and AWIPS id as IHFS has it, at most 10 characters
	Issued   time.Time // of its heading, else when it was received
	Received time.Time
	Parse    time.Duration // what decoding its text took
	Values   []record.Gauge
	Account  shef.Account // of its text
	Text     []byte       // its text, where Input.KeepText is set
	Left     int          // values that a filter left out
	Sum      [md5.Size]byte
	// Refusals are the reasons why the database refuses values of it, each posted by itself: the
	// first mostRefusals of them.
	Refusals []string
}

// refusal is what a product's failure comes to.
func (p *Product) refusal(t *Tally) string {
	return fmt.Sprintf("product %s of %s: %d of %d values refused, the others posted: %s", p.ID, p.Issued.Format(time.RFC3339), t[Refused], len(p.Values), strings.Join(p.Refusals, "; "))
}

// noHeading is what AWIPS calls a product without a WMO heading.
const noHeading = "MSGPRODID"

// Input describes how texts are read.
type Input struct {
	shef.Options
	Filter shef.Filter
	// KeepText: each product gets its text, as shef_storetext needs it.
	KeepText bool

	split shef.Splitter // memory of the text before
	out   shef.Result

	// Memory of values: that of the products since the last taken, the last of it
	// not full, and what was given back.
	used, free [][]record.Gauge
}

// piece is the number of values in each piece of that memory.
const piece = 8 << 10

// add appends values to those of a product, which lie at the end of the last piece.
func (in *Input) add(before, values []record.Gauge) []record.Gauge {
	n, need := len(in.used), len(before)+len(values)
	if n == 0 || cap(in.used[n-1])-len(in.used[n-1]) < len(values) {
		next := make([]record.Gauge, 0, max(piece, 2*need))
		if k := len(in.free); k > 0 && need <= piece {
			next, in.free = in.free[k-1], in.free[:k-1]
		}
		in.used, n = append(in.used, append(next, before...)), n+1
	}
	last := &in.used[n-1]
	*last = append(*last, values...)
	return (*last)[len(*last)-need : len(*last) : len(*last)]
}

// taken is the memory of the products since it was called before.
func (in *Input) taken() [][]record.Gauge {
	used := in.used
	in.used = nil
	return used
}

// give gives memory back whose products are done.
func (in *Input) give(used [][]record.Gauge) {
	for _, u := range used {
		if clear(u); cap(u) == piece && len(in.free) < 2*batchValues/piece {
			in.free = append(in.free, u[:0])
		}
	}
}

// Read gives the products of a text as they end. A text with neither a heading nor a message is none. received is the time of those
// that have no heading, and decides years where Now does not. A product is its
// receiver's.
func (in *Input) Read(r io.Reader, name string, received time.Time, each func(*Product) error) error {
	o := in.Options
	if o.Now.IsZero() {
		o.Now = received
	}
	split, out, decoder, sum := &in.split, &in.out, shef.NewDecoder(o), md5.New() //nolint:gosec // no secret
	split.Reset(r, name, o.Now)
	var text shef.Product
	var p *Product
	send := func() error {
		if p == nil {
			return nil
		}
		done := p
		if p = nil; done.ID == noHeading && done.Account.Messages == 0 { // it is no SHEF
			return nil
		}
		done.Left = in.Filter.Apply(&done.Values)
		sum.Sum(done.Sum[:0])
		return each(done)
	}
	for {
		began := time.Now()
		if err := split.Next(&text); errors.Is(err, io.EOF) {
			return send()
		} else if err != nil {
			return errors.Join(err, send())
		}
		plain := bare(&text)
		if p == nil && len(plain) == 0 { // blanks and line ends behind a product are none
			continue
		}
		if p == nil {
			p = &Product{ID: productID(&text), Issued: received.UTC().Truncate(time.Second), Received: received}
			if text.Issued != record.NoTime {
				p.Issued = time.Unix(text.Issued, 0).UTC()
			}
			sum.Reset()
		}
		decoder.Decode(&text, out)
		if len(out.Values) > 0 {
			p.Values = in.add(p.Values, out.Values)
		}
		p.Account.Add(&out.Account)
		p.Parse += time.Since(began)
		sum.Write(plain)
		if in.KeepText {
			p.Text = append(p.Text, text.Text...)
		}
		if text.Last {
			if err := send(); err != nil {
				return err
			}
		}
	}
}

// bare removes from a text what may differ between two transmissions of one product: what precedes
// its heading, blanks, line ends and control characters.
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
