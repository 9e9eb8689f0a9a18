package stat

import (
	"math"
	"strings"
)

// The sources that several statistics share.
const (
	fromSL1L2  = "METcalcpy util/sl1l2_statistics.py "
	fromSAL1L2 = "METcalcpy util/sal1l2_statistics.py "
	fromGRAD   = "METcalcpy util/grad_statistics.py calculate_"
	appendixC  = "; MET User's Guide appendix C, "
)

// scalarStats are computed from SL1L2 lines: means over the pairs of f, o, f·o,
// f², o² and |f−o|.
var scalarStats = []Stat{ //nolint:gochecknoglobals // a constant table
	{
		Name: "FBAR", LineType: "SL1L2", Needs: []string{"fbar"}, Unit: UnitSame, Func: first,
		Summary: "mean forecast", Source: fromSL1L2 + "calculate_fbar",
	},
	{
		Name: "OBAR", LineType: "SL1L2", Needs: []string{"obar"}, Unit: UnitSame, Func: first,
		Summary: "mean observation", Source: fromSL1L2 + "calculate_obar",
	},
	{
		Name: "ME", LineType: "SL1L2", Needs: []string{"fbar", "obar"}, Unit: UnitSame, Func: meanError,
		Summary: "mean error (bias)", Source: fromSL1L2 + "calculate_me" + appendixC + "mean error",
	},
	{
		Name: "ME2", LineType: "SL1L2", Needs: []string{"fbar", "obar"}, Unit: UnitSquared, Func: meanErrorSquared,
		Summary: "square of the mean error", Source: fromSL1L2 + "calculate_me2",
	},
	{
		Name: "MSE", LineType: "SL1L2", Needs: []string{"fobar", "ffbar", "oobar"}, Unit: UnitSquared, Func: meanSquaredError,
		Summary: "mean squared error", Source: fromSL1L2 + "calculate_mse" + appendixC + "mean squared error",
	},
	{
		Name: "RMSE", LineType: "SL1L2", Needs: []string{"fobar", "ffbar", "oobar"}, Unit: UnitSame, Func: rootMeanSquaredError,
		Summary: "root mean squared error", Source: fromSL1L2 + "calculate_rmse" + appendixC + "root mean squared error",
	},
	{
		Name: "BCMSE", LineType: "SL1L2", Needs: scalarSums, Unit: UnitSquared, Func: biasCorrectedMSE,
		Summary: "bias-corrected mean squared error", Source: fromSL1L2 + "calculate_bcmse",
	},
	{
		Name: "BCRMSE", LineType: "SL1L2", Needs: scalarSums, Unit: UnitSame, Func: biasCorrectedRMSE,
		Summary: "bias-corrected root mean squared error", Source: fromSL1L2 + "calculate_bcrmse",
	},
	{
		Name: "MAE", LineType: "SL1L2", Needs: []string{"mae"}, Unit: UnitSame, Func: first,
		Summary: "mean absolute error", Source: fromSL1L2 + "calculate_mae",
	},
	{
		Name: "MBIAS", LineType: "SL1L2", Needs: []string{"fbar", "obar"}, Unit: UnitOne, Func: multiplicativeBias,
		Summary: "multiplicative bias, FBAR/OBAR", Source: fromSL1L2 + "calculate_mbias",
	},
	{
		Name: "FE", LineType: "SL1L2", Needs: []string{"fbar", "obar"}, Unit: UnitOne, Func: fractionalError,
		Summary: "fractional error, (FBAR−OBAR)/FBAR", Source: fromSL1L2 + "calculate_fe",
	},
	{
		Name: "SI", LineType: "SL1L2", Needs: []string{"fobar", "ffbar", "oobar", "obar"}, Unit: UnitOne, Func: scatterIndex,
		Summary: "scatter index, RMSE/OBAR", Source: fromSL1L2 + "calculate_si",
	},
	{
		Name: "FSTDEV", LineType: "SL1L2", Needs: []string{"total", "fbar", "ffbar"}, Unit: UnitSame, Func: standardDeviation,
		Summary: "standard deviation of the forecast", Source: fromSL1L2 + "calculate_fstdev",
	},
	{
		Name: "OSTDEV", LineType: "SL1L2", Needs: []string{"total", "obar", "oobar"}, Unit: UnitSame, Func: standardDeviation,
		Summary: "standard deviation of the observation", Source: fromSL1L2 + "calculate_ostdev",
	},
	{
		Name: "ESTDEV", LineType: "SL1L2", Needs: append([]string{"total"}, scalarSums...), Unit: UnitSame, Func: errorStandardDeviation,
		Summary: "standard deviation of the error",
		Source:  "MET User's Guide appendix C, standard deviation of the error; not METcalcpy's calculate_estdev, see errorStandardDeviation",
	},
	{
		Name: "MSESS", LineType: "SL1L2", Needs: []string{"total", "obar", "oobar", "fobar", "ffbar"}, Unit: UnitOne, Func: skillScore,
		Summary: "mean squared error skill score, 1 − MSE/OSTDEV²", Source: fromSL1L2 + "calculate_msess",
	},
	{
		Name: "PR_CORR", LineType: "SL1L2", Needs: scalarSums, Unit: UnitOne, Func: pearson,
		Summary: "Pearson correlation", Source: fromSL1L2 + "calculate_pr_corr" + appendixC + "Pearson correlation coefficient",
	},
}

