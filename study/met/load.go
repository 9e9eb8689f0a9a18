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
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
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

// newParseCache returns the cache for the parsed records. If the files are larger than the limit,
// the cache stores nothing.
func newParseCache(o *Options) *load.ParseCache {
	most := cmp.Or(o.Memory, parsedMemory)
	if totalSize(o.Files) > int64(most) {
		most = 0
	}
	return load.NewParseCache(most)
}

// reader collects what the study needs from the data while it is read.
type reader struct {
	*runner
	fingerprint     load.Fingerprint
	unstoredColumns map[string]int // columns that no design stores → number of lines
	step            Progress
	projection      projection
}

// read parses the data. It computes the reference results and the digest of the data, and
// keeps the records for the loads.
func (s *runner) read(ctx context.Context) error {
	qs := lists.Map(s.options.Cases, func(q *question.Question) *question.Question { return q.InSubset(s.options.Subset) })
	s.caseRecords, s.files = answer.NewReference(qs...), map[string]bool{}
	d := &s.folder.Run.Data
	interrupted := d.Digest // stays in the folder until all data are read
	*d = run.Data{Source: d.Source, Paths: d.Paths, Digest: interrupted}
	d.Subset, d.Copies, d.Files, d.ByType = s.options.Subset, s.options.Copies, len(s.options.Files), map[string]int64{}
	r := &reader{runner: s, unstoredColumns: map[string]int{}, step: Progress{Step: "reading", Unit: "MB", Of: totalSize(s.options.Files)}}
	if s.origin != nil {
		r.step.Of, d.Files = s.origin.Bytes(), len(s.origin.Marks)
		s.files = lists.Set(s.origin.Marks, func(m archive.Mark) string { return m.Digest })
	}
	each := func(f *load.File, b *record.Batch) error { return r.add(ctx, f, b) }
	o := load.ReadOptions{KeepLast: s.options.KeepLast, ParseCache: s.parseCache, Origin: s.origin}
	if err := load.Read(ctx, s.options.Files, o, each, r.end); err != nil {
		return err
	}
	if err := r.sum(ctx); err != nil {
		return err
	}
	if interrupted != "" && interrupted != d.Digest {
		d.Digest = interrupted
		return &fault.Error{File: s.folder.Dir, Problem: "contains an interrupted run with other data", Cure: "name another folder with --out"}
	}
	if d.Records == 0 {
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Problem: "the data has no records, so there is nothing to query", Cure: "name other files; `barograph show FILES` shows what they contain",
		}}
	}
	s.reference, s.out.Cases = s.caseRecords.Answers(), len(qs)
	if s.options.MaxCases > 0 {
		// if no derived case has rows, all of them count as empty: Outcome.Err then reports it
		if qs = s.chooseCases(qs); len(qs) == 0 {
			s.out.Empty = max(s.out.Cases, 1)
		}
	}
	s.out.Cases = max(len(qs), s.out.Empty)
	r.warnOfLosses()
	text, err := question.YAML(s.options.Cases...)
	if err := errors.Join(err, s.folder.StoreCases(text)); err != nil {
		return err
	}
	s.folder.Run.Cases = nil // those of the interrupted run
	for i, a := range s.reference {
		if err := s.addCase(ctx, qs[i], a); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("%s, reference results of %s", run.CountOf(d.Records, "record"), run.CountOf(len(qs), "case"))
	if !s.parseCache.HasFiles() {
		note += "; each load reads the files again, because the records do not fit into memory"
	}
	s.finishStep(r.step, note)
	return s.folder.Save()
}

// add handles a batch of records of a file.
func (r *reader) add(ctx context.Context, f *load.File, b *record.Batch) error {
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
		r.originCatalog.Add(b) // the archive has already resolved duplicates and conflicts
	} else {
		r.fingerprint.Add(b)
	}
	r.step.Done = d.Bytes + f.Offset
	r.options.Progress(r.step)
	r.projection.report(ctx, r.runner, r.step)
	return nil
}

