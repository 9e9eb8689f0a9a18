package measure

import (
	"sync"
	"time"
)

// Standstill notices that this process did not run though it could have: it was
// stopped (SIGSTOP), its machine was paused, or slept. What was timed meanwhile
// is no time of what was timed.
type Standstill struct {
	mu    sync.Mutex
	last  time.Time
	stood time.Duration
	done  chan struct{}
}

const (
	progress   = 100 * time.Millisecond // a look is due so often
	standstill = time.Second            // a look that comes so much later was held up by no scheduler
)

// WatchStandstill watches until Stop.
func WatchStandstill() *Standstill {
	s := &Standstill{last: time.Now(), done: make(chan struct{})}
	go func() {
		tick := time.NewTicker(progress)
		defer tick.Stop()
		for {
			select {
			case <-s.done:
				return
			case <-tick.C:
				s.Stood()
			}
		}
	}()
	return s
}

// Stood is for how long in all the process stood still so far. It looks itself,
// so that what just ended is in it.
func (s *Standstill) Stood() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	// While a machine sleeps the monotonic clock may stand, and the wall's goes on.
	gap := max(now.Sub(s.last), now.Round(0).Sub(s.last.Round(0)))
	if gap -= progress; gap > standstill {
		s.stood += gap
	}
	s.last = now
	return s.stood
}

// Stop ends the watch.
func (s *Standstill) Stop() { close(s.done) }
