package own

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

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
	rechecks   []recheck
	unique     map[string]string // by table: the columns that identify a row
	sliceBytes int64
}

// recheck is a query whose result may depend on a condition.
type recheck struct {
	k, set     int // question and set of parameter values
	expected   *answer.Expected
	names      []string
	order      ordering
	conditions []string
	why        string
	cure       func(ctx context.Context) string
}

// The conditions. Two rows that tie have opposite orders in upward and downward.
const (
	nullFirst = "NULLS_FIRST_ON_ASC_LAST_ON_DESC" // SQLite, MariaDB
	nullLast  = "NULLS_LAST_ON_ASC_FIRST_ON_DESC" // PostgreSQL
	upward    = "ASC"                             // rows in the order of a hash
	downward  = "DESC"                            // rows in the reverse order of the hash
)

// run runs the rechecks, one condition after the other, so that only one DuckDB and one copy of the rows exist.
func (v *variants) run(ctx context.Context) error {
	for _, c := range []struct{ how, words string }{
		{nullFirst, "NULL first"}, {nullLast, "NULL last"}, {upward, "another order of rows"}, {downward, "the reverse of that order"},
	} {
		todo := slices.DeleteFunc(slices.Clone(v.rechecks), func(x recheck) bool { return v.skipped[x.k] != nil || !slices.Contains(x.conditions, c.how) })
		if len(todo) == 0 {
			continue
		}
		what := "DuckDB over the files, " + c.words
		v.Progress(fmt.Sprintf("%s: %d of %d queries", what, len(todo), len(v.Questions)))
		if err := v.withCondition(ctx, c.how, what, func(db *tables.Tables) error { return v.recheck(ctx, db, what, todo) }); err != nil {
			return err
		}
	}
	for k := range v.Questions {
		for _, e := range v.want[k] {
			out := &v.folder.Run.Own.Questions[k]
			for _, column := range e.UncheckedColumns() {
				note := "; a value of " + v.names[k][column] + " is not compared if it is in none of the results found"
				if !strings.Contains(out.Undetermined, note) {
					out.Undetermined += note
				}
			}
		}
	}
	return nil
}

// recheck runs queries under a condition. A query that fails is skipped.
func (v *variants) recheck(ctx context.Context, db *tables.Tables, what string, todo []recheck) error {
	began := time.Now()
	for n := range todo {
		v.progress(what, n, len(todo), began)
		x := &todo[n]
		if v.skipped[x.k] != nil { // with another set of parameter values
			continue
		}
		q, out := v.Questions[x.k], &v.folder.Run.Own.Questions[x.k]
		err := v.reporting(what+": "+q.Name, nil, func() error {
			return v.limited(ctx, q, reference, func(ctx context.Context) error {
				other, _, _, _, err := answerOver(ctx, db, q.Text(reference, x.set), x.names, &x.order)
				if err != nil {
					return err
				}
				if x.expected.Allow(other, x.why); x.expected.Ambiguity() == x.why && out.Undetermined == "" {
					out.Undetermined, out.Fix = x.why, x.cure(ctx)
				}
				return nil
			})
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			v.skip(x.k, err)
		}
	}
	return nil
}

// withCondition opens a DuckDB with a condition, and closes it after f.
func (v *variants) withCondition(ctx context.Context, how, what string, f func(db *tables.Tables) error) (err error) {
	db, err := v.Registry.Open(ctx, v.overFiles(), engine.Options{Log: v.Log, Threads: v.Threads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	own, err := tables.DatabasesOf(db).Own(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	if err := exec(ctx, own, uncached); err != nil {
		return err
	}
	if how == nullFirst || how == nullLast {
		if err := exec(ctx, own, "SET GLOBAL default_null_order = '"+how+"'"); err != nil {
			return err
		}
	}
	for _, t := range v.tables {
		files := []string{t.Parquet}
		if how == upward || how == downward {
			if files, err = v.reordered(ctx, t, how, what); err != nil {
				return err
			}
		}
		var list []string
		for _, file := range files {
			list = append(list, flavour.Quote(file))
			if file != t.Parquet {
				defer os.Remove(file) //nolint:errcheck // the folder is removed at the end of the run
			}
		}
		if err := exec(ctx, own, "CREATE VIEW "+flavour.Ident(t.Name)+" AS SELECT * FROM read_parquet(["+strings.Join(list, ", ")+"])"); err != nil {
			return err
		}
	}
	if own.Confine != nil {
		if err := own.Confine(ctx, v.work); err != nil {
			return err
		}
	}
	return f(own)
}

// sliceBytes is the size of a slice of a file whose rows reordered sorts together. DuckDB can sort it in memory; all
// rows of a large file would need several times its size on disk.
const sliceBytes = 32 << 20

// reordered writes the rows of a table in another order: slices of the file in a random order, and in each the rows by
// their hash. Downward reverses both.
func (v *variants) reordered(ctx context.Context, t *tables.Table, how, what string) (files []string, err error) {
	info, err := os.Stat(t.Parquet)
	if err != nil {
		return nil, err
	}
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, flavour.Ident(c.Name))
	}
	names, slice, from, where := strings.Join(columns, ", "), t.Rows, "read_parquet("+flavour.Quote(t.Parquet)+")", ""
	if !slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return c.Name == "file_row_number" }) {
		slice = max(t.Rows/(1+info.Size()/v.sliceBytes), 1)
		from, where = "read_parquet("+flavour.Quote(t.Parquet)+", file_row_number = true)", " WHERE file_row_number >= %d AND file_row_number < %d"
	}
	order := rand.New(rand.NewPCG(1, 0)).Perm(int((t.Rows + slice - 1) / max(slice, 1))) //nolint:gosec // no secret
	if len(order) == 0 {
		return []string{t.Parquet}, nil
	}
	if how == downward {
		slices.Reverse(order)
	}
	var n atomic.Int64
	err = v.reporting(what+": rows of "+t.Name, func() (string, int64, int64) { return "", n.Load(), t.Rows }, func() error {
		for i, k := range order {
			file, only := filepath.Join(v.work, fmt.Sprintf("%s.%d.parquet", t.Name, i)), where
			if where != "" {
				only = fmt.Sprintf(where, int64(k)*slice, int64(k+1)*slice)
			}
			files = append(files, file)
			if err := exec(ctx, v.ref, "COPY (SELECT "+names+" FROM "+from+only+" ORDER BY hash("+names+") "+how+") TO "+flavour.Quote(file)+parquet); err != nil {
				return err
			}
			n.Add(slice)
		}
		return nil
	})
	return files, err
}

