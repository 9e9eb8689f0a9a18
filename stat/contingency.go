package stat

import (
	"math"
	"slices"
	"strings"
)

const fromCTC = "METcalcpy util/ctc_statistics.py calculate_"

// cellColumns are the cells of a contingency table: a hits, b false alarms, c misses, d correct negatives.
var cellColumns = []string{"fy_oy", "fy_on", "fn_oy", "fn_on"} //nolint:gochecknoglobals // a constant

// contingencyStats are computed from CTC lines. n is the total of the lines, which may differ from a+b+c+d because
// METdbLoad rounds VSDB's cells.
var contingencyStats = append([]Stat{ //nolint:gochecknoglobals // a constant table
	contingencyStat("BASER", "base rate, (a+c)/n", func(a, _, c, _, n float64) (float64, bool) { return div(a+c, n) }),
	contingencyStat("FMEAN", "forecast mean, (a+b)/n", func(a, b, _, _, n float64) (float64, bool) { return div(a+b, n) }),
	contingencyStat("ACC", "accuracy, (a+d)/n", func(a, _, _, d, n float64) (float64, bool) { return div(a+d, n) }),
	contingencyStat("FBIAS", "frequency bias, (a+b)/(a+c)", func(a, b, c, _, _ float64) (float64, bool) { return div(a+b, a+c) }),
	contingencyStat("PODY", "probability of detecting yes, a/(a+c)", func(a, _, c, _, _ float64) (float64, bool) { return div(a, a+c) }),
	contingencyStat("PODN", "probability of detecting no, d/(b+d)", func(_, b, _, d, _ float64) (float64, bool) { return div(d, b+d) }),
	contingencyStat("POFD", "probability of false detection, b/(b+d)", func(_, b, _, d, _ float64) (float64, bool) { return div(b, b+d) }),
	contingencyStat("FAR", "false alarm ratio, b/(a+b)", func(a, b, _, _, _ float64) (float64, bool) { return div(b, a+b) }),
	contingencyStat("CSI", "critical success index, a/(a+b+c)", func(a, b, c, _, _ float64) (float64, bool) { return div(a, a+b+c) }),
	contingencyStat("GSS", "Gilbert skill score (equitable threat score)", gilbert),
	contingencyStat("HK", "Hanssen-Kuipers discriminant, PODY − POFD",
		func(a, b, c, d, _ float64) (float64, bool) { return div(a*d-b*c, (a+c)*(b+d)) }),
	contingencyStat("HSS", "Heidke skill score", heidke),
	contingencyStat("ODDS", "odds ratio, ad/(bc)", func(a, b, c, d, _ float64) (float64, bool) { return div(a*d, b*c) }),
	contingencyStat("LODDS", "logarithm of the odds ratio", logOdds),
	contingencyStat("ORSS", "odds ratio skill score, (ad−bc)/(ad+bc)", func(a, b, c, d, _ float64) (float64, bool) { return div(a*d-b*c, a*d+b*c) }),
	contingencyStat("EDS", "extreme dependency score", extremeDependency),
	contingencyStat("SEDS", "symmetric extreme dependency score", symmetricExtremeDependency),
	contingencyStat("EDI", "extremal dependency index", extremalIndex),
	contingencyStat("SEDI", "symmetric extremal dependency index", symmetricExtremalIndex),
	contingencyStat("BAGSS", "bias-adjusted Gilbert skill score", biasAdjustedGilbert),
	contingencyStat("OY", "observed events, a+c", func(a, _, c, _, _ float64) (float64, bool) { return a + c, true }),
	contingencyStat("ON", "observed non-events, b+d", func(_, b, _, d, _ float64) (float64, bool) { return b + d, true }),
	contingencyStat("FY", "forecast events, a+b", func(a, b, _, _, _ float64) (float64, bool) { return a + b, true }),
	contingencyStat("FN", "forecast non-events, c+d", func(_, _, c, d, _ float64) (float64, bool) { return c + d, true }),
	{
		Name: "HSS_EC", LineType: "CTC", Needs: columns("fy_oy fn_on total ec_value"), Unit: UnitOne,
		Func:    func(v []float64) (float64, bool) { return div(v[0]+v[1]-v[3]*v[2], v[2]-v[3]*v[2]) },
		Summary: "Heidke skill score against a chance of ec_value, (a+d−ec·n)/(n−ec·n)",
		Source:  "MET User's Guide appendix C, HSS_EC; METcalcpy computes it only from MCTC",
	},
	columnStat("CTC", "FY_OY", "", UnitOne, "hits, a", fromCTC+"ctc_fy_oy"),
	columnStat("CTC", "FY_ON", "", UnitOne, "false alarms, b", fromCTC+"ctc_fy_on"),
	columnStat("CTC", "FN_OY", "", UnitOne, "misses, c", fromCTC+"ctc_fn_oy"),
	columnStat("CTC", "FN_ON", "", UnitOne, "correct negatives, d", fromCTC+"ctc_fn_on"),
}, pairCount("CTC"))

