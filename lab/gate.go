package lab

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Gate is a proxy between clients and an HTTP server, such as an object store. It limits the rate at which all clients
// together receive bytes, delays the start of each reply, and counts requests and bytes.
type Gate struct {
	rate     float64 // bytes a second; 0 = no limit
	latency  time.Duration
	listener net.Listener
	server   *http.Server
	toServer *http.Transport
	serving  sync.WaitGroup

	requests, bytes atomic.Int64

	mu      sync.Mutex
	nextDue time.Time // when the next byte may pass
}

// NewGate listens at 127.0.0.1, on a port of its own, for clients of the server at the address to, until it is closed.
// A rate or latency of 0 is none.
func NewGate(to string, rate float64, latency time.Duration) (*Gate, error) {
	listener, err := listen("127.0.0.1", 0)
	if err != nil {
		return nil, err
	}
	g := &Gate{
		rate: rate, latency: latency, listener: listener,
		toServer: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: to})
			r.Out.Host = r.In.Host // the client has signed it
		},
		Transport:      g.toServer,
		ModifyResponse: func(r *http.Response) error { r.Body = &pacedBody{r.Body, r.Request.Context(), g}; return nil },
	}
	handle := func(w http.ResponseWriter, r *http.Request) {
		g.requests.Add(1)
		if pause(r.Context(), latency) {
			proxy.ServeHTTP(w, r)
		}
	}
	g.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(handle)}
	g.serving.Go(func() { _ = g.server.Serve(listener) }) // Close ends it
	return g, nil
}

// Addr returns the address for clients.
func (g *Gate) Addr() string { return g.listener.Addr().String() }

// Counted returns the number of requests, and the bytes of bodies that were sent, since NewGate.
func (g *Gate) Counted() (requests, bytes int64) { return g.requests.Load(), g.bytes.Load() }

// Close closes the gate and every connection through it.
func (g *Gate) Close() error {
	err := g.server.Close()
	g.serving.Wait()
	g.toServer.CloseIdleConnections() // and each other one when its request ends
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// pass counts n bytes, and waits until the rate permits them. It returns false if the client no longer waits for them.
func (g *Gate) pass(ctx context.Context, n int) bool {
	g.bytes.Add(int64(n))
	if g.rate <= 0 {
		return true
	}
	g.mu.Lock()
	if now := time.Now(); g.nextDue.Before(now) {
		g.nextDue = now
	}
	g.nextDue = g.nextDue.Add(time.Duration(float64(n) / g.rate * 1e9))
	due := g.nextDue
	g.mu.Unlock()
	return pause(ctx, time.Until(due))
}

// pause waits for a duration. It returns false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// pacedBody is the body of a server's reply. It returns bytes at the rate of its gate.
type pacedBody struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // of the request
	gate *Gate
}

func (p *pacedBody) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if !p.gate.pass(p.ctx, n) {
		return n, p.ctx.Err()
	}
	return n, err
}