// end handles the end of a file, or an error that ends it early.
func (r *reader) end(f *load.File) error {
	d := &r.folder.Run.Data
	if f.Err != nil {
		if r.origin != nil {
			return f.Err
		}
		r.out.Unread++
		d.Files--
		r.folder.Warn("a file is missing from the data, or incomplete: " + f.Err.Error())
		r.options.Log.Error("file not read", "error", f.Err)
	}
	r.files[f.Digest] = true
	d.Bytes += f.Bytes
	r.step.Done = d.Bytes
	r.options.Progress(r.step)
	return nil
}

// sum computes the digest of the data.
func (r *reader) sum(ctx context.Context) (err error) {
	d := &r.folder.Run.Data
	if r.digest, d.ByType, err = r.fingerprint.Sum(); err == nil && r.origin != nil {
		err = r.verifySource(ctx)
		r.digest, d.ByType = r.originCatalog.Digest(), r.originCatalog.Records()
	}
	d.Records, d.Digest = r.digest.Records, r.digest.String()
	return err
}

// warnOfLosses warns of lines and columns that no archive stores.
func (r *reader) warnOfLosses() {
	d := &r.folder.Run.Data
	if r.out.Refused = r.fingerprint.Conflicts(); r.out.Refused > 0 {
		r.warn(run.CountOf(r.out.Refused, "conflicting line") + ": archives keep the line that comes first by the path of its file; `barograph load` lists them")
	}
	if d.Quarantined = r.out.Quarantined; d.Quarantined > 0 {
		r.warn(fmt.Sprintf("%s of %s could not be read; %s in quarantine.csv, not in the archives",
			run.FormatCount(d.Quarantined), run.CountOf(d.Lines, "line"), english.PluralWord(int(d.Quarantined), "it is", "they are")))
	}
	for _, columns := range slices.Sorted(maps.Keys(r.unstoredColumns)) {
		r.warn(fmt.Sprintf("no design stores these columns of %s: %s", run.CountOf(r.unstoredColumns[columns], "line"), columns))
	}
}

// chooseCases keeps the first MaxCases cases that have rows. If MaxCases is the number of all cases (--mix), it warns
// of cases without rows.
func (s *runner) chooseCases(qs []*question.Question) (chosen []*question.Question) {
	var cases []*question.Question
	var answers []*answer.Answer
	for i, a := range s.reference {
		if a.Rows > 0 && len(chosen) < s.options.MaxCases {
			chosen, cases, answers = append(chosen, qs[i]), append(cases, s.options.Cases[i]), append(answers, a)
		}
	}
	if left := len(qs) - len(chosen); left > 0 && s.options.MaxCases == len(qs) {
		s.warn(fmt.Sprintf("%d of %d questions have no rows in this data and are excluded", left, len(qs)))
	}
	s.options.Cases, s.reference = cases, answers
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
	s.options.Log.Warn(text)
}

