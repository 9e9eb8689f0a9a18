package own_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// heavy is a query that no engine completes within the time of a test: it reads the fifth power of the rows of t.
const heavy = "SELECT count(*) AS n FROM t a, t b, t c, t d, t e WHERE a.x + b.x * c.x - d.x * e.x = -12345678"

// numbers returns a CSV file with the numbers from 0 to n-1 in column x.
func numbers(n int) string {
	var b strings.Builder
	b.WriteString("x\n")
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// TestTimeout: a query that takes longer than the timeout fails on this engine only, with the place and a cure, and the
// engine continues with the other queries. A query that DuckDB does not complete on the files is skipped.
func TestTimeout(t *testing.T) {
	data := write(t, "t.csv", numbers(1000))
	questions := write(t,
		"slow.sql", "SELECT count(*) AS n FROM t",
		"slow.sqlite.sql", heavy,
		"fast.sql", "SELECT sum(x) AS s FROM t",
		"all.sql", heavy)
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, err := execute(t, own.Program{Engines: inFiles(t), Tables: data, Questions: qs, Reps: 2, Timeout: 300 * time.Millisecond})
	if err == nil {
		t.Error("no error")
	}
	timed := map[string]int{}
	for _, s := range samples {
		name := s.Cell.Engine + " " + s.Cell.Value("query")
		switch {
		case s.Measured() != nil:
			timed[name]++
		case name == "sqlite slow" && !strings.Contains(s.Problem,
			"slow.sqlite.sql:1: sqlite did not complete slow within 300ms; write a larger --timeout"),
			strings.HasSuffix(name, " all") && !strings.Contains(s.Problem, "all.sql:1: duckdb did not complete all within 300ms"),
			strings.HasSuffix(name, " fast"), name == "duckdb slow":
			t.Errorf("%s: %s", name, s.Problem)
		}
	}
	if want := "map[duckdb fast:2 duckdb slow:2 sqlite fast:2]"; fmt.Sprint(timed) != want {
		t.Errorf("timed: %v, want %s", timed, want)
	}
	if len(r.Own.Questions) != 3 {
		t.Errorf("%d questions", len(r.Own.Questions))
	}
}

// TestMemory: DuckDB over the files does not exceed its memory limit. The run skips a query that needs more, with a
// cure, and continues with the others.
func TestMemory(t *testing.T) {
	data := write(t, "t.csv", numbers(100_000))
	questions := write(t, "large.sql", "SELECT max(length(s)) AS n FROM (SELECT string_agg(repeat('x', 2000), '') AS s FROM t)",
		"large.sqlite.sql", "SELECT max(length(s)) AS n FROM (SELECT group_concat(printf('%2000d', 1), '') AS s FROM t)",
		"small.sql", "SELECT sum(x) AS s FROM t")
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	// The text that the query large concatenates has 200 MB.
	r, samples, err := execute(t, own.Program{
		Engines: inFiles(t), Tables: data, Questions: qs, Reps: 1, Memory: "320MB",
	})
	if fault.Code(err) != fault.Incomplete {
		t.Error(err)
	}
	timed := map[string]int{}
	for _, s := range samples {
		if s.Measured() != nil {
			timed[s.Cell.Engine+" "+s.Cell.Value("query")]++
		} else if !strings.Contains(s.Problem, "large.sql:1: duckdb cannot run large") ||
			!strings.Contains(s.Problem, "write a larger --memory") {
			t.Error(s.Problem)
		}
	}
	if want := "map[duckdb small:1 sqlite small:1]"; fmt.Sprint(timed) != want {
		t.Errorf("timed: %v, want %s", timed, want)
	}
	if limit := r.Archives[0].Settings["memory_limit"]; limit != "305.1 MiB" {
		t.Errorf("the run folder has the limit %q", limit)
	}
	// DuckDB reads CSV in blocks of 256 MB.
	_, _, err = execute(t, own.Program{
		Engines: inFiles(t), Tables: data, Questions: qs, Memory: "100MB",
	})
	if err == nil || !strings.Contains(err.Error(), "write a larger --memory") {
		t.Errorf("too little memory for a file: %v", err)
	}
	_, _, err = execute(t, own.Program{Engines: inFiles(t), Tables: data, Questions: qs, Memory: "much"})
	if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "--memory much is not a size") {
		t.Errorf("no size: %v", err)
	}
}

