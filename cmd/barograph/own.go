package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

func newScanOwn(e *env) *cobra.Command {
	p, queries, set, rows, out := &own.Program{Registry: e.engines}, []string(nil), "", int64(0), ""
	c := &cobra.Command{
		Use:   "own --tables DIR --queries FILE.sql…|--set SET [--engine URL…]",
		Short: "Study your own tables and SQL queries on several engines",
		Long: `Own loads the Parquet or CSV files of a folder into every engine, runs the queries of SQL files, and times those whose
results are correct. --streams then runs the queries concurrently and reports queries per hour, percentiles and scaling.

Table NAME is the file DIR/NAME.parquet or DIR/NAME.csv, or all files below DIR/NAME, where a folder day=2 adds the
column day. Own prints files, rows and column types, and unused files with the reason. A CSV column gets the narrowest
lossless type, and a column without a name is called column_ and its position; DIR/schema.sql or --types declares other
types. Own creates no index: put CREATE INDEX into DIR/TABLE.ENGINE.sql, which it runs after it has loaded TABLE into
ENGINE. On a server the tables are in a schema (MariaDB: database) barograph_own; a new run deletes and recreates it.
A query ends with a semicolon. Comments describe it; "-- for" starts it in another SQL:
  -- name: top_pages
  -- title: the most viewed pages
  -- param day: 2024-01-01 | 2024-01-02       ${day}: each value is proven; repetitions take turns
  -- for: postgres, mariadb                   the same query, in the SQL of these engines
Or write this SQL into a file QUERY.ENGINE.sql of --queries. Own sends only queries that begin with SELECT or WITH.

Own compares each result with that of DuckDB on the files. The report calls this proof "engines agree", because a
database computes the reference. Values must agree in type and value; the order of rows counts only with ORDER BY.
Verdicts: equal; equal to rounding (--tolerance); undetermined (the query allows several results, such as LIMIT without
ORDER BY, and the result is one of them: it is timed, and the report shows how to fix the query); wrong (not timed); failed.

After ^C the timings and loaded tables are kept. To resume, repeat the command with --out RUNFOLDER.

--set: clicks (30 queries modeled on ClickBench), documents (5 from JSONBench), star (TPC-DS 3, 52 and 55).`,
		Example: `  barograph scan own --tables data --queries questions
  barograph scan own --tables data --queries questions --engine duckdb:own.db --engine sqlite:own.sqlite --engine lab:postgres
  barograph scan own --tables data --queries q1.sql,q2.sql --engine clickhouse:ch --engine duckdb:own.db --streams 1,2,4,8
  barograph scan own --set clicks --tables clicks --engine clickhouse:ch --engine duckdb:own.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if p.Questions, err = e.ownQuestions(queries, set); err != nil {
				return err
			}
			if set == "" && c.Flags().Changed("rows") {
				return fault.Misuse("--rows", "applies only to --set clicks", "omit it")
			}
			var skipped []fault.Skip
			if len(p.Engines) == 0 {
				e.nameFolder(&out, run.OwnWorkload)
				p.Engines, skipped = e.ownEngines(out)
				e.printSkipped(skipped)
			}
			if err := p.Check(); err != nil {
				return err
			}
			if p.WhileLoading && len(p.Streams) == 0 {
				return fault.Misuse("--while-loading", "needs streams", "add --streams 1,2,4,8")
			}
			if set != "" {
				if err := own.MakeTables(c.Context(), e.engines, set, p.Tables, rows); err != nil {
					return err
				}
			}
			p.Log = e.log()
			source := strings.Join(append([]string{p.Tables}, queries...), " ")
			return e.inFolder(&out, run.OwnWorkload, func() (bool, error) {
				f, err := own.Folder(out, e.newRun(c.Context(), out, run.OwnWorkload, p.Seed, source), e.info)
				if err != nil {
					return false, err
				}
				p.Progress, f.Run.Skipped = f.StepLogger(e.info), skipped
				absent := e.absentFiles(p.Engines)
				err = errors.Join(own.Run(c.Context(), *p, f), removeEmpty(absent))
				keep, err := e.closeRun(c.Context(), f, err)
				// A folder with loaded tables is kept, too, so that the same command can resume the run.
				keep = keep || slices.ContainsFunc(f.Run.Archives, func(a run.Archive) bool { return a.Commits > 0 })
				switch {
				case keep && c.Context().Err() != nil:
					e.info("to resume: the same command with --out " + fault.Name(out))
				case err == nil && len(f.Samples()) == 0:
					e.info("nothing was timed; to continue: the same command with --out " + fault.Name(out) + " and a longer --time-limit")
				}
				return keep, err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&p.Tables, "tables", "", "folder of Parquet or CSV files (--set: where it makes them)")
	f.StringVar(&p.Types, "types", "", "file of CREATE TABLE statements with the types of CSV columns (default: schema.sql in the folder of the tables)")
	f.Var((*list)(&queries), "queries", "SQL files, or folders of them")
	f.StringVar(&set, "set", "", "a set of tables and queries instead of --queries: "+strings.Join(own.Sets(), ", "))
	f.Int64Var(&rows, "rows", 1_000_000, "rows of the table of --set clicks")
	f.StringArrayVar(&p.Engines, engineFlag, nil, "engine: a URL, or NAME=URL; repeat it for several (default: BAROGRAPH_ENGINE, else all installed embedded ones)")
	f.IntVar(&p.Reps, "reps", 0, "timed repetitions of each query (default: enough to show a difference)")
	f.IntVar(&p.Cold, "cold", 0, "cold repetitions of each query, with emptied caches")
	f.IntSliceVar(&p.Streams, "streams", nil, "numbers of concurrent streams: 1,2,4,8,16")
	f.DurationVar(&p.Duration, "duration", 30*time.Second, "wall time of one measurement with streams")
	formerly(c, "for", "duration")
	f.IntVar(&p.Rounds, "rounds", 1, "passes over all numbers of streams")
	f.BoolVar(&p.WhileLoading, "while-loading", false, "also run the streams while the engine loads copies of the largest table")
	formerly(c, "beside", "while-loading")
	old := c.Flags().Lookup("beside")
	old.Value, old.NoOptDefVal = whileLoadingAlias{old.Value}, ""
	f.Float64Var(&p.Rate, "rate", 0, "total queries per second, at random times; 0 = no limit")
	f.IntVar(&p.Threads, "threads", 0, "processor threads inside an embedded engine, not the number of streams (default: chosen by the engine)")
	f.Float64Var(&p.Tolerance, "tolerance", 0, "relative difference that counts as rounding (default 1e-9)")
	f.DurationVar(&p.Timeout, "timeout", 10*time.Minute, "longest time of a query on an engine")
	f.DurationVar(&p.TimeLimit, "time-limit", 0, "stop timing after this long")
	f.StringVar(&p.Memory, "memory", own.DefaultMemory, "memory limit of DuckDB for the queries on the files")
	f.BoolVar(&p.SaveResults, "save-results", false, "write the proven results into the run folder: results/ENGINE.QUERY.csv")
	f.Uint64Var(&p.Seed, "seed", 1, "seed of the order of repetitions")
	f.StringVar(&p.Labs, "lab-dir", engine.LabDir(), "folder of \"lab up\"; the run records the settings of its servers")
	f.StringVar(&out, "out", "", "run folder (default: runs/{time}-own)")
	e.prepareEngineFlag(c)
	seldom(c, "cold", "lab-dir", "memory", "rate", "rounds", "rows", "save-results", "seed", "threads", "time-limit", "timeout",
		"tolerance", "types", "while-loading")
	required(c, "tables")
	positive(c, "streams", "duration", "rounds", "rows")
	atMost(c, 1024, "streams")
	complete(c, "set", own.Sets)
	return c
}

// whileLoadingAlias is the value of --beside, the former name of --while-loading: its only value was "load".
type whileLoadingAlias struct{ pflag.Value }

// Set sets --while-loading.
func (b whileLoadingAlias) Set(text string) error {
	if text != "load" {
		return errors.New("write load")
	}
	return b.Value.Set("true")
}

// removeEmpty removes the files that are empty databases.
func removeEmpty(paths []string) (err error) {
	for _, path := range paths {
		if info, statErr := os.Stat(path); statErr == nil && info.Mode().IsRegular() && info.Size() <= emptyDatabase {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// emptyDatabase is the size of an empty DuckDB file, in bytes; an empty SQLite file is smaller. A larger file is not
// empty: somebody may have loaded into it meanwhile.
const emptyDatabase = 12 << 10

// absentFiles returns the paths of embedded engines that do not exist yet. An engine creates a file there, which stays
// empty, because the tables of a study are in another file next to it.
func (e *env) absentFiles(urls []string) (paths []string) {
	for _, raw := range urls {
		_, raw = engine.SplitName(raw)
		d, u, err := e.engines.Parse(raw)
		if err != nil || d.Place != engine.Embedded {
			continue
		}
		if _, err := os.Stat(engine.Path(u)); errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, engine.Path(u))
		}
	}
	return paths
}

// ownEngines returns the embedded engines that store a user's own tables, with files in the run
// folder. It skips engines that are not installed.
func (e *env) ownEngines(out string) (urls []string, skipped []fault.Skip) {
	suitable := func(d *engine.Driver) bool { return tables.Offers(d, tables.OwnTables) && d.Place == engine.Embedded }
	installed, skipped := e.engines.SplitInstalled(e.engines.SchemesWhere(suitable))
	for _, scheme := range installed {
		urls = append(urls, scheme+":"+(&url.URL{Path: filepath.Join(out, "tables-"+scheme+".db")}).EscapedPath())
	}
	return urls, skipped
}

// ownQuestions returns the questions of SQL files, or of a ready set.
func (e *env) ownQuestions(queries []string, set string) ([]*own.Question, error) {
	switch {
	case set != "" && len(queries) > 0:
		return nil, fault.Misuse("--set and --queries", "cannot be combined", "omit one of them")
	case set != "":
		all, err := own.Set(set)
		if err != nil {
			err = usage(err)
		}
		return all, err
	}
	return own.Questions(queries, own.Names(e.engines))
}
