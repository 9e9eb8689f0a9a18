package lake_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/clickhouse"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/engine/trino"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/lake"
	"github.com/barograph/barograph/study/synth"
)

// TestLake writes a synthetic day to an object store in every partitioning; the name of one variable has a slash. Every
// result must equal the reference, and the gate must count the traffic of every query.
func TestLake(t *testing.T) {
	all := engine.Registry{duckdb.Driver(), clickhouse.Driver()}
	for _, d := range all {
		enginetest.Installed(t, d)
	}
	proves(t, all, "duckdb", "clickhouse")
	for _, bad := range [][]string{{"duckdb", "duckdb"}, {"nix:"}} {
		if err := (&lake.Program{Registry: all, Engines: bad}).Check(); fault.Code(err) != fault.Usage {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestTrino: a server that is informed of the store while it runs.
func TestTrino(t *testing.T) {
	all := engine.Registry{duckdb.Driver(), trino.Driver()}
	server := enginetest.Lab(t, trino.Driver(), lab.Options{Memory: 2 << 30, Patience: 5 * time.Minute})
	enginetest.Installed(t, duckdb.Driver())
	proves(t, all, server.URL())
}

// proves runs the study of the engines on a synthetic day in every partitioning.
func proves(t *testing.T, all engine.Registry, engines ...string) {
	t.Helper()
	enginetest.Installed(t, lab.StoreDriver())
	dir, from := t.TempDir(), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	files, err := synth.VSDB{Seed: 1, From: from, Models: []string{"gfs"}, StatTypes: []string{synth.Anom}}.Files()
	if err == nil {
		_, err = synth.WriteAll(t.Context(), dir, files, 2, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	paths, err := formats.Expand([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for name, text := range map[string]string{"empty.vsdb": "", "z.vsdb": line[:len(line)-1] + "0\n" + line} { // a conflict, and a last line without its end
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	out := t.TempDir()
	into, err := run.Create(out, run.Run{Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	p := lake.Program{
		Registry: all, Engines: engines, Files: paths, Partitions: tables.Partitions(), FileMB: []float64{1},
		Cases: 7, Repetitions: 1, MBPerSecond: 1000, WorkFolder: t.TempDir(), Progress: func(string) {},
	}
	lacks := "1 line of these files was quarantined, 1 file could not be read, 1 line conflicts with an earlier line"
	if err := lake.Run(t.Context(), p, into); fault.Code(err) != fault.Incomplete || !strings.Contains(err.Error(), lacks) {
		t.Fatal(err)
	}
	if d := into.Run.Data; d.Files != len(paths)-1 || d.Records != d.Lines-2 || d.Quarantined != 1 {
		t.Errorf("%+v", d)
	}
	if n := len(into.Samples()); n != len(engines)*len(into.Run.Cases)*len(tables.Partitions()) {
		t.Errorf("%d samples", n)
	}
	for _, s := range into.Samples() {
		if m := s.Measured(); s.Verdict != run.Equal || m == nil || m.Requests == 0 || m.Sent == 0 || m.Usage == nil || m.AvailableMemory == 0 {
			t.Errorf("%+v: %+v", s, m)
		}
	}
	kept, err := filepath.Glob(filepath.Join(out, "answers", "*.json"))
	if err != nil || len(kept) == 0 || len(kept) > len(into.Run.Cases) { // two cases may have the same answer
		t.Errorf("answers that are kept: %v, %v", kept, err)
	}
	for _, l := range into.Run.Lake.Layouts {
		if l.Rows == 0 || l.Rows != into.Run.Lake.Layouts[0].Rows || l.Files == 0 {
			t.Errorf("%+v", l)
		}
	}
}
