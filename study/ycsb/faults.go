package ycsb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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

// Faults are injected into a server during a run. Their times count from the end of the warm-up.
type Faults struct {
	All     []lab.Fault // in the order of their times, at least one
	Inflict injectFunc
	Clients int // number of clients that record a history during the run; 0 = none

	Promises     []engine.Promise // that the server keeps after faults, by its settings before the run
	Acknowledged string           // what an acknowledged write survives, by the same settings
}

// injectFunc injects a fault into a server; output is that of the user's command.
type injectFunc func(ctx context.Context, f lab.Fault) (output string, err error)

const (
	faultTimeout    = 5                     // seconds; default timeout of an operation
	historyPatience = time.Minute           // limit of the check of a history
	historyPause    = 40 * time.Millisecond // mean pause of a history's client, so that it adds little load
)

// settle returns the workload as a run with faults executes it. It refuses a workload in which the cost of the faults
// cannot be measured.
func (f *Faults) settle(c *Config) (*Config, error) {
	last := f.All[len(f.All)-1].At
	switch {
	case c.Target <= 0:
		return nil, fault.Misuse("--fault", "needs a rate of due operations, with which Barograph compares the run",
			"give a --target that the engine sustains")
	case c.Seconds == 0:
		return nil, fault.Misuse("property maxexecutiontime", "is not given, and only the time limit ends a run with faults",
			fmt.Sprintf("give more seconds than the %g of the last fault", last.Seconds()))
	case time.Duration(c.Seconds)*time.Second <= last:
		problem := fmt.Sprintf("the run is over before the fault at %s", last)
		return nil, fault.Misuse("property maxexecutiontime", problem, "give more seconds")
	case f.All[0].At < time.Second:
		return nil, fault.Misuse("--fault "+f.All[0].String(), "leaves no time to measure the rate before it",
			"let it happen a second or more after the warm-up")
	case c.MaxErrors > 0:
		return nil, fault.Misuse("property maxerrors",
			"cannot be given with --fault: only the time limit ends a run with faults", "omit it, or set it to 0")
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

// inflict starts to inject faults. Call the returned function after the run: it stops the injection and repairs the
// server.
func (w *workload) inflict(
	ctx context.Context, f *Faults, pacing *pace.Options, r *Report,
) func(ctx context.Context) error {
	if f == nil {
		return func(context.Context) error { return nil }
	}
	r.Fault = &run.Fault{}
	pacing.ReportInterval, pacing.SeriesInterval = time.Second, fineInterval(pacing.Rate)
	each := pacing.OnInterval
	pacing.OnInterval = func(from, to time.Duration, groups [][]*pace.OutcomeTimes) {
		if r.addSecond(from, groups); each != nil {
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
			r.countFailures(w)
		}
		return err
	}
}

// steady returns the promises of the engine while nothing fails.
func (o *Options) steady() []engine.Promise {
	if o.Steady == nil {
		return engine.Promises()
	}
	return o.Steady
}

// witness starts to record a history during a run, if one is requested. Call the returned function after the server is
// repaired: it stops the recording and checks the history.
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
	prefix := "history" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
	witness := &history.Witness{
		Table: w.table, Fields: len(w.fields), Prefix: prefix, Clients: n, Pause: historyPause,
		Timeout: time.Duration(timeout * float64(time.Second)), Seed: uint64(w.Seed), //nolint:gosec // not negative
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
		r.judgeHistory(calls, failed, promises)
		if failed == nil && !r.struck.IsZero() {
			before := history.Until(calls, witness.Since(r.struck))
			h.Promises = append(h.Promises, promiseResults(before, o.steady(), run.BeforeFault)...)
		}
		return nil
	}, nil
}

// promiseResults checks the calls of an interval of a run against every promise. when names the interval; "" = all of
// the run.
func promiseResults(calls []history.Op, promises []engine.Promise, when string) (out []run.PromiseResult) {
	for _, f := range history.Judge(calls, historyPatience) {
		if when != "" && (f.Promise == engine.NoLostWrites || f.Promise == engine.NoRevivedRecords) {
			continue // the final reads, which show these, do not belong to this interval
		}
		out = append(out, run.PromiseResult{
			Promise: string(f.Promise), When: when, Promised: slices.Contains(promises, f.Promise),
			Kept: f.Kept, Violations: f.Violations, Example: f.Example,
		})
	}
	return out
}

// fineInterval returns the shortest of 1/10, 1/5 and 1/2 second in which at least ten operations are due; one second if
// there is none.
func fineInterval(rate float64) time.Duration {
	for _, parts := range []time.Duration{10, 5, 2} {
		if rate >= 10*float64(parts) {
			return time.Second / parts
		}
	}
	return time.Second
}

// addSecond stores the quantiles of one second.
func (r *Report) addSecond(from time.Duration, groups [][]*pace.OutcomeTimes) {
	h := r.response(groups)
	at := int((from + time.Second/2) / time.Second)
	for len(r.quantiles) <= at {
		r.quantiles = append(r.quantiles, run.SeriesInterval{})
	}
	if h.Count() > 0 {
		r.quantiles[at] = run.SeriesInterval{P50: h.At(50), P95: h.At(95), P99: h.At(99)}
	}
}

// inflictAll injects each fault at its time, until over is closed.
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

// repair repairs the server, because the read-back and later runs need an intact one. Its error names the faults that
// could not be injected.
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
	if n := len(f.All) - len(r.Fault.Moments); n > 0 && !r.isInterrupted() {
		err = errors.Join(err, fmt.Errorf("the run was over before %d of %s", n, run.CountOf(len(f.All), "fault")))
	}
	return err
}

