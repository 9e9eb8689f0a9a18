package met

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// openArchive is the open archive of a target.
type openArchive struct {
	engine  *engine.Engine
	archive archive.Archive // nil = not usable, for the reason in err
	about   engine.About
	err     error
}

// close closes all archives.
func (s *runner) close() {
	for i := range s.opened {
		o := &s.opened[i]
		if o.archive != nil {
			o.archive.Close() //nolint:errcheck // everything is committed
		}
		if o.engine != nil {
			o.engine.Close() //nolint:errcheck // likewise
		}
		o.archive, o.engine = nil, nil
	}
}

// open opens every target. An unreachable server ends the study. The study reports an archive that
// cannot be opened, and continues with the others.
func (s *runner) open(ctx context.Context) error {
	s.opened = make([]openArchive, len(s.options.Targets))
	for i, t := range s.options.Targets {
		o := &s.opened[i]
		e, err := s.options.Registry.Open(ctx, t.URL, engine.Options{Log: s.options.Log, Threads: s.options.Threads, ReadOnly: s.isSource(i)})
		damaged := t.Driver.Place == engine.Embedded && (errors.Is(err, engine.ErrUnreachable) || fault.Code(err) == fault.Differs)
		switch {
		case err != nil && (!damaged || s.isSource(i)):
			return err
		case err == nil && archive.DatabaseOf(e) == nil:
			return errors.Join(&fault.Error{Setting: t.String(), Problem: "does not store verification archives", Cure: "see `barograph list engines`"}, e.Close())
		case err != nil:
			o.err = err
			continue
		}
		o.engine = e
		if o.about, o.err = e.About(ctx); o.err != nil {
			continue
		}
		a, err := archive.DatabaseOf(e).Open(ctx, t.Design)
		if o.err = err; err == nil {
			o.archive = a
		}
	}
	if s.options.FirstIsSource {
		return errors.Join(s.opened[0].err, s.useSource(ctx, s.opened[0].archive))
	}
	return nil
}

// isSource reports whether a target is the source of the data.
func (s *runner) isSource(i int) bool { return s.options.FirstIsSource && i == 0 }

// isForeign reports whether a target is the source and another program loaded it. The study copies its rows but
// does not query it: METdbLoad and other programs store some rows where queries do not find them.
func (s *runner) isForeign(i int) bool {
	return s.isSource(i) && s.origin != nil && s.origin.Catalog.AdoptedOnly
}

// useSource makes the first target the source of the data.
func (s *runner) useSource(ctx context.Context, a archive.Archive) (err error) {
	if a == nil {
		return nil // open has reported the reason
	}
	t := &s.options.Targets[0]
	s.origin, err = load.NewOrigin(ctx, a, t.Subset, fault.Redact(t.URL))
	s.originCatalog = design.NewCatalog(t.Subset)
	return err
}

// verifySource ends a study whose source is not intact. It cannot check a source that another program
// loaded.
func (s *runner) verifySource(ctx context.Context) error {
	if s.origin.Catalog.AdoptedOnly {
		s.warn("another program loaded " + s.origin.Name + ", subset " + s.origin.Subset + ", so this study queries only copies of it; `barograph adopt` of that database reports and repairs its faults, and then met can query it")
		return nil
	}
	v, err := s.origin.Verify(ctx, s.originCatalog)
	if err != nil || len(v.Problems) == 0 {
		return err
	}
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{
		Setting: s.origin.Name + ", subset " + s.origin.Subset, Problem: "is not intact: " + v.Problems[0],
		Cure: "`barograph verify " + s.origin.Name + " --subset " + s.origin.Subset + "` reports all problems; restore a backup, or study the files",
	}}
}

// chooseSubsets chooses each target's subset: that of the study or, if that has other data, one named after
// the digest of the data.
func (s *runner) chooseSubsets(ctx context.Context) error {
	for i := range s.opened {
		o, t := &s.opened[i], &s.options.Targets[i]
		if o.archive == nil || s.isSource(i) {
			continue
		}
		t.Subset = s.options.Subset
		files, err := s.countOtherFiles(ctx, o.archive, t.Subset)
		switch {
		case err != nil:
			o.err = err
		case files > 0 && s.options.SubsetRequired:
			return fault.Misuse("--subset "+t.Subset, fmt.Sprintf("of %s has %s of other data", t, run.CountOf(files, "file")), "name another subset, or omit --subset: then met chooses a name")
		case files > 0:
			t.Subset = fmt.Sprintf("%s_%08x", s.options.Subset, uint32(s.digest.Hi>>32)) //nolint:gosec // 8 of the digest's digits
			s.finishStep(Progress{Step: "subset of " + t.String()}, fmt.Sprintf("subset %s has %s of other data, so this study uses subset %s", s.options.Subset, run.CountOf(files, "file"), t.Subset))
		}
	}
	return nil
}

