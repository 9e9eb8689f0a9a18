package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

// notMeasured is the note in place of a number that was not measured.
const notMeasured = "not measured"

// functions are those of the templates. README.txt in the folder of the pages describes them.
func (p *page) functions() template.FuncMap {
	return template.FuncMap{
		// of the original
		"was":      p.was,
		"wasRows":  p.wasRows,
		"figure":   p.figure,
		"original": func() original { return p.original },

		// of run folders
		"value":  p.value,
		"try":    p.try,
		"each":   p.each,
		"axis":   p.axis,
		"field":  p.field,
		"textOf": p.textOf,
		"tryField": func(name, path string) (number, error) {
			if has, err := p.has(name, path); err != nil || !has {
				return missing(notMeasured), err
			}
			return p.field(name, path)
		},
		"tryText": func(name, path string) (string, error) {
			if has, err := p.has(name, path); err != nil || !has {
				return notMeasured, err
			}
			return p.textOf(name, path)
		},
		"factExists": func(file string) bool {
			_, err := os.Stat(filepath.Join(p.expanded, file+".facts"))
			return err == nil
		},
		"fact": p.factNumber,
		"tryFact": func(file, name string) (number, error) {
			text, err := os.ReadFile(filepath.Join(p.expanded, file+".facts"))
			if err != nil || !strings.Contains("\n"+string(text), "\n"+name+" ") {
				return missing(notMeasured), err
			}
			return p.factNumber(file, name)
		},
		"factText": p.fact,
		"access":   p.access,
		"planText": p.planText,
		"exists":   p.exists,
		"counts":   p.counts,
		"total":    p.total,
		"rate":     p.rate,
		"bottleneck": func(name string, conditions ...string) (string, error) {
			f, err := p.open(name)
			if err != nil {
				return "", err
			}
			found := f.matching(conditions)
			if len(found) == 0 || len(f.cellsOf(found)) != 1 {
				return "", fmt.Errorf("%s: %v are %d cells, not one", name, conditions, len(f.cellsOf(found)))
			}
			return report.Bottleneck(f.samples[found[0]]), nil
		},
		"failures":    p.failures,
		"option":      p.option,
		"projection":  p.projection,
		"kills":       p.kills,
		"damage":      p.damage,
		"failedCalls": p.failedCalls,
		"section":     p.section,
		"facts":       p.factsOf,

		"days":     p.days,
		"warnings": p.warnings,
		"lastOf":   func(texts []string) string { return texts[len(texts)-1] },
		"answer":   p.answer,
		"weights":  func() string { return advise.Defaults().String() },
		"findings": p.findings,

		// arithmetic; each accepts numbers of any kind
		"ratio": func(a, b any) (number, error) { return combine(a, b, func(x, y float64) float64 { return x / y }) },
		"times": func(a, b any) (number, error) { return combine(a, b, func(x, y float64) float64 { return x * y }) },
		"minus": func(a, b any) (number, error) { return combine(a, b, func(x, y float64) float64 { return x - y }) },
		"plus":  func(a, b any) (number, error) { return combine(a, b, func(x, y float64) float64 { return x + y }) },
		"power": func(a, b any) (number, error) { return combine(a, b, math.Pow) },
		"percent": func(a, b any) (number, error) {
			return combine(a, b, func(x, y float64) float64 { return 100 * (x - y) / y })
		},
		"geomean":  geomean,
		"least":    func(xs ...any) (number, error) { return best(xs, func(a, b float64) bool { return a < b }) },
		"most":     func(xs ...any) (number, error) { return best(xs, func(a, b float64) bool { return a > b }) },
		"ofLeast":  ofLeast,
		"below":    func(a, b any) (bool, error) { return compare(a, b, func(x, y float64) bool { return x < y }) },
		"within":   within,
		"law":      p.law,
		"across":   p.across,
		"home":     p.home,
		"measured": p.measured,
		"project":  func(l measure.Growth, size any) (number, error) { return project(l, size) },
		"count":    func(xs []any) number { return exactly(float64(len(xs))) },
		"lower":    func(x any) (number, error) { return end(x, func(n number) float64 { return n.Low }) },
		"upper":    func(x any) (number, error) { return end(x, func(n number) float64 { return n.High }) },
		"note":     missing, // a text in place of a number
		"known":    func(x any) (bool, error) { n, err := toNumber(x); return n.known(), err },

		// printing
		"digits": func(n int, x any) (string, error) {
			return printed(x, func(v float64) string { return plot.Digits(v, n) })
		},
		"integer": func(x any) (string, error) {
			return printed(x, func(v float64) string { return run.FormatCount(int64(math.Round(v))) })
		},
		"interval": interval,
		"list":     func(xs ...any) []any { return xs },
		"append":   func(to []any, xs ...any) []any { return append(slices.Clone(to), xs...) },
		"strings":  func(xs ...string) []string { return xs },
		"split":    strings.Fields,
		"cut":      func(s, separator string, i int) string { return strings.Split(s, separator)[i] },
		"sorted": func(texts []string) []string { // by number
			value := func(t string) float64 {
				v, _ := strconv.ParseFloat(t, 64)
				return v
			}
			return slices.SortedFunc(slices.Values(texts), func(a, b string) int { return cmp.Compare(value(a), value(b)) })
		},
		"pick": func(texts []string, prefix string) (string, error) {
			i := slices.IndexFunc(texts, func(t string) bool { return strings.HasPrefix(t, prefix) })
			if i < 0 {
				return "", fmt.Errorf("nothing in %q begins with %q", texts, prefix)
			}
			return texts[i], nil
		},
		"before": func(separator, text string) string {
			first, _, _ := strings.Cut(text, separator)
			return first
		},
		"set": func(name string, v any) string { p.values[name] = v; return "" },
		"get": p.get,

		// pictures
		"bar":     bar,
		"panel":   panel,
		"bars":    p.bars,
		"curve":   curve,
		"lines":   p.lines,
		"group":   columnGroup,
		"columns": p.columns,
		"layer": func(name string, values []any) (plot.Layer, error) {
			v, err := floats(values)
			return plot.Layer{Name: name, Value: v}, err
		},
		"layers":  p.layers,
		"drawing": p.drawing,
	}
}

