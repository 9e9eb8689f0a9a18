package serve_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/serve"
)

// TestGuard: requests of other hosts, origins, methods and without the token are refused, and some paths are never served.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	startRun(t, dir)
	finishRun(t, dir, "done", "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	p := newPage(t, dir)
	stranger := &http.Client{}
	for _, c := range []struct {
		name, method, path string
		client             *http.Client
		change             func(r *http.Request)
		want               int
	}{
		{"a page", "GET", "/runs", p.client, nil, 200},
		{"its head", "HEAD", "/runs", p.client, nil, 200},
		{"by name", "GET", "/runs", p.client, func(r *http.Request) { r.Host = "localhost" + r.URL.Host[strings.LastIndexByte(r.URL.Host, ':'):] }, 200},
		{"own origin", "GET", "/api/v1/runs", p.client, func(r *http.Request) { r.Header.Set("Origin", p.URL) }, 200},
		{"rebinding", "GET", "/runs", p.client, func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"rebinding with our port", "GET", "/runs", p.client, func(r *http.Request) { r.Host = "evil.example" + r.URL.Host[strings.LastIndexByte(r.URL.Host, ':'):] }, 403},
		{"another port", "GET", "/runs", p.client, func(r *http.Request) { r.Host = "localhost:1" }, 403},
		{"foreign origin", "GET", "/api/v1/runs", p.client, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"no token", "GET", "/runs", stranger, nil, 403},
		{"no token, assets", "GET", "/assets/app.js", stranger, nil, 403},
		{"another token", "GET", "/?token=x", stranger, nil, 403},
		{"empty token", "GET", "/?token=", stranger, nil, 403},
		{"post", "POST", "/api/v1/runs", p.client, nil, 405},
		{"put", "PUT", "/runs", p.client, nil, 405},
		{"delete", "DELETE", "/runs", p.client, nil, 405},
		{"options", "OPTIONS", "/runs", p.client, nil, 405},
		{"out of the folder", "GET", "/runs/" + filepath.Base(dir) + "/..%2f..%2fetc/report.html", p.client, nil, 404},
		{"out of the folder, plain", "GET", "/runs/../../etc/passwd", p.client, nil, 404},
		{"events of elsewhere", "GET", "/api/v1/events?folder=" + filepath.Base(dir) + "&name=../..", p.client, nil, 404},
		{"assets of elsewhere", "GET", "/assets/..%2f..%2fserve.go", p.client, nil, 404},
		{"samples of a run", "GET", "/runs/" + filepath.Base(dir) + "/done/samples.csv", p.client, nil, 200},
		{"no file of a report", "GET", "/runs/" + filepath.Base(dir) + "/done/run.json", p.client, nil, 404},
		{"samples of elsewhere", "GET", "/runs/" + filepath.Base(dir) + "/done/..%2f..%2fx.csv", p.client, nil, 404},
		{"no such page", "GET", "/nothing", p.client, nil, 404},
		{"a parameter that would be dropped", "GET", "/runs?x=1;y=2", p.client, nil, 400},
		{"an incomplete escape", "GET", "/runs?x=100%", p.client, nil, 400},
		{"the head of a stream", "HEAD", "/api/v1/events?name=first&folder=" + filepath.Base(dir), p.client, nil, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := p.do(c.client, c.method, c.path, c.change)
			if r.StatusCode != c.want {
				t.Errorf("%s, want %d", r.Status, c.want)
			}
			if policy := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
				t.Error(policy)
			}
		})
	}
	p.ended() // the head of a stream is no stream
}

// TestToken: the cookie is valid only for this site and hidden from scripts. No redirect contains
// the token or leads to another site.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	startRun(t, dir)
	p := newPage(t, dir)
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	token := p.s.URL()[strings.IndexByte(p.s.URL(), '='):]
	r := p.do(plain, http.MethodGet, "/runs?x=1&token"+token+"&"+serve.Opened, nil)
	if r.StatusCode != http.StatusOK || r.Header.Get("Refresh") != "0; url=/runs?x=1" || r.Header.Get("Set-Cookie") == "" {
		t.Errorf("%s, %v", r.Status, r.Header)
	}
	for path, want := range map[string]string{"/runs?x=1&token": "/runs?x=1", "//evil.example/?token": "/evil.example/", "/%5Cevil.example?token": "/"} {
		r := p.do(plain, http.MethodGet, path+token, nil)
		set := r.Header.Get("Set-Cookie")
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") {
			t.Errorf("%s: %s, to %s, %s", path, r.Status, r.Header.Get("Location"), set)
		}
	}
}

// TestPort80: browsers omit port 80 from the Host of a request.
func TestPort80(t *testing.T) {
	dir := t.TempDir()
	startRun(t, dir)
	for host, requests := range map[string]map[string]int{
		"127.0.0.1:80":   {"127.0.0.1": 303, "127.0.0.1:80": 303, "localhost": 303, "evil.example": 403, "127.0.0.1:8042": 403},
		"[::1]:80":       {"[::1]": 303, "[::1]:80": 303},
		"127.0.0.1:8042": {"127.0.0.1": 403, "127.0.0.1:80": 403, "127.0.0.1:8042": 303},
	} {
		s, err := serve.New(serve.Options{Registry: registry, Host: host}, dir)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range requests {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, s.URL(), nil)
			r.Host = name
			w := httptest.NewRecorder()
			if s.Handler().ServeHTTP(w, r); w.Code != want {
				t.Errorf("served as %s, a request to %s: status %d, want %d", host, name, w.Code, want)
			}
		}
	}
}
