package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

func newScanOwn(e *env) *cobra.Command {
	p, queries, set, rows, out := &own.Program{Registry: e.engines}, []string(nil), "", int64(0), ""
	c := &cobra.Command{
		Use:   "own --tables DIR --queries FILE.sql… [--engine URL…]",
		Short: "Your own tables, your own questions: which engine answers them, and how many at once",
		Long: `Load the Parquet or CSV files of a folder into every engine, ask the questions of SQL files, and time the right answers;
then, with --streams, ask them from so many streams at once: queries an hour, percentiles, and how far the engine scales.

DIR/NAME.parquet, DIR/NAME.csv and the files of the folder DIR/NAME, at any depth, are the table NAME; a folder key=value adds a
column. Every file, its rows, and the types of all columns are printed first; a file that no table has is named with the reason.
CSV columns get the narrowest type that keeps every value; DIR/schema.sql or --types declares other types. No index is made. On a server they lie in a schema (MariaDB: a database) barograph_own, which each run empties first.
A question ends with a semicolon; lines before it may tell of it:

  -- name: top_pages
  -- title: the pages that are seen most
  -- param day: 2024-01-01 | 2024-01-02       asked in turn with each, where the text has ${day}
  -- for: postgres, mariadb                   the words of some engines for the question before

A file NAME.ENGINE.sql has the words of one engine, too. Nothing but SELECT and WITH is sent.

Proof: DuckDB answers over the files, and each engine's answer must be that; which of its own answers another engine confirms is shown.
It is a degree of its own, "engines agree", as no answer is known but by a database. Values are compared by their types, rows in their
order where the question ends in ORDER BY, otherwise as sets with repetitions. Verdicts: equal; equal to rounding (floating-point
numbers, to within --tolerance); undetermined, where the question allows several answers and this is one (ties that LIMIT cuts,
row_number() over ties): it is timed, and the report has the words that would fix it; wrong: exit status 3, and no time; failed:
exit status 4. A question or a table that cannot be read or asked costs that item, and the others go on.

Ready sets: clicks (30 questions in the shapes of ClickBench, over --rows made rows), documents (5 in the shapes of JSONBench),
star (TPC-DS's 3, 52 and 55, over a folder of barograph synth tpcds).`,
		Example: `  barograph scan own --tables data --queries questions
  barograph scan own --tables data --queries questions --engine duckdb:own.db --engine sqlite:own.db --engine lab:postgres
  barograph scan own --tables data --queries q1.sql,q2.sql --engine clickhouse:ch --engine duckdb:own.db --streams 1,2,4,8
  barograph scan own --set clicks --rows 1000000 --tables clicks --engine clickhouse:ch --engine duckdb:own.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if p.Questions, err = e.ownQuestions(queries, set); err != nil {
				return err
			}
			var skipped []fault.Skip
			if len(p.Engines) == 0 {
				named(&out, run.Owned)
				p.Engines, skipped = e.ownEngines(out)
				e.saySkipped(skipped)
			}
			if err := p.Check(); err != nil {
				return err
			}
			if p.Beside != "" && p.Beside != own.BesideLoad {
				return usage(fault.Unknown("--beside", p.Beside, []string{own.BesideLoad}))
			}
			if p.Beside != "" && len(p.Streams) == 0 {
				return fault.Misuse("--beside", "says what streams ask beside, and there are none", "add --streams 1,2,4,8")
			}
			if set != "" {
				if err := own.MakeTables(c.Context(), e.engines, set, p.Tables, rows); err != nil {
					return err
				}
			}
			p.Log = e.log()
			source := strings.Join(append([]string{p.Tables}, queries...), " ")
			return e.runs(c.Context(), &out, run.Owned, p.Seed, source, func(f *run.Folder, says func(string)) error {
				p.Progress, f.Run.Skipped = says, skipped
				return own.Run(c.Context(), *p, f)
			})
		},
	}
	c.Flags().StringVar(&p.Tables, "tables", "", "folder of Parquet or CSV files; of a set where its table is made")
	c.Flags().StringVar(&p.Types, "types", "", "file of CREATE TABLE statements that declare the types of CSV columns (default: schema.sql in the folder of the tables, if it is there)")
	c.Flags().Var((*list)(&queries), "queries", "SQL files, or folders of them")
	c.Flags().StringVar(&set, "set", "", "a ready set instead of --queries: "+strings.Join(own.Sets(), ", "))
	c.Flags().Int64Var(&rows, "rows", 1_000_000, "rows of a set's table")
	c.Flags().StringArrayVar(&p.Engines, engineFlag, nil, "engine: a URL, or NAME=URL; may be given several times (default: all embedded ones that are installed, in the run folder)")
	c.Flags().IntVar(&p.Reps, "reps", 0, "timed answers to each question (default: as many as can tell a difference beyond chance)")
	c.Flags().IntSliceVar(&p.Streams, "streams", nil, "numbers of streams that ask at once: 1,2,4,8,16")
	c.Flags().DurationVar(&p.Duration, "duration", 30*time.Second, "how long each number of streams asks")
	formerly(c, "for", "duration")
	c.Flags().IntVar(&p.Rounds, "rounds", 1, "how often each number of streams asks")
	c.Flags().StringVar(&p.Beside, "beside", "", "load: each number of streams asks alone, and while the engine loads a copy of the largest table, again and again")
	c.Flags().Float64Var(&p.Rate, "rate", 0, "questions a second of all streams together, at random times; 0 = each stream asks when it is answered")
	c.Flags().IntVar(&p.Threads, "threads", 0, "threads of an embedded engine (default: as it chooses)")
	c.Flags().Float64Var(&p.Tolerance, "tolerance", 0, "relative difference of numbers that are no exact decimals (default 1e-9)")
	c.Flags().Uint64Var(&p.Seed, "seed", 1, "seed of the order")
	c.Flags().StringVar(&p.Labs, "lab-dir", engine.LabDir(), "folder of the labs: a server that one of them started is watched beside the streams")
	c.Flags().StringVar(&out, "out", "", "run folder (default: runs/{time}-own)")
	e.enginesNamed(c)
	required(c, "tables")
	positive(c, "streams", "duration", "rounds", "rows")
	atMost(c, 1024, "streams")
	complete(c, "set", own.Sets)
	return c
}

// ownEngines are the embedded engines that keep a user's own tables, with files in
// the run folder; those that are not installed are skipped.
func (e *env) ownEngines(out string) (urls []string, skipped []fault.Skip) {
	installed, skipped := e.engines.Installed(e.engines.Those(func(d *engine.Driver) bool { return tables.Has(d, tables.OwnTables) && d.Place == engine.Embedded }))
	for _, scheme := range installed {
		urls = append(urls, scheme+":"+(&url.URL{Path: filepath.Join(out, "tables-"+scheme+".db")}).EscapedPath())
	}
	return urls, skipped
}

// ownQuestions are those of files, or of a ready set.
func (e *env) ownQuestions(queries []string, set string) ([]*own.Question, error) {
	switch {
	case set != "" && len(queries) > 0:
		return nil, fault.Misuse("--set and --queries", "name questions twice", "name one of them")
	case set != "":
		all, err := own.Set(set)
		if err != nil {
			err = usage(err)
		}
		return all, err
	}
	return own.Questions(queries, own.Names(e.engines))
}
