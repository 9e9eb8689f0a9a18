package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Operation combines the points of two curves to a derived curve. Its values are METviewer's names.
type Operation string

// The operations.
const (
	Diff        Operation = "DIFF"     // a − b
	Ratio       Operation = "RATIO"    // a/b
	Skill       Operation = "SS"       // (a − b)/a
	Significant Operation = "DIFF_SIG" // confidence that a − b is not due to chance, see Bootstrap.Significance
	Single      Operation = "SINGLE"   // a
	Equivalence Operation = "ETB"      // see Equivalent
)

// Operations lists the names of all operations.
func Operations() []string {
	return []string{string(Diff), string(Ratio), string(Skill), string(Significant), string(Single), string(Equivalence)}
}

// Apply computes the operation; NaN if a or b is NaN or the operation divides by zero (METcalcpy
// calc_derived_curve_value).
func (op Operation) Apply(a, b float64) float64 {
	switch op {
	case Single:
		return a
	case Ratio, Skill:
		over := b
		if op == Skill {
			a, over = a-b, a
		}
		if over == 0 {
			return math.NaN()
		}
		return a / over
	default:
		return a - b
	}
}

// Name is METviewer's name of the derived curve of two curves: DIFF(a-b), SS(a and b).
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

// Significance is METviewer's DIFF_SIG: the share of a difference's replicates whose distance from
// their mean is at most the absolute difference; 1 is certain. It is negative if the first series
// is the worse one, and undefined for statistics without a perfect score.
func (b Bootstrap) Significance(one, other Series) (share float64, ok bool, err error) {
	score, known := one.Stat.PerfectScore()
	if known && math.IsNaN(score) {
		return 0, false, nil
	}
	var iv Interval
	replicates, _, err := b.resample(func(v []float64) float64 { return v[0] - v[1] }, &iv, []Series{one, other})
	if err != nil || replicates == nil {
		return 0, false, err
	}
	mean, _ := weightedMean(replicates, nil)
	within := 0
	for _, d := range replicates {
		if math.Abs(d-mean) <= math.Abs(iv.Value) {
			within++
		}
	}
	share = float64(within) / float64(len(replicates))
	if known {
		a, _, _ := Summarize(Overall, one.Stat, one.Type, one.Cols)
		if math.Abs(a-score) > math.Abs(a-iv.Value-score) {
			share = -share
		}
	}
	return share, true, nil
}

// perfectScores are the scores of a perfect forecast by the names of statistics, NaN if there is
// none (METcalcpy perfect_score_adjustment). This table corrects ODDS and LODDS, for which
// METcalcpy has 0, and BIAS of VL1L2, for which it has 1.
var perfectScores = []struct { //nolint:gochecknoglobals // a constant table
	score float64
	names string
}{
	{math.NaN(), "BASER FMEAN FBAR FSTDEV OBAR OSTDEV RESOLUTION UNCERTAINTY UFSS F_RATE O_RATE UFBAR VFBAR UOBAR VOBAR FVAR OVAR TOTAL"},
	{0, "POFD FAR ESTDEV MAE MSE BCMSE BCRMSE RMSE ME ME2 E10 E25 E50 E75 E90 EIQR MAD RMSVE MSVE SPEED_ERR BIAS BRIER RELIABILITY FBS CRPS MAE_OERR ME_GE_OBS ME_LT_OBS RPS"},
	{1, `ACC FBIAS PODY PODN CSI GSS HK HSS HSS_EC GER ORSS EDS SEDS EDI SEDI BAGSS PR_CORR SP_CORR KT_CORR MBIAS ANOM_CORR ANOM_CORR_UNCNTR
		BSS BSS_SMPL FSS AFSS ROC_AUC BIAS_RATIO CRPSS CRPSS_EMP RPSS MSESS VCNT_ANOM_CORR VCNT_ANOM_CORR_UNCNTR`},
}

// PerfectScore is the score of a perfect forecast, NaN if there is none; false if it is unknown.
func (s *Stat) PerfectScore() (score float64, ok bool) {
	for _, p := range perfectScores {
		if slices.Contains(columns(p.names), s.Name) {
			return p.score, true
		}
	}
	return 0, false
}

// MeanDifferenceConfidence is the confidence, by Student's t-test, that the mean of the cases'
// differences is not zero; 1 is certain. It is 0 for fewer than two cases, or without spread.
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

// EquivalenceTest is the paired test of equivalence of two curves at one point (METcalcpy
// tost_paired; Schuirmann 1987).
type EquivalenceTest struct {
	Difference float64
	N          int
	Bounds     [2]float64 // differences within them are irrelevant
	Narrow     [2]float64 // 90 % interval: the curves are equivalent if it is within the bounds
	Wide       [2]float64 // 95 % interval: the curves are different if 0 is outside
}

// EquivalenceBound is METviewer's bound, in standard deviations of the difference.
const EquivalenceBound = 0.001

// Equivalent tests whether the statistics of two curves, which must have the same cases in the same
// order, are equal within two bounds, in standard deviations of the difference. It returns false
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
	around := func(p float64) [2]float64 {
		half := student.Quantile(p) * sd / math.Sqrt(float64(e.N))
		return [2]float64{mean - half, mean + half}
	}
	e.Narrow, e.Wide = around(0.95), around(0.975)
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

// meanAndDeviation is the mean and the standard deviation, by n−1, of values.
func meanAndDeviation(values []float64) (mean, sd float64) {
	mean, _ = weightedMean(values, nil)
	for _, v := range values {
		sd += (v - mean) * (v - mean)
	}
	if len(values) < 2 {
		return mean, 0
	}
	return mean, math.Sqrt(sd / float64(len(values)-1))
}

// StandardError is the standard error of the mean or the median of statistics that follow each
// other in time (METcalcpy compute_std_err_from_mean and …_median). If the first autocorrelation is
// 0.3 or more, the effective number of values is smaller, unless inflate is false, which METviewer
// applies only to medians. It is 0 for two values or fewer, and NaN if the autocorrelation is
// invalid.
func StandardError(m SummaryMethod, values []float64, inflate bool) float64 {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := math.Sqrt(float64(len(values)))
	mean, sd := meanAndDeviation(values)
	if len(values) <= 2 || sd == 0 {
		return 0
	}
	factor := 1.0
	if inflate || m != MedianOfStats {
		switch r := autocorrelation(values, mean); {
		case math.Abs(r) > 1:
			return math.NaN()
		case r >= 0.3 && r < 0.99:
			factor = math.Sqrt((1 + r) / (1 - r))
		}
	}
	if m == MedianOfStats {
		sorted := slices.Sorted(slices.Values(values))
		return factor * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) * math.Sqrt(math.Pi/2) / (1.349 * n)
	}
	return factor * sd / n
}

// autocorrelation is METcalcpy's estimate of the first autocorrelation (autocor_coef).
func autocorrelation(values []float64, mean float64) float64 {
	var sx, sy, sxx, sxy float64
	for i, v := range values[:len(values)-1] {
		x, y := v-mean, values[i+1]-mean
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(values) - 1)
	return sx*sy/(sx-n*sxx) + sxy/(sxx-sx*sx/n)
}

// HalfWidth is half the width of METviewer's plot_ci std interval around a value with this standard
// error: z'·se with z' = (z + z/√2)/2. With this width, two values differ if their intervals do not
// touch.
func HalfWidth(confidence, se float64) float64 {
	z := normalQuantile(1 - (1-confidence)/2)
	return (z + z/math.Sqrt2) / 2 * se
}
