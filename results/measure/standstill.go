package measure

import (
	"sync"
	"time"
)

// StandstillMeter detects times in which this process did not run although it could have: it was
// stopped (SIGSTOP), or its machine was paused or asleep. Such time must not count as the time of
// an operation. If the wall clock is set forward by more than a second, this counts as a standstill, too.
type StandstillMeter struct {
	mu    sync.Mutex
	last  time.Time
	total time.Duration
	done  chan struct{}
}

// The meter checks the clock every checkEvery. A check that is late by more than minStandstill is a standstill, not a
// delay of the scheduler.
const (
	checkEvery    = 100 * time.Millisecond
	minStandstill = time.Second
)

// StartStandstillMeter starts a meter that runs until Stop.
func StartStandstillMeter() *StandstillMeter {
	s := &StandstillMeter{last: time.Now(), done: make(chan struct{})}
	go func() {
		tick := time.NewTicker(checkEvery)
		defer tick.Stop()
		for {
			select {
			case <-s.done:
				return
			case <-tick.C:
				s.Total() // checks the clock, and adds what it finds
			}
		}
	}()
	return s
}

// Total is the total standstill until now. It checks the clock itself and therefore includes a
// standstill that just ended. Call it before Stop: afterwards the meter no longer checks the clock in between, so
// ordinary time counts as a standstill.
func (s *StandstillMeter) Total() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	// While a machine sleeps, the monotonic clock may stop, but the wall clock continues.
	gap := max(now.Sub(s.last), now.Round(0).Sub(s.last.Round(0)))
	if gap -= checkEvery; gap > minStandstill {
		s.total += gap
	}
	s.last = now
	return s.total
}

// Stop ends the meter. It must be called once.
func (s *StandstillMeter) Stop() { close(s.done) }
