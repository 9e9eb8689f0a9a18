package lab_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// The test binary also acts as the server: envServe makes it one.
const (
	envServe = "LAB_TEST_SERVE" // the address
	envOwner = "LAB_TEST_OWNER" // the folder of a lab that a child starts and abandons
)

func TestMain(m *testing.M) {
	if port := os.Getenv(envServe); port != "" {
		os.Exit(serve(port)) //nolint:forbidigo // a test binary ends so
	}
	if dir := os.Getenv(envOwner); dir != "" {
		os.Exit(abandon(dir)) //nolint:forbidigo // a test binary ends so
	}
	if dir := os.Getenv(envDisks); dir != "" {
		os.Exit(makeDisks(dir)) //nolint:forbidigo // a test binary ends so
	}
	if len(os.Args) == 4 && os.Args[1] == lab.DiskCommand {
		if err := lab.ServeDisk(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // a test binary ends so
		}
		os.Exit(0) //nolint:forbidigo // a test binary ends so
	}
	os.Exit(m.Run()) //nolint:forbidigo // a test binary ends so
}

// serve answers each connection with the content of the node's data file.
func serve(port string) int {
	data, err := os.ReadFile("data")
	if err != nil {
		fmt.Fprintln(os.Stderr, "no data:", err)
		return 1
	}
	l, err := net.Listen("tcp", port) //nolint:noctx // does not wait
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv(envMaps) != "" {
		if err := mapFiles(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		endFirstThread()
	}
	if os.Getenv("LAB_TEST_FAMILY") != "" { // a server of several processes
		child := exec.Command("sleep", "1000") //nolint:noctx // must outlive its parent
		if err := child.Start(); err != nil {
			return 1
		}
		_ = os.WriteFile("child", []byte(strconv.Itoa(child.Process.Pid)), 0o600)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		_, _ = c.Write(data)
		_ = c.Close()
	}
}

func query(ctx context.Context, n *launch.Node) (string, error) {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", net.JoinHostPort(n.Host, strconv.Itoa(n.Ports["sql"])))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return bufio.NewReader(conn).ReadString('\n')
}

// driver returns an engine that has only a server.
func driver() *engine.Driver {
	self, _ := filepath.Abs(os.Args[0])
	return &engine.Driver{Scheme: "stub", Example: "stub://host", Server: &launch.Server{
		Nodes: []int{1, 3}, Ports: []string{"sql"}, SharedPorts: []string{"peers"}, Stop: syscall.SIGTERM,
		Profiles: []launch.Profile{{Name: "default"}, {Name: "tuned", Settings: func(memory int64) map[string]string {
			return map[string]string{"cache": strconv.FormatInt(memory/4, 10)}
		}}},
		Find: func() error { return nil },
		Prepare: func(_ *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
			return []launch.Command{{Args: []string{"sh", "-c", "echo node " + strconv.Itoa(n.Index) + " > data; echo prepared"}}}, nil
		},
		Start: func(_ *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
			address := net.JoinHostPort(n.Host, strconv.Itoa(n.Ports["sql"]))
			args := []string{self, fmt.Sprintf("first=%v", n.First)}
			return []launch.Command{{Args: args, Env: []string{envServe + "=" + address, envOwner + "="}}}, nil
		},
		Ready: func(ctx context.Context, _ *launch.Cluster, n *launch.Node) error {
			_, err := query(ctx, n)
			return err
		},
		URL: func(c *launch.Cluster) string { return "stub://127.0.0.1:" + strconv.Itoa(c.Nodes[0].Ports["sql"]) },
	}}
}

func up(t *testing.T, d *engine.Driver, o lab.Options) *lab.Lab {
	t.Helper()
	l, err := lab.Up(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestUpKillRestartDown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, driver(), lab.Options{Dir: dir, Nodes: 3, Profile: "tuned", Memory: 4000})
	s, err := lab.Status(dir)
	if err != nil || !s.Running() || s.Cluster.Settings["cache"] != "1000" || s.Cluster.Profile != "tuned" {
		t.Fatalf("%+v, %v", s, err)
	}
	ports := map[int]bool{}
	for i := range s.Cluster.Nodes {
		n := &s.Cluster.Nodes[i]
		ports[n.Ports["sql"]], ports[n.Ports["peers"]] = true, true
		if want := fmt.Sprintf("127.0.0.%d", i+1); n.Host != want {
			t.Errorf("node %d is on %s, not on %s", i, n.Host, want)
		}
		if got, err := query(t.Context(), n); err != nil || got != fmt.Sprintf("node %d\n", i) {
			t.Errorf("node %d replies %q, %v", i, got, err)
		}
	}
	if len(ports) != 4 { // one port per node and a shared one
		t.Errorf("ports are assigned twice: %v", ports)
	}
	if !strings.Contains(l.Log(1), "prepared") {
		t.Errorf("the log is %q", l.Log(1))
	}
	if err := l.Kill(1); err != nil {
		t.Fatal(err)
	}
	if s, _ = lab.Status(dir); s.Nodes[1].Running || !s.Nodes[0].Running || s.Running() {
		t.Errorf("after the kill: %+v", s.Nodes)
	}
	if err := l.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Restart(t.Context(), 1); err == nil {
		t.Error("a node that runs was started again")
	}
	if s, _ = lab.Status(dir); !s.Running() {
		t.Errorf("after the restart: %+v", s.Nodes)
	}
	before := s.PIDs()
	if err := l.StopAll(); err != nil {
		t.Fatal(err)
	}
	if s, _ = lab.Status(dir); slices.ContainsFunc(s.Nodes, func(n lab.NodeState) bool { return n.Running }) {
		t.Errorf("after all were stopped: %+v", s.Nodes)
	}
	for range 2 { // the second call has nothing to do
		if err := l.RestartAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s = l.State()
	if now := s.PIDs(); !s.Running() || len(now) != 3 || slices.Equal(now, before) {
		t.Errorf("after all were started: %v, before %v", now, before)
	}
	if err := l.Down(); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Status(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after down: %v", err)
	}
}

// TestOrder: the engine decides which node of a stopped cluster starts first.
func TestOrder(t *testing.T) {
	d := driver()
	start := d.Server.Start
	var started []int
	d.Server.Start = func(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
		if started = append(started, n.Index); n.First != (len(started) == 1) {
			t.Errorf("node %d comes %d. and First is: %v", n.Index, len(started), n.First)
		}
		return start(c, n)
	}
	d.Server.Order = func(context.Context, *launch.Cluster) ([]int, error) { return []int{1, 2, 0}, nil }
	o := lab.Options{Dir: filepath.Join(t.TempDir(), "lab"), Nodes: 3}
	l := up(t, d, o)
	for i := range 3 {
		if err := l.Kill(i); err != nil {
			t.Fatal(err)
		}
	}
	started = nil
	if _, err := lab.Up(t.Context(), d, o); err != nil || !slices.Equal(started, []int{1, 2, 0}) {
		t.Errorf("started %v, %v", started, err)
	}
}

// TestSeveralProcesses: a node with two processes runs only if both run, and a cluster is formed
// once.
func TestSeveralProcesses(t *testing.T) {
	d := driver()
	start, formed := d.Server.Start, 0
	d.Server.Start = func(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
		cmd, err := start(c, n)
		return append([]launch.Command{{Args: []string{"sleep", "1000"}}}, cmd...), err
	}
	d.Server.Form = func(context.Context, *launch.Cluster) error { formed++; return nil }
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, d, lab.Options{Dir: dir, Nodes: 3})
	s, err := lab.Status(dir)
	if err != nil || !s.Running() || len(s.Nodes[0].Processes) != 2 || formed != 1 {
		t.Fatalf("%+v, %v, formed %d times", s, err, formed)
	}
	if err := syscall.Kill(s.Nodes[0].Processes[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for s.Running() {
		if s, err = lab.Status(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if s, _ = lab.Status(dir); !s.Running() || formed != 1 {
		t.Errorf("after the restart: %+v, formed %d times", s.Nodes, formed)
	}
}

func TestKillTakesTheFamily(t *testing.T) {
	d := driver()
	start := d.Server.Start
	d.Server.Start = func(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
		cmd, err := start(c, n)
		cmd[0].Env = append(cmd[0].Env, "LAB_TEST_FAMILY=1")
		return cmd, err
	}
	l := up(t, d, lab.Options{Dir: filepath.Join(t.TempDir(), "lab")})
	text, err := os.ReadFile(filepath.Join(l.State().Cluster.Nodes[0].Dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(string(text))
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("a child of the server still runs: %s", stat)
	}
}

func TestUpAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, driver(), lab.Options{Dir: dir})
	first := l.State()
	again, err := lab.Up(t.Context(), driver(), lab.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if again.State().Nodes[0].Processes[0] != first.Nodes[0].Processes[0] || again.URL() != l.URL() {
		t.Error("Up did not use the running lab")
	}
	if _, err := lab.Up(t.Context(), driver(), lab.Options{Dir: dir, Nodes: 3}); err == nil || !strings.Contains(err.Error(), "lab down") {
		t.Errorf("other nodes in the same folder: %v", err)
	}
	if err := l.Kill(0); err != nil { // as a reboot does
		t.Fatal(err)
	}
	again, err = lab.Up(t.Context(), driver(), lab.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if again.URL() != l.URL() || !again.State().Nodes[0].Running {
		t.Error("a lab that was killed was not started again on its data")
	}
}

// TestCertificates: each node of a lab with TLS has a certificate for all nodes, signed by the
// lab's CA. A folder belongs to a lab with TLS or to one without.
func TestCertificates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	d := driver()
	if _, err := lab.Up(t.Context(), d, lab.Options{Dir: dir, TLS: true}); err == nil || !strings.Contains(err.Error(), "is not offered") {
		t.Fatal(err)
	}
	d.Server.TLS = launch.OffersTLS
	c := up(t, d, lab.Options{Dir: dir, Nodes: 3, TLS: true}).State().Cluster
	text, err := os.ReadFile(c.CA())
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	for i := range c.Nodes {
		info, err := os.Stat(c.Nodes[i].Certificate())
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatal(info, err)
		}
		pair, err := tls.LoadX509KeyPair(c.Nodes[i].Certificate(), c.Nodes[i].Certificate())
		if err != nil {
			t.Fatal(err)
		}
		for k := range c.Nodes {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: c.Nodes[k].Host}); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := lab.Up(t.Context(), d, lab.Options{Dir: dir, Nodes: 3}); err == nil || !strings.Contains(err.Error(), "over TLS") {
		t.Errorf("without TLS in the same folder: %v", err)
	}
}

// TestForeignProcess: the lab does not touch a process that has taken over one of its PIDs.
func TestForeignProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	l := up(t, driver(), lab.Options{Dir: dir})
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	s, err := lab.Status(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Nodes[0].Processes[0].PID = other.Process.Pid
	text, _ := json.Marshal(s)
	if err := os.WriteFile(filepath.Join(dir, "lab.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _ := lab.Status(dir); s.Running() {
		t.Error("Status reports another process as the server")
	}
	if err := lab.Down(dir); err != nil {
		t.Fatal(err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("another process was ended")
	}
	if err := other.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = other.Wait()
}

// abandon starts a lab and exits. If dir contains "broken", it kills itself during the start.
func abandon(dir string) int {
	d := driver()
	if strings.Contains(dir, "broken") {
		d.Server.Ready = func(context.Context, *launch.Cluster, *launch.Node) error {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if strings.Contains(dir, "preparing") {
		d.Server.Prepare = func(*launch.Cluster, *launch.Node) ([]launch.Command, error) {
			return []launch.Command{{Args: []string{"sh", "-c", "sleep 1000 & while true; do date > data; done"}}}, nil
		}
	}
	o := lab.Options{Dir: dir, Owned: true}
	if strings.Contains(dir, "isolated") {
		o.Isolate = &lab.Isolate{Memory: 256 << 20}
	}
	_, err := lab.Up(context.Background(), d, o)
	fmt.Fprintln(os.Stderr, err)
	return 0
}

// TestKilledWhilePreparing: the state lists the process that prepares a node, hence Down ends it. A
// folder without a state contains no lab.
func TestKilledWhilePreparing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "preparing")
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), envOwner+"="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for _, err := os.Stat(filepath.Join(dir, "node1", "data")); err != nil; _, err = os.Stat(filepath.Join(dir, "node1", "data")) {
		time.Sleep(time.Millisecond)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	s, err := lab.Status(dir)
	if err != nil || !s.Running() {
		t.Fatalf("the preparation is not known, or does not run: %+v, %v", s, err)
	}
	if err := lab.Down(dir); err != nil {
		t.Fatal(err)
	}
	if s, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Nodes[0].Processes[0].PID)); err == nil && !strings.Contains(string(s), ") Z ") {
		t.Errorf("the preparation runs: %s", s)
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "lab.json.new"), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	up(t, driver(), lab.Options{Dir: dir})
}

// TestDownWithoutALab: Down makes no folder, and needs no private one.
func TestDownWithoutALab(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(open, "typo", "stub"), filepath.Join(open, "stub")} {
		if err := lab.Down(dir); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(open); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAbandoned(t *testing.T) {
	for _, name := range []string{"complete", "broken"} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, name)
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), envOwner+"="+dir)
			_ = c.Run() // kills itself, or exits
			s, err := lab.Status(dir)
			if err != nil || !s.Running() {
				t.Fatalf("the child left no server: %+v, %v", s, err)
			}
			if name == "complete" {
				var text strings.Builder
				report, err := lab.ReportOf(parent, nil, false)
				err = errors.Join(err, report.Text(&text))
				if err != nil || len(report) != 1 || !report[0].Orphan ||
					!strings.Contains(text.String(), "orphan: the process that started it was killed") {
					t.Errorf("%+v, %v: %s", report, err, text.String())
				}
				if err := lab.Sweep(parent); err != nil {
					t.Fatal(err)
				}
				if report, err := lab.ReportOf(parent, nil, false); err != nil || len(report) > 0 {
					t.Errorf("%+v, %v", report, err)
				}
				if left, err := filepath.Glob(filepath.Join(parent, "*.lock")); err != nil || len(left) > 0 {
					t.Errorf("%q still exist, %v", left, err)
				}
			} else {
				l := up(t, driver(), lab.Options{Dir: dir})
				if l.State().Nodes[0].Processes[0] == s.Nodes[0].Processes[0] {
					t.Error("Up used a lab whose start was interrupted")
				}
			}
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", s.Nodes[0].Processes[0].PID)); err == nil {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Nodes[0].Processes[0].PID))
				if err == nil && !strings.Contains(string(stat), ") Z ") {
					t.Errorf("the abandoned server runs: %s", stat)
				}
			}
		})
	}
}

func TestErrorsNameTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*engine.Driver)
		o      lab.Options
		want   string
	}{
		"a server that ends": {func(d *engine.Driver) {
			d.Server.Prepare = func(*launch.Cluster, *launch.Node) ([]launch.Command, error) { return nil, nil }
		}, lab.Options{}, "no data"},
		"a preparation that fails": {func(d *engine.Driver) {
			d.Server.Prepare = func(*launch.Cluster, *launch.Node) ([]launch.Command, error) {
				return []launch.Command{{Args: []string{"sh", "-c", "echo the disk is full; exit 1"}}}, nil
			}
		}, lab.Options{}, "the disk is full"},
		"a server that does not answer": {func(d *engine.Driver) {
			d.Server.Ready = func(context.Context, *launch.Cluster, *launch.Node) error { return errors.New("not yet") }
		}, lab.Options{Patience: 100 * time.Millisecond}, "not yet"},
		"no such profile": {func(*engine.Driver) {}, lab.Options{Profile: "fast"}, "default, tuned"},
		"no such size":    {func(*engine.Driver) {}, lab.Options{Nodes: 2}, "[1 3]"},
		"not installed": {func(d *engine.Driver) {
			d.Server.Find = func() error { return errors.New("initdb is not there") }
		}, lab.Options{}, "initdb is not there"},
		"embedded": {func(d *engine.Driver) { d.Server = nil }, lab.Options{}, "Barograph's own process"},
	} {
		t.Run(name, func(t *testing.T) {
			d := driver()
			c.change(d)
			c.o.Dir = filepath.Join(t.TempDir(), "lab")
			_, err := lab.Up(t.Context(), d, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
			if _, err := os.Stat(c.o.Dir); err == nil {
				t.Error("the folder still exists")
			}
		})
	}
}

func TestFolderWithOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Up(t.Context(), driver(), lab.Options{Dir: dir}); err == nil {
		t.Error("Up used a folder with other files")
	}
	if err := lab.Down(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.tex")); err != nil {
		t.Error("a file of the user was removed")
	}
}
