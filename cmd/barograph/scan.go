package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

func newScan(e *env) *cobra.Command {
	p, explain := &scan.Program{}, false
	c := &cobra.Command{
		Use:   "scan [EXPERIMENT] --engine URL|--lab ENGINE --data DIR [--paths A,B,C|--disks]",
		Short: "Scan a star schema over several disks: how many paths, how many partitions",
		Long: `Scan distributes three tables of TPC-DS (sales, days, items) over several disks, checks the result of every query, and
times it. "barograph synth tpcds" makes the tables. Queries: TPC-DS's q3, q52, q55; "scan", the sum of all sales. Experiments:
  experiment1   how many partitions on one path: 1, 2, 4, 8, or those of --partitions
  experiment2   first one path, --partitions (default: auto); then 1, 2, … paths, one partition each
  sweep         1, 2, … paths, partitions 1, 2, 4, 8, 16 (or --partitions), no fewer than paths

Without an experiment, scan loads only the configuration that the flags describe. With several paths, --partitions auto is
one partition on each path. With a single path, it is the smallest of these numbers: GB of memory, cores, and 16. Scan loads
the configurations in random order, --rounds times. The run folder has the results: results/ENGINE.QUERY.csv.

--lab starts temporary servers and removes them at the end, also after ^C and errors: for AsterixDB a new one for each
load, for the others one for the run. Scan reports a configuration that fails on such a server, for example for lack of
memory, and continues with the others.

Before a cold repetition the engine drops its caches if it can, and scan empties the page cache of the system. A server
of --lab that cannot drop them is restarted, except with --cold-restart=false. Plain folders as paths have no speed
limit. "barograph lab disks" makes disks of given speeds: --disks uses all of them, --disks=6 the first six.`,
		Example: `  barograph synth tpcds --sf 1 --documents --out tpcds
  barograph scan --engine duckdb:star.db --data tpcds --paths /disk1,/disk2 --partitions auto --cold 5
  barograph scan experiment2 --engine duckdb:star.db --data tpcds --paths /d1,/d2,/d3,/d4,/d5,/d6 --queries scan,q3 --reps 0 --cold 10
  barograph lab disks --count 6 --profile hdd
  barograph scan sweep --lab asterixdb --profile tuned --data tpcds --disks --rounds 3 --cold 3
  barograph scan experiment2 --lab postgres --profile default --setting shared_buffers=64MB --data tpcds --disks=4 --cold 5
  barograph scan --engine duckdb:star.db --data tpcds --paths /disk1 --explain`,
		Args: cobra.MatchAll(func(_ *cobra.Command, args []string) error { return checkDisks(p, args) },
			cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: toStrings(scan.Experiments()),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				p.Experiment = scan.Experiment(args[0])
			}
			if err := checkLabFlags(c, p); err != nil {
				return err
			}
			e.prepareScan(c.Context(), &p.Target)
			if explain {
				plan, err := p.Plan(c.Context())
				if err != nil {
					return err
				}
				return e.print(plan, plan.Text)
			}
			hasSamples, err := p.Run(c.Context())
			return e.reportScan(&p.Target, hasSamples, err)
		},
	}
	scanFlags(c, p)
	c.Flags().BoolVar(&explain, "explain", false, "print the configurations and the values from which auto derived them, and run nothing")
	e.prepareEngineFlag(c, "db")
	complete(c, "lab", e.engines.Servers)
	c.AddCommand(newScanForecast(e), newScanVerification(e), newScanOwn(e), newScanLake(e))
	return c
}

