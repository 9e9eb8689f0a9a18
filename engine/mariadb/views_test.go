package mariadb

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

const (
	modeHead = "VERSION MODEL N_VALID GRID_RES DESC FCST_LEAD FCST_VALID FCST_ACCUM OBS_LEAD OBS_VALID OBS_ACCUM FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE "
	modeLine = "V12.0.0 FCST 2461 9 NA 300000 20120410_180000 060000 060000 20120410_180000 060000 2 >=5.0 3 >=6.0 APCP_06 kg/m^2 A6 APCP_06 mm A06 STAGE4 "
	objHead  = modeHead + "OBJECT_ID OBJECT_CAT CENTROID_X AXIS_ANG AREA INTENSITY_90 INTENSITY_50 CENTROID_DIST INTEREST\n"
	single   = modeLine + "F001 CF001 80.36 -69.7 730 15.5 9.45 NA NA\n" + modeLine + "O001 CO001 81 45 700 15 9 NA NA\n"
	pair     = modeLine + "F001_O001 CF001_CO001 NA NA NA NA NA 3.5 0.98\n"
	tcHead   = "VERSION AMODEL BMODEL DESC STORM_ID BASIN CYCLONE STORM_NAME INIT LEAD VALID INIT_MASK VALID_MASK LINE_TYPE\n"
	tcLine   = "V11.1.0 GFSO BEST NA AL092022 AL 09 IAN 20220926_000000 060000 20220926_060000 NA NA "
)

// revision is a line of a file of MTD whose lines are all of one valid time.
func revision(lead, object string) string {
	return "V12.0.0 WRF x " + lead + " 20100517_030000 NA NA 010000 2 >=5 2 >=5 APCP A1 APCP A1 " + object + "\n"
}

// objectsOf reads lines of MODE, MTD or TC-Pairs.
func objectsOf(t *testing.T, file, text string) (out []*record.Batch) {
	t.Helper()
	r := metstat.NewReader(strings.NewReader(text), file, metstat.Options{})
	for {
		var b record.Batch
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil || len(b.Rejects) > 0 {
			t.Fatal(err, b.Rejects)
		}
		out = append(out, b.Clone())
	}
}

