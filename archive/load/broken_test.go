package load_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

var errBroken = errors.New("the connection broke")

// breaking is an archive of which one call fails: the one after left−1 others.
type breaking struct {
	archive.Archive
	left *int
}

type breakingLoader struct {
	archive.Loader
	breaking
}

func (b breaking) call() error {
	if *b.left--; *b.left == 0 {
		return errBroken
	}
	return nil
}

func (b breaking) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	if err := b.call(); err != nil {
		return nil, err
	}
	return b.Archive.Catalog(ctx, subset)
}

func (b breaking) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	if err := b.call(); err != nil {
		return nil, err
	}
	return b.Archive.Marks(ctx, subset)
}

func (b breaking) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	if err := b.call(); err != nil {
		return archive.Contents{}, err
	}
	return b.Archive.Contents(ctx, subset)
}

func (b breaking) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if err := b.call(); err != nil {
		return nil, err
	}
	l, err := b.Archive.Loader(ctx, subset)
	return breakingLoader{l, b}, err
}

func (b breaking) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	if err := b.call(); err != nil {
		return func(yield func(*record.Batch, error) bool) { yield(nil, err) }
	}
	return b.Archive.Dump(ctx, subset)
}

func (l breakingLoader) Close() error { return l.Loader.Close() }

func (l breakingLoader) Add(ctx context.Context, b *record.Batch) error {
	return errors.Join(l.call(), l.Loader.Add(ctx, b))
}

func (l breakingLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	if err := l.call(); err != nil {
		return archive.CommitResult{}, err
	}
	return l.Loader.Commit(ctx, c)
}

// TestEachCallMayFail: whichever call of the archive fails, the command ends with its error, and never as if it had
// succeeded. A failed load can be repeated.
func TestEachCallMayFail(t *testing.T) {
	dir := t.TempDir()
	one, two := write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)), write(t, dir, "b.vsdb", line(6, 0, 9)+line(12, 0, 3))
	loaded := func(a archive.Archive) { mustLoad(t, a, load.Options{}, one) }
	last := load.Options{OnConflict: load.Last, Window: 1}
	for name, c := range map[string]struct {
		prepare func(a archive.Archive)
		do      func(a archive.Archive) error
		calls   int // at least
	}{
		"a load": {loaded, func(a archive.Archive) error {
			_, err := load.Run(t.Context(), a, "s", []string{one, two}, last)
			return err
		}, 8},
		"a copy to it": {func(archive.Archive) {}, func(a archive.Archive) error {
			from := memory(t)
			loaded(from)
			o, err := load.NewOrigin(t.Context(), from, "s", "from")
			if err != nil {
				t.Fatal(err)
			}
			_, err = load.Run(t.Context(), a, "s", nil, load.Options{Origin: o})
			return err
		}, 8},
		"a copy of it": {loaded, func(a archive.Archive) error {
			o, err := load.NewOrigin(t.Context(), a, "s", "from")
			if err != nil {
				return err
			}
			s, err := load.Run(t.Context(), memory(t), "s", nil, load.Options{Origin: o})
			if err == nil {
				err = errors.Join(s.Failed...)
			}
			return err
		}, 3},
		"verify": {loaded, func(a archive.Archive) error {
			v, err := load.Verify(t.Context(), a, "s")
			if err == nil && len(v.Problems) > 0 && strings.Contains(v.Problems[0], errBroken.Error()) {
				err = errBroken // records that cannot be read are damage
			}
			return err
		}, 4},
		"compare": {loaded, func(a archive.Archive) error {
			_, n, failed, err := load.Compare(t.Context(), a, "s", []string{one}, false)
			if n != 0 || failed != nil {
				t.Errorf("%d differences, %v", n, failed)
			}
			return err
		}, 3},
		"prune": {loaded, func(a archive.Archive) error {
			_, err := load.Prune(t.Context(), a, "s", func(*load.PruneResult) error { return nil })
			return err
		}, 4},
		"preview": {loaded, func(a archive.Archive) error {
			_, err := load.Retention{MaxAge: 1, Limit: 100}.Preview(t.Context(), a, "s", []string{write(t, dir, "c.vsdb", line(0, 5, 1))}, load.Options{})
			return err
		}, 4},
	} {
		for n := 1; ; n++ {
			a, left := memory(t), n
			c.prepare(a)
			err := c.do(breaking{a, &left})
			if left > 0 { // all calls have succeeded
				if err != nil || n <= c.calls {
					t.Errorf("%s with %d calls: %v", name, n-left, err)
				}
				break
			}
			if !errors.Is(err, errBroken) && (err == nil || !strings.Contains(err.Error(), errBroken.Error())) {
				t.Errorf("%s, call %d fails: %v", name, n, err)
			}
			if name == "a load" {
				mustLoad(t, a, last, one, two)
				if got := records(t, a); got != 3 {
					t.Errorf("%s of which call %d failed, repeated: %d records", name, n, got)
				}
			}
		}
	}
}
