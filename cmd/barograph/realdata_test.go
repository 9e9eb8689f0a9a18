package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// plainRunOnly skips a story in the short mode of the race detector. The tests of the packages
// cover its goroutines.
func plainRunOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: the plain run has it")
	}
}

// sharedData finds real files that are not part of the project. It skips the test if they are
// missing.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	plainRunOnly(t)
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no real data at %s; set BAROGRAPH_DATA to the folder that contains met/", path)
	}
	return path
}

// unpack unpacks a .tar.xz of the real data.
func unpack(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "xf", sharedData(t, name), "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: tar cannot unpack %s: %v: %s", name, err, out)
	}
	return dir
}

// TestRealDay loads NCEP's files of 2019-01-01 into every engine and design.
func TestRealDay(t *testing.T) {
	data, dir := unpack(t, "met/vsdb/vxingest_vsdb_20190101.tar.xz"), t.TempDir()
	files, err := formats.Expand([]string{data})
	if err != nil {
		t.Fatal(err)
	}
	var digest string
	for _, target := range []struct {
		engine, design string
		objects        int64
	}{
		{"duckdb", "normalized", 358824},
		{"duckdb", "document", 11294},
		{"duckdb", "wide", 358824},
		{"sqlite", "normalized", 358824},
		{"sqlite", "document", 11294},
		{"pebble", "keyvalue", 11294},
	} {
		url := target.engine + ":" + filepath.Join(dir, target.engine+"-"+target.design)
		rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] }) // in any order
		var r load.Result
		args := append([]string{"load", "--engine", url, "--design", target.design, "--json"}, files...)
		if err := json.Unmarshal([]byte(must(t, args...)), &r); err != nil {
			t.Fatal(err)
		}
		if r.Read != 358824 || r.Stored != 358824 || r.Quarantined != 0 || r.Duplicates+r.Conflicts != 0 || r.Objects != target.objects {
			t.Errorf("%s %s: %+v", target.engine, target.design, r)
		}
		for name, want := range map[string]int64{"SL1L2": 262004, "SAL1L2": 38100, "VL1L2": 54910, "VAL1L2": 3810} {
			if r.Records[name] != want {
				t.Errorf("%s %s: %d %s, want %d", target.engine, target.design, r.Records[name], name, want)
			}
		}
		if digest == "" {
			digest = r.Digest
		}
		if r.Digest != digest {
			t.Errorf("%s %s: digest %s, others %s", target.engine, target.design, r.Digest, digest)
		}
		goldenACC(t, url, target.design)
	}
}

// TestRealDayVerification scans the complete day under every design of the embedded engines: 38,100
// records in 11,100 groups.
func TestRealDayVerification(t *testing.T) {
	data, dir := unpack(t, "met/vsdb/vxingest_vsdb_20190101.tar.xz"), t.TempDir()
	for _, db := range []string{"duckdb", "sqlite"} {
		out := filepath.Join(dir, db)
		must(t, "scan", "verification", data, "--engine", db+":"+filepath.Join(dir, db+".db"), "--reps", "1", "--out", out)
		r, samples, err := run.Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if a := r.Scan.Archive; a.Lines != 358824 || a.Records != 38100 || a.Groups != 11100 {
			t.Errorf("%s: %+v", db, a)
		}
		for _, s := range samples {
			if s.Verdict != run.Equal || s.Rows != 11100 {
				t.Errorf("%s: %+v", db, s)
			}
		}
	}
}

// goldenACC queries the golden values of the real day: anomaly correlation of GFS at 500 hPa over
// the northern extratropics, valid 2019-01-01 00:00.
func goldenACC(t *testing.T, url, design string) {
	t.Helper()
	for _, g := range []struct {
		name, stat string
		lead       []float64
		want       []float64
	}{
		{"test_3", "ANOM_CORR", []float64{0, 24, 72, 120, 144, 240, 384}, []float64{0.9999782, 0.9978979, 0.9763467, 0.8643765, 0.7841956, 0.4912416, 0.2112939}},
		{"test_3", "ANOM_CORR_UNCNTR", []float64{0, 24, 72, 120, 144, 240, 384}, []float64{0.9999789, 0.9980118, 0.9773669, 0.8714623, 0.7945998, 0.5111469, 0.2431133}},
		{"test_6", "VAL1L2_ANOM_CORR", []float64{0, 24, 120, 240}, []float64{0.9999046, 0.9825258, 0.7148983, 0.3717729}},
	} {
		text := must(t, "ask", g.name, "--engine", url, "--design", design, "--valid", "2019010100", "--where", "vx_mask=G2/NHX", "--stat", g.stat, "--json")
		var c run.VerificationPlot
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Series) != 1 {
			t.Fatalf("%s: %d curves", g.name, len(c.Series))
		}
		got := map[float64]float64{}
		for i, x := range c.Series[0].X {
			got[x] = c.Series[0].Y[i]
		}
		for i, lead := range g.lead {
			if math.Abs(got[lead]-g.want[i]) > 5e-8 {
				t.Errorf("%s %s: %s at %g h is %.7f, want %.7f", url, design, g.stat, lead, got[lead], g.want[i])
			}
		}
	}
}

