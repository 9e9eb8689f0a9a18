package own_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/study/own"
)

// TestEngineProcesses: the run attributes the processor time of an embedded engine's own processes to the engine, and
// does not mistake it for other work on the machine.
func TestEngineProcesses(t *testing.T) {
	d, _ := all.Registry().Find("clickhouse")
	enginetest.Installed(t, *d)
	tables := write(t, "n.csv", "id\n1\n2\n")
	qs := questionFiles(t, "sum.sql", "SELECT sum(id * 2) AS s FROM n")
	_, samples, err := execute(t, own.Program{
		Engines: []string{"clickhouse:" + filepath.Join(t.TempDir(), "ch"), inFiles(t)[0]}, Tables: tables, Questions: qs, Reps: 1,
		Streams: []int{1}, Duration: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		m := s.Measured()
		if m == nil || m.Mix == nil {
			continue
		}
		worked := m.Usage != nil && m.Server != nil && m.Server.Local && m.Server.Used.CPU > 0
		if worked != (s.Cell.Engine == "clickhouse") {
			t.Errorf("%s: its own processes worked: %v, %+v", s.Cell, worked, m.Usage)
		}
	}
}
