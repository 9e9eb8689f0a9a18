package own_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// faulty returns all engines, and an engine "faulty" whose results answer computes. answer may call query, which
// returns the result of a text of SQL.
func faulty(answer func(query func(text string) [][]any, text string) [][]any) engine.Registry {
	d := sqlite.Driver()
	d.Scheme = "faulty"
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		u.Scheme = "sqlite"
		return open(ctx, u, o)
	}
	d = wrapped(d, func(o *tables.Tables) {
		plain := o.Ask
		o.Ask = func(ctx context.Context, text string, f func(row []any) error) error {
			var queryErr error
			query := func(text string) (rows [][]any) {
				queryErr = plain(ctx, text, func(row []any) error { rows = append(rows, slices.Clone(row)); return nil })
				return rows
			}
			if strings.Contains(text, "count(*) FROM \"t\"") { // the load counts its rows
				return plain(ctx, text, f)
			}
			for _, row := range answer(query, text) {
				if err := f(row); err != nil {
					return err
				}
			}
			return queryErr
		}
	})
	return append(all.Registry(), d)
}

// verdicts runs questions and returns their verdicts by engine and question, and the run.
func verdicts(t *testing.T, r engine.Registry, engines []string, tables, questions string) (map[string]run.Verdict, *run.Run) {
	t.Helper()
	qs, err := own.Questions([]string{write(t, "q.sql", questions)}, own.Names(r))
	if err != nil {
		t.Fatal(err)
	}
	got, samples, err := execute(t, own.Program{Registry: r, Engines: engines, Tables: tables, Questions: qs, Reps: 1})
	if err != nil && fault.Code(err) != fault.Differs && fault.Code(err) != fault.Incomplete {
		t.Fatal(err)
	}
	out := map[string]run.Verdict{}
	for i := range samples {
		s := &samples[i]
		out[s.Cell.Engine+" "+s.Cell.Value("query")] = s.Verdict
		if s.Problem != "" {
			t.Log(s.Cell, s.Problem)
		}
		if (s.Measured() == nil) == s.Verdict.IsCorrect() {
			t.Errorf("%s is %s, timed: %v", s.Cell, s.Verdict, s.Measured() != nil)
		}
	}
	return out, got
}

// ties writes a table with values that many rows share.
func ties(t *testing.T) string {
	t.Helper()
	text := "id,v,x,name,day\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%g,n%d,2024-01-%02d\n", i, i%4, float64(i*i%17)/8, i%7, 1+i%28)
	}
	return write(t, "t.csv", text)
}

// undetermined are questions that do not determine their result.
const undetermined = `-- name: limit
SELECT id, v FROM t ORDER BY v LIMIT 7;
-- name: offset
SELECT id, v FROM t ORDER BY v LIMIT 5 OFFSET 3;
-- name: window
SELECT id, row_number() OVER (ORDER BY v) AS rn FROM t;
-- name: hidden
SELECT id FROM t ORDER BY v LIMIT 7;
-- name: nested
SELECT sum(id) AS s FROM (SELECT id FROM t ORDER BY v LIMIT 7) x;
-- name: cte
WITH x AS (SELECT id FROM t ORDER BY v LIMIT 4) SELECT count(*) AS n, max(id) AS m FROM x;
`

// determined are questions that determine their result.
const determined = `-- name: group
SELECT v, count(*) AS n, sum(x) AS s FROM t GROUP BY v ORDER BY v;
-- name: rows
SELECT id, v, x, name, day FROM t;
-- name: top
SELECT id, v FROM t ORDER BY v, id LIMIT 7;
-- name: total
SELECT sum(x - 1) AS s, avg(x) AS a, min(day) AS d FROM t;
`

// TestFaultsAreWrong: a result with one changed value or without one row is wrong, even if the question does not
// determine its result.
func TestFaultsAreWrong(t *testing.T) {
	tables, wrong, faults := ties(t), 0, 0
	checked, _, _ := strings.Cut(undetermined, "-- name: nested")
	for seed := range uint64(10) {
		for _, drop := range []bool{false, true} {
			draw := rand.New(rand.NewPCG(seed, 1))
			r := faulty(func(query func(text string) [][]any, text string) [][]any {
				rows := query(text)
				i := draw.IntN(max(len(rows), 1))
				if len(rows) == 0 {
					return nil
				}
				if drop {
					return slices.Delete(rows, i, i+1)
				}
				k := draw.IntN(len(rows[i]))
				switch v := rows[i][k].(type) {
				case int64:
					rows[i][k] = v + 1000
				case float64:
					rows[i][k] = v + 0.125
				default:
					rows[i][k] = fmt.Sprint(v, "x")
				}
				return rows
			})
			engines := []string{"faulty:" + filepath.Join(t.TempDir(), "f.db")}
			got, _ := verdicts(t, r, engines, tables, checked+determined)
			for name, v := range got {
				if faults++; v == run.Wrong {
					wrong++
				} else {
					t.Errorf("seed %d, dropped %v: %s is %s", seed, drop, name, v)
				}
			}
		}
	}
	if faults != 160 || wrong != faults {
		t.Errorf("%d of %d faults are wrong", wrong, faults)
	}
	t.Logf("%d of %d faults are wrong", wrong, faults)
}

