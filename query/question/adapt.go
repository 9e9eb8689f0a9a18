package question

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// Adapt adapts the drawing and the texts of q to its present conditions. before is a copy of q with the earlier ones. The
// drawing keeps only the curves that the conditions still include. If a condition has changed, the picture derives a new
// title (Untitled). If a header field, a statistic or the kind of picture has changed, Adapt also removes the labels of the
// axes. stats are the statistics to be computed; none = those of the drawing.
func (q *Question) Adapt(before *Question, stats ...string) {
	var changed []string
	// compare lists a condition that has changed, and gives the curves of its field the new values.
	compare := func(field, text string, isSame bool, values []string) {
		if !isSame {
			changed = append(changed, text)
			q.setCurveValues(field, values)
		}
	}
	for f := range record.NumFields {
		text := f.String() + "=" + strings.Join(lists.Map(q.Header[f], EscapeItem), ",")
		compare(f.String(), text, slices.Equal(q.Header[f], before.Header[f]), q.Header[f])
	}
	newHeader := len(changed) > 0
	compare("fcst_lead", "fcst_lead="+strings.Join(FormatLeads(q.Lead), ","), slices.Equal(q.Lead, before.Lead),
		hoursOfLeads(q.Lead))
	compare("fcst_valid_beg", "other valid times", reflect.DeepEqual(q.Valid, before.Valid), groupTimes(&q.Valid))
	now, old := &q.TimeFilter, &before.TimeFilter
	compare("fcst_init_beg", "other initialization times", reflect.DeepEqual(now.Init, old.Init), groupTimes(&now.Init))
	hours := lists.Map(now.ValidHour, strconv.Itoa)
	compare("valid_hour", "valid_hour="+strings.Join(hours, ","), slices.Equal(now.ValidHour, old.ValidHour), hours)
	hours = lists.Map(now.InitHour, strconv.Itoa)
	compare("init_hour", "init_hour="+strings.Join(hours, ","), slices.Equal(now.InitHour, old.InitHour), hours)
	newStats := slices.ContainsFunc(stats, func(s string) bool { return !before.hasStat(s) })
	newLabels := q.pictureName() != before.pictureName() && (q.hasOwnLabels() || before.hasOwnLabels())
	if len(changed) == 0 && !newStats && !newLabels {
		return
	}
	d := *cmp.Or(q.Drawing, &Drawing{})
	if before.Drawing != nil && before.Drawing.Styles != nil &&
		(newStats || newLabels || !reflect.DeepEqual(d.Curves, before.Drawing.Curves)) {
		changed = append(changed, "Barograph's own colors and intervals")
		d.Styles = nil
	}
	// A text is "FIELD=VALUES", or a phrase such as "other valid times". Texts with the same part before "=" are about the
	// same condition; the new text replaces the old one.
	condition := func(text string) string { return strings.Split(text, "=")[0] }
	isReplaced := func(text string) bool { return slices.Contains(lists.Map(changed, condition), condition(text)) }
	q.Changed = append(slices.DeleteFunc(slices.Clone(before.Changed), isReplaced), changed...)
	if q.Untitled = true; q.Drawing == nil {
		return
	}
	if newHeader || newStats || newLabels {
		d.XLabel, d.YLabel = "", ""
	}
	if q.Drawing = &d; d.Picture == "scorecard" && d.Baseline != "" {
		q.Title, q.Untitled = scorecardTitle(q.Header[record.Model], d.Baseline), false
	}
}

// scorecardTitle is the title of a scorecard. Its rows already name statistics and variables.
func scorecardTitle(models []string, baseline string) string {
	candidates := slices.DeleteFunc(slices.Clone(models), func(m string) bool { return m == baseline })
	return "Scorecard of " + strings.Join(candidates, ", ") + " against " + baseline
}

// hasOwnLabels reports whether the axes of the picture have other labels than a statistic and the independent
// variable. If the picture changes from or to such a one, the labels that a user wrote are wrong.
func (q *Question) hasOwnLabels() bool {
	return q.Drawing.ShowsLineType() || q.pictureName() == "revision"
}

func (q *Question) pictureName() string { return cmp.Or(q.Drawing, &Drawing{}).Picture }

func (q *Question) hasStat(name string) bool {
	return q.Drawing != nil && slices.ContainsFunc(q.Drawing.Stats, func(s string) bool { return strings.EqualFold(s, name) })
}

// groupTimes writes times in the form of Group.Values; nil = they are not a list.
func groupTimes(t *Times) []string { return lists.Map(t.Expand(), formatGroupTime) }

// hoursOfLeads writes leads in the form of Group.Values.
func hoursOfLeads(leads []int32) []string {
	return lists.Map(leads, func(l int32) string { return strconv.FormatFloat(float64(l)/3600, 'g', -1, 64) })
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
			if d.Equalize[i].Values = nil; len(values) > 0 {
				d.Equalize[i].Values = [][]string{values}
			}
		}
	}
	for i, g := range d.Curves {
		if g.Field != field || g.Values == nil {
			continue
		}
		var items [][]string
		newIndex := make([]int, len(g.Values)) // by the index of an item in g.Values; −1 = removed
		for k, item := range g.Values {
			if newIndex[k] = -1; includes(values, item) {
				newIndex[k], items = len(items), append(items, item)
			}
		}
		for _, v := range values {
			if !slices.ContainsFunc(items, func(item []string) bool { return slices.Contains(item, v) }) {
				items = append(items, []string{v})
			}
		}
		d.Curves[i].Values = items
		d.Derived = q.remapDerived(d.Derived, i, g, newIndex)
	}
	q.Drawing = &d
}

// includes reports whether a list includes all of these values.
func includes(list, values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(list, v) })
}

// remapDerived keeps the derived curves whose two sides are still drawn, and lists the others in Omitted. old is
// field number i of Curves before the change; newIndex has the new index of each of its items, −1 = removed.
func (q *Question) remapDerived(all []Derived, i int, old Group, newIndex []int) (out []Derived) {
	for _, curve := range all {
		curve.A, curve.B = slices.Clone(curve.A), slices.Clone(curve.B)
		removed := ""
		for _, side := range [][]int{curve.A, curve.B} {
			item := side[i]
			if side[i] = newIndex[item]; newIndex[item] < 0 {
				removed = strings.Join(old.Values[item], "+")
			}
		}
		if removed == "" {
			out = append(out, curve)
			continue
		}
		q.Omitted = append(slices.Clip(q.Omitted),
			fmt.Sprintf("%s of curves, because the question no longer includes %s %s", curve.Operation, old.Field, removed))
	}
	return out
}

// RenameChanged names several questions after their variables and line types if Adapt found a change in one of them,
// because the old names contain the old variables. The names serve as file names. A single question keeps its name.
func RenameChanged(qs []*Question) {
	if slices.ContainsFunc(qs, func(q *Question) bool { return len(q.Changed) > 0 }) {
		assignNames("", qs)
	}
}
