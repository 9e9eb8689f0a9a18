package engine

import (
	"cmp"
	"fmt"

	"barograph/formats/tpcds"
)

// StarLimit is the greatest number of rows of an answer.
const StarLimit = 100

// NullOrder is where NULL stands in an order.
type NullOrder byte

// The orders.
const (
	NullLeast  NullOrder = iota // first going up, last going down: what Barograph asks for
	NullsFirst                  // going up and going down
	NullsLast                   // likewise
)

// compare orders rows as the question does. Rows for which it is 0 may stand
// in any order.
func (o NullOrder) compare(q StarQuery, a, b StarRow) int {
	up := func(x, y int64) int {
		if o == NullsLast && (x == 0) != (y == 0) {
			return cmp.Compare(y, x) // 0 is NULL, the others are above it
		}
		return cmp.Compare(x, y)
	}
	sum := cmp.Compare(b.Cents, a.Cents)
	if a.Null != b.Null {
		sum = -1
		if a.Null != (o == NullsFirst) {
			sum = 1
		}
	}
	if q == Q3 || q == Q52 {
		return cmp.Or(up(a.Year, b.Year), sum, up(a.BrandID, b.BrandID))
	}
	return cmp.Or(sum, up(a.BrandID, b.BrandID))
}

// StarDiff tells where an answer differs from the reference.
type StarDiff struct {
	Query     StarQuery
	Row       int // from 1; 0 = their number
	Want, Got string
}

// Error says it in words.
func (d *StarDiff) Error() string {
	if d.Row == 0 {
		return fmt.Sprintf("%s: %s rows came, not %s", d.Query, d.Got, d.Want)
	}
	return fmt.Sprintf("%s, row %d: %s came, not %s", d.Query, d.Row, d.Got, d.Want)
}

// String is the row as it is printed in messages.
func (r StarRow) String() string {
	sum := "NULL"
	if !r.Null {
		sum = string(tpcds.AppendCents(nil, r.Cents))
	}
	return fmt.Sprintf("%d %d %q %s", r.Year, r.BrandID, r.Brand, sum)
}

// CompareStar holds an answer against all rows of the reference, which are in
// order. Rows that are equal in the question's order are compared as sets; where
// the limit cuts through such rows, any of them may have come.
func CompareStar(q StarQuery, o NullOrder, want, got []StarRow) error {
	if n := min(len(want), StarLimit); len(got) != n {
		return &StarDiff{Query: q, Want: fmt.Sprint(n), Got: fmt.Sprint(len(got))}
	}
	for from := 0; from < len(got); {
		to := from + 1
		for to < len(want) && o.compare(q, want[from], want[to]) == 0 {
			to++
		}
		left := map[StarRow]int{}
		for _, r := range want[from:to] {
			left[r]++
		}
		for i := from; i < min(to, len(got)); i++ {
			if left[got[i]] == 0 {
				return &StarDiff{Query: q, Row: i + 1, Want: want[i].String(), Got: got[i].String()}
			}
			left[got[i]]--
		}
		from = to
	}
	return nil
}
