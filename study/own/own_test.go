package own_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
	"github.com/barograph/barograph/study/synth/tpcds"
)

// write writes files into a new folder and returns its path. all are the names of the files, each followed by its text.
func write(t *testing.T, all ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(all); i += 2 {
		path := filepath.Join(dir, all[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(all[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// execute runs a program and returns the contents of its run folder, and the error of the program.
func execute(t *testing.T, p own.Program) (*run.Run, []run.Sample, error) {
	t.Helper()
	if p.Progress, p.Seed = func(string) {}, 1; p.Registry == nil {
		p.Registry = all.Registry()
	}
	f, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{Workload: run.OwnWorkload, Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	failed := own.Run(t.Context(), p, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, samples, err := run.Read(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, samples, failed
}

// inFiles returns URLs of the embedded engines that need no download, for databases in new files.
func inFiles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	return []string{"duckdb:" + filepath.Join(dir, "d.db"), "sqlite:" + filepath.Join(dir, "s.db")}
}

// TestOwn: two engines agree on queries of CSV files with all kinds of values, one at a time and in streams.
func TestOwn(t *testing.T) {
	tables := write(t,
		"sales.csv", "Id,Day,At,Price,Weight,Paid,Note\n"+
			"1,2024-07-01,2024-07-01 10:00:00,1.50,0.1,true,\"a, \"\"b\"\"\"\n"+
			"2,2024-07-01,2024-07-01 11:30:00.25,2.25,0.2,false,\n"+
			"3,2024-07-02,,,,,\"tab\there \\N\"\n",
		"regions/a.csv", "id,name\n1,Nord\n",
		"regions/b.csv", "id,name\n3,Süd\n",
		"readme.txt", "no table")
	questions := write(t, "day.sql", "SELECT day, count(*) AS n, sum(price) AS paid, avg(weight) AS w FROM sales GROUP BY day ORDER BY day",
		"rows.sql", "SELECT * FROM sales",
		"join.sql", "-- param from: 0 | 1 | 2\nSELECT name, note FROM sales s JOIN regions r ON s.id = r.id WHERE s.id > ${from}")
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, err := execute(t, own.Program{
		Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 3, Streams: []int{1, 3},
		Duration: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	timed, streams := 0, 0
	for _, s := range samples {
		switch {
		case s.Verdict == run.EqualToRounding && s.Cell.Value("query") == "day" && s.Cell.Engine == "sqlite":
			timed++ // SQLite's decimals are floating-point numbers
		case s.Verdict != run.Equal || s.Proof != answer.Agreed:
			t.Errorf("%s: %s, %s %s", s.Cell, s.Verdict, s.Proof, s.Problem)
		case s.Measured().Mix != nil:
			streams++
		default:
			timed++
		}
	}
	if timed != 2*3*3 || streams != 2*2 {
		t.Errorf("%d answers, %d streams", timed, streams)
	}
	o := r.Own
	if len(o.Tables) != 2 {
		t.Fatalf("%+v", o)
	}
	if r := o.Tables[0]; r.Name != "regions" || r.Rows != 2 || len(r.Files) != 2 {
		t.Errorf("%+v", r)
	}
	if s := o.Tables[1]; !slices.Contains(s.Columns, "price (decimal(3, 2))") {
		t.Errorf("%+v", s)
	}
	if o.Questions[0].OrderRule != "the order" || o.Questions[1].ParameterSets != 3 {
		t.Errorf("%+v", o.Questions)
	}
	if o.Questions[2].ComparedWith["duckdb"] != "sqlite" || o.Questions[2].ComparedWith["sqlite"] != "DuckDB over the files" {
		t.Errorf("%+v", o.Questions[2].ComparedWith)
	}
}

// TestOwnDisagrees: the run does not time an engine whose result differs from the reference, or that cannot run the
// query. DuckDB's verdict does not depend on the other engine.
func TestOwnDisagrees(t *testing.T) {
	tables := write(t, "t.csv", "a,b\n1,2\n3,4\n")
	questions := write(t,
		"wrong.sql", "SELECT sum(a) AS s FROM t", "wrong.sqlite.sql", "SELECT sum(b) AS s FROM t",
		"fails.sql", "SELECT sum(a) AS s FROM t", "fails.sqlite.sql", "SELECT sum(c) AS s FROM t",
		"equal.sql", "SELECT a / b AS q FROM t", "equal.sqlite.sql", "SELECT 1.0 * a / b AS q FROM t")
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, err := execute(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1})
	for _, q := range r.Own.Questions {
		if want := map[string]string{"equal": "sqlite"}[q.Name]; q.ComparedWith["duckdb"] != cmp.Or(want, run.Unconfirmed) {
			t.Errorf("%s: %v", q.Name, q.ComparedWith)
		}
	}
	if status, ok := errors.AsType[*fault.Status](err); !ok || status.Code != fault.Differs {
		t.Errorf("the run ended with %v", err)
	}
	problems := map[string]string{
		"sqlite wrong": "1 row has different values",
		"sqlite fails": "fails.sqlite.sql:1: sqlite cannot run fails: no such column: c",
		"sqlite equal": "", "duckdb wrong": "", "duckdb fails": "", "duckdb equal": "",
	}
	for _, s := range samples {
		key := s.Cell.Engine + " " + s.Cell.Value("query")
		if want := problems[key]; (want == "") != (s.Measured() != nil) || !strings.Contains(s.Problem, want) {
			t.Errorf("%s: %s %s", key, s.Verdict, s.Problem)
		}
		delete(problems, key)
	}
	if len(problems) > 0 {
		t.Errorf("no samples of %v", problems)
	}
}

// TestOwnNotFinite: engines agree on a table whose name is a word of SQL and whose numbers are infinite. An engine that
// cannot store NaN omits the table, with a problem that names the table and the column.
func TestOwnNotFinite(t *testing.T) {
	for _, c := range []struct{ value, problem string }{
		{"inf", ""},
		{"-inf", ""},
		{"nan", "table order: column v contains NaN, which SQLite converts to NULL"},
	} {
		qs, err := own.Questions([]string{write(t, "all.sql", `SELECT id, v FROM "order"`)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, samples, err := execute(t, own.Program{
			Engines: inFiles(t), Tables: write(t, "order.csv", "id,v\n1,0.5\n2,"+c.value+"\n"), Questions: qs,
			Reps: 1,
		})
		if (err == nil) != (c.problem == "") || len(samples) != 2 {
			t.Fatalf("%s: %v, %d samples", c.value, err, len(samples))
		}
		for i := range samples {
			s := &samples[i]
			hasProblem := s.Measured() == nil && strings.Contains(s.Problem, c.problem)
			if s.Cell.Engine == "sqlite" && hasProblem != (c.problem != "") {
				t.Errorf("%s: %s %s", c.value, s.Verdict, s.Problem)
			}
		}
		if c.problem == "" {
			continue
		}
		warning := "sqlite lacks table order: " + strings.TrimPrefix(c.problem, "table order: ")
		if warnings := strings.Join(r.Warnings, " "); !strings.Contains(warnings, warning) {
			t.Errorf("%s: the warnings are %q", c.value, warnings)
		}
		if r.Archives[2].Complete || !r.Archives[1].Complete {
			t.Errorf("%s: %+v", c.value, r.Archives)
		}
	}
}

// TestOwnServerFailure: if a server fails while the run times it, or before its streams, the run has no more times of
// this server. It measures the other engines to the end.
func TestOwnServerFailure(t *testing.T) {
	const proofs = 1 + 1 // the count of the loaded rows, and the proven query
	for _, lifetime := range []int64{proofs, proofs + 1, proofs + 2} {
		var queries atomic.Int64
		failure := func() error {
			if queries.Load() > lifetime {
				return engine.UnreachableError("mortal", errors.New("connection refused"), "start it")
			}
			return nil
		}
		mortal := sqlite.Driver()
		mortal.Scheme = "mortal"
		open := mortal.Open
		mortal.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
			u.Scheme = "sqlite"
			return open(ctx, u, o)
		}
		mortal = wrapped(mortal, func(o *tables.Tables) {
			ask := o.Ask
			o.Ask = func(ctx context.Context, text string, f func(row []any) error) error {
				queries.Add(1)
				if err := failure(); err != nil {
					return err
				}
				return ask(ctx, text, f)
			}
			o.Spent = func(context.Context) (engine.ServerUsage, error) { return engine.ServerUsage{}, failure() }
		})
		qs, err := own.Questions([]string{write(t, "q.sql", "SELECT a FROM t")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, samples, err := execute(t, own.Program{
			Registry:  append(all.Registry(), mortal),
			Engines:   append(inFiles(t), "mortal:"+filepath.Join(t.TempDir(), "m.db")),
			Tables:    write(t, "t.csv", "a\n1\n"),
			Questions: qs, Reps: 2, Streams: []int{1}, Duration: 500 * time.Millisecond,
		})
		if fault.Code(err) != fault.Incomplete {
			t.Errorf("after %d queries: %v", lifetime, err)
		}
		seen := map[string]int{}
		for i := range samples {
			switch s := &samples[i]; {
			case s.Cell.Engine != "mortal" && s.Verdict == run.Equal && s.Measured() != nil:
				seen[s.Cell.Engine]++
			case s.Cell.Engine == "mortal" && s.Verdict == run.Failed && s.Measured() == nil:
				seen["failed"]++
			case s.Cell.Engine != "mortal":
				t.Errorf("after %d queries, %s: %s %s", lifetime, s.Cell, s.Verdict, s.Problem)
			}
		}
		if seen["duckdb"] != 3 || seen["sqlite"] != 3 || seen["failed"] == 0 {
			t.Errorf("after %d queries: %v of %d samples", lifetime, seen, len(samples))
		}
	}
}

// nanoseconds returns a Parquet file with a time that is ns nanoseconds after the start of 1970.
func nanoseconds(t *testing.T, ns int64) string {
	t.Helper()
	type row struct {
		A  int64 `parquet:"a"`
		At int64 `parquet:"at,timestamp(nanosecond:local)"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{1, ns}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOwnRefuses: the run refuses wrong options, and files that it cannot read, with the reason.
func TestOwnRefuses(t *testing.T) {
	qs, err := own.Questions([]string{write(t, "q.sql", "SELECT 1 AS a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tolerance := range []float64{0.5, -1, math.NaN()} {
		err = (&own.Program{Registry: all.Registry(), Engines: inFiles(t), Tolerance: tolerance}).Check()
		if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "nearly every result") {
			t.Errorf("%g: %v", tolerance, err)
		}
	}
	tables := write(t, "t.csv", "a\n1\n")
	for _, c := range []struct {
		engines []string
		tables  string
		problem string // "" = none
	}{
		{[]string{"duckdb"}, tables, "no other engine confirms"},
		{[]string{"pebble"}, tables, "cannot store your own tables"},
		{[]string{"sqlite:a.db", "sqlite:b.db"}, tables, "is a second engine sqlite"},
		{inFiles(t), t.TempDir(), "has no Parquet or CSV file"},
		{inFiles(t), write(t, "a b.csv", "a\n1\n", "a-b.csv", "a\n1\n"), "have the same table name, a_b"},
		{inFiles(t), write(t, "t.csv", "a\n1\n", "T.parquet", ""), "have the same table name, t"},
		{inFiles(t), write(t, "t.parquet", "nonsense"), "cannot be read as table t"},
		{inFiles(t), write(t, "t.csv", "a,A \n1,2\n"), ""},
		{inFiles(t), write(t, "t.csv", "a-b,a b\n1,2\n"), "has two columns whose name in lower case is a_b"},
		{inFiles(t), write(t, "t.csv", "a\n"), ""},
		{inFiles(t), write(t, "t.csv", ""), "t.csv is empty"},
		{inFiles(t), write(t, "t.parquet", nanoseconds(t, 1e9+7000)), ""},
		{inFiles(t), write(t, "t.parquet", nanoseconds(t, 1e9+7001)), "column at has times with fractions of a microsecond"},
		{inFiles(t), write(t, "t.csv", "a,b\n1,2\n3\n4,5\n"), "t.csv:3 has 1 field, but the first line has 2"},
		{inFiles(t), write(t, "t.csv", "a,b,c\n1,2\n3,4\n"), "t.csv:2 has 2 fields, but the first line has 3"},
	} {
		_, _, err := execute(t, own.Program{Engines: c.engines, Tables: c.tables, Questions: qs, Reps: 1})
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v", c.problem, err)
		}
		if err != nil && strings.Contains(err.Error(), "LINE 1") {
			t.Errorf("the error shows a statement that the user did not write: %v", err)
		}
	}
}

// TestSetsOnEveryEngine: every engine that offers own tables returns the reference results of all ready sets.
func TestSetsOnEveryEngine(t *testing.T) {
	enginetest.NotUnderRace(t)
	const rows = 3000
	for _, d := range all.Registry() {
		if !tables.Offers(&d, tables.OwnTables) || d.Scheme == "duckdb" {
			continue
		}
		t.Run(d.Scheme, func(t *testing.T) {
			url := d.Scheme + ":" + filepath.Join(t.TempDir(), "own")
			if d.Server != nil {
				url = enginetest.Lab(t, d, lab.Options{Memory: 1 << 30}).URL()
			} else if d.Library != nil {
				enginetest.Installed(t, d)
			}
			sets := []string{"clicks", "documents"}
			if d.Server == nil || enginetest.Nightly() {
				sets = append(sets, "star")
			}
			for _, set := range sets {
				qs, err := own.Set(set)
				if err != nil {
					t.Fatal(err)
				}
				dir, rows := t.TempDir(), int64(rows)
				if set == "star" {
					rows = 28_810
					_, err := tpcds.Generate(t.Context(), dir, tpcds.Options{Scale: 0.01, Dense: true})
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := own.MakeTables(t.Context(), all.Registry(), set, dir, rows); err != nil {
					t.Fatal(err)
				}
				r, samples, err := execute(t, own.Program{Engines: []string{url, inFiles(t)[0]}, Tables: dir, Questions: qs, Reps: 1})
				if err != nil || len(samples) != 2*len(qs) {
					t.Errorf("%s: %d samples, %v", set, len(samples), err)
				}
				for _, s := range samples {
					if s.Verdict != run.Equal && s.Verdict != run.EqualToRounding {
						t.Errorf("%s: %s %s", s.Cell, s.Verdict, s.Problem)
					}
				}
				if !slices.ContainsFunc(r.Own.Tables, func(x run.OwnTable) bool { return x.Rows == rows }) || r.Archives[1].Bytes == 0 {
					t.Errorf("no table has %d rows: %+v, %d bytes", rows, r.Own.Tables, r.Archives[1].Bytes)
				}
			}
			checkTexts(t, url)
			checkOffer(t, url, d)
		})
	}
}

// checkTexts checks that an engine distinguishes texts that differ in trailing blanks, case or accents, and keeps texts
// that have a meaning in the formats in which engines load rows, such as \N and NULL.
func checkTexts(t *testing.T, url string) {
	t.Helper()
	tables := write(t,
		"names.csv", "id,name,day,part\n1,a,1900-01-01,1.10\n2,a ,2299-12-31,-0.05\n3,A,2024-02-29,99999999.99\n"+
			"4,😀é,1969-12-31,0.01\n5,e\u0301,,\n6,\"\",,\n7,\\N,,\n8,\"a\tb\nc\\\",,\n9,NULL,,\n10,,,\n",
		"order.csv", "a\n1\n") // the engine must quote its name to count its rows
	qs := questionFiles(t,
		"q.sql", "-- name: all\nSELECT * FROM names;\n"+
			"-- name: groups\nSELECT name, count(*) AS n FROM names GROUP BY name;\n"+
			"-- name: one\nSELECT count(*) AS n, sum(part) AS p FROM names WHERE name = 'a';\n")
	r, samples, err := execute(t, own.Program{Engines: []string{url, inFiles(t)[0]}, Tables: tables, Questions: qs, Reps: 1})
	if err != nil || len(samples) != 2*len(qs) || len(r.Own.Tables) != 2 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	for _, s := range samples {
		if s.Verdict != run.Equal {
			t.Errorf("%s: %s", s.Cell, s.Problem)
		}
	}
}

// checkOffer checks that an engine has the ability own tables if and only if its driver offers it.
func checkOffer(t *testing.T, url string, d engine.Driver) {
	t.Helper()
	db, err := all.Registry().Open(context.Background(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if (tables.DatabasesOf(db).Own != nil) != tables.Offers(&d, tables.OwnTables) {
		t.Errorf("%s: the driver offers %v", d.Scheme, d.Offers)
	}
}

// TestWhileLoading: the run measures streams without other work and streams during a load, and reports the loaded rows.
func TestWhileLoading(t *testing.T) {
	var rows strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&rows, "%d,%d\n", i, i%7)
	}
	tables := write(t, "a.csv", "id,k\n"+rows.String(), "b.csv", "k,name\n1,one\n")
	qs := questionFiles(t, "q.sql", "SELECT k, count(*) AS n FROM a GROUP BY k ORDER BY k")
	_, samples, err := execute(t, own.Program{
		Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1, Streams: []int{2},
		Duration: 2 * time.Second, WhileLoading: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	loaded := map[string]int64{}
	for _, s := range samples {
		if m := s.Measured(); m == nil {
			t.Errorf("%s: %s", s.Cell, s.Problem)
		} else if m.Mix != nil {
			loaded[s.Cell.Engine+", "+s.Cell.Value("mix")] += m.ConcurrentRows
			if len(s.Warnings) > 0 {
				t.Error(s.Warnings)
			}
		}
	}
	for _, e := range []string{"duckdb", "sqlite"} {
		with, hasWith := loaded[e+", questions beside a load"]
		without, hasWithout := loaded[e+", questions"]
		if !hasWith || !hasWithout || with == 0 || with%2000 != 0 || without != 0 {
			t.Errorf("%s: %v", e, loaded)
		}
	}
	t.Log(loaded)
}
