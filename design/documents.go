package design

import (
	"cmp"
	"iter"
	"slices"

	"barograph/record"
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

// Grouper collects records of one line type and groups them into documents.
type Grouper struct {
	t       *record.LineType
	batches []*record.Batch
	heads   map[record.Header]int32
	refs    []rowRef
}

type rowRef struct {
	head       int32 // number of the header, in order of first sight
	lead       int32
	valid      int64
	batch, row int32
}

// NewGrouper returns a grouper of records of type t.
func NewGrouper(t *record.LineType) *Grouper {
	return &Grouper{t: t, heads: map[record.Header]int32{}}
}

// Add takes the records of b, which must stay unchanged until Reset.
func (g *Grouper) Add(b *record.Batch) {
	heads := make([]int32, len(b.Headers))
	for i, h := range b.Headers {
		n, ok := g.heads[h]
		if !ok {
			n = int32(len(g.heads))
			g.heads[h] = n
		}
		heads[i] = n
	}
	at := int32(len(g.batches))
	g.batches = append(g.batches, b)
	for i := range b.Len() {
		g.refs = append(g.refs, rowRef{heads[b.Head[i]], b.Lead[i], b.Valid[i], at, int32(i)})
	}
}

// Reset forgets all records.
func (g *Grouper) Reset() {
	clear(g.heads)
	clear(g.batches)
	g.batches, g.refs = g.batches[:0], g.refs[:0]
}

// Docs walks the documents, by header in order of first sight, then by valid
// time. A Doc is valid until the next step.
func (g *Grouper) Docs() iter.Seq[*Doc] {
	return func(yield func(*Doc) bool) {
		doc := &Doc{Rows: &record.Batch{}}
		for refs := range g.runs() {
			g.fill(doc, refs)
			if !yield(doc) {
				return
			}
		}
	}
}

// Places walks header and valid time of the documents, in the order of Docs.
func (g *Grouper) Places() iter.Seq2[*record.Header, int64] {
	return func(yield func(*record.Header, int64) bool) {
		for refs := range g.runs() {
			if r := refs[0]; !yield(g.batches[r.batch].Header(int(r.row)), r.valid) {
				return
			}
		}
	}
}

// runs walks the rows of each document.
func (g *Grouper) runs() iter.Seq[[]rowRef] {
	g.sort()
	return func(yield func([]rowRef) bool) {
		for from := 0; from < len(g.refs); {
			to := from + 1
			for to < len(g.refs) && g.refs[to].head == g.refs[from].head && g.refs[to].valid == g.refs[from].valid {
				to++
			}
			if !yield(g.refs[from:to]) {
				return
			}
			from = to
		}
	}
}

// sort orders the rows by header, valid time and lead: by counting, as there
// are few headers, and then each header's rows, which files often bring in
// order.
func (g *Grouper) sort() {
	if slices.IsSortedFunc(g.refs, compareRefs) {
		return
	}
	ends := make([]int, len(g.heads)+1) // ends[h] is where the rows of header h begin, and at last where they end
	for i := range g.refs {
		ends[g.refs[i].head+1]++
	}
	for h := range len(g.heads) {
		ends[h+1] += ends[h]
	}
	out := make([]rowRef, len(g.refs))
	for _, r := range g.refs {
		out[ends[r.head]] = r
		ends[r.head]++
	}
	from := 0
	for _, to := range ends[:len(g.heads)] {
		if rows := out[from:to]; !slices.IsSortedFunc(rows, compareRefs) {
			slices.SortFunc(rows, compareRefs)
		}
		from = to
	}
	g.refs = out
}

func compareRefs(a, b rowRef) int {
	switch {
	case a.head != b.head:
		return cmp.Compare(a.head, b.head)
	case a.valid != b.valid:
		return cmp.Compare(a.valid, b.valid)
	}
	return cmp.Compare(a.lead, b.lead)
}

func (g *Grouper) fill(doc *Doc, refs []rowRef) {
	doc.Rows.Reset(g.t, "")
	doc.From = doc.From[:0]
	first := g.batches[refs[0].batch]
	doc.Rows.AddHeader(*first.Header(int(refs[0].row)))
	slices.SortStableFunc(refs, func(a, b rowRef) int {
		if a.lead != b.lead {
			return cmp.Compare(a.lead, b.lead)
		}
		return compareEntries(g.batches[a.batch], int(a.row), g.batches[b.batch], int(b.row))
	})
	for _, r := range refs {
		b := g.batches[r.batch]
		doc.Rows.AppendRow(b, int(r.row), 0)
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
// replaces the earlier one. Merge calls meet with the index in have and in doc
// of each record that is in both.
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
