package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/growth"
	"github.com/barograph/barograph/study/met"
)

// growthStudy has the flags of growth.
type growthStudy struct {
	study
	days            []int
	predict, models int
}

func newGrowth(e *env) *cobra.Command {
	s := &growthStudy{}
	c := &cobra.Command{
		Use:   "growth FILES… --engine URL…",
		Short: "Study a series that grows by days: times, sizes on disk, and what is projected",
		Long: `Growth repeats the study of "met" while one series grows day by day. It makes the days from the files: the same leads
and values, at later times. If the files have one day, day 17 is that day, 16 days later. If they have several days, the
series repeats them. --models 8 makes a series of 8 models in total, with copies such as GFS_2.

Each question is asked twice: about the first day, so that its answer has the same rows at every size, and about all days
(…_all_days), so that its answer grows. At every size Growth compares the contents of each archive and each result with
a reference that it computes from the files of the days. It then fits time = factor · days^exponent to the medians.

--predict 128 projects times and sizes at 128 days from the smaller sizes, stores the projections with their 95 % intervals
in the run folder, and then measures 128 days. The report compares both, and lists the measurements outside their intervals.

Growth writes the days as files into the run folder, checks them against the real ones, and removes them at the end.
Each day needs the disk space of a day of the real files.`,
		Example: `  barograph growth vsdb_day --days 1,4,16,64 --predict 128 --engine duckdb --engine lab:postgres
  barograph growth vsdb_day --days 1,2,4,8 --models 16 --engine duckdb --design wide`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s.subsetNamed = c.Flags().Changed("subset")
			slices.Sort(s.days)
			s.days = slices.Compact(s.days)
			setting := fmt.Sprintf("--predict %d", s.predict)
			switch {
			case s.predict > 0 && len(s.days) < report.MinProjectedSizes:
				return fault.Misuse(setting, fmt.Sprintf("needs at least %d smaller sizes", report.MinProjectedSizes), "name them: --days 1,4,16")
			case s.predict > 0 && s.predict <= slices.Max(s.days):
				return fault.Misuse(setting, fmt.Sprintf("is not above %d, the largest size of --days", slices.Max(s.days)),
					"name more days to predict, or fewer to measure before")
			case s.predict == 0 && len(s.days) < 2:
				return fault.Misuse("--days", "names one size, and growth needs several", "name them: --days 1,4,16")
			}
			files, err := e.onlyFiles(args, "name VSDB or MET files, or folders of them")
			if err != nil {
				return err
			}
			s.source = strings.Join(args, " ")
			return e.inFolder(&s.out, report.DaysWorkload, func() (bool, error) {
				err := e.growth(c.Context(), s, files)
				return s.loaded, err
			})
		},
	}
	f := c.Flags()
	f.StringArrayVar(&s.Engines, engineFlag, nil, "engine to study: a URL, NAME=URL, "+
		"lab:ENGINE, or the name of an embedded engine (default: BAROGRAPH_ENGINE, else all installed embedded ones)")
	f.IntSliceVar(&s.days, "days", []int{1, 4, 16}, "sizes to measure, as numbers of days of the series")
	f.IntVar(&s.predict, "predict", 0, "number of days to project from --days, and then to measure")
	f.IntVar(&s.models, "models", 0, "number of models of the series, copies included (default: as in the files)")
	s.archiveFlags(c, e, "the first day")
	f.StringVar(&s.out, "out", "", "run folder (default: runs/{time}-growth)")
	f.IntVar(&s.reps, "reps", met.DefaultReps, "timed repetitions of each cell (engine, design, flavour, case)")
	f.IntVar(&s.warmups, "warmups", 1, "untimed repetitions between the proof and the timed ones")
	f.DurationVar(&s.limit, "time-limit", 0, "at each size, stop timing after this long, but first complete the repetitions that a rank test needs to find a significant difference")
	f.StringVar(&s.subset, "subset", defaultSubset, "name of the series inside each archive")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the order of repetitions and of the bootstrap")
	seldom(c, "seed", "subset", "warmups")
	positive(c, "days", "predict", "models", "reps")
	atMost(c, 1024, "days", "predict", "models")
	atMost(c, 100_000, "reps", "warmups")
	return c
}

// growth runs a study of met at each number of days, and reports all of them.
func (e *env) growth(ctx context.Context, s *growthStudy, files []string) error {
	o, err := e.options(ctx, &s.study, files)
	if err != nil {
		return err
	}
	data := filepath.Join(s.out, "series")
	if _, err := os.Lstat(data); err == nil { // growth removes this folder at its end
		return fault.Misuse("--out "+s.out, "already contains series", "name another folder")
	}
	f, err := run.Create(s.out, e.newRun(ctx, s.out, report.DaysWorkload, s.seed, s.source))
	if err != nil {
		return err
	}
	g := growth.Options{Files: files, KeepLast: o.KeepLast, Dir: data, Models: s.models, Cases: o.Cases}
	outcome, err := e.measureDays(ctx, s, o, g)
	if err == nil {
		f.Run.Finished = time.Now().UTC()
	}
	if err = errors.Join(err, os.RemoveAll(data), f.Close()); err != nil {
		return err
	}
	return errors.Join(e.report(filepath.Clean(s.out)), outcome.Err())
}

// measureDays runs the studies of all sizes. It stores the projections before it measures the projected size.
func (e *env) measureDays(ctx context.Context, s *growthStudy, o met.Options, g growth.Options) (all met.Outcome, err error) {
	plan := report.Days{Sizes: slices.Clone(s.days), Predict: s.predict}
	if s.predict > 0 {
		plan.Sizes = append(plan.Sizes, s.predict)
	}
	g.MaxDays = plan.Sizes[len(plan.Sizes)-1]
	series, err := growth.Open(ctx, g)
	if err != nil {
		return all, err
	}
	plan.Models = series.ModelCount
	for _, n := range plan.Sizes {
		e.info("── " + run.CountOf(n, "day") + " ──")
		if n == s.predict {
			if err := report.Project(s.out, n); err != nil {
				return all, err
			}
			e.info("projected from the smaller sizes: growth.json in the run folder")
		}
		var notes []string
		if o.Files, err = series.Through(ctx, n); err != nil {
			return all, err
		}
		if o.Cases, notes, err = series.Questions(ctx, n); err != nil {
			return all, err
		}
		if n == plan.Sizes[0] {
			plan.Excluded = append(series.Notes, notes...)
			e.printNotes("growth", plan.Excluded)
			for _, q := range o.Cases {
				if strings.HasSuffix(q.Name, growth.AllDays) {
					plan.AllDays = append(plan.AllDays, q.Name)
				}
			}
			if err := plan.Save(s.out); err != nil {
				return all, err
			}
		}
		outcome, err := e.runStudy(ctx, &s.study, report.DaysFolder(s.out, n), o)
		if err != nil {
			return all, err
		}
		all.Add(outcome)
	}
	return all, nil
}
