package main

import (
	"net/url"
	"path/filepath"

	"barograph/engine"
	"barograph/lab"
	"barograph/run"
)

// labServer tells what the labs in these folders know of the server at a URL;
// nil where none of their servers listens there.
func labServer(dirs []string, d *engine.Driver, u *url.URL) *run.Server {
	for _, dir := range dirs {
		if s := labServerIn(dir, d, u); s != nil {
			return s
		}
	}
	return nil
}

func labServerIn(dir string, d *engine.Driver, u *url.URL) *run.Server {
	if d.Server == nil || dir == "" {
		return nil
	}
	s, err := lab.Status(filepath.Join(dir, d.Scheme))
	if err != nil || !s.Running() {
		return nil // no lab, or one that cannot be read: then it is described by what it says of itself
	}
	if at, err := url.Parse(s.URL); err != nil || at.Host != u.Host {
		return nil
	}
	return ofCluster(&s.Cluster)
}

// ofCluster tells of a lab's servers what a run folder keeps.
func ofCluster(c *engine.Cluster) *run.Server {
	out := &run.Server{Nodes: len(c.Nodes), Profile: c.Profile, Settings: c.Settings, Memory: c.Memory}
	if i := c.Isolation; i != nil {
		out.Isolation = &run.Isolation{CPUs: i.CPUs, Memory: i.Memory, Latency: i.Latency}
	}
	return out
}
