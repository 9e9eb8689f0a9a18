package scan

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Verification is a scan of all records of a verification archive: question.MeanAnomalyCorrelation in one or several
// designs of an engine.
type Verification struct {
	Files   []string // VSDB and MET files; a load skips those that the archive has
	Subset  string
	Designs []design.Name // of archive.Offer.MeanDesigns, each once
	Warm    int           // warm repetitions in each design
	Cold    int           // repetitions in each design after reopening the database and emptying the page cache; 0 = none
	Seed    uint64        // of the order

	Open    func(ctx context.Context) (*engine.Engine, error)
	Local   []string                                     // files and folders of the archive; nil = unknown
	Devices []string                                     // of the archive
	PIDs    []int32                                      // of a server on this machine
	Drop    func(paths []string) (how string, err error) // empties the page cache; nil = measure.DropCaches

	Progress func(s string)
}

// verifier is a run of Verify in progress.
type verifier struct {
	Verification
	question  *question.Question
	want      *answer.Answer
	records   int
	shortfall load.Shortfall
	folder    *run.Folder
	db        *engine.Engine // nil = closed
	archives  []designState  // by design
	got       answer.Builder
}

// designState is the archive in a design, with its query.
type designState struct {
	archive archive.Archive // nil = closed
	query   *archive.Query  // nil = not phrased yet
	correct bool            // the result is proven
	reps    map[run.Phase]int
}

// Verify computes the reference from the files, loads them in every design, proves the
// results and times the queries. After an error, into has the measurements made before it.
func Verify(ctx context.Context, o Verification, into *run.Folder) error {
	if o.Drop == nil {
		o.Drop = measure.DropCaches
	}
	v := &verifier{Verification: o, question: question.MeanAnomalyCorrelation(o.Subset), folder: into}
	into.Run.Seed = o.Seed
	all := into.Run.Scan
	for _, d := range o.Designs {
		v.archives = append(v.archives, designState{reps: map[run.Phase]int{}})
		all.Configs = append(all.Configs, run.ScanConfig{Paths: len(all.Disks), Design: string(d)})
	}
	if err := v.read(ctx); err != nil {
		return err
	}
	return errors.Join(v.measureAll(ctx), v.close())
}

// measureAll prepares every design, and then times those with a correct result.
func (v *verifier) measureAll(ctx context.Context) error {
	for i := range v.Designs {
		err := v.loadAndProve(ctx, i)
		if err = errors.Join(err, v.folder.Save()); err != nil {
			return fmt.Errorf("%s: %w", v.Designs[i], err)
		}
	}
	for _, phase := range []run.Phase{run.Warm, run.Cold} {
		if err := errors.Join(v.timeDesigns(ctx, phase), v.folder.Save()); err != nil {
			return err
		}
	}
	if err := v.folder.ExitError(ErrWrong, ErrWrong); err != nil {
		return err
	}
	return v.shortfall.Incomplete()
}

