package couchbase

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// archive is the document archive of a collection.
type archive struct {
	*docengine.Archive
	*store
	locked *docengine.Locked
}

// Loader makes the indexes before anything is loaded: an archive all of whose
// files are there already may lack them.
func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	if err := a.Prepare(ctx, subset, nil); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Contents counts the documents and, by sub-document look-ups, their leads: no
// document is sent.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	out := engine.Contents{Records: map[string]int64{}, Object: "documents"}
	listed, err := a.locked.IDs(ctx, subset)
	if err != nil {
		return out, err
	}
	for t, ids := range listed {
		var objects, records atomic.Int64
		err := a.many(ctx, ids, func(ctx context.Context, id string) error {
			n, err := a.leads(ctx, id)
			if err == nil {
				objects.Add(1)
				records.Add(n)
			}
			return err
		})
		if err != nil {
			return out, err
		}
		out.Objects += objects.Load()
		out.Records[t] += records.Load()
	}
	return out, nil
}

// Size is the bytes of all documents before the server compresses them; what a
// bucket takes on disk is told by the cluster's management alone.
func (a *archive) Size(ctx context.Context) (int64, error) {
	subsets, err := a.Subsets(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, s := range subsets {
		listed, err := a.locked.IDs(ctx, s)
		if err != nil {
			return 0, err
		}
		for _, ids := range listed {
			err := a.get(ctx, ids, func(id string, text []byte) error {
				total += int64(len(keyOf(id)) + len(text))
				return nil
			})
			if err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}

// Dump reads all listed ids: the key-value service cannot list those that it holds.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	var listed map[string][]string
	return a.Archive.Dump(ctx, subset, func(t *record.LineType, each func(id string, doc []byte) error) (err error) {
		if listed == nil {
			if listed, err = a.locked.IDs(ctx, subset); err != nil {
				return err
			}
		}
		return a.get(ctx, listed[t.Name], each)
	})
}
