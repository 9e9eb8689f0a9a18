package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestArchivesSurviveOutputs: no output flag replaces an archive, or one of the files that the command reads.
func TestArchivesSurviveOutputs(t *testing.T) {
	day, err := filepath.Abs("../../results/advise/testdata/day")
	if err != nil {
		t.Fatal(err)
	}
	data := dayOfData(t)
	t.Chdir(t.TempDir())
	must(t, "load", data, "--engine", "sqlite:a.db", "--design", "document")
	must(t, "ycsb", "load", "--engine", "pebble:y.pebble", "-P", "workloada", "-p", "recordcount=10")
	before, err := os.ReadFile("a.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", day, "--share", "a.db"},
		{"compare", day, day, "--html", "a.db"},
		{"ycsb", "run", "--engine", "pebble:y.pebble", "-P", "workloada", "-p", "recordcount=10", "-p", "operationcount=10", "--raw", "a.db"},
		{"ycsb", "run", "--engine", "pebble:y.pebble", "-P", "workloada", "-p", "recordcount=10", "-p", "operationcount=10", "-p", "exportfile=a.db"},
		{"load", data, "--engine", "sqlite:b.db", "--quarantine", "a.db"},
		{"ask", "sqlite:a.db", "test_3", "--out", "a.db"},
		{"ask", "sqlite:a.db", "test_3", "--explain", "--out", "a.db"},
	} {
		status, _, stderr := barograph(t, args...)
		if status != fault.Usage || !strings.Contains(stderr, "a.db is a folder or an archive; name another file") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
		if after, err := os.ReadFile("a.db"); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%v changed the archive: %v", args, err)
		}
	}
	// A file in a folder that does not exist is reported before the work, and by its own name.
	for _, args := range [][]string{
		{"report", day, "--share", "absent/x"},
		{"compare", day, day, "--html", "absent/x"},
		{"ycsb", "run", "--engine", "pebble:y.pebble", "-P", "workloada", "-p", "recordcount=10", "--raw", "absent/x"},
		{"ask", "sqlite:a.db", "test_3", "--out", "absent/x"},
		{"ask", "sqlite:a.db", "test_3", "--plot", "absent/x"},
		{"shef", "decode", data, "--problems", "absent/x"},
	} {
		status, _, stderr := barograph(t, args...)
		if status != fault.Failed || !strings.Contains(stderr, " absent/x cannot be written: no such file or directory; name a file that can be written") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// TestMistakes: a mistake in a command line is a usage error that names the flag and the cure.
func TestMistakes(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	t.Chdir(dir)
	must(t, "load", data, "--engine", "sqlite:a.db", "--design", "document")
	must(t, "load", data, "--engine", "duckdb:w.db", "--design", "wide")
	must(t, "load", data, "--engine", "duckdb:w.db", "--design", "document")
	for name, text := range map[string]string{"hello.txt": "hello\n", "t.csv": "a\n1\n", "q.sql": "SELECT a FROM t;\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		// Empty values, which would have the effect of no value.
		{[]string{"load", data, "--engine", ""}, "--engine has an empty value; write a value, or omit it"},
		{[]string{"load", data, "--engine", "sqlite:x.db", "--subset", ""}, "--subset has an empty value"},
		{[]string{"verify", "sqlite:a.db", "--salvage", ""}, "--salvage has an empty value"},
		{[]string{"ask", "sqlite:a.db", "test_3", "--stat", ""}, "--stat has an empty value"},
		{[]string{"met", data, "--engine", ""}, "--engine has an empty value"},
		{[]string{"met", data, "--case", ""}, "--case has an empty value"},
		{[]string{"met", data, "--clients", ""}, "--clients has an empty value"},
		{[]string{"synth", "vsdb", "--since", "2019-01-01", "--out", ""}, "--out has an empty value"},
		{[]string{"show", ""}, "show has an empty argument; write a value, or omit it"},

		// Values of other types.
		{[]string{"ask", "sqlite:a.db", "test_3", "--seed", "-1"}, "--seed -1 is not a whole number of 0 or more; see"},
		{[]string{"load", data, "--engine", "sqlite:x.db", "--window", "1.5"}, "--window 1.5 is not a whole number; see"},
		{[]string{"load", data, "--engine", "sqlite:x.db", "--window", "99999999999999999999"}, "--window 99999999999999999999 is out of range"},
		{[]string{"load", data, "--engine", "sqlite:x.db", "--verify=maybe"}, "--verify=maybe is neither true nor false"},
		{[]string{"load", data, "--engine", "sqlite:x.db", "--settle", "5"}, "--settle 5 is not a time span; write for example 500ms, 30s or 10m"},
		{[]string{"scan", "lake", data, "--rate", "x"}, "--rate x is not a number; see"},
		{[]string{"-x"}, "unknown flag -x; see"},

		// Flags and arguments that contradict each other.
		{[]string{"load", data, "--engine", "sqlite:x.db", "--engine", "sqlite:y.db"}, "--engine sqlite:y.db: this command takes one, and the command line also has sqlite:x.db"},
		{[]string{"verify", "sqlite:a.db", data, "--prune"}, "--prune accepts no files; omit "},
		{[]string{"verify", "sqlite:a.db", "--prune", "--salvage", "sqlite:x.db"}, "verify takes --prune or --salvage, not both"},
		{[]string{"compare", dir, dir, "--benchstat", "--fail-over", "1%"}, "compare takes --benchstat or --fail-over, not both"},
		{[]string{"ask", "sqlite:a.db", "test_3", "--scorecard", "GFS,ECM"}, "--scorecard needs --plot"},
		{[]string{"ask", "sqlite:a.db", "test_3", "--picture", "bar"}, "--picture needs --plot"},
		{[]string{"ask", "sqlite:a.db", "test_3", "--explain", "--plot", "x.svg"}, "ask takes --explain or --plot, not both"},
		{[]string{"ycsb", "run", "--engine", "dry", "-P", "workloada", "--target", "5", "--rate", "5/s@1s"}, "ycsb run takes --rate or --target, not both"},
		{[]string{"synth", "shef", "--live-days", "2", "--messages", "1000", "--out", "x"}, "synth shef takes --live-days or --messages, not both"},
		{[]string{"met", data, "--from", "sqlite:a.db"}, "--from names the archive to study instead of " + data},
		{[]string{"post", "--engine", "sqlite:p.db", "hello.txt", "--messages", "5"}, "--messages describes the synthetic feed, which FILES replace"},
		{[]string{"post", "--engine", "sqlite:p.db", "--now", "2006-03-09"}, "--now applies only to FILES"},
		{[]string{"post", "--engine", "sqlite:p.db", "--report2006", "20m", "--now", "2006-03-09"}, "--now applies only to FILES"},
		{[]string{"post", "--engine", "sqlite:p.db", "--report2006", "20m", "--speed-up", "100"}, "--speed-up cannot be combined with --report2006, which chooses it; omit one of the two"},
		{[]string{"post", "--engine", "sqlite:p.db", "--report2006", "0s", "hello.txt"}, "--report2006 0s must be greater than 0"},
		{[]string{"post", "--engine", "sqlite:p.db", "--report2006", "20m", "hello.txt"}, "--report2006 cannot be combined with FILES, because it posts a synthetic feed; omit one of the two"},
		{[]string{"post", "--engine", "sqlite:p.db", "hello.txt", "--policy", "different", "--method", "service"}, "--method service cannot post FILES with --policy different"},
		{[]string{"shef", "post", "--engine", "sqlite:r.db", "--schema", "barograph", "--apps-defaults", "absent", "hello.txt"}, "--apps-defaults applies only to --schema ihfs"},
		{[]string{"shef", "post", "--engine", "postgres://h/d", "--make", "hello.txt"}, "--make applies only to --schema barograph"},
		{[]string{"shef", "export", "--engine", "postgres://h/d", "--to", "csv", "--design", "array24"}, "--design applies only to --schema barograph"},
		{[]string{"shef", "decode", "hello.txt", "--only-known"}, "--only-known needs --stations"},
		{[]string{"shef", "decode", "hello.txt", "--products", "--format", "csv"}, "--products has the formats table and json"},
		{[]string{"shef", "decode", "hello.txt", "--products", "--out", "new.csv"}, "--products has the formats table and json"},
		{[]string{"scan", "own", "--engine", "sqlite:own.db", "--tables", dir, "--queries", "q.sql", "--rows", "5"}, "--rows applies only to --set clicks"},

		// Names that do not exist.
		{[]string{"help", "shw"}, "command shw is not known; did you mean show?"},
		{[]string{"help", "exit-statu"}, "command exit-statu is not known; did you mean exit-status?"},
		{[]string{"help", "scan", "lakes"}, "scan command lakes is not known; did you mean lake?"},
		{[]string{"help", "post", "x"}, "barograph post has no command x; see `barograph post --help`"},
		{[]string{"help", "load", "foo"}, "barograph load has no command foo"},
		{[]string{"help", "exit-status", "x"}, "barograph exit-status has no command x"},
		{[]string{"help", "help", "x"}, "barograph help has no command x"},
		{[]string{"help", "lab", "up", "x"}, "barograph lab up has no command x"},
		{[]string{"completion", "basj"}, "completion command basj is not known; did you mean bash?"},
		{[]string{"scan", "sweeep", "--engine", "duckdb:x.db", "--data", dir}, "did you mean sweep?"},
		{[]string{"list", "conflicts", "sqlite:a.db", "--subset", "archiv"}, "--subset archiv is not known; did you mean archive?"},
		{[]string{"synth", "vsdb", "--since", "2019-01-01", "--models", "gfz", "--out", "x"}, "--models gfz is not known; did you mean gfs?"},
		{[]string{"synth", "vsdb", "--since", "2019-01-02", "--until", "2019-01-01", "--out", "x"}, "--until is before --since; exchange them"},
		{[]string{"synth", "vsdb", "--out", "x"}, "--since is missing; write the first day"},
		{[]string{"synth", "shef", "--since", "yesterday", "--out", "x"}, "--since yesterday is not a time; write 2024-07-03"},
		{[]string{"ycsb", "load", "--engine", "pebble:x.pebble", "-P", "workloada", "--layout", "pair"}, "--layout pair is not offered by pebble; did you mean pairs?"},
		{[]string{"scan", "verification", data, "--engine", "duckdb:x.db", "--design", "wid"}, "--design wid is not offered by duckdb for means by group; did you mean wide?"},
		{[]string{"lab", "up", "valkey", "--profile", "tund", "--lab-dir", "lab"}, "--profile tund is not offered by valkey; did you mean tuned?"},

		// Archives among files, and the reverse.
		{[]string{"show", data, "sqlite:a.db"}, "sqlite:a.db is an archive, not a file; name only files, or only sqlite:a.db"},
		{[]string{"growth", "sqlite:a.db"}, "sqlite:a.db is an archive, not a file; name VSDB or MET files, or folders of them"},
		{[]string{"scan", "lake", "a.db"}, "a.db is an archive, not a file; name VSDB or MET files, or folders of them"},
		{[]string{"ycsb", "run", "--agents", "h:1", "--engine", "dry", "-P", "workloada", "--raw", "r", "--metrics", "m"}, "--raw works with one client only; omit --agents or --raw"},
		{[]string{"cases", "a.db", data}, "a.db is an archive, not a file; name only files, or only sqlite:a.db"},
		{[]string{"verify", "sqlite:a.db", "sqlite:b.db"}, "sqlite:b.db is an archive, not a file; name the archive first, and then only files"},
		{[]string{"shef", "filtered", "sqlite:a.db", "hello.txt"}, "sqlite:a.db is no IHFS; name an IHFS database: postgres://HOST/DATABASE"},
		{[]string{"scan", "own", "--engine", "sqlite:own.db", "--tables", "t.csv", "--queries", "q.sql"}, "t.csv is not a folder; name a folder of Parquet or CSV files"},
		{[]string{"scan", "own", "--engine", "sqlite:own.db", "--tables", dir, "--queries", "q.sql", "--types", "absent"}, "absent cannot be read: no such file or directory; name a file of CREATE TABLE statements"},
		{[]string{"verify", "duckdb:w.db", "--salvage", "sqlite:s.db"}, "--salvage sqlite:s.db cannot have the design wide of duckdb:w.db"},
	} {
		status, stdout, stderr := barograph(t, c.args...)
		isRefused := status == fault.Usage || status == fault.Failed && strings.Contains(c.want, "is not a folder")
		if !isRefused || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%q: status %d, not %q: %s", c.args, status, c.want, stderr)
		}
		if slices.Contains(c.args, "--products") { // --json is its format
			continue
		}
		if status, _, stderr := barograph(t, append(c.args, "--json")...); status == 0 || !json.Valid([]byte(stderr)) {
			t.Errorf("%q --json: status %d: %s", c.args, status, stderr)
		}
	}
	left, err := filepath.Glob("*")
	left = slices.DeleteFunc(left, func(name string) bool {
		return name == "runs" || name == "x.pebble" || name == "own.db" || strings.HasPrefix(name, "a.db-")
	})
	if err != nil || strings.Join(left, " ") != "a.db hello.txt q.sql t.csv w.db" {
		t.Errorf("the commands left %q, %v", left, err)
	}
}

