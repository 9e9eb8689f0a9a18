package question

import (
	"errors"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// computed are the statistics that METviewer computes from the partial sums or
// counts of a line type, by METviewer's names without the line type.
var computed = map[string][]string{ //nolint:gochecknoglobals // a constant table
	"SL1L2": {
		"FBAR", "OBAR", "FSTDEV", "OSTDEV", "PR_CORR", "ME", "ESTDEV", "MBIAS", "MAE", "MSE", "BCMSE", "BCRMSE", "RMSE",
		"ME2", "MSESS", "SI", "FE",
	},
	"SAL1L2": {"ANOM_CORR", "ANOM_CORR_UNCNTR", "ANOM_CORR_RAW", "RMSFA", "RMSOA"},
	"VL1L2":  {"BIAS", "FVAR", "OVAR", "FSPD", "OSPD", "SPEED_ERR", "MSVE", "RMSVE", "DIR_ME", "DIR_MAE", "DIR_MSE"},
	"VAL1L2": {"ANOM_CORR", "DIRA_ME", "DIRA_MAE", "DIRA_MSE"},
	"CTC": {
		"BASER", "ACC", "FBIAS", "FMEAN", "PODY", "POFD", "PODN", "FAR", "CSI", "GSS", "HK", "HSS", "ODDS", "LODDS", "ORSS",
		"EDS", "SEDS", "EDI", "SEDI", "BAGSS",
	},
}

// finishedTypes are the line types that hold finished statistics, in the order
// in which METviewer looks for one.
var finishedTypes = []string{"CNT", "CTS", "VCNT", "NBRCNT", "NBRCTS", "MCTS", "PSTD", "ECNT", "RPS", "GRAD"} //nolint:gochecknoglobals // a constant table

// lineTypeOf finds the line type from which METviewer takes a statistic: with
// agg_stat or calc_stat the partial sums that the plot names, else the line
// type that holds the finished statistic.
func lineTypeOf(p *metviewer.Plot, stat string) (t *record.LineType, finished bool, err error) {
	sums := slices.Concat(p.Agg, p.Calc)
	for _, name := range sums {
		if slices.Contains(computed[name], Bare(name, stat)) {
			if t, ok := record.TypeByName(name); ok {
				return t, false, nil
			}
		}
	}
	if len(sums) > 0 {
		return nil, false, errors.New("is not computed from " + strings.Join(sums, ", "))
	}
	for _, name := range finishedTypes {
		if t, ok := record.TypeByName(name); ok && FinishedColumn(t, stat) != "" {
			return t, true, nil
		}
	}
	return nil, false, errors.New("is in no line type that is read")
}

// Bare is the name of a statistic without its line type, VL1L2_BIAS or
// VCNT_RMSVE, as ComputedStats has it.
func Bare(lineType, stat string) string {
	stat = strings.ToUpper(stat)
	if rest, ok := strings.CutPrefix(stat, lineType+"_"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(stat, "VCNT_"); ok && (lineType == "VL1L2" || lineType == "VAL1L2") {
		return rest
	}
	return stat
}

// FinishedColumn is the column of t that holds a finished statistic: rmse for
// RMSE, fbs for NBR_CNT_FBS; "" where there is none. METviewer writes the type
// before the names of all but CNT and CTS.
func FinishedColumn(t *record.LineType, stat string) string {
	name := strings.ToUpper(stat)
	if t.Name != "CNT" && t.Name != "CTS" {
		rest, ok := strings.CutPrefix(strings.Replace(name, "NBR_C", "NBRC", 1), t.Name+"_")
		if !ok {
			return ""
		}
		name = rest
	}
	c, ok := t.Column(strings.ToLower(name))
	if !ok || c.Kind != record.Float {
		return ""
	}
	return c.Name
}
