package ycsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// breakable is a server that can be down, and that can acknowledge writes without doing them.
type breakable struct {
	down, forgets atomic.Bool
}

func (b *breakable) change(c *kv.Conn) {
	read, update, insert := c.Read, c.Update, c.Insert
	c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
		if b.down.Load() {
			return io.ErrUnexpectedEOF
		}
		return read(ctx, key, f, into)
	}
	c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
		switch {
		case b.down.Load():
			return syscall.ECONNREFUSED
		case b.forgets.Load():
			return read(ctx, key, nil, &kv.Row{})
		}
		return update(ctx, key, r)
	}
	c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
		if b.forgets.Load() && errors.Is(read(ctx, key, nil, &kv.Row{}), kv.ErrNotFound) {
			return nil
		}
		return insert(ctx, key, r)
	}
}

func (b *breakable) inflict(_ context.Context, f lab.Fault) (string, error) {
	b.down.Store(f.Action == lab.Kill)
	return "", nil
}

// TestFaults: a run with faults counts no unanswered operation as successful, reports the outage in numbers, and has
// status 4. A store that loses writes against its promise has no times, and status 3.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		forgets  time.Duration // from when on, for half a second; 0 = never
		promises []engine.Promise
		code     int
		verdict  run.Verdict
	}{
		"a correct store":                                      {0, engine.Promises(), fault.Incomplete, run.Equal},
		"it loses what it promised":                            {2100 * time.Millisecond, engine.Promises(), fault.Differs, run.Wrong},
		"it promised nothing of it":                            {2100 * time.Millisecond, nil, fault.Incomplete, run.Equal},
		"it promised something else":                           {2100 * time.Millisecond, []engine.Promise{engine.NoRevivedRecords}, fault.Incomplete, run.Equal},
		"before the fault, where it promised nothing after it": {500 * time.Millisecond, nil, fault.Differs, run.Wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits
			w, b := config(t, "readproportion=0.5", "updateproportion=0.5", "target=200", "maxexecutiontime=3"), &breakable{}
			db := wrapped{loaded(t, config(t)), conns(b.change)}
			if c.forgets > 0 {
				time.AfterFunc(c.forgets, func() { b.forgets.Store(true) })
				time.AfterFunc(c.forgets+500*time.Millisecond, func() { b.forgets.Store(false) })
			}
			faults, err := lab.ParseFaults("kill@1500ms,restart@2s")
			if err != nil {
				t.Fatal(err)
			}
			target := &Target{Scheme: "fake", KV: db, faults: &Faults{All: faults, Inflict: b.inflict, Clients: 8, Promises: c.promises}}
			s, r, err := target.Measure(t.Context(), w, target.Options(), "a", 1)
			if code(err) != c.code || s.Verdict != c.verdict {
				t.Fatalf("status %d, %s: %v", code(err), s.Verdict, err)
			}
			f, m := s.Fault, s.Measured()
			if (m != nil) != (c.verdict == run.Equal) || f.History.Operations < 200 || len(f.Moments) != 2 {
				t.Fatalf("%+v, %+v", f, m)
			}
			if held := f.History.Promises[3].Kept; held == (c.forgets > 0) {
				t.Errorf("nothing lost: %v, %+v", held, f.History)
			}
			if m == nil {
				return
			}
			if m.FaultCost.TimeWithoutSuccess < 300*time.Millisecond || m.FaultCost.TimeWithoutSuccess > 1500*time.Millisecond || m.FaultCost.RateBefore < 100 || !strings.Contains(err.Error(), "s without service") {
				t.Errorf("%+v, %v", m.FaultCost, err)
			}
			ended, failed := int64(0), int64(0)
			for _, x := range m.Series {
				ended, failed = ended+x.Completed, failed+x.Failed
			}
			if failed == 0 || failed != f.Lost-m.Unstarted || ended-failed != r.Succeeded() || m.Operations != ended || f.Errors[brokenOff]+f.Errors[unreached] != failed {
				t.Errorf("%d of %d failed, %d succeeded: %+v", failed, ended, r.Succeeded(), f)
			}
			if m.Series[0].P50 == 0 || m.Series[0].P99 < m.Series[0].P50 || m.Interval != time.Second {
				t.Errorf("%+v", m.Series[0])
			}
		})
	}
}

// TestHistoryWithoutFault: a run without faults has a history, too, if it is requested. The history detects a store that
// loses 1 % of its writes from the start, whatever its settings promise about faults.
func TestHistoryWithoutFault(t *testing.T) {
	for name, rate := range map[string]float64{"a correct store": 0, "it loses 1 %": 0.01} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits
			s := &faultyStore{kind: dropped, rate: rate, rng: rand.New(rand.NewPCG(1, 1)), before: map[string]*kv.Row{}}
			c := config(t, "readproportion=1", "updateproportion=0", "target=100", "operationcount=0", "maxexecutiontime=4")
			r, err := Run(t.Context(), wrapped{loaded(t, config(t)), s.change}, c, Options{History: 8})
			if err != nil || r.History == nil || r.History.Operations < 200 {
				t.Fatalf("%v, %+v", err, r)
			}
			if got := code(r.Err()); got != map[bool]int{true: fault.Differs}[rate > 0] {
				t.Errorf("status %d: %v", got, r.Err())
			}
		})
	}
}

