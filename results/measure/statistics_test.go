package measure

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// TestMarks: a mark has one more star below 0.05, 0.01 and 0.001. A p-value at a limit does not reach it.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		p, least float64
		together int
		want     string
	}{
		{0.0009, 0, 1, "***"},
		{0.001, 0, 1, "**"},
		{0.0099, 0, 1, "**"},
		{0.01, 0, 1, "*"},
		{0.049, 0.04, 1, "*"},
		{0.05, 0.04, 1, "~"},
		{1, 0.04, 0, "~"},
		{1, 0.05, 0, "?"},
		{1, 0.02, 2, "~"},
		{1, 0.02, 3, "?"},
		{0.04, 0.02, 3, "*"}, // it is significant, although the product is not
		{math.NaN(), 1, 0, "?"},
	} {
		if got := (Comparison{PHolm: c.p, LeastP: c.least, ComparedTogether: c.together}).Mark(); got != c.want {
			t.Errorf("p = %g, at least %g, of %d: %s, want %s", c.p, c.least, c.together, got, c.want)
		}
	}
	text := Comparison{Ratio: 1.8512, Lo: 1.8012, Hi: 1.9101, PHolm: 0.000213, LeastP: 0.0001}.String()
	if want := "1.85x [1.8, 1.91] p=0.00021 ***"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// TestIntervalOfRatios: from five values on both sides a ratio has an interval. Values that are not finite do not count.
func TestIntervalOfRatios(t *testing.T) {
	values := func(n int) []float64 { return append(times(uint64(n), n, 10), math.NaN(), math.Inf(1)) }
	for _, c := range []struct {
		a, b  int
		known bool
	}{{5, 5, true}, {4, 5, false}, {5, 4, false}, {4, 4, false}, {0, 5, false}} {
		got := Compare(values(c.a), values(c.b), 1)
		if got.NA != c.a || got.NB != c.b || math.IsNaN(got.Lo) == c.known || math.IsNaN(got.Hi) == c.known || got.LeastP != leastP(c.a, c.b) || got.ComparedTogether != 0 {
			t.Errorf("%d and %d values: %+v", c.a, c.b, got)
		}
	}
	// medians 6 and 2 of odd and even numbers of values
	if got := Compare([]float64{5, 6, 7}, []float64{1, 3}, 1).Ratio; got != 3 {
		t.Errorf("ratio %g, want 3", got)
	}
	if got := Compare([]float64{1}, nil, 1); !math.IsNaN(got.Ratio) || got.LeastP != 1 {
		t.Errorf("one value and none: %+v", got)
	}
}

