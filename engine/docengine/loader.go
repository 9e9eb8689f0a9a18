package docengine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/record"
)

const (
	docsAsked    = 1000             // ids that one request looks up
	chunkBytes   = 2 << 20          // of documents that one request writes
	chunkDocs    = 1000             // likewise
	undoBytes    = 4 << 20          // of ids and bodies in one undo document
	undoPatience = 20 * time.Second // for taking back a commit that failed
)

// loader collects records and writes them at Commit.
type loader struct {
	a      *Archive
	subset string
	groups design.Groups
	made   map[*record.LineType]bool
}

// Loader opens a loader. Any number may be open; their commits take turns.
func (a *Archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.o.ReadOnly {
		return nil, &fault.Error{Setting: a.o.Shown, Err: engine.ErrReadOnly, Cure: "open it without --read-only"}
	}
	l := &loader{a: a, subset: subset, made: map[*record.LineType]bool{}}
	return l, l.create(ctx)
}

// create makes the subset.
func (l *loader) create(ctx context.Context) error {
	_, rev, err := l.a.loadState(ctx, l.subset)
	if err != nil {
		return err
	}
	if rev == 0 {
		empty, err := design.NewCatalog(l.subset).Encode()
		if err != nil {
			return err
		}
		if _, err := l.a.swapState(ctx, l.subset, &state{Catalog: empty}, 0); err != nil && !errors.Is(err, ErrChanged) {
			return err
		}
	}
	for { // another subset may be made at the same time
		names, rev, err := l.a.subsets(ctx)
		if err != nil {
			return err
		}
		at, found := slices.BinarySearch(names, l.subset)
		if found {
			return nil
		}
		text, err := json.Marshal(slices.Insert(names, at, l.subset))
		if err != nil {
			return err
		}
		if _, err := swapWhole(ctx, l.a.store, subsetsName, text, rev); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

// Add groups the records into documents.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	l.groups.Add(b)
	return ctx.Err()
}

// Close drops what was not committed.
func (l *loader) Close() error {
	l.groups.Reset()
	return nil
}

// Commit stores what was added. The records are dropped whether it succeeds or
// not: a load that failed begins again from its marks.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	stored := engine.Stored{Replaced: map[string]int64{}}
	err := l.a.locked(ctx, l.subset, func(ctx context.Context) error {
		k := &commit{l: l, stored: &stored, by: rand.Text(), there: map[string][]byte{}, fresh: map[string][]string{}}
		err := k.run(ctx, c)
		if err != nil && k.began {
			l.a.takeBack(ctx, l.subset, k.by)
		}
		return err
	})
	return stored, errors.Join(err, l.Close())
}

// takeBack undoes a commit that failed, or leaves that to whoever opens the
// subset next. Where the lock was lost another commit may be under way, which
// has nothing to do with it.
func (a *Archive) takeBack(ctx context.Context, subset, by string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer stop()
	s, _, err := a.loadState(ctx, subset)
	if err == nil && (s.Pending == nil || s.Pending.By != by) {
		return
	}
	if err == nil {
		_, _, err = a.recover(ctx, subset)
	}
	if err != nil {
		a.seen.Delete(subset)
		a.o.Log.Warn("a commit was not taken back; the next open does it", "subset", subset, "error", err)
	}
}

// commit is one commit under way. The lock is held.
type commit struct {
	l       *loader
	stored  *engine.Stored
	by      string // marks the state that this commit writes
	state   *state
	rev     int64
	catalog *design.Catalog     // as it will be
	there   map[string][]byte   // by id: the documents that the commit changes
	fresh   map[string][]string // by line type: the ids that are new, where they are listed
	began   bool                // the state says that it is pending
}

func (k *commit) run(ctx context.Context, c engine.Commit) error {
	a, subset := k.l.a, k.l.subset
	var err error
	if k.state, k.rev, err = a.recover(ctx, subset); err != nil {
		return err
	}
	if k.catalog, err = design.ParseCatalog(k.state.Catalog); err != nil {
		return err
	}
	p := pending{Commit: k.state.Version + 1, By: k.by}
	if err := k.prepare(ctx, &p); err != nil {
		return err
	}
	if p.Parts > 0 {
		k.state.Pending = &p
		k.began = true // even if the swap fails: whether it was done is not known then
		if k.rev, err = a.swapState(ctx, subset, k.state, k.rev); err != nil {
			return err
		}
		for _, t := range k.l.groups.Types() {
			if err := k.write(ctx, t); err != nil {
				return err
			}
		}
	}
	if err := c.Check(k.stored); err != nil {
		return err
	}
	if err := k.finish(ctx, c, p); err != nil {
		return err
	}
	a.forget(ctx, subset, p)
	return nil
}

