package mariadb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// lineWriter writes METviewer's tables.
type lineWriter struct {
	l            *loader
	files        *sqlengine.Interner[fileName]
	folded       map[fileName]fileName // name as METviewer's unique key compares it → name as stored
	twins        map[string]map[string]bool
	headers      []*headers // stat_header and, if the archive has it, ownHeader
	tables       map[*record.LineType]*lineTable
	first        int64                     // number of the first row of this commit
	lastState    []int64                   // result of the last call of tableState
	locks        string                    // the statement that locks the tables of the commit
	hasGone      bool                      // removeReplaced has removed rows
	foreignTypes map[*record.LineType]bool // types with records that another program has loaded
	times        timeCache

	// viewHeaders contains METviewer's headers of objects, by table. A header is its columns in the text of LOAD DATA.
	viewHeaders map[string]*sqlengine.Interner[string]
	revisions   map[string]int64 // for MTD's objects: revision_id by revisionKey
}

type fileName struct{ dir, name string }

// headers is a table of headers, and the headers that the archive contains.
type headers struct {
	lineTable // its records have only a header
	*sqlengine.Interner[record.Header]
}

// lineTable is the table of a line type, with the records that a commit adds to it.
type lineTable struct {
	t         *record.LineType
	name      string
	id        string // the column that numbers its rows
	columns   []column
	batches   []*record.Batch
	headerIDs [][]int64               // by batch and header: the number of the header
	files     []int64                 // by batch: the number of the file
	existing  record.Multimap[rowRef] // existing records that the commit may replace
	probed    map[int64]struct{}      // numbers of the headers whose existing records are known
	replaced  map[int64][]int64       // header → numbers of the replaced rows
	hash      record.Hasher
}

// rowRef is a row of the archive and its record.
type rowRef struct {
	header, id int64
	batch      *record.Batch
	row        int
}

// refresh reads the archive's state.
func (w *lineWriter) refresh(ctx context.Context) error {
	w.headers, w.files = nil, sqlengine.NewInterner[fileName]()
	w.folded, w.viewHeaders, w.revisions = map[fileName]fileName{}, map[string]*sqlengine.Interner[string]{}, map[string]int64{}
	var err error
	if w.twins, err = w.l.a.twins(ctx, querier{w.l.conn}, w.l.subset); err != nil {
		return err
	}
	for _, name := range [...]string{design.HeaderTable, ownHeader} {
		if name == ownHeader && w.twins[name] == nil {
			break
		}
		table := lineTable{name: name, id: "stat_header_id", columns: headerColumns(), batches: []*record.Batch{{}}}
		known := &headers{table, sqlengine.NewInterner[record.Header]()}
		var h record.Header
		var id int64
		exprs, into := []string{"stat_header_id"}, []any{&id}
		for _, c := range known.columns {
			exprs, into = append(exprs, c.expr(w.twins[name])), append(into, &h[c.Field])
		}
		err = w.l.rows(ctx, "SELECT "+strings.Join(exprs, ", ")+" FROM "+w.l.table(name)+" h", func(row []any) error {
			err := sqlengine.Scan(row, into...)
			known.Add(h, id)
			return err
		})
		if err != nil {
			return err
		}
		w.headers = append(w.headers, known)
	}
	return w.l.rows(ctx, "SELECT data_file_id, path, filename FROM "+w.l.table(sqlengine.FileTable), func(row []any) error {
		var id int64
		var f fileName
		err := sqlengine.Scan(row, &id, &f.dir, &f.name)
		w.files.Add(f, id)
		w.folded[f.fold()] = f
		return err
	})
}

