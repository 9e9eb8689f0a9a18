package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// full is an archive and its loader with every ability. Each call returns a value that contains its arguments, and err.
type full struct {
	err   error
	calls *[]string
}

func (f full) call(args ...any) error {
	*f.calls = append(*f.calls, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
	return f.err
}

func (f full) Open(context.Context, design.Name) (Archive, error) { return f, f.err }
func (f full) Close() error                                       { return f.call("close") }
func (f full) Size(context.Context) (int64, error)                { return 7, f.call("size") }
func (f full) OneOfEach() string                                  { return "the key is the identity" }

func (f full) Loader(_ context.Context, subset string) (Loader, error) {
	return fullLoader(f), f.call("loader", subset)
}

func (f full) Marks(_ context.Context, subset string) ([]Mark, error) {
	return []Mark{{Path: subset}}, f.call("marks", subset)
}

func (f full) MarksOf(_ context.Context, subset string, files []Mark) ([]Mark, error) {
	return files, f.call("marks of", subset)
}

func (f full) Catalog(_ context.Context, subset string) (*design.Catalog, error) {
	return design.NewCatalog(subset), f.call("catalog", subset)
}

func (f full) Subsets(context.Context) ([]string, error) { return []string{"a"}, f.call("subsets") }

func (f full) Contents(_ context.Context, subset string) (Contents, error) {
	return Contents{Database: subset}, f.call("contents", subset)
}

func (f full) Phrase(_ context.Context, q *question.Question, n flavour.Name) (*Query, error) {
	return &Query{Question: q, Flavour: n}, f.call("phrase", n)
}

func (f full) Ask(_ context.Context, q *Query, _ *answer.Builder) error { return f.call("ask", q.Text) }

func (f full) Explain(_ context.Context, q *Query) (Plan, error) {
	return Plan{Text: q.Text}, f.call("explain", q.Text)
}

func (f full) Check(_ context.Context, subset string) ([]string, error) {
	return []string{subset}, f.call("check", subset)
}

func (f full) Dump(_ context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		yield(&record.Batch{File: subset}, f.call("dump", subset))
	}
}

func (f full) RowRanges(_ context.Context, subset string) ([]RowRange, error) {
	return []RowRange{{LineType: subset, Last: 9}}, f.call("row ranges", subset)
}

func (f full) DumpRows(_ context.Context, subset string, r RowRange) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		yield(&record.Batch{File: subset}, f.call("dump rows", subset, r.First, r.Last))
	}
}

type fullLoader full

func (l fullLoader) Add(_ context.Context, b *record.Batch) error { return full(l).call("add", b.File) }

func (l fullLoader) Close() error { return full(l).call("close loader") }

func (l fullLoader) Commit(_ context.Context, c Commit) (CommitResult, error) {
	return CommitResult{New: int64(len(c.Complete))}, full(l).call("commit")
}

func (l fullLoader) Trim(_ context.Context, cutoff int64) error { return full(l).call("trim", cutoff) }

// TestEveryCallOfWrapped: a wrapped archive and its loader forward each call, return its value, and add context to its
// error. Close is not wrapped.
func TestEveryCallOfWrapped(t *testing.T) {
	ctx := t.Context()
	broken := errors.New("broken")
	one := func(all iter.Seq2[*record.Batch, error]) (file string, err error) {
		for b, e := range all {
			file, err = b.File, e
		}
		return file, err
	}
	list := func(marks []Mark) string { return marks[0].Path }
	var l Loader
	for _, c := range []struct {
		call string // that the archive gets
		want string // the value
		do   func(a Archive) (string, error)
	}{
		{"loader s", "", func(a Archive) (string, error) { _, err := a.Loader(ctx, "s"); return "", err }},
		{"marks s", "s", func(a Archive) (string, error) { m, err := a.Marks(ctx, "s"); return list(m), err }},
		{"marks of s", "f", func(a Archive) (string, error) {
			m, err := MarksOf(ctx, a, "s", []Mark{{Path: "f"}})
			return list(m), err
		}},
		{"catalog s", "s", func(a Archive) (string, error) { c, err := a.Catalog(ctx, "s"); return c.Subset, err }},
		{"subsets", "a", func(a Archive) (string, error) { s, err := a.Subsets(ctx); return strings.Join(s, ","), err }},
		{"contents s", "s", func(a Archive) (string, error) { c, err := a.Contents(ctx, "s"); return c.Database, err }},
		{"phrase sql", "sql", func(a Archive) (string, error) {
			q, err := a.Phrase(ctx, &question.Question{}, flavour.SQL)
			return string(q.Flavour), err
		}},
		{"ask q", "", func(a Archive) (string, error) { return "", a.Ask(ctx, &Query{Text: "q"}, nil) }},
		{"explain q", "q", func(a Archive) (string, error) { p, err := a.Explain(ctx, &Query{Text: "q"}); return p.Text, err }},
		{"check s", "s", func(a Archive) (string, error) {
			p, err := a.(Checker).Check(ctx, "s")
			return strings.Join(p, ","), err
		}},
		{"size", "7", func(a Archive) (string, error) { n, err := a.Size(ctx); return fmt.Sprint(n), err }},
		{"dump s", "s", func(a Archive) (string, error) { return one(a.Dump(ctx, "s")) }},
		{"row ranges s", "s", func(a Archive) (string, error) {
			r, err := a.(RowReader).RowRanges(ctx, "s")
			return r[0].LineType, err
		}},
		{"dump rows s 2 5", "s", func(a Archive) (string, error) {
			return one(a.(RowReader).DumpRows(ctx, "s", RowRange{First: 2, Last: 5}))
		}},
		{"add f", "", func(Archive) (string, error) { return "", l.Add(ctx, &record.Batch{File: "f"}) }},
		{"commit", "2", func(Archive) (string, error) {
			r, err := l.Commit(ctx, Commit{Complete: make([]Mark, 2)})
			return fmt.Sprint(r.New), err
		}},
		{"trim 99", "", func(Archive) (string, error) { return "", Trim(ctx, l, 99) }},
		{"close loader", "", func(Archive) (string, error) { return "", l.Close() }},
		{"close", "", func(a Archive) (string, error) { return "", a.Close() }},
	} {
		for _, err := range []error{nil, broken} {
			var calls []string
			inner := full{nil, &calls}
			outer := WrapErrors(inner, func(err error) error { return fmt.Errorf("with context: %w", err) }).(errorWrapper)
			l, _ = outer.Loader(ctx, "s")
			outer.Archive, calls = full{err, &calls}, nil
			l = errorWrapperLoader{fullLoader{err, &calls}, outer}
			got, failed := c.do(outer)
			if !slices.Equal(calls, []string{c.call}) || !errors.Is(failed, err) || got != c.want {
				t.Errorf("%s, %v: calls %q, value %q, want %q, error %v", c.call, err, calls, got, c.want, failed)
			}
			if isWrapped := err != nil && strings.HasPrefix(failed.Error(), "with context: "); isWrapped != (err != nil && !strings.HasPrefix(c.call, "close")) {
				t.Errorf("%s: %v", c.call, failed)
			}
		}
	}
}

