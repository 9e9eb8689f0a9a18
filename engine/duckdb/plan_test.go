package duckdb

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine/archive"
)

// The profiles are those of DuckDB 1.5.5 for a generated archive, with long lists shortened. A profile does not show
// whether a scan was pruned: Explain compares the examined rows with those of the table.
func TestAccesses(t *testing.T) {
	for name, want := range map[string][]archive.Access{
		"normalized": {
			{Object: "line_data_sal1l2", Method: archive.FullScan, Examined: 245760, Kept: 48169, Counted: true},
			{Object: "stat_header", Method: archive.FullScan, Examined: 32, Kept: 5, Counted: true},
		},
		"wide": {{Object: "wide_sal1l2", Method: archive.FullScan, Examined: 245760, Kept: 848, Counted: true}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "plans", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := accesses(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, want)
		}
	}
	if _, err := accesses([]byte("no JSON")); err == nil {
		t.Error("a text that is no profile was read")
	}
}
