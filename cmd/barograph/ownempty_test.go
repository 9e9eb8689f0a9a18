package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveEmpty: the empty files that the engines of a study created are removed. A file into which somebody has loaded
// records meanwhile stays.
func TestRemoveEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sizes := map[string]int{"sqlite.db": 0, "duckdb.db": 12_288, "loaded.db": 20_480}
	var paths []string
	for name, size := range sizes {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeEmpty(append(paths, filepath.Join(dir, "absent.db"))); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "loaded.db" {
		t.Errorf("%v, %v", left, err)
	}
}
