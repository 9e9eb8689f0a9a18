package river

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// ValueReader is a Poster whose database can be queried for values.
type ValueReader interface {
	// Values calls each with the values from one time to another, both inclusive, one series after the other. Comments
	// and the sources of .B messages are empty if the database does not store them. If it does not store the letter of
	// a duration, Values returns the letter of SHEF's manual. A result is valid until each returns.
	Values(ctx context.Context, from, to int64, each func(*shef.Result) error) error
}

// maxResultValues is the greatest number of values in a result.
const maxResultValues = 64 << 10

// resultBuilder collects values and passes them to each, sorted by series.
type resultBuilder struct {
	tables *shef.Tables
	out    shef.Result
	each   func(*shef.Result) error
}

// add adds a value with a complete SHEF parameter code.
func (x *resultBuilder) add(g record.Gauge) error {
	g.HasProbability = g.Code[6] != 'Z'
	x.out.Values = append(x.out.Values, g)
	if len(x.out.Values) < maxResultValues {
		return nil
	}
	return x.flush()
}

// fromIHFS is the inverse of toIHFS.
func fromIHFS(c *record.Parameter, v float64) float64 {
	if v == record.NoValue || toIHFS(c, 1) == 1 {
		return v
	}
	thousandth, err := strconv.ParseFloat(strconv.FormatFloat(v/1000, 'g', 15, 64), 64)
	if err != nil {
		return v / 1000
	}
	return thousandth
}

func (x *resultBuilder) flush() error {
	if len(x.out.Values) == 0 {
		return nil
	}
	slices.SortStableFunc(x.out.Values, func(a, b record.Gauge) int {
		return cmp.Or(
			slices.Compare(a.Station[:], b.Station[:]), slices.Compare(a.Code[:], b.Code[:]),
			cmp.Compare(a.Duration, b.Duration), cmp.Compare(a.Created, b.Created), cmp.Compare(a.Time, b.Time))
	})
	x.out.Product.Issued = record.NoTime // the values are of many products
	err := x.each(&x.out)
	x.out.Values = x.out.Values[:0]
	return err
}

// Values implements ValueReader.
func (a *Archive) Values(ctx context.Context, from, to int64, each func(*shef.Result) error) error {
	x := &resultBuilder{each: each}
	for v, err := range a.store.Values(ctx) {
		if err != nil {
			return err
		}
		if v.Time < from || v.Time > to {
			continue
		}
		g := record.Gauge{
			Station: v.Station, Code: v.Code, Quality: cmp.Or(v.Quality, 'Z'),
			Time: v.Time, Created: record.NoTime, Value: v.Value, Revised: v.Revised,
		}
		if err := x.tables.Resolve(g.Code.String(), &g); err != nil || g.Code[2] == 'V' {
			g.Duration = v.Duration
		}
		if err := x.add(g); err != nil {
			return err
		}
	}
	return x.flush()
}

// Values implements ValueReader. It does not return rejected values.
func (p *IHFS) Values(ctx context.Context, from, to int64, each func(*shef.Result) error) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	rows, err := p.conn.Query(ctx, "SELECT table_name::text FROM information_schema.columns "+
		"WHERE table_schema = current_schema() AND column_name = 'shef_qual_code' ORDER BY 1")
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	x := &resultBuilder{each: each}
	for _, table := range tables {
		if !slices.Contains(valueTables(), table) {
			continue
		}
		if err := p.readTable(ctx, table, from, to, x); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return x.flush()
}

// valueTables lists the tables of values.
func valueTables() []string {
	return strings.Fields("agricultural evaporation fishcount gatedam ground height ice lake moisture discharge radiation " +
		"snow temperature wind power waterquality weather yunique rawpp rawpc rawpother pressure procvalue arealobs " +
		"fcstheight fcstdischarge fcstprecip fcsttemperature fcstother arealfcst contingencyvalue pairedvalue")
}

// readTable passes the values of a table to x.
func (p *IHFS) readTable(ctx context.Context, table string, from, to int64, x *resultBuilder) error {
	at, forecast := "obstime", "-1::real, NULL::timestamp, 0"
	if l := layoutOf(table); slices.Contains(l.names, "validtime") {
		at, forecast = "validtime", "probability, basistime, 0"
		if table == "pairedvalue" {
			forecast = "probability, basistime, ref_value"
		}
	}
	const year1, year9999 = -62135596800, 253402300799 // the first and last second that the database can compare
	clamp := func(t int64) time.Time { return time.Unix(min(max(t, year1), year9999), 0).UTC() }
	query := "SELECT lid, pe, dur, ts, extremum, " + at + ", coalesce(value, " + fmt.Sprint(record.NoValue) + "), " +
		"coalesce(shef_qual_code, 'Z'), coalesce(revision, 0) = 1, " + forecast + " FROM " + p.schema + table +
		" WHERE " + at + " BETWEEN $1 AND $2 ORDER BY lid, pe, dur, ts, extremum, " + at
	rows, err := p.conn.Query(ctx, query, clamp(from), clamp(to))
	if err != nil {
		return err
	}
	var s seriesRow
	var g record.Gauge
	var ref int
	var when time.Time
	var basis *time.Time
	var qual string
	into := []any{&s.lid, &s.pe, &s.dur, &s.ts, &s.ext, &when, &g.Value, &qual, &g.Revised, &g.Probability, &basis, &ref}
	_, err = pgx.ForEachRow(rows, into, func() error {
		g.Station, g.Duration, g.Time, g.Quality, g.Created = id(s.lid), s.dur, when.Unix(), 'Z', record.NoTime
		k := s.series()
		g.Code = record.Parameter{k.pe[0], k.pe[1], 0, k.ts[0], k.ts[1], k.ext, 0}
		g.Code[2], g.Code[6] = x.tables.Letters(g.Duration, g.Probability)
		if qual != "" {
			g.Quality = qual[0]
		}
		if basis != nil && basis.Unix() != 0 {
			g.Created = basis.Unix()
		}
		if record.HasPairedValues(g.Code.PE()) {
			g.Value = record.JoinPair(ref, g.Value)
		} else {
			g.Value = fromIHFS(&g.Code, g.Value)
		}
		return x.add(g)
	})
	return err
}
