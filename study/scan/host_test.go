package scan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

// fakeServers imitates the servers that a run starts for its configurations. It records every call as an event, and
// answers queries from the reference.
type fakeServers struct {
	reference   *tables.StarReference
	pid         int32 // of the newest server; each server gets the next number
	dropsCaches bool  // the engine can drop its caches
	fail        func(event string) error

	events []string
	open   int // servers that run
}

// record records an event, and returns the error that fail has for it.
func (h *fakeServers) record(format string, a ...any) error {
	e := fmt.Sprintf(format, a...)
	h.events = append(h.events, e)
	if h.fail == nil {
		return nil
	}
	return h.fail(e)
}

// serve is a scan.Opener.
func (h *fakeServers) serve(_ context.Context, p tables.Placement) (*scan.Host, error) {
	if err := h.record("start %d", p.Partitions); err != nil {
		return nil, err
	}
	h.open++
	h.pid++
	host := &scan.Host{Scans: h, PIDs: []int32{h.pid}, Log: func() string { return "the end of the log" }}
	host.Restart = func(_ context.Context, stopped func() error) error {
		if err := errors.Join(h.record("stop"), stopped(), h.record("start again")); err != nil {
			return err
		}
		h.pid++
		host.PIDs = []int32{h.pid}
		return nil
	}
	host.Close = func() error { h.open--; return h.record("down") }
	return host, nil
}

// Open implements tables.Scans.
func (h *fakeServers) Open(_ context.Context, p tables.Placement) (*tables.Star, error) {
	if err := h.record("open %d anew=%v", p.Partitions, p.Replace); err != nil {
		return nil, err
	}
	s := &tables.Star{
		Load: func(context.Context, tables.StarFiles) (tables.StarLoadResult, error) {
			return tables.StarLoadResult{Rows: h.reference.Rows}, h.record("load %d", p.Partitions)
		},
		Ask: func(_ context.Context, q tables.StarQuery) ([]tables.StarRow, error) {
			return h.reference.Answer(q), h.record("ask %d", p.Partitions)
		},
		Text:  func(q tables.StarQuery) string { return string(q) },
		Close: func() error { return h.record("close %d", p.Partitions) },
	}
	if h.dropsCaches {
		s.Cold = func(context.Context) error { return h.record("forget") }
	}
	return s, nil
}

// shortRun returns fake servers, the options of a short run of three configurations on them, and its run folder.
func shortRun(t *testing.T, o scan.Options) (*fakeServers, scan.Options, *run.Folder) {
	t.Helper()
	o.Configs = []tables.Placement{{Partitions: 1}, {Partitions: 2}, {Partitions: 4}}
	o.Queries, o.Rounds, o.Warm, o.Cold, o.ContinueOnError = []tables.StarQuery{tables.ScanAll}, 1, 1, 2, true
	h := &fakeServers{reference: o.Reference, pid: int32(os.Getpid())} //nolint:gosec // pids are small
	o.Drop = func([]string) (string, error) { return "dropped", h.record("drop") }
	return h, o, folder(t, run.Run{}, run.Scan{})
}

// loads returns the events of each server from its start to its end, by its number of partitions.
func (h *fakeServers) loads() map[string]string {
	out := map[string]string{}
	var now []string
	for _, e := range h.events {
		now = append(now, e)
		if e == "down" {
			out[strings.TrimPrefix(now[0], "start ")] = strings.Join(now, ", ")
			now = nil
		}
	}
	return out
}

// TestHosts: a run starts servers for its configurations, and stops each of them.
func TestHosts(t *testing.T) {
	base := options(t)
	for name, test := range map[string]func(t *testing.T, base scan.Options){
		"one each": oneEach, "drops caches": engineDropsCaches, "failed": failedConfiguration, "ended": errorEndsRun,
	} {
		t.Run(name, func(t *testing.T) { test(t, base) })
	}
}

