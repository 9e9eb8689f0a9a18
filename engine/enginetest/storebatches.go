package enginetest

import (
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// StoreBatches stores batches in one commit of a loader, without marks. An error ends the test.
func StoreBatches(t testing.TB, a archive.Archive, subset string, batches ...*record.Batch) archive.CommitResult {
	t.Helper()
	return StoreMarked(t, a, subset, nil, batches...)
}

// StoreMarked stores batches and the marks of complete files in one commit of a loader. An
// error ends the test.
func StoreMarked(
	t testing.TB, a archive.Archive, subset string, complete []archive.Mark, batches ...*record.Batch,
) archive.CommitResult {
	t.Helper()
	l, err := a.Loader(t.Context(), subset)
	if err != nil {
		t.Fatal(err)
	}
	c := archive.Commit{Catalog: design.NewCatalog(subset), Complete: complete}
	for _, b := range batches {
		if err := l.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		c.Catalog.Add(b)
	}
	s, err := l.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}
