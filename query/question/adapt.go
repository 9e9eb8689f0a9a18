package question

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/record"
)

// Adapt adjusts the drawing and the texts of a question whose conditions were changed; before is
// the question without these changes. It keeps only the curves that the conditions still include.
// It drops the title and the labels, which were written for the earlier conditions, and they are
// derived again. stats are the statistics to be computed; none = the question's own.
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
			q.setCurveValues(f.String(), q.Header[f])
		}
	}
	if !slices.Equal(q.Lead, before.Lead) {
		changed = append(changed, "fcst_lead="+strings.Join(FormatLeads(q.Lead), ","))
		q.setCurveValues("fcst_lead", hoursOfLeads(q.Lead))
	}
	if !reflect.DeepEqual(q.Valid, before.Valid) {
		changed = append(changed, "other valid times")
		q.setTimeValues()
	}
	own := before.Drawing != nil && len(stats) > 0 && !isSubset(stats, before.Drawing.Stats) || before.Drawing == nil && len(stats) > 0
	pictured := q.pictureName() != before.pictureName() && (q.Drawing.ShowsLineType() || before.Drawing.ShowsLineType() || q.pictureName() == "revision" || before.pictureName() == "revision")
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
		if d.Picture == "scorecard" && d.Baseline != "" {
			q.Title, q.Untitled = scorecardTitle(q.Header[record.Model], d.Baseline), false
		}
	}
}

// scorecardTitle is the title of a scorecard. Its rows already name statistics and variables.
func scorecardTitle(models []string, baseline string) string {
	candidates := slices.DeleteFunc(slices.Clone(models), func(m string) bool { return m == baseline })
	return "Scorecard of " + strings.Join(candidates, ", ") + " against " + baseline
}

func (q *Question) pictureName() string {
	if q.Drawing == nil {
		return ""
	}
	return q.Drawing.Picture
}

func isSubset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool {
		return !slices.ContainsFunc(all, func(a string) bool { return strings.EqualFold(a, s) })
	})
}

func hoursOfLeads(leads []int32) (out []string) {
	for _, l := range leads {
		out = append(out, strconv.FormatFloat(float64(l)/3600, 'g', -1, 64))
	}
	return out
}

// setCurveValues replaces the values of a field that makes curves; no values = each value that
// occurs in the answer.
func (q *Question) setCurveValues(field string, values []string) {
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
		place := make([]int, len(g.Values)) // new index of each item; −1 = removed
		for k, item := range g.Values {
			if place[k] = -1; isSubset(item, values) {
				place[k], items = len(items), append(items, item)
			}
		}
		for _, v := range values {
			if !slices.ContainsFunc(items, func(item []string) bool { return slices.Contains(item, v) }) {
				items = append(items, []string{v})
			}
		}
		d.Curves[i].Values = items
		d.Derived = q.remapDerived(d.Derived, g, i, place)
	}
	q.Drawing = &d
}

// remapDerived keeps the derived curves whose two sides are still drawn, and lists the others in
// Omitted.
func (q *Question) remapDerived(all []Derived, g Group, field int, place []int) (out []Derived) {
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
		q.Omitted = append(slices.Clip(q.Omitted), fmt.Sprintf("%s of curves, because the question no longer includes %s %s", made.Operation, g.Field, lost))
	}
	return out
}

// setTimeValues replaces the values of curves by time with the question's present times.
func (q *Question) setTimeValues() {
	if q.Drawing == nil {
		return
	}
	for _, g := range q.Drawing.Curves {
		if g.Field == "fcst_valid_beg" {
			var values []string
			if q.Valid.IsDiscrete() {
				for _, t := range q.Valid.Expand() {
					values = append(values, formatGroupTime(t))
				}
			}
			q.setCurveValues(g.Field, values)
		}
	}
}

// RenameChanged names changed questions after their present conditions. The names serve as file names.
func RenameChanged(qs []*Question) {
	if slices.ContainsFunc(qs, func(q *Question) bool { return len(q.Changed) > 0 }) {
		assignNames("", qs)
	}
}