// TestTiesAreUndetermined: an engine that returns rows that tie in another order is not wrong. The run times it, and
// records the clause that would determine the result.
func TestTiesAreUndetermined(t *testing.T) {
	enginetest.NotUnderRace(t)
	tables, accepted, permutations := ties(t), 0, 0
	for seed := range 20 {
		r := faulty(func(query func(text string) [][]any, text string) [][]any {
			return query(strings.Replace(text, "ORDER BY v", fmt.Sprintf("ORDER BY v, (id * %d + 7) %% 61", 2+seed*3), 1))
		})
		engines := []string{"faulty:" + filepath.Join(t.TempDir(), "f.db")}
		got, folder := verdicts(t, r, engines, tables, undetermined)
		for name, v := range got {
			if permutations++; v == run.Undetermined {
				accepted++
			} else {
				t.Errorf("seed %d: %s is %s", seed, name, v)
			}
		}
		for _, q := range folder.Own.Questions {
			want := map[string]string{
				"limit":  "ORDER BY v, id LIMIT 7",
				"offset": "ORDER BY v, id LIMIT 5 OFFSET 3",
				"window": "OVER (ORDER BY v, id)",
				"hidden": "ORDER BY v, id LIMIT 7",
				"nested": "ORDER BY v, id LIMIT 7",
				"cte":    "ORDER BY v, id LIMIT 4",
			}[q.Name]
			if q.Undetermined == "" || q.Fix != want {
				t.Errorf("%s: %q, %q", q.Name, q.Undetermined, q.Fix)
			}
		}
	}
	if permutations != 120 || accepted != permutations {
		t.Errorf("%d of %d permutations are undetermined", accepted, permutations)
	}
	t.Logf("%d of %d permutations are undetermined", accepted, permutations)
}

// judged are questions with the verdicts on DuckDB and SQLite, derived by hand.
var judged = []struct {
	name, sql     string
	duckdb, other run.Verdict
}{
	{"mean", "SELECT sum(x - (SELECT avg(x) FROM f)) AS s FROM f", run.Equal, run.EqualToRounding},
	{"ledger", "SELECT sum(x) AS s, avg(x) AS a FROM f", run.Equal, run.EqualToRounding},
	{"by", "SELECT k, sum(x - 0.1) AS s FROM f GROUP BY k ORDER BY k", run.Equal, run.Equal},
	{"nulls", "SELECT id, n FROM f ORDER BY n, id", run.Undetermined, run.Undetermined},
	{"nulls_last", "SELECT id, n FROM f ORDER BY n NULLS LAST, id", run.Equal, run.Equal},
	{"nulls_second", "SELECT k, n FROM f ORDER BY k NULLS LAST, n", run.Undetermined, run.Undetermined},
	{"nulls_limit", "SELECT id, n FROM f ORDER BY n, id LIMIT 2", run.Undetermined, run.Undetermined},
	{"any", "SELECT k, any_value(id) AS i FROM f GROUP BY k", run.Undetermined, run.Failed},
	{"rank", "SELECT id, rank() OVER (ORDER BY k) AS r FROM f", run.Equal, run.Equal},
	{"no_order", "SELECT id FROM f LIMIT 3", run.Undetermined, run.Undetermined},
	{"all", "SELECT id FROM f LIMIT 100", run.Equal, run.Equal},
	{"union", "SELECT k FROM f UNION ALL SELECT k FROM f ORDER BY k LIMIT 3", run.Equal, run.Equal},
	{"union_cut", "SELECT k, id FROM f UNION ALL SELECT k, id FROM f ORDER BY k LIMIT 3", run.Undetermined, run.Undetermined},
	{"text", "SELECT '1.0' AS a, '1' AS b", run.Equal, run.Equal},
	{"wrong_type", "SELECT k + 0 AS a FROM f;\n-- for: sqlite\nSELECT CAST(k AS TEXT) || '.0' AS a FROM f", run.Equal, run.Wrong},
	{"date", "SELECT day FROM f", run.Equal, run.Equal},
	{"time", "SELECT moment FROM f", run.Equal, run.Equal},
	{
		"time_is_date", "SELECT moment FROM f WHERE id = 1;\n-- for: sqlite\nSELECT date(moment) AS moment FROM f WHERE id = 1",
		run.Equal, run.Wrong,
	},
	{"cents", "SELECT max(price) AS p FROM f", run.Equal, run.Equal},
	{"off_by_cents", "SELECT max(price) AS p FROM f;\n-- for: sqlite\nSELECT max(price) - 0.34 AS p FROM f", run.Equal, run.Wrong},
	{"big", "SELECT count(DISTINCT big) AS n FROM f", run.Equal, run.Equal},
	{"lacks", "-- for: duckdb\nSELECT 1 AS a FROM f", run.Equal, run.Failed},
}

