package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/lab"
)

// labs has the flags of the command lab.
type labs struct {
	e     *env
	known engine.Registry // engines, and the object store
	dir   string
	yes   bool

	lab.Options
	isolate  bool
	limits   lab.Isolate
	memory   int64 // MiB
	useDisks bool  // use the disks of `lab disks`
}

// labCommand runs a subcommand of lab on engines. hasExtra reports whether it also acts on the disks or TPCGen, because
// an argument names them, or because there are no arguments.
type labCommand func(c *cobra.Command, drivers []*engine.Driver, hasExtra bool) error

func newLab(e *env) *cobra.Command {
	l := &labs{e: e, known: append(slices.Clone(e.engines), lab.StoreDriver())}
	c := &cobra.Command{
		Use:   "lab",
		Short: "Install, start and stop temporary database servers on this machine",
		Long: `Lab starts database servers for studies. Each server has a folder of its own, and listens on
127.0.0.1 and a free port. If you are root, the server runs as an unprivileged user. A profile is a set of settings;
the run folder records it. Lab does not use or change servers that already run on the machine. Each command acts on the
engines that you name, or on all engines that have a server.

  barograph lab install postgres --yes
  barograph lab up postgres --profile tuned
  barograph met --engine lab:postgres FILES
  barograph lab down

"lab disks" makes throttled disks for engines that spread their tables. "lab up s3" starts an object store.`,
	}
	c.PersistentFlags().StringVar(&l.dir, "lab-dir", engine.LabDir(), "folder of the servers and disks")
	formerlyIn(c, c.PersistentFlags(), "dir", "lab-dir")
	// sub adds a subcommand that accepts the names of engines, and extra.
	sub := func(use, short string, names []string, extra string, run labCommand) *cobra.Command {
		s := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, ValidArgs: l.known.Servers()}
		s.RunE = func(c *cobra.Command, args []string) error {
			drivers, hasExtra, err := l.drivers(args, names, extra)
			if err != nil {
				return err
			}
			return run(c, drivers, hasExtra)
		}
		if extra == lab.DisksName {
			s.ValidArgs = append(s.ValidArgs, extra)
		}
		c.AddCommand(s)
		return s
	}
	servers := l.known.Servers()
	install := sub("install [ENGINE…] ["+lab.TPCGenName+"]", "Print the commands that install the servers, or run them with --yes",
		l.known.Installable(), lab.TPCGenName, l.install)
	install.Long = `Print the commands that install the servers of the engines that you name (default: all), or run them with --yes. ` +
		lab.TPCGenName + ` is the program that makes tables for "barograph synth tpcds --generator ` + lab.TPCGenName + `".`
	install.ValidArgs = append(l.known.Installable(), lab.TPCGenName)
	install.Flags().BoolVar(&l.yes, "yes", false, "run the commands (as root, on Debian or Ubuntu)")
	up := sub("up [ENGINE…]", "Start servers and print their names", servers, "", l.up)
	profiles, descriptions := l.profiles()
	up.Long = "Up starts the servers of the engines that you name (default: all), and prints their names for --engine, such as " +
		"lab:postgres. If the server already runs with the same options, \"lab up\" changes nothing and exits with status 0. With another " +
		"profile, other nodes, disks, --tls, --isolate or --frail-disks it exits with status 1: first stop the server (lab down).\n\n" +
		"Profiles (the default is the first one of an engine):\n" + descriptions
	clusters := l.serversWhere(func(s *launch.Server) bool { return len(s.Nodes) > 1 })
	spreading := l.spreadingEngines()
	up.Flags().IntVar(&l.Nodes, "nodes", 1, "nodes of the cluster; more than 1 only for "+join(clusters))
	up.Flags().StringVar(&l.Profile, "profile", "", "settings: "+join(profiles)+" (default: the engine's first)")
	up.Flags().BoolVar(&l.isolate, "isolate", false, "give each node a network namespace and a control group (as root)")
	up.Flags().Float64Var(&l.limits.CPUs, "cpus", 0, "with --isolate: cores that a node may use; 0 = all")
	up.Flags().Int64Var(&l.memory, "memory", 0, "with --isolate: MiB that a node may use; 0 = all")
	up.Flags().DurationVar(&l.limits.Latency, "latency", 0, "with --isolate: delay of each packet that a node sends, such as 500us")
	up.Flags().BoolVar(&l.TLS, "tls", false, "require TLS, with the lab's own certificates; only "+join(l.tlsEngines()))
	up.Flags().BoolVar(&l.useDisks, "disks", false, "store the engine's tables on all throttled disks of 'lab disks'; only "+join(spreading))
	up.Flags().StringArrayVar(&l.Disks, "disk", nil, "store the engine's tables below this folder, such as the mount point of a disk; repeat it for several; only "+join(spreading))
	up.MarkFlagsMutuallyExclusive("disks", "disk")
	up.Flags().BoolVar(&l.Frail, "frail-disks", false, "give each node a disk that can fill up, and that loses unflushed data "+
		"at a power failure (FUSE, as root): for ycsb --fault, not for timing")
	up.Flags().IntVar(&l.Partitions, "partitions", 0, "partitions of each table, distributed over the disks in turn (default: one per disk); only "+join(spreading))
	sub("url ENGINE", "Print the URL of a server, with its password", servers, "", l.url).Args = cobra.ExactArgs(1)
	sub("down [ENGINE…] [disks]", "Stop servers and remove their data; remove throttled disks", servers, lab.DisksName, l.down)
	status := sub("status [ENGINE…] [disks]", "List running servers and throttled disks", servers, lab.DisksName, l.printStatus)
	status.Long = "Status lists the running servers and the throttled disks. Name engines, or \"disks\", to list only these."
	return parent(c, newLabDisks(l))
}

