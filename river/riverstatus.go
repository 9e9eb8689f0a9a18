package river

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/record"
)

// riverStatus maintains the table riverstatus (shef_load_maxfcst): for each location, element and
// type-source the highest forecast value. It handles those whose forecasts have just changed. It
// removes the row if no forecast is left.
func (x *posting) riverStatus(ctx context.Context, b *batch) error {
	for _, table := range []string{"fcstheight", "fcstdischarge"} {
		touched := map[series]*row{}
		for _, r := range x.tables[table] {
			if *r.fate == Inserted || *r.fate == Updated {
				touched[series{lid: r.full.lid, pe: r.full.pe}] = r
			}
		}
		if len(touched) == 0 {
			continue
		}
		var rows []*row
		for _, r := range touched {
			rows = append(rows, r)
		}
		slices.SortFunc(rows, compareKeys)
		highest, err := x.highest(ctx, b, table, rows)
		if err != nil {
			return err
		}
		if err := b.crests(ctx, rows, highest); err != nil {
			return err
		}
	}
	return nil
}

// highest finds the highest forecasts of the locations and elements of rows.
func (x *posting) highest(ctx context.Context, b *batch, table string, rows []*row) (out []*row, err error) {
	names := []string{"lid", "pe"}
	q, err := b.Query(ctx, "SELECT f.lid, f.pe, f.ts, f.dur, f.extremum, f.probability, f.validtime, f.basistime, f.value, coalesce(s.use_latest_fcst = 'T', false) FROM "+
		b.unnest(names, "", "")+" JOIN "+b.schema+table+" f USING (lid, pe) LEFT JOIN "+b.schema+"riverstat s ON s.lid = f.lid"+
		" WHERE f.validtime >= $3 AND f.basistime >= $4 AND f.probability < 0 AND f.value <> $5 AND f.quality_code >= $6 ORDER BY f.lid, f.pe, f.ts, f.validtime",
		append(b.args(names, rows), x.now.UTC(), x.now.UTC().Add(-x.Tokens.OldestBasis), record.NoValue, badBelow)...)
	if err != nil {
		return nil, err
	}
	var s seriesRow
	var probability float32
	var valid, basis time.Time
	var value float64
	var useLatest, newestOnly bool // of the row that was read, of the series
	var of []*row                  // one series of forecasts
	end := func() {
		if len(of) > 0 {
			out = append(out, crest(joinForecasts(of, newestOnly)))
		}
		of = nil
	}
	_, err = pgx.ForEachRow(q, []any{&s.lid, &s.pe, &s.ts, &s.dur, &s.ext, &probability, &valid, &basis, &value, &useLatest}, func() error {
		r := &row{value: value, full: key{series: s.series(), at: valid.Unix(), basis: basis.Unix(), probability: probability}}
		if len(of) > 0 && (of[0].full.lid != r.full.lid || of[0].full.pe != r.full.pe || of[0].full.ts != r.full.ts) {
			end()
		}
		of, newestOnly = append(of, r), useLatest
		return nil
	})
	end()
	return out, err
}

// joinForecasts joins the forecasts of several basis times into one series, sorted by valid time. It takes
// the complete newest forecast. Unless newestOnly is set, it then takes from each older forecast the values
// before the series or, if there are none, the values after it.
func joinForecasts(all []*row, newestOnly bool) (taken []*row) {
	byBasis := slices.Clone(all)
	slices.SortStableFunc(byBasis, func(a, b *row) int { return cmp.Compare(b.full.basis, a.full.basis) })
	for len(byBasis) > 0 {
		n := slices.IndexFunc(byBasis, func(r *row) bool { return r.full.basis != byBasis[0].full.basis })
		if n < 0 {
			n = len(byBasis)
		}
		one := byBasis[:n]
		byBasis = byBasis[n:]
		if len(taken) == 0 {
			if taken = one; newestOnly {
				return taken
			}
			continue
		}
		first, last := taken[0].full.at, taken[len(taken)-1].full.at
		before, _ := slices.BinarySearchFunc(one, first, func(r *row, at int64) int { return cmp.Compare(r.full.at, at) })
		behind, _ := slices.BinarySearchFunc(one, last+1, func(r *row, at int64) int { return cmp.Compare(r.full.at, at) })
		if before > 0 {
			taken = slices.Concat(one[:before], taken)
		} else {
			taken = slices.Concat(taken, one[behind:])
		}
	}
	return taken
}

// crest returns the highest value of a series, the first if there are several.
func crest(all []*row) *row {
	return slices.MaxFunc(all, func(a, b *row) int { return cmp.Compare(a.value, b.value) })
}

// crests writes the highest forecasts of the locations and elements of touched, and removes the
// rows of type-sources that no longer have a forecast.
func (b *batch) crests(ctx context.Context, touched, highest []*row) error {
	table := b.schema + "riverstatus"
	names := []string{"lid", "pe"}
	kept := []string{} // not nil, which would be NULL
	for _, r := range highest {
		kept = append(kept, r.full.lid.String()+" "+string(r.full.pe[:])+" "+string(r.full.ts[:]))
	}
	_, err := b.Exec(ctx, "DELETE FROM "+table+" t USING "+b.unnest(names, "", "")+" WHERE "+match(names)+" AND t.ts LIKE 'F%' AND NOT t.lid || ' ' || t.pe || ' ' || t.ts = ANY($3)",
		append(b.args(names, touched), kept)...)
	if err != nil || len(highest) == 0 {
		return err
	}
	l := shape("riverstatus")
	_, err = b.Exec(ctx, b.insert("riverstatus", l)+l.conflict()+" WHERE (riverstatus.validtime, riverstatus.basistime, riverstatus.value) IS DISTINCT FROM (EXCLUDED.validtime, EXCLUDED.basistime, EXCLUDED.value)", b.args(l.names, highest)...)
	return err
}
