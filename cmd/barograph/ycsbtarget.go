package main

import (
	"context"
	"errors"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/run"
	"github.com/barograph/barograph/workload/ycsb"
)

// openKV opens an engine to run workloads on.
func (e *env) openKV(ctx context.Context, raw string, layout engine.Layout, labs string) (*ycsb.Target, error) {
	return ycsb.Open(ctx, e.engines, raw, layout, labs, engine.Options{Log: e.log()})
}

// points makes the run folder of a workload; in memory where dir is "".
func (e *env) points(ctx context.Context, dir string, c *ycsb.Config, targets []*ycsb.Target) (*run.Folder, error) {
	r := e.newRun(ctx, dir, run.Mixed, uint64(c.Seed), "YCSB") //nolint:gosec // not negative
	r.Data.Records = c.Records
	for _, t := range targets {
		a, err := t.Archive(ctx)
		if err != nil {
			return nil, err
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
	return errors.Join(p.Close(), e.report(p.Dir))
}
