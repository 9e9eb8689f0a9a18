package plot

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// scale sets the axis of the coordinate for a body of the given width and height in px.
func (c *linesDrawing) scale(a *gplot.Axis, at span, across, up vg.Length) {
	if at.lo == at.hi && c.Coordinate >= Levels {
		at.lo, at.hi = at.lo/1.5, at.hi*1.5
	} else if at.lo == at.hi {
		at = at.padded(0.5)
	}
	if c.CoordinateLimits[0] < c.CoordinateLimits[1] && onScale(c.CoordinateLimits[0], c.Coordinate >= Levels) {
		at = span{c.CoordinateLimits[0], c.CoordinateLimits[1]}
	}
	c.at, a.Min, a.Max = at, at.lo, at.hi
	switch c.Coordinate {
	case Leads:
		a.Tick.Marker = leadTicks{}
	case Numbers:
		a.Tick.Marker = linearTicks{8}
	case Times:
		a.Tick.Marker = timeTicks{int(across-60) / 58}
	case Levels:
		a.Scale, a.Tick.Marker = gplot.InvertedScale{Normalizer: logScale{}}, levelTicks{float64(up) - 45}
	case Sizes:
		a.Scale, a.Padding, a.Tick.Marker = logScale{}, 4, c.sizes()
	}
	if c.Ticks != nil {
		a.Tick.Marker = c.named(float64(across) / (at.hi - at.lo))
	}
}

// named returns the ticks with a label. It omits a label that would overlap the previous one; scale is in px by unit.
func (c *linesDrawing) named(scale float64) (out gplot.ConstantTicks) {
	end := math.Inf(-1)
	for _, x := range slices.Sorted(maps.Keys(c.Ticks)) {
		t := gplot.Tick{Value: x, Label: c.Ticks[x]}
		half := float64(utf8.RuneCountInString(t.Label)) * 3.5
		if c.Coordinate == Levels || x*scale-half >= end {
			end = x*scale + half + 6
		} else {
			t.Label = ""
		}
		out = append(out, t)
	}
	return out
}

// sizes returns ticks at the measured sizes.
func (c *linesDrawing) sizes() (out gplot.ConstantTicks) {
	for _, q := range c.Curves {
		for _, v := range q.Positions {
			if v > 0 && !slices.ContainsFunc(out, func(t gplot.Tick) bool { return t.Value == v }) {
				out = append(out, gplot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
			}
		}
	}
	return out
}

// linearTicks returns at most n+1 labeled ticks at multiples of 1, 2 or 5 times a power of ten.
type linearTicks struct{ n int }

func (t linearTicks) Ticks(lo, hi float64) []gplot.Tick {
	n := float64(max(t.n, 2))
	step := niceStep((hi - lo) / (2 * n))
	for math.Floor(hi/step+1e-9)-math.Ceil(lo/step-1e-9) > n {
		step = niceStep(step * 1.5)
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []gplot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for i := 0.0; i <= n && (first+i)*step <= hi+step*1e-9; i++ {
		v := (first + i) * step
		out = append(out, gplot.Tick{Value: v, Label: axisNumber(v, step, decimals)})
	}
	return out
}

// axisNumber keeps the decimals of one axis equal.
func axisNumber(v, step float64, decimals int) string {
	switch {
	case v == 0:
		return "0"
	case step >= 1e8:
		return decimal(v/1e9, max(0, 9-exponentOf(step))) + "G"
	case step >= 1e5 && math.Abs(v) >= 1e6:
		return decimal(v/1e6, max(0, 6-exponentOf(step))) + "M"
	case decimals > 6:
		return number(v)
	}
	return decimal(v, decimals)
}

// exponentOf is the power of ten of a step.
func exponentOf(step float64) int { return int(math.Floor(math.Log10(step) + 1e-9)) }

// niceStep returns the smallest 1, 2 or 5 times a power of ten not below v.
func niceStep(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// logTicks labels 1, 2 and 5 times powers of ten if that gives no more than maxLabels labels. Otherwise it labels the
// powers, or every second, third … power. Up to four decades have small ticks between them.
type logTicks struct{ maxLabels int }

func (t logTicks) Ticks(lo, hi float64) []gplot.Tick {
	first, last := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Ceil(math.Log10(hi)-1e-9))
	count := func(labeled func(e, m int) bool) (n int) {
		for e := first; e <= last; e++ {
			for _, m := range []int{1, 2, 5} {
				if v := float64(m) * math.Pow10(e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) && labeled(e, m) {
					n++
				}
			}
		}
		return n
	}
	labeled := func(int, int) bool { return true }
	for every := 1; count(labeled) > max(t.maxLabels, 2); every++ {
		labeled = func(e, m int) bool { return m == 1 && ((e%every)+every)%every == 0 }
	}
	var out []gplot.Tick
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			tick := gplot.Tick{Value: v}
			if (m == 1 || m == 2 || m == 5) && labeled(e, m) {
				tick.Label = number125(m, e)
			} else if last-first > 4 {
				continue
			}
			out = append(out, tick)
		}
	}
	return out
}

