package main

import (
	"context"
	"errors"
	"os"
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
		Use:   "scan [experiment1|experiment2|sweep] --engine URL | --lab ENGINE --data DIR [--paths A,B,C | --disks]",
		Short: "Analytical scans over several disks: how many paths, how many partitions",
		Long: `Load the star of TPC-DS's query 3 over several disk paths, prove every answer, then time it. DIR is a folder that
barograph synth tpcds made. Questions: q3, q52, q55, and scan, the sum over all sales.

  experiment1   partitions on the first path alone: 1, 2, 4, 8, or those of --partitions
  experiment2   1, 2, … paths with a partition on each
  sweep         numbers of paths by numbers of partitions: 1, 2, 4, 8, 16, or those of --partitions

Without a name the placement that the flags describe is loaded. --partitions auto is the published rule: one for each path
where several are named; with a single one the least of the memory in GB, 16 and the cores; --explain says how it comes out,
and runs nothing. Configurations are loaded in random order, --rounds times.

--lab starts throwaway servers instead of using one that is there: of AsterixDB, whose partitions are settled when a server
starts, a new one for each load; of the others one for the whole run. They are removed at the end, after ^C and after errors,
too. What ends with an error there, such as more partitions than fit into memory, is given up and reported, and the other
configurations go on: exit status 4.

Cold answers are asked after the engine forgot what it holds, where it can be told to, and the system's page cache was emptied.
A server of --lab that cannot be told is stopped and started again before each of them, which takes about a second for
PostgreSQL and MariaDB and much longer for AsterixDB; --cold-restart=false leaves its memory as it is. The report says what was done.

Paths may be plain folders: then no disk is limited, and the report says so. barograph lab disks makes disks of given speeds,
which --disks names all, and --disks=6 the first six.`,
		Example: `  barograph synth tpcds --sf 1 --documents --out tpcds
  barograph scan --engine duckdb:star.db --data tpcds --paths /disk1,/disk2 --partitions auto --cold 5
  barograph scan experiment2 --engine duckdb:star.db --data tpcds --paths /d1,/d2,/d3,/d4,/d5,/d6 --query scan,q3 --reps 0 --cold 10
  barograph lab disks --count 6 --profile hdd
  barograph scan sweep --lab asterixdb --data tpcds --disks --rounds 3 --cold 3
  barograph scan experiment2 --lab postgres --profile default --setting shared_buffers=64MB --data tpcds --disks=4 --cold 5
  barograph scan --engine duckdb:star.db --data tpcds --paths /disk1 --explain`,
		Args:      cobra.MatchAll(func(_ *cobra.Command, args []string) error { return noNumber(p, args) }, cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: words(scan.Experiments()),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				p.Experiment = scan.Experiment(args[0])
			}
			if err := ofNoLab(c, p); err != nil {
				return err
			}
			e.begin(c.Context(), &p.Target)
			if explain {
				plan, err := p.Plan(c.Context())
				if err != nil {
					return err
				}
				return e.print(plan, plan.Text)
			}
			some, err := p.Run(c.Context())
			return e.scanned(&p.Target, some, err)
		},
	}
	scanFlags(c, p)
	c.Flags().BoolVar(&explain, "explain", false, "print the configurations and how the rule came to them, and run nothing")
	e.enginesNamed(c, "db")
	complete(c, "lab", e.engines.Servers)
	c.AddCommand(newScanForecast(e), newScanVerification(e), newScanOwn(e), newScanLake(e))
	return c
}

