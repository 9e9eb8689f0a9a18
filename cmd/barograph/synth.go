package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/synth"

	"github.com/spf13/cobra"
)

func newSynth(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "synth",
		Short: "Make data in the real formats, from a seed",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSynthVSDB(e), newSynthMET(e), newSynthSHEF(e), newSynthTPCDS(e))
	return c
}

func newSynthVSDB(e *env) *cobra.Command {
	var v synth.VSDB
	var out, from, to string
	c := &cobra.Command{
		Use:   "vsdb --out DIR",
		Short: "Make an archive of VSDB files (anom, pres, sfc, grid2obs)",
		Long: `Make an archive of VSDB files in NCEP's layout: DIR/vsdb_data/{stattype}/{cycle}/{model}/*.vsdb.

The same seed makes the same bytes. Skill falls with lead, partial sums agree with one another, seasons and models
differ. The preset "seed" is the smallest archive that answers the seven cases of NOAA's experiment with the recorded
numbers of rows: 848, 16,960, 28,718, 28,718, 2,168, 28,718 and 28,718.`,
		Example: `  barograph synth vsdb --preset seed --out data
  barograph synth vsdb --from 2019-01-01 --to 2019-01-07 --models gfs,ecm --stattypes anom,pres --out data`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if v.From, v.To, err = days(from, to, v.Preset != ""); err != nil {
				return err
			}
			files, err := v.Files()
			if err != nil {
				return usage(err)
			}
			return e.synth(c.Context(), out, files)
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder to write into (required)")
	c.Flags().Uint64Var(&v.Seed, "seed", 1, "seed of every value")
	c.Flags().StringVar(&from, "from", "", "first valid day, e.g. 2019-01-01")
	c.Flags().StringVar(&to, "to", "", "last valid day (default: the first)")
	c.Flags().Float64Var(&v.Scale, "scale", 1, "make this many times as many days")
	c.Flags().StringSliceVar(&v.Models, "models", nil, "gfs, ecm (default: both)")
	c.Flags().StringSliceVar(&v.StatTypes, "stattypes", nil, "anom, pres, sfc, grid2obs (default: all)")
	c.Flags().StringVar(&v.Preset, "preset", "", `"seed": the data of the seven cases; overrides everything but --seed`)
	c.MarkFlagRequired("out") //nolint:errcheck // the flag exists
	complete(c, "preset", func() []string { return []string{"seed"} })
	complete(c, "stattypes", func() []string { return []string{synth.Anom, synth.Pres, synth.Sfc, synth.Grid2obs} })
	return c
}

func newSynthMET(e *env) *cobra.Command {
	var m synth.MET
	var out, from, to string
	c := &cobra.Command{
		Use:     "met --out DIR",
		Short:   "Make an archive of MET 12 grid_stat .stat files",
		Example: `  barograph synth met --from 2024-10-31 --to 2024-11-01 --out data`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if m.From, m.To, err = days(from, to, false); err != nil {
				return err
			}
			files, err := m.Files()
			if err != nil {
				return usage(err)
			}
			return e.synth(c.Context(), out, files)
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder to write into (required)")
	c.Flags().Uint64Var(&m.Seed, "seed", 1, "seed of every value")
	c.Flags().StringVar(&from, "from", "", "first valid time, e.g. 2024-10-31 (required)")
	c.Flags().StringVar(&to, "to", "", "last valid time (default: the first)")
	c.Flags().StringSliceVar(&m.Models, "models", nil, "GFS, ECMWF (default: both)")
	c.Flags().IntSliceVar(&m.Leads, "leads", nil, "forecast leads in hours (default: 6 to 120 by 6)")
	c.Flags().BoolVar(&m.CTC, "ctc", false, "add contingency tables of precipitation")
	c.MarkFlagRequired("out")  //nolint:errcheck // the flag exists
	c.MarkFlagRequired("from") //nolint:errcheck // the flag exists
	return c
}

// days reads a range of days; both may be missing where a preset decides.
func days(from, to string, preset bool) (a, b time.Time, err error) {
	if from == "" && preset {
		return a, b, nil
	}
	first, err := question.ParseTime(from)
	if err != nil {
		return a, b, usage(fmt.Errorf("--from: %w", err))
	}
	a, b = time.Unix(first, 0).UTC(), time.Time{}
	if to != "" {
		last, err := question.ParseTime(to)
		if err != nil {
			return a, b, usage(fmt.Errorf("--to: %w", err))
		}
		b = time.Unix(last, 0).UTC()
	}
	return a, b, nil
}

// synth writes the files and says what was made.
func (e *env) synth(ctx context.Context, out string, files []synth.FileSpec) error {
	bar := newProgress(e)
	defer bar.stop()
	start := time.Now()
	var mu sync.Mutex
	done := int64(0)
	s, err := synth.WriteAll(ctx, out, files, runtime.GOMAXPROCS(0), func(int64) {
		mu.Lock()
		defer mu.Unlock()
		done++
		bar.at("making data", done, int64(len(files)), false)
	})
	if err != nil {
		return err
	}
	t := time.Since(start).Seconds()
	bar.end("making data", fmt.Sprintf("%d files, %d lines, %.1f MB, %.0f MB/s", s.Files, s.Lines, float64(s.Bytes)/1e6, float64(s.Bytes)/1e6/t))
	return e.print(map[string]any{"out": out, "files": s.Files, "lines": s.Lines, "bytes": s.Bytes, "digest": s.Digest, "seconds": t}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %d files, %d lines, %d bytes, digest %s\n", out, s.Files, s.Lines, s.Bytes, s.Digest)
		return err
	})
}
