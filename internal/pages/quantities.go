package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// law fits quantity = factor · size^exponent to the repetitions of a cell in the folders of several sizes. %s in name is
// the size. The conditions must select one cell of each folder.
func (p *page) law(name string, sizes []string, quantity string, conditions ...string) (measure.Growth, error) {
	var x []float64
	var rows [][]float64
	for _, size := range sizes {
		dir := fmt.Sprintf(name, size)
		f, err := p.open(dir)
		if err != nil {
			return measure.Growth{}, err
		}
		if cells := f.cellsOf(f.matching(conditions)); len(cells) > 1 {
			return measure.Growth{}, severalCells(dir, conditions, cells)
		}
		values, err := p.each(dir, quantity, conditions...)
		if err != nil {
			return measure.Growth{}, err
		}
		row, err := floats(values)
		if err != nil {
			return measure.Growth{}, err
		}
		n, err := toNumber(size)
		if err != nil {
			return measure.Growth{}, err
		}
		x, rows = append(x, n.Value), append(rows, row)
	}
	return measure.FitGrowth(x, rows, 1)
}

// value is the median of a quantity over the repetitions of the only cell that meets the
// conditions. A quantity is a path in the measurement, such as total_ns; times are in milliseconds.
func (p *page) value(name, quantity string, conditions ...string) (number, error) {
	if !p.exists(name) {
		return number{}, fmt.Errorf("there is no kept run folder %s", name)
	}
	n, err := p.try(name, quantity, conditions...)
	if err == nil && n.Note == notMeasured {
		err = fmt.Errorf("%s has no cell %v", name, conditions)
	}
	return n, err
}

func severalCells(name string, conditions, cells []string) error {
	return fmt.Errorf("%s: %v are %d cells: %v", name, conditions, len(cells), cells)
}

// try returns what value returns, but a note in place of an error if there is no such cell.
func (p *page) try(name, quantity string, conditions ...string) (number, error) {
	if !p.exists(name) {
		return missing(notMeasured), nil
	}
	f, err := p.open(name)
	if err != nil {
		return number{}, err
	}
	matching := f.matching(conditions)
	cells := f.cellsOf(matching)
	switch {
	case len(cells) == 0:
		return missing(notMeasured), nil
	case len(cells) > 1:
		return number{}, severalCells(name, conditions, cells)
	}
	var values []float64
	uncounted := false
	for _, i := range matching {
		if f.samples[i].Measured() == nil {
			continue
		}
		if strings.HasPrefix(quantity, counters) && f.lacks(i, counters) {
			uncounted = true // the busy server did not report its counters
			continue
		}
		v, err := quantityOf(f.values[i], quantity)
		if errors.Is(err, errAbsent) && strings.HasPrefix(quantity, counters) && f.knows(quantity) {
			v, err = 0, nil // the server's counters contain only those that have changed
		}
		if err != nil {
			return number{}, fmt.Errorf("%s %s: %w", name, cells[0], err)
		}
		values = append(values, v)
	}
	if len(values) == 0 && uncounted {
		return missing("not counted"), nil
	}
	if len(values) == 0 {
		return missing(f.reason(&f.samples[matching[0]])), nil
	}
	n := number{Estimate: measure.MedianEstimate(values), N: len(values)}
	return n, nil
}

// counters is the path of the counters of servers.
const counters = "server.counters"

// lacks reports whether the measurement of a sample has nothing at a path.
func (f *folder) lacks(i int, path string) bool {
	m, _ := f.values[i].(map[string]any)
	_, err := at(m["measured"], path)
	return errors.Is(err, errAbsent)
}

// knows reports whether a measurement of the folder has something at a path.
func (f *folder) knows(path string) bool {
	return slices.ContainsFunc(lists.Indices(len(f.samples)), func(i int) bool { return !f.lacks(i, path) })
}