// was is a number of the original: of a row and a column of one of its tables.
func (p *page) was(table, row, column string) (number, error) {
	t, ok := p.original.Tables[table]
	if !ok {
		return number{}, fmt.Errorf("%s.json has no table %s", p.name, table)
	}
	c := slices.Index(t.Columns, column)
	if c < 0 {
		return number{}, fmt.Errorf("table %s has no column %s", table, column)
	}
	for _, r := range t.Rows {
		if fmt.Sprint(r[0]) == row {
			if v, ok := r[c].(float64); ok {
				return exactly(v), nil
			}
			return missing("—"), nil
		}
	}
	return number{}, fmt.Errorf("table %s has no row %s", table, row)
}

// wasRows are the names of the rows of a table of the original.
func (p *page) wasRows(table string) (out []string) {
	for _, r := range p.original.Tables[table].Rows {
		out = append(out, fmt.Sprint(r[0]))
	}
	return out
}

func (p *page) figure(name string) (number, error) {
	f, ok := p.original.Figures[name]
	if !ok {
		return number{}, fmt.Errorf("%s.json has no figure %s", p.name, name)
	}
	return exactly(f.Value), nil
}

func (p *page) get(name string) (any, error) {
	v, ok := p.values[name]
	if !ok {
		return nil, fmt.Errorf("nothing was set as %s", name)
	}
	return v, nil
}

// exists reports whether a run folder was kept.
func (p *page) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.expanded, name, run.DescriptionFile))
	return err == nil
}

// has reports whether a run folder was kept and its run.json has a value at a path.
func (p *page) has(name, path string) (bool, error) {
	if !p.exists(name) {
		return false, nil
	}
	f, err := p.open(name)
	if err != nil {
		return false, err
	}
	_, err = at(f.runJSON, path)
	return err == nil, nil
}

