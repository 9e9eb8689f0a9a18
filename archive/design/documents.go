package design

import (
	"cmp"
	"iter"
	"slices"

	"github.com/barograph/barograph/record"
)

// Doc is the part of a document that one load brings: records of one header
// and one valid time, sorted by lead (and by what else tells them apart).
type Doc struct {
	Rows *record.Batch // one header, one valid time
	From []string      // by row: the file it came from
}

// Header is the header of the document.
func (d *Doc) Header() *record.Header { return &d.Rows.Headers[0] }

// Valid is the valid time of the document, Unix seconds.
func (d *Doc) Valid() int64 { return d.Rows.Valid[0] }

// Grouper collects records of one line type and groups them into documents. It
// is also how rows are brought into the order of their indexes.
type Grouper struct {
	Type    *record.LineType
	Keep    bool // of the batches
	Batches []*record.Batch
	Heads   []record.Header // the distinct headers, in order of first sight or as Sort has put them
	Rows    []Row           // in the order of Add or, after Sort, by header, valid time and lead

	index map[record.Header]int32
}

// Row is a record of a Grouper: where it stands, and what it is sorted by.
type Row struct {
	Head       int32 // number of the header in Heads
	Lead       int32
	Valid      int64
	Batch, Row int32 // number of the batch, and of the record in it
}

// NewGrouper returns a grouper of records of type t.
func NewGrouper(t *record.LineType) *Grouper {
	return &Grouper{Type: t, index: map[record.Header]int32{}}
}

// Add takes the records of b, which must stay unchanged until Reset.
func (g *Grouper) Add(b *record.Batch) {
	heads := make([]int32, len(b.Headers))
	for i, h := range b.Headers {
		n, ok := g.index[h]
		if !ok {
			n = int32(len(g.Heads))
			g.index[h] = n
			g.Heads = append(g.Heads, h)
		}
		heads[i] = n
	}
	at := int32(len(g.Batches))
	g.Batches, g.Keep = append(g.Batches, b), b.Keep
	g.Rows = slices.Grow(g.Rows, b.Len())
	for i := range b.Len() {
		g.Rows = append(g.Rows, Row{heads[b.Head[i]], b.Lead[i], b.Valid[i], at, int32(i)})
	}
}

// Reset forgets all records.
func (g *Grouper) Reset() {
	clear(g.index)
	clear(g.Batches)
	g.Batches, g.Heads, g.Rows = g.Batches[:0], g.Heads[:0], g.Rows[:0]
}

// Docs walks the documents, by header in the order of Heads, then by valid
// time. A Doc is valid until the next step.
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

// Places walks header and valid time of the documents, in the order of Docs.
func (g *Grouper) Places() iter.Seq2[*record.Header, int64] {
	g.Sort()
	return func(yield func(*record.Header, int64) bool) {
		for rows := range g.Series() {
			if r := rows[0]; !yield(g.Batches[r.Batch].Header(int(r.Row)), r.Valid) {
				return
			}
		}
	}
}

// Series walks the rows, which are sorted, a header and valid time at a time.
func (g *Grouper) Series() iter.Seq[[]Row] {
	return func(yield func([]Row) bool) {
		for from := 0; from < len(g.Rows); {
			to := from + 1
			for to < len(g.Rows) && g.Rows[to].Head == g.Rows[from].Head && g.Rows[to].Valid == g.Rows[from].Valid {
				to++
			}
			if !yield(g.Rows[from:to]) {
				return
			}
			from = to
		}
	}
}

// SortHeads puts the headers into an order, which the rows then follow.
func (g *Grouper) SortHeads(compare func(a, b *record.Header) int) {
	by := make([]int32, len(g.Heads))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return compare(&g.Heads[a], &g.Heads[b]) })
	rank, heads := make([]int32, len(by)), make([]record.Header, len(by))
	for at, head := range by {
		rank[head], heads[at] = int32(at), g.Heads[head]
		g.index[heads[at]] = int32(at)
	}
	for i := range g.Rows {
		g.Rows[i].Head = rank[g.Rows[i].Head]
	}
	g.Heads = heads
	g.Sort()
}

// Sort orders the rows by header, valid time and lead: by counting, as there
// are few headers, and then each header's rows, which files often bring in
// order.
func (g *Grouper) Sort() {
	if slices.IsSortedFunc(g.Rows, compareRows) {
		return
	}
	ends := make([]int, len(g.Heads)+1) // ends[h] is where the rows of header h begin, and at last where they end
	for i := range g.Rows {
		ends[g.Rows[i].Head+1]++
	}
	for h := range len(g.Heads) {
		ends[h+1] += ends[h]
	}
	out := make([]Row, len(g.Rows))
	for _, r := range g.Rows {
		out[ends[r.Head]] = r
		ends[r.Head]++
	}
	from := 0
	for _, to := range ends[:len(g.Heads)] {
		if rows := out[from:to]; !slices.IsSortedFunc(rows, compareRows) {
			slices.SortStableFunc(rows, compareRows)
		}
		from = to
	}
	g.Rows = out
}

