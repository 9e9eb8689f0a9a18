package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const objectLines = "VERSION MODEL N_VALID GRID_RES DESC FCST_LEAD FCST_VALID FCST_ACCUM OBS_LEAD OBS_VALID OBS_ACCUM FCST_RAD FCST_THR OBS_RAD OBS_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBJECT_ID OBJECT_CAT AREA CENTROID_DIST INTEREST\n" +
	"V12.0.0 HRRR 2461 9 NA 030000 20120410_180000 030000 000000 20120410_180000 030000 2 >=5.0 2 >=5.0 APCP_03 A3 APCP_03 A3 F001 CF001 730 NA NA\n" +
	"V12.0.0 HRRR 2461 9 NA 030000 20120410_180000 030000 000000 20120410_180000 030000 2 >=5.0 2 >=5.0 APCP_03 A3 APCP_03 A3 O001 CO001 600 NA NA\n" +
	"V12.0.0 HRRR 2461 9 NA 030000 20120410_180000 030000 000000 20120410_180000 030000 2 >=5.0 2 >=5.0 APCP_03 A3 APCP_03 A3 F001_O001 CF001_CO001 NA 3.5 0.9\n"

// TestSeveralDatabases: two subsets have objects of two times. A plot that names both, and a third
// subset that does not exist, counts the objects of both by time.
func TestSeveralDatabases(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	engine := "pebble:" + filepath.Join(dir, "a.pebble")
	later := strings.ReplaceAll(objectLines, "20120410", "20120411")
	second := later[strings.Index(later, "V12"):]
	two := strings.ReplaceAll(second[:strings.Index(second, "\n")+1], "001", "002") // a second forecast object of that day
	for subset, file := range map[string]string{"mv_one": write("one_obj.txt", objectLines), "mv_two": write("two_obj.txt", later+two)} {
		for _, want := range []string{"1 loaded", "1 skipped"} {
			if out := must(t, "load", file, "--engine", engine, "--subset", subset); !strings.Contains(out, want) {
				t.Errorf("load prints\n%s", out)
			}
		}
	}
	plot := func(databases, stat string) string {
		return write("p.xml", "<plot_spec><connection><database>"+databases+"</database></connection><plot><template>series_plot.R_tmpl</template><dep><dep1><fcst_var name=\"APCP_03\"><stat>"+stat+
			"</stat></fcst_var></dep1></dep><series1><field name=\"model\"><val>HRRR</val></field></series1><plot_fix><field name=\"fcst_thr\"><set name=\"t\"><val>&gt;=5.0</val></set></field><field name=\"fcst_rad\"><set name=\"r\"><val>2</val></set></field></plot_fix>"+
			"<indep name=\"fcst_lead\"><val>30000</val></indep><plot_stat>mean</plot_stat></plot></plot_spec>")
	}
	for _, c := range []struct{ databases, stat, want, message string }{
		{"mv_one", "CNT_FAA", "1.0000000", "of the objects of each time and lead, then mean"},
		{"mv_one,mv_two", "CNT_FAA", "1.5000000", "then mean"},
		{"mv_two, mv_one ,mv_none", "CNTSUM_FAA", "3.0000000", "the plot also names subset mv_none, which the archive does not have"},
		{"mv_one,mv_two", "RATIO_FSA_OSA", "1.5000000", "of all objects together"},
		{"mv_one,mv_two", "INT_SM", "0.9000000", "mean of the records' statistics"},
	} {
		status, stdout, stderr := barograph(t, "ask", plot(c.databases, c.stat), "--engine", engine, "--plot", filepath.Join(dir, "out.svg"))
		if status != 0 || !strings.Contains(stdout, c.want) || !strings.Contains(stderr, c.message) {
			t.Errorf("%s of %s: status %d\n%s%s", c.stat, c.databases, status, stdout, stderr)
		}
	}
	if out := must(t, "ask", plot("mv_one,mv_two", "CNTSUM_FAA"), "--engine", engine, "--subset", "mv_two", "--stat", "CNTSUM_FAA"); !strings.Contains(out, "2.0000000") {
		t.Errorf("--subset asks\n%s", out)
	}
}
