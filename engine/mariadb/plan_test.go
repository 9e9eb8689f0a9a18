package mariadb

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// TestAccesses reads what MariaDB 10.11 gave for a generated archive, with
// long lists cut.
func TestAccesses(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	stored := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("testdata", "plans", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		name   string
		design design.Name
		plan   string
		want   []archive.Access
	}{
		{"metviewer-sql", design.Normalized, stored("metviewer_sql"), []archive.Access{
			{Object: "stat_header", Method: archive.FullScan, Examined: 32, Kept: 2, Counted: true},
			{Object: "line_data_sal1l2", Method: archive.IndexScan, Index: "stat_header_id_idx", Examined: 32110, Kept: 28718, Counted: true},
		}},
		{"documents", design.Document, stored("documents"), []archive.Access{
			{Object: "doc_sal1l2", Method: archive.IndexScan, Index: "series_idx", Examined: 606, Kept: 542, Counted: true},
		}},
		{"keys", design.Document, stored("keys"), []archive.Access{
			{Object: "doc_sal1l2", Method: archive.KeyLookup, Index: "PRIMARY", Examined: 542, Kept: 542, Counted: true},
		}},
		{"wide", design.Wide, stored("wide"), []archive.Access{
			{Object: "wide_sal1l2", Method: archive.IndexScan, Index: "series_idx", Examined: 80287, Kept: 28718, Counted: true},
		}},
		{
			"F5 of METviewer: the lines first, then one header each", design.Normalized,
			`{"query_block": {"nested_loop": [
				{"table": {"table_name": "ld", "access_type": "ALL", "r_loops": 1, "rows": 114300, "r_rows": 114300, "r_filtered": 0.5564304}},
				{"table": {"table_name": "h", "access_type": "eq_ref", "key": "PRIMARY", "r_loops": 636, "rows": 1, "r_rows": 1, "r_filtered": 100}}]}}`,
			[]archive.Access{
				{Object: "line_data_sal1l2", Method: archive.FullScan, Examined: 114300, Kept: 636, Counted: true},
				{Object: "stat_header", Method: archive.KeyLookup, Index: "PRIMARY", Examined: 636, Kept: 636, Counted: true},
			},
		},
		{
			"never run", design.Normalized,
			`{"query_block": {"nested_loop": [{"table": {"table_name": "h", "access_type": "ref", "key": "x", "r_loops": 0, "rows": 5, "r_rows": null}}]}}`,
			[]archive.Access{{Object: "stat_header", Method: archive.IndexScan, Index: "x", Counted: true}},
		},
		{
			"not analysed", design.Normalized,
			`{"query_block": {"nested_loop": [{"table": {"table_name": "h", "access_type": "const", "key": "PRIMARY", "rows": 1}}]}}`,
			[]archive.Access{{Object: "stat_header", Method: archive.KeyLookup, Index: "PRIMARY", Examined: 1, Kept: -1}},
		},
		{"nothing to read", design.Normalized, `{"query_block": {"select_id": 1, "table": {"message": "Impossible WHERE"}}}`, nil},
	} {
		got, err := accesses([]byte(c.plan), func(name string) string { return sqlengine.TableOfAlias(c.design, lt, name) })
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", c.name, err, got, c.want)
		}
	}
	if _, err := accesses([]byte(`{"a": [`), func(name string) string { return name }); err == nil {
		t.Error("half a plan was read")
	}
}
