package dry

import (
	"context"
	"maps"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// subset is one copy of a data set.
type subset struct {
	types   map[*record.LineType]*table
	marks   []archive.Mark
	catalog *design.Catalog
}

// table contains the records of one line type in chunks. Chunks are small, because replacing a row with repeating
// columns moves the following rows of its chunk.
type table struct {
	chunks []*chunk
	index  record.Multimap[rowPosition] // by identity
	rows   int64
}

type chunk struct {
	rows        record.Batch
	headerIndex map[record.Header]uint32
}

type rowPosition struct {
	chunk *chunk
	row   int
}

const chunkRows = 4096

// batches lists the chunks; a nil table has none.
func (t *table) batches() []*record.Batch {
	if t == nil {
		return nil
	}
	out := make([]*record.Batch, len(t.chunks))
	for i, c := range t.chunks {
		out[i] = &c.rows
	}
	return out
}

// put stores row i of b, whose identity is k. It replaces an existing row unless b.KeepConflicts is set.
func (t *table) put(k record.Key, b *record.Batch, i int) {
	if p, ok := t.index.First(k); ok && !b.KeepConflicts {
		p.chunk.rows.ReplaceRow(p.row, b, i)
		return
	}
	if n := len(t.chunks); n == 0 || t.chunks[n-1].rows.Len() == chunkRows {
		c := &chunk{headerIndex: map[record.Header]uint32{}}
		c.rows.Reset(b.Type, "")
		t.chunks = append(t.chunks, c)
	}
	c := t.chunks[len(t.chunks)-1]
	header, ok := c.headerIndex[*b.Header(i)]
	if !ok {
		header = c.rows.AddHeader(*b.Header(i))
		c.headerIndex[*b.Header(i)] = header
	}
	t.index.Put(k, rowPosition{c, c.rows.Len()})
	t.rows++
	c.rows.KeepConflicts = c.rows.KeepConflicts || b.KeepConflicts
	c.rows.AppendRow(b, i, header)
}

// addMarks adds the marks of files. The mark of a file that is loaded again replaces the old one.
func (s *subset) addMarks(files []archive.Mark) {
	for _, m := range files {
		s.marks = slices.DeleteFunc(s.marks, func(old archive.Mark) bool { return old.Digest == m.Digest })
		s.marks = append(s.marks, m)
	}
}

func (a *openArchive) Marks(ctx context.Context, name string) ([]archive.Mark, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if s := a.subsets[name]; s != nil {
		return archive.WithoutRemovals(slices.Clone(s.marks)), ctx.Err()
	}
	return nil, ctx.Err()
}

func (a *openArchive) Catalog(ctx context.Context, name string) (*design.Catalog, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := design.NewCatalog(name)
	if s := a.subsets[name]; s != nil {
		c.Merge(s.catalog)
	}
	return c, ctx.Err()
}

func (a *openArchive) Subsets(ctx context.Context) ([]string, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Sorted(maps.Keys(a.subsets)), ctx.Err()
}

func (a *openArchive) Contents(ctx context.Context, name string) (archive.Contents, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := archive.Contents{Records: map[string]int64{}, Object: "rows"}
	if s := a.subsets[name]; s != nil {
		for t, tab := range s.types {
			c.Records[t.Name] = tab.rows
		}
	}
	c.Objects = c.Total()
	return c, ctx.Err()
}

// Loader opens a loader. Any number of loaders may be open; their commits take turns.
func (a *openArchive) Loader(ctx context.Context, name string) (archive.Loader, error) {
	if a.readOnly {
		return nil, engine.ErrReadOnly
	}
	return &loader{store: a.store, name: name}, ctx.Err()
}

type loader struct {
	store   *store
	name    string
	pending []*record.Batch
	hash    record.Hasher
}

func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.pending = append(l.pending, b)
	return nil
}

// Commit resolves all conflicts before it stores the first record, because a refused commit must store nothing.
func (l *loader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	stored := archive.CommitResult{Replaced: map[string]int64{}}
	if err := ctx.Err(); err != nil {
		return stored, err
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	defer func() { l.pending = l.pending[:0] }()
	s := l.store.subsets[l.name]
	if s == nil {
		s = &subset{types: map[*record.LineType]*table{}, catalog: design.NewCatalog(l.name)}
	}
	for _, b := range l.pending {
		stored.New += int64(b.Len()) // Resolve subtracts those that exist
		l.resolveExisting(s, b, &stored)
	}
	if err := c.Check(&stored, s.catalog); err != nil {
		return archive.CommitResult{}, err
	}
	l.store.subsets[l.name] = s
	for _, b := range l.pending {
		l.put(s, b)
	}
	for i := range c.Complete {
		c.Complete[i].CountReplaced(stored)
	}
	c.UpdateCatalog(s.catalog, design.Memory, &stored, c.Complete, archive.SameFiles(s.marks, c.Complete))
	s.addMarks(c.Complete)
	l.store.commits++
	return stored, nil
}

// resolveExisting calls stored.Resolve for each existing record that has the identity of a record of b.
func (l *loader) resolveExisting(s *subset, b *record.Batch, stored *archive.CommitResult) {
	if s.types[b.Type] == nil {
		return
	}
	index := &s.types[b.Type].index
	l.hash.SetBatch(b)
	for i := range b.Len() {
		for p := range index.All(l.hash.Key(i)) {
			stored.Resolve(b.File, &p.chunk.rows, p.row, b, i)
		}
	}
}

func (l *loader) put(s *subset, b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	t := s.types[b.Type]
	if t == nil {
		t = &table{}
		s.types[b.Type] = t
	}
	l.hash.SetBatch(b)
	for i := range b.Len() {
		t.put(l.hash.Key(i), b, i)
	}
}

func (l *loader) Close() error {
	l.pending = nil
	return nil
}
