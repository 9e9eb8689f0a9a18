package river

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/barograph/barograph/formats"
)

// Service posts the products of a spool, for as long as its context lasts.
type Service struct {
	Spool   *Spool
	Poster  Poster
	Input   Input
	Log     *slog.Logger // a line for each product
	Metrics *Metrics
	// Reread is told to read anew what the poster goes by; nil = never.
	Reread <-chan func() error
	// Ended is closed when nothing more comes: the service ends when the spool is
	// empty; nil = never.
	Ended <-chan struct{}

	held   []*held
	values int
	files  []*Waiting // that are not put away yet
}

// held is a product that waits for its transaction.
type held struct {
	*Product
	file *Waiting
	why  string // it failed
}

// Most that is posted in one transaction.
const (
	batchProducts = 1000
	batchValues   = 30_000
)

const (
	poll     = 500 * time.Millisecond // also where the system tells of no change: NFS
	anew     = 12 * time.Hour         // what the poster goes by is read again
	attempts = 5                      // until what a database refuses is set aside, not its neighbours
	longest  = 30 * time.Second       // between two attempts to reach it
)

// Run posts until the context ends, and finishes the transaction at hand. Its
// error is of the spool; what is wrong with a database or a product is not one.
func (s *Service) Run(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close() //nolint:errcheck // it only told
	if err := watcher.Add(s.Spool.Dir); err != nil {
		return err
	}
	tick := time.NewTicker(min(poll, max(s.Spool.Settle, 50*time.Millisecond)))
	defer tick.Stop()
	read := time.Now()
	for ctx.Err() == nil {
		if time.Since(read) > anew {
			read = time.Now()
			s.reload(ctx, func() error { return nil })
		}
		ready, files, bytes, err := s.Spool.Ready()
		if err != nil {
			return err
		}
		s.Metrics.waiting(ready, files, bytes)
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
		case _ = <-watcher.Errors: // too many events: the tick finds what they were
		case <-tick.C:
		case again := <-s.Reread:
			read = time.Now()
			s.reload(ctx, again)
		case <-ended:
			if _, files, _, err := s.Spool.Ready(); files == 0 || err != nil {
				return err
			}
		}
	}
	return nil
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
	if err != nil {
		s.Log.Error("what the poster goes by was not read anew; it goes on with what it has", "error", err)
		return
	}
	s.Log.Info("what the poster goes by was read anew")
}

// round posts the files that are ready. Where the context ends, what is not
// posted stays where it is.
func (s *Service) round(ctx context.Context, ready []*Waiting) error {
	s.held, s.files, s.values = nil, nil, 0
	for _, w := range ready {
		s.files = append(s.files, w)
		if err := errors.Join(ctx.Err(), s.file(ctx, w)); err != nil {
			return err
		}
	}
	return s.post(ctx)
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
			if s.Spool.Doubled(p) || slices.ContainsFunc(s.held, func(h *held) bool { return h.Sum == p.Sum }) {
				s.Metrics.Doubled.Inc()
				s.Log.Info("product", "id", p.ID, "issued", p.Issued, "file", w.Path, "doubled", true)
				return nil
			}
			w.left++
			s.held, s.values = append(s.held, &held{Product: p, file: w}), s.values+len(p.Values)
			if len(s.held) < batchProducts && s.values < batchValues {
				return nil
			}
			return s.post(ctx)
		})
	}
	w.read = true
	if unread = errors.Join(unread, texts.Incomplete()); err == nil && (unread != nil || products == 0) && w.left == 0 {
		if w.why = "there is no product in it"; unread != nil {
			w.why = unread.Error()
		}
		s.Metrics.Failed.Inc()
		s.Log.Error("file", "file", w.Path, "error", w.why)
	}
	return err
}

// post posts what is held, and puts the files away whose products are.
func (s *Service) post(ctx context.Context) error {
	if len(s.held) > 0 {
		began := time.Now()
		tallies := s.insist(ctx, s.held)
		if tallies == nil {
			return ctx.Err()
		}
		s.Metrics.commit(time.Since(began))
		var posted []*Product
		for i, h := range s.held {
			h.file.left--
			h.file.why = cmp.Or(h.file.why, h.why)
			s.tell(h, tallies[i], time.Since(began)/time.Duration(len(s.held)))
			if h.why == "" {
				posted = append(posted, h.Product)
			}
		}
		if err := s.Spool.Posted(posted); err != nil {
			return err
		}
	}
	var open []*Waiting
	for _, w := range s.files {
		if !w.read || w.left > 0 {
			open = append(open, w)
		} else if err := s.Spool.Done(w); err != nil {
			return err
		}
	}
	s.held, s.values, s.files = nil, 0, open
	if len(s.Spool.seen) > 1<<20 {
		return s.Spool.forget()
	}
	return nil
}

// tell counts a product and writes its line.
func (s *Service) tell(h *held, t Tally, took time.Duration) {
	args := []any{"id", h.ID, "issued", h.Issued, "file", h.file.Path, "values", len(h.Values), "lost", h.Account.Lost, "post", took.Seconds(), "latency", time.Since(h.file.Received).Seconds()}
	for i, name := range Fates() {
		if t[i] > 0 {
			args = append(args, name, t[i])
		}
	}
	if h.why != "" {
		s.Metrics.Failed.Inc()
		s.Log.Error("product", append(args, "error", h.why)...)
		return
	}
	s.Log.Info("product", args...)
	s.Metrics.posted(h, t)
}

// insist posts until it is done: a database that is away is waited for, what it
// refuses is found by halves and set aside. nil = the context ended before.
func (s *Service) insist(ctx context.Context, all []*held) []Tally {
	products := make([]*Product, len(all))
	for i, h := range all {
		products[i] = h.Product
	}
	wait, refused, refusal := 50*time.Millisecond, 0, error(nil)
	for {
		// A transaction that has begun is finished; one that hangs is not waited for.
		one, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
		tallies, err := s.Poster.Post(one, products)
		stop()
		s.Metrics.up(err)
		if err == nil {
			return tallies
		}
		s.Log.Warn("the database refuses", "products", len(all), "error", err)
		if s.Poster.Reload(ctx) == nil {
			refusal = err
			if refused++; !s.Poster.Again(err) || refused >= attempts {
				break
			}
		}
		s.Metrics.Retries.Inc()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait/2 + rand.N(wait)): //nolint:gosec // no secret
		}
		wait = min(2*wait, longest)
	}
	if len(all) == 1 {
		all[0].why = fmt.Sprintf("the database refuses product %s of %s, %d values: %v", all[0].ID, all[0].Issued, len(all[0].Values), refusal)
		return make([]Tally, 1)
	}
	first := s.insist(ctx, all[:len(all)/2])
	if first == nil {
		return nil
	}
	second := s.insist(ctx, all[len(all)/2:])
	if second == nil {
		return nil
	}
	return append(first, second...)
}

// Post posts the products of texts once, in batches, and gives what became of
// each.
func Post(ctx context.Context, texts *formats.Texts, in *Input, to Poster, each func(p *Product, t Tally) error) error {
	var all []*Product
	values := 0
	flush := func() error {
		tallies, err := to.Post(ctx, all)
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
			if len(all) < batchProducts && values < batchValues && name != formats.Stdin {
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
