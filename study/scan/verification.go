package scan

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

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

// Verification is a scan over a whole verification archive: question.Verification
// under one design or several of an engine.
type Verification struct {
	Files   []string // VSDB and MET files; those that the archive holds already are not loaded again
	Subset  string
	Designs []design.Name // of archive.Offer.Means, each once
	Warm    int           // repetitions under each design
	Cold    int           // likewise, each with the database opened anew and emptied caches; 0 = none
	Seed    uint64        // of the order

	Open    func(ctx context.Context) (*engine.Engine, error)
	Local   []string                                     // files and folders of the archive, where they are known
	Devices []string                                     // on which the archive lies
	PIDs    []int32                                      // of a server on this machine
	Drop    func(paths []string) (how string, err error) // empties the system's cache; nil = measure.DropCaches

	Progress func(s string)
}

// verifier is a run of Verify under way.
type verifier struct {
	Verification
	question *question.Question
	want     *answer.Answer
	records  int
	lacks    load.Shortfall
	into     *run.Folder
	db       *engine.Engine // nil = closed
	archives []asked        // by design
	got      answer.Builder
}

// asked is the archive under a design, and the question in its words.
type asked struct {
	archive archive.Archive // nil = closed
	query   *archive.Query  // nil = not put yet
	right   bool            // its answer was proven
	reps    map[run.Phase]int
}

// Verify computes the reference from the files, loads them under every design,
// proves the answers and times them. What was measured before an error is in
// into.
func Verify(ctx context.Context, o Verification, into *run.Folder) error {
	if o.Drop == nil {
		o.Drop = measure.DropCaches
	}
	v := &verifier{Verification: o, question: question.Verification(o.Subset), into: into}
	into.Run.Seed = o.Seed
	all := into.Run.Scan
	for _, d := range o.Designs {
		v.archives = append(v.archives, asked{reps: map[run.Phase]int{}})
		all.Configs = append(all.Configs, run.ScanConfig{Paths: len(all.Disks), Design: string(d)})
	}
	if err := v.read(ctx); err != nil {
		return err
	}
	return errors.Join(v.all(ctx), v.close())
}

// all prepares every design, and then times those whose answer is right.
func (v *verifier) all(ctx context.Context) error {
	for i := range v.Designs {
		err := v.prepare(ctx, i)
		if err = errors.Join(err, v.into.Save()); err != nil {
			return fmt.Errorf("%s: %w", v.Designs[i], err)
		}
	}
	for _, phase := range []run.Phase{run.Warm, run.Cold} {
		if err := errors.Join(v.times(ctx, phase), v.into.Save()); err != nil {
			return err
		}
	}
	if err := v.into.Verdict(ErrWrong, ErrWrong); err != nil {
		return err
	}
	return v.lacks.Incomplete()
}

