package lab

import (
	"os"
	"testing"
)

// TestPortsAreReservedWithoutFiles: listenOnFree returns each port once. It does not use the folder of
// temporary files, because other users may create files and links in it.
func TestPortsAreReservedWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	given := map[int]bool{}
	for range 20 {
		l, err := listenOnFree("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if p := port(l); given[p] || reserve(p) {
			t.Errorf("port %d is assigned twice", p)
		}
		given[port(l)] = true
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("not removed: %v, %v", left, err)
	}
}
