package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// Title is the title of a question, with the amount of data in its answer.
func Title(q *question.Question, a *answer.Answer) string {
	n := (&collector{q: q, a: a}).counts(lists.Indices(a.Rows))
	if a.Rows == 0 {
		n = "no rows in this data"
	}
	return strings.TrimSuffix(strings.TrimPrefix(q.Title+"; "+n, "; "), "; ")
}

// counts describes how many levels, regions, leads and days some rows have.
func (c *collector) counts(rows []int) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, run.CountOf(n, what))
		}
	}
	for k, col := range c.a.Columns {
		v := &c.a.Vectors[k]
		switch col.Name {
		case "fcst_lev":
			add(distinctCount(v.Text, rows), "level")
		case "vx_mask":
			add(distinctCount(v.Text, rows), "region")
		case "fcst_lead":
			add(distinctCount(v.Seconds, rows), "lead")
		case "fcst_valid_beg":
			add(len(lists.Set(rows, func(i int) int64 { return dayOf(v.Seconds[i]) })), "day")
		}
	}
	return strings.Join(parts, ", ")
}

// dayOf returns the number of the day of a time, which is negative before 1970.
func dayOf(t int64) int64 { return int64(math.Floor(float64(t) / (24 * 3600))) }

// rows returns the rows of all curves, each once, in order.
func (c *collector) rows() []int {
	var all []int
	for _, places := range c.points {
		for _, rows := range places {
			all = append(all, rows...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pictureWords begin the titles of pictures without a single statistic.
var pictureWords = map[string]string{ //nolint:gochecknoglobals // a constant table
	"roc": "ROC diagram", "reliability": "Reliability diagram", "performance": "Performance diagram", "taylor": "Taylor diagram",
	"rank_histogram": "Rank histogram", "eclv": "Economic value", "spread_skill": "Spread and skill",
}

// title is the title that the author of the question wrote or, if its conditions were changed, a
// description of the curves' rows.
func (d *LazyCurves) title() string {
	q := d.c.q
	if q.Title != "" && !q.Untitled {
		return q.Title
	}
	title := d.Stat
	if q.Drawing != nil {
		if words := pictureWords[q.Drawing.Picture]; words != "" {
			title = words
		}
		if q.Drawing.Picture == "revision" {
			title = "Revision of " + title
		}
		if d.Baseline != "" {
			title += " minus that of " + d.Baseline
		}
	}
	rows := d.c.rows()
	for _, part := range []struct {
		field      record.Field
		word, many string
	}{
		{record.FcstVar, " of ", "variables"},
		{record.FcstThresh, " ", "thresholds"},
		{record.FcstLev, " at ", "levels"},
		{record.VxMask, " over ", "regions"},
		{record.Model, ", ", "models"},
	} {
		values := d.c.fieldValues(part.field, rows)
		if len(values) > 0 && part.field.String() != string(d.c.axis) {
			title += part.word + listOrCount(values, part.many)
		}
	}
	return title + d.c.leadAndDays(rows)
}

// fieldValues returns the values of a field in some rows or, without rows, the values that the
// question requests.
func (c *collector) fieldValues(f record.Field, rows []int) (values []string) {
	k := columnOf(c.a, f.String())
	if k < 0 || len(rows) == 0 {
		values = slices.Clone(c.q.Header[f])
	} else {
		values = lists.Pick(c.a.Vectors[k].Text, rows)
	}
	slices.Sort(values)
	return slices.DeleteFunc(slices.Compact(values), func(v string) bool { return v == "" || v == record.NA })
}

// unitOf is the unit of a statistic of some rows. If the files name one unit of the variable, it replaces "variable".
func (c *collector) unitOf(unit string, rows []int) string {
	if own := c.fieldValues(record.FcstUnits, rows); len(own) == 1 && strings.HasPrefix(unit, stat.UnitVariable) {
		return own[0] + strings.TrimPrefix(unit, stat.UnitVariable)
	}
	return unit
}

// listOrCount lists a few values, or prints the number of many.
func listOrCount(values []string, many string) string {
	const most = 4
	if len(values) > most {
		return run.FormatCount(len(values)) + " " + many
	}
	return strings.Join(values, ", ")
}

// leadAndDays describes the lead of some rows, if they have a single one, and their days.
func (c *collector) leadAndDays(rows []int) (words string) {
	if k := columnOf(c.a, "fcst_lead"); k >= 0 && len(rows) > 0 && c.axis != run.ByLead && distinctCount(c.a.Vectors[k].Seconds, rows) == 1 {
		words = fmt.Sprintf(", lead %g h", float64(c.a.Vectors[k].Seconds[rows[0]])/3600)
	}
	k := columnOf(c.a, "fcst_valid_beg")
	if k < 0 || len(rows) == 0 || c.axis == run.ByTime {
		return words
	}
	first, last := c.a.Vectors[k].Seconds[rows[0]], c.a.Vectors[k].Seconds[rows[0]]
	for _, r := range rows {
		first, last = min(first, c.a.Vectors[k].Seconds[r]), max(last, c.a.Vectors[k].Seconds[r])
	}
	day := func(t int64) string { return time.Unix(t, 0).UTC().Format(time.DateOnly) }
	if words += ", " + day(first); day(last) != day(first) {
		words += " to " + day(last)
	}
	return words
}

// addOmitted lists the requested curves without rows, and what the METviewer plot requests but Barograph cannot draw
// (question.Omitted).
func (d *LazyCurves) addOmitted() {
	d.Omitted = slices.Clone(d.c.q.Omitted)
	d.Omitted = append(d.Omitted, d.c.absent...)
	for _, name := range d.c.names {
		if len(d.c.points[name]) == 0 {
			d.Omitted = append(d.Omitted, name+": no case is left")
		}
	}
}

// noteOmitted adds the omitted curves to the note, among them the differences of two curves without a common case.
func (d *LazyCurves) noteOmitted() {
	for i, op := range d.operations {
		if s := &d.Series[i]; op != "" && len(s.X) == 0 {
			d.Omitted = append(d.Omitted, cmp.Or(s.Derivation, s.Name)+": no case in common")
		}
	}
	if n := len(d.Omitted); n > 0 {
		d.Note += "; omitted: " + strings.Join(d.Omitted[:min(n, 6)], ", ")
		if n > 6 {
			d.Note += fmt.Sprintf(" and %d more", n-6)
		}
	}
}

// missingCurves lists what the drawing requests but has no rows: each value of a field and, if the drawing names the
// values of all fields, each combination of values that have rows separately but not together.
func (c *collector) missingCurves() (out []string) {
	reasons := map[bool]string{false: ": no record", true: ": the plot's condition on values excludes all records"}
	allNamed := true
	for g, group := range c.q.Drawing.Curves {
		for _, label := range c.groups[g].all {
			if admitted, occurs := c.groups[g].seen[label]; !admitted {
				out = append(out, group.Field+" "+label+reasons[occurs])
			}
		}
		allNamed = allNamed && group.Values != nil
		f, isHeaderField := record.FieldByName(group.Field)
		for _, v := range c.q.Header[f] { // the values that the question's conditions list
			if isHeaderField && group.Values == nil && c.groups[g].labelOf(v) == "" {
				out = append(out, group.Field+" "+v+": no record")
			}
		}
	}
	if !allNamed || len(c.groups) < 2 {
		return question.Unique(out)
	}
	for _, name := range c.curveNames(func(g int) []string {
		return slices.DeleteFunc(slices.Clone(c.groups[g].all), func(label string) bool { return !c.groups[g].seen[label] })
	}) {
		if c.points[name] == nil {
			out = append(out, name+reasons[c.exclusions[name]])
		}
	}
	return question.Unique(out)
}
