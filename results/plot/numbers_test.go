package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TestNiceStep: a step is the smallest 1, 2 or 5 times a power of ten that is not below a number. Without a positive
// number it is 1.
func TestNiceStep(t *testing.T) {
	for _, c := range []struct{ v, want float64 }{
		{0, 1},
		{-3, 1},
		{math.NaN(), 1},
		{math.Inf(1), 1},
		{1, 1},
		{1.001, 2},
		{2, 2},
		{2.001, 5},
		{5, 5},
		{5.001, 10},
		{0.03, 0.05},
		{0.2 + 1e-12, 0.2},
		{700, 1000},
	} {
		if got := niceStep(c.v); math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("%g: %g, want %g", c.v, got, c.want)
		}
	}
}

// TestNumbersOfAxes: all numbers of an axis have the decimals of its step. Millions and billions have a letter if the
// step allows it.
func TestNumbersOfAxes(t *testing.T) {
	for _, c := range []struct {
		v, step  float64
		decimals int
		want     string
	}{
		{0, 1e9, 0, "0"},
		{0, 0.1, 1, "0"},
		{2e9, 1e9, 0, "2G"},
		{1.5e9, 1e8, 0, "1.5G"},
		{2e8, 1e8, 0, "0.2G"},
		{1.5e8, 5e7, 0, "150M"},
		{1e6, 1e5, 0, "1.0M"},
		{1.2e6, 1e5, 0, "1.2M"},
		{-1.2e6, 2e5, 0, "−1.2M"},
		{9e5, 1e5, 0, "900,000"},
		{1.05e6, 5e4, 0, "1,050,000"},
		{3e6, 1e6, 0, "3M"},
		{-1.5, 0.5, 1, "−1.5"},
		{1e-6, 1e-6, 6, "0.000001"},
		{3e-7, 1e-7, 7, "3e−07"},
	} {
		if got := axisNumber(c.v, c.step, c.decimals); got != c.want {
			t.Errorf("%g with the step %g: %q, want %q", c.v, c.step, got, c.want)
		}
	}
	for _, c := range []struct {
		m, e int
		want string
	}{
		{1, 9, "1G"},
		{5, 8, "500M"},
		{1, 6, "1M"},
		{5, 5, "500,000"},
		{1, 0, "1"},
		{5, -1, "0.5"},
		{2, -6, "0.000002"},
		{2, -7, "2e−07"},
	} {
		if got := number125(c.m, c.e); got != c.want {
			t.Errorf("%d · 10^%d: %q, want %q", c.m, c.e, got, c.want)
		}
	}
}

