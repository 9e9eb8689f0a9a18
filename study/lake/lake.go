// Package lake queries verification records that are stored as Parquet files on an object store. It finds the
// partitioning and the file size with the shortest times. The lab runs the store, behind a gate that limits the bytes
// per second and counts the traffic. Every result is compared with the reference, which is computed from the loaded
// files; only correct results have times.
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

	"github.com/dustin/go-humanize/english"

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

// Program describes a run.
type Program struct {
	Registry    engine.Registry
	Engines     []string // URLs, or schemes of embedded engines
	Files       []string // VSDB and MET files, without wildcards
	Partitions  []tables.Partition
	FileMB      []float64     // sizes of a file, in 10⁶ bytes
	Cases       int           // number of derived questions with rows
	Repetitions int           // timed repetitions of each question
	MBPerSecond float64       // limit of the store, in 10⁶ bytes; 0 = no limit
	Latency     time.Duration // delay of each reply of the store
	WorkFolder  string        // of temporary files: the records, the store and the engines' own files
	Seed        uint64
	Log         *slog.Logger
	Progress    func(s string)
}

// EngineNames returns the schemes of the engines that can read an object store.
func EngineNames(all engine.Registry) []string {
	return all.SchemesWhere(func(d *engine.Driver) bool { return tables.Offers(d, tables.ObjectStore) })
}

// ErrWrong is the error of a run with results that differ from the reference.
var ErrWrong = errors.New("results of the lake differ from the reference")

// ErrFailed is the error of a run with a query that returned no result.
var ErrFailed = errors.New("a query returned no result")

const (
	subsetName   = "lake"   // of the records, in their archive
	writerEngine = "duckdb" // the scheme of the engine that writes the files
)

// layoutTables are the tables of one layout (partitioning and file size), one for each line type of the questions.
type layoutTables struct {
	index  int // in run.Lake.Layouts
	tables map[*record.LineType]*tables.LakeTable
}

// participant is an engine of the study.
type participant struct {
	name string
	db   *engine.Engine
	lake *tables.Lake
}

// runner is a run in progress.
type runner struct {
	Program
	folder       *run.Folder
	catalog      *design.Catalog
	cases        []*question.Question
	expected     []*answer.Answer // by case
	store        launch.Store     // its own endpoint; engines use that of the gate
	gate         *lab.Gate
	layouts      []layoutTables
	participants []*participant
	closers      []func() error // of what is open, in the order of opening
	shortfall    load.Shortfall
}

// Run loads the files, writes them in every layout, and runs the queries. If it fails, into has the measurements made
// before the error.
func Run(ctx context.Context, p Program, into *run.Folder) (err error) {
	r := &runner{Program: p, folder: into}
	into.Run.Lake = &run.Lake{Rate: p.MBPerSecond, Latency: p.Latency}
	into.Run.Reps = p.Repetitions
	into.Run.ColdMethod = "no engine caches files of the store between queries"
	work, err := os.MkdirTemp(p.WorkFolder, "barograph-lake-")
	if err != nil {
		return err
	}
	r.closers = append(r.closers, func() error { return os.RemoveAll(work) })
	defer func() {
		for _, closeIt := range slices.Backward(r.closers) {
			err = errors.Join(err, closeIt())
		}
	}()
	steps := []func(ctx context.Context, work string) error{
		r.openAll, r.loadRecords, r.writeLayouts, r.createTables, r.runQueries,
	}
	for _, step := range steps {
		if err := errors.Join(step(ctx, work), into.Save()); err != nil {
			return err
		}
	}
	if err := into.ExitError(ErrWrong, ErrFailed); err != nil {
		return err
	}
	return r.shortfall.Incomplete()
}

