package river

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/record"
)

// This file fills the tables hourlypp, hourlypc and dailypp (gage_pp_enable). The slots, the windows and the letters
// are those of AWIPS's gage_pp (GagePP, PrecipUtils, gage_pp_process_file.c). AWIPS fills a slot as values arrive. This
// poster chooses each slot's value from rawpp and rawpc after it has written them, so neither the order of arrival nor
// a repetition changes the result.

const (
	hourSlots       = 24
	sixHourSlots    = 4
	sevenAM         = 7 * time.Hour
	noon            = 12 * time.Hour
	manual          = 'M' // the code of a value that a person entered; the poster never replaces it
	emptySlot       = '-'
	hundredths      = 100        // of an inch: the unit of hourlypp and hourlypc
	ppDay, ppPeriod = 2001, 5004 // PPD, PPP
)

// accumulation describes a kind of precipitation values and their slots.
type accumulation struct {
	table, from   string  // the table of the slots, and that of the values
	durations     []int16 // none = all
	period        time.Duration
	before, after time.Duration // the window around the end of a slot
	slotEnd       time.Duration // time of day at which one of the slots ends
	base          int           // index of its first slot among the 28 of a row (24 of an hour, 4 of six hours)
}

// accumulations returns the accumulations that gage_pp fills.
func (t *Tokens) accumulations() []accumulation {
	return []accumulation{
		{"hourlypc", "rawpc", nil, time.Hour, t.PCWindow, t.PCWindow, 0, 0},
		{"hourlypp", "rawpp", []int16{60, 1001}, time.Hour, t.PPBefore, t.PPAfter, 0, 0},
		{"hourlypp", "rawpp", []int16{1006}, 6 * time.Hour, t.SixHours, t.SixHours, 0, hourSlots},
		{"dailypp", "rawpp", []int16{ppDay, ppPeriod}, 24 * time.Hour, t.Daily, t.Daily, noon, 0},
	}
}

// endOf returns the end of the slot that is nearest to the time of a value, the later one of two equally near ends. It
// returns false if the value is outside the window of the slot.
func (a *accumulation) endOf(at time.Time) (time.Time, bool) {
	at = at.Truncate(time.Minute)
	end := at.Add(-a.slotEnd).Round(a.period).Add(a.slotEnd) // Round counts from the year 1, which begins at midnight
	off := at.Sub(end)
	return end, -a.before <= off && off <= a.after
}

// isDay reports whether the period of a value is a day. The period of a PPP starts at 7 a.m. local time
// before the value, so it is a day if the value is of about 7 a.m. If the zone of the service is UTC, the
// local time is not known, and no PPP is a day.
func (t *Tokens) isDay(dur int16, at time.Time) bool {
	if dur != ppPeriod {
		return true
	}
	local := at.In(t.Zone)
	if t.Zone.String() == "UTC" || t.Zone == time.Local && time.Local.String() == "UTC" {
		return false
	}
	y, m, d := local.Date()
	return local.Sub(time.Date(y, m, d, 0, 0, 0, 0, t.Zone).Add(sevenAM)).Abs() < t.Daily
}

// offsetCode returns the letter of a number of minutes: A, B … after the end of an hour, a, b … before it.
func offsetCode(minutes int) byte {
	switch {
	case minutes < 0:
		return 'a' + byte(-minutes-1)
	case minutes > 0:
		return 'A' + byte(minutes-1)
	}
	return '0'
}

// distance returns the number of a letter of offsetCode, without its sign.
func distance(code byte) int {
	switch {
	case code >= 'a':
		return int(code-'a') + 1
	case code >= 'A':
		return int(code-'A') + 1
	}
	return 0
}

// offset returns the letter of a value's distance from the end of its slot: in minutes for an hour, and in tens of
// minutes, rounded up, for six hours.
func (a *accumulation) offset(off time.Duration) byte {
	n := int(off / time.Minute)
	if a.base == hourSlots {
		n = int(math.Copysign(math.Ceil(math.Abs(off.Minutes())/10), off.Minutes()))
	}
	return offsetCode(n)
}

// slotKey is a slot of a station and type-source.
type slotKey struct {
	lid record.ID
	ts  [2]byte
	end int64 // Unix seconds
}

