// Package lake asks the cases' questions of verification records that lie as Parquet
// files on an object store: by what are they partitioned, and how large is a file, where
// an engine answers soonest? The store is the lab's, behind a gate that lets so many bytes
// pass a second and counts them. Every answer is held against the reference that
// is computed from the files that were loaded, and no other has a time.
package lake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// Program is what is asked of what.
type Program struct {
	Registry   engine.Registry
	Engines    []string // URLs; an embedded engine's scheme will do
	Files      []string // VSDB and MET files, expanded
	Partitions []tables.Partition
	Sizes      []float64     // 10⁶ bytes of a file
	Cases      int           // how many of the derived questions that have rows
	Reps       int           // timed answers of each
	Rate       float64       // 10⁶ bytes a second that the store sends; 0 = no limit
	Latency    time.Duration // that each answer of the store begins later
	Work       string        // folder for the records and the store, removed at the end
	Seed       uint64
	Log        *slog.Logger
	Progress   func(s string)
}

// Names are those of the engines that read an object store.
func Names(all engine.Registry) []string {
	return all.SchemesWhere(func(d *engine.Driver) bool { return tables.Offers(d, tables.ObjectStore) })
}

// ErrWrong: an answer is not the reference's; ErrFailed: there is none.
var (
	ErrWrong  = errors.New("answers of the lake differ from the reference")
	ErrFailed = errors.New("a question was not answered")
)

// subset is the one of the records.
const subset = "lake"

// writer is the scheme of the engine that writes the files.
const writer = "duckdb"

// layout is the files of one layout: a table for each line type that is asked for.
type layout struct {
	layout int // in run.Lake.Layouts
	tables map[*record.LineType]*tables.LakeTable
}

// party is an engine that is asked.
type party struct {
	name string
	db   *engine.Engine
	lake *tables.Lake
}

type runner struct {
	Program
	into    *run.Folder
	catalog *design.Catalog
	cases   []*question.Question
	want    []*answer.Answer
	store   launch.Store // without the gate
	gate    *lab.Gate
	layouts []layout
	parties []*party
	closers []func() error
	lacks   load.Shortfall
}

// Run loads the files, writes them under every layout, and asks. What was measured
// before an error is in into.
func Run(ctx context.Context, p Program, into *run.Folder) (err error) {
	r := &runner{Program: p, into: into}
	into.Run.Lake = &run.Lake{Rate: p.Rate, Latency: p.Latency}
	into.Run.Reps = p.Reps
	into.Run.ColdMethod = "no engine keeps anything of the store's files from one answer to the next"
	work, err := os.MkdirTemp(p.Work, "barograph-lake-")
	if err != nil {
		return err
	}
	r.closers = append(r.closers, func() error { return os.RemoveAll(work) })
	defer func() {
		for _, end := range slices.Backward(r.closers) {
			err = errors.Join(err, end())
		}
	}()
	for _, step := range []func(ctx context.Context, work string) error{r.open, r.load, r.write, r.tables, r.ask} {
		if err := errors.Join(step(ctx, work), into.Save()); err != nil {
			return err
		}
	}
	if err := into.Verdict(ErrWrong, ErrFailed); err != nil {
		return err
	}
	return r.lacks.Incomplete()
}

