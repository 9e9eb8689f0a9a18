package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestPost posts a small synthetic feed, and reads the report again.
func TestPost(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	stdout := must(t, "post", "--engine", "sqlite:"+filepath.Join(dir, "a.db"), "--design", "array24,single", "--method", "multi-row,prepared",
		"--test", "quiet,live,delete", "--messages", "20", "--mean", "15", "--per-day", "10", "--clients", "2", "--out", out)
	for _, want := range []string{"Number of Products: 20", "Avg Post time: 0.", "Max Post Time: 0", "quiet   insert", "maintenance off", "reference"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "83.4", "The live feed, day by day", "pecrsep", "2006"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if again := must(t, "report", out); again != stdout {
		t.Error("report prints something else than post")
	}

	feed := filepath.Join(dir, "feed")
	must(t, "synth", "shef", "--messages", "20", "--mean", "15", "--out", feed)
	stdout = must(t, "post", "--engine", "duckdb:"+filepath.Join(dir, "b.db"), "--design", "single", "--method", "bulk", "--now", "2006-03-09", "--out", filepath.Join(dir, "run2"), feed)
	if !strings.Contains(stdout, "Number of Products: 20") || !strings.Contains(stdout, "once  insert") {
		t.Errorf("from files:\n%s", stdout)
	}
}

// TestPostAsItIs: after the test once, the tables contain the values of the user's file unchanged, whatever other tests
// ran before. The names of all tables end in _test. Values that could not be decoded are reported, and make the run
// incomplete.
func TestPostAsItIs(t *testing.T) {
	dir := t.TempDir()
	file, url := filepath.Join(dir, "x.shef"), "sqlite:"+filepath.Join(dir, "x.db")
	if err := os.WriteFile(file, []byte(".A AAA 20240102 Z DH06/HG 2.5/QR 1.25/HP ?\n.A BBB 20240102 Z DH06/HG M\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tests := range []string{"once", "quiet,noise", ""} {
		args := []string{"post", "--engine", url, "--design", "single,array24", "--method", "multi-row", "--out", filepath.Join(dir, "run"+tests), file}
		if tests != "" {
			args = append(args, "--test", tests)
		}
		status, stdout, stderr := barograph(t, args...)
		if status != 4 || !strings.Contains(stdout, "1 product: 3 values, 1 lost") || strings.Contains(stdout, " wrong") {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
	}
	db, err := sql.Open("sqlite3", filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		"SELECT group_concat(lid || value) FROM (SELECT * FROM pedrsep_test ORDER BY lid, value)":                                      "AAA1.25,AAA2.5,BBB-9999.0",
		"SELECT group_concat(lid || z0600) FROM (SELECT * FROM pocrsep_test ORDER BY lid, z0600)":                                      "AAA1.25,AAA2.5,BBB-9999.0",
		"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%\\_test' ESCAPE '\\'": "0",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v", query, got, want, err)
		}
	}
}

// TestPostLeavesTheRiver: no test of post changes the tables that shef post and shef serve fill.
func TestPostLeavesTheRiver(t *testing.T) {
	for scheme, methods := range map[string]string{"sqlite": "multi-row,prepared,service", "postgres": "bulk,procedure,service"} {
		t.Run(scheme, func(t *testing.T) {
			dir := t.TempDir()
			url := "sqlite:" + filepath.Join(dir, "river.db")
			if scheme == "postgres" {
				url = sharedPlace(t, scheme)
			}
			first := put(t, dir, "first.shef", ".A AAA 20240102 Z DH06/HG 2.5/QR 1.25\n.A BBB 20240102 Z DH0610/HG 7\n")
			second := put(t, dir, "second.shef", ".A AAA 20240102 Z DH06/HG 3\n.A CCC 20240104 Z DH06/HG 4\n")
			stored := func(design string) string {
				return must(t, "shef", "export", "--engine", url, "--schema", "barograph", "--design", design, "--to", "csv")
			}
			before := map[string]string{}
			for _, design := range []string{"single", "array24"} {
				must(t, "shef", "post", "--engine", url, "--schema", "barograph", "--design", design, "--make", first)
				if before[design] = stored(design); strings.Count(before[design], "\n") != 4 {
					t.Fatalf("%s: want three values:\n%s", design, before[design])
				}
			}
			args := []string{"post", "--engine", url, "--design", "single,array24", "--method", methods}
			must(t, append(args, "--out", filepath.Join(dir, "once"), second)...)
			must(t, append(args, "--out", filepath.Join(dir, "all"), "--reposts", "2", "--test", "once,quiet,noise,queue,live,delete,bloat", second)...)
			for design, want := range before {
				if got := stored(design); got != want {
					t.Errorf("%s: after post the tables have\n%s\nwant\n%s", design, got, want)
				}
			}
		})
	}
}

func TestPostRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"post", "--engine", "sqlite:x.db", "--test", "endurance"},
		{"post", "--engine", "pebble:x"},
		{"post", "--engine", "sqlite:x.db", "--now", "soon", "x"},
		{"post", "--engine", "sqlite:x.db", "-"},
		{"synth", "shef", "--out", "x", "--mean", "0.1"},
	} {
		if status, _, stderr := barograph(t, args...); status != 2 || stderr == "" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}

