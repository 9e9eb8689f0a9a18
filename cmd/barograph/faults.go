package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/flavour"
	"barograph/formats"
	"barograph/lab"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/faults"
)

// killing is what the flags of faults say.
type killing struct {
	e       *env
	engines []string
	designs []string
	cases   []string
	out     string
	profile string
	nodes   int
	kills   int
	down    time.Duration
	seed    uint64
	isolate bool
}

func newFaults(e *env) *cobra.Command {
	k := &killing{e: e}
	c := &cobra.Command{
		Use:   "faults FILES… --engine NAME…",
		Short: "Kill a node of a cluster during a load and during questions, and tell what became of the data",
		Long: `Faults starts a cluster of its own, in a temporary folder, for each engine named, and kills one of its nodes (SIGKILL)
while your files are loaded, and again while questions are asked; the node is started again a few seconds later. A load
that fails is resumed by a new client. The table tells how many records were acknowledged and found after, whether the
archive ended as an undisturbed load leaves it, how many answers were right and wrong, what the errors said, and how
long it took until calls succeeded again.`,
		Example: `  barograph faults vsdb_data --engine mariadb --engine valkey --nodes 3 --kills 2`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			files, err := formats.Expand(args)
			if err != nil {
				return err
			}
			if len(files) < 2 {
				return usage(&fault.Error{Setting: strings.Join(args, " "), Problem: "names fewer than two files: nothing happens between their commits", Cure: "name a folder of .vsdb or .stat files"})
			}
			return k.run(c.Context(), files, strings.Join(args, " "))
		},
	}
	c.Flags().StringSliceVar(&k.engines, "engine", nil, "names of engines with servers (default: all that offer so many nodes)")
	c.Flags().StringSliceVar(&k.designs, "design", nil, "designs to study (default: the first that each engine offers)")
	c.Flags().StringSliceVar(&k.cases, "case", nil, "cases to ask: names, question files or METviewer plots (default: all seven)")
	c.Flags().StringVar(&k.out, "out", "", "run folder (default: runs/{time}-faults)")
	c.Flags().StringVar(&k.profile, "profile", "tuned", "settings of the servers; packaged ones may acknowledge what a kill loses")
	c.Flags().IntVar(&k.nodes, "nodes", 3, "nodes of the cluster")
	c.Flags().IntVar(&k.kills, "kills", 1, "kills during a load, and as many during questions")
	c.Flags().DurationVar(&k.down, "down", faults.DefaultDown, "how long a killed node stays dead")
	c.Flags().Uint64Var(&k.seed, "seed", 1, "seed of which nodes are killed, and when")
	c.Flags().BoolVar(&k.isolate, "isolate", false, "give each node a network namespace and a control group (as root)")
	complete(c, "design", designNames)
	complete(c, "case", caseNames)
	complete(c, "engine", e.engines.Servers)
	return c
}

// run makes the study of every engine and reports it.
func (k *killing) run(ctx context.Context, files []string, source string) error {
	started := time.Now()
	if k.out == "" {
		k.out = filepath.Join("runs", run.ID(started, "faults"))
	}
	drivers, err := k.drivers()
	if err != nil {
		return err
	}
	folder, err := run.Create(k.out, run.Run{
		ID: filepath.Base(k.out), Workload: "faults", Version: version(), Args: redacted(k.e.args), Seed: k.seed,
		Started: started.UTC(), Machine: measure.ReadMachine(ctx, filepath.Dir(k.out)),
		Data: run.Data{Source: source, Subset: defaultSubset, Copies: 1, Files: len(files)},
	})
	if err != nil {
		return err
	}
	folder.Run.Warnings = folder.Run.Machine.Warnings()
	var failed error
	for _, d := range drivers { // one that fails does not keep the others from being studied
		if err := k.study(ctx, folder, d, files); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", d.Scheme, err))
			folder.Run.Warnings = append(folder.Run.Warnings, d.Scheme+" was not studied to its end: "+err.Error())
		}
	}
	if folder.Run.Ended = time.Now().UTC(); ctx.Err() != nil {
		folder.Run.Ended = time.Time{} // an interrupted run stays without an end
	}
	if err := folder.Close(); err != nil {
		return errors.Join(failed, err)
	}
	if err := k.e.report(k.out); err != nil {
		return errors.Join(failed, err)
	}
	for _, s := range folder.Samples() {
		if s.Verdict != run.Equal {
			failed = errors.Join(failed, &fault.Status{Code: fault.Differs, Err: fmt.Errorf("%s, killed during %s: %s", s.Cell.Engine, s.Cell.At("during"), s.Problem)})
		}
	}
	return failed
}

