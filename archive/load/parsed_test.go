package load_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/record"
)

// A load uses the cached batches of a first reading instead of the files, with the same result each
// time. If the cache is too small, the load parses the files again.
func TestParsed(t *testing.T) {
	dir := t.TempDir()
	files := []string{
		write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)+"V01 GFS 2x nonsense\n"), write(t, dir, "b.vsdb", line(6, 0, 2)+line(12, 0, 3)),
		write(t, dir, "empty.vsdb", ""),
	}
	clean := memory(t)
	want := mustLoad(t, clean, load.Options{}, files...)
	read := func(most int) *load.ParseCache {
		p := load.NewParseCache(most)
		nothing := func(*load.File, *record.Batch) error { return nil }
		if err := load.Read(t.Context(), files, load.ReadOptions{ParseCache: p}, nothing, func(*load.File) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return p
	}
	small, all := read(1), read(1<<20)
	if small.HasFiles() || !all.HasFiles() {
		t.Error("more is kept than may be")
	}
	again := memory(t)
	if mustLoad(t, again, load.Options{ParseCache: small}, files...); digest(t, again) != digest(t, clean) {
		t.Error("parsed again, the archive is another")
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		a := memory(t)
		s := mustLoad(t, a, load.Options{ParseCache: all}, files...)
		if digest(t, a) != digest(t, clean) || s.Duplicates != 1 || s.Quarantined != 1 || len(s.Failed) != len(want.Failed) || s.Bytes != want.Bytes {
			t.Errorf("%+v, not %+v", s, want)
		}
		if s := mustLoad(t, a, load.Options{ParseCache: all}, files...); len(s.Skipped) != len(files)-len(want.Failed) {
			t.Errorf("a second time: %+v", s)
		}
	}
}

// A load may be the first reading that fills the cache. It does not recycle the batches that the cache has stored. A
// load with Keep does not change them either: the next load uses its own policy.
func TestLoadFillsTheCache(t *testing.T) {
	dir := t.TempDir()
	var files, others []string
	for i := range 50 {
		files = append(files, write(t, dir, fmt.Sprintf("%02d.vsdb", i), line(0, i, float64(i))+line(6, i, 2)+line(0, i, 3)))
		others = append(others, write(t, dir, fmt.Sprintf("other%02d.vsdb", i), line(12, i, 7)+line(18, i, 8)+line(24, i, 9)))
	}
	clean := memory(t)
	mustLoad(t, clean, load.Options{}, files...)
	cache := load.NewParseCache(1 << 20)
	for i, o := range []load.Options{{Window: 7}, {Window: 7}, {OnConflict: load.Keep}, {}} {
		o.ParseCache = cache
		a := memory(t)
		s := mustLoad(t, a, o, files...)
		mustLoad(t, memory(t), load.Options{}, others...) // it uses the memory of recycled batches
		if o.OnConflict != load.Keep && (digest(t, a) != digest(t, clean) || s.Kept != 0) {
			t.Errorf("load %d: %d records stored, %d kept; the archive differs from one without a cache", i, s.Stored, s.Kept)
		}
	}
}
