package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
)

// Servers starts the temporary servers of a run: a new one for each load of an engine
// whose placement is fixed at the start of the server, else one for the run.
type Servers struct {
	Engine   string // scheme; "" = no servers
	Nodes    int
	Profile  string   // "" = the engine's first, as in `barograph lab up`
	Memory   int64    // MiB that the profile assumes for a node; 0 = all
	Settings []string // name=value, instead of the profile's
	Restart  bool     // restart the server before each cold query if the engine cannot drop its caches

	Registry engine.Registry
	Log      *slog.Logger
	Dir      string   // of the labs
	Paths    []string // for the tables

	driver         *engine.Driver
	settingsByName map[string]string // value by name, from Settings
	result         *run.Run
	described      bool   // the run has the description of the server
	dir            string // of the running server; "" = none
	loads          int
}

// check finds the engine and checks the options of its servers, before it starts any.
func (s *Servers) check() error {
	d, ok := s.Registry.Find(s.Engine)
	if !ok || d.Server == nil {
		return fault.Misuse("--lab "+s.Engine, "has no server to start",
			"name an embedded engine by --engine; or choose one of "+strings.Join(s.Registry.Servers(), ", "))
	}
	if err := hasStar(s.Registry, "--lab ", d); err != nil {
		return err
	}
	s.driver = d
	var profiles []string
	for _, p := range d.Server.Profiles {
		profiles = append(profiles, p.Name)
	}
	s.Profile = cmp.Or(s.Profile, profiles[0])
	switch {
	case !slices.Contains(d.Server.Nodes, s.Nodes):
		return fault.Misuse("--nodes "+strconv.Itoa(s.Nodes), "is not offered by "+d.Scheme,
			fmt.Sprintf("choose one of %v", d.Server.Nodes))
	case !slices.Contains(profiles, s.Profile):
		return fault.Misuse("--profile "+s.Profile, "is not known to "+d.Scheme,
			"choose one of "+strings.Join(profiles, ", "))
	case d.Server.SpreadsTables && len(s.Paths) == 0:
		return fault.Misuse("--lab "+d.Scheme, "needs paths at its start",
			"name them with --paths, or use the lab's disks with --disks")
	}
	s.settingsByName = map[string]string{}
	for _, text := range s.Settings {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return fault.Misuse("--setting "+text, "is not a setting", "write name=value")
		}
		s.settingsByName[name] = value
	}
	return nil
}

// plan describes the servers in the run before one is started.
func (s *Servers) plan(result *run.Run) {
	memory := s.Memory << 20
	if memory == 0 {
		memory = int64(result.Machine.Memory) / int64(s.Nodes) //nolint:gosec // far below 2^63
	}
	result.Archives[0].Server = &run.Server{Nodes: s.Nodes, Profile: s.Profile, Memory: memory}
	result.Scan.ServerStarts = "one temporary server for the run"
	if s.driver.Server.SpreadsTables {
		result.Scan.ServerStarts = "a temporary server for each load, started with its partitions on its paths"
	}
}

// withPartitionPerNode returns the placements in which every node has a partition.
func (s *Servers) withPartitionPerNode(all []tables.Placement) ([]tables.Placement, error) {
	if s.driver == nil || !s.driver.Server.SpreadsTables {
		return all, nil
	}
	all = slices.DeleteFunc(all, func(p tables.Placement) bool { return p.Partitions < s.Nodes })
	if len(all) == 0 {
		return nil, fault.Misuse("--nodes "+strconv.Itoa(s.Nodes), "is more than the partitions of every configuration",
			"name more partitions or paths: every node needs a partition")
	}
	return all, nil
}

// runScan measures the configurations on temporary servers.
func (s *Servers) runScan(ctx context.Context, o Options, into *run.Folder) error {
	d := s.driver
	s.result = &into.Run
	if err := d.Server.Find(); err != nil {
		return &fault.Error{
			Setting: "--lab " + s.Engine, Problem: "its server is not installed",
			Err: fmt.Errorf("%w: %w", engine.ErrUnreachable, err), Cure: "barograph lab install --yes " + d.Scheme,
		}
	}
	if err := lab.Sweep(s.Dir); err != nil { // servers that killed runs left behind
		return err
	}
	if d.Server.Note != "" {
		o.Progress(d.Scheme + ": " + d.Server.Note)
	}
	return errors.Join(Run(ctx, s.open, o, into), s.stop())
}