// isInterrupted reports whether the user interrupted the run.
func (r *Report) isInterrupted() bool { return r.Result != nil && r.Result.Ending == pace.Interrupted }

// countFailures counts the failed operations, and computes the cost of the faults.
func (r *Report) countFailures(w *workload) {
	w.errors.mu.Lock()
	r.Fault.Errors = maps.Clone(w.errors.kinds) // a worker that hangs may still count
	w.errors.mu.Unlock()
	r.Fault.TimedOut, r.Fault.Retries = r.Fault.Errors[timedOut], w.retries.Load()
	r.Fault.Reconnects, _ = w.outages.totals()
	r.Fault.Lost = r.Result.Operations - r.Result.Succeeded + r.Result.Unstarted
	if len(r.Fault.Moments) > 0 {
		interval, length := r.Result.SeriesInterval, time.Duration(w.Seconds)*time.Second
		if r.isInterrupted() {
			length = min(length, r.Result.Elapsed) // the time after the interruption is no outage
		}
		r.cost = faultCost(r.Result.Series, interval, r.Fault.Moments[0].At, length)
		r.Result.Series, r.Result.SeriesInterval = joinPoints(r.Result.Series, int(time.Second/interval)), time.Second
	}
}

// joinPoints joins each n consecutive intervals of a series to one.
func joinPoints(all []pace.SeriesPoint, n int) (out []pace.SeriesPoint) {
	for i, s := range all {
		if i%n == 0 {
			out = append(out, pace.SeriesPoint{})
		}
		o := &out[len(out)-1]
		o.Finished, o.Failed, o.Slowest = o.Finished+s.Finished, o.Failed+s.Failed, max(o.Slowest, s.Slowest)
	}
	return out
}

// The rate has recovered if it is at least the fraction recovered of the rate before the fault, in each of
// recoverySeconds consecutive seconds.
const (
	recovered       = 0.95
	recoverySeconds = 3
)

