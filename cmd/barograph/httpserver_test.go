package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"

	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsWithoutHostAreLocal: other machines cannot read the metrics of an address without a host.
func TestMetricsWithoutHostAreLocal(t *testing.T) {
	var printed strings.Builder
	stop, err := (&env{stderr: &printed}).metrics(t.Context(), prometheus.NewRegistry(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if !strings.HasPrefix(printed.String(), "metrics: http://127.0.0.1:") {
		t.Errorf("the metrics are served at %s", printed.String())
	}
}

// TestIdleConnectionsKeepNobodyOut: some clients connect and send nothing, keep connections alive,
// or send half a body. They get at most their share of connections, and the server answers other
// clients.
func TestIdleConnectionsKeepNobodyOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // does not wait
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	s := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			w.(http.Flusher).Flush() //nolint:forcetypeassert // a server's is one
			<-held
		}
		fmt.Fprint(w, "answer")
	}))
	if s.IdleTimeout == 0 || s.ReadHeaderTimeout == 0 {
		t.Error("connections may last for ever")
	}
	go s.Serve(l)
	defer s.Close()
	ask := func(path string) *http.Response {
		t.Helper()
		r, err := (&http.Client{Transport: &http.Transport{}}).Get("http://" + l.Addr().String() + path) //nolint:noctx // it is our own
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	long := ask("/long") // its answer takes as long as the test; the server must not close it
	defer long.Body.Close()
	var all []net.Conn
	for i := range 3 * maxPerAddress {
		conn, err := net.Dial("tcp", l.Addr().String()) //nolint:noctx // does not wait
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 {
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if _, err := conn.Read(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, conn)
	}
	r := ask("/")
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || string(text) != "answer" {
		t.Errorf("%q, %v", text, err)
	}
	open := 0
	for _, conn := range all {
		conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := conn.Read(make([]byte, 1))
		if n, ok := err.(net.Error); ok && n.Timeout() { //nolint:errorlint // bare
			open++
		}
	}
	if open >= maxPerAddress {
		t.Errorf("%d connections that do nothing are open", open)
	}
	close(held)
	if text, err := io.ReadAll(long.Body); err != nil || string(text) != "answer" {
		t.Errorf("the long request: %q, %v", text, err)
	}
}

func TestSurplusOfAllAddresses(t *testing.T) {
	c := &connections{open: map[net.Conn]*connection{}}
	var first net.Conn
	for i := range 3 * maxConnections {
		a, b := net.Pipe()
		conn := &connFrom{Conn: a, host: fmt.Sprintf("127.0.%d.%d:1", i/200, i%200)}
		defer b.Close()
		c.stateChanged(conn, http.StateNew)
		if i == 0 {
			first = conn
			c.stateChanged(conn, http.StateActive)
		}
	}
	if len(c.open) != maxConnections || c.open[first] == nil {
		t.Errorf("%d connections, the active one %v", len(c.open), c.open[first])
	}
}

// connFrom is a connection whose remote address is host.
type connFrom struct {
	net.Conn
	host string
}

func (f *connFrom) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", f.host); return a }

// TestOpenShowsNoToken: serve --open passes the browser a file that only this user can read, and
// removes it.
func TestOpenShowsNoToken(t *testing.T) {
	dir := t.TempDir()
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\necho \"$@\" > $OUT/args\nstat -c %a \"$1\" > $OUT/mode\ncat \"$1\" > $OUT/page.part && mv $OUT/page.part $OUT/page\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("OUT", dir)
	t.Setenv("TMPDIR", temporary)
	db := "sqlite:" + filepath.Join(dir, "x.db")
	must(t, "load", dayOfData(t), "--engine", db)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, &env{args: []string{"serve", db, "--open"}, stdout: w, stderr: io.Discard, engines: all.Registry()})
		w.Close()
	}()
	line := make([]byte, 1000)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, token, ok := strings.Cut(strings.TrimSpace(string(line[:n])), "token=")
	if !ok {
		t.Fatalf("%q", line[:n])
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "page")); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the browser is not started")
		}
	}
	if args := read("args"); strings.Contains(args, token) || read("mode") != "600\n" || !strings.Contains(read("page"), "token="+token+"&amp;opened") {
		t.Errorf("%s%s%s", args, read("mode"), read("page"))
	}
	end()
	<-ended
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
