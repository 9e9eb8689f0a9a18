package design

import (
	"cmp"
	"iter"
	"slices"

	"github.com/barograph/barograph/record"
)

// Doc is a document, as far as one load contributes to it: records of one header and one valid
// time, sorted by lead and then by the other parts of their identity.
type Doc struct {
	Rows  *record.Batch // one header, one valid time
	Files []string      // by row: the file that contains it
}

// Header is the header of the document.
func (d *Doc) Header() *record.Header { return &d.Rows.Headers[0] }

// Valid is the valid time of the document, Unix seconds.
func (d *Doc) Valid() int64 { return d.Rows.Valid[0] }

// Grouper collects records of one line type and groups them into documents. It also sorts rows into
// the order of their indexes.
type Grouper struct {
	Type    *record.LineType
	Keep    bool // see record.Batch.KeepConflicts
	Batches []*record.Batch
	// the distinct headers, in order of first occurrence or as SortHeaders has sorted them
	Headers []record.Header
	Rows    []Row // in the order of Add or, after Sort, by header, valid time and lead

	index map[record.Header]int32
}

// Row is a record of a Grouper: its position and its sort key.
type Row struct {
	Header     int32 // number of the header in Headers
	Lead       int32
	Valid      int64
	Batch, Row int32 // number of the batch, and of the record in it
}

// NewGrouper returns a grouper of records of type t.
func NewGrouper(t *record.LineType) *Grouper {
	return &Grouper{Type: t, index: map[record.Header]int32{}}
}

// Add adds the records of b, which must stay unchanged until Reset.
func (g *Grouper) Add(b *record.Batch) {
	heads := make([]int32, len(b.Headers))
	for i, h := range b.Headers {
		n, ok := g.index[h]
		if !ok {
			n = int32(len(g.Headers))
			g.index[h] = n
			g.Headers = append(g.Headers, h)
		}
		heads[i] = n
	}
	at := int32(len(g.Batches))
	g.Batches, g.Keep = append(g.Batches, b), b.KeepConflicts
	g.Rows = slices.Grow(g.Rows, b.Len())
	for i := range b.Len() {
		g.Rows = append(g.Rows, Row{heads[b.HeaderIndex[i]], b.Lead[i], b.Valid[i], at, int32(i)})
	}
}

// Reset removes all records.
func (g *Grouper) Reset() {
	clear(g.index)
	clear(g.Batches)
	g.Batches, g.Headers, g.Rows = g.Batches[:0], g.Headers[:0], g.Rows[:0]
}

// Docs iterates over the documents, by header in the order of Headers, then by valid time. A Doc is
// valid until the next step.
func (g *Grouper) Docs() iter.Seq[*Doc] {
	g.Sort()
	return func(yield func(*Doc) bool) {
		doc := &Doc{Rows: &record.Batch{}}
		for rows := range g.Series() {
			g.fill(doc, rows)
			if !yield(doc) {
				return
			}
		}
	}
}

// HeadersAndTimes iterates over the header and valid time of each document, in the order of Docs.
func (g *Grouper) HeadersAndTimes() iter.Seq2[*record.Header, int64] {
	g.Sort()
	return func(yield func(*record.Header, int64) bool) {
		for rows := range g.Series() {
			if r := rows[0]; !yield(g.Batches[r.Batch].Header(int(r.Row)), r.Valid) {
				return
			}
		}
	}
}

// Series iterates over groups of sorted rows that share header and valid time.
func (g *Grouper) Series() iter.Seq[[]Row] {
	return func(yield func([]Row) bool) {
		for from := 0; from < len(g.Rows); {
			to := from + 1
			for to < len(g.Rows) && g.Rows[to].Header == g.Rows[from].Header && g.Rows[to].Valid == g.Rows[from].Valid {
				to++
			}
			if !yield(g.Rows[from:to]) {
				return
			}
			from = to
		}
	}
}

// SortHeaders sorts the headers, and the rows accordingly.
func (g *Grouper) SortHeaders(compare func(a, b *record.Header) int) {
	by := make([]int32, len(g.Headers))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return compare(&g.Headers[a], &g.Headers[b]) })
	rank, heads := make([]int32, len(by)), make([]record.Header, len(by))
	for at, head := range by {
		rank[head], heads[at] = int32(at), g.Headers[head]
		g.index[heads[at]] = int32(at)
	}
	for i := range g.Rows {
		g.Rows[i].Header = rank[g.Rows[i].Header]
	}
	g.Headers = heads
	g.Sort()
}

// Sort orders the rows by header, valid time and lead. Because there are few headers, it first
// distributes rows by counting, and then sorts each header's rows, which files often contain in
// order.
func (g *Grouper) Sort() {
	if slices.IsSortedFunc(g.Rows, compareRows) {
		return
	}
	ends := make([]int, len(g.Headers)+1) // ends[h] is first the begin of the rows of header h, at last their end
	for i := range g.Rows {
		ends[g.Rows[i].Header+1]++
	}
	for h := range len(g.Headers) {
		ends[h+1] += ends[h]
	}
	out := make([]Row, len(g.Rows))
	for _, r := range g.Rows {
		out[ends[r.Header]] = r
		ends[r.Header]++
	}
	from := 0
	for _, to := range ends[:len(g.Headers)] {
		if rows := out[from:to]; !slices.IsSortedFunc(rows, compareRows) {
			slices.SortStableFunc(rows, compareRows)
		}
		from = to
	}
	g.Rows = out
}

