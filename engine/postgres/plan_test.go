package postgres

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine/archive"
)

// TestAccesses reads what PostgreSQL 15 gave for a generated archive, with
// long lists cut.
func TestAccesses(t *testing.T) {
	stored := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("testdata", "plans", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	known := relations{
		brin:   map[string]bool{"wide_sal1l2_time_idx": true},
		parent: map[string]string{"wide_sal1l2_p0": "wide_sal1l2", "wide_sal1l2_p1": "wide_sal1l2", "p0_idx": "series_idx", "p1_idx": "series_idx"},
		parts:  map[string]int{"wide_sal1l2": 3},
	}
	for _, c := range []struct {
		name, plan string
		want       []archive.Access
	}{
		{"metviewer-sql", stored("metviewer_sql"), []archive.Access{
			{Object: "stat_header", Method: archive.FullScan, Examined: 32, Kept: 1, Counted: true},
			{Object: "line_data_sal1l2", Method: archive.IndexScan, Index: "line_data_sal1l2_stat_header_id_idx", Examined: 16059, Kept: 848, Counted: true},
		}},
		{"three processes: right to half a row each", stored("parallel"), []archive.Access{
			{Object: "line_data_sal1l2", Method: archive.FullScan, Examined: 321174, Kept: 287253, Counted: true},
			{Object: "stat_header", Method: archive.FullScan, Examined: 96, Kept: 6, Counted: true},
		}},
		{"documents", stored("documents"), []archive.Access{
			{Object: "doc_sal1l2", Method: archive.IndexScan, Index: "doc_sal1l2_series_idx", Examined: 606, Kept: 542, Counted: true},
		}},
		{"keys", stored("keys"), []archive.Access{
			{Object: "doc_sal1l2", Method: archive.KeyLookup, Index: "doc_sal1l2_pkey", Examined: 2, Kept: 2, Counted: true},
		}},
		{
			"a BRIN index rules blocks out",
			`[{"Plan": {"Node Type": "Bitmap Heap Scan", "Relation Name": "wide_sal1l2", "Actual Rows": 10, "Actual Loops": 1, "Rows Removed by Index Recheck": 500, "Rows Removed by Filter": 90,
				"Plans": [{"Node Type": "Bitmap Index Scan", "Index Name": "wide_sal1l2_time_idx", "Index Cond": "(fcst_valid_epoch >= 1)", "Actual Rows": 1280, "Actual Loops": 1}]}}]`,
			[]archive.Access{{Object: "wide_sal1l2", Method: archive.PrunedScan, Index: "wide_sal1l2_time_idx", Examined: 600, Kept: 10, Counted: true}},
		},
		{
			"two partitions of three",
			`[{"Plan": {"Node Type": "Append", "Actual Rows": 30, "Actual Loops": 1, "Plans": [
				{"Node Type": "Seq Scan", "Relation Name": "wide_sal1l2_p0", "Actual Rows": 10, "Actual Loops": 1, "Rows Removed by Filter": 5},
				{"Node Type": "Seq Scan", "Relation Name": "wide_sal1l2_p1", "Actual Rows": 20, "Actual Loops": 1, "Rows Removed by Filter": 5}]}}]`,
			[]archive.Access{{Object: "wide_sal1l2", Method: archive.PrunedScan, Examined: 40, Kept: 30, Counted: true}},
		},
		{
			"the partitions of an index",
			`[{"Plan": {"Node Type": "Append", "Actual Rows": 3, "Actual Loops": 1, "Plans": [
				{"Node Type": "Index Scan", "Relation Name": "wide_sal1l2_p0", "Index Name": "p0_idx", "Index Cond": "(model = 'a'::text)", "Actual Rows": 1, "Actual Loops": 1},
				{"Node Type": "Index Scan", "Relation Name": "wide_sal1l2_p1", "Index Name": "p1_idx", "Index Cond": "(model = 'a'::text)", "Actual Rows": 2, "Actual Loops": 1}]}}]`,
			[]archive.Access{{Object: "wide_sal1l2", Method: archive.IndexScan, Index: "series_idx", Examined: 3, Kept: 3, Counted: true}},
		},
		{"nothing stored is reached", `[{"Plan": {"Node Type": "Result", "Actual Rows": 0, "Actual Loops": 1}}]`, nil},
	} {
		e, err := parseExplained([]byte(c.plan))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := e.accesses(known); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
	for _, text := range []string{"", "[]", "QUERY PLAN"} {
		if _, err := parseExplained([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
