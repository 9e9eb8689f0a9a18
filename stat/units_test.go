package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// eachRandomCase calls f with random records of several line types, which exercise each method of aggregation. One record
// of each call has no pairs.
func eachRandomCase(t *testing.T, names map[string][]string, f func(lt string, s *Stat, cols [][]float64)) {
	t.Helper()
	for _, a := range readAnswers(t) {
		if a.Case != "random" {
			continue
		}
		lt := lineType(t, a.Type)
		for _, name := range names[a.Type] {
			cols := a.cols(lt)
			if c, ok := lt.Column("total"); ok { // means of no pairs are missing
				for k := range cols {
					v := math.NaN()
					switch {
					case k == c.Slot:
						v = 0
					case k >= lt.NumCols() || k > 0 && cols[k][0] == cols[k][1]:
						v = cols[k][0]
					}
					cols[k] = append(cols[k], v)
				}
			}
			f(a.Type, statOf(t, a.Type, name), cols)
		}
	}
}

// rowsOf takes records out of columns.
func rowsOf(cols [][]float64, rows []int) [][]float64 {
	out := make([][]float64, len(cols))
	for k := range cols {
		for _, i := range rows {
			out[k] = append(out[k], cols[k][i])
		}
	}
	return out
}

// TestReplicatesAreStatisticsOfTheDrawnRecords: each replicate, and each value of the jackknife, is the result of
// Summarize for its records.
func TestReplicatesAreStatisticsOfTheDrawnRecords(t *testing.T) {
	names := map[string][]string{
		"SL1L2": {"RMSE"}, "CTC": {"CSI"}, "NBRCNT": {"FSS"}, "ECNT": {"SPREAD", "ME_GE_OBS"}, "RPS": {"RPSS"}, "VL1L2": {"UFBAR"}, "PCT": {"BRIER"}, "SSVAR": {"RMSE"},
	}
	seen := map[string]bool{}
	eachRandomCase(t, names, func(name string, s *Stat, cols [][]float64) {
		lt := lineType(t, name)
		all, ok, err := Summarize(Overall, s, lt, cols)
		if !ok || err != nil {
			return // a line type whose random records do not define it with one without pairs
		}
		seen[name] = true
		terms := newSeriesTerms(newPlan(lt, len(cols), !equalWeights), s, cols)
		n := len(cols[0])
		if terms.records != n {
			t.Fatalf("%s: %d records, want %d", name, terms.records, n)
		}
		for _, block := range []int{0, 1, 3, n} {
			b := Bootstrap{Seed: 7, Replicates: 20, Block: block}
			size := block
			if block == 0 {
				size = max(1, int(math.Sqrt(float64(n))))
			}
			for r, got := range b.replicates(firstOf, []*seriesTerms{terms}) {
				random := rand.New(rand.NewPCG(7, uint64(r))) //nolint:gosec // not negative
				var picked []int
				for len(picked) < n {
					start := random.IntN(n)
					for k := range size {
						picked = append(picked, (start+k)%n)
					}
				}
				want, ok, err := Summarize(Overall, s, lt, rowsOf(cols, picked[:n]))
				if err != nil || ok == math.IsNaN(got) || ok && !near(got, want, 1e-9) {
					t.Errorf("%s %s, block %d, replicate %d: %v, want %v, %v, %v", name, s.Name, block, r, got, want, ok, err)
				}
			}
			var want []float64
			for at := 0; at < n; at += size {
				var left []int
				for i := range n {
					if i < at || i >= at+size {
						left = append(left, i)
					}
				}
				if v, ok, _ := Summarize(Overall, s, lt, rowsOf(cols, left)); ok {
					want = append(want, v)
				}
			}
			if got := b.jackknife(firstOf, []*seriesTerms{terms}); !slices.EqualFunc(got, want, func(x, y float64) bool { return near(x, y, 1e-9) }) {
				t.Errorf("%s %s, block %d: without each block %v, want %v", name, s.Name, block, got, want)
			}
		}
		iv, ok, err := Bootstrap{Seed: 7, Replicates: 50}.Interval(s, lt, cols)
		if err != nil || !ok || iv.Value != all {
			t.Errorf("%s %s: %+v, %v, %v; want %v", name, s.Name, iv, ok, err, all)
		}
	})
	for name := range names {
		if !seen[name] {
			t.Errorf("no statistic of %s was resampled", name)
		}
	}
}

