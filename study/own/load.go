package own

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// lacksTable is the text by which a resumed run finds the warnings about tables that an engine could not load.
const lacksTable = " lacks table "

// load loads every table into every engine. If an engine cannot store a table, the study skips the
// queries of that table for this engine.
func (r *runner) load(ctx context.Context) error {
	for i, p := range r.measured() {
		p.missing = map[string]error{}
		if err := r.loadOne(ctx, p, &r.folder.Run.Archives[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// loadOne loads every table into one engine.
func (r *runner) loadOne(ctx context.Context, p *participant, out *run.Archive) (err error) {
	for _, t := range r.tables {
		size := run.CountOf(t.Rows, "row")
		checksum, err := r.checksum(p, t)
		var loadNanos int64
		keep := false
		if r.resumed && err == nil {
			err = r.withProgress(p.name+": checking what it has of "+t.Name, nil, func() error {
				if loadNanos, keep = r.isLoaded(ctx, p, t, checksum); keep || ctx.Err() != nil {
					return ctx.Err()
				}
				return p.unmark(ctx, t)
			})
		}
		if keep && err == nil {
			r.Progress(fmt.Sprintf("%s: keeps %s, %s, which was loaded before the interruption", p.name, t.Name, size))
			out.Load, out.Commits = out.Load+time.Duration(loadNanos), out.Commits+1
			if err := r.define(ctx, p, t, out, false); err != nil {
				return err
			}
			continue
		}
		r.Progress(fmt.Sprintf("%s: loading %s, %s", p.name, t.Name, size))
		began := time.Now()
		if err == nil {
			err = r.loadRows(ctx, p, t)
		}
		if err == nil {
			err = r.define(ctx, p, t, out, true)
		}
		took := time.Since(began)
		out.Load += took
		if err == nil {
			out.Commits++
			err = r.withProgress(p.name+": counting the rows of "+t.Name, nil, func() error { return r.checkCount(ctx, p, t) })
		}
		if err == nil {
			err = r.mark(ctx, p, t, checksum, int64(took))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.missing[t.Name] = fmt.Errorf("table %s: %w", t.Name, err)
			r.folder.Warn(p.name + lacksTable + t.Name + ": " + err.Error())
			r.Progress(p.name + lacksTable + t.Name + ": " + fault.Text(err))
		}
	}
	// One loaded table makes the archive complete, because the study omits only the queries of missing tables.
	out.Complete = len(p.missing) < len(r.tables)
	if out.Bytes, err = p.own.Size(ctx); err != nil && len(p.missing) == 0 {
		return err
	}
	return ctx.Err()
}

// loadRows loads a table and reports the progress.
func (r *runner) loadRows(ctx context.Context, p *participant, t *tables.Table) error {
	var passedOn atomic.Int64 // rows that Each has passed to the engine
	countingTable := *t
	countingTable.Each = func(ctx context.Context, f func(row []any) error) error {
		return t.Each(ctx, func(row []any) error { passedOn.Add(1); return f(row) })
	}
	engineStep := p.engineStep(ctx)
	done := func() (part string, _, _ int64) {
		rows := passedOn.Load()
		if p.own.Loaded != nil {
			rows = p.own.Loaded(ctx, t)
		}
		if rows >= t.Rows && engineStep != nil { // the engine has all rows and now completes the table
			return engineStep()
		}
		return "", rows, t.Rows
	}
	return r.withProgress(p.name+": loading "+t.Name, done, func() error { return p.own.Load(ctx, &countingTable) })
}

// checkCount compares the number of rows of a table in an engine with the number of rows of its files.
func (r *runner) checkCount(ctx context.Context, p *participant, t *tables.Table) error {
	var want answer.Loose
	want.Add([]any{t.Rows})
	got, err := rows(ctx, p.own, "SELECT count(*) FROM "+p.ident(t.Name), nil, nil)
	if err == nil {
		_, err = answer.CompareLoose(answer.Expect(&want, answer.Shape{Width: 1, Limit: -1}), got, 0)
	}
	return err
}