// lockTables locks the tables of a commit against other programs. METdbLoad numbers headers, files and
// lines from the greatest existing number, and must see all of a commit or nothing. If another program
// has loaded since detectForeign, lockTables locks nothing and returns false.
func (w *lineWriter) lockTables(ctx context.Context) (bool, error) {
	if !w.isMyISAM() {
		return true, nil
	}
	names := []string{sqlengine.FileTable, w.l.a.OwnName(sqlengine.CatalogTable), w.l.a.OwnName(sqlengine.MarksTable), pendingTable, goneTable}
	names = append(names, lists.Map(w.headers, func(h *headers) string { return h.name })...)
	for _, t := range w.l.types {
		names = append(names, tableOf(t))
		if child, _ := childTable(tableOf(t)); child != "" {
			names = append(names, child)
		}
	}
	names = append(names, w.viewTables()...)
	for i := range names {
		names[i] = w.l.table(names[i]) + " WRITE"
	}
	w.locks = "LOCK TABLES " + strings.Join(names, ", ")
	if err := w.l.exec(ctx, w.locks); err != nil {
		return false, err
	}
	now, err := w.tableState(ctx)
	if err != nil || slices.Equal(now, w.lastState) {
		return true, err
	}
	w.afterCommit(false)
	return false, w.unlock(ctx)
}

// detectForeign finds what another program has loaded into the tables: headers, files, the greatest
// numbers of lines, and types with records that the catalog does not count.
func (w *lineWriter) detectForeign(ctx context.Context) (err error) {
	w.foreignTypes = map[*record.LineType]bool{}
	if !w.isMyISAM() {
		return nil
	}
	if w.lastState, err = w.tableState(ctx); err != nil {
		return err
	}
	_, header := w.headers[0].Uncommitted()
	_, file := w.files.Uncommitted()
	if w.lastState[1] >= header || w.lastState[3] >= file {
		if err := w.refresh(ctx); err != nil {
			return err
		}
	}
	known := w.l.catalog.Records()
	for i, t := range w.l.types {
		w.foreignTypes[t] = w.lastState[4+2*i] != known[t.Name] // after headers and files
	}
	for k := 5; k < len(w.lastState); k += 2 {
		w.l.next = max(w.l.next, w.lastState[k]+1)
	}
	return nil
}

// tableState returns pairs of a count and a greatest number: of headers, of files, of the lines of each loaded type,
// and of views with numbers of their own. MyISAM knows them without a search.
func (w *lineWriter) tableState(ctx context.Context) (out []int64, err error) {
	count := func(id, table string) error {
		return w.l.rows(ctx, "SELECT count(*), coalesce(max("+id+"), 0) FROM "+w.l.table(table), func(row []any) error {
			var n, last int64
			err := sqlengine.Scan(row, &n, &last)
			out = append(out, n, last)
			return err
		})
	}
	err = errors.Join(count("stat_header_id", design.HeaderTable), count("data_file_id", sqlengine.FileTable))
	for _, t := range w.l.types {
		id := "0"
		if hasLineID(t) {
			id = idOfLines
		}
		err = cmp.Or(err, count(id, tableOf(t)))
	}
	for _, t := range w.typesWithView() {
		if v := objectViews()[t.Name]; v.id() != rowColumn {
			err = cmp.Or(err, count(v.id(), v.table))
		}
	}
	return out, err
}

func (f fileName) fold() fileName {
	return fileName{strings.ToLower(strings.TrimRight(f.dir, " ")), strings.ToLower(strings.TrimRight(f.name, " "))}
}

// file returns the name of a file in METviewer's data_file. If the path does not fit, or METviewer's
// unique key treats it as equal to another path, file shortens the name and appends a digest of the
// complete path.
func (w *lineWriter) file(fullName string) (f fileName, complete bool) {
	dir, name := path.Split(fullName)
	f, complete = fileName{strings.TrimSuffix(dir, "/"), name}, true
	other, taken := w.folded[f.fold()]
	_, plainDir := appendLatin(nil, f.dir, 120)
	_, plainName := appendLatin(nil, f.name, 110)
	if !plainDir || !plainName || (taken && other != f) {
		latin, _ := appendLatin(nil, name, 70)
		f, complete = fileName{fmt.Sprintf("%016x", xxh3.HashString(dir)), fmt.Sprintf("%s %016x", latin, xxh3.HashString(fullName))}, false
	}
	w.folded[f.fold()] = f
	return f, complete
}

