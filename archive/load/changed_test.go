package load_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// shared is an archive that another process also uses. Each function runs once, before or after a call.
type shared struct {
	archive.Archive
	beforeMarks, afterDump, beforeCommit, afterConflict func()
}

// runOnce runs one of the functions, if it has not run yet.
func runOnce(f *func()) {
	if run := *f; run != nil {
		*f = nil
		run()
	}
}

func (s *shared) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	runOnce(&s.beforeMarks)
	return s.Archive.Marks(ctx, subset)
}

func (s *shared) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range s.Archive.Dump(ctx, subset) {
			if !yield(b, err) {
				return
			}
		}
		runOnce(&s.afterDump)
	}
}

func (s *shared) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := s.Archive.Loader(ctx, subset)
	return &sharedLoader{l, s}, err
}

type sharedLoader struct {
	archive.Loader
	a *shared
}

func (l *sharedLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	runOnce(&l.a.beforeCommit)
	out, err := l.Loader.Commit(ctx, c)
	if conflict := (*archive.ConflictError)(nil); errors.As(err, &conflict) {
		runOnce(&l.a.afterConflict)
	}
	return out, err
}

// without returns an archive whose records of a lead, in hours, were deleted.
func without(a archive.Archive, lead int32) *spoilt {
	return &spoilt{Archive: a, records: func(b *record.Batch) *record.Batch {
		return b.Filter(func(i int) bool { return b.Lead[i] != lead*3600 })
	}}
}

// pruneDuringACommit checks that Prune, which has read the archive, replaces no catalog that another load has committed
// since then. open opens the same archive.
func pruneDuringACommit(t *testing.T, open func() archive.Archive) {
	t.Helper()
	dir, other := t.TempDir(), open()
	mustLoad(t, other, load.Options{}, write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)))
	a := &shared{Archive: without(open(), 6)}
	a.beforeCommit = func() { mustLoad(t, other, load.Options{}, write(t, dir, "b.vsdb", line(12, 0, 3))) }
	if _, err := load.Prune(t.Context(), a, "s", agree); fault.Code(err) != fault.Incomplete || !strings.Contains(fmt.Sprint(err), "a load changed subset s meanwhile") {
		t.Errorf("%v", err)
	}
	c, err := other.Catalog(t.Context(), "s")
	marks, marksErr := other.Marks(t.Context(), "s")
	if err := errors.Join(err, marksErr); err != nil || c.Digest().Records != 3 || c.Files != archive.SumMarks(marks) || len(marks) != 2 {
		t.Errorf("the catalog counts %d records and %d files of %d, %v", c.Digest().Records, c.Files.Records, len(marks), err)
	}
	if v, err := load.Verify(t.Context(), other, "s"); err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestPruneDuringACommit: a load commits after Prune has counted the records, and before Prune replaces the catalog.
func TestPruneDuringACommit(t *testing.T) {
	for name, a := range layouts(t) {
		if !strings.HasPrefix(name, "sqlite") { // SQLite allows one loader at a time
			t.Run("layout="+name, func(t *testing.T) { pruneDuringACommit(t, func() archive.Archive { return a }) })
		}
	}
	for _, d := range []engine.Driver{mariadb.Driver(), postgres.Driver()} {
		t.Run("engine="+d.Scheme, func(t *testing.T) {
			server := enginetest.Lab(t, d, lab.Options{}).State().URL
			for name := range archive.OfferOf(&d).Designs {
				t.Run("design="+string(name), func(t *testing.T) {
					pruneDuringACommit(t, func() archive.Archive { return openArchive(t, d, name, server) })
				})
			}
		})
	}
}

