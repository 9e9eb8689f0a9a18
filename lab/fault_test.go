package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/lab"
)

func TestParseFaults(t *testing.T) {
	for _, c := range [][2]string{
		{"kill@20s", "[kill:node1@20s]"},
		{"kill:node2@20s,restart@40s", "[kill:node2@20s restart:node2@40s]"},
		{"kill:3@1s, stop@2s,resume@3s,restart@4s", "[kill:node3@1s stop:node1@2s resume:node1@3s restart:node3@4s]"},
		{"slow:5ms@1s,fast@2s", "[slow:node1:5ms@1s fast:node1@2s]"},
		{"slow:node2:1s@1s", "[slow:node2:1s@1s]"},
		{"slow@1s", "slow@1s has no delay"},
		{"bandwidth:10mbit@1s,full-bandwidth@2s", "[bandwidth:node1:10mbit@1s full-bandwidth:node1@2s]"},
		{"bandwidth:node2:0.5gbit@1s,bandwidth:node2:64kbit@2s", "[bandwidth:node2:500mbit@1s bandwidth:node2:64kbit@2s]"},
		{"bandwidth:10@1s", "has no rate, such as bandwidth:10mbit: \"10\" is no rate from 8kbit to 100gbit"},
		{"bandwidth:1bit@1s", "\"1bit\" is no rate"},
		{"bandwidth:NaNmbit@1s", "is no rate"},
		{"bandwidth:node2@1s", "\"node2\" is no rate"},
		{"delay:node3:5ms@1s,no-delay@2s", "[delay:node3:5ms@1s no-delay:node3@2s]"},
		{"delay@1s", "has no delay, such as delay:5ms"},
		{"delay:4m@1s,slow:1h@2s", "[delay:node1:4m0s@1s slow:node1:1h0m0s@2s]"},
		{"delay:5m@1s", "delay:5m@1s has a delay of more than 4m0s"},
		{"bandwidth:1mbit@1s,delay:5ms@2s", "delay:5ms@2s comes while the node's cable has another fault"},
		{"delay:5ms@1s,bandwidth:1mbit@2s", "bandwidth:1mbit@2s comes while the node's cable has another fault"},
		{"bandwidth:1mbit@1s,delay:node2:5ms@2s,full-bandwidth@3s,delay:5ms@4s", "[bandwidth:node1:1mbit@1s delay:node2:5ms@2s full-bandwidth:node1@3s delay:node1:5ms@4s]"},
		{"slow:node2@1s", "slow:node2@1s has no delay"},
		{"power-off:2@1s,power-on@2s,disk-full@3s,disk-free@4s", "[power-off:node2@1s power-on:node2@2s disk-full:node1@3s disk-free:node1@4s]"},
		{"restart@1s", "restart@1s: repairs what was not broken"},
		{"kill@1s,restart:node2@2s", "restart:node2@2s: repairs what was not broken"},
		{"kill:node1@1s,kill:node2@2s,restart@3s,restart@4s", "[kill:node1@1s kill:node2@2s restart:node2@3s restart:node1@4s]"},
		{"kill@1s,restart@2s,restart@3s", "restart@3s: repairs what was not broken"},
		{"stop@1s,kill@2s,resume@3s", "resume@3s: repairs what was not broken"},
		{"kill@2s,restart@1s", "restart@1s comes before"},
		{"burn@1s", "--fault burn is not known; choose one of kill, restart"},
		{"kil:node1@2s", "--fault kil is not known; did you mean kill?"},
		{"kill@2", "has no time, such as @20s"},
		{"kill@1s,kill@2s", "comes while the node is down"},
		{"power-off@1s,stop@2s", "comes while the node is down"},
		{"kill@1s,disk-full@2s", "comes while the node is down"},
		{"disk-full@1s,kill@2s,disk-free@3s", "disk-free@3s comes while the node is down, and would start it"},
		{"disk-full@1s,kill@2s,restart@3s,disk-free@4s", "[disk-full:node1@1s kill:node1@2s restart:node1@3s disk-free:node1@4s]"},
		{"stop@1s,stop@2s", "comes while the node is broken in this way"},
		{"kill@1s,kill:node2@2s,restart:node1@3s,kill@4s", "[kill:node1@1s kill:node2@2s restart:node1@3s kill:node1@4s]"},
		{"stop@1s,kill@2s", "[stop:node1@1s kill:node1@2s]"},
		{"slow:1ms@1s,slow:5ms@2s", "[slow:node1:1ms@1s slow:node1:5ms@2s]"},
		{"kill", "kill has no time"},
		{"kill:nodeX@1s", "kill:nodeX@1s names no node"},
	} {
		text, want := c[0], c[1]
		got, err := lab.ParseFaults(text)
		if err == nil && fmt.Sprint(got) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
		if err == nil && strings.HasPrefix(text, "kill:3") && len(lab.Repairs(got)) != 0 {
			t.Errorf("%s: pending repairs: %v, want none", text, lab.Repairs(got))
		}
	}
	broken, _ := lab.ParseFaults("kill:node2@20s,stop:node1@30s")
	if got := fmt.Sprint(lab.Repairs(broken)); got != "[resume:node1@0s restart:node2@0s]" {
		t.Errorf("pending repairs: %s", got)
	}
}

// TestInflict breaks and repairs nodes of a lab that another process started.
func TestInflict(t *testing.T) {
	dir, d := filepath.Join(t.TempDir(), "lab"), driver()
	up(t, d, lab.Options{Dir: dir, Nodes: 3})
	s, err := lab.Status(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Lab(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		action lab.Action
		state  string // of the process: T = stopped
	}{{lab.Halt, "T"}, {lab.Resume, ""}, {lab.Kill, "gone"}, {lab.Restart, ""}} {
		if err := l.Inflict(t.Context(), lab.Fault{Action: c.action, Node: 2}); err != nil {
			t.Fatalf("%s: %v", c.action, err)
		}
		if got := stateOf(l.State().Nodes[1].Processes); got != c.state {
			t.Errorf("after %s the node is %q", c.action, got)
		}
	}
	for _, f := range []lab.Fault{{Action: lab.Kill, Node: 4}, {Action: lab.Partition, Node: 1}, {Action: lab.PowerOff, Node: 1}} {
		if err := l.Inflict(t.Context(), f); err == nil {
			t.Errorf("%s: no error", f)
		}
	}
}

// stateOf waits up to 300 ms until a process is stopped ("T") or gone; "" if it is neither.
func stateOf(all []lab.Process) (state string) {
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", all[len(all)-1].PID))
		switch {
		case err != nil || strings.Contains(string(text), ") Z "):
			return "gone"
		case strings.Contains(string(text), ") T "):
			return "T"
		}
	}
	return ""
}
