package measure_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/measure"
)

// noisy are samples of a law with lognormal noise.
func noisy(r *rand.Rand, xs []float64, n int, sd float64, law func(float64) float64) [][]float64 {
	out := make([][]float64, len(xs))
	for i, x := range xs {
		for range n {
			out[i] = append(out[i], law(x)*math.Exp(sd*r.NormFloat64()))
		}
	}
	return out
}

func TestGrowthIsFound(t *testing.T) {
	sizes := []float64{1, 2, 4, 8, 16}
	for _, want := range []float64{0, 0.5, 1, 2} {
		law := func(n float64) float64 { return 3 * math.Pow(n, want) }
		g, err := measure.FitGrowth(sizes, noisy(rand.New(rand.NewPCG(1, 2)), sizes, 11, 0, law), 1)
		if err != nil || math.Abs(g.Exponent.Value-want) > 1e-9 || math.Abs(g.Factor-3) > 1e-9 {
			t.Errorf("exponent %v: %+v, %v", want, g, err)
		}
		if at := g.At(32); math.Abs(at.Value/(3*math.Pow(32, want))-1) > 1e-9 {
			t.Errorf("exponent %v: the prediction for 32 is %+v", want, at)
		}
	}
}

// TestGrowthIntervals: of many noisy studies nearly all intervals contain the true value.
func TestGrowthIntervals(t *testing.T) {
	sizes := []float64{1, 2, 4, 8, 16}
	const rounds = 200
	covered, predicted := 0, 0
	for i := range rounds {
		r := rand.New(rand.NewPCG(uint64(i), 9))
		shift := make(map[float64]float64) // a deviation of each size that all its repetitions share
		for _, n := range append(sizes, 64) {
			shift[n] = math.Exp(0.05 * r.NormFloat64())
		}
		law := func(n float64) float64 { return 5 * math.Pow(n, 0.7) * shift[n] }
		g, err := measure.FitGrowth(sizes, noisy(r, sizes, 9, 0.1, law), uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		if g.Exponent.Low <= 0.7 && 0.7 <= g.Exponent.High {
			covered++
		}
		if e := g.At(64); e.Low <= law(64) && law(64) <= e.High {
			predicted++
		}
	}
	if covered < 180 || predicted < 180 {
		t.Errorf("of %d intervals %d contain the exponent and %d the prediction", rounds, covered, predicted)
	}
}

func TestGrowthRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []float64
		times [][]float64
	}{
		"no size":         {nil, nil},
		"a size of 0":     {[]float64{0, 1, 2}, [][]float64{{1}, {1}, {1}}},
		"one size":        {[]float64{1}, [][]float64{{1}}},
		"equal sizes":     {[]float64{2, 2}, [][]float64{{1}, {1}}},
		"no times":        {[]float64{1, 2}, [][]float64{{1}, {}}},
		"a time of 0":     {[]float64{1, 2}, [][]float64{{1}, {0}}},
		"a negative size": {[]float64{-1, 2}, [][]float64{{1}, {1}}},
	} {
		if _, err := measure.FitGrowth(c.sizes, c.times, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	six := []float64{1, 1.1, 0.9, 1, 1.05, 0.95}
	g, err := measure.FitGrowth([]float64{1, 4}, [][]float64{six, {4, 4.1, 3.9, 4, 4.05, 3.95}}, 1)
	if err != nil || g.Scatter != 0 || !(g.Exponent.Low < g.Exponent.High) {
		t.Errorf("two sizes: %+v, %v", g, err)
	}
}

// TestTooFewRepetitions: a bootstrap of fewer than six repetitions states no interval. Three sizes have one by the
// scatter about the line, also with one repetition each.
func TestTooFewRepetitions(t *testing.T) {
	values := func(center float64, n int) (out []float64) {
		for i := range n {
			out = append(out, center*(1+float64(i)/100))
		}
		return out
	}
	has := func(e measure.Estimate) bool { return !math.IsNaN(e.Low) && !math.IsNaN(e.High) }
	for _, c := range []struct {
		sizes []float64
		reps  [4]int
		known bool
	}{
		{[]float64{1, 4}, [4]int{1, 1}, false},
		{[]float64{1, 4}, [4]int{3, 3}, false},
		{[]float64{1, 4}, [4]int{11, 5}, false},
		{[]float64{1, 4}, [4]int{6, 6}, true},
		{[]float64{1, 4, 9}, [4]int{1, 1, 1}, true},
		{[]float64{1, 4, 8, 16}, [4]int{3, 3, 3, 3}, true},
	} {
		var samples [][]float64
		for i, n := range c.sizes {
			samples = append(samples, values(1+math.Sqrt(n), c.reps[i]))
		}
		g, err := measure.FitGrowth(c.sizes, samples, 1)
		at := g.At(64)
		if err != nil || has(g.Exponent) != c.known || has(at) != c.known || math.IsNaN(g.Exponent.Value) || math.IsNaN(at.Value) {
			t.Errorf("growth over %v, %v repetitions: %+v, %+v, %v", c.sizes, c.reps, g.Exponent, at, err)
		}
		if c.known && !(g.Exponent.Low < g.Exponent.High) {
			t.Errorf("growth over %v, %v repetitions: an interval of width 0: %+v", c.sizes, c.reps, g.Exponent)
		}
	}
	clients := []float64{1, 2, 4, 8}
	for reps, known := range map[int]bool{1: false, 5: false, 6: true} {
		var samples [][]float64
		for _, n := range clients {
			samples = append(samples, values(1000*n/(1+0.05*(n-1)), reps))
		}
		u, err := measure.FitUSL(clients, samples, 1)
		for _, e := range []measure.Estimate{u.Lambda, u.Sigma, u.Kappa} {
			if err != nil || has(e) != known || math.IsNaN(e.Value) {
				t.Errorf("scalability with %d repetitions: %+v, %v", reps, e, err)
			}
		}
	}
}

func TestUSLIsFound(t *testing.T) {
	clients := []float64{1, 2, 4, 8, 16, 32, 64}
	for _, want := range [][3]float64{{1000, 0, 0}, {1000, 0.05, 0}, {995.6, 0.026, 7e-5}, {40, 0, 0.01}} {
		law := func(n float64) float64 { return want[0] * n / (1 + want[1]*(n-1) + want[2]*n*(n-1)) }
		u, err := measure.FitUSL(clients, noisy(rand.New(rand.NewPCG(3, 4)), clients, 5, 0, law), 1)
		if err != nil || math.Abs(u.Lambda.Value/want[0]-1) > 1e-6 || math.Abs(u.Sigma.Value-want[1]) > 1e-6 || math.Abs(u.Kappa.Value-want[2]) > 1e-8 || u.Error > 1e-6 {
			t.Errorf("%v: %+v, %v", want, u, err)
		}
		if peak := math.Sqrt((1 - want[1]) / want[2]); want[2] > 0 && math.Abs(u.Peak()/peak-1) > 1e-3 {
			t.Errorf("%v: peak at %v, want %v", want, u.Peak(), peak)
		}
	}
}

func TestUSLWithNoise(t *testing.T) {
	clients := []float64{1, 2, 4, 8, 16, 32}
	covered := 0
	for i := range 60 {
		law := func(n float64) float64 { return 500 * n / (1 + 0.04*(n-1) + 0.001*n*(n-1)) }
		u, err := measure.FitUSL(clients, noisy(rand.New(rand.NewPCG(uint64(i), 5)), clients, 9, 0.05, law), uint64(i))
		if err != nil || u.Sigma.Value < 0 || u.Kappa.Value < 0 {
			t.Fatalf("%+v, %v", u, err)
		}
		if u.Sigma.Low <= 0.04 && 0.04 <= u.Sigma.High && u.Kappa.Low <= 0.001 && 0.001 <= u.Kappa.High {
			covered++
		}
	}
	if covered < 48 {
		t.Errorf("only %d of 60 pairs of intervals contain the true values", covered)
	}
	if _, err := measure.FitUSL([]float64{1, 2, 2}, [][]float64{{1}, {2}, {2}}, 1); err == nil {
		t.Error("FitUSL accepts two numbers of clients")
	}
}

// TestEstimateInJSON: an end that is not known is null in JSON, and NaN when it is read.
func TestEstimateInJSON(t *testing.T) {
	for _, e := range []measure.Estimate{{1, 0.5, 2}, {1, math.NaN(), math.NaN()}, {1, 0, math.Inf(1)}} {
		text, err := json.Marshal(e)
		var got measure.Estimate
		if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil || got.Value != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		if math.IsNaN(got.High) != (math.IsNaN(e.High) || math.IsInf(e.High, 1)) || strings.Contains(string(text), "null") != math.IsNaN(got.High) {
			t.Errorf("%v is %s, read as %v", e, text, got)
		}
	}
}

// Three points by hand: ln size 0, 1, 2 and ln time 0, 1, 3, so that the line is
// 1.5·x − 1/6, the scatter √(1/6) with one degree of freedom, and t = 12.7062.
func TestGrowthByHand(t *testing.T) {
	g, err := measure.FitGrowth([]float64{1, math.E, math.E * math.E}, [][]float64{{1}, {math.E}, {math.Exp(3)}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	const student1 = 12.706204736
	near("exponent", g.Exponent.Value, 1.5)
	near("factor", g.Factor, math.Exp(-1./6))
	near("scatter", g.Scatter, math.Sqrt(1./6))
	half := student1 * math.Sqrt(1./6) / math.Sqrt2
	near("low exponent", g.Exponent.Low, 1.5-half)
	near("high exponent", g.Exponent.High, 1.5+half)
	at := g.At(math.Exp(3)) // beyond the sizes: the interval of a new median, 1 + 1/n + (x − mean)²/spread
	center := -1./6 + 4.5
	half = student1 * math.Sqrt(1./6) * math.Sqrt(1+1./3+4./2)
	near("time", math.Log(at.Value), center)
	near("low time", math.Log(at.Low), center-half)
	near("high time", math.Log(at.High), center+half)
}

// Four points by hand: ln size 0, 1, 2, 3 and ln time 0, 1, 0, 1, so that the line is 0.2·x + 0.2, the scatter √0.4 with
// two degrees of freedom, and t = 4.3027. Beyond the sizes, at x = 4, 1 + 1/n + (x − mean)²/spread is 2.5.
func TestGrowthOfFourSizesByHand(t *testing.T) {
	g, err := measure.FitGrowth([]float64{1, math.E, math.Exp(2), math.Exp(3)}, [][]float64{{1}, {math.E}, {1}, {math.E}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const student2 = 4.302652729696
	at, half := g.At(math.Exp(4)), student2*math.Sqrt(0.4)/math.Sqrt(5)
	for what, c := range map[string][2]float64{
		"exponent":      {g.Exponent.Value, 0.2},
		"low exponent":  {g.Exponent.Low, 0.2 - half},
		"high exponent": {g.Exponent.High, 0.2 + half},
		"scatter":       {g.Scatter, math.Sqrt(0.4)},
		"time":          {math.Log(at.Value), 1},
		"low time":      {math.Log(at.Low), 1 - student2},
		"high time":     {math.Log(at.High), 1 + student2},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
}

// If the medians are exactly on the line, only the noise of the repetitions gives an interval. Each size has the time n
// once, and n/r and n·r three times each. The median of a resample is n/r in 35 % of the cases, and n·r in another 35 %.
// The lowest exponent has n·r at the first size and n/r at the last size, the highest has the opposite. The interval of
// a predicted time has the same two lines as its ends.
func TestGrowthIntervalOfNoiseByHand(t *testing.T) {
	const r = 1.1
	noise := math.Log(r)
	for _, c := range []struct {
		sizes    []float64
		exponent float64 // half the interval
	}{
		{[]float64{1, math.E}, 2 * noise},
		{[]float64{1, math.E, math.Exp(2)}, noise},
	} {
		var times [][]float64
		for _, n := range c.sizes {
			times = append(times, []float64{n / r, n / r, n / r, n, n * r, n * r, n * r})
		}
		g, err := measure.FitGrowth(c.sizes, times, 1)
		if err != nil {
			t.Fatal(err)
		}
		near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9 }
		if e := g.Exponent; !near(e.Value, 1) || !near(e.Low, 1-c.exponent) || !near(e.High, 1+c.exponent) {
			t.Errorf("%d sizes: exponent %+v, want 1 ± %v", len(c.sizes), e, c.exponent)
		}
		if len(c.sizes) > 2 {
			continue
		}
		at := g.At(math.Exp(2)) // the line there is twice the second time minus the first time
		if !near(math.Log(at.Value), 2) || !near(math.Log(at.Low), 2-3*noise) || !near(math.Log(at.High), 2+3*noise) {
			t.Errorf("time %+v, want the logarithm 2 ± %v", at, 3*noise)
		}
	}
}