// oneEach: each configuration has a server of its own, which has ended before the next one starts.
func oneEach(t *testing.T, base scan.Options) {
	t.Helper()
	h, o, result := shortRun(t, base)
	if err := scan.Run(t.Context(), h.serve, o, result); err != nil {
		t.Fatal(err)
	}
	if h.open != 0 || len(h.loads()) != 3 {
		t.Errorf("%d servers run after it: %v", h.open, h.events)
	}
	for parts, events := range h.loads() {
		again := "close P, stop, drop, start again, open P anew=false, ask P, "
		want := strings.ReplaceAll("start P, open P anew=true, load P, ask P, ask P, "+again+again+"close P, down", "P", parts)
		if events != want {
			t.Errorf("%s\nnot\n%s", events, want)
		}
	}
	for _, s := range result.Samples() {
		if s.Measured().Server == nil {
			t.Errorf("no process was watched: %+v", s)
		}
	}
	if c := result.Run.Scan.Configs[0]; c.Opens != 1 || c.Restarts != 2 || !strings.HasPrefix(result.Run.ColdMethod, "the server was restarted before each query") || !strings.HasSuffix(result.Run.ColdMethod, "; dropped") {
		t.Errorf("%+v; cold: %s", c, result.Run.ColdMethod)
	}
}

// engineDropsCaches: the run does not restart an engine that can drop its caches.
func engineDropsCaches(t *testing.T, base scan.Options) {
	t.Helper()
	h, o, result := shortRun(t, base)
	h.dropsCaches = true
	if err := scan.Run(t.Context(), h.serve, o, result); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(h.events, "stop") || result.Run.Scan.Configs[0].Restarts != 0 || result.Run.ColdMethod != "the engine dropped its caches; dropped" {
		t.Errorf("%v; cold: %s", h.events, result.Run.ColdMethod)
	}
}

var errMemory = errors.New("the server ran out of memory")

// failedConfiguration: an error of one configuration ends only this configuration and its server. The run continues
// with the others.
func failedConfiguration(t *testing.T, base scan.Options) {
	t.Helper()
	for _, event := range []string{"start 4", "open 4 anew=true", "load 4", "ask 4", "open 4 anew=false"} {
		h, o, result := shortRun(t, base)
		o.Rounds = 3
		h.fail = func(e string) error {
			if e == event {
				return errMemory
			}
			return nil
		}
		err := scan.Run(t.Context(), h.serve, o, result)
		if !errors.Is(err, scan.ErrConfigsFailed) || scan.FailedConfigs(result.Run.Scan) != 1 || !strings.Contains(err.Error(), "1 of 3") {
			t.Errorf("%s: %v", event, err)
		}
		if h.open != 0 {
			t.Errorf("%s: %d servers run", event, h.open)
		}
		failed := result.Run.Scan.Configs[2].Problem
		if !strings.Contains(failed, errMemory.Error()) || strings.Contains(failed, "the end of the log") != (event != "start 4") {
			t.Errorf("%s: %q", event, failed)
		}
		for _, c := range result.Run.Scan.Configs[:2] {
			if c.Problem != "" || c.Loads != 3 {
				t.Errorf("%s: %+v", event, c)
			}
		}
	}
}

// errorEndsRun: an error that concerns every configuration ends the run, and so does an interruption. The run stops the
// server first.
func errorEndsRun(t *testing.T, base scan.Options) {
	t.Helper()
	for name, tc := range map[string]struct {
		fails     error
		continues bool
		then      func(stop context.CancelFunc)
	}{
		"not continued":    {fails: errMemory},
		"a usage error":    {fails: &fault.Status{Code: fault.Usage, Err: errMemory}, continues: true},
		"no files to load": {fails: fmt.Errorf("documents: %w", tables.ErrStarFiles), continues: true},
		"an interruption":  {fails: context.Canceled, continues: true, then: func(stop context.CancelFunc) { stop() }},
	} {
		h, o, result := shortRun(t, base)
		o.ContinueOnError = tc.continues
		ctx, stop := context.WithCancel(t.Context())
		h.fail = func(e string) error {
			if !strings.HasPrefix(e, "ask") && !strings.HasPrefix(e, "load") || len(result.Samples()) == 0 {
				return nil
			}
			if tc.then != nil {
				tc.then(stop)
			}
			return tc.fails
		}
		err := scan.Run(ctx, h.serve, o, result)
		stop()
		if !errors.Is(err, tc.fails) || errors.Is(err, scan.ErrConfigsFailed) || scan.FailedConfigs(result.Run.Scan) != 0 {
			t.Errorf("%s: %v", name, err)
		}
		if h.open != 0 || len(result.Samples()) != 1 || h.events[len(h.events)-1] != "down" {
			t.Errorf("%s: %d servers run, %d points, %v", name, h.open, len(result.Samples()), h.events)
		}
	}
}
