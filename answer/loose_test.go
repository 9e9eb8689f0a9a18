package answer_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/answer"
)

func loose(rows ...[]any) *answer.Loose {
	var l answer.Loose
	for _, r := range rows {
		l.Add(r)
	}
	return &l
}

// TestLooseValues: what engines' types and texts are alike, and what is not.
func TestLooseValues(t *testing.T) {
	noon := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		a, b  any
		equal bool
	}{
		{int64(5), "5", true},
		{int64(5), []byte("5.00"), true},
		{big.NewInt(5), 5.0, true},
		{true, int64(1), true},
		{"12.30", "12.3", true},
		{"52700277.14", "52700277.15", false}, // a cent: decimals are exact, however large
		{"52700277.14", 52700277.140001, true},
		{"3.3333333333333333", "3.33333333333333333333", true},
		{"3.3333333333333333", 10.0 / 3, true},
		{"3.333333", "3.333334", false},
		{0.1 + 0.2, 0.3, true},
		{1.0, 1.00001, false},
		{"1e-05", 0.00001, true},
		{nil, "", false},
		{nil, int64(0), false},
		{nil, nil, true},
		{"007", "7", false},
		{"-0", int64(0), true},
		{noon, "2024-07-01 12:00:00", true},
		{noon.Add(-12 * time.Hour), "2024-07-01", true},
		{"2024-07-01 00:00:00.000000", "2024-07-01T00:00:00Z", true},
		{"2024-07-01 00:00:00.100", "2024-07-01 00:00:00.1", true},
		{"2024-07-01 00:00:00.1", "2024-07-01", false},
		{"a", "A", false},
		{math.Inf(1), 5.0, false}, // whatever the tolerance
		{math.Inf(1), math.Inf(-1), false},
		{math.Inf(1), math.Inf(1), true},
		{math.Inf(-1), "-Infinity", true},
		{math.NaN(), "NaN", true},
		{math.NaN(), 5.0, false},
		{math.NaN(), nil, false},
	} {
		proof, _, err := answer.CompareLoose(loose([]any{c.a}), loose([]any{c.b}), answer.Order{}, answer.Tolerance)
		if (err == nil) != c.equal || proof.Valid() != c.equal || c.equal && proof.Degree() != answer.Agreed {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, proof, err)
		}
	}
}

// TestLooseOrder: rows in any order, in one that leaves some equal, and cut by a limit.
func TestLooseOrder(t *testing.T) {
	abc := loose([]any{"a", int64(3), 0.5}, []any{"b", int64(2), 0.25}, []any{"c", int64(2), 0.125})
	acb := loose([]any{"a", int64(3), 0.5}, []any{"c", int64(2), 0.125}, []any{"b", int64(2), 0.25})
	bac := loose([]any{"b", int64(2), 0.25}, []any{"a", int64(3), 0.5}, []any{"c", int64(2), 0.125})
	abd := loose([]any{"a", int64(3), 0.5}, []any{"b", int64(2), 0.25}, []any{"d", int64(2), 0.125})
	for _, c := range []struct {
		name  string
		got   *answer.Loose
		order answer.Order
		loose int
		says  string
	}{
		{"any order", bac, answer.Order{}, 0, ""},
		{"ties", acb, answer.Order{By: []int{1}}, 0, ""},
		{"another order", bac, answer.Order{By: []int{1}}, 0, "order differs at row 1"},
		{"NULL elsewhere", loose([]any{nil, int64(3), 0.5}, []any{"b", int64(2), 0.25}, []any{"c", int64(2), 0.125}), answer.Order{By: []int{0}}, 0, "write NULLS FIRST or NULLS LAST"},
		{"ties in another order", acb, answer.Order{By: []int{1, 0}}, 0, "order differs at row 2"},
		{"another row", abd, answer.Order{By: []int{1}}, 0, "1 rows hold other values"},
		{"another row where a limit cuts", abd, answer.Order{By: []int{1}, Limit: 3}, 2, ""},
		{"another row above the limit", abd, answer.Order{By: []int{1}, Limit: 4}, 0, "1 rows hold other values"},
		{"a row less", loose([]any{"a", int64(3), 0.5}), answer.Order{}, 0, "1 rows came"},
		{"a row twice", loose([]any{"a", int64(3), 0.5}, []any{"b", int64(2), 0.25}, []any{"b", int64(2), 0.25}), answer.Order{}, 0, "1 rows hold other values"},
		{"a column less", loose([]any{"a"}, []any{"b"}, []any{"c"}), answer.Order{}, 0, "1 columns came"},
	} {
		proof, n, err := answer.CompareLoose(abc, c.got, c.order, answer.Tolerance)
		_, diff := errors.AsType[*answer.Diff](err)
		if proof.Valid() != (c.says == "") || n != c.loose || diff != (c.says != "") || diff && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %d, %v", c.name, proof, n, err)
		}
	}
}

// TestLooseSums: floating-point numbers that differ in their last bits do not
// bring rows out of their places.
func TestLooseSums(t *testing.T) {
	a := loose([]any{0.1 + 0.2, "x"}, []any{0.3, "y"}, []any{nil, "z"})
	b := loose([]any{nil, "z"}, []any{0.1 + 0.2, "y"}, []any{0.3, "x"})
	if _, _, err := answer.CompareLoose(a, b, answer.Order{}, answer.Tolerance); err != nil {
		t.Error(err)
	}
}
