package answer

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestValueOf: a value of each type of a driver becomes a value of the kind in which it is compared.
func TestValueOf(t *testing.T) {
	at := time.Date(2024, 7, 1, 14, 0, 0, 250_000_000, time.FixedZone("", 7200))
	whole, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for _, x := range []struct {
		in   any
		want value
	}{
		{nil, value{}},
		{true, value{kind: exactKind, text: "1", num: 1}},
		{false, value{kind: exactKind, text: "0"}},
		{0.1, value{kind: floatKind, text: "0.1", num: 0.1}},
		{float32(0.1), value{kind: floatKind, text: "0.1", num: float64(float32(0.1))}},
		{Date("2024-07-01"), value{kind: dateKind, text: "2024-07-01"}},
		{DateOf(at), value{kind: dateKind, text: "2024-07-01"}},
		{Moment("2024-07-01T12:00:00.250Z"), value{kind: timeKind, text: "2024-07-01 12:00:00.25"}},
		{Moment("noon"), value{kind: timeKind, text: "noon"}},
		{at, value{kind: timeKind, text: "2024-07-01 12:00:00.25"}},
		{Untyped("x"), value{kind: untypedKind, text: "x"}},
		{[]byte("x"), value{kind: textKind, text: "x"}},
		{"1.0", value{kind: textKind, text: "1.0"}},
		{Decimal("1.50"), value{kind: exactKind, text: "1.5", num: 1.5}},
		{Decimal("-0.00"), value{kind: exactKind, text: "0"}},
		{Decimal("100"), value{kind: exactKind, text: "100", num: 100}},
		{Decimal("1e400"), value{kind: textKind, text: "1e400"}},
		{Decimal("1e3"), value{kind: floatKind, text: "1e3", num: 1000}},
		{int8(-3), value{kind: exactKind, text: "-3", num: -3}},
		{uint64(math.MaxUint64), value{kind: exactKind, text: "18446744073709551615", num: math.MaxUint64}},
		{whole, value{kind: exactKind, text: whole.String(), num: 123456789012345678901234567890.0}},
		{time.Minute, value{kind: textKind, text: "1m0s"}},
		{[]int{1}, value{kind: textKind, text: "[1]"}},
	} {
		got := valueOf(x.in)
		if x.want.text == "0" && math.Signbit(got.num) {
			got.num = 0
		}
		if got != x.want {
			t.Errorf("%T %v: %+v, want %+v", x.in, x.in, got, x.want)
		}
	}
}

// TestApproxEqual: which values count as equal, and by how much they differ.
func TestApproxEqual(t *testing.T) {
	for _, x := range []struct {
		a, b any
		off  float64
		ok   bool
	}{
		{nil, nil, 0, true},
		{nil, "", 0, false},
		{"1", "1", 0, true},
		{"1", 1, 0, false},
		{"a", "b", 0, false},
		{Untyped("1"), 1, 0, true},
		{Untyped("1.0"), 1, 0, false},
		{Untyped("1"), "1", 0, true},
		{Untyped("x"), Untyped("x"), 0, true},
		{Untyped("2024-07-01"), Date("2024-07-01"), 0, true},
		{Untyped("20240701"), Date("20240701"), 0, false},
		{Untyped("2024-07-01T12:00:00+00:00"), Moment("2024-07-01 12:00:00"), 0, true},
		{Untyped("12:00"), Moment("12:00"), 0, false},
		{Date("2024-07-01"), Moment("2024-07-01"), 0, false},
		{Decimal("1.25"), Decimal("1.250"), 0, true},
		{Decimal("123456789012.34"), Decimal("123456789000.00"), 0, false},
		{Decimal("123456789012.34"), 123456789012.34, 0, true},
		{Decimal("123456789012.34"), 123456789000.0, 12.34 / 123456789012.34, false},
		{1.0, 1.0 + 0x1p-33, 0x1p-33 / (1 + 0x1p-33), true},
		{1.0, 1.0 + 0x1p-29, 0x1p-29 / (1 + 0x1p-29), false},
		{Decimal("0.3333333333"), Decimal("0.33333333333333"), 3.333e-11 / 0.33333333333333, true},
		{Decimal("0.3333333"), Decimal("0.3333334"), 1e-7 / 0.3333334, false},
		{Decimal("1.0000000000000000001"), Decimal("1.0000000000000000002"), 1e-19, true},
		{math.Inf(1), math.Inf(1), 0, true},
		{math.Inf(1), math.Inf(-1), 0, false},
		{math.NaN(), math.NaN(), 0, true},
		{math.NaN(), 1.0, 0, false},
		{math.Inf(1), 1.0, 0, false},
		{0.0, math.Copysign(0, -1), 0, true},
	} {
		for _, turned := range []bool{false, true} {
			a, b := valueOf(x.a), valueOf(x.b)
			if turned {
				a, b = b, a
			}
			off, ok := a.approxEqual(b, Tolerance)
			if ok != x.ok || math.Abs(off-x.off) > 1e-6*x.off {
				t.Errorf("%T %v and %T %v: %v, off by %g; want %v, %g", x.a, x.a, x.b, x.b, ok, off, x.ok, x.off)
			}
		}
	}
	a, b := valueOf(1e-12), valueOf(0.0)
	if _, ok := a.approxEqual(b, Tolerance); ok {
		t.Error("a small number is no zero")
	}
	if a.scale = 1; true {
		if off, ok := a.approxEqual(b, Tolerance); !ok || off != 1e-12 {
			t.Errorf("a sum of values of size 1 that cancels: %v %g", ok, off)
		}
	}
}

