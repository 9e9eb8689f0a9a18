package ycsb

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// Agent runs its share of a workload for any client that has its token. It runs one task at a time.
type Agent struct {
	Engines engine.Registry
	Token   string
	Says    func(text string)

	clock *pace.Clock // of its run in a test; nil = the machine's

	mu  sync.Mutex
	now *partly // nil = it is free
}

// Task is an agent's share of a run.
type Task struct {
	Engine     string // URL
	Form       Form   // of the table
	Mix        string // the workload's name
	Properties Properties
	Shard      Shard
	Load       bool // the agent loads its share of the keys
	Resume     bool // with Load: see Options
	Ramp       bool // the rate is one of a ramp's
}

// Part is an agent's reply.
type Part struct {
	Sample  run.Sample
	Began   time.Time // by the agent's clock, when the warm-up was over
	Problem string    // what was not right with it
	Code    int       // exit status that it deserves

	Overload bool // more was due than was done
	Cannot   bool // the table does not support the operations of the mix
}

// partly is a run of which an agent does a share.
type partly struct {
	cancel context.CancelFunc
	ready  chan struct{}  // closed when it could begin
	start  chan time.Time // when to begin
	done   chan Part
}

// The agent's paths.
const (
	clockPath   = "/clock"   // GET: its time, ns
	preparePath = "/prepare" // POST a Task: answered when all is ready
	startPath   = "/start"   // POST the start time, in ns by the agent's clock, or 0 = never; the reply is the Part, after the run
)

const (
	mostTask  = 1 << 20     // bytes of a task
	unstarted = time.Minute // for which an agent waits for the start
)

// Handler is what it serves.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+clockPath, func(w http.ResponseWriter, _ *http.Request) { tell(w, time.Now().UnixNano()) })
	mux.HandleFunc("POST "+preparePath, a.prepare)
	mux.HandleFunc("POST "+startPath, a.start)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) != 1 {
			http.Error(w, "the token is not this agent's", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// tell replies with JSON.
func tell(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // the client has gone
}

// prepare begins a task, and answers when it has reached its start.
func (a *Agent) prepare(w http.ResponseWriter, r *http.Request) {
	var t Task
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostTask))
	in.DisallowUnknownFields()
	if err := in.Decode(&t); err != nil {
		http.Error(w, "this is no task: "+err.Error()+"; are both of one version?", http.StatusBadRequest)
		return
	}
	config, err := t.config()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	p := &partly{cancel: cancel, ready: make(chan struct{}), start: make(chan time.Time, 1), done: make(chan Part, 1)}
	a.mu.Lock()
	busy := a.now != nil
	if !busy {
		a.now = p
	}
	a.mu.Unlock()
	if busy {
		cancel()
		http.Error(w, "the agent is busy with another run", http.StatusConflict)
		return
	}
	a.Says("a run of " + t.Mix + " on " + fault.Redact(t.Engine) + " for " + r.RemoteAddr)
	go func() {
		defer cancel()
		part := a.perform(ctx, &t, config, p)
		a.mu.Lock()
		a.now = nil
		a.mu.Unlock()
		p.done <- part
	}()
	select {
	case <-p.ready:
		time.AfterFunc(unstarted, func() { p.begin(time.Time{}) }) // the client has gone
		tell(w, true)
	case part := <-p.done:
		w.WriteHeader(http.StatusUnprocessableEntity)
		tell(w, part)
	case <-r.Context().Done():
		cancel()
	}
}

// begin starts it at a time, unless it was started before; never at the zero time.
func (p *partly) begin(at time.Time) {
	select {
	case p.start <- at:
	default:
	}
}

// start starts what was prepared, and answers with what came of it.
func (a *Agent) start(w http.ResponseWriter, r *http.Request) {
	var at int64
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostTask)).Decode(&at)
	a.mu.Lock()
	p := a.now
	a.mu.Unlock()
	if err != nil || p == nil {
		http.Error(w, "nothing is prepared", http.StatusConflict)
		return
	}
	when := time.Time{}
	if at != 0 {
		when = time.Unix(0, at)
	}
	p.begin(when)
	select {
	case part := <-p.done:
		tell(w, part)
	case <-r.Context().Done(): // it was interrupted
		p.cancel()
	}
}

// config reads the task's properties. Files that they name would be the agent's.
func (t *Task) config() (*Config, error) {
	for _, name := range []string{"exportfile", "hdrhistogram.fileoutput", "hdrhistogram.output.path", "fieldlengthhistogram"} {
		if t.Properties[name] != "" {
			return nil, &fault.Error{Setting: "property " + name, Problem: "is of files, which agents have none of", Cure: "leave it out, or run without --agents"}
		}
	}
	return NewConfig(t.Properties, func(c *Config) { c.Shard, c.Ramp = t.Shard, t.Ramp })
}

var errNotStarted = errors.New("it was prepared, and not started")

// perform runs the task.
func (a *Agent) perform(ctx context.Context, task *Task, c *Config, p *partly) (out Part) {
	fail := func(err error) {
		out.Problem, out.Code = fault.Redact(err.Error()), fault.Code(err)
		out.Overload, out.Cannot = errors.Is(err, errOverload), errors.Is(err, ErrCannot)
		if errors.Is(err, engine.ErrUnreachable) {
			out.Code = fault.Unreachable
		}
	}
	t, err := Open(ctx, a.Engines, task.Engine, task.Form, "", engine.Options{})
	if err != nil {
		fail(err)
		return out
	}
	defer CloseAll([]*Target{t}) //nolint:errcheck // what was measured is measured
	if t.Place == engine.Memory && !task.Load {
		if err := t.LoadAll(ctx, c); err != nil {
			fail(err)
			return out
		}
	}
	o := t.Options()
	o.clock = a.clock
	o.Begin = func(ctx context.Context) error {
		close(p.ready)
		select {
		case at := <-p.start:
			if at.IsZero() {
				return errNotStarted
			}
			return engine.Pause(ctx, time.Until(at))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	measure := func() (run.Sample, *Report, error) { return t.Measure(ctx, c, o, task.Mix, 1) }
	if o.Resume = task.Resume; task.Load {
		measure = func() (run.Sample, *Report, error) { return t.Load(ctx, c, o, task.Mix) }
	}
	s, r, err := measure()
	if out.Sample = s; r != nil {
		out.Began = r.Result.Started.Add(time.Duration(c.Warmup) * time.Second)
	}
	if err != nil {
		fail(err)
	}
	return out
}

// err returns the fault of a part, with the name of its agent.
func (p *Part) err(agent string) error {
	if p.Problem == "" {
		return nil
	}
	why := &agentError{text: "agent " + agent + ": " + p.Problem}
	switch {
	case p.Overload:
		why.is = errOverload
	case p.Cannot:
		why.is = ErrCannot
	}
	return &fault.Status{Code: max(p.Code, fault.Failed), Err: why}
}

// agentError is an agent's message, and the error behind it; nil = an error that no caller here
// looks for.
type agentError struct {
	text string
	is   error
}

func (e *agentError) Error() string { return e.text }
func (e *agentError) Unwrap() error { return e.is }