// TestBaseIsNotTested: the base has the ratio 1 and does not count in the correction. Each other sample is compared with
// it, in this direction.
func TestBaseIsNotTested(t *testing.T) {
	samples := [][]float64{times(1, 8, 20), times(2, 7, 10), times(3, 9, 40)}
	got := CompareWithBase(samples, 1, 1)
	want := Comparison{NA: 7, NB: 7, Ratio: 1, Lo: 1, Hi: 1, P: 1, PHolm: 1, LeastP: leastP(7, 7)}
	if got[1] != want {
		t.Errorf("base: %+v, want %+v", got[1], want)
	}
	for i, ratio := range map[int]float64{0: 2, 2: 4} {
		c := got[i]
		if c.NA != len(samples[i]) || c.NB != 7 || c.ComparedTogether != 2 || math.Abs(c.Ratio/ratio-1) > 0.2 || c.P != MannWhitney(samples[i], samples[1]) {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if holm := Holm([]float64{got[0].P, got[2].P}); got[0].PHolm != holm[0] || got[2].PHolm != holm[1] {
		t.Errorf("%+v, want %v", got, holm)
	}
	// a comparison without a test does not count
	none, one := Comparison{P: math.NaN()}, Comparison{P: 0.03}
	if CorrectTogether([]*Comparison{&none, &one}); one.ComparedTogether != 1 || one.PHolm != 0.03 || !math.IsNaN(none.PHolm) {
		t.Errorf("%+v, %+v", none, one)
	}
}

// TestLetterNames: letters are a … z, A … Z, then numbers in parentheses, which no other letter contains.
func TestLetterNames(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "A", 51: "Z", 52: "(52)", 100: "(100)"} {
		if got := letter(i); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

// TestLettersAreFew: no letter is superfluous: the samples of one letter are never all of another letter's.
func TestLettersAreFew(t *testing.T) {
	differ := func(i, j int) bool { return j-i > 1 } // each sample is like its neighbors only
	if got, want := Letters(5, differ), []string{"a", "ab", "bc", "cd", "d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	equal := func(i, j int) bool { return i == 0 && j == 3 || i == 1 && j == 2 }
	if got, want := Letters(4, equal), []string{"ab", "ac", "bd", "cd"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%q, want %q in any order", got, want)
	}
	if got := absorb([][]bool{{true, false}, {true, true}, {true, true}, {false, false}}); len(got) != 1 || !slices.Equal(got[0], []bool{true, true}) {
		t.Errorf("%v", got)
	}
}

// TestMedianEstimate: the interval of six values is from the smallest to the largest one, and fewer have none.
func TestMedianEstimate(t *testing.T) {
	if got := MedianEstimate([]float64{6, 1, 5, 2, 4, 3, math.Inf(1)}); got != (Estimate{3.5, 1, 6}) {
		t.Errorf("%+v", got)
	}
	if got := MedianEstimate([]float64{3, 1, 2}); got.Value != 2 || !math.IsNaN(got.Low) || !math.IsNaN(got.High) {
		t.Errorf("%+v", got)
	}
	if got := MedianEstimate(nil); !math.IsNaN(got.Value) {
		t.Errorf("%+v", got)
	}
	if e := Mean([]float64{1, 3}); e.Value != 2 || math.Abs(e.High-2-12.7062047364) > 1e-6 || math.Abs(2-e.Low-12.7062047364) > 1e-6 { // t · √2 / √2
		t.Errorf("the mean of two values: %+v", e)
	}
}

// TestValidUSL: the law is valid if more than three numbers of clients were measured, with an error of at most a tenth.
func TestValidUSL(t *testing.T) {
	for _, c := range []struct {
		u    USL
		want bool
	}{{USL{clients: 4, Error: 0.1}, true}, {USL{clients: 3}, false}, {USL{clients: 4, Error: 0.11}, false}, {USL{}, false}} {
		if got := c.u.IsValid(); got != c.want {
			t.Errorf("%+v: %t", c.u, got)
		}
	}
}

// TestUSLRefuses: three numbers of clients are enough for a fit and not for a valid law. A value that is not above 0, or
// fewer than one client, is an error.
func TestUSLRefuses(t *testing.T) {
	one := [][]float64{{10}, {18}, {30}}
	if u, err := FitUSL([]float64{1, 2, 4}, one, 1); err != nil || u.IsValid() || u.clients != 3 {
		t.Errorf("%+v, %v", u, err)
	}
	for name, c := range map[string]struct {
		clients     []float64
		throughputs [][]float64
		says        string
	}{
		"less than one client":   {[]float64{0.5, 2, 4}, one, "below 1"},
		"no throughput":          {[]float64{1, 2, 4}, [][]float64{{10}, {}, {30}}, "has no throughput"},
		"a throughput of 0":      {[]float64{1, 2, 4}, [][]float64{{10}, {0}, {30}}, "not above 0"},
		"the same number twice":  {[]float64{1, 4, 4}, one, "need three numbers of clients"},
		"two numbers of clients": {[]float64{1, 4}, one[:2], "need three numbers of clients"},
	} {
		if _, err := FitUSL(c.clients, c.throughputs, 1); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUSLByHand: a throughput of 10·n/(1+0.1·(n−1)+0.02·n·(n−1)), for which one of four values is wrong by a factor, has
// the root mean square of the relative errors as its error.
func TestUSLByHand(t *testing.T) {
	u := USL{Lambda: exactEstimate(10), Sigma: exactEstimate(0.1), Kappa: exactEstimate(0.02)}
	for n, want := range map[float64]float64{1: 10, 2: 20 / 1.14, 5: 50 / 1.8} {
		if got := u.At(n); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%g clients: %g, want %g", n, got, want)
		}
	}
	p := [3]float64{10, 0.1, 0.02}
	// n/X is 1.1 and 0.9 times the law's: the relative errors are −0.1/1.1 and 0.1/0.9 of X, of n/X their inverse
	if got := relativeError(p, []float64{1, 2}, []float64{11, 0.9 * 20 / 1.14}); math.Abs(got-0.02) > 1e-12 {
		t.Errorf("%g, want 0.1² + 0.1²", got)
	}
	fit, err := FitUSL([]float64{1, 2, 3, 4}, [][]float64{{12}, {16}, {36}, {32}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for n, x := range map[float64]float64{1: 12, 2: 16, 3: 36, 4: 32} {
		sum += (fit.At(n)/x - 1) * (fit.At(n)/x - 1)
	}
	if want := math.Sqrt(sum / 4); math.Abs(fit.Error-want) > 1e-9 || fit.Error < 0.05 {
		t.Errorf("error %g, want %g", fit.Error, want)
	}
}

// TestHistogramCounts: a duration counts n times; Reset removes all; an encoded histogram has the same counts.
func TestHistogramCounts(t *testing.T) {
	h := NewHistogram()
	h.RecordN(time.Millisecond, 3)
	h.RecordN(time.Second, 1)
	if h.Count() != 4 || h.Min() > time.Millisecond || !within3(h.At(75), time.Millisecond) || !within3(h.At(99), time.Second) || !within3(h.Mean(), 250750*time.Microsecond) {
		t.Errorf("%d: %s, %s, %s, %s", h.Count(), h.Min(), h.At(75), h.At(99), h.Mean())
	}
	if size := h.hdr.ByteSize(); size < 240<<10 || size > 300<<10 { // three digits up to an hour
		t.Errorf("%d bytes", size)
	}
	text, err := h.Pack()
	if err != nil {
		t.Fatal(err)
	}
	got, err := text.Histogram()
	if err != nil || !slices.Equal(got.Buckets(), h.Buckets()) {
		t.Errorf("%v, %v; want %v", got, err, h.Buckets())
	}
	if _, err := EncodedHistogram("no histogram").Histogram(); err == nil || !strings.Contains(err.Error(), "read a histogram") {
		t.Errorf("%v", err)
	}
	if h.Reset(); h.Count() != 0 || h.Buckets() != nil {
		t.Errorf("%d after Reset", h.Count())
	}
}

// shortHistogram is a histogram as another program may write it, with a range that ends at about a millisecond.
func shortHistogram() *Histogram {
	return &Histogram{hdrhistogram.New(1, int64(time.Millisecond), SignificantDigits)}
}

// TestShortHistograms: a duration beyond the range counts as its end. A histogram with longer durations is not merged.
func TestShortHistograms(t *testing.T) {
	h := shortHistogram()
	h.RecordN(time.Minute, 2)
	if end := time.Duration(h.hdr.HighestTrackableValue()); h.Count() != 2 || !within3(h.Max(), end) {
		t.Errorf("%d, %s; want 2 of %s", h.Count(), h.Max(), end)
	}
	long := NewHistogram()
	if long.Record(time.Microsecond); shortHistogram().Merge(long) != nil {
		t.Error("a duration within the range is not merged")
	}
	long.Record(time.Minute)
	if err := shortHistogram().Merge(long); err == nil || !strings.Contains(err.Error(), "1 values do not fit") {
		t.Errorf("%v", err)
	}
}

// fullWriter fails after n bytes.
type fullWriter struct{ n int }

var errFull = errors.New("the disk is full")

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestLogOnAFullDisk: each part of a log reports that it could not be written.
func TestLogOnAFullDisk(t *testing.T) {
	var complete bytes.Buffer
	log, err := NewLogWriter(&complete, time.Unix(1, 0), "one\r\ntwo")
	if err != nil {
		t.Fatal(err)
	}
	header := complete.Len()
	if text := complete.String(); !strings.HasPrefix(text, "#one\n#two\n#") {
		t.Errorf("%q", text)
	}
	if err := log.Write(Interval{Histogram: NewHistogram()}); err != nil {
		t.Fatal(err)
	}
	for n := range complete.Len() {
		log, err := NewLogWriter(&fullWriter{n}, time.Unix(1, 0), "one\r\ntwo")
		if (err != nil) != (n < header) {
			t.Fatalf("after %d bytes of a header of %d: %v", n, header, err)
		}
		if err == nil {
			err = log.Write(Interval{Histogram: NewHistogram()})
		}
		if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write histogram log: ") {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}
