package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/workload/scan"
)

func newScanForecast(e *env) *cobra.Command {
	y := &scan.Yours{}
	c := &cobra.Command{
		Use:   "forecast RUN --disks N --read-mbps MBPS",
		Short: "How long a scan will take on your own disks and data, by the law of a run",
		Long: `Fit the law of the times again to the cold answers of a run (start + max(bytes ÷ (share drawn × the disks' rates), work ×
bytes ÷ cores)), and tell by it how long the questions will take on other disks, other numbers of them, other amounts of
data. The run needs cold times of six placements or more on disks that were measured: a sweep with --cold.

Your disks are given by --disks and --read-mbps (one rate for all, or one for each disk), or measured: --paths A,B
--measure-disks reads 64 MiB from each path, one after the other. Paths on disks of barograph lab disks need no measuring.

The interval is one for a single cold scan, not for a mean: of a hundred, about 95 lie in it, as long as the law holds. It
joins how uncertain the law's parameters are (a bootstrap over the repetitions, and one over the placements; the wider
counts) and the errors that single answers had about the law where it was measured. That your cores are as fast as the
run's, and the engine and its version the same, is taken for granted; what goes beyond all that was measured is named.

--partitions cores gives each core a worker and each disk as many parts as any other: the least multiple of the disks
that is not below the cores. auto is the published rule of barograph scan.`,
		Example: `  barograph scan forecast runs/20261121-120000-scan --query scan --disks 6 --read-mbps 200
  barograph scan forecast runs/20261121-120000-scan --disks 12 --read-mbps 550 --cores 32 --bytes 1.2TB
  barograph scan forecast runs/20261121-120000-scan --paths /d1,/d2 --measure-disks --scale-data 10`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			told, err := y.Forecasts(args[0])
			if told == nil {
				return err
			}
			return errors.Join(err, e.print(told, told.Text))
		},
	}
	c.Flags().StringSliceVar(&y.Queries, "query", nil, "questions (default: all that have cold times)")
	c.Flags().IntVar(&y.Disks, "disks", 0, "disks (default: as many as rates or paths are named)")
	c.Flags().Float64SliceVar(&y.ReadMBps, "read-mbps", nil, "MB (10⁶ bytes) that a disk reads per second: one rate for all, or one for each")
	c.Flags().StringSliceVar(&y.Paths, "paths", nil, "folders, one on each of your disks, instead of --disks and --read-mbps")
	c.Flags().BoolVar(&y.Measure, "measure-disks", false, "measure how fast each path is read: 64 MiB")
	c.Flags().IntVar(&y.Cores, "cores", 0, "cores that the engine may use (default: the run's)")
	c.Flags().IntVar(&y.Workers, "workers", 0, "workers of an answer (default: one for each partition)")
	c.Flags().StringVar(&y.Partitions, "partitions", scan.ByCore, "cores, auto, or a number of partitions")
	c.Flags().StringVar(&y.Bytes, "bytes", "", "bytes that the question reads from the disks: 800GB, 1.2TB, 1TiB (default: the run's)")
	c.Flags().Float64Var(&y.ScaleData, "scale-data", 1, "so many times the bytes that the question read in the run")
	complete(c, "partitions", func() []string { return []string{scan.ByCore, "auto"} })
	return c
}
