package pebble

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// docStore implements docengine.Store: a commit is a batch.
type docStore struct {
	docengine.Payloads
	*store
}

// Subsets lists the subsets with a catalog.
func (d docStore) Subsets(ctx context.Context) (names []string, err error) {
	err = d.scanPrefix(ctx, []byte(catalogPrefix), func(key, _ []byte) error {
		name, err := url.QueryUnescape(string(key[len(catalogPrefix):]))
		names = append(names, name)
		return err
	})
	return names, err
}

// Describe reads the catalog, which no other process can change. Its version is the number of commits since
// the store was opened, plus 1.
func (d docStore) Describe(ctx context.Context, subset string, known int64) (int64, []byte, error) {
	d.mu.RLock()
	version := 1 + d.commits[subset]
	d.mu.RUnlock()
	if err := ctx.Err(); err != nil || version == known {
		return version, nil, err
	}
	text, ok, err := d.get(catalogKey(subset))
	if err != nil || !ok {
		return 0, nil, err
	}
	return version, text, nil
}

// Marks lists the loaded files.
func (d docStore) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	marks, _, err := d.marksAndNext(ctx, subset)
	return marks, err
}

// marksAndNext is Marks, and returns the number of the next mark.
func (d docStore) marksAndNext(ctx context.Context, subset string) ([]archive.Mark, int64, error) {
	var all []docengine.NumberedMark
	err := d.scanPrefix(ctx, markKey(subset, ""), func(_, value []byte) error {
		m, err := docengine.ParseNumberedMark(value)
		all = append(all, m)
		return err
	})
	marks, next := docengine.SortMarks(all)
	return marks, next, err
}

// MarksOf returns the existing marks of files.
func (d docStore) MarksOf(ctx context.Context, subset string, files []archive.Mark) ([]archive.Mark, error) {
	var all []docengine.NumberedMark
	for i := range files {
		text, ok, err := d.get(markKey(subset, files[i].Digest))
		if err == nil && ok {
			var m docengine.NumberedMark
			m, err = docengine.ParseNumberedMark(text)
			all = append(all, m)
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
	}
	marks, _ := docengine.SortMarks(all)
	return marks, nil
}

// Create does nothing: a subset needs no preparation.
func (docStore) Create(context.Context, string) error { return nil }

// batch is a commit in flight.
type batch struct {
	docStore
	subset string
	*pebble.Batch
}

// Begin starts a batch.
func (d docStore) Begin(ctx context.Context, subset string) (context.Context, docengine.Commit, error) {
	return ctx, &batch{d, subset, d.db.NewBatch()}, ctx.Err()
}

func (b *batch) Fetch(ctx context.Context, _ *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	for _, id := range ids {
		value, closer, err := b.db.Get([]byte(id))
		if err == pebble.ErrNotFound { //nolint:errorlint // Get returns the sentinel itself
			continue
		}
		if err == nil {
			err = each(id, value)
			joinClose(&err, closer)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Announce does nothing: a batch is atomic.
func (*batch) Announce(context.Context, []docengine.Change) error { return nil }

func (b *batch) Write(ctx context.Context, _ *record.LineType, docs []docengine.Document) error {
	for i := range docs {
		if err := b.Set([]byte(docs[i].ID), docs[i].Body, nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Remove removes pairs.
func (b *batch) Remove(ctx context.Context, _ *record.LineType, ids []string) error {
	for _, id := range ids {
		if err := b.Delete([]byte(id), nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Publish applies and syncs the batch.
func (b *batch) Publish(ctx context.Context, catalog []byte, done []archive.Mark) (int64, error) {
	if err := b.Set(catalogKey(b.subset), catalog, nil); err != nil {
		return 0, err
	}
	if err := b.mark(ctx, done); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := b.write(func() error { return b.db.Apply(b.Batch, pebble.Sync) }); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commits[b.subset]++
	return 1 + b.commits[b.subset], nil
}

// mark adds the marks to the batch, numbered after the existing ones.
func (b *batch) mark(ctx context.Context, done []archive.Mark) error {
	if len(done) == 0 {
		return nil
	}
	next, err := b.next(ctx)
	for i := 0; i < len(done) && err == nil; i++ {
		var text []byte
		if text, err = json.Marshal(docengine.NumberedMark{Number: next + int64(i), Mark: done[i]}); err == nil {
			err = b.Set(markKey(b.subset, done[i].Digest), text, nil)
		}
	}
	if err != nil {
		return err
	}
	return b.Set(nextKey(b.subset), strconv.AppendInt(nil, next+int64(len(done)), 10), nil)
}

// next returns the number of the next mark. In an archive of an earlier version, which does not store it, next reads
// all marks.
func (b *batch) next(ctx context.Context) (int64, error) {
	text, _, err := b.get(nextKey(b.subset))
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, nil
	}
	_, n, err := b.marksAndNext(ctx, b.subset)
	return n, err
}

// End frees the batch's memory, unless the disk failed: then the abandoned goroutine that applies the batch still
// uses it.
func (b *batch) End(_ context.Context, _ bool, err error) error {
	select {
	case <-b.failure.done:
	default:
		joinClose(&err, b.Batch)
	}
	return err
}
