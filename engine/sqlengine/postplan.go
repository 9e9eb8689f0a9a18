package sqlengine

import (
	"cmp"
	"math"
	"slices"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// PostUnit is rows of one table with distinct keys, in their order, that are
// upserted by one rule.
type PostUnit struct {
	Table *PostTable
	Rule  engine.Rule
	Rows  []PostRow

	rank int // units are written in this order: later values of one key after earlier ones
}

// postPlan makes of messages the units that leave the tables as if the values
// had been posted one after the other. Its memory is used again.
type postPlan struct {
	layout   *postLayout
	policy   engine.Policy
	items    []item
	order    []sorted
	products [][]byte
	units    []PostUnit
	at       map[int]int // by table, occurrence and rule: index in units
	slots    []float64
}

// item is a value on its way into a row.
type item struct {
	placed
	rule    engine.Rule
	message int32
	gauge   *record.Gauge
	value   float64
}

// sorted is an item's place in the order of keys: 1 bit for what is off the
// grid, 28 of the series, 35 of the time. Equal keys are in the order of their
// items. What further columns a key has, the items tell.
type sorted struct {
	key uint64
	at  int32
}

func (it *item) sortKey() uint64 {
	const zero = 1 << 34
	off := uint64(0)
	if it.slot < 0 && it.table == 1 {
		off = 1
	}
	return off<<63 | uint64(it.rank)<<35 | uint64(it.time+zero)&(1<<35-1)
}

// compare orders by key, then by the items' order.
func (p *postPlan) compare(a, b sorted) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	x, y := &p.items[a.at], &p.items[b.at]
	if x.basis != y.basis {
		return cmp.Compare(x.basis, y.basis)
	}
	if x.ref != y.ref {
		return cmp.Compare(x.ref, y.ref)
	}
	return cmp.Compare(a.at, b.at)
}

// same reports whether two items, sorted, have one key.
func (p *postPlan) same(a, b sorted) bool {
	x, y := &p.items[a.at], &p.items[b.at]
	return a.key == b.key && x.basis == y.basis && x.ref == y.ref
}

// sameRow reports whether two values belong into one row of an array.
func sameRow(a, b *placed) bool {
	return a.home == b.home && a.day == b.day && a.slot >= 0 && b.slot >= 0
}

// make lays out the values that are admitted. posted is the moment of posting.
func (p *postPlan) make(messages []engine.PostMessage, admit func(*record.Gauge) (home, bool), posted int64) []PostUnit {
	p.items, p.order, p.products, p.slots = p.items[:0], p.order[:0], p.products[:0], p.slots[:0]
	for m := range messages {
		msg := &messages[m]
		p.products = append(p.products, []byte(msg.Product))
		for i := range msg.Values {
			g := &msg.Values[i]
			h, ok := admit(g)
			if !ok {
				continue
			}
			it := item{gauge: g, message: int32(m), rule: p.policy.Rule(g.Revised)}
			it.placed, it.value = p.layout.place(g, h)
			p.order = append(p.order, sorted{it.sortKey(), int32(len(p.items))})
			p.items = append(p.items, it)
		}
	}
	slices.SortFunc(p.order, p.compare)
	for i := range p.units {
		p.units[i].Rows = p.units[i].Rows[:0]
	}
	if p.at == nil {
		p.at = map[int]int{}
	}
	p.fill(messages, posted)
	p.agree()
	slices.SortStableFunc(p.units, func(a, b PostUnit) int { return cmp.Compare(a.rank, b.rank) })
	clear(p.at)
	for i := range p.units {
		p.at[p.units[i].rank] = i
	}
	return p.units
}

// fill puts sorted items into rows. Of the values of one key the last stands
// where each replaces the one before; else each is a unit later than it.
func (p *postPlan) fill(messages []engine.PostMessage, posted int64) {
	for i := 0; i < len(p.order); {
		n := i + 1
		for n < len(p.order) && p.same(p.order[i], p.order[n]) {
			n++
		}
		first := i
		if p.policy == engine.Overwrite {
			first = n - 1
		}
		for k := first; k < n; k++ {
			p.put(p.order[k].at, k-first, messages, posted)
		}
		i = n
	}
}

// put adds a value to its unit.
func (p *postPlan) put(at int32, occurrence int, messages []engine.PostMessage, posted int64) {
	it := &p.items[at]
	rank := (occurrence*256+int(it.table))*engine.NumRules + int(it.rule)
	k, ok := p.at[rank]
	if !ok {
		k = len(p.units)
		p.at[rank] = k
		p.units = append(p.units, PostUnit{Table: p.layout.tables[it.table], Rule: it.rule, rank: rank})
	}
	u := &p.units[k]
	product, issued := p.products[it.message], messages[it.message].Issued
	if n := len(u.Rows); it.slot >= 0 && n > 0 && sameRow(&u.Rows[n-1].placed, &it.placed) {
		last := &u.Rows[n-1]
		last.slots[it.slot] = it.value
		if last.order <= at { // the row tells the last product that wrote it
			last.product, last.issued, last.order = product, issued, at
		}
		return
	}
	row := PostRow{placed: it.placed, gauge: it.gauge, product: product, issued: issued, posted: posted, value: it.value, order: at}
	if it.slot >= 0 {
		row.slots = p.newSlots(u.Table.Slots)
		row.slots[it.slot] = it.value
	}
	u.Rows = append(u.Rows, row)
}

// newSlots takes the slots of a row from memory that grows by pieces, as rows
// point into it.
func (p *postPlan) newSlots(n int) []float64 {
	const piece = 1 << 16
	if cap(p.slots)-len(p.slots) < n {
		p.slots = make([]float64, 0, piece)
	}
	from := len(p.slots)
	p.slots = p.slots[:from+n]
	out := p.slots[from : from+n : from+n]
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// agree gives rows of an array that are written by several units, for several
// rules, the product of the last of their values.
func (p *postPlan) agree() {
	if p.policy == engine.Overwrite || p.layout.design.Slots() == 0 {
		return
	}
	type rowKey struct {
		home
		day int32
	}
	latest := map[rowKey]*PostRow{}
	each := func(f func(k rowKey, r *PostRow)) {
		for i := range p.units {
			if p.units[i].Table.Slots == 0 {
				continue
			}
			for k := range p.units[i].Rows {
				r := &p.units[i].Rows[k]
				f(rowKey{r.home, r.day}, r)
			}
		}
	}
	each(func(k rowKey, r *PostRow) {
		if l := latest[k]; l == nil || l.order < r.order {
			latest[k] = r
		}
	})
	each(func(k rowKey, r *PostRow) {
		l := latest[k]
		r.product, r.issued = l.product, l.issued
	})
}
