package question

import (
	"errors"
	"fmt"
	"slices"
)

// TimeFilter restricts the times of records in addition to Question.Valid. The zero value accepts all.
type TimeFilter struct {
	Init      Times // fcst_init_beg
	ValidHour []int // hour of the day of fcst_valid_beg, UTC, 0 … 23, ascending
	InitHour  []int // hour of the day of fcst_init_beg, UTC, 0 … 23, ascending
}

// AcceptsAll reports whether the filter accepts every time.
func (f *TimeFilter) AcceptsAll() bool {
	return f.Init.IsAll() && len(f.ValidHour) == 0 && len(f.InitHour) == 0
}

// HourOf is the hour of the day of t, as METviewer's HOUR() computes it: 6 from 06:00:00 to
// 06:59:59, also before 1970, where the remainder of t is negative.
func HourOf(t int64) int { return int((t%86400 + 86400) % 86400 / 3600) }

// Accepts reports whether the filter accepts a record of this valid time and lead.
func (f *TimeFilter) Accepts(valid int64, lead int32) bool {
	init := valid - int64(lead)
	return f.AcceptsValid(valid) &&
		(len(f.InitHour) == 0 || slices.Contains(f.InitHour, HourOf(init))) &&
		(f.Init.IsAll() || f.Init.Contains(init))
}

// AcceptsValid reports whether the filter accepts records of this valid time with some lead.
func (f *TimeFilter) AcceptsValid(valid int64) bool {
	return len(f.ValidHour) == 0 || slices.Contains(f.ValidHour, HourOf(valid))
}

// check returns the first invalid field with an error.
func (f *TimeFilter) check() (field string, err error) {
	if err := f.Init.Check(); err != nil {
		return "fcst_init_beg", err
	}
	if err := checkHours(f.ValidHour); err != nil {
		return "valid_hour", err
	}
	return "init_hour", checkHours(f.InitHour)
}

func checkHours(hs []int) error {
	for _, h := range hs {
		if h < 0 || h > 23 {
			return fmt.Errorf("contains %d", h)
		}
	}
	if !slices.IsSorted(hs) {
		return errors.New("is not ascending")
	}
	return nil
}