// anomalyStats are computed from SAL1L2 lines: the same means of f−c and o−c,
// c the climatology.
var anomalyStats = []Stat{ //nolint:gochecknoglobals // a constant table
	{
		Name: "ANOM_CORR", LineType: "SAL1L2", Needs: []string{"fabar", "oabar", "foabar", "ffabar", "ooabar"}, Unit: UnitOne, Func: pearson,
		Summary: "anomaly correlation, centred", Source: fromSAL1L2 + "calculate_anom_corr" + appendixC + "anomaly correlation coefficient",
	},
	{
		Name: "ANOM_CORR_UNCNTR", LineType: "SAL1L2", Needs: []string{"foabar", "ffabar", "ooabar"}, Unit: UnitOne, Func: uncentred,
		Summary: "anomaly correlation, uncentred (raw)", Source: fromSAL1L2 + "calculate_anom_corr_raw",
	},
	{
		Name: "RMSFA", LineType: "SAL1L2", Needs: []string{"ffabar"}, Unit: UnitSame, Func: rootOfMean,
		Summary: "root mean squared forecast anomaly", Source: fromSAL1L2 + "calculate_rmsfa",
	},
	{
		Name: "RMSOA", LineType: "SAL1L2", Needs: []string{"ooabar"}, Unit: UnitSame, Func: rootOfMean,
		Summary: "root mean squared observed anomaly", Source: fromSAL1L2 + "calculate_rmsoa",
	},
}

// gradientStats are computed from GRAD lines: means of the gradients of forecast,
// observation, their larger one, and of the error's.
var gradientStats = []Stat{ //nolint:gochecknoglobals // a constant table
	plain("GRAD", "FGBAR", "", UnitSame, "mean gradient of the forecast", fromGRAD+"fgbar"),
	plain("GRAD", "OGBAR", "", UnitSame, "mean gradient of the observation", fromGRAD+"ogbar"),
	plain("GRAD", "MGBAR", "", UnitSame, "mean of the larger gradient", fromGRAD+"mgbar"),
	plain("GRAD", "EGBAR", "", UnitSame, "mean gradient of the error", fromGRAD+"egbar"),
	percent("S1", "egbar mgbar", "S1 score, 100·EGBAR/MGBAR"),
	percent("S1_OG", "egbar ogbar", "S1 score by the observed gradient, 100·EGBAR/OGBAR"),
	percent("FGOG_RATIO", "fgbar ogbar", "ratio of the gradients, 100·FGBAR/OGBAR"),
	pairCount("GRAD"),
}

func percent(name, needs, summary string) Stat {
	return Stat{Name: name, LineType: "GRAD", Needs: columns(needs), Unit: UnitOne, Summary: summary, Source: fromGRAD + strings.ToLower(name), Func: func(v []float64) (float64, bool) {
		return div(100*v[0], v[1])
	}}
}

// spreadStats are computed from SSVAR lines, whose partial sums are of the
// bin_n pairs of a bin of ensemble variance; ANOM_CORR is METviewer's name for
// PR_CORR there. TOTAL is METcalcpy's too: of the column, which counts the
// pairs of all bins in each.
var spreadStats = append(of( //nolint:gochecknoglobals // a constant table
	"SSVAR", "FBAR FSTDEV OBAR OSTDEV PR_CORR ME ESTDEV MBIAS MSE BCMSE BCRMSE RMSE ME2 MSESS",
	"METcalcpy util/ssvar_statistics.py", "total", "bin_n", scalarStats),
	append(of("SSVAR", "ANOM_CORR", "METcalcpy util/ssvar_statistics.py", "", "", []Stat{{Name: "ANOM_CORR", Needs: scalarSums, Unit: UnitOne, Func: pearson, Summary: "Pearson correlation"}}),
		Stat{
			Name: "SPREAD", LineType: "SSVAR", Needs: columns("var_mean"), Unit: UnitSame, Func: rootOfMean,
			Summary: "spread of the ensemble, root of its mean variance", Source: "METcalcpy util/ssvar_statistics.py calculate_ssvar_spread",
		}, pairCount("SSVAR"))...)

