package trino

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine"
)

// client talks to a coordinator with its REST protocol
// (trino.io/docs/current/develop/client-protocol.html).
type client struct {
	http *http.Client
	base string // http://host:port
	user *url.Userinfo

	// What all nodes spent on finished statements: processor time in ms, and bytes that they read from files.
	cpuMillis, readBytes atomic.Int64
}

// connections is the number of connections to the coordinator that stay open between statements.
const connections = 16

func newClient(host string, user *url.Userinfo) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	return &client{http: &http.Client{Transport: transport}, base: "http://" + host, user: user}
}

// encrypt makes all connections use TLS. Without TLS the client sends no password.
func (c *client) encrypt(secure *tls.Config) {
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: connections, TLSClientConfig: secure}
	c.base = "https" + strings.TrimPrefix(c.base, "http")
}

// sign adds the account to a request.
func (c *client) sign(req *http.Request) {
	req.Header.Set("X-Trino-User", cmp.Or(c.user.Username(), "barograph"))
	if password, ok := c.user.Password(); ok && req.URL.Scheme == "https" {
		req.SetBasicAuth(c.user.Username(), password)
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// request is a statement.
type request struct {
	text    string
	session string                       // properties: name=value, separated by commas
	row     func(row gjson.Result) error // receives each row, an array; nil = no rows are expected
}

// serverError is an error that the server reports for a statement.
type serverError struct{ name, message string }

func (e *serverError) Error() string { return "trino: " + e.name + ": " + e.message }

// run runs a statement. Each reply names the page with the next rows; the last one names none. If ctx ends
// first, run cancels the statement on the server.
func (c *client) run(ctx context.Context, r request) error {
	method, uri, body := http.MethodPost, c.base+"/v1/statement", r.text
	for uri != "" {
		page, err := c.page(ctx, method, uri, body, r.session)
		if err != nil {
			if ctx.Err() != nil {
				c.cancel(context.WithoutCancel(ctx), method, uri)
				return ctx.Err()
			}
			return err
		}
		reply := gjson.ParseBytes(page)
		if !reply.Get("id").Exists() {
			return fmt.Errorf("trino: %s is not a Trino server: it replied %q", c.base, beginning(page))
		}
		if e := reply.Get("error"); e.Exists() {
			return &serverError{e.Get("errorName").String(), e.Get("message").String()}
		}
		for _, row := range reply.Get("data").Array() {
			if r.row == nil {
				continue
			}
			if err := r.row(row); err != nil {
				c.cancel(context.WithoutCancel(ctx), http.MethodGet, reply.Get("nextUri").String())
				return err
			}
		}
		method, uri, body = http.MethodGet, reply.Get("nextUri").String(), ""
		if uri == "" {
			c.cpuMillis.Add(reply.Get("stats.cpuTimeMillis").Int())
			c.readBytes.Add(reply.Get("stats.physicalInputBytes").Int())
		}
	}
	return nil
}

// usage returns what the coordinator reported for this client's statements. Trino keeps nothing of files in
// memory: it read all these bytes from files.
func (c *client) usage(context.Context) (engine.ServerUsage, error) {
	return engine.ServerUsage{CPU: time.Duration(c.cpuMillis.Load()) * time.Millisecond, Read: c.readBytes.Load()}, nil
}

// The protocol demands that a client retries a little later if the coordinator, or a proxy before it, is busy.
const (
	busyPause = 100 * time.Millisecond
	busyTries = 50
)

// isBusy reports whether a status asks the client to retry.
func isBusy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// page requests one page.
func (c *client) page(ctx context.Context, method, uri, body, session string) ([]byte, error) {
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, method, uri, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		c.sign(req)
		req.Header.Set("X-Trino-Source", "barograph")
		req.Header.Set("X-Trino-Time-Zone", "UTC")
		if session != "" {
			req.Header.Set("X-Trino-Session", session)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it is only read
		switch {
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusOK:
			return text, nil
		case !isBusy(resp.StatusCode) || try == busyTries:
			return nil, fmt.Errorf("trino: status %d: %s", resp.StatusCode, beginning(text))
		}
		pause := busyPause
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			pause = max(pause, time.Duration(seconds)*time.Second)
		}
		if err := engine.Pause(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// beginning returns the first bytes of a reply, for an error.
func beginning(reply []byte) string { return strings.TrimSpace(string(reply[:min(len(reply), 300)])) }

// cancelPatience is how long a server may take to cancel a query.
const cancelPatience = 2 * time.Second

// cancel cancels a statement on the server, by the requested page.
func (c *client) cancel(ctx context.Context, method, uri string) {
	if method == http.MethodPost || uri == "" {
		return // the server starts a statement with the first GET; without a URI it has finished
	}
	ctx, stop := context.WithTimeout(ctx, cancelPatience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, uri, nil)
	if err != nil {
		return
	}
	c.sign(req)
	if resp, err := c.http.Do(req); err == nil {
		_ = resp.Body.Close() // the reply does not matter
	}
}

// number runs a statement whose result is one number.
func (c *client) number(ctx context.Context, text string) (n int64, err error) {
	err = c.run(ctx, request{text: text, row: func(row gjson.Result) error { n = row.Get("0").Int(); return nil }})
	return n, err
}
