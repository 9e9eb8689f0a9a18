package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// admit adds rows to location and ingest filter.
func (s *postStore) admit(ctx context.Context, stations []record.ID, series []posts.Series) error {
	return s.withConn(ctx, func(c *PostConn) error {
		d := s.Dialect
		add := func(table string, names, keys []string, rows int, row func(i int) []any) error {
			return s.addRows(ctx, c, d.table(table), names, keys, rows, row)
		}
		err := add(locationTable+s.layout.suffix, []string{"lid", "post"}, []string{"lid"}, len(stations), func(i int) []any {
			return []any{stations[i].String(), int64(1)}
		})
		if err != nil {
			return err
		}
		cols := filterColumns()
		names := lists.Map(cols, func(c PostColumn) string { return c.Name })
		return add(filterTable+s.layout.suffix, names, names[:len(names)-1], len(series), func(i int) []any {
			s := series[i]
			row := PostRow{gauge: &record.Gauge{Station: s.Station, Code: s.Code, Duration: s.Duration}}
			return append(appendArgs(nil, &row, cols[:len(cols)-1]), "T")
		})
	})
}

// addRows inserts rows in one transaction, except those whose key exists. names are the columns, keys those of the key.
func (s *postStore) addRows(ctx context.Context, c *PostConn, table string, names, keys []string, rows int, row func(i int) []any) error {
	d := s.Dialect
	quoted := func(names []string) string { return flavour.Join(names, ", ", d.Quote) }
	onExisting := " ON CONFLICT (" + quoted(keys) + ") DO NOTHING"
	if d.DuplicateKey {
		onExisting = " ON DUPLICATE KEY UPDATE " + d.Quote(keys[0]) + " = " + d.Quote(keys[0])
	}
	if err := c.Run(ctx, s.Begin); err != nil {
		return err
	}
	const batch = 512
	var statement PostStatement
	statementRows := 0
	for from := 0; from < rows; from += batch {
		n := min(batch, rows-from)
		if n != statementRows {
			t := &PostTable{Columns: make([]PostColumn, len(names))}
			st, err := c.Prepare(ctx, "INSERT INTO "+table+" ("+quoted(names)+") VALUES "+d.params(t, n)+onExisting)
			if err != nil {
				return err
			}
			statement, statementRows = st, n
		}
		var args []any
		for i := range n {
			args = append(args, row(from+i)...)
		}
		if err := statement.Exec(ctx, args); err != nil {
			return err
		}
	}
	return c.Run(ctx, "COMMIT")
}

// readFilters reads location and ingest filter. The poster keeps them, as the decoder of 2006 did.
func (p *poster) readFilters(ctx context.Context) error {
	all, err := p.filters(ctx, "", nil)
	p.series = rankSeries(all)
	return err
}

// Reread reads the filters of these stations again.
func (p *poster) Reread(ctx context.Context, stations []record.ID) error {
	reread, all := make(map[record.ID]bool, len(stations)), make([]posts.Series, 0, len(p.series)+len(stations))
	for _, id := range stations {
		reread[id] = true
		delete(p.stations, id)
	}
	for s := range p.series {
		if !reread[s.Station] {
			all = append(all, s)
		}
	}
	d := p.Dialect
	for chunk := range slices.Chunk(stations, 500) {
		params, args := make([]string, len(chunk)), make([]any, len(chunk))
		for i, id := range chunk {
			params[i], args[i] = d.Param(i+1), id.String()
		}
		rows, err := p.filters(ctx, " AND "+d.Quote("lid")+" IN ("+strings.Join(params, ", ")+")", args)
		if err != nil {
			return err
		}
		all = append(all, rows...)
	}
	p.series, p.lastSeries, p.lastVerdict = rankSeries(all), posts.Series{}, unknown
	return nil
}

// filters reads location, into p.stations, and returns the series of the ingest filter. condition is "", or restricts
// both to some stations.
func (p *poster) filters(ctx context.Context, condition string, args []any) (all []posts.Series, err error) {
	d := p.Dialect
	err = p.withWriteLock(func() error {
		all = all[:0]
		text := "SELECT " + d.Quote("lid") + " FROM " + d.table(locationTable+p.layout.suffix) + " WHERE " +
			d.Quote("post") + " > 0" + condition
		_, err := p.c.Direct(ctx, text, args, func(v []any) error {
			var id record.ID
			text, err := AsText(v[0], "")
			copy(id[:], text)
			p.stations[id] = true
			return err
		})
		if err != nil {
			return err
		}
		cols := filterColumns()
		text = "SELECT " + d.names(cols[:len(cols)-1]) + " FROM " + d.table(filterTable+p.layout.suffix) + " WHERE " +
			d.Quote("ingest") + " = 'T'" + condition
		_, err = p.c.Direct(ctx, text, args, func(v []any) error {
			var out posts.Value
			for i := range cols[:len(cols)-1] {
				if err := readColumn(&out, &cols[i], v[i]); err != nil {
					return err
				}
			}
			all = append(all, posts.Series{Station: out.Station, Code: out.Code, Duration: out.Duration})
			return nil
		})
		return err
	})
	return all, err
}