// TestCorrectTails: the tails of BCa are Efron's (1987), by another normal distribution.
func TestCorrectTails(t *testing.T) {
	sorted := make([]float64, 999)
	for i := range sorted {
		sorted[i] = float64(i)
	}
	without := []float64{1, 2, 3, 4, 9}
	normal := distuv.UnitNormal
	for _, value := range []float64{0, 300, 499.5, 998, 2000} {
		at := 0
		for at < len(sorted) && sorted[at] < value {
			at++
		}
		z0 := normal.Quantile((float64(at) + 0.5) / 1000)
		mean, square, cube := 3.8, 0.0, 0.0
		for _, v := range without {
			d := mean - v
			square += d * d
			cube += d * d * d
		}
		a := cube / (6 * math.Pow(square, 1.5))
		tail := func(p float64) float64 {
			z := z0 + normal.Quantile(p)
			return normal.CDF(z0 + z/(1-a*z))
		}
		low, high := correctTails(0.025, value, sorted, without)
		if !near(low, tail(0.025), 1e-9) || !near(high, tail(0.975), 1e-9) {
			t.Errorf("value %g: tails %g and %g, want %g and %g", value, low, high, tail(0.025), tail(0.975))
		}
	}
	// Equal values without each block have no acceleration.
	if low, high := correctTails(0.1, 499.5, sorted, []float64{2, 2}); !near(low, 0.1, 2e-3) || !near(high, 0.9, 2e-3) {
		t.Errorf("tails %g and %g", low, high)
	}
}

// TestBootstrapDefaults: options that are not given, or are out of range.
func TestBootstrapDefaults(t *testing.T) {
	for given, want := range map[float64]float64{0: 0.95, -1: 0.95, 1: 0.95, 2: 0.95, 0.5: 0.5, 0.999: 0.999, 0.001: 0.001} {
		if got := (Bootstrap{Confidence: given}).confidence(); got != want {
			t.Errorf("confidence %g is %g, want %g", given, got, want)
		}
	}
	for _, x := range [][3]int{{0, 1, 1}, {0, 3, 1}, {0, 4, 2}, {0, 99, 9}, {1, 99, 1}, {7, 3, 7}} {
		if got := (Bootstrap{Block: x[0]}).block(x[1]); got != x[2] {
			t.Errorf("block %d of %d records is %d, want %d", x[0], x[1], got, x[2])
		}
	}
	cols := columnsOf(rand.New(rand.NewPCG(1, 2)), 30)
	s, lt := statOf(t, "SL1L2", "ME"), lineType(t, "SL1L2")
	given, _, err := Bootstrap{Replicates: 1000, Seed: 3, Workers: 2}.Interval(s, lt, cols)
	if got, ok, _ := (Bootstrap{Seed: 3}).Interval(s, lt, cols); !ok || err != nil || got != given {
		t.Errorf("%+v, want %+v", got, given)
	}
	// The spread is the replicates' standard deviation, the limits are their quantiles.
	values := Bootstrap{Replicates: 1000, Seed: 3}.replicates(firstOf, []*seriesTerms{newSeriesTerms(newPlan(lt, len(cols), !equalWeights), s, cols)})
	slices.Sort(values)
	if _, sd := meanAndDeviation(values); given.Spread != sd || !near(given.Low, quantile(values, 0.025), 1e-12) || !near(given.High, quantile(values, 0.975), 1e-12) || given.Undefined != 0 {
		t.Errorf("%+v; spread %g, limits %g and %g", given, sd, quantile(values, 0.025), quantile(values, 0.975))
	}
}

// TestSignificance: the share of replicates that are no farther from their mean than the difference is from zero, and
// its sign.
func TestSignificance(t *testing.T) {
	lt, boot := lineType(t, "SL1L2"), Bootstrap{Seed: 4, Replicates: 300}
	one := columnsOf(rand.New(rand.NewPCG(5, 6)), 40)
	other := rowsOf(one, rand.New(rand.NewPCG(7, 8)).Perm(40))
	for i := range other[1] {
		other[1][i] += 0.2 // farther from the observations: the bias is positive
	}
	for _, name := range []string{"ME", "PR_CORR", "MBIAS"} {
		s := statOf(t, "SL1L2", name)
		a, b := Series{s, lt, one}, Series{s, lt, other}
		va, _, _ := Summarize(Overall, s, lt, one)
		vb, _, _ := Summarize(Overall, s, lt, other)
		values := boot.replicates(func(v []float64) float64 { return v[0] - v[1] }, []*seriesTerms{newSeriesTerms(newPlan(lt, 7, !equalWeights), s, one), newSeriesTerms(newPlan(lt, 7, !equalWeights), s, other)})
		mean, _ := weightedMean(values, nil)
		within := 0.0
		for _, d := range values {
			if math.Abs(d-mean) <= math.Abs(va-vb) {
				within++
			}
		}
		want := within / 300
		score, known := s.PerfectScore()
		if !known {
			t.Fatalf("%s has no perfect score", name)
		}
		if math.Abs(va-score) > math.Abs(vb-score) {
			want = -want
		}
		if got, ok, err := boot.Significance(a, b); !ok || err != nil || !near(got, want, 1e-12) {
			t.Errorf("%s: %v, %v, %v; want %v", name, got, ok, err, want)
		}
	}
}

