package design

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Moments is a set of times in Unix seconds, ascending. Its text form is short for regular times:
// 1704067200+21600*4 are four times, six hours apart.
type Moments []int64

// Gap is a hole in regular times: Missing times are absent after After.
type Gap struct {
	After   int64 `json:"after"`
	Missing int64 `json:"missing"`
}

// Step is the distance of more than half of all neighbors; 0 if there is none.
func (m Moments) Step() int64 {
	count := map[int64]int{}
	for i := 1; i < len(m); i++ {
		d := m[i] - m[i-1]
		if count[d]++; count[d]*2 > len(m)-1 {
			return d
		}
	}
	return 0
}

// Gaps returns the holes in times with this step.
func (m Moments) Gaps(step int64) []Gap {
	var gaps []Gap
	for i := 1; i < len(m) && step > 0; i++ {
		if missing := (m[i] - m[i-1] - 1) / step; missing > 0 {
			gaps = append(gaps, Gap{m[i-1], missing})
		}
	}
	return gaps
}

// MarshalText writes runs of equidistant times, separated by blanks.
func (m Moments) MarshalText() ([]byte, error) {
	var out []byte
	for i := 0; i < len(m); {
		n := 1
		for i+n < len(m) && m[i+n]-m[i+n-1] == m[i+1]-m[i] {
			n++
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		if out = strconv.AppendInt(out, m[i], 10); n > 1 {
			out = fmt.Appendf(out, "+%d*%d", m[i+1]-m[i], n)
		}
		i += n
	}
	return out, nil
}

// UnmarshalText reads text that MarshalText wrote.
func (m *Moments) UnmarshalText(text []byte) error {
	*m = nil
	for run := range strings.FieldsSeq(string(text)) {
		from, rest, several := strings.Cut(run, "+")
		step, count, _ := strings.Cut(rest, "*")
		first, err := strconv.ParseInt(from, 10, 64)
		d, n := int64(0), int64(1)
		if several && err == nil {
			if d, err = strconv.ParseInt(step, 10, 64); err == nil {
				n, err = strconv.ParseInt(count, 10, 64)
			}
		}
		if err == nil && n > 1 && d > (math.MaxInt64-max(first, 0))/(n-1) {
			err = strconv.ErrRange
		}
		if err != nil || n < 1 || n > maxMoments-int64(len(*m)) || several && d < 1 || len(*m) > 0 && first <= (*m)[len(*m)-1] {
			return fmt.Errorf("%q is not a list of times", run)
		}
		for i := range n {
			*m = append(*m, first+i*d)
		}
	}
	return nil
}

// maxMoments bounds the memory that a few bytes of a damaged catalog can request: one time per
// second for four months.
const maxMoments = 10_000_000