// expect runs a query on the files with DuckDB, and finds out on which conditions its result may depend. It records
// in out what it finds out without them.
func (v *variants) expect(ctx context.Context, k, set int, out *run.OwnQuestion) (*answer.Expected, error) {
	text := v.Questions[k].Text(reference, set)
	var names []string
	if err := v.ref.Ask(ctx, "DESCRIBE "+text, func(row []any) error { names = append(names, fmt.Sprint(row[0])); return nil }); err != nil {
		return nil, err
	}
	v.names[k] = names
	order := orderingOf(text)
	e, by, hidden, scaled, err := answerOver(ctx, v.ref, text, names, &order)
	if err != nil {
		return nil, err
	}
	out.OrderRule = order.words(by, hidden)
	check := func(why string, cure func(ctx context.Context) string, conditions ...string) {
		v.rechecks = append(v.rechecks, recheck{k, set, e, names, order, conditions, why, cure})
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
		check("ORDER BY does not specify NULLS FIRST or NULLS LAST, and engines differ", func(context.Context) string { return cure }, nullFirst, nullLast)
	}
	if clause := orderDependence(text); clause != "" {
		check("rows tie in "+clause, func(ctx context.Context) string { return v.withUniqueOrder(ctx, clause, all) }, upward, downward)
	} else if e.HasFloats() && !scaled && has("sum", "avg", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "corr", "covar_pop", "covar_samp") {
		cure := "round(…, 6) around the sum, or CAST(… AS DECIMAL(38, 10)) within it"
		check("terms of a floating-point sum cancel, and the remainder is rounding", func(context.Context) string { return cure }, upward, downward)
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
	if i := slices.IndexFunc(v.tables, func(t *tables.Table) bool {
		return slices.ContainsFunc(question, func(w token) bool { return strings.EqualFold(strings.Trim(w.text, `"`), t.Name) })
	}); i >= 0 {
		key = v.uniqueColumns(ctx, v.tables[i])
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

// uniqueColumns returns a column that identifies the rows of a table, or else all columns.
func (v *variants) uniqueColumns(ctx context.Context, t *tables.Table) string {
	if v.unique[t.Name] != "" {
		return v.unique[t.Name]
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
	v.unique[t.Name] = strings.Join(all, ", ")
	return v.unique[t.Name]
}
