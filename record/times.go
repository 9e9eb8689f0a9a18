package record

import (
	"cmp"
	"fmt"
	"time"
)

// The range of all times of a record: valid and initialization times, of the forecast and of the
// observation. Every engine stores times in this range exactly. The narrowest type, timestamps in
// nanoseconds, covers 1677-09-21 to 2262-04-11.
const (
	FirstYear = 1678
	LastYear  = 2261
)

// InitProblem returns the reason why a record with a valid time in range cannot be stored: its
// initialization time, valid time minus lead, is out of range; "" if it is in range.
func InitProblem(valid int64, lead int32) string {
	return outOfYears("the initial time (valid time less lead)", valid-int64(lead))
}

// TimesProblem is BadInit for record i, and for all its other times.
func (b *Batch) TimesProblem(i int) string {
	return cmp.Or(
		outOfYears("the valid time", b.Valid[i]), outOfYears("the end of the valid time", b.ValidEnd[i]), InitProblem(b.Valid[i], b.Lead[i]),
		outOfYears("the time of the observation", b.ObsBeg[i]), outOfYears("the end of the time of the observation", b.ObsEnd[i]),
	)
}

func outOfYears(what string, t int64) string {
	const first, last = -9214560000, 9214646399 // 1678-01-01 00:00:00 and 2261-12-31 23:59:59
	if t >= first && t <= last {
		return ""
	}
	return fmt.Sprintf("%s is %s, outside the years %d to %d", what, time.Unix(t, 0).UTC().Format(time.DateTime), FirstYear, LastYear)
}
