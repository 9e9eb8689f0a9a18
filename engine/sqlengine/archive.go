package sqlengine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Archive implements an archive in tables as far as all SQL engines share it. An engine
// embeds it and adds Loader, Explain and Size.
type Archive struct {
	Driver      func() engine.Driver
	Design      design.Name
	Dialect     *flavour.Dialect
	Pool        Querier
	Placeholder string // of a statement's first argument: "?", "$1"

	// ContainersQuery returns the names of the schemas, databases or tables that may contain a subset. SubsetIn
	// returns the name of this design's subset in such a container.
	ContainersQuery string
	SubsetIn        func(ctx context.Context, container string) (subset string, ok bool, err error)

	// TablesQuery is the query for the names of a subset's tables. It may also return tables of other subsets.
	// ListedName is the name of a table in that list.
	TablesQuery func(subset string) (text string, args []any)
	ListedName  func(subset, table string) string

	// NonTablesQuery is the query for those names in the list that are not plain tables: views, and tables with code
	// (triggers, policies) or rows of another table or file. If one has the name of a table of Barograph, HasTable refuses
	// the archive, because an archive of unknown origin must not run code.
	NonTablesQuery func(subset string) (text string, args []any)

	TableName    func(t *record.LineType) string // the table of a line type; nil = the name from DesignTable
	MarksAsJSON  bool                            // column mark contains a mark as JSON
	NameOwn      func(table string) string       // replaces OwnName; nil = barograph_<design>_…
	JoinOperator string                          // joins lines with headers; "" = JOIN

	// Recover removes what a crashed load left in a subset; nil = nothing can be left.
	Recover func(ctx context.Context, subset string) error

	// ForeignCatalog creates the catalog of a subset that another program wrote, from its tables; nil = the engine
	// has no such subsets.
	ForeignCatalog func(ctx context.Context, subset string) (*design.Catalog, error)

	// SelectAll returns the query for all records of a type, to which the caller may append a condition, and its
	// columns; nil = the columns of Table.
	SelectAll func(ctx context.Context, q Querier, subset string, t *record.LineType) (text string, cols []Column, err error)

	// RowFilter is the condition for the rows of METviewer's tables that belong to the archive; nil = all rows.
	RowFilter func(t *record.LineType) string

	EntriesJSON func(data string) string // the expression of a document's entries as JSON; nil = the column itself
	CountDocs   func(from string) string // the query that counts documents and their entries

	DecodeRepeats RepeatsDecoder // nil = AsRepeats
	// InSnapshot runs f in one snapshot of the archive; nil = f reads over Pool.
	InSnapshot func(ctx context.Context, f func(ctx context.Context, q Querier) error) error

	// tableNames is a set. A query (the text and arguments of TablesQuery) means that refuseNonTables has checked its
	// list. A query followed by a name of its list means that this table exists. That stays true, because Barograph
	// never drops a table. A table that only a transaction has seen may be rolled back, and is not in the set.
	tableNames sync.Map
}

// CheckOffered returns an error if the engine does not offer a design.
func CheckOffered(d engine.Driver, n design.Name) error {
	if archive.Flavours(&d, n) == nil {
		return fmt.Errorf("%s: %s: %w", d.Scheme, n, engine.ErrNoDesign)
	}
	return nil
}

// Close closes nothing: the connections belong to the engine.
func (a *Archive) Close() error { return nil }

// OwnTable returns the quoted name of one of Barograph's own tables in a subset.
func (a *Archive) OwnTable(subset, table string) string {
	return a.Dialect.Table(subset, a.OwnName(table))
}

// OwnName returns the name of one of Barograph's own tables. Each design has its own.
func (a *Archive) OwnName(table string) string {
	if a.NameOwn != nil {
		return a.NameOwn(table)
	}
	return strings.Replace(table, "barograph_", "barograph_"+string(a.Design)+"_", 1)
}

// Table returns the quoted name of a line type's table, and its columns.
func (a *Archive) Table(subset string, t *record.LineType) (string, []Column) {
	_, cols, _ := DesignTable(a.Design, t)
	return a.Dialect.Table(subset, a.tableName(t)), cols
}

func (a *Archive) tableName(t *record.LineType) string {
	if a.TableName != nil {
		return a.TableName(t)
	}
	name, _, _ := DesignTable(a.Design, t)
	return name
}

