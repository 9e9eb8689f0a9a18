package enginetest_test

import (
	"context"
	"iter"
	"net/url"
	"os"
	"os/exec"
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

// defects are engines that the suite must not pass. Those with a peer's name
// repeat what was found in it.
func defects() map[string]func(archive.Archive) archive.Archive {
	all := map[string]func(archive.Archive) archive.Archive{
		"VxIngest replaces leads":         func(a archive.Archive) archive.Archive { return &replacing{a} },
		"METstat2json collapses headers":  func(a archive.Archive) archive.Archive { return &collapsing{a} },
		"JSONBench loads a part":          func(a archive.Archive) archive.Archive { return &partial{a} },
		"METdbLoad marks what is not":     func(a archive.Archive) archive.Archive { return &marking{a} },
		"Dump rounds to single precision": func(a archive.Archive) archive.Archive { return &rounding{a} },
		"subsets mix":                     func(a archive.Archive) archive.Archive { return &mixing{a} },
		"every flavour is accepted":       func(a archive.Archive) archive.Archive { return &boasting{a} },
		"a cancelled context is ignored":  func(a archive.Archive) archive.Archive { return &deaf{a} },
		"counts are not settled":          func(a archive.Archive) archive.Archive { return &unsettled{a} },
	}
	for _, f := range enginetest.Faults() {
		all["answer: "+string(f)] = func(a archive.Archive) archive.Archive { return enginetest.Faulty(a, f) }
	}
	return all
}

// TestDefective runs the suite on a defective engine. By itself it does
// nothing; TestEveryDefectIsCaught runs it in child processes.
func TestDefective(t *testing.T) {
	wrap, ok := defects()[os.Getenv(envDefect)]
	if !ok {
		return
	}
	d := dry.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(wrapped{archive.DatabaseOf(e), wrap}))
		}
		return e, err
	}
	enginetest.Run(t, enginetest.Config{Driver: d, URL: func(*testing.T) string { return "dry:" }})
}

func TestEveryDefectIsCaught(t *testing.T) {
	enginetest.NotUnderRace(t)
	for name := range defects() {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDefective$")
			c.Env = append(os.Environ(), envDefect+"="+name)
			out, err := c.CombinedOutput()
			if err == nil {
				t.Fatalf("the suite passed a defective engine:\n%s", out)
			}
			if !strings.Contains(string(out), "--- FAIL: TestDefective") || strings.Contains(string(out), "panic:") {
				t.Fatalf("the child did not fail by a test: %v\n%s", err, out)
			}
		})
	}
}

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

// spoiled is a loader that is given other batches than it should be.
type spoiled struct {
	archive.Loader
	spoil func(b *record.Batch) *record.Batch
}

func (l *spoiled) Add(ctx context.Context, b *record.Batch) error {
	return l.Loader.Add(ctx, l.spoil(b))
}

// rows copies the rows of b that keep wants.
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

// replacing keeps the leads of the file that came first, of each series and time.
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

// collapsing takes records of one time for one record, whatever their header.
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

// partial loads nine records of ten and says nothing.
type partial struct{ archive.Archive }

func (a *partial) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &lying{&spoiled{l, func(b *record.Batch) *record.Batch {
		return rows(b, func(i int) bool { return i%10 != 9 })
	}}, 0}, err
}

// lying reports that every record it was given is new.
type lying struct {
	archive.Loader
	given int64
}

func (l *lying) Add(ctx context.Context, b *record.Batch) error {
	l.given += int64(b.Len())
	return l.Loader.Add(ctx, b)
}

func (l *lying) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
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
	return &lying{&spoiled{l, func(b *record.Batch) *record.Batch {
		return rows(b, func(int) bool { return false })
	}}, 0}, err
}

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

// mixing keeps all subsets in one.
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

type boasting struct{ archive.Archive }

func (a *boasting) Phrase(ctx context.Context, q *question.Question, _ flavour.Name) (*archive.Query, error) {
	return a.Archive.Phrase(ctx, q, flavour.Recall)
}

type deaf struct{ archive.Archive }

func (a *deaf) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	return a.Archive.Ask(context.WithoutCancel(ctx), q, into)
}

type unsettled struct{ archive.Archive }

func (a *unsettled) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &forgetful{l}, err
}

// forgetful settles a copy of the marks.
type forgetful struct{ archive.Loader }

func (l *forgetful) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	c.Complete = slices.Clone(c.Complete)
	return l.Loader.Commit(ctx, c)
}