// scanFlags defines the flags of a program.
func scanFlags(c *cobra.Command, p *scan.Program) {
	f := c.Flags()
	f.StringVar(&p.URL, engineFlag, "", "URL of the engine")
	f.StringVar(&p.Servers.Engine, "lab", "", "`engine` for which to start temporary servers")
	f.IntVar(&p.Servers.Nodes, "nodes", 1, "nodes of each temporary server")
	f.StringVar(&p.Servers.Profile, "profile", "", "as in lab up: default or tuned; if omitted, the first of the engine")
	f.Int64Var(&p.Servers.Memory, "memory", 0, "`MiB` of memory that the profile assumes for a node of a temporary server; 0 = all")
	f.StringArrayVar(&p.Servers.Settings, "setting", nil,
		"`name=value`, a setting of temporary servers in place of the profile's; repeat it for several")
	f.StringVar(&p.Data, "data", "", "folder of generated tables (required)")
	f.Var((*list)(&p.Paths), "paths", "folders, one on each disk (default: where the engine keeps its data)")
	f.StringVar(&p.Disks, "disks", "", "use throttled disks of \"barograph lab disks\" as paths: --disks for all, --disks=`N` for the first N")
	f.Lookup("disks").NoOptDefVal = scan.AllDisks
	f.StringSliceVar(&p.Partitions, "partitions", nil, "numbers, or auto (default: auto; see also Experiments)")
	f.IntVar(&p.Workers, "workers", 0, "workers of a query (default: one per partition)")
	f.StringSliceVar(&p.Queries, "queries", toStrings(tables.StarQueries()), "queries")
	f.IntVar(&p.Reps, "reps", 5, "timed warm repetitions of each query after each load")
	f.IntVar(&p.Cold, "cold", 0, "cold repetitions of each query after each load")
	f.BoolVar(&p.Servers.Restart, "cold-restart", true, "restart a temporary server before each cold repetition if it cannot drop its caches")
	f.IntVar(&p.Rounds, "rounds", 1, "passes over all configurations")
	f.Uint64Var(&p.Seed, "seed", 1, "seed of the order of repetitions")
	f.BoolVar(&p.MeasureDisks, "measure-disks", false, "first measure how fast each path is read: 64 MiB")
	f.StringVar(&p.Out, "out", "", "run folder (default: runs/{time}-scan)")
	f.StringVar(&p.Labs, "lab-dir", engine.LabDir(), "folder of \"lab up\"; the run records the settings of its servers")
	positive(c, "nodes", "rounds")
	seldom(c, "cold-restart", "lab-dir", "measure-disks", "memory", "nodes", "profile", "rounds", "seed", "setting", "workers")
	c.MarkFlagsOneRequired(engineFlag, "lab")
	c.MarkFlagsMutuallyExclusive(engineFlag, "lab")
	c.MarkFlagsMutuallyExclusive("paths", "disks")
	required(c, "data")
	complete(c, "queries", func() []string { return toStrings(tables.StarQueries()) })
	formerly(c, "query", "queries")
}

// checkDisks refuses a number among the arguments: the user meant it as the value of --disks.
func checkDisks(p *scan.Program, args []string) error {
	for _, arg := range args {
		if _, err := strconv.Atoi(arg); err == nil && p.Disks == scan.AllDisks {
			return &fault.Error{Setting: "--disks " + arg, Problem: "needs an equals sign", Cure: "write --disks=" + arg}
		}
	}
	return nil
}

// checkLabFlags refuses flags about temporary servers if --lab is missing.
func checkLabFlags(c *cobra.Command, p *scan.Program) error {
	for _, name := range []string{"nodes", "profile", "memory", "setting", "cold-restart"} {
		if p.Servers.Engine == "" && c.Flags().Changed(name) {
			return fault.Misuse("--"+name, "applies only to servers that --lab starts", "add --lab ENGINE, or omit --"+name)
		}
	}
	return nil
}

// prepareScan prepares the target of a scan: its run folder, log and progress.
func (e *env) prepareScan(ctx context.Context, t *scan.Target) {
	e.nameFolder(&t.Out, run.ScanWorkload)
	t.Registry, t.New, t.Log, t.Progress = e.engines, e.newRun(ctx, t.Out, run.ScanWorkload, 0, ""), e.log(), e.info
}

// reportScan writes the report of a scan, even if the scan failed after some measurements.
func (e *env) reportScan(t *scan.Target, hasSamples bool, err error) error {
	if !hasSamples {
		return err
	}
	return errors.Join(err, e.report(t.Out))
}

