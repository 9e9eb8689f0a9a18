package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb"
)

func newMerge(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge RUN… --out DIR",
		Short: "Merge run folders that several client machines wrote at the same time",
		Long: `Merge joins the folders of ycsb runs. For the same workload, engine, layout, target and number of threads it adds the
histograms count by count, so percentiles are those of all operations. It sums the operations, and aligns the time
series by the clocks of the machines. The throughput is that of the successful operations from the first start to the last
end. A result that one client found wrong is wrong. If the folder of a client is missing, the result has a warning.

Give each client its share of the work with the flag --shard i/n of "ycsb load" and "ycsb run".`,
		Example: `  client-1$ barograph ycsb run --engine URL -P workloada -p operationcount=0 -p maxexecutiontime=60 --shard 1/2 --out a
  client-2$ barograph ycsb run --engine URL -P workloada -p operationcount=0 -p maxexecutiontime=60 --shard 2/2 --out b
  barograph merge a b --out both`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, dirs []string) error {
			r, samples, err := ycsb.Merge(dirs)
			if err != nil {
				return err
			}
			r.ID, r.Args, r.Version = filepath.Base(out), fault.RedactArgs(e.args), build.Version()
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
	c.Flags().StringVar(&out, "out", "", "run folder to create (required)")
	required(c, "out")
	return c
}
