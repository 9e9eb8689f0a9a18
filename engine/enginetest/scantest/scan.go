// Package scantest is the conformance suite of the study scan: the star of TPC-DS over several disks. It is
// separate from enginetest because its generator links DuckDB, which the tests of most engines do not need.
package scantest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	generate "github.com/barograph/barograph/study/synth/tpcds"
)

// Config describes an engine to the suite of the study scan.
type Config struct {
	Driver engine.Driver

	// URL names a new, empty database.
	URL func(t *testing.T) string

	// Paths makes n empty folders that represent disks; nil = temporary folders of this process. A server
	// must be able to write to them.
	Paths func(t *testing.T, n int) []string

	// Fixed is for a server whose placement is fixed at its start: its only placement, of several paths.
	// The suite loads it at most twice, and only once by day and with Brief. Nil = any placement is possible.
	Fixed *tables.Placement

	// Brief is for slow servers: by day one placement.
	Brief bool
}

// StarFolder generates tables of scale factor 0.01, with 28,810 sales and items that the questions select.
// It returns them with the reference.
func StarFolder(t testing.TB) (tables.StarFiles, *tables.StarReference) {
	t.Helper()
	dir := t.TempDir()
	o := generate.Options{Scale: 0.01, Files: 3, Documents: true, Dense: true}
	if _, err := generate.Generate(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	files, _, err := tables.OpenStarFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(files.Documents)
	for _, table := range tables.StarTables() {
		all = append(all, files.Parquet[table]...)
	}
	for _, path := range all {
		makeReadable(t, path)
	}
	r, err := tables.StarAnswers(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range tables.StarQueries() {
		if n := len(r.Answer(q)); q != tables.ScanAll && n < tables.StarLimit/4 {
			t.Fatalf("%s has %d rows: too few to prove anything", q, n)
		}
	}
	return files, r
}

// makeReadable lets a server of another account read a file below a folder of t.
func makeReadable(t testing.TB, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != filepath.Dir(dir) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o055 != 0o055 {
			if err := os.Chmod(dir, info.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// scanSuite is a run of the suite.
type scanSuite struct {
	Config
	files     tables.StarFiles
	reference *tables.StarReference
}

// Run runs the suite for an engine's tables of the study scan.
func Run(t *testing.T, cfg Config) {
	if cfg.Paths == nil {
		cfg.Paths = func(t *testing.T, n int) (out []string) {
			for range n {
				out = append(out, t.TempDir())
			}
			return out
		}
	}
	s := &scanSuite{Config: cfg}
	s.files, s.reference = StarFolder(t)
	if cfg.Fixed != nil {
		s.fixed(t)
		return
	}
	placements := []struct{ paths, partitions, workers int }{{0, 2, 1}, {2, 5, 0}, {1, 1, 0}, {1, 8, 2}, {2, 2, 0}, {3, 4, 3}}
	if !enginetest.Nightly() {
		placements = placements[:2]
		if cfg.Brief {
			placements = placements[1:]
		}
	}
	for _, p := range placements {
		t.Run(fmt.Sprintf("paths=%d/partitions=%d", p.paths, p.partitions), func(t *testing.T) {
			at := s.newPlacement(t, p.paths, p.partitions)
			at.Workers = p.workers
			s.placement(t, s.URL(t), at, 2)
		})
	}
	t.Run("another placement", s.another)
	t.Run("interrupted", s.interrupted)
	t.Run("empty", s.empty)
	t.Run("concurrent", s.concurrent)
}

// open opens an engine and its tables; closed closes both.
func (s *scanSuite) open(t *testing.T, url string, p tables.Placement) (*tables.Star, func()) {
	t.Helper()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	enginetest.KeepsPromise(t, s.Driver, e)
	if tables.DatabasesOf(e).Star == nil || !tables.Offers(&s.Driver, tables.StarOverDisks) {
		t.Fatalf("the engine has the star: %t; its driver offers %q", tables.DatabasesOf(e).Star != nil, s.Driver.Offers)
	}
	star, err := tables.DatabasesOf(e).Star.Open(t.Context(), p)
	if err != nil {
		t.Fatal(errors.Join(err, e.Close()))
	}
	done := false
	closed := func() {
		if done {
			return
		}
		done = true
		if err := errors.Join(star.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(closed)
	return star, closed
}

// load loads and checks the reported numbers.
func (s *scanSuite) load(t *testing.T, star *tables.Star) {
	t.Helper()
	loaded, err := star.Load(t.Context(), s.files)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(loaded.Rows, s.reference.Rows) {
		t.Errorf("%v rows were loaded, not %v", loaded.Rows, s.reference.Rows)
	}
}

// answers asks every question.
func (s *scanSuite) answers(ctx context.Context, star *tables.Star) error {
	for _, q := range tables.StarQueries() {
		got, err := star.Ask(ctx, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
		if _, err := s.reference.Check(q, got); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanSuite) check(t *testing.T, star *tables.Star) {
	t.Helper()
	if err := s.answers(t.Context(), star); err != nil {
		t.Error(err)
	}
}

// newPlacement returns a placement over a number of new paths.
func (s *scanSuite) newPlacement(t *testing.T, paths, partitions int) tables.Placement {
	t.Helper()
	p := tables.Placement{Partitions: partitions}
	if paths > 0 {
		p.Paths = s.Paths(t, paths)
	}
	return p
}

// fixed tests the only placement of a server.
func (s *scanSuite) fixed(t *testing.T) {
	url, loads := s.URL(t), 2
	if s.Brief || !enginetest.Nightly() {
		loads = 1
	}
	star, closed := s.open(t, url, *s.Fixed)
	s.unloaded(t, star)
	closed()
	s.placement(t, url, *s.Fixed, loads)
	star, closed = s.open(t, url, *s.Fixed)
	s.refused(t, star)
	s.askConcurrently(t, star)
	closed()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s.checkOthers(t, e, *s.Fixed)
}

// placement loads, asks, checks the sizes, reopens and asks again.
func (s *scanSuite) placement(t *testing.T, url string, p tables.Placement, loads int) {
	t.Helper()
	star, closed := s.open(t, url, p)
	for range loads {
		s.load(t, star)
		s.check(t, star)
	}
	for _, q := range tables.StarQueries() {
		if star.Text(q) == "" {
			t.Errorf("%s has no text", q)
		}
		if star.Plan == nil {
			continue
		}
		if plan, err := star.Plan(t.Context(), q); err != nil || plan == "" {
			t.Errorf("%s: plan %q, %v", q, plan, err)
		}
	}
	s.sizes(t, star, max(len(p.Paths), 1), p.Partitions)
	if star.Cold != nil {
		if err := star.Cold(t.Context()); err != nil {
			t.Error(err)
		}
		s.check(t, star)
	}
	closed()
	p.Workers++
	star, closed = s.open(t, url, p)
	s.check(t, star)
	closed()
}

// sizes checks that each path has a partition, and none has much more than its share.
func (s *scanSuite) sizes(t *testing.T, star *tables.Star, paths, partitions int) {
	t.Helper()
	if star.Size == nil {
		return
	}
	sizes, err := star.Size(t.Context())
	if err != nil || len(sizes) != paths {
		t.Fatalf("sizes %v of %d paths, %v", sizes, paths, err)
	}
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	for i, n := range sizes {
		parts := (partitions - i + paths - 1) / paths // partition k is on path k mod paths
		share := float64(total) * float64(parts) / float64(partitions)
		if float64(n) < share/2 || float64(n) > share*2 {
			t.Errorf("path %d has %d bytes of %d; its share, %d of %d partitions, is %.0f", i, n, total, parts, partitions, share)
		}
	}
}

// another opens tables at other placements than those at which they were loaded.
func (s *scanSuite) another(t *testing.T) {
	url := s.URL(t)
	p := s.newPlacement(t, 2, 4)
	star, closed := s.open(t, url, p)
	s.load(t, star)
	closed()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	other := s.checkOthers(t, e, p)
	other.Replace = true
	anew, err := tables.DatabasesOf(e).Star.Open(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := anew.Ask(t.Context(), tables.ScanAll); !errors.Is(err, tables.ErrPlacement) {
		t.Errorf("asked at another placement before the load: %v", err)
	}
	s.load(t, anew)
	s.check(t, anew)
	s.sizes(t, anew, len(other.Paths), other.Partitions)
	if err := anew.Close(); err != nil {
		t.Error(err)
	}
}

// interrupted loads at another placement after a load that failed: no file of the failed load remains on its paths.
func (s *scanSuite) interrupted(t *testing.T) {
	url, failed := s.URL(t), s.newPlacement(t, 2, 4)
	files := s.files
	files.Parquet = maps.Clone(files.Parquet)
	files.Parquet[tables.Item] = []string{filepath.Join(t.TempDir(), "missing.parquet")}
	star, closed := s.open(t, url, failed)
	if _, err := star.Load(t.Context(), files); err == nil {
		t.Fatal("a missing file was loaded")
	}
	closed()
	t.Logf("%d files of the failed load", len(FilesBelow(t, failed.Paths...)))
	next := s.newPlacement(t, 1, 2)
	next.Replace = true
	star, _ = s.open(t, url, next)
	s.load(t, star)
	s.check(t, star)
	for _, name := range FilesBelow(t, failed.Paths...) {
		t.Errorf("%s remains from the failed load", name)
	}
}

// FilesBelow returns the regular files in folders.
func FilesBelow(t testing.TB, folders ...string) (names []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return names
}

// checkOthers opens tables of a placement at other placements, and at some invalid ones. It returns the first of the others.
func (s *scanSuite) checkOthers(t *testing.T, e *engine.Engine, p tables.Placement) tables.Placement {
	t.Helper()
	others := []tables.Placement{
		{Paths: p.Paths, Partitions: p.Partitions / 2},
		{Paths: p.Paths[:1], Partitions: p.Partitions},
		{Partitions: p.Partitions},
	}
	for _, other := range others {
		if _, err := tables.DatabasesOf(e).Star.Open(t.Context(), other); !errors.Is(err, tables.ErrPlacement) {
			t.Errorf("%d partitions over %d paths: %v", other.Partitions, len(other.Paths), err)
		}
	}
	for _, bad := range []tables.Placement{
		{Paths: p.Paths},
		{Paths: p.Paths, Partitions: 1, Workers: -1},
		{Paths: []string{p.Paths[0], p.Paths[0]}, Partitions: 2},
	} {
		if _, err := tables.DatabasesOf(e).Star.Open(t.Context(), bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	return others[0]
}

// empty asks before any load.
func (s *scanSuite) empty(t *testing.T) {
	star, _ := s.open(t, s.URL(t), s.newPlacement(t, 1, 1))
	s.unloaded(t, star)
	s.load(t, star)
	s.check(t, star)
	s.refused(t, star)
}

// unloaded asks before a load.
func (s *scanSuite) unloaded(t *testing.T, star *tables.Star) {
	t.Helper()
	if rows, err := star.Ask(t.Context(), tables.ScanAll); err == nil {
		t.Errorf("tables that were not loaded return %v", rows)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := star.Load(ctx, s.files); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled load: %v", err)
	}
}

// refused asks questions that must be refused.
func (s *scanSuite) refused(t *testing.T, star *tables.Star) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := star.Ask(ctx, tables.Q3); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled question: %v", err)
	}
	if _, err := star.Ask(t.Context(), "q1"); err == nil {
		t.Error("an unknown question was answered")
	}
}

// concurrent asks from several goroutines.
func (s *scanSuite) concurrent(t *testing.T) {
	star, _ := s.open(t, s.URL(t), s.newPlacement(t, 2, 2))
	s.load(t, star)
	s.askConcurrently(t, star)
}

// askConcurrently asks from several goroutines.
func (s *scanSuite) askConcurrently(t *testing.T, star *tables.Star) {
	t.Helper()
	var g errgroup.Group
	for range 4 {
		g.Go(func() error { return s.answers(t.Context(), star) })
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// Spends loads tables of a small scale, calls between, which may restart the server, asks for the scan, and returns
// what the server reports for it.
func Spends(t *testing.T, d engine.Driver, url string, between func()) engine.ServerUsage {
	t.Helper()
	files, reference := StarFolder(t)
	s := &scanSuite{Config: Config{Driver: d}, files: files, reference: reference}
	star, closed := s.open(t, url, tables.Placement{Partitions: 1, Replace: true})
	if _, err := star.Load(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	closed()
	between()
	star, closed = s.open(t, url, tables.Placement{Partitions: 1})
	defer closed()
	before, err := star.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := star.Ask(t.Context(), tables.ScanAll); err != nil {
		t.Fatal(err)
	}
	after, err := star.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, counter := range []struct{ before, after int64 }{{int64(before.CPU), int64(after.CPU)}, {before.Read, after.Read}} {
		if counter.after < counter.before || (counter.before < 0) != (counter.after < 0) {
			t.Errorf("the server spent %+v, and later %+v", before, after)
		}
	}
	if after.CPU >= 0 {
		after.CPU -= before.CPU
	}
	if after.Read >= 0 {
		after.Read -= before.Read
	}
	return after
}
