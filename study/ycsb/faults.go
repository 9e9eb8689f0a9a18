package ycsb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb/history"
)

// Faults are inflicted on a server during a run, whose times count from the end
// of the warm-up.
type Faults struct {
	All     []lab.Fault
	Inflict inflict
	Clients int // number of clients that record a history during the run; 0 = none

	Promises     []engine.Promise // of the server as it is set up, known before the run
	Acknowledged string           // likewise, what a write is worth
}

// inflict injects a fault into a server; said is the output of the user's command.
type inflict func(ctx context.Context, f lab.Fault) (said string, err error)

const (
	faultTimeout = 5 // seconds; the timeout of an operation by default
	judging      = time.Minute
	pauses       = 40 * time.Millisecond // of a history's client: it is not the load
)

// settle makes a workload one that faults can be timed in, or refuses it.
func (f *Faults) settle(c *Config) (*Config, error) {
	bad := func(setting, problem, cure string) (*Config, error) {
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{Setting: setting, Problem: problem, Cure: cure}}
	}
	last := f.All[len(f.All)-1].At
	switch {
	case c.Target <= 0:
		return bad("--fault", "what it costs is reported at a rate at which operations are due", "give a --target below what the engine bears")
	case c.Seconds == 0:
		return bad("property maxexecutiontime", "is not given, and a run with faults ends by its time", fmt.Sprintf("give more seconds than the %g of the last fault", last.Seconds()))
	case time.Duration(c.Seconds)*time.Second <= last:
		return bad("property maxexecutiontime", fmt.Sprintf("the run is over before the fault at %s", last), "give more seconds")
	case f.All[0].At < time.Second:
		return bad("--fault "+f.All[0].String(), "leaves no time to see the rate before", "let it happen a second or more after the warm-up")
	}
	out := *c
	out.Operations, out.MaxOutage = 0, 0 // only its time limit ends it
	if out.Timeout == 0 {
		out.Timeout = faultTimeout
	}
	return &out, nil
}

func (f *Faults) String() string {
	if f == nil {
		return ""
	}
	var all []string
	for _, x := range f.All {
		all = append(all, x.String())
	}
	return strings.Join(all, ",")
}

// inflict starts to inject faults. After the run, call the returned function: it stops, and repairs
// what is broken.
func (w *workload) inflict(ctx context.Context, f *Faults, pacing *pace.Options, r *Report) func(ctx context.Context) error {
	if f == nil {
		return func(context.Context) error { return nil }
	}
	r.Fault = &run.Fault{}
	pacing.ReportInterval, pacing.SeriesInterval = time.Second, fine(pacing.Rate)
	each := pacing.OnInterval
	pacing.OnInterval = func(from, to time.Duration, groups [][]*pace.OutcomeTimes) {
		if r.second(from, groups); each != nil {
			each(from, to, groups)
		}
	}
	over, all := make(chan struct{}), sync.WaitGroup{}
	all.Go(func() { r.inflictAll(ctx, w, f, over) })
	return func(ctx context.Context) error {
		close(over)
		all.Wait()
		ctx = context.WithoutCancel(ctx)
		err := r.repair(ctx, f)
		if r.Result != nil {
			r.count(w)
		}
		return err
	}
}

// steady is what the engine promises while nothing fails.
func (o *Options) steady() []engine.Promise {
	if o.Steady == nil {
		return engine.Promises()
	}
	return o.Steady
}

