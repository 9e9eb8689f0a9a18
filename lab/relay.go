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

// Relay is a proxy between clients and a server that delays the server's replies. It loses no data and keeps their
// order.
type Relay struct {
	to       string
	delay    atomic.Int64
	listener net.Listener
	serving  sync.WaitGroup

	closed chan struct{} // closed by Close

	mu   sync.Mutex
	open map[net.Conn]bool // nil = closed
}

// NewRelay listens at host, such as 127.0.0.1, on a port of its own, for clients of the server at the address to, until
// it is closed.
func NewRelay(host, to string) (*Relay, error) {
	listener, err := listen(host, 0)
	if err != nil {
		return nil, err
	}
	r := &Relay{to: to, listener: listener, closed: make(chan struct{}), open: map[net.Conn]bool{}}
	r.serving.Go(r.accept)
	return r, nil
}

// Addr returns the address for clients.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Delay delays everything that the server sends from now on.
func (r *Relay) Delay(by time.Duration) { r.delay.Store(int64(by)) }

// Close closes the relay and every connection through it. It discards the data that the relay still delays.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.mu.Lock()
	if r.open != nil {
		close(r.closed)
	}
	for c := range r.open {
		_ = c.Close() // the goroutines that use it get an error
	}
	r.open = nil
	r.mu.Unlock()
	r.serving.Wait()
	return err
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(poll) // for example, this process has too many open files
			continue
		}
		r.serving.Go(func() { r.relay(client) })
	}
}

// relay serves a client until both sides have closed their connections, or one connection is broken.
func (r *Relay) relay(client net.Conn) {
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		_ = client.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // of a TCP listener
		_ = client.Close()                     // with a reset, as a server that does not run
		return
	}
	defer r.closeConns(client, server)
	if !r.addConns(client, server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { r.forward(server, client, func() time.Duration { return 0 }) })
	both.Go(func() { r.forward(client, server, func() time.Duration { return time.Duration(r.delay.Load()) }) })
	both.Wait()
}

// addConns adds connections that Close must close. It returns false if the relay is closed already.
func (r *Relay) addConns(all ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		if r.open != nil {
			r.open[c] = true
		}
	}
	return r.open != nil
}

func (r *Relay) closeConns(all ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		delete(r.open, c)
		_ = c.Close() // both sides have ended
	}
}

// delayedPiece is a piece of data, and the time at which the relay sends it.
type delayedPiece struct {
	data []byte
	due  time.Time
}

// maxPieces is the number of pieces of up to 32 kB that may wait in the relay.
const maxPieces = 1024

// forward sends the data that it receives from one side to the other side after a delay, and then closes the connection
// for writing.
func (r *Relay) forward(to, from net.Conn, delay func() time.Duration) {
	pieces := make(chan delayedPiece, maxPieces)
	var writer sync.WaitGroup
	writer.Go(func() {
		broken := false
		for p := range pieces {
			if wait := time.Until(p.due); wait > 0 {
				select {
				case <-time.After(wait):
				case <-r.closed:
				}
			}
			if !broken {
				if _, err := to.Write(p.data); err != nil {
					broken = true
					_ = from.Close() // the other side receives no more data
				}
			}
		}
		_ = to.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // both are TCP's
	})
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		if n > 0 {
			pieces <- delayedPiece{bytes.Clone(buffer[:n]), time.Now().Add(delay())}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = to.Close() // the other side is reset too
			}
			break
		}
	}
	close(pieces)
	writer.Wait()
}