// TestObjects: METviewer finds objects and cyclones in its own tables: one header for a file's objects and its
// contingency table, and pairs that refer to their objects. A record that is loaded twice is there once, and a failed
// commit leaves no row. The rows of METdbLoad stay. stat_header has no row for them, as after METdbLoad, except in
// archives that were created before ownHeader existed, until their adoption.
func TestObjects(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, variant := range []string{"", "engine=InnoDB", "old"} {
		params, isOld := "?"+variant, variant == "old"
		if isOld {
			params = ""
		}
		a := openIn(t, l, "o"+variant+"_"+params, design.Normalized)
		ask := func(query string) string {
			t.Helper()
			for _, name := range []string{"mode_header", "mode_cts", "mode_obj_single", "mode_obj_pair", "mtd_header", "mtd_2d_obj", "tcst_header", "line_data_tcmpr", "line_data_tcdiag_diag", "line_data_tcdiag", "line_data_probrirw_thresh", "stat_header", ownHeader} {
				query = strings.ReplaceAll(query, " "+name+" ", " "+a.table("s", name)+" ")
			}
			return strings.Join(texts(t, a, query), "|")
		}
		cts := objectsOf(t, "x/mode_cts.txt", modeHead+"FIELD TOTAL FY_OY FY_ON FN_OY FN_ON BASER\n"+modeLine+"OBJECT 2461 235 498 52 1676 0.5\n")
		singles, pairs := objectsOf(t, "x/mode_obj.txt", objHead+single), objectsOf(t, "x/mode_obj.txt", objHead+pair)
		mtd := objectsOf(t, "x/mtd_2d.txt", "VERSION MODEL DESC FCST_LEAD FCST_VALID OBS_LEAD OBS_VALID T_DELTA FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBJECT_ID OBJECT_CAT TIME_INDEX AREA\n"+
			"V12.0.0 WRF x 030000 20100517_030000 NA NA 010000 2 >=5 2 >=5 APCP A1 APCP A1 CF_1 CF000 3 100\n")
		revised := objectsOf(t, "x/rev_2d.txt", "VERSION MODEL DESC FCST_LEAD FCST_VALID OBS_LEAD OBS_VALID T_DELTA FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBJECT_ID OBJECT_CAT TIME_INDEX AREA\n"+
			revision("030000", "F_1 CF_1 0 100")+revision("020000", "F_1 CF_1 1 90")+revision("010000", "F_1 CF_1 2 95")+
			revision("030000", "F_2 CF_2 0 1")+revision("020000", "F_2 CF_2 1 3")+revision("010000", "F_2 CF_2 2 4"))
		storms := objectsOf(t, "x/ian.tcst", tcHead+tcLine+"TCMPR 68 1 DB NA BJR"+strings.Repeat(" 1.5", 59)+" D NA 5 1 2 3 4\n"+
			tcLine+"TCDIAG 68 27 CIRA GFS GFS_0p50 2 SHRM 1 LAND NA\n"+tcLine+"PROBRIRW 1 2 3 4 X 5 6 7 8 9 0 24 24 90 60 95 35 40 TS HU 2 30 10 65 5\n")
		all := slices.Concat(cts, singles, pairs, mtd, revised, storms)
		headers, sums := "0 4", batch("SL1L2", "x/x.stat", *cts[0].Header(0), 1, nil)
		if isOld {
			headers = "4 -"
			created, err := a.Loader(t.Context(), "s")
			if err == nil {
				err = errors.Join(created.Close(), a.exec(t.Context(), "DROP TABLE "+a.table("s", ownHeader)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		counts := func() string {
			if isOld {
				return ask("SELECT count(*), '-' FROM stat_header WHERE TRUE")
			}
			return ask("SELECT count(*), (SELECT count(*) FROM " + ownHeader + " ) FROM stat_header WHERE TRUE")
		}
		_, err := commit(t, a, "s", cts...)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.exec(t.Context(), "INSERT INTO "+a.table("s", "mode_obj_single")+" (mode_obj_id, mode_header_id, object_id) VALUES (7000, 900, 'F001')"); err != nil {
			t.Fatal(err) // as METdbLoad may
		}
		for range 3 { // the second time a duplicate, the third time with another value
			for _, batches := range [][]*record.Batch{singles, pairs, slices.Concat(mtd, storms), revised} {
				if _, err := commit(t, a, "s", batches...); err != nil {
					t.Fatal(err)
				}
			}
			for query, want := range map[string]string{
				"SELECT h.model, fcst_lead, fcst_valid, fcst_init, fcst_accum, fcst_rad, fcst_thr, obs_rad, obs_thr, n_valid, obs_lev, line_type_lu_id FROM mode_header h":                                                 "FCST 300000 2012-04-10 18:00:00 2012-04-09 12:00:00 60000 2 >=5.0 3 >=6.0 2461 A06 19",
				"SELECT field, total, fy_oy, baser, c.mode_header_id FROM mode_cts c":                                                                                                                                      "OBJECT 2461 235 0.5 1",
				"SELECT object_id, object_cat, axis_avg, intensity_nn, length, fcst_flag, simple_flag, matched_flag, mode_header_id FROM mode_obj_single WHERE mode_header_id = 1 ORDER BY object_id":                      "F001 CF001 -69.7 9.45 -9999 1 1 1 1|O001 CO001 45 9 -9999 0 1 1 1",
				"SELECT p.object_id, f.object_id, o.object_id, p.interest FROM mode_obj_pair p JOIN mode_obj_single f ON f.mode_obj_id = mode_obj_fcst_id JOIN mode_obj_single o ON o.mode_obj_id = mode_obj_obs_id":       "F001_O001 F001 O001 0.98",
				"SELECT object_id, fcst_lead, obs_lead, t_delta, time_index, area, simple_flag, matched_flag FROM mtd_2d_obj JOIN mtd_header USING (mtd_header_id) WHERE object_id = 'CF_1'":                               "CF_1 30000 0 10000 3 100 0 0",
				"SELECT object_id, fcst_lead, fcst_var, area, revision_id - (SELECT MIN(revision_id) FROM mtd_header m) FROM mtd_2d_obj JOIN mtd_header USING (mtd_header_id) WHERE revision_id IS NOT NULL ORDER BY 1, 2": "F_1 10000 REV_APCP 5 0|F_1 20000 REV_APCP -10 0|F_2 10000 REV_APCP 1 2|F_2 20000 REV_APCP 2 2",
				"SELECT amodel, bmodel, storm_id, basin, cyclone, storm_name FROM tcst_header h":                                                                                                                           "GFSO BEST AL092022 AL 9 IAN",
				"SELECT fcst_lead, fcst_valid, fcst_init, line_number, index_pair, level, watch_warn, alat, adepth, bdepth, max_wind_stdev FROM line_data_tcmpr c":                                                         "60000 2022-09-26 06:00:00 2022-09-26 00:00:00 2 1 DB NA 1.5 D X 4",
				"SELECT d.diag_source, n_diag, i_value, diag_i, value_i FROM line_data_tcdiag d JOIN line_data_tcdiag_diag c USING (line_data_id) ORDER BY i_value":                                                        "CIRA 2 1 SHRM 1|CIRA 2 2 LAND -9999",
				"SELECT i_value, thresh_i, prob_i FROM line_data_probrirw_thresh c ORDER BY 1":                                                                                                                             "1 30 10|2 65 5",
				"SELECT mode_obj_id FROM mode_obj_single WHERE mode_header_id = 900":                                                                                                                                       "7000",
			} {
				if got := ask(query); got != want {
					t.Errorf("%s\n%s\nwant\n%s", query, got, want)
				}
			}
			if got, want := sum(t, a, "s"), want(all...); got != want {
				t.Errorf("digest %v, want %v", got, want)
			}
			if got := counts(); got != headers {
				t.Errorf("%s: %s rows in stat_header and %s, want %s", variant, got, ownHeader, headers)
			}
		}
		centroid, _ := singles[0].Type.Column("centroid_x")
		singles[0].Num[centroid.Slot][0] = 12
		if _, err := commit(t, a, "s", singles...); err != nil {
			t.Fatal(err)
		}
		if got := ask("SELECT s.object_id, s.centroid_x FROM mode_obj_single s JOIN mode_obj_pair ON mode_obj_id = mode_obj_fcst_id"); got != "F001 12" {
			t.Errorf("a pair of an object of different values: %s", got)
		}
		if got, want := sum(t, a, "s"), want(all...); got != want {
			t.Errorf("digest %v, want %v", got, want)
		}
		before := ask("SELECT count(*), (SELECT count(*) FROM mode_header ) FROM mode_obj_single WHERE TRUE")
		loader, err := a.Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		other := objectsOf(t, "y/mode_obj.txt", strings.ReplaceAll(objHead+single, ">=5.0", ">=7.0"))
		c := archive.Commit{Catalog: design.NewCatalog("s"), Complete: []archive.Mark{{Path: "y", Digest: strings.Repeat("x", 100)}}} // does not fit, after all rows were written
		for _, b := range other {
			c.Catalog.Add(b)
			if err := loader.Add(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := loader.Commit(t.Context(), c); err == nil {
			t.Error("the commit should have failed")
		}
		loader.Close()
		if after := ask("SELECT count(*), (SELECT count(*) FROM mode_header ) FROM mode_obj_single WHERE TRUE"); after != before {
			t.Errorf("%s rows after a commit that failed, %s before", after, before)
		}
		if got := counts(); got != headers {
			t.Errorf("%s: %s headers after a commit that failed, want %s", variant, got, headers)
		}
		if _, err := commit(t, a, "s", sums); err != nil { // a header of MODE may also be one of stat_header
			t.Fatal(err)
		}
		all = append(all, sums)
		if isOld {
			if _, err := a.Adopt(t.Context(), "s", true); err != nil {
				t.Fatal(err)
			}
			isOld, headers = false, "0 4"
			a = openIn(t, l, "o"+variant+"_", design.Normalized)
			verify := func(own archive.Archive) error { // the archive has no record of another program
				if got, want := sum(t, own.(*openArchive), "s"), want(all...); got != want {
					t.Errorf("%s: digest of Barograph's records %v, want %v", variant, got, want)
				}
				return nil
			}
			objects := a.table("s", "mode_obj_single")
			if err := a.exec(t.Context(), "DELETE FROM "+objects+" WHERE mode_obj_id = 7000"); err != nil {
				t.Fatal(err)
			}
			if err := a.Forget(t.Context(), "s", verify); fault.Code(err) != fault.Differs || !strings.Contains(err.Error(), "mode_obj_single lacks 1 rows") {
				t.Errorf("%s: an object of METdbLoad is lost: %v", variant, err)
			}
			if err := a.exec(t.Context(), "INSERT INTO "+objects+" (mode_obj_id, mode_header_id, object_id) VALUES (7000, 900, 'F001')"); err != nil {
				t.Fatal(err)
			}
			cts := "INSERT INTO " + a.table("s", "mode_cts") + " (mode_header_id, field) VALUES (900, 'OBJECT')"
			twice := strings.Replace(cts, ident(a.database("s")), ident(oldPrefix+a.database("s")), 1) + ", (900, 'OBJECT')"
			if err := errors.Join(a.exec(t.Context(), cts), a.exec(t.Context(), twice)); err != nil {
				t.Fatal(err)
			}
			if err := a.Forget(t.Context(), "s", verify); fault.Code(err) != fault.Differs || !strings.Contains(err.Error(), "mode_cts lacks 1 rows") {
				t.Errorf("%s: one of two equal rows is lost: %v", variant, err)
			}
			if err := a.exec(t.Context(), cts); err != nil {
				t.Fatal(err)
			}
			refused := errors.New("a record is lost")
			if err := a.Forget(t.Context(), "s", func(archive.Archive) error { return refused }); !errors.Is(err, refused) {
				t.Errorf("%s: %v, want the error of verify", variant, err)
			}
			if err := a.Forget(t.Context(), "s", verify); err != nil {
				t.Errorf("%s: %v", variant, err)
			}
		}
		if got := counts(); got != strings.Replace(headers, "0", "1", 1) {
			t.Errorf("%s: %s headers", variant, got)
		}
		if got, want := sum(t, a, "s"), want(all...); got != want {
			t.Errorf("digest %v, want %v", got, want)
		}
		columns, err := question.Columns(singles[0].Type, "fcst_valid_beg", "area")
		if err != nil {
			t.Fatal(err)
		}
		q := &question.Question{Name: "objects", Subset: "s", Type: singles[0].Type, Columns: columns, Order: columns[:1], Valid: question.Times{First: singles[0].Valid[0], Last: singles[0].Valid[0] + 3600, Step: 3600}}
		q.Header[record.Model] = []string{"FCST"}
		for _, f := range []flavour.Name{flavour.MetviewerSQL, flavour.SQL} {
			query, err := a.Phrase(t.Context(), q, f)
			if err != nil {
				t.Fatal(f, err)
			}
			var rows answer.Builder
			if err = a.Ask(t.Context(), query, &rows); err != nil || rows.Rows != 2 || !strings.Contains(query.Text, ownHeader) {
				t.Errorf("%s: %d objects, %v:\n%s", f, rows.Rows, err, query.Text)
			}
			plan, err := a.Explain(t.Context(), query)
			if err != nil || !slices.ContainsFunc(plan.Access, func(a archive.Access) bool { return a.Object == ownHeader }) {
				t.Errorf("%s: %+v, %v", f, plan.Access, err)
			}
		}
	}
}

// TestStrangersView: a view that has a table's name is refused, because its functions
// would run with the reader's rights.
func TestStrangersView(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "stranger_", design.Normalized)
	if _, err := commit(t, a, "s", batch("SL1L2", "x.vsdb", header("V01", "GFS"), 1, nil)); err != nil {
		t.Fatal(err)
	}
	table, kept := a.table("s", "line_data_sl1l2"), a.table("s", "kept")
	for _, text := range []string{"RENAME TABLE " + table + " TO " + kept, "CREATE VIEW " + table + " AS SELECT * FROM " + kept + " WHERE LOAD_FILE('/etc/hostname') IS NULL"} {
		if _, err := a.db.writes.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openIn(t, l, "stranger_", design.Normalized).Contents(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "plain tables") {
		t.Error(err)
	}
}
