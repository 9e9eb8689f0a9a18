package lab_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// needsRoot skips a test that creates network namespaces and control groups if that is not allowed,
// as in most containers. With BAROGRAPH_REQUIRE=isolation the test fails instead.
func needsRoot(t *testing.T) {
	t.Helper()
	skip := t.Skipf
	if required("isolation") {
		skip = t.Fatalf
	}
	if os.Geteuid() != 0 {
		skip("NOT TESTED: isolated nodes need root")
	}
	isolate := &lab.Isolate{CPUs: 1, Memory: 256 << 20}
	l, err := lab.Up(t.Context(), driver(), lab.Options{Dir: filepath.Join(t.TempDir(), "lab"), Isolate: isolate})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) {
		skip("NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Down(); err != nil {
		t.Error(err)
	}
}

// traces finds the remains of a lab in the network and in the control groups.
func traces(t *testing.T, iso *launch.Isolation) []string {
	t.Helper()
	var out []string
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Name, iso.Name) {
			out = append(out, "link "+l.Name)
		}
	}
	for _, pattern := range []string{
		"/run/netns/" + iso.Name + "*",
		"/sys/fs/cgroup/barograph-" + iso.Name + "*",
		"/sys/fs/cgroup/*/barograph-" + iso.Name + "*",
	} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	return out
}

// limit reads a control group's file, of either version.
func limit(t *testing.T, group string, names ...string) string {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(strings.ReplaceAll(name, "GROUP", group))
		if err == nil {
			return strings.TrimSpace(string(text))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return "none of " + strings.Join(names, ", ")
}

func TestIsolated(t *testing.T) {
	needsRoot(t)
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, driver(), lab.Options{Dir: dir, Nodes: 3, Isolate: &lab.Isolate{CPUs: 0.5, Memory: 256 << 20}})
	s, err := lab.Status(dir)
	if err != nil || !s.Running() {
		t.Fatalf("%+v, %v", s, err)
	}
	iso := s.Cluster.Isolation
	for i := range s.Cluster.Nodes {
		n, pid := &s.Cluster.Nodes[i], s.Nodes[i].Processes[0].PID
		if got, err := query(t.Context(), n); err != nil || got != fmt.Sprintf("node %d\n", i) {
			t.Errorf("node %d on %s replies %q, %v", i, n.Host, got, err)
		}
		if mine, its := link(t, os.Getpid()), link(t, pid); mine == its {
			t.Errorf("node %d is in this machine's network", i)
		}
		group := "barograph-" + iso.Name + "n" + strconv.Itoa(i+1)
		got := limit(t, group, "/sys/fs/cgroup/cpu/GROUP/cpu.cfs_quota_us", "/sys/fs/cgroup/GROUP/cpu.max")
		if got != "50000" && got != "50000 100000" {
			t.Errorf("node %d may use %q of a CPU", i, got)
		}
		if got := limit(t, group, "/sys/fs/cgroup/memory/GROUP/memory.limit_in_bytes", "/sys/fs/cgroup/GROUP/memory.max"); got != "268435456" {
			t.Errorf("node %d may use %q bytes", i, got)
		}
		procs := limit(t, group, "/sys/fs/cgroup/memory/GROUP/cgroup.procs", "/sys/fs/cgroup/GROUP/cgroup.procs")
		if !strings.Contains(procs+"\n", strconv.Itoa(pid)+"\n") {
			t.Errorf("node %d is not in its group: %q", i, procs)
		}
	}
	if err := l.Kill(1); err != nil {
		t.Fatal(err)
	}
	if err := l.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if got, err := query(t.Context(), &s.Cluster.Nodes[1]); err != nil || got != "node 1\n" {
		t.Errorf("after the restart: %q, %v", got, err)
	}
	if _, err := lab.Up(t.Context(), driver(), lab.Options{Dir: dir, Nodes: 3}); err == nil || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("Up used an isolated lab for a lab without isolation: %v", err)
	}
	if err := l.Down(); err != nil {
		t.Fatal(err)
	}
	if left := traces(t, iso); len(left) > 0 {
		t.Errorf("not removed: %v", left)
	}
}

// link returns the network namespace of a process.
func link(t *testing.T, pid int) string {
	t.Helper()
	s, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestIsolatedAbandoned: if the owner is killed, its network objects disappear with its lab.
func TestIsolatedAbandoned(t *testing.T) {
	needsRoot(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "isolated-broken")
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), envOwner+"="+dir)
	_ = c.Run() // the child kills itself
	s, err := lab.Status(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(traces(t, s.Cluster.Isolation)) == 0 {
		t.Fatal("the child left no traces")
	}
	if err := lab.Sweep(parent); err != nil {
		t.Fatal(err)
	}
	if left := traces(t, s.Cluster.Isolation); len(left) > 0 {
		t.Errorf("not removed: %v", left)
	}
}

