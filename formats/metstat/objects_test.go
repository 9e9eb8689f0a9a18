package metstat

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// The lines of MODE and TC-Pairs are those of real files, made shorter. The lines of MTD follow MET's table
// of columns, because the public test data have no file of MTD.
const (
	modeHead = "VERSION MODEL N_VALID GRID_RES DESC FCST_LEAD FCST_VALID FCST_ACCUM OBS_LEAD OBS_VALID OBS_ACCUM FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE "
	modeLine = "V12.0.0 FCST 2461 9 NA 300000 20120410_180000 060000 060000 20120410_180000 060000 2 >=5.0 3 >=6.0 APCP_06 kg/m^2 A6 APCP_06 mm A06 STAGE4 "
	modeCTS  = modeHead + "FIELD TOTAL FY_OY FY_ON FN_OY FN_ON BASER FMEAN ACC FBIAS PODY PODN POFD FAR CSI GSS HK HSS ODDS LODDS ORSS EDS SEDS EDI SEDI BAGSS\n" +
		modeLine + "OBJECT 2461 235 498 52 1676 0.11662 0.29785 0.77651 2.55401 0.81882 0.77093 0.22907 0.6794 0.29936 0.21374 0.58974 0.35221 15.2093 2.72191 0.87661 0.82978 0.43056 0.76112 0.74736 0.21532\n"
	modeObj = modeHead + "OBJECT_ID OBJECT_CAT CENTROID_X AREA INTENSITY_50 INTENSITY_90 INTENSITY_50 INTENSITY_SUM CENTROID_DIST INTEREST WHAT_ELSE\n" +
		modeLine + "F001 CF001 80.36 730 9.44 15.5 9.45 7295.7 NA NA 1\n" + modeLine + "O002 CO000 80.36 730 9.44 15.5 9.45 7295.7 NA NA 1\n" +
		modeLine + "F001_O001 CF001_CO001 NA NA NA NA NA NA 3.5 0.98 1\n" + modeLine + "CF001_CO001 CF001_CO002 NA NA NA NA NA NA 3.5 NA 1\n"

	mtdHead = "VERSION MODEL DESC FCST_LEAD FCST_VALID OBS_LEAD OBS_VALID T_DELTA FCST_T_BEG FCST_T_END FCST_RAD FCST_THR OBS_T_BEG OBS_T_END OBS_RAD OBS_THR FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBJECT_ID OBJECT_CAT "
	mtdLine = "V12.0.0 WRF x 030000 20100517_030000 NA NA 010000 -1 1 2 >=5 -1 1 2 >=5 APCP mm A1 APCP mm A1 "
	mtd2D   = mtdHead + "TIME_INDEX AREA CENTROID_X CENTROID_Y CENTROID_LAT CENTROID_LON AXIS_ANG INTENSITY_10 INTENSITY_25 INTENSITY_50 INTENSITY_75 INTENSITY_90 INTENSITY_99\n" +
		mtdLine + "F_001 CF_001 3 100 1 2 39 -105 45 1 2 3 4 5 6\n" + mtdLine + "O1 O000 3 100 1 2 39 -105 45 1 2 3 4 5 6\n"
	mtd3D = mtdHead + "CENTROID_X CENTROID_Y CENTROID_T CENTROID_LAT CENTROID_LON X_DOT Y_DOT AXIS_ANG VOLUME START_TIME END_TIME CDIST_TRAVELLED INTENSITY_10 INTENSITY_25 INTENSITY_50 INTENSITY_75 INTENSITY_90 INTENSITY_99\n" +
		mtdLine + "CF1 CF1 1 2 3 39 -105 0.5 0.25 45 100 0 7 20 1 2 3 4 5 6\n"
	mtdPair = mtdHead + "SPACE_CENTROID_DIST TIME_CENTROID_DELTA AXIS_DIFF SPEED_DELTA DIRECTION_DIFF VOLUME_RATIO START_TIME_DELTA END_TIME_DELTA INTERSECTION_VOLUME DURATION_DIFF INTEREST\n" +
		mtdLine + "F1_O1 CF1_CO1 1 2 3 4 5 6 7 8 9 10 0.5\n"

	tcHead = "VERSION AMODEL BMODEL DESC STORM_ID BASIN CYCLONE STORM_NAME INIT LEAD VALID INIT_MASK VALID_MASK LINE_TYPE\n"
)

