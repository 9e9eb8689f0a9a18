package run

import (
	"encoding/json"
	"time"

	"github.com/barograph/barograph/answer"
)

// Time is how long something took whose outcome was proven. Nothing but Proven
// and a run folder that is read makes one above 0, so that what is wrong,
// failed or unproven has none.
type Time struct{ d time.Duration }

// Proven is the time of what p proves; 0 where p proves nothing.
func Proven(d time.Duration, p answer.Proof) Time {
	if !p.Valid() {
		return Time{}
	}
	return Time{d}
}

// Duration is 0 where there is no time.
func (t Time) Duration() time.Duration { return t.d }

// Seconds is the duration in seconds.
func (t Time) Seconds() float64 { return t.d.Seconds() }

// MarshalJSON writes nanoseconds.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.d) }

// UnmarshalJSON reads nanoseconds.
func (t *Time) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &t.d) }
