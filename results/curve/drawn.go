package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// signs are the letters before the number of a threshold.
const signs = "<>=!abcdefghijklmnopqrstuvwxyz"

// Threshold reads the number of a threshold such as >=2.54 or ge2.54; NaN for other texts.
func Threshold(text string) float64 {
	digits := strings.TrimLeft(text, signs)
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// collectDrawn sorts the rows into the curves of the drawing, in its order. A row can belong to
// several curves: that of a model, and that of two models together.
func (c *collector) collectDrawn(x func(i int) float64) error {
	groups := make([]grouping, len(c.q.Drawing.Curves))
	for g, group := range c.q.Drawing.Curves {
		var err error
		if groups[g], err = c.grouping(group); err != nil {
			return err
		}
	}
	c.groups, c.labels, c.exclusions = groups, map[string][]string{}, map[string]bool{}
	for i := range c.a.Rows {
		admitted := c.admits(i)
		names := c.curveNames(func(g int) []string {
			labels := groups[g].labels[groups[g].text(i)]
			for _, label := range labels {
				groups[g].seen[label] = groups[g].seen[label] || admitted
			}
			return labels
		})
		for _, name := range names {
			if !admitted {
				c.exclusions[name] = true
				continue
			}
			c.addRow(cmp.Or(name, c.singleCurve), x(i), i)
		}
	}
	c.curveOrder = c.curveNames(func(g int) []string { return groups[g].all })
	slices.SortStableFunc(c.names, func(a, b string) int { return slices.Index(c.curveOrder, a) - slices.Index(c.curveOrder, b) })
	c.absent = c.missingCurves()
	c.sortByTime()
	return nil
}

// curveNames names the curves of all combinations of labels, one of each field. The first field
// changes slowest.
func (c *collector) curveNames(of func(g int) []string) (names []string) {
	all := [][]string{nil}
	for g := range c.groups {
		var next [][]string
		labels := of(g)
		for _, head := range all {
			for _, label := range labels {
				next = append(next, append(slices.Clip(head), label))
			}
		}
		all = next
	}
	for _, labels := range all {
		name := strings.Join(labels, " ")
		names, c.labels[name] = append(names, name), labels
	}
	return names
}

// counterpart returns the curve that is subtracted from the curve name; "" if there is none. The drawing's Baseline is
//   - the name of a curve, which is the counterpart of every other curve, or
//   - a label of one field, such as a model. Then the counterpart has this label, and otherwise the labels of name.
func (c *collector) counterpart(name string) string {
	minus := c.q.Drawing.Baseline
	if slices.Contains(c.names, minus) && name != minus {
		return minus
	}
	for g := range c.groups {
		other := slices.Clone(c.labels[name])
		if other == nil {
			return ""
		}
		label := c.groups[g].labelOf(minus)
		other[g] = label
		if to := strings.Join(other, " "); label != "" && to != name && slices.Contains(c.names, to) {
			return to
		}
	}
	return ""
}

// isBaseline reports whether a curve is the drawing's Baseline, or has it as a label.
func (c *collector) isBaseline(name string) bool {
	label := func(g int) bool { return c.labels[name][g] == c.groups[g].labelOf(c.q.Drawing.Baseline) }
	return name == c.q.Drawing.Baseline || slices.ContainsFunc(lists.Indices(len(c.labels[name])), label)
}

// curveName is the curve of these items of the drawing's groups.
func (c *collector) curveName(items []int) string { return joinLabels(c.q.Drawing.Curves, items) }

func joinLabels(groups []question.Group, items []int) string {
	var words []string
	for g, group := range groups {
		words = append(words, labelsOf(group, len(groups))[items[g]])
	}
	return strings.Join(words, " ")
}

// grouping finds the curves of a row by one field.
type grouping struct {
	text    func(i int) string
	labels  map[string][]string // value → curves
	all     []string            // labels, in the drawing's order; that of an item that is listed twice, twice
	members [][]string          // the unquoted values of each of them
	seen    map[string]bool     // labels that occur in a row; false = the drawing's conditions exclude all these rows
}

// labelOf is the label of an item that is given by its label or by its unquoted values.
func (g *grouping) labelOf(text string) string {
	if slices.Contains(g.all, text) {
		return text
	}
	if i := slices.IndexFunc(g.members, func(of []string) bool { return strings.Join(of, "+") == text }); i >= 0 {
		return g.all[i]
	}
	return ""
}

func (c *collector) grouping(group question.Group) (grouping, error) {
	g := grouping{labels: map[string][]string{}, seen: map[string]bool{}}
	var err error
	if g.text, err = c.text(group.Field); err != nil {
		return g, err
	}
	if group.Values == nil {
		group.Values = c.distinctValues(g.text)
	}
	g.all, g.members = labelsOf(group, len(c.q.Drawing.Curves)), group.Values
	for i, label := range g.all {
		for _, v := range group.Values[i] {
			if !slices.Contains(g.labels[v], label) { // a value that is named twice counts once
				g.labels[v] = append(g.labels[v], label)
			}
		}
	}
	return g, nil
}

// distinctValues returns the values of a field, one item for each, in order of first occurrence.
func (c *collector) distinctValues(text func(i int) string) [][]string {
	values := question.Unique(lists.Map(lists.Indices(c.a.Rows), text))
	return lists.Map(values, func(v string) []string { return []string{v} })
}

// labelsOf returns a distinct label for each item of a group.
func labelsOf(group question.Group, fields int) []string {
	joined := slices.ContainsFunc(group.Values, func(values []string) bool { return len(values) > 1 })
	labels := make([]string, len(group.Values))
	for i, values := range group.Values {
		words := slices.Clone(values)
		for k, v := range words {
			switch {
			case joined && strings.ContainsAny(v, `+"`):
				v = strconv.Quote(v)
			case fields > 1:
				v = quoteName(v)
			}
			switch group.Field {
			case "fcst_lead":
				v += " h"
			case "valid_hour":
				v = "valid " + v + " UTC"
			case "init_hour":
				v = "init " + v + " UTC"
			}
			words[k] = v
		}
		labels[i] = strings.Join(words, "+")
	}
	return labels
}

// hourColumns are the columns from which the hours of the day are read.
var hourColumns = map[string]string{"valid_hour": "fcst_valid_beg", "init_hour": "fcst_init_beg"} //nolint:gochecknoglobals // constant

// text reads a field of a row in the form of question.Group.
func (c *collector) text(field string) (func(i int) string, error) {
	column := cmp.Or(hourColumns[field], field)
	k := columnOf(c.a, column)
	if k < 0 {
		return nil, &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + column, Cure: "add it: its values make the curves"}
	}
	v := &c.a.Vectors[k]
	switch {
	case c.a.Columns[k].Kind == question.Text:
		return func(i int) string { return v.Text[i] }, nil
	case field == "fcst_lead":
		return func(i int) string { return strconv.FormatFloat(float64(v.Seconds[i])/3600, 'g', -1, 64) }, nil
	case column != field:
		return func(i int) string { return strconv.Itoa(question.HourOf(v.Seconds[i])) }, nil
	case c.a.Columns[k].Kind == question.Time:
		return func(i int) string { return time.Unix(v.Seconds[i], 0).UTC().Format(time.RFC3339) }, nil
	}
	return nil, &fault.Error{Setting: "question " + c.q.Name, Problem: fmt.Sprintf("%q cannot make curves", field), Cure: "group by header fields, leads, times or hours"}
}

