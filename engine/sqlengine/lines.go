package sqlengine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// Lines are records of one line type on their way to a table that has one row
// for each, sorted by header, valid time and lead: in the order of the table's
// indexes, whose pages are then written once each.
type Lines struct {
	*design.Grouper
	Design design.Name
	IDs    []int64 // stat_header_id by header; normalized only
	Files  []int64 // data_file_id by batch; normalized only
}

// writeType stores the records of a line type.
func (l *Loader) writeType(ctx context.Context, q Querier, g *design.Grouper, stored *engine.Stored) error {
	stored.New += int64(len(g.Rows))
	if l.s.Order != nil {
		g.SortHeads(l.s.Order)
	}
	g.Sort()
	table, cols := l.a.Table(l.subset, g.Type)
	l.touch(table)
	if l.a.Design == design.Document {
		held := l.held(g, false)
		if l.s.Docs != nil {
			return l.s.Docs(ctx, q, g, held, stored)
		}
		return l.StoreDocs(ctx, q, g, held, stored)
	}
	lines := l.number(g)
	if held := l.held(g, true); len(held) > 0 {
		replace := l.s.Replace
		if replace == nil {
			replace = l.replace
		}
		if err := replace(ctx, q, lines, held, stored); err != nil {
			return err
		}
	}
	if l.s.Lines != nil {
		return l.s.Lines(ctx, q, table, cols, lines)
	}
	return l.s.Insert(ctx, q, table, cols, rowsOf(g.Rows, func(to Sink, _ int, r design.Row) { lines.Put(to, cols, r) }))
}

// held selects the rows that the archive may hold, after its catalog. Most of
// what a loader brings is certainly new.
func (l *Loader) held(g *design.Grouper, leads bool) []design.Row {
	if len(l.catalog.Groups) == 0 {
		return nil
	}
	groups := make([]*design.Group, len(g.Heads))
	for i := range g.Heads {
		groups[i] = l.catalog.Holding(g.Type, &g.Heads[i])
	}
	var out []design.Row
	for _, r := range g.Rows {
		if of := groups[r.Head]; of.MayHold(r.Valid) && (!leads || of.HasLead(r.Lead)) {
			out = append(out, r)
		}
	}
	return out
}

// number gives headers and files their numbers; normalized only.
func (l *Loader) number(g *design.Grouper) *Lines {
	lines := &Lines{Grouper: g, Design: l.a.Design}
	if l.a.Design != design.Normalized {
		return lines
	}
	lines.IDs, lines.Files = make([]int64, len(g.Heads)), make([]int64, len(g.Batches))
	for i, h := range g.Heads {
		lines.IDs[i], _ = l.headers.ID(HeaderKey(h))
	}
	for i, b := range g.Batches {
		lines.Files[i], _ = l.files.ID(b.File)
	}
	return lines
}

// Series are the first rows of each header and valid time of rows, which are sorted.
func Series(rows []design.Row) []design.Row {
	return slices.CompactFunc(slices.Clone(rows), func(a, b design.Row) bool { return a.Head == b.Head && a.Valid == b.Valid })
}

// seriesAsked is the number of headers and valid times that one query looks
// up; rowsDeleted is that of the rows that one statement deletes.
const (
	seriesAsked = 200
	rowsDeleted = 1000
)

// replace finds the rows of the series and times that are loaded again, and
// deletes those of the same identity.
func (l *Loader) replace(ctx context.Context, q Querier, lines *Lines, held []design.Row, stored *engine.Stored) error {
	table, cols := l.a.Table(l.subset, lines.Type)
	have := l.a.Collect(lines.Type, cols)
	heads := map[int64]*record.Header{}
	for i, id := range lines.IDs {
		heads[id] = &lines.Heads[i]
	}
	var in engine.Index
	_, fresh := l.headers.Fresh()
	old := slices.DeleteFunc(Series(held), func(r design.Row) bool { return lines.IDs[r.Head] >= fresh })
	for some := range slices.Chunk(old, seriesAsked) {
		pairs := make([]string, len(some))
		for i, r := range some {
			pairs[i] = fmt.Sprintf("(%d, %s)", lines.IDs[r.Head], l.a.Dialect.DateTime(r.Valid))
		}
		have.Reset()
		var ids []string
		err := q.Rows(ctx, "SELECT "+l.s.RowID+", "+Names("ld.", cols)+" FROM "+table+" ld WHERE (ld.stat_header_id, ld.fcst_valid_beg) IN ("+
			l.s.Pairs+strings.Join(slices.Compact(pairs), ", ")+")", nil, func(row []any) error {
			var id string
			var header int64
			if err := Scan(row, &id, &header); err != nil {
				return err
			}
			ids = append(ids, id)
			have.SetHeader(*heads[header])
			if err := have.Values(row[1:]); err != nil {
				return err
			}
			return have.Row()
		})
		if err != nil {
			return err
		}
		if in == nil && len(ids) > 0 {
			in = engine.IndexOf(lines.Batches)
		}
		gone := stored.MeetSome(&have.Batch, in)
		for i, row := range gone {
			ids[i] = ids[row]
		}
		for some := range slices.Chunk(ids[:len(gone)], rowsDeleted) {
			if err := l.s.Delete(ctx, q, table, some); err != nil {
				return err
			}
		}
	}
	return nil
}

// Meeter returns a function that has stored Meet the records of a table for
// which a condition holds, each of which lines bring again.
func (a *Archive) Meeter(ctx context.Context, q Querier, subset string, lines *Lines, stored *engine.Stored) func(where string) error {
	var in engine.Index
	return func(where string) error {
		for have, err := range engine.Dump(func(to *engine.Dumper) error { return a.DumpType(ctx, q, subset, lines.Type, where, to) }) {
			if err != nil {
				return err
			}
			if in == nil {
				in = engine.IndexOf(lines.Batches)
			}
			if err := stored.MeetAll(have, in); err != nil {
				return err
			}
		}
		return nil
	}
}

// Put hands the values of a record to a sink.
func (l *Lines) Put(to Sink, cols []Column, r design.Row) {
	b, i, normalized := l.Batches[r.Batch], int(r.Row), l.Design == design.Normalized
	for k := range cols {
		switch c := &cols[k]; c.From {
		case HeaderID:
			to.Whole(k, l.IDs[r.Head])
		case FileID:
			to.Whole(k, l.Files[r.Batch])
		case LineNum:
			to.Whole(k, int64(b.Line[i]))
		case Header:
			to.Text(k, l.Heads[r.Head][c.Field])
		case Lead:
			to.Whole(k, l.Lead(r))
		case ValidBeg:
			to.Time(k, r.Valid)
		case ValidEpoch:
			to.Whole(k, r.Valid)
		case ValidEnd:
			to.Time(k, b.ValidEnd[i])
		case InitBeg:
			to.Time(k, r.Valid-int64(r.Lead))
		case ObsLead:
			to.Whole(k, l.ObsLead(r))
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

// putNumber hands on a number; METviewer's tables have a code for a missing one.
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

// Lead is a record's lead as its design holds it.
func (l *Lines) Lead(r design.Row) int64 {
	if l.Design == design.Normalized {
		return design.LeadCode(l.Heads[r.Head][record.Version], r.Lead)
	}
	return int64(r.Lead)
}

// ObsLead is a record's lead of the observation as its design holds it.
func (l *Lines) ObsLead(r design.Row) int64 {
	lead := l.Batches[r.Batch].ObsLead[r.Row]
	if l.Design == design.Normalized {
		return design.LeadHMS(lead)
	}
	return int64(lead)
}