// witness starts to record a history during a run, if one is requested. When everything is
// repaired, call the returned function: it stops and checks the history.
func (w *workload) witness(ctx context.Context, o *Options, r *Report) (func(ctx context.Context) error, error) {
	n, promises, timeout := o.History, o.steady(), w.Timeout
	if o.Faults != nil {
		n, promises = o.Faults.Clients, o.Faults.Promises
	} else if timeout == 0 {
		timeout = faultTimeout
	}
	if n == 0 || r.Load {
		return func(context.Context) error { return nil }, nil
	}
	witness := &history.Witness{
		Table: w.table, Fields: len(w.fields), Prefix: "history" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-", Clients: n,
		Pause: pauses, Timeout: time.Duration(timeout * float64(time.Second)), Seed: uint64(w.Seed), //nolint:gosec // not negative
	}
	clients, err := witness.Start(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		h := &run.HistoryCheck{Clients: n}
		if r.History = h; r.Fault != nil {
			r.Fault.History = h
		}
		calls, failed := clients.Finish(context.WithoutCancel(ctx))
		r.judge(calls, failed, promises)
		if failed == nil && !r.struck.IsZero() {
			before := history.Until(calls, witness.Since(r.struck))
			h.Promises = append(h.Promises, keptOf(before, o.steady(), run.BeforeFault)...)
		}
		return nil
	}, nil
}

// keptOf checks the calls of an interval of a run.
func keptOf(calls []history.Op, promises []engine.Promise, when string) (out []run.PromiseResult) {
	for _, f := range history.Judge(calls, judging) {
		if when != "" && (f.Promise == engine.NoLostWrites || f.Promise == engine.NoRevivedRecords) {
			continue // the last reads do not belong to this interval
		}
		out = append(out, run.PromiseResult{Promise: string(f.Promise), When: when, Promised: slices.Contains(promises, f.Promise), Kept: f.Held, Violations: f.Broken, Example: f.Example})
	}
	return out
}

// fine returns the fraction of a second in which at least ten operations are due.
func fine(rate float64) time.Duration {
	for _, parts := range []time.Duration{10, 5, 2} {
		if rate >= 10*float64(parts) {
			return time.Second / parts
		}
	}
	return time.Second
}

// second keeps the quantiles of one second.
func (r *Report) second(from time.Duration, groups [][]*pace.OutcomeTimes) {
	h := r.response(groups)
	at := int((from + time.Second/2) / time.Second)
	for len(r.quantiles) <= at {
		r.quantiles = append(r.quantiles, run.SeriesInterval{})
	}
	if h.Count() > 0 {
		r.quantiles[at] = run.SeriesInterval{P50: h.At(50), P95: h.At(95), P99: h.At(99)}
	}
}

// inflictAll waits for each fault's moment.
func (r *Report) inflictAll(ctx context.Context, w *workload, f *Faults, over <-chan struct{}) {
	began := time.Now().Add(time.Duration(w.Warmup) * time.Second)
	for _, x := range f.All {
		select {
		case <-over:
			return
		case <-time.After(time.Until(began.Add(x.At))):
			if !slices.Contains(f.Promises, engine.NoLostWrites) {
				w.excused.Store(true)
			}
			r.inflictOne(ctx, f, x, began)
		}
	}
}

func (r *Report) inflictOne(ctx context.Context, f *Faults, x lab.Fault, began time.Time) {
	if r.struck.IsZero() {
		r.struck = time.Now()
	}
	m := run.InjectedFault{Command: strings.ReplaceAll(x.What(), ":", " "), At: time.Since(began)}
	var err error
	if m.Output, err = f.Inflict(ctx, x); err != nil {
		m.Problem = fault.Redact(err.Error())
	}
	m.Duration = time.Since(began) - m.At
	r.Fault.Moments = append(r.Fault.Moments, m)
}

// repair repairs what is broken, because the next requests need an intact server.
func (r *Report) repair(ctx context.Context, f *Faults) (err error) {
	for _, x := range lab.Repairs(f.All[:len(r.Fault.Moments)]) {
		_, failed := f.Inflict(ctx, x)
		err = errors.Join(err, failed)
	}
	for _, m := range r.Fault.Moments {
		if m.Problem != "" {
			err = errors.Join(err, fmt.Errorf("%s: %s", m.Command, m.Problem))
		}
	}
	if n := len(f.All) - len(r.Fault.Moments); n > 0 && !r.interrupted() {
		err = errors.Join(err, fmt.Errorf("the run was over before %d of %d faults", n, len(f.All)))
	}
	return err
}

