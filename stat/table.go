package stat

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Units of statistics. Most are relative to the unit of the variable.
const (
	UnitOne             = "1"         // a pure number
	UnitVariable        = "variable"  // the unit of the variable
	UnitVariableSquared = "variable²" // its square
	UnitDegree          = "degree"    // of wind direction
	UnitDegreeSquared   = "degree²"
)

// Repeats in Stat.Needs denotes all repeating columns of a record, as in record.Batch.Repeats.
const Repeats = "repeats"

// Stat is a statistic of one line type.
type Stat struct {
	Name     string   // METviewer's name, in Table without the line type, see BareName: RMSE, ANOM_CORR
	LineType string   // SL1L2, CTC, PCT …
	Needs    []string // the columns that Func takes, by METviewer's name and in this order; Repeats is last
	Unit     string   // one of the Unit constants; "" for the value of a column that Finished found
	Summary  string   // a short description
	Source   string   // where the formula is published

	// Func computes the statistic from the aggregated columns, in the order of Needs and without NaN. It returns false
	// if they do not define it. Callers use Eval, which also rejects NaN and infinities.
	Func func(v []float64) (float64, bool)

	// RecordsFunc, used instead of Func, computes a statistic of objects from the columns of all records, in the order
	// of Needs. With PerCase, it gets the records of one time and lead, and the result is the mean or median over these
	// cases.
	RecordsFunc func(cols [][]float64) (float64, bool)
	PerCase     bool

	// ValuesFunc, used instead of Func, computes several values from all records of one time and lead: from the names
	// of their objects and from their columns in the order of Needs. The result is the mean or median of the values.
	ValuesFunc func(objects []string, cols [][]float64) []float64
}

// NeedsRecords reports whether s is computed from several records, which cannot be aggregated to one record first. Some
// statistics of objects are.
func (s *Stat) NeedsRecords() bool { return s.RecordsFunc != nil || s.ValuesFunc != nil }

// Table lists all statistics, grouped by line type. The caller must not change the slice or what it
// points to.
func Table() []Stat { return table }

var table = slices.Concat( //nolint:gochecknoglobals // a constant table
	scalarStats, anomalyStats, gradientStats, vectorStats, vectorAnomalyStats, contingencyStats, neighborhoodCounts,
	neighborhoodStats, categoryStats, probabilityStats, ensembleStats, rankedStats, spreadStats,
)

// Eval computes s from the columns v, in the order of s.Needs. It returns false if v contains a NaN
// or if the result is not finite. A zero is never negative.
func (s *Stat) Eval(v []float64) (float64, bool) {
	if s.Func == nil || slices.ContainsFunc(v, math.IsNaN) {
		return 0, false
	}
	if x, ok := s.Func(v); ok && isFinite(x) {
		return x + 0, true // converts −0 to 0
	}
	return 0, false
}

// prefixes are METviewer's prefixes of a line type's statistics, in addition to the type's name. The longer one is
// first.
var prefixes = map[string][]string{ //nolint:gochecknoglobals // a constant table
	"VL1L2": {"VCNT_"}, "NBRCNT": {"NBR_CNT_", "NBR_"}, "NBRCTC": {"NBR_CTC_", "NBR_"}, "NBRCTS": {"NBR_CTS_", "NBR_"},
	"PCT": {"PSTD_"}, "MCTC": {"MCTS_"}, "ENSCNT": {"ENS_"},
}

// BareName returns METviewer's name of a statistic without the line type: BIAS for VL1L2_BIAS, RMSVE for VCNT_RMSVE,
// FSS for NBR_FSS. ANOM_CORR_RAW is METviewer's other name of ANOM_CORR_UNCNTR. lineType is in upper case; the letter
// case of name does not matter.
func BareName(lineType, name string) string {
	name = strings.ToUpper(name)
	for _, p := range append(prefixes[lineType], lineType+"_") {
		if rest, ok := strings.CutPrefix(name, p); ok {
			name = rest
			break
		}
	}
	if name == "ANOM_CORR_RAW" {
		return "ANOM_CORR_UNCNTR"
	}
	return name
}