// TestVariableOfEngine: an error about the value of BAROGRAPH_ENGINE names the variable.
func TestVariableOfEngine(t *testing.T) {
	t.Setenv(envEngine, "duckbd:a.db")
	for _, args := range [][]string{{"show"}, {"verify"}, {"ask", "test_3"}, {"ycsb", "load", "-P", "workloada"}} {
		status, _, stderr := barograph(t, args...)
		if status != fault.Usage || !strings.Contains(stderr, "environment variable BAROGRAPH_ENGINE: engine duckbd is not known; did you mean duckdb?") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// TestVariableWithoutURL: a value of BAROGRAPH_ENGINE with a name and no URL is an error.
func TestVariableWithoutURL(t *testing.T) {
	t.Setenv(envEngine, "name=")
	if status, _, stderr := barograph(t, "show"); status != fault.Usage || !strings.Contains(stderr, "environment variable BAROGRAPH_ENGINE: ") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestCompletionAfterEngine: words after a flag that a command line may give once are completed, too.
func TestCompletionAfterEngine(t *testing.T) {
	for _, args := range [][]string{{"--engine", "dry:"}, {"--engine=dry:"}} {
		words := slices.Concat([]string{"__complete", "ycsb", "run"}, args, []string{"--thr"})
		if _, stdout, stderr := barograph(t, words...); !strings.Contains(stdout, "--threads") {
			t.Errorf("%v: %q, %s", args, stdout, stderr)
		}
	}
}

// TestCompletionOfLab: only commands that accept disks propose them.
func TestCompletionOfLab(t *testing.T) {
	for command, want := range map[string]bool{"up": false, "url": false, "down": true} {
		if _, stdout, stderr := barograph(t, "__complete", "lab", command, ""); strings.Contains(stdout, "disks") != want || !strings.Contains(stdout, "postgres") {
			t.Errorf("%s: %q, %s", command, stdout, stderr)
		}
	}
}

// TestPruneAndExplainAsJSON: verify --prune and ask --explain obey --json, and ask --explain obeys --out.
func TestPruneAndExplainAsJSON(t *testing.T) {
	data, url := dayOfData(t), "sqlite:"+filepath.Join(t.TempDir(), "a.db")
	must(t, "load", data, "--engine", url, "--design", "document")
	var pruned []pruneReport
	if err := json.Unmarshal([]byte(must(t, "verify", url, "--prune", "--json")), &pruned); err != nil || len(pruned) != 1 || pruned[0].Total != 4*8745 || pruned[0].Lost != 0 || !pruned[0].Forgotten {
		t.Errorf("%+v, %v", pruned, err)
	}
	out := must(t, "verify", url, "--prune", "--dry-run")
	if !strings.Contains(out, "none of 34,980 records is missing; nothing to forget") {
		t.Error(out)
	}
	if out := must(t, "verify", url, "--prune", "--dry-run", "--json"); !strings.Contains(out, `"forgotten": false`) {
		t.Error(out)
	}
	var explained struct{ Question, Query, Plan string }
	file := filepath.Join(t.TempDir(), "plan.json")
	if out := must(t, "ask", url, "test_3", "--explain", "--json", "--out", file); out != "" {
		t.Errorf("prints %s", out)
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &explained)
	}
	if err != nil || explained.Question != "test_3" || !strings.Contains(explained.Query, "SELECT") || explained.Plan == "" {
		t.Errorf("%+v, %v", explained, err)
	}
}

// TestPostOfNothing: post does not time files that contain no value.
func TestPostOfNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	file := put(t, ".", "hello.txt", "hello\n")
	status, stdout, stderr := barograph(t, "post", "--engine", "sqlite:p.db", file)
	if status != fault.Incomplete || stdout != "" || !strings.Contains(stderr, "the input contains no value; check that it is SHEF") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestRunsOfOneSecond: runs that start in the same second get different default folders.
func TestRunsOfOneSecond(t *testing.T) {
	t.Chdir(t.TempDir())
	named := map[string]bool{}
	for range 3 {
		var out string
		(&env{}).nameFolder(&out, "met")
		if named[out] = true; os.MkdirAll(out, 0o700) != nil {
			t.Fatal(out)
		}
	}
	if len(named) != 3 {
		t.Errorf("three runs have the folders %v", named)
	}
}

// TestSyntheticFilesAmongOthers: synth warns of files that an earlier command wrote into the same folder.
func TestSyntheticFilesAmongOthers(t *testing.T) {
	dir := t.TempDir()
	must(t, "synth", "shef", "--messages", "600", "--mean", "2", "--out", dir)
	for messages, want := range map[string]string{"600": "", "3": "warning: " + dir + " also has 1 file from before"} {
		status, _, stderr := barograph(t, "synth", "shef", "--messages", messages, "--mean", "2", "--out", dir)
		if status != 0 || strings.Contains(stderr, "warning") != (want != "") || !strings.Contains(stderr, want) {
			t.Errorf("%s products: status %d: %s", messages, status, stderr)
		}
	}
}

// TestCheckOfEmptyResults: a run with questions that have no rows, which met proves but does not time, passes its check.
func TestCheckOfEmptyResults(t *testing.T) {
	data, dir := dayOfData(t), filepath.Join(t.TempDir(), "run")
	must(t, "met", data, "--engine", "sqlite", "--design", "document", "--case", "test_1,test_3", "--reps", "2", "--out", dir)
	if out := must(t, "report", dir, "--check"); !strings.Contains(out, "0 problems") {
		t.Errorf("prints %s", out)
	}
}

// TestFaultRunsAreReadFirst: met refuses a wrong --with before it loads anything.
func TestFaultRunsAreReadFirst(t *testing.T) {
	data, dir := dayOfData(t), filepath.Join(t.TempDir(), "run")
	status, _, stderr := barograph(t, "met", data, "--engine", "sqlite", "--with", filepath.Join(dir, "absent"), "--out", dir)
	if _, err := os.Stat(dir); status != fault.Failed || !strings.Contains(stderr, "absent") || strings.Contains(stderr, "loading") || err == nil {
		t.Errorf("status %d, %v: %s", status, err, stderr)
	}
}

// TestScanWithRelativePath: scan stores the star in the folder of an engine whose path is relative.
func TestScanWithRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "synth", "tpcds", "--sf", "0.01", "--out", "star")
	must(t, "scan", "--engine", "duckdb:star.db", "--data", "star", "--queries", "q3", "--reps", "1", "--out", "run")
}

