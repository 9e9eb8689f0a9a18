package couchbase

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/couchbase/gocbcore/v10"
)

// queryService is a double of a cluster that has only a query service.
type queryService struct {
	statements atomic.Int64
	reply      func(w http.ResponseWriter, r *http.Request) // to a statement
}

// configuration is that of a bucket whose only node has a management and a query service on port %[1]s. Its
// key-value service cannot be reached.
const configuration = `{"name":"b","uuid":"1","rev":1,"nodeLocator":"vbucket",
"nodes":[{"hostname":"127.0.0.1:%[1]s","ports":{"direct":1}}],
"nodesExt":[{"services":{"mgmt":%[1]s,"kv":1,"n1ql":%[1]s},"thisNode":true,"hostname":"127.0.0.1"}],
"vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":0,"serverList":["127.0.0.1:1"],"vBucketMap":[[0]]}}`

// reach returns a database whose statements the service answers.
func (s *queryService) reach(t *testing.T) *database {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/query/service" {
			s.statements.Add(1)
			s.reply(w, r)
			return
		}
		u, _ := url.Parse(server.URL)
		fmt.Fprintf(w, configuration+"\n\n\n\n", u.Port())
		w.(http.Flusher).Flush()
		<-r.Context().Done() // a stream of configurations
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	agent, err := gocbcore.CreateAgent(&gocbcore.AgentConfig{
		BucketName: "b", SeedConfig: gocbcore.SeedConfig{HTTPAddrs: []string{server.Listener.Addr().String()}},
		SecurityConfig: gocbcore.SecurityConfig{
			Auth: gocbcore.PasswordAuthProvider{Username: "u", Password: "p"}, AuthMechanisms: []gocbcore.AuthMechanism{gocbcore.PlainAuthMechanism},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	set := &settings{queryTimeout: time.Minute, retry: failFast{}}
	d := &database{settings: set, docs: &client{set, agent}}
	t.Cleanup(func() { _ = agent.Close() })
	return d
}

const rows = `{"requestID":"1","results":["7.6.0-1-enterprise"],"status":"success","metrics":{"executionTime":"5ms"}}`

// The version is asked for until the service has answered, and never again.
func TestVersion(t *testing.T) {
	s := &queryService{}
	fails := true
	s.reply = func(w http.ResponseWriter, _ *http.Request) {
		if fails {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, rows)
	}
	d := s.reach(t)
	if v, err := d.version(t.Context()); err == nil || errors.Is(err, gocbcore.ErrServiceNotAvailable) {
		t.Errorf("a service that fails is of version %q, %v", v, err)
	}
	fails = false
	for range 2 {
		if v, err := d.version(t.Context()); v != "7.6.0-1-enterprise" || err != nil {
			t.Errorf("the version is %q, %v", v, err)
		}
	}
	if n := s.statements.Load(); n != 2 {
		t.Errorf("%d statements were sent, not 2", n)
	}
}

// Clients that wait for a service that does not answer share its failure. Otherwise the last of many clients would wait
// for the time limits of all others.
func TestVersionForManyClients(t *testing.T) {
	const clients = 8
	var called sync.WaitGroup
	called.Add(clients)
	s := &queryService{reply: func(w http.ResponseWriter, _ *http.Request) {
		called.Wait()
		time.Sleep(100 * time.Millisecond) // until most of them wait
		w.WriteHeader(http.StatusServiceUnavailable)
	}}
	d := s.reach(t)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			called.Done()
			if v, err := d.version(t.Context()); err == nil {
				t.Errorf("a service that fails is of version %q", v)
			}
		})
	}
	if all.Wait(); s.statements.Load() == clients {
		t.Errorf("each of %d clients has sent a statement", clients)
	}
}

// The end of a context, and the time limit of a statement, end a reply whose rows stop coming.
func TestRowsThatStop(t *testing.T) {
	s := &queryService{reply: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.TrimSuffix(rows, `],"status":"success","metrics":{"executionTime":"5ms"}}`)+",")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}}
	d := s.reach(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first := func([]byte) error { stop(); return nil }
	if _, err := d.docs.query(ctx, "SELECT 1", statement{readOnly: true}, first); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled after the first row: %v", err)
	}
	short := statement{readOnly: true, timeout: 300 * time.Millisecond}
	if _, err := d.docs.query(t.Context(), "SELECT 1", short, func([]byte) error { return nil }); !errors.Is(err, gocbcore.ErrTimeout) {
		t.Errorf("after the time limit: %v", err)
	}
}