// requiredCombinations returns the combinations that an event must have to be kept: one value of each field that makes
// curves (items of several values are expanded) and of each field in Equalize. of returns the combination of a row. Valid
// time and lead are skipped, because they identify the event (METcalcpy event_equalize).
func (c *collector) requiredCombinations() (all []string, of func(row int) string, err error) {
	var texts []func(i int) string
	all = []string{""}
	for _, g := range slices.Concat(c.q.Drawing.Curves, c.q.Drawing.Equalize) {
		if slices.Contains([]string{"fcst_valid_beg", "fcst_init_beg", "fcst_lead"}, g.Field) {
			continue
		}
		text, err := c.text(g.Field)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, text)
		if g.Values == nil {
			g.Values = c.distinctValues(text)
		}
		values := slices.Concat(g.Values...)
		slices.Sort(values)
		var next []string
		for _, head := range all {
			for _, v := range slices.Compact(values) {
				next = append(next, head+" "+quoteName(v))
			}
		}
		all = next
	}
	return all, func(row int) string {
		var id strings.Builder
		for _, text := range texts {
			id.WriteString(" " + quoteName(text(row)))
		}
		return id.String()
	}, nil
}

// equalize applies METviewer's event equalization. An event is a valid time and a lead. A combination is one value of
// each field from requiredCombinations.
//
// At each position of the axis, equalize keeps an event only if every combination has a row of it there. At a position
// where a combination has no row, no event remains.
//
// With EqualizeAcrossAxis it works in two steps. First it drops every position where a combination has no row. Then it
// keeps an event only if every combination has a row of it at all remaining positions. Events at different positions
// differ in the coordinate on the axis, so this comparison ignores it.
//
// The note reports how many rows were removed, and which combinations have no row at all.
func (c *collector) equalize() (note string, err error) {
	valid, lead := columnOf(c.a, "fcst_valid_beg"), columnOf(c.a, "fcst_lead")
	all, of, err := c.requiredCombinations()
	if valid < 0 || lead < 0 || err != nil {
		return "", err
	}
	everywhere := c.q.Drawing.EqualizeAcrossAxis
	type event struct {
		x           float64
		valid, lead int64
	}
	at := func(x float64, row int) event {
		e := event{x, c.a.Vectors[valid].Seconds[row], c.a.Vectors[lead].Seconds[row]}
		if everywhere {
			e.x = 0
			switch c.axis {
			case run.ByLead:
				e.lead = 0
			case run.ByTime, run.ByInit:
				e.valid = 0
			case run.ByValidHour:
				e.valid = dayOf(e.valid)
			case run.ByInitHour:
				e.valid = dayOf(e.valid - e.lead)
			}
		}
		return e
	}
	type combinationAt struct {
		combination string
		x           float64
	}
	seen, count := map[combinationAt]bool{}, map[float64]int{}
	c.filterRows(func(x float64, row int) bool {
		if s := (combinationAt{of(row), x}); !seen[s] {
			seen[s] = true
			count[x]++
		}
		return true
	})
	need := len(all)
	if everywhere {
		need = 0
		for _, n := range count {
			if n == len(all) {
				need += n
			}
		}
	}
	rowsOfEvent := map[event]map[combinationAt]struct{}{}
	before := c.filterRows(func(x float64, row int) bool {
		e := at(x, row)
		if rowsOfEvent[e] == nil {
			rowsOfEvent[e] = map[combinationAt]struct{}{}
		}
		if count[x] == len(all) {
			rowsOfEvent[e][combinationAt{of(row), x}] = struct{}{}
		}
		return true
	})
	after := c.filterRows(func(x float64, row int) bool { return count[x] == len(all) && len(rowsOfEvent[at(x, row)]) >= need })
	present := map[string]bool{}
	for s := range seen {
		present[s.combination] = true
	}
	note = fmt.Sprintf("; event equalization omitted %s of %s", run.FormatCount(before-after), run.CountOf(c.a.Rows, "row"))
	if all = slices.DeleteFunc(all, func(one string) bool { return present[one] }); len(all) > 0 {
		note += ", because no row exists for" + strings.Join(all, ", for")
	}
	return note, nil
}

