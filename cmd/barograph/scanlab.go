package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"barograph/engine"
	"barograph/fault"
	"barograph/lab"
	"barograph/run"
	"barograph/workload/scan"
)

// tunedProfile is what the labs of experiments run with unless told otherwise.
const tunedProfile = "tuned"

// labDriver finds the engine of --lab and checks what is asked of its server,
// before anything is started.
func (f *scanFlags) labDriver() (*engine.Driver, error) {
	d, ok := f.env.engines.Find(f.lab)
	if !ok || d.Server == nil {
		var known []string
		for _, d := range f.env.engines {
			if d.Server != nil {
				known = append(known, d.Scheme)
			}
		}
		return nil, usage(&fault.Error{Setting: "--lab " + f.lab, Problem: "has no server to start", Cure: "name an embedded engine by --engine; or choose one of " + strings.Join(known, ", ")})
	}
	bad := func(setting, problem, cure string) (*engine.Driver, error) {
		return nil, usage(&fault.Error{Setting: setting, Problem: problem, Cure: cure})
	}
	var profiles []string
	for _, p := range d.Server.Profiles {
		profiles = append(profiles, p.Name)
	}
	switch {
	case !slices.Contains(d.Server.Nodes, f.nodes):
		return bad("--nodes "+strconv.Itoa(f.nodes), "is not offered by "+d.Scheme, fmt.Sprintf("choose one of %v", d.Server.Nodes))
	case !slices.Contains(profiles, f.profile):
		return bad("--profile "+f.profile, "is not known to "+d.Scheme, "choose one of "+strings.Join(profiles, ", "))
	case d.Server.Spreads && len(f.paths) == 0:
		return bad("--lab "+d.Scheme, "needs paths: its partitions lie on those that it is started with", "name them with --paths, or take the lab's disks with --disks")
	}
	for _, s := range f.settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return bad("--setting "+s, "is no setting", "write name=value")
		}
		if f.set == nil {
			f.set = map[string]string{}
		}
		f.set[name] = value
	}
	return d, nil
}

// labPlanned is what is known of the server before it is started.
func (f *scanFlags) labPlanned(result *run.Scans) {
	memory := f.memory << 20
	if memory == 0 {
		memory = int64(result.Machine.Memory) / int64(f.nodes) //nolint:gosec // far below 2^63
	}
	result.Server = &run.Server{Nodes: f.nodes, Profile: f.profile, Memory: memory}
	result.Lab = "one throwaway server for the whole run"
	if f.driver.Server.Spreads {
		result.Lab = "a throwaway server for each load, started with its partitions on its paths"
	}
}

// offered leaves out placements that leave a node without a partition.
func (f *scanFlags) offered(all []engine.Placement) ([]engine.Placement, error) {
	if f.lab == "" || !f.driver.Server.Spreads {
		return all, nil
	}
	all = slices.DeleteFunc(all, func(p engine.Placement) bool { return p.Partitions < f.nodes })
	if len(all) == 0 {
		return nil, &fault.Error{Setting: "--nodes " + strconv.Itoa(f.nodes), Problem: "leaves no configuration: every node needs a partition", Cure: "name more partitions or paths"}
	}
	return all, nil
}

// onLabs runs on throwaway servers.
func (f *scanFlags) onLabs(ctx context.Context, o scan.Options, result *run.Scans) error {
	d := f.driver
	if err := d.Server.Find(); err != nil {
		return &fault.Error{Setting: "--lab " + f.lab, Problem: "its server is not installed", Err: fmt.Errorf("%w: %w", engine.ErrUnreachable, err), Cure: "barograph lab install --yes " + d.Scheme}
	}
	if err := os.MkdirAll(f.labs, 0o755); err != nil {
		return err
	}
	if err := lab.Sweep(f.labs); err != nil { // of runs that were killed
		return err
	}
	if d.Server.Note != "" {
		fmt.Fprintf(f.env.stderr, "%s: %s\n", d.Scheme, d.Server.Note)
	}
	s := &scanLab{scanFlags: f, result: result}
	return errors.Join(scan.Run(ctx, s.open, o, result), s.end(true))
}

// scanLab starts the servers of a run: one for each load of an engine whose
// placement is settled at the start, else one for all.
type scanLab struct {
	*scanFlags
	result *run.Scans
	noted  bool   // the server was asked what it is
	dir    string // of the server that runs; "" = none does
	loads  int
}

// open is a scan.Opener.
func (s *scanLab) open(ctx context.Context, p engine.Placement) (*scan.Host, error) {
	d, each := s.driver, s.driver.Server.Spreads
	o := lab.Options{Nodes: s.nodes, Profile: s.profile, Memory: s.memory << 20, Settings: s.set, Owned: true, Disks: s.paths}
	if each {
		o.Disks, o.Partitions = p.Paths, p.Partitions
	}
	if each || s.dir == "" {
		s.loads++
		s.dir = filepath.Join(s.labs, fmt.Sprintf("scan-%s-%d-%d", d.Scheme, os.Getpid(), s.loads))
	}
	o.Dir = s.dir
	l, err := lab.Up(ctx, d, o)
	if err != nil {
		return nil, errors.Join(err, s.end(each))
	}
	h := &labHost{of: s, server: l}
	h.Host = scan.Host{Log: h.log, Close: func() error { return errors.Join(h.disconnect(), s.end(each)) }}
	if s.coldRestart {
		h.Restart = h.restart
	}
	if err := h.connect(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &h.Host, nil
}

// end ends the server that runs, and removes what it kept on the paths.
func (s *scanLab) end(now bool) error {
	if !now || s.dir == "" {
		return nil
	}
	dir := s.dir
	s.dir = ""
	err := lab.Down(dir)
	if err == nil {
		_ = os.Remove(dir + ".lock") // the name is used once
	}
	return err
}

// labHost is a server of the lab, and the connection to it.
type labHost struct {
	scan.Host
	of     *scanLab
	server *lab.Lab
	db     *engine.Engine // nil while the server is down
}

// connect opens the engine; the first time it notes what the server says of
// itself.
func (h *labHost) connect(ctx context.Context) (err error) {
	if h.db, err = h.of.env.engines.Open(ctx, h.server.URL(), engine.Options{Log: h.of.env.log()}); err != nil {
		return err
	}
	if h.db.Scans == nil {
		return noScans("--lab " + h.of.driver.Scheme)
	}
	state := h.server.State()
	h.PIDs, h.Scans = state.PIDs(), h.db.Scans
	if !h.of.driver.Server.Spreads {
		h.Scans = below{h.db.Scans, h.of.paths, state.Cluster.Disks}
	}
	if h.of.noted {
		return nil
	}
	h.of.noted = true
	h.of.result.Server = ofCluster(&state.Cluster)
	return noteAbout(ctx, h.db, h.of.result)
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
	engine.Scans
	paths, folders []string
}

// Open opens the tables in the lab's folders.
func (b below) Open(ctx context.Context, p engine.Placement) (*engine.Star, error) {
	folders := make([]string, len(p.Paths))
	for i, path := range p.Paths {
		folders[i] = b.folders[slices.Index(b.paths, path)]
	}
	p.Paths = folders
	return b.Scans.Open(ctx, p)
}
