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

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
)

// variants finds queries that do not determine their result. It runs them on the same files under conditions that SQL
// leaves open: with the rows in another order, and with NULL first or last. A query whose result changes does not
// determine it.
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
	names      []string // of the columns
	order      ordering
	conditions []string                         // under which it is run again
	reason     string                           // why its result may depend on them
	fix        func(ctx context.Context) string // a clause that would determine the result
}

// The conditions. Two rows that tie have opposite orders under upward and downward.
const (
	nullFirst = "NULLS_FIRST_ON_ASC_LAST_ON_DESC" // SQLite, MariaDB
	nullLast  = "NULLS_LAST_ON_ASC_FIRST_ON_DESC" // PostgreSQL
	upward    = "ASC"                             // rows in the order of a hash
	downward  = "DESC"                            // rows in the reverse order of the hash
)

// run runs the rechecks, one condition after the other, so that only one DuckDB and one copy of the rows exist.
func (v *variants) run(ctx context.Context) error {
	for _, c := range []struct{ condition, description string }{
		{nullFirst, "NULL first"},
		{nullLast, "NULL last"},
		{upward, "another order of rows"},
		{downward, "the reverse of that order"},
	} {
		var todo []recheck
		for _, x := range v.rechecks {
			if v.skipped[x.k] == nil && slices.Contains(x.conditions, c.condition) {
				todo = append(todo, x)
			}
		}
		if len(todo) == 0 {
			continue
		}
		what := "DuckDB over the files, " + c.description
		v.Progress(fmt.Sprintf("%s: %d of %s", what, len(todo), english.Plural(len(v.Questions), "query", "")))
		runAll := func(db *tables.Tables) error { return v.runAll(ctx, db, what, todo) }
		if err := v.withCondition(ctx, c.condition, what, runAll); err != nil {
			return err
		}
	}
	v.noteUncheckedColumns()
	return nil
}

// noteUncheckedColumns records which values of undetermined results are not compared.
func (v *variants) noteUncheckedColumns() {
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
}

