package stat

import (
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
)

const fromPSTD = "METcalcpy util/pstd_statistics.py calculate_pstd_"

// probabilityStats are computed from PCT lines: a table of the events and non-events in each bin of forecast
// probability.
var probabilityStats = []Stat{ //nolint:gochecknoglobals // a constant table
	probabilityStat("BASER", "base rate", baseRate),
	probabilityStat("RELIABILITY", "reliability, the mean squared distance of probability and observed frequency", brier(1, 0, 0)),
	probabilityStat("RESOLUTION", "resolution, the mean squared distance of the bins' observed frequencies from the base rate",
		brier(0, 1, 0)),
	probabilityStat("UNCERTAINTY", "uncertainty, p(1−p) of the base rate p", brier(0, 0, 1)),
	probabilityStat("BRIER", "Brier score, RELIABILITY − RESOLUTION + UNCERTAINTY", brier(1, -1, 1)),
	probabilityStat("BSS_SMPL", "Brier skill score against the sample's base rate, (RESOLUTION − RELIABILITY)/UNCERTAINTY", func(b []bin) (float64, bool) {
		skill, _ := brier(-1, 1, 0)(b) // NaN without forecasts
		uncertainty, _ := brier(0, 0, 1)(b)
		return div(skill, uncertainty)
	}),
	probabilityStat("ROC_AUC", "area under the receiver operating characteristic", areaUnderROC),
	pairCount("PCT"),
}

// bin is a bin of forecast probability: its center, and the numbers of events and non-events.
type bin struct{ center, yes, no float64 }

// bins returns the bins of the repeating columns of PCT: thresh_i, oy_i, on_i of each bin, and the last threshold. It
// uses the exact center of a bin, which METviewer rounds to three decimals. If the last bin is the probability 1, each
// bin is one probability, thresh_i, as in VSDB's RELI (see eval). It skips bins without forecasts.
func bins(v []float64) (b []bin) {
	upper := 3 // the next threshold
	if last := len(v) - 1; last > 2 && v[last-3] == 1 {
		upper = 0
	}
	for ; len(v) >= 4; v = v[3:] {
		if v[1]+v[2] > 0 {
			b = append(b, bin{center: (v[0] + v[upper]) / 2, yes: v[1], no: v[2]})
		}
	}
	return b
}

func probabilityStat(name, summary string, f func(b []bin) (float64, bool)) Stat {
	return Stat{
		Name: name, LineType: "PCT", Needs: columns(Repeats), Unit: UnitOne, Summary: summary,
		Source: fromPSTD + strings.ToLower(name) + appendixC + "MET verification measures for probabilistic forecasts",
		Func:   func(v []float64) (float64, bool) { return f(bins(v)) },
	}
}

func baseRate(b []bin) (float64, bool) {
	yes, all := 0.0, 0.0
	for _, x := range b {
		yes, all = yes+x.yes, all+x.yes+x.no
	}
	return div(yes, all)
}

// brier returns the sum of the three terms of the Brier score with these weights.
func brier(reliability, resolution, uncertainty float64) func(b []bin) (float64, bool) {
	return func(b []bin) (float64, bool) {
		p, ok := baseRate(b)
		sum, all := 0.0, 0.0
		for _, x := range b {
			n := x.yes + x.no
			o := x.yes / n
			all += n
			sum += n * (reliability*(x.center-o)*(x.center-o) + resolution*(o-p)*(o-p))
		}
		return sum/all + uncertainty*p*(1-p), ok
	}
}

// areaUnderROC is the sum of the trapezoids below the curve of hit rate and false alarm rate, from (1, 1) to (0, 0).
// Each bin adds a point: that of forecasting an event if the probability exceeds the bin. It is undefined without
// events or without non-events.
func areaUnderROC(b []bin) (area float64, ok bool) {
	events, nonEvents := 0.0, 0.0
	for _, x := range b {
		events, nonEvents = events+x.yes, nonEvents+x.no
	}
	hits := events
	for _, x := range b {
		next := hits - x.yes
		area += (hits + next) / 2 * x.no
		hits = next
	}
	return div(area, events*nonEvents)
}

