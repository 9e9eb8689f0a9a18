package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barograph/fault"
	"barograph/load"
)

// Two files with the same headers, times and leads, but other numbers: the
// order of files decided which of them an archive held, and nobody was told.
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
		stands string
	}{{"refuse", fault.Incomplete, "a.vsdb"}, {"first", 0, "a.vsdb"}, {"last", 0, "b.vsdb"}} {
		for _, url := range []string{"sqlite:", "pebble:"} {
			url += filepath.Join(dir, url[:1]+tc.choice)
			args := []string{"load", files[1], files[0], "--on-conflict", tc.choice, "--engine", url, "--json"}
			status, stdout, stderr := barograph(t, args...)
			var got load.Result
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err, stderr)
			}
			if status != tc.status || got.Read != 2 || got.Stored != 1 || got.Same != 0 || got.Other != 1 {
				t.Errorf("%s: status %d, %+v", tc.choice, status, got)
			}
			if !strings.Contains(stderr, tc.stands+":1, which stand") {
				t.Errorf("%s: the places are not told:\n%s", tc.choice, stderr)
			}
			again, _, stderr := barograph(t, args...)
			if again != status || strings.Contains(stderr, "which stand") != (status != 0) {
				t.Errorf("%s: loaded again, status %d:\n%s", tc.choice, again, stderr)
			}
		}
	}
	if status, _, stderr := barograph(t, "load", files[0], "--on-conflict", "newest", "--engine", "dry:"); status != 2 || !strings.Contains(stderr, "refuse, first, last") {
		t.Errorf("status %d:\n%s", status, stderr)
	}
}
