package own_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// inBrackets returns the URLs of embedded engines in a folder whose name is a pattern of filepath.Glob.
func inBrackets(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data[1]")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"duckdb:" + filepath.Join(dir, "d.db"), "sqlite:" + filepath.Join(dir, "s.db")}
}

// TestCold: before each cold repetition Barograph closes the engine, so no page of its files is in use while Barograph
// empties the page cache. Cold results are proven, and stored apart from warm ones.
func TestCold(t *testing.T) {
	qs := questionFiles(t, "a.sql", "SELECT sum(x) AS s FROM t", "b.sql", "SELECT count(*) AS n FROM t")
	engines, drops := inBrackets(t), 0
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
			path, err := os.Readlink(filepath.Join("/proc/self/fd", f.Name()))
			if err == nil && slices.Contains(paths, path) {
				t.Errorf("%s is open", path)
			}
		}
		return "nothing was dropped", nil
	}
	r, samples, err := execute(t, own.Program{
		Engines: engines, Tables: write(t, "t.csv", numbers(10)), Questions: qs, Reps: 1, Cold: 2, Drop: drop,
	})
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
	if drops != 2*2*2 || phases[run.Warm] != 4 || phases[run.Cold] != 8 {
		t.Errorf("%d drops, %v", drops, phases)
	}
	if how := r.ColdMethod; !strings.Contains(how, "the engine was closed and reopened") ||
		!strings.HasSuffix(how, "; nothing was dropped") {
		t.Errorf("the method of cold repetitions is %q", how)
	}
	_, _, err = execute(t, own.Program{
		Engines: []string{"duckdb::memory:", engines[1]}, Tables: write(t, "t.csv", numbers(10)),
		Questions: qs, Cold: 1,
	})
	if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "only in memory") {
		t.Errorf("a database in memory: %v", err)
	}
}

// TestColdServer: --cold refuses a server that no lab of this machine runs.
func TestColdServer(t *testing.T) {
	qs := questionFiles(t, "a.sql", "SELECT 1 AS one")
	_, _, err := execute(t, own.Program{
		Engines: []string{"postgres://192.0.2.1/x", inFiles(t)[1]}, Tables: write(t, "t.csv", numbers(10)),
		Questions: qs, Cold: 1,
	})
	if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "no lab of this machine runs") {
		t.Errorf("%v", err)
	}
}