// TestPerfect: statistics of a table and statistics that a record contains have the same perfect scores.
func TestPerfect(t *testing.T) {
	for name, want := range map[string]float64{"RMSE": 0, "CSI": 1, "FBAR": math.NaN(), "BIAS": 0, "RPSS": 1} {
		if got, ok := (&Stat{Name: name}).PerfectScore(); !ok || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	for name, want := range map[string]float64{"PSTD_BRIER": 0, "MCTS_HSS": 1, "NBR_FSS": 1, "NBR_CTS_CSI": 1, "NBR_FAR": 0, "IQR": 0, "ENS_CRPSS": 1} {
		s, err := Finished(name)
		if got, ok := s.PerfectScore(); !ok || err != nil || got != want {
			t.Errorf("%s of the column %s of %s: %v, %v, %v; want %v", name, s.Needs, s.LineType, got, ok, err, want)
		}
	}
	for _, f := range finishedTypes { // a prefix does not change the score
		for _, c := range lineType(t, f.lineType).Columns {
			s, err := Finished(f.prefix + c.Name)
			bare := Stat{Name: strings.ToUpper(c.Name)}
			want, known := bare.PerfectScore()
			if got, ok := s.PerfectScore(); err == nil && (ok != known || got != want && !math.IsNaN(want)) {
				t.Errorf("%s%s of %s: %v, %v; want %v, %v", f.prefix, c.Name, f.lineType, got, ok, want, known)
			}
		}
	}
	if _, ok := (&Stat{Name: "ODDS"}).PerfectScore(); ok {
		t.Error("ODDS has no perfect score")
	}
}

// TestDeviation: the divisor is n − 1, and the deviation of fewer than two values is 0.
func TestDeviation(t *testing.T) {
	for _, x := range []struct {
		values   []float64
		mean, sd float64
	}{{nil, 0, 0}, {[]float64{3}, 3, 0}, {[]float64{1, 3}, 2, math.Sqrt2}, {[]float64{1, 2, 3}, 2, 1}, {[]float64{-1, 0, 0, 5}, 1, math.Sqrt(22.0 / 3)}} {
		if mean, sd := meanAndDeviation(x.values); mean != x.mean || !near(sd, x.sd, 1e-12) {
			t.Errorf("%v: %g, %g", x.values, mean, sd)
		}
	}
}

// TestSummaryOfValues: quantiles, medians, means, sums and boxes by hand.
func TestSummaryOfValues(t *testing.T) {
	nan := math.NaN()
	for _, x := range []struct {
		values            []float64
		mean, median, sum float64
		ok                bool
	}{
		{nil, 0, 0, 0, false},
		{[]float64{nan}, 0, 0, 0, false},
		{[]float64{2}, 2, 2, 2, true},
		{[]float64{5, 1}, 3, 3, 6, true},
		{[]float64{5, nan, 1, 3}, 3, 3, 9, true},
		{[]float64{9, 1, 2, 4}, 4, 3, 16, true},
	} {
		given := slices.Clone(x.values)
		for m, want := range map[SummaryMethod]float64{MeanOfStats: x.mean, MedianOfStats: x.median, SumOfStats: x.sum} {
			if got, ok := m.Combine(given); got != want || ok != x.ok {
				t.Errorf("method %d of %v: %g, %v; want %g, %v", m, x.values, got, ok, want, x.ok)
			}
		}
		if fmt.Sprint(given) != fmt.Sprint(x.values) {
			t.Errorf("%v became %v", x.values, given)
		}
	}
	sorted := []float64{0, 10, 20, 40}
	for q, want := range map[float64]float64{0: 0, 0.25: 7.5, 0.5: 15, 0.75: 25, 0.9: 34, 1: 40} {
		if got := quantile(sorted, q); !near(got, want, 1e-12) {
			t.Errorf("quantile %g: %g, want %g", q, got, want)
		}
	}
	b, ok := BoxOf([]float64{4, nan, 100, 3, -50, 2, 1, 5, -60, 7})
	want := Box{LowerQuartile: 1, Median: 3, UpperQuartile: 5, WhiskerLow: 1, WhiskerHigh: 7, Outliers: []float64{-60, -50, 100}}
	if !ok || fmt.Sprint(b) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", b, want)
	}
	// Values at the reach itself are within.
	if b, _ = BoxOf([]float64{-3, 1, 2, 3, 4, 5, 9}); b.WhiskerLow != -3 || b.WhiskerHigh != 9 || len(b.Outliers) != 0 {
		t.Errorf("%+v", b)
	}
	if _, ok := BoxOf([]float64{nan}); ok {
		t.Error("a box of nothing")
	}
}

