package river

import (
	"context"
	"maps"
	"slices"

	"github.com/barograph/barograph/record"
)

// alarmColumns are those of limits that alarms are raised by.
const alarmColumns = "alarm_upper_limit alert_upper_limit alarm_lower_limit alert_lower_limit"

// alarm is what a value raises: its category and its check; the zero value is none.
type alarm struct{ category, check string }

// alarm is the first of a value's alarms, as AWIPS tests them. A missing value and one out of
// the gross range raise none.
func (r *reference) alarm(l *limit, value float64) alarm {
	if l == nil || value == record.NoValue || l.outOfGross(value) {
		return alarm{}
	}
	switch a := l.alarms; {
	case a[0] != nil && value >= *a[0]:
		return alarm{"ALARM", "UPPER"}
	case a[1] != nil && value >= *a[1]:
		return alarm{"ALERT", "UPPER"}
	case a[2] != nil && value <= *a[2]:
		return alarm{"ALARM", "LOWER"}
	case a[3] != nil && value <= *a[3]:
		return alarm{"ALERT", "LOWER"}
	}
	return alarm{}
}

// alarms brings what rows raise into alertalarmval. A value has one alarm at most: its row replaces
// that of another category, which an earlier value of its key raised, and a value that raises nothing
// removes it. Forecasts of several basis times have an alarm each, as they have a value each. What is left does not depend on how values are batched.
func (b *batch) alarms(ctx context.Context, rows []*row) error {
	const table = "alertalarmval"
	last := map[key]*row{}
	for _, r := range rows {
		full := r.full
		full.ref = 0 // the table has no such column
		last[full] = r
	}
	all := slices.SortedFunc(maps.Values(last), compareKeys)
	loud := slices.DeleteFunc(slices.Clone(all), func(r *row) bool { return r.alarm == (alarm{}) })
	if len(all) == 0 {
		return nil
	}
	keys := newLayout(ahead, "").names
	names := append(slices.Clone(keys), "aa_categ", "aa_check")
	text := "DELETE FROM " + b.schema + table + " t USING " + b.unnest(names, "", "") + " WHERE " + match(keys) + " AND (t.aa_categ, t.aa_check) <> (u.aa_categ, u.aa_check)"
	if _, err := b.Exec(ctx, text, b.args(names, all)...); err != nil || len(loud) == 0 {
		return err
	}
	l := shape(table)
	_, err := b.Exec(ctx, b.insert(table, l)+l.conflict(), b.args(l.names, loud)...)
	return err
}
