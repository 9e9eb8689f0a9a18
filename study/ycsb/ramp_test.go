package ycsb

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// TestRamp: a ramp finds the knee of engines that sustain a known rate to within a tenth, by completed operations and by
// latency.
func TestRamp(t *testing.T) {
	for name, c := range map[string]struct {
		sustains float64       // operations per second
		early    time.Duration // 99th percentile below that
		late     float64       // the share of it from which it is ten times as long
		bound    time.Duration
		knee     float64
		says     string
	}{
		"what is done":           {1000, time.Millisecond, 1, 0, 1000 / sustainedShare, "the knee: it sustains 1044/s"},
		"a bound":                {1000, time.Millisecond, 0.5, 5 * time.Millisecond, 500, "the 99th percentile exceeds 5ms"},
		"a bound that is far":    {1000, time.Millisecond, 0.5, time.Second, 1000 / sustainedShare, "less than 95 % of the due operations are done"},
		"not even the first":     {50, time.Millisecond, 1, 0, 0, "does not sustain even the first rate, 100/s (50/s done"},
		"the first, but no more": {100, time.Millisecond, 1, 0, 100 / sustainedShare, "it sustains 100/s"},
		"there is no end to it":  {math.Inf(1), time.Millisecond, 1, 0, math.Inf(1), "the highest rate that was tried"},
	} {
		r := Ramp{First: 100, Bound: c.bound}.climb(func(rate float64) (Step, bool) {
			s := Step{Rate: rate, Goodput: min(rate, c.sustains), P99: c.early}
			if rate > c.late*c.sustains {
				s.P99 *= 10
			}
			return s, true
		})
		held := r.Sustained.Rate
		if math.IsInf(c.knee, 1) {
			if r.NotSustained.Rate != 0 || len(r.Steps) != mostSteps {
				t.Errorf("%s: %+v", name, r)
			}
		} else if held > c.knee || held*closeFactor < c.knee && held > 0 || held == 0 != (c.knee == 0) || r.NotSustained.Rate <= c.knee && c.knee > 0 || len(r.Steps) > 15 {
			t.Errorf("%s: %+v, not %.0f", name, r, c.knee)
		}
		if !strings.Contains(r.String(), c.says) {
			t.Errorf("%s: %s", name, r)
		}
	}
	n := 0
	r := Ramp{First: 100}.climb(func(rate float64) (Step, bool) { n++; return Step{Rate: rate, Goodput: rate}, n < 3 })
	if r.Sustained.Rate != 150 || r.NotSustained.Rate != 0 {
		t.Errorf("a run that failed: %+v", r)
	}
}

// TestRampOverload: an overload ends a ramp, and is no failure. The cells of its samples name the ramp, and operations that
// were never started do not count.
func TestRampOverload(t *testing.T) {
	t.Parallel() // it waits
	c := config(t, "readproportion=1", "updateproportion=0", "maxexecutiontime=1", "maxoutage=1")
	slow := conns(func(c *kv.Conn) {
		read := c.Read
		c.Read = slowly(read, 20*time.Millisecond)
	})
	var samples []run.Sample
	var words []string
	s := Sweep{
		Mixes: []Mix{{Name: "c", Config: c}}, Targets: []*Target{{Scheme: "fake", KV: wrapped{loaded(t, c), slow}}}, Threads: []int64{1, 4}, Ramp: Ramp{First: 100},
		Add: func(x run.Sample) error { samples = append(samples, x); return nil }, Found: func(w string) { words = append(words, w) },
	}
	if err := s.Run(t.Context()); err != nil || len(words) != 1 || !strings.HasPrefix(words[0], "c on fake with 4 threads: ") {
		t.Fatalf("%v, %v", err, words)
	}
	over := slices.ContainsFunc(samples, func(x run.Sample) bool { return x.Measured().Unstarted > 0 && x.Measured().Operations < 250 })
	if len(samples) < 2 || !over || samples[0].Cell.Value("ramp") != "yes" || samples[0].Cell.Number("target_ops_s") != 100 || samples[0].Cell.Value("threads") != "4" {
		t.Errorf("%+v", samples)
	}
	s.Targets[0].KV = wrapped{loaded(t, c), conns(func(c *kv.Conn) { c.Read = failing })}
	if err := s.Run(t.Context()); err == nil || errors.Is(err, errOverload) || len(words) != 1 {
		t.Errorf("an engine that fails: %v, %v", err, words)
	}
}

// TestRampKeepsOtherErrors: an overload does not hide an error that is joined to it, such as that of a full disk.
func TestRampKeepsOtherErrors(t *testing.T) {
	overload := &fault.Status{Code: fault.Incomplete, Err: &fault.Error{Problem: "overload", Err: errors.Join(errOverload)}}
	if err := exceptOverload(errors.Join(overload, nil, overload)); err != nil {
		t.Errorf("an overload: %v", err)
	}
	if err := exceptOverload(errors.Join(overload, io.ErrShortWrite)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("an overload and another error: %v", err)
	}
}

type reading = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error

func slowly(read reading, late time.Duration) reading {
	return func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
		time.Sleep(late)
		return read(ctx, key, f, into)
	}
}

func failing(context.Context, []byte, kv.Fields, *kv.Row) error { return io.ErrUnexpectedEOF }
