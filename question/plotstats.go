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
func lineTypeOf(p *metviewer.Plot, stat string) (*record.LineType, error) {
	sums := slices.Concat(p.Agg, p.Calc)
	for _, name := range sums {
		if slices.Contains(computed[name], Bare(name, stat)) {
			if t, ok := record.TypeByName(name); ok {
				return t, nil
			}
		}
	}
	if len(sums) > 0 {
		return nil, errors.New("is not computed from " + strings.Join(sums, ", "))
	}
	for _, name := range finishedTypes {
		if t, ok := record.TypeByName(name); ok && FinishedColumn(t, stat) != "" {
			return t, nil
		}
	}
	return nil, errors.New("is in no line type that is read")
}

// Finished reports whether the statistics of a line type stand finished in its
// columns, and are read, not computed.
func Finished(t *record.LineType) bool { return slices.Contains(finishedTypes, t.Name) }

// DefaultStat is the statistic that is drawn of a line type where none is
// named; "" where the line type has none.
func DefaultStat(t *record.LineType) string { return defaultStats[t.Name] }

var defaultStats = map[string]string{ //nolint:gochecknoglobals // a constant table
	"SAL1L2": "ANOM_CORR", "VAL1L2": "VAL1L2_ANOM_CORR", "SL1L2": "RMSE", "VL1L2": "VL1L2_RMSVE", "CTC": "CSI",
	"CNT": "RMSE", "CTS": "CSI", "VCNT": "VCNT_RMSVE", "NBRCNT": "NBR_CNT_FSS", "NBRCTS": "NBR_CTS_CSI", "MCTS": "MCTS_HSS",
	"PSTD": "PSTD_BRIER", "ECNT": "ECNT_CRPS", "RPS": "RPS_RPS", "GRAD": "GRAD_S1",
}

// statsOf lists the statistics of a line type by METviewer's names.
func statsOf(t *record.LineType) (names []string) {
	names = slices.Clone(computed[t.Name])
	for _, c := range t.Columns {
		if Finished(t) && c.Kind == record.Float {
			names = append(names, statOf(t, c.Name))
		}
	}
	return names
}

// statOf is METviewer's name of the finished statistic in a column.
func statOf(t *record.LineType, column string) string {
	if t.Name == "CNT" || t.Name == "CTS" {
		return strings.ToUpper(column)
	}
	return strings.Replace(t.Name, "NBRC", "NBR_C", 1) + "_" + strings.ToUpper(column)
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
	for _, c := range t.Columns {
		if c.Kind == record.Float && statOf(t, c.Name) == strings.ToUpper(stat) {
			return c.Name
		}
	}
	return ""
}
