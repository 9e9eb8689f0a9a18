package pebble

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"barograph/design"
	"barograph/engine"
	"barograph/record"
)

// Loader opens a loader. Any number may be open; their commits take turns.
func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.readOnly {
		return nil, fmt.Errorf("%s: %w", a.dir, engine.ErrReadOnly)
	}
	return &loader{store: a.store, subset: subset}, ctx.Err()
}

type loader struct {
	store  *store
	subset string
	groups design.Groups

	key, payload []byte // of the document under way
	have, merged record.Batch
}

// Add groups the records into documents.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	l.groups.Add(b)
	return ctx.Err()
}

// Commit merges the documents with those that are there and writes pairs,
// catalog and marks in one batch, which is synced.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	return guarded(l.store, func() (engine.Stored, error) { return l.commit(ctx, c) })
}

func (l *loader) commit(ctx context.Context, c engine.Commit) (stored engine.Stored, err error) {
	defer l.reset()
	stored.Replaced = map[string]int64{}
	if err := ctx.Err(); err != nil {
		return stored, err
	}
	s := l.store
	s.commit.Lock()
	defer s.commit.Unlock()
	batch := s.db.NewBatch()
	defer closing(&err, batch)

	known, err := s.catalog(l.subset)
	if err != nil {
		return stored, err
	}
	for _, t := range l.groups.Types() {
		if err := l.documents(ctx, batch, t, known, &stored); err != nil {
			return stored, err
		}
	}
	if err := c.Check(&stored); err != nil {
		return stored, err
	}
	catalog, err := l.describe(batch, known, &c, &stored)
	if err != nil {
		return stored, err
	}
	if err := l.mark(ctx, batch, c.Done, stored); err != nil {
		return stored, err
	}
	if err := ctx.Err(); err != nil {
		return stored, err
	}
	if err := s.db.Apply(batch, pebble.Sync); err != nil {
		return stored, err
	}
	s.mu.Lock()
	s.catalogs[l.subset] = catalog
	s.mu.Unlock()
	return stored, nil
}

// documents puts the documents of one line type into the batch.
func (l *loader) documents(ctx context.Context, batch *pebble.Batch, t *record.LineType, known *design.Catalog, stored *engine.Stored) error {
	n := 0
	for doc := range l.groups.Docs(t) {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l.key = design.AppendKey(l.key[:0], t, l.subset, doc.Header(), doc.Valid())
		rows, err := l.merge(t, doc, known, stored)
		if err != nil {
			return err
		}
		l.payload = design.AppendPayload(l.payload[:0], rows, 0, rows.Len())
		if err := batch.Set(l.key, l.payload, nil); err != nil {
			return err
		}
		stored.New += int64(doc.Rows.Len())
	}
	return nil
}

// merge returns the document's records, merged with those that the store holds.
func (l *loader) merge(t *record.LineType, doc *design.Doc, known *design.Catalog, stored *engine.Stored) (rows *record.Batch, err error) {
	if known == nil {
		stored.Objects++
		return doc.Rows, nil // the first commit of the subset
	}
	value, closer, err := l.store.db.Get(l.key)
	if err == pebble.ErrNotFound { //nolint:errorlint // Get returns it as it is, and this is the common case
		stored.Objects++
		return doc.Rows, nil
	}
	if err != nil {
		return nil, err
	}
	defer closing(&err, closer)
	l.have.Reset(t, "")
	if err := design.DecodePayload(value, &l.have, l.have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return nil, damaged(l.key, err)
	}
	design.Merge(&l.merged, &l.have, doc, func(i, j int) { stored.Meet(doc.From[j], &l.have, i, doc.Rows, j) })
	return &l.merged, nil
}

// describe puts the merged catalog into the batch.
func (l *loader) describe(batch *pebble.Batch, known *design.Catalog, c *engine.Commit, stored *engine.Stored) (*design.Catalog, error) {
	catalog := design.NewCatalog(l.subset)
	if known != nil {
		catalog.Merge(known)
	}
	c.Describe(catalog, stored)
	text, err := catalog.Encode()
	if err != nil {
		return nil, err
	}
	return catalog, batch.Set(catalogKey(l.subset), text, nil)
}

// mark settles the marks and puts them into the batch.
func (l *loader) mark(ctx context.Context, batch *pebble.Batch, done []engine.Mark, stored engine.Stored) error {
	if len(done) == 0 {
		return nil
	}
	before, err := l.store.marks(ctx, l.subset)
	if err != nil {
		return err
	}
	var next int64
	if n := len(before); n > 0 {
		next = before[n-1].Number + 1
	}
	for i := range done {
		done[i].Settle(stored)
		text, err := json.Marshal(numbered{Number: next + int64(i), Mark: done[i]})
		if err != nil {
			return err
		}
		if err := batch.Set(markKey(l.subset, done[i].Digest), text, nil); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) reset() {
	l.groups.Reset()
}

// Close drops what was not committed.
func (l *loader) Close() error {
	l.reset()
	return nil
}
