package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"

	"barograph/design"
	"barograph/engine"
	"barograph/flavour"
	"barograph/measure"
	"barograph/question"
	"barograph/run"
	"barograph/workload/met"

	"github.com/spf13/cobra"
)

// newColdStart is the process of a cold start: it opens an archive, asks once
// and prints the sample as JSON. It is started by met --cold.
func newColdStart(e *env) *cobra.Command {
	var p place
	var f string
	c := &cobra.Command{
		Use: "cold-start CASE", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Open an archive, ask once, and print the time (started by met --cold)",
		RunE: func(c *cobra.Command, args []string) error {
			q, err := question.Find(args[0])
			if err != nil {
				return err
			}
			s, err := met.AskOnce(c.Context(), e.engines, p.url, design.Name(p.design), q.In(p.subset), flavour.Name(f))
			if err != nil {
				return err
			}
			return json.NewEncoder(e.stdout).Encode(s)
		},
	}
	p.flags(c, e, "from", "what to ask")
	c.MarkFlagRequired(engineFlag) //nolint:errcheck // the flag exists
	c.Flags().StringVar(&f, "flavour", "", "way of asking")
	return c
}

// coldStart drops an archive's files from the page cache and runs cold-start
// in a process of its own. It returns how the cache was dropped.
func coldStart(ctx context.Context, s *study, t met.Target, c run.Cell) (met.Asked, string, error) {
	var out met.Asked
	u, err := url.Parse(t.URL)
	if err != nil {
		return out, "", err
	}
	how, err := measure.DropCaches([]string{engine.Path(u)})
	if err != nil {
		return out, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return out, how, err
	}
	name := c.At("case")
	for _, file := range s.cases { // a question file is found by its path, not by its name
		qs, _, err := question.FindAll(file)
		if err != nil {
			continue // it is a flag's value, and was found before
		}
		for _, q := range qs {
			if q.Name == c.At("case") {
				name = caseName(file, q, len(qs))
			}
		}
	}
	cmd := exec.CommandContext(ctx, self, "cold-start", name, "--engine", t.URL, "--design", c.At("design"), "--flavour", c.At("flavour"), "--subset", s.subset)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return out, how, fmt.Errorf("cold start: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, "new process per answer; " + how, json.Unmarshal(stdout.Bytes(), &out)
}

// caseName is how one of n questions of a file is named.
func caseName(file string, q *question.Question, n int) string {
	if n == 1 {
		return file
	}
	return file + "#" + q.Name
}
