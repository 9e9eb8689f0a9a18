package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/faults"
	"github.com/barograph/barograph/study/met"
)

func newFaults(e *env) *cobra.Command {
	k := &faults.Clusters{Registry: e.engines, Options: faults.Options{
		Subset: defaultSubset, Settle: faults.DefaultSettle, Patience: faults.DefaultPatience, Call: faults.DefaultCall,
		Progress: func(_ run.EventKind, text string) { e.info(text) },
	}}
	var cases []string
	var out string
	c := &cobra.Command{
		Use:   "faults FILES… [--engine NAME…]",
		Short: "Kill cluster nodes during a load and queries, and report what became of the data",
		Long: `Faults starts a cluster in a temporary folder for each engine. For each of the --kills kills it loads your files into a new
subset, and kills a node (SIGKILL) during that load. Then it loads the files once more, and kills a node the same number of
times during queries. It restarts each killed node after --down. A new client resumes a load that fails.

The table reports how many records were acknowledged and how many of them were found afterward, whether the archive is
identical to that of an undisturbed load, how many results were correct and how many wrong, the errors, and the time
until calls succeeded again.`,
		Example: `  barograph faults vsdb_data --engine mariadb --engine valkey --nodes 3 --kills 2`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if k.Files, err = e.files(args, "--engine"); err != nil {
				return err
			}
			if len(k.Files) < 2 {
				return fault.Misuse(strings.Join(args, " "), "names fewer than two files, so no node can fail between two commits",
					"name a folder of .vsdb or .stat files")
			}
			if k.Kills < 1 {
				return fault.Misuse(fmt.Sprintf("--kills %d", k.Kills), "kills no node", "write 1 or more")
			}
			skipped, err := k.Choose()
			if err != nil {
				return err
			}
			e.printSkipped(skipped)
			derived := func() ([]*question.Question, error) { return e.casesOf(c.Context(), args, false, nil, cases...) }
			if k.Cases, err = e.findCases(cases, true, derived); err == nil && len(cases) == 0 {
				k.Cases, err = derived()
				k.Cases = k.Cases[:min(len(k.Cases), met.DerivedCases)]
			}
			if err != nil {
				return err
			}
			return e.runProgram(c.Context(), &out, "faults", k.Seed, strings.Join(args, " "), func(f *run.Folder, _ func(string)) error {
				f.Run.Skipped = skipped
				f.Run.Data.Subset, f.Run.Data.Copies, f.Run.Data.Files = k.Subset, 1, len(k.Files)
				return k.Run(c.Context(), f)
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&k.Engines, "engine", nil, "names of engines with servers (default: all installed ones that have --profile and can run --nodes nodes)")
	f.StringSliceVar(&k.Designs, "design", nil, "designs to study (default: the first that each engine offers)")
	caseFlag(c, &cases, "the data")
	f.StringVar(&out, "out", "", "run folder (default: runs/{time}-faults)")
	f.StringVar(&k.Profile, "profile", "tuned", "settings of the servers, as in \"barograph lab up --help\"; with profile \"default\" a kill may lose acknowledged records")
	f.IntVar(&k.Nodes, "nodes", 3, "nodes of the cluster")
	f.IntVar(&k.Kills, "kills", 1, "kills during loads, each in a load of its own, and as many during queries")
	f.DurationVar(&k.Down, "down", faults.DefaultDown, "how long a killed node stays down")
	f.Uint64Var(&k.Seed, "seed", 1, "seed of the choice of nodes and times")
	f.BoolVar(&k.Isolate, "isolate", false, "give each node a network namespace and a control group (as root)")
	complete(c, "design", designNames)
	complete(c, "engine", e.engines.Servers)
	return c
}
