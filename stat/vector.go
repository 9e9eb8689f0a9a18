package stat

import "math"

const (
	fromVL1L2  = "METcalcpy util/vl1l2_statistics.py calculate_vl1l2_"
	fromUtil   = "METcalcpy util/vcnt_statistics.py calculate_"
	fromVCNT   = fromUtil + "vcnt_"
	fromVAL1L2 = "METcalcpy util/val1l2_statistics.py calculate_val1l2_"
)

// vectorStats are computed from VL1L2 lines: means of u and v of forecast and
// observed wind, of uf·uo+vf·vo, uf²+vf², uo²+vo², and of the speeds.
var vectorStats = []Stat{ //nolint:gochecknoglobals // a constant table
	vector("MSVE", "uvfobar uvffbar uvoobar", UnitSquared, "mean squared length of the vector error", meanSquaredError),
	vector("RMSVE", "uvfobar uvffbar uvoobar", UnitSame, "root mean squared length of the vector error", rootMeanSquaredError),
	vector("FSPD", "ufbar vfbar", UnitSame, "length of the mean forecast vector", vectorLength),
	vector("OSPD", "uobar vobar", UnitSame, "length of the mean observed vector", vectorLength),
	vector("SPEED_ERR", "ufbar vfbar uobar vobar", UnitSame, "FSPD − OSPD", speedError),
	vector("BIAS", "uvffbar uvoobar", UnitSame, "difference of the root mean squared speeds", rootMeanSquareBias),
	vector("FVAR", "uvffbar f_speed_bar", UnitSquared, "variance of the forecast speed", speedVariance),
	vector("OVAR", "uvoobar o_speed_bar", UnitSquared, "variance of the observed speed", speedVariance),
	columnStat("VL1L2", "UFBAR", "", UnitSame, "mean u of the forecast", fromVL1L2+"ufbar"),
	columnStat("VL1L2", "VFBAR", "", UnitSame, "mean v of the forecast", fromVL1L2+"vfbar"),
	columnStat("VL1L2", "UOBAR", "", UnitSame, "mean u of the observation", fromVL1L2+"uobar"),
	columnStat("VL1L2", "VOBAR", "", UnitSame, "mean v of the observation", fromVL1L2+"vobar"),
	columnStat("VL1L2", "FBAR", "f_speed_bar", UnitSame, "mean forecast speed", fromVCNT+"fbar"),
	columnStat("VL1L2", "OBAR", "o_speed_bar", UnitSame, "mean observed speed", fromVCNT+"obar"),
	wind("FS_RMS", "uvffbar", UnitSame, "root mean squared forecast speed", rootOfMean),
	wind("OS_RMS", "uvoobar", UnitSame, "root mean squared observed speed", rootOfMean),
	wind("FSTDEV", "uvffbar f_speed_bar", UnitSame, "standard deviation of the forecast speed, root of FVAR", speedDeviation),
	wind("OSTDEV", "uvoobar o_speed_bar", UnitSame, "standard deviation of the observed speed, root of OVAR", speedDeviation),
	wind("FBAR_SPEED", "ufbar vfbar", UnitSame, "length of the mean forecast vector", vectorLength),
	wind("OBAR_SPEED", "uobar vobar", UnitSame, "length of the mean observed vector", vectorLength),
	wind("FDIR", "ufbar vfbar", UnitDegree, "direction from which the mean forecast vector blows, 0 to 360", windDirection),
	wind("ODIR", "uobar vobar", UnitDegree, "direction from which the mean observed vector blows, 0 to 360", windDirection),
	wind("VDIFF_SPEED", "ufbar vfbar uobar vobar", UnitSame, "length of the difference of the mean vectors", func(v []float64) (float64, bool) {
		return math.Hypot(v[0]-v[2], v[1]-v[3]), true
	}),
	wind("VDIFF_DIR", "ufbar vfbar uobar vobar", UnitDegree, "direction of the difference of the mean vectors, 0 to 360", func(v []float64) (float64, bool) {
		return windDirection([]float64{v[0] - v[2], v[1] - v[3]})
	}),
	wind("SPEED_ABSERR", "ufbar vfbar uobar vobar", UnitSame, "|SPEED_ERR|", func(v []float64) (float64, bool) {
		e, ok := speedError(v)
		return math.Abs(e), ok
	}),
	wind("DIR_ERR", "ufbar vfbar uobar vobar", UnitDegree, "angle from the mean observed to the mean forecast vector, counter-clockwise positive, within ±180", directionDifference),
	wind("DIR_ABSERR", "ufbar vfbar uobar vobar", UnitDegree, "|DIR_ERR|", func(v []float64) (float64, bool) {
		e, ok := directionDifference(v)
		return math.Abs(e), ok
	}),
	pairCount("VL1L2"),
	vector("DIR_ME", "dir_me", UnitDegree, "mean error of the direction", first),
	vector("DIR_MAE", "dir_mae", UnitDegree, "mean absolute error of the direction", first),
	vector("DIR_MSE", "dir_mse", UnitSquare, "mean squared error of the direction", first),
}

