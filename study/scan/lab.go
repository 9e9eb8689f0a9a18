package scan

import (
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

// Servers are throwaway servers that a run starts: one for each load of an
// engine whose placement is settled at the start, else one for all.
type Servers struct {
	Engine   string // scheme; "" = none is started
	Nodes    int
	Profile  string
	Memory   int64    // MiB that the profile counts on for a node; 0 = all
	Settings []string // name=value, in place of the profile's
	Restart  bool     // before each cold answer, if the engine cannot be made to forget

	Registry engine.Registry
	Log      *slog.Logger
	Dir      string   // of the labs
	Paths    []string // that the servers spread their tables over

	driver *engine.Driver
	set    map[string]string // Settings, by name
	result *run.Run
	noted  bool   // the server was asked what it is
	dir    string // of the server that runs; "" = none does
	loads  int
}

// check finds the engine and checks what is asked of its servers, before
// anything is started.
func (s *Servers) check() error {
	d, ok := s.Registry.Find(s.Engine)
	if !ok || d.Server == nil {
		return fault.Misuse("--lab "+s.Engine, "has no server to start", "name an embedded engine by --engine; or choose one of "+strings.Join(s.Registry.Servers(), ", "))
	}
	if err := hasStar(s.Registry, "--lab ", d); err != nil {
		return err
	}
	s.driver = d
	var profiles []string
	for _, p := range d.Server.Profiles {
		profiles = append(profiles, p.Name)
	}
	switch {
	case !slices.Contains(d.Server.Nodes, s.Nodes):
		return fault.Misuse("--nodes "+strconv.Itoa(s.Nodes), "is not offered by "+d.Scheme, fmt.Sprintf("choose one of %v", d.Server.Nodes))
	case !slices.Contains(profiles, s.Profile):
		return fault.Misuse("--profile "+s.Profile, "is not known to "+d.Scheme, "choose one of "+strings.Join(profiles, ", "))
	case d.Server.SpreadsTables && len(s.Paths) == 0:
		return fault.Misuse("--lab "+d.Scheme, "needs paths: its partitions lie on those that it is started with", "name them with --paths, or take the lab's disks with --disks")
	}
	s.set = map[string]string{}
	for _, text := range s.Settings {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return fault.Misuse("--setting "+text, "is no setting", "write name=value")
		}
		s.set[name] = value
	}
	return nil
}

// plan notes what is known of the servers before one is started.
func (s *Servers) plan(result *run.Run) {
	memory := s.Memory << 20
	if memory == 0 {
		memory = int64(result.Machine.Memory) / int64(s.Nodes) //nolint:gosec // far below 2^63
	}
	result.Archives[0].Server = &run.Server{Nodes: s.Nodes, Profile: s.Profile, Memory: memory}
	result.Scan.Lab = "one throwaway server for the whole run"
	if s.driver.Server.SpreadsTables {
		result.Scan.Lab = "a throwaway server for each load, started with its partitions on its paths"
	}
}

// offered leaves out placements that leave a node without a partition.
func (s *Servers) offered(all []tables.Placement) ([]tables.Placement, error) {
	if s.driver == nil || !s.driver.Server.SpreadsTables {
		return all, nil
	}
	all = slices.DeleteFunc(all, func(p tables.Placement) bool { return p.Partitions < s.Nodes })
	if len(all) == 0 {
		return nil, fault.Misuse("--nodes "+strconv.Itoa(s.Nodes), "leaves no configuration: every node needs a partition", "name more partitions or paths")
	}
	return all, nil
}

// run runs on the servers.
func (s *Servers) run(ctx context.Context, o Options, into *run.Folder) error {
	d := s.driver
	s.result = &into.Run
	if err := d.Server.Find(); err != nil {
		return &fault.Error{Setting: "--lab " + s.Engine, Problem: "its server is not installed", Err: fmt.Errorf("%w: %w", engine.ErrUnreachable, err), Cure: "barograph lab install --yes " + d.Scheme}
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	if err := lab.Sweep(s.Dir); err != nil { // of runs that were killed
		return err
	}
	if d.Server.Note != "" {
		o.Progress(d.Scheme + ": " + d.Server.Note)
	}
	return errors.Join(Run(ctx, s.open, o, into), s.end(true))
}

// open is an Opener.
func (s *Servers) open(ctx context.Context, p tables.Placement) (*Host, error) {
	d, each := s.driver, s.driver.Server.SpreadsTables
	o := lab.Options{Nodes: s.Nodes, Profile: s.Profile, Memory: s.Memory << 20, Settings: s.set, Owned: true, Disks: s.Paths}
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
		return nil, errors.Join(err, s.end(each))
	}
	h := &labHost{of: s, server: l}
	h.Host = Host{Log: h.log, Close: func() error { return errors.Join(h.disconnect(), s.end(each)) }}
	if s.Restart {
		h.Restart = h.restart
	}
	if err := h.connect(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &h.Host, nil
}

// end ends the server that runs, and removes what it kept on the paths.
func (s *Servers) end(now bool) error {
	if !now || s.dir == "" {
		return nil
	}
	dir := s.dir
	s.dir = ""
	return lab.Down(dir)
}

// labHost is a server of the lab, and the connection to it.
type labHost struct {
	Host
	of     *Servers
	server *lab.Lab
	db     *engine.Engine // nil while the server is down
}

// connect opens the engine; the first time it notes what the server says of
// itself.
func (h *labHost) connect(ctx context.Context) (err error) {
	if h.db, err = h.of.Registry.Open(ctx, h.server.URL(), engine.Options{Log: h.of.Log}); err != nil {
		return err
	}
	state := h.server.State()
	h.PIDs, h.Scans = state.PIDs(), tables.DatabasesOf(h.db).Star
	if !h.of.driver.Server.SpreadsTables {
		h.Scans = below{tables.DatabasesOf(h.db).Star, h.of.Paths, state.Cluster.Disks}
	}
	if h.of.noted {
		return nil
	}
	h.of.noted = true
	h.of.result.Archives[0].Server = state.Server()
	return noteAbout(ctx, h.of.Registry, h.server.URL(), h.db, h.of.result)
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

// log is the end of every node's log.
func (h *labHost) log() string {
	var all []string
	for i := range h.server.State().Cluster.Nodes {
		all = append(all, fmt.Sprintf("the end of the log of node %d:\n%s", i+1, h.server.Log(i)))
	}
	return strings.Join(all, "\n")
}

// below has an engine keep its tables in the folders that the lab made for it
// on the paths, and removes with itself.
type below struct {
	tables.Scans
	paths, folders []string
}

// Open opens the tables in the lab's folders.
func (b below) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	folders := make([]string, len(p.Paths))
	for i, path := range p.Paths {
		folders[i] = b.folders[slices.Index(b.paths, path)]
	}
	p.Paths = folders
	return b.Scans.Open(ctx, p)
}
