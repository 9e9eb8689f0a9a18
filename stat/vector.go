package stat

import (
	"math"
	"strings"
)

const (
	fromVL1L2  = "METcalcpy util/vl1l2_statistics.py calculate_vl1l2_"
	fromVCNT   = "METcalcpy util/vcnt_statistics.py calculate_vcnt_"
	fromVAL1L2 = "METcalcpy util/val1l2_statistics.py calculate_val1l2_"
)

// vectorStats are computed from VL1L2 lines: means of u and v of forecast and
// observed wind, of uf·uo+vf·vo, uf²+vf², uo²+vo², and of the speeds.
var vectorStats = []Stat{ //nolint:gochecknoglobals // a constant table
	{
		Name: "MSVE", LineType: "VL1L2", Needs: []string{"uvfobar", "uvffbar", "uvoobar"}, Unit: UnitSquared, Func: meanSquaredError,
		Summary: "mean squared length of the vector error", Source: fromVL1L2 + "msve",
	},
	{
		Name: "RMSVE", LineType: "VL1L2", Needs: []string{"uvfobar", "uvffbar", "uvoobar"}, Unit: UnitSame, Func: rootMeanSquaredError,
		Summary: "root mean squared length of the vector error", Source: fromVL1L2 + "rmsve",
	},
	{
		Name: "FSPD", LineType: "VL1L2", Needs: []string{"ufbar", "vfbar"}, Unit: UnitSame, Func: length,
		Summary: "length of the mean forecast vector", Source: fromVL1L2 + "fspd",
	},
	{
		Name: "OSPD", LineType: "VL1L2", Needs: []string{"uobar", "vobar"}, Unit: UnitSame, Func: length,
		Summary: "length of the mean observed vector", Source: fromVL1L2 + "ospd",
	},
	{
		Name: "SPEED_ERR", LineType: "VL1L2", Needs: []string{"ufbar", "vfbar", "uobar", "vobar"}, Unit: UnitSame, Func: speedError,
		Summary: "FSPD − OSPD", Source: fromVL1L2 + "speed_err",
	},
	{
		Name: "BIAS", LineType: "VL1L2", Needs: []string{"uvffbar", "uvoobar"}, Unit: UnitSame, Func: rootMeanSquareBias,
		Summary: "difference of the root mean squared speeds", Source: fromVL1L2 + "bias",
	},
	{
		Name: "FVAR", LineType: "VL1L2", Needs: []string{"uvffbar", "f_speed_bar"}, Unit: UnitSquared, Func: speedVariance,
		Summary: "variance of the forecast speed", Source: fromVL1L2 + "fvar",
	},
	{
		Name: "OVAR", LineType: "VL1L2", Needs: []string{"uvoobar", "o_speed_bar"}, Unit: UnitSquared, Func: speedVariance,
		Summary: "variance of the observed speed", Source: fromVL1L2 + "ovar",
	},
	plain("VL1L2", "UFBAR", "", UnitSame, "mean u of the forecast", fromVL1L2+"ufbar"),
	plain("VL1L2", "VFBAR", "", UnitSame, "mean v of the forecast", fromVL1L2+"vfbar"),
	plain("VL1L2", "UOBAR", "", UnitSame, "mean u of the observation", fromVL1L2+"uobar"),
	plain("VL1L2", "VOBAR", "", UnitSame, "mean v of the observation", fromVL1L2+"vobar"),
	plain("VL1L2", "FBAR", "f_speed_bar", UnitSame, "mean forecast speed", fromVCNT+"fbar"),
	plain("VL1L2", "OBAR", "o_speed_bar", UnitSame, "mean observed speed", fromVCNT+"obar"),
	wind("FS_RMS", "uvffbar", UnitSame, "root mean squared forecast speed", rootOfMean),
	wind("OS_RMS", "uvoobar", UnitSame, "root mean squared observed speed", rootOfMean),
	wind("FSTDEV", "uvffbar f_speed_bar", UnitSame, "standard deviation of the forecast speed, root of FVAR", speedDeviation),
	wind("OSTDEV", "uvoobar o_speed_bar", UnitSame, "standard deviation of the observed speed, root of OVAR", speedDeviation),
	wind("FBAR_SPEED", "ufbar vfbar", UnitSame, "length of the mean forecast vector", length),
	wind("OBAR_SPEED", "uobar vobar", UnitSame, "length of the mean observed vector", length),
	wind("FDIR", "ufbar vfbar", UnitDegree, "direction from which the mean forecast vector blows, 0 to 360", from),
	wind("ODIR", "uobar vobar", UnitDegree, "direction from which the mean observed vector blows, 0 to 360", from),
	wind("VDIFF_SPEED", "ufbar vfbar uobar vobar", UnitSame, "length of the difference of the mean vectors", func(v []float64) (float64, bool) {
		return math.Hypot(v[0]-v[2], v[1]-v[3]), true
	}),
	wind("VDIFF_DIR", "ufbar vfbar uobar vobar", UnitDegree, "direction of the difference of the mean vectors, 0 to 360", func(v []float64) (float64, bool) {
		return from([]float64{v[0] - v[2], v[1] - v[3]})
	}),
	wind("SPEED_ABSERR", "ufbar vfbar uobar vobar", UnitSame, "|SPEED_ERR|", func(v []float64) (float64, bool) {
		e, ok := speedError(v)
		return math.Abs(e), ok
	}),
	wind("DIR_ERR", "ufbar vfbar uobar vobar", UnitDegree, "angle from the mean observed to the mean forecast vector, clockwise less than 180", turn),
	wind("DIR_ABSERR", "ufbar vfbar uobar vobar", UnitDegree, "|DIR_ERR|", func(v []float64) (float64, bool) {
		e, ok := turn(v)
		return math.Abs(e), ok
	}),
	pairCount("VL1L2"),
	{
		Name: "DIR_ME", LineType: "VL1L2", Needs: []string{"dir_me"}, Unit: UnitDegree, Func: first,
		Summary: "mean error of the direction", Source: fromVL1L2 + "dir_me",
	},
	{
		Name: "DIR_MAE", LineType: "VL1L2", Needs: []string{"dir_mae"}, Unit: UnitDegree, Func: first,
		Summary: "mean absolute error of the direction", Source: fromVL1L2 + "dir_mae",
	},
	{
		Name: "DIR_MSE", LineType: "VL1L2", Needs: []string{"dir_mse"}, Unit: UnitSquare, Func: first,
		Summary: "mean squared error of the direction", Source: fromVL1L2 + "dir_mse",
	},
}

