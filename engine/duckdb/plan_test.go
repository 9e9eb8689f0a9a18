package duckdb

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine/archive"
)

// Profiles that DuckDB 1.5.5 gave for a generated archive; long lists in them
// are cut. Whether a scan was pruned shows only beside the table's rows.
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
