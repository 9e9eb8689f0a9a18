package ycsb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/measure/pace"
	"github.com/barograph/barograph/run"
)

// Target is an engine that workloads run on, one after the other.
type Target struct {
	Scheme  string
	Place   engine.Place
	KV      engine.KV
	Layout  engine.Layout
	Server  Server
	Replace bool        // LoadAll replaces what an earlier load and its runs made
	Folder  *run.Folder // is told what goes on; nil = none

	inserted int64 // by the runs so far
	failed   error // it has failed, and is not asked again

	faults *Faults

	raw  string // the URL
	d    *engine.Driver
	db   *engine.Engine
	lab  *lab.State    // that runs its server; nil = none does
	load time.Duration // of LoadAll
}

// Options are those of a load or a run on it.
func (t *Target) Options() Options {
	return Options{Layout: t.Layout, Server: t.Server, Faults: t.faults}
}

// LoadAll loads every record, untimed: what is kept no longer than a command, or
// is asked to be loaded before a sweep.
func (t *Target) LoadAll(ctx context.Context, c *Config) error {
	whole := *t.fit(c)
	whole.InsertStart, whole.InsertCount, whole.Target, whole.Seconds, whole.Shard = 0, whole.Records, 0, 0, Shard{}
	began := time.Now()
	r, err := Load(ctx, t.KV, &whole, Options{Layout: t.Layout, Replace: t.Replace})
	if err != nil {
		return fmt.Errorf("%s: %w", t.Scheme, err)
	}
	t.load = time.Since(began)
	return r.Err()
}

// The floor's limits: its records fit in memory, and two seconds tell what it takes.
const (
	floorRecords = 100_000
	floorSeconds = 2
)

// fit is the workload as the target runs it: the floor, which is in memory, runs
// a small one. Records that runs inserted are there.
func (t *Target) fit(c *Config) *Config {
	if t.Place != engine.Memory {
		return c.Grown(t.inserted)
	}
	out := *c
	if out.Records > floorRecords {
		out.Records, out.InsertStart, out.InsertCount = floorRecords, 0, floorRecords
	}
	if out.Seconds == 0 || out.Seconds > floorSeconds {
		out.Seconds = floorSeconds
	}
	out.Warmup = 0
	return out.Grown(t.inserted)
}

// mostTakes is how often a run is taken in which this process stood still.
const mostTakes = 3

// cell is what a run on it measures.
func (t *Target) cell(c *Config, mix string, threads int, f *Faults) run.Cell {
	var further []any
	if len(c.Rates) > 0 {
		further = []any{"rate", c.Rates}
	}
	if f != nil {
		further = append(further, "nodes", t.nodes(), "acknowledged", f.Acknowledged, "fault", f)
	}
	return run.MixCell(t.Scheme, string(t.Layout), mix, threads, c.Target/float64(max(c.Shard.Of, 1)), c.Shard.String(), further...)
}

// nodes are those of the lab that runs the server; 1 where none does.
func (t *Target) nodes() int {
	if t.lab == nil {
		return 1
	}
	return len(t.lab.Nodes)
}

// watch tells the folder how a run goes on.
func (t *Target) watch(o *Options, cell run.Cell) {
	told, before := o.Watch, int64(0)
	o.Watch = func(p pace.Progress) {
		_ = t.Folder.Event(run.Event{Kind: run.Rate, Cell: cell, Done: p.Ended - before, Failed: p.Failed}) // what cannot be written now fails at the sample
		if before = p.Ended; told != nil {
			told(p)
		}
	}
}

// Measure runs a workload and makes a sample of it, whatever happens. A run in
// which this process stood still is taken again, and the sample says so. The
// report is nil where there was no run; the error is the run's, or what was not
// right with it.
func (t *Target) Measure(ctx context.Context, c *Config, o Options, mix string, rep int) (run.Sample, *Report, error) {
	var again []string
	cell, since := t.cell(c, mix, int(c.Threads), o.Faults), time.Time{}
	if t.Folder != nil {
		since = t.Folder.Run.Started
		t.watch(&o, cell)
	}
	for take := 1; ; take++ {
		r, err := Run(ctx, t.KV, t.fit(c), o)
		if r == nil {
			return run.Sample{Cell: cell, Rep: rep}.Judge(nil, answer.Proof{}, err), nil, err
		}
		t.inserted += r.Inserted
		alone := r.Inserted == 0 || c.Shard.Of < 2 // the keys of other clients are not known
		if r.Stood > 0 && err == nil && alone && take < mostTakes && ctx.Err() == nil {
			again = append(again, fmt.Sprintf("this process stood still for %s: the run was taken again", r.Stood.Round(time.Millisecond)))
			continue
		}
		r.Warnings = append(again, r.Warnings...)
		if err == nil {
			err = r.Err()
		}
		s, failed := r.Sample(mix, t, rep, since)
		if r.Fault != nil && r.Fault.History != nil {
			file, kept := run.KeepHistory(t.Folder, r.calls, t.Scheme, string(t.Layout), mix, strconv.Itoa(r.Threads), o.Faults.String(), strconv.Itoa(rep))
			r.Fault.History.File, failed = file, errors.Join(failed, kept)
		}
		return s, r, errors.Join(err, failed)
	}
}
