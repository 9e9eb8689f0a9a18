package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/lab"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/ycsb"
)

// kvTarget is an engine that a workload runs on.
type kvTarget struct {
	ycsb.Target
	raw  string
	db   *engine.Engine
	lab  *run.Server // what the lab knows of it; nil = nothing
	load time.Duration
}

// openKV opens an engine; labs is the folder of the labs, one of which may run
// its server.
func (e *env) openKV(ctx context.Context, raw string, layout engine.Layout, labs string) (*kvTarget, error) {
	d, u, err := e.engines.Parse(raw)
	if err != nil {
		return nil, usage(err)
	}
	t := &kvTarget{Target: ycsb.Target{Scheme: d.Scheme, Place: d.Place, Layout: layout}, raw: raw}
	if layout == "" && len(d.Layouts) > 0 {
		t.Layout = d.Layouts[0]
	}
	if t.db, err = e.engines.Open(ctx, raw, engine.Options{Log: e.log()}); err != nil {
		return nil, err
	}
	of := lab.Serving([]string{labs}, d, u)
	t.KV, t.lab = t.db.KV, of.Server()
	t.Server = ycsb.Server{Metrics: t.db.Metrics, PIDs: of.PIDs()}
	return t, nil
}

// points makes the run folder of a workload; in memory where dir is "".
func (e *env) points(ctx context.Context, dir string, c *ycsb.Config, targets []*kvTarget) (*run.Folder, error) {
	r := run.Run{
		ID: filepath.Base(dir), Workload: run.Mixed, Version: version(), Args: redacted(e.args), Seed: uint64(c.Seed), //nolint:gosec // not negative
		Started: time.Now().UTC(), Machine: measure.ReadMachine(ctx, filepath.Dir(dir)), Data: run.Data{Source: "YCSB", Records: c.Records},
	}
	r.Warnings = r.Machine.Warnings()
	for _, t := range targets {
		a := run.Archive{Engine: t.Scheme, Design: string(t.Layout), URL: fault.Redact(t.raw), Place: string(t.Place), Server: t.lab, Load: t.load}
		if t.db.About != nil {
			about, err := t.db.About(ctx)
			if err != nil {
				return nil, err
			}
			a.Product, a.Version, a.Settings = about.Product, about.Version, about.Settings
		}
		r.Archives = append(r.Archives, a)
	}
	f, err := run.Create(dir, r)
	for _, t := range targets {
		t.Folder = f
	}
	return f, err
}

// finish writes the end of a run folder and its report.
func (e *env) finish(p *run.Folder) error {
	p.Run.Ended = time.Now().UTC()
	if err := p.Close(); err != nil {
		return err
	}
	return e.report(p.Dir)
}

func closeAll(targets []*kvTarget) (err error) {
	for _, t := range targets {
		if t.db == nil {
			continue
		}
		if e := t.db.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.Scheme, e))
		}
		t.db = nil
	}
	return err
}