// TestCost: the cost of a fault at 2 s, computed from a series of tenths of a second.
func TestCost(t *testing.T) {
	at := func(rates ...int) (out []pace.SeriesPoint) { // by half a second, 10 a tenth is the rate
		for _, r := range rates {
			for range 5 {
				out = append(out, pace.SeriesPoint{Finished: int64(r) + 1, Failed: 1})
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		series        []pace.SeriesPoint
		without, back time.Duration
	}{
		"nothing happens":       {at(10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10), 0, 0},
		"away for one second":   {at(10, 10, 10, 10, 0, 0, 10, 10, 10, 10, 10, 10), time.Second, time.Second},
		"slow for a second":     {at(10, 10, 10, 10, 5, 5, 10, 10, 10, 10, 10, 10), 0, 900 * time.Millisecond},
		"it comes back in vain": {at(10, 10, 10, 10, 0, 10, 10, 0, 10, 10, 10, 10), time.Second, -1},
		"never":                 {at(10, 10, 10, 10), 4 * time.Second, -1},
	} {
		got := faultCost(c.series, 100*time.Millisecond, 2*time.Second, 6*time.Second)
		if got.TimeWithoutSuccess != c.without || got.RecoveryTime != c.back || got.RateBefore != 100 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestKindsOfErrors(t *testing.T) {
	for want, errs := range map[string][]error{
		timedOut:  {context.DeadlineExceeded, os.ErrDeadlineExceeded, &net.OpError{Err: os.ErrDeadlineExceeded}},
		unreached: {syscall.ECONNREFUSED, &net.OpError{Err: syscall.ECONNREFUSED}, engine.ErrUnreachable},
		brokenOff: {io.EOF, &net.OpError{Err: syscall.ECONNRESET}, net.ErrClosed},
		refusedBy: {errors.New("READONLY")},
		canceled:  {context.Canceled},
	} {
		for _, err := range errs {
			if got := kindOf(fmt.Errorf("x: %w", err)); got != want {
				t.Errorf("%v is %q, want %q", err, got, want)
			}
		}
	}
}

// TestErrorsOfAHungWorker: a worker that does not return may count an error while the report is written.
func TestErrorsOfAHungWorker(t *testing.T) {
	w, r := &workload{Config: config(t)}, &Report{Fault: &run.Fault{}, Result: &pace.Result{}}
	w.errors.note(io.EOF, false)
	r.countFailures(w)
	w.errors.note(io.EOF, false)
	if n := r.Fault.Errors[brokenOff]; n != 1 {
		t.Errorf("%d errors", n)
	}
}

// TestTailHasNoSecret: the end of a command's output has no part of a password, also if it begins within a URL.
func TestTailHasNoSecret(t *testing.T) {
	for before := range 40 {
		url := "postgres://user:geheimnis@host/"
		b := bytes.NewBufferString(url + strings.Repeat("x", mostOutput-before))
		if text := tail(b); strings.Contains(text, "nis@") || strings.Contains(text, "eheim") {
			t.Fatalf("%d bytes of the URL are left: %.60s", before, text)
		}
	}
}

// TestReadBackIsInterrupted: after an interruption, workers do not continue to connect to a server that is away.
func TestReadBackIsInterrupted(t *testing.T) {
	c := config(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var attempts atomic.Int64
	away := func(r *kv.Records) *kv.Records {
		out := *conns(func(c *kv.Conn) { c.Read = failing })(r)
		connect := out.Connect
		out.Connect = func(ctx context.Context) (*kv.Conn, error) {
			attempts.Add(1)
			stop()
			return connect(ctx)
		}
		return &out
	}
	table, err := wrapped{loaded(t, c), away}.Table(t.Context(), c.TableSpec(""))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorkload(c, table)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := table.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Config: c, Fault: &run.Fault{}, Result: &pace.Result{}}
	if err := r.readBack(ctx, w, []*worker{w.worker(conn, 0)}, counting{}); err == nil || attempts.Load() > 3 {
		t.Errorf("%v after %d attempts", err, attempts.Load())
	}
}

// TestRelayToAnEngineThatFails: an engine that cannot be opened through a relay is closed once.
func TestRelayToAnEngineThatFails(t *testing.T) {
	closed, bad := 0, errors.New("unknown host key")
	target := &Target{
		Scheme: "fake", url: &url.URL{Scheme: "fake", Host: "127.0.0.1:1"}, d: &engine.Driver{Place: engine.Remote},
		db:   &engine.Engine{Close: func() error { closed++; return nil }},
		open: func(string) (*engine.Engine, error) { return nil, bad },
	}
	if err := target.relay(); !errors.Is(err, bad) {
		t.Error(err)
	}
	if err := CloseAll([]*Target{target}); err != nil || closed != 1 {
		t.Errorf("closed %d times, %v", closed, err)
	}
}

// TestFaultsAreRefused: faults whose cost cannot be measured are refused before the run.
func TestFaultsAreRefused(t *testing.T) {
	for text, set := range map[string]string{"give a --target": "maxexecutiontime=9", "maxexecutiontime is not given": "target=10", "the run is over before": "target=10,maxexecutiontime=2", "leaves no time": "target=10,maxexecutiontime=9,early", "maxerrors cannot be given": "target=10,maxexecutiontime=9,maxerrors=5"} {
		c := config(t, strings.Split(strings.TrimSuffix(set, ",early"), ",")...)
		f := &Faults{All: []lab.Fault{{Action: lab.Kill, Node: 1, At: 2 * time.Second}}}
		if strings.HasSuffix(set, "early") {
			f.All[0].At = 0
		}
		if _, err := Run(t.Context(), loaded(t, config(t)), c, Options{Faults: f}); code(err) != fault.Usage || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// TestRepairedAtTheEnd: a run that ends while its server is down is read back after the repair, by workers that have lost
// their connections.
func TestRepairedAtTheEnd(t *testing.T) {
	t.Parallel() // it waits
	w, b := config(t, "readproportion=0.5", "updateproportion=0.5", "target=200", "maxexecutiontime=2"), &breakable{}
	lost := conns(func(c *kv.Conn) {
		broken := false
		b.change(c)
		read := c.Read
		c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			if broken = broken || b.down.Load(); broken {
				return io.ErrUnexpectedEOF
			}
			return read(ctx, key, f, into)
		}
	})
	faults, err := lab.ParseFaults("kill@1500ms")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), wrapped{loaded(t, config(t)), lost}, w, Options{Faults: &Faults{All: faults, Inflict: b.inflict, Clients: 8, Promises: engine.Promises()}})
	if err != nil || code(r.Err()) != fault.Incomplete || r.back.Found == 0 || r.Fault.History.Problem != "" || b.down.Load() {
		t.Errorf("%v, %v, %+v, %+v", err, r.Err(), r.back, r.Fault.History)
	}
}

// TestInterruptedBetweenFaults: a run that is interrupted between two faults has no other error: the later faults are no
// failure, and the time after the interruption is no outage.
func TestInterruptedBetweenFaults(t *testing.T) {
	t.Parallel() // it waits
	faults, err := lab.ParseFaults("kill@1s,restart@2s,kill@20s")
	if err != nil {
		t.Fatal(err)
	}
	b := &breakable{}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	r, err := Run(ctx, wrapped{loaded(t, config(t)), conns(b.change)}, config(t, "target=200", "maxexecutiontime=30"), Options{Faults: &Faults{All: faults, Inflict: b.inflict}})
	if err != nil || r.Result.Ending != pace.Interrupted || code(r.Err()) != fault.Interrupted || !strings.Contains(r.Err().Error(), "without service") || r.cost == nil || r.cost.TimeWithoutSuccess > 3*time.Second || b.down.Load() {
		t.Errorf("%v, %+v, %+v", err, r.Result.Ending, r.cost)
	}
}

// TestWatchedAgain: the progress of a repeated run starts at 0 again: its folder has no negative rate.
func TestWatchedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := run.Create(dir, run.Run{Workload: run.MixWorkload})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{}
	(&Target{Folder: f}).watch(&o, run.MixCell("fake", "", "a", 1, 0, ""))
	for _, ended := range []int64{100, 150, 30} { // the third is of the second take
		o.Watch(pace.Progress{Finished: ended})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := run.ReadEvents(dir)
	var done []int64
	for _, e := range all {
		if e.Kind == run.RateEvent {
			done = append(done, e.Done)
		}
	}
	if err != nil || !slices.Equal(done, []int64{100, 50, 30}) {
		t.Errorf("%v, %v", done, err)
	}
}

// TestEndlessFaultCommand: a command that does not end is ended, and the error says what to do. The repair after a run
// waited for one for ever, and no interrupt reached it.
func TestEndlessFaultCommand(t *testing.T) {
	t.Parallel()
	inflict, err := shell("sleep 60; echo", 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	_, err = inflict(t.Context(), lab.Fault{Action: lab.Kill, Node: 1})
	if err == nil || !strings.Contains(err.Error(), "has not ended after 50ms; start a server in the background") {
		t.Error(err)
	}
}
