package main

import (
	"encoding/json"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/study/met"

	"github.com/spf13/cobra"
)

// newColdStart is the process of a cold start: it opens an archive, asks once
// and prints the sample as JSON. met.ColdProcess starts it.
func newColdStart(e *env) *cobra.Command {
	var p place
	var f string
	c := &cobra.Command{
		Use: met.ColdCommand + " CASE", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Open an archive, ask once, and print the time (started by met --cold)",
		RunE: func(c *cobra.Command, args []string) error {
			q, err := question.Find(args[0])
			if err != nil {
				return err
			}
			s, err := met.AskOnce(c.Context(), e.engines, p.url, design.Name(p.design), q.InSubset(p.subset), flavour.Name(f))
			if err != nil {
				return err
			}
			return json.NewEncoder(e.stdout).Encode(s)
		},
	}
	p.flags(c, e, "from")
	required(c, engineFlag)
	c.Flags().StringVar(&f, "flavour", "", "form of the query")
	return c
}
