package main

import (
	"cmp"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/internal/lists"
)

// These limits keep the clients of an HTTP server from using up its file descriptors. A process has about 1,000, and
// every process of the machine can connect to the server.
const (
	headerTimeout  = 10 * time.Second
	bodyTimeout    = 30 * time.Second
	idleTimeout    = time.Minute
	maxPerAddress  = 64  // connections of one remote address
	maxConnections = 256 // connections of all addresses
)

// newHTTPServer returns a server whose clients cannot block each other: it closes idle
// connections, and at a limit it closes the oldest idle connection for a new one.
func newHTTPServer(h http.Handler) *http.Server {
	c := &connections{open: map[net.Conn]*connection{}}
	return &http.Server{Handler: bodyDeadline(h), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ConnState: c.stateChanged}
}

// connections are the open connections of a server.
type connections struct {
	mu      sync.Mutex
	open    map[net.Conn]*connection
	changes int64 // number of all changes of state, the clock of connection.since
}

type connection struct {
	host   string
	active bool  // the server handles a request
	since  int64 // connections.changes at its last change of state
}

// stateChanged is the ConnState of the server. For a new connection above a limit it closes the oldest idle one.
func (c *connections) stateChanged(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	case http.StateActive, http.StateIdle:
		if x := c.open[conn]; x != nil {
			x.active, x.since = state == http.StateActive, c.changes
		}
	case http.StateNew:
		host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		c.open[conn] = &connection{host: host, since: c.changes}
		if surplus := c.surplus(host); surplus != nil {
			delete(c.open, surplus)
			_ = surplus.Close() // its client connects again
		}
	}
}

// surplus returns the connection to close if host, or all hosts together, have too many: the one that has been without
// a request for the longest time. nil = none.
func (c *connections) surplus(host string) net.Conn {
	all := slices.Collect(maps.Keys(c.open))
	candidates := lists.Filter(all, func(conn net.Conn) bool { return c.open[conn].host == host })
	switch {
	case len(candidates) > maxPerAddress:
	case len(all) > maxConnections:
		candidates = all
	default:
		return nil
	}
	// The new connection has no request yet, so at least one candidate is inactive.
	candidates = lists.Filter(candidates, func(conn net.Conn) bool { return !c.open[conn].active })
	return slices.MinFunc(candidates, func(a, b net.Conn) int { return cmp.Compare(c.open[a].since, c.open[b].since) })
}

// bodyDeadline ends a connection if the body of a request does not arrive in time. The
// deadline does not apply to responses, which may take hours.
func bodyDeadline(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ContentLength != 0 && control.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil {
			noDeadline := func() { _ = control.SetReadDeadline(time.Time{}) } // it fails only on a closed connection
			r.Body = &timedBody{ReadCloser: r.Body, onEnd: noDeadline}
		}
		h.ServeHTTP(w, r)
	})
}

type timedBody struct {
	io.ReadCloser
	onEnd func() // called at the end of the body
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.onEnd()
	}
	return n, err
}