// allValues yields every stored value.
func (s *postStore) allValues(ctx context.Context) iter.Seq2[*posts.Value, error] {
	return func(yield func(*posts.Value, error) bool) {
		errStop, isStopped := errors.New("the caller wants no more values"), false
		err := s.withConn(ctx, func(c *PostConn) error {
			for _, t := range s.layout.tables {
				_, err := c.Direct(ctx, s.Dialect.selectAll(t), nil, func(v []any) error {
					return eachValue(t, v, func(out *posts.Value) error {
						if isStopped = !yield(out, nil); isStopped {
							return errStop
						}
						return nil
					})
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !isStopped { // if the context is canceled, err may differ from errStop
			yield(nil, err)
		}
	}
}

// eachValue passes the values of a row to f: one, or those of the slots.
func eachValue(t *PostTable, v []any, f func(*posts.Value) error) error {
	out := posts.Value{Issued: record.NoTime}
	for i := range t.Columns {
		if err := readColumn(&out, &t.Columns[i], v[i]); err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name, t.Columns[i].Name, err)
		}
	}
	if t.Slots == 0 {
		return f(&out)
	}
	midnight := out.Time
	for i, c := range t.Columns {
		if c.from != fromSlot || v[i] == nil {
			continue
		}
		value, err := AsNumber(v[i])
		if err != nil {
			return err
		}
		out.Value, out.Time = value, midnight+int64(c.slot+1)*int64(secondsPerDay/t.Slots)
		if err := f(&out); err != nil {
			return err
		}
	}
	return nil
}

// readColumn sets the member of out that a column contains. The column is no slot.
func readColumn(out *posts.Value, c *PostColumn, v any) (err error) {
	if v == nil {
		return nil
	}
	var text string
	var n int64
	var x float64
	switch c.Type {
	case PostText:
		text, err = AsText(v, "")
	case PostFloat:
		x, err = AsNumber(v)
	case PostTime:
		n, err = AsTime(v)
	case PostDate:
		if text, err = AsText(v, ""); err == nil {
			n, err = AsTime(text + " 00:00:00")
		}
	default:
		n, err = AsInteger(v)
	}
	switch c.from {
	case fromStation:
		copy(out.Station[:], text)
	case fromPE1:
		copy(out.Code[0:1], text)
	case fromPE2:
		copy(out.Code[1:2], text)
	case fromLetter:
		copy(out.Code[2:3], text)
	case fromT:
		copy(out.Code[3:4], text)
	case fromS:
		copy(out.Code[4:5], text)
	case fromE:
		copy(out.Code[5:6], text)
	case fromP:
		copy(out.Code[6:7], text)
	case fromDuration:
		out.Duration = int16(n)
	case fromTime, fromDay:
		out.Time = n
	case fromValue:
		out.Value = x
	case fromQuality:
		if text != "" {
			out.Quality = text[0]
		}
	case fromRevision:
		out.Revised = n != 0
	case fromProduct:
		out.Product = text
	case fromIssued:
		out.Issued = n
	default:
	}
	return err
}

// countValues counts the values of a station in a period.
func (s *postStore) countValues(ctx context.Context, station record.ID, from, to int64) (n int64, err error) {
	err = s.withConn(ctx, func(c *PostConn) error {
		for _, t := range s.layout.tables {
			args := []any{station.String(), string(AppendMoment(nil, from)), string(AppendMoment(nil, to))}
			if t.Slots > 0 {
				args[1], args[2] = string(AppendDate(nil, dayOf(from-1))), string(AppendDate(nil, dayOf(to-1)))
			}
			one, err := s.queryNumber(ctx, c, s.Dialect.countValues(t), args)
			if err != nil {
				return err
			}
			n += one
		}
		return nil
	})
	return n, err
}

// queryNumber returns the only value of a reply.
func (s *postStore) queryNumber(ctx context.Context, c *PostConn, text string, args []any) (n int64, err error) {
	_, err = c.Direct(ctx, text, args, func(v []any) (err error) {
		n, err = AsInteger(v[0])
		return err
	})
	return n, err
}

// countRows counts the rows of all tables of values.
func (s *postStore) countRows(ctx context.Context) (n int64, err error) {
	err = s.withConn(ctx, func(c *PostConn) error {
		for _, t := range s.layout.tables {
			one, err := s.queryNumber(ctx, c, "SELECT count(*) FROM "+s.Dialect.table(t.Name), nil)
			if err != nil {
				return err
			}
			n += one
		}
		return nil
	})
	return n, err
}

// delete removes the values observed before a time.
func (s *postStore) delete(ctx context.Context, before int64) (rows int64, err error) {
	err = s.withConn(ctx, func(c *PostConn) error {
		for _, t := range s.layout.tables {
			arg := string(AppendMoment(nil, before))
			if t.Slots > 0 {
				arg = string(AppendDate(nil, dayOf(before)))
			}
			n, err := c.Direct(ctx, s.Dialect.delete(t), []any{arg}, nil)
			if err != nil {
				return err
			}
			rows += n
		}
		return nil
	})
	return rows, err
}