// TestStandardErrorsOfRandomSeries: METcalcpy's inflation by the first autocorrelation, in each of its ranges.
func TestStandardErrorsOfRandomSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	ranges := map[string]int{}
	for range 3000 {
		values := make([]float64, 3+r.IntN(4))
		for i := range values {
			values[i] = float64(r.IntN(4))
		}
		mean, sd := meanAndDeviation(values)
		if sd == 0 {
			if got := StandardError(MeanOfStats, values, true); got != 0 {
				t.Errorf("%v: %g", values, got)
			}
			continue
		}
		rho := autocorrelation(values, mean)
		want := sd / math.Sqrt(float64(len(values)))
		switch {
		case math.Abs(rho) > 1:
			ranges["beyond"]++
			want = math.NaN()
		case rho >= 0.99:
			ranges["one"]++
		case rho >= 0.3:
			ranges["inflated"]++
			want *= math.Sqrt((1 + rho) / (1 - rho))
		default:
			ranges["small"]++
		}
		if got := StandardError(MeanOfStats, append(values, math.NaN()), true); !near(got, want, 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%v, autocorrelation %g: %g, want %g", values, rho, got, want)
		}
	}
	if ranges["beyond"] == 0 || ranges["inflated"] == 0 || ranges["small"] == 0 {
		t.Errorf("%v", ranges)
	}
}

// TestEquivalence: Outcome describes both tests in words. Equivalent needs two cases, and pairs values by their index.
func TestEquivalence(t *testing.T) {
	for _, x := range []struct {
		e    EquivalenceTest
		want string
	}{
		{EquivalenceTest{Bounds: [2]float64{-1, 1}, Narrow: [2]float64{-0.5, 0.5}, Wide: [2]float64{-0.6, 0.6}}, "not different and equivalent"},
		{EquivalenceTest{Bounds: [2]float64{-1, 1}, Narrow: [2]float64{0.2, 0.5}, Wide: [2]float64{0.1, 0.6}}, "different and equivalent"},
		{EquivalenceTest{Bounds: [2]float64{-1, 1}, Narrow: [2]float64{-2, -1.5}, Wide: [2]float64{-3, -0.1}}, "different and not equivalent"},
		{EquivalenceTest{Bounds: [2]float64{-1, 1}, Narrow: [2]float64{-0.5, 1.5}, Wide: [2]float64{-1, 2}}, "not different and not equivalent"},
		{EquivalenceTest{Bounds: [2]float64{-1, 1}, Narrow: [2]float64{-1, 1}, Wide: [2]float64{0, 2}}, "not different and not equivalent"},
		{EquivalenceTest{Bounds: [2]float64{-1, 1}, Narrow: [2]float64{-0.9, 1}, Wide: [2]float64{-2, 0}}, "not different and not equivalent"},
	} {
		if got := x.e.Outcome(); got != x.want {
			t.Errorf("%+v: %s", x.e, got)
		}
	}
	e, ok := Equivalent([]float64{2, 4}, []float64{1, 1, 9}, -0.5, 0.25)
	if !ok || e.N != 2 || e.Difference != 2 || !near(e.Bounds[0], -0.5*math.Sqrt2, 1e-12) || !near(e.Bounds[1], 0.25*math.Sqrt2, 1e-12) {
		t.Errorf("%+v, %v", e, ok)
	}
	student := distuv.StudentsT{Sigma: 1, Nu: 1}
	if !near(e.Narrow[1]-2, student.Quantile(0.95), 1e-9) || !near(2-e.Wide[0], student.Quantile(0.975), 1e-9) {
		t.Errorf("%+v", e)
	}
	if e, ok := Equivalent([]float64{2}, []float64{1}, -1, 1); ok || e.N != 1 {
		t.Errorf("%+v, %v", e, ok)
	}
	if got := MeanDifferenceConfidence([]float64{1, 2}); !near(got, 1-2*student.Survival(3), 1e-9) || got == 0 {
		t.Errorf("two cases: %g", got)
	}
}

