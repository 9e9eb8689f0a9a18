package enginetest_test

import (
	"context"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// envDefect names the defect of the engine that TestDefective runs.
const envDefect = "BAROGRAPH_ENGINETEST_DEFECT"

// defect is a defect of an engine, and a part of the names of the tests that must detect it.
type defect struct {
	wrap     func(archive.Archive) archive.Archive
	detector string
}

// noDefect is the name of an engine that is wrapped like the defective ones and has no defect. It shows that the wrapper
// is not what the suite detects.
const noDefect = "none"

// noRemovals is the name of an engine that cannot remove records, although its driver says that it can.
const noRemovals = "records are not removed"

// defects are engines that the suite must not pass. A name with that of another program repeats a defect that was
// found in it.
func defects() map[string]defect {
	all := map[string]defect{
		noDefect:   {func(a archive.Archive) archive.Archive { return &wrappedArchive{a} }, ""},
		noRemovals: {func(a archive.Archive) archive.Archive { return &wrappedArchive{a} }, "/trim"},
		"VxIngest replaces leads": {
			func(a archive.Archive) archive.Archive { return &replacing{a} }, "any_order_of_files_VxIngest_replaces_leads",
		},
		"METstat2json collapses headers": {
			func(a archive.Archive) archive.Archive { return &collapsing{a} },
			"conservation_METstat2json_collapses_repeated_headers",
		},
		"JSONBench loads a part":      {func(a archive.Archive) archive.Archive { return &partial{a} }, "/load/"},
		"METdbLoad marks what is not": {func(a archive.Archive) archive.Archive { return &marking{a} }, "/load/"},
		"Dump rounds to single precision": {
			func(a archive.Archive) archive.Archive { return &rounding{a} }, "/values/awkward_numbers",
		},
		"subsets mix": {func(a archive.Archive) archive.Archive { return &mixing{a} }, "/subsets/two_subsets_do_not_mix"},
		"every flavour is accepted": {
			func(a archive.Archive) archive.Archive { return &boasting{a} }, "/questions/flavours_that_are_not_offered",
		},
		"Ask ignores a canceled context": {func(a archive.Archive) archive.Archive { return &deaf{a} }, "/cancel/asking"},
		"a canceled dump is silent":      {func(a archive.Archive) archive.Archive { return &silent{a} }, "/cancel/reading"},
		"counts are not settled":         {func(a archive.Archive) archive.Archive { return &unsettled{a} }, "/load/"},
		"counts are of other line types": {func(a archive.Archive) archive.Archive { return &miscounting{a} }, "/load/"},
		"marks are in no order":          {func(a archive.Archive) archive.Archive { return &unordered{a} }, "/load/conservation"},
		"texts of a batch are shared": {
			func(a archive.Archive) archive.Archive { return &sharing{Archive: a} },
			"/load/a_batch_is_the_caller's_again_after_the_commit",
		},
	}
	for _, f := range enginetest.Faults() {
		detector := "/questions/"
		if f == enginetest.StaleRead {
			detector = "/questions/later_records_are_seen"
		}
		all["answer: "+string(f)] = defect{func(a archive.Archive) archive.Archive { return enginetest.Faulty(a, f) }, detector}
	}
	return all
}

// TestDefective runs the suite on a defective engine in a child process of TestEveryDefectIsDetected. In any other
// process it does nothing.
func TestDefective(t *testing.T) {
	f, ok := defects()[os.Getenv(envDefect)]
	if !ok {
		return
	}
	d := dry.Driver()
	offer := archive.OfferOf(&d)
	offer.NoTrim = os.Getenv(envDefect) != noRemovals
	d.Offers = slices.Insert(d.Offers, 0, any(offer))
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(wrapped{archive.DatabaseOf(e), f.wrap}))
		}
		return e, err
	}
	enginetest.Run(t, enginetest.Config{
		Driver: d, URL: func(*testing.T) string { return "dry:" },
	})
}

func TestEveryDefectIsDetected(t *testing.T) {
	enginetest.NotUnderRace(t)
	for name, f := range defects() {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDefective$")
			c.Env = append(os.Environ(), envDefect+"="+name)
			out, err := c.CombinedOutput()
			if name == noDefect {
				if err != nil {
					t.Fatalf("the suite does not pass an engine without a defect: %v\n%s", err, out)
				}
				return
			}
			if err == nil {
				t.Fatalf("the suite passed a defective engine:\n%s", out)
			}
			detected := regexp.MustCompile(`(?m)^ *--- FAIL: TestDefective/\S*` + regexp.QuoteMeta(f.detector))
			if !detected.Match(out) || strings.Contains(string(out), "panic:") {
				t.Fatalf("no test %q failed: %v\n%s", f.detector, err, out)
			}
		})
	}
}

// wrappedArchive passes every call to an archive.
type wrappedArchive struct{ archive.Archive }

type wrapped struct {
	archive.Database
	wrap func(archive.Archive) archive.Archive
}

func (w wrapped) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	a, err := w.Database.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return w.wrap(a), nil
}

// spoiled is a loader that adds other batches than the given ones.
type spoiled struct {
	archive.Loader
	spoil func(b *record.Batch) *record.Batch
}

func (l *spoiled) Add(ctx context.Context, b *record.Batch) error {
	return l.Loader.Add(ctx, l.spoil(b))
}

