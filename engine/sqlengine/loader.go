package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// LoadSession is an engine's part of a loader: transactions and its bulk load. A function may be nil if the engine does
// not need it, unless its comment describes a default.
type LoadSession struct {
	// CheckText returns an error for a text of record i that the engine cannot store.
	CheckText func(b *record.Batch, i int, s string) error
	// CheckKey returns an error for a key or a path that is too long for its column.
	CheckKey func(file, key string) error

	// Transaction runs f in a transaction and rolls back if f fails. It may then run f again.
	Transaction func(ctx context.Context, f func(q Querier) error) error

	// Version starts a commit: it locks out other loaders of the subset and returns a number that changes whenever
	// one of them commits. StoreCatalog writes the catalog. If both are nil, the catalog's table has a column version
	// that counts the commits, and the loader locks its row.
	Version      func(ctx context.Context, q Querier) (int64, error)
	StoreCatalog func(ctx context.Context, q Querier, catalog []byte) error
	// StoreMarks writes marks; nil = as rows of MarkColumns.
	StoreMarks func(ctx context.Context, q Querier, done []archive.Mark) error

	// MakeTable creates the table of a line type if it does not exist. MakeCommits means that its statements commit;
	// the loader then sends them before the transaction.
	MakeTable   func(ctx context.Context, q Querier, t *record.LineType) error
	MakeCommits bool
	// ExtendTable prepares that table for the records of a catalog.
	ExtendTable func(ctx context.Context, q Querier, t *record.LineType, fresh *design.Catalog) error

	// Insert stores rows. It calls next until next returns false, and may call it again after that.
	Insert func(ctx context.Context, q Querier, table string, cols []Column, next Next) error
	// InsertLines is a faster Insert for records, one per row; nil = Insert.
	InsertLines func(ctx context.Context, q Querier, table string, cols []Column, lines *Lines) error
	// MergeDocs stores documents, merged with existing ones; nil = StoreDocs, which uses Insert. Upserts means that
	// Insert replaces a document with the same id.
	MergeDocs func(ctx context.Context, q Querier, g *design.Grouper, candidates []design.Row, stored *archive.CommitResult) error
	Upserts   bool

	// HeaderOrder is the order in which headers are stored; nil = the order of first use.
	HeaderOrder func(a, b *record.Header) int
	// Replace calls stored.Resolve for the existing records among the candidates, which are the rows that may exist,
	// and deletes them unless lines.Keep is set. nil = the loader finds them by header and valid time, with PairPrefix
	// before the pairs of values after IN, and deletes them with DeleteRows by RowID, an expression that identifies a
	// row of table ld.
	Replace    func(ctx context.Context, q Querier, lines *Lines, candidates []design.Row, stored *archive.CommitResult) error
	RowID      string
	PairPrefix string
	DeleteRows func(ctx context.Context, q Querier, table string, ids []string) error

	// Dump dumps the records of a type that satisfy a condition, within the transaction; nil = Archive.DumpType.
	Dump func(ctx context.Context, t *record.LineType, where string, to *archive.Dumper) error

	// Analyze makes the server gather the statistics of a table that grew, because queries are planned with them.
	Analyze func(ctx context.Context, table string) error
	Close   func() error
}

// Next passes the values of one row to a sink, with their column numbers. It returns false if no row is left.
type Next func(to Sink) (bool, error)

// Sink receives the values of a row to store.
type Sink interface {
	Null(k int)
	Text(k int, s string)
	Integer(k int, v int64)
	Number(k int, f float64)
	Time(k int, epoch int64)
	List(k int, values []float64) // of Doubles
	JSON(k int, entries []byte)   // of Entries; the sink does not keep the bytes
}

// Loader is the loader of an archive in tables.
type Loader struct {
	a      *Archive
	subset string
	s      LoadSession
	groups design.Groups

	madeTables  map[*record.LineType]bool // line types whose table exists
	grownTables []string                  // quoted names

	// The archive's state as of version catalogVersion. If catalog is nil, the loader must read the state.
	catalogVersion int64
	stale          bool // the state may include a rolled-back commit
	catalog        *design.Catalog
	headers        *Interner[record.Header] // normalized only
	files          *Interner[string]        // normalized only
	marked         map[string]bool          // digests of all marked files; nil = the loader does not know all of them
}

