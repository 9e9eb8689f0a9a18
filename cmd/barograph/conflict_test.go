package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/internal/fault"
)

// Two files have the same headers, times and leads, but other numbers. Earlier, the order of the
// files decided which numbers were stored, without a message.
func TestFilesThatContradictEachOther(t *testing.T) {
	dir := t.TempDir()
	const line = "V01 GFS 24 2019010100 ANL G2 SAL1L2 HGT P500 = 100. 1.5 2. 3. 4. "
	files := [2]string{filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "b.vsdb")}
	for i, last := range []string{"5.\n", "6.\n"} {
		if err := os.WriteFile(files[i], []byte(line+last), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		choice string
		status int
		stored string
	}{{"refuse", fault.Incomplete, "a.vsdb"}, {"first", 0, "a.vsdb"}, {"last", 0, "b.vsdb"}} {
		for _, url := range []string{"sqlite:", "pebble:"} {
			url += filepath.Join(dir, url[:1]+tc.choice)
			args := []string{"load", files[1], files[0], "--on-conflict", tc.choice, "--engine", url, "--json"}
			status, stdout, stderr := barograph(t, args...)
			var got load.Result
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err, stderr)
			}
			if status != tc.status || got.Read != 2 || got.Stored != 1 || got.Duplicates != 0 || got.Conflicts != 1 {
				t.Errorf("%s: status %d, %+v", tc.choice, status, got)
			}
			if !strings.Contains(stderr, tc.stored+":1, whose values are stored") {
				t.Errorf("%s: the places are not reported:\n%s", tc.choice, stderr)
			}
			if listed := must(t, "list", "conflicts", "--engine", url); !strings.Contains(listed, tc.stored+":1 ") || !strings.Contains(listed, "GFS") || !strings.Contains(listed, "conflicts: 1") ||
				strings.Contains(listed, "existing; refused") != (status != 0) {
				t.Errorf("%s: the archive's report: %s", tc.choice, listed)
			}
			again, _, stderr := barograph(t, args...)
			if again != status || strings.Contains(stderr, "whose values are stored") != (status != 0) {
				t.Errorf("%s: loaded again, status %d:\n%s", tc.choice, again, stderr)
			}
		}
	}
	if status, _, stderr := barograph(t, "load", files[0], "--on-conflict", "newest", "--engine", "dry:"); status != 2 || !strings.Contains(stderr, "refuse, first, last") {
		t.Errorf("status %d:\n%s", status, stderr)
	}
}

