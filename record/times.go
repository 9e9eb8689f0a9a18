package record

import (
	"cmp"
	"fmt"
	"time"
)

// The years of all times of a record: valid and initial times, of the forecast and of
// the observation. Every engine reads them back exactly; timestamps in nanoseconds,
// the narrowest, reach from 1677-09-21 to 2262-04-11.
const (
	FirstYear = 1678
	LastYear  = 2261
)

// BadInit is why no engine can be given a record whose valid time is in range: its
// initial time, valid less lead, is not. "" where it is.
func BadInit(valid int64, lead int32) string {
	return beyond("the initial time (valid time less lead)", valid-int64(lead))
}

// BadTimes is BadInit of record i, and of all its other times.
func (b *Batch) BadTimes(i int) string {
	return cmp.Or(
		beyond("the valid time", b.Valid[i]), beyond("the end of the valid time", b.ValidEnd[i]), BadInit(b.Valid[i], b.Lead[i]),
		beyond("the time of the observation", b.ObsBeg[i]), beyond("the end of the time of the observation", b.ObsEnd[i]),
	)
}

func beyond(what string, t int64) string {
	const first, last = -9214560000, 9214646399 // 1678-01-01 00:00:00 and 2261-12-31 23:59:59
	if t >= first && t <= last {
		return ""
	}
	return fmt.Sprintf("%s is %s, outside the years %d to %d", what, time.Unix(t, 0).UTC().Format(time.DateTime), FirstYear, LastYear)
}
