package plot

import (
	"math"
	"time"

	gplot "gonum.org/v1/plot"
)

// linearTicks puts at most n+1 labelled ticks at multiples of 1, 2 or 5 times a
// power of ten.
type linearTicks struct{ n int }

func (t linearTicks) Ticks(lo, hi float64) []gplot.Tick {
	n := float64(max(t.n, 2))
	step := niceStep((hi - lo) / (2 * n))
	for math.Floor(hi/step+1e-9)-math.Ceil(lo/step-1e-9) > n {
		step = niceStep(step * 1.5)
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []gplot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9; k++ {
		out = append(out, gplot.Tick{Value: k * step, Label: axisNumber(k*step, step, decimals)})
	}
	return out
}

// axisNumber keeps the decimals of one axis equal.
func axisNumber(v, step float64, decimals int) string {
	switch {
	case v == 0:
		return "0"
	case step >= 1e8:
		return decimal(v/1e9, max(0, 9-digitsOf(step))) + "G"
	case step >= 1e5 && math.Abs(v) >= 1e6:
		return decimal(v/1e6, max(0, 6-digitsOf(step))) + "M"
	case decimals > 6:
		return number(v)
	}
	return decimal(v, decimals)
}

// digitsOf is the power of ten of a step.
func digitsOf(step float64) int { return int(math.Floor(math.Log10(step) + 1e-9)) }

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

// logTicks puts labels at 1, 2 and 5 times powers of ten where no more than most
// are needed, else at the powers alone, else at every second, third … power. Up
// to four decades have small ticks between.
type logTicks struct{ most int }

func (t logTicks) Ticks(lo, hi float64) []gplot.Tick {
	first, last := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Ceil(math.Log10(hi)-1e-9))
	count := func(labelled func(e, m int) bool) (n int) {
		for e := first; e <= last; e++ {
			for _, m := range []int{1, 2, 5} {
				if v := float64(m) * math.Pow10(e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) && labelled(e, m) {
					n++
				}
			}
		}
		return n
	}
	labelled := func(int, int) bool { return true }
	for every := 1; count(labelled) > max(t.most, 2); every++ {
		labelled = func(e, m int) bool { return m == 1 && ((e%every)+every)%every == 0 }
	}
	var out []gplot.Tick
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			tick := gplot.Tick{Value: v}
			if (m == 1 || m == 2 || m == 5) && labelled(e, m) {
				tick.Label = number125(m, e)
			} else if last-first > 4 {
				continue
			}
			out = append(out, tick)
		}
	}
	return out
}

// number125 prints m·10^e without needless decimals.
func number125(m, e int) string {
	if v := float64(m) * math.Pow10(e); v >= 1e6 {
		switch {
		case v >= 1e9:
			return decimal(v/1e9, 0) + "G"
		default:
			return decimal(v/1e6, 0) + "M"
		}
	}
	if e < -6 {
		return number(float64(m) * math.Pow10(e))
	}
	return decimal(float64(m)*math.Pow10(e), max(0, -e))
}

// leadTicks are forecast leads in hours: each 24 h where that is legible, as
// meteorologists count, finer below three days, coarser beyond two weeks.
type leadTicks struct{}

func (leadTicks) Ticks(lo, hi float64) []gplot.Tick {
	step := 24.0
	switch span := hi - lo; {
	case span <= 12:
		step = 1
	case span <= 24:
		step = 3
	case span <= 48:
		step = 6
	case span <= 84:
		step = 12
	case span > 24*366: // no forecast is that long
		return linearTicks{8}.Ticks(lo, hi)
	case span > 408:
		for step = 48; span/step > 17; {
			step += 24
		}
	}
	var out []gplot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9; k++ {
		out = append(out, gplot.Tick{Value: k * step, Label: plain(k*step, 0)})
	}
	return out
}

// levelTicks are pressure levels in hPa: the mandatory levels of a sounding,
// thinned so that neighbours stay apart on a logarithmic axis of a given
// height in px.
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
			out = append(out, gplot.Tick{Value: p, Label: levelLabel(p)})
			lastAt = y
		}
	}
	if len(out) < 2 {
		return logTicks{most: 8}.Ticks(lo, hi)
	}
	return out
}

func levelLabel(p float64) string {
	if p < 1 {
		return plain(p, 1)
	}
	return plain(p, 0)
}

// timeTicks are UTC times in Unix seconds; most is how many labels fit.
type timeTicks struct{ most int }

func (t timeTicks) Ticks(lo, hi float64) []gplot.Tick {
	first, last := time.Unix(int64(math.Floor(lo)), 0).UTC(), time.Unix(int64(math.Ceil(hi)), 0).UTC()
	next, layout, above := calendar(last.Sub(first), max(t.most, 2))
	var out []gplot.Tick
	shown := ""
	for at := next(time.Time{}, first); !at.After(last); at = next(at, first) {
		label := at.Format(layout)
		if head := at.Format(above); above != "" && head != shown {
			label += "\n" + head
			shown = head
		} else if above != "" {
			label += "\n " // labels of equal height stand on one line
		}
		out = append(out, gplot.Tick{Value: float64(at.Unix()), Label: label})
	}
	return out
}

// calendar chooses a step of hours, days, months or years. The returned
// function gives the first tick (for the zero time) and the one after a tick;
// layout prints a tick, above what is printed under it where it changes.
func calendar(span time.Duration, most int) (next func(at, first time.Time) time.Time, layout, above string) {
	const day = 24 * time.Hour
	for _, step := range []time.Duration{time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 5 * day, 10 * day} {
		if span/step >= time.Duration(most) {
			continue
		}
		if step < day {
			return every(step), "15Z", "2 Jan 2006"
		}
		return every(step), "2 Jan", "2006"
	}
	for _, months := range []int{1, 2, 3, 6} {
		if int(span/(30*day))/months < most {
			return months1(months), "Jan", "2006"
		}
	}
	years := 1
	for int(span/(365*day))/years >= most {
		years *= 2
	}
	return months1(12 * years), "2006", ""
}

func every(step time.Duration) func(at, first time.Time) time.Time {
	return func(at, first time.Time) time.Time {
		if !at.IsZero() {
			return at.Add(step)
		}
		t := first.Truncate(24 * time.Hour)
		for t.Before(first) {
			t = t.Add(step)
		}
		return t
	}
}

// months1 steps over firsts of months that are multiples of n since year 0.
func months1(n int) func(at, first time.Time) time.Time {
	return func(at, first time.Time) time.Time {
		if !at.IsZero() {
			return at.AddDate(0, n, 0)
		}
		m := first.Year()*12 + int(first.Month()) - 1
		m -= m % n
		t := time.Date(0, time.Month(m+1), 1, 0, 0, 0, 0, time.UTC)
		for t.Before(first) {
			t = t.AddDate(0, n, 0)
		}
		return t
	}
}
