package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/jsonkeys"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// stateFile is the name of the state file in the lab's folder.
const stateFile = "lab.json"

// State is the state of a lab, as its folder contains it.
type State struct {
	Engine   string         `json:"engine"` // Driver.Scheme
	URL      string         `json:"url"`
	Cluster  launch.Cluster `json:"cluster"`
	Nodes    []NodeState    `json:"nodes"`
	Frail    bool           `json:"frail,omitempty"`      // see Options
	Claims   bool           `json:"claims,omitempty"`     // links name it next to its folders on disks, see makeFolders
	Complete bool           `json:"complete" old:"whole"` // all nodes were ready once; false = the start was interrupted
	Owner    *Process       `json:"owner,omitempty"`      // the process that must end the lab; nil = the user ends it
	Stop     syscall.Signal `json:"stop_signal"`
}

// NodeState is the state of a node.
type NodeState struct {
	Processes []Process `json:"processes"` // in the order of their start
	Running   bool      `json:"running"`   // all of them run; set by Status, and when the lab starts or stops the node
}

// alive reports whether every process of the node runs.
func (n *NodeState) alive() bool {
	return len(n.Processes) > 0 && !slices.ContainsFunc(n.Processes, func(p Process) bool { return !p.alive() })
}

// stop stops the processes by a signal, the last one first.
func (n *NodeState) stop(signal syscall.Signal) error {
	for _, p := range slices.Backward(n.Processes) {
		if err := p.stop(signal); err != nil {
			return err
		}
	}
	return nil
}

// family returns the processes and their descendants.
func (n *NodeState) family() (all []Process) {
	for _, p := range n.Processes {
		all = append(all, p.family()...)
	}
	return all
}

// kill kills the processes and their descendants at once.
func (n *NodeState) kill() error {
	return killAll(n.family())
}

// signal sends a signal to the processes and their descendants.
func (n *NodeState) signal(s syscall.Signal) (err error) {
	for _, p := range n.family() {
		err = errors.Join(err, p.signal(s))
	}
	return err
}

// Process identifies a process. A later process with the same pid has another start.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // the boot, and the clock ticks from the boot to the start
}

// Status reads the state of the lab in dir and checks which nodes run. The error is os.ErrNotExist if there is no lab.
func Status(dir string) (State, error) {
	s, err := readState[State](filepath.Join(dir, stateFile), "a lab", "remove the folder if nothing runs in it")
	for i := range s.Nodes {
		s.Nodes[i].Running = s.Nodes[i].alive()
	}
	return s, err
}

// readState reads a state file. subject describes its content in errors. The state names processes to end, devices to
// detach and a folder to remove, so the file must belong to this user.
func readState[T any](name, subject, cure string) (s T, err error) {
	text, err := os.ReadFile(name)
	switch {
	case err != nil:
		return s, err
	case !isOwned(name):
		return s, &fault.Error{
			File: filepath.Dir(name), Problem: "contains " + subject + " of another user",
			Cure: "name another folder, or become that user",
		}
	}
	if err := jsonkeys.Unmarshal(text, &s); err != nil {
		return s, &fault.Error{File: name, Problem: "is not a state file of " + subject, Err: err, Cure: cure}
	}
	return s, nil
}

// Running reports whether every node runs.
func (s *State) Running() bool {
	return len(s.Nodes) > 0 && !slices.ContainsFunc(s.Nodes, func(n NodeState) bool { return !n.Running })
}

// PIDs returns the pids of all nodes. It accepts nil, which has none.
func (s *State) PIDs() (pids []int32) {
	if s == nil {
		return nil
	}
	for i := range s.Nodes {
		for _, p := range s.Nodes[i].Processes {
			pids = append(pids, int32(p.PID)) //nolint:gosec // pids are small
		}
	}
	return pids
}

