package main

import (
	"github.com/spf13/cobra"
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
