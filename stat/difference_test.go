package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestOperations(t *testing.T) {
	for _, c := range []struct {
		op   Operation
		a, b float64
		want float64
		name string
	}{
		{Diff, 5, 2, 3, "DIFF(A-B)"},
		{Significant, 5, 2, 3, "DIFF_SIG(A-B)"},
		{Ratio, 5, 2, 2.5, "RATIO(A/B)"},
		{Ratio, 5, 0, math.NaN(), "RATIO(A/B)"},
		{Skill, 5, 2, 0.6, "SS(A and B)"},
		{Skill, 0, 2, math.NaN(), "SS(A and B)"},
		{Single, 5, 2, 5, "SINGLE(A-B)"},
		{Single, 5, math.NaN(), 5, "SINGLE(A-B)"},
		{Single, math.NaN(), 5, math.NaN(), "SINGLE(A-B)"},
		{Diff, 5, math.NaN(), math.NaN(), "DIFF(A-B)"},
		{Ratio, math.NaN(), 5, math.NaN(), "RATIO(A/B)"},
		{Skill, 5, math.NaN(), math.NaN(), "SS(A and B)"},
		{Equivalence, 5, 2, 3, "ETB(A and B)"},
	} {
		if got := c.op.Apply(c.a, c.b); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) || c.op.Name("A", "B") != c.name {
			t.Errorf("%s(%v, %v) = %v", c.op.Name("A", "B"), c.a, c.b, got)
		}
	}
}

// The errors of two models for the same cases are correlated: the interval of their difference is far
// narrower than the models' own intervals.
func TestDifferenceIsResampledTogether(t *testing.T) {
	lt, rmse := lineType(t, "SL1L2"), statOf(t, "SL1L2", "RMSE")
	one := columnsOf(rand.New(rand.NewPCG(41, 42)), 150)
	other := make([][]float64, len(one))
	for k, c := range one {
		other[k] = append(other[k], c...)
	}
	for i := range other[4] {
		other[4][i] += 0.5 // a larger mean square
	}
	a, b := Series{rmse, lt, one}, Series{rmse, lt, other}
	boot := Bootstrap{Seed: 3, Replicates: 500}
	ofOne, _, _ := boot.Interval(rmse, lt, one)
	d, ok, err := boot.Difference(Diff, a, b)
	if !ok || err != nil || d.Value >= 0 || d.High >= 0 || d.High-d.Low > (ofOne.High-ofOne.Low)/5 {
		t.Errorf("%+v, %v, %v; one of them %+v", d, ok, err, ofOne)
	}
	better, ok, err := boot.Significance(a, b)
	worse, _, _ := boot.Significance(b, a)
	if !ok || err != nil || better < 0.99 || worse != -better {
		t.Errorf("significance %v and %v, %v, %v", better, worse, ok, err)
	}
	if _, ok, _ := boot.Significance(Series{statOf(t, "SL1L2", "FBAR"), lt, one}, Series{statOf(t, "SL1L2", "FBAR"), lt, other}); ok {
		t.Error("FBAR has no perfect score")
	}
	for k := range other {
		other[k] = other[k][1:]
	}
	if _, _, err := boot.Difference(Diff, a, Series{rmse, lt, other}); err == nil {
		t.Error("series of different cases were compared")
	}
}

// Percentile, pivotal and BCa limits of one distribution: the pivotal ones mirror the percentiles. BCa's limits are
// beyond the percentiles on the side of the long tail for a skewed distribution, and near them for a symmetric one.
func TestKindsOfLimits(t *testing.T) {
	lt := lineType(t, "SL1L2")
	limits := func(k IntervalMethod, s *Stat, cols [][]float64) Interval {
		iv, ok, err := Bootstrap{Seed: 5, Replicates: 4000, Method: k, Block: 1}.Interval(s, lt, cols)
		if !ok || err != nil || iv.Low >= iv.Value || iv.Value >= iv.High {
			t.Fatalf("%+v, %v, %v", iv, ok, err)
		}
		return iv
	}
	cols := columnsOf(rand.New(rand.NewPCG(51, 52)), 30)
	me := statOf(t, "SL1L2", "ME")
	p, v, c := limits(Percentile, me, cols), limits(Pivotal, me, cols), limits(BCa, me, cols)
	if !near(v.Low, 2*p.Value-p.High, 1e-12) || !near(v.High, 2*p.Value-p.Low, 1e-12) {
		t.Errorf("pivotal %+v, percentile %+v", v, p)
	}
	if width := p.High - p.Low; math.Abs(c.Low-p.Low) > width/8 || math.Abs(c.High-p.High) > width/8 {
		t.Errorf("BCa %+v, percentile %+v", c, p)
	}
	// Mean squares of few, very unequal records: their mean is skew to the
	// right, and so is what BCa corrects for.
	r := rand.New(rand.NewPCG(61, 62))
	for i := range cols[4] {
		cols[0][i], cols[3][i], cols[5][i], cols[4][i] = 1, 0, 0, math.Exp(1.5*r.NormFloat64())
	}
	mse := statOf(t, "SL1L2", "MSE")
	if p, c := limits(Percentile, mse, cols), limits(BCa, mse, cols); c.Low <= p.Low || c.High <= p.High {
		t.Errorf("BCa %+v, percentile %+v", c, p)
	}
	// Replicates that are all equal have no limits.
	for k := range cols {
		for i := range cols[k] {
			cols[k][i] = 1
		}
	}
	if iv, ok, err := (Bootstrap{}).Interval(me, lt, cols); !ok || err != nil || !math.IsNaN(iv.Low) || !math.IsNaN(iv.High) {
		t.Errorf("%+v, %v, %v", iv, ok, err)
	}
}

