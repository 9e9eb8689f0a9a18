package vsdb

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// dataDir is the folder of real samples, or "" where there is none.
func dataDir() string {
	dir := os.Getenv("BAROGRAPH_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// realDay unpacks NCEP's files of 2019-01-01 and returns their paths, sorted;
// none where the archive or tar is absent.
func realDay(tb testing.TB) []string {
	tb.Helper()
	dir := dataDir()
	archive := filepath.Join(dir, "met", "vsdb", "vxingest_vsdb_20190101.tar.xz")
	if _, err := os.Stat(archive); dir == "" || err != nil {
		return nil
	}
	to := tb.TempDir()
	if out, err := exec.CommandContext(tb.Context(), "tar", "xf", archive, "-C", to).CombinedOutput(); err != nil {
		tb.Logf("tar xf %s: %v\n%s", archive, err, out)
		return nil
	}
	var files []string
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".vsdb") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// readAll reads every batch, checks the invariants of each and returns clones.
func readAll(tb testing.TB, src io.Reader, file string, o Options) ([]*record.Batch, int64) {
	tb.Helper()
	r := NewReader(src, file, o)
	var all []*record.Batch
	var b record.Batch
	lines := 0
	for {
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		checkBatch(tb, &b)
		lines += b.Lines
		all = append(all, b.Clone())
	}
	if int64(lines) != r.Lines() {
		tb.Fatalf("the batches have %d lines, the reader counted %d", lines, r.Lines())
	}
	return all, r.Lines()
}

// checkBatch checks the properties of every batch.
func checkBatch(tb testing.TB, b *record.Batch) {
	tb.Helper()
	n := b.Len()
	if b.Lines != n+len(b.Rejects) || b.Lines == 0 {
		tb.Fatalf("%d lines are not %d rows and %d rejects", b.Lines, n, len(b.Rejects))
	}
	if b.Type == nil {
		if n != 0 {
			tb.Fatalf("%d rows without a type", n)
		}
		return
	}
	if len(b.Num) != b.Type.NumCols() || len(b.Text) != b.Type.TextCols() {
		tb.Fatalf("%s: %d number and %d text columns", b.Type.Name, len(b.Num), len(b.Text))
	}
	for k := range b.Num {
		if len(b.Num[k]) != n {
			tb.Fatalf("%s: column %d has %d of %d rows", b.Type.Name, k, len(b.Num[k]), n)
		}
	}
	if len(b.Valid) != n || len(b.Lead) != n || len(b.Line) != n || len(b.ValidEnd) != n {
		tb.Fatalf("%s: times do not have %d rows", b.Type.Name, n)
	}
	seen := make(map[record.Header]bool)
	for _, h := range b.Headers {
		if seen[h] {
			tb.Fatalf("header %q is there twice", h)
		}
		seen[h] = true
	}
	if g := b.Type.Group; g != nil {
		if len(b.GroupEnd) != n {
			tb.Fatalf("%s: %d group ends for %d rows", b.Type.Name, len(b.GroupEnd), n)
		}
		count, _ := b.Type.Column(g.Count)
		for i := range n {
			if want, got := g.Len(int(b.Num[count.Slot][i])), len(b.Repeats(i)); got != want {
				tb.Fatalf("%s: %d repeating numbers, %d by its count", b.Type.Name, got, want)
			}
		}
	}
}

func TestRealDay(t *testing.T) {
	files := realDay(t)
	if files == nil {
		t.Skip("no real data: set BAROGRAPH_DATA to a folder with met/vsdb/vxingest_vsdb_20190101.tar.xz")
	}
	types := make(map[string]int)
	headers := make(map[record.Header]bool)
	lines, rejects, empty := int64(0), 0, 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		batches, n := readAll(t, f, name, Options{})
		lines += n
		for _, b := range batches {
			rejects += len(b.Rejects)
			if b.Type != nil {
				types[b.Type.Name] += b.Len()
			}
			for i := range b.Len() {
				if b.Header(i)[record.FcstLev] == "" {
					empty++
				}
			}
			for _, h := range b.Headers {
				h[record.Version] = ""
				headers[h] = true
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != 30 || lines != 358824 || rejects != 0 || empty != 4356 {
		t.Errorf("%d files, %d lines, %d rejects, %d empty levels; want 30, 358824, 0, 4356", len(files), lines, rejects, empty)
	}
	for name, want := range map[string]int{"SL1L2": 262004, "SAL1L2": 38100, "VL1L2": 54910, "VAL1L2": 3810} {
		if types[name] != want {
			t.Errorf("%s: %d records, want %d", name, types[name], want)
		}
	}
	// METdbLoad stores 3,083: for 21 headers with an empty level it makes 34,
	// because it takes the number of cases for the level.
	if len(types) != 4 || len(headers) != 3083-34+21 {
		t.Errorf("%d types %v and %d headers; want 4 and %d", len(types), types, len(headers), 3083-34+21)
	}
}

func TestMETdataioFile(t *testing.T) {
	dir := dataDir()
	name := filepath.Join(dir, "met", "vsdb", "metdataio", "gfs_20140802.vsdb")
	f, err := os.Open(name)
	if dir == "" || err != nil {
		t.Skip("no real data: set BAROGRAPH_DATA to a folder with met/vsdb/metdataio/gfs_20140802.vsdb")
	}
	defer f.Close()
	batches, lines := readAll(t, f, name, Options{})
	types := make(map[string]int)
	rejects := 0
	for _, b := range batches {
		rejects += len(b.Rejects)
		for _, r := range b.Rejects {
			if !strings.Contains(r.Reason, "it has 4 numbers of RELI, VSDB writes 6") {
				t.Error(r.Reason)
			}
		}
		if b.Type != nil {
			types[b.Type.Name] += b.Len()
		}
		for _, h := range b.Headers {
			if h[record.FcstLev] != "SFC" {
				t.Errorf("level %q, want SFC", h[record.FcstLev])
			}
		}
	}
	if lines != 26 || rejects != 2 || types["CTC"] != 19 || types["SL1L2"] != 5 {
		t.Errorf("%d lines, %d rejects, %v; want 26, 2, CTC 19, SL1L2 5", lines, rejects, types)
	}
}
