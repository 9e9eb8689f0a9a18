package sqlengine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
)

// PostUnit is a list of rows of one table, with distinct keys in ascending order, that the engine upserts by one rule.
type PostUnit struct {
	Table *PostTable
	Rule  posts.Rule
	Rows  []PostRow

	rank int // order of writing: a later value of the same key is in a later unit
}

// postPlan converts messages to units. Writing the units has the same effect as posting the values one after the other.
// postPlan reuses its memory.
type postPlan struct {
	layout    *postLayout
	policy    posts.Policy
	items     []item
	order     []sortEntry // of items
	products  [][]byte    // by message
	units     []PostUnit
	unitIndex map[int]int // index in units, by rank
	slots     []float64   // memory for the slots of rows, see newSlots
}

// item is an admitted value.
type item struct {
	position
	rule    posts.Rule
	message int32
	gauge   *record.Gauge
}

// sortEntry is an item with its sort key. Items with equal keys stay in their order.
type sortEntry struct {
	key  uint64
	item int32
}

// sortKey returns a number that sorts items by table (1 bit), series (28 bits) and time (35 bits).
func (it *item) sortKey() uint64 {
	const zero = 1 << 34
	return uint64(it.table)<<63 | uint64(it.rank)<<35 | uint64(it.time+zero)&(1<<35-1)
}

// sameRow reports whether two values belong to one row of an array.
func sameRow(a, b *position) bool {
	return a.rank == b.rank && a.day == b.day && a.slot >= 0 && b.slot >= 0
}

// build returns the units of the admitted values. admit returns the rank of a value's series. posted is the time of
// posting.
func (p *postPlan) build(messages []posts.Message, admit func(*record.Gauge) (rank int32, ok bool), posted int64) []PostUnit {
	p.items, p.order, p.products, p.slots = p.items[:0], p.order[:0], p.products[:0], p.slots[:0]
	for m := range messages {
		msg := &messages[m]
		p.products = append(p.products, []byte(msg.Product))
		for i := range msg.Values {
			g := &msg.Values[i]
			rank, ok := admit(g)
			if !ok {
				continue
			}
			it := item{gauge: g, message: int32(m), rule: p.policy.Rule(g.Revised)}
			it.position = p.layout.locate(g, rank)
			p.order = append(p.order, sortEntry{it.sortKey(), int32(len(p.items))})
			p.items = append(p.items, it)
		}
	}
	slices.SortFunc(p.order, func(a, b sortEntry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.item, b.item))
	})
	for i := range p.units {
		p.units[i].Rows = p.units[i].Rows[:0]
	}
	if p.unitIndex == nil {
		p.unitIndex = map[int]int{}
	}
	p.fill(messages, posted)
	p.unifyProducts()
	slices.SortStableFunc(p.units, func(a, b PostUnit) int { return cmp.Compare(a.rank, b.rank) })
	clear(p.unitIndex)
	for i := range p.units {
		p.unitIndex[p.units[i].rank] = i
	}
	return p.units
}

// fill puts the sorted items into rows. With the policy overwrite, only the last value of a key counts. With other
// policies, the winning value of each message goes into a unit, and that of a later message into a later unit.
func (p *postPlan) fill(messages []posts.Message, posted int64) {
	for i := 0; i < len(p.order); {
		end := i + 1
		for end < len(p.order) && p.order[i].key == p.order[end].key {
			end++
		}
		if p.policy == posts.Overwrite {
			i = end - 1
		}
		for occurrence := 0; i < end; occurrence++ {
			winner := p.order[i].item
			for i++; i < end && p.items[p.order[i].item].message == p.items[winner].message; i++ {
				if next := &p.items[p.order[i].item]; next.rule.Writes(p.items[winner].gauge.Value, next.gauge.Value) {
					winner = p.order[i].item
				}
			}
			p.put(winner, occurrence, messages, posted)
		}
	}
}

// superseded returns the values of a message that another value with the same key in this message replaces; nil = the
// policy takes the values one after the other.
func (p *postPlan) superseded(m *posts.Message) map[*record.Gauge]bool {
	if !p.policy.UsesOrigin() {
		return nil
	}
	type valueKey struct {
		posts.Series
		time int64
	}
	winner, out := map[valueKey]*record.Gauge{}, map[*record.Gauge]bool{}
	for i := range m.Values {
		g := &m.Values[i]
		k := valueKey{posts.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}, g.Time}
		old := winner[k]
		switch {
		case old == nil:
			winner[k] = g
		case p.policy.Rule(g.Revised).Writes(old.Value, g.Value):
			winner[k], out[old] = g, true
		default:
			out[g] = true
		}
	}
	return out
}