// Subsets lists the subsets.
func (a *Archive) Subsets(ctx context.Context) ([]string, error) {
	containers, err := QueryTexts(ctx, a.Pool, a.ContainersQuery)
	subsets := []string{}
	for _, container := range containers {
		s, ok, err := a.SubsetIn(ctx, container)
		if err != nil {
			return nil, err
		}
		if ok {
			subsets = append(subsets, s)
		}
	}
	slices.Sort(subsets)
	return subsets, err
}

// HasTable reports whether a subset has a table.
func (a *Archive) HasTable(ctx context.Context, q Querier, subset, table string) (bool, error) {
	text, args := a.TablesQuery(subset)
	query := fmt.Sprint(text, args)
	if _, ok := a.tableNames.Load(query + a.ListedName(subset, table)); ok {
		return true, nil
	}
	if err := a.refuseNonTables(ctx, q, subset, query); err != nil {
		return false, err
	}
	names, err := QueryTexts(ctx, q, text, args...)
	for _, n := range names {
		if q == a.Pool {
			a.tableNames.Store(query+n, true)
		}
	}
	return slices.Contains(names, a.ListedName(subset, table)), err
}

// refuseNonTables returns an error if a view or another object has the name of a table that Barograph reads. query
// identifies the list of tables in tableNames. Each list is checked once.
func (a *Archive) refuseNonTables(ctx context.Context, q Querier, subset, query string) error {
	if _, checked := a.tableNames.Load(query); checked || a.NonTablesQuery == nil {
		return nil
	}
	text, args := a.NonTablesQuery(subset)
	names, err := QueryTexts(ctx, q, text, args...)
	if err != nil {
		return err
	}
	for _, n := range names {
		if table, ok := strings.CutPrefix(n, a.ListedName(subset, "")); ok && isArchiveTable(table) {
			return &fault.Error{
				Setting: "subset " + subset, Problem: n + " is a view, or has a trigger, a row policy or rows of another " +
					"table or file; Barograph reads and writes only plain tables",
				Cure: "do not trust this archive; load the files into a new one",
			}
		}
	}
	a.tableNames.Store(query, true)
	return nil
}

// isArchiveTable reports whether this is a possible name of an archive's table.
func isArchiveTable(name string) bool {
	prefixes := []string{"line_data_", "doc_", "wide_", design.HeaderTable, FileTable, "barograph_"}
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.ToLower(name), p) })
}

// Exists reports whether the subset has the question's table. A query of a missing table
// would be an error of the server.
func (a *Archive) Exists(ctx context.Context, q *question.Question) (bool, error) {
	return a.HasTable(ctx, a.Pool, q.Subset, a.tableName(q.Type))
}

// recoverAndHasOwn removes what a crashed load left, and reports whether a subset has one of Barograph's own tables.
func (a *Archive) recoverAndHasOwn(ctx context.Context, subset, table string) (bool, error) {
	if a.Recover != nil {
		if err := a.Recover(ctx, subset); err != nil {
			return false, err
		}
	}
	return a.HasTable(ctx, a.Pool, subset, a.OwnName(table))
}

// Catalog reads the metadata of a subset.
func (a *Archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	ok, err := a.recoverAndHasOwn(ctx, subset, CatalogTable)
	if err == nil && !ok && a.ForeignCatalog != nil {
		return a.ForeignCatalog(ctx, subset)
	}
	if err != nil || !ok {
		return design.NewCatalog(subset), err
	}
	return a.readCatalog(ctx, a.Pool, subset)
}

func (a *Archive) readCatalog(ctx context.Context, q Querier, subset string) (*design.Catalog, error) {
	text, err := QueryTexts(ctx, q, "SELECT catalog FROM "+a.OwnTable(subset, CatalogTable))
	if err != nil {
		return nil, err
	}
	if len(text) == 0 || text[0] == "" {
		return design.NewCatalog(subset), nil
	}
	c, err := design.ParseCatalog([]byte(text[0]))
	return c, corruptError("the catalog of subset "+subset, err)
}

// corruptError returns the error of stored data that Barograph cannot read, unless err is already
// a fault.
func corruptError(subject string, err error) error {
	if _, known := errors.AsType[*fault.Error](err); err == nil || known {
		return err
	}
	cure := "restore a copy of the archive, or load the files into a new one"
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{Setting: subject, Problem: "is damaged", Err: err, Cure: cure}}
}

// Marks lists the completely loaded files.
func (a *Archive) Marks(ctx context.Context, subset string) (marks []archive.Mark, err error) {
	ok, err := a.recoverAndHasOwn(ctx, subset, MarksTable)
	if err != nil || !ok {
		return nil, err
	}
	return a.readMarks(ctx, a.Pool, subset, "")
}

