package river

import (
	"context"
	"maps"
	"slices"

	"github.com/barograph/barograph/record"
)

// alarmColumns are the columns of a limit that raise alarms.
const alarmColumns = "alarm_upper_limit alert_upper_limit alarm_lower_limit alert_lower_limit"

// alarm is the category and the check of the alarm that a value raises; the zero value is no alarm.
type alarm struct{ category, check string }

// alarm returns the first alarm of a value, in the order in which AWIPS tests them. A missing value and one out of
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

// writeAlarms stores the alarms of rows in alertalarmval. A key has at most one alarm, that of its latest value. It
// replaces the alarm of an earlier value, and a value without an alarm removes it. The basis time of a forecast is part
// of its key. The resulting table does not depend on how values are batched.
func (b *batch) writeAlarms(ctx context.Context, rows []*row) error {
	const table = "alertalarmval"
	latest := map[key]*row{}
	for _, r := range rows {
		k := r.full
		k.ref = 0 // alertalarmval has no column ref_value
		latest[k] = r
	}
	all := slices.SortedFunc(maps.Values(latest), compareKeys)
	raised := slices.DeleteFunc(slices.Clone(all), func(r *row) bool { return r.alarm == (alarm{}) })
	if len(all) == 0 {
		return nil
	}
	keys := newLayout(forecastKey, "").names
	names := append(slices.Clone(keys), "aa_categ", "aa_check")
	text := "DELETE FROM " + b.schema + table + " t USING " + b.unnest(names, "", "") +
		" WHERE " + match(keys) + " AND (t.aa_categ, t.aa_check) <> (u.aa_categ, u.aa_check)"
	if _, err := b.Exec(ctx, text, b.args(names, all)...); err != nil || len(raised) == 0 {
		return err
	}
	l := layoutOf(table)
	_, err := b.Exec(ctx, b.insert(table, l)+l.onConflict(), b.args(l.names, raised)...)
	return err
}
