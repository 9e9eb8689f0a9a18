package enginetest

import (
	"errors"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/load"
	"github.com/barograph/barograph/record"
)

// trim removes the records of the first times of one of two subsets. What is
// left is whole, and is asked as it was; the marks stay.
func (s *suite) trim(t *testing.T) {
	files := Generate(7, 6, mixedSeries()...)
	url := s.URL(t)
	h := s.open(t, url, engine.Options{})
	for _, subset := range []string{"a", "b"} {
		mustStore(t, h, subset, files, 3)
	}
	var first, last int64
	for _, f := range files {
		for _, b := range f.Batches {
			for _, v := range b.Valid {
				if first == 0 || v < first {
					first = v
				}
				last = max(last, v)
			}
		}
	}
	keep := time.Duration((last-first)/2) * time.Second
	removed, from, err := load.Retain(t.Context(), h, "a", keep)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Log(err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var want record.Digest
	var hash record.Hasher
	for _, f := range files {
		for _, b := range f.Batches {
			hash.Use(b)
			for i := range b.Len() {
				if b.Valid[i] >= from.Unix() {
					want.Add(hash.Digest(i))
				}
			}
		}
	}
	all := expect(files)
	if want.Records == 0 || want.Records == all.Records || removed != all.Records-want.Records {
		t.Errorf("%d removed, %d of %d should stay", removed, want.Records, all.Records)
	}
	holds(t, h, "a", want)
	holds(t, h, "b", all)
	marked(t, h, "a", files)
	for _, subset := range []string{"a", "b"} {
		if v, err := load.Verify(t.Context(), h, subset); err != nil || len(v.Problems) > 0 {
			t.Errorf("%s: %v, %q", subset, err, v.Problems)
		}
	}
	if removed, _, err := load.Retain(t.Context(), h, "a", keep); removed != 0 || err != nil {
		t.Errorf("once more: %d, %v", removed, err)
	}
	if s.Reopenable { // of a commit that is completed later nothing comes back
		h.close(t)
		h = s.open(t, url, engine.Options{ReadOnly: true})
		holds(t, h, "a", want)
	}
}
