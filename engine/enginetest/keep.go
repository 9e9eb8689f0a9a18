package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
)

// keep loads, with Keep set, different values of existing records. All of them must be stored, every flavour's
// answers must contain all of them, and none may be stored twice. An archive that stores only one record of an
// identity must refuse that before the load reads a file.
func (s *suite) keep(t *testing.T) {
	h := s.openNew(t)
	if why := archive.OneOfEach(h.Archive); why != "" {
		_, err := load.Run(t.Context(), h.Archive, "a", nil, load.Options{OnConflict: load.Keep})
		if err == nil || !hasCure(err) || !strings.Contains(err.Error(), why) {
			t.Errorf("to keep all, where %s: %v", why, err)
		}
		return
	}
	series := mixedSeries()
	first, later := keepingConflicts(Generate(7, 2, series...)), keepingConflicts(Generate(8, 1, series[len(series)/2:]...))
	all := slices.Concat(first, later)
	twice := File{Path: "both.stat", Batches: slices.Concat(first[0].Batches, later[0].Batches)}
	l, err := h.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := commit(t.Context(), l, "a", first); err != nil || got.New != expect(first).Records {
		t.Fatalf("the first commit: %+v, %v", got, err)
	}
	reported := s.commitConflicts(t, l, later)
	checkDigest(t, h, "a", expect(first))
	got, err := commitIf(t.Context(), l, "a", later, func(c archive.ExistingRecord) bool { return !reported[c] })
	if n := expect(later).Records; err != nil || got.New != n || len(got.Replaced) > 0 || len(reported) == 0 {
		t.Errorf("%d records must be kept in addition to others: %+v, %v", n, got, err)
	}
	s.commitDuplicates(t, l, []File{twice})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	checkDigest(t, h, "a", expect(all))
	checkMarks(t, h, "a", all)
	checkCatalog(t, h, "a", all)
	for _, name := range []string{"SL1L2", "PCT"} {
		s.prove(t, h, all, everything("a", lineType(name)))
	}
	s.prove(t, h, all, theCases(t, "cases")...)
}

// keepingConflicts adds the records of files next to existing ones.
func keepingConflicts(files []File) []File {
	for _, f := range files {
		for _, b := range f.Batches {
			b.KeepConflicts = true
		}
	}
	return files
}

// commitConflicts commits files whose records must not be stored in addition to existing ones. It returns the
// reported records.
func (s *suite) commitConflicts(t *testing.T, l archive.Loader, files []File) map[archive.ExistingRecord]bool {
	t.Helper()
	_, err := commitIf(t.Context(), l, "a", files, func(archive.ExistingRecord) bool { return true })
	conflict, ok := errors.AsType[*archive.ConflictError](err)
	if !ok {
		t.Fatalf("records that must not be stored in addition to others: %v", err)
	}
	out := map[archive.ExistingRecord]bool{}
	for _, c := range conflict.Records {
		if c.IsDuplicate() || c.Difference == "" {
			t.Errorf("different values are reported as a duplicate: %+v", c)
		}
		out[c] = true
	}
	return out
}

// commitDuplicates commits existing records, two of some identities, and allows everything: each must be reported, and none
// stored.
func (s *suite) commitDuplicates(t *testing.T, l archive.Loader, files []File) {
	t.Helper()
	_, err := commitIf(t.Context(), l, "a", files, func(archive.ExistingRecord) bool { return false })
	conflict, ok := errors.AsType[*archive.ConflictError](err)
	if !ok {
		t.Fatalf("a duplicate: %v", err)
	}
	var same int64
	for _, c := range conflict.Records {
		if c.IsDuplicate() {
			same++
		}
	}
	if want := expect(files).Records; same != want {
		t.Errorf("%d records exist already, %d are reported", want, same)
	}
}
