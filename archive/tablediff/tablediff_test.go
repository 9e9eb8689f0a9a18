package tablediff_test

import (
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// writeFiles writes two VSDB files. Some of their leads show METdbLoad's faults.
func writeFiles(t *testing.T) []string {
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

// twoDatabases loads the files into two databases, in opposite orders, so that all numbers of rows differ.
func twoDatabases(t *testing.T, paths []string) (left, right *sql.DB) {
	t.Helper()
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
	reversed := slices.Clone(paths)
	slices.Reverse(reversed)
	for name, paths := range map[string][]string{"mv_a": paths, "mv_b": reversed} {
		for _, path := range paths { // one commit each
			if _, err := load.Run(t.Context(), a, name, []string{path}, load.Options{}); err != nil {
				t.Fatal(err)
			}
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
	return open("mv_a"), open("mv_b")
}

// TestCompareObjects: objects of MODE and MTD are compared with the texts of their headers, and pairs with the objects to
// which they refer. Their numbers are not compared.
func TestCompareObjects(t *testing.T) {
	dir := t.TempDir()
	const (
		mode = "VERSION MODEL N_VALID GRID_RES DESC FCST_LEAD FCST_VALID FCST_ACCUM OBS_LEAD OBS_VALID OBS_ACCUM FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE "
		line = "V12.0.0 FCST 2461 9 NA 0%d0000 20120410_180000 060000 060000 20120410_180000 060000 2 >=5.0 3 >=6.0 APCP_06 kg/m^2 A6 APCP_06 mm A06 STAGE4 "
		obj  = mode + "OBJECT_ID OBJECT_CAT CENTROID_X AXIS_ANG AREA INTENSITY_90 INTENSITY_50 CENTROID_DIST INTEREST\n" +
			line + "F001 CF001 80.36 -69.7 730 15.5 9.45 NA NA\n" + line + "O001 CO001 81 45 700 15 9 NA NA\n" + line + "F001_O001 CF001_CO001 NA NA NA NA NA 3.5 0.98\n"
		cts = mode + "FIELD TOTAL FY_OY FY_ON FN_OY FN_ON BASER\n" + line + "OBJECT 2461 235 498 52 1676 0.5\n"
		mtd = "VERSION MODEL DESC FCST_LEAD FCST_VALID OBS_LEAD OBS_VALID T_DELTA FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBJECT_ID OBJECT_CAT TIME_INDEX AREA\n" +
			"V12.0.0 WRF x 030000 20100517_030000 NA NA 010000 2 >=5 2 >=5 APCP A1 APCP A1 CF_1 CF000 3 100\n"
	)
	var paths []string
	for name, text := range map[string]string{"mode_a_cts.txt": cts, "mode_a_obj.txt": obj, "mode_b_obj.txt": strings.ReplaceAll(obj, "%d", "4"), "mtd_2d.txt": mtd} {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(strings.ReplaceAll(text, "%d", "3")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(paths)
	left, right := twoDatabases(t, paths)
	rows := func() (all map[string][3]int64, unknown int64, samples string) {
		t.Helper()
		r, err := tablediff.Compare(t.Context(), left, right, tablediff.Options{Samples: 5})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Text(&b, nil); err != nil {
			t.Fatal(err)
		}
		all = map[string][3]int64{}
		for i := range r.Tables {
			if n := &r.Tables[i]; strings.HasPrefix(n.Name, "m") {
				all[n.Name] = [3]int64{n.Equal, n.ChangedRows, n.OnlyLeft + n.OnlyRight}
			}
		}
		return all, r.Unexplained(), b.String()
	}
	want := map[string][3]int64{
		"mode_cts": {1}, "mode_header": {2}, "mode_obj_single": {4}, "mode_obj_pair": {2},
		"mtd_header": {1}, "mtd_2d_obj": {1}, "mtd_3d_obj_pair": {}, "mtd_3d_obj_single": {},
	}
	if got, unknown, text := rows(); !maps.Equal(got, want) || unknown != 0 {
		t.Fatalf("%v, %d unexplained; want %v\n%s", got, unknown, want, text)
	}
	for _, change := range []string{
		"UPDATE mode_obj_single SET area = 731 WHERE object_id = 'F001' LIMIT 1",
		"UPDATE mode_obj_pair SET mode_obj_fcst_id = mode_obj_obs_id LIMIT 1",
		"UPDATE mtd_header SET revision_id = 7",
		"DELETE FROM mode_cts",
	} {
		if _, err := right.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	want["mode_obj_single"], want["mode_obj_pair"], want["mtd_header"], want["mtd_2d_obj"], want["mode_cts"] = [3]int64{3, 1}, [3]int64{1, 1}, [3]int64{0, 0, 2}, [3]int64{0, 0, 2}, [3]int64{0, 0, 1}
	got, unknown, text := rows()
	if !maps.Equal(got, want) || unknown != 7 || !strings.Contains(text, "APCP_06 A6 F001 area 730 ≠ 731") || !strings.Contains(text, "mode_obj_fcst_id F001 ≠ O001") {
		t.Errorf("%v, %d unexplained; want %v\n%s", got, unknown, want, text)
	}
}

func TestCompare(t *testing.T) {
	left, right := twoDatabases(t, writeFiles(t))
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
		{"INSERT INTO line_data_sl1l2 SELECT * FROM line_data_sl1l2 WHERE fcst_lead = 0", 1, 8, 1, 1, 4, 6}, // a copy of a row
	} {
		if _, err := right.ExecContext(t.Context(), tc.change); err != nil {
			t.Fatal(err)
		}
		got, all := compare()
		var known int64
		for _, n := range got.Known {
			known += n
		}
		if got.Equal != tc.equal || got.ChangedRows != tc.changed || got.OnlyLeft != tc.left || got.OnlyRight != tc.right || known != tc.known || all.Unexplained() != tc.all {
			t.Errorf("%s: %+v, known %d, unexplained %d; want %+v", tc.change, got, known, all.Unexplained(), tc)
		}
	}
	if _, err := right.ExecContext(t.Context(), "UPDATE stat_header SET vx_mask = 'g2'"); err != nil { // which latin1_swedish_ci takes for G2
		t.Fatal(err)
	}
	if got, all := compare(); got.Equal != 0 || all.Unexplained() < 2 {
		t.Errorf("g2 for G2: %d lines equal, want none", got.Equal)
	}
}

// TestColumnsOfOneSide: a column that only one database has is an unexplained difference if its table has rows.
func TestColumnsOfOneSide(t *testing.T) {
	left, right := twoDatabases(t, writeFiles(t))
	for _, change := range []string{"ALTER TABLE line_data_sl1l2 DROP COLUMN mae", "ALTER TABLE mtd_3d_obj_pair ADD COLUMN x INT"} {
		if _, err := right.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	r, err := tablediff.Compare(t.Context(), left, right, tablediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.Text(&text, nil); err != nil {
		t.Fatal(err)
	}
	if equal, different := r.Rows(); equal != 13 || different != 0 || r.Unexplained() != 1 {
		t.Errorf("%d rows equal, %d differ, %d differences unexplained; want 13, 0, 1\n%s", equal, different, r.Unexplained(), text.String())
	}
	for _, want := range []string{"only the first database has column mae", "only the second database has column x", "0 differ; 1 difference is not explained"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestKeysWithEmptyTexts: the server sorts an empty text before NULL, and a text before a longer one that begins with it,
// whatever character follows.
func TestKeysWithEmptyTexts(t *testing.T) {
	left, right := twoDatabases(t, writeFiles(t))
	for _, db := range []*sql.DB{left, right} {
		for _, change := range []string{
			"CREATE TABLE line_data_x (stat_header_id INT, data_file_id INT, note VARCHAR(20), n INT)",
			"INSERT INTO line_data_x (note, n) VALUES (NULL, 1), ('', 2), ('a', 3), ('a\tb', 1), ('b', NULL), ('b', 0)",
		} {
			if _, err := db.ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := tablediff.Compare(t.Context(), left, right, tablediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if equal, different := r.Rows(); equal != 13+6 || different != 0 {
		t.Errorf("%d rows equal, %d differ", equal, different)
	}
}

// TestOpenNamesWhatIsWrong: an error names the URL without its password, and the problem.
func TestOpenNamesWhatIsWrong(t *testing.T) {
	for u, want := range map[string]string{
		"postgres://h/db":                       "postgres://h/db is not a database of METviewer's",
		"mariadb://root:secret@127.0.0.1:1/":    "names no database",
		"mariadb://root:secret@127.0.0.1:1/db":  "127.0.0.1:1/db is not reached: 127.0.0.1:1: connection refused",
		"mariadb://root:secret@127.0.0.1:1/d?x": "is not reached",
		"::":                                    "cannot be parsed",
	} {
		db, err := tablediff.Open(t.Context(), u, nil)
		if err == nil {
			db.Close()
			t.Errorf("%s: no error", u)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", u, err, want)
		}
	}
}
