package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/synth"
	generate "github.com/barograph/barograph/study/synth/tpcds"
)

func newSynth(e *env) *cobra.Command {
	c := &cobra.Command{Use: "synth", Short: "Make synthetic data in the real formats, from a seed"}
	return parent(c, newSynthVSDB(e), newSynthMET(e), newSynthSHEF(e), newSynthTPCDS(e))
}

// writerCommand makes a command that writes synthetic files into the folder of --out.
func (e *env) writerCommand(c *cobra.Command, files func() ([]synth.FileSpec, error)) *cobra.Command {
	var out string
	c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		all, err := files()
		if err != nil {
			return usage(err)
		}
		return e.writeSynthetic(c.Context(), out, all)
	}
	c.Flags().StringVar(&out, "out", "", "folder to write into (required)")
	required(c, "out")
	return c
}

func newSynthVSDB(e *env) *cobra.Command {
	var v synth.VSDB
	var from, to string
	c := e.writerCommand(&cobra.Command{
		Use:   "vsdb --out DIR",
		Short: "Make VSDB files (anom, pres, sfc, grid2obs)",
		Long: `Vsdb makes files in NCEP's layout: DIR/vsdb_data/{stattype}/{cycle}/{model}/*.vsdb.

The same seed makes the same bytes. Skill decreases with lead, partial sums are consistent, and seasons and models differ.
The preset "seed" is a small archive on which the seven cases of NOAA's experiment return as many rows as NOAA
recorded: 848, 16,960, 28,718, 28,718, 2,168, 28,718 and 28,718.`,
		Example: `  barograph synth vsdb --preset seed --out data
  barograph synth vsdb --since 2019-01-01 --until 2019-01-07 --models gfs,ecm --stattypes anom,pres --out data`,
	}, func() (_ []synth.FileSpec, err error) {
		if v.From, v.To, err = parseDays(from, to, v.Preset != ""); err != nil {
			return nil, err
		}
		return v.Files()
	})
	c.Flags().Uint64Var(&v.Seed, "seed", 1, "seed of every value")
	c.Flags().StringVar(&from, "since", "", "first valid day, e.g. 2019-01-01 (required without --preset)")
	formerly(c, "from", "since")
	untilFlag(c, &to, "last valid day (default: the first)")
	c.Flags().Float64Var(&v.Scale, "scale", 1, "factor for the number of days")
	positive(c, "scale")
	c.Flags().StringSliceVar(&v.Models, "models", nil, "gfs, ecm (default: both)")
	c.Flags().StringSliceVar(&v.StatTypes, "stattypes", nil, "anom, pres, sfc, grid2obs (default: all)")
	c.Flags().StringVar(&v.Preset, "preset", "", "seed: the data of the seven cases; quickstart: the same and some days of a "+
		"second model; of the other flags, a preset uses only --seed and --out")
	complete(c, "preset", func() []string { return []string{"seed", "quickstart"} })
	complete(c, "stattypes", func() []string { return []string{synth.Anom, synth.Pres, synth.Sfc, synth.Grid2obs} })
	return c
}

func newSynthMET(e *env) *cobra.Command {
	var m synth.MET
	var from, to string
	c := e.writerCommand(&cobra.Command{
		Use:     "met --out DIR",
		Short:   "Make .stat files as grid_stat of MET 12 writes them",
		Example: `  barograph synth met --since 2024-10-31 --until 2024-11-01 --out data`,
	}, func() (_ []synth.FileSpec, err error) {
		if m.From, m.To, err = parseDays(from, to, false); err != nil {
			return nil, err
		}
		return m.Files()
	})
	c.Flags().Uint64Var(&m.Seed, "seed", 1, "seed of every value")
	c.Flags().StringVar(&from, "since", "", "first valid time, e.g. 2024-10-31 = 00Z (required)")
	formerly(c, "from", "since")
	untilFlag(c, &to, "last valid time, inclusive (six-hourly; default: the first)")
	c.Flags().StringSliceVar(&m.Models, "models", nil, "GFS, ECMWF (default: both)")
	c.Flags().IntSliceVar(&m.Leads, "leads", nil, "forecast leads in hours (default: 6 to 120 by 6)")
	c.Flags().BoolVar(&m.CTC, "ctc", false, "add contingency tables of precipitation")
	required(c, "since")
	return c
}

