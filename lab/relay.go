package lab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Relay is a proxy between clients and a server that delays the server's replies. It loses nothing
// and keeps the order.
type Relay struct {
	to    string
	delay atomic.Int64
	at    net.Listener
	all   sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool // nil = closed
}

// NewRelay listens on a port of its own at host, such as 127.0.0.1, for clients of
// the server at an address, until it is closed.
func NewRelay(host, to string) (*Relay, error) {
	at, err := listen(host, 0)
	if err != nil {
		return nil, err
	}
	r := &Relay{to: to, at: at, open: map[net.Conn]bool{}}
	r.all.Go(r.accept)
	return r, nil
}

// Addr is where clients reach it.
func (r *Relay) Addr() string { return r.at.Addr().String() }

// Delay delays everything that the server sends from now on.
func (r *Relay) Delay(by time.Duration) { r.delay.Store(int64(by)) }

// Close closes the relay and every connection through it.
func (r *Relay) Close() error {
	err := r.at.Close()
	r.mu.Lock()
	for c := range r.open {
		_ = c.Close() // the goroutines that use it see that
	}
	r.open = nil
	r.mu.Unlock()
	r.all.Wait()
	return err
}

func (r *Relay) accept() {
	for {
		client, err := r.at.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(poll) // no descriptor is left, for now
			continue
		}
		r.all.Go(func() { r.relay(client) })
	}
}

// relay serves a client until both sides have ended, or one is broken.
func (r *Relay) relay(client net.Conn) {
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		_ = client.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // of a TCP listener
		_ = client.Close()                     // as the server is away
		return
	}
	defer r.forget(client, server)
	if !r.keep(client, server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pass(server, client, func() time.Duration { return 0 }) })
	both.Go(func() { pass(client, server, func() time.Duration { return time.Duration(r.delay.Load()) }) })
	both.Wait()
}

func (r *Relay) keep(all ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		if r.open != nil {
			r.open[c] = true
		}
	}
	return r.open != nil
}

func (r *Relay) forget(all ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		delete(r.open, c)
		_ = c.Close() // both sides have ended
	}
}

// late is what was read, and when it is due on the other side.
type late struct {
	text []byte
	due  time.Time
}

// inFlight is the number of pieces of up to 32 kB that may wait in the relay.
const inFlight = 1024

// pass hands on what comes from one side to the other, so late; its end, too.
func pass(to, from net.Conn, delay func() time.Duration) {
	way := make(chan late, inFlight)
	var writer sync.WaitGroup
	writer.Go(func() {
		broken := false
		for p := range way {
			time.Sleep(time.Until(p.due))
			if !broken {
				if _, err := to.Write(p.text); err != nil {
					broken = true
					_ = from.Close() // nobody listens any more
				}
			}
		}
		_ = to.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // both are TCP's
	})
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		if n > 0 {
			way <- late{bytes.Clone(buffer[:n]), time.Now().Add(delay())}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = to.Close() // a reset goes through
			}
			break
		}
	}
	close(way)
	writer.Wait()
}
