package question

import (
	"errors"
	"fmt"
	"slices"
)

// Clock holds conditions on times beyond the list or range of valid times. Its
// zero value is "all".
type Clock struct {
	Init      Times // fcst_init_beg
	ValidHour []int // hour of the day of fcst_valid_beg, UTC, 0 … 23, ascending
	InitHour  []int // hour of the day of fcst_init_beg, likewise
}

// All reports whether every time passes.
func (c *Clock) All() bool { return c.Init.All() && len(c.ValidHour) == 0 && len(c.InitHour) == 0 }

// HourOf is the hour of the day of t, as METviewer's HOUR() has it: 6 from
// 06:00:00 to 06:59:59. t is not before 1970.
func HourOf(t int64) int { return int(t % 86400 / 3600) }

// Admits reports whether a record of that valid time and lead passes.
func (c *Clock) Admits(valid int64, lead int32) bool {
	init := valid - int64(lead)
	return c.AdmitsValid(valid) &&
		(len(c.InitHour) == 0 || slices.Contains(c.InitHour, HourOf(init))) &&
		(c.Init.All() || c.Init.Contains(init))
}

// AdmitsValid reports whether records of that valid time can pass.
func (c *Clock) AdmitsValid(valid int64) bool {
	return len(c.ValidHour) == 0 || slices.Contains(c.ValidHour, HourOf(valid))
}

// check tells what is wrong, and with which field.
func (c *Clock) check() (field string, err error) {
	if err := c.Init.Check(); err != nil {
		return "fcst_init_beg", err
	}
	if err := hours(c.ValidHour); err != nil {
		return "valid_hour", err
	}
	return "init_hour", hours(c.InitHour)
}

func hours(hs []int) error {
	for _, h := range hs {
		if h < 0 || h > 23 {
			return fmt.Errorf("holds %d", h)
		}
	}
	if !slices.IsSorted(hs) {
		return errors.New("is not ascending")
	}
	return nil
}
