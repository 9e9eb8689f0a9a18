package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/internal/fault"

	"github.com/parquet-go/parquet-go"
)

// barograph runs a command line and returns its status and output.
func barograph(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = execute(t.Context(), &env{args: args, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, engines: all.Registry()})
	return status, out.String(), errs.String()
}

// must runs a command line that must succeed and returns its stdout.
func must(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := barograph(t, args...)
	if status != 0 {
		t.Fatalf("barograph %s: status %d\n%s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// dayOfData writes the anomaly files of one synthetic day.
func dayOfData(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	must(t, "synth", "vsdb", "--since", "2019-01-01", "--models", "gfs", "--stattypes", "anom", "--out", dir)
	return dir
}

func TestLoadAskReportStory(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	var digests []string
	for _, target := range [][2]string{{"duckdb", "normalized"}, {"duckdb", "document"}, {"duckdb", "wide"}, {"sqlite", "normalized"}, {"sqlite", "document"}, {"pebble", "keyvalue"}} {
		url := target[0] + ":" + filepath.Join(dir, target[0]+target[1])
		var first, again load.Result
		if err := json.Unmarshal([]byte(must(t, "load", data, "--engine", url, "--design", target[1], "--json")), &first); err != nil {
			t.Fatal(err)
		}
		if first.Read != 4*8745 || first.Stored != first.Read || first.Records["SAL1L2"] != 4*7950 || first.Records["VAL1L2"] != 4*795 {
			t.Errorf("%v: %+v", target, first)
		}
		if err := json.Unmarshal([]byte(must(t, "load", data, "--engine", url, "--design", target[1], "--json")), &again); err != nil {
			t.Fatal(err)
		}
		if again.Read != 0 || again.Skipped != 4 || again.Digest != first.Digest {
			t.Errorf("%v, loaded again: %+v", target, again)
		}
		digests = append(digests, first.Digest)
		rows := must(t, "ask", "test_3", "--engine", url, "--design", target[1], "--format", "csv")
		if n := strings.Count(rows, "\n"); n != 1+4*53*2 {
			t.Errorf("%v: %d lines of CSV", target, n)
		}
	}
	for _, d := range digests {
		if d != digests[0] {
			t.Errorf("digests differ: %v", digests)
		}
	}
}

func TestAskFormatsAndPlot(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", data, "--engine", url, "--design", "document")
	from := []string{"ask", "test_3", "--engine", url, "--design", "document"}
	records, err := csv.NewReader(strings.NewReader(must(t, append(from, "--format", "csv")...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(must(t, append(from, "--format", "json")...)), "\n")
	path := filepath.Join(dir, "rows.parquet")
	must(t, append(from, "--format", "parquet", "--out", path)...)
	rows, err := parquet.ReadFile[struct {
		Lead  int64    `parquet:"fcst_lead"`
		Fabar *float64 `parquet:"fabar"`
		Mask  string   `parquet:"vx_mask"`
	}](path)
	if err != nil {
		t.Fatal(err)
	}
	if len(records)-1 != len(lines) || len(lines) != len(rows) {
		t.Fatalf("csv %d, json %d, parquet %d rows", len(records)-1, len(lines), len(rows))
	}
	var last struct {
		Fabar float64 `json:"fabar"`
		Lead  int64   `json:"fcst_lead"`
		Mask  string  `json:"vx_mask"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if p := rows[len(rows)-1]; last.Fabar != *p.Fabar || last.Lead != p.Lead || last.Mask != p.Mask {
		t.Errorf("the last row is %+v in JSON and %+v in Parquet", last, p)
	}
	plot := filepath.Join(dir, "dieoff.svg")
	table := must(t, append(from, "--where", "vx_mask=G2/NHX", "--valid", "2019010100", "--lead", "0,24,120", "--stat", "ANOM_CORR", "--plot", plot)...)
	if n := strings.Count(table, "\n"); n != 4 {
		t.Errorf("three leads give a table of\n%s", table)
	}
	narrow := append(from, "--where", "model=", "--valid", "all", "--lead", "0,24,120", "--stat", "ANOM_CORR,RMSFA")
	records, err = csv.NewReader(strings.NewReader(must(t, append(narrow, "--format", "csv")...))).ReadAll()
	if err != nil || len(records) != 1+2*2*3 || strings.Join(records[0], " ") != "statistic series fcst_lead n value low high" || records[1][3] != "4" {
		t.Errorf("two statistics, two regions, three leads: %v, %v", records, err)
	}
	must(t, append(narrow, "--format", "parquet", "--out", path)...)
	values, err := parquet.ReadFile[struct {
		Statistic string   `parquet:"statistic"`
		Value     *float64 `parquet:"value"`
	}](path)
	if err != nil || len(values) != 12 || values[11].Statistic != "RMSFA" || strconv.FormatFloat(*values[11].Value, 'g', -1, 64) != records[12][4] {
		t.Errorf("%+v, %v", values, err)
	}
	if _, _, stderr := barograph(t, narrow...); !strings.Contains(stderr, "pools 4 values of fcst_valid_beg") {
		t.Errorf("what is pooled: %s", stderr)
	}
	named := "--stat=ANOM_CORR"
	if status, _, message := barograph(t, "ask", "dieoff_sal1l2_hgt", "--engine", url, named); status != 0 || !strings.Contains(message, "dieoff_sal1l2_hgt: ") {
		t.Errorf("a case of the archive's own is not asked by its name: %d %s", status, message)
	}
	if status, _, message := barograph(t, "ask", "dieof_sal1l2_hgt", "--engine", url); status != fault.Usage || !strings.Contains(message, "did you mean dieoff_sal1l2_hgt?") {
		t.Errorf("%d %s", status, message)
	}
	if status, _, message := barograph(t, "verify", url, "--subset", "nix"); status != fault.Usage || !strings.Contains(message, "--subset nix is not in") {
		t.Errorf("a subset that is not there is verified: %d %s", status, message)
	}
	if svg, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(svg, []byte("<svg")) {
		t.Errorf("no plot: %v", err)
	}
	if text := must(t, append(from, "--explain")...); !strings.Contains(text, "SELECT") {
		t.Errorf("--explain prints\n%s", text)
	}
}

func TestExitStatuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.vsdb")
	bad := filepath.Join(dir, "bad.vsdb")
	line := "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05\n"
	if err := os.WriteFile(good, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte(strings.Replace(line, " 24 ", " 2x ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	db := "sqlite:" + filepath.Join(dir, "a.db")
	for _, tc := range []struct {
		name    string
		args    []string
		want    int
		message string
	}{
		{"help", []string{"--help"}, 0, ""},
		{"version", []string{"--version"}, 0, ""},
		{"good load", []string{"load", good, "--engine", db}, 0, ""},
		{"unknown command", []string{"lod"}, fault.Usage, "lod"},
		{"unknown command with flags", []string{"laod", good, "--to", db}, fault.Usage, "did you mean load?"},
		{"unknown command of a command with flags", []string{"list", "engnies", "--verbos"}, fault.Usage, "did you mean engines?"},
		{"unknown flag", []string{"load", good, "--too", db}, fault.Usage, "--help"},
		{"no files", []string{"load", "--engine", db}, fault.Usage, "--help"},
		{"unknown engine", []string{"load", good, "--engine", "db2:x"}, fault.Usage, "choose one of"},
		{"pebble without a folder", []string{"load", good, "--engine", "pebble:"}, fault.Usage, "names no folder; write pebble:archive.pebble"},
		{"a folder after two slashes", []string{"load", good, "--engine", "pebble://archive"}, fault.Usage, "pebble URL names a host; write it as in pebble:archive.pebble"},
		{"a semicolon between parameters", []string{"load", good, "--engine", "mariadb://me@h/db?tls=true;tls_ca=x"}, fault.Usage, "parameter tls contains a semicolon"},
		{"duckdb without a file", []string{"load", good, "--engine", "duckdb:"}, fault.Usage, "names no file; write duckdb:archive.db"},
		{"sqlite without a file", []string{"load", good, "--engine", "sqlite:"}, fault.Usage, "names no file; write sqlite:archive.db"},
		{"post into no file", []string{"shef", "post", good, "--engine", "sqlite:" + filepath.Join(dir, "none.db"), "--schema", "barograph"}, fault.Unreachable, "shef post --make` creates a database"},
		{"nor was one made", []string{"shef", "export", "--to", "csv", "--engine", "sqlite:" + filepath.Join(dir, "none.db"), "--schema", "barograph"}, fault.Unreachable, "shef post --make` creates a database"},
		{"unknown design of values", []string{"shef", "post", good, "--engine", "sqlite:" + filepath.Join(dir, "none.db"), "--schema", "barograph", "--design", "singel"}, fault.Usage, "did you mean single?"},
		{"no number", []string{"scan", "own", "--tables", dir, "--queries", dir, "--engine", db, "--tolerance", "NaN"}, fault.Usage, "--tolerance NaN must be 0 or greater"},
		{"a number without end", []string{"scan", "lake", good, "--rate", "inf"}, fault.Usage, "must be 0 or greater"},
		{"unknown parameter", []string{"load", good, "--engine", db + "?colour=red"}, fault.Usage, "colour"},
		{"unknown design", []string{"load", good, "--engine", db, "--design", "wide"}, fault.Usage, "choose one of"},
		{"unknown case", []string{"ask", "test_7", "--engine", db}, fault.Usage, "did you mean test_"},
		{"unknown flavour", []string{"ask", "test_1", "--engine", db, "--flavour", "haiku"}, fault.Usage, "choose one of"},
		{"unknown field", []string{"ask", "test_1", "--engine", db, "--where", "colour=red"}, fault.Usage, "colour"},
		{"unknown statistic", []string{"ask", "test_1", "--engine", db, "--stat", "ANOM_COR"}, fault.Usage, "did you mean ANOM_CORR?"},
		{"no engine", []string{"load", good}, fault.Usage, "load needs --engine or --spec; write barograph load FILES… --engine URL"},
		{"no question", []string{"ask", "--engine", db}, fault.Usage, "ask takes 1 or 2 arguments, not 0; write barograph ask [URL] CASE"},
		{"one of two", []string{"diff", db}, fault.Usage, "diff takes 2 arguments, not 1"},
		{"diff of no databases", []string{"diff", "a", "b"}, fault.Usage, "a is not the URL of a METviewer database; write mariadb://"},
		{"diff with an unknown parameter", []string{"diff", "mariadb://h/a?tsl=true", "mariadb://h/b"}, fault.Usage, "did you mean tls?"},
		{"diff with a parameter that would be dropped", []string{"diff", "mariadb://h/a?tls=true;tls_ca=x", "mariadb://h/b"}, fault.Usage, "parameter tls contains a semicolon"},
		{"diff with a parameter of load", []string{"diff", "mariadb://h/a?engine=InnoDB&passfile=none", "mariadb://h/b"}, fault.Failed, "parameter passfile cannot be read"},
		{"diff without the password", []string{"diff", "mariadb://h/a?passfile=none", "mariadb://h/b"}, fault.Failed, "parameter passfile cannot be read"},
		{"adopt of a file", []string{"adopt", db}, fault.Usage, "is not the URL of a METviewer database; write mariadb://"},
		{"adopt of no database", []string{"adopt", "mariadb://h/"}, fault.Usage, "names no database"},
		{"one too many", []string{"quickstart", "x"}, fault.Usage, "quickstart takes no argument; omit x"},
		{"two that exclude one another", []string{"met", good, "--case", "noaa", "--mix", "x"}, fault.Usage, "met takes --case or --mix, not both"},
		{"one of a pair", []string{"agent", "--tls-cert", "x"}, fault.Usage, "agent also needs --tls-key"},
		{"an archive for a file", []string{"load", "duckdb:x.db", "--engine", db}, fault.Usage, "duckdb:x.db is an archive, not a file; write --engine duckdb:x.db"},
		{"misspelt command", []string{"qickstart"}, fault.Usage, "did you mean quickstart?"},
		{"misspelt command below", []string{"list", "engine"}, fault.Usage, "did you mean engines?"},
		{"misspelt flag", []string{"load", good, "--desing", "wide"}, fault.Usage, "did you mean --design?"},
		{"another command's name of a flag", []string{"load", good, "--db", db}, fault.Usage, "did you mean --engine?"},
		{"an archive's file for a file", []string{"load", filepath.Join(dir, "a.db"), "--engine", db}, fault.Usage, "write --engine " + db},
		{"an archive without its engine, shown", []string{"show", filepath.Join(dir, "a.db")}, 0, ""},
		{"an archive without its engine", []string{"verify", filepath.Join(dir, "a.db")}, 0, ""},
		{"a file that no engine wrote", []string{"verify", good}, fault.Usage, "is not an archive of an engine that Barograph knows; name the engine before the path: duckdb:" + good},
		{"a lead as a header field", []string{"ask", "test_1", "--engine", db, "--where", "fcst_lead=24"}, fault.Usage, "use --lead 24"},
		{"a format that is not written", []string{"ask", "test_1", "--engine", db, "--format", "xlsx"}, fault.Usage, "--format"},
		{"a statistic that is misspelt", []string{"ask", "test_3", "--engine", db, "--stat", "RMS"}, fault.Usage, "did you mean RMSFA"},
		{"an archive that is not there", []string{"show", "duckdb:" + filepath.Join(dir, "nix.db")}, fault.Unreachable, "nix.db does not exist; check the path, or load files into it"},
		{"a picture in an unknown format", []string{"show", good, "--plot", "x.jpg"}, fault.Usage, "ends in .svg, .png or .pdf"},
		{"misspelt engine", []string{"met", good, "--engine", "dukdb"}, fault.Usage, "did you mean duckdb?"},
		{"misspelt parameter", []string{"load", good, "--engine", db + "?cahce=1"}, fault.Usage, "did you mean cache?"},
		{"misspelt case", []string{"met", good, "--case", "tst_3"}, fault.Usage, "did you mean test_3?"},
		{"misspelt design", []string{"met", good, "--design", "wyde"}, fault.Usage, "did you mean wide?"},
		{"unoffered design", []string{"met", good, "--engine", "pebble", "--engine", "sqlite", "--design", "document"}, fault.Usage, "is not offered by pebble"},
		{"misspelt flavour", []string{"met", good, "--flavour", "epoch-rang"}, fault.Usage, "did you mean epoch-range?"},
		{"unoffered flavour", []string{"met", good, "--engine", "pebble", "--flavour", "sql"}, fault.Usage, "is not offered by"},
		{"no repetitions", []string{"met", good, "--reps", "0"}, fault.Usage, "--reps 0"},
		{"negative repetitions", []string{"quickstart", "--reps", "-3"}, fault.Usage, "--reps -3"},
		{"no copies", []string{"met", good, "--subsets", "1,0"}, fault.Usage, "--subsets 0"},
		{"too many copies", []string{"met", good, "--subsets", "1,2,4000000"}, fault.Usage, "at most 1024"},
		{"no size of a file", []string{"scan", "lake", good, "--mb", "2.50,0"}, fault.Usage, "--mb 0 must be"},
		{"too many leads", []string{"ask", "test_1", "--engine", db, "--lead", "0-2000000000/1"}, fault.Usage, "is not a lead"},
		{"too many times", []string{"ask", "test_1", "--engine", db, "--valid", "1900-01-01..2100-01-01/1s"}, fault.Usage, "more than 1000000 times"},
		{"negative limit", []string{"met", good, "--time-limit", "-1s"}, fault.Usage, "--time-limit -1s"},
		{"no window", []string{"load", good, "--engine", db, "--window", "0"}, fault.Usage, "--window 0"},
		{"server without URL", []string{"met", good, "--engine", "oracle"}, fault.Usage, "oracle://"},
		{"server not reached", []string{"met", filepath.Join(dir, "absent.vsdb"), good, "--engine", "postgres://me@127.0.0.1:1/x", "--out", filepath.Join(dir, "run")}, fault.Failed, "absent.vsdb"},
		{"server not reached, reported first", []string{"met", good, "--engine", "postgres://me@127.0.0.1:1/x", "--out", filepath.Join(dir, "run")}, fault.Unreachable, "127.0.0.1:1"},
		{"engine without archives", []string{"load", good, "--engine", "trino://h/x"}, fault.Usage, "offers no verification archives"},
		{"study of an engine without archives", []string{"met", good, "--engine", "trino://h/x"}, fault.Usage, "offers no verification archives"},
		{"show of an engine without archives", []string{"show", "trino://h/x"}, fault.Usage, "offers no verification archives"},
		{"verify of a server that is not named", []string{"verify", "cassandra"}, fault.Usage, "barograph lab up cassandra"},
		{"faults of an engine without archives", []string{"faults", good, bad, "--engine", "trino"}, fault.Usage, "offers no verification archives"},
		{"absent file", []string{"load", filepath.Join(dir, "absent.vsdb"), "--engine", db}, fault.Failed, "absent.vsdb"},
		{"quarantined line", []string{"load", bad, "--engine", db}, fault.Incomplete, "bad.vsdb:1"},
		{"unreachable", []string{"ask", "test_1", "--engine", "sqlite:" + filepath.Join(good, "x.db")}, fault.Unreachable, "x.db"},
		{"no run folder", []string{"report", dir}, fault.Failed, "run folder"},
		{"a report of nothing", []string{"report", filepath.Join(dir, "absent")}, fault.Failed, "absent: file does not exist; name a"},
		{"a page on all addresses", []string{"serve", dir, "--listen", "0.0.0.0:0"}, fault.Usage, "--listen 0.0.0.0:0 names no address of this machine; name one"},
		{"a page of nothing", []string{"serve", filepath.Join(dir, "absent")}, fault.Failed, "absent: file does not exist; name a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, _, stderr := barograph(t, tc.args...)
			if _, err := os.Stat(filepath.Join(dir, "run")); err == nil {
				t.Error("a dead run left its folder")
			}
			if status != tc.want || !strings.Contains(stderr, tc.message) {
				t.Errorf("barograph %s: status %d, want %d and a word of %q:\n%s", strings.Join(tc.args, " "), status, tc.want, tc.message, stderr)
			}
		})
	}
}

// TestOutputThatIsLost: every command fails if it cannot write its output.
func TestOutputThatIsLost(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	must(t, "load", dayOfData(t), "--engine", db, "--design", "document")
	for _, args := range [][]string{{"verify", db}, {"show", db}, {"load", "--help"}, {"version"}, {"list", "engines"}, {"lab", "status"}} {
		var errs bytes.Buffer
		status := execute(t.Context(), &env{args: args, stdin: strings.NewReader(""), stdout: fullDisk{}, stderr: &errs, engines: all.Registry()})
		if status != fault.Failed || strings.Count(errs.String(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("%v: status %d: %s", args, status, errs.String())
		}
	}
}

// fullDisk accepts no data.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A full disk is reported once, with the file and the remedy.
func TestFullDisk(t *testing.T) {
	data, disk := dayOfData(t), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: a small disk takes root: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", disk).Run(); err != nil {
			t.Error(err)
		}
	})
	shef := filepath.Join(t.TempDir(), "many.shef")
	if err := os.WriteFile(shef, []byte(strings.Repeat(".A TSTM1 20240101 Z DH12/HG 3.5\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"synth", "vsdb", "--since", "2024-01-01", "--until", "2024-01-01", "--models", "gfs", "--out", filepath.Join(disk, "files")},
		{"shef", "decode", shef, "--out", filepath.Join(disk, "values.csv")},
		{"met", data, "--engine", "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "--out", filepath.Join(disk, "run")},
	} {
		status, _, stderr := barograph(t, args...)
		if status != fault.Failed || strings.Count(stderr, syscall.ENOSPC.Error()) != 1 || !strings.Contains(stderr, disk) || !strings.Contains(stderr, "free space on that disk") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

func TestListsAreJSONToo(t *testing.T) {
	for _, what := range []string{"engines", "designs", "flavours", "cases", "linetypes", "statistics"} {
		if text := must(t, "list", what); len(text) < 100 {
			t.Errorf("list %s prints %q", what, text)
		}
		var v any
		if err := json.Unmarshal([]byte(must(t, "list", what, "--json")), &v); err != nil {
			t.Errorf("list %s --json: %v", what, err)
		}
	}
}

func TestMetWritesAReport(t *testing.T) {
	out, data := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "my data")
	if err := os.Rename(dayOfData(t), data); err != nil {
		t.Fatal(err)
	}
	stdout := must(t, "met", data, "--engine", "pebble", "--engine", "sqlite", "--case", "test_3", "--case", "test_6", "--reps", "2", "--out", out)
	if !strings.Contains(stdout, "results equal the reference") || strings.Contains(stdout, "Table 1") || !strings.Contains(stdout, "report.html") {
		t.Errorf("met prints\n%s", stdout)
	}
	for _, name := range []string{"run.json", "events.jsonl", "samples.csv", "samples.parquet", "latency.hlog", "report.html", "plots/test_3.json", "plans/test_3.sqlite.document.keys.txt"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text := must(t, "report", out, "--weigh", "ask=0,load=9"); !strings.Contains(text, "The weights are ask=0,load=9,size=1") || !strings.Contains(text, "barograph load '"+data+"' --engine ") {
		t.Errorf("advice by other weights:\n%s", text)
	}
	if status, _, stderr := barograph(t, "report", out, "--weigh", "speed=1"); status != 2 || !strings.Contains(stderr, "recover") {
		t.Errorf("--weigh speed=1: %d, %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "report", out, "--with", out); status == 0 || !strings.Contains(stderr, "not of faults") {
		t.Errorf("--with a study: %d, %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "met", out, "--out", out); status == 0 {
		t.Errorf("a second run into the same folder is taken: %s", stderr)
	}
}

func TestMetGrows(t *testing.T) {
	plainRunOnly(t)
	out := filepath.Join(t.TempDir(), "growth")
	data := dayOfData(t)
	stdout := must(t, "met", data, "--engine", "pebble", "--engine", "twin=pebble", "--case", "test_3", "--subsets", "2,1", "--reps", "2", "--client-overhead=false", "--out", out)
	for _, want := range []string{"twin", "at 2×", "report.html"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("met prints no %q:\n%s", want, stdout)
		}
	}
	for _, name := range []string{"report.html", "x1/report.html", "x2/run.json"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if status, _, stderr := barograph(t, "met", data, "--engine", "pebble", "--engine", "pebble", "--out", out+"2"); status == 0 || !strings.Contains(stderr, "NAME=") {
		t.Errorf("two engines of one name: %d, %s", status, stderr)
	}
}

func TestNamesAreNoPaths(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	question := filepath.Join(deep, "q.yaml")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "name: ../../../x\nsubset: ../s\nline_type: SAL1L2\nfcst_lead: [0-240/24]\nwhere: {vx_mask: [G2/NHX], fcst_lev: [P500], fcst_var: [HGT]}\n" +
		"columns: [model, vx_mask, fcst_valid_beg, fcst_lead, total, fabar, oabar, foabar, ffabar, ooabar]\norder_by: [model, fcst_lead]\n"
	if err := os.WriteFile(question, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(deep, "run")
	page := must(t, "met", data, "--engine", "..=pebble", "--subset", "../s", "--case", question, "--reps", "1", "--out", out)
	if page += must(t, "report", out); !strings.Contains(page, "../../../x") {
		t.Errorf("met and report print\n%s", page)
	}
	for _, name := range []string{"plots/%2E%2E%2F%2E%2E%2F%2E%2E%2Fx.json", "plans/%2E%2E%2F%2E%2E%2F%2E%2E%2Fx.%2E%2E.keyvalue.keys-native.txt"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	must(t, "ask", question, "--engine", "pebble:"+filepath.Join(out, "archives", "%252E%252E-keyvalue.db"), "--subset", "../s", "--plot", filepath.Join(deep, "x.svg"))
	for at := deep; at != dir; at = filepath.Dir(at) {
		if inside, err := os.ReadDir(filepath.Dir(at)); err != nil || len(inside) != 1 {
			t.Errorf("outside the run folder: %v, %v", inside, err)
		}
	}
}
