package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

func newReport(e *env) *cobra.Command {
	var o report.Advising
	var pictures string
	var public publication
	c := &cobra.Command{
		Use:   "report RUN…",
		Short: "Rewrite the report.html of run folders, and print their tables",
		Example: `  barograph report runs/20261120-235959-met
  barograph report runs/20261120-235959-met --svg pictures
  barograph report runs/20261120-235959-met --weigh ask=1,load=5 --with runs/20261121-115959-faults
  barograph report runs/* --site site
  barograph report runs/20261120-235959-met --share met.tar.gz
  barograph report runs/* --check`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if public.requested() {
				return e.publish(&public, args)
			}
			for _, dir := range args {
				err := e.reportAdvising(dir, o, (*report.Report).Print)
				if err == nil && pictures != "" {
					err = e.pictures(dir, o, filepath.Join(pictures, filepath.Base(dir)))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	advising(c, &o)
	c.Flags().StringVar(&pictures, "svg", "", "write the pictures of each report as SVG files into this folder, in a subfolder named like the run")
	public.flags(c)
	return c
}

// advising adds the flags of advice.
func advising(c *cobra.Command, o *report.Advising) {
	o.Weights = advise.Defaults()
	c.Flags().Var(o.Weights, "weigh", "weights for the recommended configuration, e.g. ask=1,load=5; weights not named keep their defaults")
	c.Flags().StringArrayVar(&o.With, "with", nil, "run folder of barograph faults, whose recovery times the recommendation uses; repeat it for several")
}

// report writes report.html and prints the tables.
func (e *env) report(dir string) error {
	return e.reportAdvising(dir, report.Advising{}, (*report.Report).Print)
}

// reportAdvising writes report.html with the recommendation that o describes, and prints the report by show.
func (e *env) reportAdvising(dir string, o report.Advising, show func(*report.Report, io.Writer) error) error {
	r, err := report.OpenAdvising(dir, o)
	if err != nil {
		return err
	}
	path, err := r.Write()
	if err != nil {
		return err
	}
	if e.json {
		r.Data["report"] = path
		return e.printJSON(r.Data)
	}
	if err := show(r, e.stdout); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "report: %s\n", fault.Name(path))
	return nil
}

// pictures writes the pictures of a report as SVG files.
func (e *env) pictures(dir string, o report.Advising, to string) error {
	r, err := report.OpenAdvising(dir, o)
	if err != nil {
		return err
	}
	paths, err := r.Pictures(to)
	for _, p := range paths {
		fmt.Fprintf(e.stderr, "picture: %s\n", p)
	}
	return err
}

// printSkipped prints a line for each engine that a study leaves out of its default set.
func (e *env) printSkipped(all []fault.Skip) {
	for _, s := range all {
		e.info(s.String())
	}
}

// inFolder runs a workload into a run folder, which it names if out is empty. If f fails and keep is false, inFolder
// removes a folder that did not exist before.
func (e *env) inFolder(out *string, workload string, f func() (keep bool, err error)) error {
	e.nameFolder(out, workload)
	_, statErr := os.Stat(*out)
	keep, err := f()
	if err != nil && !keep && errors.Is(statErr, fs.ErrNotExist) {
		err = errors.Join(err, os.RemoveAll(*out))
	}
	return err
}

// nameFolder names the run folder of the command if out is empty.
func (e *env) nameFolder(out *string, workload string) {
	for at := time.Now(); *out == ""; at = at.Add(time.Second) { // another run may have started in the same second
		dir := filepath.Join("runs", run.FolderName(at, workload))
		if _, err := os.Stat(dir); err != nil {
			*out = dir
		}
	}
	e.runDir = *out
}

// newRun returns the description of a run before its start: arguments, seed, version and machine.
func (e *env) newRun(ctx context.Context, dir, workload string, seed uint64, source string) run.Run {
	r := run.Run{
		ID: filepath.Base(dir), Workload: workload, Version: build.Version(), Args: fault.RedactArgs(e.args), Seed: seed,
		Started: time.Now().UTC(), Machine: measure.ReadMachine(ctx, filepath.Dir(dir)), Data: run.Data{Source: source},
	}
	r.Warnings = r.Machine.Warnings()
	return r
}

// program measures into a run folder, and calls logStep for each line of progress.
type program func(f *run.Folder, logStep func(string)) error

// runProgram runs a program into a run folder, which also records the lines of progress. If the program fails,
// runProgram still reports what it measured before.
func (e *env) runProgram(ctx context.Context, out *string, workload string, seed uint64, source string, p program) error {
	return e.inFolder(out, workload, func() (bool, error) {
		f, err := run.Create(*out, e.newRun(ctx, *out, workload, seed, source))
		if err != nil {
			return false, err
		}
		return e.closeRun(ctx, f, p(f, f.StepLogger(e.info)))
	})
}

// closeRun closes the folder of a run and reports it, if it has samples.
func (e *env) closeRun(ctx context.Context, f *run.Folder, err error) (hasSamples bool, _ error) {
	if ctx.Err() == nil { // an interrupted run has no end time
		f.Run.Finished = time.Now().UTC()
	}
	err = errors.Join(err, f.Close())
	if hasSamples = len(f.Samples()) > 0; hasSamples {
		err = errors.Join(e.report(filepath.Clean(f.Dir)), err)
	}
	return hasSamples, err
}