// TestDigits: a number has its significant digits, thousands separators, and a minus sign unless it prints as 0.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Digits(0, 4), "0"},
		{Digits(1, 4), "1.000"},
		{Digits(9.9996, 4), "10.00"},
		{Digits(12345.6, 4), "12,350"},
		{Digits(0.00123456, 4), "0.001235"},
		{Digits(-0.5, 2), "−0.50"},
		{Digits(100, 1), "100"},
		{Digits(math.MaxFloat64, 2)[:12], "179,769,313,"}, // 1.8e308 is not finite
		{decimal(1234567.891, 2), "1,234,567.89"},
		{decimal(999, 0), "999"},
		{decimal(1000, 0), "1,000"},
		{decimal(-100000, 0), "−100,000"},
		{decimal(-0.001, 2), "0.00"},
		{decimal(-0.01, 2), "−0.01"},
		{decimal(0, 1), "0.0"},
		{plain(math.Copysign(0, -1), 0), "0"},
		{plain(1000, 0), "1000"},
		{plain(-1.25, 2), "−1.25"},
		{number(999400), "999,000"},
		{number(0.9995e6), "1.00M"},
		{number(-1.5e6), "−1.50M"},
		{number(999.4e6), "999M"},
		{number(0.9995e9), "1.00G"},
		{number(-3e9), "−3.00G"},
		{number(1e-4), "0.000100"},
		{number(9.5e-5), "9.5e−05"},
		{number(-9.5e-5), "−9.5e−05"},
		{number(1e30), "1,000,000,000,000,000,000,000G"},
		{number(1.1e30), "–"},
		{withUnit(2, ""), "2.00"},
		{withUnit(2, "m\ts"), "2.00 m s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestSpans: the range of an axis around its values, for each kind of axis.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want span
	}{
		{"4 % of the range on both sides", span{0, 100}.padded(0.04), span{-4, 104}},
		{"a tenth of a single value", span{5, 5}.padded(0.04), span{4.5, 5.5}},
		{"a tenth of a single negative value", span{-5, -5}.padded(0.04), span{-5.5, -4.5}},
		{"a millionth around zero", span{0, 0}.padded(0.04), span{-1e-6, 1e-6}},
		{"values that differ by rounding", span{1e12, 1e12 + 100}.padded(0.04), span{0.9e12, 1.1e12}},
		{"negative values that differ by rounding", span{-1e12 - 100, -1e12}.padded(0.04), span{-1.1e12, -0.9e12}},
		{"a small range of large values", span{1e6, 1e6 + 1}.padded(0.1), span{1e6 - 0.1, 1e6 + 1.1}},
		{"log: from 2 to 50", span{3, 30}.logRound(), span{2, 50}},
		{"log: a bound at 1 is widened to 0.5", span{1, 10}.logRound(), span{0.5, 20}},
		{"log: a bound at 2 is widened to 1", span{2, 9}.logRound(), span{1, 10}},
		{"log: a bound at 5 is widened to 2", span{5, 5}.logRound(), span{2, 10}},
		{"log: from 5", span{5.2, 9.5}.logRound(), span{5, 10}},
		{"log: from 1", span{1.03, 4}.logRound(), span{1, 5}},
		{"log: below 1", span{0.001, 0.03}.logRound(), span{0.0005, 0.05}},
	} {
		if !isNear(c.got.lo, c.want.lo) || !isNear(c.got.hi, c.want.hi) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	for _, c := range []struct {
		s    span
		want bool
	}{
		{span{1, 20}, false},
		{span{1, 20.1}, true},
		{span{0, 50}, false},
		{span{-1, 50}, false},
		{newSpan(), false},
		{span{1e-300, 1e30}, false},
	} {
		if c.s.ratioExceeds(20) != c.want {
			t.Errorf("the ratio of %v exceeds 20: %v", c.s, !c.want)
		}
	}
	s := newSpan()
	s.add(math.NaN(), math.Inf(1), math.Inf(-1), 1e31)
	if !s.empty() {
		t.Errorf("no number gives %v", s)
	}
	if s.add(3); s.empty() || s != (span{3, 3}) {
		t.Errorf("one number gives %v", s)
	}
	if s.add(-1e30, 1e30); s != (span{-1e30, 1e30}) {
		t.Errorf("the largest numbers give %v", s)
	}
}

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// TestValuesOnScale: which values an axis shows, which intervals extend it, and the text in place of a value that it cannot
// show.
func TestValuesOnScale(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		v           float64
		linear, log bool
	}{{1, true, true}, {0, true, false}, {-1, true, false}, {1e-30, true, true}, {1e-31, true, false}, {1e30, true, true}, {1.1e30, false, false}, {-1.1e30, false, false}, {nan, false, false}, {inf, false, false}} {
		if onScale(c.v, false) != c.linear || onScale(c.v, true) != c.log {
			t.Errorf("%g: linear %v, logarithmic %v", c.v, !c.linear, !c.log)
		}
	}
	for _, c := range []struct {
		v           Value
		hasInterval bool
		linear, log span
		linearNote  string
		logNote     string
	}{
		{Value{V: 2}, false, span{2, 2}, span{2, 2}, "–", "2.00: not on a log axis"},
		{Value{V: 2, Lo: 1, Hi: 3}, true, span{1, 3}, span{1, 3}, "–", "2.00: not on a log axis"},
		{Value{V: 2, Lo: -1, Hi: 3}, true, span{-1, 3}, span{2, 3}, "–", "2.00: not on a log axis"},
		{Value{V: 2, Lo: 3, Hi: 3}, false, span{2, 2}, span{2, 2}, "–", "2.00: not on a log axis"},
		{Value{V: 2, Lo: 5, Hi: 3}, false, span{2, 2}, span{2, 2}, "–", "2.00: not on a log axis"},
		{Value{V: 2, Lo: nan, Hi: 3}, false, span{2, 2}, span{2, 2}, "–", "2.00: not on a log axis"},
		{Value{V: 2, Lo: 1, Hi: inf}, false, span{2, 2}, span{2, 2}, "–", "2.00: not on a log axis"},
		{Value{V: -2, Lo: -3, Hi: 3}, true, span{-3, 3}, newSpan(), "–", "−2.00: not on a log axis"},
		{Value{V: nan, Lo: 1, Hi: 3}, true, newSpan(), newSpan(), "–", "–"},
		{Value{V: nan, Note: "wrong\nanswer"}, false, newSpan(), newSpan(), "wrong answer", "wrong answer"},
	} {
		linear, log := newSpan(), newSpan()
		c.v.extend(&linear, false)
		c.v.extend(&log, true)
		if c.v.hasInterval() != c.hasInterval || linear != c.linear || log != c.log || c.v.note(false) != c.linearNote || c.v.note(true) != c.logNote {
			t.Errorf("%+v: interval %v, %v, %v, %q, %q", c.v, c.v.hasInterval(), linear, log, c.v.note(false), c.v.note(true))
		}
	}
	withRepetitions := newSpan()
	if (Row{Value: Value{V: 2}, Repetitions: []float64{-1, 1, 9, nan}}).extend(&withRepetitions, true); withRepetitions != (span{1, 9}) {
		t.Errorf("repetitions give %v", withRepetitions)
	}
}