// rowsOf makes an answer.
func rowsOf(rows ...[]any) *Loose {
	l := &Loose{}
	for _, r := range rows {
		l.Add(r)
	}
	return l
}

// TestLimitTies: how many rows tie at a limit, which column distinguishes them, and when a reader can stop.
func TestLimitTies(t *testing.T) {
	rows := func() *Loose {
		return rowsOf([]any{1, "a", "x"}, []any{2, "b", "y"}, []any{2, "c", "y"}, []any{2, "d", "y"}, []any{3, "e", "y"})
	}
	for limit, want := range map[int][2]int{0: {0, -1}, 1: {0, -1}, 2: {1, 1}, 3: {2, 1}, 4: {0, -1}, 5: {0, -1}} {
		e := Expect(rows(), Shape{Width: 3, By: []int{0}, Limit: limit})
		if n, column := e.LimitTies(); n != want[0] || column != want[1] {
			t.Errorf("limit %d cuts %d rows, distinguished by %d; want %v", limit, n, column, want)
		}
	}
	e := Expect(rowsOf([]any{1, "a"}, []any{1, "b"}, []any{1, "b"}, []any{1, "a"}), Shape{Width: 2, By: []int{0}, Limit: 2})
	if n, column := e.LimitTies(); n != 2 || column != -1 {
		t.Errorf("%d rows, distinguished by %d", n, column)
	}
	// An offset and a limit, each of which cuts two rows: column 1 distinguishes only the first two, column 2 all.
	e = Expect(rowsOf([]any{1, "a", "x"}, []any{1, "b", "y"}, []any{2, "c", "x"}, []any{2, "c", "y"}), Shape{Width: 3, By: []int{0}, Offset: 1, Limit: 2})
	if n, column := e.LimitTies(); n != 2 || column != 2 {
		t.Errorf("two cuts through %d rows, distinguished by %d", n, column)
	}
	// Rows with the same values are the same answer, also with NaN, or with another sum of absolute values.
	for name, l := range map[string]*Loose{"NaN": rowsOf([]any{1, math.NaN(), 1.0}, []any{1, math.NaN(), 1.0}), "scale": rowsOf([]any{1, 0.5, 1.0}, []any{1, 0.5, 2.0})} {
		e := Expect(l, Shape{Width: 2, By: []int{0}, Limit: 1, Scales: map[int]int{1: 2}})
		if n, _ := e.LimitTies(); n != 0 {
			t.Errorf("%s: %d equal rows tie", name, n)
		}
	}
	e = Expect(rows(), Shape{Width: 3, By: []int{0}, Offset: 2, Limit: -1})
	if n, column := e.LimitTies(); n != 2 || column != 1 || e.Len() != 3 {
		t.Errorf("an offset cuts %d rows of %d, distinguished by %d", n, e.Len(), column)
	}
	l := &Loose{}
	var last []bool
	for _, r := range rows().rows {
		l.rows = append(l.rows, r)
		last = append(last, l.PastTies(2, []int{0}))
	}
	if !slices.Equal(last, []bool{false, false, false, false, true}) || l.PastTies(0, []int{0}) {
		t.Errorf("read to the end of what ties with row 2: %v", last)
	}
}

// TestRowNumbersOfLooseAnswers: a differing row has its number in the answer, from 0.
func TestRowNumbersOfLooseAnswers(t *testing.T) {
	want := rowsOf([]any{1, "a"}, []any{2, "b"}, []any{2, "c"}, []any{3, "d"})
	for _, x := range []struct {
		by            []int
		offset, limit int
		got           *Loose
		row           int
	}{
		{[]int{0}, 0, -1, rowsOf([]any{1, "a"}, []any{2, "b"}, []any{2, "c"}, []any{3, "x"}), 3},
		{[]int{0}, 0, -1, rowsOf([]any{1, "a"}, []any{2, "x"}, []any{2, "b"}, []any{3, "d"}), 1},
		{[]int{0}, 1, -1, rowsOf([]any{2, "b"}, []any{2, "c"}, []any{3, "x"}), 2},
		{[]int{0}, 2, 1, rowsOf([]any{2, "x"}), 0},
		{nil, 0, -1, rowsOf([]any{3, "d"}, []any{2, "x"}, []any{2, "b"}, []any{1, "a"}), 1},
		{[]int{0}, 0, -1, rowsOf([]any{1, "a"}, []any{2, "b"}, []any{3, "c"}, []any{3, "d"}), 2}, // the order
	} {
		_, err := CompareLoose(Expect(want, Shape{Width: 2, By: x.by, Offset: x.offset, Limit: x.limit}), x.got, Tolerance)
		if d, ok := errors.AsType[*Diff](err); !ok || len(d.Rows) != 1 || d.Rows[0].Row != x.row {
			t.Errorf("offset %d, limit %d: %v, want row %d", x.offset, x.limit, err, x.row)
		}
	}
}