// profiles returns the names of all profiles, and a line for each profile of each engine.
func (l *labs) profiles() (all []string, descriptions string) {
	for _, d := range l.known {
		if d.Server == nil {
			continue
		}
		for _, p := range d.Server.Profiles {
			if !slices.Contains(all, p.Name) {
				all = append(all, p.Name)
			}
			descriptions += fmt.Sprintf("\n  %-11s%-10s%s", d.Scheme, p.Name, p.Summary)
		}
	}
	return all, descriptions
}

// tlsEngines returns the engines whose lab servers support TLS.
func (l *labs) tlsEngines() []string {
	return l.serversWhere(func(s *launch.Server) bool { return s.TLS != launch.NoTLS })
}

// spreadingEngines returns the engines whose lab servers distribute tables over several disks.
func (l *labs) spreadingEngines() []string {
	return l.serversWhere(func(s *launch.Server) bool { return s.SpreadsTables })
}

// serversWhere returns the engines whose lab servers satisfy a condition.
func (l *labs) serversWhere(has func(*launch.Server) bool) (all []string) {
	for _, d := range l.known {
		if d.Server != nil && has(d.Server) {
			all = append(all, d.Scheme)
		}
	}
	return all
}

// drivers finds the engines that the arguments name, and reports whether an argument is extra: the name of the disks or
// of TPCGen. Without arguments it returns all engines and true.
func (l *labs) drivers(args, all []string, extra string) (out []*engine.Driver, hasExtra bool, err error) {
	names := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == extra })
	if hasExtra = len(names) < len(args); !hasExtra && len(names) == 0 {
		names, hasExtra = all, true
	}
	for _, name := range names {
		d, ok := l.known.Find(name)
		if !ok || !slices.Contains(all, name) {
			unknown := fault.Unknown("engine", name, all)
			unknown.Problem = "has no server to start"
			return nil, false, usage(unknown)
		}
		out = append(out, d)
	}
	return out, hasExtra, nil
}

