package sqlengine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// Lines are records of one line type for a table with one row for each record. They are sorted by header, valid time
// and lead. This is the order of the table's indexes, in which the engine writes each index page only once.
type Lines struct {
	*design.Grouper
	Design    design.Name
	HeaderIDs []int64 // stat_header_id by header; normalized only
	FileIDs   []int64 // data_file_id by batch; normalized only
}

// writeType stores the records of a line type.
func (l *Loader) writeType(ctx context.Context, q Querier, g *design.Grouper, stored *archive.CommitResult) error {
	stored.New += int64(len(g.Rows))
	if l.s.HeaderOrder != nil {
		g.SortHeaders(l.s.HeaderOrder)
	}
	g.Sort()
	table, cols := l.a.Table(l.subset, g.Type)
	l.noteGrown(table)
	if l.a.Design == design.Document {
		candidates := l.candidates(g)
		if l.s.MergeDocs != nil {
			return l.s.MergeDocs(ctx, q, g, candidates, stored)
		}
		return l.StoreDocs(ctx, q, g, candidates, stored)
	}
	lines := l.assignIDs(g)
	if candidates := l.candidates(g); len(candidates) > 0 {
		replace := l.s.Replace
		if replace == nil {
			replace = l.replace
		}
		if err := replace(ctx, q, lines, candidates, stored); err != nil {
			return err
		}
	}
	if l.s.InsertLines != nil {
		return l.s.InsertLines(ctx, q, table, cols, lines)
	}
	rows := rowsOf(g.Rows, func(to Sink, _ int, r design.Row) { lines.Put(to, cols, r) })
	return l.s.Insert(ctx, q, table, cols, rows)
}

// candidates selects the rows that may exist in the archive, according to its catalog, because most rows of a load are
// certainly new. A new lead of an existing document changes that document.
func (l *Loader) candidates(g *design.Grouper) []design.Row {
	if len(l.catalog.Groups) == 0 {
		return nil
	}
	groups := lists.Map(lists.Indices(len(g.Headers)), func(i int) *design.Group { return l.catalog.GroupFor(g.Type, &g.Headers[i]) })
	isDocument := l.a.Design == design.Document
	return lists.Filter(g.Rows, func(r design.Row) bool {
		return groups[r.Header].MayContain(r.Valid) && (isDocument || groups[r.Header].HasLead(r.Lead))
	})
}

// assignIDs numbers the headers and files; in the design normalized only.
func (l *Loader) assignIDs(g *design.Grouper) *Lines {
	lines := &Lines{Grouper: g, Design: l.a.Design}
	if l.a.Design != design.Normalized {
		return lines
	}
	lines.HeaderIDs, lines.FileIDs = make([]int64, len(g.Headers)), make([]int64, len(g.Batches))
	for i, h := range g.Headers {
		lines.HeaderIDs[i], _ = l.headers.ID(HeaderKey(h))
	}
	for i, b := range g.Batches {
		lines.FileIDs[i], _ = l.files.ID(b.File)
	}
	return lines
}

// Series returns the first row of each header and valid time of sorted rows.
func Series(rows []design.Row) []design.Row {
	isSame := func(a, b design.Row) bool { return a.Header == b.Header && a.Valid == b.Valid }
	return slices.CompactFunc(slices.Clone(rows), isSame)
}

// The greatest numbers of pairs of header and valid time in one query, and of rows that one statement deletes.
const (
	seriesPerQuery = 200
	rowsPerDelete  = 1000
)