// vectorAnomalyStats are computed from VAL1L2 lines: the means of vectorStats,
// of wind minus climatology.
var vectorAnomalyStats = []Stat{ //nolint:gochecknoglobals // a constant table
	{
		Name: "ANOM_CORR", LineType: "VAL1L2", Unit: UnitOne, Func: vectorCorrelation,
		Needs:   []string{"ufabar", "vfabar", "uoabar", "voabar", "uvfoabar", "uvffabar", "uvooabar"},
		Summary: "anomaly correlation of the wind vector, centred", Source: fromVAL1L2 + "anom_corr",
	},
	{
		Name: "VCNT_ANOM_CORR", LineType: "VAL1L2", Unit: UnitOne, Func: pearson,
		Needs:   columns("fa_speed_bar oa_speed_bar uvfoabar uvffabar uvooabar"),
		Summary: "anomaly correlation of the wind, centred by the mean speeds", Source: fromVCNT + "anom_corr",
	},
	{
		Name: "VCNT_ANOM_CORR_UNCNTR", LineType: "VAL1L2", Needs: columns("uvfoabar uvffabar uvooabar"), Unit: UnitOne, Func: uncentred,
		Summary: "anomaly correlation of the wind vector, uncentred", Source: fromVCNT + "anom_corr_uncntr",
	},
	pairCount("VAL1L2"),
	{
		Name: "DIRA_ME", LineType: "VAL1L2", Needs: []string{"dira_me"}, Unit: UnitDegree, Func: first,
		Summary: "mean error of the anomaly's direction", Source: fromVAL1L2 + "dira_me",
	},
	{
		Name: "DIRA_MAE", LineType: "VAL1L2", Needs: []string{"dira_mae"}, Unit: UnitDegree, Func: first,
		Summary: "mean absolute error of the anomaly's direction", Source: fromVAL1L2 + "dira_mae",
	},
	{
		Name: "DIRA_MSE", LineType: "VAL1L2", Needs: []string{"dira_mse"}, Unit: UnitSquare, Func: first,
		Summary: "mean squared error of the anomaly's direction", Source: fromVAL1L2 + "dira_mse",
	},
}

// wind makes a row of vectorStats.
func wind(name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	return Stat{Name: name, LineType: "VL1L2", Needs: columns(needs), Unit: unit, Summary: summary, Source: fromVCNT + strings.ToLower(name), Func: f}
}

// still is the length below which a vector has no direction (METcalcpy
// util/met_stats.py calc_direction).
const still = 1e-5

// from takes u, v of a wind: the direction from which it blows, in degrees from
// north. METcalcpy's is in radians, see the list of its faults.
func from(v []float64) (float64, bool) {
	if math.Abs(v[0]) < still && math.Abs(v[1]) < still {
		return 0, false
	}
	d := math.Atan2(-v[0], -v[1]) * 180 / math.Pi
	if d < 0 {
		d += 360
	}
	return d, true
}

// turn takes ufbar, vfbar, uobar, vobar. Where a vector has no direction,
// neither has their angle.
func turn(v []float64) (float64, bool) {
	uf, vf, uo, vo := v[0], v[1], v[2], v[3]
	if math.Hypot(uf, vf) < still || math.Hypot(uo, vo) < still {
		return 0, false
	}
	return math.Atan2(vf*uo-uf*vo, uf*uo+vf*vo) * 180 / math.Pi, true
}

// length takes u, v.
func length(v []float64) (float64, bool) { return math.Hypot(v[0], v[1]), true }

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
