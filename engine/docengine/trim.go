package docengine

import (
	"context"
	"math"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Trim removes the documents with a valid time before from. The catalog gives their ids.
func (l *loader) Trim(ctx context.Context, from int64) error {
	_, err := l.retry(ctx, func(ctx context.Context, t *attempt) (bool, error) { return t.trim(ctx, from) })
	return err
}

func (t *attempt) trim(ctx context.Context, from int64) (bool, error) {
	removed, objects := design.NewCatalog(t.l.subset), 0
	for lt := range Types(t.catalog) {
		ch, err := t.documentsBefore(ctx, lt, from, removed)
		if err != nil {
			return false, err
		}
		t.changes, objects = append(t.changes, ch), objects+len(ch.IDs)
	}
	if err := t.commit.Announce(ctx, t.changes); err != nil {
		return false, err
	}
	for _, ch := range t.changes {
		if err := t.commit.Remove(ctx, ch.Type, ch.IDs); err != nil {
			return false, err
		}
	}
	next := design.NewCatalog(t.l.subset)
	next.Merge(t.catalog)
	next.Trim(from, removed, int64(objects))
	return t.publishCatalog(ctx, next, nil)
}

// documentsBefore finds the documents of a line type with a valid time before from, and counts their
// records in a catalog.
func (t *attempt) documentsBefore(ctx context.Context, lt *record.LineType, from int64, removed *design.Catalog) (Change, error) {
	ch := Change{Type: lt, Existing: map[string][]byte{}, Removed: true}
	query := archive.Query{Question: &question.Question{Type: lt, Subset: t.l.subset, Valid: question.Times{First: math.MinInt64, Last: from - 1}}}
	Derive(t.catalog, &query)
	var b record.Batch
	for some := range slices.Chunk(query.Keys, idsPerRequest) {
		var headers headerAdder
		b.Reset(lt, "")
		err := t.commit.Fetch(ctx, lt, some, func(id string, doc []byte) error {
			ch.IDs, ch.Existing[id] = append(ch.IDs, id), slices.Clone(doc)
			return headers.decode(t.l.a.store, id, doc, &b)
		})
		if err != nil {
			return ch, err
		}
		removed.Add(&b)
	}
	return ch, nil
}
