package run_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// FuzzRead: whatever a file of a folder contains, two reads return the same, and each error names the file.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	files := written(f, dir)
	for i, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), text)
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		path := filepath.Join(dir, files[int(which)%len(files)])
		original, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := os.WriteFile(path, original, 0o644); err != nil {
				t.Fatal(err)
			}
		}()
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		one, err := everything(dir)
		two, again := everything(dir)
		if (err == nil) != (again == nil) || !bytes.Equal(one, two) {
			t.Errorf("two reads differ: %v, %v", err, again)
		}
		if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
			t.Errorf("%T does not name the file: %v", err, err)
		}
	})
}

// written writes a run folder and returns the names of the files that everything reads.
func written(f *testing.F, dir string) (names []string) {
	w, err := run.Create(dir, run.Run{ID: "r", Workload: "met", Started: time.Unix(1e9, 0).UTC(), Reps: 3})
	cell := run.MetCell("duckdb", "wide", "test_1", "sql")
	err = errors.Join(err,
		w.Add(run.Sample{Cell: cell, Phase: run.Warm}.Judge(&run.Measured{Start: time.Second, Total: time.Millisecond, Bytes: 24}, proof(f, 3), nil)),
		w.Add(run.Sample{Cell: cell, Phase: run.Cold}.Judge(&run.Measured{Total: time.Hour}, answer.Proof{}, errors.New("failed, \"so\""))),
		w.StorePlan(cell, "SELECT 1", "SCAN", access()),
		w.StoreVerificationPlot(&run.VerificationPlot{Case: "test_1", Stat: "ME", Axis: run.ByLead, Series: []run.Series{{Name: "G2", X: []float64{0, 24}, Y: run.Values{1, 2}}}}),
		w.Close())
	if err != nil {
		f.Fatal(err)
	}
	for _, pattern := range []string{"*.json", "*.jsonl", "*/*.json"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			name, _ := filepath.Rel(dir, p)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// everything reads a run folder and returns its content as JSON.
func everything(dir string) ([]byte, error) {
	r, samples, e1 := run.Read(dir)
	plans, e2 := run.ReadPlans(dir)
	curves, e3 := run.ReadVerificationPlots(dir)
	all, err := json.Marshal([]any{r, samples, plans, curves})
	return all, errors.Join(e1, e2, e3, err)
}