// TestCorrelationsBeyondOne: rounding of partial sums is allowed for, and no more.
func TestCorrelationsBeyondOne(t *testing.T) {
	for _, x := range []struct {
		cov, one, two, want float64
		ok                  bool
	}{
		{1, 1, 1, 1, true},
		{-1, 1, 1, -1, true},
		{1 + 5e-10, 1, 1, 1, true},
		{-1 - 5e-10, 1, 1, -1, true},
		{1 + 2e-9, 1, 1, 0, false},
		{-1 - 2e-9, 1, 1, 0, false},
		{1, 0, 1, 0, false},
		{1, 1, 0, 0, false},
		{0, 0, 1, 0, false},
		{0, 1, 0, 0, false},
		{1, -1, -1, 0, false},
		{1, 4, 1, 0.5, true},
		{1, 1, 4, 0.5, true},
	} {
		if got, ok := correlation(x.cov, x.one, x.two); got != x.want || ok != x.ok {
			t.Errorf("%+v: %v, %v", x, got, ok)
		}
	}
	if _, ok := root(-1e-9); ok {
		t.Error("a root of a negative number")
	}
	if got, ok := root(0); !ok || got != 0 {
		t.Errorf("√0 is %v, %v", got, ok)
	}
}

// TestMergedAggregates: two merged halves equal the aggregate of all records, and a constant that differs between
// them is missing.
func TestMergedAggregates(t *testing.T) {
	for _, a := range readAnswers(t) {
		if a.Case != "random" {
			continue
		}
		lt := lineType(t, a.Type)
		cols := a.cols(lt)
		p := newPlan(lt, len(cols), !equalWeights)
		all, parts, empty := p.newAggregate(), []*Aggregate{p.newAggregate(), p.newAggregate()}, p.newAggregate()
		i := 0
		eachRow(cols, func(_ int, row []float64) {
			all.Add(row)
			parts[i%2].Add(row)
			i++
		})
		empty.Merge(parts[0])
		empty.Merge(p.newAggregate())
		empty.Merge(parts[1])
		if empty.records != all.records {
			t.Errorf("%s: %d records, want %d", a.Type, empty.records, all.records)
		}
		for k := range all.sums {
			if !near(all.sums[k], empty.sums[k], 1e-9) && !(math.IsNaN(all.sums[k]) && math.IsNaN(empty.sums[k])) {
				t.Errorf("%s: sum %d is %g, want %g", a.Type, k, empty.sums[k], all.sums[k])
			}
		}
	}
	ctc := NewAggregate(lineType(t, "CTC"))
	other := NewAggregate(lineType(t, "CTC"))
	ctc.Add([]float64{4, 1, 1, 1, 1, 0.5})
	other.Add([]float64{4, 1, 1, 1, 1, 0.25})
	if ctc.Merge(other); true {
		if v, ok := ctc.Column("ec_value"); ok {
			t.Errorf("two values of ec_value are %g", v)
		}
		if v, ok := ctc.Column("fy_oy"); !ok || v != 2 {
			t.Errorf("%g hits, %v", v, ok)
		}
	}
	zero := NewAggregate(lineType(t, "CTC")) // a constant 0 is a value, too
	zero.Add([]float64{4, 1, 1, 1, 1, 0})
	zero.Merge(other)
	if v, ok := zero.Column("ec_value"); ok {
		t.Errorf("0 and another value of ec_value are %g", v)
	}
	if _, ok := ctc.Column("nothing"); ok {
		t.Error("a column that does not exist")
	}
	if ctc.Reset(); true {
		if _, ok := ctc.Column("fy_oy"); ok || ctc.records != 0 {
			t.Error("an empty aggregate has columns")
		}
	}
}