// openAll starts the store and its gate, and opens the engines.
func (r *runner) openAll(ctx context.Context, work string) error {
	r.Progress("starting an object store")
	driver := lab.StoreDriver()
	server, err := lab.Up(ctx, &driver, lab.Options{Dir: filepath.Join(work, lab.StoreName), Owned: true})
	if err != nil {
		return err
	}
	r.closers = append(r.closers, server.Down)
	if r.store, err = lab.StoreAt(server.URL()); err != nil {
		return err
	}
	r.folder.Run.Lake.Store = driver.Summary
	if r.gate, err = lab.NewGate(r.store.Endpoint, r.MBPerSecond*1e6, r.Latency); err != nil {
		return err
	}
	r.closers = append(r.closers, r.gate.Close)
	gatedStore := r.store
	gatedStore.Endpoint = r.gate.Addr()
	for _, raw := range r.Engines {
		if err := r.openEngine(ctx, raw, work, gatedStore); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error for an engine that cannot read an object store or that is named twice, and for a store or
// library that is not installed.
func (p *Program) Check() error {
	var seen []string
	for _, raw := range p.Engines {
		d, _, err := p.Registry.Parse(raw)
		if err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		if !tables.Offers(d, tables.ObjectStore) {
			cure := "choose one of " + strings.Join(EngineNames(p.Registry), ", ")
			return fault.Misuse("--engine "+d.Scheme, "cannot read an object store", cure)
		}
		if slices.Contains(seen, d.Scheme) {
			return fault.Misuse("--engine "+d.Scheme, "is named twice", "name it once")
		}
		seen = append(seen, d.Scheme)
	}
	store := lab.StoreDriver()
	needed := []*engine.Driver{&store}
	for _, name := range append(seen, writerEngine) {
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

// openEngine opens an engine and its lake on the store s. If the URL of an embedded engine has no path, the engine's
// own files are in the folder work.
func (r *runner) openEngine(ctx context.Context, raw, work string, s launch.Store) error {
	d, u, err := r.Registry.Parse(raw)
	if err != nil {
		return err
	}
	p := &participant{name: d.Scheme}
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
	r.participants = append(r.participants, p)
	about, err := p.db.About(ctx)
	a := study.Participant(d, u.String(), about, nil)
	a.Engine, a.Complete = p.name, true
	r.folder.Run.Archives = append(r.folder.Run.Archives, a)
	return err
}

// recordsFile returns the path of the archive from which the layouts are written.
func recordsFile(work string) string { return filepath.Join(work, "records.duckdb") }

// loadRecords loads the files into an archive, and computes the reference from them.
func (r *runner) loadRecords(ctx context.Context, work string) (err error) {
	r.Progress("loading " + run.CountOf(len(r.Files), "file"))
	db, err := r.Registry.Open(ctx, writerEngine+":"+recordsFile(work), engine.Options{Log: r.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	a, err := archive.DatabaseOf(db).Open(ctx, design.Wide)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	sum, err := load.Run(ctx, a, subsetName, r.Files, load.Options{Log: r.Log})
	if err != nil {
		return err
	}
	r.shortfall.Refused = sum.Conflicts
	if r.catalog, err = a.Catalog(ctx, subsetName); err != nil {
		return err
	}
	return r.computeReference(ctx)
}

// computeReference computes the answers to all derived questions from the files, describes the data in the run folder,
// and selects the cases: the first questions with rows.
func (r *runner) computeReference(ctx context.Context) error {
	r.Progress("reading the files again, for the reference")
	questions := r.catalog.Cases()
	for i := range questions {
		questions[i] = questions[i].InSubset(subsetName)
	}
	reference, data, digest := answer.NewReference(questions...), &r.folder.Run.Data, r.catalog.Digest()
	data.Records, data.Digest, data.ByType = digest.Records, digest.String(), r.catalog.Records()
	data.Subset, data.Files = subsetName, len(r.Files)
	addBatch := func(_ *load.File, b *record.Batch) error {
		data.Lines += int64(b.Lines)
		reference.Add(b)
		return r.shortfall.Reject(b, r.folder.Reject)
	}
	addFile := func(f *load.File) error {
		data.Bytes += f.Bytes
		if f.Err != nil {
			r.shortfall.Unread, data.Files = r.shortfall.Unread+1, data.Files-1
			r.folder.Warn("a file is missing from the data, or incomplete: " + f.Err.Error())
			r.Progress(f.Err.Error())
		}
		return nil
	}
	if err := load.Read(ctx, r.Files, load.ReadOptions{}, addBatch, addFile); err != nil {
		return err
	}
	data.Quarantined = r.shortfall.Quarantined
	for i, a := range reference.Answers() {
		if q := questions[i]; a.Rows > 0 && len(r.cases) < r.Cases {
			r.cases, r.expected = append(r.cases, q), append(r.expected, a)
			r.folder.Run.Cases = append(r.folder.Run.Cases, run.Case{
				Name: q.Name, Title: q.Title, LineType: q.Type.Name, Rows: a.Rows, Bytes: a.Bytes(),
				Digest: answer.FormatDigest(a.Digest()), Weight: 1,
			})
		}
	}
	if len(r.cases) == 0 {
		return &fault.Error{
			Setting: run.CountOf(len(r.Files), "file"), Problem: english.PluralWord(len(r.Files), "has", "have") + " no records to query",
			Cure: "name files with records",
		}
	}
	return nil
}

// writeLayouts writes every layout to the store, not through the gate, because writing is not measured.
func (r *runner) writeLayouts(ctx context.Context, work string) (err error) {
	db, err := r.Registry.Open(ctx, writerEngine+"::memory:", engine.Options{Log: r.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	lake, err := tables.DatabasesOf(db).Lake(ctx, r.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lake.Close()) }()
	for _, p := range r.Partitions {
		for _, mb := range r.FileMB {
			if err := r.writeLayout(ctx, lake, work, p, mb); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeLayout writes the records of the cases' line types in files of about mb · 10⁶ bytes.
func (r *runner) writeLayout(ctx context.Context, lake *tables.Lake, work string, p tables.Partition, mb float64) error {
	l := layoutTables{index: len(r.layouts), tables: map[*record.LineType]*tables.LakeTable{}}
	out := run.LakeLayout{Partition: string(p), FileMB: mb}
	for _, q := range r.cases {
		if l.tables[q.Type] != nil {
			continue
		}
		name := strings.ToLower(fmt.Sprintf("%s_%d_%s", p, l.index, q.Type.Name))
		t := &tables.LakeTable{Name: name, Type: q.Type, Prefix: name + "/", Partition: p}
		if err := lake.Write(ctx, recordsFile(work), subsetName, t, int64(mb*1e6)); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		l.tables[q.Type] = t
		out.Files, out.Bytes, out.Rows = out.Files+t.Files, out.Bytes+t.Bytes, out.Rows+t.Rows
	}
	r.Progress(fmt.Sprintf("partitioned by %s, files of %g MB: %s, %s MB", p, mb, run.CountOf(out.Files, "file"), run.FormatCount(out.Bytes/1e6)))
	r.layouts, r.folder.Run.Lake.Layouts = append(r.layouts, l), append(r.folder.Run.Lake.Layouts, out)
	return nil
}

// createTables creates a table over the files of every layout in every engine.
func (r *runner) createTables(ctx context.Context, _ string) error {
	for _, p := range r.participants {
		r.Progress(p.name + ": creating tables over the files")
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

// cellQuery is the query of a question to one engine in one layout.
type cellQuery struct {
	participant *participant
	cell        run.Cell
	query       *archive.Query
	expected    *answer.Answer
}

// runQueries compares every result with the reference, untimed. Then it times the queries with correct results, in
// random order.
func (r *runner) runQueries(ctx context.Context, _ string) error {
	var correct []cellQuery
	for _, p := range r.participants {
		r.Progress(fmt.Sprintf("%s: proving %d results", p.name, len(r.layouts)*len(r.cases)))
		for _, l := range r.layouts {
			for k, q := range r.cases {
				cell := run.LakeCell(p.name, &r.folder.Run.Lake.Layouts[l.index], q.Name)
				x := cellQuery{participant: p, cell: cell, expected: r.expected[k]}
				var err error
				if x.query, err = p.lake.Phrase(l.tables[q.Type], q, r.catalog); err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, q.Name, err)
				}
				ok, err := r.measure(ctx, &x, untimed)
				if err != nil {
					return err
				}
				if ok {
					correct = append(correct, x)
				}
			}
		}
	}
	r.Progress(fmt.Sprintf("timing %s, %s each", english.Plural(len(correct), "query", ""), run.CountOf(r.Repetitions, "repetition")))
	done := 0
	for i, rep := range measure.Interleave(r.Seed, len(correct), r.Repetitions) {
		if _, err := r.measure(ctx, &correct[i], rep); err != nil {
			return err
		}
		if done++; done%max(len(correct)*r.Repetitions/10, 1) == 0 {
			r.Progress(fmt.Sprintf("%d of %d", done, len(correct)*r.Repetitions))
		}
	}
	return nil
}

// untimed, as the repetition of measure, means the proof of a result. Its sample is added to the run folder only if the
// result is wrong.
const untimed = -1

// measure runs a query, compares its result, and adds the sample of the repetition to the run folder.
func (r *runner) measure(ctx context.Context, x *cellQuery, repetition int) (isCorrect bool, err error) {
	var b answer.Builder
	requestsBefore, bytesBefore := r.gate.Counted()
	m, queryErr := r.folder.TimeQuery(ctx, nil, &run.ServerMeter{PIDs: x.participant.db.Processes}, func() error {
		return x.participant.lake.Ask(ctx, x.query, &b)
	})
	if queryErr == nil {
		requests, bytes := r.gate.Counted()
		m.Bytes = b.Bytes()
		m.StoreTraffic = &run.StoreTraffic{Requests: requests - requestsBefore, Sent: bytes - bytesBefore}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var proof answer.Proof
	if queryErr == nil {
		proof, queryErr = answer.Compare(x.expected, &b.Answer)
	}
	if repetition == untimed && queryErr == nil {
		return true, r.folder.StoreAnswer(&b.Answer, proof)
	}
	return queryErr == nil, r.folder.Add(run.Sample{Cell: x.cell, Phase: run.Cold, Rep: repetition}.Judge(m, proof, queryErr))
}