// open starts a server if necessary, and connects to it. It is an Opener.
func (s *Servers) open(ctx context.Context, p tables.Placement) (*Host, error) {
	d, each := s.driver, s.driver.Server.SpreadsTables // each load needs a server of its own
	stopEach := func() error {
		if !each {
			return nil
		}
		return s.stop()
	}
	o := lab.Options{Nodes: s.Nodes, Profile: s.Profile, Memory: s.Memory << 20, Owned: true, Disks: s.Paths}
	o.Settings = s.settingsByName
	if each {
		o.Disks, o.Partitions = p.Paths, p.Partitions
	}
	if each || s.dir == "" {
		s.loads++
		s.dir = filepath.Join(s.Dir, fmt.Sprintf("scan-%s-%d-%d", d.Scheme, os.Getpid(), s.loads))
	}
	o.Dir = s.dir
	l, err := lab.Up(ctx, d, o)
	if err != nil {
		return nil, errors.Join(err, stopEach())
	}
	h := &labHost{servers: s, server: l}
	h.Host = Host{Log: h.log, Close: func() error { return errors.Join(h.disconnect(), stopEach()) }}
	if s.Restart {
		h.Restart = h.restart
	}
	if err := h.connect(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &h.Host, nil
}

// stop stops the running server, if any, and removes its files on the paths.
func (s *Servers) stop() error {
	if s.dir == "" {
		return nil
	}
	dir := s.dir
	s.dir = ""
	return lab.Down(dir)
}

// labHost is a server of the lab, and the connection to it.
type labHost struct {
	Host
	servers *Servers
	server  *lab.Lab
	db      *engine.Engine // nil while the server is down
}

// connect opens the engine. The first time it records the description of the server.
func (h *labHost) connect(ctx context.Context) (err error) {
	if h.db, err = h.servers.Registry.Open(ctx, h.server.URL(), engine.Options{Log: h.servers.Log}); err != nil {
		return err
	}
	state := h.server.State()
	h.PIDs, h.Scans = state.PIDs(), tables.DatabasesOf(h.db).Star
	if !h.servers.driver.Server.SpreadsTables {
		h.Scans = labFolders{tables.DatabasesOf(h.db).Star, h.servers.Paths, state.Cluster.Disks}
	}
	if h.servers.described {
		return nil
	}
	h.servers.described = true
	h.servers.result.Archives[0].Server = state.Server()
	return describeEngine(ctx, h.servers.Registry, h.server.URL(), h.db, h.servers.result)
}

func (h *labHost) disconnect() error {
	if h.db == nil {
		return nil
	}
	db := h.db
	h.db = nil
	return db.Close()
}

// restart stops all nodes and starts them again.
func (h *labHost) restart(ctx context.Context, stopped func() error) error {
	if err := h.disconnect(); err != nil {
		return err
	}
	if err := h.server.StopAll(); err != nil {
		return err
	}
	if err := stopped(); err != nil {
		return err
	}
	if err := h.server.RestartAll(ctx); err != nil {
		return err
	}
	return h.connect(ctx)
}

// log returns the end of every node's log.
func (h *labHost) log() string {
	var all []string
	for i := range h.server.State().Cluster.Nodes {
		all = append(all, fmt.Sprintf("the end of the log of node %d:\n%s", i+1, h.server.Log(i)))
	}
	return strings.Join(all, "\n")
}

// labFolders places an engine's tables in the folders that the lab made on the paths and removes with the
// server.
type labFolders struct {
	tables.Scans
	paths, folders []string
}

// Open opens the tables in the lab's folders.
func (f labFolders) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	folders := make([]string, len(p.Paths))
	for i, path := range p.Paths {
		folders[i] = f.folders[slices.Index(f.paths, path)]
	}
	p.Paths = folders
	return f.Scans.Open(ctx, p)
}
