package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/run"
)

// stateFile lies in the lab's folder.
const stateFile = "lab.json"

// State is what a lab's folder says of it.
type State struct {
	Engine  string         `json:"engine"` // Driver.Scheme
	URL     string         `json:"url"`
	Cluster engine.Cluster `json:"cluster"`
	Nodes   []NodeState    `json:"nodes"`
	Whole   bool           `json:"whole"`           // all nodes were ready once; else the start was broken off
	Owner   *Process       `json:"owner,omitempty"` // the process that must end the lab; nil = it stays up by itself
	Stop    syscall.Signal `json:"stop_signal"`
}

// NodeState is a node's processes, in the order of their start.
type NodeState struct {
	Processes []Process `json:"processes"`
	Running   bool      `json:"running"` // all of them run; set by Status
}

// alive reports whether every process of the node runs.
func (n *NodeState) alive() bool {
	for _, p := range n.Processes {
		if !p.alive() {
			return false
		}
	}
	return len(n.Processes) > 0
}

// end asks the processes to stop, the last one first.
func (n *NodeState) end(stop syscall.Signal) error {
	for _, p := range slices.Backward(n.Processes) {
		if err := p.end(stop); err != nil {
			return err
		}
	}
	return nil
}

// family are the processes and all that they started.
func (n *NodeState) family() (all []Process) {
	for _, p := range n.Processes {
		all = append(all, p.family()...)
	}
	return all
}

// kill ends all of them at once.
func (n *NodeState) kill() error {
	family := n.family()
	if len(family) == 0 {
		return nil
	}
	return killAll(family)
}

// signal sends all of them a signal.
func (n *NodeState) signal(s syscall.Signal) (err error) {
	for _, p := range n.family() {
		err = errors.Join(err, p.signal(s))
	}
	return err
}

// Process is a process that cannot be confused with a later one of the same pid.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it started, in the system's own count
}

// Status reads the state of the lab in dir and looks for its processes. The
// error is os.ErrNotExist where there is no lab.
func Status(dir string) (State, error) {
	var s State
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return s, err
	}
	if !mine(filepath.Join(dir, stateFile)) { // it names processes to end and a folder to remove
		return s, &fault.Error{File: dir, Problem: "holds a lab of another user", Cure: "name another folder, or become that user"}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, &fault.Error{File: filepath.Join(dir, stateFile), Problem: "is no state of a lab", Err: err, Cure: "remove the folder if nothing runs in it"}
	}
	for i := range s.Nodes {
		s.Nodes[i].Running = s.Nodes[i].alive()
	}
	return s, nil
}

// Running reports whether every node runs.
func (s *State) Running() bool {
	for i := range s.Nodes {
		if !s.Nodes[i].Running {
			return false
		}
	}
	return len(s.Nodes) > 0
}

// PIDs are the processes of all nodes; of no lab there are none.
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

// abandoned: nobody will end this lab, or it never came up.
func (s *State) abandoned() bool {
	return !s.Whole || s.Owner != nil && !s.Owner.alive()
}

// save replaces the state file, and that of the URL, each in one step. They
// hold the server's password.
func (s *State) save() error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(replaceFile(filepath.Join(s.Cluster.Dir, stateFile), append(text, '\n')),
		replaceFile(filepath.Join(s.Cluster.Dir, engine.URLFile), []byte(s.URL+"\n")))
}

// unsaved ends the name of a file that a kill kept from its place.
const unsaved = ".new"

func replaceFile(name string, text []byte) error {
	if err := os.WriteFile(name+unsaved, text, 0o600); err != nil {
		return err
	}
	return os.Rename(name+unsaved, name)
}

// forgetUnsaved removes what is left of a lab that was killed before its state was saved.
func forgetUnsaved(dir string) error {
	err := os.Remove(filepath.Join(dir, stateFile+unsaved))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Down stops the servers of the lab in dir, in reverse order, and removes the
// folder. It is nil where there is no lab.
func Down(dir string) error {
	release, err := hold(dir)
	if err != nil {
		return err
	}
	defer release()
	return down(dir)
}

func down(dir string) error {
	s, err := Status(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		end := func() error { return s.Nodes[i].end(s.Stop) }
		if !s.Whole { // it may be preparing: nothing is to be kept
			end = s.Nodes[i].kill
		}
		if err := end(); err != nil {
			return fmt.Errorf("%s, node %d: %w", s.Engine, i+1, err)
		}
	}
	if err := disconnect(&s.Cluster); err != nil {
		return fmt.Errorf("%s: %w", s.Engine, err)
	}
	for _, d := range s.Cluster.Disks {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// Sweep ends the labs below dir that were abandoned: their owner was killed.
// The names of such labs are not used again, so that their locks go, too.
func Sweep(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*", stateFile))
	if err != nil {
		return err
	}
	var all []error
	for _, name := range names {
		lab := filepath.Dir(name)
		if s, err := Status(lab); err == nil && s.Owner != nil && !s.Owner.alive() {
			all = append(all, Down(lab), os.Remove(lab+".lock"))
		}
	}
	return errors.Join(all...)
}

// Serving is the lab in one of these folders of labs whose server listens at a
// URL; nil where none does, or none that can be read: then the server is
// described by what it says of itself.
func Serving(dirs []string, d *engine.Driver, u *url.URL) *State {
	for _, dir := range dirs {
		if d.Server == nil || dir == "" {
			continue
		}
		s, err := Status(filepath.Join(dir, d.Scheme))
		if err != nil || !s.Running() {
			continue
		}
		if at, err := url.Parse(s.URL); err == nil && at.Host == u.Host {
			return &s
		}
	}
	return nil
}

// Server is what a run folder keeps of a lab; nil of none.
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