// TestPostMisspelt: a misspelled name gets a suggestion before anything is opened.
func TestPostMisspelt(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	for flag, name := range map[string]string{"design": "singel", "method": "multirow", "policy": "overwite", "test": "quite"} {
		status, _, stderr := barograph(t, "post", "--engine", "sqlite:"+db, "--"+flag, name)
		if _, err := os.Stat(db); status != 2 || !strings.Contains(stderr, "--"+flag+" "+name) || !strings.Contains(stderr, "did you mean ") || err == nil {
			t.Errorf("--%s %s: status %d, %s%v", flag, name, status, stderr, err)
		}
	}
}

// unreadable puts a broken link and a truncated gzip file into a folder.
func unreadable(t *testing.T, dir, ending string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(dir, "nothing"), filepath.Join(dir, "a link"+ending)); err != nil {
		t.Fatal(err)
	}
	cut := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 2}
	if err := os.WriteFile(filepath.Join(dir, "cut"+ending+".gz"), cut, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestShefPassesOverUnreadableFiles: each unreadable file is reported by name; the other files of
// the folder are decoded and posted.
func TestShefPassesOverUnreadableFiles(t *testing.T) {
	dir, feed := t.TempDir(), t.TempDir()
	put(t, feed, "good", ".A AAA 20240102 Z DH06/HG 2.5\n")
	unreadable(t, feed, "")
	if err := os.Symlink(put(t, dir, "linked", ".A BBB 20240102 Z DH06/HG 1.5\n"), filepath.Join(feed, "link")); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"BBB       2024": {"shef", "decode", feed},
		"2 values":       {"post", "--engine", "sqlite:" + filepath.Join(dir, "a.db"), "--design", "single", "--method", "prepared", "--out", filepath.Join(dir, "run"), feed},
	} {
		status, stdout, stderr := barograph(t, args...)
		if status != 4 || !strings.Contains(stdout, want) || strings.Count(stderr, "a link is") != 1 || strings.Count(stderr, "cut.gz") != 1 || !strings.Contains(stderr, "2 files could not be read") {
			t.Errorf("%v: status %d, want %q\n%s%s", args, status, want, stdout, stderr)
		}
	}
}

// TestPostReport2006: all tests of the report run in its order; a pilot determines their size.
func TestPostReport2006(t *testing.T) {
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "a.db")
	status, stdout, stderr := barograph(t, "post", "--engine", url, "--design", "single", "--method", "multi-row", "--report2006", "1ms", "--out", filepath.Join(dir, "run"))
	if status != 0 || !strings.Contains(stderr, "a pilot of 20 products took") || !strings.Contains(stderr, "the minimum of 20 products will take about") {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	at := 0
	for _, want := range []string{"The report of 2006 next to this run", "1             insert", "2             insert", "33.0", "3             insert", "142.5", "74,782 rows in 88 s", "live feed"} {
		i := strings.Index(stdout[at:], want)
		if i < 0 {
			t.Fatalf("%q does not follow in\n%s", want, stdout)
		}
		at += i
	}
	for range 2 { // --messages replaces the pilot, so both runs post the same products
		out := filepath.Join(t.TempDir(), "run")
		status, _, stderr := barograph(t, "post", "--engine", url, "--design", "single", "--method", "multi-row", "--report2006", "1ms", "--messages", "7", "--out", out)
		r, samples, err := run.Read(out)
		if status != 0 || strings.Contains(stderr, "a pilot") || err != nil || r.Data.Decoded.Products != 7 || len(samples) == 0 {
			t.Errorf("status %d, %v, %+v, %d samples\n%s", status, err, r.Data.Decoded, len(samples), stderr)
		}
	}
	for _, args := range [][]string{{"--report2006", "1m", "--test", "quiet"}, {"--report2006", "-1m"}, {"--report2006", "1m", dir}, {"--report2006", "1m", "--speed-up", "100"}, {"--report2006", "1m", "--now", "2024-07-03"}, {"--report2006", "0s", dir}} {
		if status, _, stderr := barograph(t, append([]string{"post", "--engine", url}, args...)...); status != 2 || !strings.HasPrefix(stderr, "barograph: "+args[len(args)-2]) && !strings.HasPrefix(stderr, "barograph: --report2006") {
			t.Errorf("%q: status %d, %s", args, status, stderr)
		}
	}
}
