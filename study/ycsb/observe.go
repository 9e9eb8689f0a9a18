package ycsb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Server has what an engine's server reports during a run.
type Server struct {
	Metrics    func(ctx context.Context) (engine.Metrics, error)     // nil = the server reports none
	Statements func(ctx context.Context) ([]engine.Statement, error) // nil = the server lists none

	PIDs       []int32                     // its processes on this machine
	OnCounters func(counted []run.Counter) // receives the change of the counters at each sample; nil = not called
}

// observer measures the client, the server and the machine during a run.
type observer struct {
	Server
	client    *measure.ClientMeter
	processes *measure.ProcessMeter
	machine   *measure.MachineMeter
	before    engine.Metrics              // at the start
	last      engine.Metrics              // at the last sample
	waits     map[engine.SessionGroup]int // sum of the sessions over all samples; key: their group, with the Count 0
	samples   []run.SessionSample
	began     time.Time
	executed  []engine.Statement // before the run
	unlisted  error              // why the server listed no statements
	failed    error              // the first error of the server's metrics

	done chan struct{}
	all  sync.WaitGroup
}

// The times of an observation.
const (
	sampleEvery   = time.Second     // so rarely that it does not slow down the server
	answersWithin = 5 * time.Second // limit of a request for metrics or statements
)

// observe starts to observe, after the warm-up.
func observe(ctx context.Context, s Server, warmup time.Duration) (*observer, error) {
	o := &observer{Server: s, waits: map[engine.SessionGroup]int{}, done: make(chan struct{})}
	ctx = context.WithoutCancel(ctx)
	if warmup == 0 {
		if err := o.begin(ctx); err != nil {
			return nil, err
		}
	}
	o.all.Add(1)
	go o.watch(ctx, warmup)
	return o, nil
}

func (o *observer) begin(ctx context.Context) (err error) {
	if len(o.PIDs) > 0 {
		o.processes = measure.StartProcesses(ctx, o.PIDs)
	}
	o.before = o.ask(ctx)
	o.last = o.before
	o.executed = o.statements(ctx)
	o.began = time.Now()
	if o.machine, err = measure.StartMachine(ctx); err != nil {
		o.machine = nil // the operating system does not report it
	}
	o.client, err = measure.StartClient()
	return err
}

func (o *observer) watch(ctx context.Context, warmup time.Duration) {
	defer o.all.Done()
	if warmup > 0 {
		select {
		case <-time.After(warmup):
			if err := o.begin(ctx); err != nil { // begin itself records a failure of the counters
				o.failed = err
				return
			}
		case <-o.done:
			return
		}
	}
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-o.done:
			return
		case <-tick.C:
			o.sample(ctx)
		}
	}
}

// sample reads the server's metrics. After an error there are no further samples.
func (o *observer) sample(ctx context.Context) {
	if o.processes != nil {
		o.processes.Sample(ctx)
	}
	if o.Metrics == nil || o.failed != nil {
		return
	}
	m := o.ask(ctx)
	if o.failed != nil {
		return
	}
	if o.OnCounters != nil {
		o.OnCounters(increase(o.last, m))
		o.last = m
	}
	sample := run.SessionSample{At: time.Since(o.began)}
	for _, s := range m.Sessions {
		n := s.Count
		s.Count = 0
		o.waits[s] += n
		wait := run.SessionWait{Kind: string(s.Wait), Event: s.What, Sessions: float64(n)}
		sample.Sessions = append(sample.Sessions, wait)
	}
	o.samples = append(o.samples, sample)
}

// mostStatements is the number of statements that a report has.
const mostStatements = 12

// statements lists the statements that the server has executed until now; nil = it does not list them.
func (o *observer) statements(ctx context.Context) []engine.Statement {
	if o.Statements == nil || o.unlisted != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var all []engine.Statement
	all, o.unlisted = o.Statements(ctx)
	return all
}

// ask reads the server's metrics; zero after an error.
func (o *observer) ask(ctx context.Context) engine.Metrics {
	if o.Metrics == nil || o.failed != nil {
		return engine.Metrics{}
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	m, err := o.Metrics(ctx)
	if err != nil {
		o.failed = err
	}
	return m
}

// stop ends the observation and adds its results to the report. The method counters reads the server's
// counters later, because some servers update them only when connections are closed.
func (o *observer) stop(ctx context.Context, r *Report) (err error) {
	ctx = context.WithoutCancel(ctx)
	close(o.done)
	o.all.Wait()
	if o.client != nil { // otherwise the run ended in its warm-up
		r.Client, err = o.client.Stop()
	}
	if o.machine != nil {
		if m, err := o.machine.Stop(ctx); err == nil {
			r.Machine = m
		}
	}
	r.Server = o.server(ctx)
	if r.Server != nil && !o.began.IsZero() {
		all := statementsSince(o.executed, o.statements(ctx))
		for _, s := range all[:min(len(all), mostStatements)] {
			r.Server.Statements = append(r.Server.Statements, run.Statement{
				Text: fault.Redact(s.Text), Calls: s.Calls,
				Time: s.Time, Rows: s.Rows,
			})
		}
	}
	return err
}

func (o *observer) server(ctx context.Context) *run.ServerLoad {
	if o.Metrics == nil && o.processes == nil {
		return nil
	}
	out := &run.ServerLoad{SessionSampleCount: len(o.samples), SessionSamples: o.samples}
	if o.processes != nil {
		out.Local, out.Used = true, o.processes.Stop(ctx)
	}
	for s, n := range o.waits {
		mean := float64(n) / float64(len(o.samples))
		out.Waits = append(out.Waits, run.SessionWait{Kind: string(s.Wait), Event: s.What, Sessions: mean})
	}
	slices.SortFunc(out.Waits, func(a, b run.SessionWait) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Event, b.Event))
	})
	return out
}

// counters adds the change of the server's counters to the result of stop. Its error is a warning.
func (o *observer) counters(ctx context.Context, into *run.ServerLoad) error {
	if into == nil || o.Metrics == nil {
		return nil
	}
	after := o.ask(context.WithoutCancel(ctx))
	if o.failed != nil {
		oneLine := strings.Join(strings.Fields(o.failed.Error()), " ")
		return fmt.Errorf("the server's own metrics were not available: %s", oneLine)
	}
	into.Counters = append(into.Counters, increase(o.before, after)...)
	if o.unlisted != nil {
		return fmt.Errorf("the server's statements were not available: %w", o.unlisted)
	}
	return nil
}

// increase returns the change of a server's counters between two times.
func increase(before, after engine.Metrics) (out []run.Counter) {
	for _, t := range after.Since(&before) {
		out = append(out, run.Counter(t))
	}
	return out
}

// statementsSince returns the statements that were executed since an earlier time, with their counts and times since
// then, the longest total time first.
func statementsSince(before, after []engine.Statement) (out []engine.Statement) {
	earlier := map[string]engine.Statement{}
	for _, s := range before {
		earlier[s.ID] = s
	}
	for _, s := range after {
		b := earlier[s.ID]
		if s.Calls < b.Calls { // the counts were reset during the run
			b = engine.Statement{}
		}
		s.Calls, s.Time, s.Rows = s.Calls-b.Calls, s.Time-b.Time, s.Rows-b.Rows
		if s.Calls > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b engine.Statement) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Text, b.Text))
	})
	return out
}
