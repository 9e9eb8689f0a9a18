package river

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/record"
)

// riverStatus maintains the table riverstatus (shef_load_maxfcst), which has the highest forecast value of each
// location, element and type-source. It updates the rows whose forecasts have just changed, and removes a row if there
// is no forecast any more.
func (x *posting) riverStatus(ctx context.Context, w *writer) error {
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
		highest, err := x.highestForecasts(ctx, w, table, rows)
		if err != nil {
			return err
		}
		if err := w.writeRiverStatus(ctx, rows, highest); err != nil {
			return err
		}
	}
	return nil
}

// highestForecasts finds the highest forecasts of the locations and elements of rows.
func (x *posting) highestForecasts(ctx context.Context, w *writer, table string, rows []*row) (out []*row, err error) {
	names := []string{"lid", "pe"}
	query := "SELECT f.lid, f.pe, f.ts, f.dur, f.extremum, f.probability, f.validtime, f.basistime, f.value, " +
		"coalesce(s.use_latest_fcst = 'T', false) FROM " + w.unnest(names, "", "") +
		" JOIN " + w.schema + table + " f USING (lid, pe) LEFT JOIN " + w.schema + "riverstat s ON s.lid = f.lid" +
		" WHERE f.validtime >= $3 AND f.basistime >= $4 AND f.probability < 0 AND f.value <> $5 AND f.quality_code >= $6" +
		" ORDER BY f.lid, f.pe, f.ts, f.validtime, f.dur, f.extremum, f.probability"
	oldestBasis := x.now.UTC().Add(-x.Tokens.OldestBasis)
	q, err := w.Query(ctx, query, append(w.args(names, rows), x.now.UTC(), oldestBasis, record.NoValue, badBelow)...)
	if err != nil {
		return nil, err
	}
	var s seriesRow
	var probability float32
	var valid, basis time.Time
	var value float64
	var useLatest bool          // of the row that was read
	var forecasts []*row        // of one location, element and type-source
	var latestForecastOnly bool // of these forecasts
	endSeries := func() {
		if len(forecasts) > 0 {
			out = append(out, crest(joinForecasts(forecasts, latestForecastOnly)))
		}
		forecasts = nil
	}
	into := []any{&s.lid, &s.pe, &s.ts, &s.dur, &s.ext, &probability, &valid, &basis, &value, &useLatest}
	_, err = pgx.ForEachRow(q, into, func() error {
		k := key{series: s.series(), at: valid.Unix(), basis: basis.Unix(), probability: probability}
		if len(forecasts) > 0 {
			if f := &forecasts[0].full; f.lid != k.lid || f.pe != k.pe || f.ts != k.ts {
				endSeries()
			}
		}
		forecasts, latestForecastOnly = append(forecasts, &row{value: value, full: k}), useLatest
		return nil
	})
	endSeries()
	return out, err
}

// joinForecasts joins the forecasts of several basis times into one series, sorted by valid time. It takes the complete
// newest forecast. Unless newestOnly is set, it then adds from each older forecast the values before the series or, if
// there are none, the values after it.
func joinForecasts(all []*row, newestOnly bool) (joined []*row) {
	byBasis := slices.Clone(all)
	slices.SortStableFunc(byBasis, func(a, b *row) int { return cmp.Compare(b.full.basis, a.full.basis) })
	for len(byBasis) > 0 {
		n := slices.IndexFunc(byBasis, func(r *row) bool { return r.full.basis != byBasis[0].full.basis })
		if n < 0 {
			n = len(byBasis)
		}
		forecast := byBasis[:n]
		byBasis = byBasis[n:]
		if len(joined) == 0 {
			if joined = forecast; newestOnly {
				return joined
			}
			continue
		}
		compareTime := func(r *row, at int64) int { return cmp.Compare(r.full.at, at) }
		first, last := joined[0].full.at, joined[len(joined)-1].full.at
		before, _ := slices.BinarySearchFunc(forecast, first, compareTime)
		after, _ := slices.BinarySearchFunc(forecast, last+1, compareTime)
		if before > 0 {
			joined = slices.Concat(forecast[:before], joined)
		} else {
			joined = slices.Concat(joined, forecast[after:])
		}
	}
	return joined
}

// crest returns the highest value of a series, the first if there are several.
func crest(all []*row) *row {
	return slices.MaxFunc(all, func(a, b *row) int { return cmp.Compare(a.value, b.value) })
}

// writeRiverStatus writes the highest forecasts of the locations and elements of touched, and removes the rows of
// type-sources that no longer have a forecast.
func (w *writer) writeRiverStatus(ctx context.Context, touched, highest []*row) error {
	table := w.schema + "riverstatus"
	names := []string{"lid", "pe"}
	remaining := []string{} // not nil, which would be NULL
	for _, r := range highest {
		remaining = append(remaining, r.full.lid.String()+" "+string(r.full.pe[:])+" "+string(r.full.ts[:]))
	}
	remove := "DELETE FROM " + table + " t USING " + w.unnest(names, "", "") + " WHERE " + match(names) +
		" AND t.ts LIKE 'F%' AND NOT t.lid || ' ' || t.pe || ' ' || t.ts = ANY($3)"
	_, err := w.Exec(ctx, remove, append(w.args(names, touched), remaining)...)
	if err != nil || len(highest) == 0 {
		return err
	}
	l := layoutOf("riverstatus")
	write := w.insert("riverstatus", l) + l.onConflict() +
		l.ifChanged("riverstatus")
	_, err = w.Exec(ctx, write, w.args(l.names, highest)...)
	return err
}