// number125 prints m·10^e without unnecessary decimals.
func number125(m, e int) string {
	v := float64(m) * math.Pow10(e)
	switch {
	case v >= 1e9:
		return decimal(v/1e9, 0) + "G"
	case v >= 1e6:
		return decimal(v/1e6, 0) + "M"
	case e < -6:
		return number(v)
	}
	return decimal(v, max(0, -e))
}

// leadTicks are forecast leads in hours: every 24 h if that is legible, as meteorologists count,
// finer for less than three days, coarser for more than two weeks.
type leadTicks struct{}

func (leadTicks) Ticks(lo, hi float64) []gplot.Tick {
	span, step := hi-lo, 24.0
	if span > 24*366 { // no forecast is that long
		return linearTicks{8}.Ticks(lo, hi)
	}
	for _, finer := range []struct{ longest, step float64 }{{84, 12}, {48, 6}, {24, 3}, {12, 1}} {
		if span <= finer.longest {
			step = finer.step
		}
	}
	for span/step > 17 {
		step += 24
	}
	var out []gplot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9; k++ {
		out = append(out, gplot.Tick{Value: k * step, Label: plain(k*step, 0)})
	}
	return out
}

// levelTicks are pressure levels in hPa: the mandatory levels of a sounding, thinned to keep a
// distance between neighbors on a logarithmic axis of a given height in px.
type levelTicks struct{ height float64 }

func (t levelTicks) Ticks(lo, hi float64) []gplot.Tick {
	var out []gplot.Tick
	lastAt := math.Inf(-1)
	at := func(p float64) float64 { return math.Log(hi/p) / math.Log(hi/lo) * t.height }
	for _, p := range []float64{1000, 925, 850, 700, 500, 400, 300, 250, 200, 150, 100, 70, 50, 30, 20, 10, 7, 5, 3, 2, 1, 0.7, 0.5, 0.3, 0.2, 0.1} {
		if p < lo*(1-1e-9) || p > hi*(1+1e-9) {
			continue
		}
		if y := at(p); y-lastAt >= 15 {
			out, lastAt = append(out, gplot.Tick{Value: p, Label: minus(strconv.FormatFloat(p, 'g', -1, 64))}), y
		}
	}
	if len(out) < 2 {
		return logTicks{maxLabels: 8}.Ticks(lo, hi)
	}
	return out
}

// timeTicks are UTC times in Unix seconds; maxLabels is the number of labels that fit.
type timeTicks struct{ maxLabels int }

// calendarStep is a step of hours, days or months. layout formats a tick; secondLine formats the second line of its
// label, which is printed if it changes.
type calendarStep struct {
	months             int
	d                  time.Duration
	layout, secondLine string
}

func (t timeTicks) Ticks(lo, hi float64) (out []gplot.Tick) {
	first, last := time.Unix(int64(math.Floor(lo)), 0).UTC(), time.Unix(int64(math.Ceil(hi)), 0).UTC()
	c, shown := stepOf(last.Sub(first), time.Duration(max(t.maxLabels, 2))), ""
	for at := c.begin(first); !at.After(last); at = at.AddDate(0, c.months, 0).Add(c.d) {
		if at.Before(first) {
			continue
		}
		label := at.Format(c.layout)
		if head := at.Format(c.secondLine); c.secondLine != "" && head != shown {
			label, shown = label+"\n"+head, head
		} else if c.secondLine != "" {
			label += "\n " // an empty second line keeps all first lines at the same height
		}
		out = append(out, gplot.Tick{Value: float64(at.Unix()), Label: label})
	}
	return out
}

// begin returns the time of the first tick at or before first: the start of a step of months, or midnight.
func (c calendarStep) begin(first time.Time) time.Time {
	if c.months == 0 {
		return first.Truncate(24 * time.Hour)
	}
	m := first.Year()*12 + int(first.Month()) - 1
	return time.Date(0, time.Month(m-m%c.months+1), 1, 0, 0, 0, 0, time.UTC)
}

// stepOf returns the smallest step that gives at most maxTicks ticks in a span.
func stepOf(span, maxTicks time.Duration) calendarStep {
	const day = 24 * time.Hour
	for _, c := range []calendarStep{
		{0, time.Hour, "15Z", "2 Jan 2006"},
		{0, 3 * time.Hour, "15Z", "2 Jan 2006"},
		{0, 6 * time.Hour, "15Z", "2 Jan 2006"},
		{0, 12 * time.Hour, "15Z", "2 Jan 2006"},
		{0, day, "2 Jan", "2006"},
		{0, 2 * day, "2 Jan", "2006"},
		{0, 5 * day, "2 Jan", "2006"},
		{0, 10 * day, "2 Jan", "2006"},
		{1, 0, "Jan", "2006"},
		{2, 0, "Jan", "2006"},
		{3, 0, "Jan", "2006"},
		{6, 0, "Jan", "2006"},
	} {
		if span/(c.d+30*day*time.Duration(c.months)) < maxTicks {
			return c
		}
	}
	years := 1
	for span/(365*day)/time.Duration(years) >= maxTicks {
		years *= 2
	}
	return calendarStep{12 * years, 0, "2006", ""}
}
