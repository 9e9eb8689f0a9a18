package formats

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/record"
)

// Every real sample opens and is read to its end, all of its bytes, with no
// line in neither records nor rejects.
func TestRealSamples(t *testing.T) {
	dir := os.Getenv("BAROGRAPH_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, "met")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real data: %v; set BAROGRAPH_DATA to a folder that holds met", err)
	}
	files, err := Expand([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[Kind]int{}
	var o Opener
	for _, path := range files {
		f, err := o.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds[f.Kind]++
		records, rejects := read(t, f)
		if n := int64(len(records) + len(rejects)); n != f.Lines() || f.BytesRead() != f.Size {
			t.Errorf("%s: %d records and %d rejects of %d lines, %d of %d bytes", path, len(records), len(rejects), f.Lines(), f.BytesRead(), f.Size)
		}
	}
	if kinds[VSDB] == 0 || kinds[MetStat] == 0 {
		t.Errorf("files found: %v", kinds)
	}
}

// If a user names a file of MET without STAT lines, the reader quarantines each of its lines.
func TestForeignMETFiles(t *testing.T) {
	path := write(t, t.TempDir(), "tracks.tcst", "VERSION AMODEL BMODEL DESC\nV12.0.0 GFSO BEST NA\n")
	f, err := new(Opener).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b record.Batch
	if err := f.Next(&b); err != nil || f.Kind != MetStat || len(b.Rejects) != 1 {
		t.Errorf("%v, kind %s, rejects %v", err, f.Kind, b.Rejects)
	}
}