// openArchive opens an archive with a connection of its own, as another program does.
func openArchive(t *testing.T, d engine.Driver, name design.Name, where string) archive.Archive {
	t.Helper()
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// asEarlierVersion changes the catalog of an archive to one that counts nothing, as earlier versions stored it.
func asEarlierVersion(t *testing.T, a archive.Archive, trimmed int64) {
	t.Helper()
	l, err := a.Loader(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	c := design.NewCatalog("s")
	c.Counted, c.Trimmed = false, trimmed
	_, err = l.Commit(t.Context(), archive.Commit{Catalog: c})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTwoLoadsOfAnEarlierVersion: a load counts the records of an archive that an earlier version stored. If another load
// commits meanwhile, its records stay in the catalog, and also the number of removed records.
func TestTwoLoadsOfAnEarlierVersion(t *testing.T) {
	dir, stored := t.TempDir(), memory(t)
	mustLoad(t, stored, load.Options{}, write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)))
	asEarlierVersion(t, stored, 7)
	a := &shared{Archive: stored}
	a.beforeCommit = func() { mustLoad(t, stored, load.Options{}, write(t, dir, "b.vsdb", line(12, 0, 3))) }
	s := mustLoad(t, a, load.Options{}, write(t, dir, "c.vsdb", line(18, 0, 4)))
	if s.Before.Trimmed != 7 || s.Before.Digest().Records != 3 || s.Catalog.Digest().Records != 4 || s.Catalog.Trimmed != 7 {
		t.Errorf("before %d records and %d removed, after %d and %d", s.Before.Digest().Records, s.Before.Trimmed, s.Catalog.Digest().Records, s.Catalog.Trimmed)
	}
	if v, err := load.Verify(t.Context(), stored, "s"); err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestVerifyDuringALoad: if another load commits while Verify, Compare or Prune read an archive, they report that, and
// neither a damage nor a difference.
func TestVerifyDuringALoad(t *testing.T) {
	dir := t.TempDir()
	file, fresh := write(t, dir, "a.vsdb", line(0, 0, 1)), write(t, dir, "b.vsdb", line(12, 0, 3))
	calls := map[string]func(a archive.Archive) error{
		"verify": func(a archive.Archive) error { _, err := load.Verify(t.Context(), a, "s"); return err },
		"prune":  func(a archive.Archive) error { _, err := load.Prune(t.Context(), a, "s", agree); return err },
		"compare": func(a archive.Archive) error {
			_, _, _, err := load.Compare(t.Context(), a, "s", []string{file, fresh}, false)
			return err
		},
	}
	for name, call := range calls {
		for where := range 2 {
			stored := memory(t)
			mustLoad(t, stored, load.Options{}, file)
			a, commit := &shared{Archive: stored}, func() { mustLoad(t, stored, load.Options{}, fresh) }
			if where == 0 {
				a.beforeMarks = commit
			} else {
				a.afterDump = commit
			}
			if name == "compare" && where == 0 || name == "prune" && where == 1 {
				continue // it finds no difference, because it reads all records, or none of the new ones
			}
			if err := call(a); fault.Code(err) != fault.Incomplete || !strings.Contains(fmt.Sprint(err), "a load changed subset s meanwhile") {
				t.Errorf("%s, %d: %v", name, where, err)
			}
			if v, err := load.Verify(t.Context(), a, "s"); err != nil || len(v.Problems) > 0 {
				t.Errorf("%s, %d, then verify: %+v, %v", name, where, v, err)
			}
		}
	}
}

// TestConflictThatAnotherLoadChanges: another load replaces the existing record of a conflict before the commit is
// repeated. The line is one conflict, whatever the archive has then.
func TestConflictThatAnotherLoadChanges(t *testing.T) {
	dir := t.TempDir()
	gone, file, other := line(0, 0, 1), write(t, dir, "b.vsdb", line(0, 0, 2)+line(6, 0, 2)), write(t, dir, "c.vsdb", line(0, 0, 3))
	for policy, want := range map[load.OnConflict]float64{load.Last: 2, load.Refuse: 1, load.First: 3} {
		stored := memory(t)
		mustLoad(t, &unmarked{stored}, load.Options{}, write(t, t.TempDir(), "a.vsdb", gone))
		a := &shared{Archive: stored}
		if policy != load.Refuse {
			a.afterConflict = func() { mustLoad(t, stored, load.Options{OnConflict: load.Last}, other) }
		}
		s := mustLoad(t, a, load.Options{OnConflict: policy}, file)
		if s.Stored != 1 || s.Conflicts != 1 || s.Duplicates != 0 {
			t.Errorf("%s: stored %d, conflicts %d, duplicates %d; want 1, 1, 0", policy, s.Stored, s.Conflicts, s.Duplicates)
		}
		holdsFbar(t, stored, map[int32]float64{0: want})
	}
	stored := memory(t)
	mustLoad(t, stored, load.Options{OnConflict: load.Keep}, write(t, t.TempDir(), "a.vsdb", gone))
	a := &shared{Archive: stored}
	a.afterConflict = func() {
		mustLoad(t, stored, load.Options{}, write(t, t.TempDir(), "d.vsdb", line(0, 0, 2)+line(0, 0, 3)))
	}
	if s := mustLoad(t, a, load.Options{}, file); s.Stored != 1 || s.Duplicates != 1 || s.Kept != 0 {
		t.Errorf("keep: stored %d, duplicates %d, kept %d; want 1, 1, 0", s.Stored, s.Duplicates, s.Kept)
	}
}

// TestPolicyThatChangesDuringALoad: after another load has stored conflicts in addition, a load that would replace them
// stores nothing more.
func TestPolicyThatChangesDuringALoad(t *testing.T) {
	for _, policy := range []load.OnConflict{load.Refuse, load.Last} {
		dir, stored := t.TempDir(), memory(t)
		mustLoad(t, stored, load.Options{}, write(t, dir, "a.vsdb", line(0, 0, 1)))
		a := &shared{Archive: stored}
		a.beforeCommit = func() {
			mustLoad(t, stored, load.Options{OnConflict: load.Keep}, write(t, dir, "b.vsdb", line(0, 0, 2)))
		}
		_, err := load.Run(t.Context(), a, "s", []string{write(t, dir, "c.vsdb", line(0, 0, 3)+line(6, 0, 1))}, load.Options{OnConflict: policy})
		if !errors.Is(err, archive.ErrChanged) || !strings.Contains(err.Error(), "run it again to continue") {
			t.Errorf("%s: %v", policy, err)
		}
		if got := values(t, stored, 0); len(got) != 2 || got[0] != 1 || got[1] != 2 {
			t.Errorf("%s: the archive has %v", policy, got)
		}
		checkIntact(t, stored, filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "b.vsdb"))
	}
}
