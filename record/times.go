package record

import (
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
	init := valid - int64(lead)
	const first, last = -9214560000, 9214646399 // 1678-01-01 00:00:00 and 2261-12-31 23:59:59
	if init >= first && init <= last {
		return ""
	}
	return fmt.Sprintf("the initial time (valid time less lead) is %s, outside the years %d to %d",
		time.Unix(init, 0).UTC().Format(time.DateTime), FirstYear, LastYear)
}
