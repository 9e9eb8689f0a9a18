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
	var names []string
	for _, x := range tables.Partitions() {
		names = append(names, string(x))
	}
	c := &cobra.Command{
		Use:   "lake FILES…",
		Short: "Verification records as Parquet on an object store: by what to part them, and how large a file",
		Long: `Start an object store (versitygw, on loopback, removed at the end), write the records of VSDB and MET files to it as
Parquet under every partitioning and size of files, and ask the questions that the data answers, as met does. Every answer is
held against the reference that is computed from the files; only right ones are timed. No engine keeps anything of the files
from one answer to the next, so each is a cold one. The store answers through a gate that lets --rate MB pass a second for all
that ask, begins each answer --latency later, and counts requests and bytes.

Files are sorted by variable, level, region, model, time and lead. Of files that are parted a question asks for its parts, too.
DuckDB writes the files, through its extension httpfs: barograph lab install --yes s3 duckdb. DuckDB, ClickHouse (embedded) and
Trino read them; Trino on this machine, by a catalog that is made for the run and dropped at its end, as the lab's server lets it.
Tables are plain Parquet: Iceberg is not asked, for the reasons in docs/lake.md.`,
		Example: `  barograph lab install --yes s3 duckdb
  barograph scan lake vsdb_data --partition none,day,variable --mb 0.25,2,16
  barograph lab up trino
  barograph scan lake vsdb_data --engine duckdb --engine clickhouse --engine lab:trino`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if p.Files, err = e.filesOf(args); err != nil {
				return err
			}
			p.Partitions = nil
			for _, name := range parts {
				if !slices.Contains(names, name) {
					return usage(fault.Unknown("partition", name, names))
				}
				p.Partitions = append(p.Partitions, tables.Partition(name))
			}
			if err := p.Check(); err != nil {
				return err
			}
			p.Log = e.log()
			return e.runs(c.Context(), &out, run.Laked, p.Seed, strings.Join(args, " "), func(f *run.Folder, says func(string)) error {
				p.Progress = says
				return lake.Run(c.Context(), *p, f)
			})
		},
	}
	c.Flags().StringArrayVar(&p.Engines, engineFlag, []string{"duckdb"}, "engine: "+strings.Join(lake.Names(e.engines), ", ")+"; may be given several times")
	c.Flags().StringSliceVar(&parts, "partition", names, "what files are parted by")
	c.Flags().Float64SliceVar(&p.Sizes, "mb", []float64{0.25, 2, 16}, "MB (10⁶ bytes) of a file")
	c.Flags().IntVar(&p.Cases, "cases", 7, "questions, those that tell most first")
	c.Flags().IntVar(&p.Reps, "reps", 5, "timed answers to each question, of each layout and engine")
	c.Flags().Float64Var(&p.Rate, "rate", 50, "MB that the store sends in a second at most; 0 = no limit")
	c.Flags().DurationVar(&p.Latency, "latency", 20*time.Millisecond, "that each answer of the store begins later")
	c.Flags().StringVar(&p.Work, "work", "", "folder for the records and the store's files, removed at the end (default: the system's for temporary files)")
	c.Flags().Uint64Var(&p.Seed, "seed", 1, "seed of the order")
	c.Flags().StringVar(&out, "out", "", "run folder (default: runs/{time}-lake)")
	e.enginesNamed(c)
	positive(c, "mb", "cases", "reps")
	complete(c, "partition", func() []string { return names })
	return c
}