// TestRealDayAsPlot draws the golden values of the real day from a plot as METviewer's batch mode
// reads it.
func TestRealDayAsPlot(t *testing.T) {
	data, url := unpack(t, "met/vsdb/vxingest_vsdb_20190101.tar.xz"), "pebble:"+filepath.Join(t.TempDir(), "archive")
	must(t, "load", data, "--engine", url, "--subset", "mv_real")
	file := filepath.Join(t.TempDir(), "real.xml")
	text := `<plot_spec><connection><host>x</host><database>mv_real</database></connection><plot>
		<template>series_plot.R_tmpl</template>
		<dep><dep1><fcst_var name="HGT"><stat>ANOM_CORR</stat><stat>ANOM_CORR_RAW</stat></fcst_var></dep1></dep>
		<series1><field name="vx_mask"><val>G2/NHX</val></field></series1>
		<plot_fix><field name="model"><val>GFS</val></field><field name="fcst_lev"><val>P500</val></field>
			<field name="fcst_valid_beg"><val>2019-01-01 00:00:00</val></field></plot_fix>
		<indep name="fcst_lead"><val>0</val><val>24</val><val>72</val><val>120</val><val>144</val><val>240</val><val>384</val></indep>
		<agg_stat><agg_sal1l2>true</agg_sal1l2><boot_repl>1</boot_repl></agg_stat></plot></plot_spec>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for stat, want := range map[string][]string{
		"ANOM_CORR":     {"0.9999782", "0.9978979", "0.9763467", "0.8643765", "0.7841956", "0.4912416", "0.2112939"},
		"ANOM_CORR_RAW": {"0.9999789", "0.9980118", "0.9773669", "0.8714623", "0.7945998", "0.5111469", "0.2431133"},
	} {
		out := filepath.Join(t.TempDir(), "out.txt")
		must(t, "ask", file, "--engine", url, "--stat", stat, "--plot", filepath.Join(t.TempDir(), "out.svg"), "--out", out)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 5 && f[0] == "G2/NHX" {
				got = append(got, f[3])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", stat, got, want)
		}
	}
}

// TestRealMETSamples loads the MET samples. Every line is stored, a duplicate, or quarantined with
// a reason.
func TestRealMETSamples(t *testing.T) {
	dir := t.TempDir()
	var cycles load.Result
	text := must(t, "load", unpack(t, "met/stat/g2g_met12_20241031_00z_12z.tar.xz"), "--engine", "pebble:"+filepath.Join(dir, "g2g"), "--json")
	if err := json.Unmarshal([]byte(text), &cycles); err != nil {
		t.Fatal(err)
	}
	if cycles.Read != 128880 || cycles.Stored != 128880 {
		t.Errorf("two cycles: %+v", cycles)
	}
	var digest string
	for _, target := range [][2]string{{"duckdb", "wide"}, {"duckdb", "document"}, {"duckdb", "normalized"}, {"sqlite", "document"}, {"sqlite", "normalized"}, {"pebble", "keyvalue"}} {
		var r load.Result
		url := target[0] + ":" + filepath.Join(dir, target[0]+target[1])
		quarantine := filepath.Join(dir, "quarantine.csv")
		samples := sharedData(t, "met/stat")
		status, stdout, stderr := barograph(t, "load", samples, "--engine", url, "--design", target[1], "--quarantine", quarantine, "--json")
		if status != 0 && status != 4 {
			t.Fatalf("%v: status %d\n%s", target, status, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if r.Read == 0 || r.Read != r.Stored+r.Duplicates+r.Conflicts+r.Quarantined || r.Stored != contents(r.Records) {
			t.Errorf("%v: %+v", target, r)
		}
		if digest == "" {
			digest = r.Digest
		}
		if r.Digest != digest {
			t.Errorf("%v: digest %s, others %s", target, r.Digest, digest)
		}
		t.Logf("%v: %d lines = %d stored + %d duplicates + %d conflicts + %d quarantined; %s", target, r.Read, r.Stored, r.Duplicates, r.Conflicts, r.Quarantined, r.Digest)
	}
}

// contents adds up the records of all line types.
func contents(byType map[string]int64) int64 {
	var n int64
	for _, r := range byType {
		n += r
	}
	return n
}

// TestMETviewersStatistics: every statistic name of METviewer is computed, or refused with the
// reason.
func TestMETviewersStatistics(t *testing.T) {
	text, err := os.ReadFile(sharedData(t, "met/metviewer_statistics.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	computed, refused := 0, 0
	for line := range strings.Lines(string(text)) {
		lineType, name, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), "\t")
		if name == "NAME" {
			continue
		}
		_, err := stat.ByName(lineType, name)
		switch why := stat.UnsupportedReason(lineType, name); {
		case err == nil && why == "":
			computed++
		case err != nil && why != "" && strings.Contains(err.Error(), why):
			refused++
		default:
			t.Errorf("%s %s: %v, refused as %q", lineType, name, err, why)
		}
	}
	t.Logf("%d computed, %d refused", computed, refused)
	if computed+refused < 100 {
		t.Error("few names were read")
	}
}
