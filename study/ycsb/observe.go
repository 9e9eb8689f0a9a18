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

// Server has the observable properties of an engine's server during a run.
type Server struct {
	Metrics func(ctx context.Context) (engine.Metrics, error) // nil = the server reports none

	Statements func(ctx context.Context) ([]engine.Statement, error) // nil = likewise

	PIDs []int32                     // its processes, where they are this machine's
	Tell func(counted []run.Counter) // is called at each look with what it counted since the last one; nil = nobody
}

// observer watches the client, the server and the machine during a run.
type observer struct {
	Server
	client    *measure.ClientMeter
	processes *measure.ProcessMeter
	machine   *measure.MachineMeter
	before    engine.Metrics
	last      engine.Metrics         // of the last look
	waits     map[engine.Session]int // by kind and what; Count is 0
	looks     int
	began     time.Time
	over      []run.SessionSample
	executed  []engine.Statement // until the run began
	unlisted  error              // why the server listed no statements
	failed    error              // why the server reported nothing; the first

	done chan struct{}
	all  sync.WaitGroup
}

// lookEvery is the time between two looks: a server notices neither.
const lookEvery = time.Second

// observe begins to watch, after the warm-up.
func observe(ctx context.Context, s Server, warmup time.Duration) (*observer, error) {
	o := &observer{Server: s, waits: map[engine.Session]int{}, done: make(chan struct{})}
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
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-o.done:
			return
		case <-tick.C:
			o.look(ctx)
		}
	}
}

func (o *observer) look(ctx context.Context) {
	if o.processes != nil {
		o.processes.Sample(ctx)
	}
	if o.Metrics == nil || o.failed != nil {
		return
	}
	o.looks++
	m := o.ask(ctx)
	if o.Tell != nil && o.failed == nil {
		o.Tell(grown(o.last, m))
		o.last = m
	}
	look := run.SessionSample{At: time.Since(o.began)}
	for _, s := range m.Sessions {
		n := s.Count
		s.Count = 0
		o.waits[s] += n
		look.Sessions = append(look.Sessions, run.SessionWait{Kind: string(s.Wait), Event: s.What, Sessions: float64(n)})
	}
	o.over = append(o.over, look)
}

// mostStatements is how many statements a run keeps.
const mostStatements = 12

// statements lists the server's statements until now; none = it does not report them.
func (o *observer) statements(ctx context.Context) []engine.Statement {
	if o.Statements == nil || o.unlisted != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var all []engine.Statement
	all, o.unlisted = o.Statements(ctx)
	return all
}

func (o *observer) ask(ctx context.Context) engine.Metrics {
	if o.Metrics == nil || o.failed != nil {
		return engine.Metrics{}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m, err := o.Metrics(ctx)
	if err != nil {
		o.failed = err
	}
	return m
}

// stop ends the observation and adds its results to the report. The method counters reads the
// server's counts later, because servers report them when connections are closed.
func (o *observer) stop(ctx context.Context, r *Report) (err error) {
	ctx = context.WithoutCancel(ctx)
	close(o.done)
	o.all.Wait()
	if o.client != nil { // else the run ended in its warm-up
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
	out := &run.ServerLoad{SessionSampleCount: o.looks, SessionSamples: o.over}
	if o.processes != nil {
		out.Local, out.Used = true, o.processes.Stop(ctx)
	}
	for s, n := range o.waits {
		out.Waits = append(out.Waits, run.SessionWait{Kind: string(s.Wait), Event: s.What, Sessions: float64(n) / float64(o.looks)})
	}
	slices.SortFunc(out.Waits, func(a, b run.SessionWait) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Event, b.Event))
	})
	return out
}

// counters completes what stop returned.
func (o *observer) counters(ctx context.Context, into *run.ServerLoad) error {
	if into == nil || o.Metrics == nil {
		return nil
	}
	after := o.ask(context.WithoutCancel(ctx))
	if o.failed != nil {
		return fmt.Errorf("the server's own metrics were not available: %s", strings.Join(strings.Fields(o.failed.Error()), " "))
	}
	into.Counters = append(into.Counters, grown(o.before, after)...)
	if o.unlisted != nil {
		return fmt.Errorf("the server's statements were not available: %w", o.unlisted)
	}
	return nil
}

// grown is what a server counted between two moments.
func grown(before, after engine.Metrics) (out []run.Counter) {
	for _, t := range after.Since(&before) {
		out = append(out, run.Counter(t))
	}
	return out
}

// statementsSince is what was carried out since an earlier moment, the longest in all first.
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
