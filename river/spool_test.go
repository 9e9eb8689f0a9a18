package river

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongNames: Done moves files with the longest possible names, also if done/ and failed/ contain such files
// already.
func TestLongNames(t *testing.T) {
	s, err := OpenSpool(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, strings.Repeat("a", 255))
	for _, failure := range []string{"", "", "no product", "no product"} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Done(&Waiting{Path: path, Received: info.ModTime(), Size: 1, failure: failure}); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]int{"done/*/a*": 2, "failed/a*": 4} {
		if found, err := filepath.Glob(filepath.Join(s.Dir, pattern)); err != nil || len(found) != want {
			t.Errorf("%s: %d files, %v", pattern, len(found), err)
		}
	}
}

// TestFreePath: freePath returns an error that concerns every number, instead of trying all numbers.
func TestFreePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := freePath(file, "x", "."); err == nil {
		t.Errorf("a path in a file: %s", path)
	}
}