// prepare does the work that cannot run in a transaction: it changes tables, and finds the records
// that the commit will replace.
func (w *lineWriter) prepare(ctx context.Context, stored *archive.CommitResult) error {
	need := map[string]map[string]string{} // table → twin → its type
	for _, t := range w.l.types {
		lt := w.table(t, w.l.batches[t])
		probes := probe{}
		for _, b := range lt.batches {
			w.number(lt, b, stored)
			probes.add(lt, b, w)
		}
		need[lt.name] = lt.neededTwins(stored)
		if err := w.find(ctx, lt, probes); err != nil {
			return err
		}
		if err := lt.replace(stored); err != nil {
			return w.l.foreignError(err.Error())
		}
	}
	for _, known := range w.headers {
		fresh := known.batches[0]
		fresh.Reset(nil, "")
		newHeaders, _ := known.Uncommitted()
		for _, h := range newHeaders {
			fresh.AppendTimes(fresh.AddHeader(h), 0, 0, 0)
		}
		need[known.name] = known.neededTwins(stored)
	}
	return cmp.Or(w.readViews(ctx), w.makeTwins(ctx, need))
}

// foreignError is the error of a commit that would replace or remove a record of another program.
func (l *loader) foreignError(problem string) error {
	return &fault.Error{
		Setting: "database " + l.a.database(l.subset), Problem: problem + "; nothing was written",
		Cure: "barograph adopt --repair takes over the records of the other program",
	}
}

// headersOf returns the table with the headers of a line type.
func (w *lineWriter) headersOf(t *record.LineType) *headers {
	i := slices.IndexFunc(w.headers, func(h *headers) bool { return h.name == headerTable(t, w.twins) })
	return w.headers[i]
}

// table returns the lineTable of a line type.
func (w *lineWriter) table(t *record.LineType, batches []*record.Batch) *lineTable {
	lt := w.tables[t]
	if lt == nil {
		lt = &lineTable{t: t, name: tableOf(t), id: idColumn(t), columns: lineColumns(t)}
		w.tables[t] = lt
	}
	lt.batches, lt.headerIDs, lt.files = batches, lt.headerIDs[:0], lt.files[:0]
	lt.existing, lt.probed, lt.replaced = record.Multimap[rowRef]{}, map[int64]struct{}{}, map[int64][]int64{}
	return lt
}

// number numbers the headers and the file of a batch.
func (w *lineWriter) number(lt *lineTable, b *record.Batch, stored *archive.CommitResult) {
	headerIDs, known := make([]int64, len(b.Headers)), w.headersOf(b.Type)
	for i, h := range b.Headers {
		headerIDs[i], _ = known.ID(sqlengine.HeaderKey(h))
	}
	name, complete := w.file(b.File)
	before, _ := w.files.Uncommitted()
	id, _ := w.files.ID(name)
	if after, _ := w.files.Uncommitted(); !complete && len(after) > len(before) {
		stored.CountShortText(sqlengine.FileTable + ".path")
	}
	lt.headerIDs, lt.files = append(lt.headerIDs, headerIDs), append(lt.files, id)
}

// neededTwins returns the twins that the commit needs, with their types: those of columns in which
// METviewer's tables cannot store a value exactly. It also counts the shortened texts.
func (lt *lineTable) neededTwins(stored *archive.CommitResult) map[string]string {
	need := map[string]string{}
	var scratch []byte
	for k := range lt.columns {
		c := &lt.columns[k]
		text := c.met.kind == varchar || c.alias == "h"
		if !c.mayNeedTwin() || c.From == sqlengine.Data && c.met.kind == double {
			continue
		}
	column:
		for _, b := range lt.batches {
			for i := range b.Len() {
				var exact bool
				if scratch, exact = c.append(scratch[:0], b, i); exact {
					continue
				}
				need[c.twin()] = c.twinType()
				if !text {
					break column
				}
				stored.CountShortText(lt.name + "." + c.met.name)
			}
		}
	}
	return need
}

// mayNeedTwin reports whether the column may need a twin. Ids, line numbers and times always fit.
func (c *column) mayNeedTwin() bool {
	switch c.From {
	case sqlengine.Header, sqlengine.Data, sqlengine.Lead, sqlengine.ObsLead:
		return true
	}
	return false
}

