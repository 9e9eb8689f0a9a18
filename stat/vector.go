package stat

import "math"

const (
	fromVL1L2  = "METcalcpy util/vl1l2_statistics.py calculate_vl1l2_"
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

// vectorCorrelation takes the seven means of VAL1L2 in their order.
func vectorCorrelation(v []float64) (float64, bool) {
	uf, vf, uo, vo := v[0], v[1], v[2], v[3]
	return ratioOfCovariance(v[4]-uf*uo-vf*vo, v[5]-uf*uf-vf*vf, v[6]-uo*uo-vo*vo)
}
