package mariadb

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// writeLines loads the rows of a table, which are numbered from first.
func (w *lineWriter) writeLines(ctx context.Context, lt *lineTable, first int64) error {
	if len(lt.batches) == 0 || lt.batches[0].Len() == 0 {
		return nil // only the one batch of a table of headers can be empty
	}
	names := []string{lt.id}
	var stored, twins []*column
	var set []string
	for k := range lt.columns {
		c := &lt.columns[k]
		if c.met.kind == none {
			continue
		}
		missing, _ := c.number(nil, math.NaN())
		value := constantExpr(&c.Column, lt.batches, strings.ReplaceAll(string(missing), null, "NULL"))
		if value != "" && c.From != sqlengine.Header { // METviewer's column may store a header field shortened
			set = append(set, c.met.name+" = "+value)
			continue
		}
		stored = append(stored, c)
		names = append(names, c.met.name)
	}
	for k := range lt.columns {
		if c := &lt.columns[k]; w.twins[lt.name][c.twin()] {
			twins = append(twins, c)
			names = append(names, c.twin())
		}
	}
	repeats := lt.t != nil && hasLineID(lt.t)
	if repeats {
		names = append(names, repeatsColumn)
	}
	var scratch []byte
	f := infile{table: w.l.table(lt.name), columns: names, set: strings.Join(set, ", ")}
	return w.load(ctx, f, lt, first, func(out *rowWriter, id int64, batch int, b *record.Batch, i int) error {
		dst := strconv.AppendInt(out.row(), id, 10)
		for _, c := range stored {
			dst = w.append(append(dst, '\t'), lt, c, batch, b, i)
		}
		for _, c := range twins {
			dst, scratch = c.appendTwin(append(dst, '\t'), scratch, b, i)
		}
		if repeats {
			dst = design.AppendRepeats(append(dst, '\t'), b.Repeats(i))
		}
		return out.end(dst)
	})
}

// appendRecord writes the rows of record i of a batch, whose number is id.
type appendRecord func(out *rowWriter, id int64, batch int, b *record.Batch, i int) error

// load loads what add writes for each record of a table. The records are numbered from id.
func (w *lineWriter) load(ctx context.Context, f infile, lt *lineTable, id int64, add appendRecord) error {
	f.charset = "binary"
	f.rows = func(out *rowWriter) error {
		for batch, b := range lt.batches {
			for i := range b.Len() {
				if err := add(out, id, batch, b, i); err != nil {
					return err
				}
				id++
			}
		}
		return nil
	}
	_, err := f.load(ctx, w.l.conn)
	return err
}

// append appends the value of one of METviewer's columns.
func (w *lineWriter) append(dst []byte, lt *lineTable, c *column, batch int, b *record.Batch, i int) []byte {
	switch c.From {
	case sqlengine.HeaderID:
		return strconv.AppendInt(dst, lt.headerIDs[batch][b.HeaderIndex[i]], 10)
	case sqlengine.FileID:
		return strconv.AppendInt(dst, lt.files[batch], 10)
	case sqlengine.LineNum:
		return strconv.AppendUint(dst, uint64(b.Line[i]), 10)
	case sqlengine.ValidBeg:
		return append(dst, w.times.text(b.Valid[i])...)
	case sqlengine.ValidEnd:
		return append(dst, w.times.text(b.ValidEnd[i])...)
	case sqlengine.InitBeg:
		return append(dst, w.times.text(b.Init(i))...)
	case sqlengine.ObsBeg:
		return append(dst, w.times.text(b.ObsBeg[i])...)
	case sqlengine.ObsEnd:
		return append(dst, w.times.text(b.ObsEnd[i])...)
	}
	dst, _ = c.append(dst, b, i)
	return dst
}

// writeChildren loads the repeating columns into METviewer's child table. It completes a group
// that is too short with METdbLoad's values, 0 for a count and -9999 for a number. If onlyComplete,
// it omits such a group. The names of TCDIAG's values are in one text.
func (w *lineWriter) writeChildren(ctx context.Context, lt *lineTable, table string, columns []metCol, onlyComplete bool) error {
	if table == "" {
		return nil
	}
	square := lt.t.Name == "MCTC"
	words, named := lt.t.Column(columns[0].name)
	names := []string{idOfLines, "i_value"}
	if square {
		names = append(names, "j_value")
	}
	names = append(names, lists.Map(columns, func(c metCol) string { return c.name })...)
	f := infile{table: w.l.table(table), columns: names}
	return w.load(ctx, f, lt, w.l.next, func(out *rowWriter, id int64, _ int, b *record.Batch, i int) error {
		if named {
			return appendNamed(out, id, columns, strings.Split(b.Text[words.Slot][i], ","), b.Repeats(i))
		}
		return appendGroups(out, id, columns, b.Repeats(i), square, onlyComplete)
	})
}

// appendGroups appends the groups of the repeating columns of a record.
func appendGroups(out *rowWriter, id int64, columns []metCol, values []float64, square, onlyComplete bool) error {
	side := max(int(math.Sqrt(float64(len(values)))), 1)
	for g := 0; g*len(columns) < len(values); g++ {
		if onlyComplete && (g+1)*len(columns) > len(values) {
			break
		}
		dst := append(strconv.AppendInt(out.row(), id, 10), '\t')
		if square {
			dst = append(strconv.AppendInt(dst, int64(g/side+1), 10), '\t')
			dst = strconv.AppendInt(dst, int64(g%side+1), 10)
		} else {
			dst = strconv.AppendInt(dst, int64(g+1), 10)
		}
		for k := range columns {
			v := record.Missing()
			if at := g*len(columns) + k; at < len(values) {
				v = values[at]
			}
			dst = appendChild(append(dst, '\t'), &columns[k], v)
		}
		if err := out.end(dst); err != nil {
			return err
		}
	}
	return nil
}