// rows copies the rows of b that keep selects.
func rows(b *record.Batch, keep func(i int) bool) *record.Batch {
	out := &record.Batch{}
	out.Reset(b.Type, b.File)
	out.Headers = slices.Clone(b.Headers)
	for i := range b.Len() {
		if keep(i) {
			out.AppendRow(b, i, b.HeaderIndex[i])
		}
	}
	return out
}

// replacing stores, of each series and time, only the leads of the first file.
type replacing struct{ archive.Archive }

func (a *replacing) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	type doc struct {
		t     *record.LineType
		h     record.Header
		valid int64
	}
	first := map[doc]string{}
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return nil, err
		}
		for i := range b.Len() {
			first[doc{b.Type, *b.Header(i), b.Valid[i]}] = "before"
		}
	}
	return &spoiled{l, func(b *record.Batch) *record.Batch {
		return rows(b, func(i int) bool {
			k := doc{b.Type, *b.Header(i), b.Valid[i]}
			if first[k] == "" {
				first[k] = b.File
			}
			return first[k] == b.File
		})
	}}, err
}

// collapsing stores one record of each valid time and lead, whatever its header.
type collapsing struct{ archive.Archive }

func (a *collapsing) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &spoiled{l, func(b *record.Batch) *record.Batch {
		seen := map[[2]int64]bool{}
		return rows(b, func(i int) bool {
			k := [2]int64{b.Valid[i], int64(b.Lead[i])}
			again := seen[k]
			seen[k] = true
			return !again
		})
	}}, err
}

// partial stores nine records of ten and reports all of them.
type partial struct{ archive.Archive }

func (a *partial) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &overstating{&spoiled{l, func(b *record.Batch) *record.Batch {
		return rows(b, func(i int) bool { return i%10 != 9 })
	}}, 0}, err
}

// overstating reports every added record as new.
type overstating struct {
	archive.Loader
	given int64
}

func (l *overstating) Add(ctx context.Context, b *record.Batch) error {
	l.given += int64(b.Len())
	return l.Loader.Add(ctx, b)
}

func (l *overstating) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	s, err := l.Loader.Commit(ctx, c)
	s.New, l.given = l.given, 0
	for _, n := range s.Replaced {
		s.New -= n
	}
	return s, err
}

// marking marks files without their records.
type marking struct{ archive.Archive }

func (a *marking) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &overstating{&spoiled{l, func(b *record.Batch) *record.Batch {
		return rows(b, func(int) bool { return false })
	}}, 0}, err
}

// rounding rounds numbers to single precision.
type rounding struct{ archive.Archive }

func (a *rounding) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range a.Archive.Dump(ctx, subset) {
			if b != nil {
				b = b.Clone()
				for _, column := range b.Num {
					for i := range column {
						column[i] = float64(float32(column[i]))
					}
				}
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// mixing stores all subsets in one.
type mixing struct{ archive.Archive }

func (a *mixing) Loader(ctx context.Context, _ string) (archive.Loader, error) {
	return a.Archive.Loader(ctx, "a")
}

func (a *mixing) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	p, err := a.Archive.Phrase(ctx, q.InSubset("a"), f)
	if err == nil {
		p.Question = q
	}
	return p, err
}

// boasting phrases questions in flavours that it does not offer.
type boasting struct{ archive.Archive }

func (a *boasting) Phrase(ctx context.Context, q *question.Question, _ flavour.Name) (*archive.Query, error) {
	return a.Archive.Phrase(ctx, q, flavour.Recall)
}

// deaf ignores that the context of a question is canceled.
type deaf struct{ archive.Archive }

func (a *deaf) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	return a.Archive.Ask(context.WithoutCancel(ctx), q, into)
}

// unsettled does not update the marks of a commit.
type unsettled struct{ archive.Archive }

func (a *unsettled) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &forgetful{l}, err
}

// forgetful updates a copy of the marks.
type forgetful struct{ archive.Loader }

func (l *forgetful) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	c.Complete = slices.Clone(c.Complete)
	return l.Loader.Commit(ctx, c)
}

// silent ends a canceled dump without an error.
type silent struct{ archive.Archive }

func (a *silent) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	if ctx.Err() != nil {
		return func(func(*record.Batch, error) bool) {}
	}
	return a.Archive.Dump(ctx, subset)
}

// miscounting reports the records of all line types as those of one.
type miscounting struct{ archive.Archive }

func (a *miscounting) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c, err := a.Archive.Contents(ctx, subset)
	c.Records = map[string]int64{"SL1L2": c.Total()}
	return c, err
}

// unordered lists marks by their digests.
type unordered struct{ archive.Archive }

func (a *unordered) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	marks, err := a.Archive.Marks(ctx, subset)
	slices.SortFunc(marks, func(x, y archive.Mark) int { return strings.Compare(x.Digest, y.Digest) })
	return marks, err
}

// sharing dumps the added batches, whose texts it shares with the caller.
type sharing struct {
	archive.Archive
	added map[string][]*record.Batch
}

func (a *sharing) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &spoiled{l, func(b *record.Batch) *record.Batch {
		own := b.Clone()
		own.Text = b.Text
		if a.added == nil {
			a.added = map[string][]*record.Batch{}
		}
		a.added[subset] = append(a.added[subset], own)
		return b
	}}, err
}

func (a *sharing) Dump(_ context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for _, b := range a.added[subset] {
			if !yield(b, nil) {
				return
			}
		}
	}
}