func compareRows(a, b Row) int {
	switch {
	case a.Head != b.Head:
		return cmp.Compare(a.Head, b.Head)
	case a.Valid != b.Valid:
		return cmp.Compare(a.Valid, b.Valid)
	}
	return cmp.Compare(a.Lead, b.Lead)
}

func (g *Grouper) fill(doc *Doc, rows []Row) {
	doc.Rows.Reset(g.Type, "")
	doc.Rows.Keep = g.Keep
	doc.From = doc.From[:0]
	doc.Rows.AddHeader(g.Heads[rows[0].Head])
	slices.SortStableFunc(rows, func(a, b Row) int {
		if a.Lead != b.Lead {
			return cmp.Compare(a.Lead, b.Lead)
		}
		return compareEntries(g.Batches[a.Batch], int(a.Row), g.Batches[b.Batch], int(b.Row))
	})
	for _, r := range rows {
		b := g.Batches[r.Batch]
		doc.Rows.AppendRow(b, int(r.Row), 0)
		doc.From = append(doc.From, b.File)
	}
}

// compareEntries orders two records of one document: by lead, by the further
// times, by the key columns of the line type. Records of one identity are equal.
func compareEntries(a *record.Batch, i int, b *record.Batch, j int) int {
	c := cmp.Or(
		cmp.Compare(a.Lead[i], b.Lead[j]), cmp.Compare(a.ValidEnd[i], b.ValidEnd[j]), cmp.Compare(a.ObsLead[i], b.ObsLead[j]),
		cmp.Compare(a.ObsBeg[i], b.ObsBeg[j]), cmp.Compare(a.ObsEnd[i], b.ObsEnd[j]))
	for k := 0; c == 0 && k < len(a.Type.Columns); k++ {
		col := &a.Type.Columns[k]
		if !col.Key {
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

// Merge puts the records of doc into those that the archive holds already
// under the same id: have, sorted as documents are, with one header. The
// result goes to into, which is reset; a later value of the same identity
// replaces the earlier one, unless doc's are kept next to it. Merge calls meet
// with the index in have and in doc of each record that is in both.
func Merge(into, have *record.Batch, doc *Doc, meet func(i, j int)) {
	into.Reset(have.Type, "")
	into.AddHeader(have.Headers[0])
	i, j := 0, 0
	for i < have.Len() || j < doc.Rows.Len() {
		switch c := nextOf(have, i, doc.Rows, j); {
		case c < 0:
			into.AppendRow(have, i, 0)
			i++
		case c > 0:
			into.AppendRow(doc.Rows, j, 0)
			j++
		case doc.Rows.Keep:
			into.AppendRow(have, i, 0)
			for k := j; k < doc.Rows.Len() && compareEntries(have, i, doc.Rows, k) == 0; k++ {
				meet(i, k)
			}
			i++
		default:
			into.AppendRow(doc.Rows, j, 0)
			meet(i, j)
			i++
			j++
		}
	}
}

func nextOf(a *record.Batch, i int, b *record.Batch, j int) int {
	switch {
	case i == a.Len():
		return 1
	case j == b.Len():
		return -1
	}
	return compareEntries(a, i, b, j)
}

// Groups groups records of several line types into documents, each by its
// Grouper. The zero value is empty and ready.
type Groups struct {
	of    map[*record.LineType]*Grouper
	types []*record.LineType // in the order of arrival
}

// Add takes the records of b, which must stay unchanged until Reset.
func (g *Groups) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	if g.of == nil {
		g.of = map[*record.LineType]*Grouper{}
	}
	of := g.of[b.Type]
	if of == nil {
		of = NewGrouper(b.Type)
		g.of[b.Type] = of
	}
	if !slices.Contains(g.types, b.Type) {
		g.types = append(g.types, b.Type)
	}
	of.Add(b)
}

// Types are those of the records, in the order of arrival.
func (g *Groups) Types() []*record.LineType { return g.types }

// Of is the grouper of one of Types.
func (g *Groups) Of(t *record.LineType) *Grouper { return g.of[t] }

// Docs walks the documents of one of Types, see Grouper.Docs.
func (g *Groups) Docs(t *record.LineType) iter.Seq[*Doc] { return g.of[t].Docs() }

// Places walks what tells the documents of one of Types apart, see Grouper.Places.
func (g *Groups) Places(t *record.LineType) iter.Seq2[*record.Header, int64] { return g.of[t].Places() }

// Reset forgets all records.
func (g *Groups) Reset() {
	for _, of := range g.of {
		of.Reset()
	}
	g.types = g.types[:0]
}
