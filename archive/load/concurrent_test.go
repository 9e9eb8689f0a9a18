package load_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"

	"golang.org/x/sync/errgroup"
)

// halves writes the files of two loaders. Each loader has its own leads, both have one shared file,
// and some records are in a file of each.
func halves(t *testing.T) (all []string, parts [2][]string) {
	t.Helper()
	dir := t.TempDir()
	for part := range parts {
		for i := range 20 {
			text := line(12*part, i, 1) + line(12*part+6, i, 2) + line(48, i, 3) // the last is in both
			parts[part] = append(parts[part], write(t, dir, fmt.Sprintf("p%d_%02d.vsdb", part, i), text))
		}
	}
	shared := write(t, dir, "shared.vsdb", line(24, 0, 4)+line(30, 0, 5))
	parts[0] = append([]string{shared}, parts[0]...)
	parts[1] = append(parts[1], shared)
	return append(append([]string{}, parts[0]...), parts[1]...), parts
}

// together runs two loads of one subset at once. Their commits alternate as long as both have some
// left.
func together(ctx context.Context, a, b archive.Archive, parts [2][]string) error {
	turns := &alternation{}
	turns.cond.L = &turns.mu
	var g errgroup.Group
	for i, archive := range []archive.Archive{a, b} {
		g.Go(func() error {
			defer turns.leave(i)
			_, err := load.Run(ctx, &alternating{archive, turns, i}, "s", parts[i], load.Options{Window: 7})
			return err
		})
	}
	return g.Wait()
}

// alternation makes two loaders commit in turn.
type alternation struct {
	mu   sync.Mutex
	cond sync.Cond
	next int
	left [2]bool
}

func (t *alternation) wait(who int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != who && !t.left[1-who] {
		t.cond.Wait()
	}
	t.next = 1 - who
	t.cond.Broadcast()
}

func (t *alternation) leave(who int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left[who] = true
	t.cond.Broadcast()
}

type alternating struct {
	archive.Archive
	turns *alternation
	who   int
}

type alternatingLoader struct {
	archive.Loader
	a *alternating
}

func (a *alternating) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &alternatingLoader{l, a}, err
}

func (l *alternatingLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	l.a.turns.wait(l.a.who)
	return l.Loader.Commit(ctx, c)
}

func TestTwoLoadersAtOnce(t *testing.T) {
	all, parts := halves(t)
	clean := memory(t)
	mustLoad(t, clean, load.Options{}, all...)
	want := digest(t, clean)
	check := func(t *testing.T, a, b archive.Archive) {
		t.Helper()
		if err := together(t.Context(), a, b, parts); err != nil {
			t.Fatal(err)
		}
		if got := digest(t, a); got != want {
			t.Errorf("digest %v, want %v as of one loader", got, want)
		}
		if s := mustLoad(t, a, load.Options{}, all...); s.Read != 0 {
			t.Errorf("loading again read %d lines; all files are marked", s.Read)
		}
	}
	t.Run("engine=dry", func(t *testing.T) { a := memory(t); check(t, a, a) })
	for _, d := range []engine.Driver{mariadb.Driver(), postgres.Driver()} {
		t.Run("engine="+d.Scheme, func(t *testing.T) {
			server := enginetest.Lab(t, d, lab.Options{}).State().URL
			for name := range archive.OfferOf(&d).Designs {
				t.Run("design="+string(name), func(t *testing.T) { // two connections, as two programs have
					check(t, openArchive(t, d, name, server), openArchive(t, d, name, server))
				})
			}
		})
	}
}

// wrong is an archive with faulty loaders.
type wrong struct {
	archive.Archive
	does string // one of the constants below

	mu   sync.Mutex
	lost int64
	twin []*record.Batch // rows that Dump returns once more
}

const (
	loses     = "records are lost"
	twice     = "records are stored twice"
	miscounts = "a commit reports another number of records"
)

type wrongLoader struct {
	archive.Loader
	a     *wrong
	given int64
}

func (a *wrong) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &wrongLoader{Loader: l, a: a}, err
}

func (l *wrongLoader) Add(ctx context.Context, b *record.Batch) error {
	l.a.mu.Lock()
	defer l.a.mu.Unlock()
	switch {
	case l.a.does == loses && l.a.lost == 0:
		l.a.lost = int64(b.Len())
		l.given += l.a.lost
		return nil
	case l.a.does == twice && l.a.twin == nil:
		l.a.twin = []*record.Batch{b.Clone()}
	}
	return l.Loader.Add(ctx, b)
}

func (l *wrongLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	s, err := l.Loader.Commit(ctx, c)
	s.New += l.given // it reports the lost records as stored
	l.given = 0
	if l.a.does == miscounts {
		s.New++
	}
	return s, err
}

func (a *wrong) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c, err := a.Archive.Contents(ctx, subset)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.twin {
		c.Records[b.Type.Name] += int64(b.Len())
	}
	return c, err
}

func (a *wrong) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range a.Archive.Dump(ctx, subset) {
			if !yield(b, err) {
				return
			}
		}
		for _, b := range a.twin {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// A load detects an engine that loses records, stores records twice, or reports a wrong number. If
// two loaders share the archive, one of the two detects it.
func TestBrokenConservationIsCaught(t *testing.T) {
	all, parts := halves(t)
	parts[0] = parts[0][1:] // without the shared file: if one loader loses its records, the other stores them
	for does, says := range map[string]string{loses: "records were lost or duplicated", twice: "more than once", miscounts: "but reports"} {
		caught := func(t *testing.T, err error) {
			t.Helper()
			if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.Error(), says) {
				t.Errorf("error %v; want one that says %q", err, says)
			}
		}
		t.Run(does+", alone", func(t *testing.T) {
			_, err := load.Run(t.Context(), &wrong{Archive: memory(t), does: does}, "s", all, load.Options{Window: 7})
			caught(t, err)
		})
		t.Run(does+", beside another loader", func(t *testing.T) {
			a := &wrong{Archive: memory(t), does: does}
			caught(t, together(t.Context(), a, a, parts))
		})
	}
}
