package answer_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
)

func loose(rows ...[]any) *answer.Loose {
	var l answer.Loose
	for _, r := range rows {
		l.Add(r)
	}
	return &l
}

// only returns the expectation of rows in an order; limit -1 = none.
func only(l *answer.Loose, width int, by []int, offset, limit int) *answer.Expected {
	return answer.Expect(l, answer.Shape{Width: width, By: by, Offset: offset, Limit: limit})
}

// TestLooseValues: values are compared by their types, not only by their texts.
func TestLooseValues(t *testing.T) {
	noon := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	type dec = answer.Decimal
	type raw = answer.Untyped
	for _, c := range []struct {
		a, b   any
		degree answer.Degree
	}{
		{int64(5), dec("5"), answer.Agreed},
		{int64(5), dec("5.00"), answer.Agreed},
		{int64(5), "5", ""},
		{"1.0", "1", ""},
		{"1.0", raw("1"), ""},
		{"1.0", raw("1.0"), answer.Agreed},
		{"1", int64(1), ""},
		{int64(1), raw("1"), answer.Agreed},
		{big.NewInt(5), 5.0, answer.Agreed},
		{true, int64(1), answer.Agreed},
		{dec("12.30"), dec("12.3"), answer.Agreed},
		{dec("52700277.14"), dec("52700277.15"), ""}, // a cent: decimals are exact, however large
		{dec("123456789012.34"), 123456789000.00, ""},
		{123456789012.34, dec("123456789000.00"), ""},
		{dec("123456789012.34"), 123456789012.34, answer.Agreed},
		{dec("99999999999999999999999999999999999999"), dec("99999999999999999999999999999999999998"), ""},
		{dec("3.3333333333333333"), dec("3.33333333333333333333"), answer.Rounded},
		{dec("3.3333333333333333"), 10.0 / 3, answer.Agreed},
		{dec("3.333333"), dec("3.333334"), ""},
		{math.Nextafter(0.3, 1), 0.3, answer.Rounded},
		{1.0, 1.00001, ""},
		{dec("1e-05"), 0.00001, answer.Agreed},
		{dec("1e400"), dec("7e999"), ""},
		{"1e400", "7e999", ""},
		{nil, "", ""},
		{nil, int64(0), ""},
		{nil, nil, answer.Agreed},
		{"007", "7", ""},
		{dec("-0"), int64(0), answer.Agreed},
		{noon, answer.Moment("2024-07-01T12:00:00Z"), answer.Agreed},
		{noon, raw("2024-07-01 12:00:00"), answer.Agreed},
		{noon, "2024-07-01 12:00:00", ""},
		{noon.Add(-12 * time.Hour), answer.Date("2024-07-01"), ""},
		{noon.Add(-12 * time.Hour), raw("2024-07-01"), ""},
		{"2024-01-01T00:00:00Z", "2024-01-01", ""},
		{answer.Date("2024-07-01"), raw("2024-07-01"), answer.Agreed},
		{answer.Date("2024-07-01"), "2024-07-01", ""},
		{answer.Moment("2024-07-01 00:00:00.100"), answer.Moment("2024-07-01 00:00:00.1"), answer.Agreed},
		{answer.Moment("2024-07-01 00:00:10"), answer.Moment("2024-07-01 00:00:10.0"), answer.Agreed},
		{"a", "A", ""},
		{math.Inf(1), 5.0, ""}, // whatever the tolerance
		{5.0, math.Inf(1), ""},
		{math.NaN(), 5.0, ""},
		{5.0, math.NaN(), ""},
		{math.Inf(1), math.Inf(-1), ""},
		{math.Inf(1), math.Inf(1), answer.Agreed},
		{math.Inf(-1), dec("-Infinity"), answer.Agreed},
		{math.NaN(), dec("NaN"), answer.Agreed},
		{math.NaN(), 5.0, ""},
		{math.NaN(), nil, ""},
	} {
		proof, err := answer.CompareLoose(only(loose([]any{c.a}), 1, nil, 0, -1), loose([]any{c.b}), answer.Tolerance)
		degree := proof.Degree()
		if c.degree == "" != (err != nil) || degree != c.degree {
			t.Errorf("%v and %v: %q, %v", c.a, c.b, degree, err)
		}
	}
}

