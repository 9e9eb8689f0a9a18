package river

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/record"
)

// series identifies a series of values: the key of the IHFS's filters, limits and factors.
type series struct {
	lid record.ID
	pe  [2]byte
	dur int16
	ts  [2]byte
	ext byte
}

// reference is the content of the reference tables (stations, filters, limits and factors). The poster reads
// it when it is opened and at each Reload.
type reference struct {
	post     map[record.ID]bool // of location: whether post is 1
	required []string           // columns of location that must have a value, except lid and post
	areas    map[record.ID]bool // geoarea
	ingest   map[series]bool    // ingestfilter: whether ingest is T
	factor   map[series]factor
	// limits of (lid, pe, dur) from locdatalimits, of (pe, dur) from datalimits.
	limits map[series][]limit // in the order of their first days
}

// factor is a row of adjustfactor: (value / divisor + base) × multiplier + adder.
type factor struct{ divisor, base, multiplier, adder float64 }

// limit is a row of locdatalimits or datalimits; nil = no limit.
type limit struct {
	ts                 string // type-source to which it applies; "NA" = all; "" = the row is of datalimits
	from, to           string // MM-DD, inclusive
	grossMin, grossMax *float64
	reasonMin          *float64
	reasonMax          *float64
	alarmBounds        [4]*float64 // of the columns alarmColumns
}

// readReference reads the tables of a schema. limitsTS = locdatalimits has a column ts.
func readReference(ctx context.Context, q querier, schema string, limitsTS, alarms bool) (*reference, error) {
	r := &reference{
		post: map[record.ID]bool{}, areas: map[record.ID]bool{}, ingest: map[series]bool{},
		factor: map[series]factor{}, limits: map[series][]limit{},
	}
	var s seriesRow
	ts := "'NA'"
	if limitsTS {
		ts = "ts"
	}
	alarmLimits := "NULL::float8, NULL::float8, NULL::float8, NULL::float8"
	if alarms {
		alarmLimits = strings.ReplaceAll(alarmColumns, " ", ", ")
	}
	ranges := ", monthdaystart, monthdayend, gross_range_min, gross_range_max, reason_range_min, reason_range_max, " +
		alarmLimits + " FROM "
	var l limit
	var post *int16
	var ingest *string
	var f [4]*float64
	intoLimit := []any{
		&s.lid, &s.pe, &s.dur, &l.ts, &l.from, &l.to, &l.grossMin, &l.grossMax, &l.reasonMin, &l.reasonMax,
		&l.alarmBounds[0], &l.alarmBounds[1], &l.alarmBounds[2], &l.alarmBounds[3],
	}
	addLimit := func() { r.limits[s.series()] = append(r.limits[s.series()], l) }
	for _, x := range []struct {
		text string
		into []any
		each func()
	}{
		{
			"SELECT lid, post FROM " + schema + "location",
			[]any{&s.lid, &post},
			func() { r.post[id(s.lid)] = post != nil && *post == 1 },
		},
		{
			"SELECT attname::text FROM pg_attribute WHERE attrelid = " + quote(schema+"location") + "::regclass " +
				"AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef AND attname NOT IN ('lid', 'post') " +
				"ORDER BY attnum",
			[]any{&s.lid},
			func() { r.required = append(r.required, s.lid) }, // here s.lid is the name of a column
		},
		{"SELECT area_id FROM " + schema + "geoarea", []any{&s.lid}, func() { r.areas[id(s.lid)] = true }},
		{
			"SELECT lid, pe, dur, ts, extremum, ingest FROM " + schema + "ingestfilter",
			[]any{&s.lid, &s.pe, &s.dur, &s.ts, &s.ext, &ingest},
			func() { r.ingest[s.series()] = ingest != nil && *ingest == "T" },
		},
		{
			"SELECT lid, pe, dur, ts, extremum, divisor, base, multiplier, adder FROM " + schema + "adjustfactor",
			[]any{&s.lid, &s.pe, &s.dur, &s.ts, &s.ext, &f[0], &f[1], &f[2], &f[3]},
			func() { r.factor[s.series()] = newFactor(f) },
		},
		{"SELECT lid, pe, dur, " + ts + ranges + schema + "locdatalimits ORDER BY monthdaystart", intoLimit, addLimit},
		{"SELECT '', pe, dur, ''" + ranges + schema + "datalimits ORDER BY monthdaystart", intoLimit, addLimit},
	} {
		s = seriesRow{}
		rows, err := q.Query(ctx, x.text)
		if err != nil {
			return nil, err
		}
		if _, err := pgx.ForEachRow(rows, x.into, func() error { x.each(); return nil }); err != nil {
			return nil, fmt.Errorf("%s: %w", x.text, err)
		}
	}
	return r, nil
}

