package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/question"
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

// CompareStar holds an answer against all rows of the reference, which are in
// order. Rows that are equal in the question's order are compared as sets; where
// the limit cuts through such rows, any of them may have come.
func CompareStar(q StarQuery, o NullOrder, want, got []StarRow) (answer.Proof, error) {
	want = slices.Clone(want)
	for i := range min(len(want), len(got)) { // of rows that tie, the one that came is put here
		for k := i; k < len(want) && o.compare(q, want[i], want[k]) == 0; k++ {
			if want[k] == got[i] {
				want[i], want[k] = want[k], want[i]
				break
			}
		}
	}
	proof, err := answer.Compare(starAnswer(want[:min(len(want), StarLimit)]), starAnswer(got))
	if err != nil {
		err = fmt.Errorf("%s: %w", q, err)
	}
	return proof, err
}

// starAnswer puts rows into canonical types; sums are decimal texts, or NULL.
func starAnswer(rows []StarRow) *answer.Answer {
	var b answer.Builder
	b.Reset([]question.Column{
		{Name: "d_year", Kind: question.Span}, {Name: "i_brand_id", Kind: question.Span}, {Name: "i_brand", Kind: question.Text}, {Name: "sum", Kind: question.Text},
	})
	for _, r := range rows {
		b.Whole(0, r.Year)
		b.Whole(1, r.BrandID)
		b.Text(2, r.Brand)
		sum := "NULL"
		if !r.Null {
			sum = string(tpcds.AppendCents(nil, r.Cents))
		}
		b.Text(3, sum)
		b.Row()
	}
	return b.Take()
}