// readMarks reads the marks that satisfy a condition, a WHERE clause or "".
func (a *Archive) readMarks(ctx context.Context, q Querier, subset, where string) (marks []archive.Mark, err error) {
	text, parse := ColumnList("", MarkColumns()[1:]), decodeMarkRow
	if a.MarksAsJSON {
		text, parse = "digest, mark", decodeMarkJSON
	}
	text = "SELECT " + text + " FROM " + a.OwnTable(subset, MarksTable) + where + " ORDER BY seq"
	err = q.Rows(ctx, text, nil, func(row []any) error {
		m, err := parse(row)
		marks = append(marks, m)
		return corruptError("the list of loaded files of subset "+subset, err)
	})
	return archive.WithoutRemovals(marks), err
}

// MarksOf finds the marks of files. If the archive's catalog c counts no files, it does not
// query; a catalog of an early version, which is not sealed, counts none.
func (a *Archive) MarksOf(ctx context.Context, q Querier, subset string, files []archive.Mark, c *design.Catalog) (old []archive.Mark, err error) {
	if c.Sealed && c.Files.Records == 0 {
		return nil, nil
	}
	for chunk := range slices.Chunk(files, digestsPerStatement) {
		marks, err := a.readMarks(ctx, q, subset, " WHERE digest IN ("+Digests(chunk)+")")
		if err != nil {
			return nil, err
		}
		old = append(old, marks...)
	}
	return old, nil
}

// Digests returns the digests of marks as a list of SQL literals.
func Digests(marks []archive.Mark) string {
	return flavour.Join(marks, ", ", func(m archive.Mark) string { return flavour.Quote(m.Digest) })
}

// decodeMarkJSON reads a mark that is stored as JSON next to its digest.
func decodeMarkJSON(row []any) (m archive.Mark, err error) {
	var digest, text string
	if err = Scan(row, &digest, &text); err == nil {
		err = json.Unmarshal([]byte(text), &m)
	}
	if err == nil && m.Digest != digest {
		err = fmt.Errorf("the mark of %s has the digest of another file", fault.Name(m.Path))
	}
	return m, err
}

// decodeMarkRow reads a row of MarkColumns without seq, the first column.
func decodeMarkRow(row []any) (m archive.Mark, err error) {
	var times string
	if err = Scan(row, &m.Path, &m.Digest, &m.Bytes, &m.Read, &m.Stored, &m.Replaced, &m.Quarantined, &times); err == nil {
		err = m.SetTimes(times)
	}
	return m, err
}

// StoredTypes lists the line types for which a subset has a table.
func (a *Archive) StoredTypes(ctx context.Context, q Querier, subset string) ([]*record.LineType, error) {
	if ok, err := a.recoverAndHasOwn(ctx, subset, CatalogTable); err != nil || !ok && a.ForeignCatalog == nil {
		return nil, err
	}
	text, args := a.TablesQuery(subset)
	names, err := QueryTexts(ctx, q, text, args...)
	return lists.Filter(record.Types(), func(t *record.LineType) bool { return slices.Contains(names, a.ListedName(subset, a.tableName(t))) }), err
}

// Where returns the WHERE clause of RowFilter; "" = all rows.
func (a *Archive) Where(t *record.LineType) string {
	if a.RowFilter == nil {
		return ""
	}
	return " WHERE " + a.RowFilter(t)
}

// Contents counts the records and objects of a subset.
func (a *Archive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c := archive.Contents{Records: map[string]int64{}, Object: "rows"}
	count := func(from string) string { return "SELECT COUNT(*), COUNT(*) FROM " + from }
	if a.Design == design.Document {
		c.Object, count = "documents", a.CountDocs
	}
	types, err := a.StoredTypes(ctx, a.Pool, subset)
	for i := 0; i < len(types) && err == nil; i++ {
		table, _ := a.Table(subset, types[i])
		err = a.Pool.Rows(ctx, count(table+a.Where(types[i])), nil, func(row []any) error {
			var objects, records int64
			err := Scan(row, &objects, &records)
			c.Objects += objects
			if records > 0 {
				c.Records[types[i].Name] = records
			}
			return err
		})
	}
	return c, err
}

// Phrase writes a question as a query of the engine.
func (a *Archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	return a.PhraseIn(ctx, a.Dialect, q, f)
}

