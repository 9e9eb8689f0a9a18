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
	_, err := l.insist(ctx, func(ctx context.Context, t *attempt) (bool, error) { return t.trim(ctx, from) })
	return err
}

func (t *attempt) trim(ctx context.Context, from int64) (bool, error) {
	gone, objects := design.NewCatalog(t.l.subset), 0
	for lt := range Types(t.catalog) {
		ch, err := t.old(ctx, lt, from, gone)
		if err != nil {
			return false, err
		}
		t.changes, objects = append(t.changes, ch), objects+len(ch.IDs)
	}
	if err := t.commit.Note(ctx, t.changes); err != nil {
		return false, err
	}
	for _, ch := range t.changes {
		if err := t.commit.Remove(ctx, ch.Type, ch.IDs); err != nil {
			return false, err
		}
	}
	next := design.NewCatalog(t.l.subset)
	next.Merge(t.catalog)
	next.Trim(from, gone, int64(objects))
	return t.keep(ctx, next, nil)
}

// old finds the documents of a line type with a valid time before from, and counts their
// records in a catalog.
func (t *attempt) old(ctx context.Context, lt *record.LineType, from int64, gone *design.Catalog) (Change, error) {
	ch := Change{Type: lt, There: map[string][]byte{}, Gone: true}
	query := archive.Query{Question: &question.Question{Type: lt, Subset: t.l.subset, Valid: question.Times{First: math.MinInt64, Last: from - 1}}}
	Derive(t.catalog, &query)
	var b record.Batch
	for some := range slices.Chunk(query.Keys, docsAsked) {
		var at placer
		b.Reset(lt, "")
		err := t.commit.Fetch(ctx, lt, some, func(id string, doc []byte) error {
			ch.IDs, ch.There[id] = append(ch.IDs, id), slices.Clone(doc)
			valid, err := at.place(id, &b)
			if err != nil {
				return err
			}
			return Damaged(id, t.l.a.store.Decode(doc, &b, at.head, valid))
		})
		if err != nil {
			return ch, err
		}
		gone.Add(&b)
	}
	return ch, nil
}