// read computes the reference.
func (v *verifier) read(ctx context.Context) error {
	v.Progress(fmt.Sprintf("reading %d files for the reference", len(v.Files)))
	means, err := answer.NewMeans(v.question)
	if err != nil {
		return err
	}
	a := &run.ScanArchive{Subset: v.Subset, Files: len(v.Files), LineType: v.question.Type.Name}
	err = load.Read(ctx, v.Files, load.Reading{}, func(_ *load.File, b *record.Batch) error {
		a.Lines += int64(b.Lines)
		means.Add(b)
		return v.lacks.Reject(b, v.into.Reject)
	}, func(f *load.File) error {
		a.Bytes += f.Bytes
		if f.Err != nil {
			v.lacks.Unread++
			v.into.Warn("not in this data, or not to its end: " + f.Err.Error())
			v.Progress(f.Err.Error())
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.want, v.records = means.Answer(), means.Records()
	if v.records == 0 {
		return &fault.Error{Setting: fmt.Sprintf("%d files", len(v.Files)), Problem: "hold no record of " + a.LineType + ", of which the question asks", Cure: "name files that do"}
	}
	a.Quarantined, a.Records, a.Groups, v.into.Run.Scan.Archive = v.lacks.Quarantined, v.records, v.want.Rows, a
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

// query puts the question under a design, unless that was done.
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

// prepare loads under a design, and proves the answer.
func (v *verifier) prepare(ctx context.Context, i int) error {
	out := &v.into.Run.Scan.Configs[i]
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
	if v.lacks.Refused, err = load.Refused(ctx, a, v.Subset, sum, load.Refuse, func(design.Conflict) {}); err != nil {
		return err
	}
	if err := v.whole(ctx, a); err != nil {
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
		v.into.Warn(out.Design + " reported no plan: " + err.Error())
	}
	out.Plans = []run.ScanPlan{plan}
	if err := a.Ask(ctx, q, &v.got); err != nil {
		return err
	}
	proof, differs := answer.CompareMeans(v.want, &v.got.Answer)
	if v.archives[i].right = differs == nil; differs != nil {
		return v.into.Add(run.Sample{Cell: v.into.Run.ScanCell(i, v.question.Name), Phase: run.Warm}.Judge(nil, proof, differs))
	}
	return v.into.Answer(&v.got.Answer, proof)
}

// whole reports whether the archive holds what the files do: of an archive of
// other files, too, the reference would know nothing.
func (v *verifier) whole(ctx context.Context, a archive.Archive) error {
	c, err := a.Contents(ctx, v.Subset)
	if err != nil {
		return err
	}
	if n := c.Records[v.question.Type.Name]; n != int64(v.records) {
		return &fault.Error{
			Setting: "subset " + v.Subset, Problem: fmt.Sprintf("holds %d records of %s, the files %d", n, v.question.Type.Name, v.records),
			Cure: "name all files that were loaded into it, or load them into another subset",
		}
	}
	return nil
}

// times times the designs that are right, in random order.
func (v *verifier) times(ctx context.Context, phase run.Phase) error {
	var right []int
	for i := range v.archives {
		if v.archives[i].right {
			right = append(right, i)
		}
	}
	reps, seed := v.Warm, v.Seed
	if phase == run.Cold {
		reps, seed = v.Cold, v.Seed+1
	}
	if reps <= 0 || len(right) == 0 {
		return nil
	}
	v.Progress(fmt.Sprintf("%s: %d answers under each of %d designs", phase, reps, len(right)))
	for k := range measure.Interleave(seed, len(right), reps) {
		if phase == run.Cold {
			if err := v.chill(); err != nil {
				return fmt.Errorf("a cold start: %w", err)
			}
		}
		if err := v.sample(ctx, right[k], phase); err != nil {
			return fmt.Errorf("%s: %w", v.Designs[right[k]], err)
		}
	}
	return nil
}

// chill closes the database and empties the system's cache.
func (v *verifier) chill() error {
	if err := v.close(); err != nil {
		return err
	}
	how := "the database was closed and opened anew"
	if v.into.Run.Archives[0].Place != string(engine.Embedded) {
		how = "the connection was opened anew, the server's own memory left as it was"
	}
	dropped, err := v.Drop(v.Local)
	v.into.Run.ColdMethod = how + "; " + dropped
	return err
}

// sample asks once and measures; opening the database and putting the question
// are not in its time.
func (v *verifier) sample(ctx context.Context, i int, phase run.Phase) error {
	q, err := v.query(ctx, i)
	if err != nil {
		return err
	}
	a := &v.archives[i]
	a.reps[phase]++
	m, err := v.into.Observe(ctx, v.Devices, &run.Watch{PIDs: v.PIDs}, func() error { return a.archive.Ask(ctx, q, &v.got) })
	if err != nil {
		return err
	}
	proof, differs := answer.CompareMeans(v.want, &v.got.Answer)
	return v.into.Add(run.Sample{Cell: v.into.Run.ScanCell(i, v.question.Name), Phase: phase, Rep: a.reps[phase]}.Judge(m, proof, differs))
}

// DesignsOf are the designs to ask an engine's archive under: those that are
// named, or all under which it computes means. An engine or a design that
// does not is refused.
func DesignsOf(all engine.Registry, d *engine.Driver, named []string) ([]design.Name, error) {
	if len(archive.OfferOf(d).Means) == 0 {
		return nil, &fault.Error{
			Setting: d.Scheme, Problem: "does not compute means by group: Barograph would have to, and that is not the engine's time",
			Cure: fmt.Sprintf("choose one of %q", all.SchemesWhere(func(d *engine.Driver) bool { return len(archive.OfferOf(d).Means) > 0 })), Err: flavour.ErrCannotExpress,
		}
	}
	if len(named) == 0 {
		return archive.OfferOf(d).Means, nil
	}
	var out []design.Name
	for _, name := range named {
		if !slices.Contains(archive.OfferOf(d).Means, design.Name(name)) {
			return nil, &fault.Error{Setting: d.Scheme + ", design " + name, Problem: "is not asked for means", Cure: fmt.Sprintf("choose of %q", archive.OfferOf(d).Means), Err: flavour.ErrCannotExpress}
		}
		out = append(out, design.Name(name))
	}
	return out, nil
}

// Verify runs a verification of files and folders on the target's engine, into
// its folder; some = something was measured.
func (t *Target) Verify(ctx context.Context, v Verification, paths, designs []string) (some bool, err error) {
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
	result, pids := t.begin(d, u)
	result.Scan.Limited = "the archive lies where the engine keeps its data"
	v.PIDs, v.Progress = pids, t.Progress
	v.Open = func(ctx context.Context) (*engine.Engine, error) {
		return t.Registry.Open(ctx, t.URL, engine.Options{Log: t.Log})
	}
	if err := t.local(ctx, d, u, &v, result); err != nil {
		return false, err
	}
	if err := droppable(v.Cold, v.Local); err != nil {
		return false, err
	}
	db, err := v.Open(ctx)
	if err != nil {
		return false, err
	}
	if err := errors.Join(noteAbout(ctx, t.Registry, t.URL, db, result), db.Close()); err != nil {
		return false, err
	}
	into, err := run.Create(t.Out, *result)
	if err != nil {
		return false, err
	}
	return t.ended(ctx, into, Verify(ctx, v, into))
}

// local finds where the archive lies, and on which device: the file or folder
// of an embedded engine, or the folder of a lab's server.
func (t *Target) local(ctx context.Context, d *engine.Driver, u *url.URL, v *Verification, result *run.Run) error {
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