// interrupted reports whether the user ended the run.
func (r *Report) interrupted() bool { return r.Result != nil && r.Result.Ending == pace.Interrupted }

// count counts the outcomes of the operations, and computes the cost of the faults.
func (r *Report) count(w *workload) {
	w.errors.mu.Lock()
	r.Fault.Errors, r.Fault.TimedOut = w.errors.kinds, w.errors.kinds[timedOut]
	w.errors.mu.Unlock()
	r.Fault.Reconnects, r.Fault.Retries = w.outages.opened, w.retries.Load()
	r.Fault.Lost = r.Result.Operations - r.Result.Succeeded + r.Result.Unstarted
	if len(r.Fault.Moments) > 0 {
		fine, length := r.Result.SeriesInterval, time.Duration(w.Seconds)*time.Second
		if r.interrupted() {
			length = min(length, r.Result.Elapsed) // what was not waited for is no outage
		}
		r.Result.Series, r.cost = coarse(r.Result.Series, int(time.Second/fine)), cost(r.Result.Series, fine, r.Fault.Moments[0].At, length)
		r.Result.SeriesInterval = time.Second
	}
}

// coarse joins so many intervals to one.
func coarse(all []pace.SeriesPoint, n int) (out []pace.SeriesPoint) {
	for i, s := range all {
		if i%n == 0 {
			out = append(out, pace.SeriesPoint{})
		}
		o := &out[len(out)-1]
		o.Finished, o.Failed, o.Slowest = o.Finished+s.Finished, o.Failed+s.Failed, max(o.Slowest, s.Slowest)
	}
	return out
}

// recovered is the share of the rate before that counts as service again, for so
// many seconds in a row.
const (
	recovered = 0.95
	inARow    = 3
)

// cost is what a fault at a moment cost a run of that length.
func cost(all []pace.SeriesPoint, fine, at, length time.Duration) *run.FaultCost {
	good := make([]float64, int(length/fine)) // intervals in which nothing ended are in it
	for i := range min(len(good), len(all)) {
		good[i] = float64(all[i].Finished - all[i].Failed)
	}
	first := min(int(at/fine), len(good))
	sum := func(part []float64) (n float64) {
		for _, x := range part {
			n += x
		}
		return n
	}
	c := &run.FaultCost{RateBefore: sum(good[:first]) / (float64(first) * fine.Seconds()), RecoveryTime: -1}
	for _, x := range good[first:] {
		if x == 0 {
			c.TimeWithoutSuccess += fine
		}
	}
	second := int(time.Second / fine)
	for i := first; i+inARow*second <= len(good); i++ {
		enough := good[i] > 0
		for k := range inARow {
			enough = enough && sum(good[i+k*second:i+(k+1)*second]) >= recovered*c.RateBefore
		}
		if enough {
			c.RecoveryTime = max(0, time.Duration(i)*fine-at)
			break
		}
	}
	return c
}

// judge compares the history with the promises.
func (r *Report) judge(calls []history.Op, failed error, promises []engine.Promise) {
	h := r.History
	r.calls, h.Operations, h.Unknown = calls, len(calls), history.Unanswered(calls)
	if failed != nil {
		h.Problem = fault.Redact(failed.Error())
		return
	}
	h.Promises = keptOf(calls, promises, "")
}

// brokenPromises describes the promises that the server did not keep.
func (r *Report) brokenPromises() string {
	var all []string
	if r.History != nil {
		for _, k := range r.History.Promises {
			if k.Promised && k.Violations > 0 {
				all = append(all, fmt.Sprintf("%s: broken %d times, such as %s", strings.TrimSpace(k.Promise+" "+k.When), k.Violations, k.Example))
			}
		}
	}
	return strings.Join(all, "; ")
}

// undecided returns why the history proves nothing; "" if it proves something.
func (r *Report) undecided() string {
	if r.History == nil {
		return ""
	}
	for _, k := range r.History.Promises {
		if k.Promised && !k.Kept && k.Violations == 0 {
			return k.Promise + " was not decided in time"
		}
	}
	return r.History.Problem
}

