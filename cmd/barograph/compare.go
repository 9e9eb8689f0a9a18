package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/compare"
	"github.com/barograph/barograph/results/report"
)

func newCompare(e *env) *cobra.Command {
	page, benchstat := "", false
	var limit percentage
	var seed uint64
	c := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Compare runs with a baseline run: faster, slower, wrong or absent cells",
		Long: `Compare compares runs of any study with the first run, cell by cell (in met a cell is an engine, design, flavour and case).
It prints each cell that changed, with both times, their ratio and its interval. Slower and faster are beyond the noise.
Broken: the result is wrong only now; repaired: it was wrong only in the first run; not right: it is wrong in both. Absent and
new: only the first run, or only the later run, has the cell. Compare counts the other cells, and --html lists them: ~ (no
difference beyond the noise), ? (too few repetitions to show one), not timed (in one of the runs), other answer (both are
correct, but the data differ), client overhead. It shows no time of a wrong result. If the runs cannot be compared (other
data, another machine), it prints VOID with the reason. It lists other differences (versions, settings). If a run is
unfinished, compare counts the cells that it lacks, and exits with status 4.

With --fail-over 10% the exit status is also 4 if a cell is significantly worse by more than 10 %, or the median change
of at least three cells is; if a cell is broken, or absent although the first run had it correct; or if the runs cannot be
compared. Without it, these results do not change the exit status. --benchstat prints the repetitions for Go's program benchstat.`,
		Example: `  barograph compare runs/20261120-235959-met runs/20261121-235959-met --fail-over 10% --html change.html
  barograph compare a b --benchstat > both.txt; benchstat -col run both.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, dirs []string) error {
			runs, err := compare.Read(dirs...)
			if err != nil {
				return err
			}
			if benchstat {
				return compare.Benchstat(e.stdout, runs)
			}
			if len(runs) < 2 {
				return fault.Misuse(dirs[0], "is the only run: there is nothing to compare it with", "name another run folder")
			}
			comparison := compare.Runs(runs[0], runs[1:], seed)
			r := report.OfComparison(comparison)
			if page != "" {
				text, err := r.Page()
				if err == nil {
					err = e.writeTo("--html", page, func(w io.Writer) error { _, err := w.Write(text); return err })
				}
				if err != nil {
					return err
				}
			}
			if err := e.print(comparison, r.Print); err != nil {
				return err
			}
			if err := limit.gate(comparison); err != nil {
				return err
			}
			for _, a := range comparison.Others {
				if len(a.Unfinished) > 0 {
					problem := strings.Join(a.Unfinished, ", ") + "; " + english.Plural(a.Pending, "cell is", "cells are") + " not compared"
					return incomplete(&fault.Error{File: a.Run, Problem: problem, Cure: "compare again when the run has finished"})
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&page, "html", "", "write a page with pictures to this file")
	f.Var(&limit, "fail-over", "exit with status 4 if a cell is significantly worse by more than this, e.g. 10%")
	f.BoolVar(&benchstat, "benchstat", false, "print the repetitions for Go's program benchstat, and compare nothing")
	f.Uint64Var(&seed, "seed", 1, "seed of the bootstrap for confidence intervals")
	c.MarkFlagsMutuallyExclusive("benchstat", "html")
	c.MarkFlagsMutuallyExclusive("benchstat", "fail-over")
	return c
}

// percentage is the value of --fail-over, such as 10%.
type percentage struct {
	fraction float64
	set      bool
}

func (s *percentage) String() string {
	if !s.set {
		return ""
	}
	return strconv.FormatFloat(100*s.fraction, 'g', -1, 64) + "%"
}

func (s *percentage) Type() string { return "percent" }

func (s *percentage) Set(text string) (err error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	s.fraction, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if s.fraction, s.set = s.fraction/100, true; err != nil || !ok || !(s.fraction >= 0) {
		return fmt.Errorf("%q is not a percentage of 0%% or more, such as 10%%", text)
	}
	return nil
}

// gate returns an error if runs cannot be compared, or if cells are worse by more than --fail-over.
func (s *percentage) gate(c *compare.Comparison) error {
	if !s.set {
		return nil
	}
	for i := range c.Others {
		a := &c.Others[i]
		if a.NotComparable() {
			problem := "cannot be compared with " + c.Base + ": " + a.Differences[0].Fact + " differs"
			return incomplete(&fault.Error{File: a.Run, Problem: problem, Cure: "compare runs of the same data on the same machine"})
		}
		for _, x := range a.CommonChanges {
			if x.WorseFactor() > 1+s.fraction {
				problem := fmt.Sprintf("the %s of %d cells together is %.3g times that of %s", x.Quantity, x.Cells, x.Ratio, c.Base)
				return incomplete(&fault.Error{File: a.Run, Problem: problem, Cure: "check that no other program used the machine, and run both again"})
			}
		}
		if bad := a.Failing(s.fraction); len(bad) > 0 {
			return incomplete(fmt.Errorf("%s: %s wrong, missing, or worse by more than %s; the first: %s, %s",
				a.Run, english.Plural(len(bad), "cell is", "cells are"), s, bad[0].Name(), bad[0].Verdict))
		}
	}
	return nil
}