// TestMissingAbilities: an archive or loader without an ability, wrapped or not, reports that it has none.
func TestMissingAbilities(t *testing.T) {
	ctx := t.Context()
	var calls []string
	bare := struct{ Archive }{full{nil, &calls}} // only the methods of Archive
	wrapped := WrapErrors(bare, func(err error) error { return err })
	for _, a := range []Archive{bare, wrapped} {
		if _, err := MarksOf(ctx, a, "s", nil); !errors.Is(err, errors.ErrUnsupported) || OneOfEach(a) != "" {
			t.Errorf("%T: %v, %q", a, err, OneOfEach(a))
		}
	}
	reader := wrapped.(RowReader)
	if _, err := reader.RowRanges(ctx, "s"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ranges: %v", err)
	}
	n := 0
	for _, err := range reader.DumpRows(ctx, "s", RowRange{}) {
		if n++; !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("rows: %v", err)
		}
	}
	if err := Trim(ctx, struct{ Loader }{}, 1); n != 1 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%d errors; trim: %v", n, err)
	}
	all := full{nil, &calls}
	for _, a := range []Archive{all, WrapErrors(all, func(err error) error { return err })} {
		if got := OneOfEach(a); got != "the key is the identity" {
			t.Errorf("%T: %q", a, got)
		}
	}
}

// TestCountsInWords: the total of a subset, and the number of protected records in the error of a commit.
func TestCountsInWords(t *testing.T) {
	if n := (Contents{Records: map[string]int64{"SL1L2": 3, "MPR": 4}}).Total(); n != 7 {
		t.Errorf("%d records", n)
	}
	err := &ConflictError{Records: make([]ExistingRecord, 2)}
	if want := "the commit stored nothing: the archive has 2 protected records with the same identity"; err.Error() != want {
		t.Error(err)
	}
}

// TestSplitRows: ranges have no gap, and the last one ends at the last row.
func TestSplitRows(t *testing.T) {
	for _, c := range []struct {
		last int64
		want []RowRange
	}{
		{-1, nil},
		{0, []RowRange{{"MPR", 0, 0, 2}}},
		{4, []RowRange{{"MPR", 0, 4, 2}}},
		{5, []RowRange{{"MPR", 0, 4, 2}, {"MPR", 5, 5, 2}}},
	} {
		if got := SplitRows("MPR", c.last, 5, 2); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", c.last, got, c.want)
		}
	}
}

// TestProcessOfALoad: the system reports the start of a process only to about a second, so a process that started up to
// two seconds after the load is the load's.
func TestProcessOfALoad(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip("NOT TESTED: this machine has no host name")
	}
	p, err := process.NewProcess(int32(os.Getpid())) //nolint:gosec // a pid fits
	if err != nil {
		t.Fatal(err)
	}
	ms, err := p.CreateTime()
	if err != nil {
		t.Skipf("NOT TESTED: the system does not report when a process started: %v", err)
	}
	for later, want := range map[time.Duration]bool{0: true, 1900 * time.Millisecond: true, 2100 * time.Millisecond: false} {
		if got := InFlight(&design.Loading{PID: os.Getpid(), Host: host, Since: time.UnixMilli(ms).Add(-later)}); got != want {
			t.Errorf("a process that started %s after the load: in flight %t", later, got)
		}
	}
}

// TestSmallestOffer: an engine with one design has archives. The coarsest times of changes are those of FAT: two seconds.
func TestSmallestOffer(t *testing.T) {
	d := engine.Driver{Offers: []any{Offer{Designs: map[design.Name][]flavour.Name{design.Wide: nil}}}}
	if !IsOffered(&d) || TimestampGranularity.Seconds() != 2 {
		t.Errorf("offered: %t, times in steps of %s", IsOffered(&d), TimestampGranularity)
	}
}
