package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// TestSurvivingProcess: if one of a node's two processes has ended, the next Up ends the other one before it starts
// both again.
func TestSurvivingProcess(t *testing.T) {
	d := driver()
	start := d.Server.Start
	d.Server.Start = func(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
		cmd, err := start(c, n)
		return append([]launch.Command{{Args: []string{"sleep", "1000"}}}, cmd...), err
	}
	o := lab.Options{Dir: filepath.Join(t.TempDir(), "lab")}
	up(t, d, o)
	s, err := lab.Status(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	survivor := s.Nodes[0].Processes[0].PID
	t.Cleanup(func() { _ = syscall.Kill(survivor, syscall.SIGKILL) })
	if err := syscall.Kill(s.Nodes[0].Processes[1].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for s.Running() {
		if s, err = lab.Status(o.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := lab.Up(t.Context(), d, o); err != nil {
		t.Fatal(err)
	}
	if s, err = lab.Status(o.Dir); err != nil || !s.Running() {
		t.Errorf("after the second Up: %+v, %v", s.Nodes, err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", survivor)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("no lab knows the process that still runs: %s", stat)
	}
}

// TestStopOfAHaltedNode: a node that is halted (SIGSTOP) receives the signal to stop, and stops in an orderly way.
func TestStopOfAHaltedNode(t *testing.T) {
	d := driver()
	d.Server.Start = func(*launch.Cluster, *launch.Node) ([]launch.Command, error) {
		const script = `trap "echo stopped > orderly; exit" TERM; echo > ready; while true; do sleep 0.05; done`
		return []launch.Command{{Args: []string{"sh", "-c", script}}}, nil
	}
	d.Server.Ready = func(_ context.Context, _ *launch.Cluster, n *launch.Node) error {
		_, err := os.Stat(filepath.Join(n.Dir, "ready"))
		return err
	}
	l := up(t, d, lab.Options{Dir: filepath.Join(t.TempDir(), "lab")})
	if err := l.Inflict(t.Context(), lab.Fault{Action: lab.Halt, Node: 1}); err != nil {
		t.Fatal(err)
	}
	if err := l.Stop(0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(l.State().Cluster.Nodes[0].Dir, "orderly")); err != nil {
		t.Errorf("the node was killed: %v", err)
	}
}

// TestRestartAll: RestartAll starts a node that has ended by itself, and again a node whose last start failed.
func TestRestartAll(t *testing.T) {
	d := driver()
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, d, lab.Options{Dir: dir})
	node := &l.State().Cluster.Nodes[0]
	pid := func() int { return l.State().Nodes[0].Processes[0].PID }
	if err := syscall.Kill(pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for s, err := lab.Status(dir); err == nil && s.Running(); {
		s, err = lab.Status(dir)
	}
	if err := l.RestartAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := query(t.Context(), node); err != nil {
		t.Errorf("the node that had ended: %v", err)
	}

	if err := l.StopAll(); err != nil {
		t.Fatal(err)
	}
	ready := d.Server.Ready
	ctx, cancel := context.WithCancel(t.Context())
	d.Server.Ready = func(context.Context, *launch.Cluster, *launch.Node) error {
		cancel()
		return errors.New("not yet")
	}
	if err := l.RestartAll(ctx); err == nil {
		t.Error("a node that is not ready was started")
	}
	failed := pid()
	d.Server.Ready = ready
	if err := l.RestartAll(t.Context()); err != nil || pid() == failed {
		t.Errorf("after the start that failed: process %d again, %v", pid(), err)
	}
}
