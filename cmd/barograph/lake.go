package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/lake"
)

func newScanLake(e *env) *cobra.Command {
	p, parts, out := &lake.Program{Registry: e.engines}, []string(nil), ""
	names := toStrings(tables.Partitions())
	c := &cobra.Command{
		Use:   "lake FILES…",
		Short: "Query Parquet on an object store: which partitioning, which file size",
		Long: `Lake starts an object store (versitygw, on loopback, removed at the end), writes the records of VSDB and MET files to it as
Parquet in every partitioning and file size, and asks the questions that "met" asks. It compares every result with the
reference from the files and times only correct ones. Every query is cold: no engine caches files between queries. The
store sends at most --rate MB per second to all clients, starts each reply --latency later, and counts requests and bytes.

Files are sorted by variable, level, region, model, time and lead. On partitioned files a query names its partitions.
DuckDB writes the files through its extension httpfs: barograph lab install --yes s3 duckdb. DuckDB, ClickHouse (embedded)
and Trino (on this machine, by a catalog that exists for the run) read them. Lake does not use Iceberg
(docs/results/lake.md).`,
		Example: `  barograph lab install --yes s3 duckdb
  barograph scan lake vsdb_data --partition-by none,day,variable --mb 0.25,2,16
  barograph lab up trino
  barograph scan lake vsdb_data --engine duckdb --engine clickhouse --engine lab:trino`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if p.Files, err = e.onlyFiles(args, "name VSDB or MET files, or folders of them"); err != nil {
				return err
			}
			p.Partitions = nil
			for _, name := range parts {
				if !slices.Contains(names, name) {
					return usage(fault.Unknown("--partition-by", name, names))
				}
				p.Partitions = append(p.Partitions, tables.Partition(name))
			}
			if err := p.Check(); err != nil {
				return err
			}
			p.Log = e.log()
			program := func(f *run.Folder, logStep func(string)) error {
				p.Progress = logStep
				return lake.Run(c.Context(), *p, f)
			}
			return e.runProgram(c.Context(), &out, run.LakeWorkload, p.Seed, strings.Join(args, " "), program)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&p.Engines, engineFlag, []string{"duckdb"}, "engine: "+join(lake.EngineNames(e.engines))+"; repeat it for several")
	f.StringSliceVar(&parts, "partition-by", names, "partitionings of the files")
	formerly(c, "partition", "partition-by")
	f.Float64SliceVar(&p.FileMB, "mb", []float64{0.25, 2, 16}, "sizes of a file, in MB (10⁶ bytes)")
	f.IntVar(&p.Cases, "cases", 7, "number of questions, the most informative first")
	f.IntVar(&p.Repetitions, "reps", 5, "timed repetitions of each question, for each layout and engine")
	f.Float64Var(&p.MBPerSecond, "rate", 50, "MB that the store sends per second, at most; 0 = no limit")
	f.DurationVar(&p.Latency, "latency", 20*time.Millisecond, "delay of each reply of the store")
	f.StringVar(&p.WorkFolder, "work", "", "folder for temporary files")
	f.Uint64Var(&p.Seed, "seed", 1, "seed of the order of repetitions")
	f.StringVar(&out, "out", "", "run folder (default: runs/{time}-lake)")
	deprecate(c, "cases", "lake asks the seven most informative questions")
	deprecate(c, "work", "set TMPDIR instead")
	e.prepareEngineFlag(c)
	seldom(c, "latency", "rate", "seed")
	positive(c, "mb", "cases", "reps")
	complete(c, "partition-by", func() []string { return names })
	return c
}