// TestTimeoutEndsQueries: after a timeout the engine stops the query and answers the next one.
func TestTimeoutEndsQueries(t *testing.T) {
	for name, count := range map[string]string{ // counts the sessions that run the query
		"postgres": "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%12345678%' AND pid <> pg_backend_pid()",
		"mariadb": "SELECT count(*) FROM information_schema.processlist " +
			"WHERE command = 'Query' AND info LIKE '%12345678%' AND id <> connection_id()",
		"clickhouse": "SELECT count() FROM system.processes WHERE query LIKE '%12345678%' AND query NOT LIKE '%system.processes%'",
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := all.Registry().Find(name)
			url := name + ":" + filepath.Join(t.TempDir(), "c")
			if d.Place == engine.Embedded {
				enginetest.Installed(t, *d)
			} else {
				url = enginetest.Lab(t, *d, lab.Options{}).URL()
			}
			db, err := all.Registry().Open(t.Context(), url, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			o, err := tables.DatabasesOf(db).Own(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			nothing := func([]any) error { return nil }
			create := map[string]string{
				"postgres":   "CREATE TABLE t AS SELECT generate_series(1, 1000) AS x",
				"mariadb":    "CREATE TABLE t AS SELECT CAST(seq AS SIGNED) AS x FROM seq_1_to_1000",
				"clickhouse": "CREATE TABLE t ENGINE = MergeTree ORDER BY tuple() AS SELECT number AS x FROM system.numbers LIMIT 1000",
			}
			if err := o.Ask(t.Context(), create[name], nothing); err != nil {
				t.Fatal(err)
			}
			limited, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if err := o.Ask(limited, heavy, nothing); err == nil || limited.Err() == nil {
				t.Fatalf("the query ended with %v", err)
			}
			running := ""
			for began := time.Now(); running != "0" && time.Since(began) < 10*time.Second; time.Sleep(50 * time.Millisecond) {
				if err := o.Ask(t.Context(), count, func(row []any) error { running = fmt.Sprint(row[0]); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if running != "0" {
				t.Errorf("%s sessions still run the query", running)
			}
		})
	}
}

// TestDefinitions: an engine runs the statements of TABLE.ENGINE.sql after it has loaded the table. If a statement
// fails, this engine omits the queries of the table. A file that is a query of the study is not run as definitions.
func TestDefinitions(t *testing.T) {
	data := write(t, "t.csv", numbers(10), "u.csv", numbers(10),
		"T.sqlite.sql", "-- for the join\nCREATE INDEX by_x ON t (x);\n\nANALYZE;\n",
		"u.sqlite.sql", "CREATE INDEX by_y ON u (y)",
		"v.duckdb.sql", "CREATE INDEX z ON v (z)",
		"q.sql", "SELECT sum(x) AS s FROM t", "q.sqlite.sql", "SELECT sum(x) AS s FROM t", "p.sql", "SELECT sum(x) AS s FROM u")
	files := []string{filepath.Join(data, "q.sql"), filepath.Join(data, "q.sqlite.sql"), filepath.Join(data, "p.sql")}
	qs, err := own.Questions(files, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	r, samples, _ := execute(t, own.Program{Engines: inFiles(t), Tables: data, Questions: qs, Reps: 1})
	for _, a := range r.Archives {
		settings := fmt.Sprint(a.Settings["T.sqlite.sql:2"], "|", a.Settings["T.sqlite.sql:4"])
		if want := map[bool]string{true: "CREATE INDEX by_x ON t (x)|ANALYZE", false: "|"}[a.Engine == "sqlite"]; settings != want {
			t.Errorf("%s: %q", a.Engine, settings)
		}
	}
	timed := map[string]bool{}
	for _, s := range samples {
		name := s.Cell.Engine + " " + s.Cell.Value("query")
		if s.Measured() != nil {
			timed[name] = true
		} else if !strings.Contains(s.Problem, "u.sqlite.sql:1: sqlite cannot run the statement") {
			t.Errorf("%s: %s", name, s.Problem)
		}
	}
	if want := "map[duckdb p:true duckdb q:true sqlite q:true]"; fmt.Sprint(timed) != want {
		t.Errorf("timed: %v, want %s", timed, want)
	}
	reasons := map[string]string{}
	for _, f := range r.Own.SkippedFiles {
		reasons[filepath.Base(f.File)] = f.Reason
	}
	if !strings.Contains(reasons["T.sqlite.sql"], "statements that sqlite runs") ||
		!strings.Contains(reasons["v.duckdb.sql"], "no file or folder has this name") ||
		!strings.Contains(reasons["q.sqlite.sql"], "its name") {
		t.Errorf("%q", reasons)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "v.duckdb.sql has statements for a table v") {
		t.Errorf("%q", r.Warnings)
	}
}

// TestDefinitionNames: the statements for a table whose file starts with a digit are run. If two files have statements
// for one table and engine, the second is not run, and the run lists it.
func TestDefinitionNames(t *testing.T) {
	data := write(t, "05_temp.csv", numbers(3), "05_temp.sqlite.sql", "ANALYZE",
		"a-b.csv", numbers(3), "a-b.sqlite.sql", "REINDEX", "a_b.sqlite.sql", "ANALYZE")
	qs := questionFiles(t, "q.sql", "SELECT sum(x) AS s FROM a_b")
	r, _, err := execute(t, own.Program{Engines: inFiles(t), Tables: data, Questions: qs, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	settings := r.Archives[2].Settings
	if settings["05_temp.sqlite.sql:1"] != "ANALYZE" || settings["a-b.sqlite.sql:1"] != "REINDEX" || settings["a_b.sqlite.sql:1"] != "" {
		t.Errorf("%q", settings)
	}
	skipped := r.Own.SkippedFiles
	if !slices.ContainsFunc(skipped, func(f run.SkippedFile) bool {
		return f.Reason == "is not run, because a-b.sqlite.sql is for the same table"
	}) {
		t.Errorf("%q", skipped)
	}
}

// TestSavedResults: each proven result is saved in a file that distinguishes NULL, an empty text, quotes and numbers.
func TestSavedResults(t *testing.T) {
	data := write(t, "t.csv", "a,b,c\n1,\"x \"\"y\"\"\",0.5\n2,\"\",\n", "nulls.csv", "a,b\n1,\n2,z\n")
	questions := write(t,
		"t.sql", "SELECT a, b, c FROM t ORDER BY a",
		"n.sql", "-- param n: 1 | 2\nSELECT b FROM nulls WHERE a = ${n}",
		"wrong.sql", "SELECT 1 AS one",
		"wrong.sqlite.sql", "SELECT 2 AS one")
	qs, err := own.Questions([]string{questions}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{Workload: run.OwnWorkload, Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	p := own.Program{
		Registry: all.Registry(), Engines: inFiles(t), Tables: data, Questions: qs, Reps: 1, SaveResults: true,
		Progress: func(string) {},
	}
	own.Run(t.Context(), p, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(f.Dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range files {
		text, err := os.ReadFile(filepath.Join(f.Dir, "results", x.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[x.Name()] = string(text)
	}
	for _, e := range []string{"duckdb", "sqlite"} {
		for name, want := range map[string]string{
			"t.csv": "\"a\",\"b\",\"c\"\n1,\"x \"\"y\"\"\",0.5\n2,\"\",\n", "n.1.csv": "\"b\"\n\n", "n.2.csv": "\"b\"\n\"z\"\n",
		} {
			if text := got[e+"."+name]; text != want {
				t.Errorf("%s.%s: %q, want %q", e, name, text, want)
			}
		}
	}
	if got["duckdb.wrong.csv"] != "\"one\"\n1\n" || got["sqlite.wrong.csv"] != "" || len(got) != 7 {
		t.Errorf("%q", got)
	}
}

// TestResume: the same command resumes an interrupted run and keeps the timed repetitions. At the end the run folder
// contains each repetition once. The run folder refuses another command.
func TestResume(t *testing.T) {
	data := write(t, "t.csv", numbers(10))
	qs := questionFiles(t,
		"a.sql", "SELECT sum(x) AS s FROM t",
		"b.sql", "SELECT count(*) AS n FROM t",
		"c.sql", "SELECT 1 AS one",
		"c.sqlite.sql", "SELECT 2 AS one")
	dir := filepath.Join(t.TempDir(), "run")
	described := run.Run{
		Workload: run.OwnWorkload, Started: time.Now(), Args: []string{"scan", "own", "--tables", data},
		Warnings: []string{"the machine was busy", "sqlite lacks table t: it was full"},
	}
	p := own.Program{
		Registry: all.Registry(), Engines: inFiles(t), Tables: data, Questions: qs, Reps: 2, Streams: []int{2},
		Duration: 50 * time.Millisecond,
	}
	var steps []string
	step := func(s string) { steps = append(steps, s) }
	ctx, stop := context.WithCancel(t.Context())
	f, err := own.Folder(dir, described, step)
	if err != nil {
		t.Fatal(err)
	}
	p.Progress = func(text string) {
		if strings.Contains(text, "2 streams") { // everything except the streams has been timed
			stop()
		}
	}
	if err := own.Run(ctx, p, f); err == nil || f.Close() != nil {
		t.Fatalf("the run ended with %v", err)
	}
	other := described
	other.Args = []string{"scan", "own", "--tables", data, "--reps", "9"}
	if _, err := own.Folder(dir, other, step); err == nil || !strings.Contains(err.Error(), "of another command") {
		t.Errorf("another command: %v", err)
	}
	same := described
	same.Args = []string{"scan", "own", "--out", dir, "--tables", data}
	if f, err = own.Folder(dir, same, step); err != nil {
		t.Fatal(err)
	}
	p.Progress, p.Reps = step, 5 // as if two of five repetitions had been timed
	if err := own.Run(t.Context(), p, f); err == nil {
		t.Error("the wrong result has no error")
	}
	f.Run.Finished = time.Now()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []string{"duckdb", "sqlite"} {
		if !strings.Contains(strings.Join(steps, "\n"), e+": keeps t, 10 rows") {
			t.Errorf("%s loads again: %q", e, steps)
		}
	}
	if r, err := run.ReadRun(dir); err != nil || r.Archives[1].Load <= 0 || r.Archives[2].Load <= 0 {
		t.Errorf("a kept load has no time: %+v, %v", r.Archives, err)
	}
	if len(steps) == 0 || !strings.Contains(steps[0], ": 10 of ") {
		t.Errorf("%q", steps)
	}
	r, samples, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, s := range samples {
		seen[fmt.Sprint(s.Cell, s.Rep, s.Measured() != nil)]++
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("the run folder contains %s %d times", key, n)
		}
	}
	if len(r.Archives) != 3 || len(samples) != 5*5+1+2 || len(r.Warnings) != 1 {
		t.Errorf("%d archives, %d samples, warnings %q", len(r.Archives), len(samples), r.Warnings)
	}
	if _, err := own.Folder(dir, same, step); err == nil || !strings.Contains(err.Error(), "already contains a run") {
		t.Errorf("a finished run: %v", err)
	}
}

// TestTimeLimit: after the time limit the run times no more queries, and warns. Each question was timed equally often on
// all engines. The same command with a longer time limit continues the run.
func TestTimeLimit(t *testing.T) {
	p := own.Program{
		Registry: all.Registry(), Engines: inFiles(t), Tables: write(t, "t.csv", numbers(10)), Seed: 1, Reps: 1_000_000,
		Questions: questionFiles(t, "a.sql", "SELECT sum(x) AS s FROM t", "b.sql", "SELECT count(*) AS n FROM t"),
		Progress:  func(string) {},
	}
	now := time.Now()
	p.Now = func() time.Time { // each look at the clock takes a second
		now = now.Add(time.Second)
		return now
	}
	dir, before := filepath.Join(t.TempDir(), "run"), 0
	limit := 4 * time.Second
	for timedRuns := 0; timedRuns < 3; limit += 5 * time.Second { // the first limits may end before the first repetition
		if p.TimeLimit = limit; limit > time.Minute {
			t.Fatal("nothing was timed within a minute of the clock")
		}
		args := []string{"scan", "own", "--time-limit", limit.String()}
		f, err := own.Folder(dir, run.Run{Workload: run.OwnWorkload, Started: time.Now(), Args: args}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if kept := len(f.Samples()); kept != before {
			t.Errorf("%s: %d of %d repetitions are kept", limit, kept, before)
		}
		if err := errors.Join(own.Run(t.Context(), p, f), f.Close()); err != nil {
			t.Fatal(err)
		}
		r, samples, err := run.Read(dir)
		if want := "the time limit of " + limit.String() + " ended the run before repetition "; err != nil ||
			len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], want) || !strings.Contains(r.Warnings[0], "--out RUNFOLDER") {
			t.Errorf("%s: %q, %v", limit, r.Warnings, err)
		}
		timed := map[run.Cell]int{}
		for _, s := range samples {
			timed[s.Cell]++
		}
		for _, q := range []string{"a", "b"} {
			if timed[run.OwnCell("duckdb", q)] != timed[run.OwnCell("sqlite", q)] {
				t.Errorf("%s: repetitions %v", limit, timed)
			}
		}
		if len(samples) > before {
			timedRuns++
		}
		before = len(samples)
	}
}

// sizeOf returns the number of bytes of the files in a folder.
func sizeOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		bytes += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestTemporaryFolderNamedLikeAPattern: DuckDB reads the temporary files, although it takes paths as patterns.
func TestTemporaryFolderNamedLikeAPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tmp[1]")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	engines, data := inFiles(t), write(t, "t.csv", numbers(10))
	qs := questionFiles(t, "a.sql", "SELECT x FROM t ORDER BY x % 2 LIMIT 3", "b.sql", "SELECT sum(x) AS s FROM t")
	t.Setenv("TMPDIR", dir)
	r, samples, err := execute(t, own.Program{Engines: engines, Tables: data, Questions: qs, Reps: 1})
	if err != nil || len(samples) != 4 || r.Own.Questions[0].Undetermined == "" {
		t.Errorf("%d samples: %v", len(samples), err)
	}
}

// TestTemporaryFiles: the temporary files of a run take at most twice the size of the user's Parquet files, although
// the run repeats a query with ties on the rows in two other orders. A resumed run removes the files of a killed one.
func TestTemporaryFiles(t *testing.T) {
	data, temp, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "run")
	t.Setenv("TMPDIR", temp)
	if err := own.MakeTables(t.Context(), all.Registry(), "clicks", data, 100_000); err != nil {
		t.Fatal(err)
	}
	qs := questionFiles(t,
		"q.sql", "SELECT max(n) AS m FROM (SELECT row_number() OVER (ORDER BY event_date) AS n, row_id FROM clicks) x WHERE row_id < 9")
	var largest, rows int64 // bytes of all temporary files, and of the copy of the rows
	var work string         // the temporary folder of the run
	registry := all.Registry()
	for i, d := range registry {
		if d.Scheme == "duckdb" {
			registry[i] = wrapped(d, func(o *tables.Tables) {
				plain := o.Ask
				o.Ask = func(ctx context.Context, text string, f func(row []any) error) error {
					err := plain(ctx, text, f)
					if found, _ := filepath.Glob(filepath.Join(temp, "*", "clicks.parquet")); len(found) == 1 {
						work, largest, rows = filepath.Dir(found[0]), max(largest, sizeOf(t, temp)), sizeOf(t, found[0])
					}
					return err
				}
			})
		}
	}
	p := own.Program{Registry: registry, Engines: inFiles(t)[1:], Tables: data, Questions: qs, Reps: 1}
	for _, end := range []string{"sqlite: loading", ""} {
		runUntil(t, p, dir, end)
		if largest > 2*sizeOf(t, data) || largest < 2*rows || largest > 3*rows-1000 {
			t.Errorf("%d bytes of temporary files for %d bytes of data, %d bytes as a copy", largest, sizeOf(t, data), rows)
		}
		if end != "" {
			if err := os.MkdirAll(filepath.Join(work, "left"), 0o755); err != nil { // as a killed run leaves it
				t.Fatal(err)
			}
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v remains, %v", left, err)
	}
	if r, err := run.ReadRun(dir); err != nil || r.Own.Questions[0].Undetermined == "" {
		t.Errorf("%+v, %v", r, err)
	}
}
