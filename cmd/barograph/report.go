package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/advise"
	"github.com/barograph/barograph/report"
)

func newReport(e *env) *cobra.Command {
	var o report.Advising
	c := &cobra.Command{
		Use:   "report RUN…",
		Short: "Write report.html of run folders anew, and print their tables",
		Example: `  barograph report runs/20261120-235959-met
  barograph report runs/20261120-235959-met --weigh ask=1,load=5 --with runs/20261121-115959-faults`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, dir := range args {
				if err := e.reportAdvising(dir, o); err != nil {
					return err
				}
			}
			return nil
		},
	}
	advising(c, &o)
	return c
}

// advising are the flags of advice.
func advising(c *cobra.Command, o *report.Advising) {
	o.Weights = advise.Defaults()
	c.Flags().Var(o.Weights, "weigh", "how much matters what, in the advice of a study: those that are named are changed")
	c.Flags().StringArrayVar(&o.With, "with", nil, "run folder of barograph faults, for the advice; may be given several times")
}

// report writes report.html and prints the tables.
func (e *env) report(dir string) error { return e.reportAdvising(dir, report.Advising{}) }

func (e *env) reportAdvising(dir string, o report.Advising) error {
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
	if err := r.Print(e.stdout); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "\nreport: %s\n", path)
	return nil
}