func (l *labs) folder(d *engine.Driver) string { return filepath.Join(l.dir, d.Scheme) }

// url prints the URL of a server. It is the only command that prints a password.
func (l *labs) url(_ *cobra.Command, drivers []*engine.Driver, _ bool) error {
	s, err := lab.Status(l.folder(drivers[0]))
	if errors.Is(err, os.ErrNotExist) {
		return &fault.Error{File: l.folder(drivers[0]), Problem: "has no server", Cure: "start one: `barograph lab up " + drivers[0].Scheme + "`"}
	}
	if err != nil {
		return err
	}
	return l.e.print(map[string]string{"url": s.URL}, func(w io.Writer) error { _, err := fmt.Fprintln(w, s.URL); return err })
}

func (l *labs) install(c *cobra.Command, drivers []*engine.Driver, generator bool) error {
	needs := lab.Servers(drivers...)
	if generator {
		needs = append(needs, lab.TPCGen())
	}
	if l.yes {
		if err := lab.Install(c.Context(), needs, l.e.stderr); err != nil {
			return err
		}
	}
	line := lab.InstallLine(needs)
	return l.e.print(map[string]any{"installed": line == "", "commands": lab.InstallCommands(needs)}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, cmp.Or(line, "everything is installed"))
		return err
	})
}

// up starts servers. If one fails, it starts the others.
func (l *labs) up(c *cobra.Command, drivers []*engine.Driver, _ bool) error {
	for _, d := range drivers {
		if !slices.Contains(d.Server.Nodes, l.Nodes) {
			offered := strings.Join(lists.Map(d.Server.Nodes, strconv.Itoa), ", ")
			return fault.Misuse("--nodes "+strconv.Itoa(l.Nodes), "is not offered by "+d.Scheme, "choose one of "+offered)
		}
		profiles := lists.Map(d.Server.Profiles, func(p launch.Profile) string { return p.Name })
		if l.Profile != "" && !slices.Contains(profiles, l.Profile) {
			return fault.NotOffered("--profile", l.Profile, profiles, d.Scheme)
		}
		if l.TLS && d.Server.TLS == launch.NoTLS {
			return fault.Misuse("--tls", "is not offered by "+d.Scheme, "choose one of "+join(l.tlsEngines()))
		}
		if (l.useDisks || len(l.Disks) > 0 || l.Partitions > 0) && !d.Server.SpreadsTables {
			return fault.Misuse("--disks, --disk, --partitions", "are not offered by "+d.Scheme, "choose one of "+join(l.spreadingEngines()))
		}
	}
	switch {
	case l.isolate:
		l.limits.Memory = l.memory << 20
		l.Isolate = &l.limits
	case l.memory != 0 || l.limits != (lab.Isolate{}):
		return fault.Misuse("--cpus, --memory, --latency", "apply only to isolated nodes", "add --isolate")
	}
	if l.useDisks {
		var err error
		if l.Disks, err = lab.DiskPaths(l.dir, 0); err != nil {
			return err
		}
	}
	var all error
	for _, d := range drivers {
		l.Dir = l.folder(d)
		if d.Server.Note != "" && !l.isolate {
			l.e.info(d.Scheme + ": " + d.Server.Note)
		}
		if d.Server.NoPassword {
			l.e.info("warning: " + d.Scheme + " has no password: every user of this machine has full access to it")
		}
		_, err := lab.Up(c.Context(), d, l.Options)
		all = errors.Join(all, err)
	}
	return errors.Join(all, l.printStatus(c, drivers, false))
}