// TestAbsentObjects: statistics of objects are undefined if no object has the flags of the name. The greatest
// interest of an object may be 0 and may be that of its first pair.
func TestAbsentObjects(t *testing.T) {
	s, err := Finished("CNT_FCU")
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := s.RecordsFunc([][]float64{{1}, {1}, {0}}); ok || n != 0 {
		t.Errorf("%g objects, %v", n, ok)
	}
	if n, ok := s.RecordsFunc([][]float64{{1, 1}, {0, 1}, {0, 0}}); !ok || n != 1 {
		t.Errorf("%g objects, %v", n, ok)
	}
	if s, err = Finished("MAXINTF_SA"); err != nil {
		t.Fatal(err)
	}
	ids := []string{"F001_O001", "F001_O002", "F002_O001", "F003_O001", "F003_O002"}
	if got := s.ValuesFunc(ids, [][]float64{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {0.9, 0.4, 0, 0.2, 0.2}}); !slices.Equal(got, []float64{0.9, 0, 0.2}) {
		t.Errorf("greatest interests %v", got)
	}
	for letters, want := range map[string]bool{"FSM": true, "ASM": true, "AAA": true, "OSM": false, "FCM": false, "FSU": false} {
		if got := hasFlags([]float64{1, 1, 1}, letters); got != want {
			t.Errorf("%s: %v", letters, got)
		}
	}
	for letters, want := range map[string]bool{"OCU": true, "AAU": true, "FAA": false, "ASA": false, "AAM": false} {
		if got := hasFlags([]float64{0, 0, 0}, letters); got != want {
			t.Errorf("%s: %v", letters, got)
		}
	}
	// The cover of nothing is undefined.
	if s, err = Finished("ACOV_FAA"); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.RecordsFunc([][]float64{{0}, {1}, {1}, {5}, {100}}); ok {
		t.Errorf("forecast objects cover %g", v)
	}
	if v, ok := s.RecordsFunc([][]float64{{1}, {1}, {1}, {5}, {0}}); ok {
		t.Errorf("a grid of nothing is covered by %g", v)
	}
}

// TestFinishedLimits: a line type with limits has both columns.
func TestFinishedLimits(t *testing.T) {
	s, err := Finished("RMSE")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[byte]string{'b': "rmse_bcl rmse_bcu true", 'n': "rmse_ncl rmse_ncu false"} {
		low, high, ok := s.Limits(kind)
		if got := fmt.Sprint(low, " ", high, " ", ok); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestScalarsThatAreUndefined: contradicting sums, a single pair, and pairs without variance define no statistic.
func TestScalarsThatAreUndefined(t *testing.T) {
	for name, v := range map[string][]float64{
		"MSESS":  {10, 1, 2, 5, 3}, // a negative mean squared error
		"RMSE":   {5, 3, 2},        // the same
		"SI":     {5, 3, 2, 1},     // the same
		"ESTDEV": {10, 1, 1, 5, 3, 2, 0},
	} {
		if got, ok := statOf(t, "SL1L2", name).Eval(v); ok {
			t.Errorf("%s of a negative mean squared error is %g", name, got)
		}
	}
	if got, ok := statOf(t, "SL1L2", "MSESS").Eval([]float64{10, 1, 1, 1, 2}); ok {
		t.Errorf("MSESS without variance is %g", got)
	}
	if got, ok := statOf(t, "SL1L2", "MSESS").Eval([]float64{1, 1, 2, 1, 2}); ok {
		t.Errorf("MSESS of one pair is %g", got)
	}
	// total 2, variance of the observation 2·(5 − 4) = 2, mean squared error 1 + 5 − 2·2 = 2.
	if got, ok := statOf(t, "SL1L2", "MSESS").Eval([]float64{2, 2, 5, 2, 1}); !ok || !near(got, 0, 1e-12) {
		t.Errorf("MSESS is %g, %v", got, ok)
	}
	for _, x := range []struct {
		v    []float64
		want float64
		ok   bool
	}{{[]float64{1, 1, 1}, 1, true}, {[]float64{2, 1, 1}, 1, true}, {[]float64{-2, 1, 1}, -1, true}, {[]float64{1, 4, 1}, 0.5, true}, {[]float64{0, 0, 1}, 0, false}, {[]float64{0, 1, 0}, 0, false}} {
		if got, ok := uncentered(x.v); got != x.want || ok != x.ok {
			t.Errorf("uncentered correlation of %v: %g, %v", x.v, got, ok)
		}
	}
}