// parseDays parses a range of days. With a preset both may be missing.
func parseDays(from, to string, preset bool) (a, b time.Time, err error) {
	if from == "" && preset {
		return a, b, nil
	}
	if from == "" {
		return a, b, fault.Misuse("--since", "is missing", "write the first day, for example --since 2019-01-01, or a --preset")
	}
	first, err := question.ParseTime(from)
	if err != nil {
		return a, b, fmt.Errorf("--since: %w", err)
	}
	a, b = time.Unix(first, 0).UTC(), time.Time{}
	if to != "" {
		last, err := question.ParseTime(to)
		if err != nil {
			return a, b, fmt.Errorf("--until: %w", err)
		}
		b = time.Unix(last, 0).UTC()
	}
	return a, b, nil
}

// writeSynthetic writes the files and prints their counts.
func (e *env) writeSynthetic(ctx context.Context, out string, files []synth.FileSpec) error {
	bar := newProgress(e)
	defer bar.stop()
	start := time.Now()
	var mu sync.Mutex
	done := int64(0)
	s, err := synth.WriteAll(ctx, out, files, runtime.GOMAXPROCS(0), func(int64) {
		mu.Lock()
		defer mu.Unlock()
		done++
		bar.update("making data", done, int64(len(files)), false)
	})
	if err != nil {
		return err
	}
	t := time.Since(start).Seconds()
	bar.finish("making data", fmt.Sprintf("%s, %s, %s, %.0f MB/s", run.CountOf(s.Files, "file"), run.CountOf(s.Lines, "line"),
		humanize.BytesN(uint64(s.Bytes), 3), float64(s.Bytes)/1e6/t))
	e.warnOfOthers(out, files)
	result := map[string]any{"out": out, "files": s.Files, "lines": s.Lines, "bytes": s.Bytes, "digest": s.Digest, "seconds": t}
	return e.print(result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %s, %s, %s, digest %s\n",
			out, run.CountOf(s.Files, "file"), run.CountOf(s.Lines, "line"), run.CountOf(s.Bytes, "byte"), s.Digest)
		return err
	})
}

// warnOfOthers warns of files in the folders of the synthetic files that this command did not write: a load of such a
// folder reads them, too.
func (e *env) warnOfOthers(out string, files []synth.FileSpec) {
	written, folders := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		path := filepath.Join(out, filepath.FromSlash(f.Path))
		top, _, _ := strings.Cut(f.Path, "/")
		written[path], folders[filepath.Join(out, top)] = true, true
	}
	others := 0
	for folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // it ignores what it cannot read
			if err == nil && !d.IsDir() && !written[path] {
				others++
			}
			return nil
		})
	}
	if others > 0 {
		e.info(fmt.Sprintf("warning: %s also has %s from before; to read only the new files, write them into another folder",
			fault.Name(out), run.CountOf(others, "file")))
	}
}

// feedFlags describe a synthetic feed of SHEF products.
type feedFlags struct {
	feed     synth.SHEF
	from     string
	liveDays int
}

func (f *feedFlags) add(c *cobra.Command) {
	c.Flags().Uint64Var(&f.feed.Seed, "seed", 1, "seed of every value")
	c.Flags().IntVar(&f.feed.Messages, "messages", 0, "number of products (default: 55,338)")
	c.Flags().Float64Var(&f.feed.Mean, "mean", 0, "values per product (default: 240.3)")
	c.Flags().IntVar(&f.feed.PerDay, "per-day", 0, "products per day (default: 14,700)")
	c.Flags().IntVar(&f.liveDays, "live-days", 0, "days of a live feed (14,700 products a day, 55 values each) instead of the backlog")
	c.MarkFlagsMutuallyExclusive("live-days", "messages") // both set the number of products
	c.Flags().StringVar(&f.from, "since", "", "first day (default: 2006-03-09, the first of the feed of NOAA's 2006 report)")
	formerly(c, "from", "since")
	c.Flags().IntVar(&f.feed.Offices, "offices", 0, "forecast offices (default: 120)")
	c.Flags().IntVar(&f.feed.Stations, "stations-per-office", 0, "stations per office (default: 36)")
	formerly(c, "stations", "stations-per-office")
}

// make checks the flags and prepares the feed.
func (f *feedFlags) make() (*synth.Feed, error) {
	if f.from != "" {
		t, err := parseTime("--since", f.from)
		if err != nil {
			return nil, err
		}
		f.feed.From = t.UTC().Truncate(24 * time.Hour)
	}
	if f.liveDays > 0 {
		f.feed.PerDay = cmp.Or(f.feed.PerDay, synth.LiveMessages)
		f.feed.Mean = cmp.Or(f.feed.Mean, synth.LiveMean)
		f.feed.Messages = cmp.Or(f.feed.Messages, f.liveDays*f.feed.PerDay)
	}
	feed, err := f.feed.Feed()
	if err != nil {
		return nil, usage(err)
	}
	return feed, nil
}

