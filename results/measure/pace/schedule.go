package pace

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// schedule decides when operations start. All workers share it, because a rate applies to the run,
// not to a worker.
type schedule struct {
	openLoop      bool       // operations have due times; false = an operation is due when its worker is free
	rng           *rand.Rand // nil = fixed arrivals
	warmup        time.Duration
	end           time.Duration // no operation starts at this time or later; 0 = no end
	maxOperations int64         // after the warm-up; 0 = no limit

	assigned atomic.Int64 // operations assigned to workers after the warm-up
	timeOver atomic.Bool  // a worker reached the time limit
	late     atomic.Int64 // operations that were due when the run stopped, but whose workers still slept

	mu          sync.Mutex  // for an open loop; a closed loop takes no lock
	rate        float64     // operations per second
	arrivals    int64       // arrivals assigned at the current rate
	nextPoisson float64     // seconds: the next Poisson arrival
	phaseStart  float64     // seconds: start of the current rate
	phaseEnd    float64     // seconds: end of the current rate
	phases      []RatePhase // the current rate and the following ones
}

// scheduleStream separates the random numbers of arrivals from those of workers.
const scheduleStream = 0x70616365

func newSchedule(o *Options) *schedule {
	s := &schedule{openLoop: o.Rate > 0 || len(o.Phases) > 0, rate: o.Rate, warmup: o.Warmup, maxOperations: o.Operations}
	if o.MaxDuration > 0 {
		s.end = o.Warmup + o.MaxDuration
	}
	if s.phaseEnd = math.Inf(1); len(o.Phases) > 0 {
		s.phases = o.Phases
		s.rate, s.phaseEnd = o.Phases[0].Rate, (o.Warmup + o.Phases[0].Duration).Seconds()
	}
	if o.Arrivals == Poisson {
		s.rng = rand.New(rand.NewPCG(o.Seed, scheduleStream))
		s.advance()
	}
	return s
}

// peek returns when the next arrival of an open loop is due. It switches to the next phase if necessary. Fixed arrivals
// are computed from their number, which avoids accumulating rounding errors.
func (s *schedule) peek() time.Duration {
	for {
		due := s.nextPoisson
		if s.rng == nil {
			due = s.phaseStart + float64(s.arrivals)/s.rate
		}
		if due < s.phaseEnd || len(s.phases) < 2 {
			return time.Duration(due * 1e9)
		}
		s.phases = s.phases[1:]
		s.rate, s.phaseStart, s.arrivals = s.phases[0].Rate, s.phaseEnd, 0
		if s.phaseEnd += s.phases[0].Duration.Seconds(); s.rng != nil {
			// Exponential gaps have no memory: the time since the last arrival does not change the next gap's distribution.
			s.nextPoisson = s.phaseStart + s.rng.ExpFloat64()/s.rate
		}
	}
}

func (s *schedule) advance() {
	s.arrivals++
	if s.rng != nil {
		s.nextPoisson += s.rng.ExpFloat64() / s.rate
	}
}

// next assigns an operation to a worker and returns when it is due. In a closed loop that is now.
func (s *schedule) next(now time.Duration) (due time.Duration, more bool) {
	due = now
	if s.openLoop {
		s.mu.Lock()
		defer s.mu.Unlock()
		due = s.peek()
	}
	if s.end > 0 && (now >= s.end || due >= s.end) {
		s.timeOver.Store(true)
		return 0, false
	}
	if due >= s.warmup && s.assigned.Add(1) > s.maxOperations && s.maxOperations > 0 {
		s.assigned.Add(-1)
		return 0, false
	}
	if s.openLoop {
		s.advance()
	}
	return due, true
}

// giveBack subtracts one from the number of assigned operations, for an operation that did no work: the run stopped at
// stopAt before its worker woke, or the worker had finished (stopAt 0). Its due time is not assigned again.
func (s *schedule) giveBack(due, stopAt time.Duration) {
	if due >= s.warmup {
		s.assigned.Add(-1)
		if due < stopAt {
			s.late.Add(1)
		}
	}
}

// unstarted counts the arrivals of an open loop that were due before end but that no worker started, up
// to the maximum number of operations. It advances the schedule, so only the first call returns the correct number.
func (s *schedule) unstarted(end time.Duration) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.openLoop {
		return 0
	}
	if s.end > 0 {
		end = min(end, s.end)
	}
	most := cmp.Or(s.maxOperations, math.MaxInt64) - s.assigned.Load()
	for n = s.late.Load(); n < most && s.peek() < end; s.advance() {
		if s.peek() >= s.warmup {
			n++
		}
	}
	return min(n, most) // after the stop, several workers may have given back operations
}

// ending returns why next returned no operation. If all operations were assigned, the run is complete, even if a worker
// then found the next arrival beyond the time limit.
func (s *schedule) ending() Ending {
	if s.timeOver.Load() && (s.maxOperations == 0 || s.assigned.Load() < s.maxOperations) {
		return OutOfTime
	}
	return Completed
}