// categoryStats are computed from MCTC lines: n_cat, the counts of forecast category i and observed category j, row by
// row, and for HSS_EC ec_value.
var categoryStats = []Stat{ //nolint:gochecknoglobals // a constant table
	categoryStat("ACC", "accuracy, the share of the diagonal", func(t squareTable) (float64, bool) { return t.diagonal(), true }),
	categoryStat("HK", "Hanssen-Kuipers discriminant, (Σp_ii − Σf_i·o_i)/(1 − Σo_i²)",
		func(t squareTable) (float64, bool) { return div(t.diagonal()-dot(t.f, t.o), 1-dot(t.o, t.o)) }),
	categoryStat("HSS", "Heidke skill score, (Σp_ii − Σf_i·o_i)/(1 − Σf_i·o_i)",
		func(t squareTable) (float64, bool) { return div(t.diagonal()-dot(t.f, t.o), 1-dot(t.f, t.o)) }),
	categoryStat("GER", "Gerrity score", gerrity),
	categoryStat("HSS_EC", "Heidke skill score against a chance of ec_value, (Σp_ii − ec)/(1 − ec)",
		func(t squareTable) (float64, bool) { return div(t.diagonal()-t.ec, 1-t.ec) }),
	pairCount("MCTC"),
}

// squareTable is a contingency table of several categories, as relative frequencies.
type squareTable struct {
	ec   float64     // ec_value, only for HSS_EC
	f, o []float64   // shares of each category, forecast and observed
	p    [][]float64 // share of each cell, by forecast and observed category
}

func categoryStat(name, summary string, f func(t squareTable) (float64, bool)) Stat {
	source := "MET User's Guide appendix C, MET verification measures for multi-category variables"
	needs := columns("n_cat " + Repeats)
	if name == "HSS_EC" {
		source, needs = "METcalcpy util/mcts_statistics.py calculate_mcts_hss_ec; "+source, columns("n_cat ec_value "+Repeats)
	}
	return Stat{
		Name: name, LineType: "MCTC", Needs: needs, Unit: UnitOne, Summary: summary, Source: source,
		Func: func(v []float64) (float64, bool) {
			n, counts := int(v[0]), v[len(needs)-1:]
			sum := lists.Sum(slices.Values(counts))
			if n < 1 || n*n != len(counts) || sum == 0 {
				return 0, false
			}
			t := squareTable{ec: v[1], f: make([]float64, n), o: make([]float64, n)}
			for i := range n {
				t.p = append(t.p, make([]float64, n))
				for j := range n {
					share := counts[i*n+j] / sum
					t.p[i][j], t.f[i], t.o[j] = share, t.f[i]+share, t.o[j]+share
				}
			}
			return f(t)
		},
	}
}

// dot is Σ a_i·b_i.
func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func (t squareTable) diagonal() (sum float64) {
	for i := range t.p {
		sum += t.p[i][i]
	}
	return sum
}

// gerrity is the Gerrity score (Gerrity 1992), which gives cells of rare categories a greater weight. a are the odds of
// an observation above each category. It is undefined if the first or the last categories have no observations.
func gerrity(t squareTable) (score float64, ok bool) {
	k := len(t.o)
	a := make([]float64, k-1)
	for r := range a {
		below, above := lists.Sum(slices.Values(t.o[:r+1])), lists.Sum(slices.Values(t.o[r+1:]))
		if below == 0 || above == 0 {
			return 0, false
		}
		a[r] = above / below
	}
	for i := range k {
		for j := range k {
			s := -math.Abs(float64(i - j))
			for r := range a {
				switch {
				case r < min(i, j):
					s += 1 / a[r]
				case r >= max(i, j):
					s += a[r]
				}
			}
			score += t.p[i][j] * s / float64(k-1)
		}
	}
	return score, k > 1
}