// put adds an item to its unit. occurrence counts the messages with the same key before it.
func (p *postPlan) put(index int32, occurrence int, messages []posts.Message, posted int64) {
	it := &p.items[index]
	rank := (occurrence*256+int(it.table))*posts.NumRules + int(it.rule)
	k, ok := p.unitIndex[rank]
	if !ok {
		k = len(p.units)
		p.unitIndex[rank] = k
		p.units = append(p.units, PostUnit{Table: p.layout.tables[it.table], Rule: it.rule, rank: rank})
	}
	u := &p.units[k]
	product, issued := p.products[it.message], messages[it.message].Issued
	if n := len(u.Rows); it.slot >= 0 && n > 0 && sameRow(&u.Rows[n-1].position, &it.position) {
		last := &u.Rows[n-1]
		last.slots[it.slot] = it.gauge.Value
		if last.order <= index { // the row stores the last product that wrote it
			last.product, last.issued, last.order = product, issued, index
		}
		return
	}
	row := PostRow{position: it.position, gauge: it.gauge, product: product, issued: issued, posted: posted, order: index}
	if it.slot >= 0 {
		row.slots = p.newSlots(u.Table.Slots)
		row.slots[it.slot] = it.gauge.Value
	}
	u.Rows = append(u.Rows, row)
}

// newSlots returns the empty slots of a row. It allocates them in pieces that are never moved, because rows point to
// them.
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

// unifyProducts gives all units that write the same row of an array the same product: that of the last of their values.
// A row has one product, but there is a unit for each rule.
func (p *postPlan) unifyProducts() {
	if p.policy == posts.Overwrite || p.layout.design.Slots() == 0 {
		return
	}
	type rowKey struct{ rank, day int32 }
	latest := map[rowKey]*PostRow{}
	forEachRow := func(f func(k rowKey, r *PostRow)) {
		for i := range p.units {
			if p.units[i].Table.Slots == 0 {
				continue
			}
			for k := range p.units[i].Rows {
				r := &p.units[i].Rows[k]
				f(rowKey{r.rank, r.day}, r)
			}
		}
	}
	forEachRow(func(k rowKey, r *PostRow) {
		if l := latest[k]; l == nil || l.order < r.order {
			latest[k] = r
		}
	})
	forEachRow(func(k rowKey, r *PostRow) {
		l := latest[k]
		r.product, r.issued = l.product, l.issued
	})
}

// postLike2006 is the algorithm of shef_decode_raw, statement by statement, as section 4 of the report of 2006
// describes it:
//
//	array:  for each value: if its row is not the current row, write the current
//	        row and select the value's row; put the value into its slot
//	single: for each value: select its row; update it or insert it
//
// Only consecutive values share a row. The poster sends statements as texts, which the server parses and plans every
// time.
func (p *poster) postLike2006(ctx context.Context, messages []posts.Message, posted int64) error {
	var current currentRow
	for m := range messages {
		msg := &messages[m]
		product, superseded := []byte(msg.Product), p.plan.superseded(msg)
		for i := range msg.Values {
			g := &msg.Values[i]
			rank, ok := p.admits(g)
			if !ok || superseded[g] {
				continue
			}
			row := PostRow{gauge: g, product: product, issued: msg.Issued, posted: posted}
			row.position = p.layout.locate(g, rank)
			t := p.layout.tables[row.table]
			rule := p.policy.Rule(g.Revised)
			if row.slot < 0 {
				if err := p.postSingle(ctx, t, &row, rule); err != nil {
					return err
				}
				continue
			}
			if !current.isValid || !sameRow(&current.row.position, &row.position) {
				if err := p.writeCurrent(ctx, t, &current); err != nil {
					return err
				}
				if err := p.selectCurrent(ctx, t, &current, row); err != nil {
					return err
				}
			}
			if stored := &current.row.slots[row.slot]; math.IsNaN(*stored) || rule.Writes(*stored, g.Value) {
				*stored = g.Value
			}
			current.row.product, current.row.issued = product, msg.Issued
		}
		if err := p.writeCurrent(ctx, p.layout.tables[0], &current); err != nil {
			return err
		}
	}
	return nil
}

// currentRow is the row of an array that receives consecutive values.
type currentRow struct {
	row     PostRow
	isValid bool      // there is a current row
	exists  bool      // the select found the row
	slots   []float64 // memory for those of row
}

