package main

import (
	"encoding/json"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/study/met"

	"github.com/spf13/cobra"
)

// newColdStart is the hidden command of a cold start: it opens an archive, runs one query and
// prints the sample as JSON. met.ColdProcess starts it as a new process.
func newColdStart(e *env) *cobra.Command {
	var p archiveRef
	var f string
	c := &cobra.Command{
		Use: met.ColdCommand + " CASE", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Open an archive, run one query, and print the time (met --cold starts this)",
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
