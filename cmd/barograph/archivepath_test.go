package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

var firstName = regexp.MustCompile(`(?m)^(?:- )?name: (\S+)`)

// Every command that reads an archive accepts its relative path without the engine.
func TestArchivePath(t *testing.T) {
	data := dayOfData(t)
	for _, engine := range []string{"duckdb", "sqlite", "pebble"} {
		for _, path := range []string{"X 50%.db", "./X#1.db"} {
			t.Run(engine+" "+path, func(t *testing.T) {
				t.Chdir(t.TempDir())
				if err := os.Symlink(data, "data"); err != nil {
					t.Fatal(err)
				}
				escaped := strings.NewReplacer("%", "%25", "#", "%23", " ", "%20").Replace(path)
				must(t, "load", "data", "--engine", engine+":"+escaped)
				if _, err := os.Stat(path); err != nil {
					t.Fatal(err)
				}
				question := firstName.FindStringSubmatch(must(t, "cases", path))
				if question == nil {
					t.Fatal("no question")
				}
				want := must(t, "ask", engine+":"+escaped, question[1])
				if got := must(t, "ask", path, question[1]); got != want {
					t.Errorf("ask PATH: %s; ask URL: %s", got, want)
				}
				if got := must(t, "ask", "--engine", path, question[1]); got != want {
					t.Errorf("ask --engine PATH: %s; ask URL: %s", got, want)
				}
				must(t, "show", path)
				must(t, "verify", path, "data")
				if status, _, stderr := barograph(t, "show", path, "data"); status != fault.Usage {
					t.Errorf("show with two arguments: status %d, %s", status, stderr)
				}
			})
		}
	}
}

// TestFolderNamedLikeAPattern: verify reads the tables of a Pebble archive whose name is a pattern, so it finds a damage.
func TestFolderNamedLikeAPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1].db")
	must(t, "load", dayOfData(t), "--engine", "pebble:"+dir)
	must(t, "verify", "pebble:"+dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".sst" && ext != ".blob" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status, out, errs := barograph(t, "verify", "pebble:"+dir)
	if status != fault.Differs || !strings.Contains(out+errs, ".sst: ") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}
