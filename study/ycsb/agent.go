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
	Print   func(text string) // prints a message

	clock *pace.Clock // a test's; nil = the machine's

	mu      sync.Mutex
	current *agentRun // nil = the agent is free
}

// Task is an agent's share of a run.
type Task struct {
	Run        string // id of the run, drawn by the client; a start must name it
	Engine     string // URL of the database
	Form       Form   // of the table
	Mix        string // name of the workload
	Properties Properties
	Shard      Shard
	Load       bool // the agent loads its share of the keys
	Resume     bool // with Load: see Options
	Ramp       bool // the rate is one of a ramp's
}

// Part is an agent's reply.
type Part struct {
	Sample  run.Sample
	Began   time.Time // end of the warm-up, by the agent's clock
	Problem string    // error of the run; "" = none
	Code    int       // exit status of Problem

	Overload bool // Problem is errOverload, and nothing else
	Cannot   bool // Problem is ErrCannot
}

// agentRun is an agent's current run.
type agentRun struct {
	id     string // of its Task
	cancel context.CancelFunc
	ready  chan struct{}  // closed when the run could start
	start  chan time.Time // the start time; zero = never
	done   chan struct{}  // closed when the run has ended
	part   Part           // its result, set before done is closed
}

// startRequest starts a prepared run.
type startRequest struct {
	Run string // id of its Task
	At  int64  // the start time in ns by the agent's clock; 0 = never
}

// The agent's paths.
const (
	clockPath   = "/clock"   // GET: its time in ns
	preparePath = "/prepare" // POST a Task; the reply comes when the run could start
	startPath   = "/start"   // POST a startRequest; the reply is a Part, after the run
)

const (
	mostTask  = 1 << 20     // bytes of a task
	startWait = time.Minute // for which a prepared run waits for its start
)

// Handler returns the agent's HTTP handler.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+clockPath, func(w http.ResponseWriter, _ *http.Request) { reply(w, time.Now().UnixNano()) })
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

// reply sends a value as JSON.
func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // after an error the client is no longer connected
}

// prepare begins a task, and replies when its run could start.
func (a *Agent) prepare(w http.ResponseWriter, r *http.Request) {
	var t Task
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostTask))
	in.DisallowUnknownFields()
	err := in.Decode(&t)
	if err == nil && t.Run == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		problem := "this is no task: " + err.Error() + "; use the same version of Barograph on both machines"
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	config, err := t.config()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	p := &agentRun{
		id: t.Run, cancel: cancel,
		ready: make(chan struct{}), start: make(chan time.Time, 1), done: make(chan struct{}),
	}
	a.mu.Lock()
	busy := a.current != nil
	if !busy {
		a.current = p
	}
	a.mu.Unlock()
	if busy {
		cancel()
		http.Error(w, "the agent is busy with another run", http.StatusConflict)
		return
	}
	a.Print("a run of " + t.Mix + " on " + fault.Redact(t.Engine) + " for " + r.RemoteAddr)
	go func() {
		defer cancel()
		p.part = a.perform(ctx, &t, config, p)
		a.mu.Lock()
		a.current = nil
		a.mu.Unlock()
		close(p.done)
	}()
	select {
	case <-p.ready:
		time.AfterFunc(startWait, func() { p.begin(time.Time{}) }) // unless the client has started it
		reply(w, true)
	case <-p.done:
		w.WriteHeader(http.StatusUnprocessableEntity)
		reply(w, p.part)
	case <-r.Context().Done():
		cancel()
	}
}

// begin sets the start time, unless it is set already. The zero time means that the run never starts.
func (p *agentRun) begin(at time.Time) {
	select {
	case p.start <- at:
	default:
	}
}

// start starts the prepared run, and replies with its result. It refuses a client that did not prepare this run.
func (a *Agent) start(w http.ResponseWriter, r *http.Request) {
	var s startRequest
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostTask)).Decode(&s)
	a.mu.Lock()
	p := a.current
	a.mu.Unlock()
	if err != nil || p == nil || p.id != s.Run {
		const problem = "the agent has no such run: it was not prepared, or not started within a minute"
		http.Error(w, problem, http.StatusConflict)
		return
	}
	when := time.Time{}
	if s.At != 0 {
		when = time.Unix(0, s.At)
	}
	p.begin(when)
	select {
	case <-p.done:
		reply(w, p.part)
	case <-r.Context().Done(): // the client was interrupted
		p.cancel()
	}
}

// config reads the task's properties. It refuses those that name files, which would be files of the agent's machine.
func (t *Task) config() (*Config, error) {
	files := []string{"exportfile", "hdrhistogram.fileoutput", "hdrhistogram.output.path", "fieldlengthhistogram"}
	for _, name := range files {
		if t.Properties[name] != "" {
			return nil, badProperty(name, "is about files, which agents do not use", "omit it, or run without --agents")
		}
	}
	return NewConfig(t.Properties, func(c *Config) { c.Shard, c.Ramp = t.Shard, t.Ramp })
}

var errNotStarted = errors.New("the run was prepared and not started")

// perform runs the task.
func (a *Agent) perform(ctx context.Context, task *Task, c *Config, p *agentRun) (out Part) {
	fail := func(err error) {
		out.Problem, out.Code = fault.Redact(err.Error()), fault.Code(err)
		out.Overload, out.Cannot = isOverload(err), errors.Is(err, ErrCannot)
		if errors.Is(err, engine.ErrUnreachable) {
			out.Code = fault.Unreachable
		}
	}
	t, err := Open(ctx, a.Engines, task.Engine, task.Form, "", engine.Options{})
	if err != nil {
		fail(err)
		return out
	}
	defer CloseAll([]*Target{t}) //nolint:errcheck // an error does not change the measurement
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
		out.Began = r.Result.Started.Add(time.Duration(r.Config.Warmup) * time.Second) // a load has no warm-up
	}
	if err != nil {
		fail(err)
	}
	return out
}

// err returns the error of a part, with the name of its agent.
func (p *Part) err(agent string) error {
	if p.Problem == "" {
		return nil
	}
	err := &agentError{text: "agent " + agent + ": " + p.Problem}
	switch {
	case p.Overload:
		err.class = errOverload
	case p.Cannot:
		err.class = ErrCannot
	}
	return &fault.Status{Code: max(p.Code, fault.Failed), Err: err}
}

// agentError is an agent's message with its class, errOverload or ErrCannot; nil = any other error.
type agentError struct {
	text  string
	class error
}

func (e *agentError) Error() string { return e.text }
func (e *agentError) Unwrap() error { return e.class }
