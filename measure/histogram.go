package measure

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of every histogram.
const (
	ShortestTime      = time.Nanosecond
	LongestTime       = time.Hour
	SignificantDigits = 3
)

// Histogram counts durations from 1 ns to 1 h to 3 significant digits, in
// constant memory (about 270 KiB). It is not safe for concurrent use: each
// worker owns one, and they are merged.
type Histogram struct {
	hdr     *hdrhistogram.Histogram
	clamped int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(int64(ShortestTime), int64(LongestTime), SignificantDigits)}
}

// Record counts one duration. A duration outside the range is counted at the
// end of the range, so that the total stays right, and noted in Clamped.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts a duration n times.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	if d < 0 || d > LongestTime {
		h.clamped += n
		d = min(max(d, 0), LongestTime)
	}
	if err := h.hdr.RecordValues(int64(d), n); err != nil {
		// A histogram read from a log may have a shorter range than ours.
		h.clamped += n
		_ = h.hdr.RecordValues(h.hdr.HighestTrackableValue(), n)
	}
}

// Merge adds the counts of from. It fails where from holds values that h cannot
// hold, which only happens to histograms read from logs of other programs.
func (h *Histogram) Merge(from *Histogram) error {
	h.clamped += from.clamped
	if dropped := h.hdr.Merge(from.hdr); dropped > 0 {
		return fmt.Errorf("merge of histograms: %d values do not fit the range 0 … %v",
			dropped, time.Duration(h.hdr.HighestTrackableValue()))
	}
	return nil
}

// Reset forgets all counts and keeps the memory, for the next interval.
func (h *Histogram) Reset() { h.hdr.Reset(); h.clamped = 0 }

// Clone returns an independent copy.
func (h *Histogram) Clone() *Histogram {
	return &Histogram{hdr: h.hdr.Clone(), clamped: h.clamped}
}

// Count returns how many durations were recorded, clamped ones included.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Clamped returns how many durations were outside the range.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Min returns the shortest recorded duration; 0 for an empty histogram.
func (h *Histogram) Min() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Min())
}

// Max returns the longest recorded duration, to 3 digits, rounded up.
func (h *Histogram) Max() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Max())
}

// Mean returns the arithmetic mean; 0 for an empty histogram.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Mean())
}

// StdDev returns the standard deviation; 0 for an empty histogram.
func (h *Histogram) StdDev() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.StdDev())
}

// At returns the duration that p percent (0 … 100) of the recorded ones do not
// exceed.
func (h *Histogram) At(p float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.ValueAtPercentile(p))
}

// Percentiles are the ones that Barograph always shows.
type Percentiles struct {
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P95   time.Duration `json:"p95_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p99_9_ns"`
	P9999 time.Duration `json:"p99_99_ns"`
	Max   time.Duration `json:"max_ns"`
}

// Percentiles returns 50, 90, 95, 99, 99.9 and 99.99 % and the maximum.
func (h *Histogram) Percentiles() Percentiles {
	if h.Count() == 0 {
		return Percentiles{}
	}
	v := h.hdr.ValueAtPercentilesSlice([]float64{50, 90, 95, 99, 99.9, 99.99})
	return Percentiles{
		P50: time.Duration(v[0]), P90: time.Duration(v[1]), P95: time.Duration(v[2]), P99: time.Duration(v[3]),
		P999: time.Duration(v[4]), P9999: time.Duration(v[5]), Max: h.Max(),
	}
}

// Supports reports whether the histogram holds enough durations for percentile p
// to be more than the maximum under another name: at least one recorded value
// has to lie above it.
func (h *Histogram) Supports(p float64) bool {
	const rounding = 1e-9 // of 100 - 99.9
	return float64(h.Count())*(100-p)/100 >= 1-rounding
}
