package postgres

import (
	"cmp"
	"slices"

	"barograph/design"
	"barograph/record"
)

// pending collects the records of one line type between two commits, for the
// designs of one row per record.
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

// order sorts the rows by header, valid time and lead: the order of the
// indexes, whose pages are then written once each.
func (p *pending) order() {
	compare := func(a, b row) int {
		return cmp.Or(cmp.Compare(a.head, b.head), cmp.Compare(a.valid, b.valid), cmp.Compare(a.lead, b.lead))
	}
	if !slices.IsSortedFunc(p.rows, compare) {
		slices.SortStableFunc(p.rows, compare)
	}
}

// overlap selects the rows that an archive with this catalog may hold.
func (p *pending) overlap(stored *design.Catalog) []row {
	if len(stored.Groups) == 0 {
		return nil
	}
	groups := make([]*design.Group, len(p.heads))
	for i := range p.heads {
		groups[i] = stored.Holding(p.t, &p.heads[i])
	}
	var out []row
	for _, r := range p.rows {
		if g := groups[r.head]; g.MayHold(r.valid) && g.HasLead(r.lead) {
			out = append(out, r)
		}
	}
	return out
}