func newScanForecast(e *env) *cobra.Command {
	request, heldOut := &scan.ForecastRequest{}, ""
	c := &cobra.Command{
		Use:   "forecast RUN --disks N --read-mbps MBPS",
		Short: "Project how long a scan takes on other disks and data, from a measured run",
		Long: `Forecast fits a model to the cold results of a run (start + max(bytes ÷ (share × disk rates), work × bytes ÷ cores))
and projects the times for other disks, other numbers of disks and other amounts of data. The run needs cold times on
measured disks: a sweep with --cold. Forecast needs six configurations (numbers of paths and partitions) if disks limited
some and cores others, and four with counted processor time if cores limited none.

Describe your disks by --disks and --read-mbps, or measure them: --paths A,B --measure-disks reads 64 MiB from each path.
Paths on disks of "barograph lab disks" need no measurement.

The 95 % interval is that of one cold scan, not of a mean. It combines the uncertainty of the parameters (a bootstrap over
the repetitions and one over the configurations, whichever is wider) and the errors of single results against the model of
the other configurations; these grow with the distance from what was measured. If it is wider than ±40 %, Forecast names no
time. --held-out FILE projects each configuration of the run from the others and writes the errors as CSV. Forecast assumes
cores as fast as the run's and the same engine and version, and names values beyond the measured range.

--partitions cores gives each core a worker and each disk the same number of partitions: the least multiple of the disks
that is not less than the cores. auto is the rule of "barograph scan".`,
		Example: `  barograph scan forecast runs/20261121-120000-scan --queries scan --disks 6 --read-mbps 200
  barograph scan forecast runs/20261121-120000-scan --disks 12 --read-mbps 550 --cores 32 --bytes 1.2TB
  barograph scan forecast runs/20261121-120000-scan --paths /d1,/d2 --measure-disks --scale-data 10`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.mayWrite("--held-out", heldOut, nil); err != nil {
				return err
			}
			request.HoldOut, request.Progress = heldOut != "", e.info
			forecasts, err := request.Forecasts(c.Context(), args[0])
			if forecasts == nil {
				return err
			}
			if heldOut != "" {
				err = errors.Join(err, e.writeHeldOut(heldOut, forecasts))
			}
			return errors.Join(err, e.print(forecasts, forecasts.Text))
		},
	}
	f := c.Flags()
	f.StringSliceVar(&request.Queries, "queries", nil, "queries (default: all that have cold times)")
	f.IntVar(&request.Disks, "disks", 0, "number of disks (default: that of the rates or paths)")
	f.Float64SliceVar(&request.ReadMBps, "read-mbps", nil, "MB (10⁶ bytes) that a disk reads per second: one rate for all, or one for each")
	f.Var((*list)(&request.Paths), "paths", "folders, one on each of your disks, instead of --disks and --read-mbps")
	f.BoolVar(&request.Measure, "measure-disks", false, "first measure how fast each path is read: 64 MiB")
	f.IntVar(&request.Cores, "cores", 0, "cores that the engine may use (default: the run's)")
	f.IntVar(&request.Workers, "workers", 0, "workers of a query (default: one per partition)")
	f.StringVar(&request.Partitions, "partitions", scan.ByCore, "cores, auto, or a number of partitions")
	f.StringVar(&request.Bytes, "bytes", "", "bytes that the query reads from the disks: 800GB, 1.2TB, 1TiB (default: the run's)")
	f.Float64Var(&request.ScaleData, "scale-data", 1, "multiple of the bytes that the query read in the run")
	f.StringVar(&heldOut, "held-out", "", "project each configuration of the run from the others, and write the errors to this CSV file")
	formerly(c, "query", "queries")
	seldom(c, "held-out", "scale-data", "workers")
	complete(c, "partitions", func() []string { return []string{scan.ByCore, "auto"} })
	return c
}

// writeHeldOut writes the errors of the projections of each configuration from the others, as CSV.
func (e *env) writeHeldOut(path string, forecasts *scan.Forecasts) error {
	f, err := e.create("--held-out", path)
	if err != nil {
		return err
	}
	return errors.Join(scan.WriteHeldOut(f, forecasts.Engine, forecasts.HeldOut), f.Close())
}

func newScanVerification(e *env) *cobra.Command {
	t, v, designs := scan.Target{}, scan.Verification{}, []string(nil)
	c := &cobra.Command{
		Use:   "verification FILES… --engine URL [--design D,…]",
		Short: "Scan a complete verification archive: mean ACC of every series",
		Long: `Verification asks what a die-off page over all years asks: for every model, fcst_var, fcst_lev, vx_mask and fcst_lead the
number of SAL1L2 records and the mean of their anomaly correlations. The engine computes the means and reads every record.
Engines that cannot compute them are refused.

Barograph loads FILES (VSDB and MET files, or folders) under every design, unless the archive has them already. It computes
the reference from the files, and compares counts exactly, and means to within the rounding of a sum in another order. An
archive with records of other files is refused.

The archive is where the engine keeps its data. Before a cold result Barograph closes the database, empties the page cache,
and opens the database again; of a server it renews only the connection.`,
		Example: `  barograph synth vsdb --preset seed --out archive
  barograph scan verification archive --engine duckdb:archive.db --cold 5
  barograph scan verification archive --engine postgres://postgres@127.0.0.1:5432/ --design wide,normalized`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e.prepareScan(c.Context(), &t)
			hasSamples, err := t.Verify(c.Context(), v, args, designs)
			return e.reportScan(&t, hasSamples, err)
		},
	}
	c.Flags().StringVar(&t.URL, engineFlag, "", "URL of the engine (required)")
	c.Flags().StringSliceVar(&designs, "design", nil, "designs (default: all in which the engine computes means)")
	c.Flags().StringVar(&v.Subset, "subset", defaultSubset, "name of the data set in the archive")
	c.Flags().IntVar(&v.Warm, "reps", 5, "timed warm repetitions in each design")
	c.Flags().IntVar(&v.Cold, "cold", 0, "cold repetitions in each design")
	c.Flags().Uint64Var(&v.Seed, "seed", 1, "seed of the order of repetitions")
	c.Flags().StringVar(&t.Out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&t.Labs, "lab-dir", engine.LabDir(), "folder of \"lab up\"; the run records the settings of its servers")
	e.prepareEngineFlag(c, "db")
	required(c, engineFlag)
	complete(c, "design", designNames)
	return c
}
