package sqlengine

import (
	"cmp"
	"math"
	"slices"

	"barograph/engine"
	"barograph/record"
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
	products [][]byte
	units    []PostUnit
	at       map[int]int // by table, occurrence and rule: index in units
	slots    []float64
}

// item is a value on its way into a row.
type item struct {
	placed
	gauge   *record.Gauge
	value   float64
	message int32
	order   int32
	rule    engine.Rule
}

// compareKeys orders by table and key.
func compareKeys(a, b *placed) int {
	switch {
	case a.table != b.table:
		return cmp.Compare(a.table, b.table)
	case a.station != b.station:
		return cmp.Compare(a.station, b.station)
	case a.code != b.code:
		return cmp.Compare(a.code, b.code)
	case a.duration != b.duration:
		return cmp.Compare(a.duration, b.duration)
	case a.time != b.time:
		return cmp.Compare(a.time, b.time)
	case a.basis != b.basis:
		return cmp.Compare(a.basis, b.basis)
	}
	return cmp.Compare(a.ref, b.ref)
}

// sameRow tells whether two values belong into one row of an array.
func sameRow(a, b *placed) bool {
	return a.table == b.table && a.station == b.station && a.code == b.code && a.duration == b.duration && a.day == b.day && a.slot >= 0 && b.slot >= 0
}

// make lays out the values that are admitted. posted is the moment of posting.
func (p *postPlan) make(messages []engine.PostMessage, admit func(*record.Gauge) bool, posted int64) []PostUnit {
	p.items, p.products, p.slots = p.items[:0], p.products[:0], p.slots[:0]
	for m := range messages {
		msg := &messages[m]
		p.products = append(p.products, []byte(msg.Product))
		for i := range msg.Values {
			g := &msg.Values[i]
			if !admit(g) {
				continue
			}
			it := item{gauge: g, message: int32(m), order: int32(len(p.items)), rule: p.policy.Rule(g.Revised)}
			it.placed, it.value = p.layout.place(g, msg.Issued)
			p.items = append(p.items, it)
		}
	}
	slices.SortFunc(p.items, func(a, b item) int {
		return cmp.Or(compareKeys(&a.placed, &b.placed), cmp.Compare(a.order, b.order))
	})
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
	for i := 0; i < len(p.items); {
		n := i + 1
		for n < len(p.items) && compareKeys(&p.items[i].placed, &p.items[n].placed) == 0 {
			n++
		}
		first := i
		if p.policy == engine.Overwrite {
			first = n - 1
		}
		for k := first; k < n; k++ {
			p.put(&p.items[k], k-first, messages, posted)
		}
		i = n
	}
}

// put adds a value to its unit.
func (p *postPlan) put(it *item, occurrence int, messages []engine.PostMessage, posted int64) {
	rank := (occurrence*256+int(it.table))*engine.NumRules + int(it.rule)
	at, ok := p.at[rank]
	if !ok {
		at = len(p.units)
		p.at[rank] = at
		p.units = append(p.units, PostUnit{Table: p.layout.tables[it.table], Rule: it.rule, rank: rank})
	}
	u := &p.units[at]
	row := PostRow{placed: it.placed, gauge: it.gauge, product: p.products[it.message], issued: messages[it.message].Issued, posted: posted, value: it.value}
	if it.slot < 0 {
		u.Rows = append(u.Rows, row)
		return
	}
	if n := len(u.Rows); n > 0 && sameRow(&u.Rows[n-1].placed, &it.placed) {
		last := &u.Rows[n-1]
		last.slots[it.slot] = it.value
		if last.order <= it.order { // the row tells the last product that wrote it
			last.product, last.issued, last.order = row.product, row.issued, it.order
		}
		return
	}
	row.order = it.order
	row.slots = p.newSlots(u.Table.Slots)
	row.slots[it.slot] = it.value
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
		station, code uint64
		duration      int16
		day           int32
	}
	latest := map[rowKey]*PostRow{}
	each := func(f func(k rowKey, r *PostRow)) {
		for i := range p.units {
			if p.units[i].Table.Slots == 0 {
				continue
			}
			for k := range p.units[i].Rows {
				r := &p.units[i].Rows[k]
				f(rowKey{r.station, r.code, r.duration, r.day}, r)
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