// replace is the default of LoadSession.Replace: it queries the existing rows with the headers and valid times of the
// candidates, and deletes those with the identity of an incoming record.
func (l *Loader) replace(ctx context.Context, q Querier, lines *Lines, candidates []design.Row, stored *archive.CommitResult) error {
	table, cols := l.a.Table(l.subset, lines.Type)
	existing := l.a.NewRecordDecoder(lines.Type, cols)
	headers := map[int64]*record.Header{}
	for i, id := range lines.HeaderIDs {
		headers[id] = &lines.Headers[i]
	}
	var incoming *archive.RecordIndex
	_, firstNew := l.headers.Uncommitted()
	// A header that this commit stores has no stored records.
	isNew := func(r design.Row) bool { return lines.HeaderIDs[r.Header] >= firstNew }
	for chunk := range slices.Chunk(slices.DeleteFunc(Series(candidates), isNew), seriesPerQuery) {
		pairs := lists.Map(chunk, func(r design.Row) string {
			return fmt.Sprintf("(%d, %s)", lines.HeaderIDs[r.Header], l.a.Dialect.DateTime(r.Valid))
		})
		existing.Reset()
		var ids []string // by row of existing
		text := "SELECT " + l.s.RowID + ", " + ColumnList("ld.", cols) + " FROM " + table +
			" ld WHERE (ld.stat_header_id, ld.fcst_valid_beg) IN (" + l.s.PairPrefix + strings.Join(slices.Compact(pairs), ", ") + ")"
		err := q.Rows(ctx, text, nil, func(row []any) error {
			var id string
			var header int64
			if err := Scan(row, &id, &header); err != nil {
				return err
			}
			ids = append(ids, id)
			existing.SetHeader(*headers[header])
			if err := existing.SetRow(row[1:]); err != nil {
				return err
			}
			return existing.EndRow()
		})
		if err != nil {
			return err
		}
		if incoming == nil && len(ids) > 0 {
			incoming = archive.NewRecordIndex(lines.Batches)
		}
		replaced := stored.ResolveSome(&existing.Batch, incoming)
		if lines.Keep {
			continue
		}
		for i, row := range replaced {
			ids[i] = ids[row] // in place: replaced is ascending, so i is at most row
		}
		for deleted := range slices.Chunk(ids[:len(replaced)], rowsPerDelete) {
			if err := l.s.DeleteRows(ctx, q, table, deleted); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resolver returns a function that calls Resolve for the stored records that satisfy a
// condition. Each of these records must have an incoming record in lines.
func (a *Archive) Resolver(ctx context.Context, q Querier, subset string, lines *Lines, stored *archive.CommitResult) func(where string) error {
	resolve := stored.Resolver(lines.Batches)
	return func(where string) error {
		dump := func(to *archive.Dumper) error { return a.DumpType(ctx, q, subset, lines.Type, where, to) }
		return resolve(archive.Dump(dump))
	}
}

// Put passes the values of a record to a sink.
func (l *Lines) Put(to Sink, cols []Column, r design.Row) {
	b, i, normalized := l.Batches[r.Batch], int(r.Row), l.Design == design.Normalized
	for k := range cols {
		switch c := &cols[k]; c.From {
		case HeaderID:
			to.Integer(k, l.HeaderIDs[r.Header])
		case FileID:
			to.Integer(k, l.FileIDs[r.Batch])
		case LineNum:
			to.Integer(k, int64(b.Line[i]))
		case Header:
			to.Text(k, l.Headers[r.Header][c.Field])
		case Lead:
			to.Integer(k, l.Lead(r))
		case ValidBeg:
			to.Time(k, r.Valid)
		case ValidEpoch:
			to.Integer(k, r.Valid)
		case ValidEnd:
			to.Time(k, b.ValidEnd[i])
		case InitBeg:
			to.Time(k, r.Valid-int64(r.Lead))
		case ObsLead:
			to.Integer(k, l.ObsLead(r))
		case ObsBeg:
			to.Time(k, b.ObsBeg[i])
		case ObsEnd:
			to.Time(k, b.ObsEnd[i])
		case Repeats:
			to.List(k, b.Repeats(i))
		case Data:
			if c.Data.Kind == record.Text {
				to.Text(k, b.Text[c.Data.Slot][i])
			} else {
				putNumber(to, k, b.Num[c.Data.Slot][i], normalized)
			}
		}
	}
}

// putNumber passes a number to a sink. A missing number is METviewer's code in its tables, and NULL in others.
func putNumber(to Sink, k int, f float64, normalized bool) {
	switch {
	case !math.IsNaN(f):
		to.Number(k, f)
	case normalized:
		to.Number(k, design.MissingNumber)
	default:
		to.Null(k)
	}
}

// Lead returns a record's lead as the design stores it.
func (l *Lines) Lead(r design.Row) int64 {
	if l.Design == design.Normalized {
		return design.LeadCode(l.Headers[r.Header][record.Version], r.Lead)
	}
	return int64(r.Lead)
}

// ObsLead returns a record's observation lead as the design stores it.
func (l *Lines) ObsLead(r design.Row) int64 {
	lead := l.Batches[r.Batch].ObsLead[r.Row]
	if l.Design == design.Normalized {
		return design.LeadHMS(lead)
	}
	return int64(lead)
}

// ReadHeaders passes the headers of stat_header and their numbers to f.
func (a *Archive) ReadHeaders(ctx context.Context, q Querier, subset string, f func(h record.Header, id int64)) error {
	cols := HeaderColumns()
	var h record.Header
	var id int64
	into := append([]any{&id}, lists.Map(cols[1:], func(c Column) any { return &h[c.Field] })...)
	text := "SELECT " + ColumnList("", cols) + " FROM " + a.Dialect.Table(subset, design.HeaderTable)
	return q.Rows(ctx, text, nil, func(row []any) error {
		err := Scan(row, into...)
		f(h, id)
		return err
	})
}

// readIDs reads the numbers of the stored headers and files.
func (l *Loader) readIDs(ctx context.Context, q Querier) error {
	l.headers, l.files = NewInterner[record.Header](), NewInterner[string]()
	if err := l.a.ReadHeaders(ctx, q, l.subset, l.headers.Add); err != nil {
		return err
	}
	text := "SELECT data_file_id, path, filename FROM " + l.a.Dialect.Table(l.subset, FileTable)
	return q.Rows(ctx, text, nil, func(row []any) error {
		var id int64
		var dir, name string
		err := Scan(row, &id, &dir, &name)
		l.files.Add(joinPath(dir, name), id)
		return err
	})
}

// writeHeaders writes the new headers and files of this commit.
func (l *Loader) writeHeaders(ctx context.Context, q Querier) error {
	if l.headers == nil {
		return nil
	}
	if headers, first := l.headers.Uncommitted(); len(headers) > 0 {
		table, cols := l.a.Dialect.Table(l.subset, design.HeaderTable), HeaderColumns()
		l.noteGrown(table)
		err := l.s.Insert(ctx, q, table, cols, rowsOf(headers, func(to Sink, i int, h record.Header) {
			to.Integer(0, first+int64(i))
			for k, c := range cols[1:] {
				to.Text(k+1, h[c.Field])
			}
		}))
		if err != nil {
			return err
		}
	}
	files, first := l.files.Uncommitted()
	if len(files) == 0 {
		return nil
	}
	now := time.Now().Unix()
	table := l.a.Dialect.Table(l.subset, FileTable)
	return l.s.Insert(ctx, q, table, FileColumns(), rowsOf(files, func(to Sink, i int, file string) {
		dir, name := splitPath(file)
		to.Integer(0, first+int64(i))
		to.Integer(1, FileKind(name))
		to.Text(2, name)
		to.Text(3, dir)
		to.Time(4, now)
		to.Null(5)
	}))
}

// splitPath splits a path as METviewer stores it; joinPath is the inverse.
func splitPath(file string) (dir, name string) {
	slash := strings.LastIndexByte(file, '/')
	if slash <= 0 { // the path has no folder, or only the root
		return file[:slash+1], file[slash+1:]
	}
	return file[:slash], file[slash+1:]
}

func joinPath(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// Interner numbers headers or files 1, 2, 3 … in the order of their first use, after the stored ones. A number that ID
// assigns is uncommitted until Settle. If the transaction was rolled back, Settle withdraws it, because the archive has
// lost its row.
type Interner[K comparable] struct {
	ids         map[K]int64
	last        int64
	uncommitted []K
}

// NewInterner returns an empty Interner.
func NewInterner[K comparable]() *Interner[K] { return &Interner[K]{ids: map[K]int64{}} }

// Add adds a stored number.
func (n *Interner[K]) Add(k K, id int64) {
	n.ids[k] = id
	n.last = max(n.last, id)
}

// ID returns the number of k, and assigns one if k has none.
func (n *Interner[K]) ID(k K) (id int64, uncommitted bool) {
	if id, ok := n.ids[k]; ok {
		return id, id > n.last-int64(len(n.uncommitted))
	}
	n.last++
	n.ids[k] = n.last
	n.uncommitted = append(n.uncommitted, k)
	return n.last, true
}

// Uncommitted lists the keys with uncommitted numbers; first is the number of the first key.
func (n *Interner[K]) Uncommitted() (keys []K, first int64) {
	return n.uncommitted, n.last - int64(len(n.uncommitted)) + 1
}

// Settle keeps the uncommitted numbers if the archive contains their rows. Otherwise it withdraws them.
func (n *Interner[K]) Settle(committed bool) {
	if !committed {
		for _, k := range n.uncommitted {
			delete(n.ids, k)
		}
		n.last -= int64(len(n.uncommitted))
	}
	n.uncommitted = n.uncommitted[:0]
}

// HeaderKey returns the part of h that stat_header contains: all fields except cov_thresh and alpha, which are columns
// of the line tables.
func HeaderKey(h record.Header) record.Header {
	h[record.CovThresh], h[record.Alpha] = "", ""
	return h
}