// home is the first of several folders, separated by blanks, in which an engine was measured; "" = none.
func (p *page) home(engine, names string) (string, error) {
	for name := range strings.FieldsSeq(names) {
		if !p.exists(name) {
			continue
		}
		f, err := p.open(name)
		if err != nil {
			return "", err
		}
		if len(f.matching([]string{"engine=" + engine})) > 0 {
			return name, nil
		}
	}
	return "", nil
}

// measured lists those of several engines that were measured in one of the folders.
func (p *page) measured(engines, names string) (out []string, err error) {
	for engine := range strings.FieldsSeq(engines) {
		name, err := p.home(engine, names)
		if err != nil {
			return nil, err
		}
		if name != "" {
			out = append(out, engine)
		}
	}
	return out, nil
}

// across divides medians of total_ns of one configuration by those of another one, for each case that both
// answered. Its value is the geometric mean, its bounds are the least and the largest ratio, not an interval.
func (p *page) across(cases []string, name, conditions, otherName, otherConditions string) (out number, err error) {
	var ratios []any
	out = missing("—")
	for _, c := range cases {
		a, err := p.try(name, "total_ns", append(strings.Fields(conditions), "case="+c)...)
		if err != nil {
			return out, err
		}
		b, err := p.try(otherName, "total_ns", append(strings.Fields(otherConditions), "case="+c)...)
		if err != nil {
			return out, err
		}
		if r, err := combine(a, b, func(x, y float64) float64 { return x / y }); err == nil && r.known() {
			ratios = append(ratios, r)
		}
	}
	if len(ratios) == 0 {
		return out, nil
	}
	if out, err = geomean(ratios); err != nil {
		return out, err
	}
	low, err := best(ratios, func(a, b float64) bool { return a < b })
	if err != nil {
		return out, err
	}
	high, err := best(ratios, func(a, b float64) bool { return a > b })
	out.Low, out.High, out.N = low.Value, high.Value, len(ratios)
	return out, err
}

