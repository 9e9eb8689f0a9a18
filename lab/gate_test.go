package lab_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/lab"
)

// TestGateCloses: Close also closes the connections to the server that no request uses.
func TestGateCloses(t *testing.T) {
	var open atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reply") }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	server.Start()
	defer server.Close()
	gate, err := lab.NewGate(server.Listener.Addr().String(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+gate.Addr(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reply.Body)
	if _, n := gate.Counted(); err != nil || string(text) != "reply" || reply.Body.Close() != nil || n != 5 {
		t.Fatalf("%q, %d bytes, %v", text, n, err)
	}
	if open.Load() != 1 {
		t.Fatalf("%d connections to the server", open.Load())
	}
	if err := gate.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); open.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connection to the server stays open")
		}
	}
}
