package own_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// everyKind has a column of each kind, with NULL.
const everyKind = "i,d,f,b,day,at,note\n" +
	"1,1.50,0.1,true,2024-07-01,2024-07-01 10:00:00,a\n" +
	"-2000000,2.25,1e300,false,2024-07-02,2024-07-01 11:30:00.25,\"\"\n" +
	",,,,,,\n" +
	"9223372036854775807,-0.25,-0.5,true,1999-12-31,1999-12-31 23:59:59,Süd\n"

// runUntil runs a program until it reports a text, and returns all reports of its progress. If the text is "", the
// program runs to its end.
func runUntil(t *testing.T, p own.Program, dir, end string) []string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var reports []string
	p.Progress = func(text string) {
		if reports = append(reports, text); end != "" && strings.Contains(text, end) {
			stop()
		}
	}
	f, err := own.Folder(dir, run.Run{Workload: run.OwnWorkload, Started: time.Now(), Args: []string{"scan", "own"}}, p.Progress)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Run(ctx, p, f); err != nil {
		reports = append(reports, "it ended with "+err.Error())
	} else if end != "" {
		t.Errorf("the program did not report %q", end)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return reports
}

// TestKeptLoads: a resumed run keeps the tables that an engine has loaded completely. It loads the others again: those
// whose load was interrupted, and those with other rows, values or definitions.
func TestKeptLoads(t *testing.T) {
	for _, d := range all.Registry() {
		if !tables.Offers(&d, tables.OwnTables) {
			continue
		}
		t.Run(d.Scheme, func(t *testing.T) {
			url := d.Scheme + ":" + filepath.Join(t.TempDir(), "own")
			if d.Server != nil {
				url = enginetest.Lab(t, d, lab.Options{Memory: 1 << 30}).URL()
			} else if d.Library != nil {
				enginetest.Installed(t, d)
			}
			engines, other := []string{"x=" + url}, "sqlite:"
			if d.Scheme == "sqlite" {
				other = "duckdb:"
			}
			engines = append(engines, "y="+other+filepath.Join(t.TempDir(), "y.db"))
			data := write(t, "kinds.csv", everyKind, "u.csv", numbers(5))
			qs := questionFiles(t, "q.sql", "SELECT count(*) AS n FROM kinds", "r.sql", "SELECT sum(x) AS s FROM u")
			dir := filepath.Join(t.TempDir(), "run")
			p := own.Program{Registry: all.Registry(), Engines: engines, Tables: data, Questions: qs, Reps: 1}
			change := func(text string) {
				t.Helper()
				db, err := all.Registry().Open(t.Context(), url, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				o, err := tables.DatabasesOf(db).Own(t.Context(), true)
				if err != nil {
					t.Fatal(err)
				}
				defer o.Close()
				if err := o.Ask(t.Context(), text, func([]any) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			mutation := ""
			if d.Scheme == "clickhouse" {
				mutation = " SETTINGS mutations_sync = 1"
			}
			inDialect := func(update string) string {
				if d.Scheme == "clickhouse" {
					return "ALTER TABLE u " + strings.TrimPrefix(strings.Replace(update, "UPDATE u SET", "UPDATE", 1), "u ") + mutation
				}
				return update
			}
			for _, c := range []struct {
				name   string
				before func()
				end    string // the report at which the run is interrupted
				keeps  string // tables that x keeps
			}{
				{"first", func() {}, "x: loading u", ""},
				{"interrupted in a load", func() {}, "x: proving 2 queries", "kinds"},
				{"complete", func() {}, "x: proving 2 queries", "kinds u"},
				{"another value", func() { change(inDialect("UPDATE u SET x = 7 WHERE x = 3")) }, "x: proving 2 queries", "kinds"},
				{"other definitions", func() {
					if err := os.WriteFile(filepath.Join(data, "u."+d.Scheme+".sql"), []byte("-- nothing yet\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}, "x: proving 2 queries", "kinds"},
				{"a missing table", func() { change("DROP TABLE u") }, "x: proving 2 queries", "kinds"},
				{"to the end", func() {}, "", "kinds u"},
			} {
				c.before()
				reports := strings.Join(runUntil(t, p, dir, c.end), "\n")
				keeps := ""
				for _, table := range []string{"kinds", "u"} {
					if strings.Contains(reports, "x: keeps "+table) {
						keeps = strings.TrimSpace(keeps + " " + table)
					}
				}
				if keeps != c.keeps {
					t.Errorf("%s: it keeps %q, not %q:\n%s", c.name, keeps, c.keeps, reports)
				}
			}
			r, samples, err := run.Read(dir)
			if err != nil || len(samples) != 4 {
				t.Fatalf("%d samples, %v", len(samples), err)
			}
			if a := r.Archives[1]; !a.Complete || a.Load <= 0 || a.Commits != 2 {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestResumeOtherFiles: a run is not resumed if its files have changed since it timed queries, even if a Parquet file
// has the same size and number of rows. The run folder refuses the changed files again after an attempt that failed.
func TestResumeOtherFiles(t *testing.T) {
	data := write(t, "t.parquet", nanoseconds(t, 1e9))
	qs := questionFiles(t, "q.sql", "SELECT a FROM t")
	dir := filepath.Join(t.TempDir(), "run")
	p := own.Program{
		Registry: all.Registry(), Engines: inFiles(t), Tables: data, Questions: qs, Reps: 2, Streams: []int{1},
		Duration: 50 * time.Millisecond,
	}
	runUntil(t, p, dir, "1 stream for")
	if err := os.WriteFile(filepath.Join(data, "t.parquet"), []byte(nanoseconds(t, 2e9)), 0o600); err != nil {
		t.Fatal(err)
	}
	unreachable := p
	unreachable.Engines = []string{"sqlite:" + filepath.Join(write(t, "file", ""), "file", "x.db")} // in no folder
	for _, attempt := range []own.Program{p, p, unreachable, p} {
		const refusal = "contains timings of other files: table t has changed since; name another folder"
		reports := strings.Join(runUntil(t, attempt, dir, "timing"), "\n")
		if opened := len(attempt.Engines) == len(p.Engines); strings.Contains(reports, refusal) != opened {
			t.Error(reports)
		}
	}
}

// TestResumeOtherInputs: a run is not resumed if its queries, the values of their parameters, its statements or its
// tables have changed since it timed queries. The run folder of an earlier version, without checksums, is resumed.
func TestResumeOtherInputs(t *testing.T) {
	const query = "-- param n: 1 | 2\nSELECT sum(x) + ${n} AS s FROM t"
	changed := strings.Replace(query, "sum", "max", 1)
	for _, c := range []struct {
		query, statements string // after the interruption
		removed, earlier  bool   // the table u is removed; the folder has no checksums
		refusal           string // "" = none
	}{
		{query, "ANALYZE", false, false, ""},
		{changed, "ANALYZE", false, false, "other queries or statements: query q has changed"},
		{strings.Replace(query, "2", "3", 1), "ANALYZE", false, false, "other queries or statements: query q has changed"},
		{query, "CREATE INDEX i ON t (x)", false, false, "other queries or statements: file t.sqlite.sql has changed"},
		{query, "ANALYZE", true, false, "other files: table u has changed"},
		{changed, "ANALYZE", false, true, ""},
	} {
		data := write(t, "t.csv", numbers(5), "u.csv", numbers(3), "t.sqlite.sql", "ANALYZE", "skipped.csv", "a,b\n1,2\n3\n")
		dir := filepath.Join(t.TempDir(), "run")
		p := own.Program{
			Registry: all.Registry(), Engines: inFiles(t), Tables: data, Questions: questionFiles(t, "q.sql", query), Reps: 2,
			Streams: []int{1}, Duration: 50 * time.Millisecond,
		}
		runUntil(t, p, dir, "1 stream for")
		p.Questions = questionFiles(t, "q.sql", c.query)
		if err := os.WriteFile(filepath.Join(data, "t.sqlite.sql"), []byte(c.statements), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.removed {
			os.Remove(filepath.Join(data, "u.csv"))
		}
		// Neither a table that was skipped nor statements of an engine that takes no part refuse the resumption.
		err := errors.Join(os.Remove(filepath.Join(data, "skipped.csv")), os.Symlink("none", filepath.Join(data, "t.mariadb.sql")))
		if err != nil {
			t.Fatal(err)
		}
		if c.earlier {
			path := filepath.Join(dir, "run.json")
			text, err := os.ReadFile(path)
			without := regexp.MustCompile(`,\s*"checksums":\s*\{[^}]*\}`).ReplaceAll(text, nil)
			if err != nil || len(without) == len(text) || os.WriteFile(path, without, 0o600) != nil {
				t.Fatalf("run.json cannot be changed: %v", err)
			}
		}
		reports := strings.Join(runUntil(t, p, dir, ""), "\n")
		isRefused := strings.Contains(reports, "it ended with ")
		if isRefused != (c.refusal != "") || !strings.Contains(reports, c.refusal) {
			t.Errorf("%q:\n%s", c.refusal, reports)
		}
	}
}

// TestTableNamedMarker: a table may have the name marker.
func TestTableNamedMarker(t *testing.T) {
	data := write(t, "a.csv", numbers(10), "marker.csv", numbers(5))
	qs := questionFiles(t, "q.sql", "SELECT sum(x) AS s FROM marker")
	_, samples, err := execute(t, own.Program{Engines: inFiles(t), Tables: data, Questions: qs, Reps: 1})
	if err != nil || len(samples) != 2 {
		t.Errorf("%d samples: %v", len(samples), err)
	}
}
