package host

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestMain makes this program the child that reads a fake archive.
func TestMain(m *testing.M) {
	if IsChild("fake") {
		Child(func(_ context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
			if u.Host == "broken" {
				return nil, &fault.Error{File: "broken", Problem: "cannot be opened"}
			}
			return &engine.Engine{
				Abilities: []any{fakeDatabase{}},
				About: func(context.Context) (engine.About, error) {
					return engine.About{Product: "Fake", Settings: map[string]string{
						"options": fmt.Sprint(o.ReadOnly, o.InProcess, o.Threads), "calls": strconv.FormatInt(abouts.Add(1), 10),
					}}, nil
				},
				Close: func() error { return os.WriteFile(u.Query().Get("closed"), nil, 0o600) },
			}, nil
		})
	}
	if os.Getenv(envArchive) != "" { // a child that ran the tests would start children without end
		os.Exit(1) //nolint:forbidigo // a child of the tests
	}
	os.Exit(m.Run()) //nolint:forbidigo // as Go requires
}

type fakeDatabase struct{}

func (fakeDatabase) Open(_ context.Context, d design.Name) (archive.Archive, error) {
	if d != design.Wide {
		return nil, fmt.Errorf("fake: %s: %w", d, engine.ErrNoDesign)
	}
	return fakeArchive{}, nil
}

// fakeArchive answers each call with what depends on its arguments. Some subsets make it fail.
type fakeArchive struct{ archive.Archive }

// canceled counts the calls that the parent canceled, abouts those of About.
var canceled, abouts atomic.Int64

var loaded = time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC)

func (fakeArchive) Marks(_ context.Context, subset string) ([]archive.Mark, error) {
	return []archive.Mark{{Path: subset + "/a.stat", Bytes: 7, Conflicts: 3, Loaded: loaded}, {Path: "b.stat"}}, nil
}

func (fakeArchive) Catalog(_ context.Context, subset string) (*design.Catalog, error) {
	if subset == "none" {
		return design.NewCatalog(subset), nil
	}
	c := design.NewCatalog(subset)
	c.Add(fakeBatch(2))
	text, err := c.Encode()
	if err != nil {
		return nil, err
	}
	return design.ParseCatalog(text)
}

func (fakeArchive) Subsets(context.Context) ([]string, error) { return []string{"a", "b"}, nil }

func (fakeArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	switch subset {
	case "crash":
		panic("the fake crashes")
	case "exit":
		os.Exit(0) //nolint:forbidigo // a child of the tests
	case "hang":
		time.Sleep(time.Hour)
	case "readable /proc":
		if err := os.Unsetenv(hostProc); err != nil {
			return archive.Contents{}, err
		}
		<-ctx.Done()
	case "wait":
		<-ctx.Done()
		canceled.Add(1)
		return archive.Contents{}, ctx.Err()
	case "canceled":
		return archive.Contents{Objects: canceled.Load()}, nil
	case "invalid":
		return archive.Contents{}, &fault.Status{Code: fault.Differs, Err: &fault.Error{File: "x.db", Line: 3, Setting: "s", Problem: "is invalid", Cure: "restore it", Err: errors.New("a cause")}}
	case "empty":
		return archive.Contents{}, nil
	}
	return archive.Contents{Records: map[string]int64{"SL1L2": 5}, Objects: 6, Object: "rows"}, nil
}

func (fakeArchive) Phrase(_ context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	if f == "none" {
		return nil, fmt.Errorf("fake: %w", flavour.ErrCannotExpress)
	}
	return &archive.Query{Question: q, Flavour: f, Text: "SELECT " + q.Name, Args: []any{"x", []string{"y", "z"}}, Keys: []string{"k"}}, nil
}

// Ask returns as many rows as the text of the query, a number, says.
func (fakeArchive) Ask(_ context.Context, q *archive.Query, into *answer.Builder) error {
	n, err := strconv.Atoi(q.Text)
	if err != nil {
		return err
	}
	q.ServerTime = 42 * time.Millisecond
	fakeRows(into, q.Question.Columns, n)
	return nil
}

func (fakeArchive) Explain(_ context.Context, q *archive.Query) (archive.Plan, error) {
	return archive.Plan{Text: "plan of " + q.Text + fmt.Sprint(q.Args), Access: []archive.Access{{Object: "t", Index: "i"}}}, nil
}

