package main

import (
	"cmp"
	"errors"
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
		"valueOn": func(otherPage, name, quantity string, conditions ...string) (number, error) {
			return p.on(otherPage, func(o *page) (number, error) { return o.value(name, quantity, conditions...) })
		},
		"fieldOn": func(otherPage, name, path string) (number, error) {
			return p.on(otherPage, func(o *page) (number, error) { return o.field(name, path) })
		},
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
		"failures":      p.failures,
		"option":        p.option,
		"projection":    p.projection,
		"projectionLaw": p.projectionLaw,
		"kills":         p.kills,
		"damage":        p.damage,
		"failedCalls":   p.failedCalls,
		"section":       p.section,
		"facts":         p.factsOf,

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
	if _, err = at(f.runJSON, path); errors.Is(err, errAbsent) {
		return false, nil
	}
	return err == nil, err
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
