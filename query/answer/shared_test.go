package answer_test

import (
	"testing"

	"github.com/barograph/barograph/query/answer"
)

// Several engines are compared with one Expected. A comparison must not change it: a value without a type is a number for
// an engine that returns a number, and a text for one that returns a text.
func TestComparisonKeepsExpected(t *testing.T) {
	e := only(loose([]any{answer.Untyped("1")}, []any{answer.Untyped("2")}), 1, nil, 0, -1)
	for _, got := range []*answer.Loose{loose([]any{int64(2)}, []any{int64(1)}), loose([]any{"2"}, []any{"1"}), loose([]any{int64(1)}, []any{int64(2)})} {
		if _, err := answer.CompareLoose(e, got, answer.Tolerance); err != nil {
			t.Error(err)
		}
	}
}

// The allowed answers may have different numbers of rows. Then no column can be compared.
func TestAlternativesOfDifferentLength(t *testing.T) {
	a, b, c := []any{"a", int64(1)}, []any{"b", int64(2)}, []any{"c", int64(3)}
	for _, sets := range [][2]*answer.Loose{{loose(a), loose(a, b)}, {loose(a, b), loose(a)}} {
		e := only(sets[0], 2, nil, 0, -1)
		e.Allow(only(sets[1], 2, nil, 0, -1), "rows tie")
		if open := e.UncheckedColumns(); len(open) != 2 {
			t.Errorf("columns %v are not compared", open)
		}
		if p, err := answer.CompareLoose(e, loose(a, b, c), answer.Tolerance); err != nil || p.Degree() != answer.Undetermined {
			t.Errorf("%q, %v", p.Degree(), err)
		}
	}
}

// Times are compared to the microsecond, because some engines store no nanoseconds.
func TestNanoseconds(t *testing.T) {
	e := only(loose([]any{answer.Moment("2024-07-01 12:00:00.123456789")}), 1, nil, 0, -1)
	for text, equal := range map[string]bool{"2024-07-01 12:00:00.123456": true, "2024-07-01 12:00:00.123457": false} {
		if _, err := answer.CompareLoose(e, loose([]any{answer.Moment(text)}), answer.Tolerance); (err == nil) != equal {
			t.Errorf("%s: %v", text, err)
		}
	}
}