// TestScale: an axis of bars contains zero and has 2 % of its length beyond the values. A logarithmic axis begins and
// ends at 1, 2 or 5 times a power of ten.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		s    span
		log  bool
		want span
		kind gplot.Ticker
	}{
		{newSpan(), false, span{0, 1.02}, linearTicks{7}},
		{newSpan(), true, span{0, 1.02}, linearTicks{7}},
		{span{0, 0}, false, span{0, 1.02}, linearTicks{7}},
		{span{2, 10}, false, span{0, 10.2}, linearTicks{7}},
		{span{-10, -2}, false, span{-10.2, 0.204}, linearTicks{7}},
		{span{-10, 10}, false, span{-10.4, 10.408}, linearTicks{7}},
		{span{3, 30}, true, span{2, 50}, logTicks{7}},
	} {
		a := gplot.New().X
		scale(&a, c.s, c.log, 7)
		if _, isLog := a.Scale.(logScale); !isNear(a.Min, c.want.lo) || !isNear(a.Max, c.want.hi) || a.Tick.Marker != c.kind || isLog != (c.kind == gplot.Ticker(logTicks{7})) {
			t.Errorf("%v, log %v: %g to %g, %#v, %T", c.s, c.log, a.Min, a.Max, a.Tick.Marker, a.Scale)
		}
	}
	for _, c := range []struct{ v, want float64 }{{1, 0}, {10, 0.5}, {100, 1}, {0, -1}, {-5, -1}} {
		if got := (logScale{}).Normalize(1, 100, c.v); !isNear(got, c.want) {
			t.Errorf("%g is at %g of the axis from 1 to 100, want %g", c.v, got, c.want)
		}
	}
	for height, want := range map[vg.Length]int{0: 2, 122: 2, 159: 3, 234: 4, 235: 5} { // 45 px, and 38 px for each
		c := draw.Canvas{Rectangle: vg.Rectangle{Min: vg.Point{Y: 10}, Max: vg.Point{Y: 10 + height}}}
		if got := heightTicks(c); got != want {
			t.Errorf("%v px have %d labels, want %d", height, got, want)
		}
	}
}

// TestTextFits: a shortened text is the longest one that fits, without a blank before its ellipsis. Wrapped lines have as
// many words as fit.
func TestTextFits(t *testing.T) {
	k := subtitleInk()
	for _, c := range []struct {
		text, width, want string
	}{
		{"abc", "abc", "abc"},
		{"abcdefg", "abcd…", "abcd…"},
		{"ab cd", "ab …", "ab…"},
		{"WWW", "i", "…"},
		{"", "", ""},
	} {
		if got := k.fit(c.text, k.width(c.width)); got != c.want {
			t.Errorf("%q in the width of %q: %q, want %q", c.text, c.width, got, c.want)
		}
	}
	for _, c := range []struct {
		text, width string
		want        []string
	}{
		{"aa bb cc", "aa bb", []string{"aa bb", "cc"}},
		{" aa\n\tbb  cc ", "aa bb cc", []string{"aa bb cc"}},
		{"aa WWWWWWWW cc", "WWWW…", []string{"aa", "WWWW…", "cc"}},
		{"WWWWWWWW", "WWWW…", []string{"WWWW…"}},
		{" ", "aa", nil},
	} {
		if got := k.wrap(c.text, k.width(c.width)); !slices.Equal(got, c.want) {
			t.Errorf("%q in the width of %q: %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if got := clean("\uFFFE\uFFFF\x7f|\u0085&"); got != "\uFFFD\uFFFD | &" {
		t.Errorf("%q", got)
	}
	if got, want := k.widest([]string{"a", "abc", "ab"}), k.width("abc")*slack; got != want {
		t.Errorf("the widest has %v px, want %v", got, want)
	}
}

// TestCoveragePeriods: a gap of more than a step ends a period, and the note of a row counts its times.
func TestCoveragePeriods(t *testing.T) {
	for _, c := range []struct {
		times []int64
		step  int64
		want  []Period
	}{
		{nil, 6, nil},
		{[]int64{5}, 6, []Period{{5, 5}}},
		{[]int64{0, 6, 12, 19, 25}, 6, []Period{{0, 12}, {19, 25}}},
		{[]int64{0, 100}, 0, []Period{{0, 100}}},
		{[]int64{0, 7}, 6, []Period{{0, 0}, {7, 7}}},
	} {
		if got := PeriodsOf(c.times, c.step); !slices.Equal(got, c.want) {
			t.Errorf("%v by %d: %v, want %v", c.times, c.step, got, c.want)
		}
	}
	notes := []string{TimesNote(0, 0), TimesNote(1, 0), TimesNote(2, 0), TimesNote(1, 1), TimesNote(60, 2)}
	if got := strings.Join(notes, "; "); got != "0 times; 1 time; 2 times; 1 time, 1 missing; 60 times, 2 missing" {
		t.Error(got)
	}
}

// TestRanges: a range is a longest sequence of indices that fulfill a condition.
func TestRanges(t *testing.T) {
	for text, want := range map[string][][2]int{
		"": nil, ".": nil, "x": {{0, 1}}, "xx.x..xxx": {{0, 2}, {3, 4}, {6, 9}}, "..xx": {{2, 4}}, ".x.": {{1, 2}},
	} {
		if got := ranges(len(text), func(i int) bool { return text[i] == 'x' }); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