// TestStudiesOfFilesThatContradict: studies continue with the stored values, prove them, and report
// the dropped lines.
func TestStudiesOfFilesThatContradict(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data)
	found, err := filepath.Glob(filepath.Join(data, "*", "*", "*", "*", "*.vsdb"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for name, text := range map[string]string{"empty.vsdb": "", "z.vsdb": line[:len(line)-1] + "0\n" + line} { // the last value conflicts; the last line may be truncated
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := "pebble:" + filepath.Join(dir, "archive")
	status, stdout, _ := barograph(t, "show", data)
	_, loaded, _ := barograph(t, "load", data, "--engine", url)
	digest := regexp.MustCompile(`digest\s+(\w+/\d+)`).FindStringSubmatch(loaded)
	if status != fault.Incomplete || !strings.Contains(stdout, "0 duplicates, 1 conflict (see load --on-conflict)") || digest == nil || !strings.Contains(stdout, "digest "+digest[1]) {
		t.Errorf("status %d, digest %v of\n%s", status, digest, stdout)
	}
	for _, args := range [][]string{
		{"met", data, "--engine", "pebble", "--reps", "2"},
		{"scan", "verification", data, "--engine", "duckdb:" + filepath.Join(dir, "a.db"), "--design", "wide", "--reps", "1", "--cold", "0"},
	} {
		out := filepath.Join(dir, args[0])
		status, stdout, stderr := barograph(t, append(args, "--out", out)...)
		if status != fault.Incomplete || !strings.Contains(stderr, "1 line of these files was quarantined, 1 file could not be read, 1 line conflicts with an earlier line") || strings.Contains(stdout, "WRONG") {
			t.Errorf("%s: status %d\n%s\n%s", args[0], status, stdout, stderr)
		}
		if kept, err := os.ReadFile(filepath.Join(out, "quarantine.csv")); err != nil || !strings.Contains(string(kept), "z.vsdb,2,perhaps truncated") {
			t.Errorf("%s: %v\n%s", args[0], err, kept)
		}
	}
}

// TestKeepStoresWhatContradicts: the archive stores and reports both lines, a question returns
// both, a study of the archive is proven, and other policies are refused.
func TestKeepStoresWhatContradicts(t *testing.T) {
	dir := t.TempDir()
	const line = "V01 GFS 24 2019010100 ANL G2 SAL1L2 HGT P500 = 100. 1.5 2. 3. 4. "
	files := [2]string{filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "b.vsdb")}
	for i, text := range []string{line + "5.\n", line + "6.\n" + line + "5.\n"} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var cases []string
	for _, url := range []string{"sqlite:" + filepath.Join(dir, "s"), "pebble:" + filepath.Join(dir, "p")} {
		status, stdout, stderr := barograph(t, "load", files[1], files[0], "--on-conflict", "keep", "--engine", url, "--verify", "--json")
		var got load.Result
		if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&got); err != nil || status != 0 {
			t.Fatal(status, err, stderr)
		}
		if got.Read != 3 || got.Stored != 2 || got.Duplicates != 1 || got.Conflicts != 0 || got.Kept != 1 || !strings.Contains(stderr, "a.vsdb:1; both are stored") {
			t.Errorf("%+v\n%s", got, stderr)
		}
		if listed := must(t, "list", "conflicts", "--engine", url); !strings.Contains(listed, "  both  ") || !strings.Contains(listed, "b.vsdb:1 ") {
			t.Error(listed)
		}
		if again := must(t, "load", files[0], files[1], "--engine", url); !strings.Contains(again, "2 skipped") {
			t.Error(again)
		}
		must(t, "verify", url, files[0], files[1])
		if status, _, stderr := barograph(t, "load", files[0], "--on-conflict", "last", "--engine", url); status == 0 || !strings.Contains(stderr, "loaded with keep") {
			t.Errorf("another choice: status %d, %s", status, stderr)
		}
		cases = append(cases, must(t, "cases", url))
	}
	if cases[0] != cases[1] || cases[0] == "" {
		t.Errorf("the engines have different cases:\n%s\n%s", cases[0], cases[1])
	}
	must(t, "met", "--from", "sqlite:"+filepath.Join(dir, "s"), "--engine", "pebble:"+filepath.Join(dir, "copy"), "--reps", "2", "--warmups", "0", "--out", filepath.Join(dir, "runs"))
	if status, _, stderr := barograph(t, "load", files[0], "--on-conflict", "newest", "--engine", "dry:"); status != 2 || !strings.Contains(stderr, "keep") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestAskFindsTheDesign: ask uses the design under which an archive was loaded. If another design
// is requested, the error names the one that has records.
func TestAskFindsTheDesign(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	ask := func(url string, more ...string) (int, string, string) {
		return barograph(t, append([]string{"ask", "test_3", "--valid", "all", "--engine", url, "--format", "csv"}, more...)...)
	}
	for _, scheme := range []string{"duckdb", "sqlite"} {
		url := scheme + ":" + filepath.Join(dir, scheme)
		must(t, "load", data, "--engine", url, "--design", "document")
		if status, stdout, stderr := ask(url); status != 0 || strings.Count(stdout, "\n") < 2 || !strings.Contains(stderr, "document") {
			t.Errorf("%s: status %d\n%s%s", scheme, status, stdout, stderr)
		}
		if status, _, stderr := ask(url, "--design", "normalized"); status != 2 || !strings.Contains(stderr, "a design that has: document") {
			t.Errorf("%s, another design: status %d, %s", scheme, status, stderr)
		}
		if status, _, stderr := ask(url, "--subset", "none"); status != 4 || !strings.Contains(stderr, "no record matches in subset none: it has no records; the archive has subset archive") {
			t.Errorf("%s, no subset: status %d, %s", scheme, status, stderr)
		}
	}
	url := "duckdb:" + filepath.Join(dir, "duckdb")
	if status, _, stderr := barograph(t, "ask", "all_sal1l2_hgt", "--engine", url, "--subset", "archve"); status != 2 || !strings.Contains(stderr, "--subset archve is not known; did you mean archive?") {
		t.Errorf("a derived question of no subset: status %d, %s", status, stderr)
	}
	must(t, "load", data, "--engine", url, "--subset", "second") // under the existing design
	if status, _, stderr := ask(url, "--subset", "second"); status != 0 || !strings.Contains(stderr, "document") {
		t.Errorf("a second subset: status %d, %s", status, stderr)
	}
	must(t, "load", data, "--engine", url, "--design", "wide")
	if shown := must(t, "show", url); !strings.Contains(shown, "design document, subset second") || !strings.Contains(shown, "stored by barograph (devel)") {
		t.Error(shown)
	}
	if status, _, stderr := barograph(t, "load", data, "--engine", url); status != 2 || !strings.Contains(stderr, "document, wide") {
		t.Errorf("load, two designs: status %d, %s", status, stderr)
	}
	if status, _, stderr := ask(url); status != 2 || !strings.Contains(stderr, "document, wide") {
		t.Errorf("two designs: status %d, %s", status, stderr)
	}
}