// slotValue is a value that a slot may get.
type slotValue struct {
	dur   int16
	ext   string
	at    time.Time
	value float64
	qual  string
	// nearest is the distance from the end of the slot to the nearest of all its values, which may be a missing one.
	// Only chooseValues sets it.
	nearest time.Duration
}

// preference orders the values of a slot, the chosen one first: a value before a missing one, then the value that is
// nearest to the end of the slot, then the later one.
func (a *accumulation) preference(end time.Time) func(x, y slotValue) int {
	missing := func(v slotValue) int {
		if v.value == record.NoValue {
			return 1
		}
		return 0
	}
	extremum := func(v slotValue) int { // 0 = the value is not an extremum
		if v.ext == "Z" {
			return 0
		}
		return 1
	}
	return func(x, y slotValue) int {
		return cmp.Or(
			missing(x)-missing(y),
			cmp.Compare(x.at.Sub(end).Abs(), y.at.Sub(end).Abs()),
			y.at.Compare(x.at),
			cmp.Compare(x.dur, y.dur),
			extremum(x)-extremum(y),
			cmp.Compare(x.ext, y.ext),
		)
	}
}

// precipitation fills the slots of the rows that have changed.
func (x *posting) precipitation(ctx context.Context, w *writer) error {
	for _, a := range x.Tokens.accumulations() {
		touched := map[slotKey]bool{}
		for _, r := range x.tables[a.from] {
			end, inWindow := a.endOf(time.Unix(r.full.at, 0).UTC())
			hasChanged := *r.fate == Inserted || *r.fate == Updated
			hasDuration := a.durations == nil || slices.Contains(a.durations, r.full.dur)
			if inWindow && hasChanged && hasDuration {
				touched[slotKey{r.full.lid, r.full.ts, end.Unix()}] = true
			}
		}
		if len(touched) == 0 {
			continue
		}
		keys := slices.SortedFunc(maps.Keys(touched), func(x, y slotKey) int {
			return cmp.Or(slices.Compare(x.lid[:], y.lid[:]), slices.Compare(x.ts[:], y.ts[:]), cmp.Compare(x.end, y.end))
		})
		if _, err := w.Exec(ctx, "LOCK TABLE "+w.schema+a.table+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return fmt.Errorf("table %s: %w", a.table, err)
		}
		chosen, err := x.chooseValues(ctx, w, &a, keys)
		if err == nil && a.table == "dailypp" {
			err = w.writeDaily(ctx, keys, chosen)
		} else if err == nil {
			err = w.writeHourly(ctx, &a, keys, chosen)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", a.table, err)
		}
	}
	return nil
}

// chooseValues returns the value of each slot; nil = none. It only considers series of the second stage of
// precipitation processing (stg2_input).
func (x *posting) chooseValues(ctx context.Context, w *writer, a *accumulation, keys []slotKey) ([]*slotValue, error) {
	lids, sources, ends := make([]string, len(keys)), make([]string, len(keys)), make([]time.Time, len(keys))
	for i, k := range keys {
		lids[i], sources[i], ends[i] = k.lid.String(), string(k.ts[:]), time.Unix(k.end, 0).UTC()
	}
	// A row that another program wrote may have an empty code. Like no code it means that no check was made.
	text := `SELECT u.n, t.dur, t.extremum, t.obstime, t.value, coalesce(nullif(t.shef_qual_code, ''), 'Z')
		FROM unnest($1::varchar[], $2::varchar[], $3::timestamp[]) WITH ORDINALITY AS u(lid, ts, slot, n)
		JOIN ` + w.schema + a.from + ` t ON t.lid = u.lid AND t.ts = u.ts
			AND t.obstime >= u.slot - $4::interval AND t.obstime < u.slot + $5::interval
			AND ($6::smallint[] IS NULL OR t.dur = ANY($6))
		JOIN ` + w.schema + `ingestfilter i
			ON (i.lid, i.pe, i.dur, i.ts, i.extremum) = (t.lid, t.pe, t.dur, t.ts, t.extremum) AND i.stg2_input = 'T'
		WHERE t.value IS NOT NULL`
	q, err := w.Query(ctx, text, lids, sources, ends, a.before, a.after+time.Minute, a.durations)
	if err != nil {
		return nil, err
	}
	out := make([]*slotValue, len(keys))
	var n int64
	var v slotValue
	_, err = pgx.ForEachRow(q, []any{&n, &v.dur, &v.ext, &v.at, &v.value, &v.qual}, func() error {
		end, inWindow := a.endOf(v.at)
		if !inWindow || end.Unix() != keys[n-1].end || a.table == "dailypp" && !x.Tokens.isDay(v.dur, v.at) {
			return nil
		}
		chosen, candidate := out[n-1], v
		candidate.nearest = v.at.Sub(end).Abs()
		if chosen != nil {
			candidate.nearest = min(candidate.nearest, chosen.nearest)
			if chosen.nearest = candidate.nearest; a.preference(end)(*chosen, v) <= 0 {
				return nil
			}
		}
		out[n-1] = &candidate
		return nil
	})
	return out, err
}

