package lab

import (
	"net/url"
	"path/filepath"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/run"
)

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
