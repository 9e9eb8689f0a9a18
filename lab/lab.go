package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// Options of Up; the zero value is one node with the default profile.
type Options struct {
	Dir      string        // the lab's folder, which is created; "" is an error
	Nodes    int           // 0 = 1
	Profile  string        // "" = the first
	Memory   int64         // bytes that a node may use; 0 = the machine's, shared by the nodes
	Owned    bool          // the lab must not outlive this process: a later Sweep or Up removes it
	Patience time.Duration // how long Up waits for a node to be ready; 0 = defaultPatience
	Isolate  *Isolate      // keep the nodes apart; nil = they share this machine
	TLS      bool          // its clients connect over TLS, with certificates that the lab makes
	Disks    []string      // a folder on each disk; Up makes a folder for the engine in it, see launch.Cluster.Disks

	// Frail gives every node a disk that can be full, and that loses unflushed data when its power fails.
	// It is a file system of this program (FUSE), in a process of its own. It needs root, and is too slow for
	// measurements.
	Frail bool

	// Environment adds variables, NAME=value, to those that the processes of the servers get.
	Environment []string

	// Settings, by the server's own names, replace those of the profile. An existing lab keeps its
	// settings and its memory.
	Settings map[string]string

	// Partitions is the number of partitions of a table, for an engine that partitions its tables
	// itself. Up assigns them to the disks in turn; 0 = one for each disk.
	Partitions int
}

// defaultPatience is long enough for a Java server, which takes three minutes on a busy machine. A
// server that exits ends the wait at once.
const defaultPatience = 5 * time.Minute

// Isolate gives every node a network namespace and a control group, which
// needs root on Linux. The zero value sets no limits.
type Isolate struct {
	CPUs    float64       // cores that a node may use
	Memory  int64         // bytes that a node may use; its profile is computed from them
	Latency time.Duration // added to each packet that a node sends
}

// Lab is a server that runs. Its methods are for one goroutine.
type Lab struct {
	server   *launch.Server
	account  *account
	state    State
	patience time.Duration
	children [][]chan error // by node: the results of this process's children; nil = another process started it
	env      []string       // Options.Environment
}

// Up starts a server and waits until it answers. If the folder contains a lab with the same nodes and
// profile, Up uses it, and restarts stopped nodes with their data. If the start of the existing lab was
// interrupted, or its owner was killed, Up removes it first.
func Up(ctx context.Context, d *engine.Driver, o Options) (*Lab, error) {
	l, err := plan(d, o)
	if err != nil {
		return nil, err
	}
	release, err := lockDir(l.state.Cluster.Dir)
	if err != nil {
		return nil, err
	}
	defer release()
	old, err := Status(l.state.Cluster.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case old.isAbandoned():
		if err := down(l.state.Cluster.Dir); err != nil {
			return nil, err
		}
	default:
		return l.resume(ctx, old)
	}
	if err := l.create(ctx); err != nil {
		return nil, errors.Join(err, down(l.state.Cluster.Dir))
	}
	return l, nil
}