// productsPerFile is the number of products in a file of a synthetic feed: about 2 MB.
const productsPerFile = 500

func newSynthSHEF(e *env) *cobra.Command {
	var f feedFlags
	c := e.writerCommand(&cobra.Command{
		Use:   "shef --out DIR",
		Short: "Make SHEF products, as many as in the backlog or the live feed of NOAA's 2006 report",
		Long: `Shef makes products (.A, .B and .E messages, revisions, missing values, traces) in DIR/shef, 500 per file.

The same seed makes the same bytes. Product sizes are lognormal: most are small, a few have thousands of values. By default
there are as many products and values as in the backlog of NOAA's 2006 report: 55,338 products with 13.3 million values.
--live-days 2 makes two days of the live feed of that report instead.`,
		Example: `  barograph synth shef --messages 1000 --out feed
  barograph synth shef --live-days 2 --out feed
  barograph shef decode --products --now 2006-03-10 feed`,
	}, func() ([]synth.FileSpec, error) {
		feed, err := f.make()
		if err != nil {
			return nil, err
		}
		return feed.Files(productsPerFile), nil
	})
	f.add(c)
	return c
}

// generatorDuckDB names the generator that this program contains. The other one is
// lab.TPCGenName.
const generatorDuckDB = "duckdb"

func newSynthTPCDS(e *env) *cobra.Command {
	var o generate.Options
	var out, generator string
	c := &cobra.Command{
		Use:   "tpcds --sf SCALE --out DIR",
		Short: "Make the star of TPC-DS's query 3: store_sales, date_dim, item",
		Long: `Tpcds makes store_sales, date_dim and item of TPC-DS as Parquet files and, with --documents, as one collection of JSON
lines in which each row names its table (table_name). With one generator a scale factor always gives the same rows, in any
number of files. Scale factor 1 has 2,880,404 sales. The generators:

  duckdb   DuckDB's port of dsdgen, which this program contains. It also makes small scales such as
           0.01. Its item and date_dim match the TPC's own generator; its store_sales does not.
  tpcgen   tpcgen-cli, whose rows match the TPC's own generator, so published results apply. It makes
           integer scale factors. "barograph lab install --yes tpcgen" installs it (6 MB).`,
		Example: `  barograph synth tpcds --sf 1 --out tpcds
  barograph synth tpcds --sf 1 --generator tpcgen --out kit
  barograph synth tpcds --sf 10 --files 48 --documents --out tpcds10`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch generator {
			case generatorDuckDB:
			case lab.TPCGenName:
				var err error
				if o.Program, err = lab.TPCGenProgram(); err != nil {
					return err
				}
			default:
				return usage(fault.Unknown("--generator", generator, []string{generatorDuckDB, lab.TPCGenName}))
			}
			bar := newProgress(e)
			defer bar.stop()
			start := time.Now()
			o.Progress = func(step string, done, total int) { bar.update(step, int64(done), int64(total), false) }
			m, err := generate.Generate(c.Context(), out, o)
			if err != nil {
				return err
			}
			return e.printTables(out, m, time.Since(start))
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder to write into (required)")
	c.Flags().Float64Var(&o.Scale, "sf", 1, "scale factor")
	c.Flags().IntVar(&o.Files, "files", 0, "files of store_sales (default: 4 for each unit of the scale factor)")
	c.Flags().BoolVar(&o.Documents, "documents", false, "also write the collection of documents")
	c.Flags().StringVar(&generator, "generator", generatorDuckDB, generatorDuckDB+" or "+lab.TPCGenName)
	required(c, "out")
	complete(c, "generator", func() []string { return []string{generatorDuckDB, lab.TPCGenName} })
	return c
}

// printTables prints the counts and sizes of the tables.
func (e *env) printTables(out string, m *tpcds.Manifest, elapsed time.Duration) error {
	var parquet, documents int64 // bytes
	for _, files := range m.Parquet {
		for _, f := range files {
			parquet += f.Bytes
		}
	}
	for _, f := range m.Documents {
		documents += f.Bytes
	}
	seconds := elapsed.Seconds()
	if e.json {
		result := map[string]any{"out": out, "tables": m, "parquet_bytes": parquet, "document_bytes": documents, "seconds": seconds}
		return e.printJSON(result)
	}
	fmt.Fprintf(e.stdout, "%s: %d sales, %d days, %d items; %.1f MB of Parquet, %.1f MB of documents in %.1f s, by %s\n",
		out, m.Rows[tpcds.StoreSales], m.Rows[tpcds.DateDim], m.Rows[tpcds.Item],
		float64(parquet)/1e6, float64(documents)/1e6, seconds, m.Generator)
	return nil
}
