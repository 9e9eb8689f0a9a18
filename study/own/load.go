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

// lacks is in the warning that an engine could not load a table.
const lacks = " lacks table "

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

func (r *runner) loadOne(ctx context.Context, p *participant, out *run.Archive) (err error) {
	out.Complete = true
	for _, t := range r.tables {
		checksum, err := r.checksum(p, t)
		var load int64
		kept := false
		if r.resumed && err == nil {
			err = r.reporting(p.name+": checking what it has of "+t.Name, nil, func() error {
				if load, kept = r.kept(ctx, p, t, checksum); kept || ctx.Err() != nil {
					return ctx.Err()
				}
				return p.unmark(ctx, t)
			})
		}
		if kept && err == nil {
			r.Progress(fmt.Sprintf("%s: keeps %s, %s, which was loaded before the interruption", p.name, t.Name, run.CountOf(int(t.Rows), "row")))
			out.Load, out.Commits = out.Load+time.Duration(load), out.Commits+1
			if err := r.define(ctx, p, t, out, false); err != nil {
				return err
			}
			continue
		}
		r.Progress(fmt.Sprintf("%s: loading %s, %s", p.name, t.Name, run.CountOf(int(t.Rows), "row")))
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
			err = r.reporting(p.name+": counting the rows of "+t.Name, nil, func() error { return r.count(ctx, p, t) })
		}
		if err == nil {
			err = r.mark(ctx, p, t, checksum, int64(took))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.missing[t.Name], out.Complete = fmt.Errorf("table %s: %w", t.Name, err), false
			r.folder.Warn(p.name + lacks + t.Name + ": " + err.Error())
			r.Progress(p.name + lacks + t.Name + ": " + fault.Text(err))
		}
	}
	if len(p.missing) < len(r.tables) { // a missing table does not affect the queries of the others
		out.Complete = true
	}
	if out.Bytes, err = p.own.Size(ctx); err != nil && len(p.missing) == 0 {
		return err
	}
	return ctx.Err()
}

// loadRows loads a table, and reports its progress.
func (r *runner) loadRows(ctx context.Context, p *participant, t *tables.Table) error {
	var n atomic.Int64
	counted := *t
	counted.Each = func(ctx context.Context, f func(row []any) error) error {
		return t.Each(ctx, func(row []any) error { n.Add(1); return f(row) })
	}
	running := p.running(ctx)
	done := func() (part string, _, _ int64) {
		rows := n.Load()
		if p.own.Loaded != nil {
			rows = p.own.Loaded(ctx, t)
		}
		if rows >= t.Rows && running != nil { // the engine has all rows and completes the table
			return running()
		}
		return "", rows, t.Rows
	}
	return r.reporting(p.name+": loading "+t.Name, done, func() error { return p.own.Load(ctx, &counted) })
}

// count compares the number of rows of a table in an engine with that of its files.
func (r *runner) count(ctx context.Context, p *participant, t *tables.Table) error {
	var want answer.Loose
	want.Add([]any{t.Rows})
	got, err := rows(ctx, p.own, "SELECT count(*) FROM "+p.ident(t.Name), nil, nil)
	if err == nil {
		_, err = answer.CompareLoose(answer.Expect(&want, answer.Shape{Width: 1, Limit: -1}), got, 0)
	}
	return err
}