// outage is what the faults cost, in words.
func (r *Report) outage() string {
	if r.cost == nil {
		return ""
	}
	back := "did not come again before the end"
	if r.cost.RecoveryTime >= 0 {
		back = "came again after " + r.cost.RecoveryTime.Round(100*time.Millisecond).String()
	}
	return fmt.Sprintf("; %s cost %s without service, %.0f %% of %.0f/s %s, %d of what was due was lost", r.Fault.Moments[0].Command, r.cost.TimeWithoutSuccess, 100*recovered, r.cost.RateBefore, back, r.Fault.Lost)
}

// errorCounts counts operations that failed by what became of them.
type errorCounts struct {
	mu    sync.Mutex
	kinds map[string]int64
}

// Kinds of errors.
const (
	timedOut   = "timed out"
	unreached  = "not reached"
	brokenOff  = "connection lost"
	refusedBy  = "refused by the server"
	notSettled = "ended with the run"
)

// note counts an error; reopened reports whether its connection was lost by it,
// which drivers have errors of their own for.
func (c *errorCounts) note(err error, reopened bool) {
	kind := kindOf(err)
	if kind == refusedBy && reopened {
		kind = brokenOff
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds = map[string]int64{}
	}
	c.kinds[kind]++
}

func kindOf(err error) string {
	network, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), ok && network.Timeout():
		return timedOut
	case errors.Is(err, context.Canceled):
		return notSettled
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH):
		return unreached
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return brokenOff
	case errors.Is(err, engine.ErrUnreachable):
		return unreached
	case ok:
		return brokenOff
	}
	return refusedBy
}

// outages counts lost connections, and the time during which at least one of them was not open.
type outages struct {
	mu      sync.Mutex
	without int           // workers that have none now
	since   time.Duration // when the first of these lost it
	total   time.Duration
	opened  int64
}

func (o *outages) begin(now time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.without == 0 {
		o.since = now
	}
	o.without++
}

func (o *outages) end(now time.Duration, reopened bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.without--; o.without == 0 {
		o.total += now - o.since
	}
	if reopened {
		o.opened++
	}
}

// recover follows a failed operation. It waits, longer with each failure in a row, and reopens the
// connection if it is lost; reopened reports that. Its error ends the run: nothing has succeeded
// for maxoutage seconds.
func (k *worker) recover(ctx context.Context, r *pace.Recorder, failure error) (reopened bool, err error) {
	if k.failures == 0 {
		k.failing = r.Now()
	}
	limit, lost := time.Duration(k.MaxOutage)*time.Second, false
	over := func() bool { return limit > 0 && r.Now()-k.failing >= limit }
	pause := func() bool {
		k.failures++
		return !over() && r.Pause(kv.BackOff(k.failures, k.rng))
	}
	if !pause() && !over() {
		return false, nil // the run has ended
	}
	conn, failed := k.table.Reopen(ctx, k.conn, k.key, func() bool {
		if !lost {
			lost = true
			k.outages.begin(r.Now())
		}
		return pause()
	})
	k.conn = conn
	if lost {
		k.outages.end(r.Now(), failed == nil)
	}
	switch {
	case failed != nil && over():
		return false, &fault.Status{Code: fault.Unreachable, Err: &fault.Error{
			Setting: "property maxoutage", Problem: fmt.Sprintf("the engine was not reached for %s", limit), Err: failed, Cure: "see whether its server runs; give more seconds to wait for it longer",
		}}
	case failed == nil && over():
		return false, &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "property maxoutage", Problem: fmt.Sprintf("whatever a worker asked for %s failed", limit), Err: failure, Cure: "see the problems listed",
		}}
	}
	return lost && failed == nil, nil
}

// unanswered reports whether an error is none of the answers that an engine has
// for a key.
func unanswered(err error) bool {
	return err != nil && !errors.Is(err, kv.ErrNotFound) && !errors.Is(err, kv.ErrExists)
}
