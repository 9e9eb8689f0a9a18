package asterixdb

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/launch"
)

// TestJoined: a node is ready only if the cluster lists it as active. Other nodes do not count.
func TestJoined(t *testing.T) {
	for name, c := range map[string]struct {
		states string // of nc1, nc2 and nc3; "" = not listed
		ready  bool
	}{
		"only others":    {"ACTIVE,,ACTIVE", false},
		"inactive":       {"ACTIVE,INACTIVE,ACTIVE", false},
		"the first two":  {"ACTIVE,ACTIVE,", true},
		"all":            {"ACTIVE,ACTIVE,ACTIVE", true},
		"without others": {",ACTIVE,", true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/query/service" {
				fmt.Fprint(w, `{"results": [1], "status": "success"}`)
				return
			}
			var all []string
			for i, state := range strings.Split(c.states, ",") {
				if state != "" {
					all = append(all, fmt.Sprintf(`{"node_id": "nc%d", "state": "%s"}`, i+1, state))
				}
			}
			fmt.Fprintf(w, `{"ncs": [%s]}`, strings.Join(all, ","))
		}))
		host, text, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		cluster := launch.Cluster{Nodes: make([]launch.Node, 3)}
		cluster.Nodes[0] = launch.Node{Host: host, Ports: map[string]int{"api": port}}
		if err := ready(t.Context(), &cluster, &launch.Node{Index: 1}); (err == nil) != c.ready {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

// fakeArchive opens an archive on a server that answers each request by reply, and returns the requests.
func fakeArchive(t *testing.T, reply func(request string) (results string, status int)) (*openArchive, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, string(text))
		mu.Unlock()
		results, status := reply(string(text))
		w.WriteHeader(status)
		if status != http.StatusOK {
			fmt.Fprint(w, `{"errors": [{"msg": "no"}], "status": "fatal"}`)
			return
		}
		fmt.Fprintf(w, `{"results": [%s], "status": "success"}`, results)
	}))
	t.Cleanup(s.Close)
	db := &database{client: newClient(strings.TrimPrefix(s.URL, "http://"), nil), readOnly: true, log: slog.New(slog.DiscardHandler), displayURL: "asterixdb://x"}
	return &openArchive{db: db, design: design.Document, dataverseName: "x_document"}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// TestReaderOfCrashedLoad: a client that only reads reports a commit that is unfinished and has no owner.
func TestReaderOfCrashedLoad(t *testing.T) {
	a, _ := fakeArchive(t, func(request string) (string, int) {
		if strings.Contains(request, "lock%2Fs") || strings.Contains(request, "lock/s") {
			return "", http.StatusOK
		}
		return `{"kind": "begun", "commit": 2, "token": "t", "writes": []}`, http.StatusOK
	})
	if err := a.awaitCommit(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "contains an incomplete load") {
		t.Errorf("an unfinished commit without an owner: %v", err)
	}
}

// TestCopiesOfUnfinishedCommit: if a failed commit cannot be rolled back, Close keeps the copies that the next client needs.
func TestCopiesOfUnfinishedCommit(t *testing.T) {
	failing := true
	a, requests := fakeArchive(t, func(string) (string, int) {
		if failing {
			return "", http.StatusInternalServerError
		}
		return "", http.StatusOK
	})
	a.recovered.Store("s", true)
	l := &loader{a: a, subset: "s", token: "t", hasUndoCopies: true}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := &lock{a: a, subset: "s", token: "t-1", listener: listener, stop: func() {}, beats: make(chan struct{})}
	close(own.beats)
	l.undo(t.Context(), own, 5)
	if _, seen := a.recovered.Load("s"); seen {
		t.Error("this session reads the commit that was not rolled back")
	}
	failing = false
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	all := requests()
	if last := all[len(all)-1]; !strings.Contains(last, "DELETE") || !strings.Contains(last, url.QueryEscape("<> 5")) {
		t.Errorf("Close sends %q", last)
	}
}
