package enginetest

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/query/question"
)

// empty tests missing data: an empty archive, and a subset that does not exist.
func (s *suite) empty(t *testing.T) {
	h := s.openNew(t)
	t.Run("empty archive", func(t *testing.T) { s.checkEmpty(t, h, "nowhere") })
	t.Run("unknown subset", func(t *testing.T) {
		mustStore(t, h, "a", Generate(7, 2, mixedSeries()[:4]...), 2)
		s.checkEmpty(t, h, "nowhere")
		if names, err := h.Subsets(t.Context()); err != nil || !slices.Equal(names, []string{"a"}) {
			t.Errorf("the subsets are %q, %v", names, err)
		}
	})
	t.Run("unknown line type", func(t *testing.T) {
		s.prove(t, h, nil, everything("a", lineType("SSVAR")))
	})
}

// checkEmpty checks that a subset has no records and returns none.
func (s *suite) checkEmpty(t *testing.T, h *opened, subset string) {
	t.Helper()
	d, err := dump(t.Context(), h, subset)
	if err != nil || d.Records != 0 {
		t.Errorf("dump: %s, %v", d, err)
	}
	if c, err := h.Contents(t.Context(), subset); err != nil || c.Total() != 0 || c.Objects != 0 {
		t.Errorf("contents: %+v, %v", c, err)
	}
	if m, err := h.Marks(t.Context(), subset); err != nil || len(m) != 0 {
		t.Errorf("marks: %v, %v", m, err)
	}
	if c, err := h.Catalog(t.Context(), subset); err != nil || c == nil || len(c.Groups) != 0 || c.Subset != subset {
		t.Errorf("catalog: %+v, %v", c, err)
	}
	if _, err := h.Size(t.Context()); err != nil {
		t.Errorf("size: %v", err)
	}
	s.prove(t, h, nil, append(theCases(t, subset), everything(subset, lineType("SL1L2")))...)
}

// subsets tests several copies in one archive: they must not mix.
func (s *suite) subsets(t *testing.T) {
	t.Run("two subsets do not mix", func(t *testing.T) {
		h := s.openNew(t)
		one, two := Generate(7, 3, mixedSeries()...), Generate(8, 2, mixedSeries()[3:]...)
		mustStore(t, h, "a", one[:2], 1)
		mustStore(t, h, "b", two, 2)
		mustStore(t, h, "a", one[2:], 1)
		for subset, files := range map[string][]File{"a": one, "b": two} {
			checkDigest(t, h, subset, expect(files))
			checkMarks(t, h, subset, files)
			checkCatalog(t, h, subset, files)
			q := everything(subset, lineType("CTC"))
			q.Valid = question.Times{First: newYear2018, Last: newYear2018 + day, Step: 6 * hour}
			s.prove(t, h, files, q)
		}
	})
	t.Run("growth by copies", func(t *testing.T) {
		h := s.openNew(t)
		files := Generate(7, 2, mixedSeries()[:6]...)
		want := []string{"copy_1", "copy_10", "copy_2"}
		for _, subset := range want {
			mustStore(t, h, subset, files, 2)
		}
		for _, subset := range want {
			checkDigest(t, h, subset, expect(files))
			s.prove(t, h, files, everything(subset, lineType("SL1L2")))
		}
		if names, err := h.Subsets(t.Context()); err != nil || !slices.Equal(names, want) {
			t.Errorf("the subsets are %q, %v; want %q", names, err, want)
		}
	})
	t.Run("awkward names", s.awkwardSubsets)
}

// awkwardSubsets loads different values under each of several awkward names. Names that differ only in case
// are two subsets; an engine that cannot separate them must refuse the second one.
func (s *suite) awkwardSubsets(t *testing.T) {
	names := []string{
		"copy", "COPY", "it's", `a"b`, `a\b`, "a::b", "a/b", "a.b", "a;b", "100%", "two words", "é🌀", "select", "main",
		"$1", "--",
	}
	if s.thin() { // each commit takes a second
		names = []string{"copy", "COPY", `it's a"b\c`, "a::b/c.d;e", "100% two words", "é🌀", "select", "$1 --"}
	}
	h := s.openNew(t)
	loaded := map[string][]File{}
	for i, name := range names {
		files := Generate(uint64(100+i), 1, mixedSeries()[:2]...)
		if _, err := store(t.Context(), h, name, files, 1); err != nil {
			if name != "COPY" {
				t.Errorf("subset %q: %v", name, err)
			}
			continue
		}
		loaded[name] = files
	}
	for name, files := range loaded {
		checkDigest(t, h, name, expect(files))
		s.prove(t, h, files, everything(name, lineType("SL1L2")))
	}
	got, err := h.Subsets(t.Context())
	if err != nil || len(got) != len(loaded) || !slices.IsSorted(got) {
		t.Errorf("the subsets are %q, %v", got, err)
	}
}