// selectCurrent makes row the current row, and selects its slots.
func (p *poster) selectCurrent(ctx context.Context, t *PostTable, current *currentRow, row PostRow) error {
	if current.slots == nil {
		current.slots = make([]float64, t.Slots)
	}
	for i := range current.slots {
		current.slots[i] = math.NaN()
	}
	current.row, current.isValid, current.exists = row, true, false
	current.row.slots = current.slots
	p.args = appendArgs(p.args[:0], &row, t.Columns[:t.Keys])
	_, err := p.c.Direct(ctx, p.Dialect.selectRow(t), p.args, func(values []any) error {
		current.exists = true
		p.result.Read++
		for i := range t.Slots {
			if values[i] == nil {
				continue
			}
			v, err := AsNumber(values[i])
			if err != nil {
				return err
			}
			current.slots[i] = v
		}
		return nil
	})
	return err
}

// writeCurrent writes the current row, if there is one. Then there is none.
func (p *poster) writeCurrent(ctx context.Context, t *PostTable, current *currentRow) error {
	if !current.isValid {
		return nil
	}
	current.isValid = false
	if current.exists {
		return p.update(ctx, t, &current.row)
	}
	return p.insert(ctx, t, &current.row)
}

func (p *poster) insert(ctx context.Context, t *PostTable, row *PostRow) error {
	p.result.Inserted++
	p.args = appendArgs(p.args[:0], row, t.Columns)
	_, err := p.c.Direct(ctx, p.Dialect.insertRow(t), p.args, nil)
	return err
}

func (p *poster) update(ctx context.Context, t *PostTable, row *PostRow) error {
	p.result.Updated++
	p.args = appendArgs(p.args[:0], row, t.Columns[t.Keys:])
	p.args = appendArgs(p.args, row, t.Columns[:t.Keys])
	n, err := p.c.Direct(ctx, p.Dialect.updateRow(t), p.args, nil)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows of %s were updated, but the select had found one", n, t.Name)
	}
	return err
}

// postSingle selects the row of a value, and then updates or inserts it.
func (p *poster) postSingle(ctx context.Context, t *PostTable, row *PostRow, rule posts.Rule) error {
	exists, stored := false, posts.Value{Issued: record.NoTime}
	p.args = appendArgs(p.args[:0], row, t.Columns[:t.Keys])
	_, err := p.c.Direct(ctx, p.Dialect.selectRow(t), p.args, func(values []any) (err error) {
		exists = true
		p.result.Read++
		for i := range values {
			err = errors.Join(err, readColumn(&stored, &t.Columns[t.Keys+i], values[i]))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !exists:
		return p.insert(ctx, t, row)
	case !rule.Writes(stored.Value, row.gauge.Value), t.usesOrigin && p.policy.Precedes(row.asOrigin(), stored.Origin()):
		return nil
	}
	return p.update(ctx, t, row)
}

// asOrigin returns what posts.Policy.Precedes compares.
func (r *PostRow) asOrigin() *posts.Origin {
	return &posts.Origin{
		Issued: r.issued, Revised: r.gauge.Revised, Product: string(r.product), Value: r.gauge.Value,
		Quality: r.gauge.Quality,
	}
}

// appendBackoff decides whether to try an append before a merge. Most values of a feed have new keys. An append writes
// them once and looks them up once, a merge twice. If a key exists, the append was useless work. After each failure,
// twice as many merges pass before the next attempt.
type appendBackoff struct {
	skip     int // merges before the next attempt
	interval int // skip after the last failure
}

// maxSkipped is the greatest number of merges before the next attempt to append.
const maxSkipped = 255

// worthTrying reports whether to try an append now. If not, the caller merges, and worthTrying counts that merge.
func (b *appendBackoff) worthTrying() bool {
	if b.skip > 0 {
		b.skip--
		return false
	}
	return true
}

// recordOutcome records whether an append succeeded.
func (b *appendBackoff) recordOutcome(ok bool) {
	if ok {
		b.interval = 0
		return
	}
	b.interval = min(2*b.interval+1, maxSkipped)
	b.skip = b.interval
}

// tryAppend appends rows to their table if none of their keys exists. Otherwise it appends nothing and returns
// done = false.
func (p *poster) tryAppend(ctx context.Context, u *PostUnit) (done bool, err error) {
	if err := p.c.Run(ctx, "SAVEPOINT before_append"); err != nil {
		return false, err
	}
	err = p.c.Append(ctx, p.Dialect.table(u.Table.Name), u.Table, u.Rows)
	switch {
	case err == nil:
		p.recordOutcome(true)
		return true, p.c.Run(ctx, "RELEASE SAVEPOINT before_append")
	case !p.c.IsDuplicateKey(err):
		return false, err
	}
	p.recordOutcome(false)
	return false, p.c.Run(ctx, "ROLLBACK TO SAVEPOINT before_append; RELEASE SAVEPOINT before_append")
}
