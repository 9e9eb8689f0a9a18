package lab

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestFetchRemovesRemains: a fetch removes the folders of interrupted fetches, not those of a running one.
func TestFetchRemovesRemains(t *testing.T) {
	dir := t.TempDir()
	running := fetchPrefix + strconv.Itoa(os.Getpid()) + "-1"
	for _, name := range []string{running, fetchPrefix + "999999999-2", fetchPrefix + "former", "artifact"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "downloads"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeFetched(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != running || left[1].Name() != "artifact" {
		t.Errorf("%v, %v", left, err)
	}
}
