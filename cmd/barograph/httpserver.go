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

// What a client of an HTTP server of this program may take: a server has some
// 1,000 file descriptors, and every process of a machine can connect to it.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = time.Minute
	mostOfAddress = 64  // connections of one remote address
	mostInAll     = 256 // connections
)

// newHTTPServer is a server whose clients cannot keep others out: a connection
// that does nothing ends, and the oldest such one makes room for a new one.
func newHTTPServer(h http.Handler) *http.Server {
	c := &connections{all: map[net.Conn]*connection{}}
	return &http.Server{Handler: bodyDeadline(h), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ConnState: c.changed}
}

// connections are those that a server has.
type connections struct {
	mu  sync.Mutex
	all map[net.Conn]*connection
	n   int64 // changes of states
}

type connection struct {
	host   string
	active bool  // a request is answered
	since  int64 // number of the change
}

func (c *connections) changed(conn net.Conn, state http.ConnState) {
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

// surplus is the connection to close where there are too many, all or of one
// address: the one that has waited longest without a request; nil = none.
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
	return slices.MinFunc(waiting, func(a, b net.Conn) int { return cmp.Compare(c.all[a].since, c.all[b].since) }) // the new one waits, at least
}

// bodyDeadline ends a connection whose request's body does not come. The
// deadline is of the body only: answers may take hours.
func bodyDeadline(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if control := http.NewResponseController(w); r.ContentLength != 0 && control.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil {
			r.Body = &timedBody{ReadCloser: r.Body, read: func() { _ = control.SetReadDeadline(time.Time{}) }} // a connection that is gone has none
		}
		h.ServeHTTP(w, r)
	})
}

type timedBody struct {
	io.ReadCloser
	read func() // called at its end
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.read()
	}
	return n, err
}
