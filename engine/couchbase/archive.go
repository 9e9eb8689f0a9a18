package couchbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/couchbase/gocbcore/v10"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openArchive is the document archive of a collection.
type openArchive struct {
	*docengine.Archive
	*store
	locked *docengine.LockedStore
}

// Loader also creates the indexes: an archive that contains all files of a load may still lack them.
func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	if err := a.Prepare(ctx, subset, nil); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Contents counts the listed documents that exist and, with sub-document look-ups, their leads. The server sends no
// document.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	out := archive.Contents{Records: map[string]int64{}, Object: "documents"}
	listed, err := a.locked.IDs(ctx, subset)
	if err != nil {
		return out, err
	}
	for t, ids := range listed {
		var objects, records atomic.Int64
		err := a.forEach(ctx, ids, func(ctx context.Context, id string) error {
			n, err := a.leads(ctx, id)
			switch {
			case errors.Is(err, gocbcore.ErrDocumentNotFound): // it was removed after it was listed
				return nil
			case err == nil:
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

// Size returns the bytes of all documents before the server compresses them. Only the cluster's management
// reports a bucket's size on disk. For archives of earlier versions it reads all documents.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	subsets, err := a.Subsets(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, s := range subsets {
		n, known, err := a.locked.Bytes(ctx, s)
		if err != nil {
			return 0, err
		}
		if !known {
			n, err = a.measure(ctx, s)
		}
		if total += n; err != nil {
			return 0, err
		}
	}
	return total, nil
}

// measure reads all documents of a subset to compute their size.
func (a *openArchive) measure(ctx context.Context, subset string) (total int64, err error) {
	listed, err := a.locked.IDs(ctx, subset)
	for _, ids := range listed {
		if err == nil {
			err = a.get(ctx, ids, func(id string, text []byte) error {
				total += int64(len(id) + len(text))
				return nil
			})
		}
	}
	return total, err
}

// Dump reads all listed ids, because the key-value service cannot list its documents.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
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

// Phrase writes the statement, or derives the ids.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	out, c, err := a.NewQuery(ctx, Driver(), design.Document, q, f)
	if err != nil {
		return nil, err
	}
	if f == flavour.Keys || f == flavour.KeysNative {
		out.Args = []any{docengine.Derive(c, out)}
	}
	switch f {
	case flavour.KeysNative:
		out.Text = fmt.Sprintf("get %d derived ids by bulk requests, %d at a time", len(out.Keys), a.inFlight)
		return out, nil
	case flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys:
		if _, err := a.version(ctx); errors.Is(err, gocbcore.ErrServiceNotAvailable) {
			return nil, fmt.Errorf("couchbase, %s: the cluster has no query service: %w", f, flavour.ErrCannotExpress)
		} else if err != nil {
			return nil, engine.CallError(ctx, fmt.Errorf("couchbase: the query service does not answer: %w", err))
		}
		p := phrase{keyspace: a.keyspace(), q: q, flavour: f, catalog: c}
		out.Text, err = p.text()
		return out, err
	}
	return nil, fmt.Errorf("couchbase, %s: %w", f, flavour.ErrCannotExpress)
}

// Ask gets the documents by their ids, or sends the statement to the query service.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if q.Flavour == flavour.KeysNative {
		return a.gather(ctx, q, into)
	}
	o := a.options(q)
	into.Reset(q.Question.Columns)
	add := func(row []byte) error { return decodeRow(row, q.Question.Columns, into) }
	serverTime, err := a.docs.query(ctx, q.Text, o, add)
	if err != nil {
		return engine.CallError(ctx, err)
	}
	q.ServerTime = serverTime
	a.recordWait(q.Text, o.consistency)
	return nil
}

// statementConsistency returns the consistency for a statement.
func (d *database) statementConsistency(text string) consistency {
	if d.consistency != once {
		return d.consistency
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.answered[xxh3.HashString128(text)] {
		return notBounded
	}
	return requestPlus
}

// recordWait records that a statement was answered after the indexes had all writes.
func (d *database) recordWait(text string, level consistency) {
	if d.consistency != once || level != requestPlus {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.answered == nil {
		d.answered = map[xxh3.Uint128]bool{}
	}
	d.answered[xxh3.HashString128(text)] = true
}

// recordWrite makes every statement wait for the indexes again.
func (d *database) recordWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answered = nil
}

func (a *openArchive) options(q *archive.Query) statement {
	o := statement{readOnly: true, consistency: a.statementConsistency(q.Text), prepare: true}
	if q.Flavour == flavour.Keys {
		o.keys = make([]string, len(q.Keys))
		for i, id := range q.Keys {
			o.keys[i] = keyOf(id)
		}
	}
	return o
}

// explainStatement returns the statement that requests the plan, and its options. The SDK must not prepare it,
// because PREPARE … EXPLAIN is not valid. A plan does not wait for indexes.
func (a *openArchive) explainStatement(q *archive.Query) (string, statement) {
	o := a.options(q)
	o.prepare, o.consistency = false, notBounded
	return "EXPLAIN " + q.Text, o
}

// gather reads documents with bulk requests, keeps the selected records and restores the order.
func (a *openArchive) gather(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	p, err := docengine.Plan[*docengine.Lookup](q)
	if err != nil {
		return err
	}
	return a.Answer(q.Question, p.Headers, into, func(rows *record.Batch) error {
		var all record.Batch
		m, k := answer.NewMatcher(q.Question), 0
		return a.get(ctx, q.Keys, func(id string, text []byte) error {
			for q.Keys[k] != id { // the keys before it have no document
				k++
			}
			place := p.Places[k]
			all.Reset(q.Question.Type, "")
			if err := a.Decode(text, &all, place.Head, place.Valid); err != nil {
				return docengine.DocumentError(id, err)
			}
			for i := range all.Len() {
				if m.Times(all.Valid[i], all.Lead[i]) {
					rows.AppendRow(&all, i, place.Head)
				}
			}
			return nil
		})
	})
}

// Explain requests the plan of a statement.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	table := design.DocTable(q.Question.Type)
	exists, err := a.HasType(ctx, q.Question.Subset, q.Question.Type)
	switch {
	case err != nil || !exists:
		return docengine.EmptyPlan(q), err
	case q.Flavour == flavour.KeysNative:
		return archive.Plan{
			Text:   q.Text + ", decode them, restore the order",
			Access: []archive.Access{{Object: table, Method: archive.KeyLookup, Examined: int64(len(q.Keys)), Kept: -1}},
		}, ctx.Err()
	}
	var plan []byte
	text, o := a.explainStatement(q)
	keep := func(row []byte) error { plan = bytes.Clone(row); return nil }
	if _, err := a.docs.query(ctx, text, o, keep); err != nil {
		return archive.Plan{}, engine.CallError(ctx, err)
	}
	return archive.Plan{Text: string(plan), Access: accesses(table, plan)}, nil
}