// countOtherFiles counts the files of a subset, and of the subsets of its copies, that do not belong to this study.
func (s *runner) countOtherFiles(ctx context.Context, a archive.Archive, subset string) (n int, err error) {
	for k := range s.options.Copies {
		marks, err := a.Marks(ctx, CopyName(subset, k))
		if err != nil {
			return n, err
		}
		n += len(lists.Filter(marks, func(m archive.Mark) bool { return !s.files[m.Digest] }))
	}
	return n, nil
}

// loadDry loads only the records of the cases into the dry engine, because not all records
// fit into memory.
func (s *runner) loadDry(ctx context.Context, a archive.Archive, subset string) (n int64, err error) {
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return 0, err
	}
	defer l.Close() //nolint:errcheck // everything is committed
	for _, b := range s.caseRecords.Rows() {
		c := design.NewCatalog(subset)
		c.Add(b)
		if err := l.Add(ctx, b); err != nil {
			return n, err
		}
		stored, err := l.Commit(ctx, archive.Commit{Catalog: c})
		if err != nil {
			return n, err
		}
		n += stored.New
	}
	return n, nil
}

// projection reports once, after some of the data are read, the projected time of reading and
// the projected memory of the cases.
type projection struct {
	began time.Time
	done  bool
}

// projectionAfter is the time of reading before the projection.
const projectionAfter = 2 * time.Second

func (p *projection) report(ctx context.Context, s *runner, at Progress) {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	took := time.Since(p.began)
	if p.done || took < projectionAfter || at.Done*50 < at.Of {
		return
	}
	p.done = true
	factor, memory := float64(at.Of)/float64(at.Done), 0.0
	for _, b := range s.caseRecords.Rows() {
		memory += factor * float64(b.Len()*(120+8*len(b.Num)+16*len(b.Text)))
	}
	s.options.Progress(Progress{Note: fmt.Sprintf("about %s to read; the cases need %.0f MB of memory", seconds(time.Duration(factor*float64(took))), memory/1e6)})
	if warning := memoryWarning(memory, float64(measure.AvailableMemory(ctx))); warning != "" {
		s.warn(warning)
	}
}

// memoryWarning warns of cases that need more than half of the free memory; free is 0 if the system does not report it.
func memoryWarning(needed, free float64) string {
	if free == 0 || needed <= free/2 {
		return ""
	}
	return fmt.Sprintf("the cases need about %.1f GB of memory, but only %.1f GB are free; choose fewer or smaller cases with --case", needed/1e9, free/1e9)
}

// Selection names the engines, designs and flavours of a study.
type Selection struct {
	Engines        []string                                   // URLs, NAME=URL, or names of embedded engines; none = all embedded ones that are installed
	Designs        []string                                   // none = all that each engine offers
	Flavours       []string                                   // none = all that each design offers
	ClientOverhead bool                                       // include the dry engine: the client overhead
	Server         func(*engine.Driver, *url.URL) *run.Server // describes a server that a lab of this machine started; nil = no labs
	Folder         string                                     // of the archives of engines without a path

	Skipped []fault.Skip // set by Targets: engines of the default set that are not installed
}

// Targets returns the archives of a study: each engine in each of its designs, the dry engine first.
func (s *Selection) Targets(all engine.Registry) ([]Target, error) {
	urls := slices.Clone(s.Engines)
	if len(urls) == 0 {
		urls, s.Skipped = all.SplitInstalled(all.SchemesWhere(func(d *engine.Driver) bool { return d.Place == engine.Embedded && archive.IsOffered(d) }))
	}
	if s.ClientOverhead && !slices.Contains(urls, "dry") {
		urls = append([]string{"dry"}, urls...)
	}
	if err := s.check(all, urls); err != nil {
		return nil, err
	}
	var out []Target
	for _, raw := range urls {
		name, raw := engine.SplitName(raw)
		d, u, err := all.Parse(raw)
		if err != nil {
			return nil, err
		}
		wanted := archive.Designs(d)
		if len(s.Designs) > 0 && d.Place != engine.Memory {
			wanted = slices.DeleteFunc(wanted, s.excludes)
		}
		var server *run.Server
		if s.Server != nil {
			server = s.Server(d, u)
		}
		for _, n := range wanted {
			t := Target{Name: name, Driver: d, Design: n, Server: server}
			if slices.ContainsFunc(out, func(o Target) bool { return o.String() == t.String() }) {
				shown := fault.Redact(raw)
				return nil, fault.Misuse("--engine "+shown, "is a second "+t.String()+", and the report could not distinguish them", "give it a name: --engine NAME="+shown)
			}
			t.URL = s.url(&t, u, raw, len(wanted) > 1)
			out = append(out, t)
		}
	}
	return out, nil
}

func (s *Selection) excludes(n design.Name) bool { return !slices.Contains(s.Designs, string(n)) }