// The interval of a statistic of repeating columns, or of means with other weights or exponents, contains its value and
// is the same on any number of cores.
func TestIntervalsOfRepeatingColumns(t *testing.T) {
	for _, a := range readAnswers(t) {
		if a.Case != "random" {
			continue
		}
		lt := lineType(t, a.Type)
		for _, name := range map[string][]string{"PCT": {"BRIER"}, "MCTC": {"HSS"}, "SSVAR": {"RMSE"}, "NBRCNT": {"FSS"}, "ECNT": {"SPREAD", "BIAS_RATIO"}}[a.Type] {
			one, ok, err := Bootstrap{Seed: 1, Workers: 1}.Interval(statOf(t, a.Type, name), lt, a.cols(lt))
			two, _, _ := Bootstrap{Seed: 1, Workers: 3}.Interval(statOf(t, a.Type, name), lt, a.cols(lt))
			if !ok || err != nil || one != two || one.Low > one.Value || one.High < one.Value {
				t.Errorf("%s %s: %+v, %+v, %v, %v", a.Type, name, one, two, ok, err)
			}
		}
	}
}

// The values of METcalcpy 2.1's compute_std_err_from_mean and …_median of one
// series without and one with autocorrelation, and of its tost_paired.
func TestStandardErrors(t *testing.T) {
	loose := []float64{1, 5, 2, 6, 3, 7, 1, 8}
	tight := []float64{1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 1, 2}
	for _, c := range []struct {
		m       SummaryMethod
		values  []float64
		inflate bool
		want    float64
	}{
		{MeanOfStats, loose, true, 0.9716977043151993},
		{SumOfStats, loose, true, 0.9716977043151993 * float64(len(loose))}, // METcalcpy's compute_std_err_from_sum
		{SumOfStats, tight, true, 1.1440833766116363 * float64(len(tight))},
		{MedianOfStats, loose, true, 1.4781397941206118},
		{MedianOfStats, loose, false, 1.4781397941206118},
		{MeanOfStats, tight, true, 1.1440833766116363},
		{MedianOfStats, tight, true, 1.6107519043290905},
		{MedianOfStats, tight, false, 0.6034480440163463},
	} {
		if got := StandardError(c.m, c.values, c.inflate); !near(got, c.want, 1e-9) {
			t.Errorf("%v of %v: %v, want %v", c.m, c.values, got, c.want)
		}
	}
	if se := StandardError(MeanOfStats, []float64{1, 2}, true); se != 0 {
		t.Errorf("of two values: %v", se)
	}
	// z = 1.96: (1.96 + 1.96/√2)/2
	if got := HalfWidth(0.95, 2); !near(got, 2*1.6729339, 1e-6) {
		t.Errorf("margin %v", got)
	}
	e, ok := Equivalent(tight, []float64{1.5, 2, 3.5, 4, 5, 5.5, 4, 3.5, 2, 1, 1.5, math.NaN()}, -EquivalenceBound, EquivalenceBound)
	if !ok || !near(e.Difference, -0.2272727, 1e-6) || !near(e.Narrow[0], -0.369967, 1e-6) || !near(e.Wide[1], -0.0518523, 1e-6) || e.Outcome() != "different and not equivalent" {
		t.Errorf("%+v, %v, %s", e, ok, e.Outcome())
	}
	if _, ok := Equivalent(tight, tight, -1, 1); ok {
		t.Error("curves without any difference have no test")
	}
}

// The test has two sides, and the sign of the mean does not matter.
func TestMeanDifferenceConfidence(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1, 2, 3}, 0.9258200997725514}, // t = 3.4641 with 2 degrees of freedom: √(12/14)
		{[]float64{-1, -2, -3}, 0.9258200997725514},
		{[]float64{-1, 0, 1}, 0},
		{[]float64{1, math.NaN(), 2, 3}, 0.9258200997725514},
		{[]float64{1}, 0},
		{[]float64{2, 2, 2}, 0},
	} {
		if got := MeanDifferenceConfidence(c.values); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// An autocorrelation from 0.3 to less than 0.99 inflates the standard error; values by hand.
func TestAutocorrelationThreshold(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		r, want float64
	}{
		{[]float64{9, 9, 1, 1, 2, 4, 6, 1}, 0.2883845608427709, 1.231107225224513},
		{[]float64{6, 6, 1, 1, 2, 3, 2, 3}, 0.32142857142857145, 0.9867543820659301},
		{[]float64{5, 6, 7, 6, 4, 5, 5, 5}, 0.29997927922396855, 0.3238992347717331},
		{[]float64{8, 6, 5, 4, 2, 5}, 0.3, 1.112697280528374},
		{[]float64{2, 2, 1, 4, 6, 7}, 0.9893790849673203, 13.533118603828873},
		{[]float64{1, 2, 3, 4, 5, 6, 7}, 0.9912087912087912, 0.816496580927726},
	} {
		mean, _ := meanAndDeviation(c.values)
		if r := autocorrelation(c.values, mean); math.Abs(r-c.r) > 1e-12 {
			t.Errorf("%v: autocorrelation %v, want %v", c.values, r, c.r)
		}
		if se := StandardError(MeanOfStats, c.values, true); math.Abs(se-c.want) > 1e-12 {
			t.Errorf("%v: standard error %v, want %v", c.values, se, c.want)
		}
	}
}
