package sqlite

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// TestAccesses reads plans that SQLite 3.50 printed for a generated archive.
func TestAccesses(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	const none = -1
	for _, c := range []struct {
		name   string
		design design.Name
		subset string
		steps  []string
		want   []archive.Access
	}{
		{
			"metviewer-sql: no index serves", design.Normalized, "archive",
			[]string{"SCAN ld", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)", "USE TEMP B-TREE FOR ORDER BY"},
			[]archive.Access{
				{Object: "line_data_sal1l2", Method: archive.FullScan, Examined: none, Kept: none},
				{Object: "stat_header", Method: archive.KeyLookup, Index: "INTEGER PRIMARY KEY", Examined: none, Kept: none},
			},
		},
		{
			"sql: two indexes", design.Normalized, "archive",
			[]string{
				"SEARCH h USING COVERING INDEX archive/stat_header_stat_header_unique_pk (model=? AND fcst_var=? AND fcst_lev=?)",
				"SEARCH ld USING INDEX archive/line_data_sal1l2_stat_header_id_idx (stat_header_id=? AND fcst_valid_beg=?)",
			},
			[]archive.Access{
				{Object: "stat_header", Method: archive.IndexScan, Index: "stat_header_stat_header_unique_pk", Examined: none, Kept: none},
				{Object: "line_data_sal1l2", Method: archive.IndexScan, Index: "line_data_sal1l2_stat_header_id_idx", Examined: none, Kept: none},
			},
		},
		{
			"a subset with blanks and brackets in its name", design.Document, "of (2019) a",
			[]string{"SEARCH r USING INDEX of (2019) a/doc_sal1l2_series_idx (model=? AND fcst_valid_epoch>? AND fcst_valid_epoch<?)", "SCAN d VIRTUAL TABLE INDEX 1:"},
			[]archive.Access{{Object: "doc_sal1l2", Method: archive.IndexScan, Index: "doc_sal1l2_series_idx", Examined: none, Kept: none}},
		},
		{
			"keys", design.Document, "archive",
			[]string{"SEARCH r USING INDEX sqlite_autoindex_archive/doc_sal1l2_1 (id=?)", "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:", "SCAN d VIRTUAL TABLE INDEX 1:"},
			[]archive.Access{{Object: "doc_sal1l2", Method: archive.KeyLookup, Index: "sqlite_autoindex_doc_sal1l2_1", Examined: none, Kept: none}},
		},
		{
			"all of an index", design.Document, "archive",
			[]string{"SCAN r USING COVERING INDEX archive/doc_sal1l2_series_idx"},
			[]archive.Access{{Object: "doc_sal1l2", Method: archive.FullScan, Index: "doc_sal1l2_series_idx", Examined: none, Kept: none}},
		},
		{"nothing stored is reached", design.Normalized, "archive", []string{"SCAN CONSTANT ROW (x) y"}, nil},
	} {
		if got := accesses(c.design, lt, c.subset, c.steps); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}
