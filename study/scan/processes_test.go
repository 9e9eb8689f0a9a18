package scan_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

// TestProcessesOfTables: a run counts the processor time of the process in which ClickHouse reads the star, and of that
// in which it reads an archive.
func TestProcessesOfTables(t *testing.T) {
	d, _ := all.Registry().Find("clickhouse")
	enginetest.Installed(t, *d)
	url := "clickhouse:" + filepath.Join(t.TempDir(), "ch")

	t.Run("star", func(t *testing.T) {
		e, err := all.Registry().Open(t.Context(), url, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		o, result := options(t), folderAt(t, t.TempDir(), run.Run{}, run.Scan{})
		o.Configs, o.Rounds, o.Warm, o.Cold = o.Configs[:1], 1, 40, 0
		if err := scan.Run(t.Context(), scan.OpenEngine(tables.DatabasesOf(e).Star, e.Processes), o, result); err != nil {
			t.Fatal(err)
		}
		checkProcessorTime(t, result, 2)
	})
	t.Run("archive", func(t *testing.T) {
		v := verification(t, nil)
		v.Warm, v.Cold = 40, 0
		v.Open = func(ctx context.Context) (*engine.Engine, error) {
			return all.Registry().Open(ctx, url, engine.Options{})
		}
		result := folderAt(t, t.TempDir(), run.Run{}, run.Scan{})
		if err := scan.Verify(t.Context(), v, result); err != nil {
			t.Fatal(err)
		}
		checkProcessorTime(t, result, 1)
	})
}

func checkProcessorTime(t *testing.T, result *run.Folder, processes int) {
	t.Helper()
	var used time.Duration
	for _, s := range result.Samples() {
		m := s.Measured()
		if m == nil || m.Server == nil || m.Server.Used.Processes != processes {
			t.Fatalf("%s: %+v, want %d processes", s.Cell, m, processes)
		}
		used += m.Server.Used.CPU
	}
	if used <= 0 {
		t.Errorf("the processes used %v in %d results", used, len(result.Samples()))
	}
}
