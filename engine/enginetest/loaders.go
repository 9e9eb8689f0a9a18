package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// twoLoaders opens two loaders of one subset. Each gets half of the leads of the same series and times. An
// engine that allows one loader at a time must return an error for the second one, which then runs after
// the first.
func (s *suite) twoLoaders(t *testing.T) {
	files := Generate(7, 3, mixedSeries()...)
	h := s.openNew(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // fail instead of waiting forever
	defer stop()
	one, err := h.Loader(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	two, refused := h.Loader(ctx, "a")
	if refused == nil {
		loaders := []archive.Loader{one, two, two}
		add := func(i int) {
			for _, b := range files[i].Batches {
				if err := loaders[i].Add(ctx, b); err != nil {
					t.Fatalf("loader of file %d: %v", i, err)
				}
			}
		}
		add(0)
		add(1)
		for _, i := range []int{1, 0, 2} { // the third must see the records of the second
			if i == 2 {
				add(i)
			}
			c := archive.Commit{Catalog: design.NewCatalog("a"), Complete: []archive.Mark{files[i].Mark()}}
			for _, b := range files[i].Batches {
				c.Catalog.Add(b)
			}
			if _, err := loaders[i].Commit(ctx, c); err != nil {
				t.Fatalf("commit of file %d: %v", i, err)
			}
		}
		for _, l := range []archive.Loader{one, two} {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	} else {
		t.Logf("one loader at a time: %v", refused)
		if _, err := commit(ctx, one, "a", files[:1]); err != nil {
			t.Fatal(err)
		}
		if err := one.Close(); err != nil {
			t.Error(err)
		}
		mustStore(t, h, "a", files[1:], 1)
	}
	checkDigest(t, h, "a", expect(files))
	checkMarks(t, h, "a", files)
	checkCatalog(t, h, "a", files)
}

// reuse overwrites batches after their commit, as a reader that reuses its memory does. The archive must not
// change.
func (s *suite) reuse(t *testing.T) {
	files := Generate(7, 2, mixedSeries()...)
	want := expect(files)
	h := s.openNew(t)
	l, err := h.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commit(t.Context(), l, "a", files); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, b := range f.Batches {
			overwrite(b)
		}
	}
	checkDigest(t, h, "a", want)
	other := Generate(8, 1, caseSeries()[:3]...) // the loader continues with other records
	if _, err := commit(t.Context(), l, "a", other); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want.Add(expect(other))
	checkDigest(t, h, "a", want)
}

// overwrite changes every value of a batch.
func overwrite(b *record.Batch) {
	fill(b.Group, -1)
	for k := range b.Num {
		fill(b.Num[k], -1)
	}
	for k := range b.Text {
		fill(b.Text[k], "overwritten")
	}
	for _, times := range [][]int64{b.Valid, b.ValidEnd, b.ObsBeg, b.ObsEnd} {
		fill(times, 0)
	}
	fill(b.Lead, 0)
	fill(b.ObsLead, 0)
	fill(b.HeaderIndex, 0)
	fill(b.GroupEnd, 0)
	fill(b.Headers, record.DefaultHeader())
}

func fill[T any](values []T, v T) {
	for i := range values {
		values[i] = v
	}
}
