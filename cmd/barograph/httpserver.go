package main

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// These limits of HTTP servers keep clients from using up the file descriptors: a server has
// about 1,000, and every process of the machine can connect to it.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = time.Minute
	mostOfAddress = 64  // connections of one remote address
	mostInAll     = 256 // connections of all addresses
)

// newHTTPServer returns a server whose clients cannot block each other: it closes idle
// connections, and at a limit it closes the oldest idle connection for a new one.
func newHTTPServer(h http.Handler) *http.Server {
	c := &connections{all: map[net.Conn]*connection{}}
	return &http.Server{Handler: bodyDeadline(h), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ConnState: c.stateChanged}
}

// connections are the open connections of a server.
type connections struct {
	mu  sync.Mutex
	all map[net.Conn]*connection
	n   int64 // changes of states
}

type connection struct {
	host   string
	active bool  // the server handles a request
	since  int64 // number of the last change of state
}

func (c *connections) stateChanged(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.all, conn)
	case http.StateActive, http.StateIdle:
		if x := c.all[conn]; x != nil {
			x.active, x.since = state == http.StateActive, c.n
		}
	case http.StateNew:
		host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		c.all[conn] = &connection{host: host, since: c.n}
		if out := c.surplus(host); out != nil {
			delete(c.all, out)
			_ = out.Close() // its client connects again
		}
	}
}

// surplus returns the connection to close if one address has, or all addresses have, too many:
// the one that has been without a request for the longest time. nil = none.
func (c *connections) surplus(host string) net.Conn {
	var of, waiting []net.Conn
	for conn, x := range c.all {
		if x.host == host {
			of = append(of, conn)
		}
	}
	switch {
	case len(of) > mostOfAddress:
		waiting = of
	case len(c.all) > mostInAll:
		for conn := range c.all {
			waiting = append(waiting, conn)
		}
	default:
		return nil
	}
	waiting = slices.DeleteFunc(waiting, func(conn net.Conn) bool { return c.all[conn].active })
	return slices.MinFunc(waiting, func(a, b net.Conn) int { return cmp.Compare(c.all[a].since, c.all[b].since) }) // at least the new connection has no request
}

// bodyDeadline ends a connection if the body of a request does not arrive in time. The
// deadline does not apply to responses, which may take hours.
func bodyDeadline(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if control := http.NewResponseController(w); r.ContentLength != 0 && control.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil {
			r.Body = &timedBody{ReadCloser: r.Body, read: func() { _ = control.SetReadDeadline(time.Time{}) }} // fails only on a closed connection
		}
		h.ServeHTTP(w, r)
	})
}

type timedBody struct {
	io.ReadCloser
	read func() // called at the end of the body
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.read()
	}
	return n, err
}