// filterRows calls keep with every row of every curve, removes rows for which it returns false, and
// returns the number of remaining rows. A row counts once.
func (c *collector) filterRows(keep func(x float64, row int) bool) int {
	left := map[int]struct{}{}
	for _, name := range c.names {
		for x, rows := range c.points[name] {
			c.points[name][x] = slices.DeleteFunc(rows, func(r int) bool { return !keep(x, r) })
			for _, r := range c.points[name][x] {
				left[r] = struct{}{}
			}
			if len(c.points[name][x]) == 0 {
				delete(c.points[name], x)
			}
		}
	}
	return len(left)
}

// Question is the question with all defaults written out: the statistic, the axis, and the fields
// that make curves, with their values.
func (d *LazyCurves) Question() *question.Question {
	q := *d.c.q
	drawing := *cmp.Or(q.Drawing, question.NewDrawing(q.Type, d.Stat, ""))
	if !drawing.ShowsLineType() {
		drawing.Stats = []string{d.Stat}
	}
	drawing.Axis = string(d.c.axis)
	curves := slices.Clone(drawing.Curves)
	if len(curves) == 0 {
		curves = lists.Map(d.c.curveFields(), func(field string) question.Group { return question.Group{Field: field} })
	}
	for i := range curves {
		if text, err := d.c.text(curves[i].Field); err == nil && curves[i].Values == nil {
			curves[i].Values = d.c.distinctValues(text)
		}
	}
	drawing.Curves = curves
	q.Drawing = &drawing
	return &q
}

