package stat

import (
	"math"
	"slices"
)

// The sources that several statistics share.
const (
	fromSL1L2      = "METcalcpy util/sl1l2_statistics.py calculate_"
	fromSAL1L2     = "METcalcpy util/sal1l2_statistics.py calculate_"
	fromGRAD       = "METcalcpy util/grad_statistics.py calculate_"
	fromSSVAR      = "METcalcpy util/ssvar_statistics.py"
	fromContinuous = "MET User's Guide appendix C, MET verification measures for continuous variables; "
	appendixC      = "; MET User's Guide appendix C, "
)

// scalarStats are computed from SL1L2 lines: means over the pairs of f, o, f·o, f², o² and |f−o|.
var scalarStats = []Stat{ //nolint:gochecknoglobals // a constant table
	scalarStat("FBAR", "fbar", UnitVariable, "mean forecast", firstColumn),
	scalarStat("OBAR", "obar", UnitVariable, "mean observation", firstColumn),
	scalarStat("ME", "fbar obar", UnitVariable, "mean error (bias)", meanError),
	scalarStat("ME2", "fbar obar", UnitVariableSquared, "square of the mean error", meanErrorSquared),
	scalarStat("MSE", "fobar ffbar oobar", UnitVariableSquared, "mean squared error", meanSquaredError),
	scalarStat("RMSE", "fobar ffbar oobar", UnitVariable, "root mean squared error", rootMeanSquaredError),
	scalarStat("BCMSE", "fbar obar fobar ffbar oobar", UnitVariableSquared, "bias-corrected mean squared error", biasCorrectedMSE),
	scalarStat("BCRMSE", "fbar obar fobar ffbar oobar", UnitVariable, "bias-corrected root mean squared error", biasCorrectedRMSE),
	scalarStat("MAE", "mae", UnitVariable, "mean absolute error", firstColumn),
	scalarStat("MBIAS", "fbar obar", UnitOne, "multiplicative bias, FBAR/OBAR", multiplicativeBias),
	scalarStat("FE", "fbar obar", UnitOne, "fractional error, (FBAR−OBAR)/FBAR", fractionalError),
	scalarStat("SI", "fobar ffbar oobar obar", UnitOne, "scatter index, RMSE/OBAR", scatterIndex),
	scalarStat("FSTDEV", "total fbar ffbar", UnitVariable, "standard deviation of the forecast", standardDeviation),
	scalarStat("OSTDEV", "total obar oobar", UnitVariable, "standard deviation of the observation", standardDeviation),
	{
		Name: "ESTDEV", LineType: "SL1L2", Needs: append([]string{"total"}, scalarSums...), Unit: UnitVariable, Func: errorStandardDeviation,
		Summary: "standard deviation of the error",
		Source:  "MET User's Guide appendix C, standard deviation of the error; not METcalcpy's calculate_estdev, see errorStandardDeviation",
	},
	scalarStat("MSESS", "total obar oobar fobar ffbar", UnitOne, "mean squared error skill score, 1 − MSE/OSTDEV²", meanSquaredErrorSkill),
	scalarStat("PR_CORR", "fbar obar fobar ffbar oobar", UnitOne, "Pearson correlation", pearson),
	pairCount("SL1L2"),
}

// anomalyStats are computed from SAL1L2 lines: the same means of f−c and o−c, where c is the climatology.
var anomalyStats = []Stat{ //nolint:gochecknoglobals // a constant table
	anomalyStat("ANOM_CORR", "fabar oabar foabar ffabar ooabar", UnitOne, "anomaly correlation, centered", pearson),
	{
		Name: "ANOM_CORR_UNCNTR", LineType: "SAL1L2", Needs: []string{"foabar", "ffabar", "ooabar"}, Unit: UnitOne, Func: uncentered,
		Summary: "anomaly correlation, uncentered (raw)", Source: fromSAL1L2 + "anom_corr_raw",
	},
	anomalyStat("RMSFA", "ffabar", UnitVariable, "root mean squared forecast anomaly", rootOfMean),
	anomalyStat("RMSOA", "ooabar", UnitVariable, "root mean squared observed anomaly", rootOfMean),
	pairCount("SAL1L2"),
}

// gradientStats are computed from GRAD lines: means of the gradients of the forecast and of the
// observation, of the larger of the two, and of the gradient of the error.
var gradientStats = []Stat{ //nolint:gochecknoglobals // a constant table
	columnStat("GRAD", "FGBAR", "", UnitVariable, "mean gradient of the forecast", fromGRAD+"fgbar"),
	columnStat("GRAD", "OGBAR", "", UnitVariable, "mean gradient of the observation", fromGRAD+"ogbar"),
	columnStat("GRAD", "MGBAR", "", UnitVariable, "mean of the larger gradient", fromGRAD+"mgbar"),
	columnStat("GRAD", "EGBAR", "", UnitVariable, "mean gradient of the error", fromGRAD+"egbar"),
	percentStat("S1", "egbar mgbar", "S1 score, 100·EGBAR/MGBAR"),
	percentStat("S1_OG", "egbar ogbar", "S1 score by the observed gradient, 100·EGBAR/OGBAR"),
	percentStat("FGOG_RATIO", "fgbar ogbar", "ratio of the gradients, 100·FGBAR/OGBAR"),
	pairCount("GRAD"),
}

