package own_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// TestCold: before each cold repetition the engine is closed, so that no page of its files is in use while the page
// cache is emptied. Cold results are proven, and are kept apart from warm ones.
func TestCold(t *testing.T) {
	qs, err := own.Questions([]string{write(t, "a.sql", "SELECT sum(x) AS s FROM t", "b.sql", "SELECT count(*) AS n FROM t")}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	engines, drops := inFiles(t), 0
	drop := func(paths []string) (string, error) {
		drops++
		if !slices.ContainsFunc(paths, func(path string) bool { return strings.HasSuffix(path, ".barograph-own") }) {
			t.Errorf("dropped: %q", paths)
		}
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("NOT TESTED: this system does not list open files: %v", err)
		}
		for _, f := range open {
			if at, err := os.Readlink(filepath.Join("/proc/self/fd", f.Name())); err == nil && slices.Contains(paths, at) {
				t.Errorf("%s is open", at)
			}
		}
		return "nothing was dropped", nil
	}
	r, samples, err := ask(t, own.Program{Engines: engines, Tables: write(t, "t.csv", numbers(10)), Questions: qs, Reps: 1, Cold: 2, Drop: drop})
	if err != nil {
		t.Fatal(err)
	}
	phases := map[run.Phase]int{}
	for _, s := range samples {
		if s.Measured() == nil {
			t.Errorf("%s: %s", s.Cell, s.Problem)
		}
		phases[s.Phase]++
	}
	if drops != 2*2*2 || phases[run.Warm] != 4 || phases[run.Cold] != 8 || !strings.Contains(r.ColdMethod, "the engine was closed and reopened") || !strings.HasSuffix(r.ColdMethod, "; nothing was dropped") {
		t.Errorf("%d drops, %v, %q", drops, phases, r.ColdMethod)
	}
	_, _, err = ask(t, own.Program{Engines: []string{"duckdb::memory:", engines[1]}, Tables: write(t, "t.csv", numbers(10)), Questions: qs, Cold: 1})
	if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "only in memory") {
		t.Errorf("a database in memory: %v", err)
	}
}

// TestColdServer: a server that no lab of this machine runs has no cold results.
func TestColdServer(t *testing.T) {
	qs, err := own.Questions([]string{write(t, "a.sql", "SELECT 1 AS one")}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = ask(t, own.Program{Engines: []string{"postgres://192.0.2.1/x", inFiles(t)[1]}, Tables: write(t, "t.csv", numbers(10)), Questions: qs, Cold: 1})
	if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "no lab of this machine runs") {
		t.Errorf("%v", err)
	}
}
