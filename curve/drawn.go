package curve

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/run"
)

// Threshold reads the number of a threshold such as >=2.54 or ge2.54; NaN for others.
func Threshold(text string) float64 {
	digits := strings.TrimLeft(text, "<>=!abcdefghijklmnopqrstuvwxyz")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// collectDrawn sorts the rows into the curves of the drawing, in its order. A
// row can stand in several: in that of a model, and in that of two together.
func (c *collector) collectDrawn(x func(i int) float64) error {
	groups := make([]grouping, len(c.q.Drawing.Curves))
	for g, group := range c.q.Drawing.Curves {
		var err error
		if groups[g], err = c.grouping(group); err != nil {
			return err
		}
	}
	var names func(g, i int) []string
	names = func(g, i int) []string {
		if g == len(groups) {
			return []string{""}
		}
		var out []string
		for _, rest := range names(g+1, i) {
			for _, label := range groups[g].labels[groups[g].text(i)] {
				out = append(out, strings.TrimSpace(label+" "+rest))
			}
		}
		return out
	}
	for i := range c.a.Rows {
		for _, name := range names(0, i) {
			if name == "" {
				name = strings.Join(c.q.Drawing.Stats, " ")
			}
			c.put(name, x(i), i)
		}
	}
	c.order(groups)
	return nil
}

// grouping tells the curves of a row by one field.
type grouping struct {
	text   func(i int) string
	labels map[string][]string // value → curves
	all    []string            // curves, in the drawing's order
}

func (c *collector) grouping(group question.Group) (grouping, error) {
	g := grouping{labels: map[string][]string{}}
	var err error
	if g.text, err = c.text(group.Field); err != nil {
		return g, err
	}
	if group.Values == nil {
		group.Values = c.each(g.text)
	}
	for _, values := range group.Values {
		label := labelOf(group.Field, values)
		g.all = append(g.all, label)
		for _, v := range values {
			g.labels[v] = append(g.labels[v], label)
		}
	}
	return g, nil
}

// each makes a curve of every value of a field, in the order of the rows.
func (c *collector) each(text func(i int) string) (values [][]string) {
	seen := map[string]bool{}
	for i := range c.a.Rows {
		if v := text(i); !seen[v] {
			seen[v] = true
			values = append(values, []string{v})
		}
	}
	return values
}

// labelOf names a curve.
func labelOf(field string, values []string) string {
	words := slices.Clone(values)
	for i, v := range words {
		switch field {
		case "fcst_lead":
			words[i] = v + " h"
		case "valid_hour":
			words[i] = "valid " + v + " UTC"
		case "init_hour":
			words[i] = "init " + v + " UTC"
		}
	}
	return strings.Join(words, "+")
}

// text reads a field of a row as question.Group writes it.
func (c *collector) text(field string) (func(i int) string, error) {
	column := map[string]string{"valid_hour": "fcst_valid_beg", "init_hour": "fcst_init_beg"}[field]
	if column == "" {
		column = field
	}
	k := columnOf(c.a, column)
	if k < 0 {
		return nil, &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + column, Cure: "add it: it makes the curves"}
	}
	v := &c.a.Vectors[k]
	switch {
	case c.a.Columns[k].Kind == question.Text:
		return func(i int) string { return v.Text[i] }, nil
	case field == "fcst_lead":
		return func(i int) string { return strconv.FormatFloat(float64(v.Whole[i])/3600, 'g', -1, 64) }, nil
	case column != field:
		return func(i int) string { return strconv.Itoa(question.HourOf(v.Whole[i])) }, nil
	case c.a.Columns[k].Kind == question.Time:
		return func(i int) string { return time.Unix(v.Whole[i], 0).UTC().Format(time.RFC3339) }, nil
	}
	return nil, &fault.Error{Setting: "question " + c.q.Name, Problem: fmt.Sprintf("%q makes no curves", field), Cure: "group by header fields, leads, times or hours"}
}

// order puts the curves into the order of the drawing, the first field
// changing slowest.
func (c *collector) order(groups []grouping) {
	place := []string{""}
	for _, g := range groups {
		var next []string
		for _, p := range place {
			for _, label := range g.all {
				next = append(next, strings.TrimSpace(p+" "+label))
			}
		}
		place = next
	}
	slices.SortStableFunc(c.names, func(a, b string) int { return slices.Index(place, a) - slices.Index(place, b) })
}

// equalize keeps, at each place of the axis, only the cases (valid time and
// lead) that every curve has there: METviewer's event equalisation. With
// EqualPlaces those are left that every curve has at every place that all
// curves have, whereby a case is what the axis leaves of valid time and lead. It
// returns how many rows are left out of every curve.
func (c *collector) equalize() (lost int) {
	valid, lead := columnOf(c.a, "fcst_valid_beg"), columnOf(c.a, "fcst_lead")
	if valid < 0 || lead < 0 {
		return 0
	}
	everywhere := c.q.Drawing.EqualPlaces
	type event struct {
		x           float64
		valid, lead int64
	}
	at := func(x float64, row int) event {
		e := event{x, c.a.Vectors[valid].Whole[row], c.a.Vectors[lead].Whole[row]}
		if everywhere {
			e.x = 0
			switch c.axis {
			case run.ByLead:
				e.lead = 0
			case run.ByTime, run.ByInit:
				e.valid = 0
			case run.ByValidHour, run.ByInitHour:
				e.valid /= 24 * 3600
			}
		}
		return e
	}
	places := c.places()
	need := len(c.names)
	if everywhere {
		need *= len(places)
	}
	type stand struct {
		curve string
		x     float64
	}
	stands := map[event]map[stand]struct{}{}
	before, after := map[int]struct{}{}, map[int]struct{}{}
	for _, name := range c.names {
		for x, rows := range c.points[name] {
			for _, r := range rows {
				e := at(x, r)
				if stands[e] == nil {
					stands[e] = map[stand]struct{}{}
				}
				if before[r] = struct{}{}; places[x] {
					stands[e][stand{name, x}] = struct{}{}
				}
			}
		}
	}
	for _, name := range c.names {
		for x, rows := range c.points[name] {
			kept := slices.DeleteFunc(rows, func(r int) bool { return !places[x] || len(stands[at(x, r)]) < need })
			for _, r := range kept {
				after[r] = struct{}{}
			}
			c.points[name][x] = kept
			if len(kept) == 0 {
				delete(c.points[name], x)
			}
		}
	}
	return len(before) - len(after)
}

// places are those of the axis at which every curve stands.
func (c *collector) places() map[float64]bool {
	out, count := map[float64]bool{}, map[float64]int{}
	for _, name := range c.names {
		for x := range c.points[name] {
			if count[x]++; count[x] == len(c.names) {
				out[x] = true
			}
		}
	}
	return out
}