var tcmpr = tcHead + tcLine("NA", "TCMPR 68 1 DB NA BJR"+strings.Repeat(" 1.5", 59)+" D X 5 1 2 3 4")

// tcLine is a line of TC-Pairs, 6 hours after its start.
func tcLine(lead, rest string) string {
	return "V11.1.0 GFSO BEST NA AL092022 AL 09 IAN 20220926_000000 " + lead + " 20220926_060000 NA NA " + rest + "\n"
}

// valuesOf returns the columns of row i by name: texts and numbers.
func valuesOf(b *record.Batch, i int) map[string]any {
	out := map[string]any{}
	for _, c := range b.Type.Columns {
		if c.Kind == record.Text {
			out[c.Name] = b.Text[c.Slot][i]
		} else if f := b.Num[c.Slot][i]; !math.IsNaN(f) {
			out[c.Name] = f
		}
	}
	return out
}

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		text, lineType string
		row            int
		want           map[string]any
	}{
		{modeCTS, "MODE_CTS", 0, map[string]any{"field": "OBJECT", "fy_oy": 235.0, "bagss": 0.21532, "fcst_accum": 60000.0, "obs_rad": 3.0, "n_valid": 2461.0}},
		{modeObj, "MODE_OBJ_SINGLE", 0, map[string]any{"object_id": "F001", "intensity_50": 9.44, "intensity_nn": 9.45, "intensity_sum": 7295.7, "fcst_flag": 1.0, "simple_flag": 1.0, "matched_flag": 1.0, "length": nil}},
		{modeObj, "MODE_OBJ_SINGLE", 1, map[string]any{"object_id": "O002", "fcst_flag": 0.0, "simple_flag": 1.0, "matched_flag": 0.0}},
		{modeObj, "MODE_OBJ_PAIR", 0, map[string]any{"object_cat": "CF001_CO001", "centroid_dist": 3.5, "interest": 0.98, "simple_flag": 1.0, "matched_flag": 1.0, "aspect_diff": nil}},
		{modeObj, "MODE_OBJ_PAIR", 1, map[string]any{"object_id": "CF001_CO001", "interest": nil, "simple_flag": 0.0, "matched_flag": 0.0}},
		{mtd2D, "MTD_2D_OBJ", 1, map[string]any{"time_index": 3.0, "intensity_nn": 6.0, "t_delta": 10000.0, "fcst_t_beg": -1.0, "fcst_flag": 0.0, "matched_flag": 0.0}},
		{mtd3D, "MTD_3D_OBJ_SINGLE", 0, map[string]any{"x_dot": 0.5, "cdist_travelled": 20.0, "intensity_nn": 6.0, "fcst_flag": 1.0, "simple_flag": 0.0, "matched_flag": 1.0}},
		{mtdPair, "MTD_3D_OBJ_PAIR", 0, map[string]any{"duration_diff": 10.0, "interest": 0.5, "simple_flag": 1.0, "matched_flag": 1.0}},
		{tcmpr, "TCMPR", 0, map[string]any{"storm_id": "AL092022", "cyclone": 9.0, "storm_name": "IAN", "storm_level": "DB", "alat": 1.5, "adepth": "D", "bdepth": "X", "max_wind_stdev": 4.0}},
		{tcHead + tcLine("060000", "TCDIAG 68 27 CIRA GFS GFS_0p50 2 SHRM 1 LAND 15"), "TCDIAG", 0, map[string]any{"diag_i": "SHRM,LAND", "n_diag": 2.0, "diag_source": "CIRA"}},
		{tcHead + tcLine("6", "TCDIAG 1 1 A B C 0"), "TCDIAG", 0, map[string]any{"n_diag": 0.0}}, // in hours
		{tcHead + tcLine("060000", "PROBRIRW 1 2 3 4 X 5 6 7 8 9 0 24 24 90 60 95 35 40 TS HU 2 30 10 65 5"), "PROBRIRW", 0, map[string]any{"rirw_end": 24.0, "blevel_end": "HU", "n_thresh": 2.0}},
	} {
		var at *record.Batch
		for _, b := range readAll(t, c.text, 0) {
			for _, r := range b.Rejects {
				t.Errorf("%s: %s", r.Reason, r.Text)
			}
			if b.Type != nil && b.Type.Name == c.lineType {
				at = b
			}
		}
		if at == nil || at.Len() <= c.row {
			t.Errorf("no record %d of %s", c.row, c.lineType)
			continue
		}
		got := valuesOf(at, c.row)
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s: %s is %v, want %v", c.lineType, name, got[name], want)
			}
		}
		h := at.Header(0)
		switch {
		case strings.HasPrefix(c.lineType, "MODE"):
			if h[record.InterpPnts] != "2" || h[record.FcstThresh] != ">=5.0" || h[record.ObsThresh] != ">=6.0" || h[record.ObType] != "STAGE4" || at.Lead[0] != 30*3600 || at.ObsLead[0] != 6*3600 {
				t.Errorf("%s: header %q, lead %d, obs_lead %d", c.lineType, h, at.Lead[0], at.ObsLead[0])
			}
		case strings.HasPrefix(c.lineType, "MTD"):
			if !at.HasPlainTimes(0) || h[record.Descr] != "x" {
				t.Errorf("%s: header %q, valid %d, observed %d", c.lineType, h, at.Valid[0], at.ObsBeg[0])
			}
		default: // also where LEAD is missing
			if h[record.Model] != "GFSO" || h[record.ObType] != "BEST" || h[record.VxMask] != "AL" || at.Lead[0] != 6*3600 {
				t.Errorf("%s: header %q, lead %d", c.lineType, h, at.Lead[0])
			}
		}
	}
	for _, b := range readAll(t, modeObj, 0) {
		if b.OmittedColumns["WHAT_ELSE"] != b.Len() {
			t.Errorf("left out: %v", b.OmittedColumns)
		}
	}
}

