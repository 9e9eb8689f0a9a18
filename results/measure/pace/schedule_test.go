package pace

import (
	"slices"
	"testing"
	"time"
)

// TestScheduleOfAClosedLoop: an operation is due when its worker is free, until the time limit or the number of
// operations is reached. Operations of the warm-up do not count.
func TestScheduleOfAClosedLoop(t *testing.T) {
	s := newSchedule(&Options{Warmup: 10, MaxDuration: 90, Operations: 3})
	for _, c := range []struct {
		now  time.Duration
		more bool
	}{{0, true}, {9, true}, {10, true}, {20, true}, {99, true}, {99, false}} {
		if due, more := s.next(c.now); more != c.more || more && due != c.now {
			t.Errorf("%d: due at %d, %t", c.now, due, more)
		}
	}
	if s.ending() != Completed || s.unstarted(1000) != 0 {
		t.Errorf("ended by %s", s.ending())
	}
	if _, more := s.next(100); more || s.ending() != Completed { // all operations were assigned before
		t.Errorf("at the time limit: %t, ended by %s", more, s.ending())
	}
	if s.giveBack(10, 0); s.assigned.Load() != 2 || s.ending() != OutOfTime || s.late.Load() != 0 {
		t.Errorf("%d assigned, %d late, ended by %s", s.assigned.Load(), s.late.Load(), s.ending())
	}
	if s.giveBack(9, 0); s.assigned.Load() != 2 {
		t.Error("an operation of the warm-up counts")
	}
	if free := newSchedule(&Options{Warmup: 10}); free.end != 0 {
		t.Errorf("a run without a time limit ends at %d", free.end)
	} else if _, more := free.next(time.Hour); !more || free.ending() != Completed {
		t.Errorf("a run without limits: more %t, ended by %s", more, free.ending())
	}
}

// TestScheduleOfAnOpenLoop: with 10 operations per second one is due each 100 ms, whatever the time is when a worker
// asks. An arrival at the time limit belongs to no run.
func TestScheduleOfAnOpenLoop(t *testing.T) {
	s := newSchedule(&Options{Rate: 10, MaxDuration: 400 * ms})
	var got []time.Duration
	for {
		due, more := s.next(50 * ms)
		if !more {
			break
		}
		got = append(got, due)
	}
	if want := []time.Duration{0, 100 * ms, 200 * ms, 300 * ms}; !slices.Equal(got, want) || s.ending() != OutOfTime {
		t.Errorf("%s, want %s; ended by %s", got, want, s.ending())
	}
	s = newSchedule(&Options{Rate: 10, MaxDuration: 400 * ms})
	if _, more := s.next(400 * ms); more {
		t.Error("an operation starts at the time limit")
	}
}

// TestUnstartedArrivals: an arrival is unstarted if it was due before the end of the run, and after the warm-up.
func TestUnstartedArrivals(t *testing.T) {
	for _, c := range []struct {
		o    Options
		end  time.Duration
		want int64
	}{
		{Options{Rate: 10}, 0, 0},
		{Options{Rate: 10}, 1, 1},
		{Options{Rate: 10}, 300 * ms, 3},
		{Options{Rate: 10}, 300*ms + 1, 4},
		{Options{Rate: 10, Operations: 2}, 300 * ms, 2},
		{Options{Rate: 10, MaxDuration: 200 * ms}, 300 * ms, 2},
		{Options{Rate: 10, MaxDuration: 400 * ms}, 300 * ms, 3},
		{Options{Rate: 10, Warmup: 100 * ms}, 300 * ms, 2},
		{Options{Rate: 10, Warmup: 50 * ms}, 300 * ms, 2},
		{Options{Operations: 5}, 300 * ms, 0},
		{Options{Phases: []RatePhase{{Rate: 10, Duration: 200 * ms}, {Rate: 100, Duration: 100 * ms}}}, 300 * ms, 12},
	} {
		if got := newSchedule(&c.o).unstarted(c.end); got != c.want {
			t.Errorf("%+v until %s: %d, want %d", c.o, c.end, got, c.want)
		}
	}
	s := newSchedule(&Options{Rate: 10, Operations: 5})
	for range 4 {
		s.next(0)
	}
	s.giveBack(300*ms, 300*ms) // the worker slept until the run stopped: the arrival was not due
	s.giveBack(200*ms, 300*ms) // due, but its worker slept
	if s.late.Load() != 1 || s.assigned.Load() != 2 {
		t.Errorf("%d late, %d assigned", s.late.Load(), s.assigned.Load())
	}
	if got := s.unstarted(300 * ms); got != 1 {
		t.Errorf("%d unstarted, want 1", got)
	}
}

// TestPhasesAtTheirLimits: a phase ends at the time at which the next one begins, with the next one's first arrival. The
// duration of the first phase counts from the end of the warm-up, and the last phase has no end.
func TestPhasesAtTheirLimits(t *testing.T) {
	s := newSchedule(&Options{Warmup: 100 * ms, Phases: []RatePhase{{10, 200 * ms}, {20, 100 * ms}, {5, 0}}})
	var got []time.Duration
	for range 8 {
		due, more := s.next(0)
		if !more {
			t.Fatal("a schedule without a limit ends")
		}
		got = append(got, due.Round(ms))
	}
	want := []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 350 * ms, 400 * ms, 600 * ms, 800 * ms}
	if !slices.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