// TestConnectAgain: a process that was killed while it connected the nodes leaves a bridge that is not enabled. The next
// Up connects the nodes again.
func TestConnectAgain(t *testing.T) {
	needsRoot(t)
	o := lab.Options{Dir: filepath.Join(t.TempDir(), "lab"), Isolate: &lab.Isolate{CPUs: 1}}
	l := up(t, driver(), o)
	if err := l.StopAll(); err != nil {
		t.Fatal(err)
	}
	s := l.State()
	name := s.Cluster.Isolation.Name
	for _, args := range [][]string{{"netns", "delete", name + "n1"}, {"link", "set", name, "down"}} {
		if out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: ip (iproute2): %v: %s", err, out)
		}
	}
	if _, err := lab.Up(t.Context(), driver(), o); err != nil {
		t.Fatal(err)
	}
	if got, err := query(t.Context(), &s.Cluster.Nodes[0]); err != nil || got != "node 0\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLatency(t *testing.T) {
	needsRoot(t)
	dir := filepath.Join(t.TempDir(), "lab")
	l, err := lab.Up(t.Context(), driver(), lab.Options{Dir: dir, Isolate: &lab.Isolate{Latency: 20 * time.Millisecond}})
	if err != nil && strings.Contains(err.Error(), "sch_netem") {
		t.Skipf("NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Down(); err != nil {
			t.Error(err)
		}
	}()
	start := time.Now()
	s := l.State()
	if _, err := query(context.Background(), &s.Cluster.Nodes[0]); err != nil || time.Since(start) < 20*time.Millisecond {
		t.Errorf("an answer after %s, %v", time.Since(start), err)
	}
	args := []string{"netns", "exec", s.Cluster.Isolation.Name + "n1", "tc", "qdisc", "show", "dev", "eth0"}
	out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput() //nolint:gosec // a test's
	if err != nil {
		t.Skipf("NOT TESTED: tc (iproute2) does not report the queue: %v: %s", err, out)
	}
	if !strings.Contains(string(out), "limit 100000") {
		t.Errorf("the queue may lose packets: %s", out)
	}
}

// TestCable limits a node's bandwidth and restores it. If this kernel does not support delays, the
// lab refuses one before it changes anything, with a clear error.
func TestCable(t *testing.T) {
	needsRoot(t)
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, driver(), lab.Options{Dir: dir, Nodes: 3, Isolate: &lab.Isolate{}})
	s := l.State()
	queues := func() string {
		t.Helper()
		var all string
		for _, in := range [][]string{{"ip", "netns", "exec", s.Cluster.Isolation.Name + "n2"}, nil} {
			args := append(in, "tc", "qdisc", "show", "dev", map[bool]string{true: "eth0", false: s.Cluster.Isolation.Name + "n2"}[in != nil])
			out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput() //nolint:gosec // a test's
			if err != nil {
				t.Skipf("NOT TESTED: tc (iproute2) does not report the queue of a cable: %v: %s", err, out)
			}
			all += string(out)
		}
		return all
	}
	inflict := func(text string) error {
		t.Helper()
		all, err := lab.ParseFaults(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Check(all[0]); err != nil {
			return err
		}
		for _, f := range all {
			err = errors.Join(err, l.Inflict(t.Context(), f))
		}
		return err
	}
	if err := inflict("bandwidth:node2:10mbit@1s"); err != nil {
		t.Fatal(err)
	}
	if got := queues(); strings.Count(got, "qdisc tbf 1: root") != 2 || strings.Count(got, "rate 10Mbit") != 2 {
		t.Errorf("10 Mbit/s: %s", got)
	}
	if err := inflict("bandwidth:node2:64kbit@1s,full-bandwidth@2s"); err != nil {
		t.Fatal(err)
	}
	if got := queues(); strings.Contains(got, "tbf") {
		t.Errorf("after full-bandwidth: %s", got)
	}
	if _, err := query(t.Context(), &s.Cluster.Nodes[1]); err != nil {
		t.Error(err)
	}
	err := inflict("delay:node2:20ms@1s,no-delay@2s")
	if err != nil && !strings.Contains(err.Error(), "modprobe sch_netem") {
		t.Errorf("a delay: %v", err)
	}
	if got := queues(); strings.Contains(got, "netem") {
		t.Errorf("after no-delay: %s", got)
	}
	t.Logf("a delay: %v", err)
}