func TestObjectRejects(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{modeHead + "OBJECT_ID OBJECT_CAT\n" + modeLine + "F1\n", "the line has 23 columns, but the preceding header line names 24"},
		{modeHead + "OBJECT_ID\n" + modeLine + "F1\n", "the preceding header line looks like one of MODE, but lacks column OBJECT_CAT"},
		{tcHead + tcLine("120000", "TCMPR 1 2"), "INIT 20220926_000000, LEAD 120000 and VALID contradict each other"},
		{tcHead + tcLine("060000", "TCXYZ 1 2"), `unknown line type "TCXYZ" of TC-Pairs`},
		{tcHead + tcLine("060000", "TCDIAG 1 1 A B C 2 X 1 Y"), "the line is truncated: it has a diagnostic without a value"},
		{tcHead + tcLine("060000", "TCDIAG 1 1 A B C 3 X 1 Y 2"), "the line is truncated: n_diag is 3, but only 2 values follow"},
		{tcHead + tcLine("060000", "TCDIAG 1 1"), "the line is truncated: it has 2 columns of TCDIAG, but 6 precede the repeating ones"},
		{tcHead + "V12 A B\n", "the line is truncated: it has 3 of the 14 header columns"},
		{tcHead + strings.Replace(tcLine("NA", "TCMPR 1"), "20220926_000000", "today", 1), `column INIT: "today" is not a time from 1678 to 2261: YYYYMMDD_HHMMSS is expected`},
	} {
		all := readAll(t, c.text, 0)
		if len(all) != 1 || len(all[0].Rejects) != 1 || all[0].Rejects[0].Reason != c.reason {
			t.Errorf("%q: %+v", c.reason, all[0].Rejects)
			continue
		}
		if lines := strings.SplitAfter(c.text, "\n"); all[0].Rejects[0].Text+"\n" != lines[1] {
			t.Errorf("the line reported is %q", all[0].Rejects[0].Text)
		}
	}
}

