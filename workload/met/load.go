package met

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/curve"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/load"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
)

// NewParsed keeps the records of a study, so that the files are parsed once and
// not once for each archive, where they take half a gigabyte of memory at most.
func NewParsed() *load.Parsed { return load.NewParsed(512 << 20) }

// read parses the data, for the reference answers, the data's digest, and the loads.
func (s *study) read(ctx context.Context) error {
	qs := make([]*question.Question, len(s.o.Cases))
	for i, q := range s.o.Cases {
		qs[i] = q.In(s.o.Subset)
	}
	ref := answer.NewReference(qs...)
	d := &s.folder.Run.Data
	d.Subset, d.Copies, d.Files, d.ByType = s.o.Subset, s.o.Copies, len(s.o.Files), map[string]int64{}
	var prints load.Fingerprint
	left := map[string]int{} // columns → lines
	step := Progress{Step: "reading", Unit: "MB", Of: totalSize(s.o.Files)}
	each := func(_ *load.File, b *record.Batch) error {
		d.Lines += int64(b.Lines)
		d.Quarantined += int64(len(b.Rejects))
		for _, r := range b.Rejects {
			if err := s.folder.Reject(r.File, r.Line, r.Reason, r.Text); err != nil {
				return err
			}
		}
		for columns, n := range b.LeftOut {
			left[b.Type.Name+": "+columns] += n
		}
		ref.Add(b)
		prints.Add(b)
		return nil
	}
	end := func(f *load.File) error {
		if f.Err != nil {
			s.out.Unread++
			d.Files--
			s.folder.Run.Warnings = append(s.folder.Run.Warnings, "not in this data, or not to its end: "+f.Err.Error())
			s.o.Log.Error("file not read", "error", f.Err)
		}
		d.Bytes += f.Bytes
		step.Done, step.Bytes = d.Bytes, d.Bytes
		s.o.Progress(step)
		return nil
	}
	if err := load.Read(ctx, s.o.Files, load.Reading{KeepLast: s.o.KeepLast, Parsed: s.parsed}, each, end); err != nil {
		return err
	}
	s.digest, d.ByType = prints.Digest(), prints.ByType()
	d.Records, d.Digest = s.digest.Records, s.digest.String()
	s.reference, s.out.Cases = ref.Answers(), len(qs)
	if s.o.Derived > 0 {
		if qs = s.choose(qs); len(qs) == 0 {
			s.out.Empty = max(s.out.Cases, 1)
		}
	}
	s.out.Cases = max(len(qs), s.out.Empty)
	if s.out.Quarantined = d.Quarantined; d.Quarantined > 0 {
		s.warn(fmt.Sprintf("%d of %d lines could not be read; they are in quarantine.csv, and no archive holds them", d.Quarantined, d.Lines))
	}
	for _, columns := range slices.Sorted(maps.Keys(left)) {
		s.warn(fmt.Sprintf("columns that no design keeps are left out of %d lines of %s", left[columns], columns))
	}
	text, err := question.YAML(s.o.Cases...)
	if err := errors.Join(err, s.folder.Cases(text)); err != nil {
		return err
	}
	for i, a := range s.reference {
		if err := s.note(ctx, qs[i], a); err != nil {
			return err
		}
	}
	step.Finished, step.Note = true, fmt.Sprintf("%d records, reference answers of %d cases", d.Records, len(qs))
	if !s.parsed.Kept() {
		step.Note += "; too many to be kept in memory: each load parses the files again"
	}
	s.o.Progress(step)
	return s.folder.Save()
}