// isAbandoned reports whether the start of the lab was interrupted, or the process that must end it has ended.
func (s *State) isAbandoned() bool {
	return !s.Complete || s.Owner != nil && !s.Owner.alive()
}

// save replaces the state file and the file of the URL, each in one step. Only this user may read them, because they
// contain the server's password.
func (s *State) save() error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(replaceFile(filepath.Join(s.Cluster.Dir, stateFile), append(text, '\n'), 0o600),
		replaceFile(filepath.Join(s.Cluster.Dir, engine.URLFile), []byte(s.URL+"\n"), 0o600))
}

// newSuffix is the suffix of a new file until it replaces the old one.
const newSuffix = ".new"

// replaceFile replaces a file in one step.
func replaceFile(name string, text []byte, mode os.FileMode) error {
	if err := os.WriteFile(name+newSuffix, text, mode); err != nil {
		return err
	}
	return os.Rename(name+newSuffix, name)
}

// removeUnsaved removes the file that a process left if it was killed before it had saved its first state.
func removeUnsaved(dir string) error {
	if err := os.Remove(filepath.Join(dir, stateFile+newSuffix)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Down stops the servers of the lab in dir, in reverse order, and removes the folder. It returns nil if there is no
// lab.
func Down(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, stateFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	release, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer release()
	return down(dir)
}

// down is Down for a caller that has locked dir.
func down(dir string) error {
	s, err := Status(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		stop := func() error { return s.Nodes[i].stop(s.Stop) }
		if !s.Complete { // its data may be incomplete, so an orderly stop is not needed
			stop = s.Nodes[i].kill
		}
		if err := stop(); err != nil {
			return fmt.Errorf("%s, node %d: %w", s.Engine, i+1, err)
		}
	}
	if err := errors.Join(disconnect(&s.Cluster), s.unmount()); err != nil {
		return fmt.Errorf("%s: %w", s.Engine, err)
	}
	if err := s.removeFolders(); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// Sweep removes the labs below dir whose owner was killed.
func Sweep(dir string) (err error) {
	for _, s := range orphans(dir) {
		err = errors.Join(err, Down(s.Cluster.Dir))
	}
	return err
}

// orphans returns the labs below dir whose owner was killed.
func orphans(dir string) (out []State) {
	for _, name := range lists.Files(dir, "*/"+stateFile) {
		if s, err := Status(filepath.Dir(name)); err == nil && s.Owner != nil && !s.Owner.alive() {
			s.Cluster.Dir = filepath.Dir(name)
			out = append(out, s)
		}
	}
	return out
}

// Serving returns the lab in one of these folders of labs whose server listens at a URL. It returns nil if there is no
// such lab, or its state cannot be read.
func Serving(dirs []string, d *engine.Driver, u *url.URL) *State {
	for _, dir := range dirs {
		if d.Server == nil || dir == "" {
			continue
		}
		s, err := Status(filepath.Join(dir, d.Scheme))
		if err != nil || !s.Running() {
			continue
		}
		if own, err := url.Parse(s.URL); err == nil && own.Host == u.Host {
			return &s
		}
	}
	return nil
}

// Server returns the description of a lab for a run folder; nil for nil.
func (s *State) Server() *run.Server {
	if s == nil {
		return nil
	}
	c := &s.Cluster
	out := &run.Server{Nodes: len(c.Nodes), Profile: c.Profile, Settings: c.Settings, Memory: c.Memory}
	if i := c.Isolation; i != nil {
		out.Isolation = &run.Isolation{CPUs: i.CPUs, Memory: i.Memory, Latency: i.Latency}
	}
	return out
}

// Row describes one engine's lab, or the throttled disks.
type Row struct {
	Engine  string `json:"engine"` // DisksName in the row of the disks
	Running bool   `json:"running"`
	Name    string `json:"name,omitempty"` // what other commands take as its URL
	URL     string `json:"url,omitempty"`  // without its password
	State   *State `json:"lab,omitempty"`
	Orphan  bool   `json:"orphan,omitempty"` // the process that started it was killed

	Disks *DiskSet `json:"disks,omitempty"`
}

// Report lists the labs of a folder.
type Report []Row

// ReportOf lists the labs of engines and, if disks is set, the disks.
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
	for _, s := range orphans(labs) {
		s.URL, s.Cluster.Password = fault.Redact(s.URL), ""
		rows = append(rows, Row{Engine: s.Engine, Running: s.Running(), URL: s.URL, State: &s, Orphan: true})
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

// Name returns the name that other commands accept instead of the URL, which contains a password.
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
		case row.Orphan:
			const orphan = "orphan: the process that started it was killed; remove it with `barograph lab down`"
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Engine, orphan, row.URL, row.State)
		default:
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Engine, row.Name, row.URL, row.State)
		}
	}
	if err := w.Flush(); err != nil || disks == nil {
		return err
	}
	return disks.Text(out)
}