func percentStat(name, needs, summary string) Stat {
	return newStat("GRAD", fromGRAD, name, needs, UnitOne, summary, func(v []float64) (float64, bool) { return div(100*v[0], v[1]) })
}

func scalarStat(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return newStat("SL1L2", fromContinuous+fromSL1L2, name, needs, unit, summary, f)
}

func anomalyStat(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return newStat("SAL1L2", fromContinuous+fromSAL1L2, name, needs, unit, summary, f)
}

// spreadStats are computed from SSVAR lines. Their partial sums cover the bin_n pairs of a bin of ensemble variance.
// ANOM_CORR is METviewer's name for PR_CORR of these lines. The record of each bin repeats the number of pairs of all
// bins, and TOTAL adds these repetitions: METviewer's menu has it, but METcalcpy does not compute it.
var spreadStats = slices.Concat( //nolint:gochecknoglobals // a constant table
	forLineType("SSVAR", "FBAR FSTDEV OBAR OSTDEV PR_CORR ME ESTDEV MBIAS MSE BCMSE BCRMSE RMSE ME2 MSESS", fromSSVAR,
		"total", "bin_n", scalarStats),
	[]Stat{
		newStat("SSVAR", fromSSVAR+" ", "ANOM_CORR", "fbar obar fobar ffbar oobar", UnitOne, "Pearson correlation", pearson),
		newStat("SSVAR", fromSSVAR+" calculate_ssvar_", "SPREAD", "var_mean", UnitVariable,
			"spread of the ensemble, root of its mean variance", rootOfMean),
		columnStat("SSVAR", "TOTAL", "", UnitOne, "number of pairs, counted once for each bin", "METviewer MVUtil.java"),
	},
)

// scalarSums is the order in which pearson, biasCorrectedMSE and biasCorrectedRMSE take their columns.
var scalarSums = []string{"fbar", "obar", "fobar", "ffbar", "oobar"} //nolint:gochecknoglobals // a constant

func firstColumn(v []float64) (float64, bool) { return v[0], true }

func rootOfMean(v []float64) (float64, bool) { return root(v[0]) }

// meanError takes fbar, obar.
func meanError(v []float64) (float64, bool) { return v[0] - v[1], true }

// meanErrorSquared takes fbar, obar.
func meanErrorSquared(v []float64) (float64, bool) { return (v[0] - v[1]) * (v[0] - v[1]), true }

// mse is the mean of (f−o)². Its terms are as large as f², and rounding of the partial sums can make it negative. It is
// then undefined.
func mse(fo, ff, oo float64) (float64, bool) { return nonNegative(ff + oo - 2*fo) }

// meanSquaredError takes fobar, ffbar, oobar.
func meanSquaredError(v []float64) (float64, bool) { return mse(v[0], v[1], v[2]) }

// rootMeanSquaredError takes fobar, ffbar, oobar.
func rootMeanSquaredError(v []float64) (float64, bool) { return root(v[1] + v[2] - 2*v[0]) }

// biasCorrectedMSE takes scalarSums. A negative result becomes 0, as in METcalcpy.
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
	r, _ := rootMeanSquaredError(v) // NaN if it is undefined
	return div(r, v[3])
}

// sampleVariance is the variance, with divisor n−1, of n values, from their mean and the mean of their squares
// (METcalcpy calculate_stddev, before the root).
func sampleVariance(n, mean, squares float64) (float64, bool) {
	if n <= 1 {
		return 0, false
	}
	return nonNegative((squares - mean*mean) * n / (n - 1))
}

// standardDeviation takes total, mean, mean of squares.
func standardDeviation(v []float64) (float64, bool) {
	s, ok := sampleVariance(v[0], v[1], v[2])
	return math.Sqrt(s), ok
}

// errorStandardDeviation takes total and scalarSums: √(n/(n−1)·(MSE−ME²)).
//
// METcalcpy's calculate_estdev should compute the same, but the current releases call calculate_me and calculate_mse
// without the aggregation flag. For aggregated records, both are then sums over pairs instead of means, and the result
// is wrong by powers of n. (Its development branch passes the flag.) This function follows MET's definition.
func errorStandardDeviation(v []float64) (float64, bool) {
	m, _ := mse(v[3], v[4], v[5]) // if it is undefined, it is negative, and so is the variance
	return standardDeviation([]float64{v[0], v[1] - v[2], m})
}

// meanSquaredErrorSkill takes total, obar, oobar, fobar, ffbar.
func meanSquaredErrorSkill(v []float64) (float64, bool) {
	variance, ok := sampleVariance(v[0], v[1], v[2])
	m, isDefined := mse(v[3], v[4], v[2])
	ratio, hasRatio := div(m, variance)
	return 1 - ratio, ok && isDefined && hasRatio
}

// pearson takes f, o, fo, ff, oo and returns the correlation of f and o. For anomalies it is the centered anomaly
// correlation.
func pearson(v []float64) (float64, bool) {
	f, o := v[0], v[1]
	return correlation(v[2]-f*o, v[3]-f*f, v[4]-o*o)
}

// uncentered takes foabar, ffabar, ooabar. It limits the result to ±1, as METcalcpy does.
func uncentered(v []float64) (float64, bool) {
	if v[1] <= 0 || v[2] <= 0 {
		return 0, false
	}
	return max(-1, min(1, v[0]/(math.Sqrt(v[1])*math.Sqrt(v[2])))), true
}
