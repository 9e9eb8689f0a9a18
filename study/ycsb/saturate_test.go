package ycsb

import (
	"math"
	"strings"
	"testing"
	"time"
)

// law is an engine that follows the universal scalability law, with the latency of Little's law.
func law(lambda, sigma, kappa float64) func(n int64) (Summary, bool) {
	return func(n int64) (Summary, bool) {
		t := float64(n)
		x := lambda * t / (1 + sigma*(t-1) + kappa*t*(t-1))
		return Summary{Threads: int(n), Throughput: x, P95: time.Duration(t / x * 1e9)}, true
	}
}

func TestSaturateFindsTheKnee(t *testing.T) {
	s := Saturate(0, 1024, law(1000, 0.3, 0)) // at most 1000/0.3
	if s.Ended != notFaster || s.Knee.Threads < 16 || s.Knee.Threads > 32 || s.Knee.Throughput < 0.8*1000/0.3 {
		t.Errorf("%+v", s)
	}
	if s := Saturate(0, 64, law(1000, 0, 0)); s.Ended != mostReached || s.Knee.Threads != 64 {
		t.Errorf("%+v", s)
	}
	if s := Saturate(0, 64, law(1000, 1, 0.1)); s.Knee.Threads != 1 {
		t.Errorf("it only grows slower: %+v", s)
	}
}

// TestSaturationIsMeasured: the search claims saturation only if it has measured more threads.
func TestSaturationIsMeasured(t *testing.T) {
	for most, want := range map[int64]string{64: "does not saturate up to 64 threads", 1: "does not saturate up to 1 thread"} {
		if text := Saturate(0, most, law(1000, 0, 0)).String(); !strings.HasPrefix(text, want+", the most that were measured") {
			t.Error(text)
		}
	}
	if text := Saturate(time.Hour, 64, law(1000, 0, 0)).String(); !strings.Contains(text, "does not saturate") || !strings.HasSuffix(text, "never exceeded") {
		t.Error(text)
	}
	if text := Saturate(0, 1024, law(1000, 0.3, 0)).String(); !strings.HasPrefix(text, "saturates at ") {
		t.Error(text)
	}
}

// TestSaturateHoldsTheBound: the search finds the largest number of threads within the bound to within a tenth.
func TestSaturateHoldsTheBound(t *testing.T) {
	const bound = 3 * time.Millisecond
	engine := law(1000, 0.02, 0.0005)
	s := Saturate(bound, 1024, engine)
	truth := int64(1)
	for x, _ := engine(truth + 1); x.P95 <= bound; x, _ = engine(truth + 1) {
		truth++
	}
	if got := float64(s.WithinBound.Threads); math.Abs(got-float64(truth)) > 0.11*float64(truth) || s.WithinBound.P95 > bound {
		t.Errorf("%+v, want about %d threads", s.WithinBound, truth)
	}
	if s := Saturate(time.Microsecond, 1024, engine); s.WithinBound.Threads != 0 || len(s.Runs) != 1 {
		t.Errorf("%+v", s)
	}
	if s := Saturate(bound, 8, func(int64) (Summary, bool) { return Summary{}, false }); len(s.Runs) != 0 || s.String() != "nothing was measured" {
		t.Errorf("%+v", s)
	}
}

// TestShardsAreAllOfTheWork: the shards cover all of the work, each part of it once.
func TestShardsAreAllOfTheWork(t *testing.T) {
	for _, n := range []int64{7, 100, 1001} {
		for of := int64(1); of <= 7; of++ {
			next := int64(5)
			for i := range of {
				begin, count := Shard{i, of}.split(5, n)
				if begin != next || count < n/of || count > n/of+1 {
					t.Errorf("%d/%d of %d: %d from %d", i+1, of, n, count, begin)
				}
				next += count
			}
			if next != n+5 {
				t.Errorf("%d parts of %d end at %d", of, n, next)
			}
		}
	}
	seen := map[int64]bool{}
	for i := range int64(3) {
		c := &Config{Records: 10, Shard: Shard{i, 3}}
		for n := int64(8); n < 14; n++ {
			if k := c.keyNumber(n); n >= 10 && seen[k] {
				t.Errorf("key %d is inserted twice", k)
			} else {
				seen[k] = true
			}
		}
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "a/2", "1/2/3", "-1/2"} {
		if s := (Shard{}); s.Set(bad) == nil {
			t.Errorf("%q is %+v", bad, s)
		}
	}
	if s := (Shard{}); s.Set("2/3") != nil || s.String() != "2/3" {
		t.Errorf("%v", s)
	}
}