// check returns an error if no engine of the study offers a requested design or flavour, or if an engine that the user
// named offers none of the requested designs.
func (s *Selection) check(all engine.Registry, urls []string) error {
	var designs []design.Name
	var flavours []flavour.Name
	for _, raw := range urls {
		_, raw := engine.SplitName(raw)
		d, _, err := all.Parse(raw)
		if err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		if d.Place == engine.Memory {
			continue
		}
		if err := archive.Require(all, d); err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		mine := archive.Designs(d)
		if len(s.Designs) > 0 && len(s.Engines) > 0 && !slices.ContainsFunc(mine, func(n design.Name) bool { return !s.excludes(n) }) {
			return fault.NotOffered("--design", design.Name(strings.Join(s.Designs, ",")), mine, d.Scheme)
		}
		for _, n := range mine {
			if designs = append(designs, n); len(s.Designs) == 0 || !s.excludes(n) {
				flavours = append(flavours, archive.Flavours(d, n)...)
			}
		}
	}
	if err := allOffered("--design", s.Designs, designs); err != nil {
		return err
	}
	return allOffered("--flavour", s.Flavours, flavours)
}

// allOffered checks that the engines of a study offer the names. Engines in memory offer every name.
func allOffered[T ~string](flag string, names []string, offered []T) error {
	slices.Sort(offered)
	offered = slices.Compact(offered)
	for _, name := range names {
		if len(offered) > 0 && !slices.Contains(offered, T(name)) {
			return fault.NotOffered(flag, T(name), offered, "the engines of this study")
		}
	}
	return nil
}

// url returns the URL of an archive. If the URL of an embedded engine has no path, the file is in the study's
// folder. If an engine has several designs, each design gets a file of its own, so that their sizes can be compared.
func (s *Selection) url(t *Target, u *url.URL, raw string, several bool) string {
	path := engine.Path(u)
	switch {
	case t.Driver.Place != engine.Embedded:
		return raw
	case path == "":
		path = filepath.Join(s.Folder, run.FileName(cmp.Or(t.Name, t.Driver.Scheme)+"-"+string(t.Design))+".db")
	case several:
		ext := filepath.Ext(path)
		path = strings.TrimSuffix(path, ext) + "-" + string(t.Design) + ext
	}
	out := t.Driver.Scheme + ":" + (&url.URL{Path: path}).EscapedPath()
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out
}

// DerivedCases is the number of derived cases in a study.
const DerivedCases = 12

// derive derives cases from the files or the archive. If cases are given, it replaces patterns in
// their variables by the variables that match.
func (s *runner) derive(ctx context.Context) (err error) {
	if s.options.Cases != nil && !slices.ContainsFunc(s.options.Cases, (*question.Question).HasPattern) {
		return nil
	}
	var catalog *design.Catalog
	if s.origin != nil {
		catalog = s.origin.Catalog
	} else if catalog, _, _, err = load.Survey(ctx, s.options.Files, load.ReadOptions{KeepLast: s.options.KeepLast, ParseCache: s.parseCache}, nil); err != nil {
		return err
	}
	if s.options.Cases != nil {
		s.options.Cases = slices.Clone(s.options.Cases)
		for i, q := range s.options.Cases {
			s.options.Cases[i] = catalog.ExpandPatterns(q)
		}
		return nil
	}
	all := catalog.Cases()
	s.options.Cases, s.options.MaxCases = all[:min(len(all), 2*DerivedCases)], DerivedCases // twice as many, because some may have no rows
	return nil
}

// Answerable returns the questions that have rows in the files.
func Answerable(ctx context.Context, files []string, o load.ReadOptions, qs []*question.Question) ([]*question.Question, error) {
	open := map[*question.Question]*answer.Matcher{}
	for _, q := range qs {
		open[q] = answer.NewMatcher(q)
	}
	found := errors.New("all questions have rows")
	each := func(_ *load.File, b *record.Batch) error {
		for q, m := range open {
			if q.Type != b.Type || b.Len() == 0 {
				continue
			}
			m.Use(b)
			for i := range b.Len() {
				if m.Row(i) {
					delete(open, q)
					break
				}
			}
		}
		if len(open) == 0 {
			return found // the other files need not be read
		}
		return nil
	}
	if err := load.Read(ctx, files, o, each, func(*load.File) error { return nil }); err != nil && !errors.Is(err, found) {
		return nil, err
	}
	return slices.DeleteFunc(qs, func(q *question.Question) bool { return open[q] != nil }), nil
}

// AnswerableIn returns the questions that have rows in an archive. It sends each question in the last
// of the offered flavours that can express it.
func AnswerableIn(ctx context.Context, a archive.Archive, offered []flavour.Name, subset string, qs []*question.Question) (out []*question.Question, err error) {
	var b answer.Builder
	for _, q := range qs {
		query, err := archive.PhraseBest(ctx, a, q.InSubset(subset), offered)
		if err == nil {
			err = a.Ask(ctx, query, &b)
		}
		if err != nil {
			return nil, err
		}
		if b.Rows > 0 {
			out = append(out, q)
		}
	}
	return out, nil
}
