package ycsb

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// TestLostAgents: the status of a wrong result remains if another agent does not reply. The cell of a sample has no shard,
// even if it is that of one agent. The error names each agent with an error.
func TestLostAgents(t *testing.T) {
	peers, lost := []*peer{{address: "a"}, {address: "b"}}, errors.New("connection refused")
	sample := run.Sample{Cell: run.MixCell("dry", "pairs", "workloada", 1, 0, "1/2"), Answers: &run.Answers{Succeeded: 1, Found: 1}}
	correct := Part{Sample: sample.Judge(nil, answer.Proof{}, errors.New("no answer finished"))}
	wrong := Part{Sample: sample.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "wrong"}), Problem: "wrong", Code: fault.Differs}
	for want, p := range map[int]Part{fault.Incomplete: correct, fault.Differs: wrong} {
		s, err := joinReplies(peers, []Part{p, {}}, []error{nil, lost}, time.Time{})
		if code(err) != want || !errors.Is(err, lost) || s.Cell.Value("shard") != "" || len(s.Warnings) != 1 {
			t.Errorf("status %d, want %d: %v; %+v", code(err), want, err, s)
		}
	}
	failed, other := Part{Sample: correct.Sample, Problem: "no answer", Code: fault.Incomplete}, wrong
	other.Sample.Cell = run.MixCell("dry", "pairs", "workloada", 1, 0, "2/2")
	_, err := joinReplies(peers, []Part{failed, other}, []error{nil, nil}, time.Time{})
	if code(err) != fault.Differs || !strings.Contains(err.Error(), "agent a: no answer") || !strings.Contains(err.Error(), "agent b: wrong") {
		t.Errorf("two agents with errors: %v", err)
	}
	other.Problem, other.Code = "no answer, either", fault.Incomplete
	_, err = joinReplies(peers, []Part{failed, other}, []error{nil, nil}, time.Time{})
	if code(err) != fault.Incomplete || !strings.Contains(err.Error(), "agent a: ") || !strings.Contains(err.Error(), "agent b: ") {
		t.Errorf("two agents with the same status: %v", err)
	}
}

// TestLoadWithoutItsFirstAgent: if the first agent cannot load, the others do not create the table.
func TestLoadWithoutItsFirstAgent(t *testing.T) {
	agents, tasks := &Agents{}, 0
	for i := range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == clockPath:
				reply(w, time.Now().UnixNano())
			case r.URL.Path == preparePath && i == 0:
				http.Error(w, "no disk", http.StatusInternalServerError)
			case r.URL.Path == preparePath:
				tasks++
				reply(w, true)
			}
		}))
		defer s.Close()
		agents.Addresses = append(agents.Addresses, strings.TrimPrefix(s.URL, "http://"))
	}
	_, err := agents.Run(t.Context(), Task{Load: true}, time.Now())
	if err == nil || !strings.Contains(err.Error(), "no disk") || tasks != 0 {
		t.Errorf("%v; the second agent received %d tasks", err, tasks)
	}
}

// TestStartOfALoad: an agent's load starts when it starts, although the workload has a warm-up.
func TestStartOfALoad(t *testing.T) {
	a := &Agent{Engines: engine.Registry{dry.Driver()}}
	p := &agentRun{ready: make(chan struct{}), start: make(chan time.Time, 1)}
	p.begin(time.Now())
	task := Task{Engine: "dry", Form: Form{Layout: kv.Pairs}, Load: true, Properties: Properties{"recordcount": "10", "warmup": "1000000"}}
	c, err := task.config()
	if err != nil {
		t.Fatal(err)
	}
	part := a.perform(t.Context(), &task, c, p)
	if part.Problem != "" || part.Began.IsZero() || part.Began.After(time.Now()) {
		text, _ := json.Marshal(part)
		t.Errorf("it began at %s: %s", part.Began, text)
	}
}