// neighborhoodCounts are the statistics of contingency tables that are computed from NBRCTC lines.
var neighborhoodCounts = append(forLineType( //nolint:gochecknoglobals // a constant table
	"NBRCTC", "BASER FMEAN ACC FBIAS PODY PODN POFD FAR CSI GSS HK HSS ODDS", "METcalcpy util/nbrctc_statistics.py", "", "", contingencyStats,
), pairCount("NBRCTC"))

// contingencyStat returns a row of the table from a function of a, b, c, d, n.
func contingencyStat(name, summary string, f func(a, b, c, d, n float64) (float64, bool)) Stat {
	return Stat{
		Name: name, LineType: "CTC", Needs: append(slices.Clip(cellColumns), "total"), Unit: UnitOne, Summary: summary,
		Source: fromCTC + strings.ToLower(name) + appendixC + "MET verification measures for categorical variables",
		Func:   func(v []float64) (float64, bool) { return f(v[0], v[1], v[2], v[3], v[4]) },
	}
}

// gilbert is (a−e)/(a+b+c−e), e the hits expected by chance.
func gilbert(a, b, c, _, n float64) (float64, bool) {
	e := (a + b) * (a + c) / n
	return div(a-e, a+b+c-e)
}

// heidke is (a+d−e)/(n−e), e the correct forecasts expected by chance.
func heidke(a, b, c, d, n float64) (float64, bool) {
	e := ((a+b)*(a+c) + (c+d)*(b+d)) / n
	return div(a+d-e, n-e)
}

// logOdds is undefined where any cell is empty.
func logOdds(a, b, c, d, _ float64) (float64, bool) {
	if min(a, b, c, d) <= 0 {
		return 0, false
	}
	return math.Log(a) + math.Log(d) - math.Log(b) - math.Log(c), true
}

// extremeDependency is 2·ln((a+c)/n)/ln(a/n) − 1: SEDS of a table with b = c. It is undefined without hits, and if all
// cases are hits.
func extremeDependency(a, _, c, d, n float64) (float64, bool) {
	return symmetricExtremeDependency(a, c, c, d, n)
}

// symmetricExtremeDependency is ln((a+b)(a+c)/n²)/ln(a/n) − 1. It is undefined where EDS is.
func symmetricExtremeDependency(a, b, c, _, n float64) (float64, bool) {
	if a <= 0 || a == n {
		return 0, false
	}
	return (math.Log((a+b)/n)+math.Log((a+c)/n))/math.Log(a/n) - 1, true
}

// logRates returns the logarithms of POFD, PODY and their complements: -Inf of 0, NaN of an undefined rate. A ratio of
// their sums is then NaN.
func logRates(a, b, c, d float64) (lnF, lnH, lnNotF, lnNotH float64) {
	return math.Log(b / (b + d)), math.Log(a / (a + c)), math.Log(d / (b + d)), math.Log(c / (a + c))
}

// extremalIndex is (ln F − ln H)/(ln F + ln H), with F = POFD and H = PODY. It is undefined if one of them is 0.
func extremalIndex(a, b, c, d, _ float64) (float64, bool) {
	lnF, lnH, _, _ := logRates(a, b, c, d)
	return div(lnF-lnH, lnF+lnH)
}

// symmetricExtremalIndex adds the complements of both rates to EDI. It is undefined if a rate is 0
// or 1.
func symmetricExtremalIndex(a, b, c, d, _ float64) (float64, bool) {
	lnF, lnH, lnNotF, lnNotH := logRates(a, b, c, d)
	return div(lnF-lnH+lnNotH-lnNotF, lnF+lnH+lnNotH+lnNotF)
}

// biasAdjustedGilbert is GSS for the hits that the forecast would have had without frequency bias
// (Mesinger 2008, dH/dF method, by Lambert's W). It is undefined without hits, false alarms or
// misses.
func biasAdjustedGilbert(a, b, c, _, n float64) (float64, bool) {
	if min(a, b, c) <= 0 {
		return 0, false
	}
	observed := a + c
	logRatio := math.Log(observed / c)
	hits := observed - b/logRatio*lambertW(observed/b*logRatio)
	chance := observed * observed / n
	return div(hits-chance, 2*observed-hits-chance)
}

// lambertW is the principal branch of Lambert's W, the w with w·eʷ = x, for x ≥ 0. Halley's iteration converges
// cubically from ln(1+x).
func lambertW(x float64) float64 {
	w := math.Log1p(x)
	for range 32 {
		e := math.Exp(w)
		f := w*e - x
		step := f / (e*(w+1) - (w+2)*f/(2*w+2))
		w -= step
		if math.Abs(step) <= 1e-15*(1+math.Abs(w)) {
			break
		}
	}
	return w
}
