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

// Gate is a proxy between clients and an HTTP server, such as an object store. It limits the
// server's bytes a second for all clients together, delays the start of each reply, and counts
// both.
type Gate struct {
	rate    float64 // bytes a second; 0 = as they come
	latency time.Duration
	at      net.Listener
	server  *http.Server
	all     sync.WaitGroup

	requests, bytes atomic.Int64

	mu   sync.Mutex
	free time.Time // when the next byte may pass
}

// NewGate listens on a port of its own at 127.0.0.1 for clients of the server at an
// address, until it is closed. A rate or latency of 0 is none.
func NewGate(to string, rate float64, latency time.Duration) (*Gate, error) {
	at, err := listen("127.0.0.1", 0)
	if err != nil {
		return nil, err
	}
	g := &Gate{rate: rate, latency: latency, at: at}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: to})
			r.Out.Host = r.In.Host // which the client has signed
		},
		Transport:      &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ModifyResponse: func(r *http.Response) error { r.Body = &paced{r.Body, r.Request.Context(), g}; return nil },
	}
	g.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.requests.Add(1)
		if !pause(r.Context(), latency) {
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	g.all.Go(func() { _ = g.server.Serve(at) }) // Close ends it
	return g, nil
}

// Addr is where clients reach it.
func (g *Gate) Addr() string { return g.at.Addr().String() }

// Counted are the requests that came, and the bytes of bodies that were sent, since it began.
func (g *Gate) Counted() (requests, bytes int64) { return g.requests.Load(), g.bytes.Load() }

// Close closes the gate and every connection through it.
func (g *Gate) Close() error {
	err := g.server.Close()
	g.all.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// pass waits until n bytes may have passed; false = nobody waits for them.
func (g *Gate) pass(ctx context.Context, n int) bool {
	g.bytes.Add(int64(n))
	if g.rate <= 0 {
		return true
	}
	g.mu.Lock()
	if now := time.Now(); g.free.Before(now) {
		g.free = now
	}
	g.free = g.free.Add(time.Duration(float64(n) / g.rate * 1e9))
	due := g.free
	g.mu.Unlock()
	return pause(ctx, time.Until(due))
}

// pause reports whether it waited for the complete duration.
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

// paced is what a server sends.
type paced struct {
	io.ReadCloser
	ctx context.Context //nolint:containedctx // of the request whose answer it is
	by  *Gate
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if !p.by.pass(p.ctx, n) {
		return n, p.ctx.Err()
	}
	return n, err
}