// choose keeps the first cases that have rows, and warns of those that have
// none where all were meant.
func (s *study) choose(qs []*question.Question) (chosen []*question.Question) {
	var cases []*question.Question
	var answers []*answer.Answer
	for i, a := range s.reference {
		if a.Rows > 0 && len(chosen) < s.o.Derived {
			chosen, cases, answers = append(chosen, qs[i]), append(cases, s.o.Cases[i]), append(answers, a)
		}
	}
	if left := len(qs) - len(chosen); left > 0 && s.o.Derived == len(qs) {
		s.warn(fmt.Sprintf("%d of %d questions have no rows in this data, and are left out", left, len(qs)))
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

func (s *study) warn(text string) {
	s.folder.Run.Warnings = append(s.folder.Run.Warnings, text)
	s.o.Log.Warn(text)
}

// note records a case, its reference answer's size, and its curves.
func (s *study) note(ctx context.Context, q *question.Question, a *answer.Answer) error {
	c := run.Case{Name: q.Name, Title: curve.Title(q, a), Weight: max(q.Weight, 1), LineType: q.Type.Name, Rows: a.Rows, Bytes: a.Bytes(), Digest: answer.FormatDigest(a.Digest())}
	for _, col := range q.Columns {
		c.Columns = append(c.Columns, col.Name)
	}
	s.folder.Run.Cases = append(s.folder.Run.Cases, c)
	if a.Rows == 0 {
		s.out.Empty++
		s.warn(q.Name + " has no rows in this data: that its answer is empty is proven, and not timed")
		return nil
	}
	for _, name := range curve.Stats(q) {
		drawn, err := curve.Of(ctx, q, a, name, s.o.Seed)
		if _, lacks := errors.AsType[*fault.Error](err); lacks {
			continue // the question does not select what the statistic needs
		}
		if err != nil {
			return err
		}
		if len(curve.Stats(q)) > 1 {
			drawn.Case += "-" + name
		}
		if err := s.folder.Curves(drawn); err != nil {
			return err
		}
	}
	return nil
}

// opened are the archives of a study, by place in Options.Targets; nil = not usable.
type opened struct {
	engines  []*engine.Engine
	archives []engine.Archive
}

func (o *opened) close() {
	for i := range o.archives {
		if o.archives[i] != nil {
			o.archives[i].Close() //nolint:errcheck // everything is committed
			o.archives[i] = nil
		}
		if o.engines[i] != nil {
			o.engines[i].Close() //nolint:errcheck // likewise
			o.engines[i] = nil
		}
	}
}

// load opens every target and loads the data into it; what it holds already is
// kept. An archive that cannot be loaded or read is told and not timed, and the
// others go on; a server that is not reached ends the study.
func (s *study) load(ctx context.Context) (*opened, error) {
	n := len(s.o.Targets)
	o := &opened{engines: make([]*engine.Engine, n), archives: make([]engine.Archive, n)}
	for i, t := range s.o.Targets {
		e, err := s.o.Registry.Open(ctx, t.URL, engine.Options{Log: s.o.Log, Threads: s.o.Threads})
		damaged := t.Driver.Place == engine.Embedded && errors.Is(err, engine.ErrUnreachable)
		switch {
		case err != nil && !damaged:
			return o, err
		case err == nil && e.Archives == nil:
			return o, errors.Join(&fault.Error{Setting: t.String(), Problem: "keeps no verification archives", Cure: "see `barograph list engines`"}, e.Close())
		}
		o.engines[i] = e
		if err := s.judge(ctx, t, o, i, err); err != nil {
			return o, err
		}
	}
	return o, nil
}

// judge loads target i and holds what it holds against the data. An error of
// the archive itself, err if it was not even opened, is kept beside it.
func (s *study) judge(ctx context.Context, t Target, o *opened, i int, err error) error {
	r := run.Archive{Engine: t.engine(), Design: string(t.Design), URL: fault.Redact(t.URL), Place: string(t.Driver.Place), Server: t.Server, Whole: true}
	if err == nil {
		err = s.fill(ctx, t, o, i, &r)
	}
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		s.incomplete(&r, err.Error())
	}
	if !r.Whole {
		r.Load = 0 // less than the data has no time
	}
	s.folder.Run.Archives = append(s.folder.Run.Archives, r)
	return s.folder.Save()
}

// fill loads one archive and holds its content against the data.
func (s *study) fill(ctx context.Context, t Target, o *opened, i int, r *run.Archive) error {
	e := o.engines[i]
	about, err := e.About(ctx)
	if err != nil {
		return err
	}
	a, err := e.Archives.Open(ctx, t.Design)
	if err != nil {
		return err
	}
	o.archives[i] = a
	r.Product, r.Version, r.Settings, r.Unranked = about.Product, about.Version, about.Settings, about.Unranked
	if r.Unranked != "" {
		s.warn(r.Engine + " " + r.Design + " is in no ranking: " + r.Unranked)
	}
	step := Progress{Step: "loading " + t.String(), Unit: "MB", Of: s.folder.Run.Data.Bytes * int64(s.o.Copies)}
	var read int64
	for k := range s.o.Copies {
		n, err := s.fillCopy(ctx, a, k, r, step)
		if err != nil {
			return err
		}
		read += n
	}
	if r.Bytes, err = a.Size(ctx); err != nil {
		return err
	}
	step.Finished, step.Done = true, step.Of
	step.Note = fmt.Sprintf("%d %s, %.1f MB on disk", r.Objects, r.Object, float64(r.Bytes)/1e6)
	if r.Load > 0 && r.Whole {
		step.Note += fmt.Sprintf(", %.2f s, %.0f records/s", r.Load.Seconds(), float64(read)/r.Load.Seconds())
	}
	s.o.Progress(step)
	return nil
}

// fillCopy loads the k-th copy and returns how many lines it read.
func (s *study) fillCopy(ctx context.Context, a engine.Archive, k int, r *run.Archive, step Progress) (int64, error) {
	name, before := CopyName(s.o.Subset, k), int64(k)*s.folder.Run.Data.Bytes
	sum, err := load.Run(ctx, a, name, s.o.Files, load.Options{KeepLast: s.o.KeepLast, Parsed: s.parsed, Progress: func(p load.Progress) {
		step.Done = before + p.Bytes
		step.Bytes = step.Done
		s.o.Progress(step)
	}})
	if errors.Is(err, load.ErrNotConserved) {
		s.incomplete(r, err.Error())
		return 0, s.inspect(ctx, a, name, r)
	}
	if err != nil {
		return 0, err
	}
	fresh := len(sum.Files) > 0
	if fresh {
		r.Load, r.Commits = r.Load+sum.Elapsed, r.Commits+sum.Commits
	}
	if !fresh && k > 0 { // the study that loaded it inspected it
		return 0, nil
	}
	return sum.Read, s.inspect(ctx, a, name, r)
}

// inspect counts and digests a subset. An archive that does not hold exactly
// the data is not timed.
func (s *study) inspect(ctx context.Context, a engine.Archive, subset string, r *run.Archive) error {
	contents, err := a.Contents(ctx, subset)
	if err != nil {
		return err
	}
	digest, err := load.Digest(ctx, a, subset)
	if err != nil {
		return err
	}
	if subset == s.o.Subset {
		r.Objects, r.Object, r.Digest = contents.Objects, contents.Object, digest.String()
	}
	if _, differs := answer.CompareRecords(s.digest, digest); differs != nil && r.Whole {
		s.incomplete(r, "of subset "+subset+" "+differs.Error())
	}
	return nil
}

// incomplete keeps an archive that does not hold the data out of the timing.
func (s *study) incomplete(r *run.Archive, problem string) {
	if r.Whole {
		s.out.NotWhole++
	}
	r.Whole, r.Problem = false, strings.TrimPrefix(r.Problem+"; "+problem, "; ")
	s.warn(r.Engine + " " + r.Design + " is not timed: " + problem)
}

// CopyName is the subset that holds the k-th copy of the data, from 0.
func CopyName(subset string, k int) string {
	if k == 0 {
		return subset
	}
	return fmt.Sprintf("%s_%d", subset, k+1)
}

// seconds is a duration for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
