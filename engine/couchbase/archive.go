package couchbase

import (
	"context"
	"errors"
	"iter"

	"github.com/tidwall/gjson"

	"barograph/engine"
	"barograph/engine/docengine"
	"barograph/record"
)

const dumpRows = 4096 // of a batch

// archive is the document archive of a collection.
type archive struct {
	*docengine.Archive
	*store
}

func (a *archive) Close() error { return nil }

// Contents counts the documents and their leads.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	out := engine.Contents{Records: map[string]int64{}, Object: "documents"}
	listed, err := a.IDs(ctx, subset)
	if err != nil {
		return out, err
	}
	for t, ids := range listed {
		err := a.get(ctx, ids, func(_ string, text []byte) error {
			out.Objects++
			out.Records[t] += gjson.GetBytes(text, "data.#").Int()
			return nil
		})
		if err != nil {
			return out, err
		}
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
		listed, err := a.IDs(ctx, s)
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

// errStopped ends a walk whose caller wants no more.
var errStopped = errors.New("stopped")

// Dump reads all listed ids: the key-value service cannot list those that it holds.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		listed, err := a.IDs(ctx, subset)
		if err != nil {
			yield(nil, err)
			return
		}
		for name, ids := range listed {
			t, ok := record.TypeByName(name)
			if !ok {
				yield(nil, errors.New("ids are listed of an unknown line type "+name))
				return
			}
			if err := a.dump(ctx, t, ids, yield); err != nil {
				if err != errStopped { //nolint:errorlint // it is returned as it is
					yield(nil, err)
				}
				return
			}
		}
	}
}

func (a *archive) dump(ctx context.Context, t *record.LineType, ids []string, yield func(*record.Batch, error) bool) error {
	var b record.Batch
	b.Reset(t, "")
	err := a.get(ctx, ids, func(_ string, text []byte) error {
		if b.Len() >= dumpRows {
			if !yield(&b, nil) {
				return errStopped
			}
			b.Reset(t, "")
		}
		return a.Decode(text, &b)
	})
	if err == nil && b.Len() > 0 && !yield(&b, nil) {
		return errStopped
	}
	return err
}