// append appends the column's value of a record, or the nearest value that METviewer's column can
// store.
func (c *column) append(dst []byte, b *record.Batch, i int) ([]byte, bool) {
	switch c.From {
	case sqlengine.Header:
		return c.text(dst, b.Header(i)[c.Field])
	case sqlengine.Data:
		if c.Data.Kind == record.Text {
			return c.text(dst, b.Text[c.Data.Slot][i])
		}
		return c.number(dst, b.Num[c.Data.Slot][i]-float64(c.offset))
	}
	return c.number(dst, c.lead(b, i))
}

// lead returns the value of a column of leads.
func (c *column) lead(b *record.Batch, i int) float64 {
	if c.From == sqlengine.Lead {
		return float64(design.LeadCode(b.Header(i)[record.Version], b.Lead[i]))
	}
	return float64(design.LeadHMS(b.ObsLead[i]))
}

// appendTwin appends the value of the column's twin for a record: NULL if METviewer's column stores
// the exact value.
func (c *column) appendTwin(dst, scratch []byte, b *record.Batch, i int) ([]byte, []byte) {
	scratch, exact := c.append(scratch[:0], b, i)
	switch {
	case exact:
		dst = append(dst, null...)
	case c.From == sqlengine.Header:
		dst = appendText(dst, b.Header(i)[c.Field])
	case c.From == sqlengine.Data && c.Data.Kind == record.Text:
		dst = appendText(dst, b.Text[c.Data.Slot][i])
	case c.From == sqlengine.Data:
		dst = strconv.AppendFloat(dst, b.Num[c.Data.Slot][i], 'g', -1, 64)
	default:
		dst = strconv.AppendInt(dst, int64(c.lead(b, i)), 10)
	}
	return dst, scratch
}

// makeTwins adds the missing twins.
func (w *lineWriter) makeTwins(ctx context.Context, need map[string]map[string]string) error {
	for table, columns := range need {
		var add []string
		for name, kind := range columns {
			if !w.twins[table][name] {
				add = append(add, "ADD COLUMN IF NOT EXISTS "+name+" "+kind+" INVISIBLE")
			}
		}
		if len(add) == 0 {
			continue
		}
		slices.Sort(add)
		if err := w.l.exec(ctx, "ALTER TABLE "+w.l.table(table)+" "+strings.Join(add, ", ")); err != nil {
			return err
		}
		if w.twins[table] == nil {
			w.twins[table] = map[string]bool{}
		}
		for name := range columns {
			w.twins[table][name] = true
		}
	}
	return nil
}

// isMyISAM reports whether METviewer's tables have no transactions.
func (w *lineWriter) isMyISAM() bool { return w.l.engine == myISAM }

// recordPending records the number of the first row that write will add to each table.
func (w *lineWriter) recordPending(ctx context.Context) error {
	w.first = w.l.next
	_, file := w.files.Uncommitted()
	pending := []string{pendingRow(sqlengine.FileTable, "data_file_id", file)}
	for _, h := range w.headers {
		_, first := h.Uncommitted()
		pending = append(pending, pendingRow(h.name, h.id, first))
	}
	for _, t := range w.l.types {
		pending = append(pending, pendingRow(tableOf(t), idColumn(t), w.first))
		if child, _ := childTable(tableOf(t)); child != "" {
			pending = append(pending, pendingRow(child, "line_data_id", w.first))
		}
	}
	pending = append(pending, w.pendingViews()...)
	return w.l.exec(ctx, "INSERT INTO "+w.l.table(pendingTable)+" VALUES "+strings.Join(pending, ", "))
}

func pendingRow(table, column string, first int64) string {
	return fmt.Sprintf("('%s', '%s', %d)", table, column, first)
}

