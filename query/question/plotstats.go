package question

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// StatOf finds a statistic of q by METviewer's name. It returns a statistic that is read from a
// column if the drawing requests that or if the line type has no computed one of that name.
func StatOf(q *Question, name string) (stat.Stat, error) {
	if q.Drawing != nil && q.Drawing.FromColumns {
		return stat.Finished(name)
	}
	if isOnlyInColumn(q.Type, name) {
		return stat.Finished(name)
	}
	return stat.ByName(q.Type.Name, name)
}

// isOnlyInColumn reports whether a line type contains this statistic in a column and has no computed one
// of that name.
func isOnlyInColumn(t *record.LineType, name string) bool {
	_, err := stat.ByName(t.Name, name)
	s, columnErr := stat.Finished(name)
	return err != nil && columnErr == nil && s.LineType == t.Name
}

// IsDefaultStatFromColumn reports whether the default statistic of a line type is read from a column.
func IsDefaultStatFromColumn(t *record.LineType) bool { return isOnlyInColumn(t, DefaultStat(t)) }

// statsOf lists the names of all statistics of a line type.
func statsOf(t *record.LineType) (names []string) {
	names = statNames([]string{t.Name})
	for _, c := range t.Columns {
		if name := strings.ToUpper(c.Name); isOnlyInColumn(t, name) {
			names = append(names, name)
		}
	}
	return names
}

// DefaultStat is the statistic that is drawn of a line type if none is named; "" if the line type
// has none.
func DefaultStat(t *record.LineType) string { return defaultStats[t.Name] }

var defaultStats = map[string]string{ //nolint:gochecknoglobals // a constant table
	"SAL1L2": "ANOM_CORR", "VAL1L2": "VAL1L2_ANOM_CORR", "SL1L2": "RMSE", "VL1L2": "VL1L2_RMSVE", "CTC": "CSI",
	"CNT": "RMSE", "CTS": "CSI", "VCNT": "VCNT_RMSVE", "NBRCNT": "NBR_CNT_FSS", "NBRCTS": "NBR_CTS_CSI", "MCTS": "MCTS_HSS",
	"PCT": "PSTD_BRIER", "MCTC": "MCTS_HSS", "PSTD": "PSTD_BRIER", "ECNT": "ECNT_CRPS", "RPS": "RPS", "GRAD": "GRAD_S1",
	"MODE_OBJ_SINGLE": "AREA_AAA", "MODE_OBJ_PAIR": "INT_AA", "MTD_2D_OBJ": "2D_AREA_AAA", "MTD_3D_OBJ_SINGLE": "3D_VOLUME_AAA",
	"MTD_3D_OBJ_PAIR": "3D_INTEREST_AA", "TCMPR": "TK_ERR",
}

// sumTypes lists the line types from which statistics are computed.
func sumTypes() []string {
	return slices.Compact(lists.Map(stat.Table(), func(s stat.Stat) string { return s.LineType }))
}

// statNames lists the statistics that are computed from these line types.
func statNames(types []string) (names []string) {
	for _, s := range stat.Table() {
		if slices.Contains(types, s.LineType) {
			names = append(names, s.Name)
		}
	}
	return names
}

// lineTypeOf finds the line type from which METviewer takes a statistic. With agg_stat or calc_stat, it is the first of
// the partial sums that the plot names from which the statistic can be computed. Otherwise it is the line type with a
// column for the statistic, and fromColumns is true.
func lineTypeOf(p *metviewer.Plot, name string) (t *record.LineType, fromColumns bool, err error) {
	sums := slices.Concat(p.Agg, p.Calc)
	switch {
	case p.Roc != "":
		sums = []string{p.Roc}
	case p.Template == "taylor_plot":
		sums = []string{"SL1L2"}
	case p.Template == "ens_ss":
		sums = []string{"SSVAR"}
	case p.Template == "scorecard": // METviewer always computes its statistics from sums
		sums = []string{"SAL1L2", "SL1L2", "VL1L2", "VAL1L2", "CTC", "GRAD", "NBRCNT", "NBRCTC", "ECNT", "PCT", "RPS"}
	}
	var s stat.Stat
	why := ""
	for _, lineType := range sums {
		if s, err = stat.ByName(lineType, name); err == nil {
			break
		}
		why = cmp.Or(why, stat.UnsupportedReason(lineType, name))
	}
	if len(sums) > 0 && err != nil {
		if why != "" {
			return nil, false, errors.New(why)
		}
		if p.Template == "scorecard" {
			return nil, false, errors.New("is not computed from the sums of any line type" + fault.Meant(name, statNames(sums)))
		}
		for _, lineType := range sums {
			if _, ok := record.TypeByName(lineType); !ok {
				return nil, false, fmt.Errorf("%s is not a line type%s", lineType, fault.Meant(lineType, sumTypes()))
			}
		}
		return nil, false, errors.New("is not computed from " + strings.Join(sums, ", ") + fault.Meant(name, statNames(sums)))
	}
	if len(sums) == 0 {
		if s, err = stat.Finished(name); err != nil {
			return nil, false, errors.New("is not in any supported line type" + fault.Meant(name, statNames(sumTypes())))
		}
	}
	t, _ = record.TypeByName(s.LineType)
	return t, len(sums) == 0, nil
}
