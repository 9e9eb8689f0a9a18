package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"barograph/engine"
	"barograph/fault"
	"barograph/lab"
)

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
		Short: "Make throttled disks, so that the number of disks is a variable and not a purchase",
		Long: `Makes real block devices: files in the lab's folder, loop devices on them (past the page cache where the file system
below can), an ext4 file system on each, mounted in the lab's folder, and limits of the kernel (control groups, version 1
or 2) on bytes and operations per second. Each disk is measured, alone and with all others, before it is given to
anything. Takes root and Linux. "lab down" removes all of it, also after a kill.

Profiles; the figures given take the place of the profile's:
` + strings.Join(help, "\n") + `

  barograph lab disks --count 6 --profile hdd
  barograph lab disks --count 6 --profile custom --read-mbps 40 --write-mbps 40
  barograph lab up asterixdb --disks
  barograph lab down`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Size, o.Dir = size<<20, l.disksDir()
			return l.disks(c, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.Count, "count", 6, "disks")
	f.StringVar(&o.Profile, "profile", names[0], "limits: "+strings.Join(names, ", "))
	f.Int64Var(&size, "size", 8192, "MiB of each disk; only what is written takes place")
	f.Float64Var(&o.Limits.ReadMBps, "read-mbps", 0, "MB (10⁶ bytes) read per second at most; 0 = the profile's")
	f.Float64Var(&o.Limits.WriteMBps, "write-mbps", 0, "MB written per second at most; 0 = the profile's")
	f.Int64Var(&o.Limits.ReadIOPS, "read-iops", 0, "reads per second at most, sequential ones counted; 0 = the profile's")
	f.Int64Var(&o.Limits.WriteIOPS, "write-iops", 0, "writes per second at most, sequential ones counted; 0 = the profile's")
	return c
}

func (l *labs) disksDir() string { return filepath.Join(l.dir, lab.DisksName) }

func (l *labs) disks(c *cobra.Command, o lab.DiskOptions) error {
	if err := o.Check(); err != nil {
		return usage(err)
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	s, err := lab.UpDisks(c.Context(), o)
	if err != nil {
		return err
	}
	for _, w := range s.Warnings() {
		fmt.Fprintln(l.e.stderr, "warning:", w)
	}
	if s, err = lab.DiskStatus(o.Dir); err != nil {
		return err
	}
	if l.e.json {
		return l.e.printJSON(s)
	}
	return printDisks(l.e.stdout, &s)
}

func printDisks(out io.Writer, s *lab.DiskSet) error {
	fmt.Fprintf(out, "%s\nlimits hold for control groups of %s\n", s, s.Groups)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "disk\tdevice\tread MB/s\twrite MB/s\trandom 4 KiB reads/s\tpast the page cache\tmounted")
	for i := range s.Disks {
		d := &s.Disks[i]
		fmt.Fprintf(w, "%s\t%s (%s)\t%.1f\t%.1f\t%.0f\t%s\t%s\n", d.Path, d.Node, d.Device, d.Measured.ReadMBps, d.Measured.WriteMBps, d.Measured.RandomReads, yesNo(d.Direct), yesNo(d.Mounted))
	}
	if len(s.Disks) > 1 {
		fmt.Fprintf(w, "all at once\t\t%.1f\n", s.Together)
	}
	return w.Flush()
}

// diskStatus is the row of `lab status` for disks; nil where there are none.
func (l *labs) diskStatus() (*labRow, error) {
	s, err := lab.DiskStatus(l.disksDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // no disks is no row
	}
	if err != nil {
		return nil, err
	}
	return &labRow{Engine: lab.DisksName, Running: s.Usable() == nil, Disks: &s}, nil
}

// diskPaths are the disks that `lab up` gives to engines.
func (l *labs) diskPaths() ([]string, error) {
	if !l.useDisks {
		return l.diskFolders, nil
	}
	if len(l.diskFolders) > 0 {
		return nil, usage(&fault.Error{Setting: "--disks, --disk", Problem: "say two things", Cure: "choose the lab's disks or name your own"})
	}
	return lab.DiskPaths(l.dir, 0)
}

// downDisks removes the disks, unless an engine's lab that stays has its
// tables on them.
func (l *labs) downDisks() error {
	if _, err := lab.DiskStatus(l.disksDir()); errors.Is(err, os.ErrNotExist) {
		return lab.DownDisks(l.disksDir()) // whatever a killed process left
	}
	if err := lab.Sweep(l.dir); err != nil { // of scans that were killed
		return err
	}
	folders, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, f := range folders {
		s, err := lab.Status(filepath.Join(l.dir, f.Name()))
		if err != nil {
			continue // no lab
		}
		cure := "`barograph lab down " + s.Engine + "` first"
		if s.Owner != nil {
			cure = fmt.Sprintf("wait for the scan, or interrupt it: process %d", s.Owner.PID)
		}
		for _, d := range s.Cluster.Disks {
			if rel, err := filepath.Rel(l.disksDir(), d); err == nil && filepath.IsLocal(rel) {
				return &fault.Error{Setting: lab.DisksName, Problem: "hold tables of " + s.Engine, Cure: cure}
			}
		}
	}
	if err := lab.DownDisks(l.disksDir()); err != nil {
		return err
	}
	if !l.e.json {
		fmt.Fprintf(l.e.stdout, "%s\tare removed\n", lab.DisksName)
	}
	return nil
}

// withDisks finds the engines named, and whether the disks are, too; both are
// all where nothing is named.
func (l *labs) withDisks(args []string) (drivers []*engine.Driver, disks bool, err error) {
	var names []string
	for _, a := range args {
		if a == lab.DisksName {
			disks = true
		} else {
			names = append(names, a)
		}
	}
	if disks && len(names) == 0 {
		return nil, true, nil
	}
	drivers, err = l.drivers(names)
	return drivers, disks || len(args) == 0, err
}

func onDisks(folders []string) string {
	if len(folders) == 0 {
		return ""
	}
	return fmt.Sprintf(", in %s and so on, %d part(s)", folders[0], len(folders))
}
