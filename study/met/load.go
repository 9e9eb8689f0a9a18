package met

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// parsedMemory is the limit in bytes for keeping the parsed records in memory. Above it
// the study parses the files again for each archive.
const parsedMemory = 512 << 20

// newParsed returns the store for the parsed records. If the files are larger than the limit,
// the store keeps nothing.
func newParsed(o *Options) *load.ParseCache {
	most := cmp.Or(o.Memory, parsedMemory)
	if totalSize(o.Files) > int64(most) {
		most = 0
	}
	return load.NewParseCache(most)
}

// reading is the state of reading the data.
type reading struct {
	*runner
	prints          load.Fingerprint
	unstoredColumns map[string]int // columns that no design stores → number of lines
	step            Progress
	projection      projection
}

// read parses the data. It computes the reference results and the digest of the data, and
// keeps the records for the loads.
func (s *runner) read(ctx context.Context) error {
	qs := make([]*question.Question, len(s.o.Cases))
	for i, q := range s.o.Cases {
		qs[i] = q.InSubset(s.o.Subset)
	}
	s.caseRecords, s.files = answer.NewReference(qs...), map[string]bool{}
	d := &s.folder.Run.Data
	d.Subset, d.Copies, d.Files, d.ByType = s.o.Subset, s.o.Copies, len(s.o.Files), map[string]int64{}
	r := &reading{runner: s, unstoredColumns: map[string]int{}, step: Progress{Step: "reading", Unit: "MB", Of: totalSize(s.o.Files)}}
	if s.origin != nil {
		r.step.Of, d.Files = s.origin.Bytes(), len(s.origin.Marks)
		for _, m := range s.origin.Marks {
			s.files[m.Digest] = true
		}
	}
	each := func(f *load.File, b *record.Batch) error { return r.add(ctx, f, b) }
	if err := load.Read(ctx, s.o.Files, load.Reading{KeepLast: s.o.KeepLast, ParseCache: s.parsed, Origin: s.origin}, each, r.end); err != nil {
		return err
	}
	if err := r.sum(ctx); err != nil {
		return err
	}
	if d.Records == 0 {
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Problem: "the data has no records, so there is nothing to query", Cure: "name other files; `barograph show FILES` shows what they contain",
		}}
	}
	s.reference, s.out.Cases = s.caseRecords.Answers(), len(qs)
	if s.o.Derived > 0 {
		if qs = s.choose(qs); len(qs) == 0 {
			s.out.Empty = max(s.out.Cases, 1)
		}
	}
	s.out.Cases = max(len(qs), s.out.Empty)
	r.warnOfLosses()
	text, err := question.YAML(s.o.Cases...)
	if err := errors.Join(err, s.folder.Cases(text)); err != nil {
		return err
	}
	for i, a := range s.reference {
		if err := s.addCase(ctx, qs[i], a); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("%d records, reference results of %d cases", d.Records, len(qs))
	if !s.parsed.IsComplete() {
		note += "; each load reads the files again, because the records do not fit into memory"
	}
	s.finishStep(r.step, note)
	return s.folder.Save()
}

// add handles a batch of records of a file.
func (r *reading) add(ctx context.Context, f *load.File, b *record.Batch) error {
	d := &r.folder.Run.Data
	d.Lines += int64(b.Lines)
	if err := r.out.Reject(b, r.folder.Reject); err != nil {
		return err
	}
	for columns, n := range b.OmittedColumns {
		r.unstoredColumns[b.Type.Name+": "+columns] += n
	}
	r.caseRecords.Add(b)
	if r.origin != nil {
		r.found.Add(b) // an archive has no two records with the same identity
	} else {
		r.prints.Add(b)
	}
	r.step.Done = d.Bytes + f.Offset
	r.o.Progress(r.step)
	r.projection.report(ctx, r.runner, r.step)
	return nil
}

// end handles the end of a file, or an error that ends it early.
func (r *reading) end(f *load.File) error {
	d := &r.folder.Run.Data
	if f.Err != nil {
		if r.origin != nil {
			return f.Err
		}
		r.out.Unread++
		d.Files--
		r.folder.Warn("a file is missing from the data, or incomplete: " + f.Err.Error())
		r.o.Log.Error("file not read", "error", f.Err)
	}
	r.files[f.Digest] = true
	d.Bytes += f.Bytes
	r.step.Done = d.Bytes
	r.o.Progress(r.step)
	return nil
}

