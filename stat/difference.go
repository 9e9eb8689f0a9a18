package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/barograph/barograph/internal/lists"
)

// Operation combines the points of two curves to a derived curve. Its values are METviewer's names.
type Operation string

// The operations.
const (
	Diff        Operation = "DIFF"     // a − b
	Ratio       Operation = "RATIO"    // a/b
	Skill       Operation = "SS"       // skill score, (a − b)/a
	Significant Operation = "DIFF_SIG" // confidence that a − b is not due to chance, see Bootstrap.Significance
	Single      Operation = "SINGLE"   // a
	Equivalence Operation = "ETB"      // equivalence within bounds, see Equivalent
)

// Operations lists the names of all operations.
func Operations() []string {
	return []string{string(Diff), string(Ratio), string(Skill), string(Significant), string(Single), string(Equivalence)}
}

// Apply computes the operation (METcalcpy calc_derived_curve_value), for Significant and Equivalence the difference
// that they test. The result is NaN if a or b is NaN (except Single, which ignores b), if the divisor is 0, or if a
// ratio is not finite.
func (op Operation) Apply(a, b float64) float64 {
	switch op {
	case Single:
		return a
	case Ratio, Skill:
		divisor := b
		if op == Skill {
			a, divisor = a-b, a
		}
		if x, ok := div(a, divisor); ok {
			return x
		}
		return math.NaN()
	default:
		return a - b
	}
}

// Name returns METviewer's name of the derived curve of two curves: DIFF(a-b), SS(a and b).
func (op Operation) Name(a, b string) string {
	sign := "-"
	switch op {
	case Ratio:
		sign = "/"
	case Skill, Equivalence:
		sign = " and "
	default:
	}
	return string(op) + "(" + a + sign + b + ")"
}

// Significance is METviewer's DIFF_SIG, the confidence that the difference d of two series is not due to chance; 1 is
// certain. It is the share of the bootstrap differences d* with |d* − mean(d*)| ≤ |d|. The result is negative if the
// first series is farther from the perfect score. It is undefined if the statistic has no perfect score (FBAR). If
// PerfectScore does not know the statistic (FE), the result is positive, as METcalcpy's.
func (b Bootstrap) Significance(one, other Series) (share float64, ok bool, err error) {
	perfect, known := one.Stat.PerfectScore()
	if known && math.IsNaN(perfect) {
		return 0, false, nil
	}
	var iv Interval
	replicates, _, err := b.resample(func(v []float64) float64 { return v[0] - v[1] }, &iv, []Series{one, other})
	if err != nil || replicates == nil {
		return 0, false, err
	}
	mean, _ := weightedMean(replicates, nil)
	within := lists.Filter(replicates, func(d float64) bool { return math.Abs(d-mean) <= math.Abs(iv.Value) })
	share = float64(len(within)) / float64(len(replicates))
	if known {
		a, _, _ := Summarize(Overall, one.Stat, one.Type, one.Cols)
		if math.Abs(a-perfect) > math.Abs(a-iv.Value-perfect) {
			share = -share
		}
	}
	return share, true, nil
}

// perfectScores are the scores of a perfect forecast, NaN for statistics without one (METcalcpy
// perfect_score_adjustment, and others). The table omits ODDS and LODDS, for which METcalcpy wrongly has 0, and has 0
// for BIAS of VL1L2, for which METcalcpy has 1. Names are those of BareName.
var perfectScores = []struct { //nolint:gochecknoglobals // a constant table
	score float64
	names string
}{
	{math.NaN(), `BASER FMEAN FBAR FSTDEV OBAR OSTDEV RESOLUTION UNCERTAINTY UFSS F_RATE O_RATE UFBAR VFBAR UOBAR VOBAR
		FVAR OVAR TOTAL`},
	{0, `POFD FAR ESTDEV MAE MSE BCMSE BCRMSE RMSE ME ME2 E10 E25 E50 E75 E90 IQR EIQR MAD RMSVE MSVE SPEED_ERR BIAS BRIER
		RELIABILITY FBS CRPS MAE_OERR ME_GE_OBS ME_LT_OBS RPS`},
	{1, `ACC FBIAS PODY PODN CSI GSS HK HSS HSS_EC GER ORSS EDS SEDS EDI SEDI BAGSS PR_CORR SP_CORR KT_CORR MBIAS
		ANOM_CORR ANOM_CORR_UNCNTR BSS BSS_SMPL FSS AFSS ROC_AUC BIAS_RATIO CRPSS CRPSS_EMP RPSS MSESS VCNT_ANOM_CORR
		VCNT_ANOM_CORR_UNCNTR`},
}

// PerfectScore returns the score of a perfect forecast, NaN if the statistic has none. ok is false if perfectScores
// lacks the statistic.
func (s *Stat) PerfectScore() (score float64, ok bool) {
	for _, p := range perfectScores {
		if slices.Contains(columns(p.names), BareName(s.LineType, s.Name)) {
			return p.score, true
		}
	}
	return 0, false
}