func compareRows(a, b Row) int {
	switch {
	case a.Header != b.Header:
		return cmp.Compare(a.Header, b.Header)
	case a.Valid != b.Valid:
		return cmp.Compare(a.Valid, b.Valid)
	}
	return cmp.Compare(a.Lead, b.Lead)
}

func (g *Grouper) fill(doc *Doc, rows []Row) {
	doc.Rows.Reset(g.Type, "")
	doc.Rows.KeepConflicts = g.Keep
	doc.Files = doc.Files[:0]
	doc.Rows.AddHeader(g.Headers[rows[0].Header])
	slices.SortStableFunc(rows, func(a, b Row) int {
		if a.Lead != b.Lead {
			return cmp.Compare(a.Lead, b.Lead)
		}
		return compareEntries(g.Batches[a.Batch], int(a.Row), g.Batches[b.Batch], int(b.Row))
	})
	for _, r := range rows {
		b := g.Batches[r.Batch]
		doc.Rows.AppendRow(b, int(r.Row), 0)
		doc.Files = append(doc.Files, b.File)
	}
}

// compareEntries orders two records of one document by lead, by the further times, and by the identity
// columns of the line type. Records of the same identity are equal.
func compareEntries(a *record.Batch, i int, b *record.Batch, j int) int {
	c := cmp.Or(
		cmp.Compare(a.Lead[i], b.Lead[j]), cmp.Compare(a.ValidEnd[i], b.ValidEnd[j]), cmp.Compare(a.ObsLead[i], b.ObsLead[j]),
		cmp.Compare(a.ObsBeg[i], b.ObsBeg[j]), cmp.Compare(a.ObsEnd[i], b.ObsEnd[j]))
	for k := 0; c == 0 && k < len(a.Type.Columns); k++ {
		col := &a.Type.Columns[k]
		if !col.InIdentity {
			continue
		}
		if col.Kind == record.Text {
			c = cmp.Compare(a.Text[col.Slot][i], b.Text[col.Slot][j])
		} else {
			c = cmp.Compare(a.Num[col.Slot][i], b.Num[col.Slot][j])
		}
	}
	return c
}

// Merge combines the records of doc with existing, the records that the archive has under the same
// id, sorted as documents are and with one header. It resets into and stores the result there. A
// record of doc replaces the existing record of the same identity, unless doc keeps conflicts.
// Merge calls onExisting with the indexes in existing and in doc of each record that is in both.
func Merge(into, existing *record.Batch, doc *Doc, onExisting func(i, j int)) {
	into.Reset(existing.Type, "")
	into.AddHeader(existing.Headers[0])
	i, j := 0, 0
	for i < existing.Len() || j < doc.Rows.Len() {
		switch c := compareNext(existing, i, doc.Rows, j); {
		case c < 0:
			into.AppendRow(existing, i, 0)
			i++
		case c > 0:
			into.AppendRow(doc.Rows, j, 0)
			j++
		case doc.Rows.KeepConflicts:
			into.AppendRow(existing, i, 0)
			for k := j; k < doc.Rows.Len() && compareEntries(existing, i, doc.Rows, k) == 0; k++ {
				onExisting(i, k)
			}
			i++
		default:
			into.AppendRow(doc.Rows, j, 0)
			onExisting(i, j)
			i++
			j++
		}
	}
}

func compareNext(a *record.Batch, i int, b *record.Batch, j int) int {
	switch {
	case i == a.Len():
		return 1
	case j == b.Len():
		return -1
	}
	return compareEntries(a, i, b, j)
}

// Groups groups records of several line types into documents, with one Grouper per line type. The
// zero value is ready for use.
type Groups struct {
	groupers map[*record.LineType]*Grouper
	types    []*record.LineType // in the order of first occurrence
}

// Add adds the records of b, which must stay unchanged until Reset.
func (g *Groups) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	if g.groupers == nil {
		g.groupers = map[*record.LineType]*Grouper{}
	}
	of := g.groupers[b.Type]
	if of == nil {
		of = NewGrouper(b.Type)
		g.groupers[b.Type] = of
	}
	if !slices.Contains(g.types, b.Type) {
		g.types = append(g.types, b.Type)
	}
	of.Add(b)
}

// Types lists the line types of the records, in the order of first occurrence.
func (g *Groups) Types() []*record.LineType { return g.types }

// Grouper returns the grouper of one of Types.
func (g *Groups) Grouper(t *record.LineType) *Grouper { return g.groupers[t] }

// Reset removes all records.
func (g *Groups) Reset() {
	for _, of := range g.groupers {
		of.Reset()
	}
	g.types = g.types[:0]
}
