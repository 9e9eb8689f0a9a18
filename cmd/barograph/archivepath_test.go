package main

import (
	"os"
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
		for _, path := range []string{"X 50%.db", "./X#1.db", "a[1].db"} {
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