func (fakeArchive) Dump(_ context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for n := 1; n <= 3; n++ {
			if !yield(fakeBatch(n), nil) {
				return
			}
		}
		if subset == "damaged" {
			yield(nil, errors.New("a page is damaged"))
		}
	}
}

func (fakeArchive) RowRanges(context.Context, string) ([]archive.RowRange, error) {
	return []archive.RowRange{{LineType: "SL1L2", First: 1, Last: 4, MinRows: 2}}, nil
}

func (fakeArchive) DumpRows(_ context.Context, _ string, r archive.RowRange) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) { yield(fakeBatch(int(r.Last-r.First)+1), nil) }
}

func (fakeArchive) Size(context.Context) (int64, error) { return 12345, nil }

func fakeBatch(n int) *record.Batch {
	t, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(t, "a.stat")
	head := b.AddHeader(record.DefaultHeader())
	for i := range n {
		b.AppendTimes(head, 3600, int64(i)*3600, uint32(i))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(k+i))
		}
	}
	return b
}

func fakeColumns() []question.Column {
	return []question.Column{
		{Name: "name", Kind: question.Text},
		{Name: "at", Kind: question.Time},
		{Name: "lead", Kind: question.Duration},
		{Name: "value", Kind: question.Number},
		{Name: "list", Kind: question.List},
	}
}

// fakeRows has so many texts that the encoder must forget them, and lists of zero to two numbers.
func fakeRows(into *answer.Builder, columns []question.Column, n int) {
	into.Reset(columns)
	for i := range n {
		into.Text(0, "text "+strconv.Itoa(i%(mostTexts+50)))
		into.Seconds(1, int64(i)*60)
		into.Seconds(2, -int64(i))
		into.Num(3, float64(i)/8)
		list := into.Vector(4)
		for k := range i % 3 {
			list.Num = append(list.Num, float64(k))
		}
		list.End = append(list.End, len(list.Num))
		into.Row()
	}
}

