package answer_test

import (
	"fmt"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// An answer is proven by comparing it, value by value, with the reference.
func ExampleCompare() {
	rows := func(values ...float64) *answer.Answer {
		var b answer.Builder
		b.Reset([]question.Column{{Name: "fbar", Role: question.Data, Kind: question.Number}})
		for _, v := range values {
			b.Num(0, v)
			b.Row()
		}
		return b.Take()
	}
	reference := rows(1, 2.5)
	proof, err := answer.Compare(reference, rows(1, 2.5))
	fmt.Println(proof.Valid(), proof.Rows(), err)
	proof, err = answer.Compare(reference, rows(1, 2.4))
	fmt.Println(proof.Valid(), err)
	// Output:
	// true 2 <nil>
	// false 1 row has different values (expected 2 rows, got 2: 1 missing, 1 unexpected)
	//   row 1, fbar
	//     want 2.5
	//     got  2.4
}
