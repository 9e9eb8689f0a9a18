package tablediff_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/archive/tablediff"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// files writes two VSDB files; the leads are those of METdbLoad's faults.
func fileQuery(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = "V01", "GFS", "GFS", "G2"
	h[record.FcstVar], h[record.FcstLev] = "HGT", "P500"
	var out []string
	for day := range 2 {
		var text []byte
		for _, lead := range []int{0, 6, 24, 30, 384} {
			text = vsdb.AppendLine(text, &h, lead, 1546300800+int64(day)*86400, "SL1L2", []float64{3600, 1, 2, 3, 4, 5})
		}
		out = append(out, filepath.Join(dir, fmt.Sprintf("gfs_%d.vsdb", day)))
		if err := os.WriteFile(out[day], text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestCompare(t *testing.T) {
	server := enginetest.Lab(t, mariadb.Driver(), lab.Options{}).State().URL
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	d := mariadb.Driver()
	e, err := d.Open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	paths := fileQuery(t)
	reversed := slices.Clone(paths)
	slices.Reverse(reversed) // other ids, another order
	for name, paths := range map[string][]string{"mv_a": paths, "mv_b": reversed} {
		if _, err := load.Run(t.Context(), a, name, paths, load.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) *sql.DB {
		v := *u
		v.Path = "/" + name
		db, err := tablediff.Open(t.Context(), v.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	left, right := open("mv_a"), open("mv_b")
	compare := func() (tablediff.Table, *tablediff.Report) {
		t.Helper()
		r, err := tablediff.Compare(t.Context(), left, right, tablediff.Options{Faults: tablediff.METdbLoad(), Samples: 5})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Tables, func(t tablediff.Table) bool { return t.Name == "line_data_sl1l2" })
		return r.Tables[i], r
	}
	lines, all := compare()
	if equal, different := all.Rows(); equal != 10+1+2 || different != 0 || lines.Equal != 10 {
		t.Fatalf("%d rows equal, %d differ; want 10 lines, 1 header, 2 files, and none", equal, different)
	}
	for _, tc := range []struct {
		change                                  string
		equal, changed, left, right, known, all int64
	}{
		{"UPDATE line_data_sl1l2 SET fcst_init_beg = fcst_valid_beg - INTERVAL 30 SECOND WHERE fcst_lead = 30", 8, 2, 0, 0, 2, 0},
		{"UPDATE line_data_sl1l2 SET fcst_init_beg = fcst_valid_beg - INTERVAL 264 SECOND WHERE fcst_lead = 384", 6, 4, 0, 0, 4, 0},
		{"UPDATE line_data_sl1l2 SET fcst_init_beg = fcst_valid_beg - INTERVAL 24 SECOND WHERE fcst_lead = 24", 4, 6, 0, 0, 4, 2}, // not what METdbLoad does
		{"UPDATE line_data_sl1l2 SET fbar = fbar + 1e-12 WHERE fcst_lead = 6", 2, 8, 0, 0, 4, 4},
		{"DELETE FROM line_data_sl1l2 WHERE fcst_lead = 0 LIMIT 1", 1, 8, 1, 0, 4, 5},
		{"INSERT INTO line_data_sl1l2 SELECT * FROM line_data_sl1l2 WHERE fcst_lead = 0", 1, 8, 1, 1, 4, 6}, // one that is there twice
	} {
		if _, err := right.ExecContext(t.Context(), tc.change); err != nil {
			t.Fatal(err)
		}
		got, all := compare()
		var known int64
		for _, n := range got.Known {
			known += n
		}
		if got.Equal != tc.equal || got.ChangedRows != tc.changed || got.OnlyLeft != tc.left || got.OnlyRight != tc.right || known != tc.known || all.Unknown() != tc.all {
			t.Errorf("%s: %+v, known %d, unexplained %d; want %+v", tc.change, got, known, all.Unknown(), tc)
		}
	}
	if _, err := right.ExecContext(t.Context(), "UPDATE stat_header SET vx_mask = 'g2'"); err != nil { // which latin1_swedish_ci takes for G2
		t.Fatal(err)
	}
	if got, all := compare(); got.Equal != 0 || all.Unknown() < 2 {
		t.Errorf("g2 for G2: %d lines equal, want none", got.Equal)
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	for _, u := range []string{"postgres://h/db", "mariadb://root@127.0.0.1:1/", "mariadb://root:secret@127.0.0.1:1/db", "::"} {
		db, err := tablediff.Open(t.Context(), u, nil)
		if err == nil {
			db.Close()
			t.Errorf("%s: no error", u)
		}
	}
}
