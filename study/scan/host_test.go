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

// theatre stands for servers that are started for configurations: it notes all
// that is called, and answers from the reference.
type theatre struct {
	reference *tables.StarReference
	pid       int32 // of every new server; the last one that was given
	forgets   bool  // the engine can be made to forget
	fail      func(event string) error

	events []string
	open   int // servers that run
}

// note notes what is called.
func (h *theatre) note(format string, a ...any) error {
	e := fmt.Sprintf(format, a...)
	h.events = append(h.events, e)
	if h.fail == nil {
		return nil
	}
	return h.fail(e)
}

// serve is a scan.Opener.
func (h *theatre) serve(_ context.Context, p tables.Placement) (*scan.Host, error) {
	if err := h.note("start %d", p.Partitions); err != nil {
		return nil, err
	}
	h.open++
	h.pid++
	host := &scan.Host{Scans: h, PIDs: []int32{h.pid}, Log: func() string { return "the end of the log" }}
	host.Restart = func(_ context.Context, stopped func() error) error {
		if err := errors.Join(h.note("stop"), stopped(), h.note("start again")); err != nil {
			return err
		}
		h.pid++
		host.PIDs = []int32{h.pid}
		return nil
	}
	host.Close = func() error { h.open--; return h.note("down") }
	return host, nil
}

// Open is tables.Scans'.
func (h *theatre) Open(_ context.Context, p tables.Placement) (*tables.Star, error) {
	if err := h.note("open %d anew=%v", p.Partitions, p.Replace); err != nil {
		return nil, err
	}
	s := &tables.Star{
		Load: func(context.Context, tables.StarFiles) (tables.StarLoadResult, error) {
			return tables.StarLoadResult{Rows: h.reference.Rows}, h.note("load %d", p.Partitions)
		},
		Ask: func(_ context.Context, q tables.StarQuery) ([]tables.StarRow, error) {
			return h.reference.Answer(q), h.note("ask %d", p.Partitions)
		},
		Text:  func(q tables.StarQuery) string { return string(q) },
		Close: func() error { return h.note("close %d", p.Partitions) },
	}
	if h.forgets {
		s.Cold = func(context.Context) error { return h.note("forget") }
	}
	return s, nil
}

// staged are a short run of three configurations, and its servers.
func staged(t *testing.T, o scan.Options) (*theatre, scan.Options, *run.Folder) {
	t.Helper()
	o.Configs = []tables.Placement{{Partitions: 1}, {Partitions: 2}, {Partitions: 4}}
	o.Queries, o.Rounds, o.Warm, o.Cold, o.ContinueOnError = []tables.StarQuery{tables.ScanAll}, 1, 1, 2, true
	h := &theatre{reference: o.Reference, pid: int32(os.Getpid())} //nolint:gosec // pids are small
	o.Drop = func([]string) (string, error) { return "dropped", h.note("drop") }
	return h, o, folder(t, run.Run{}, run.Scan{})
}

// loads are the events from a start to the server's end, by partitions.
func (h *theatre) loads() map[string]string {
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

// TestHosts runs on servers that are started for configurations.
func TestHosts(t *testing.T) {
	base := options(t)
	for name, test := range map[string]func(t *testing.T, base scan.Options){
		"one each": oneEach, "forget": forget, "give up": giveUp, "no further": noFurther,
	} {
		t.Run(name, func(t *testing.T) { test(t, base) })
	}
}

// oneEach: each configuration has its server, and nothing of it is there when
// the next one starts.
func oneEach(t *testing.T, base scan.Options) {
	t.Helper()
	h, o, result := staged(t, base)
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

// forget: an engine that can be made to forget is not restarted.
func forget(t *testing.T, base scan.Options) {
	t.Helper()
	h, o, result := staged(t, base)
	h.forgets = true
	if err := scan.Run(t.Context(), h.serve, o, result); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(h.events, "stop") || result.Run.Scan.Configs[0].Restarts != 0 || result.Run.ColdMethod != "the engine dropped its caches; dropped" {
		t.Errorf("%v; cold: %s", h.events, result.Run.ColdMethod)
	}
}

var errStage = errors.New("the server ran out of memory")

// giveUp: whatever fails of one configuration ends that one, its server too, and
// the others go on.
func giveUp(t *testing.T, base scan.Options) {
	t.Helper()
	for _, event := range []string{"start 4", "open 4 anew=true", "load 4", "ask 4", "open 4 anew=false"} {
		h, o, result := staged(t, base)
		o.Rounds = 3
		h.fail = func(e string) error {
			if e == event {
				return errStage
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
		if !strings.Contains(failed, errStage.Error()) || strings.Contains(failed, "the end of the log") != (event != "start 4") {
			t.Errorf("%s: %q", event, failed)
		}
		for _, c := range result.Run.Scan.Configs[:2] {
			if c.Problem != "" || c.Loads != 3 {
				t.Errorf("%s: %+v", event, c)
			}
		}
	}
}

// noFurther: some errors concern every configuration, and an interruption ends
// all, but never without the server's end.
func noFurther(t *testing.T, base scan.Options) {
	t.Helper()
	for name, tc := range map[string]struct {
		fails error
		goOn  bool
		then  func(stop context.CancelFunc)
	}{
		"not continued":    {fails: errStage},
		"a usage error":    {fails: &fault.Status{Code: fault.Usage, Err: errStage}, goOn: true},
		"no files to load": {fails: fmt.Errorf("documents: %w", tables.ErrStarFiles), goOn: true},
		"an interruption":  {fails: context.Canceled, goOn: true, then: func(stop context.CancelFunc) { stop() }},
	} {
		h, o, result := staged(t, base)
		o.ContinueOnError = tc.goOn
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