// runAll runs queries under a condition, and records the queries whose result changes. It skips a query that fails.
func (v *variants) runAll(ctx context.Context, db *tables.Tables, what string, todo []recheck) error {
	began := time.Now()
	for n := range todo {
		v.reportCount(what, n, len(todo), began)
		x := &todo[n]
		if v.skipped[x.k] != nil { // with another set of parameter values
			continue
		}
		q, out := v.Questions[x.k], &v.folder.Run.Own.Questions[x.k]
		err := v.withProgress(what+": "+q.Name, nil, func() error {
			return v.withTimeout(ctx, q, reference, func(ctx context.Context) error {
				other, err := expectedResult(ctx, db, q.Text(reference, x.set), x.names, &x.order)
				if err != nil {
					return err
				}
				if x.expected.Allow(other.result, x.reason); x.expected.Ambiguity() == x.reason && out.Undetermined == "" {
					out.Undetermined, out.Fix = x.reason, x.fix(ctx)
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

// withCondition opens a DuckDB with a condition, calls f with it, and closes it. what describes it in reports of
// progress.
func (v *variants) withCondition(
	ctx context.Context, condition, what string, f func(db *tables.Tables) error,
) (err error) {
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
	if err := exec(ctx, own, noFileCache); err != nil {
		return err
	}
	if condition == nullFirst || condition == nullLast {
		if err := exec(ctx, own, "SET GLOBAL default_null_order = '"+condition+"'"); err != nil {
			return err
		}
	}
	for _, t := range v.tables {
		files := []string{t.Parquet}
		if condition == upward || condition == downward {
			if files, err = v.reordered(ctx, t, condition, what); err != nil {
				return err
			}
		}
		var list []string
		for _, file := range files {
			list = append(list, flavour.DuckDBFile(file))
			if file != t.Parquet {
				defer os.Remove(file) //nolint:errcheck // the folder is removed at the end of the run
			}
		}
		query := "SELECT * FROM read_parquet([" + strings.Join(list, ", ") + "])"
		if err := exec(ctx, own, "CREATE VIEW "+flavour.Ident(t.Name)+" AS "+query); err != nil {
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

// sliceBytes is the size of a slice of a file whose rows reordered sorts together. DuckDB can sort a slice in memory.
// To sort all rows of a large file at once, it would need several times the size of the file on disk.
const sliceBytes = 32 << 20

// reordered writes the rows of a table in another order: slices of the file in a random order, and in each slice the
// rows by their hash. The condition downward reverses both.
func (v *variants) reordered(ctx context.Context, t *tables.Table, condition, what string) (files []string, err error) {
	info, err := os.Stat(t.Parquet)
	if err != nil {
		return nil, err
	}
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, flavour.Ident(c.Name))
	}
	names, source := strings.Join(columns, ", "), flavour.DuckDBFile(t.Parquet)
	sliceRows, where := t.Rows, ""
	if !slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return c.Name == "file_row_number" }) {
		sliceRows = max(t.Rows/(1+info.Size()/v.sliceBytes), 1)
		source, where = source+", file_row_number = true", " WHERE file_row_number >= %d AND file_row_number < %d"
	}
	random := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // no secret
	order := random.Perm(int((t.Rows + sliceRows - 1) / max(sliceRows, 1)))
	if len(order) == 0 {
		return []string{t.Parquet}, nil
	}
	if condition == downward {
		slices.Reverse(order)
	}
	var written atomic.Int64
	done := func() (string, int64, int64) { return "", written.Load(), t.Rows }
	err = v.withProgress(what+": rows of "+t.Name, done, func() error {
		for i, k := range order {
			file, slice := filepath.Join(v.work, fmt.Sprintf("%s.%d.parquet", t.Name, i)), where
			if where != "" {
				slice = fmt.Sprintf(where, int64(k)*sliceRows, int64(k+1)*sliceRows)
			}
			files = append(files, file)
			query := "SELECT " + names + " FROM read_parquet(" + source + ")" + slice +
				" ORDER BY hash(" + names + ") " + condition
			if err := exec(ctx, v.ref, "COPY ("+query+") TO "+flavour.Quote(file)+parquet); err != nil {
				return err
			}
			written.Add(sliceRows)
		}
		return nil
	})
	return files, err
}

// expect runs a query on the files with DuckDB, and schedules rechecks under the conditions on which its result may
// depend. It records in out the order by which rows are compared, and rows that tie at the limit.
func (v *variants) expect(ctx context.Context, k, set int, out *run.OwnQuestion) (*answer.Expected, error) {
	text := v.Questions[k].Text(reference, set)
	var names []string
	err := v.ref.Ask(ctx, "DESCRIBE "+text, func(row []any) error {
		names = append(names, fmt.Sprint(row[0]))
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.names[k] = names
	order := orderingOf(text)
	x, err := expectedResult(ctx, v.ref, text, names, &order)
	if err != nil {
		return nil, err
	}
	e := x.result
	out.OrderRule = order.comparison(x.by, x.hidden)
	if n, column := e.LimitTies(); n > 0 && out.Undetermined == "" {
		out.Undetermined = run.CountOf(n, "row") + " tie at the limit"
		out.Fix = order.withMoreTerms(text, names, x.by, column)
	}
	check := func(reason string, fix func(ctx context.Context) string, conditions ...string) {
		v.rechecks = append(v.rechecks, recheck{k, set, e, names, order, conditions, reason, fix})
	}
	fixed := func(text string) func(context.Context) string { return func(context.Context) string { return text } }
	all := tokens(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(all, func(t token) bool { return slices.ContainsFunc(words, t.is) })
	}
	inner := slices.ContainsFunc(all, func(t token) bool { return t.depth > 0 && t.is("order") })
	if lacksNulls(all) && (inner || order.limit >= 0 || e.HasNull()) {
		terms := slices.Clone(order.terms)
		for i, term := range terms {
			words := tokens("ORDER BY " + term)
			if end := words[len(words)-1]; lacksNulls(words) && !end.is("first") && !end.is("last") {
				terms[i] += " NULLS LAST"
			}
		}
		fix := "ORDER BY " + strings.Join(terms, ", ")
		if slices.Equal(terms, order.terms) {
			fix = "NULLS LAST behind each column of ORDER BY"
		}
		const reason = "ORDER BY does not specify NULLS FIRST or NULLS LAST, and engines differ"
		check(reason, fixed(fix), nullFirst, nullLast)
	}
	if clause := orderDependence(text); clause != "" {
		fix := func(ctx context.Context) string { return v.withUniqueOrder(ctx, clause, all) }
		check("rows tie in "+clause, fix, upward, downward)
	} else if e.HasFloats() && !x.scaled && has(floatSums...) {
		const reason = "terms of a floating-point sum cancel, and the remainder is rounding"
		check(reason, fixed("round(…, 6) around the sum, or CAST(… AS DECIMAL(38, 10)) within it"), upward, downward)
	}
	return e, nil
}

// floatSums are functions that sum floating-point numbers, so their rounding depends on the order of the rows.
var floatSums = []string{ //nolint:gochecknoglobals // a constant table
	"sum", "avg", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "corr", "covar_pop", "covar_samp",
}

// withMoreTerms returns the end of a query with an order in which no rows tie at the limit. names are the columns of
// the query, and by the indexes of those in its order. The new order has the additional term column, or if column is
// negative, all other columns.
func (o *ordering) withMoreTerms(text string, names []string, by []int, column int) string {
	terms := slices.Clone(o.terms)
	for k, name := range names {
		if (column < 0 || k == column) && !slices.Contains(by, slices.Index(names, name)) {
			terms = append(terms, name)
		}
	}
	return strings.TrimRight("ORDER BY "+strings.Join(terms, ", ")+" "+strings.TrimSpace(text[o.end:]), " ")
}

// spareRows is the number of rows after the limit that expectedResult requests first, to find rows that tie with the
// last one. More rows rarely tie, and with a limit DuckDB need not sort all rows.
const spareRows = 1000

// withSpareRows adds a limit to a query without its limit: up to the last row of the original result, plus the spare
// rows.
func withSpareRows(unlimited string, order *ordering) string {
	if order.limit < 0 {
		return unlimited
	}
	return fmt.Sprintf("%s\nLIMIT %d", unlimited, order.limit+order.offset+spareRows)
}

// expectation is the result of a query on the files.
type expectation struct {
	result *answer.Expected
	by     []int    // the indexes of the columns by which the study compares the order of the rows
	hidden []string // terms of the order that are not columns of the result
	scaled bool     // it has the magnitudes of the terms of sums
}

// expectedResult runs a query with DuckDB. If possible, it also reads rows after the limit, the hidden terms of the
// order, and the magnitudes of the terms of sums. names are the columns of the result.
func expectedResult(
	ctx context.Context, db *tables.Tables, text string, names []string, order *ordering,
) (expectation, error) {
	by, hidden := order.columns(names)
	shape := answer.Shape{Width: len(names), By: by, Offset: order.offset, Limit: order.limit}
	var enough func(l *answer.Loose) bool
	if order.limit >= 0 {
		enough = func(l *answer.Loose) bool { return l.PastTies(order.offset+order.limit, by) }
	}
	for _, withSums := range []bool{true, false} { // DuckDB may refuse a magnitude
		unlimited, scales, ok := withoutLimit(text, order, hidden, withSums)
		if !ok || order.unknown || !withSums && len(shape.Scales) == 0 {
			break
		}
		shape.Scales = map[int]int{}
		for i, k := range scales {
			shape.Scales[k] = len(names) + len(hidden) + i
		}
		l, err := rows(ctx, db, withSpareRows(unlimited, order), nil, enough)
		allSpareRows := order.limit + order.offset + spareRows
		if err == nil && enough != nil && l.Len() == allSpareRows { // all spare rows tie
			l, err = rows(ctx, db, unlimited, nil, enough)
		}
		if err == nil {
			return expectation{answer.Expect(l, shape), by, hidden, len(scales) > 0}, nil
		}
		if ctx.Err() != nil {
			return expectation{}, ctx.Err()
		}
	}
	shape.Scales = nil
	if len(hidden) > 0 {
		// The order is compared by its terms before the first hidden one. The limit depends on the hidden term.
		by, hidden = by[:slices.IndexFunc(by, func(k int) bool { return k >= len(names) })], nil
		shape.By, shape.Limit, shape.Offset, enough = by, -1, 0, nil
	} else if !order.unknown && order.limit+order.offset > 0 {
		text = text[:order.end]
	} else {
		shape.Limit, shape.Offset, enough = -1, 0, nil
	}
	l, err := rows(ctx, db, text, nil, enough)
	return expectation{answer.Expect(l, shape), by, hidden, false}, err
}

// afterOrder are words after the terms of an ORDER BY.
var afterOrder = []string{ //nolint:gochecknoglobals // a constant table
	"limit", "offset", "fetch", "rows", "range", "groups",
}

// withUniqueOrder adds columns to the order of a clause of a query, so no rows tie in it. The columns identify the rows
// of the first table that the query names.
func (v *variants) withUniqueOrder(ctx context.Context, clause string, query []token) string {
	var key string
	isNamed := func(t *tables.Table) bool {
		return slices.ContainsFunc(query, func(w token) bool { return strings.EqualFold(strings.Trim(w.text, `"`), t.Name) })
	}
	if i := slices.IndexFunc(v.tables, isNamed); i >= 0 {
		key = v.uniqueColumns(ctx, v.tables[i])
	}
	words := tokens(clause)
	k := slices.IndexFunc(words, func(t token) bool { return t.is("order") })
	if k < 0 {
		return "ORDER BY " + key + " within " + clause
	}
	end := k
	for end < len(words) && words[end].depth >= words[k].depth && !slices.ContainsFunc(afterOrder, words[end].is) {
		end++
	}
	at := len(clause)
	if end < len(words) {
		at = words[end-1].at + len(words[end-1].text)
	}
	return clause[:at] + ", " + key + clause[at:]
}

// uniqueColumns returns a column that identifies the rows of a table, or all columns if there is no such column.
func (v *variants) uniqueColumns(ctx context.Context, t *tables.Table) string {
	if v.unique[t.Name] != "" {
		return v.unique[t.Name]
	}
	var all []string
	for _, c := range t.Columns {
		unique := false
		query := "SELECT count(*) = count(DISTINCT " + flavour.Ident(c.Name) + ") FROM " + flavour.Ident(t.Name)
		err := v.ref.Ask(ctx, query, func(row []any) error {
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
