package scan

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// trial is one load of a configuration, with its proof and its measurements.
type trial struct {
	*runner
	config, round int
	host          *Host
	star          *tables.Star // nil while the server is down
}

// open opens the tables. If replace is true, it replaces them by empty ones, for a load.
func (t *trial) open(ctx context.Context, replace bool) (err error) {
	p := t.Configs[t.config]
	p.Replace = replace
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

// run loads the tables, proves the results and times the queries.
func (t *trial) run(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	var correct []tables.StarQuery
	for _, q := range t.Queries {
		differs, err := t.prove(ctx, q)
		if err != nil {
			return err
		}
		if !differs {
			correct = append(correct, q)
		}
	}
	return t.timeQueries(ctx, correct)
}

// out is the configuration in the run.
func (t *trial) out() *run.ScanConfig { return &t.folder.Run.Scan.Configs[t.config] }

// load loads the tables, checks their numbers of rows, and records their size and plans.
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
			return fmt.Errorf("load: %s has %s, not %s", table, run.CountOf(got, "row"), run.FormatCount(want))
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

// plans records the texts and plans of the queries.
func (t *trial) plans(ctx context.Context, out *run.ScanConfig) error {
	out.Plans = nil // drop those of an interrupted round
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

// prove runs a query once, untimed, and records a wrong result.
func (t *trial) prove(ctx context.Context, q tables.StarQuery) (differs bool, err error) {
	rows, err := t.star.Ask(ctx, q)
	if err != nil {
		return false, fmt.Errorf("%s: %w", q, err)
	}
	proof, wrong := t.Reference.Check(q, rows)
	if wrong != nil {
		s := run.Sample{Cell: t.folder.Run.ScanCell(t.config, string(q)), Phase: run.Warm}
		return true, t.folder.Add(s.Judge(nil, proof, wrong))
	}
	return false, t.storeResult(q, rows)
}

// storeResult writes a proven result into the run folder, as results/ENGINE.QUERY.csv, so that it can be compared with
// published ones. NULL is an empty field. All configurations have this result, except for rows that tie at the limit.
func (t *trial) storeResult(q tables.StarQuery, rows []tables.StarRow) error {
	if t.folder.Dir == "" {
		return nil
	}
	all := [][]string{q.Header()}
	for _, r := range rows {
		var fields []string
		for _, v := range r.Values(q) {
			field := ""
			if v != nil {
				field = fmt.Sprint(v)
			}
			fields = append(fields, field)
		}
		all = append(all, fields)
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(all); err != nil {
		return err
	}
	dir := filepath.Join(t.folder.Dir, "results")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, t.folder.Run.Archives[0].Engine+"."+string(q)+".csv"), text.Bytes(), 0o644)
}

// timeQueries measures warm repetitions, then cold ones, each in random order.
func (t *trial) timeQueries(ctx context.Context, queries []tables.StarQuery) error {
	for _, phase := range []struct {
		phase run.Phase
		reps  int
	}{{run.Warm, t.Warm}, {run.Cold, t.Cold}} {
		seed := t.Seed + uint64(t.config)<<32 + uint64(t.round)<<16 //nolint:gosec // not negative
		for i := range measure.Interleave(seed, len(queries), phase.reps) {
			if phase.phase == run.Cold {
				if err := t.emptyCaches(ctx); err != nil {
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

// Descriptions of the engine's own memory before a cold query.
const (
	droppedCaches = "the engine dropped its caches"
	keptCaches    = "the engine kept its caches"
	restarted     = "the server was restarted before each query, so its caches were empty; " +
		"the times include its work after a start"
)

// emptyCaches empties the engine's memory, if possible, and the page cache. If it restarts a server, it
// empties the page cache while the server is down, when no file is mapped.
func (t *trial) emptyCaches(ctx context.Context) error {
	how, dropped := keptCaches, ""
	drop := func() (err error) {
		dropped, err = t.Drop(t.Configs[t.config].Paths)
		return err
	}
	switch {
	case t.star.Cold != nil:
		how = droppedCaches
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
	t.folder.Run.ColdMethod = how + "; " + dropped
	return nil
}

// restart closes the tables, restarts the server, and opens the tables again.
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

// sample measures one repetition. It compares the result after the clock has stopped.
func (t *trial) sample(ctx context.Context, q tables.StarQuery, phase run.Phase) error {
	at := repKey{t.folder.Run.ScanCell(t.config, string(q)), phase}
	t.reps[at]++
	var rows []tables.StarRow
	devices := t.Devices[:min(len(t.Devices), len(t.Configs[t.config].Paths))]
	server := &run.ServerMeter{PIDs: t.host.PIDs, Report: run.ReportFunc(t.star.Spent)}
	if t.star.Processes != nil {
		server.PIDs = slices.Concat(server.PIDs, t.star.Processes())
	}
	m, err := t.folder.TimeQuery(ctx, devices, server, func() (err error) {
		rows, err = t.star.Ask(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	proof, differs := t.Reference.Check(q, rows)
	return t.folder.Add(run.Sample{Cell: at.cell, Phase: phase, Rep: t.reps[at]}.Judge(m, proof, differs))
}