// plan checks the options and returns a lab of them that does not run yet.
func plan(d *engine.Driver, o Options) (*Lab, error) {
	bad := func(setting, problem, cure string) error {
		return &fault.Error{Setting: setting, Problem: problem, Cure: cure}
	}
	switch {
	case d.Server == nil:
		return nil, bad("engine "+d.Scheme, "has no server: it runs in Barograph's own process",
			"name its archive by a URL: "+d.Example)
	case !Supported:
		return nil, bad("lab", "runs on Linux only", "start the server yourself and name it by a URL: "+d.Example)
	case o.Dir == "":
		return nil, bad("lab", "has no folder", "name one")
	}
	if err := d.Server.Find(); err != nil {
		return nil, &fault.Error{
			Setting: d.Scheme, Problem: "is not installed",
			Err:  fmt.Errorf("%w: %w", engine.ErrUnreachable, err),
			Cure: "`barograph lab install " + d.Scheme + "`",
		}
	}
	for _, a := range d.Server.Artifacts {
		if err := a.Check(); err != nil {
			return nil, err
		}
	}
	o.Nodes = max(o.Nodes, 1)
	if o.TLS && d.Server.TLS == launch.NoTLS {
		return nil, bad("TLS", "is not offered by the lab's "+d.Scheme, "omit it")
	}
	if !slices.Contains(d.Server.Nodes, o.Nodes) {
		return nil, bad("nodes "+strconv.Itoa(o.Nodes), "is not a number of nodes that labs of "+d.Scheme+" have",
			fmt.Sprintf("choose one of %v", d.Server.Nodes))
	}
	var known []string
	for _, p := range d.Server.Profiles {
		known = append(known, p.Name)
	}
	at := max(slices.Index(known, o.Profile), 0)
	if o.Profile != "" && known[at] != o.Profile {
		return nil, bad("profile "+o.Profile, "is not known", "choose one of "+strings.Join(known, ", "))
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Memory == 0 && o.Isolate != nil {
		o.Memory = o.Isolate.Memory
	}
	if o.Memory == 0 {
		m, err := mem.VirtualMemory()
		if err != nil {
			return nil, err
		}
		o.Memory = int64(m.Total) / int64(o.Nodes)
	}
	a, err := findAccount(d.Server.User)
	if err != nil {
		return nil, err
	}
	c := launch.Cluster{Dir: dir, Profile: known[at], Memory: o.Memory, TLS: o.TLS || d.Server.TLS == launch.AlwaysTLS}
	if !d.Server.NoPassword {
		c.Password = rand.Text()
	}
	if c.Disks, err = diskFolders(o.Disks, d.Scheme); err != nil {
		return nil, err
	}
	if c.Disks, err = assignPartitions(c.Disks, o.Partitions); err != nil {
		return nil, err
	}
	if f := d.Server.Profiles[at].Settings; f != nil {
		c.Settings = f(o.Memory)
	}
	if c.Settings == nil && len(o.Settings) > 0 {
		c.Settings = map[string]string{}
	}
	maps.Copy(c.Settings, o.Settings)
	for i := range o.Nodes {
		number := strconv.Itoa(i + 1)
		c.Nodes = append(c.Nodes, launch.Node{Index: i, Dir: filepath.Join(dir, "node"+number), Host: "127.0.0." + number})
	}
	if o.Isolate != nil {
		if err := isolate(&c, o.Isolate); err != nil {
			return nil, err
		}
	}
	if o.Frail {
		if err := TryFrailDisk(); err != nil {
			return nil, err
		}
	}
	l := &Lab{
		server: d.Server, account: a, patience: cmp.Or(o.Patience, defaultPatience), env: o.Environment,
		state: State{Engine: d.Scheme, Cluster: c, Stop: d.Server.Stop, Frail: o.Frail, Claims: len(c.Disks) > 0},
	}
	if o.Owned {
		me, _ := identify(os.Getpid())
		l.state.Owner = &me
	}
	l.children = make([][]chan error, o.Nodes)
	l.state.Nodes = make([]NodeState, o.Nodes)
	return l, nil
}

// create makes the folder and the data of every node, and starts the nodes.
func (l *Lab) create(ctx context.Context) error {
	c := &l.state.Cluster
	if err := removeUnsaved(c.Dir); err != nil {
		return err
	}
	if entries, err := os.ReadDir(c.Dir); err == nil && len(entries) > 0 {
		return &fault.Error{File: c.Dir, Problem: "is not empty and contains no lab", Cure: "name a new folder"}
	}
	if err := checkAbsent(c.Disks); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o711); err != nil {
		return err
	}
	if !isOwned(c.Dir) {
		return &fault.Error{File: c.Dir, Problem: "belongs to another user", Cure: "name a new folder"}
	}
	if err := os.Chmod(c.Dir, 0o711); err != nil { // accounts of servers reach their own folders in it, despite any umask
		return err
	}
	if err := assignPorts(c, l.server.Ports, l.server.SharedPorts); err != nil {
		return err
	}
	l.state.URL = l.server.URL(c)
	if err := l.state.save(); err != nil {
		return err
	}
	if err := connect(c); err != nil {
		return err
	}
	if err := l.account.makeFolders(distinct(c.Disks), c.Dir); err != nil {
		return err
	}
	if c.TLS {
		if err := l.account.writeCertificates(c); err != nil {
			return err
		}
	}
	for i := range c.Nodes {
		if err := l.prepare(ctx, i); err != nil {
			return err
		}
	}
	for i := range c.Nodes {
		if err := l.start(ctx, i); err != nil {
			return err
		}
	}
	if l.server.Form != nil {
		if err := l.server.Form(ctx, c); err != nil {
			return l.nodeError(0, "the nodes do not form a cluster", err)
		}
	}
	l.state.Complete = true
	return l.state.save()
}

// resume uses an existing lab, if it is of the planned kind, and starts its stopped nodes.
func (l *Lab) resume(ctx context.Context, old State) (*Lab, error) {
	c, planned := &old.Cluster, &l.state.Cluster
	refuse := func(problem string) error {
		const cure = "end it first (`barograph lab down`), or name another folder"
		return &fault.Error{File: c.Dir, Problem: problem, Cure: cure}
	}
	sameKind := old.Engine == l.state.Engine && old.Frail == l.state.Frail && c.TLS == planned.TLS
	sameCluster := c.Profile == planned.Profile && len(c.Nodes) == len(planned.Nodes) &&
		c.Isolation.Equal(planned.Isolation)
	if !sameKind || !sameCluster {
		return nil, refuse(fmt.Sprintf("contains a lab of %s, %d node(s), profile %s, %s%s",
			old.Engine, len(c.Nodes), c.Profile, c.Isolation, old.kind()))
	}
	if !slices.Equal(c.Disks, planned.Disks) {
		return nil, refuse(fmt.Sprintf("contains a lab of %s on other disks: %v", old.Engine, c.Disks))
	}
	owner := l.state.Owner
	l.state = old
	l.state.Owner = owner
	if err := connect(c); err != nil { // a reboot removed the bridge and the namespaces
		return nil, err
	}
	if err := l.RestartAll(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// order returns the order in which to start the nodes. If none of them runs, the engine may choose it.
func (l *Lab) order(ctx context.Context) ([]int, error) {
	var order []int
	isRunning := false
	for i := range l.state.Nodes {
		order = append(order, i)
		isRunning = isRunning || l.state.Nodes[i].alive()
	}
	if isRunning || len(order) == 1 || l.server.Order == nil {
		return order, nil
	}
	return l.server.Order(ctx, &l.state.Cluster)
}

// URL returns the URL for the engine's Open.
func (l *Lab) URL() string { return l.state.URL }

// State returns the state of the servers.
func (l *Lab) State() State { return l.state }

// Down stops the servers and removes the folder.
func (l *Lab) Down() error { return Down(l.state.Cluster.Dir) }
