package measure

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/barograph/barograph/internal/fault"
)

// The range and precision of every histogram. Durations below ShortestTime count as 0.
const (
	ShortestTime      = time.Nanosecond
	LongestTime       = time.Hour
	SignificantDigits = 3
)

// Histogram counts durations from 0 to 1 h to 3 significant digits, in constant memory (about
// 270 KiB). It is not safe for concurrent use: each worker owns one, and they are merged later.
type Histogram struct{ hdr *hdrhistogram.Histogram }

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(int64(ShortestTime), int64(LongestTime), SignificantDigits)}
}

// Record counts one duration. A duration outside the range counts as the end of the range, which
// keeps the total correct.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts a duration n times.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	if err := h.hdr.RecordValues(int64(min(max(d, 0), LongestTime)), n); err != nil {
		// A histogram that another program wrote may have a shorter range.
		_ = h.hdr.RecordValues(h.hdr.HighestTrackableValue(), n)
	}
}

// Reset removes all durations.
func (h *Histogram) Reset() { h.hdr.Reset() }

// Merge adds the counts of from. It fails if from has values outside of h's range, which is only
// possible for histograms of other programs.
func (h *Histogram) Merge(from *Histogram) error {
	if dropped := h.hdr.Merge(from.hdr); dropped > 0 {
		return fmt.Errorf("merge of histograms: %d values do not fit the range 0 … %v",
			dropped, time.Duration(h.hdr.HighestTrackableValue()))
	}
	return nil
}

// Count returns the number of recorded durations, including clamped ones.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// orZero returns a property of the histogram, or 0 if it is empty.
func (h *Histogram) orZero(what func() int64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(what())
}

// Min returns the shortest recorded duration; 0 for an empty histogram.
func (h *Histogram) Min() time.Duration { return h.orZero(h.hdr.Min) }

// Max returns the longest recorded duration, to 3 digits, rounded up.
func (h *Histogram) Max() time.Duration { return h.orZero(h.hdr.Max) }

// Mean returns the arithmetic mean; 0 for an empty histogram.
func (h *Histogram) Mean() time.Duration {
	return h.orZero(func() int64 { return int64(h.hdr.Mean()) })
}

// At returns the duration that p percent (0 … 100) of the recorded ones do not exceed.
func (h *Histogram) At(p float64) time.Duration {
	return h.orZero(func() int64 { return h.hdr.ValueAtPercentile(p) })
}

// Percentiles are those that Barograph always shows.
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

// Interval is one line of a histogram log: durations with a tag, recorded between two wall times.
// The log has a resolution of milliseconds.
type Interval struct {
	Tag        string // operation, such as "READ"; may be empty
	Start, End time.Time
	Histogram  *Histogram
}

// LogWriter writes the standard HdrHistogram log, format version 1.3, which
// HistogramLogAnalyzer and the other HdrHistogram tools read. Times are
// absolute, maxima in milliseconds.
type LogWriter struct {
	log *hdrhistogram.HistogramLogWriter
}

// NewLogWriter writes the header of a log: the comments, one per line, the version, the start of
// the run and the legend.
func NewLogWriter(w io.Writer, start time.Time, comments ...string) (*LogWriter, error) {
	log := hdrhistogram.NewHistogramLogWriter(w)
	for _, c := range comments {
		for line := range strings.Lines(c) {
			if err := log.OutputComment(strings.TrimRight(line, "\r\n")); err != nil {
				return nil, fmt.Errorf("write histogram log: %w", err)
			}
		}
	}
	err := errors.Join(log.OutputLogFormatVersion(), log.OutputStartTime(start.UnixMilli()), log.OutputLegend())
	if err != nil {
		return nil, fmt.Errorf("write histogram log: %w", err)
	}
	return &LogWriter{log}, nil
}

// Write adds one interval. A tag must not contain commas, white space or control characters,
// because the format cannot quote them.
func (l *LogWriter) Write(i Interval) error {
	if strings.ContainsFunc(i.Tag, func(r rune) bool { return r == ',' || r <= ' ' || r == 0x7f }) {
		return &fault.Error{
			Setting: "tag", Problem: fmt.Sprintf("%q has a comma, white space or a control character", i.Tag),
			Cure: "name the operation with letters, digits, '-' and '_'",
		}
	}
	h := i.Histogram.hdr
	h.SetTag(i.Tag)
	h.SetStartTimeMs(i.Start.UnixMilli())
	h.SetEndTimeMs(i.End.UnixMilli())
	if err := l.log.OutputIntervalHistogram(h); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return nil
}

// EncodedHistogram is a histogram as in a log: compressed, in base64.
type EncodedHistogram string

// Pack encodes a histogram.
func (h *Histogram) Pack() (EncodedHistogram, error) {
	text, err := h.hdr.EncodeV2()
	return EncodedHistogram(text), err
}

// Histogram decodes it.
func (p EncodedHistogram) Histogram() (*Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(p))
	if err != nil {
		return nil, fmt.Errorf("read a histogram: %w", err)
	}
	return &Histogram{hdr: h}, nil
}
