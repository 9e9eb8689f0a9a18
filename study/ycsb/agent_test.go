package ycsb

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/kv"
)

// serveAgent starts an agent and returns its address.
func serveAgent(t *testing.T, drivers ...engine.Driver) string {
	t.Helper()
	a := &Agent{Engines: drivers, Token: agentToken, Print: func(string) {}}
	s := httptest.NewServer(a.Handler())
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// runOn runs a task on agents. It fails the test if the run does not end.
func runOn(t *testing.T, task Task, addresses ...string) error {
	t.Helper()
	agents, ended := &Agents{Addresses: addresses, Token: agentToken}, make(chan error, 1)
	go func() {
		_, err := agents.Run(t.Context(), task, time.Now())
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the client still waits")
		return nil
	}
}

// TestBusyAgent: a client that names a busy agent gets an error. It does not change the other client's run, which is
// prepared or in progress, and the agents that it prepared itself are free again.
func TestBusyAgent(t *testing.T) {
	var once sync.Once
	started, gate := make(chan struct{}), make(chan struct{})
	waiting := localDriver("gate", func(_ *url.URL, r *kv.Records) *kv.Records {
		return conns(func(c *kv.Conn) {
			update := c.Update
			c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
				once.Do(func() { close(started) })
				select {
				case <-gate:
					return update(ctx, key, r)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})(r)
	})
	busy, free := serveAgent(t, waiting), serveAgent(t, dry.Driver())
	load := Task{
		Engine: "dry", Form: Form{Layout: kv.Pairs}, Load: true, Mix: "load of dry", Properties: Properties{"recordcount": "10"},
	}
	secondClient := func() {
		t.Helper()
		if err := runOn(t, load, free, busy); err == nil || !strings.Contains(err.Error(), "busy with another run") {
			t.Errorf("the second client: %v", err)
		}
		if err := runOn(t, load, free); err != nil {
			t.Errorf("the agent that the second client had prepared: %v", err)
		}
	}

	const operations = 40
	first := &peer{Agents: &Agents{Token: agentToken}, address: busy, client: http.DefaultClient}
	if err := first.ask(t.Context(), preparePath, Task{
		Run: "first", Engine: "gate://host:1", Form: Form{Layout: kv.Pairs}, Mix: "updates", Properties: Properties{
			"recordcount": strconv.Itoa(initialRecords), "operationcount": strconv.Itoa(operations),
			"readproportion": "0", "updateproportion": "1", "threadcount": "2",
		},
	}, nil); err != nil {
		t.Fatal(err)
	}
	secondClient()
	if err := first.ask(t.Context(), startPath, startRequest{Run: "other"}, nil); err == nil || !strings.Contains(err.Error(), "no such run") {
		t.Errorf("a start of another run: %v", err)
	}
	var part Part
	ended := make(chan error, 1)
	go func() {
		ended <- first.ask(t.Context(), startPath, startRequest{"first", time.Now().UnixNano()}, &part)
	}()
	select {
	case <-started:
	case err := <-ended:
		t.Fatalf("the first client's run does not start: %v, %s", err, part.Problem)
	}
	secondClient()
	close(gate)
	err := <-ended
	if m := part.Sample.Measured(); err != nil || part.Problem != "" || m == nil || m.Operations != operations {
		t.Errorf("the first client's run: %v, %s, %+v", err, part.Problem, m)
	}
	if err := runOn(t, load, busy); err == nil || strings.Contains(err.Error(), "busy") { // it does not have this engine
		t.Errorf("the agent after the run: %v", err)
	}
}

// TestAgentDoesNotRelease: if an agent does not reply to the end of a run, Run returns nevertheless.
func TestAgentDoesNotRelease(t *testing.T) {
	var addresses []string
	for i := range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // then the end of the connection ends the context
			switch {
			case r.URL.Path == clockPath:
				reply(w, time.Now().UnixNano())
			case r.URL.Path == preparePath && i == 0:
				reply(w, true)
			case r.URL.Path == preparePath:
				http.Error(w, "no disk", http.StatusInternalServerError)
			default:
				<-r.Context().Done()
			}
		}))
		t.Cleanup(s.Close)
		addresses = append(addresses, strings.TrimPrefix(s.URL, "http://"))
	}
	if err := runOn(t, Task{Load: true}, addresses...); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Error(err)
	}
}

// TestTaskWithoutID: an agent refuses the task of a client that does not name its run.
func TestTaskWithoutID(t *testing.T) {
	p := &peer{Agents: &Agents{Token: agentToken}, address: serveAgent(t, dry.Driver()), client: http.DefaultClient}
	err := p.ask(t.Context(), preparePath, Task{Engine: "dry", Form: Form{Layout: kv.Pairs}}, nil)
	if err == nil || !strings.Contains(err.Error(), "use the same version of Barograph on both machines") {
		t.Error(err)
	}
}
