package duckdb

import (
	"cmp"
	"slices"

	"barograph/record"
)

// pending collects the records of one line type between two commits.
type pending struct {
	t       *record.LineType
	batches []*record.Batch
	heads   []record.Header // the distinct headers
	ids     []int64         // stat_header_id of each, normalized only
	files   []int64         // data_file_id of each batch, normalized only
	index   map[record.Header]int32
	rows    []row
}

// row is a record: where it stands, and what it is sorted by.
type row struct {
	head       int32 // number of the header, in the order of heads
	lead       int32
	valid      int64
	batch, row int32
}

func newPending(t *record.LineType) *pending {
	return &pending{t: t, index: map[record.Header]int32{}}
}

// add takes the records of b.
func (p *pending) add(b *record.Batch) {
	heads := make([]int32, len(b.Headers))
	for i, h := range b.Headers {
		n, ok := p.index[h]
		if !ok {
			n = int32(len(p.heads))
			p.index[h] = n
			p.heads = append(p.heads, h)
		}
		heads[i] = n
	}
	at := int32(len(p.batches))
	p.batches = append(p.batches, b)
	p.rows = slices.Grow(p.rows, b.Len())
	for i := range b.Len() {
		p.rows = append(p.rows, row{heads[b.Head[i]], b.Lead[i], b.Valid[i], at, int32(i)})
	}
}

// order sorts headers by what questions ask for, then rows by header, valid
// time and lead. Rows of one series stand together in the archive, so that
// DuckDB's statistics of blocks let it pass over the others, and columns shrink.
func (p *pending) order() {
	by := make([]int32, len(p.heads))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return compareHeaders(&p.heads[a], &p.heads[b]) })
	rank := make([]int32, len(by))
	sorted := make([]record.Header, len(by))
	for at, head := range by {
		rank[head], sorted[at] = int32(at), p.heads[head]
	}
	p.heads = sorted
	for h, n := range p.index {
		p.index[h] = rank[n]
	}
	p.sortRows(rank)
}

// sortRows numbers the rows' headers anew and sorts: first by counting, then
// each header's rows, which mostly are in order already.
func (p *pending) sortRows(rank []int32) {
	ends := make([]int, len(rank)+1)
	for i := range p.rows {
		r := &p.rows[i]
		r.head = rank[r.head]
		ends[r.head+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	next := slices.Clone(ends)
	sorted := make([]row, len(p.rows))
	for _, r := range p.rows {
		sorted[next[r.head]] = r
		next[r.head]++
	}
	for h := range rank {
		part := sorted[ends[h]:ends[h+1]]
		if !slices.IsSortedFunc(part, compareTimes) {
			slices.SortStableFunc(part, compareTimes)
		}
	}
	p.rows = sorted
}

func compareTimes(a, b row) int {
	return cmp.Or(cmp.Compare(a.valid, b.valid), cmp.Compare(a.lead, b.lead))
}

// sortFields are the header fields by which an archive is sorted first.
var sortFields = [...]record.Field{record.FcstVar, record.FcstLev, record.VxMask, record.Model} //nolint:gochecknoglobals // a constant table

func compareHeaders(a, b *record.Header) int {
	for _, f := range sortFields {
		if c := cmp.Compare(a[f], b[f]); c != 0 {
			return c
		}
	}
	return a.Compare(b)
}
