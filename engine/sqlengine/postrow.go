package sqlengine

import (
	"context"
	"fmt"
	"math"

	"github.com/barograph/barograph/engine"
)

// row2006 is the algorithm of shef_decode_raw as the report of 2006 tells it
// (its section 4), statement by statement:
//
//	array:  for each value: if its row is another than the last value's, write
//	        the row in hand, then select its row; put the value into its slot
//	single: for each value: select its row; update it or insert it
//
// Only consecutive values share a row. Statements are sent as texts, to be
// parsed and planned every time.
func (p *poster) row2006(ctx context.Context, messages []engine.PostMessage, posted int64) error {
	var hand inHand
	for m := range messages {
		msg := &messages[m]
		product := []byte(msg.Product)
		for i := range msg.Values {
			g := &msg.Values[i]
			h, ok := p.admits(g)
			if !ok {
				continue
			}
			row := PostRow{gauge: g, product: product, issued: msg.Issued, posted: posted}
			row.placed, row.value = p.layout.place(g, h)
			t := p.layout.tables[row.table]
			rule := p.policy.Rule(g.Revised)
			if row.slot < 0 {
				if err := p.one(ctx, t, &row, rule); err != nil {
					return err
				}
				continue
			}
			if !hand.full || !sameRow(&hand.row.placed, &row.placed) {
				if err := p.putBack(ctx, t, &hand); err != nil {
					return err
				}
				if err := p.take(ctx, t, &hand, row); err != nil {
					return err
				}
			}
			if at := &hand.row.slots[row.slot]; math.IsNaN(*at) || rule.Writes(*at, row.value) {
				*at = row.value
			}
			hand.row.product, hand.row.issued = product, msg.Issued
		}
		if err := p.putBack(ctx, p.layout.tables[0], &hand); err != nil {
			return err
		}
	}
	return nil
}

// inHand is the row of an array that consecutive values go into.
type inHand struct {
	row   PostRow
	full  bool
	there bool // the row was selected
	slots []float64
}

// take selects a row of an array.
func (p *poster) take(ctx context.Context, t *PostTable, h *inHand, row PostRow) error {
	if h.slots == nil {
		h.slots = make([]float64, t.Slots)
	}
	for i := range h.slots {
		h.slots[i] = math.NaN()
	}
	h.row, h.full, h.there = row, true, false
	h.row.slots = h.slots
	p.args = appendArgs(p.args[:0], &row, t.Columns[:t.Keys])
	_, err := p.c.Direct(ctx, p.Dialect.selectRow(t), p.args, func(values []any) error {
		h.there = true
		p.counted.Read++
		for i := range t.Slots {
			if values[i] == nil {
				continue
			}
			v, err := AsNumber(values[i])
			if err != nil {
				return err
			}
			h.slots[i] = v
		}
		return nil
	})
	return err
}

// putBack writes the row in hand.
func (p *poster) putBack(ctx context.Context, t *PostTable, h *inHand) error {
	if !h.full {
		return nil
	}
	h.full = false
	if h.there {
		return p.update(ctx, t, &h.row)
	}
	return p.insert(ctx, t, &h.row)
}

func (p *poster) insert(ctx context.Context, t *PostTable, row *PostRow) error {
	p.counted.Inserted++
	p.args = appendArgs(p.args[:0], row, t.Columns)
	_, err := p.c.Direct(ctx, p.Dialect.insertRow(t), p.args, nil)
	return err
}

func (p *poster) update(ctx context.Context, t *PostTable, row *PostRow) error {
	p.counted.Updated++
	p.args = appendArgs(p.args[:0], row, t.Columns[t.Keys:])
	p.args = appendArgs(p.args, row, t.Columns[:t.Keys])
	n, err := p.c.Direct(ctx, p.Dialect.updateRow(t), p.args, nil)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows of %s were updated where one was found", n, t.Name)
	}
	return err
}

// one selects the row of a value, then updates or inserts it.
func (p *poster) one(ctx context.Context, t *PostTable, row *PostRow, rule engine.Rule) error {
	there, stored := false, 0.0
	p.args = appendArgs(p.args[:0], row, t.Columns[:t.Keys])
	at := t.find[fromValue] - 1 - t.Keys
	_, err := p.c.Direct(ctx, p.Dialect.selectRow(t), p.args, func(values []any) (err error) {
		there = true
		p.counted.Read++
		stored, err = AsNumber(values[at])
		return err
	})
	switch {
	case err != nil:
		return err
	case !there:
		return p.insert(ctx, t, row)
	case rule.Writes(stored, row.value):
		return p.update(ctx, t, row)
	}
	return nil
}