// TestRoundedSumsOfAnyOrder: sums that are equal within the tolerance of what they add up may sort otherwise in the
// answer. A value beyond the tolerance is still found, and each row counts once.
func TestRoundedSumsOfAnyOrder(t *testing.T) {
	e := func() *Expected {
		want := rowsOf([]any{1e-12, 2.0, 1e4}, []any{3e-12, 1.0, 1e4}, []any{7.0, 7.0, 7.0})
		return Expect(want, Shape{Width: 2, Limit: -1, Scales: map[int]int{0: 2}})
	}
	for name, x := range map[string]struct {
		got   *Loose
		equal bool
	}{
		"another order":   {rowsOf([]any{-2e-12, 2.0}, []any{5e-12, 1.0}, []any{7.0, 7.0}), true},
		"beyond":          {rowsOf([]any{-2e-12, 2.0}, []any{5e-3, 1.0}, []any{7.0, 7.0}), false},
		"a row twice":     {rowsOf([]any{-2e-12, 2.0}, []any{5e-12, 2.0}, []any{7.0, 7.0}), false},
		"exchanged cells": {rowsOf([]any{-2e-12, 7.0}, []any{5e-12, 1.0}, []any{7.0, 2.0}), false},
	} {
		if p, err := CompareLoose(e(), x.got, Tolerance); (err == nil) != x.equal || x.equal && (p.Degree() != Rounded || p.LargestDifference() > 1e-15) {
			t.Errorf("%s: %q, %g, %v", name, p.Degree(), p.LargestDifference(), err)
		}
	}
}

// TestDiffsOfLooseAnswers: the messages about answers that differ.
func TestDiffsOfLooseAnswers(t *testing.T) {
	for name, x := range map[string]struct {
		want, got     *Loose
		by            []int
		problem       string
		missing, rows int
	}{
		"a value":       {rowsOf([]any{1, "a"}, []any{2, "b"}), rowsOf([]any{1, "a"}, []any{2, "c"}), nil, "1 row has different values", 1, 1},
		"a type":        {rowsOf([]any{"1"}), rowsOf([]any{1}), nil, "column 1 is an exact number, the other engine gave a text: cast it to one type", 1, 1},
		"two numbers":   {rowsOf([]any{1}), rowsOf([]any{2.5}), nil, "1 row has different values", 1, 1},
		"NULL":          {rowsOf([]any{nil}), rowsOf([]any{"x"}), nil, "1 row has different values", 1, 1},
		"an order":      {rowsOf([]any{1}, []any{2}), rowsOf([]any{2}, []any{1}), []int{0}, "the order differs at row 0", 0, 1},
		"NULL last":     {rowsOf([]any{nil}, []any{2}), rowsOf([]any{2}, []any{nil}), []int{0}, "the order differs at row 0, because some engines sort NULL first and others last: write NULLS FIRST or NULLS LAST", 0, 1},
		"a row more":    {rowsOf([]any{1}), rowsOf([]any{1}, []any{1}), nil, "got 2 rows, the other engine gave 1", 0, 0},
		"a column more": {rowsOf([]any{1}), rowsOf([]any{1, 1}), nil, "got 2 columns, the other engine gave 1", 0, 0},
	} {
		e := Expect(x.want, Shape{Width: len(x.want.rows[0]), By: x.by, Limit: -1})
		_, err := CompareLoose(e, x.got, Tolerance)
		var d *Diff
		if !errors.As(err, &d) || d.Problem != x.problem || d.Missing != x.missing || d.Extra != x.missing || len(d.Rows) != x.rows {
			t.Errorf("%s: %+v", name, d)
		}
	}
	e := Expect(rowsOf([]any{nil, "a"}), Shape{Width: 2, Limit: -1, Degree: EveryValue})
	_, err := CompareLoose(e, rowsOf([]any{1, "a"}, []any{1, "a"}), Tolerance)
	if err == nil || !strings.Contains(err.Error(), "got 2 rows, the reference has 1") {
		t.Error(err)
	}
	if p, err := CompareLoose(e, rowsOf([]any{nil, "a"}), Tolerance); err != nil || p.degree != EveryValue {
		t.Error(p, err)
	}
}

// TestTallyAdd: every number of a tally is added.
func TestTallyAdd(t *testing.T) {
	var a, b Tally
	va, vb := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	for i := range va.NumField() {
		if va.Field(i).Kind() == reflect.Int64 {
			va.Field(i).SetInt(int64(i))
			vb.Field(i).SetInt(int64(100 * (i + 1)))
		}
	}
	b.Derived = true
	a.Add(b)
	for i := range va.NumField() {
		if f := va.Field(i); f.Kind() == reflect.Int64 && f.Int() != int64(i+100*(i+1)) {
			t.Errorf("%s is %d", va.Type().Field(i).Name, f.Int())
		}
	}
	if !a.Derived {
		t.Error("one of them is derived")
	}
}