// sum computes the digest of the data.
func (r *reading) sum(ctx context.Context) (err error) {
	d := &r.folder.Run.Data
	if r.digest, d.ByType, err = r.prints.Sum(); err == nil && r.origin != nil {
		err = r.verifySource(ctx)
		r.digest, d.ByType = r.found.Digest(), r.found.Records()
	}
	d.Records, d.Digest = r.digest.Records, r.digest.String()
	return err
}

// warnOfLosses warns of lines and columns that no archive stores.
func (r *reading) warnOfLosses() {
	d := &r.folder.Run.Data
	if r.out.Refused = r.prints.Conflicts(); r.out.Refused > 0 {
		r.warn(run.Several(int(r.out.Refused), "conflicting line") + ": archives keep the line that comes first by the path of its file; `barograph load` lists them")
	}
	if d.Quarantined = r.out.Quarantined; d.Quarantined > 0 {
		r.warn(fmt.Sprintf("%d of %d lines could not be read; they are in quarantine.csv, not in the archives", d.Quarantined, d.Lines))
	}
	for _, columns := range slices.Sorted(maps.Keys(r.unstoredColumns)) {
		r.warn(fmt.Sprintf("no design stores these columns of %d lines: %s", r.unstoredColumns[columns], columns))
	}
}

// choose keeps the first Derived cases that have rows. If it was to keep all, it warns of
// the cases without rows.
func (s *runner) choose(qs []*question.Question) (chosen []*question.Question) {
	var cases []*question.Question
	var answers []*answer.Answer
	for i, a := range s.reference {
		if a.Rows > 0 && len(chosen) < s.o.Derived {
			chosen, cases, answers = append(chosen, qs[i]), append(cases, s.o.Cases[i]), append(answers, a)
		}
	}
	if left := len(qs) - len(chosen); left > 0 && s.o.Derived == len(qs) {
		s.warn(fmt.Sprintf("%d of %d questions have no rows in this data and are excluded", left, len(qs)))
	}
	s.o.Cases, s.reference = cases, answers
	return chosen
}

func totalSize(files []string) int64 {
	var n int64
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			n += st.Size()
		}
	}
	return n
}

func (s *runner) warn(text string) {
	s.folder.Warn(text)
	s.o.Log.Warn(text)
}

// addCase adds a case to the run folder, with the size of its reference result and its curves.
func (s *runner) addCase(ctx context.Context, q *question.Question, a *answer.Answer) error {
	c := run.Case{Name: q.Name, Title: curve.Title(q, a), Weight: max(q.Weight, 1), LineType: q.Type.Name, Rows: a.Rows, Bytes: a.Bytes(), Digest: answer.FormatDigest(a.Digest())}
	for _, col := range q.Columns {
		c.Columns = append(c.Columns, col.Name)
	}
	s.folder.Run.Cases = append(s.folder.Run.Cases, c)
	if a.Rows == 0 {
		s.out.Empty++
		s.warn(q.Name + " has no rows in this data: the study checks that the result is empty, and does not time it")
		return nil
	}
	for _, name := range curve.Stats(q) {
		drawn, err := curve.Compute(ctx, q, a, name, s.o.Seed)
		if _, lacks := errors.AsType[*fault.Error](err); lacks {
			continue // the question does not select the columns that the statistic needs
		}
		if err != nil {
			return err
		}
		if len(curve.Stats(q)) > 1 {
			drawn.Case += "-" + name
		}
		if q.Drawing != nil && q.Drawing.RightAxis && curve.ShareAxis(s.lastCurves, drawn) {
			drawn = s.lastCurves
		}
		s.lastCurves = drawn
		if err := s.folder.Curves(drawn); err != nil {
			return err
		}
	}
	return nil
}

