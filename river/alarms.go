package river

import (
	"context"
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

// alarms brings what rows raise into alertalarmval. A value that raises nothing removes what
// an earlier one of its series and time raised.
func (b *batch) alarms(ctx context.Context, rows []*row) error {
	const table = "alertalarmval"
	type alarmKey struct {
		key
		alarm
	}
	last := map[alarmKey]*row{}
	var quiet, loud []*row
	for _, r := range rows {
		full := r.full
		full.ref = 0 // the table has no such column
		last[alarmKey{full, r.alarm}] = r
	}
	for k, r := range last {
		if k.alarm == (alarm{}) {
			quiet = append(quiet, r)
		} else {
			loud = append(loud, r)
		}
	}
	slices.SortFunc(quiet, compareKeys)
	slices.SortFunc(loud, compareKeys)
	if len(quiet) > 0 {
		keys := append([]string{"validtime"}, newLayout(fields, "").names...)
		text := "DELETE FROM " + b.schema + table + " t USING " + b.unnest(keys, "", "") + " WHERE " + match(keys)
		if _, err := b.Exec(ctx, text, b.args(keys, quiet)...); err != nil {
			return err
		}
	}
	if len(loud) == 0 {
		return nil
	}
	l := shape(table)
	_, err := b.Exec(ctx, b.insert(table, l)+l.conflict(), b.args(l.names, loud)...)
	return err
}