func appendChild(dst []byte, c *metCol, v float64) []byte {
	if c.kind == unsigned && math.IsNaN(v) {
		v = 0
	}
	dst, _ = (&column{met: *c}).number(dst, v)
	return dst
}

// probe lists what a commit must look up: series and valid times with possibly existing records.
type probe map[seriesTime]struct{}

// seriesTime is the number of a header, and a valid time.
type seriesTime struct{ header, valid int64 }

func (p probe) add(lt *lineTable, b *record.Batch, w *lineWriter) {
	headerIDs := lt.headerIDs[len(lt.headerIDs)-1]
	groups, isForeign := make([]*design.Group, len(b.Headers)), make([]bool, len(b.Headers))
	for k := range b.Headers {
		if _, fresh := w.headersOf(b.Type).ID(sqlengine.HeaderKey(b.Headers[k])); !fresh {
			groups[k], isForeign[k] = w.l.catalog.GroupFor(b.Type, &b.Headers[k]), w.foreignTypes[b.Type]
		}
	}
	for i := range b.Len() {
		if v := b.Valid[i]; isForeign[b.HeaderIndex[i]] || groups[b.HeaderIndex[i]].MayContain(v) {
			p[seriesTime{headerIDs[b.HeaderIndex[i]], v}] = struct{}{}
		}
	}
}

// span returns the numbers of the headers of these series, and the condition on the time, from the first to the last of
// these times.
func (p probe) span() (headers []int64, times string) {
	if len(p) == 0 {
		return nil, ""
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for s := range p {
		headers = append(headers, s.header)
		first, last = min(first, s.valid), max(last, s.valid)
	}
	slices.Sort(headers)
	return slices.Compact(headers), " AND ld.fcst_valid_beg BETWEEN " + moment(first) + " AND " + moment(last)
}

// probeHeaders is the number of series in one query.
const probeHeaders = 500

// find reads the records that the commit may replace. It first queries which series and times
// exist, and then reads their records. In most commits none exists.
func (w *lineWriter) find(ctx context.Context, lt *lineTable, p probe) error {
	hits := probe{}
	headers, times := p.span()
	for some := range slices.Chunk(headers, probeHeaders) {
		if err := w.findHits(ctx, lt, whereHeaders(some)+times, p, hits); err != nil {
			return err
		}
	}
	headers, times = hits.span()
	for some := range slices.Chunk(headers, probeHeaders) {
		for _, h := range some {
			lt.probed[h] = struct{}{}
		}
		if err := w.findSome(ctx, lt, whereHeaders(some)+times); err != nil {
			return err
		}
	}
	return nil
}

// whereHeaders returns the condition on the numbers of headers.
func whereHeaders(headers []int64) string {
	return " WHERE ld.stat_header_id IN " + flavour.List(headers, decimal)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func (w *lineWriter) findHits(ctx context.Context, lt *lineTable, where string, p, hits probe) error {
	text := "SELECT DISTINCT stat_header_id, " + w.l.a.Dialect.Epoch("fcst_valid_beg") + " FROM " + w.l.table(lt.name) + " ld" + where
	return w.l.rows(ctx, text, func(row []any) error {
		var s seriesTime
		err := sqlengine.Scan(row, &s.header, &s.valid)
		if _, ok := p[s]; ok {
			hits[s] = struct{}{}
		}
		return err
	})
}

func (w *lineWriter) findSome(ctx context.Context, lt *lineTable, where string) error {
	exprs, cols := w.l.a.lineSelect(w.l.subset, lt.t, w.twins)
	decoder := w.l.a.NewRecordDecoder(lt.t, cols)
	var refs []rowRef
	flush := func() {
		batch := decoder.Batch.Clone()
		lt.hash.SetBatch(batch)
		for i, r := range refs {
			r.batch, r.row = batch, i
			lt.existing.Put(lt.hash.Key(i), r)
		}
		refs = refs[:0]
		decoder.Reset()
	}
	text := "SELECT ld.stat_header_id, " + ownID(lt.t) + ", " + exprs + w.l.a.fromLines(w.l.subset, lt.t, w.twins) + where
	err := w.l.rows(ctx, text, func(row []any) error {
		var ref rowRef
		if err := cmp.Or(sqlengine.Scan(row, &ref.header, &ref.id), decoder.SetRow(row[2:])); err != nil {
			return err
		}
		if err := decoder.EndRow(); err != nil {
			return err
		}
		if refs = append(refs, ref); len(refs) == archive.DumpRows {
			flush()
		}
		return nil
	})
	flush()
	return err
}

// replace lists the rows that the commit replaces. Barograph must have loaded all of them.
func (lt *lineTable) replace(stored *archive.CommitResult) error {
	for k, b := range lt.batches {
		stored.New += int64(b.Len())
		if lt.existing.Empty() {
			continue
		}
		lt.hash.SetBatch(b)
		for i := range b.Len() {
			if _, ok := lt.probed[lt.headerIDs[k][b.HeaderIndex[i]]]; !ok {
				continue
			}
			for r := range lt.existing.All(lt.hash.Key(i)) {
				if r.id < 0 {
					return fmt.Errorf("%s contains the record of %s:%d, which another program has loaded", lt.name, fault.Name(b.File), b.Line[i])
				}
				if stored.Resolve(b.File, r.batch, r.row, b, i); !b.KeepConflicts {
					lt.replaced[r.header] = append(lt.replaced[r.header], r.id)
				}
			}
		}
	}
	lt.existing = record.Multimap[rowRef]{}
	return nil
}