// scanFlags defines the flags of a program.
func scanFlags(c *cobra.Command, p *scan.Program) {
	c.Flags().StringVar(&p.URL, engineFlag, "", "URL of the engine")
	c.Flags().StringVar(&p.Servers.Engine, "lab", "", "`engine` of which throwaway servers are started")
	c.Flags().IntVar(&p.Servers.Nodes, "nodes", 1, "nodes of each throwaway server")
	c.Flags().StringVar(&p.Servers.Profile, "profile", "tuned", "settings of throwaway servers: tuned, default")
	c.Flags().Int64Var(&p.Servers.Memory, "memory", 0, "`MiB` that the profile counts on for a node of a throwaway server: less memory, smaller buffers; 0 = all")
	c.Flags().StringArrayVar(&p.Servers.Settings, "setting", nil, "`name=value`, a setting of throwaway servers in their own words, in place of the profile's; may be repeated")
	c.Flags().StringVar(&p.Data, "data", "", "folder of generated tables (required)")
	c.Flags().Var((*list)(&p.Paths), "paths", "folders, one on each disk (default: where the engine keeps its data)")
	c.Flags().StringVar(&p.Disks, "disks", "", "the throttled disks in the labs' folder are the paths: all, or the first `n`")
	c.Flags().Lookup("disks").NoOptDefVal = scan.AllDisks
	c.Flags().StringSliceVar(&p.Partitions, "partitions", []string{"auto"}, "auto, or numbers of partitions")
	c.Flags().IntVar(&p.Workers, "workers", 0, "workers of an answer (default: one for each partition)")
	c.Flags().StringSliceVar(&p.Queries, "query", words(tables.StarQueries()), "questions")
	c.Flags().IntVar(&p.Reps, "reps", 5, "warm answers to each question after each load")
	c.Flags().IntVar(&p.Cold, "cold", 0, "cold answers to each question after each load")
	c.Flags().BoolVar(&p.Servers.Restart, "cold-restart", true, "start a throwaway server anew before each cold answer, if its engine cannot be told to forget")
	c.Flags().IntVar(&p.Rounds, "rounds", 1, "loads of each configuration")
	c.Flags().Uint64Var(&p.Seed, "seed", 1, "seed of the order")
	c.Flags().BoolVar(&p.MeasureDisks, "measure-disks", false, "first measure how fast each path is read: 64 MiB")
	c.Flags().StringVar(&p.Out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&p.Labs, "lab-dir", engine.LabDir(), "folder of the labs and their disks: a server that one of them started is watched beside the run")
	positive(c, "nodes", "rounds")
	c.MarkFlagsOneRequired(engineFlag, "lab")
	c.MarkFlagsMutuallyExclusive(engineFlag, "lab")
	c.MarkFlagsMutuallyExclusive("paths", "disks")
	required(c, "data")
	complete(c, "query", func() []string { return words(tables.StarQueries()) })
}

// noNumber: a number that stands by itself was meant for --disks.
func noNumber(p *scan.Program, args []string) error {
	for _, a := range args {
		if _, err := strconv.Atoi(a); err == nil && p.Disks == scan.AllDisks {
			return &fault.Error{Setting: "--disks " + a, Problem: "is two words", Cure: "write --disks=" + a}
		}
	}
	return nil
}

// ofNoLab refuses flags that tell of a lab where there is none.
func ofNoLab(c *cobra.Command, p *scan.Program) error {
	for _, name := range []string{"nodes", "profile", "memory", "setting", "cold-restart"} {
		if p.Servers.Engine == "" && c.Flags().Changed(name) {
			return fault.Misuse("--"+name, "tells of servers that --lab starts", "name an engine with --lab, or leave it out")
		}
	}
	return nil
}

// begin begins a scan.
func (e *env) begin(ctx context.Context, t *scan.Target) {
	named(&t.Out, run.Scanned)
	t.Registry, t.New, t.Log, t.Progress = e.engines, e.newRun(ctx, t.Out, run.Scanned, 0, ""), e.log(), e.says
}

// scanned reports what a scan measured, also before it failed.
func (e *env) scanned(t *scan.Target, some bool, err error) error {
	if !some {
		return err
	}
	return errors.Join(err, e.report(t.Out))
}

