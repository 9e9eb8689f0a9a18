package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/lab"
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
			o.Size, o.Dir = size<<20, filepath.Join(l.dir, lab.DisksName)
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
		l.e.says("warning: " + w)
	}
	if s, err = lab.DiskStatus(o.Dir); err != nil {
		return err
	}
	return l.e.print(s, s.Text)
}