// scalarSums is the order in which pearson, biasCorrectedMSE and
// biasCorrectedRMSE take their columns.
var scalarSums = []string{"fbar", "obar", "fobar", "ffbar", "oobar"} //nolint:gochecknoglobals // a constant

func first(v []float64) (float64, bool) { return v[0], true }

func rootOfMean(v []float64) (float64, bool) { return root(v[0]) }

// meanError takes fbar, obar.
func meanError(v []float64) (float64, bool) { return v[0] - v[1], true }

// meanErrorSquared takes fbar, obar.
func meanErrorSquared(v []float64) (float64, bool) { return (v[0] - v[1]) * (v[0] - v[1]), true }

// mse is the mean of (f−o)². Its terms are of the size of f², so that rounding
// of the partial sums can make it negative; it is then undefined.
func mse(fo, ff, oo float64) (float64, bool) {
	m := ff + oo - 2*fo
	return m, m >= 0
}

// meanSquaredError takes fobar, ffbar, oobar.
func meanSquaredError(v []float64) (float64, bool) { return mse(v[0], v[1], v[2]) }

// rootMeanSquaredError takes fobar, ffbar, oobar.
func rootMeanSquaredError(v []float64) (float64, bool) {
	m, ok := mse(v[0], v[1], v[2])
	return math.Sqrt(m), ok
}

// biasCorrectedMSE takes scalarSums. Below zero it is 0, as in METcalcpy.
func biasCorrectedMSE(v []float64) (float64, bool) {
	m, ok := mse(v[2], v[3], v[4])
	bias := v[0] - v[1]
	return max(0, m-bias*bias), ok
}

// biasCorrectedRMSE takes scalarSums.
func biasCorrectedRMSE(v []float64) (float64, bool) {
	m, ok := biasCorrectedMSE(v)
	return math.Sqrt(m), ok
}

// multiplicativeBias takes fbar, obar.
func multiplicativeBias(v []float64) (float64, bool) { return div(v[0], v[1]) }

// fractionalError takes fbar, obar.
func fractionalError(v []float64) (float64, bool) { return div(v[0]-v[1], v[0]) }

// scatterIndex takes fobar, ffbar, oobar, obar.
func scatterIndex(v []float64) (float64, bool) {
	r, ok := rootMeanSquaredError(v)
	if !ok {
		return 0, false
	}
	return div(r, v[3])
}

// sampleVariance is the variance with divisor n−1 of n values, from their mean
// and the mean of their squares (METcalcpy calculate_stddev, before the root).
func sampleVariance(n, mean, squares float64) (float64, bool) {
	if n <= 1 {
		return 0, false
	}
	v := (squares - mean*mean) * n / (n - 1)
	return v, v >= 0
}

// standardDeviation takes total, mean, mean of squares.
func standardDeviation(v []float64) (float64, bool) {
	s, ok := sampleVariance(v[0], v[1], v[2])
	return math.Sqrt(s), ok
}

// errorStandardDeviation takes total and scalarSums: √(n/(n−1)·(MSE−ME²)).
//
// METcalcpy's calculate_estdev means the same, but the releases in use call
// calculate_me and calculate_mse without the aggregation flag, so that for
// aggregated records both are sums over pairs where means are meant: the result
// is then wrong by powers of n. (Its development branch passes the flag.) The
// definition followed here is MET's.
func errorStandardDeviation(v []float64) (float64, bool) {
	m, ok := mse(v[3], v[4], v[5])
	if !ok {
		return 0, false
	}
	return standardDeviation([]float64{v[0], v[1] - v[2], m})
}

// skillScore takes total, obar, oobar, fobar, ffbar.
func skillScore(v []float64) (float64, bool) {
	variance, ok := sampleVariance(v[0], v[1], v[2])
	m, defined := mse(v[3], v[4], v[2])
	if !ok || !defined || variance == 0 {
		return 0, false
	}
	return 1 - m/variance, true
}

// pearson takes f, o, fo, ff, oo: the correlation of f and o. With anomalies it
// is the centred anomaly correlation.
func pearson(v []float64) (float64, bool) {
	f, o := v[0], v[1]
	return ratioOfCovariance(v[2]-f*o, v[3]-f*f, v[4]-o*o)
}

// uncentred takes foabar, ffabar, ooabar; the result is cut to ±1, as in METcalcpy.
func uncentred(v []float64) (float64, bool) {
	if v[1] <= 0 || v[2] <= 0 {
		return 0, false
	}
	return max(-1, min(1, v[0]/(math.Sqrt(v[1])*math.Sqrt(v[2])))), true
}
