package question

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/record"
)

// Adapt makes of a question whose conditions have been changed since before one whose
// words and curves are those of the new conditions: its curves are those that it still
// asks for, and its title and labels, which were written for other ones, are derived
// from what is computed. stats are those that are computed of it; none = its own.
func (q *Question) Adapt(before *Question, stats ...string) {
	var changed []string
	fields := false
	for f := range record.NumFields {
		if !slices.Equal(q.Header[f], before.Header[f]) {
			fields = true
			var values []string
			for _, v := range q.Header[f] {
				values = append(values, EscapeItem(v))
			}
			changed = append(changed, f.String()+"="+strings.Join(values, ","))
			q.redraw(f.String(), q.Header[f])
		}
	}
	if !slices.Equal(q.Lead, before.Lead) {
		changed = append(changed, "fcst_lead="+strings.Join(LeadWords(q.Lead), ","))
		q.redraw("fcst_lead", leadTexts(q.Lead))
	}
	if !reflect.DeepEqual(q.Valid, before.Valid) {
		changed = append(changed, "other valid times")
		q.redrawTimes()
	}
	own := before.Drawing != nil && len(stats) > 0 && !subset(stats, before.Drawing.Stats) || before.Drawing == nil && len(stats) > 0
	pictured := q.picture() != before.picture() && (q.Drawing.Whole() || before.Drawing.Whole() || q.picture() == "revision" || before.picture() == "revision")
	if len(changed) == 0 && !own && !pictured {
		return
	}
	q.Changed, q.Untitled = changed, true
	if d := q.Drawing; d != nil {
		copied := *d
		if fields || own || pictured {
			copied.XLabel, copied.YLabel = "", ""
		}
		q.Drawing = &copied
		if d.Picture == "scorecard" && d.Minus != "" {
			q.Title, q.Untitled = cardTitle(q.Header[record.Model], d.Minus), false
		}
	}
}

// cardTitle is the title of a scorecard, which has statistics and variables in its rows.
func cardTitle(models []string, baseline string) string {
	candidates := slices.DeleteFunc(slices.Clone(models), func(m string) bool { return m == baseline })
	return "Scorecard of " + strings.Join(candidates, ", ") + " against " + baseline
}

func (q *Question) picture() string {
	if q.Drawing == nil {
		return ""
	}
	return q.Drawing.Picture
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool {
		return !slices.ContainsFunc(all, func(a string) bool { return strings.EqualFold(a, s) })
	})
}

func leadTexts(leads []int32) (out []string) {
	for _, l := range leads {
		out = append(out, strconv.FormatFloat(float64(l)/3600, 'g', -1, 64))
	}
	return out
}

// redraw gives the curves of a field the values that the question now has; none =
// each value that the answer has.
func (q *Question) redraw(field string, values []string) {
	if q.Drawing == nil {
		return
	}
	d := *q.Drawing
	d.Curves, d.Equalize = slices.Clone(d.Curves), slices.Clone(d.Equalize)
	for i, g := range d.Equalize {
		if g.Field == field {
			d.Equalize[i].Values = nil
			if len(values) > 0 {
				d.Equalize[i].Values = [][]string{values}
			}
		}
	}
	for i, g := range d.Curves {
		if g.Field != field || g.Values == nil {
			continue
		}
		var items [][]string
		place := make([]int, len(g.Values)) // of each item among those that stay; −1 = it does not
		for k, item := range g.Values {
			if place[k] = -1; subset(item, values) {
				place[k], items = len(items), append(items, item)
			}
		}
		for _, v := range values {
			if !slices.ContainsFunc(items, func(item []string) bool { return slices.Contains(item, v) }) {
				items = append(items, []string{v})
			}
		}
		d.Curves[i].Values = items
		d.Derived = q.moved(d.Derived, g, i, place)
	}
	q.Drawing = &d
}

// moved are the derived curves whose sides are still curves; of the others Omitted says why.
func (q *Question) moved(all []Derived, g Group, field int, place []int) (out []Derived) {
	for _, made := range all {
		made.A, made.B = slices.Clone(made.A), slices.Clone(made.B)
		lost := ""
		for _, side := range [][]int{made.A, made.B} {
			item := side[field]
			if side[field] = place[item]; place[item] < 0 {
				lost = strings.Join(g.Values[item], "+")
			}
		}
		if lost == "" {
			out = append(out, made)
			continue
		}
		q.Omitted = append(slices.Clip(q.Omitted), fmt.Sprintf("%s of curves, since %s %s is no longer asked for", made.Operation, g.Field, lost))
	}
	return out
}

// redrawTimes gives curves by time the times that the question now has.
func (q *Question) redrawTimes() {
	if q.Drawing == nil {
		return
	}
	for _, g := range q.Drawing.Curves {
		if g.Field == "fcst_valid_beg" {
			var values []string
			if q.Valid.Discrete() {
				for _, t := range q.Valid.Expand() {
					values = append(values, timeText(t))
				}
			}
			q.redraw(g.Field, values)
		}
	}
}

// Rename gives questions that were changed names of what they now ask, for the names
// of their files.
func Rename(qs []*Question) {
	if slices.ContainsFunc(qs, func(q *Question) bool { return len(q.Changed) > 0 }) {
		name("", qs)
	}
}