// writeDaily writes values into dailypp, at 12:00 of their day.
func (w *writer) writeDaily(ctx context.Context, keys []slotKey, chosen []*slotValue) error {
	posted := w.posted.UTC().Truncate(time.Second)
	var rows pgx.Batch
	for i, v := range chosen {
		if v == nil {
			continue
		}
		end := time.Unix(keys[i].end, 0).UTC()
		rows.Queue(`INSERT INTO `+w.schema+`dailypp AS t (lid, ts, obstime, value, qc, postingtime)
			VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (lid, ts, obstime) DO UPDATE
			SET value = EXCLUDED.value, qc = EXCLUDED.qc, postingtime = EXCLUDED.postingtime
			WHERE (t.value, t.qc) IS DISTINCT FROM (EXCLUDED.value, EXCLUDED.qc) AND upper(t.qc) IS DISTINCT FROM $7`,
			keys[i].lid.String(), string(keys[i].ts[:]), end, v.value, v.qual, posted, string(rune(manual)))
	}
	return w.sendAll(ctx, &rows)
}

// precipDay is a row of hourlypp or hourlypc: its hours and, in hourlypp, its four periods.
type precipDay struct {
	lid, ts    string
	date       time.Time
	values     [hourSlots + sixHourSlots]*int16 // hundredths of an inch
	offset, qc [hourSlots + sixHourSlots]byte
	hasChanged bool
}

// read sets the slots from an index to another, exclusive, to the columns of a stored row. Slots that the columns lack
// are empty.
func (d *precipDay) read(offset, qc string, values []*int16, from, to int) {
	for i := from; i < to; i++ {
		d.offset[i], d.qc[i] = emptySlot, emptySlot
		if k := i - from; k < len(offset) && k < len(qc) {
			d.offset[i], d.qc[i] = offset[k], qc[k]
		}
		if values != nil {
			d.values[i] = values[i-from]
		}
	}
}

// set sets a slot, except in two cases. In the first, a person has set it. In the second, the stored value is nearer to
// the end of the slot than every value of the raw table, because its own row was purged from that table. nearest is the
// offset letter of the nearest value in the raw table.
func (d *precipDay) set(i int, value int16, offset, nearest, qc byte) {
	isStored := d.values[i] != nil
	isSame := isStored && *d.values[i] == value && d.offset[i] == offset && d.qc[i] == qc
	switch {
	case d.qc[i] == manual, d.qc[i] == 'm', isSame:
		return
	case isStored && d.offset[i] != emptySlot && distance(d.offset[i]) < distance(nearest):
		return
	}
	d.values[i], d.offset[i], d.qc[i], d.hasChanged = &value, offset, qc, true
}

// inHundredths converts inches to the unit of hourlypp. A value beyond the range of the column becomes missing.
func inHundredths(v float64) int16 {
	n := math.Round(v * hundredths)
	if v == record.NoValue || n > math.MaxInt16 || n < math.MinInt16 {
		return record.NoValue
	}
	return int16(n)
}

// slotOf returns the day and the index of the slot with this end. A slot that ends at midnight belongs to the day
// before.
func (a *accumulation) slotOf(end time.Time) (day time.Time, number int) {
	day = end.Add(-time.Minute).Truncate(24 * time.Hour)
	return day, a.base + int(end.Sub(day)/a.period) - 1
}

// numbered returns names with numbers, such as hour1 to hour24.
func numbered(prefix, format string, n, step int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(prefix+format, (i+1)*step))
	}
	return out
}