// xOf returns the position of a row on the axis: hours, hPa, Unix seconds, hours of the day or the
// number of a threshold.
func (c *collector) xOf() (func(i int) float64, error) {
	name := cmp.Or(hourColumns[string(c.axis)], string(c.axis))
	if c.axis == "" {
		return func(int) float64 { return 0 }, nil
	}
	k := columnOf(c.a, name)
	if k < 0 {
		return nil, &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + name, Cure: "add it: it is the independent axis"}
	}
	v := &c.a.Vectors[k]
	switch c.axis {
	case run.ByLead:
		return func(i int) float64 { return float64(v.Seconds[i]) / 3600 }, nil
	case run.ByTime, run.ByInit:
		return func(i int) float64 { return float64(v.Seconds[i]) }, nil
	case run.ByValidHour, run.ByInitHour:
		return func(i int) float64 { return float64(question.HourOf(v.Seconds[i])) }, nil
	case run.ByLevel:
		return func(i int) float64 { return pressure(v.Text[i]) }, nil
	}
	texts := c.axisCategories(name)
	if texts == nil {
		return func(i int) float64 { return Threshold(v.Text[i]) }, nil
	}
	position := map[string]float64{}
	for text := range lists.Set(v.Text, func(text string) string { return text }) {
		isSame := func(other string) bool { return other == text || c.axis == run.ByThresh && sameThreshold(other, text) }
		position[text] = float64(slices.IndexFunc(texts, isSame) + 1)
	}
	return func(i int) float64 { return position[v.Text[i]] }, nil
}

// axisCategories returns the values of a text field that is the axis, in the question's order or, if the
// question names none, in alphabetical order; nil for another axis.
func (c *collector) axisCategories(axis string) []string {
	f, ok := record.FieldByName(axis)
	k := columnOf(c.a, axis)
	switch {
	case !ok || k < 0 || c.axis == run.ByLevel:
		return nil
	case c.axis == run.ByThresh:
		return ambiguousThresholds(c.a.Vectors[k].Text)
	case len(c.q.Header[f]) > 0:
		return c.q.Header[f]
	}
	return slices.Compact(slices.Sorted(slices.Values(c.a.Vectors[k].Text)))
}

// ambiguousThresholds returns all thresholds in the order of their numbers if two of them share a number but differ in
// sign, such as <273 and >=273; then the axis must show texts. It returns one text of each threshold. Otherwise it returns
// nil.
func ambiguousThresholds(texts []string) []string {
	all := slices.Compact(slices.Sorted(slices.Values(texts)))
	slices.SortStableFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(Threshold(a), Threshold(b)), cmp.Compare(signOf(a), signOf(b)))
	})
	all = slices.CompactFunc(all, sameThreshold)
	for i := 1; i < len(all); i++ {
		if Threshold(all[i]) == Threshold(all[i-1]) {
			return all
		}
	}
	return nil
}

// sameThreshold reports whether two texts are one threshold, as ge273 and >=273.0 are.
func sameThreshold(a, b string) bool { return Threshold(a) == Threshold(b) && signOf(a) == signOf(b) }

// signOf returns the sign of a threshold: >= for ge273.
func signOf(threshold string) string {
	sign := strings.TrimSuffix(threshold, strings.TrimLeft(threshold, signs))
	return strings.NewReplacer("ge", ">=", "gt", ">", "le", "<=", "lt", "<", "eq", "==", "ne", "!=").Replace(sign)
}

// pressure reads a level such as P500 as 500 hPa; NaN for other levels.
func pressure(level string) float64 {
	digits, ok := strings.CutPrefix(level, "P")
	hpa, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil {
		return math.NaN()
	}
	return hpa
}