func newScanForecast(e *env) *cobra.Command {
	y, heldOut := &scan.Yours{}, ""
	c := &cobra.Command{
		Use:   "forecast RUN --disks N --read-mbps MBPS",
		Short: "How long a scan will take on your own disks and data, by the law of a run",
		Long: `Fit the law of the times again to the cold answers of a run (start + max(bytes ÷ (share drawn × the disks' rates), work ×
bytes ÷ cores)), and tell by it how long the questions will take on other disks, other numbers of them, other amounts of
data. The run needs cold times on disks that were measured: a sweep with --cold. Where disks decided at some placements and
cores at others, six of them tell the law; where disks decided at all, four do, with the processor time that was counted.

Your disks are given by --disks and --read-mbps (one rate for all, or one for each disk), or measured: --paths A,B
--measure-disks reads 64 MiB from each path, one after the other. Paths on disks of barograph lab disks need no measuring.

The interval is one for a single cold scan, not for a mean: of a hundred, about 95 lie in it, as long as the law holds. It
joins how uncertain the law's parameters are (a bootstrap over the repetitions, and one over the placements; the wider
counts) and the errors that single answers had about the law of the other placements; these grow with the distance from
what was measured. --held-out FILE forecasts the run's own placements so, each from the others, and writes all of it as CSV.
Of a server on another machine let Barograph make the run there, where its disks and its page cache are: the folder of
the run is all that a forecast needs. That your cores are as fast as the run's, and the engine and its version the same,
is taken for granted; what goes beyond all that was measured is named.

--partitions cores gives each core a worker and each disk as many parts as any other: the least multiple of the disks
that is not below the cores. auto is the published rule of barograph scan.`,
		Example: `  barograph scan forecast runs/20261121-120000-scan --query scan --disks 6 --read-mbps 200
  barograph scan forecast runs/20261121-120000-scan --disks 12 --read-mbps 550 --cores 32 --bytes 1.2TB
  barograph scan forecast runs/20261121-120000-scan --paths /d1,/d2 --measure-disks --scale-data 10`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			y.HoldOut = heldOut != ""
			told, err := y.Forecasts(args[0])
			if told == nil {
				return err
			}
			if heldOut != "" {
				err = errors.Join(err, writeHeldOut(heldOut, told))
			}
			return errors.Join(err, e.print(told, told.Text))
		},
	}
	c.Flags().StringSliceVar(&y.Queries, "query", nil, "questions (default: all that have cold times)")
	c.Flags().IntVar(&y.Disks, "disks", 0, "disks (default: as many as rates or paths are named)")
	c.Flags().Float64SliceVar(&y.ReadMBps, "read-mbps", nil, "MB (10⁶ bytes) that a disk reads per second: one rate for all, or one for each")
	c.Flags().Var((*list)(&y.Paths), "paths", "folders, one on each of your disks, instead of --disks and --read-mbps")
	c.Flags().BoolVar(&y.Measure, "measure-disks", false, "measure how fast each path is read: 64 MiB")
	c.Flags().IntVar(&y.Cores, "cores", 0, "cores that the engine may use (default: the run's)")
	c.Flags().IntVar(&y.Workers, "workers", 0, "workers of an answer (default: one for each partition)")
	c.Flags().StringVar(&y.Partitions, "partitions", scan.ByCore, "cores, auto, or a number of partitions")
	c.Flags().StringVar(&y.Bytes, "bytes", "", "bytes that the question reads from the disks: 800GB, 1.2TB, 1TiB (default: the run's)")
	c.Flags().Float64Var(&y.ScaleData, "scale-data", 1, "so many times the bytes that the question read in the run")
	c.Flags().StringVar(&heldOut, "held-out", "", "forecast each of the run's own configurations from the others, and write what came of it to this CSV file")
	complete(c, "partitions", func() []string { return []string{scan.ByCore, "auto"} })
	return c
}

func writeHeldOut(path string, told *scan.Forecasts) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(scan.WriteHeldOut(f, told.Engine, told.HeldOut), f.Close())
}

func newScanVerification(e *env) *cobra.Command {
	t, v, designs := scan.Target{}, scan.Verification{}, []string(nil)
	c := &cobra.Command{
		Use:   "verification FILES… --engine URL [--design D,…]",
		Short: "Scan a whole verification archive: the mean ACC by model, variable, level, region and lead",
		Long: `Ask what a die-off page over all years asks: for every model, fcst_var, fcst_lev, vx_mask and fcst_lead of an archive the
number of SAL1L2 records, and the mean of their anomaly correlations. The engine itself computes, groups and averages; it
looks at every record, as the question has no condition. Engines that cannot are refused.

FILES are VSDB and MET files, or folders of them. They are loaded under every design, unless the archive holds them already
(barograph load), and the reference is computed from them alone: every answer is held against it, counts exactly, means to
within what the order of a floating-point sum can change. An archive that holds other files, too, is refused.

The archive lies where the engine keeps its data: it is not spread over paths. Cold answers are asked after the database was
closed, the system's page cache emptied, and the database opened anew; of a server the connection is, and its memory stays.`,
		Example: `  barograph synth vsdb --preset seed --out archive
  barograph scan verification archive --engine duckdb:archive.db --cold 5
  barograph scan verification archive --engine postgres://postgres@127.0.0.1:5432/ --design wide,normalized`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e.begin(c.Context(), &t)
			some, err := t.Verify(c.Context(), v, args, designs)
			return e.scanned(&t, some, err)
		},
	}
	c.Flags().StringVar(&t.URL, engineFlag, "", "URL of the engine (required)")
	c.Flags().StringSliceVar(&designs, "design", nil, "designs (default: all under which the engine computes means)")
	c.Flags().StringVar(&v.Subset, "subset", defaultSubset, "name of the copy of the data set inside the archive")
	c.Flags().IntVar(&v.Warm, "reps", 5, "warm answers under each design")
	c.Flags().IntVar(&v.Cold, "cold", 0, "cold answers under each design")
	c.Flags().Uint64Var(&v.Seed, "seed", 1, "seed of the order")
	c.Flags().StringVar(&t.Out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&t.Labs, "lab-dir", engine.LabDir(), "folder of the labs: a server that one of them started is watched beside the run")
	e.enginesNamed(c, "db")
	required(c, engineFlag)
	complete(c, "design", designNames)
	return c
}
