package pace

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// schedule tells when operations should begin. It is shared by all workers: a
// rate is the run's, not a worker's.
type schedule struct {
	rate    float64
	rng     *rand.Rand // nil = fixed arrivals
	warmup  time.Duration
	over    time.Duration // no operation begins then or later; 0 = no end
	allowed int64         // operations after the warm-up; 0 = no limit

	counted atomic.Int64 // given out, after the warm-up
	late    atomic.Bool  // the end of time was seen

	mu       sync.Mutex // of an open loop; a closed one takes no lock
	arrivals int64      // those that were given out, of this rate
	at       float64    // seconds: the next Poisson arrival
	since    float64    // seconds: when this rate began
	until    float64    // seconds: when it ends
	phases   []Phase    // this rate's and those that follow
}

// scheduleStream makes the arrivals' random numbers others than the workers'.
const scheduleStream = 0x70616365

func newSchedule(o *Options) *schedule {
	s := &schedule{rate: o.Rate, warmup: o.Warmup, allowed: o.Operations}
	if o.Limit > 0 {
		s.over = o.Warmup + o.Limit
	}
	if s.until = math.Inf(1); len(o.Phases) > 0 {
		s.phases = o.Phases
		s.rate, s.until = o.Phases[0].Rate, (o.Warmup + o.Phases[0].For).Seconds()
	}
	if o.Arrivals == Poisson {
		s.rng = rand.New(rand.NewPCG(o.Seed, scheduleStream))
		s.advance()
	}
	return s
}

// peek is the next arrival of an open loop. Fixed ones come from their number,
// so that no rounding adds up.
func (s *schedule) peek() time.Duration {
	for {
		due := s.at
		if s.rng == nil {
			due = s.since + float64(s.arrivals)/s.rate
		}
		if due < s.until || len(s.phases) < 2 {
			return time.Duration(due * 1e9)
		}
		s.phases = s.phases[1:]
		s.rate, s.since, s.arrivals = s.phases[0].Rate, s.until, 0
		if s.until += s.phases[0].For.Seconds(); s.rng != nil {
			s.at = s.since + s.rng.ExpFloat64()/s.rate // what has not come yet does not know how long it was waited for
		}
	}
}

func (s *schedule) advance() {
	s.arrivals++
	if s.rng != nil {
		s.at += s.rng.ExpFloat64() / s.rate
	}
}

// next gives out an operation: when it is due. In a closed loop that is now.
func (s *schedule) next(now time.Duration) (due time.Duration, more bool) {
	due = now
	if s.rate > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		due = s.peek()
	}
	if s.over > 0 && (now >= s.over || due >= s.over) {
		s.late.Store(true)
		return 0, false
	}
	if due >= s.warmup && s.counted.Add(1) > s.allowed && s.allowed > 0 {
		s.counted.Add(-1)
		return 0, false
	}
	if s.rate > 0 {
		s.advance()
	}
	return due, true
}

// giveBack says that an operation was not started.
func (s *schedule) giveBack(due time.Duration) {
	if due >= s.warmup {
		s.counted.Add(-1)
	}
}

// unstarted counts the arrivals of an open loop that were due before the time
// end and were not given out, and their number alone if the run was to have no more.
func (s *schedule) unstarted(end time.Duration) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rate == 0 {
		return 0
	}
	if s.over > 0 {
		end = min(end, s.over)
	}
	for s.peek() < end && (s.allowed == 0 || s.counted.Load()+n < s.allowed) {
		if s.peek() >= s.warmup {
			n++
		}
		s.advance()
	}
	return n
}

// ending is why there was no next operation.
func (s *schedule) ending() Ending {
	if s.late.Load() {
		return OutOfTime
	}
	return Completed
}
