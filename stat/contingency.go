package stat

import "math"

const fromCTC = "METcalcpy util/ctc_statistics.py calculate_"

// counts is the order in which the contingency statistics take their columns:
// a hits, b false alarms, c misses, d correct negatives.
var counts = []string{"fy_oy", "fy_on", "fn_oy", "fn_on"} //nolint:gochecknoglobals // a constant

// contingencyStats are computed from CTC lines.
var contingencyStats = []Stat{ //nolint:gochecknoglobals // a constant table
	contingency("BASER", "baser", "base rate, (a+c)/n", func(a, b, c, d float64) (float64, bool) { return div(a+c, a+b+c+d) }),
	contingency("FMEAN", "fmean", "forecast mean, (a+b)/n", func(a, b, c, d float64) (float64, bool) { return div(a+b, a+b+c+d) }),
	contingency("ACC", "acc", "accuracy, (a+d)/n", func(a, b, c, d float64) (float64, bool) { return div(a+d, a+b+c+d) }),
	contingency("FBIAS", "fbias", "frequency bias, (a+b)/(a+c)", func(a, b, c, _ float64) (float64, bool) { return div(a+b, a+c) }),
	contingency("PODY", "pody", "probability of detecting yes, a/(a+c)", func(a, _, c, _ float64) (float64, bool) { return div(a, a+c) }),
	contingency("PODN", "podn", "probability of detecting no, d/(b+d)", func(_, b, _, d float64) (float64, bool) { return div(d, b+d) }),
	contingency("POFD", "pofd", "probability of false detection, b/(b+d)", func(_, b, _, d float64) (float64, bool) { return div(b, b+d) }),
	contingency("FAR", "far", "false alarm ratio, b/(a+b)", func(a, b, _, _ float64) (float64, bool) { return div(b, a+b) }),
	contingency("CSI", "csi", "critical success index, a/(a+b+c)", func(a, b, c, _ float64) (float64, bool) { return div(a, a+b+c) }),
	contingency("GSS", "gss", "Gilbert skill score (equitable threat score)", gilbert),
	contingency("HK", "hk", "Hanssen-Kuipers discriminant, PODY − POFD", hanssenKuipers),
	contingency("HSS", "hss", "Heidke skill score", heidke),
	contingency("ODDS", "odds", "odds ratio, ad/(bc)", func(a, b, c, d float64) (float64, bool) { return div(a*d, b*c) }),
	contingency("LODDS", "lodds", "logarithm of the odds ratio", logOdds),
	contingency("ORSS", "orss", "odds ratio skill score, (ad−bc)/(ad+bc)", func(a, b, c, d float64) (float64, bool) { return div(a*d-b*c, a*d+b*c) }),
	contingency("EDS", "eds", "extreme dependency score", extremeDependency),
	contingency("SEDS", "seds", "symmetric extreme dependency score", symmetricExtremeDependency),
	contingency("EDI", "edi", "extremal dependency index", extremalIndex),
	contingency("SEDI", "sedi", "symmetric extremal dependency index", symmetricExtremalIndex),
	contingency("BAGSS", "bagss", "bias-adjusted Gilbert skill score", biasAdjustedGilbert),
}

// contingency makes a row of the table from a function of a, b, c, d.
func contingency(name, source, summary string, f func(a, b, c, d float64) (float64, bool)) Stat {
	return Stat{
		Name: name, LineType: "CTC", Needs: counts, Unit: UnitOne, Summary: summary,
		Source: fromCTC + source + appendixC + "MET verification measures for categorical variables",
		Func:   func(v []float64) (float64, bool) { return f(v[0], v[1], v[2], v[3]) },
	}
}

// gilbert is (a−e)/(a+b+c−e), e the hits expected by chance.
func gilbert(a, b, c, d float64) (float64, bool) {
	e, ok := div((a+b)*(a+c), a+b+c+d)
	if !ok {
		return 0, false
	}
	return div(a-e, a+b+c-e)
}

func hanssenKuipers(a, b, c, d float64) (float64, bool) {
	return div(a*d-b*c, (a+c)*(b+d))
}

// heidke is (a+d−e)/(n−e), e the correct forecasts expected by chance.
func heidke(a, b, c, d float64) (float64, bool) {
	n := a + b + c + d
	e, ok := div((a+b)*(a+c)+(c+d)*(b+d), n)
	if !ok {
		return 0, false
	}
	return div(a+d-e, n-e)
}

// logOdds is undefined where any cell is empty.
func logOdds(a, b, c, d float64) (float64, bool) {
	if min(a, b, c, d) <= 0 {
		return 0, false
	}
	return math.Log(a) + math.Log(d) - math.Log(b) - math.Log(c), true
}

// extremeDependency is 2·ln((a+c)/n)/ln(a/n) − 1.
func extremeDependency(a, b, c, d float64) (float64, bool) {
	n := a + b + c + d
	if a <= 0 || a == n {
		return 0, false
	}
	return 2*math.Log((a+c)/n)/math.Log(a/n) - 1, true
}

// symmetricExtremeDependency is ln((a+b)(a+c)/n²)/ln(a/n) − 1.
func symmetricExtremeDependency(a, b, c, d float64) (float64, bool) {
	n := a + b + c + d
	if a <= 0 || a == n {
		return 0, false
	}
	return (math.Log((a+b)/n)+math.Log((a+c)/n))/math.Log(a/n) - 1, true
}

// rates are ln POFD, ln PODY and the logarithms of their complements; the
// complements' are -Inf where a rate is 1.
func rates(a, b, c, d float64) (lnF, lnH, lnNotF, lnNotH float64, ok bool) {
	if a <= 0 || b <= 0 {
		return 0, 0, 0, 0, false
	}
	h, f := a/(a+c), b/(b+d)
	return math.Log(f), math.Log(h), math.Log(d / (b + d)), math.Log(c / (a + c)), true
}

// extremalIndex is (ln F − ln H)/(ln F + ln H), F = POFD, H = PODY.
func extremalIndex(a, b, c, d float64) (float64, bool) {
	lnF, lnH, _, _, ok := rates(a, b, c, d)
	if !ok {
		return 0, false
	}
	return div(lnF-lnH, lnF+lnH)
}

// symmetricExtremalIndex adds the complements of both rates to EDI; undefined
// where a rate is 0 or 1.
func symmetricExtremalIndex(a, b, c, d float64) (float64, bool) {
	lnF, lnH, lnNotF, lnNotH, ok := rates(a, b, c, d)
	if !ok || c <= 0 || d <= 0 {
		return 0, false
	}
	return div(lnF-lnH+lnNotH-lnNotF, lnF+lnH+lnNotH+lnNotF)
}

// biasAdjustedGilbert is GSS for the hits that a forecast without frequency
// bias would have had (Mesinger 2008, dH/dF method, by Lambert's W). Undefined
// without hits, false alarms or misses.
func biasAdjustedGilbert(a, b, c, d float64) (float64, bool) {
	if min(a, b, c) <= 0 {
		return 0, false
	}
	observed, n := a+c, a+b+c+d
	lf := math.Log(observed / c)
	hits := observed - b/lf*lambertW(observed/b*lf)
	chance := observed * observed / n
	return div(hits-chance, 2*observed-hits-chance)
}

// lambertW is the principal branch of Lambert's W, the w with w·eʷ = x, for
// x ≥ 0, by Halley's iteration; it converges cubically from ln(1+x).
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
