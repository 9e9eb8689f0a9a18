package design

import (
	"iter"
	"slices"

	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// Series walks the headers that a question asks for: for vx_mask and fcst_lev
// those it names, whether they exist or not, as the original's key flavours
// do; for everything it leaves open those that the catalog knows. Each header
// comes with its group; both are valid until the next step.
func (c *Catalog) Series(q *question.Question) iter.Seq2[*record.Header, *Group] {
	return func(yield func(*record.Header, *Group) bool) {
		for _, g := range c.Groups {
			if !g.matches(q) {
				continue
			}
			if !g.series(q, yield) {
				return
			}
		}
	}
}

// matches reports whether the fields that identify a group satisfy q.
func (g *Group) matches(q *question.Question) bool {
	if g.LineType != q.Type.Name {
		return false
	}
	for f, v := range map[record.Field]string{record.Version: g.Version, record.Model: g.Model, record.ObType: g.ObType, record.FcstVar: g.FcstVar} {
		if allowed := q.Header[f]; len(allowed) > 0 && !slices.Contains(allowed, v) {
			return false
		}
	}
	return true
}

func (g *Group) series(q *question.Question, yield func(*record.Header, *Group) bool) bool {
	masks, levels := g.Masks, g.Levels
	if asked := q.Header[record.VxMask]; len(asked) > 0 {
		masks = asked
	}
	if asked := q.Header[record.FcstLev]; len(asked) > 0 {
		levels = asked
	}
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = g.Version, g.Model, g.ObType, g.FcstVar
	for _, rest := range g.Further {
		for _, mask := range masks {
			for _, level := range levels {
				h[record.VxMask], h[record.FcstLev] = mask, level
				if err := setFurther(&h, rest); err != nil || !furtherMatches(q, &h) {
					continue
				}
				if !yield(&h, g) {
					return false
				}
			}
		}
	}
	return true
}

func furtherMatches(q *question.Question, h *record.Header) bool {
	for _, f := range further {
		if allowed := q.Header[f]; len(allowed) > 0 && !slices.Contains(allowed, h[f]) {
			return false
		}
	}
	return true
}

// Times returns the valid times to ask a series of g for: those that q lists,
// whether they exist or not, or, where q leaves them open, those of g within q's
// bounds; of archives that have not counted theirs, the grid of them.
func (g *Group) Times(q *question.Question) []int64 {
	if q.Valid.Discrete() {
		return q.Valid.Expand()
	}
	own := []int64(g.Valid)
	if own == nil && g.Last >= g.First {
		grid := question.Times{First: g.First, Last: g.Last, Step: max(g.Step, 1)}
		own = grid.Expand()
	}
	if q.Valid.All() {
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(v int64) bool { return !q.Valid.Contains(v) })
}

// Keys derives the ids of all documents that can hold records q asks for. An
// id need not exist: absent ids are normal. The order is by series, then time.
func (c *Catalog) Keys(q *question.Question) []string {
	var keys []string
	var buf []byte
	for h, g := range c.Series(q) {
		buf = AppendSeries(buf[:0], q.Type, c.Subset, h)
		n := len(buf)
		for _, v := range g.Times(q) {
			buf = appendInt(buf[:n], v)
			keys = append(keys, string(buf))
		}
	}
	return keys
}