// writeHourly writes values into hourlypp or hourlypc.
func (w *writer) writeHourly(ctx context.Context, a *accumulation, keys []slotKey, chosen []*slotValue) error {
	type dayKey struct {
		lid record.ID
		ts  [2]byte
		day int64
	}
	days := map[dayKey]*precipDay{}
	var order []*precipDay
	keyOf := func(k slotKey) dayKey {
		day, _ := a.slotOf(time.Unix(k.end, 0).UTC())
		return dayKey{k.lid, k.ts, day.Unix()}
	}
	var lids, sources []string
	var dates []time.Time
	for i, k := range keys {
		if key := keyOf(k); chosen[i] != nil && days[key] == nil {
			d := &precipDay{lid: k.lid.String(), ts: string(k.ts[:]), date: time.Unix(key.day, 0).UTC()}
			d.read("", "", nil, 0, len(d.values))
			days[key], order = d, append(order, d)
			lids, sources, dates = append(lids, d.lid), append(sources, d.ts), append(dates, d.date)
		}
	}
	hours, sixHours := numbered("hour", "%d", hourSlots, 1), []string(nil)
	array := func(columns []string) string { return "ARRAY[t." + strings.Join(columns, ", t.") + "]::smallint[]" }
	columns := "coalesce(t.minute_offset, ''), coalesce(t.hourly_qc, ''), " + array(hours)
	if a.table == "hourlypp" {
		sixHours = numbered("sixhr", "%02d", sixHourSlots, 6)
		columns += ", coalesce(t.sixhroffset, ''), coalesce(t.sixhrqc, ''), " + array(sixHours)
	} else {
		columns += ", '', '', NULL::smallint[]"
	}
	const wanted = "unnest($1::varchar[], $2::varchar[], $3::date[]) WITH ORDINALITY AS u(lid, ts, obsdate, n)"
	query := "SELECT u.n, " + columns + " FROM " + wanted + " JOIN " + w.schema + a.table + " t USING (lid, ts, obsdate)"
	q, err := w.Query(ctx, query, lids, sources, dates)
	if err != nil {
		return err
	}
	var n int64
	var offset, qc, sixOffset, sixQC string
	var values, sixValues []*int16
	_, err = pgx.ForEachRow(q, []any{&n, &offset, &qc, &values, &sixOffset, &sixQC, &sixValues}, func() error {
		order[n-1].read(offset, qc, values, 0, hourSlots)
		order[n-1].read(sixOffset, sixQC, sixValues, hourSlots, hourSlots+sixHourSlots)
		values, sixValues = nil, nil
		return nil
	})
	if err != nil {
		return err
	}
	for i, k := range keys {
		if v := chosen[i]; v != nil {
			end := time.Unix(k.end, 0).UTC()
			_, number := a.slotOf(end)
			offset, nearest := a.offset(v.at.Truncate(time.Minute).Sub(end)), a.offset(v.nearest.Truncate(time.Minute))
			days[keyOf(k)].set(number, inHundredths(v.value), offset, nearest, v.qual[0])
		}
	}
	var rows pgx.Batch
	for _, d := range order {
		if d.hasChanged {
			d.queue(&rows, w.schema+a.table, hours, sixHours)
		}
	}
	return w.sendAll(ctx, &rows)
}

// sendAll executes queued statements.
func (w *writer) sendAll(ctx context.Context, rows *pgx.Batch) error {
	if rows.Len() == 0 {
		return nil
	}
	return w.SendBatch(ctx, rows).Close()
}

// queue adds the statement that writes the row. hours and sixHours are the columns of its slots; sixHours is nil for a
// table without them.
func (d *precipDay) queue(rows *pgx.Batch, table string, hours, sixHours []string) {
	names := append([]string{"lid", "ts", "obsdate", "minute_offset", "hourly_qc"}, hours...)
	args := []any{d.lid, d.ts, d.date, string(d.offset[:hourSlots]), string(d.qc[:hourSlots])}
	for _, v := range d.values[:hourSlots] {
		args = append(args, v)
	}
	if sixHours != nil {
		names = append(append(names, "sixhroffset", "sixhrqc"), sixHours...)
		args = append(args, string(d.offset[hourSlots:]), string(d.qc[hourSlots:]))
		for _, v := range d.values[hourSlots:] {
			args = append(args, v)
		}
	}
	marks := make([]string, len(names))
	for i := range names {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	insert := "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
	rows.Queue(insert+layout{names, 3}.onConflict(), args...)
}