// PhraseIn is Phrase in a given dialect instead of the archive's.
func (a *Archive) PhraseIn(ctx context.Context, d *flavour.Dialect, q *question.Question, f flavour.Name) (*archive.Query, error) {
	driver := a.Driver()
	if err := archive.CanExpress(&driver, a.Design, f, q); err != nil {
		return nil, err
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	return Phrase(d, a.Design, f, q, catalog)
}

// Ask sends a query and decodes the reply. If the question's table does not exist, the result is empty.
func (a *Archive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	d := NewResultDecoder(a.Design, q, into)
	if a.DecodeRepeats != nil {
		d.decodeRepeats = a.DecodeRepeats
	}
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return err
	}
	return a.Pool.Rows(ctx, q.Text, q.Args, d.AddRow)
}

// Dump reads one table after the other.
func (a *Archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		dump := func(ctx context.Context, q Querier) error {
			types, err := a.StoredTypes(ctx, q, subset)
			for _, t := range types {
				if err == nil {
					err = a.DumpType(ctx, q, subset, t, "", to)
				}
			}
			return err
		}
		if a.InSnapshot != nil {
			return a.InSnapshot(ctx, dump)
		}
		return dump(ctx, a.Pool)
	})
}

// DumpType dumps the records of a type that satisfy a condition.
func (a *Archive) DumpType(ctx context.Context, q Querier, subset string, t *record.LineType, where string, to *archive.Dumper) error {
	if a.Design == design.Document {
		table, _ := a.Table(subset, t)
		docs := newDocumentDecoder(t, subset)
		text := "SELECT " + ColumnList("", docDumpColumns()) + ", " + a.entriesJSON("data") + " FROM " + table + where
		if err := q.Rows(ctx, text, nil, func(row []any) error { return docs.add(row, to) }); err != nil {
			return err
		}
		return to.Yield(&docs.batch)
	}
	text, cols, err := a.selectAll(ctx, q, subset, t)
	if err != nil {
		return err
	}
	return a.NewRecordDecoder(t, cols).DumpQuery(ctx, q, text+where, to)
}

// selectAll returns the query for all records of a type, with their headers, and its columns.
func (a *Archive) selectAll(ctx context.Context, q Querier, subset string, t *record.LineType) (string, []Column, error) {
	if a.SelectAll != nil {
		return a.SelectAll(ctx, q, subset, t)
	}
	table, cols := a.Table(subset, t)
	if a.Design != design.Normalized {
		return "SELECT " + ColumnList("ld.", cols) + " FROM " + table + " ld", cols, nil
	}
	headers := HeaderColumns()[1:]
	text := "SELECT " + ColumnList("h.", headers) + ", " + ColumnList("ld.", cols) + "\n  FROM " + table + " ld " +
		cmp.Or(a.JoinOperator, "JOIN") + " " + a.Dialect.Table(subset, design.HeaderTable) +
		" h ON h.stat_header_id = ld.stat_header_id"
	return text, append(headers, cols...), nil
}

// NewRecordDecoder returns a decoder for rows of these columns.
func (a *Archive) NewRecordDecoder(t *record.LineType, cols []Column) *RecordDecoder {
	decode := a.DecodeRepeats
	if decode == nil {
		decode = AsRepeats
	}
	return NewRecordDecoder(a.Design, t, cols, decode)
}

func (a *Archive) entriesJSON(data string) string {
	if a.EntriesJSON == nil {
		return data
	}
	return a.EntriesJSON(data)
}

// Phrase writes a question as a query and measures the time for deriving its keys. The
// error wraps flavour.ErrCannotExpress if the flavour cannot express the question.
func Phrase(d *flavour.Dialect, n design.Name, f flavour.Name, q *question.Question, c *design.Catalog) (*archive.Query, error) {
	start := time.Now()
	p, err := flavour.Build(d, n, f, q, c)
	if err != nil {
		return nil, err
	}
	query := &archive.Query{Question: q, Flavour: f, Text: p.Text, Args: p.Args, Keys: p.Keys, LeadCoding: p.LeadCoding}
	if p.Keys != nil {
		query.DeriveTime = time.Since(start)
	}
	return query, nil
}

// TableOfAlias returns the table that a plan names by an alias. The SQL of package flavour gives
// tables the aliases h (stat_header), ld (lines) and r (documents). TableOfAlias returns any other
// name unchanged.
func TableOfAlias(n design.Name, t *record.LineType, name string) string {
	switch name {
	case "h":
		return design.HeaderTable
	case "ld", "r":
		table, _, _ := DesignTable(n, t)
		return table
	}
	return name
}