// MeanDifferenceConfidence is the confidence, by Student's t-test, that the mean of the cases' differences is not zero;
// 1 is certain. It is 0 for fewer than two cases, or without spread (see meanAndDeviation).
func MeanDifferenceConfidence(differences []float64) float64 {
	differences = slices.DeleteFunc(slices.Clone(differences), math.IsNaN)
	mean, sd := meanAndDeviation(differences)
	n := float64(len(differences))
	if n < 2 || sd == 0 {
		return 0
	}
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}
	return 1 - 2*t.Survival(math.Abs(mean)/(sd/math.Sqrt(n)))
}

// EquivalenceTest is the paired test of equivalence of two curves at one point (METcalcpy tost_paired; Schuirmann
// 1987).
type EquivalenceTest struct {
	Difference float64    // the mean of the cases' differences
	N          int        // number of cases
	Bounds     [2]float64 // differences within them are irrelevant, in the unit of the statistic
	Narrow     [2]float64 // 90 % interval: the curves are equivalent if it is within the bounds
	Wide       [2]float64 // 95 % interval: the curves are different if 0 is outside
}

// EquivalenceBound is METviewer's bound, see Equivalent.
const EquivalenceBound = 0.001

// Equivalent tests whether the statistics of two curves, which must have the same cases in the same order, are equal
// within the bounds low and high. The unit of the bounds is the standard deviation of the difference. It returns false
// for fewer than two cases and for differences without spread.
func Equivalent(a, b []float64, low, high float64) (e EquivalenceTest, ok bool) {
	var d []float64
	for i := range min(len(a), len(b)) {
		if !math.IsNaN(a[i] - b[i]) {
			d = append(d, a[i]-b[i])
		}
	}
	e.N = len(d)
	mean, sd := meanAndDeviation(d)
	if e.N < 2 || sd == 0 {
		return e, false
	}
	e.Difference, e.Bounds = mean, [2]float64{low * sd, high * sd}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(e.N - 1)}
	interval := func(p float64) [2]float64 {
		half := student.Quantile(p) * sd / math.Sqrt(float64(e.N))
		return [2]float64{mean - half, mean + half}
	}
	e.Narrow, e.Wide = interval(0.95), interval(0.975)
	return e, true
}

// Outcome describes the result of both tests.
func (e *EquivalenceTest) Outcome() string {
	different, equal := "not different", "not equivalent"
	if e.Wide[0] > 0 || e.Wide[1] < 0 {
		different = "different"
	}
	if e.Narrow[0] > e.Bounds[0] && e.Narrow[1] < e.Bounds[1] {
		equal = "equivalent"
	}
	return different + " and " + equal
}

// meanAndDeviation returns the mean of values and their standard deviation, with divisor n−1. A deviation of the size
// of rounding errors is 0: three values 0.1 have the mean 0.10000000000000002.
func meanAndDeviation(values []float64) (mean, sd float64) {
	mean, _ = weightedMean(values, nil)
	largest := 0.0
	for _, v := range values {
		sd, largest = sd+(v-mean)*(v-mean), max(largest, math.Abs(v))
	}
	sd = math.Sqrt(sd / max(1, float64(len(values)-1)))
	if sd <= 1e-12*largest {
		sd = 0
	}
	return mean, sd
}

// StandardError is the standard error of the mean of statistics that follow each other in time, of their median for
// MedianOfStats, and of their sum for SumOfStats (METcalcpy compute_std_err_from_mean, …_median and …_sum). An
// autocorrelation from 0.3 to less than 0.99 means that there are fewer independent values, and inflates the standard
// error. That of a median is only inflated if inflateMedian is set, which is METviewer's variance_inflation_factor. The
// result is 0 for two values or fewer and without spread. It is NaN if the autocorrelation is used and is beyond ±1;
// METplotpy then draws no interval.
func StandardError(m SummaryMethod, values []float64, inflateMedian bool) float64 {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	rootN := math.Sqrt(float64(len(values)))
	mean, sd := meanAndDeviation(values)
	if len(values) <= 2 || sd == 0 {
		return 0
	}
	factor := 1.0
	if inflateMedian || m != MedianOfStats {
		switch r := autocorrelation(values, mean); {
		case math.Abs(r) > 1:
			return math.NaN()
		case r >= 0.3 && r < 0.99:
			factor = math.Sqrt((1 + r) / (1 - r))
		}
	}
	if m == MedianOfStats {
		sorted := slices.Sorted(slices.Values(values))
		return factor * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) * math.Sqrt(math.Pi/2) / (1.349 * rootN)
	}
	if m == SumOfStats {
		factor *= float64(len(values))
	}
	return factor * sd / rootN
}

// autocorrelation is METcalcpy's estimate of the autocorrelation of successive values (autocor_coef).
func autocorrelation(values []float64, mean float64) float64 {
	var sx, sy, sxx, sxy float64
	for i, v := range values[:len(values)-1] {
		x, y := v-mean, values[i+1]-mean
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(values) - 1)
	return sx*sy/(sx-n*sxx) + sxy/(sxx-sx*sx/n)
}

// HalfWidth is half the width of METviewer's plot_ci std interval around a value with the standard error se: z'·se with
// z' = (z + z/√2)/2. With this width, two values differ if their intervals do not touch.
func HalfWidth(confidence, se float64) float64 {
	z := -normalQuantile((1 - confidence) / 2)
	return (z + z/math.Sqrt2) / 2 * se
}