// fake opens a Reader of the fake archive.
func fake(t *testing.T, o Options) *Reader {
	t.Helper()
	if o.URL == "" {
		o.URL = "fake://complete"
	}
	o.Path, o.Deadline = "x.db", time.Minute
	r, err := NewReader(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func opened(t *testing.T, r *Reader) archive.Archive {
	t.Helper()
	a, err := r.Open(t.Context(), design.Wide)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestReadInAnotherProcess: every call of an archive returns in this process what it returns in the other one.
func TestReadInAnotherProcess(t *testing.T) {
	ctx := t.Context()
	r := fake(t, Options{Threads: 3})
	about, err := r.About(ctx)
	if err != nil || about.Product != "Fake" || about.Settings["options"] != "true true 3" || !strings.HasPrefix(about.Settings["process"], "read in a separate process: its start took ") {
		t.Errorf("%+v, %v", about, err)
	}
	if pid := r.PID(); pid == 0 || pid == os.Getpid() {
		t.Errorf("process %d", pid)
	}
	if _, err := r.Open(ctx, "none"); !errors.Is(err, engine.ErrNoDesign) || err.Error() != "fake: none: "+engine.ErrNoDesign.Error() {
		t.Errorf("an unknown design: %v", err)
	}
	a := opened(t, r)
	if marks, err := a.Marks(ctx, "s"); err != nil || len(marks) != 2 || marks[0].Path != "s/a.stat" || marks[0].Conflicts != 3 || !marks[0].Loaded.Equal(loaded) {
		t.Errorf("%+v, %v", marks, err)
	}
	want, _ := fakeArchive{}.Catalog(ctx, "s")
	if c, err := a.Catalog(ctx, "s"); err != nil || c.Subset != "s" || c.Digest() != want.Digest() || c.Records()["SL1L2"] != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := a.Catalog(ctx, "none"); err != nil || c.Subset != "none" || len(c.Records()) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if names, err := a.Subsets(ctx); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
	if c, err := a.Contents(ctx, "s"); err != nil || c.Total() != 5 || c.Objects != 6 || c.Object != "rows" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := a.Contents(ctx, "empty"); err != nil || c.Records == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if n, err := a.Size(ctx); n != 12345 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := a.Loader(ctx, "s"); !errors.Is(err, engine.ErrReadOnly) {
		t.Error(err)
	}
	lt, _ := record.TypeByName("SL1L2")
	q := &question.Question{Name: "q", Type: lt, Columns: fakeColumns()}
	phrased, err := a.Phrase(ctx, q, "sql")
	if err != nil || phrased.Question != q || phrased.Text != "SELECT q" || phrased.Flavour != "sql" || !reflect.DeepEqual(phrased.Args, []any{"x", []string{"y", "z"}}) || !slices.Equal(phrased.Keys, []string{"k"}) {
		t.Errorf("%+v, %v", phrased, err)
	}
	if _, err := a.Phrase(ctx, q, "none"); !errors.Is(err, flavour.ErrCannotExpress) {
		t.Error(err)
	}
	if plan, err := a.Explain(ctx, phrased); err != nil || plan.Text != "plan of SELECT q[x [y z]]" || len(plan.Access) != 1 || plan.Access[0].Index != "i" {
		t.Errorf("%+v, %v", plan, err)
	}
	if _, err := a.Explain(ctx, &archive.Query{Question: q, Args: []any{1}}); err == nil || !strings.Contains(err.Error(), "is a int") {
		t.Errorf("an argument that is no text: %v", err)
	}
	if problems, err := a.(archive.Checker).Check(ctx, "s"); problems != nil || err != nil {
		t.Errorf("%q, %v", problems, err)
	}
	checked := fake(t, Options{Check: func(context.Context) ([]string, error) { return []string{"page 3"}, nil }})
	if problems, err := opened(t, checked).(archive.Checker).Check(ctx, "s"); !slices.Equal(problems, []string{"page 3"}) || err != nil {
		t.Errorf("%q, %v", problems, err)
	}
}

// TestRowsFromAnotherProcess: an answer of any number of rows arrives complete, in chunks.
func TestRowsFromAnotherProcess(t *testing.T) {
	a := opened(t, fake(t, Options{}))
	for _, n := range []int{0, 1, 2, chunkRows, chunkRows + 100} {
		q := &archive.Query{Question: &question.Question{Name: "q", Columns: fakeColumns()}, Text: strconv.Itoa(n)}
		var got, want answer.Builder
		if err := a.Ask(t.Context(), q, &got); err != nil {
			t.Fatal(err)
		}
		fakeRows(&want, fakeColumns(), n)
		if got.Rows != n || q.ServerTime != 42*time.Millisecond {
			t.Errorf("%d rows of %d, in %s", got.Rows, n, q.ServerTime)
		}
		for k := range want.Columns {
			g, w := got.Vectors[k], want.Vectors[k]
			if !slices.Equal(g.Text, w.Text) || !slices.Equal(g.Seconds, w.Seconds) || !slices.Equal(g.Num, w.Num) || !slices.Equal(g.End, w.End) {
				t.Errorf("%d rows: column %s differs", n, want.Columns[k].Name)
			}
		}
	}
}

// TestRecordsFromAnotherProcess: a dump yields every batch, then its error; a caller may leave it at any time.
func TestRecordsFromAnotherProcess(t *testing.T) {
	r := fake(t, Options{})
	a, pid := opened(t, r), r.PID()
	count := func(dump iter.Seq2[*record.Batch, error], most int) (rows int, failed error) {
		for b, err := range dump {
			if err != nil {
				return rows, err
			}
			if rows += b.Len(); rows >= most {
				break
			}
		}
		return rows, nil
	}
	for _, c := range []struct {
		subset     string
		most, want int
		problem    string
	}{{"s", math.MaxInt, 6, ""}, {"s", 1, 1, ""}, {"s", 3, 3, ""}, {"damaged", math.MaxInt, 6, "a page is damaged"}} {
		rows, err := count(a.Dump(t.Context(), c.subset), c.most)
		if rows != c.want || (err == nil) != (c.problem == "") || err != nil && err.Error() != c.problem {
			t.Errorf("%s up to %d: %d rows, %v", c.subset, c.most, rows, err)
		}
	}
	rows, ok := a.(archive.RowReader)
	if !ok {
		t.Fatal("no row reader")
	}
	ranges, err := rows.RowRanges(t.Context(), "s")
	if err != nil || len(ranges) != 1 || ranges[0] != (archive.RowRange{LineType: "SL1L2", First: 1, Last: 4, MinRows: 2}) {
		t.Fatalf("%+v, %v", ranges, err)
	}
	if n, err := count(rows.DumpRows(t.Context(), "s", ranges[0]), math.MaxInt); n != 4 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	if r.PID() != pid {
		t.Error("the process was restarted")
	}
}

// TestDumpLeftAfterCancellation: a caller who cancels a dump may also leave it, or wait for its error. Neither kills the
// process. With one thread, the goroutine that a context starts when it is canceled runs late.
func TestDumpLeftAfterCancellation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := fake(t, Options{})
	a, pid := opened(t, r), r.PID()
	for i := range 20 {
		isLeft := i%2 == 0
		if _, err := a.Size(t.Context()); err != nil {
			t.Fatal(err)
		}
		conn, process := r.idle[0].conn, r.process
		ctx, cancel := context.WithCancel(t.Context())
		var failed error
		for _, err := range a.Dump(ctx, "s") {
			cancel()
			if failed = err; isLeft {
				break
			}
		}
		cancel()
		if errors.Is(failed, context.Canceled) == isLeft {
			t.Errorf("the caller left: %t, the dump ended with %v", isLeft, failed)
		}
		for conn.SetDeadline(time.Time{}) == nil { // the Reader closes the connection after the call has ended
			time.Sleep(time.Millisecond)
		}
		if process.killed.Load() || r.PID() != pid {
			t.Fatalf("dump %d: process %d was killed, and process %d runs", i, pid, r.PID())
		}
	}
}

// TestErrorsOfTheOtherProcess: an error keeps its text, place, cure, status and cause.
func TestErrorsOfTheOtherProcess(t *testing.T) {
	r := fake(t, Options{})
	pid := r.PID()
	_, err := opened(t, r).Contents(t.Context(), "invalid")
	s, ok := errors.AsType[*fault.Status](err)
	f, isFault := errors.AsType[*fault.Error](err)
	if !ok || s.Code != fault.Differs || !isFault || f.File != "x.db" || f.Line != 3 || f.Setting != "s" || f.Problem != "is invalid" || f.Cure != "restore it" || f.Err == nil || f.Err.Error() != "a cause" {
		t.Errorf("%#v", err)
	}
	if r.PID() != pid {
		t.Error("an error restarted the process")
	}
	restarting := fake(t, Options{Invalid: func(err error) bool { return strings.Contains(err.Error(), "is invalid") }})
	a := opened(t, restarting)
	if _, err := a.Contents(t.Context(), "invalid"); err == nil || restarting.PID() != 0 {
		t.Errorf("after an invalid engine process %d runs: %v", restarting.PID(), err)
	}
	if c, err := a.Contents(t.Context(), "s"); err != nil || c.Total() != 5 || restarting.PID() == 0 {
		t.Errorf("after the restart: %+v, %v", c, err)
	}
	if _, err := NewReader(t.Context(), Options{URL: "fake://broken", Path: "x.db", Deadline: time.Minute}); err == nil || err.Error() != (&fault.Error{File: "broken", Problem: "cannot be opened"}).Error() {
		t.Errorf("an archive that cannot be opened: %v", err)
	}
}

// TestCrashes: the end of the process ends the call with a reason, and the next call starts another process.
func TestCrashes(t *testing.T) {
	r := fake(t, Options{})
	a := opened(t, r)
	for subset, want := range map[string]string{
		"crash": "the process that read it crashed: panic: the fake crashes", "exit": "the process that reads it was restarted, because another call failed or hung",
	} {
		pid, process := r.PID(), r.process
		_, err := a.Contents(t.Context(), subset)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", subset, err)
		}
		if s, ok := errors.AsType[*fault.Status](err); ok != (subset == "crash") || ok && s.Code != fault.Differs {
			t.Errorf("%s: %#v", subset, err)
		}
		if got := process.Crash(); (got == "panic: the fake crashes") != (subset == "crash") || (got == "") != (subset == "exit") {
			t.Errorf("%s: the process ended with %q", subset, got)
		}
		if c, err := a.Contents(t.Context(), "s"); err != nil || c.Total() != 5 || r.PID() == pid {
			t.Errorf("after %s: %+v, %v", subset, c, err)
		}
	}
	killed := r.process
	killed.Kill()
	if got := killed.Crash(); got != "" {
		t.Errorf("a killed process crashed with %q", got)
	}
	_, err := NewReader(t.Context(), Options{URL: "fake://complete", Path: "x.db", Deadline: time.Minute, Memory: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "exceeded its memory limit of 1 MiB") {
		t.Errorf("a process that needs more memory than it may have: %v", err)
	}
	fake(t, Options{Memory: 1 << 40})
}

// hostProc is the environment variable that names the folder /proc for gopsutil.
const hostProc = "HOST_PROC"

// TestMemoryAfterAnError: a process whose memory could not be measured at first exits as soon as it measures too much.
func TestMemoryAfterAnError(t *testing.T) {
	t.Setenv(hostProc, filepath.Join(t.TempDir(), "none"))
	a := opened(t, fake(t, Options{Memory: 1 << 20}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := a.Contents(ctx, "readable /proc"); err == nil || !strings.Contains(err.Error(), "exceeded its memory limit of 1 MiB") {
		t.Error(err)
	}
}

// TestCanceledCalls: a canceled call ends at once, and the process answers the next one.
func TestCanceledCalls(t *testing.T) {
	r := fake(t, Options{})
	a, pid := opened(t, r), r.PID()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := a.Contents(ctx, "wait"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := a.Contents(ctx, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call after the cancellation: %v", err)
	}
	for range 1000 { // the process notices the end of the connection soon
		c, err := a.Contents(t.Context(), "canceled")
		if err != nil || r.PID() != pid {
			t.Fatal(err)
		}
		if c.Objects == 1 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the process did not cancel the call")
}

// TestDeadline: a silent process is ended; this call and all later ones report the limit.
func TestDeadline(t *testing.T) {
	r := fake(t, Options{})
	a := opened(t, r)
	r.o.Deadline = 10 * time.Millisecond
	for _, subset := range []string{"hang", "s"} {
		if _, err := a.Contents(t.Context(), subset); err == nil || !strings.Contains(err.Error(), "did not answer within the limit of 10ms") || r.PID() != 0 {
			t.Errorf("%s: process %d, %v", subset, r.PID(), err)
		}
	}
}

// TestClosedReader: the process closes its engine, which may have files to remove, and Close waits for its end.
func TestClosedReader(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	r := fake(t, Options{URL: "fake://complete?closed=" + closed})
	a, process := opened(t, r), r.process
	if err := errors.Join(a.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-process.exited:
	default:
		t.Error("Close does not wait for the end of the process")
	}
	if _, err := os.Stat(closed); err != nil {
		t.Errorf("the process did not close its engine: %v", err)
	}
	if _, err := a.Size(t.Context()); !errors.Is(err, errClosed) || r.PID() != 0 {
		t.Errorf("process %d, %v", r.PID(), err)
	}
}

func TestReasonsOfCrashes(t *testing.T) {
	for _, c := range []struct{ stderr, state, want string }{
		{"", "exit status 2", "exit status 2"},
		{"some text\n", "signal: aborted", "signal: aborted"},
		{"terminate called\n  what():  a page is damaged\nmore", "signal: aborted", "what():  a page is damaged"},
		{"a\npanic: nil map\n\ngoroutine 1", "exit status 2", "panic: nil map"},
		{"fatal error: out of memory\npanic: later", "exit status 2", "fatal error: out of memory"},
		{"SIGSEGV: segmentation violation\nPC=0", "exit status 2", "SIGSEGV: segmentation violation"},
		{"not a panic: at the start of a line", "exit status 1", "exit status 1"},
	} {
		if got := reason(c.stderr, c.state); got != c.want {
			t.Errorf("%q: %q", c.stderr, got)
		}
	}
}

// The beginning of standard error is kept, and everything is accepted.
func TestHead(t *testing.T) {
	var h head
	for i := range 3 {
		part := strings.Repeat(strconv.Itoa(i), headBytes/2+1)
		if n, err := h.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if got := h.text(); got != strings.Repeat("0", 32*1024+1)+strings.Repeat("1", 32*1024-1) {
		t.Errorf("%d bytes", len(got))
	}
}
