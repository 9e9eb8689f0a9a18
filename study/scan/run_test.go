package scan_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

// options returns the options of a short run.
func options(t *testing.T) scan.Options {
	t.Helper()
	files, reference := scantest.StarFolder(t)
	paths := []string{t.TempDir(), t.TempDir()}
	configs, err := scan.Placements(scan.Experiment2, paths, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return scan.Options{
		Files: files, Reference: reference, Queries: tables.StarQueries(), Configs: configs, Rounds: 2, Warm: 2, Cold: 1, Seed: 3,
		Drop:     func([]string) (string, error) { return "nothing was dropped", nil },
		Progress: func(string) {},
	}
}

func opened(t *testing.T) tables.Scans {
	t.Helper()
	e, err := all.Registry().Open(t.Context(), "duckdb:"+filepath.Join(t.TempDir(), "star.db"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return tables.DatabasesOf(e).Star
}

// TestRun times two configurations in two rounds.
func TestRun(t *testing.T) {
	o, result := options(t), folderAt(t, t.TempDir(), run.Run{}, run.Scan{})
	if err := scan.Run(t.Context(), scan.OpenEngine(opened(t), nil), o, result); err != nil {
		t.Fatal(err)
	}
	type name struct {
		cell  run.Cell
		phase run.Phase
		rep   int
	}
	seen := map[name]bool{}
	samples := result.Samples()
	for _, s := range samples {
		if s.Verdict != run.Equal || s.Measured().Total <= 0 {
			t.Errorf("%+v", s)
		}
		seen[name{s.Cell, s.Phase, s.Rep}] = true
	}
	if want := 2 * 4 * (2*2 + 2*1); len(seen) != want || len(samples) != want {
		t.Errorf("%d samples, %d different ones, not %d", len(samples), len(seen), want)
	}
	for i, c := range result.Run.Scan.Configs {
		if c.Loads != 2 || c.Load <= 0 || len(c.Bytes) != i+1 || len(c.Plans) != 4 || c.Plans[0].Plan == "" {
			t.Errorf("%+v", c)
		}
	}
	for _, q := range o.Queries { // the run folder has the results of the reference
		f, err := os.Open(filepath.Join(result.Dir, "results", "x."+string(q)+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := csv.NewReader(f).ReadAll()
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		want := o.Reference.Answer(q)
		if len(want) > tables.StarLimit {
			want = want[:tables.StarLimit]
		}
		if len(kept) != len(want)+1 || len(kept[0]) != q.Columns() {
			t.Fatalf("%s: %d rows of %q, not %d", q, len(kept), kept[0], len(want)+1)
		}
		for i, r := range want {
			sum, fields := fmt.Sprintf("%d.%02d", r.Cents/100, r.Cents%100), kept[i+1]
			if fields[len(fields)-1] != sum || q.Columns() > 1 && fields[len(fields)-2] != r.Brand || q.Columns() == 4 && fields[0] != strconv.FormatInt(r.Year, 10) {
				t.Errorf("%s, row %d: %q, not %+v", q, i, fields, r)
			}
		}
	}
	if result.Run.ColdMethod != "the engine dropped its caches; nothing was dropped" {
		t.Errorf("cold: %s", result.Run.ColdMethod)
	}
}

// TestRunCatches: if an engine loses a cent, a row or all rows, its results are wrong and have no times.
func TestRunCatches(t *testing.T) {
	for name, spoil := range map[string]func(rows []tables.StarRow) []tables.StarRow{
		"a cent": func(rows []tables.StarRow) []tables.StarRow { rows[0].Cents--; return rows },
		"a row":  func(rows []tables.StarRow) []tables.StarRow { return rows[:len(rows)-1] },
		"all":    func([]tables.StarRow) []tables.StarRow { return nil },
	} {
		o, result := options(t), folderAt(t, t.TempDir(), run.Run{}, run.Scan{})
		o.Configs, o.Rounds = o.Configs[:1], 1
		if err := scan.Run(t.Context(), scan.OpenEngine(faulty{opened(t), spoil}, nil), o, result); !errors.Is(err, scan.ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
		samples := result.Samples()
		for _, s := range samples {
			if s.Verdict != run.Wrong || s.Measured() != nil || s.Problem == "" {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if len(samples) != len(o.Queries) {
			t.Errorf("%s: %d samples", name, len(samples))
		}
		if kept, _ := filepath.Glob(filepath.Join(result.Dir, "results", "*")); len(kept) > 0 {
			t.Errorf("%s: wrong results are kept: %q", name, kept)
		}
	}
}

type faulty struct {
	tables.Scans
	spoil func(rows []tables.StarRow) []tables.StarRow
}

// Open opens tables whose results spoil has changed.
func (f faulty) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	s, err := f.Scans.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Ask = func(ctx context.Context, q tables.StarQuery) ([]tables.StarRow, error) {
		rows, err := s.Ask(ctx, q)
		if err == nil {
			rows = f.spoil(rows)
		}
		return rows, err
	}
	return &out, nil
}
