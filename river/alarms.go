package river

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// alarmColumns are the columns of a limit that raise alarms.
const alarmColumns = "alarm_upper_limit alert_upper_limit alarm_lower_limit alert_lower_limit"

// alarm is the category and the check of the alarm that a value raises; the zero value is no alarm.
type alarm struct{ category, check string }

// alarms returns all alarms, in the order in which AWIPS tests them, which is that of alarmColumns.
func alarms() [4]alarm {
	return [4]alarm{{"ALARM", "UPPER"}, {"ALERT", "UPPER"}, {"ALARM", "LOWER"}, {"ALERT", "LOWER"}}
}

// alarm returns the first alarm of a value. A missing value and one out of the gross range raise none.
func (r *reference) alarm(l *limit, value float64) alarm {
	if l == nil || value == record.NoValue || l.outOfGross(value) {
		return alarm{}
	}
	for i, a := range alarms() {
		bound := l.alarmBounds[i]
		if bound != nil && (a.check == "UPPER" && value >= *bound || a.check == "LOWER" && value <= *bound) {
			return a
		}
	}
	return alarm{}
}

// alarmTable is the table of alarms.
const alarmTable = "alertalarmval"

// writeAlarms stores the alarms of the rows that have changed. A row has at most one alarm, that of its present value.
// The values of a profile (pairedvalue) have one alarm together, because alertalarmval has no column ref_value. The
// resulting table does not depend on how values are batched.
func (x *posting) writeAlarms(ctx context.Context, w *writer) error {
	if len(x.alarms["pairedvalue"]) > 0 {
		// Another poster may change other depths of a profile at the same time. After the lock its transaction has ended.
		if _, err := w.Exec(ctx, "LOCK TABLE "+w.schema+alarmTable+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	for _, table := range slices.Sorted(maps.Keys(x.alarms)) {
		if err := x.writeAlarmsOf(ctx, w, table, x.alarms[table]); err != nil {
			return err
		}
	}
	return nil
}

// writeAlarmsOf stores the alarms of changed rows of a table, and removes those of their earlier values.
func (x *posting) writeAlarmsOf(ctx context.Context, w *writer, table string, changed []*row) (err error) {
	if len(changed) == 0 {
		return nil
	}
	if table == "pairedvalue" {
		if changed, err = x.profileAlarms(ctx, w, changed); err != nil {
			return err
		}
	}
	l := layoutOf(alarmTable)
	names := l.names[:l.keys]
	text := "DELETE FROM " + w.schema + alarmTable + " t USING " + w.unnest(names, "", "") + " WHERE " +
		match(alarmKey(table)) + " AND (t." + strings.Join(names, ", t.") + ") <> (u." + strings.Join(names, ", u.") + ")"
	if _, err := w.Exec(ctx, text, w.args(names, changed)...); err != nil {
		return err
	}
	raised := slices.DeleteFunc(slices.Clone(changed), func(r *row) bool { return r.alarm == (alarm{}) })
	if len(raised) == 0 {
		return nil
	}
	_, err = w.Exec(ctx, w.insert(alarmTable, l)+l.onConflict()+l.ifChanged(alarmTable), w.args(l.names, raised)...)
	return err
}

// alarmKey returns the columns of alertalarmval that identify a row of a table of values. For a reading they are not all
// of the key of alertalarmval: its basis time and probability may differ from those of the value that it replaces.
func alarmKey(table string) []string {
	l := layoutOf(table)
	names := []string{"pe"}
	for _, name := range l.names[:l.keys] {
		switch name {
		case "pe", "ref_value":
		case "obstime":
			names = append(names, "validtime")
		default:
			names = append(names, name)
		}
	}
	return names
}

// profileAlarms returns a row for each profile of changed rows of pairedvalue: the stored value whose alarm is the first
// in the order of alarms, and of several such values the one with the smallest depth.
func (x *posting) profileAlarms(ctx context.Context, w *writer, changed []*row) ([]*row, error) {
	profiles := map[key]bool{}
	var first []*row // the first changed row of each profile
	for _, r := range changed {
		k := r.key
		if k.ref = 0; !profiles[k] {
			profiles[k] = true
			first = append(first, r)
		}
	}
	places, all := map[alarm]int{}, alarms()
	for i, a := range all {
		places[a] = i - len(all) // negative: before alarm{}, no alarm, whose place is 0
	}
	out := make([]*row, len(first))
	names := newLayout(forecastKey, "").names
	err := w.readStored(ctx, "pairedvalue", names, first, " ORDER BY u.n, t.ref_value", func(i int, r *row) {
		r.alarm = x.ref.alarm(x.ref.limitOf(r.full.series, time.Unix(r.full.at, 0).UTC()), r.value)
		if r.qual == 0 { // a row of another program
			r.qual = 'Z'
		}
		if out[i] == nil || places[r.alarm] < places[out[i].alarm] {
			out[i] = r
		}
	})
	return out, err
}
