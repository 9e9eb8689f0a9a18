package docengine

import (
	"context"
	"slices"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

const (
	idsPerRequest = 1000    // ids in one request
	chunkBytes    = 2 << 20 // bytes of documents in one write request
	chunkDocs     = 1000    // documents in one write request
)

// loader collects records and writes them at Commit.
type loader struct {
	a      *Archive
	subset string
	groups design.Groups

	marks   []archive.Mark // marks of the archive, as of version
	version int64          // 0 = the loader must read them
}

// Loader opens a loader. Any number of loaders may be open; their commits take turns.
func (a *Archive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if a.o.ReadOnly {
		return nil, &fault.Error{Setting: a.o.Shown, Err: engine.ErrReadOnly, Cure: "open it for writing"}
	}
	if err := a.store.Create(ctx, subset); err != nil {
		return nil, err
	}
	return &loader{a: a, subset: subset}, ctx.Err()
}

// Add groups the records into documents.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	l.groups.Add(b)
	return ctx.Err()
}

// Close drops the records that were not committed.
func (l *loader) Close() error {
	l.groups.Reset()
	return nil
}

// turn waits until no other loader of this process commits to the subset. Concurrent commits
// of one process would only wait for each other's lock.
func (a *Archive) turn(ctx context.Context, subset string) (done func(), err error) {
	v, _ := a.turns.LoadOrStore(subset, make(chan struct{}, 1))
	turn, _ := v.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Commit stores the added records. It drops them even if it fails: the caller loads again,
// starting from the marks. If another loader committed first, Commit starts again.
func (l *loader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	defer l.Close() //nolint:errcheck // drop the records after success and failure
	return l.retry(ctx, func(ctx context.Context, t *attempt) (bool, error) { return t.run(ctx, &c) })
}

// retry repeats do until it reports that the commit is visible.
func (l *loader) retry(ctx context.Context, do func(context.Context, *attempt) (bool, error)) (archive.CommitResult, error) {
	done, err := l.a.turn(ctx, l.subset)
	if err != nil {
		return archive.CommitResult{}, err
	}
	defer done()
	for {
		t := attempt{l: l, stored: archive.CommitResult{Replaced: map[string]int64{}}}
		visible, err := t.try(ctx, do)
		if err != nil || visible {
			return t.stored, engine.CallError(ctx, err)
		}
	}
}

// attempt is one attempt to commit.
type attempt struct {
	l       *loader
	commit  Commit
	catalog *design.Catalog // before the commit
	changes []Change
	stored  archive.CommitResult
}

func (t *attempt) try(ctx context.Context, do func(context.Context, *attempt) (bool, error)) (visible bool, err error) {
	lockCtx, commit, err := t.l.a.store.Begin(ctx, t.l.subset)
	if err != nil {
		return false, err
	}
	t.commit = commit
	if t.catalog, err = t.l.a.CachedCatalog(lockCtx, t.l.subset); err == nil {
		visible, err = do(lockCtx, t)
	}
	return visible, commit.End(ctx, visible, err)
}

func (t *attempt) run(ctx context.Context, c *archive.Commit) (visible bool, err error) {
	for _, lt := range t.l.groups.Types() {
		if err := t.find(ctx, lt); err != nil {
			return false, err
		}
	}
	if err := t.commit.Announce(ctx, t.changes); err != nil {
		return false, err
	}
	for i := range t.changes {
		if err := t.write(ctx, &t.changes[i]); err != nil {
			return false, err
		}
	}
	if err := c.Check(&t.stored, t.catalog); err != nil {
		return false, err
	}
	return t.publish(ctx, c)
}

// find derives the ids of a line type's documents and reads the existing ones. It requests only
// documents that may exist according to the catalog.
func (t *attempt) find(ctx context.Context, lt *record.LineType) error {
	ch := Change{Type: lt}
	var candidates []string
	var key, bodies []byte
	for h, valid := range t.l.groups.Grouper(lt).HeadersAndTimes() {
		key = design.AppendKey(key[:0], lt, t.l.subset, h, valid)
		ch.IDs = append(ch.IDs, string(key))
		if t.l.a.o.Writers > 0 && t.catalog.GroupFor(lt, h).MayContain(valid) {
			candidates = append(candidates, ch.IDs[len(ch.IDs)-1])
		}
	}
	ch.Existing = make(map[string][]byte, len(candidates))
	t.changes = append(t.changes, ch)
	for some := range slices.Chunk(candidates, idsPerRequest) {
		err := t.commit.Fetch(ctx, lt, some, func(id string, doc []byte) error {
			from := len(bodies)
			bodies = append(bodies, doc...)
			ch.Existing[id] = bodies[from:len(bodies):len(bodies)]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes the documents of a line type, merged with existing ones.
func (t *attempt) write(ctx context.Context, ch *Change) (err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(t.l.a.o.Writers, 1))
	var docs []Document
	var bodies []byte // bodies of docs, one after the other
	var m merger
	n := 0
	send := func() error {
		some := docs
		if t.l.a.o.Writers == 0 {
			docs, bodies = docs[:0], bodies[:0]
			return t.commit.Write(ctx, ch.Type, some)
		}
		docs, bodies = make([]Document, 0, len(docs)), make([]byte, 0, len(bodies))
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return t.commit.Write(ctx, ch.Type, some)
		})
		return ctx.Err()
	}
	for doc := range t.l.groups.Grouper(ch.Type).Docs() {
		id, rows := ch.IDs[n], doc.Rows
		n++
		t.stored.New += int64(rows.Len())
		old, exists := ch.Existing[id]
		switch {
		case exists:
			rows, err = m.merge(t, doc, id, old)
		// Without Writers, find has read nothing: the document is read now, if it may exist.
		case t.l.a.o.Writers == 0 && t.catalog.GroupFor(ch.Type, doc.Header()).MayContain(doc.Valid()):
			err = t.commit.Fetch(ctx, ch.Type, ch.IDs[n-1:n], func(id string, old []byte) (err error) {
				exists = true
				rows, err = m.merge(t, doc, id, old)
				return err
			})
		}
		if err != nil {
			break
		}
		if !exists {
			t.stored.Objects++
		}
		from := len(bodies)
		bodies = t.l.a.store.Append(bodies, t.l.subset, id, rows)
		docs = append(docs, Document{ID: id, Body: bodies[from:len(bodies):len(bodies)], Fresh: !exists})
		if len(bodies) >= chunkBytes || len(docs) >= chunkDocs {
			if err = send(); err != nil {
				break
			}
		}
	}
	if len(docs) > 0 && err == nil {
		err = send()
	}
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}

// merger contains the memory for existing documents.
type merger struct{ existing, merged record.Batch }

// merge compares a document with the existing one and returns their merged records.
func (m *merger) merge(t *attempt, doc *design.Doc, id string, old []byte) (*record.Batch, error) {
	m.existing.Reset(doc.Rows.Type, "")
	if err := t.l.a.store.Decode(old, &m.existing, m.existing.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return nil, DocumentError(id, err)
	}
	design.Merge(&m.merged, &m.existing, doc, func(i, j int) { t.stored.Resolve(doc.Files[j], &m.existing, i, doc.Rows, j) })
	if t.l.a.o.SeparateRecords {
		return doc.Rows, nil
	}
	return &m.merged, nil
}

// publish makes the commit visible, with the marks of its files.
func (t *attempt) publish(ctx context.Context, c *archive.Commit) (bool, error) {
	next := design.NewCatalog(t.l.subset)
	next.Merge(t.catalog)
	done := slices.Clone(c.Complete)
	for i := range done {
		done[i].CountReplaced(t.stored)
	}
	var old []archive.Mark
	if len(done) > 0 && next.Files.Records > 0 {
		var err error
		if old, err = t.l.marksOf(ctx, done); err != nil {
			return false, err
		}
	}
	l := t.l
	c.UpdateCatalog(next, l.a.o.Design, &t.stored, done, old)
	isCurrent := l.version == l.a.cached(l.subset).version // l.marks are those before this commit
	visible, err := t.publishCatalog(ctx, next, done)
	if visible {
		copy(c.Complete, done)
	}
	_, findsMarks := l.a.store.(archive.MarkFinder)
	l.version = 0 // the next commit reads the marks
	if visible && isCurrent && !findsMarks {
		l.marks, l.version = Latest(append(l.marks, done...)), l.a.cached(l.subset).version
	}
	return visible, err
}

// marksOf returns the archive's marks of files.
func (l *loader) marksOf(ctx context.Context, files []archive.Mark) (_ []archive.Mark, err error) {
	if f, ok := l.a.store.(archive.MarkFinder); ok {
		return f.MarksOf(ctx, l.subset, files)
	}
	if version := l.a.cached(l.subset).version; version != l.version {
		if l.marks, err = l.a.store.Marks(ctx, l.subset); err != nil {
			return nil, err
		}
		l.version = version
	}
	return archive.SameFiles(l.marks, files), nil
}

// publishCatalog makes the commit visible, with its catalog.
func (t *attempt) publishCatalog(ctx context.Context, next *design.Catalog, done []archive.Mark) (bool, error) {
	text, err := next.Encode()
	if err != nil {
		return false, err
	}
	version, err := t.commit.Publish(ctx, text, done)
	if err != nil || version == 0 {
		return false, err
	}
	t.l.a.cache.Store(t.l.subset, cachedCatalog{version, next, xxh3.Hash(text)})
	return true, nil
}