// ByName finds a statistic by METviewer's name, see BareName. If METviewer offers the statistic but it cannot be
// computed, the error has the reason. Letter case does not matter.
func ByName(lineType, name string) (Stat, error) {
	lineType = strings.ToUpper(lineType)
	wanted := BareName(lineType, name)
	var known []string
	for i := range table {
		if table[i].LineType != lineType {
			continue
		}
		if table[i].Name == wanted {
			return table[i], nil
		}
		known = append(known, table[i].Name)
	}
	if known == nil {
		return Stat{}, &fault.Error{
			Setting: strings.TrimSpace("statistic " + strings.ToUpper(name)), Problem: "cannot be computed from lines of " + lineType,
			Cure: "request its rows, or one of the line types " + strings.Join(lineTypes(), ", "),
		}
	}
	if reason := UnsupportedReason(lineType, name); reason != "" {
		cure := "choose another (barograph list statistics), or request finished statistics"
		return Stat{}, &fault.Error{Setting: "statistic " + strings.ToUpper(name), Problem: reason, Cure: cure}
	}
	if wanted == "" {
		return Stat{}, &fault.Error{Setting: lineType + " statistic", Problem: "is not named", Cure: "choose one of " + strings.Join(known, ", ")}
	}
	return Stat{}, fault.Unknown(lineType+" statistic", name, known)
}

// lineTypes names the line types of the table, which has all statistics of a type in sequence.
func lineTypes() []string {
	return slices.Compact(lists.Map(table, func(s Stat) string { return s.LineType }))
}

// RoundHalfUp rounds x to the given number of decimals, and ties towards +∞. METviewer prints statistics in this way,
// with 7 decimals (METcalcpy util/utils.py round_half_up, PRECISION = 7). A number that is too large to have decimals
// is returned unchanged.
func RoundHalfUp(x float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	if rounded := math.Floor(x*scale+0.5) / scale; isFinite(rounded) {
		return rounded
	}
	return x
}

// columns splits a list of columns, for Stat.Needs.
func columns(list string) []string { return strings.Fields(list) }

// newStat returns a row of the table. It appends the name of the statistic, in lower case, to source.
func newStat(lineType, source, name, needs, unit, summary string, f func(v []float64) (float64, bool)) Stat {
	source += strings.ToLower(name)
	return Stat{Name: name, LineType: lineType, Needs: columns(needs), Unit: unit, Summary: summary, Source: source, Func: f}
}

// columnStat returns a statistic that equals an aggregated column. The default column is the statistic's name in lower
// case.
func columnStat(lineType, name, column, unit, summary, source string) Stat {
	needs := columns(cmp.Or(column, strings.ToLower(name)))
	return Stat{Name: name, LineType: lineType, Needs: needs, Unit: unit, Summary: summary, Source: source, Func: firstColumn}
}

// pairCount returns the number of pairs of a line type.
func pairCount(lineType string) Stat {
	return columnStat(lineType, "TOTAL", "", UnitOne, "number of pairs", "METcalcpy util/utils.py get_total_values")
}

// forLineType copies the rows of a table with these names for another line type. In their needs, it replaces the column
// oldColumn by newColumn.
func forLineType(lineType, names, source, oldColumn, newColumn string, rows []Stat) (out []Stat) {
	for _, s := range rows {
		if slices.Contains(columns(names), s.Name) {
			s.LineType, s.Source = lineType, source+" "+strings.ToLower(s.Name)
			s.Needs = slices.Clone(s.Needs)
			if k := slices.Index(s.Needs, oldColumn); k >= 0 {
				s.Needs[k] = newColumn
			}
			out = append(out, s)
		}
	}
	return out
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// div is a/b. It is undefined if b is 0 or if the result is not finite. A zero is never negative.
func div(a, b float64) (float64, bool) {
	if x := a / b; isFinite(x) {
		return x + 0, true // converts −0 to 0
	}
	return 0, false
}

// nonNegative is x, undefined for x < 0: rounding of the partial sums can make a variance or a mean squared error
// slightly negative.
func nonNegative(x float64) (float64, bool) { return x, x >= 0 }

// root is √x, undefined and NaN where nonNegative is undefined.
func root(x float64) (float64, bool) { return math.Sqrt(x), x >= 0 }

// correlation is cov/√(var1·var2). It is undefined if a variance is not positive or if the result is beyond ±1. Because
// partial sums have about 9 digits, a result that exceeds ±1 by no more than this rounding counts as ±1: a perfect
// forecast has a correlation of 1.
func correlation(cov, var1, var2 float64) (float64, bool) {
	const rounding = 1e-9
	if var1 <= 0 || var2 <= 0 {
		return 0, false
	}
	r := cov / (math.Sqrt(var1) * math.Sqrt(var2))
	if math.Abs(r) > 1+rounding {
		return 0, false
	}
	return max(-1, min(1, r)), true
}
