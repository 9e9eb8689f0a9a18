package scan

import (
	"context"
	"fmt"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// trial is one load of a configuration, proven and timed.
type trial struct {
	*runner
	config, round int
	host          *Host
	star          *tables.Star // nil while the server is down
}

// open opens the tables; anew before their load.
func (t *trial) open(ctx context.Context, anew bool) (err error) {
	p := t.Configs[t.config]
	p.Replace = anew
	t.star, err = t.host.Scans.Open(ctx, p)
	return err
}

// close closes the tables.
func (t *trial) close() error {
	if t.star == nil {
		return nil
	}
	star := t.star
	t.star = nil
	return star.Close()
}

// run loads, proves and times.
func (t *trial) run(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	var right []tables.StarQuery
	for _, q := range t.Queries {
		differs, err := t.prove(ctx, q)
		if err != nil {
			return err
		}
		if !differs {
			right = append(right, q)
		}
	}
	return t.times(ctx, right)
}

// out is the configuration in the run.
func (t *trial) out() *run.ScanConfig { return &t.into.Run.Scan.Configs[t.config] }

// load loads the tables and looks at them.
func (t *trial) load(ctx context.Context) error {
	out := t.out()
	began := time.Now()
	loaded, err := t.star.Load(ctx, t.Files)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	out.Load += time.Since(began)
	out.Loads++
	for table, want := range t.Reference.Rows {
		if got := loaded.Rows[table]; got != want {
			return fmt.Errorf("load: %s holds %d rows, not %d", table, got, want)
		}
	}
	if t.star.Size != nil {
		if out.Bytes, err = t.star.Size(ctx); err != nil {
			return err
		}
	}
	if t.round > 0 {
		return nil
	}
	return t.plans(ctx, out)
}

// plans keeps texts and plans.
func (t *trial) plans(ctx context.Context, out *run.ScanConfig) error {
	out.Plans = nil // of a round that was interrupted
	for _, q := range t.Queries {
		plan := run.ScanPlan{Query: string(q), Text: t.star.Text(q)}
		if t.star.Plan != nil {
			var err error
			if plan.Plan, err = t.star.Plan(ctx, q); err != nil {
				return err
			}
		}
		out.Plans = append(out.Plans, plan)
	}
	return nil
}

// prove asks once, untimed. A wrong answer is kept as such.
func (t *trial) prove(ctx context.Context, q tables.StarQuery) (differs bool, err error) {
	rows, err := t.star.Ask(ctx, q)
	if err != nil {
		return false, fmt.Errorf("%s: %w", q, err)
	}
	proof, wrong := t.Reference.Check(q, rows)
	if wrong != nil {
		err = t.into.Add(run.Sample{Cell: t.into.Run.ScanCell(t.config, string(q)), Phase: run.Warm}.Judge(nil, proof, wrong))
	}
	return wrong != nil, err
}

// times times warm answers, then cold ones, each in random order.
func (t *trial) times(ctx context.Context, queries []tables.StarQuery) error {
	for _, phase := range []struct {
		phase run.Phase
		reps  int
	}{{run.Warm, t.Warm}, {run.Cold, t.Cold}} {
		seed := t.Seed + uint64(t.config)<<32 + uint64(t.round)<<16 //nolint:gosec // not negative
		for i := range measure.Interleave(seed, len(queries), phase.reps) {
			if phase.phase == run.Cold {
				if err := t.chill(ctx); err != nil {
					return fmt.Errorf("a cold start: %w", err)
				}
			}
			if err := t.sample(ctx, queries[i], phase.phase); err != nil {
				return fmt.Errorf("%s: %w", queries[i], err)
			}
		}
	}
	return nil
}

// What was done to the engine's own memory before a cold answer.
const (
	forgot    = "the engine forgot what it held"
	leftWarm  = "the engine's own memory was left as it was"
	restarted = "the server was stopped and started again before each answer, so that its buffers were empty, and what it makes anew after a start is in these times"
)

// chill empties the engine's memory, as far as it can be, and the system's
// cache; the latter while a server that is restarted is down, when nothing is
// mapped.
func (t *trial) chill(ctx context.Context) error {
	how, dropped := leftWarm, ""
	drop := func() (err error) {
		dropped, err = t.Drop(t.Configs[t.config].Paths)
		return err
	}
	switch {
	case t.star.Cold != nil:
		how = forgot
		if err := t.star.Cold(ctx); err != nil {
			return err
		}
	case t.host.Restart != nil:
		how = restarted
		if err := t.restart(ctx, drop); err != nil {
			return err
		}
	}
	if dropped == "" {
		if err := drop(); err != nil {
			return err
		}
	}
	t.into.Run.ColdMethod = how + "; " + dropped
	return nil
}

// restart closes the tables, has the server started again, and opens them.
func (t *trial) restart(ctx context.Context, stopped func() error) error {
	if err := t.close(); err != nil {
		return err
	}
	began := time.Now()
	if err := t.host.Restart(ctx, stopped); err != nil {
		return err
	}
	out := t.out()
	out.Restart += time.Since(began)
	out.Restarts++
	return t.open(ctx, false)
}

// sample asks once, measures, and compares when the clock has stopped.
func (t *trial) sample(ctx context.Context, q tables.StarQuery, phase run.Phase) error {
	at := repeated{t.into.Run.ScanCell(t.config, string(q)), phase}
	t.reps[at]++
	var rows []tables.StarRow
	m, err := t.into.Observe(ctx, t.Devices[:min(len(t.Devices), len(t.Configs[t.config].Paths))], &run.Watch{PIDs: t.host.PIDs, Report: run.ReportFunc(t.star.Spent)}, func() (err error) {
		rows, err = t.star.Ask(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	proof, differs := t.Reference.Check(q, rows)
	return t.into.Add(run.Sample{Cell: at.cell, Phase: phase, Rep: t.reps[at]}.Judge(m, proof, differs))
}
