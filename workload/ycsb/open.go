package ycsb

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"

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
	t := &Target{Scheme: d.Scheme, Place: d.Place, Layout: layout, raw: raw, d: d}
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

// Afflict has every later run on the target suffer faults: on the nodes of the
// lab that runs its server or, elsewhere, by a command of the user's, which gets
// action and node. So many clients record a history beside it.
func (t *Target) Afflict(ctx context.Context, all []lab.Fault, command string, clients int) error {
	about, err := t.db.About(ctx)
	if err != nil {
		return err
	}
	t.faults = &Faults{All: all, Clients: clients, Promises: about.Promises, Acknowledged: about.Acknowledged}
	t.faults.Inflict, err = t.breaker(all, command)
	return err
}

func (t *Target) breaker(all []lab.Fault, command string) (func(ctx context.Context, f lab.Fault) error, error) {
	if command != "" {
		return func(ctx context.Context, x lab.Fault) error {
			said, err := exec.CommandContext(ctx, "/bin/sh", "-c", command+` "$@"`, "sh", string(x.Action), strconv.Itoa(x.Node)).CombinedOutput() //nolint:gosec // the user's own
			if err != nil {
				err = fmt.Errorf("--fault-command: %w: %s", err, said)
			}
			return err
		}, nil
	}
	if t.lab == nil {
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{
			Setting: "--fault", Problem: "no lab runs the server of " + t.Scheme, Cure: "start one (`barograph lab up`), or give a --fault-command that does it",
		}}
	}
	l, err := t.lab.Lab(t.d)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if err := l.Check(x); err != nil {
			return nil, &fault.Status{Code: fault.Usage, Err: err}
		}
	}
	return l.Inflict, nil
}

// Archive describes the target in a run folder.
func (t *Target) Archive(ctx context.Context) (run.Archive, error) {
	a := run.Archive{Engine: t.Scheme, Design: string(t.Layout), URL: fault.Redact(t.raw), Place: string(t.Place), Server: t.lab.Server(), Load: t.load}
	if t.db.About == nil {
		return a, nil
	}
	about, err := t.db.About(ctx)
	a.Product, a.Version, a.Settings, a.Acknowledged = about.Product, about.Version, about.Settings, about.Acknowledged
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
