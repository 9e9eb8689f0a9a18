package enginetest

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// load tests loads: merging, replacing, and that no record is lost.
func (s *suite) load(t *testing.T) {
	files := Generate(7, 6, mixedSeries()...)
	want := expect(files)
	t.Run("conservation METstat2json collapses repeated headers", func(t *testing.T) {
		h := s.openNew(t)
		var given int64
		for i := range files {
			given += files[i].Records()
		}
		if got := mustStore(t, h, "a", files, 1); got.New != given || len(got.Replaced) != 0 {
			t.Errorf("%d new, replaced %v; want %d new", got.New, got.Replaced, given)
		}
		checkDigest(t, h, "a", want)
		checkMarks(t, h, "a", files)
		checkMarkOrder(t, h, "a", files)
		checkCatalog(t, h, "a", files)
		t.Run("again", func(t *testing.T) { s.loadAgain(t, h, files) })
	})
	t.Run("any order of files VxIngest replaces leads", func(t *testing.T) {
		for i := range s.repetitions(t, 3, 1) {
			h := s.openNew(t)
			shuffled := append([]File(nil), files...)
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			mustStore(t, h, "a", shuffled, 1+rng.IntN(3))
			checkDigest(t, h, "a", want)
			checkCatalog(t, h, "a", files)
			h.close(t)
		}
	})
	t.Run("a later value replaces the earlier one", s.replace)
	t.Run("different values are refused METdbLoad's order of files decides", s.conflicts)
	t.Run("all values are kept METdbLoad stores every line", s.keep)
	t.Run("a loader closed without commit leaves nothing", s.abandon)
	t.Run("a commit of nothing", s.nothing)
	t.Run("two loaders at once", s.twoLoaders)
	t.Run("a batch is the caller's again after the commit", s.reuse)
}

// loadAgain loads the same files once more. Nothing may change.
func (s *suite) loadAgain(t *testing.T, h *opened, files []File) {
	got := mustStore(t, h, "a", files, 2)
	if got.New != 0 {
		t.Errorf("loading again stored %d new records", got.New)
	}
	if len(got.Existing) > 0 {
		t.Errorf("a duplicate is reported as a conflict: %+v", got.Existing[0])
	}
	want := map[string]int64{}
	for i := range files {
		want[files[i].Path] = files[i].Records()
	}
	if !maps.Equal(got.Replaced, want) {
		t.Errorf("replaced %v, want %v", got.Replaced, want)
	}
	checkDigest(t, h, "a", expect(files))
	checkMarks(t, h, "a", files)
	checkCatalog(t, h, "a", files)
}

// replace loads files with other names that contain different values of some existing records, and new
// records.
func (s *suite) replace(t *testing.T) {
	series := mixedSeries()
	first := Generate(7, 4, series[:len(series)/2]...)
	later := Generate(8, 2, series[len(series)/3:]...)
	h := s.openNew(t)
	mustStore(t, h, "a", first, 4)
	got := mustStore(t, h, "a", later, 1)

	all := append(append([]File(nil), first...), later...)
	want := expect(all)
	if n := want.Records - expect(first).Records; got.New != n {
		t.Errorf("%d records were new, want %d", got.New, n)
	}
	replaced := replacedBy(first, later)
	if !maps.Equal(got.Replaced, replaced) {
		t.Errorf("replaced %v, want %v", got.Replaced, replaced)
	}
	checkDigest(t, h, "a", want)
	checkMarks(t, h, "a", all)
	checkCatalog(t, h, "a", all)
}