// vectorAnomalyStats are computed from VAL1L2 lines: the same means as for vectorStats, of wind
// minus climatology.
var vectorAnomalyStats = []Stat{ //nolint:gochecknoglobals // a constant table
	row("VAL1L2", fromVAL1L2, "ANOM_CORR", "ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar", UnitOne, "anomaly correlation of the wind vector, centred", vectorCorrelation),
	row("VAL1L2", fromUtil, "VCNT_ANOM_CORR", "fa_speed_bar oa_speed_bar uvfoabar uvffabar uvooabar", UnitOne, "anomaly correlation of the wind, centred by the mean speeds", pearson),
	row("VAL1L2", fromUtil, "VCNT_ANOM_CORR_UNCNTR", "uvfoabar uvffabar uvooabar", UnitOne, "anomaly correlation of the wind vector, uncentred", uncentered),
	pairCount("VAL1L2"),
	row("VAL1L2", fromVAL1L2, "DIRA_ME", "dira_me", UnitDegree, "mean error of the anomaly's direction", first),
	row("VAL1L2", fromVAL1L2, "DIRA_MAE", "dira_mae", UnitDegree, "mean absolute error of the anomaly's direction", first),
	row("VAL1L2", fromVAL1L2, "DIRA_MSE", "dira_mse", UnitSquare, "mean squared error of the anomaly's direction", first),
}

func vector(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return row("VL1L2", fromVL1L2, name, needs, unit, summary, f)
}

func wind(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return row("VL1L2", fromVCNT, name, needs, unit, summary, f)
}

// calmLength is the length below which a vector has no direction (METcalcpy util/met_stats.py
// calc_direction).
const calmLength = 1e-5

// windDirection takes u, v of a wind, and returns the direction from which it blows, in degrees
// from north. METcalcpy's result is in radians, see the list of its bugs.
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

// rootMeanSquareBias takes uvffbar, uvoobar.
func rootMeanSquareBias(v []float64) (float64, bool) {
	f, fok := root(v[0])
	o, ook := root(v[1])
	return f - o, fok && ook
}

// speedVariance takes the mean squared speed and the mean speed.
func speedVariance(v []float64) (float64, bool) { return v[0] - v[1]*v[1], true }

// speedDeviation takes the mean squared speed and the mean speed.
func speedDeviation(v []float64) (float64, bool) { return root(v[0] - v[1]*v[1]) }

// vectorCorrelation takes the seven means of VAL1L2 in their order.
func vectorCorrelation(v []float64) (float64, bool) {
	uf, vf, uo, vo := v[0], v[1], v[2], v[3]
	return ratioOfCovariance(v[4]-uf*uo-vf*vo, v[5]-uf*uf-vf*vf, v[6]-uo*uo-vo*vo)
}