// reason returns why the samples of a cell with the phase of s have no measurement: the verdict of the first incorrect
// sample of the cell, or that its results have no rows, or else only that it was not timed. A wrong result removes the
// measurements of all phases, a failed cold start only those of cold starts.
func (f *folder) reason(s *run.Sample) string {
	for i := range f.samples {
		o := &f.samples[i]
		removes := o.Verdict == run.Wrong || o.Phase != run.Cold || s.Phase == run.Cold
		if o.Cell == s.Cell && removes && !o.Verdict.IsCorrect() {
			return string(o.Verdict)
		}
	}
	if s.Rows == 0 {
		return "no rows"
	}
	return "not timed"
}

// quantityOf reads a number of a sample. Members of the measurement need no prefix.
func quantityOf(sample any, quantity string) (float64, error) {
	m, _ := sample.(map[string]any)
	v, err := at(m["measured"], quantity)
	if errors.Is(err, errAbsent) {
		other, err2 := at(sample, quantity)
		if !errors.Is(err2, errAbsent) {
			v, err = other, err2
		}
	}
	if err != nil {
		return 0, err
	}
	x, ok := v.(float64)
	if !ok {
		return 0, fmt.Errorf("%s is %v, not a number", quantity, v)
	}
	if strings.HasSuffix(quantity, "_ns") {
		x /= 1e6
	}
	return x, nil
}

// quantitiesOf reads a quantity of several samples. JSON omits zeros, so the quantity is 0 where it is absent, but it is
// an error if no sample has it.
func quantitiesOf(samples []any, quantity string) ([]float64, error) {
	out := make([]float64, len(samples))
	absent := 0
	var err error
	for i, s := range samples {
		if out[i], err = quantityOf(s, quantity); errors.Is(err, errAbsent) {
			absent++
		} else if err != nil {
			return nil, err
		}
	}
	if absent == len(samples) && absent > 0 {
		return nil, fmt.Errorf("none of %d has it: %w", absent, err)
	}
	return out, nil
}

// each returns the quantity of every repetition, in order. With a quantity such as series[].ended it returns the values
// of the members of an array, for example of a series of intervals.
func (p *page) each(name, quantity string, conditions ...string) (out []any, err error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	array, member, isArray := strings.Cut(quantity, "[].")
	var members []any
	for _, i := range f.matching(conditions) {
		if f.samples[i].Measured() == nil {
			continue
		}
		if !isArray {
			v, err := quantityOf(f.values[i], quantity)
			if err != nil {
				return nil, err
			}
			out = append(out, exactly(v))
			continue
		}
		m, _ := f.values[i].(map[string]any)
		list, err := at(m["measured"], array)
		if err != nil {
			return nil, err
		}
		items, _ := list.([]any)
		for _, item := range items {
			members = append(members, map[string]any{"measured": item})
		}
	}
	values, err := quantitiesOf(members, member)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, v := range values {
		out = append(out, exactly(v))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: nothing meets %v", name, conditions)
	}
	return out, nil
}

// total is the sum of a quantity over all repetitions of the cells that meet the conditions. It fails if none does. A
// failed repetition has no measurement and adds 0.
func (p *page) total(name, quantity string, conditions ...string) (number, error) {
	f, err := p.open(name)
	if err != nil {
		return number{}, err
	}
	matching := f.matching(conditions)
	if len(matching) == 0 {
		return number{}, fmt.Errorf("%s: nothing meets %v", name, conditions)
	}
	values, err := quantitiesOf(lists.Map(matching, func(i int) any { return f.values[i] }), quantity)
	if err != nil {
		return number{}, fmt.Errorf("%s: %w", name, err)
	}
	return exactly(lists.Sum(slices.Values(values))), nil
}

// rate is the number of values per second of posting time, summed over all postings that meet the conditions.
func (p *page) rate(name string, conditions ...string) (number, error) {
	f, err := p.open(name)
	if err != nil {
		return number{}, err
	}
	matching := f.matching(conditions)
	isMeasured := func(i int) bool { return f.samples[i].Measured() != nil }
	if len(matching) > 0 && !slices.ContainsFunc(matching, isMeasured) {
		return missing(notMeasured), nil
	}
	values, err := p.total(name, "values", conditions...)
	if err != nil {
		return number{}, err
	}
	took, err := p.total(name, "post.total_ns", conditions...)
	if err == nil && took.Value == 0 {
		return missing(notMeasured), nil
	}
	return exactly(values.Value / took.Value * 1000), err
}