// open starts the store and its gate, and opens the engines.
func (r *runner) open(ctx context.Context, work string) error {
	r.Progress("starting an object store")
	d := lab.StoreDriver()
	l, err := lab.Up(ctx, &d, lab.Options{Dir: filepath.Join(work, lab.StoreName), Owned: true})
	if err != nil {
		return err
	}
	r.closers = append(r.closers, l.Down)
	if r.store, err = lab.StoreAt(l.URL()); err != nil {
		return err
	}
	r.into.Run.Lake.Store = d.Summary
	if r.gate, err = lab.NewGate(r.store.Endpoint, r.Rate*1e6, r.Latency); err != nil {
		return err
	}
	r.closers = append(r.closers, r.gate.Close)
	gated := r.store
	gated.Endpoint = r.gate.Addr()
	for _, raw := range r.Engines {
		if err := r.engine(ctx, raw, work, gated); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses engines that read no store, or that are named twice.
func (p *Program) Check() error {
	var seen []string
	for _, raw := range p.Engines {
		d, _, err := p.Registry.Parse(raw)
		if err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		if !tables.Offers(d, tables.ObjectStore) {
			return fault.Misuse("--engine "+d.Scheme, "reads no object store", "choose of "+strings.Join(Names(p.Registry), ", "))
		}
		if slices.Contains(seen, d.Scheme) {
			return fault.Misuse("--engine "+d.Scheme, "is named twice", "name it once")
		}
		seen = append(seen, d.Scheme)
	}
	store := lab.StoreDriver()
	needed := []*engine.Driver{&store}
	for _, name := range append(seen, writer) {
		if d, ok := p.Registry.Find(name); ok && d.Place == engine.Embedded {
			needed = append(needed, d)
		}
	}
	for _, d := range needed {
		if err := d.Require(true); err != nil {
			return err
		}
	}
	return nil
}

// engine opens an engine and its lake. What an embedded one keeps beside the store
// lies in work, where no other place is named.
func (r *runner) engine(ctx context.Context, raw, work string, s launch.Store) error {
	d, u, err := r.Registry.Parse(raw)
	if err != nil {
		return err
	}
	p := &party{name: d.Scheme}
	if raw == d.Scheme && d.Place == engine.Embedded {
		raw += ":" + filepath.Join(work, "engine-"+raw)
	}
	if p.db, err = r.Registry.Open(ctx, raw, engine.Options{Log: r.Log}); err != nil {
		return err
	}
	r.closers = append(r.closers, p.db.Close)
	if p.lake, err = tables.DatabasesOf(p.db).Lake(ctx, s); err != nil {
		return err
	}
	r.closers = append(r.closers, p.lake.Close)
	r.parties = append(r.parties, p)
	about, err := p.db.About(ctx)
	a := study.Participant(d, u.String(), about, nil)
	a.Engine, a.Complete = p.name, true
	r.into.Run.Archives = append(r.into.Run.Archives, a)
	return err
}

// recordsFile is where the records lie before they are written out.
func recordsFile(work string) string { return filepath.Join(work, "records.duckdb") }

// load loads the files, and computes the reference from them.
func (r *runner) load(ctx context.Context, work string) (err error) {
	r.Progress(fmt.Sprintf("loading %d files", len(r.Files)))
	db, err := r.Registry.Open(ctx, writer+":"+recordsFile(work), engine.Options{Log: r.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	a, err := archive.DatabaseOf(db).Open(ctx, design.Wide)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	sum, err := load.Run(ctx, a, subset, r.Files, load.Options{Log: r.Log})
	if err != nil {
		return err
	}
	r.lacks.Refused = sum.Conflicts
	if r.catalog, err = a.Catalog(ctx, subset); err != nil {
		return err
	}
	return r.reference(ctx)
}

func (r *runner) reference(ctx context.Context) error {
	r.Progress("reading them again, for the reference")
	all := r.catalog.Cases()
	for i := range all {
		all[i] = all[i].InSubset(subset)
	}
	asked, d := answer.NewReference(all...), &r.into.Run.Data
	held := r.catalog.Digest()
	d.Records, d.Digest, d.ByType = held.Records, held.String(), r.catalog.Records()
	d.Subset, d.Files = subset, len(r.Files)
	err := load.Read(ctx, r.Files, load.Reading{}, func(_ *load.File, b *record.Batch) error {
		d.Lines += int64(b.Lines)
		asked.Add(b)
		return r.lacks.Reject(b, r.into.Reject)
	}, func(f *load.File) error {
		d.Bytes += f.Bytes
		if f.Err != nil {
			r.lacks.Unread, d.Files = r.lacks.Unread+1, d.Files-1
			r.into.Warn("not in this data, or not to its end: " + f.Err.Error())
			r.Progress(f.Err.Error())
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.Quarantined = r.lacks.Quarantined
	for i, a := range asked.Answers() {
		if q := all[i]; a.Rows > 0 && len(r.cases) < r.Cases {
			r.cases, r.want = append(r.cases, q), append(r.want, a)
			r.into.Run.Cases = append(r.into.Run.Cases, run.Case{Name: q.Name, Title: q.Title, LineType: q.Type.Name, Rows: a.Rows, Bytes: a.Bytes(), Digest: answer.FormatDigest(a.Digest()), Weight: 1})
		}
	}
	if len(r.cases) == 0 {
		return &fault.Error{Setting: fmt.Sprintf("%d files", len(r.Files)), Problem: "hold no record to ask for", Cure: "name files that do"}
	}
	return nil
}

// write writes every layout, past the gate.
func (r *runner) write(ctx context.Context, work string) (err error) {
	db, err := r.Registry.Open(ctx, writer+"::memory:", engine.Options{Log: r.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	to, err := tables.DatabasesOf(db).Lake(ctx, r.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for _, p := range r.Partitions {
		for _, mb := range r.Sizes {
			l := layout{layout: len(r.layouts), tables: map[*record.LineType]*tables.LakeTable{}}
			layout := run.LakeLayout{Partition: string(p), MB: mb}
			for _, q := range r.cases {
				if l.tables[q.Type] != nil {
					continue
				}
				name := strings.ToLower(fmt.Sprintf("%s_%d_%s", p, l.layout, q.Type.Name))
				t := &tables.LakeTable{Name: name, Type: q.Type, Prefix: name + "/", Partition: p}
				if err := to.Write(ctx, recordsFile(work), subset, t, int64(mb*1e6)); err != nil {
					return fmt.Errorf("writing %s: %w", name, err)
				}
				l.tables[q.Type] = t
				layout.Files, layout.Bytes, layout.Rows = layout.Files+t.Files, layout.Bytes+t.Bytes, layout.Rows+t.Rows
			}
			r.Progress(fmt.Sprintf("by %s, files of %g MB: %d files, %d MB", p, mb, layout.Files, layout.Bytes/1e6))
			r.layouts, r.into.Run.Lake.Layouts = append(r.layouts, l), append(r.into.Run.Lake.Layouts, layout)
		}
	}
	return nil
}

// tables makes every layout known to every engine.
func (r *runner) tables(ctx context.Context, _ string) error {
	for _, p := range r.parties {
		r.Progress(p.name + ": making tables of the files")
		for _, l := range r.layouts {
			for _, t := range l.tables {
				if err := p.lake.Table(ctx, t); err != nil {
					return fmt.Errorf("%s, table %s: %w", p.name, t.Name, err)
				}
			}
		}
	}
	return nil
}

// one is a question to an engine, of a layout.
type one struct {
	party *party
	cell  run.Cell
	query *archive.Query
	want  *answer.Answer
}

// ask proves every answer untimed, then times those that are right, in random order.
func (r *runner) ask(ctx context.Context, _ string) error {
	var right []one
	for _, p := range r.parties {
		r.Progress(fmt.Sprintf("%s: proving %d answers", p.name, len(r.layouts)*len(r.cases)))
		for _, l := range r.layouts {
			for k, q := range r.cases {
				x := one{party: p, cell: run.LakeCell(p.name, &r.into.Run.Lake.Layouts[l.layout], q.Name), want: r.want[k]}
				var err error
				if x.query, err = p.lake.Phrase(l.tables[q.Type], q, r.catalog); err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, q.Name, err)
				}
				ok, err := r.once(ctx, &x, -1)
				if err != nil {
					return err
				}
				if ok {
					right = append(right, x)
				}
			}
		}
	}
	r.Progress(fmt.Sprintf("timing %d answers, %d times", len(right), r.Reps))
	done := 0
	for i, rep := range measure.Interleave(r.Seed, len(right), r.Reps) {
		if _, err := r.once(ctx, &right[i], rep); err != nil {
			return err
		}
		if done++; done%max(len(right)*r.Reps/10, 1) == 0 {
			r.Progress(fmt.Sprintf("%d of %d", done, len(right)*r.Reps))
		}
	}
	return nil
}

// once asks and compares; the repetition -1 only proves, and is kept where it does not.
func (r *runner) once(ctx context.Context, x *one, rep int) (right bool, err error) {
	var b answer.Builder
	requests, sent := r.gate.Counted()
	m, asked := r.into.Observe(ctx, nil, &run.Watch{PIDs: x.party.db.Processes}, func() error {
		return x.party.lake.Ask(ctx, x.query, &b)
	})
	if asked == nil {
		after, bytes := r.gate.Counted()
		m.Bytes, m.StoreTraffic = b.Bytes(), &run.StoreTraffic{Requests: after - requests, Sent: bytes - sent}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var proof answer.Proof
	if asked == nil {
		proof, asked = answer.Compare(x.want, &b.Answer)
	}
	if rep < 0 && asked == nil {
		return true, r.into.Answer(&b.Answer, proof)
	}
	return asked == nil, r.into.Add(run.Sample{Cell: x.cell, Phase: run.Cold, Rep: rep}.Judge(m, proof, asked))
}