func (k *killing) drivers() ([]*engine.Driver, error) {
	fits := func(d *engine.Driver) bool {
		return d.Server != nil && slices.Contains(d.Server.Nodes, k.nodes) && k.e.engines.KeepsArchives(d) == nil
	}
	var names []string
	for _, d := range k.e.engines {
		if fits(&d) {
			names = append(names, d.Scheme)
		}
	}
	if len(k.engines) == 0 {
		k.engines = names
	}
	var out []*engine.Driver
	for _, name := range k.engines {
		d, ok := k.e.engines.Find(name)
		if ok {
			if err := k.e.engines.KeepsArchives(d); err != nil {
				return nil, usage(err)
			}
		}
		if !ok || !fits(d) {
			return nil, usage(&fault.Error{Setting: "--engine " + name, Problem: "has no cluster of " + strconv.Itoa(k.nodes) + " nodes to start", Cure: "choose one of " + strings.Join(names, ", ")})
		}
		out = append(out, d)
	}
	return out, nil
}

// study starts a cluster, kills its nodes under each design, and ends it.
func (k *killing) study(ctx context.Context, folder *run.Folder, d *engine.Driver, files []string) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(engine.LabDir()), "barograph-faults-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // the server's own account must find its folder below
		return err
	}
	o := lab.Options{Dir: filepath.Join(dir, d.Scheme), Nodes: k.nodes, Profile: k.profile, Owned: true}
	if k.isolate {
		o.Isolate = &lab.Isolate{}
	}
	fmt.Fprintf(k.e.stderr, "%s: starting %d nodes\n", d.Scheme, k.nodes)
	l, err := lab.Up(ctx, d, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Down()) }()
	open := func(ctx context.Context) (*engine.Engine, error) {
		return k.e.engines.Open(ctx, l.URL(), engine.Options{})
	}
	cases, err := k.e.findCases(k.cases)
	if err != nil {
		return err
	}
	for _, n := range k.wanted(d) {
		digest, err := faults.Run(ctx, faults.Options{
			Engine: d.Scheme, Design: n, Flavours: correct(d.Offers[n]), Nodes: k.nodes, Cluster: l, Open: open, Files: files,
			Subset: defaultSubset, Cases: cases, Kills: k.kills, Down: k.down, Settle: faults.DefaultSettle, Patience: faults.DefaultPatience,
			Call: faults.DefaultCall, Seed: k.seed, Add: folder.Add, Progress: func(kind run.Kind, text string) {
				fmt.Fprintln(k.e.stderr, text)
				_ = folder.Event(run.Event{Kind: kind, Text: text}) // what cannot be written now fails at the next sample
			},
		})
		folder.Run.Data.Records, folder.Run.Data.Digest = digest.Records, digest.String()
		k.note(ctx, folder, d, n, l, open)
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted are the designs to study.
func (k *killing) wanted(d *engine.Driver) []design.Name {
	all := d.Designs()
	if len(k.designs) == 0 {
		return all[:1]
	}
	return slices.DeleteFunc(all, func(n design.Name) bool { return !slices.Contains(k.designs, string(n)) })
}

// correct leaves out the flavour that keeps answers in the server: it would
// hide what the cluster can do.
func correct(all []flavour.Name) []flavour.Name {
	return slices.DeleteFunc(slices.Clone(all), func(f flavour.Name) bool { return f == flavour.CachedSQL })
}

// note describes the cluster in the run folder, as far as it can be asked.
func (k *killing) note(ctx context.Context, folder *run.Folder, d *engine.Driver, n design.Name, l *lab.Lab, open func(context.Context) (*engine.Engine, error)) {
	a := run.Archive{Engine: d.Scheme, Design: string(n), URL: fault.Redact(l.URL()), Place: "server", Whole: true}
	s := l.State()
	a.Server = s.Server()
	if e, err := open(ctx); err == nil {
		if about, err := e.About(ctx); err == nil {
			a.Product, a.Version, a.Settings = about.Product, about.Version, about.Settings
		}
		_ = e.Close()
	}
	folder.Run.Archives = append(folder.Run.Archives, a)
}
