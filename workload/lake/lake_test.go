package lake_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/trino"
	"github.com/barograph/barograph/enginetest"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/run"
	"github.com/barograph/barograph/synth"
	"github.com/barograph/barograph/workload/lake"
)

// small is a synthetic data set of a few thousand lines.
func small(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	c, ok := synth.Preset("seed")
	if !ok {
		t.Fatal("no preset seed")
	}
	if _, err := synth.Write(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	files, err := formats.Expand([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