// TestLooseOrder: rows in any order, in one that leaves some equal, and cut by a limit.
func TestLooseOrder(t *testing.T) {
	a, b, c, d := []any{"a", int64(3), 0.5}, []any{"b", int64(2), 0.25}, []any{"c", int64(2), 0.125}, []any{"d", int64(2), 0.0}
	none := -1
	for _, x := range []struct {
		name          string
		want, got     *answer.Loose
		by            []int
		offset, limit int
		degree        answer.Degree
		says          string
	}{
		{"any order", loose(a, b, c), loose(b, a, c), nil, 0, none, answer.Agreed, ""},
		{"ties", loose(a, b, c), loose(a, c, b), []int{1}, 0, none, answer.Agreed, ""},
		{"another order", loose(a, b, c), loose(b, a, c), []int{1}, 0, none, "", "order differs at row 0"},
		{"NULL elsewhere", loose(a, b, c), loose([]any{nil, int64(3), 0.5}, b, c), []int{0}, 0, none, "", "write NULLS FIRST or NULLS LAST"},
		{"another row", loose(a, b, c), loose(a, b, d), []int{1}, 0, none, "", "1 row has different values"},
		{"a tie that a limit cuts", loose(a, b, c, d), loose(a, d, b), []int{1}, 0, 3, answer.Undetermined, ""},
		{"the same, as the reference has it", loose(a, b, c, d), loose(a, b, c), []int{1}, 0, 3, answer.Undetermined, ""},
		{"a row twice", loose(a, b, c, d), loose(a, b, b), []int{1}, 0, 3, "", "1 row has different values"},
		{"a value changed", loose(a, b, c, d), loose(a, b, []any{"x", int64(2), 0.125}), []int{1}, 0, 3, "", "1 row has different values"},
		{"a row dropped", loose(a, b, c, d), loose(a, b), []int{1}, 0, 3, "", "got 2 rows, the other engine gave 3 (expected 3 rows, got 2)"},
		{"one row", loose(a, b), loose(a), []int{1}, 0, none, "", "got 1 row, the other engine gave 2 (expected 2 rows, got 1)"},
		{"a tie that an offset cuts", loose(a, b, c, d), loose(d, b), []int{1}, 2, none, answer.Undetermined, ""},
		{"not behind the offset", loose(a, b, c, d), loose(a, b), []int{1}, 2, none, "", "order differs"},
		{"a limit between ties", loose(b, c, a), loose(c, b), []int{1}, 0, 2, answer.Agreed, ""},
		{"a limit without an order", loose(a, b, c, d), loose(d), nil, 0, 1, answer.Undetermined, ""},
		{"an order that is not shown", loose([]any{"a", int64(1)}, []any{"b", int64(2)}), loose([]any{"b"}, []any{"a"}), []int{1}, 0, none, "", "1 row has different values"},
		{"a column less", loose(a, b, c), loose([]any{"a"}, []any{"b"}, []any{"c"}), nil, 0, none, "", "got 1 column, the other engine gave 3 (expected 3 rows, got 3)"},
		{"a type", loose([]any{"1"}), loose([]any{int64(1)}), nil, 0, none, "", "column 1 is an exact number, the other engine gave a text"},
	} {
		width := 3
		if x.name == "an order that is not shown" || x.name == "a type" {
			width = 1
		}
		proof, err := answer.CompareLoose(only(x.want, width, x.by, x.offset, x.limit), x.got, answer.Tolerance)
		_, diff := errors.AsType[*answer.Diff](err)
		if proof.Degree() != x.degree || diff != (x.says != "") || diff && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %q, %v", x.name, proof.Degree(), err)
		}
	}
}

// TestLooseSums: floating-point numbers that differ in their last bits do not change the places of rows. The
// tolerance of a sum whose terms cancel is relative to its terms.
func TestLooseSums(t *testing.T) {
	a := loose([]any{math.Nextafter(0.3, 1), "x"}, []any{0.3, "y"}, []any{nil, "z"})
	b := loose([]any{nil, "z"}, []any{math.Nextafter(0.3, 1), "y"}, []any{0.3, "x"})
	if p, err := answer.CompareLoose(only(a, 2, nil, 0, -1), b, answer.Tolerance); err != nil || p.Degree() != answer.Rounded {
		t.Error(err)
	}
	for _, c := range []struct {
		got  float64
		says answer.Degree
	}{{-3e-12, answer.Rounded}, {1e-12, answer.Agreed}, {1e-3, ""}} {
		e := answer.Expect(loose([]any{1e-12, 1e4}), answer.Shape{Width: 1, Limit: -1, Scales: map[int]int{0: 1}})
		if p, err := answer.CompareLoose(e, loose([]any{c.got}), answer.Tolerance); p.Degree() != c.says {
			t.Errorf("%g: %q, %v", c.got, p.Degree(), err)
		}
	}
}

// TestAllowed: the proof of a result that is one of several allowed answers is Undetermined. A result that is none
// of those that were found is compared with what they have in common.
func TestAllowed(t *testing.T) {
	up, down := loose([]any{"a", int64(1)}, []any{"b", int64(2)}, []any{"c", int64(3)}), loose([]any{"a", int64(2)}, []any{"b", int64(1)}, []any{"c", int64(3)})
	for _, c := range []struct {
		name string
		got  *answer.Loose
		says answer.Degree
	}{
		{"the first", up, answer.Undetermined},
		{"the other", down, answer.Undetermined},
		{"a third", loose([]any{"a", int64(3)}, []any{"b", int64(1)}, []any{"c", int64(2)}), answer.Undetermined},
		{"a value changed", loose([]any{"a", int64(3)}, []any{"x", int64(1)}, []any{"c", int64(2)}), ""},
		{"a number changed", loose([]any{"a", int64(3)}, []any{"b", int64(1)}, []any{"c", int64(9)}), ""},
		{"a row dropped", loose([]any{"a", int64(1)}, []any{"b", int64(2)}), ""},
	} {
		e := only(up, 2, nil, 0, -1)
		e.Allow(only(down, 2, nil, 0, -1), "rows tie")
		if p, err := answer.CompareLoose(e, c.got, answer.Tolerance); p.Degree() != c.says || (err != nil) != (c.says == "") || e.Ambiguity() != "rows tie" {
			t.Errorf("%s: %q, %v", c.name, p.Degree(), err)
		}
	}
	e := only(up, 2, nil, 0, -1)
	if e.Allow(only(loose([]any{"c", int64(3)}, []any{"a", int64(1)}, []any{"b", int64(2)}), 2, nil, 0, -1), "x"); e.Ambiguity() != "" {
		t.Error("an answer that is the same is no other answer")
	}
}