// conflicts loads different values of some records, equal values of others, and new records. If different values
// are refused, the commit must store nothing and report all of them.
func (s *suite) conflicts(t *testing.T) {
	series := mixedSeries()
	first := Generate(7, 2, series[:len(series)/2]...)
	later := append(Generate(8, 1, series[len(series)/3:]...), File{Path: "again.stat", Batches: first[1].Batches[:1]})
	later[1].Batches[0] = later[1].Batches[0].Clone()
	later[1].Batches[0].File = later[1].Path
	h := s.openNew(t)
	mustStore(t, h, "a", first, 2)
	existing, incoming := digests(first), digests(later[:1])
	want := map[record.Key]record.Digest{} // digests of existing records that the commit would change
	for k, d := range incoming {
		if stored, ok := existing[k]; ok && stored != d {
			want[k] = stored
		}
	}
	l, err := h.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(archive.ExistingRecord) bool { return true }
	_, err = commitIf(t.Context(), l, "a", later[:1], refuse)
	conflict, ok := errors.AsType[*archive.ConflictError](err)
	if !ok || !maps.Equal(storedDigests(conflict.Records), want) || len(want) == 0 {
		t.Fatalf("the commit of %d conflicts returns %v", len(want), err)
	}
	if c := conflict.Records[0]; !strings.Contains(c.Difference, ", not ") && c.Difference != "the repeating columns differ" {
		t.Errorf("the difference is %q", c.Difference)
	}
	checkDigest(t, h, "a", expect(first))
	checkMarks(t, h, "a", first)
	checkCatalog(t, h, "a", first)

	s.replaceConflicts(t, h, l, first, later, want)
}

// replaceConflicts continues with the loader: the commit must accept equal values, and replace values that may be
// replaced.
func (s *suite) replaceConflicts(
	t *testing.T, h *opened, l archive.Loader, first, later []File, want map[record.Key]record.Digest,
) {
	t.Helper()
	got, err := commitIf(t.Context(), l, "a", later[1:], func(archive.ExistingRecord) bool { return true })
	if err != nil || len(got.Existing) > 0 || got.New > 0 {
		t.Fatalf("a duplicate: %+v, %v", got, err)
	}
	got, err = commitIf(t.Context(), l, "a", later[:1], func(c archive.ExistingRecord) bool { _, ok := want[c.Key]; return !ok })
	if err != nil || !maps.Equal(storedDigests(got.Existing), want) {
		t.Errorf("the commit replaces %d values and reports %d, %v", len(want), len(got.Existing), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	all := append(append([]File(nil), first...), later[1], later[0])
	checkDigest(t, h, "a", expect(all))
	checkMarks(t, h, "a", all)
	checkCatalog(t, h, "a", all)
}

// digests returns the digests of the records of files, by identity.
func digests(files []File) map[record.Key]record.Digest {
	out := map[record.Key]record.Digest{}
	var h record.Hasher
	for _, f := range files {
		for _, b := range f.Batches {
			h.SetBatch(b)
			for i := range b.Len() {
				out[h.RecordKey(i, b.KeepConflicts)] = h.Digest(i)
			}
		}
	}
	return out
}

// storedDigests returns the digests of the stored records, by identity.
func storedDigests(found []archive.ExistingRecord) map[record.Key]record.Digest {
	out := map[record.Key]record.Digest{}
	for _, c := range found {
		out[c.Key] = c.Stored
	}
	return out
}

// replacedBy counts, by file, the records of later whose identity first also contains.
func replacedBy(first, later []File) map[string]int64 {
	known := keys(first)
	out := map[string]int64{}
	for _, f := range later {
		for k := range keys([]File{f}) {
			if _, ok := known[k]; ok {
				out[f.Path]++
			}
		}
	}
	return out
}

// abandon closes a loader that has added records without a commit. No reader may see these records, before or after.
func (s *suite) abandon(t *testing.T) {
	files := Generate(7, 6, mixedSeries()...)
	h := s.openNew(t)
	l, err := h.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commit(t.Context(), l, "a", files[:2]); err != nil {
		t.Fatal(err)
	}
	for _, b := range files[2].Batches {
		if err := l.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	checkDigest(t, h, "a", expect(files[:2])) // nobody sees the records of Add
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkDigest(t, h, "a", expect(files[:2]))
	checkMarks(t, h, "a", files[:2])
	mustStore(t, h, "a", files[2:], 2)
	checkDigest(t, h, "a", expect(files))
}

// nothing commits no records: a file without records also gets a mark.
func (s *suite) nothing(t *testing.T) {
	h := s.openNew(t)
	empty := []File{{Path: "empty.stat"}}
	if got := mustStore(t, h, "a", empty, 1); got.New != 0 {
		t.Errorf("nothing stored %d records", got.New)
	}
	checkMarks(t, h, "a", empty)
	l, err := h.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Commit(t.Context(), archive.Commit{}); err != nil {
		t.Errorf("a commit without catalog and marks: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
