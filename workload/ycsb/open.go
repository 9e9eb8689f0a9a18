package ycsb

import (
	"context"
	"errors"
	"fmt"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/run"
)

// Open opens an engine to run workloads on, under a layout, "" = its first; labs
// is the folder of the labs, one of which may run its server.
func Open(ctx context.Context, all engine.Registry, raw string, layout engine.Layout, labs string, o engine.Options) (*Target, error) {
	d, u, err := all.Parse(raw)
	if err != nil {
		return nil, &fault.Status{Code: fault.Usage, Err: err}
	}
	t := &Target{Scheme: d.Scheme, Place: d.Place, Layout: layout, raw: raw}
	if layout == "" && len(d.Layouts) > 0 {
		t.Layout = d.Layouts[0]
	}
	if t.db, err = all.Open(ctx, raw, o); err != nil {
		return nil, err
	}
	t.lab, t.KV = lab.Serving([]string{labs}, d, u), t.db.KV
	t.Server = Server{Metrics: t.db.Metrics, PIDs: t.lab.PIDs()}
	return t, nil
}

// Archive describes the target in a run folder.
func (t *Target) Archive(ctx context.Context) (run.Archive, error) {
	a := run.Archive{Engine: t.Scheme, Design: string(t.Layout), URL: fault.Redact(t.raw), Place: string(t.Place), Server: t.lab.Server(), Load: t.load}
	if t.db.About == nil {
		return a, nil
	}
	about, err := t.db.About(ctx)
	a.Product, a.Version, a.Settings = about.Product, about.Version, about.Settings
	return a, err
}

// CloseAll closes targets that Open opened.
func CloseAll(targets []*Target) (err error) {
	for _, t := range targets {
		if e := t.db.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.Scheme, e))
		}
	}
	return err
}
