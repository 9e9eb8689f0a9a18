package plot

import (
	"slices"
	"testing"
	"time"

	gplot "gonum.org/v1/plot"

	"github.com/barograph/barograph/internal/lists"
)

// TestTicksAtLimits: the ranges at which an axis changes its step, its labels or its ticks without a label.
func TestTicksAtLimits(t *testing.T) {
	for _, c := range []struct {
		ticker gplot.Ticker
		lo, hi float64
		want   string
	}{
		{linearTicks{0}, 0, 10, "0 5 10"}, // at least two steps
		{linearTicks{3}, 0, 10, "0 5 10"},
		{linearTicks{5}, 0.1, 0.5, "0.1 0.2 0.3 0.4 0.5"},
		{linearTicks{5}, 0.11, 0.49, "0.2 0.3 0.4"},
		{linearTicks{4}, 0, 4e-8, "0 1e−08 2e−08 3e−08 4e−08"},
		{linearTicks{4}, 0, 4e-6, "0 0.000001 0.000002 0.000003 0.000004"},
		{linearTicks{3}, -30, -10, "−30 −20 −10"},
		{logTicks{4}, 1, 10, "1 2 5 10"},
		{logTicks{3}, 1, 10, "1 10"},
		{logTicks{1}, 1, 10, "1 10"}, // at least two labels
		{logTicks{2}, 1, 5, "1"},
		{logTicks{2}, 0.5, 2, "1"},
		{logTicks{2}, 5.5, 20, "10 20"},
		{logTicks{3}, 1e-5, 1, "0.0001 0.01 1"},
		{logTicks{2}, 1e-5, 1, "0.001 1"},
		{leadTicks{}, 0, 12, "0 1 2 3 4 5 6 7 8 9 10 11 12"},
		{leadTicks{}, 0, 13, "0 3 6 9 12"},
		{leadTicks{}, 0, 24, "0 3 6 9 12 15 18 21 24"},
		{leadTicks{}, 0, 25, "0 6 12 18 24"},
		{leadTicks{}, 0, 48, "0 6 12 18 24 30 36 42 48"},
		{leadTicks{}, 0, 49, "0 12 24 36 48"},
		{leadTicks{}, 0, 84, "0 12 24 36 48 60 72 84"},
		{leadTicks{}, 0, 85, "0 24 48 72"},
		{leadTicks{}, -6, 6, "−6 −5 −4 −3 −2 −1 0 1 2 3 4 5 6"},
		{leadTicks{}, 0, 408, "0 24 48 72 96 120 144 168 192 216 240 264 288 312 336 360 384 408"},
		{leadTicks{}, 0, 409, "0 48 96 144 192 240 288 336 384"},
		{leadTicks{}, 0, 24 * 366, "0 528 1056 1584 2112 2640 3168 3696 4224 4752 5280 5808 6336 6864 7392 7920 8448"},
		{leadTicks{}, 0, 24*366 + 1, "0 1,000 2,000 3,000 4,000 5,000 6,000 7,000 8,000"}, // no leads, but numbers
		{levelTicks{10000}, 0.1, 1000, "1000 925 850 700 500 400 300 250 200 150 100 70 50 30 20 10 7 5 3 2 1 0.7 0.5 0.3 0.2 0.1"},
		{levelTicks{500}, 925, 1000, "1000 925"},
		{levelTicks{500}, 1100, 5500, "2,000 5,000"}, // no mandatory level
		{levelTicks{15}, 100, 1000, "1000 100"},      // 15 px apart
		{levelTicks{14.9}, 100, 1000, "100 200 500 1,000"},
	} {
		if got := labels(c.ticker.Ticks(c.lo, c.hi)); got != c.want {
			t.Errorf("%#v from %g to %g:\n got %q\nwant %q", c.ticker, c.lo, c.hi, got, c.want)
		}
	}
	// Up to four decades have ticks without a label.
	for _, c := range []struct {
		lo, hi float64
		want   int
	}{{1, 1e4, 4*9 + 1}, {1, 1e5, 6}, {0.5, 2, 7}, {0.95, 9.5, 9}} {
		ticks := logTicks{10}.Ticks(c.lo, c.hi)
		if len(ticks) != c.want || ticks[0].Value < c.lo*0.999 || ticks[len(ticks)-1].Value > c.hi*1.001 {
			t.Errorf("from %g to %g: %d ticks, want %d: %v", c.lo, c.hi, len(ticks), c.want, ticks)
		}
	}
	minor := lists.Map(logTicks{10}.Ticks(0.5, 2), func(t gplot.Tick) float64 { return t.Value })
	if want := []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1, 2}; !slices.EqualFunc(minor, want, isNear) {
		t.Errorf("ticks at %v, want %v", minor, want)
	}
}

