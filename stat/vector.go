package stat

import "math"

const (
	fromVL1L2  = "METcalcpy util/vl1l2_statistics.py calculate_vl1l2_"
	fromUtil   = "METcalcpy util/vcnt_statistics.py calculate_"
	fromVCNT   = fromUtil + "vcnt_"
	fromVAL1L2 = "METcalcpy util/val1l2_statistics.py calculate_val1l2_"
)

// vectorStats are computed from VL1L2 lines: means of u and v of forecast and observed wind, of uf·uo+vf·vo, uf²+vf²,
// uo²+vo², and of the speeds.
var vectorStats = []Stat{ //nolint:gochecknoglobals // a constant table
	vectorStat("MSVE", "uvfobar uvffbar uvoobar", UnitVariableSquared, "mean squared length of the vector error", meanSquaredError),
	vectorStat("RMSVE", "uvfobar uvffbar uvoobar", UnitVariable, "root mean squared length of the vector error", rootMeanSquaredError),
	vectorStat("FSPD", "ufbar vfbar", UnitVariable, "length of the mean forecast vector", vectorLength),
	vectorStat("OSPD", "uobar vobar", UnitVariable, "length of the mean observed vector", vectorLength),
	vectorStat("SPEED_ERR", "ufbar vfbar uobar vobar", UnitVariable, "FSPD − OSPD", speedError),
	vectorStat("BIAS", "uvffbar uvoobar", UnitVariable, "difference of the root mean squared speeds", rootMeanSquareBias),
	vectorStat("FVAR", "uvffbar f_speed_bar", UnitVariableSquared, "variance of the forecast speed", speedVariance),
	vectorStat("OVAR", "uvoobar o_speed_bar", UnitVariableSquared, "variance of the observed speed", speedVariance),
	columnStat("VL1L2", "UFBAR", "", UnitVariable, "mean u of the forecast", fromVL1L2+"ufbar"),
	columnStat("VL1L2", "VFBAR", "", UnitVariable, "mean v of the forecast", fromVL1L2+"vfbar"),
	columnStat("VL1L2", "UOBAR", "", UnitVariable, "mean u of the observation", fromVL1L2+"uobar"),
	columnStat("VL1L2", "VOBAR", "", UnitVariable, "mean v of the observation", fromVL1L2+"vobar"),
	columnStat("VL1L2", "FBAR", "f_speed_bar", UnitVariable, "mean forecast speed", fromVCNT+"fbar"),
	columnStat("VL1L2", "OBAR", "o_speed_bar", UnitVariable, "mean observed speed", fromVCNT+"obar"),
	windStat("FS_RMS", "uvffbar", UnitVariable, "root mean squared forecast speed", rootOfMean),
	windStat("OS_RMS", "uvoobar", UnitVariable, "root mean squared observed speed", rootOfMean),
	windStat("FSTDEV", "uvffbar f_speed_bar", UnitVariable, "standard deviation of the forecast speed, root of FVAR", speedDeviation),
	windStat("OSTDEV", "uvoobar o_speed_bar", UnitVariable, "standard deviation of the observed speed, root of OVAR", speedDeviation),
	windStat("FBAR_SPEED", "ufbar vfbar", UnitVariable, "length of the mean forecast vector", vectorLength),
	windStat("OBAR_SPEED", "uobar vobar", UnitVariable, "length of the mean observed vector", vectorLength),
	windStat("FDIR", "ufbar vfbar", UnitDegree, "direction from which the mean forecast vector blows, 0 to 360", windDirection),
	windStat("ODIR", "uobar vobar", UnitDegree, "direction from which the mean observed vector blows, 0 to 360", windDirection),
	windStat("VDIFF_SPEED", "ufbar vfbar uobar vobar", UnitVariable, "length of the difference of the mean vectors",
		func(v []float64) (float64, bool) { return math.Hypot(v[0]-v[2], v[1]-v[3]), true }),
	windStat("VDIFF_DIR", "ufbar vfbar uobar vobar", UnitDegree, "direction of the difference of the mean vectors, 0 to 360",
		func(v []float64) (float64, bool) { return windDirection([]float64{v[0] - v[2], v[1] - v[3]}) }),
	windStat("SPEED_ABSERR", "ufbar vfbar uobar vobar", UnitVariable, "|SPEED_ERR|", func(v []float64) (float64, bool) {
		e, ok := speedError(v)
		return math.Abs(e), ok
	}),
	windStat("DIR_ERR", "ufbar vfbar uobar vobar", UnitDegree,
		"angle from the mean observed to the mean forecast vector, counter-clockwise positive, within ±180", directionDifference),
	windStat("DIR_ABSERR", "ufbar vfbar uobar vobar", UnitDegree, "|DIR_ERR|", func(v []float64) (float64, bool) {
		e, ok := directionDifference(v)
		return math.Abs(e), ok
	}),
	pairCount("VL1L2"),
	vectorStat("DIR_ME", "dir_me", UnitDegree, "mean error of the direction", firstColumn),
	vectorStat("DIR_MAE", "dir_mae", UnitDegree, "mean absolute error of the direction", firstColumn),
	vectorStat("DIR_MSE", "dir_mse", UnitDegreeSquared, "mean squared error of the direction", firstColumn),
}