// write writes the rows.
func (w *lineWriter) write(ctx context.Context) error {
	for _, h := range w.headers {
		_, first := h.Uncommitted()
		if err := w.writeLines(ctx, &h.lineTable, first); err != nil {
			return err
		}
	}
	if err := w.writeFiles(ctx); err != nil {
		return err
	}
	for _, t := range w.l.types {
		lt := w.tables[t]
		if err := w.writeLines(ctx, lt, w.l.next); err != nil {
			return err
		}
		child, columns := childTable(tableOf(t))
		// METdbLoad drops the last threshold of PCT, PJC and PRC, which has no further columns.
		if err := w.writeChildren(ctx, lt, child, columns, loneThreshold(t)); err != nil {
			return err
		}
		if err := w.writeView(ctx, lt, w.l.next); err != nil {
			return err
		}
		for _, b := range lt.batches {
			w.l.next += int64(b.Len())
		}
		if hasLineID(t) && w.l.next > math.MaxUint32 {
			return fmt.Errorf("%s: METviewer's line_data_id ends at %d", lt.name, uint32(math.MaxUint32))
		}
	}
	return nil
}

func (w *lineWriter) writeFiles(ctx context.Context) error {
	files, first := w.files.Uncommitted()
	if len(files) == 0 {
		return nil
	}
	now := sqlengine.AppendDateTime(nil, time.Now().Unix())
	columns := []string{"data_file_id", "data_file_lu_id", "filename", "path", "load_date"}
	f := infile{table: w.l.table(sqlengine.FileTable), columns: columns, charset: "binary"}
	f.rows = func(out *rowWriter) error {
		for n, file := range files {
			dst := strconv.AppendInt(out.row(), first+int64(n), 10)
			dst = strconv.AppendInt(append(dst, '\t'), sqlengine.FileKind(file.name), 10)
			dst = appendText(append(dst, '\t'), file.name)
			dst = appendText(append(dst, '\t'), file.dir)
			if err := out.end(append(append(dst, '\t'), now...)); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := f.load(ctx, w.l.conn)
	return err
}

// recordGone deletes the record of recordPending and records the replaced rows, in the transaction in which
// the commit takes effect.
func (w *lineWriter) recordGone(ctx context.Context) error {
	if err := w.l.exec(ctx, "DELETE FROM "+w.l.table(pendingTable)); err != nil {
		return err
	}
	for _, t := range w.l.types {
		lt := w.tables[t]
		for h, ids := range lt.replaced {
			for some := range slices.Chunk(ids, 1000) {
				values := flavour.Join(some, ", ", func(id int64) string { return fmt.Sprintf("('%s', %d, %d)", lt.name, h, id) })
				if err := w.l.exec(ctx, "INSERT INTO "+w.l.table(goneTable)+" VALUES "+values); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// removeReplaced removes the replaced rows. In MyISAM it runs after the transaction in which the commit
// takes effect, otherwise within that transaction.
func (w *lineWriter) removeReplaced(ctx context.Context) error {
	gone := false
	for _, t := range w.l.types {
		lt := w.tables[t]
		for h, ids := range lt.replaced {
			gone = true
			if err := remove(ctx, w.l.conn, w.l.a, w.l.subset, lt.name, h, ids); err != nil {
				return err
			}
		}
	}
	w.hasGone = gone && w.isMyISAM()
	return nil
}

// unlock unlocks the tables. Only then does the server write their lengths and keys; a killed server
// loses those that it has not written.
func (w *lineWriter) unlock(ctx context.Context) error { return w.l.exec(ctx, "UNLOCK TABLES") }

// relock locks the tables again. Another program may have added rows meanwhile; detectForeign finds them
// before the next commit.
func (w *lineWriter) relock(ctx context.Context) error { return w.l.exec(ctx, w.locks) }

// clearGone deletes the record of the replaced rows after removeReplaced has removed them.
func (w *lineWriter) clearGone(ctx context.Context) error {
	if !w.hasGone {
		return nil
	}
	return w.l.exec(ctx, "DELETE FROM "+w.l.table(goneTable))
}

// afterCommit keeps the numbers of new headers and files if the archive contains the commit. Otherwise it
// forgets them.
func (w *lineWriter) afterCommit(committed bool) {
	if w.headers == nil {
		return
	}
	w.files.Settle(committed)
	for _, known := range w.headers {
		known.Settle(committed)
	}
	for _, known := range w.viewHeaders {
		known.Settle(committed)
	}
	if known := w.viewHeaders["mtd_header"]; known != nil && !committed {
		_, next := known.Uncommitted()
		maps.DeleteFunc(w.revisions, func(_ string, id int64) bool { return id >= next })
	}
}