// addCase adds a case to the run folder, with the size of its reference result and its curves.
func (s *runner) addCase(ctx context.Context, q *question.Question, a *answer.Answer) error {
	c := run.Case{Name: q.Name, Title: curve.Title(q, a), Weight: max(q.Weight, 1), LineType: q.Type.Name, Rows: a.Rows}
	c.Bytes, c.Digest = a.Bytes(), answer.FormatDigest(a.Digest())
	c.Columns = lists.Map(q.Columns, func(c question.Column) string { return c.Name })
	s.folder.Run.Cases = append(s.folder.Run.Cases, c)
	if a.Rows == 0 {
		s.out.Empty++
		s.warn(q.Name + " has no rows in this data: the study checks that results are empty, and does not time them")
		return nil
	}
	for _, name := range curve.Stats(q) {
		drawn, err := curve.Compute(ctx, q, a, name, s.options.Seed)
		if _, lacks := errors.AsType[*fault.Error](err); lacks || errors.Is(err, curve.ErrNoRecords) {
			continue // the question does not select the columns that the statistic needs, or draws none of its records
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
		if err := s.folder.StoreVerificationPlot(drawn); err != nil {
			return err
		}
	}
	return nil
}

// load loads the data into every target; a load skips files that the archive has. The study reports
// an archive that cannot be loaded or read, does not time it, and continues with the others. check compares
// the archives with the data after the last load, because a load is timed.
func (s *runner) load(ctx context.Context) error {
	s.loadsLeft = len(s.options.Targets)
	for i, t := range s.options.Targets {
		if err := s.loadTarget(ctx, t, i); err != nil {
			return err
		}
		s.loadsLeft = max(s.loadsLeft-1, 0)
	}
	s.parseCache, s.caseRecords, s.originCatalog = nil, nil, nil // free the memory before queries are timed
	return nil
}

// unchecked is the problem of an archive from its load until its records were compared with the data.
const unchecked = "its records were not compared with the data"

// loadTarget loads target i. It stores an error of the archive in the run folder, and returns only errors of
// the study.
func (s *runner) loadTarget(ctx context.Context, t Target, i int) error {
	r := study.Participant(t.Driver, t.URL, engine.About{}, t.Server)
	r.Engine, r.Design, r.Problem = t.engine(), string(t.Design), unchecked
	if s := t.Driver.Server; s != nil {
		r.Install = strings.Join(s.Packages, ", ")
		for _, a := range s.Artifacts {
			r.Install = strings.TrimPrefix(r.Install+", "+a.Name, ", ")
		}
	}
	err := s.opened[i].err
	if err == nil {
		err = s.loadArchive(ctx, t, i, &r)
	}
	if ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	if err != nil {
		s.markIncomplete(&r, err)
	}
	old := s.runArchive(t)
	if old == nil {
		s.folder.Run.Archives = append(s.folder.Run.Archives, r)
		return s.folder.Save()
	}
	if r.Load == 0 && r.Problem == unchecked && (old.Complete || old.Problem == unchecked) { // loaded before the interruption
		r.Load, r.Commits, r.Bytes = old.Load, old.Commits, old.Bytes
	}
	*old = r
	return s.folder.Save()
}

// loadArchive loads one archive. It does not load the source of the data, and loads only the records of the cases into
// the dry engine if memory is short.
func (s *runner) loadArchive(ctx context.Context, t Target, i int, r *run.Archive) (err error) {
	a := s.opened[i].archive
	study.Describe(r, s.opened[i].about)
	if r.Unranked != "" {
		s.warn(r.Engine + " " + r.Design + " is excluded from the ranking: " + r.Unranked)
	}
	step := Progress{Step: "loading " + t.String(), Unit: "MB", Of: s.folder.Run.Data.Bytes * int64(s.options.Copies)}
	switch {
	case s.isSource(i):
		step.Step = "checking " + t.String()
		r.Objects, r.ObjectKind, r.Digest = s.origin.Catalog.Objects, t.Design.Objects(), s.digest.String()
	case t.Driver.Place == engine.Memory && !s.parseCache.HasFiles():
		r.ObjectKind = t.Design.Objects() + " of the cases"
		r.Objects, err = s.loadDry(ctx, a, t.Subset)
	default:
		timed := true
		for k := 0; k < s.options.Copies && err == nil; k++ {
			err = s.loadCopy(ctx, i, a, k, r, step, &timed)
		}
		if !timed {
			r.Load, r.Commits = 0, 0 // reports divide the time by the number of copies that this study adds
		}
	}
	if err != nil {
		return err
	}
	if r.Bytes, err = a.Size(ctx); err != nil {
		return err
	}
	step.Finished, step.Done = true, step.Of
	step.Note = fmt.Sprintf("%s %s, %s on disk", run.FormatCount(r.Objects), r.ObjectKind, humanize.BytesN(uint64(r.Bytes), 3))
	if r.Load > 0 {
		step.Note += ", loaded in " + seconds(r.Load) // the step also counts the records
	}
	s.options.Progress(step)
	return nil
}

// loadCopy loads the k-th copy into target i. It sets timed to false if this study adds the copy but does not load all
// of it, or if the load lost or duplicated records (load.ErrNotConserved).
func (s *runner) loadCopy(ctx context.Context, i int, a archive.Archive, k int, r *run.Archive, step Progress, timed *bool) error {
	t := s.options.Targets[i]
	name, before := CopyName(t.Subset, k), int64(k)*s.folder.Run.Data.Bytes
	existing, err := a.Catalog(ctx, name)
	if err != nil {
		return err
	}
	began := time.Now()
	o := load.Options{KeepLast: s.options.KeepLast, ParseCache: s.parseCache, Origin: s.origin, Progress: func(p load.Progress) {
		step.Done = before + p.Bytes
		s.options.Progress(step)
		if t.Driver.Place != engine.Memory && k == 0 {
			s.projectLoads(time.Since(began), step)
		}
	}}
	sum, err := load.Run(ctx, a, name, s.options.Files, o)
	conserved := !errors.Is(err, load.ErrNotConserved)
	if err != nil && conserved {
		return err
	}
	fresh := len(sum.Files) > 0
	switch added := k >= s.options.EarlierCopies; {
	case !conserved:
		*timed = false
		s.markIncomplete(r, &fault.Status{Code: fault.Differs, Err: err})
	case added && fresh && len(existing.Groups) == 0: // completing an interrupted load takes less time than a load
		r.Load, r.Commits = r.Load+sum.Elapsed, r.Commits+sum.Commits
	case added:
		*timed = false
	}
	if old := s.runArchive(t); !fresh && k > 0 && old != nil && old.Complete { // checked before the interruption
		return nil
	}
	s.copies[i] = append(s.copies[i], k)
	if k > 0 {
		return nil
	}
	if sum.Counted == nil {
		counted, err := a.Contents(ctx, name)
		if err != nil {
			return err
		}
		sum.Counted = &counted
	}
	r.Objects, r.ObjectKind = sum.Counted.Objects, sum.Counted.Object
	return nil
}

// projectLoads reports once, early in the first load, the projected time of all loads.
func (s *runner) projectLoads(took time.Duration, step Progress) {
	if s.loadsLeft == 0 || took < projectionAfter || step.Done*50 < step.Of || step.Done == 0 {
		return
	}
	all := time.Duration(float64(s.loadsLeft) * float64(took) * float64(step.Of) / float64(step.Done))
	s.options.Progress(Progress{Note: fmt.Sprintf("about %s to load %s, if each takes as long as %s", all.Round(time.Second), run.CountOf(s.loadsLeft, "archive"), strings.TrimPrefix(step.Step, "loading "))})
	s.loadsLeft = 0
}

// check compares the digests of the loaded copies of target i with that of the data. The study does not time an archive
// whose records differ from the data.
func (s *runner) check(ctx context.Context, i int, a archive.Archive) error {
	t := s.options.Targets[i]
	r := s.runArchive(t)
	for _, k := range s.copies[i] {
		subset := CopyName(t.Subset, k)
		catalog, err := archive.BuildCatalog(ctx, a, subset)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.mu.Lock()
		if err == nil {
			if _, err = answer.CompareRecords(s.digest, catalog.Digest()); err != nil {
				err = &fault.Status{Code: fault.Differs, Err: fmt.Errorf("subset %s: %w", subset, err)}
			}
			if k == 0 {
				r.Digest = catalog.Digest().String()
			}
		}
		if err != nil {
			s.markIncomplete(r, err)
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Problem == unchecked {
		r.Complete, r.Problem = true, ""
	}
	return s.folder.Save()
}

// markIncomplete marks an archive whose records differ from the data, or were not loaded: it is not timed, and its
// load has no time.
func (s *runner) markIncomplete(r *run.Archive, problem error) {
	if r.Problem == unchecked {
		s.out.IncompleteArchives++
		r.Problem = ""
	}
	if fault.Code(problem) == fault.Differs {
		s.out.archiveStatus = fault.Differs
	}
	r.Load, r.Problem = 0, strings.TrimPrefix(r.Problem+"; "+problem.Error(), "; ")
	s.warn(r.Engine + " " + r.Design + " is not timed: " + problem.Error())
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
