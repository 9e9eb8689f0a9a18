package measure

import "time"

// Clock tells monotonic time since it was started. Steps of the wall clock
// (NTP, an administrator) do not reach it. The zero Clock is not usable; it is
// a small value, safe to copy and to share between goroutines.
type Clock struct{ start time.Time }

// StartClock returns a clock that shows zero now.
func StartClock() Clock { return Clock{start: time.Now()} }

// Now returns the monotonic time since the clock was started.
func (c Clock) Now() time.Duration { return time.Since(c.start) }

// Started returns the wall time at which the clock showed zero.
func (c Clock) Started() time.Time { return c.start.Round(0) }

// Wall returns the wall time at which the clock showed d, as derived from the
// start: two instants of one run are never in the wrong order.
func (c Clock) Wall(d time.Duration) time.Time { return c.start.Round(0).Add(d) }

// Grain measures what the clock itself costs: the smallest step greater than
// zero that it showed in n readings one after the other (at least two). A time
// near the grain says nothing.
func (c Clock) Grain(n int) time.Duration {
	smallest := time.Duration(0)
	last := c.Now()
	for range max(n, 2) {
		now := c.Now()
		if step := now - last; step > 0 && (smallest == 0 || step < smallest) {
			smallest = step
		}
		last = now
	}
	return smallest
}
