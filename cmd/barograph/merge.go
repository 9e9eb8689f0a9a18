package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/run"
	"github.com/barograph/barograph/workload/ycsb"
)

func newMerge(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge RUN… --out DIR",
		Short: "Join the run folders that several client machines wrote at the same time",
		Long: `Merge joins folders of ycsb runs: of the same workload, engine, layout and number of threads the histograms are added
count by count, so that percentiles are those of all operations, operations are summed, the series laid over each other
by the machines' clocks, and throughput is all operations over the time from the first client's start to the last's end.
What one client found wrong is wrong. Points of different engines or numbers of threads stand side by side.

Give each client its part of the work by --shard i/n of ycsb load and run.`,
		Example: `  client-1$ barograph ycsb run --engine URL -P workloada --shard 1/2 --threads 32 --out a
  client-2$ barograph ycsb run --engine URL -P workloada --shard 2/2 --threads 32 --out b
  barograph merge a b --out both`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, dirs []string) error {
			r, samples, err := ycsb.Merge(dirs)
			if err != nil {
				return err
			}
			r.ID, r.Args, r.Version = filepath.Base(out), redacted(e.args), engine.Version()
			p, err := run.Create(out, r)
			if err != nil {
				return err
			}
			for _, s := range samples {
				if err := p.Add(s); err != nil {
					return err
				}
			}
			if err := p.Close(); err != nil {
				return err
			}
			return e.report(out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder to make")
	if err := c.MarkFlagRequired("out"); err != nil {
		panic(err) // there is such a flag
	}
	return c
}
