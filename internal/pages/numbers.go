package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
)

// number is a value with its 95 % interval (both ends NaN = none). Note is printed in place of a missing value.
type number struct {
	measure.Estimate
	N    int
	Note string
}

func exactly(v float64) number {
	return number{Estimate: measure.Estimate{Value: v, Low: math.NaN(), High: math.NaN()}}
}

func missing(note string) number {
	n := exactly(math.NaN())
	n.Note = note
	return n
}

func (n number) known() bool { return n.Note == "" && !math.IsNaN(n.Value) }

// String prints three digits.
func (n number) String() string {
	if !n.known() {
		if n.Note != "" {
			return n.Note
		}
		return "—"
	}
	return plot.Digits(n.Value, 3)
}

func toNumber(x any) (number, error) {
	switch x := x.(type) {
	case number:
		return x, nil
	case float64:
		return exactly(x), nil
	case int:
		return exactly(float64(x)), nil
	case string:
		v, err := strconv.ParseFloat(x, 64)
		return exactly(v), err
	}
	return number{}, fmt.Errorf("%v is no number", x)
}

// combine computes with two numbers. A missing one makes the result missing. A result that is no number is an error.
func combine(a, b any, f func(x, y float64) float64) (number, error) {
	x, err := toNumber(a)
	if err != nil {
		return x, err
	}
	y, err := toNumber(b)
	if err != nil || !y.known() {
		return y, err
	}
	if !x.known() {
		return x, nil
	}
	v := f(x.Value, y.Value)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return number{}, fmt.Errorf("the result for %v and %v is not a number", x, y)
	}
	return exactly(v), nil
}

func compare(a, b any, f func(x, y float64) bool) (bool, error) {
	x, err := toNumber(a)
	if err != nil {
		return false, err
	}
	y, err := toNumber(b)
	if err == nil && (!x.known() || !y.known()) {
		err = fmt.Errorf("a missing value (%v, %v) cannot be compared", x, y)
	}
	return err == nil && f(x.Value, y.Value), err
}

// within reports whether a value is in the interval of a number.
func within(n number, x any) (bool, error) {
	low, err := compare(n.Low, x, func(a, b float64) bool { return a <= b })
	if err != nil {
		return false, err
	}
	high, err := compare(x, n.High, func(a, b float64) bool { return a <= b })
	return low && high, err
}

// end is an end of the interval of a number. A number without an interval is an error: a page that compares it with
// another number would state a difference that may be chance.
func end(x any, of func(n number) float64) (number, error) {
	n, err := toNumber(x)
	if err != nil || !n.known() {
		return n, err
	}
	v := of(n)
	if math.IsNaN(v) {
		return n, fmt.Errorf("%v has no interval", n)
	}
	return exactly(v), nil
}

// geomean is the geometric mean of the known numbers of a list, which must be above 0.
func geomean(xs []any) (number, error) {
	sum, n := 0.0, 0
	for _, x := range xs {
		v, err := toNumber(x)
		if err != nil {
			return v, err
		}
		if v.known() && v.Value <= 0 {
			return v, fmt.Errorf("%v has no geometric mean", v)
		}
		if v.known() {
			sum += math.Log(v.Value)
			n++
		}
	}
	if n == 0 {
		return missing("—"), nil
	}
	return exactly(math.Exp(sum / float64(n))), nil
}

// best is the least or largest known number of numbers and lists.
func best(xs []any, better func(a, b float64) bool) (out number, err error) {
	out = missing("—")
	for _, x := range xs {
		var v number
		if list, ok := x.([]any); ok {
			v, err = best(list, better)
		} else {
			v, err = toNumber(x)
		}
		if err != nil {
			return v, err
		}
		if v.known() && (!out.known() || better(v.Value, out.Value)) {
			out = v
		}
	}
	return out, nil
}

// ofLeast returns the name of the least known number. names[i] is the name of numbers[i].
func ofLeast(names, numbers []any) (name string, err error) {
	if len(names) != len(numbers) {
		return "", fmt.Errorf("%d names for %d numbers", len(names), len(numbers))
	}
	least := missing("—")
	for i, x := range numbers {
		v, err := toNumber(x)
		if err != nil {
			return "", err
		}
		if v.known() && (!least.known() || v.Value < least.Value) {
			least, name = v, fmt.Sprint(names[i])
		}
	}
	if name == "" {
		return "", errors.New("none of the numbers is known: " + fmt.Sprint(names...))
	}
	return name, nil
}

func project(l measure.Growth, size any) (number, error) {
	n, err := toNumber(size)
	return number{Estimate: l.At(n.Value)}, err
}

func floats(xs []any) (out []float64, err error) {
	for _, x := range xs {
		v, err := toNumber(x)
		if err != nil {
			return nil, err
		}
		out = append(out, v.Value)
	}
	return out, nil
}

func printed(x any, f func(v float64) string) (string, error) {
	n, err := toNumber(x)
	if err != nil || !n.known() {
		return n.String(), err
	}
	return f(n.Value), nil
}

// interval prints the 95 % interval of a number.
func interval(x any) (string, error) {
	var e measure.Estimate
	switch x := x.(type) {
	case number:
		e = x.Estimate
	case measure.Estimate:
		e = x
	default:
		return "", fmt.Errorf("%v has no interval", x)
	}
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return "no interval", nil
	}
	return plot.Digits(e.Low, 3) + " – " + plot.Digits(e.High, 3), nil
}