// String describes a lab in one line.
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
		disks = fmt.Sprintf(", %d partition(s) on disks, the first in %s", len(c.Disks), c.Disks[0])
	}
	return fmt.Sprintf("profile %s, %d of %d nodes run (pid %s), %s%s, in %s",
		c.Profile, running, len(s.Nodes), strings.Join(pids, " "), c.Isolation, disks+s.kind(), c.Dir)
}

// kind describes TLS and frail disks of a lab, as the end of a list; "" = it has neither.
func (s *State) kind() string {
	words := ""
	if s.Cluster.TLS {
		words = ", over TLS"
	}
	if s.Frail {
		words += ", on frail disks"
	}
	return words
}

// Text writes the limits and the measured rates of the disks.
func (s *DiskSet) Text(out io.Writer) error {
	yes := map[bool]string{true: "yes", false: "no"}
	fmt.Fprintf(out, "%s\nlimits apply to control groups of %s\n", s, s.Groups)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "disk\tdevice\tread MB/s\twrite MB/s\trandom 4 KiB reads/s\tpast the page cache\tmounted")
	for i := range s.Disks {
		d := &s.Disks[i]
		m := &d.Measured
		fmt.Fprintf(w, "%s\t%s (%s)\t%.1f\t%.1f\t%.0f\t%s\t%s\n",
			d.Path, d.Node, d.Device, m.ReadMBps, m.WriteMBps, m.RandomReads, yes[d.Direct], yes[d.Mounted])
	}
	if len(s.Disks) > 1 {
		fmt.Fprintf(w, "all at once\t\t%.1f\n", s.Together)
	}
	return w.Flush()
}

// RemoveDisks removes the throttled disks of a folder of labs, unless a lab still has tables on them. It reports
// whether it removed disks.
func RemoveDisks(labs string) (bool, error) {
	dir := resolved(filepath.Join(labs, DisksName))
	if _, err := DiskStatus(dir); errors.Is(err, os.ErrNotExist) {
		return false, DownDisks(dir) // removes the remains of a killed process
	}
	if err := Sweep(labs); err != nil { // scans that were killed leave labs with tables on the disks
		return false, err
	}
	for _, name := range lists.Files(labs, "*/"+stateFile) {
		s, err := Status(filepath.Dir(name))
		if err != nil {
			if isOwned(name) { // its tables may be on the disks
				return false, err
			}
			continue // another user's lab, or it has ended
		}
		cure := "run `barograph lab down " + s.Engine + "` first"
		if s.Owner != nil {
			cure = fmt.Sprintf("wait for the scan, or interrupt it: process %d", s.Owner.PID)
		}
		for _, d := range s.Cluster.Disks {
			if isBelow(resolved(d), dir) {
				return false, &fault.Error{Setting: DisksName, Problem: "have tables of " + s.Engine, Cure: cure}
			}
		}
	}
	err := DownDisks(dir)
	return err == nil, err
}