// TestSalvageToServer: a new archive on a server has no path on this machine, but its URL may have the path of a folder.
func TestSalvageToServer(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	must(t, "load", fewRecords(t), "--engine", url)
	status, _, stderr := barograph(t, "verify", url, "--salvage", "mariadb://me@127.0.0.1:1/")
	if status != fault.Unreachable || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestVersionAsJSON prints the licenses as JSON, too.
func TestVersionAsJSON(t *testing.T) {
	var got struct{ Licenses string }
	out := must(t, "version", "--licenses", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Licenses != strings.ToValidUTF8(must(t, "version", "--licenses"), "\uFFFD") || len(got.Licenses) < 10_000 {
		t.Errorf("%v, %d bytes", err, len(got.Licenses))
	}
}

// TestProductsAsJSON: the extension of --out decides on the format of --products, too.
func TestProductsAsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("p.txt", []byte("SRUS53 KLCH 031200\nRR1LCH\n\n.A ABCD1 0703 Z DH12/HG 1.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "shef", "decode", "--products", "--now", "2024-07-03", "--out", "p.json", "p.txt")
	text, err := os.ReadFile("p.json")
	if err != nil || !json.Valid(text) {
		t.Errorf("%v: %s", err, text)
	}
	if out := must(t, "shef", "decode", "--products", "--now", "2024-07-03", "--format", "json", "p.txt"); out != string(text) {
		t.Errorf("--format json prints %s", out)
	}
}

// TestDesignWithoutSubset: the cure names another design only if that design has the subset.
func TestDesignWithoutSubset(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	must(t, "load", fewRecords(t), "--engine", url, "--design", "document")
	for subset, want := range map[string]string{
		"archive": "--design normalized has no record of subset archive; name a design that has: document",
		"archiv":  "no record matches in subset archiv",
	} {
		if _, _, stderr := barograph(t, "ask", url, "test_3", "--design", "normalized", "--subset", subset); !strings.Contains(stderr, want) {
			t.Errorf("subset %s: %s", subset, stderr)
		}
	}
}