// prepare looks up what the commit will change and writes it down.
func (k *commit) prepare(ctx context.Context, p *pending) error {
	for _, t := range k.l.groups.Types() {
		if !k.l.made[t] {
			if err := k.l.a.store.Prepare(ctx, k.l.subset, t); err != nil {
				return err
			}
			k.l.made[t] = true
		}
		var ids, maybe []string
		var key []byte
		for doc := range k.l.groups.Docs(t) {
			key = design.AppendKey(key[:0], t, k.l.subset, doc.Header(), doc.Valid())
			ids = append(ids, string(key))
			if k.catalog.Holding(t, doc.Header()).MayHold(doc.Valid()) {
				maybe = append(maybe, string(key))
			}
		}
		for some := range slices.Chunk(maybe, docsAsked) {
			err := k.l.a.store.Fetch(ctx, k.l.subset, t, some, func(id string, doc []byte) error {
				k.there[id] = bytes.Clone(doc)
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := k.note(ctx, t, ids, p); err != nil {
			return err
		}
	}
	return nil
}

// note writes the undo documents of a line type.
func (k *commit) note(ctx context.Context, t *record.LineType, ids []string, p *pending) error {
	u := undo{Type: t.Name}
	flush := func() error {
		text, err := json.Marshal(&u)
		if err != nil {
			return err
		}
		if err := k.l.a.store.Put(ctx, undoName(k.l.subset, *p, p.Parts), text); err != nil {
			return err
		}
		p.Parts++
		u = undo{Type: t.Name}
		return nil
	}
	for _, id := range ids {
		if _, ok := k.there[id]; !ok && k.l.a.o.List {
			k.fresh[t.Name] = append(k.fresh[t.Name], id)
		}
		if body, ok := k.there[id]; ok {
			u.Old = append(u.Old, oldDoc{id, body})
			u.size += len(id) + len(body)*4/3
		} else {
			u.New = append(u.New, id)
			u.size += len(id)
		}
		if u.size >= undoBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if u.size == 0 {
		return nil
	}
	return flush()
}

// write writes the documents of a line type, merged with those that are there.
// A request that was sent is waited for, whatever happens to ctx: what a broken
// one still does on the server could not be taken back.
func (k *commit) write(ctx context.Context, t *record.LineType) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(k.l.a.o.Writers, 1))
	var chunk []Document
	size := 0
	send := func() {
		docs := chunk
		chunk, size = nil, 0
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return k.l.a.store.Write(context.WithoutCancel(ctx), k.l.subset, t, docs)
		})
	}
	var have, merged record.Batch
	var key []byte
	var failure error
	for doc := range k.l.groups.Docs(t) {
		if failure = ctx.Err(); failure != nil {
			break
		}
		key = design.AppendKey(key[:0], t, k.l.subset, doc.Header(), doc.Valid())
		id := string(key)
		rows := doc.Rows
		body, old := k.there[id]
		k.stored.New += int64(doc.Rows.Len())
		if old {
			have.Reset(t, "")
			if failure = k.l.a.store.Decode(body, &have); failure != nil {
				break
			}
			design.Merge(&merged, &have, doc, func(i, j int) { k.stored.Meet(doc.From[j], &have, i, doc.Rows, j) })
			rows = &merged
		}
		d := Document{ID: id, Body: k.l.a.store.Append(nil, k.l.subset, id, rows), Fresh: !old}
		chunk, size = append(chunk, d), size+len(d.Body)
		if size >= chunkBytes || len(chunk) >= chunkDocs {
			send()
		}
	}
	if len(chunk) > 0 && failure == nil {
		send()
	}
	if err := group.Wait(); err != nil && failure == nil {
		failure = err
	}
	return failure
}

// finish makes the commit count.
func (k *commit) finish(ctx context.Context, c engine.Commit, p pending) error {
	a, subset := k.l.a, k.l.subset
	if len(c.Done) > 0 {
		for i := range c.Done {
			c.Done[i].Settle(*k.stored)
		}
		text, err := json.Marshal(c.Done)
		if err != nil {
			return err
		}
		if err := a.store.Put(ctx, marksName(subset, p.Commit), text); err != nil {
			return err
		}
		k.state.Marked = append(k.state.Marked, p.Commit)
	}
	if len(k.fresh) > 0 {
		text, err := json.Marshal(k.fresh)
		if err != nil {
			return err
		}
		if err := a.store.Put(ctx, idsName(subset, p.Commit), text); err != nil {
			return err
		}
		k.state.Listed = append(k.state.Listed, p.Commit)
	}
	if c.Catalog != nil {
		k.catalog.Merge(c.Catalog)
	}
	k.catalog.Subset = subset
	text, err := k.catalog.Encode()
	if err != nil {
		return err
	}
	k.state.Version, k.state.By, k.state.Catalog, k.state.Pending = p.Commit, k.by, text, nil
	if _, err := a.swapState(ctx, subset, k.state, k.rev); err != nil {
		if k.counts(ctx) {
			return nil
		}
		return err
	}
	return nil
}

// counts reports, after a swap that failed, whether it was done all the same.
func (k *commit) counts(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer stop()
	s, _, err := k.l.a.loadState(ctx, k.l.subset)
	return err == nil && s.By == k.by
}
