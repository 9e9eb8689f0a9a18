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