// read computes the reference.
func (v *verifier) read(ctx context.Context) error {
	v.Progress("reading " + run.CountOf(len(v.Files), "file") + " for the reference")
	means, err := answer.NewMeans(v.question)
	if err != nil {
		return err
	}
	a := &run.ScanArchive{Subset: v.Subset, Files: len(v.Files), LineType: v.question.Type.Name}
	err = load.Read(ctx, v.Files, load.ReadOptions{}, func(_ *load.File, b *record.Batch) error {
		a.Lines += int64(b.Lines)
		means.Add(b)
		return v.shortfall.Reject(b, v.folder.Reject)
	}, func(f *load.File) error {
		a.Bytes += f.Bytes
		if f.Err != nil {
			v.shortfall.Unread++
			v.folder.Warn("a file is missing from the data, or incomplete: " + f.Err.Error())
			v.Progress(f.Err.Error())
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.want, v.records = means.Answer(), means.Records()
	if v.records == 0 {
		return &fault.Error{
			Setting: run.CountOf(len(v.Files), "file"),
			Problem: english.PluralWord(len(v.Files), "has", "have") + " no records of line type " + a.LineType + ", which the query reads",
			Cure:    "name files that have such records",
		}
	}
	a.Quarantined, a.Records, a.Groups, v.folder.Run.Scan.Archive = v.shortfall.Quarantined, v.records, v.want.Rows, a
	return nil
}

// archive opens the database and the archive of a design, unless they are open.
func (v *verifier) archive(ctx context.Context, i int) (_ archive.Archive, err error) {
	if v.db == nil {
		if v.db, err = v.Open(ctx); err != nil {
			return nil, err
		}
	}
	if v.archives[i].archive == nil {
		v.archives[i].archive, err = archive.DatabaseOf(v.db).Open(ctx, v.Designs[i])
	}
	return v.archives[i].archive, err
}

// query phrases the question in a design, once.
func (v *verifier) query(ctx context.Context, i int) (*archive.Query, error) {
	a, err := v.archive(ctx, i)
	if err == nil && v.archives[i].query == nil {
		v.archives[i].query, err = a.Phrase(ctx, v.question, flavour.MeansFlavour(v.Designs[i]))
	}
	return v.archives[i].query, err
}

// close closes all archives and the database.
func (v *verifier) close() (err error) {
	for i := range v.archives {
		if a := v.archives[i].archive; a != nil {
			err = errors.Join(err, a.Close())
		}
		v.archives[i].archive, v.archives[i].query = nil, nil
	}
	if v.db != nil {
		err = errors.Join(err, v.db.Close())
	}
	v.db = nil
	return err
}

// loadAndProve loads a design, and proves its result.
func (v *verifier) loadAndProve(ctx context.Context, i int) error {
	out := &v.folder.Run.Scan.Configs[i]
	v.Progress(out.Design + ": loading")
	a, err := v.archive(ctx, i)
	if err != nil {
		return err
	}
	sum, err := load.Run(ctx, a, v.Subset, v.Files, load.Options{})
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if len(sum.Files) > 0 {
		out.Load, out.Loads = sum.Elapsed, 1
	}
	v.shortfall.Refused = sum.Refused(load.Refuse, func(design.Conflict) {})
	if err := v.checkRecords(ctx, a); err != nil {
		return err
	}
	size, err := a.Size(ctx)
	if err != nil {
		return err
	}
	out.Bytes = []int64{size}
	q, err := v.query(ctx, i)
	if err != nil {
		return err
	}
	plan := run.ScanPlan{Query: v.question.Name, Text: q.Text}
	if p, err := a.Explain(ctx, q); err == nil {
		plan.Plan = p.Text
	} else {
		plan.Plan = "no plan: " + err.Error()
		v.folder.Warn(out.Design + " reported no plan: " + err.Error())
	}
	out.Plans = []run.ScanPlan{plan}
	if err := a.Ask(ctx, q, &v.got); err != nil {
		return err
	}
	proof, differs := answer.CompareMeans(v.want, &v.got.Answer)
	if v.archives[i].correct = differs == nil; differs != nil {
		s := run.Sample{Cell: v.folder.Run.ScanCell(i, v.question.Name), Phase: run.Warm}
		return v.folder.Add(s.Judge(nil, proof, differs))
	}
	return v.folder.StoreAnswer(&v.got.Answer, proof)
}

// checkRecords returns an error if the archive has another number of records than the files: the
// reference does not contain the records of other files.
func (v *verifier) checkRecords(ctx context.Context, a archive.Archive) error {
	c, err := a.Contents(ctx, v.Subset)
	if err != nil {
		return err
	}
	if n := c.Records[v.question.Type.Name]; n != int64(v.records) {
		return &fault.Error{
			Setting: "subset " + v.Subset, Problem: fmt.Sprintf("has %s of %s, but the files have %s",
				run.CountOf(n, "record"), v.question.Type.Name, run.FormatCount(v.records)),
			Cure: "name all files that were loaded into the subset, or load the files into another subset",
		}
	}
	return nil
}

// timeDesigns times the designs with a correct result, in random order.
func (v *verifier) timeDesigns(ctx context.Context, phase run.Phase) error {
	var correct []int
	for i := range v.archives {
		if v.archives[i].correct {
			correct = append(correct, i)
		}
	}
	reps, seed := v.Warm, v.Seed
	if phase == run.Cold {
		reps, seed = v.Cold, v.Seed+1
	}
	if reps <= 0 || len(correct) == 0 {
		return nil
	}
	v.Progress(fmt.Sprintf("%s: %s, %s each", phase, run.CountOf(len(correct), "design"), run.CountOf(reps, "repetition")))
	for k := range measure.Interleave(seed, len(correct), reps) {
		if phase == run.Cold {
			if err := v.emptyCaches(); err != nil {
				return fmt.Errorf("a cold start: %w", err)
			}
		}
		if err := v.sample(ctx, correct[k], phase); err != nil {
			return fmt.Errorf("%s: %w", v.Designs[correct[k]], err)
		}
	}
	return nil
}

// emptyCaches closes the database and empties the page cache.
func (v *verifier) emptyCaches() error {
	if err := v.close(); err != nil {
		return err
	}
	how := "the database was closed and reopened"
	if v.folder.Run.Archives[0].Place != string(engine.Embedded) {
		how = "the connection was renewed, and the server kept its caches"
	}
	dropped, err := v.Drop(v.Local)
	v.folder.Run.ColdMethod = how + "; " + dropped
	return err
}

// sample measures one repetition. The time does not include opening the database and phrasing the query.
func (v *verifier) sample(ctx context.Context, i int, phase run.Phase) error {
	q, err := v.query(ctx, i)
	if err != nil {
		return err
	}
	a := &v.archives[i]
	a.reps[phase]++
	ask := func() error { return a.archive.Ask(ctx, q, &v.got) }
	m, err := v.folder.TimeQuery(ctx, v.Devices, &run.ServerMeter{PIDs: slices.Concat(v.PIDs, v.db.Processes)}, ask)
	if err != nil {
		return err
	}
	proof, differs := answer.CompareMeans(v.want, &v.got.Answer)
	s := run.Sample{Cell: v.folder.Run.ScanCell(i, v.question.Name), Phase: phase, Rep: a.reps[phase]}
	return v.folder.Add(s.Judge(m, proof, differs))
}

// DesignsOf returns the designs to query: the named ones, or all in which the engine computes means. It returns an
// error for an engine or a design that does not compute means.
func DesignsOf(all engine.Registry, d *engine.Driver, named []string) ([]design.Name, error) {
	if len(archive.OfferOf(d).MeanDesigns) == 0 {
		return nil, &fault.Error{
			Setting: d.Scheme, Problem: "does not compute means by group: Barograph would compute them, and the time would not be the engine's",
			Cure: "choose one of " + strings.Join(all.SchemesWhere(func(d *engine.Driver) bool { return len(archive.OfferOf(d).MeanDesigns) > 0 }), ", "),
		}
	}
	if len(named) == 0 {
		return archive.OfferOf(d).MeanDesigns, nil
	}
	var out []design.Name
	for _, name := range named {
		if !slices.Contains(archive.OfferOf(d).MeanDesigns, design.Name(name)) {
			return nil, fault.NotOffered("--design", design.Name(name), archive.OfferOf(d).MeanDesigns, d.Scheme+" for means by group")
		}
		out = append(out, design.Name(name))
	}
	return out, nil
}

// Verify runs a verification of files and folders on the target's engine, into its run folder. measured
// reports whether the folder has measurements.
func (t *Target) Verify(ctx context.Context, v Verification, paths, designs []string) (measured bool, err error) {
	d, u, err := t.Registry.Parse(t.URL)
	if err != nil {
		return false, &fault.Status{Code: fault.Usage, Err: err}
	}
	if v.Designs, err = DesignsOf(t.Registry, d, designs); err != nil {
		return false, &fault.Status{Code: fault.Usage, Err: err}
	}
	if err := t.Registry.CheckReachable(ctx, engine.Options{Log: t.Log}, t.URL); err != nil {
		return false, err
	}
	if v.Files, err = formats.Expand(paths); err != nil {
		return false, err
	}
	result, pids := t.newRun(d, u)
	result.Scan.DiskLimits = "the archive is in the engine's own folder"
	v.PIDs, v.Progress = pids, t.Progress
	v.Open = func(ctx context.Context) (*engine.Engine, error) {
		return t.Registry.Open(ctx, t.URL, engine.Options{Log: t.Log})
	}
	if err := t.findStorage(ctx, d, u, &v, result); err != nil {
		return false, err
	}
	if err := checkCold(v.Cold, v.Local); err != nil {
		return false, err
	}
	db, err := v.Open(ctx)
	if err != nil {
		return false, err
	}
	if err := errors.Join(describeEngine(ctx, t.Registry, t.URL, db, result), db.Close()); err != nil {
		return false, err
	}
	into, err := run.Create(t.Out, *result)
	if err != nil {
		return false, err
	}
	return t.closeFolder(ctx, into, Verify(ctx, v, into))
}

// findStorage finds the file or folder of an embedded engine's archive, or the folder of a lab's server, and its
// device.
func (t *Target) findStorage(ctx context.Context, d *engine.Driver, u *url.URL, v *Verification, result *run.Run) error {
	at := ""
	switch {
	case d.Place == engine.Embedded:
		path, err := filepath.Abs(engine.Path(u))
		if err != nil {
			return err
		}
		v.Local, at = []string{path}, filepath.Dir(path)
	case result.Archives[0].Server != nil:
		at = filepath.Join(t.Labs, d.Scheme)
	default:
		return nil
	}
	devices, err := measure.Devices(ctx, []string{at})
	if err != nil {
		return err
	}
	v.Devices = devices
	result.Scan.Disks = []run.ScanDisk{{Path: at, Device: devices[0], Type: measure.ReadMachine(ctx, at).Disk.Type}}
	return nil
}
