package stat

import (
	"math"
	"strings"
)

const (
	fromECNT = "METcalcpy util/ecnt_statistics.py calculate_ecnt_"
	fromRPS  = "METcalcpy util/rps_statistics.py calculate_"
	fromNBR  = "METcalcpy util/nbrcnt_statistics.py calculate_nbr_"
)

// ensembleStats are computed from ECNT lines. Root mean squares are averaged as squares, and the
// mean errors of members above and below the observation by the number of these members.
var ensembleStats = []Stat{ //nolint:gochecknoglobals // a constant table
	ensembleStat("CRPS", "continuous ranked probability score"),
	ensembleStat("CRPSCL", "CRPS of the climatology"),
	oneMinusRatio("ECNT", "CRPSS", "crps crpscl", "CRPS skill score, 1 − CRPS/CRPSCL", fromECNT+"crpss"),
	ensembleStat("CRPS_EMP", "empirical CRPS"),
	ensembleStat("CRPSCL_EMP", "empirical CRPS of the climatology"),
	oneMinusRatio("ECNT", "CRPSS_EMP", "crps_emp crpscl_emp", "empirical CRPS skill score", fromECNT+"crpss_emp"),
	ensembleStat("CRPS_EMP_FAIR", "empirical CRPS, corrected for the number of members"),
	ensembleStat("SPREAD_MD", "mean absolute difference of the members"),
	ensembleStat("IGN", "ignorance score"),
	ensembleStat("ME", "mean error of the ensemble mean"),
	ensembleStat("MAE", "mean absolute error of the ensemble mean"),
	ensembleStat("RMSE", "root mean squared error of the ensemble mean"),
	ensembleStat("SPREAD", "spread of the ensemble"),
	ensembleStat("ME_OERR", "ME with observation error"),
	ensembleStat("MAE_OERR", "MAE with observation error"),
	ensembleStat("RMSE_OERR", "RMSE with observation error"),
	ensembleStat("SPREAD_OERR", "spread with observation error"),
	ensembleStat("SPREAD_PLUS_OERR", "spread and observation error together; METcalcpy computes it from SPREAD_OERR's column"),
	ensembleStat("N_GE_OBS", "members at or above the observation"),
	ensembleStat("ME_GE_OBS", "mean error of the members at or above the observation"),
	ensembleStat("N_LT_OBS", "members below the observation"),
	ensembleStat("ME_LT_OBS", "mean error of the members below the observation"),
	newStat("ECNT", fromECNT, "BIAS_RATIO", "me_ge_obs me_lt_obs", UnitOne, "ME_GE_OBS/|ME_LT_OBS|",
		func(v []float64) (float64, bool) { return div(v[0], math.Abs(v[1])) }),
	pairCount("ECNT"),
}

// ensembleStat returns a statistic that is an aggregated column of ECNT.
func ensembleStat(name, summary string) Stat {
	unit := UnitVariable
	if strings.HasPrefix(name, "N_") || name == "IGN" {
		unit = UnitOne
	}
	return columnStat("ECNT", name, "", unit, summary, fromECNT+strings.ToLower(name))
}

// oneMinusRatio returns a skill score. needs are the columns of a score and of the reference's score.
func oneMinusRatio(lineType, name, needs, summary, source string) Stat {
	skill := func(v []float64) (float64, bool) {
		r, ok := div(v[0], v[1])
		return 1 - r, ok
	}
	return Stat{Name: name, LineType: lineType, Needs: columns(needs), Unit: UnitOne, Summary: summary, Source: source, Func: skill}
}

// rankedStats are computed from RPS lines.
var rankedStats = []Stat{ //nolint:gochecknoglobals // a constant table
	columnStat("RPS", "RPS", "", UnitOne, "ranked probability score", fromRPS+"rps"),
	columnStat("RPS", "COMP", "rps_comp", UnitOne, "1 − RPS", fromRPS+"rps_comp"),
	columnStat("RPS", "RPSS", "", UnitOne, "skill score against the climatology, whose RPS is rps/(1−rpss) of each record", fromRPS+"rpss"),
	pairCount("RPS"),
}

// neighborhoodStats are computed from NBRCNT lines.
var neighborhoodStats = []Stat{ //nolint:gochecknoglobals // a constant table
	columnStat("NBRCNT", "FBS", "", UnitOne, "fractions Brier score", fromNBR+"fbs"),
	columnStat("NBRCNT", "FSS", "", UnitOne, "fractions skill score, 1 − Σ n·fbs/Σ(n·fbs/(1−fss))", fromNBR+"fss"),
	columnStat("NBRCNT", "F_RATE", "", UnitOne, "forecast event frequency", fromNBR+"f_rate"),
	columnStat("NBRCNT", "O_RATE", "", UnitOne, "observed event frequency; METcalcpy does not weigh it", fromNBR+"o_rate"),
	newStat("NBRCNT", fromNBR, "AFSS", "f_rate o_rate", UnitOne, "asymptotic FSS, 2fo/(f²+o²)",
		func(v []float64) (float64, bool) { return div(2*v[0]*v[1], v[0]*v[0]+v[1]*v[1]) }),
	newStat("NBRCNT", fromNBR, "UFSS", "o_rate", UnitOne, "uniform FSS, ½ + o/2",
		func(v []float64) (float64, bool) { return 0.5 + v[0]/2, true }),
	pairCount("NBRCNT"),
}
