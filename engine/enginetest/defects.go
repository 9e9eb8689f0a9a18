package enginetest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// DiskFull is the server's error message in a test that uses Disk.
const DiskFull = "no space left on device"

// Disk makes a server refuse, with DiskFull, to raise the version in the catalog of subset a above 3, or
// undoes that. The catalog is a table of this name.
type Disk func(t *testing.T, url, catalog string, full bool)

// RunDefects tests a server for the defects of other loaders that only a server can show. Run tests those
// of all engines: a file that is marked before its lines are stored, records that replace others, every
// line type loaded into non-empty tables.
func RunDefects(t *testing.T, cfg Config, disk Disk) {
	for _, d := range slices.Sorted(maps.Keys(archive.OfferOf(&cfg.Driver).Designs)) {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), func(t *testing.T) {
			t.Run("files that are loaded already", s.filesLoadedAlready)
			t.Run("a batch that cannot be written", func(t *testing.T) { s.failingBatch(t, disk) })
			t.Run("long records", s.longRecords)
		})
	}
}

// SmallFiles writes n VSDB files of two lines each.
func SmallFiles(t testing.TB, n int) []string {
	t.Helper()
	dir := t.TempDir()
	files := make([]string, n)
	for i := range files {
		var b strings.Builder
		for _, lead := range []int{24, 48} {
			fmt.Fprintf(&b, "V01 GFS %d 20190101%02d ANL G2/M%03d SAL1L2 HGT P500 = 100. 1.%d 2. 3. 4. 5.\n", lead, i%4*6, i/4, lead)
		}
		files[i] = filepath.Join(dir, fmt.Sprintf("gfs_%03d.vsdb", i))
		if err := os.WriteFile(files[i], []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// filesLoadedAlready: METdbLoad reads batches of 101 files. A batch whose files are all loaded makes it
// skip the next batch; it never read 101 of 404 new files.
func (s *suite) filesLoadedAlready(t *testing.T) {
	a := s.openNew(t)
	files := SmallFiles(t, 505)
	if _, err := load.Run(t.Context(), a, "a", files[101:202], load.Options{}); err != nil {
		t.Fatal(err)
	}
	sum, err := load.Run(t.Context(), a, "a", files, load.Options{Window: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Files) != 404 || len(sum.Skipped) != 101 || sum.Stored != 808 {
		t.Errorf("%d files loaded, %d skipped, %d records stored; want 404, 101, 808",
			len(sum.Files), len(sum.Skipped), sum.Stored)
	}
	if c, err := a.Contents(t.Context(), "a"); err != nil || c.Total() != 1010 {
		t.Errorf("the archive has %d records, %v; want 1010", c.Total(), err)
	}
}

// failingBatch: METdbLoad logs an error of a write and exits with status 0.
func (s *suite) failingBatch(t *testing.T, disk Disk) {
	url := s.URL(t)
	a := s.open(t, url, engine.Options{})
	files := SmallFiles(t, 40)
	l, err := a.Loader(t.Context(), "a") // creates the subset
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	table := "barograph_" + string(s.design) + "_catalog"
	disk(t, url, table, true)
	sum, err := load.Run(t.Context(), a, "a", files, load.Options{Window: 10, Workers: 1})
	if err == nil || !strings.Contains(err.Error(), DiskFull) || sum.Commits != 3 {
		t.Fatalf("the error is %v after %d commits", err, sum.Commits)
	}
	c, err := a.Contents(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	marks, err := a.Marks(t.Context(), "a")
	if err != nil || c.Total() != 30 || len(marks) > 15 {
		t.Errorf("three commits left %d records and %d marks, %v", c.Total(), len(marks), err)
	}
	disk(t, url, table, false)
	if _, err := load.Run(t.Context(), a, "a", files, load.Options{}); err != nil {
		t.Fatal(err)
	}
	if c, err := a.Contents(t.Context(), "a"); err != nil || c.Total() != 80 {
		t.Errorf("after the resumed load the archive has %d records, %v; want 80", c.Total(), err)
	}
}

// longRecords: METdbLoad drops or corrupts a PCT or ECLV record that is longer than its table. It also
// compares with the quoted name 'CN.ECLV', which is never equal, and loses every ECLV record once the table
// contains one.
func (s *suite) longRecords(t *testing.T) {
	for _, name := range []string{"PCT", "ECLV"} {
		t.Run(name, func(t *testing.T) {
			a := s.openNew(t)
			lt := lineType(name)
			var want record.Digest
			for i, groups := range []int{3, 1, 999} { // into an empty table, then into tables with records
				b := LongRecord(lt, i, groups)
				l, err := a.Loader(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				c := archive.Commit{Catalog: design.NewCatalog("a")}
				c.Catalog.Add(b)
				if err := l.Add(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				if s, err := l.Commit(t.Context(), c); err != nil || s.New != 1 {
					t.Fatalf("%+v, %v", s, err)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				var h record.Hasher
				want.Add(h.DigestOf(b))
			}
			if got, err := archive.BuildCatalog(t.Context(), a, "a"); err != nil || got.Digest() != want {
				t.Errorf("the catalog is %+v, %v; want the digest %v", got, err, want)
			}
		})
	}
}

// LongRecord returns one record with a number of repetitions.
func LongRecord(lt *record.LineType, i, groups int) *record.Batch {
	b := &record.Batch{}
	b.Reset(lt, "long.stat")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.FcstVar] = "V11.0", "WRF", "PROB"
	b.AppendTimes(b.AddHeader(h), int32(3600*i), 1546300800, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], float64(groups))
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	for k := range lt.Group.Len(groups) {
		b.Group = append(b.Group, float64(k)/7)
	}
	b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	return b
}