// load loads the data into every target; a load skips files that the archive has. The study reports
// an archive that cannot be loaded or read, does not time it, and continues with the others.
func (s *runner) load(ctx context.Context, o *opened) error {
	for i, t := range s.o.Targets {
		if err := s.loadTarget(ctx, t, o, i, o.errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// loadTarget loads target i and compares its records with the data. The run folder keeps an error of
// the archive; err is the error of opening it.
func (s *runner) loadTarget(ctx context.Context, t Target, o *opened, i int, err error) error {
	r := study.Participant(t.Driver, t.URL, engine.About{}, t.Server)
	r.Engine, r.Design, r.Complete = t.engine(), string(t.Design), true
	if s := t.Driver.Server; s != nil {
		r.Install = strings.Join(s.Packages, ", ")
		for _, a := range s.Artifacts {
			r.Install = strings.TrimPrefix(r.Install+", "+a.Name, ", ")
		}
	}
	if err == nil {
		err = s.loadArchive(ctx, t, o, i, &r)
	}
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		s.incomplete(&r, err.Error())
	}
	if !r.Complete {
		r.Load = 0 // an incomplete load has no time
	}
	s.folder.Run.Archives = append(s.folder.Run.Archives, r)
	return s.folder.Save()
}

// loadArchive loads one archive and compares its records with the data. It does not load the source of
// the data, and loads only the records of the cases into the dry engine if memory is short.
func (s *runner) loadArchive(ctx context.Context, t Target, o *opened, i int, r *run.Archive) (err error) {
	a, about := o.archives[i], o.abouts[i]
	study.Describe(r, about)
	if r.Unranked != "" {
		s.warn(r.Engine + " " + r.Design + " is excluded from the ranking: " + r.Unranked)
	}
	step := Progress{Step: "loading " + t.String(), Unit: "MB", Of: s.folder.Run.Data.Bytes * int64(s.o.Copies)}
	var read int64
	switch {
	case s.isSource(i):
		step.Step = "checking " + t.String()
		r.Objects, r.Object, r.Digest = s.origin.Catalog.Objects, t.Design.Objects(), s.digest.String()
	case t.Driver.Place == engine.Memory && !s.parsed.IsComplete():
		r.Object = t.Design.Objects() + " of the cases"
		r.Objects, err = s.loadDry(ctx, a, t.Subset)
	default:
		for k := 0; k < s.o.Copies && err == nil; k++ {
			var n int64
			n, err = s.loadCopy(ctx, t, a, k, r, step)
			read += n
		}
	}
	if err != nil {
		return err
	}
	if r.Bytes, err = a.Size(ctx); err != nil {
		return err
	}
	step.Finished, step.Done = true, step.Of
	step.Note = fmt.Sprintf("%d %s, %s on disk", r.Objects, r.Object, humanize.BytesN(uint64(r.Bytes), 3))
	if r.Load > 0 && r.Complete {
		step.Note += fmt.Sprintf(", %.0f records/s", float64(read)/r.Load.Seconds())
	}
	s.o.Progress(step)
	return nil
}

// loadCopy loads the k-th copy and returns how many lines it read.
func (s *runner) loadCopy(ctx context.Context, t Target, a archive.Archive, k int, r *run.Archive, step Progress) (int64, error) {
	name, before := CopyName(t.Subset, k), int64(k)*s.folder.Run.Data.Bytes
	sum, err := load.Run(ctx, a, name, s.o.Files, load.Options{KeepLast: s.o.KeepLast, ParseCache: s.parsed, Origin: s.origin, Progress: func(p load.Progress) {
		step.Done = before + p.Bytes
		s.o.Progress(step)
	}})
	if errors.Is(err, load.ErrNotConserved) {
		s.incomplete(r, err.Error())
		return 0, s.inspect(ctx, a, k, name, r)
	}
	if err != nil {
		return 0, err
	}
	fresh := len(sum.Files) > 0
	if fresh {
		r.Load, r.Commits = r.Load+sum.Elapsed, r.Commits+sum.Commits
	}
	if !fresh && k > 0 { // an earlier study loaded and inspected the copy
		return 0, nil
	}
	return sum.Read, s.inspect(ctx, a, k, name, r)
}

// inspect counts and digests a subset. The study does not time an archive whose records differ
// from the data.
func (s *runner) inspect(ctx context.Context, a archive.Archive, k int, subset string, r *run.Archive) error {
	contents, err := a.Contents(ctx, subset)
	if err != nil {
		return err
	}
	digest, err := load.Digest(ctx, a, subset)
	if err != nil {
		return err
	}
	if k == 0 {
		r.Objects, r.Object, r.Digest = contents.Objects, contents.Object, digest.String()
	}
	if _, differs := answer.CompareRecords(s.digest, digest); differs != nil && r.Complete {
		s.incomplete(r, "subset "+subset+": "+differs.Error())
	}
	return nil
}

// incomplete marks an archive whose records differ from the data: it is not timed.
func (s *runner) incomplete(r *run.Archive, problem string) {
	if r.Complete {
		s.out.IncompleteArchives++
	}
	r.Complete, r.Problem = false, strings.TrimPrefix(r.Problem+"; "+problem, "; ")
	s.warn(r.Engine + " " + r.Design + " is not timed: " + problem)
}

// CopyName is the name of the subset with copy k of the data, from 0.
func CopyName(subset string, k int) string {
	if k == 0 {
		return subset
	}
	return fmt.Sprintf("%s_%d", subset, k+1)
}

// seconds formats a duration for messages.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
