package measure

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/barograph/barograph/internal/fault"
)

// within3 reports whether got is want to 3 significant digits.
func within3(got, want time.Duration) bool {
	d := float64(got - want)
	return d >= -float64(want)*0.001-1 && d <= float64(want)*0.001+1
}

func TestHistogramPercentilesAgainstSortedValues(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 0))
		h := NewHistogram()
		var all []time.Duration
		for range 20_000 {
			d := time.Duration(r.ExpFloat64() * float64(time.Millisecond))
			all = append(all, d)
			h.Record(d)
		}
		slices.Sort(all)
		exact := func(p float64) time.Duration { return all[max(int(p/100*float64(len(all))+0.9999999)-1, 0)] }
		p := h.Percentiles()
		for _, c := range []struct {
			p   float64
			got time.Duration
		}{{50, p.P50}, {90, p.P90}, {95, p.P95}, {99, p.P99}, {99.9, p.P999}, {99.99, p.P9999}, {100, p.Max}, {99, h.At(99)}} {
			if !within3(c.got, exact(c.p)) {
				t.Errorf("seed %d: p%g = %v, of the sorted values %v", seed, c.p, c.got, exact(c.p))
			}
		}
	}
}

func TestHistogramMergeEqualsOne(t *testing.T) {
	one := NewHistogram()
	parts := []*Histogram{NewHistogram(), NewHistogram(), NewHistogram()}
	r := rand.New(rand.NewPCG(9, 9))
	for i := range 9000 {
		d := time.Duration(r.Int64N(int64(time.Minute)))
		one.Record(d)
		parts[i%3].Record(d)
	}
	sum := NewHistogram()
	for _, p := range parts {
		if err := sum.Merge(p); err != nil {
			t.Fatal(err)
		}
	}
	if sum.Count() != one.Count() || sum.Percentiles() != one.Percentiles() || sum.Mean() != one.Mean() {
		t.Errorf("merged %v (%d), one %v (%d)", sum.Percentiles(), sum.Count(), one.Percentiles(), one.Count())
	}
	if !slices.Equal(sum.Buckets(), one.Buckets()) {
		t.Error("merged buckets differ")
	}
}

func TestHistogramRangeIsClampedAndCounted(t *testing.T) {
	h := NewHistogram()
	for _, d := range []time.Duration{-time.Second, 0, time.Nanosecond, time.Hour, 2 * time.Hour, 1 << 62} {
		h.Record(d)
	}
	if h.Count() != 6 {
		t.Errorf("count %d, want 6", h.Count())
	}
	if !within3(h.Max(), time.Hour) || h.Min() != 0 {
		t.Errorf("from %v to %v", h.Min(), h.Max())
	}
}

func TestHistogramOfOneValue(t *testing.T) {
	h := NewHistogram()
	h.Record(time.Second)
	for _, got := range []time.Duration{h.Min(), h.Max(), h.Mean(), h.At(0), h.At(100)} {
		if !within3(got, time.Second) {
			t.Errorf("%s of one second", got)
		}
	}
}

func TestHistogramEmpty(t *testing.T) {
	h := NewHistogram()
	if h.Percentiles() != (Percentiles{}) || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.At(50) != 0 || h.Buckets() != nil {
		t.Error("an empty histogram has values")
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h := NewHistogram()
	if n := testing.AllocsPerRun(100, func() { h.Record(time.Millisecond) }); n != 0 {
		t.Errorf("Record allocates %v times", n)
	}
}

func TestLogRoundTrip(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var buf bytes.Buffer
	w, err := NewLogWriter(&buf, start, "barograph test", "two\nlines")
	if err != nil {
		t.Fatal(err)
	}
	var want []Interval
	for i, tag := range []string{"READ", "UPDATE", "", "READ-MODIFY-WRITE"} {
		h := NewHistogram()
		for k := range 1000 * (i + 1) {
			h.Record(time.Duration(k*k+i) * time.Microsecond)
		}
		in := Interval{tag, start.Add(time.Duration(i) * time.Second), start.Add(time.Duration(i+1) * time.Second), h}
		want = append(want, in)
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
	}
	log := hdrhistogram.NewHistogramLogReader(&buf)
	for i, o := range want {
		g, err := log.NextIntervalHistogram()
		if err != nil || g == nil {
			t.Fatalf("interval %d: %v", i, err)
		}
		got := Histogram{g}
		if g.Tag() != o.Tag || g.StartTimeMs() != o.Start.UnixMilli() || g.EndTimeMs() != o.End.UnixMilli() || !slices.Equal(got.Buckets(), o.Histogram.Buckets()) {
			t.Errorf("interval %d: %q %d %d, want %q %v %v", i, g.Tag(), g.StartTimeMs(), g.EndTimeMs(), o.Tag, o.Start, o.End)
		}
	}
	if g, err := log.NextIntervalHistogram(); g != nil || err != nil {
		t.Errorf("a further interval %v, %v", g, err)
	}
}

func TestLogRefusesTags(t *testing.T) {
	w, err := NewLogWriter(&bytes.Buffer{}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"a,b", "a b", ",", " a", "a\n", "\x00", "a\x7f"} {
		var f *fault.Error
		if err := w.Write(Interval{Tag: tag, Histogram: NewHistogram()}); !errors.As(err, &f) {
			t.Errorf("tag %q: %v", tag, err)
		}
	}
}

// Bucket is a non-empty range of a histogram.
type Bucket struct {
	From, To time.Duration // both included
	Count    int64
}

// Buckets returns the non-empty ranges from short to long, to compare.
func (h *Histogram) Buckets() []Bucket {
	var out []Bucket
	for _, b := range h.hdr.Distribution() {
		if b.Count > 0 {
			out = append(out, Bucket{time.Duration(b.From), time.Duration(b.To), b.Count})
		}
	}
	return out
}