// law fits quantity = factor · size^exponent to the repetitions in the folders of several sizes. %s in name is the
// size.
func (p *page) law(name string, sizes []string, quantity string, conditions ...string) (measure.Growth, error) {
	var x []float64
	var rows [][]float64
	for _, size := range sizes {
		values, err := p.each(fmt.Sprintf(name, size), quantity, conditions...)
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
	n, err := p.try(name, quantity, conditions...)
	if err == nil && n.Note == notMeasured {
		err = fmt.Errorf("%s has no cell %v", name, conditions)
	}
	return n, err
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
		return number{}, fmt.Errorf("%s: %v are %d cells: %v", name, conditions, len(cells), cells)
	}
	var values []float64
	state := run.Verdict("")
	for _, i := range matching {
		state = f.samples[i].Verdict
		if f.samples[i].Measured() == nil {
			continue
		}
		v, err := quantityOf(f.values[i], quantity)
		if err != nil {
			return number{}, fmt.Errorf("%s %s: %w", name, cells[0], err)
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		if f.samples[matching[0]].Rows == 0 && state.IsCorrect() {
			return missing("no rows"), nil
		}
		return missing(string(state)), nil
	}
	n := number{Estimate: measure.MedianEstimate(values), N: len(values)}
	return n, nil
}

// quantityOf reads a number of a sample. Members of the measurement need no prefix.
func quantityOf(sample any, quantity string) (float64, error) {
	m, _ := sample.(map[string]any)
	v, err := at(m["measured"], quantity)
	if err != nil {
		var other error
		if v, other = at(sample, quantity); other != nil {
			return 0, err
		}
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

// each returns the quantity of every repetition, in order. With a quantity such as series[].ended it returns the values
// of the members of an array, for example of a series of intervals.
func (p *page) each(name, quantity string, conditions ...string) (out []any, err error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	for _, i := range f.matching(conditions) {
		if f.samples[i].Measured() == nil {
			continue
		}
		array, member, ok := strings.Cut(quantity, "[].")
		if !ok {
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
			v, err := quantityOf(map[string]any{"measured": item}, member)
			if err != nil {
				v = 0 // JSON omits zeros
			}
			out = append(out, exactly(v))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: nothing meets %v", name, conditions)
	}
	return out, nil
}

// axis lists the values on an axis of the cells that meet conditions, in order of their first sample.
func (p *page) axis(name, axis string, conditions ...string) (out []string, err error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	for _, i := range f.matching(conditions) {
		v := f.samples[i].Cell.Value(axis)
		if axis == "engine" {
			v = f.samples[i].Cell.Engine
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out, nil
}

// field is a number of run.json, such as archives[engine=duckdb,design=wide].bytes_on_disk.
func (p *page) field(name, path string) (number, error) {
	f, err := p.open(name)
	if err != nil {
		return number{}, err
	}
	v, err := quantityOf(map[string]any{"measured": f.runJSON}, path)
	if err != nil {
		return number{}, fmt.Errorf("%s: %w", name, err)
	}
	return exactly(v), nil
}

// textOf is a text of run.json.
func (p *page) textOf(name, path string) (string, error) {
	f, err := p.open(name)
	if err != nil {
		return "", err
	}
	v, err := at(f.runJSON, path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Sprint(v), nil
}

func (p *page) factNumber(file, name string) (number, error) {
	text, err := p.fact(file, name)
	if err != nil {
		return number{}, err
	}
	v, err := strconv.ParseFloat(text, 64)
	return exactly(v), err
}

func (p *page) plan(name string, conditions []string) (*run.Plan, error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	var found *run.Plan
	for i := range f.plans {
		meets := true
		for _, c := range conditions {
			axis, want, _ := strings.Cut(c, "=")
			if axis == "engine" {
				meets = meets && f.plans[i].Cell.Engine == want
			} else {
				meets = meets && f.plans[i].Cell.Value(axis) == want
			}
		}
		if meets && found != nil {
			return nil, fmt.Errorf("%s: several plans meet %v", name, conditions)
		}
		if meets {
			found = &f.plans[i]
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no plan meets %v", name, conditions)
	}
	return found, nil
}

// access describes how the plan of a query reads stored data, in words.
func (p *page) access(name string, conditions ...string) (string, error) {
	plan, err := p.plan(name, conditions)
	if err != nil {
		return "", err
	}
	var out []string
	for _, a := range plan.Access {
		text := a.Description() + " (" + a.Counts() + ")"
		if !slices.Contains(out, text) || a.Examined >= 0 { // nodes that report no counts repeat the same words
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "not reported", nil
	}
	return strings.Join(out, "; "), nil
}

// planText is the kept text of a plan; keep -plans names the plans whose texts are kept.
func (p *page) planText(name string, conditions ...string) (string, error) {
	plan, err := p.plan(name, conditions)
	if err == nil && plan.Text == "" {
		err = fmt.Errorf("%s: the text of the plan %s was not kept", name, plan.Name)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(plan.Text), nil
}

// counts counts the cells of a folder by verdict: right, wrong, failed and so on.
func (p *page) counts(name string, verdicts ...string) (number, error) {
	f, err := p.open(name)
	if err != nil {
		return number{}, err
	}
	last := map[string]run.Verdict{}
	for i := range f.samples {
		s := &f.samples[i]
		if key := s.Cell.String(); last[key] == "" || last[key].IsCorrect() {
			last[key] = s.Verdict
		}
	}
	n := 0
	for _, v := range last {
		if len(verdicts) == 0 || slices.Contains(verdicts, string(v)) || v.IsCorrect() && slices.Contains(verdicts, "right") {
			n++
		}
	}
	return exactly(float64(n)), nil
}

// total is the sum of a quantity over all repetitions of all cells that meet the conditions, at least one.
func (p *page) total(name, quantity string, conditions ...string) (number, error) {
	f, err := p.open(name)
	if err != nil {
		return number{}, err
	}
	sum, matching := 0.0, f.matching(conditions)
	if len(matching) == 0 {
		return number{}, fmt.Errorf("%s: nothing meets %v", name, conditions)
	}
	for _, i := range matching {
		v, err := quantityOf(f.values[i], quantity)
		if err != nil {
			continue // JSON omits zeros, and a failed repetition has no measurement
		}
		sum += v
	}
	return exactly(sum), nil
}

// rate is how many values were posted a second of posting, in all postings that meet the conditions together.
func (p *page) rate(name string, conditions ...string) (number, error) {
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
