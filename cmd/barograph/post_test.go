package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPost posts a small feed and files of it, and reads the report again.
func TestPost(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	stdout := must(t, "post", "--db", "sqlite:"+filepath.Join(dir, "a.db"), "--design", "array24,single,ihfs", "--method", "multi-row,prepared",
		"--test", "quiet,live,delete", "--messages", "20", "--mean", "15", "--per-day", "10", "--posters", "2", "--out", out)
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
	stdout = must(t, "post", "--db", "duckdb:"+filepath.Join(dir, "b.db"), "--design", "single", "--method", "bulk", "--now", "2006-03-09", "--out", filepath.Join(dir, "run2"), feed)
	if !strings.Contains(stdout, "Number of Products: 20") || !strings.Contains(stdout, "once  insert") {
		t.Errorf("from files:\n%s", stdout)
	}
}

// TestPostAsItIs: what a user names is in the tables as it is, whatever tests
// ran beside; what could not be decoded is told, and makes the run incomplete.
func TestPostAsItIs(t *testing.T) {
	dir := t.TempDir()
	file, url := filepath.Join(dir, "x.shef"), "sqlite:"+filepath.Join(dir, "x.db")
	if err := os.WriteFile(file, []byte(".A AAA 20240102 Z DH06/HG 2.5/QR 1.25/HP ?\n.A BBB 20240102 Z DH06/HG M\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tests := range []string{"once", "", "quiet,noise"} {
		args := []string{"post", "--db", url, "--design", "single,ihfs", "--method", "multi-row", "--out", filepath.Join(dir, "run"+tests), file}
		if tests != "" {
			args = append(args, "--test", tests)
		}
		status, stdout, stderr := barograph(t, args...)
		if status != 4 || !strings.Contains(stdout, "1 products: 3 values, 1 lost") || strings.Contains(stdout, "wrong") {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
	}
	db, err := sql.Open("sqlite3", filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		"SELECT group_concat(lid || value) FROM (SELECT * FROM pedrsep ORDER BY lid, value)": "AAA1.25,AAA2.5,BBB-9999.0",
		"SELECT group_concat(lid || value) FROM (SELECT * FROM height ORDER BY lid)":         "AAA2.5,BBB-9999.0",
		"SELECT lid || value FROM discharge":                                                 "AAA1250.0",
		"SELECT count(*) FROM sqlite_master WHERE name IN ('pedrsep_test', 'height_test')":   "2",
		"SELECT count(*) FROM location WHERE lid LIKE '%\\_' ESCAPE '\\'":                    "0",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v", query, got, want, err)
		}
	}
}

func TestPostRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"post", "--db", "sqlite:x.db", "--test", "endurance"},
		{"post", "--db", "pebble:x"},
		{"post", "--db", "sqlite:x.db", "-"},
		{"synth", "shef", "--out", "x", "--mean", "0.1"},
	} {
		if status, _, stderr := barograph(t, args...); status != 2 || stderr == "" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}
