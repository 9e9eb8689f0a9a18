package answer

import (
	"cmp"
	"math"
	"slices"
)

// Expected is what a question may answer: the reference's rows, and more than
// one answer where the question does not fix it.
type Expected struct {
	rows          [][]value // of the question without its limit, as far as rows tie with the last one
	offset, count int       // the answer is a part of them
	width         int       // columns of an answer; those behind are what rows are ordered by, too
	by            []int
	cut           []int // rows [cut[0], cut[1]) and so on tie, and the limit cuts through them
	others        []*Expected
	degree        Degree // of an answer that is equal
	why           string // what does not fix the answer; "" = it is fixed
}

// Shape is what is known of the reference's rows.
type Shape struct {
	Width  int         // columns of an answer
	By     []int       // columns by which rows are ordered, the first one first; none = in any order
	Scales map[int]int // column of a sum → column with the sum of absolute values
	Offset int
	Limit  int    // -1 = none
	Degree Degree // EveryValue where the rows are of a reference that no database computed; "" = Agreed
}

// Expect makes what is expected of the reference's rows.
func Expect(l *Loose, s Shape) *Expected {
	for _, row := range l.rows {
		for k, m := range s.Scales {
			if f := math.Abs(row[m].num); !math.IsNaN(f) && !math.IsInf(f, 0) {
				row[k].scale = f
			}
		}
	}
	e := &Expected{rows: l.rows, offset: min(s.Offset, len(l.rows)), width: s.Width, by: s.By, degree: cmp.Or(s.Degree, Agreed)}
	e.count = len(e.rows) - e.offset
	if s.Limit >= 0 {
		e.count = min(e.count, s.Limit)
	}
	e.groups(func(from, to int) bool {
		inside := from >= e.offset && to <= e.offset+e.count
		outside := to <= e.offset || from >= e.offset+e.count
		alike := !slices.ContainsFunc(e.rows[from:to], func(r []value) bool { return !slices.Equal(r[:e.width], e.rows[from][:e.width]) })
		if !inside && !outside && !alike {
			e.cut = append(e.cut, from, to)
		}
		return true
	})
	return e
}

// Len is the number of rows of the answer.
func (e *Expected) Len() int { return e.count }

// groups gives the groups of rows that tie; all rows are one where there is no order.
func (e *Expected) groups(f func(from, to int) bool) {
	for from := 0; from < len(e.rows); {
		to := from + 1
		for to < len(e.rows) && e.tie(to-1, to) {
			to++
		}
		if !f(from, to) {
			return
		}
		from = to
	}
}

// tie reports whether rows i and j are equal in the order.
func (e *Expected) tie(i, j int) bool {
	for _, k := range e.by {
		if _, ok := e.rows[i][k].near(e.rows[j][k], Tolerance); !ok {
			return false
		}
	}
	return true
}

// Last reports whether a row is behind the last one that ties with row n - 1 of
// an answer that is still read.
func (l *Loose) Last(n int, by []int) bool {
	if n < 1 || len(l.rows) <= n {
		return false
	}
	e := Expected{rows: l.rows, by: by}
	return !e.tie(n-1, len(l.rows)-1)
}

// Allow adds another answer that the question allows, and why.
func (e *Expected) Allow(o *Expected, why string) {
	if _, err := e.compare(o.answer(), Tolerance); err != nil {
		e.others, e.why = append(e.others, o), why
	}
}

// answer are the rows of the answer itself.
func (e *Expected) answer() *Loose {
	out := &Loose{}
	for _, row := range e.rows[e.offset : e.offset+e.count] {
		out.rows = append(out.rows, row[:e.width])
	}
	return out
}

// Cut returns how many rows of the answer tie where a limit cuts, and the first
// column that tells them apart; -1 = no one column does.
func (e *Expected) Cut() (rows, column int) {
	column = -1
	for i := 0; i < len(e.cut); i += 2 {
		from, to := e.cut[i], e.cut[i+1]
		rows += min(to, e.offset+e.count) - max(from, e.offset)
		for k := 0; k < e.width && column < 0; k++ {
			seen := map[string]bool{}
			for _, r := range e.rows[from:to] {
				seen[r[k].text] = true
			}
			if len(seen) == to-from {
				column = k
			}
		}
	}
	return rows, column
}

// Why is what does not fix the answer: other answers were allowed; "" = nothing.
func (e *Expected) Why() string { return e.why }

// HasFloats reports whether a column holds floating-point numbers.
func (e *Expected) HasFloats() bool {
	return slices.ContainsFunc(e.rows, func(r []value) bool {
		return slices.ContainsFunc(r[:e.width], func(v value) bool { return v.kind == float })
	})
}

// HasNull reports whether a column by which rows are ordered has NULL.
func (e *Expected) HasNull() bool {
	return slices.ContainsFunc(e.rows, func(r []value) bool {
		return slices.ContainsFunc(e.by, func(k int) bool { return r[k].kind == null })
	})
}