// TestCalendar: a time axis has the smallest step that gives few enough labels. It begins at a midnight, or at the start of
// a step of months or years. The second line of a label is written if it changes.
func TestCalendar(t *testing.T) {
	const day = 24
	for _, c := range []struct {
		hours int // of the axis
		want  string
	}{
		{9, "15Z\n9 Nov 2018|16Z\n |17Z\n "},
		{10, "15Z\n9 Nov 2018|18Z\n |21Z\n "},
		{29, "15Z\n9 Nov 2018|18Z\n |21Z\n "},
		{30, "18Z\n9 Nov 2018|00Z\n10 Nov 2018|06Z\n "},
		{59, "18Z\n9 Nov 2018|00Z\n10 Nov 2018|06Z\n "},
		{60, "00Z\n10 Nov 2018|12Z\n |00Z\n11 Nov 2018"},
		{5*day - 1, "00Z\n10 Nov 2018|12Z\n |00Z\n11 Nov 2018"},
		{5 * day, "10 Nov\n2018|11 Nov\n |12 Nov\n "},
		{10*day - 1, "10 Nov\n2018|11 Nov\n |12 Nov\n "},
		{10 * day, "11 Nov\n2018|13 Nov\n |15 Nov\n "},
		{20*day - 1, "11 Nov\n2018|13 Nov\n |15 Nov\n "},
		{20 * day, "14 Nov\n2018|19 Nov\n |24 Nov\n "},
		{50*day - 1, "14 Nov\n2018|19 Nov\n |24 Nov\n "},
		{50 * day, "19 Nov\n2018|29 Nov\n |9 Dec\n "},
		{100*day - 1, "19 Nov\n2018|29 Nov\n |9 Dec\n "},
		{100 * day, "Dec\n2018|Jan\n2019|Feb\n "},
		{300*day - 1, "Dec\n2018|Jan\n2019|Feb\n "},
		{300 * day, "Jan\n2019|Mar\n |May\n "},
		{600*day - 1, "Jan\n2019|Mar\n |May\n "},
		{600 * day, "Jan\n2019|Apr\n |Jul\n "},
		{900*day - 1, "Jan\n2019|Apr\n |Jul\n "},
		{900 * day, "Jan\n2019|Jul\n |Jan\n2020"},
		{1800*day - 1, "Jan\n2019|Jul\n |Jan\n2020"},
		{1800 * day, "2019|2020|2021"},
		{3650*day - 1, "2019|2020|2021"},
		{3650 * day, "2020|2022|2024"},
		{7300*day - 1, "2020|2022|2024"},
		{7300 * day, "2020|2024|2028"},
	} {
		begin := time.Date(2018, 11, 9, 14, 30, 0, 0, time.UTC)
		var got string
		ticks := timeTicks{10}.Ticks(float64(begin.Unix()), float64(begin.Add(time.Duration(c.hours)*time.Hour).Unix()))
		for _, tick := range ticks[:3] {
			got += "|" + tick.Label
		}
		if got = got[1:]; got != c.want {
			t.Errorf("%d hours: %q, want %q", c.hours, got, c.want)
		}
	}
	at := func(s string) float64 { return unix(s + "Z") }
	// The range is widened to whole seconds.
	got := lists.Map(timeTicks{2}.Ticks(at("2018-11-09T00:00:00")+0.5, at("2018-11-09T01:00:00")-0.5), func(t gplot.Tick) float64 { return t.Value })
	if want := []float64{at("2018-11-09T00:00:00"), at("2018-11-09T01:00:00")}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// At least two labels: three hours with room for one label have a step of three hours.
	if got := labels(timeTicks{1}.Ticks(at("2018-11-09T00:00:00"), at("2018-11-09T03:00:00"))); got != "00Z\n9 Nov 2018 03Z" {
		t.Errorf("%q", got)
	}
	for months, want := range map[int]string{1: "2018-11-01", 2: "2018-11-01", 3: "2018-10-01", 6: "2018-07-01", 12: "2018-01-01", 48: "2016-01-01", 0: "2018-11-09"} {
		if got := (calendarStep{months: months}).begin(time.Date(2018, 11, 9, 14, 30, 0, 0, time.UTC)).Format(time.DateOnly); got != want {
			t.Errorf("%d months begin on %s, want %s", months, got, want)
		}
	}
}