// TestRevisions: if all 2D lines of MTD have one valid time, each object with three or more lines also yields its changes.
func TestRevisions(t *testing.T) {
	head, _, _ := strings.Cut(mtd2D, "\n")
	line := func(lead, valid, object, values string) string {
		return "V12.0.0 WRF x " + lead + " " + valid + " NA NA 010000 -1 1 2 >=5 -1 1 2 >=5 APCP mm A1 APCP mm A1 " + object + " " + values + "\n"
	}
	const at = "20100517_030000"
	a, b, c := line("030000", at, "F_1 CF_1", "0 100 1 2 39 -105 45 1 2 3 4 5 6"), line("020000", at, "F_1 CF_1", "1 90 1.5 NA 39 -104 40 1 2 3 4 6 8"), line("010000", at, "F_1 CF_1", "2 95 1 2 38 -105 45 1 2 3 4 5 7")
	two := line("030000", at, "O_1 O000", "0 100 1 2 39 -105 45 1 2 3 4 5 6") + line("020000", at, "O_1 O000", "1 90 1 2 39 -105 45 1 2 3 4 5 6")
	bad := line("000000", at, "F_1 CF_1", "0 x 1 2 39 -105 45 1 2 3 4 5 6")
	for _, test := range []struct {
		name, text string
		want       string
	}{
		{"revisions", head + "\n" + a + b + c + two, "20000 1 -10 0.5 NaN 1 2 NaN, 10000 2 5 -0.5 NaN -1 -1 NaN"},
		{"another time", head + "\n" + a + b + c + line("010000", "20100517_040000", "O_1 O000", "0 1 1 2 39 -105 45 1 2 3 4 5 6"), ""},
		{"another file after it", head + "\n" + a + b + c + head + "\n" + a + b, "20000 1 -10 0.5 NaN 1 2 NaN, 10000 2 5 -0.5 NaN -1 -1 NaN"},
		{"a line between that cannot be read", head + "\n" + a + bad + b + c, ""},
		{"two lines of an object", head + "\n" + a + b + two, ""},
	} {
		var got []string
		var lines int
		for _, batch := range readAll(t, test.text, 0) {
			checkBatch(t, batch)
			lines += batch.Lines
			for i := range batch.Len() {
				if h := batch.Header(i); h[record.FcstVar] == "REV_APCP" && h[record.ObsVar] == "REV_APCP" && batch.HasPlainTimes(i) {
					num := func(name string) float64 { c, _ := batch.Type.Column(name); return batch.Num[c.Slot][i] }
					got = append(got, fmt.Sprint(batch.Lead[i]/3600*10000, num("time_index"), num("area"), num("centroid_x"), num("centroid_y"), num("intensity_90"), num("intensity_nn"), num("axis_ang")))
				}
			}
		}
		if all := strings.Join(got, ", "); all != test.want {
			t.Errorf("%s: %s, want %s", test.name, all, test.want)
		}
		if want := strings.Count(test.text, "V12.0.0") + len(got); lines != want {
			t.Errorf("%s: %d lines, want %d", test.name, lines, want)
		}
	}
}

// Further columns of TC-Pairs that the header line names are left out, as those of STAT lines.
func TestFurtherNamedColumnsOfCyclones(t *testing.T) {
	lt, _ := record.TypeByName("TCMPR")
	names := []string{}
	for _, c := range lt.Columns[5:] { // after those of TC-Pairs' own header
		name := strings.ToUpper(c.Name)
		if byMET := map[string]string{"INDEX_PAIR": "INDEX", "STORM_LEVEL": "LEVEL"}[name]; byMET != "" {
			name = byMET
		}
		names = append(names, name)
	}
	head := strings.TrimSpace(tcHead) + " " + strings.Join(names, " ")
	line := strings.TrimSpace(tcmpr[len(tcHead):])
	b := one(t, head+" MORE\n"+line+" 7\n")
	if b.OmittedColumns["MORE"] != 1 || b.Num[b.Type.NumCols()-1][0] != 4 {
		t.Errorf("left out %v, rejects %v", b.OmittedColumns, b.Rejects)
	}
}

// A common column of TC-Pairs precedes LINE_TYPE. A column of that name after LINE_TYPE is another
// one, and a line that ends at its line type does not have it.
func TestCommonColumnsOfCyclonesPrecedeTheLineType(t *testing.T) {
	move := func(name string) string {
		head := strings.Replace(tcHead, " "+name, "", 1)
		return strings.Replace(head, "LINE_TYPE", "LINE_TYPE "+name, 1)
	}
	const line = "V11.1.0 GFSO BEST AL092022 AL 09 IAN 20220926_000000 060000 20220926_060000 NA NA TCMPR\n"
	for _, c := range []struct{ name, reason string }{
		{"BASIN", "the preceding header line looks like one of TC-Pairs, but lacks column BASIN"},
		{"DESC", "the line is truncated: it has 0 columns of TCMPR, but MET V11.1.0 writes 71"},
	} {
		text := line
		if c.name != "DESC" {
			text = strings.Replace(text, "BEST", "BEST NA", 1)
		}
		all := readAll(t, move(c.name)+text, 0)
		if len(all) != 1 || len(all[0].Rejects) != 1 || all[0].Rejects[0].Reason != c.reason {
			t.Errorf("%s: %+v", c.name, all[0].Rejects)
		}
	}
}