// down stops servers. Without arguments it also removes what killed runs left behind.
func (l *labs) down(c *cobra.Command, drivers []*engine.Driver, disks bool) error {
	var all error
	removed := []string{} // names for --json
	report := func(done bool, name, state string, err error) {
		if all = errors.Join(all, err); !done {
			return
		}
		if removed = append(removed, name); !l.e.json {
			fmt.Fprintln(l.e.stdout, name+"\t"+state)
		}
	}
	for _, d := range drivers {
		err := lab.Down(l.folder(d))
		report(err == nil, d.Scheme, "is down", err)
	}
	if c.Flags().NArg() == 0 {
		all = errors.Join(all, lab.Sweep(l.dir))
	}
	if disks {
		done, err := lab.RemoveDisks(l.dir)
		report(done, lab.DisksName, "are removed", err)
	}
	if l.e.json {
		all = errors.Join(all, l.e.printJSON(map[string]any{"down": removed}))
	}
	return all
}

// printStatus prints the state of the engines and, if disks is set, of the disks.
func (l *labs) printStatus(_ *cobra.Command, drivers []*engine.Driver, disks bool) error {
	rows, err := lab.ReportOf(l.dir, drivers, disks)
	if err != nil {
		return err
	}
	return l.e.print(rows, rows.Text)
}

// newFrailDisk is the hidden command that serves the frail disk of a node. The lab starts it as a process.
func newFrailDisk() *cobra.Command {
	return &cobra.Command{
		Use: lab.DiskCommand + " FOLDER PLACE", Hidden: true, Args: cobra.ExactArgs(2),
		Short: "Serve a disk that can fill up and lose unflushed data (lab up --frail-disks starts this)",
		RunE:  func(_ *cobra.Command, args []string) error { return lab.ServeDisk(args[0], args[1]) },
	}
}

// newLabDisks is the `lab disks` command: throttled disks.
func newLabDisks(l *labs) *cobra.Command {
	o := lab.DiskOptions{}
	size := int64(0)
	var names, help []string
	for _, p := range lab.DiskProfiles() {
		names = append(names, p.Name)
		help = append(help, fmt.Sprintf("  %-7s %s: %s", p.Name, p.Summary, p.Limits))
	}
	c := &cobra.Command{
		Use:   "disks",
		Short: "Make throttled disks",
		Long: `Disks makes real block devices: files in the lab's folder, loop devices on them (direct I/O if the file system can), an
ext4 file system on each, and kernel limits (control groups, version 1 or 2) on bytes and operations per second. It
measures each disk by itself and with all others. It needs root and Linux. "lab down" removes the disks, also after a kill.

Profiles; flags override a profile's figures:
` +
			strings.Join(help, "\n") + `

  barograph lab disks --count 6 --profile hdd
  barograph lab disks --count 6 --profile custom --read-mbps 40 --write-mbps 40
  barograph lab up asterixdb --disks
  barograph lab down`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size, o.Dir = size<<20, filepath.Join(l.dir, lab.DisksName)
			return l.disks(c, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.Count, "count", 6, "disks")
	f.StringVar(&o.Profile, "profile", names[0], "limits: "+strings.Join(names, ", "))
	f.Int64Var(&size, "size", 8192, "MiB of each disk; a disk takes only the space that is written")
	f.Float64Var(&o.Limits.ReadMBps, "read-mbps", 0, "MB (10⁶ bytes) read per second, at most; 0 = as in the profile")
	f.Float64Var(&o.Limits.WriteMBps, "write-mbps", 0, "MB written per second, at most; 0 = as in the profile")
	f.Int64Var(&o.Limits.ReadIOPS, "read-iops", 0, "reads per second, at most; 0 = as in the profile")
	f.Int64Var(&o.Limits.WriteIOPS, "write-iops", 0, "writes per second, at most; 0 = as in the profile")
	return c
}

func (l *labs) disks(c *cobra.Command, o lab.DiskOptions) error {
	if err := o.Check(); err != nil {
		return usage(err)
	}
	s, err := lab.UpDisks(c.Context(), o)
	if err != nil {
		return err
	}
	for _, w := range s.Warnings() {
		l.e.info("warning: " + w)
	}
	if s, err = lab.DiskStatus(o.Dir); err != nil {
		return err
	}
	return l.e.print(s, s.Text)
}
