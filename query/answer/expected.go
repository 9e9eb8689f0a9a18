package answer

import (
	"cmp"
	"math"
	"slices"

	"github.com/barograph/barograph/internal/lists"
)

// Expected is the set of answers that a question allows: usually one, the reference's rows, and
// several where the question does not determine the answer.
type Expected struct {
	// All rows of the question, including those before the offset. Of the rows after the limit, only those matter that
	// tie with the last row of the answer. Code that reads the rows from a database can stop after them (see PastTies).
	rows          [][]value
	offset, count int      // the answer is rows[offset:offset+count]
	width         int      // number of columns of an answer; the columns after them only serve the order
	orderColumns  []int    // columns by which rows are sorted
	tiesAtLimit   [][2]int // rows [from, to) tie, are not all equal, and the offset or the limit cuts through them
	alternatives  []*Expected
	degree        Degree // the degree of a proof by equality
	ambiguity     string // why the question does not determine the answer; "" = it does
}

// Shape describes the reference's rows.
type Shape struct {
	Width int   // number of columns of an answer
	By    []int // columns by which rows are sorted, the major one first; none = any order
	// For a column with a sum whose terms may cancel: the index of the column with the sum of the terms' absolute values,
	// to which the tolerance of the sum is relative.
	Scales map[int]int
	Offset int
	Limit  int    // -1 = none
	Degree Degree // EveryValue if no database computed the reference; "" = Agreed
}

// Expect builds the expectation from the reference's rows.
func Expect(l *Loose, s Shape) *Expected {
	for _, row := range l.rows {
		for k, m := range s.Scales {
			if f := math.Abs(row[m].num); !math.IsNaN(f) && !math.IsInf(f, 0) {
				row[k].scale = f
			}
		}
	}
	e := &Expected{rows: l.rows, width: s.Width, orderColumns: s.By, degree: cmp.Or(s.Degree, Agreed)}
	e.offset = min(s.Offset, len(l.rows))
	e.count = len(e.rows) - e.offset
	if s.Limit >= 0 {
		e.count = min(e.count, s.Limit)
	}
	for from, to := range e.ties {
		inside := from >= e.offset && to <= e.offset+e.count
		outside := to <= e.offset || from >= e.offset+e.count
		alike := !slices.ContainsFunc(e.rows[from:to], func(r []value) bool {
			return !slices.EqualFunc(r[:e.width], e.rows[from][:e.width], value.isIdentical)
		})
		if !inside && !outside && !alike {
			e.tiesAtLimit = append(e.tiesAtLimit, [2]int{from, to})
		}
	}
	return e
}

// Len is the number of rows of the answer.
func (e *Expected) Len() int { return e.count }

// ties iterates over the groups of tied rows. Without an order, all rows are one group.
func (e *Expected) ties(yield func(from, to int) bool) {
	for from := 0; from < len(e.rows); {
		to := from + 1
		for to < len(e.rows) && e.isTie(to-1, to) {
			to++
		}
		if !yield(from, to) {
			return
		}
		from = to
	}
}

// isTie reports whether the order does not distinguish rows i and j.
func (e *Expected) isTie(i, j int) bool {
	return !slices.ContainsFunc(e.orderColumns, func(k int) bool {
		_, ok := e.rows[i][k].approxEqual(e.rows[j][k], Tolerance)
		return !ok
	})
}

// PastTies reports whether the last row of l comes after all rows that tie with row n − 1. Code that reads the rows
// from a database can then stop.
func (l *Loose) PastTies(n int, orderColumns []int) bool {
	if n < 1 || len(l.rows) <= n {
		return false
	}
	e := Expected{rows: l.rows, orderColumns: orderColumns}
	return !e.isTie(n-1, len(l.rows)-1)
}

// Allow adds another answer that the question permits, with the reason.
func (e *Expected) Allow(o *Expected, why string) {
	if _, err := e.compare(o.resultRows(), Tolerance); err != nil {
		e.alternatives, e.ambiguity = append(e.alternatives, o), why
	}
}

// resultRows returns the rows of the answer, without the columns that only serve the order.
func (e *Expected) resultRows() *Loose {
	return &Loose{lists.Map(e.rows[e.offset:e.offset+e.count], func(row []value) []value { return row[:e.width] })}
}

// LimitTies counts the rows of the answer that tie with a row before the offset or after the limit. It also returns the
// first column whose values distinguish all tied rows; −1 = no single column does. If both the offset and the limit cut
// through ties, the column distinguishes the rows of each tie.
func (e *Expected) LimitTies() (rows, column int) {
	columns := lists.Indices(e.width)
	for _, t := range e.tiesAtLimit {
		tied := e.rows[t[0]:t[1]]
		rows += min(t[1], e.offset+e.count) - max(t[0], e.offset)
		columns = lists.Filter(columns, func(k int) bool {
			return len(lists.Set(tied, func(r []value) string { return r[k].text })) == len(tied)
		})
	}
	if rows == 0 || len(columns) == 0 {
		return rows, -1
	}
	return rows, columns[0]
}

// Ambiguity is the reason why other answers were allowed; "" = none were.
func (e *Expected) Ambiguity() string { return e.ambiguity }

// HasFloats reports whether a column contains floating-point numbers.
func (e *Expected) HasFloats() bool {
	return slices.ContainsFunc(e.rows, func(r []value) bool {
		return slices.ContainsFunc(r[:e.width], func(v value) bool { return v.kind == floatKind })
	})
}

// HasNull reports whether a column of the order contains NULL.
func (e *Expected) HasNull() bool {
	return slices.ContainsFunc(e.rows, func(r []value) bool {
		return slices.ContainsFunc(e.orderColumns, func(k int) bool { return r[k].kind == nullKind })
	})
}
