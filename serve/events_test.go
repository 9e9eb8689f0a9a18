package serve_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestEvents: a browser receives existing and new events, and continues after its Last-Event-ID.
// The failed repetition of startRun has rewritten the journal before.
func TestEvents(t *testing.T) {
	dir := t.TempDir()
	f := startRun(t, dir)
	p := newPage(t, dir)
	stream := func(after string) (next func() string, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r := p.begin(p.client, http.MethodGet, "/api/v1/events?folder="+filepath.Base(dir)+"&name=first", func(r *http.Request) {
			*r = *r.WithContext(ctx)
			r.Header.Set("Last-Event-ID", after)
		})
		t.Cleanup(func() { r.Body.Close() })
		rest := ""
		return func() string {
			buf := make([]byte, 4096)
			for !strings.Contains(rest, "\n\n") {
				n, err := r.Body.Read(buf)
				if err != nil {
					return err.Error()
				}
				rest += string(buf[:n])
			}
			one, more, _ := strings.Cut(rest, "\n\n")
			rest = more
			return one
		}, cancel
	}
	next, stop := stream("")
	defer stop()
	if first := next(); !strings.Contains(first, "id: 1\n") || !strings.Contains(first, `"begin"`) {
		t.Error(first)
	}
	if second := next(); !strings.Contains(second, `"sample"`) {
		t.Error(second)
	}
	if err := f.AddEvent(run.Event{Kind: run.StepEvent, Text: "asking", Done: 1, Total: 2}); err != nil {
		t.Fatal(err)
	}
	if third := next(); !strings.Contains(third, "asking") {
		t.Error(third)
	}
	later, end := stream("2")
	defer end()
	if one := later(); !strings.Contains(one, "asking") {
		t.Error(one)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if last := next(); !strings.Contains(last, `"stop"`) {
		t.Error(last)
	}
}