// vectorAnomalyStats are computed from VAL1L2 lines: the same means as for vectorStats, of wind
// minus climatology.
var vectorAnomalyStats = []Stat{ //nolint:gochecknoglobals // a constant table
	newStat("VAL1L2", fromVAL1L2, "ANOM_CORR", "ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar",
		UnitOne, "anomaly correlation of the wind vector, centered", vectorCorrelation),
	newStat("VAL1L2", fromUtil, "VCNT_ANOM_CORR", "fa_speed_bar oa_speed_bar uvfoabar uvffabar uvooabar",
		UnitOne, "anomaly correlation of the wind, centered by the mean speeds", pearson),
	newStat("VAL1L2", fromUtil, "VCNT_ANOM_CORR_UNCNTR", "uvfoabar uvffabar uvooabar",
		UnitOne, "anomaly correlation of the wind vector, uncentered", uncentered),
	pairCount("VAL1L2"),
	newStat("VAL1L2", fromVAL1L2, "DIRA_ME", "dira_me", UnitDegree, "mean error of the anomaly's direction", firstColumn),
	newStat("VAL1L2", fromVAL1L2, "DIRA_MAE", "dira_mae", UnitDegree, "mean absolute error of the anomaly's direction", firstColumn),
	newStat("VAL1L2", fromVAL1L2, "DIRA_MSE", "dira_mse", UnitDegreeSquared, "mean squared error of the anomaly's direction", firstColumn),
}

func vectorStat(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return newStat("VL1L2", fromVL1L2, name, needs, unit, summary, f)
}

// windStat returns a statistic of VL1L2 lines whose formula METcalcpy lists among those of VCNT. For the others, see
// vectorStat.
func windStat(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return newStat("VL1L2", fromVCNT, name, needs, unit, summary, f)
}

// calmLength is the length below which a vector has no direction (METcalcpy util/met_stats.py calc_direction).
const calmLength = 1e-5

// windDirection takes u, v of a wind, and returns the direction from which it blows, in degrees from north. METcalcpy's
// result is in radians, see docs/decisions/0014-not-followed.md.
func windDirection(v []float64) (float64, bool) {
	if math.Abs(v[0]) < calmLength && math.Abs(v[1]) < calmLength {
		return 0, false
	}
	d := math.Atan2(-v[0], -v[1]) * 180 / math.Pi
	if d < 0 {
		d += 360
	}
	return d, true
}

// directionDifference takes ufbar, vfbar, uobar, vobar. It is undefined if a vector has no
// direction.
func directionDifference(v []float64) (float64, bool) {
	uf, vf, uo, vo := v[0], v[1], v[2], v[3]
	if math.Hypot(uf, vf) < calmLength || math.Hypot(uo, vo) < calmLength {
		return 0, false
	}
	return math.Atan2(vf*uo-uf*vo, uf*uo+vf*vo) * 180 / math.Pi, true
}

// vectorLength takes u, v.
func vectorLength(v []float64) (float64, bool) { return math.Hypot(v[0], v[1]), true }

// speedError takes ufbar, vfbar, uobar, vobar.
func speedError(v []float64) (float64, bool) {
	return math.Hypot(v[0], v[1]) - math.Hypot(v[2], v[3]), true
}

// rootMeanSquareBias takes uvffbar, uvoobar. It is NaN if one of them is negative.
func rootMeanSquareBias(v []float64) (float64, bool) { return math.Sqrt(v[0]) - math.Sqrt(v[1]), true }

// speedVariance takes the mean squared speed and the mean speed.
func speedVariance(v []float64) (float64, bool) { return nonNegative(v[0] - v[1]*v[1]) }

// speedDeviation takes the mean squared speed and the mean speed.
func speedDeviation(v []float64) (float64, bool) { return root(v[0] - v[1]*v[1]) }

// vectorCorrelation takes the seven means of VAL1L2 in their order.
func vectorCorrelation(v []float64) (float64, bool) {
	uf, vf, uo, vo := v[0], v[1], v[2], v[3]
	return correlation(v[4]-uf*uo-vf*vo, v[5]-uf*uf-vf*vf, v[6]-uo*uo-vo*vo)
}