// faultCost computes the cost of a fault at a time of a run of a length, both from the end of the warm-up. all has a
// point for each interval; it may end before the run.
func faultCost(all []pace.SeriesPoint, interval, at, length time.Duration) *run.FaultCost {
	good := make([]float64, int(length/interval)) // successful operations by interval
	for i := range min(len(good), len(all)) {
		good[i] = float64(all[i].Finished - all[i].Failed)
	}
	first := min(int(at/interval), len(good))
	sum := func(part []float64) (n float64) {
		for _, x := range part {
			n += x
		}
		return n
	}
	c := &run.FaultCost{RateBefore: sum(good[:first]) / (float64(first) * interval.Seconds()), RecoveryTime: -1}
	for _, x := range good[first:] {
		if x == 0 {
			c.TimeWithoutSuccess += interval
		}
	}
	second := int(time.Second / interval)
	for i := first; i+recoverySeconds*second <= len(good); i++ {
		hasRecovered := good[i] > 0
		for k := range recoverySeconds {
			hasRecovered = hasRecovered && sum(good[i+k*second:i+(k+1)*second]) >= recovered*c.RateBefore
		}
		if hasRecovered {
			c.RecoveryTime = max(0, time.Duration(i)*interval-at)
			break
		}
	}
	return c
}

// judgeHistory compares a history with the promises. failed is the error of its recording.
func (r *Report) judgeHistory(calls []history.Op, failed error, promises []engine.Promise) {
	h := r.History
	r.calls, h.Operations, h.Unknown = calls, len(calls), history.Unanswered(calls)
	if failed != nil {
		h.Problem = fault.Redact(failed.Error())
		return
	}
	h.Promises = promiseResults(calls, promises, "")
}

// brokenPromises describes the promises that the server did not keep.
func (r *Report) brokenPromises() string {
	var all []string
	if r.History != nil {
		for _, k := range r.History.Promises {
			if k.Promised && k.Violations > 0 {
				promise := strings.TrimSpace(k.Promise + " " + k.When)
				all = append(all, fmt.Sprintf("%s: broken %s, such as %s", promise, run.CountOf(k.Violations, "time"), k.Example))
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

// outage describes the cost of the faults, as the end of a sentence; "" = no cost was measured.
func (r *Report) outage() string {
	if r.cost == nil {
		return ""
	}
	recovery := "was not reached again before the end"
	if r.cost.RecoveryTime >= 0 {
		recovery = "was reached again after " + r.cost.RecoveryTime.Round(100*time.Millisecond).String()
	}
	return fmt.Sprintf("; %s cost %s without service, %.0f %% of %.0f/s %s, %d due operations were lost",
		r.Fault.Moments[0].Command, r.cost.TimeWithoutSuccess, 100*recovered, r.cost.RateBefore, recovery, r.Fault.Lost)
}

// errorCounts counts failed attempts by kind of error.
type errorCounts struct {
	mu    sync.Mutex
	kinds map[string]int64
}

// Kinds of errors.
const (
	timedOut  = "timed out"
	unreached = "not reached"
	brokenOff = "connection lost"
	refusedBy = "refused by the server"
	canceled  = "ended with the run" // the end of the run canceled them
)

// note counts an error. reopened reports that the connection was lost: many drivers have errors of their
// own for that, which kindOf does not know.
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
		return canceled
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH):
		return unreached
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return brokenOff
	case errors.Is(err, engine.ErrUnreachable):
		return unreached
	case ok:
		return brokenOff
	}
	return refusedBy
}

// outages measures the time during which at least one worker had no connection, and counts reopened
// connections.
type outages struct {
	mu      sync.Mutex
	without int           // number of workers without a connection now
	since   time.Duration // start of the current outage
	total   time.Duration // of finished outages
	opened  int64
}

func (o *outages) totals() (opened int64, total time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.opened, o.total
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

// recover prepares a worker for the next attempt after a failed one. It waits, longer after each
// consecutive failure, and reopens the connection if it is lost; reopened reports that. An error, which
// ends the run, means that the worker had no success for maxoutage seconds.
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
			Setting: "property maxoutage", Problem: fmt.Sprintf("the engine was not reached for %s", limit), Err: failed,
			Cure: "check whether its server runs; give more seconds to wait for it longer",
		}}
	case failed == nil && over():
		return false, &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "property maxoutage", Problem: fmt.Sprintf("for %s all requests of a worker failed", limit),
			Err: failure, Cure: "see the problems listed",
		}}
	}
	return lost && failed == nil, nil
}

// unanswered reports whether a call failed without an answer of the engine about the key.
func unanswered(err error) bool {
	return err != nil && !errors.Is(err, kv.ErrNotFound) && !errors.Is(err, kv.ErrExists)
}
