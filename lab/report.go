package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// Row is what is reported of one engine's lab, or of the throttled disks.
type Row struct {
	Engine  string `json:"engine"` // DisksName in the row of the disks
	Running bool   `json:"running"`
	Name    string `json:"name,omitempty"` // what other commands take as its URL
	URL     string `json:"url,omitempty"`  // without its password
	State   *State `json:"lab,omitempty"`

	Disks *DiskSet `json:"disks,omitempty"`
}

// Report is what there is in a folder of labs.
type Report []Row

// ReportOf looks at the labs of engines and, if asked for, at the disks.
func ReportOf(labs string, drivers []*engine.Driver, disks bool) (rows Report, err error) {
	for _, d := range drivers {
		s, err := Status(filepath.Join(labs, d.Scheme))
		switch {
		case errors.Is(err, os.ErrNotExist):
			rows = append(rows, Row{Engine: d.Scheme})
		case err != nil:
			return nil, err
		default:
			s.URL, s.Cluster.Password = fault.Redact(s.URL), ""
			rows = append(rows, Row{Engine: d.Scheme, Running: s.Running(), Name: Name(labs, d), URL: s.URL, State: &s})
		}
	}
	if !disks {
		return rows, nil
	}
	s, err := DiskStatus(filepath.Join(labs, DisksName))
	if errors.Is(err, os.ErrNotExist) {
		return rows, nil
	}
	return append(rows, Row{Engine: DisksName, Running: s.Usable() == nil, Disks: &s}), err
}

// Name is what other commands take in place of the URL, which holds a password.
func Name(labs string, d *engine.Driver) string {
	if labs == engine.LabDir() {
		return "lab:" + d.Scheme
	}
	return "@" + filepath.Join(labs, d.Scheme, engine.URLFile)
}

// Text writes a line for each engine, then a table of the disks.
func (r Report) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	var disks *DiskSet
	for _, row := range r {
		switch {
		case row.Disks != nil:
			disks = row.Disks
		case row.State == nil:
			fmt.Fprintf(w, "%s\tdown\n", row.Engine)
		default:
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Engine, row.Name, row.URL, row.State)
		}
	}
	if err := w.Flush(); err != nil || disks == nil {
		return err
	}
	return disks.Text(out)
}

// String describes a lab in a line.
func (s *State) String() string {
	running, pids := 0, []string(nil)
	for _, n := range s.Nodes {
		if !n.Running {
			continue
		}
		running++
		for _, p := range n.Processes {
			pids = append(pids, strconv.Itoa(p.PID))
		}
	}
	if pids == nil {
		pids = []string{"none"}
	}
	c, disks := &s.Cluster, ""
	if len(c.Disks) > 0 {
		disks = fmt.Sprintf(", in %s and so on, %d part(s)", c.Disks[0], len(c.Disks))
	}
	return fmt.Sprintf("profile %s, %d of %d nodes run (pid %s), %s%s, in %s", c.Profile, running, len(s.Nodes), strings.Join(pids, " "), c.Isolation, disks, c.Dir)
}

// Text writes what the disks are and were measured to do.
func (s *DiskSet) Text(out io.Writer) error {
	yes := map[bool]string{true: "yes", false: "no"}
	fmt.Fprintf(out, "%s\nlimits hold for control groups of %s\n", s, s.Groups)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "disk\tdevice\tread MB/s\twrite MB/s\trandom 4 KiB reads/s\tpast the page cache\tmounted")
	for i := range s.Disks {
		d := &s.Disks[i]
		fmt.Fprintf(w, "%s\t%s (%s)\t%.1f\t%.1f\t%.0f\t%s\t%s\n", d.Path, d.Node, d.Device, d.Measured.ReadMBps, d.Measured.WriteMBps, d.Measured.RandomReads, yes[d.Direct], yes[d.Mounted])
	}
	if len(s.Disks) > 1 {
		fmt.Fprintf(w, "all at once\t\t%.1f\n", s.Together)
	}
	return w.Flush()
}

// RemoveDisks removes the throttled disks of a folder of labs, unless a lab
// that stays has its tables on them, and reports whether there were any.
func RemoveDisks(labs string) (bool, error) {
	dir := filepath.Join(labs, DisksName)
	if _, err := DiskStatus(dir); errors.Is(err, os.ErrNotExist) {
		return false, DownDisks(dir) // whatever a killed process left
	}
	if err := Sweep(labs); err != nil { // of scans that were killed
		return false, err
	}
	names, err := filepath.Glob(filepath.Join(labs, "*", stateFile))
	if err != nil {
		return false, err
	}
	for _, name := range names {
		s, err := Status(filepath.Dir(name))
		if err != nil {
			continue // no lab of ours
		}
		cure := "`barograph lab down " + s.Engine + "` first"
		if s.Owner != nil {
			cure = fmt.Sprintf("wait for the scan, or interrupt it: process %d", s.Owner.PID)
		}
		for _, d := range s.Cluster.Disks {
			if rel, err := filepath.Rel(dir, d); err == nil && filepath.IsLocal(rel) {
				return false, &fault.Error{Setting: DisksName, Problem: "hold tables of " + s.Engine, Cure: cure}
			}
		}
	}
	err = DownDisks(dir)
	return err == nil, err
}