// NewLoader returns a loader of a subset. Its tables must exist.
func (a *Archive) NewLoader(subset string, s LoadSession) *Loader {
	return &Loader{a: a, subset: subset, s: s, madeTables: map[*record.LineType]bool{}}
}

// Add adds the records of b to the next commit. The caller leaves b unchanged until then.
func (l *Loader) Add(ctx context.Context, b *record.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.check(b); err != nil {
		return err
	}
	l.groups.Add(b)
	return nil
}

func (l *Loader) check(b *record.Batch) error {
	if l.s.CheckText == nil || b.Len() == 0 {
		return nil
	}
	for i := range b.Headers {
		for _, s := range b.Headers[i] {
			if err := l.s.CheckText(b, 0, s); err != nil {
				return err
			}
		}
	}
	for _, col := range b.Text {
		for i, s := range col {
			if err := l.s.CheckText(b, i, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Commit writes everything in one transaction.
func (l *Loader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	if l.a == nil {
		return archive.CommitResult{}, errClosed
	}
	stored, done := archive.CommitResult{Replaced: map[string]int64{}}, slices.Clone(c.Complete)
	var err error
	if l.s.MakeCommits {
		err = l.makeTables(ctx, l.a.Pool)
	}
	if err == nil {
		err = l.s.Transaction(ctx, func(q Querier) error { return l.write(ctx, q, &c, done, &stored) })
	}
	l.groups.Reset()
	if err != nil {
		return archive.CommitResult{}, engine.CallError(ctx, fmt.Errorf("%s: commit to %s: %w", l.a.Dialect.Name, l.subset, err))
	}
	if l.headers != nil {
		l.headers.Settle(true)
		l.files.Settle(true)
	}
	l.stale = false
	if l.marked != nil {
		for i := range done {
			l.marked[done[i].Digest] = true
		}
	}
	copy(c.Complete, done)
	return stored, nil
}

var errClosed = errors.New("the loader is closed")

// makeTables creates the missing tables of the line types in the commit.
func (l *Loader) makeTables(ctx context.Context, q Querier) error {
	for _, t := range l.groups.Types() {
		if l.madeTables[t] {
			continue
		}
		if err := l.s.MakeTable(ctx, q, t); err != nil {
			return err
		}
		l.madeTables[t] = true
	}
	return nil
}

// write is the body of a commit's transaction.
func (l *Loader) write(ctx context.Context, q Querier, c *archive.Commit, done []archive.Mark, stored *archive.CommitResult) error {
	if l.stale { // an earlier attempt of this transaction may have changed stored and done
		*stored = archive.CommitResult{Replaced: map[string]int64{}}
		copy(done, c.Complete)
	}
	if err := l.begin(ctx, q); err != nil {
		return err
	}
	if err := l.makeTables(ctx, q); err != nil {
		return err
	}
	for _, t := range l.groups.Types() {
		if l.s.ExtendTable != nil {
			if err := l.s.ExtendTable(ctx, q, t, c.Catalog); err != nil {
				return err
			}
		}
		if err := l.writeType(ctx, q, l.groups.Grouper(t), stored); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if err := c.Check(stored, l.catalog); err != nil {
		return err
	}
	if err := l.writeHeaders(ctx, q); err != nil {
		return err
	}
	for i := range done {
		done[i].CountReplaced(*stored)
	}
	old, err := l.existingMarks(ctx, q, done)
	if err != nil {
		return err
	}
	if err := l.writeMarks(ctx, q, done, old); err != nil {
		return err
	}
	c.UpdateCatalog(l.catalog, l.a.Design, stored, done, old)
	return l.writeCatalog(ctx, q)
}

// marksPerFile limits the memory for digests. If the archive has at most this number of marks for each file of a
// commit, the loader reads the digests of all marks once. Otherwise each commit queries the digests of its files, in a
// table that has no index.
const marksPerFile = 1000

// existingMarks returns the stored marks of files that are loaded again.
func (l *Loader) existingMarks(ctx context.Context, q Querier, files []archive.Mark) ([]archive.Mark, error) {
	if l.marked == nil && l.catalog.Files.Records <= int64(marksPerFile*len(files)) {
		marks, err := l.a.readMarks(ctx, q, l.subset, "")
		if err != nil {
			return nil, err
		}
		l.marked = make(map[string]bool, len(marks))
		for i := range marks {
			l.marked[marks[i].Digest] = true
		}
	}
	if l.marked != nil {
		files = slices.DeleteFunc(slices.Clone(files), func(m archive.Mark) bool { return !l.marked[m.Digest] })
	}
	return l.a.MarksOf(ctx, q, l.subset, files, l.catalog)
}

// begin starts the body of a transaction, which may run more than once.
func (l *Loader) begin(ctx context.Context, q Querier) error {
	if l.stale {
		l.catalog, l.headers, l.files = nil, nil, nil
		if !l.s.MakeCommits {
			clear(l.madeTables)
		}
	}
	l.stale = true
	return l.refresh(ctx, q)
}

// refresh reads the archive's state, unless the loader knows it from its own last commit.
func (l *Loader) refresh(ctx context.Context, q Querier) error {
	version := l.s.Version
	if version == nil {
		version = l.lockVersion
	}
	n, err := version(ctx, q)
	if err != nil || (l.catalog != nil && n == l.catalogVersion) {
		return err
	}
	l.catalogVersion = n
	if !l.s.MakeCommits {
		clear(l.madeTables)
	}
	if l.catalog, err = l.a.readCatalog(ctx, q, l.subset); err != nil {
		return err
	}
	if l.marked = nil; l.catalog.Sealed && l.catalog.Files.Records == 0 { // a sealed catalog counts every mark
		l.marked = map[string]bool{}
	}
	if l.a.Design != design.Normalized {
		return nil
	}
	return l.readIDs(ctx, q)
}

// lockVersion is the default of LoadSession.Version: it waits for other loaders of the subset, and returns the number
// of commits.
func (l *Loader) lockVersion(ctx context.Context, q Querier) (int64, error) {
	return QueryNumber(ctx, q, "SELECT version FROM "+l.a.OwnTable(l.subset, CatalogTable)+" WHERE id = 1 FOR UPDATE")
}

// writeCatalog writes the archive's catalog.
func (l *Loader) writeCatalog(ctx context.Context, q Querier) error {
	l.catalog.Subset = l.subset
	text, err := l.catalog.Encode()
	if err != nil {
		return err
	}
	if l.s.StoreCatalog != nil {
		return l.s.StoreCatalog(ctx, q, text)
	}
	l.catalogVersion++
	return q.Exec(ctx, "UPDATE "+l.a.OwnTable(l.subset, CatalogTable)+" SET version = version + 1, catalog = "+
		l.a.Placeholder+" WHERE id = 1", text)
}

// digestsPerStatement is the greatest number of files whose marks one statement reads or deletes.
const digestsPerStatement = 500

// writeMarks writes marks. The mark of a file that is loaded again replaces the old one.
func (l *Loader) writeMarks(ctx context.Context, q Querier, done, old []archive.Mark) error {
	if len(done) == 0 {
		return nil
	}
	if l.s.StoreMarks != nil {
		return l.s.StoreMarks(ctx, q, done)
	}
	table := l.a.OwnTable(l.subset, MarksTable)
	last, err := QueryNumber(ctx, q, "SELECT MAX(seq) FROM "+table)
	if err != nil {
		return err
	}
	for _, m := range done {
		if err := l.checkKey(m.Path, m.Path); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(old, digestsPerStatement) {
		if err := q.Exec(ctx, "DELETE FROM "+table+" WHERE digest IN ("+Digests(chunk)+")"); err != nil {
			return err
		}
	}
	return l.s.Insert(ctx, q, table, MarkColumns(), rowsOf(done, func(to Sink, i int, m archive.Mark) {
		to.Integer(0, last+1+int64(i))
		to.Text(1, m.Path)
		to.Text(2, m.Digest)
		for k, n := range [...]int64{m.Bytes, m.Read, m.Stored, m.Replaced, m.Quarantined} {
			to.Integer(3+k, n)
		}
		to.Text(8, m.Times())
	}))
}

func (l *Loader) checkKey(file, key string) error {
	if l.s.CheckKey == nil {
		return nil
	}
	return l.s.CheckKey(file, key)
}

// rowsOf returns a Next with a row for each item.
func rowsOf[T any](items []T, put func(to Sink, i int, item T)) Next {
	i := 0
	return func(to Sink) (bool, error) {
		if i == len(items) {
			return false, nil
		}
		put(to, i, items[i])
		i++
		return true, nil
	}
}

func (l *Loader) noteGrown(table string) {
	if !slices.Contains(l.grownTables, table) {
		l.grownTables = append(l.grownTables, table)
	}
}

// analyzeTimeout limits the analysis of one table.
const analyzeTimeout = time.Minute

// Close drops the records that were not committed, and analyzes the tables that grew.
func (l *Loader) Close() (err error) {
	if l.a == nil {
		return nil
	}
	for _, table := range l.grownTables {
		if l.s.Analyze != nil {
			ctx, stop := context.WithTimeout(context.Background(), analyzeTimeout)
			err = errors.Join(err, l.s.Analyze(ctx, table))
			stop()
		}
	}
	l.a = nil
	if l.s.Close != nil {
		err = errors.Join(err, l.s.Close())
	}
	return err
}

// StoreDocs is the default of LoadSession.MergeDocs.
func (l *Loader) StoreDocs(ctx context.Context, q Querier, g *design.Grouper, candidates []design.Row, stored *archive.CommitResult) error {
	table, cols := l.a.Table(l.subset, g.Type)
	oldEntries, err := l.existingDocs(ctx, q, table, g, candidates)
	if err != nil {
		return err
	}
	next, stop := iter.Pull(g.Docs())
	defer stop()
	var existing, merged record.Batch
	var id, data []byte
	return l.s.Insert(ctx, q, table, cols, func(to Sink) (bool, error) {
		doc, ok := next()
		if !ok {
			return false, nil
		}
		id = design.AppendKey(id[:0], g.Type, l.subset, doc.Header(), doc.Valid())
		if err := l.checkKey(doc.Files[0], string(id)); err != nil {
			return false, err
		}
		rows := doc.Rows
		entries, ok := oldEntries[string(id)]
		if !ok {
			stored.Objects++
		} else {
			existing.Reset(g.Type, "")
			if err := design.ParseEntries([]byte(entries), &existing, existing.AddHeader(*doc.Header()), doc.Valid()); err != nil {
				return false, err
			}
			design.Merge(&merged, &existing, doc, func(i, j int) { stored.Resolve(doc.Files[j], &existing, i, doc.Rows, j) })
			rows = &merged
		}
		data = design.AppendEntries(data[:0], rows)
		PutDoc(to, cols, string(id), doc, data)
		return true, nil
	})
}

// PutDoc passes the values of a document to a sink.
func PutDoc(to Sink, cols []Column, id string, doc *design.Doc, data []byte) {
	for k := range cols {
		switch c := &cols[k]; c.From {
		case DocID:
			to.Text(k, id)
		case Header:
			to.Text(k, doc.Header()[c.Field])
		case ValidEpoch:
			to.Integer(k, doc.Valid())
		case ValidBeg:
			to.Text(k, string(design.AppendISO(nil, doc.Valid())))
		case DocData:
			to.JSON(k, data)
		}
	}
}

// idsPerQuery is the greatest number of documents in one query.
const idsPerQuery = 1000

// existingDocs returns the entries of the existing documents among the candidates, by id. It deletes these documents if
// the engine's Insert does not replace them.
func (l *Loader) existingDocs(ctx context.Context, q Querier, table string, g *design.Grouper, candidates []design.Row) (map[string]string, error) {
	entries := map[string]string{}
	for chunk := range slices.Chunk(Series(candidates), idsPerQuery) {
		ids := lists.Map(chunk, func(r design.Row) string {
			return string(design.AppendKey(nil, g.Type, l.subset, &g.Headers[r.Header], r.Valid))
		})
		where, args := l.a.Dialect.DocKeys(ids)
		before := len(entries)
		text := "SELECT r.id, " + l.a.entriesJSON("r.data") + " FROM " + table + " r WHERE " + where
		err := q.Rows(ctx, text, args, func(row []any) error {
			var id, data string
			err := Scan(row, &id, &data)
			entries[id] = data
			return err
		})
		if err == nil && len(entries) > before && !l.s.Upserts {
			err = q.Exec(ctx, "DELETE FROM "+table+" WHERE "+strings.TrimPrefix(where, "r."), args...)
		}
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}
