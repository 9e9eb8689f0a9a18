package own

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
)

// variants runs queries on the same files under conditions that SQL leaves open: with the rows in
// another order, and with NULL first or last. If the result changes, the query does not determine it.
type variants struct {
	*runner
	open map[string]*tables.Tables
	dbs  []*engine.Engine

	names []string // of the columns of the last result
}

func (v *variants) close() (err error) {
	for _, own := range v.open {
		err = errors.Join(err, own.Close())
	}
	for _, db := range v.dbs {
		err = errors.Join(err, db.Close())
	}
	return err
}

// The conditions. Two rows that tie have opposite orders in upward and downward.
const (
	upward    = ""                                // rows in the order of a hash
	downward  = "DESC"                            // rows in the reverse order of the hash
	nullFirst = "NULLS_FIRST_ON_ASC_LAST_ON_DESC" // SQLite, MariaDB
	nullLast  = "NULLS_LAST_ON_ASC_FIRST_ON_DESC" // PostgreSQL
)

// database opens a DuckDB with a condition.
func (v *variants) database(ctx context.Context, how string) (*tables.Tables, error) {
	if own := v.open[how]; own != nil {
		return own, nil
	}
	db, err := v.Registry.Open(ctx, v.overFiles(), engine.Options{Log: v.Log, Threads: v.Threads})
	if err != nil {
		return nil, err
	}
	v.dbs = append(v.dbs, db)
	own, err := tables.DatabasesOf(db).Own(ctx, false)
	if err != nil {
		return nil, err
	}
	if v.open == nil {
		v.open = map[string]*tables.Tables{}
	}
	v.open[how] = own
	if err := exec(ctx, own, uncached); err != nil {
		return nil, err
	}
	if how == nullFirst || how == nullLast {
		if err := exec(ctx, own, "SET GLOBAL default_null_order = '"+how+"'"); err != nil {
			return nil, err
		}
	}
	for _, t := range v.tables {
		file := t.Parquet
		if how == upward || how == downward {
			var columns []string
			for _, c := range t.Columns {
				columns = append(columns, flavour.Ident(c.Name))
			}
			file = filepath.Join(v.work, t.Name+".hash"+how+".parquet")
			if err := exec(ctx, v.ref, "COPY (SELECT * FROM read_parquet("+flavour.Quote(t.Parquet)+") ORDER BY hash("+strings.Join(columns, ", ")+") "+how+") TO "+flavour.Quote(file)+" (FORMAT parquet)"); err != nil {
				return nil, err
			}
		}
		if err := exec(ctx, own, "CREATE VIEW "+flavour.Ident(t.Name)+" AS SELECT * FROM read_parquet("+flavour.Quote(file)+")"); err != nil {
			return nil, err
		}
	}
	if own.Confine != nil {
		if err := own.Confine(ctx, v.work); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// expect runs a query on the files with DuckDB, and finds out whether the query determines its
// result. It records that in out.
func (v *variants) expect(ctx context.Context, q *Question, set int, out *run.OwnQuestion) (*answer.Expected, error) {
	text := q.Text(reference, set)
	var names []string
	if err := v.ref.Ask(ctx, "DESCRIBE "+text, func(row []any) error { names = append(names, fmt.Sprint(row[0])); return nil }); err != nil {
		return nil, err
	}
	v.names = names
	order := orderingOf(text)
	e, by, hidden, scaled, err := answerOver(ctx, v.ref, text, names, &order)
	if err != nil {
		return nil, err
	}
	out.OrderRule = order.words(by, hidden)
	allow := func(why, cure string, circumstances ...string) error {
		for _, how := range circumstances {
			db, err := v.database(ctx, how)
			if err != nil {
				return err
			}
			other, _, _, _, err := answerOver(ctx, db, text, names, &order)
			if err != nil {
				return err
			}
			if e.Allow(other, why); e.Ambiguity() == why && out.Undetermined == "" {
				out.Undetermined, out.Fix = why, cure
			}
		}
		return nil
	}
	if n, column := e.LimitTies(); n > 0 && out.Undetermined == "" {
		out.Undetermined = run.CountOf(n, "row") + " tie at the limit"
		more := names
		if column >= 0 {
			more = names[column : column+1]
		}
		more = slices.DeleteFunc(slices.Clone(more), func(name string) bool { return slices.Contains(by, slices.Index(names, name)) })
		out.Fix = "ORDER BY " + strings.Join(append(slices.Clone(order.terms), more...), ", ") + strings.TrimRight(" "+strings.TrimSpace(text[order.end:]), " ")
	}
	all := tokens(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(all, func(t token) bool { return slices.ContainsFunc(words, t.is) })
	}
	inner := slices.ContainsFunc(all, func(t token) bool { return t.depth > 0 && t.is("order") })
	if has("order") && !has("nulls") && (inner || order.limit >= 0 || e.HasNull()) {
		var terms []string
		for _, term := range order.terms {
			terms = append(terms, term+" NULLS LAST")
		}
		cure := "ORDER BY " + strings.Join(terms, ", ")
		if len(terms) == 0 {
			cure = "NULLS LAST behind each column of ORDER BY"
		}
		if err := allow("ORDER BY does not specify NULLS FIRST or NULLS LAST, and engines differ", cure, nullFirst, nullLast); err != nil {
			return nil, err
		}
	}
	if clause := orderDependence(text); clause != "" {
		err = allow("rows tie in "+clause, v.withUniqueOrder(ctx, clause, all), upward, downward)
	} else if e.HasFloats() && !scaled && has("sum", "avg", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "corr", "covar_pop", "covar_samp") {
		err = allow("terms of a floating-point sum cancel, and the remainder is rounding", "round(…, 6) around the sum, or CAST(… AS DECIMAL(38, 10)) within it", upward, downward)
	}
	if err != nil {
		return nil, err
	}
	for _, k := range e.UncheckedColumns() {
		if note := "; a value of " + names[k] + " is not compared if it is in none of the results found"; !strings.Contains(out.Undetermined, note) {
			out.Undetermined += note
		}
	}
	return e, nil
}

// spareRows is the number of rows after the limit that answerOver requests first, to find rows that tie with the
// last one. More rows rarely tie, and with a limit DuckDB need not sort all rows.
const spareRows = 1000

func withSpare(unlimited string, order *ordering) string {
	if order.limit < 0 {
		return unlimited
	}
	return fmt.Sprintf("%s\nLIMIT %d", unlimited, order.limit+order.offset+spareRows)
}

// answerOver runs a query with DuckDB. If possible, it also reads rows after the limit, the hidden terms of the
// order, and the magnitude of the terms of sums (scaled = it has these). by are the columns by which the order is
// compared.
func answerOver(ctx context.Context, db *tables.Tables, text string, names []string, order *ordering) (e *answer.Expected, by []int, hidden []string, scaled bool, err error) {
	by, hidden = order.columns(names)
	shape := answer.Shape{Width: len(names), By: by, Offset: order.offset, Limit: order.limit, Scales: map[int]int{}}
	var enough func(l *answer.Loose) bool
	if order.limit >= 0 {
		enough = func(l *answer.Loose) bool { return l.PastTies(order.offset+order.limit, by) }
	}
	if unlimited, scales, ok := withoutLimit(text, order, hidden); ok && !order.unknown {
		for i, k := range scales {
			shape.Scales[k] = len(names) + len(hidden) + i
		}
		l, err := rows(ctx, db, withSpare(unlimited, order), nil, enough)
		if n := order.limit + order.offset; err == nil && enough != nil && l.Len() == n+spareRows { // all spare rows tie
			l, err = rows(ctx, db, unlimited, nil, enough)
		}
		if err == nil {
			return answer.Expect(l, shape), by, hidden, len(scales) > 0, nil
		}
		if ctx.Err() != nil {
			return nil, nil, nil, false, ctx.Err()
		}
	}
	shape.Scales = nil
	if len(hidden) > 0 { // the order is compared by its terms before the first hidden one
		by, hidden = by[:slices.IndexFunc(by, func(k int) bool { return k >= len(names) })], nil
		shape.By, shape.Limit, shape.Offset, enough = by, -1, 0, nil // the limit depends on a hidden term of the order
	} else if !order.unknown && order.limit+order.offset > 0 {
		text = text[:order.end]
	} else {
		shape.Limit, shape.Offset, enough = -1, 0, nil
	}
	l, err := rows(ctx, db, text, nil, enough)
	return answer.Expect(l, shape), by, hidden, false, err
}

// withUniqueOrder adds columns to the order of a clause, so that no rows tie.
func (v *variants) withUniqueOrder(ctx context.Context, clause string, question []token) string {
	var key string
	for _, t := range v.tables {
		if !slices.ContainsFunc(question, func(w token) bool { return strings.EqualFold(strings.Trim(w.text, `"`), t.Name) }) || key != "" {
			continue
		}
		var all []string
		for _, c := range t.Columns {
			unique := false
			err := v.ref.Ask(ctx, "SELECT count(*) = count(DISTINCT "+flavour.Ident(c.Name)+") FROM "+flavour.Ident(t.Name), func(row []any) error {
				unique, _ = row[0].(bool)
				return nil
			})
			if all = append(all, c.Name); err == nil && unique {
				all = []string{c.Name}
				break
			}
		}
		key = strings.Join(all, ", ")
	}
	words := tokens(clause)
	k := slices.IndexFunc(words, func(t token) bool { return t.is("order") })
	if k < 0 {
		return "ORDER BY " + key + " within " + clause
	}
	end := k
	for end < len(words) && words[end].depth >= words[k].depth && !slices.ContainsFunc([]string{"limit", "offset", "fetch", "rows", "range", "groups"}, words[end].is) {
		end++
	}
	at := len(clause)
	if end < len(words) {
		at = words[end-1].at + len(words[end-1].text)
	}
	return clause[:at] + ", " + key + clause[at:]
}
