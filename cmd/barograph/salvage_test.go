package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
)

// TestSalvage damages an archive in one place after the other. The copy is intact and contains only
// records of the archive. Loading the files of origin makes it identical to the archive before the
// damage.
func TestSalvage(t *testing.T) {
	plainRunOnly(t)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data)
	for _, x := range []struct {
		engine, design string
		places         int
	}{{"duckdb", "wide", 6}, {"sqlite", "document", 6}, {"sqlite", "normalized", 4}, {"pebble", "keyvalue", 6}} {
		t.Run(x.engine+" "+x.design, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must(t, "load", data, "--engine", x.engine+":intact", "--design", x.design)
			must(t, "show", x.engine+":intact")
			digest := digestOf(t, x.engine+":intact")
			file := "intact"
			if x.engine == "pebble" {
				files := append(globbed(t, "intact/*.blob"), globbed(t, "intact/*.sst")...)
				if len(files) == 0 {
					t.Fatal("no table")
				}
				file = slices.MaxFunc(files, func(a, b string) int { return int(sizeOf(t, a) - sizeOf(t, b)) })
			}
			partly := 0
			if !enginetest.Nightly() {
				x.places = min(x.places, 2)
			}
			for i := range x.places {
				damaged := strings.Replace(file, "intact", "damaged", 1)
				copyArchive(t, "intact", "damaged")
				text, err := os.ReadFile(damaged)
				if err != nil {
					t.Fatal(err)
				}
				text[len(text)*(2*i+1)/(2*x.places)] ^= 1
				if err := os.WriteFile(damaged, text, 0o600); err != nil {
					t.Fatal(err)
				}
				status, stdout, stderr := barograph(t, "verify", x.engine+":damaged", "--salvage", x.engine+":new", "--json")
				if status != 0 && status != fault.Differs {
					t.Fatalf("place %d: status %d\n%s%s", i, status, stdout, stderr)
				}
				var all []salvageReport
				if json.Unmarshal([]byte(stdout), &all) == nil && len(all) == 1 && all[0].Copied > 0 {
					s := all[0]
					lost := 0
					for _, line := range s.Missing {
						if strings.HasSuffix(line, " lost") {
							lost++
						}
					}
					if lost != len(s.Missing) || s.Copied > s.Records || (s.Copied < s.Records) != (lost > 0) || lost > 0 && (len(s.Losses) == 0 || len(s.Files) != 4) {
						t.Errorf("place %d: %+v", i, s)
					}
					if s.Copied < s.Records {
						partly++
					}
					must(t, "verify", x.engine+":new")
					must(t, "load", data, "--engine", x.engine+":new", "--design", x.design)
					if got := digestOf(t, x.engine+":new"); got != digest {
						t.Errorf("place %d: with the files of origin the digest is %s, want %s", i, got, digest)
					}
					t.Logf("place %d: %d of %d records, %d places not read, first %.150q", i, s.Copied, s.Records, len(s.Losses), append(s.Losses, ""))
				} else {
					t.Logf("place %d: nothing can be read: %s", i, stderr)
				}
				for _, path := range []string{"damaged", "new"} {
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			if partly == 0 {
				t.Error("no damage left a part of the records")
			}
		})
	}
}

func digestOf(t *testing.T, url string) string {
	t.Helper()
	var all []verdict
	if err := json.Unmarshal([]byte(must(t, "verify", url, "--json")), &all); err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	return all[0].Digest
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
