package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/report"
)

func newReport(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "report RUN…",
		Short:   "Write report.html of run folders anew, and print their tables",
		Example: "  barograph report runs/20261120-235959-met",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, dir := range args {
				if err := e.report(dir); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// report writes report.html and prints the tables.
func (e *env) report(dir string) error {
	r, err := report.Open(dir)
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