// seriesRow has the columns of a series as the database returns them.
type seriesRow struct {
	lid, pe, ts, ext string
	dur              int16
}

func (s *seriesRow) series() (out series) {
	out.lid, out.dur = id(s.lid), s.dur
	copy(out.pe[:], s.pe)
	copy(out.ts[:], s.ts)
	if s.ext != "" {
		out.ext = s.ext[0]
	}
	return out
}

// id converts the text of a station or area to its identifier.
func id(text string) (out record.ID) {
	copy(out[:], text)
	return out
}

// newFactor returns the factor of a row. A NULL, or a divisor of 0, does not change values.
func newFactor(f [4]*float64) factor {
	out := [4]float64{1, 0, 1, 0}
	for i, v := range f {
		if v != nil && (i > 0 || *v != 0) {
			out[i] = *v
		}
	}
	return factor{out[0], out[1], out[2], out[3]}
}

func (f factor) apply(v float64) float64 { return (v/f.divisor+f.base)*f.multiplier + f.adder }

// limitOf returns the limit of a value; nil = none. If the station has limits for the type-source, they apply.
// Otherwise the station's limits for all type-sources ("NA") apply. If the station has neither, the limits of the
// element apply.
func (r *reference) limitOf(s series, at time.Time) *limit {
	ts := string(s.ts[:])
	s.ts, s.ext = [2]byte{}, 0
	own := r.limits[s]
	for _, typeSource := range []string{ts, "NA"} {
		if found, hasLimits := firstLimit(own, typeSource, at); hasLimits {
			return found
		}
	}
	s.lid = record.ID{}
	found, _ := firstLimit(r.limits[s], "", at)
	return found
}

// firstLimit returns the first limit for a type-source whose days include at; nil = none. hasLimits reports whether
// there is any limit for the type-source. As in AWIPS, days that span New Year never match.
func firstLimit(all []limit, ts string, at time.Time) (found *limit, hasLimits bool) {
	day := at.Format("01-02")
	for i := range all {
		if all[i].ts != ts {
			continue
		}
		if hasLimits = true; day >= all[i].from && day <= all[i].to {
			return &all[i], true
		}
	}
	return nil, hasLimits
}

// quality_code of a value that passes all checks, and the bits that a failed check clears: its own bit and a summary
// bit (30 = not bad, 29 = not questionable).
const (
	goodCode    = 0x6FFFFFFF
	outGross    = 1<<21 | 1<<30
	outReason   = 1<<19 | 1<<29
	senderDoubt = 1<<20 | 1<<29 // qualifiers Q and F
	senderBad   = 1<<23 | 1<<30 // qualifiers R and B
	badBelow    = 1 << 30       // a value with a lower code is bad
)

// outOfGross reports whether a value is out of the gross range.
func (l *limit) outOfGross(value float64) bool {
	return l.grossMin != nil && value < *l.grossMin || l.grossMax != nil && value > *l.grossMax
}

// quality returns the quality_code of a value by its limits and its qualifier. A missing value is not
// checked.
func quality(l *limit, qualifier byte, value float64) int32 {
	if value == record.NoValue {
		return goodCode
	}
	code := int32(goodCode)
	switch {
	case l == nil:
	case l.outOfGross(value):
		code &^= outGross
	case l.reasonMin != nil && value < *l.reasonMin || l.reasonMax != nil && value > *l.reasonMax:
		code &^= outReason
	}
	switch qualifier {
	case 'Q', 'F':
		code &^= senderDoubt
	case 'R', 'B':
		code &^= senderBad
	}
	return code
}
