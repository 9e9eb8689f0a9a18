package stat

import (
	"cmp"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// finishedTypes lists the line types in which METviewer looks for a finished statistic, by a prefix of its name, which
// is removed (MVUtil.java, buildPlotSql). For GRAD and SSIDX, METviewer's own query fails: it looks for S1 in CNT, and
// for SS_INDEX nowhere.
var finishedTypes = []struct{ prefix, lineType string }{ //nolint:gochecknoglobals // a constant table
	{"NBR_CNT_", "NBRCNT"},
	{"NBR_CTC_", "NBRCTC"},
	{"NBR_CTS_", "NBRCTS"},
	{"NBR_", "NBRCNT"},
	{"NBR_", "NBRCTS"},
	{"PSTD_", "PSTD"},
	{"PCT_", "PCT"},
	{"MCTS_", "MCTS"},
	{"SSVAR_", "SSVAR"},
	{"VL1L2_", "VL1L2"},
	{"VAL1L2_", "VAL1L2"},
	{"VCNT_", "VCNT"},
	{"ECNT_", "ECNT"},
	{"DMAP_", "DMAP"},
	{"ORANK_", "ORANK"},
	{"ENS_", "ENSCNT"},
	{"SEEPS_", "SEEPS"},
	{"RPS_", "RPS"},
	{"MPR_", "MPR"},
	{"CTC_", "CTC"},
	{"SL1L2_", "SL1L2"},
	{"SAL1L2_", "SAL1L2"},
	{"GRAD_", "GRAD"},
	{"", "CNT"},
	{"", "CTS"},
	{"", "RPS"},
	{"", "SEEPS"},
	{"", "GRAD"},
	{"", "SSIDX"},
	{"", "PSTD"}, // the names of 2010 for PSTD_BRIER …
	{"TCMPR_", "TCMPR"},
	{"", "TCMPR"},
}

// columnOfName has the columns of statistics whose name differs from the column's.
var columnOfName = map[string]string{ //nolint:gochecknoglobals // a constant table
	"IQR": "eiqr", "ANOM_CORR_RAW": "anom_corr_uncntr", "BCRMSE": "bcmse", "MPR_CLIMO": "obs_climo_mean",
}

// Finished finds a finished statistic by METviewer's name: one that a record contains in a column and that is not
// aggregated, such as rmse of CNT for RMSE, or fss of NBRCNT for NBR_FSS. The columns of its limits, if there are any,
// have the suffixes _ncl, _ncu, _bcl and _bcu.
func Finished(name string) (Stat, error) {
	name = strings.ToUpper(name)
	if s, ok := findObjectStat(name); ok {
		return s, nil
	}
	for _, f := range finishedTypes {
		bare, hasPrefix := strings.CutPrefix(name, f.prefix)
		t, _ := record.TypeByName(f.lineType)
		c, ok := t.Column(cmp.Or(columnOfName[name], strings.ToLower(bare)))
		if !hasPrefix || !ok || c.Kind == record.Text {
			continue
		}
		s := columnStat(t.Name, name, c.Name, "", "as the file has it", "")
		if name == "BCRMSE" {
			s.Func = rootOfMean
		}
		return s, nil
	}
	problem, cure := "is not in any supported line type", "see `barograph list linetypes`, or aggregate"
	return Stat{}, &fault.Error{Setting: "statistic " + name, Problem: problem, Cure: cure}
}

// Limits returns the columns of a finished statistic's limits. kind is MET's letter: n for normal limits, b for those
// of the bootstrap. ok is false if the line type has none. Func computes a limit from its column: those of BCRMSE are
// roots of the limits of bcmse, as in METviewer's query.
func (s *Stat) Limits(kind byte) (low, high string, ok bool) {
	t, _ := record.TypeByName(s.LineType)
	low, high = s.Needs[0]+"_"+string(kind)+"cl", s.Needs[0]+"_"+string(kind)+"cu"
	_, ok = t.Column(low)
	_, hasHigh := t.Column(high)
	return low, high, ok && hasHigh
}
