package ycsb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/results/run"
)

// TestServerIsWatched: a run reports the increase of the server's counters and what its sessions waited for.
func TestServerIsWatched(t *testing.T) {
	var asked atomic.Int64
	metrics := func(context.Context) (engine.Metrics, error) {
		n := float64(asked.Add(1))
		return engine.Metrics{
			Totals:   []engine.Total{{Name: "commits", Value: 100 * n}, {Name: "written", Unit: "bytes", Value: 1e6 * n}, {Name: "still", Value: 7}},
			Sessions: []engine.SessionGroup{{Wait: engine.OnCPU, What: "running", Count: 1}, {Wait: engine.OnDisk, What: "IO:WALSync", Count: 3}},
		}, nil
	}
	var looks [][]run.Counter
	r := watchedBy(t, Server{Metrics: metrics, OnCounters: func(c []run.Counter) { looks = append(looks, c) }})
	s := r.Server
	if len(looks) != s.SessionSampleCount || len(looks) == 0 || len(looks[0]) != 2 || looks[0][0].Value != 100 {
		t.Errorf("it was reported %v", looks)
	}
	if s == nil || s.SessionSampleCount < 1 || len(s.Counters) != 2 || s.Counters[1].Unit != "bytes" || s.Counters[0].Value != 100*float64(asked.Load()-1) {
		t.Fatalf("%+v", s)
	}
	want := []run.SessionWait{{Kind: "disk", Event: "IO:WALSync", Sessions: 3}, {Kind: "cpu", Event: "running", Sessions: 1}}
	if len(s.Waits) != 2 || s.Waits[0] != want[0] || s.Waits[1] != want[1] {
		t.Errorf("%+v", s.Waits)
	}
	if r.Machine.Cores < 1 || r.Client.Wall <= 0 {
		t.Errorf("%+v, %+v", r.Machine, r.Client)
	}
}

// TestServerWithoutMetrics: a server that reports no metrics does not fail the run, which has a warning.
func TestServerWithoutMetrics(t *testing.T) {
	r := watched(t, func(context.Context) (engine.Metrics, error) { return engine.Metrics{}, errors.New("no\n\tpermission") })
	if r.Err() != nil || !slices.Contains(r.Warnings, "the server's own metrics were not available: no permission") {
		t.Errorf("%v, %q", r.Err(), r.Warnings)
	}
}

// TestFailedSampleIsNotCounted: means are over the samples that the server answered.
func TestFailedSampleIsNotCounted(t *testing.T) {
	calls := 0
	metrics := func(context.Context) (engine.Metrics, error) {
		if calls++; calls > 1 {
			return engine.Metrics{}, errors.New("no connection")
		}
		return engine.Metrics{Sessions: []engine.SessionGroup{{Wait: engine.OnCPU, What: "running", Count: 3}}}, nil
	}
	o := &observer{Server: Server{Metrics: metrics}, waits: map[engine.SessionGroup]int{}}
	for range 3 {
		o.sample(t.Context())
	}
	s := o.server(t.Context())
	if calls != 2 || s.SessionSampleCount != 1 || len(s.SessionSamples) != 1 || s.Waits[0].Sessions != 3 {
		t.Errorf("%d calls, %+v", calls, s)
	}
}

// Counters that fail at the end of the warm-up are reported as not available. Without their first values, the counts of
// the server since its start would be counts of the run.
func TestCountersFailAfterTheWarmup(t *testing.T) {
	calls := 0
	r := watchedBy(t, Server{Metrics: func(context.Context) (engine.Metrics, error) {
		if calls++; calls == 1 {
			return engine.Metrics{}, errors.New("no permission")
		}
		return engine.Metrics{Totals: []engine.Total{{Name: "commits", Value: 1e9}}}, nil
	}}, "warmup", "1")
	if len(r.Server.Counters) > 0 || !strings.Contains(strings.Join(r.Warnings, "\n"), "no permission") {
		t.Errorf("%+v, %q", r.Server.Counters, r.Warnings)
	}
}

func watched(t *testing.T, metrics func(context.Context) (engine.Metrics, error)) *Report {
	t.Helper()
	return watchedBy(t, Server{Metrics: metrics})
}

func watchedBy(t *testing.T, s Server, property ...string) *Report {
	t.Helper()
	properties := Properties{"recordcount": "100", "maxexecutiontime": "2"}
	if len(property) > 0 {
		properties[property[0]] = property[1]
	}
	c, err := NewConfig(properties)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Registry{dry.Driver()}.Open(t.Context(), "dry", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), kv.DatabaseOf(e), c, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), kv.DatabaseOf(e), c, Options{Server: s})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
