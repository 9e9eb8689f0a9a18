package own_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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

// write writes files, NAME followed by their text, into a new folder.
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

// ask runs a program into a folder of its own, and reads that.
func ask(t *testing.T, p own.Program) (*run.Run, []run.Sample, error) {
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

// inFiles are the URLs of the embedded engines that need no download.
func inFiles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	return []string{"duckdb:" + filepath.Join(dir, "d.db"), "sqlite:" + filepath.Join(dir, "s.db")}
}

// TestOwn asks of CSV files with all kinds of values; two engines agree, also in
// streams.
func TestOwn(t *testing.T) {
	tables := write(t, "sales.csv", "Id,Day,At,Price,Weight,Paid,Note\n1,2024-07-01,2024-07-01 10:00:00,1.50,0.1,true,\"a, \"\"b\"\"\"\n2,2024-07-01,2024-07-01 11:30:00.25,2.25,0.2,false,\n3,2024-07-02,,,,,\"tab\there \\N\"\n",
		"regions/a.csv", "id,name\n1,Nord\n", "regions/b.csv", "id,name\n3,Süd\n", "readme.txt", "no table")
	questions := write(t, "day.sql", "SELECT day, count(*) AS n, sum(price) AS paid, avg(weight) AS w FROM sales GROUP BY day ORDER BY day",
		"rows.sql", "SELECT * FROM sales", "join.sql", "-- param from: 0 | 1 | 2\nSELECT name, note FROM sales s JOIN regions r ON s.id = r.id WHERE s.id > ${from}")
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, err := ask(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 3, Streams: []int{1, 3}, Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	timed, streams := 0, 0
	for _, s := range samples {
		switch {
		case s.Verdict == run.EqualToRounding && s.Cell.Value("query") == "day" && s.Cell.Engine == "sqlite": // decimals are floating-point numbers there
			timed++
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
	if len(o.Tables) != 2 || o.Tables[0].Name != "regions" || o.Tables[0].Rows != 2 || len(o.Tables[0].Files) != 2 || !slices.Contains(o.Tables[1].Columns, "price (decimal(3, 2))") || o.Questions[0].OrderRule != "the order" || o.Questions[1].ParameterSets != 3 {
		t.Errorf("%+v", o)
	}
	if o.Questions[2].ComparedWith["duckdb"] != "sqlite" || o.Questions[2].ComparedWith["sqlite"] != "DuckDB over the files" {
		t.Errorf("%+v", o.Questions[2].ComparedWith)
	}
}

// TestOwnDisagrees: an engine that answers otherwise, and one that cannot, have
// no times. DuckDB's verdict does not depend on them.
func TestOwnDisagrees(t *testing.T) {
	tables := write(t, "t.csv", "a,b\n1,2\n3,4\n")
	questions := write(t, "lie.sql", "SELECT sum(a) AS s FROM t", "lie.sqlite.sql", "SELECT sum(b) AS s FROM t",
		"no.sql", "SELECT sum(a) AS s FROM t", "no.sqlite.sql", "SELECT sum(c) AS s FROM t", "yes.sql", "SELECT a / b AS q FROM t", "yes.sqlite.sql", "SELECT 1.0 * a / b AS q FROM t")
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, err := ask(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1})
	for _, q := range r.Own.Questions {
		if want := map[string]string{"yes": "sqlite"}[q.Name]; q.ComparedWith["duckdb"] != cmp.Or(want, run.Unconfirmed) {
			t.Errorf("%s: %v", q.Name, q.ComparedWith)
		}
	}
	if status, ok := errors.AsType[*fault.Status](err); !ok || status.Code != fault.Differs {
		t.Errorf("it ended with %v", err)
	}
	says := map[string]string{
		"sqlite lie": "1 rows have different values", "duckdb lie": "", "sqlite no": "no.sqlite.sql:1: sqlite cannot run no: no such column: c", "duckdb no": "",
		"sqlite yes": "", "duckdb yes": "",
	}
	for _, s := range samples {
		key := s.Cell.Engine + " " + s.Cell.Value("query")
		if want := says[key]; (want == "") != (s.Measured() != nil) || !strings.Contains(s.Problem, want) {
			t.Errorf("%s: %s %s", key, s.Verdict, s.Problem)
		}
		delete(says, key)
	}
	if len(says) > 0 {
		t.Errorf("nothing is said of %v", says)
	}
}

// TestOwnUnbounded: a table whose name is a word of SQL, with numbers that have
// no digits; an engine that cannot store what the files hold is out, and says of what.
func TestOwnUnbounded(t *testing.T) {
	for _, c := range []struct{ value, says string }{
		{"inf", ""},
		{"-inf", ""},
		{"nan", "table order: column v contains NaN, which SQLite converts to NULL"},
	} {
		qs, err := own.Questions([]string{write(t, "all.sql", `SELECT id, v FROM "order"`)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, samples, err := ask(t, own.Program{Engines: inFiles(t), Tables: write(t, "order.csv", "id,v\n1,0.5\n2,"+c.value+"\n"), Questions: qs, Reps: 1})
		if (err == nil) != (c.says == "") || len(samples) != 2 {
			t.Fatalf("%s: %v, %d samples", c.value, err, len(samples))
		}
		for i := range samples {
			s := &samples[i]
			if s.Cell.Engine == "sqlite" && (!strings.Contains(s.Problem, c.says) || (s.Measured() == nil) != (c.says != "")) {
				t.Errorf("%s: %s %s", c.value, s.Verdict, s.Problem)
			}
		}
		if said := strings.Join(r.Warnings, " "); c.says != "" && (!strings.Contains(said, "sqlite lacks table order: "+strings.TrimPrefix(c.says, "table order: ")) || r.Archives[2].Complete || !r.Archives[1].Complete) {
			t.Errorf("%s: warned %q, %+v", c.value, said, r.Archives)
		}
	}
}

// TestOwnOutlivesAServer: a server that dies while it is timed, or before it is
// asked from streams, has no times of that; the others are measured to the end.
func TestOwnOutlivesAServer(t *testing.T) {
	const proofs = 1 + 1 // the rows that were stored, and the answer
	for _, lives := range []int64{proofs, proofs + 1, proofs + 2} {
		var asked atomic.Int64
		dead := func() error {
			if asked.Load() > lives {
				return engine.UnreachableError("mortal", errors.New("connection refused"), "start it")
			}
			return nil
		}
		mortal := sqlite.Driver()
		mortal.Scheme = "mortal"
		open := mortal.Open
		mortal.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
			u.Scheme = "sqlite"
			e, err := open(ctx, u, o)
			if err != nil {
				return nil, err
			}
			made := tables.DatabasesOf(e)
			opened := made.Own
			made.Own = func(ctx context.Context, keep bool) (*tables.Tables, error) {
				o, err := opened(ctx, keep)
				if err != nil {
					return nil, err
				}
				ask := o.Ask
				o.Ask = func(ctx context.Context, text string, f func(row []any) error) error {
					if asked.Add(1); dead() != nil {
						return dead()
					}
					return ask(ctx, text, f)
				}
				o.Spent = func(context.Context) (engine.ServerUsage, error) { return engine.ServerUsage{}, dead() }
				return o, nil
			}
			return e, nil
		}
		qs, err := own.Questions([]string{write(t, "q.sql", "SELECT a FROM t")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, samples, err := ask(t, own.Program{
			Registry: append(all.Registry(), mortal), Engines: append(inFiles(t), "mortal:"+filepath.Join(t.TempDir(), "m.db")), Tables: write(t, "t.csv", "a\n1\n"),
			Questions: qs, Reps: 2, Streams: []int{1}, Duration: 500 * time.Millisecond,
		})
		if fault.Code(err) != fault.Incomplete {
			t.Errorf("after %d: %v", lives, err)
		}
		seen := map[string]int{}
		for i := range samples {
			switch s := &samples[i]; {
			case s.Cell.Engine != "mortal" && s.Verdict == run.Equal && s.Measured() != nil:
				seen[s.Cell.Engine]++
			case s.Cell.Engine == "mortal" && s.Verdict == run.Failed && s.Measured() == nil:
				seen["dead"]++
			case s.Cell.Engine != "mortal":
				t.Errorf("after %d, %s: %s %s", lives, s.Cell, s.Verdict, s.Problem)
			}
		}
		if seen["duckdb"] != 3 || seen["sqlite"] != 3 || seen["dead"] == 0 {
			t.Errorf("after %d: %v of %d samples", lives, seen, len(samples))
		}
	}
}

// nanoseconds is a Parquet file with a time, so many nanoseconds after 1970 began.
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

func TestOwnRefuses(t *testing.T) {
	qs, err := own.Questions([]string{write(t, "q.sql", "SELECT 1 AS a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&own.Program{Registry: all.Registry(), Engines: inFiles(t), Tolerance: 0.5}).Check(); fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "nearly every result") {
		t.Error(err)
	}
	tables := write(t, "t.csv", "a\n1\n")
	for _, c := range []struct {
		engines []string
		tables  string
		says    string
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
		{inFiles(t), write(t, "t.csv", "a,b\n1,2\n3\n4,5\n"), "t.csv:3 has 1 fields, but the first line has 2"},
		{inFiles(t), write(t, "t.csv", "a,b,c\n1,2\n3,4\n"), "t.csv:2 has 2 fields, but the first line has 3"},
	} {
		_, _, err := ask(t, own.Program{Engines: c.engines, Tables: c.tables, Questions: qs, Reps: 1})
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: %v", c.says, err)
		}
		if err != nil && strings.Contains(err.Error(), "LINE 1") {
			t.Errorf("the error shows a statement that the user did not write: %v", err)
		}
	}
}

// TestSetsOnEveryEngine has every engine that keeps a user's own tables answer
// all questions of the ready sets.
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
				r, samples, err := ask(t, own.Program{Engines: []string{url, inFiles(t)[0]}, Tables: dir, Questions: qs, Reps: 1})
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
			texts(t, url)
			promised(t, url, d)
		})
	}
}

// texts that are alike but for blanks at the end, case or accents are not the same
// to any engine; what its files of text have words for stays as it is.
func texts(t *testing.T, url string) {
	t.Helper()
	tables := write(t, "names.csv", "id,name,day,part\n1,a,1900-01-01,1.10\n2,a ,2299-12-31,-0.05\n3,A,2024-02-29,99999999.99\n4,😀é,1969-12-31,0.01\n5,e\u0301,,\n6,\"\",,\n7,\\N,,\n8,\"a\tb\nc\\\",,\n9,NULL,,\n10,,,\n",
		"order.csv", "a\n1\n") // whose rows are counted
	qs, err := own.Questions([]string{write(t, "q.sql", "-- name: all\nSELECT * FROM names;\n-- name: groups\nSELECT name, count(*) AS n FROM names GROUP BY name;\n-- name: one\nSELECT count(*) AS n, sum(part) AS p FROM names WHERE name = 'a';\n")}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, err := ask(t, own.Program{Engines: []string{url, inFiles(t)[0]}, Tables: tables, Questions: qs, Reps: 1})
	if err != nil || len(samples) != 2*len(qs) || len(r.Own.Tables) != 2 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	for _, s := range samples {
		if s.Verdict != run.Equal {
			t.Errorf("%s: %s", s.Cell, s.Problem)
		}
	}
}

// promised: an engine has the ability where its driver says so.
func promised(t *testing.T, url string, d engine.Driver) {
	t.Helper()
	db, err := all.Registry().Open(context.Background(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if (tables.DatabasesOf(db).Own != nil) != tables.Offers(&d, tables.OwnTables) {
		t.Errorf("%s: promised is %v", d.Scheme, d.Abilities)
	}
}

// TestBeside: streams ask alone and beside a load; what was loaded is reported.
func TestBeside(t *testing.T) {
	var rows strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&rows, "%d,%d\n", i, i%7)
	}
	tables := write(t, "a.csv", "id,k\n"+rows.String(), "b.csv", "k,name\n1,one\n")
	qs, err := own.Questions([]string{write(t, "q.sql", "SELECT k, count(*) AS n FROM a GROUP BY k ORDER BY k")}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	_, samples, err := ask(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1, Streams: []int{2}, Duration: 2 * time.Second, WhileLoading: true})
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
		with, there := loaded[e+", questions beside a load"]
		without, alone := loaded[e+", questions"]
		if !there || !alone || with == 0 || with%2000 != 0 || without != 0 {
			t.Errorf("%s: %v", e, loaded)
		}
	}
	t.Log(loaded)
}
