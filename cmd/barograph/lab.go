package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"barograph/engine"
	"barograph/fault"
	"barograph/lab"
)

// labs is the `lab` command: throwaway servers.
type labs struct {
	e       *env
	dir     string
	nodes   int
	profile string
	yes     bool

	isolate bool
	limits  lab.Isolate
	memory  int64 // MiB

	useDisks    bool     // those of `lab disks`
	diskFolders []string // others
	partitions  int
}

func newLab(e *env) *cobra.Command {
	l := &labs{e: e}
	c := &cobra.Command{
		Use:   "lab",
		Short: "Install, start and stop throwaway database servers on this machine",
		Long: `Starts servers to measure on: each in a folder of its own, on 127.0.0.1 and a free port, as an unprivileged user where
Barograph runs as root, with a profile of settings that the run folder tells. A cluster or service that a package
brings is never touched. The commands act on the engines named, or on every engine that has a server.

  barograph lab install postgres --yes
  barograph lab up postgres --profile tuned
  barograph met --engine lab:postgres FILES
  barograph lab down

"lab disks" makes throttled disks, for engines that spread their tables.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&l.dir, "dir", engine.LabDir(), "folder of the labs; each engine gets one below it")
	sub := func(use, short string, run func(c *cobra.Command, args []string) error) *cobra.Command {
		s := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, ValidArgs: append(l.e.engines.Servers(), lab.DisksName), RunE: run}
		c.AddCommand(s)
		return s
	}
	onDrivers := func(run func(c *cobra.Command, drivers []*engine.Driver) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, args []string) error {
			drivers, err := l.drivers(args)
			if err != nil {
				return err
			}
			return run(c, drivers)
		}
	}
	install := sub("install [ENGINE…] ["+lab.TPCGenName+"]", "Print the commands that install the servers, or run them with --yes", l.install)
	install.Long = `Print the commands that install the servers of the engines named, or run them with --yes. ` + lab.TPCGenName + ` is no server but the program
that makes tables as the TPC's own kit does, for barograph synth tpcds --generator ` + lab.TPCGenName + `. Without a name everything is installed.`
	install.ValidArgs = append(l.e.engines.Servers(), lab.TPCGenName)
	install.Flags().BoolVar(&l.yes, "yes", false, "run the commands (as root, on Debian or Ubuntu)")
	up := sub("up [ENGINE…]", "Start servers and print how to name them; one that runs already is left as it is", onDrivers(l.up))
	up.Flags().IntVar(&l.nodes, "nodes", 1, "nodes of the cluster")
	up.Flags().StringVar(&l.profile, "profile", "", "settings: "+l.profiles()+" (default: the engine's first)")
	up.Flags().BoolVar(&l.isolate, "isolate", false, "give each node a network namespace and a control group (as root)")
	up.Flags().Float64Var(&l.limits.CPUs, "cpus", 0, "cores that a node may use; 0 = all (with --isolate)")
	up.Flags().Int64Var(&l.memory, "memory", 0, "MiB that a node may use; 0 = all (with --isolate)")
	up.Flags().DurationVar(&l.limits.Latency, "latency", 0, "added to each packet that a node sends, such as 500us (with --isolate)")
	up.Flags().BoolVar(&l.useDisks, "disks", false, "give the engine a folder on each of the disks that 'lab disks' made")
	up.Flags().StringArrayVar(&l.diskFolders, "disk", nil, "give the engine a folder on this disk; may be repeated")
	up.Flags().IntVar(&l.partitions, "partitions", 0, "partitions of each table of an engine that spreads its tables, dealt to the disks in turn (default: one a disk)")
	sub("url ENGINE", "Print the URL of a server, with its password", l.url).Args = cobra.ExactArgs(1)
	sub("down [ENGINE…] [disks]", "Stop servers and remove their data; remove throttled disks", l.down)
	sub("status [ENGINE…] [disks]", "Tell what runs, and which throttled disks there are", l.status)
	c.AddCommand(newLabDisks(l))
	return c
}

func (l *labs) profiles() string {
	var out []string
	for _, d := range l.e.engines {
		if d.Server == nil {
			continue
		}
		for _, p := range d.Server.Profiles {
			if !slices.Contains(out, p.Name) {
				out = append(out, p.Name)
			}
		}
	}
	return strings.Join(out, ", ")
}

// drivers finds the engines named; every one with a server where none is.
func (l *labs) drivers(args []string) ([]*engine.Driver, error) {
	if len(args) == 0 {
		args = l.e.engines.Servers()
	}
	var out []*engine.Driver
	for _, name := range args {
		d, ok := l.e.engines.Find(name)
		if !ok || d.Server == nil {
			unknown := fault.Unknown("engine", name, l.e.engines.Servers())
			unknown.Problem = "has no server to start"
			return nil, usage(unknown)
		}
		out = append(out, d)
	}
	return out, nil
}

func (l *labs) folder(d *engine.Driver) string { return filepath.Join(l.dir, d.Scheme) }

// name is what other commands take in place of the URL, which holds a password.
func (l *labs) name(d *engine.Driver) string {
	if l.dir == engine.LabDir() {
		return "lab:" + d.Scheme
	}
	return "@" + filepath.Join(l.folder(d), engine.URLFile)
}

// url prints a URL; nothing else prints a password.
func (l *labs) url(_ *cobra.Command, args []string) error {
	drivers, err := l.drivers(args)
	if err != nil {
		return err
	}
	s, err := lab.Status(l.folder(drivers[0]))
	if errors.Is(err, os.ErrNotExist) {
		return &fault.Error{File: l.folder(drivers[0]), Problem: "holds no lab", Cure: "start it: `barograph lab up " + drivers[0].Scheme + "`"}
	}
	if err == nil {
		fmt.Fprintln(l.e.stdout, s.URL)
	}
	return err
}

// needs finds what is to be installed: servers of the engines named, and tools;
// everything where nothing is named.
func (l *labs) needs(args []string) ([]lab.Need, error) {
	engines := slices.DeleteFunc(slices.Clone(args), func(name string) bool { return name == lab.TPCGenName })
	var needs []lab.Need
	if len(engines) > 0 || len(args) == 0 {
		drivers, err := l.drivers(engines)
		if err != nil {
			return nil, err
		}
		needs = lab.Servers(drivers...)
	}
	if len(engines) < len(args) || len(args) == 0 {
		needs = append(needs, lab.TPCGen())
	}
	return needs, nil
}

func (l *labs) install(c *cobra.Command, args []string) error {
	needs, err := l.needs(args)
	if err != nil {
		return err
	}
	if l.yes {
		if err := lab.Install(c.Context(), needs, l.e.stderr); err != nil {
			return err
		}
	}
	line := lab.InstallLine(needs)
	if l.e.json {
		return l.e.printJSON(map[string]any{"installed": line == "", "commands": lab.InstallCommands(needs)})
	}
	if line == "" {
		fmt.Fprintln(l.e.stdout, "everything is installed")
		return nil
	}
	fmt.Fprintln(l.e.stdout, line)
	return nil
}

func (l *labs) up(c *cobra.Command, drivers []*engine.Driver) error {
	for _, d := range drivers {
		if !slices.Contains(d.Server.Nodes, l.nodes) {
			return usage(&fault.Error{Setting: "--nodes " + strconv.Itoa(l.nodes), Problem: "is not offered by " + d.Scheme, Cure: fmt.Sprintf("choose one of %v", d.Server.Nodes)})
		}
	}
	o := lab.Options{Nodes: l.nodes, Profile: l.profile}
	if l.isolate {
		l.limits.Memory = l.memory << 20
		o.Isolate = &l.limits
	} else if l.memory != 0 || l.limits != (lab.Isolate{}) {
		return usage(&fault.Error{Setting: "--cpus, --memory, --latency", Problem: "are limits of isolated nodes", Cure: "add --isolate"})
	}
	var err error
	if o.Disks, err = l.diskPaths(); err != nil {
		return err
	}
	o.Partitions = l.partitions
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	var all error
	for _, d := range drivers { // one that fails does not keep the others down
		o.Dir = l.folder(d)
		if d.Server.Note != "" && !l.isolate {
			fmt.Fprintf(l.e.stderr, "%s: %s\n", d.Scheme, d.Server.Note)
		}
		if d.Server.NoPassword {
			fmt.Fprintf(l.e.stderr, "%s: asks for no password: every user of this machine can do in it what it can do itself\n", d.Scheme)
		}
		_, err := lab.Up(c.Context(), d, o)
		all = errors.Join(all, err)
	}
	return errors.Join(all, l.tell(drivers, false))
}

func (l *labs) down(_ *cobra.Command, args []string) error {
	drivers, disks, err := l.withDisks(args)
	if err != nil {
		return err
	}
	var all error
	for _, d := range drivers {
		if err := lab.Down(l.folder(d)); err != nil {
			all = errors.Join(all, err)
		} else if !l.e.json {
			fmt.Fprintf(l.e.stdout, "%s\tis down\n", d.Scheme)
		}
	}
	if disks {
		all = errors.Join(all, l.downDisks())
	}
	return all
}

// labRow is what `lab status` tells of one engine.
type labRow struct {
	Engine  string     `json:"engine"`
	Running bool       `json:"running"`
	Name    string     `json:"name,omitempty"` // what other commands take as its URL
	URL     string     `json:"url,omitempty"`  // without its password
	State   *lab.State `json:"lab,omitempty"`

	Disks *lab.DiskSet `json:"disks,omitempty"` // in a row of their own, "disks"
}

func (l *labs) status(_ *cobra.Command, args []string) error {
	drivers, disks, err := l.withDisks(args)
	if err != nil {
		return err
	}
	return l.tell(drivers, disks)
}

// tell prints the state of engines and, if asked for, of the disks.
func (l *labs) tell(drivers []*engine.Driver, disks bool) error {
	var rows []labRow
	for _, d := range drivers {
		s, err := lab.Status(l.folder(d))
		switch {
		case errors.Is(err, os.ErrNotExist):
			rows = append(rows, labRow{Engine: d.Scheme})
		case err != nil:
			return err
		default:
			s.URL, s.Cluster.Password = fault.Redact(s.URL), ""
			rows = append(rows, labRow{Engine: d.Scheme, Running: s.Running(), Name: l.name(d), URL: s.URL, State: &s})
		}
	}
	if disks {
		row, err := l.diskStatus()
		if err != nil {
			return err
		}
		if row != nil {
			rows = append(rows, *row)
		}
	}
	if l.e.json {
		return l.e.printJSON(rows)
	}
	return printLabs(l.e.stdout, rows)
}

func printLabs(out io.Writer, rows []labRow) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		if r.Disks != nil {
			continue // below
		}
		if r.State == nil {
			fmt.Fprintf(w, "%s\tdown\n", r.Engine)
			continue
		}
		running, pids := 0, []string(nil)
		for _, n := range r.State.Nodes {
			if n.Running {
				running++
				for _, p := range n.Processes {
					pids = append(pids, strconv.Itoa(p.PID))
				}
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\tprofile %s, %d of %d nodes run (pid %s), %s%s, in %s\n", r.Engine, r.Name, r.URL, r.State.Cluster.Profile,
			running, len(r.State.Nodes), orNone(strings.Join(pids, " ")), r.State.Cluster.Isolation, onDisks(r.State.Cluster.Disks), r.State.Cluster.Dir)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Disks != nil {
			return printDisks(out, r.Disks)
		}
	}
	return nil
}