// TestVerdicts: the verdict on an engine for each question is the one derived by hand, and does not depend on the other
// engine.
func TestVerdicts(t *testing.T) {
	tables := write(t,
		"f.csv", "id,k,n,x,day,moment,price,big\n"+
			"1,1,5,0.1e0,2024-01-01,2024-01-01 00:00:00,123456789012.34,a1.0\n"+
			"2,1,,0.2e0,2024-01-02,2024-01-02 10:00:00,1.10,a1\n"+
			"3,2,7,-0.3e0,2024-01-03,2024-01-03 10:00:00.5,2.20,a\n"+
			"4,2,,0.3e0,2024-01-04,2024-01-04 00:00:00,3,A\n"+
			"5,3,1,-0.3e0,2024-01-05,2024-01-05 23:59:59,0.05,a1.0\n",
		"schema.sql", "CREATE TABLE f (x DOUBLE)")
	var texts strings.Builder
	for _, j := range judged {
		text := "-- name: " + j.name + "\n" + j.sql
		if strings.HasPrefix(j.sql, "-- for:") {
			head, rest, _ := strings.Cut(j.sql, "\n")
			text = head + "\n-- name: " + j.name + "\n" + rest
		}
		texts.WriteString(text + ";\n")
	}
	urls := inFiles(t)
	got, r := verdicts(t, all.Registry(), urls, tables, texts.String())
	for _, j := range judged {
		if d, o := got["duckdb "+j.name], got["sqlite "+j.name]; d != j.duckdb || o != j.other {
			t.Errorf("%s: duckdb %s, not %s; sqlite %s, not %s", j.name, d, j.duckdb, o, j.other)
		}
	}
	for _, q := range r.Own.Questions {
		if q.Name == "nulls" && q.Fix != "ORDER BY n NULLS LAST, id NULLS LAST" {
			t.Errorf("%+v", q)
		}
	}
	onlySQLite, _ := verdicts(t, all.Registry(), urls[1:], tables, texts.String())
	for name, v := range onlySQLite {
		if got[name] != v {
			t.Errorf("%s is %s without DuckDB, and %s with it", name, v, got[name])
		}
	}
}

// TestFailingQueries: a query that an engine cannot run, a query of a column that cannot be stored, and a query with
// too many rows fail. The run measures all other queries.
func TestFailingQueries(t *testing.T) {
	enginetest.NotUnderRace(t)
	type nested struct {
		ID   int64    `parquet:"id"`
		Tags []string `parquet:"tags,list"`
	}
	tables := write(t,
		"daily-sales.csv", "id,v\n1,2\n2,3\n",
		"empty.csv", "id,v\n",
		"none.parquet", parquetOf[sale](t),
		"nested.parquet", parquetOf(t, nested{1, []string{"a"}}))
	texts := write(t,
		"a.sql", "SELECT count(*) AS n FROM daily_sales",
		"b.sql", "SELECT wrong(id) FROM daily_sales",
		"cure.sql", "SELECT total(id) AS s FROM daily_sales",
		"cure.duckdb.sql", "SELECT CAST(sum(id) AS DOUBLE) AS s FROM daily_sales",
		"empty.sql", "SELECT count(*) AS n, max(v) AS m FROM empty",
		"none.sql", "SELECT count(*) AS n FROM none",
		"used.sql", "SELECT id FROM nested",
		"tags.sql", "SELECT tags FROM nested",
		"many.sql", "SELECT a.id FROM daily_sales a, range(1000001) r")
	qs, err := own.Questions([]string{texts}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	_, samples, err := execute(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1})
	if fault.Code(err) != fault.Incomplete {
		t.Error(err)
	}
	problems := map[string]string{}
	for i := range samples {
		s := &samples[i]
		if name := s.Cell.Value("query"); s.Verdict == run.Failed {
			problems[name] = s.Problem
		} else if !s.Verdict.IsCorrect() || name == "b" || name == "tags" || name == "many" {
			t.Errorf("%s is %s %s", s.Cell, s.Verdict, s.Problem)
		}
	}
	for name, want := range map[string]string{"b": "into b.duckdb.sql", "tags": "tags", "many": "more than 1,000,000 rows"} {
		if !strings.Contains(problems[name], want) || strings.Contains(problems[name], "\n") || strings.Contains(problems[name], "LINE") {
			t.Errorf("%s: %q", name, problems[name])
		}
	}
	if len(problems) != 3 {
		t.Error(problems)
	}
}
