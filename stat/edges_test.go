package stat

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestConfidenceThatIsNoNumber: as with any other value outside of (0, 1), the confidence is 0.95.
func TestConfidenceThatIsNoNumber(t *testing.T) {
	s, lt := statOf(t, "CTC", "CSI"), lineType(t, "CTC")
	cols := columnsOfCounts([4]float64{5, 2, 3, 9}, [4]float64{1, 4, 2, 8}, [4]float64{3, 0, 1, 7}, [4]float64{6, 5, 4, 9})
	want, _, _ := Bootstrap{Confidence: 0.95, Seed: 1}.Interval(s, lt, cols)
	got, ok, err := Bootstrap{Confidence: math.NaN(), Seed: 1}.Interval(s, lt, cols)
	if err != nil || !ok || got != want {
		t.Errorf("%+v, %v, %v; want %+v", got, ok, err, want)
	}
}

// TestSummariesAreFinite: a summary with ok is a finite number, also for a record without its number of pairs, and for
// values whose sum is beyond the range of numbers. A sum is the sum itself, not the mean times a number.
func TestSummariesAreFinite(t *testing.T) {
	lt := lineType(t, "CTC")
	cols := columnsOfCounts([4]float64{5, 2, 3, 9}, [4]float64{1, 4, 2, 8})
	total, _ := lt.Column("total")
	cols[total.Slot][1] = math.NaN()
	if v, ok, err := Summarize(WeightedMeanOfStats, statOf(t, "CTC", "FY_OY"), lt, cols); ok || err != nil {
		t.Errorf("with a record of an unknown number of pairs: %v, %v", v, err)
	}
	for _, m := range []SummaryMethod{MeanOfStats, SumOfStats} {
		if v, ok := m.Combine([]float64{1e308, 1e308}); ok {
			t.Errorf("method %d: %v", m, v)
		}
	}
	for _, c := range []struct {
		values []float64
		median float64
	}{
		{[]float64{-1e308, 1e308}, 0},
		{[]float64{1e308, -1.5e308}, -2.5e307},
		{[]float64{1e308, 1.5e308}, 1.25e308},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 0},
		{[]float64{-math.MaxFloat64, 1, math.MaxFloat64}, 1},
	} {
		if v, ok := MedianOfStats.Combine(c.values); !ok || math.Abs(v-c.median) > 1e-15*math.Abs(c.median) {
			t.Errorf("the median of %v is %v, %v; want %v", c.values, v, ok, c.median)
		}
		if b, ok := BoxOf(c.values); !ok || !isFinite(b.LowerQuartile) || !isFinite(b.UpperQuartile) {
			t.Errorf("the box of %v is %+v", c.values, b)
		}
	}
	values := []float64{0.6, 0.9, 0.8, 0.5, 0.6}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	if v, ok := SumOfStats.Combine(values); !ok || v != sum {
		t.Errorf("the sum is %v, want %v", v, sum)
	}
	if v, ok := SumOfStats.Combine(nil); ok || v != 0 {
		t.Errorf("the sum of nothing is %v", v)
	}
	if r := Ratio.Apply(1e308, 1e-10); !math.IsNaN(r) {
		t.Errorf("a ratio beyond the range of numbers is %v", r)
	}
	if x := RoundHalfUp(1e305, 7); x != 1e305 {
		t.Errorf("1e305 is rounded to %v", x)
	}
}

// TestNoNegativeZeros: a statistic and a ratio of two have no negative zero.
func TestNoNegativeZeros(t *testing.T) {
	negative := math.Copysign(0, -1)
	for name, v := range map[string]func() (float64, bool){
		"a column": func() (float64, bool) {
			s := columnStat("CNT", "ME", "", "", "", "")
			return s.Eval([]float64{negative})
		},
		"a quotient":      func() (float64, bool) { return statOf(t, "SL1L2", "MBIAS").Eval([]float64{0, -5}) },
		"a mean":          func() (float64, bool) { return MeanOfStats.Combine([]float64{-5e-324, 0}) },
		"a derived ratio": func() (float64, bool) { return Ratio.Apply(0, -5), true },
	} {
		if x, ok := v(); !ok || x != 0 || math.Signbit(x) {
			t.Errorf("%s is %v, %v", name, x, ok)
		}
	}
}

// TestConfidencesNearOne: every confidence below 1 has finite limits.
func TestConfidencesNearOne(t *testing.T) {
	cols := columnsOf(rand.New(rand.NewPCG(1, 2)), 30)
	s, lt := statOf(t, "SL1L2", "ME"), lineType(t, "SL1L2")
	for _, confidence := range []float64{0.95, 1 - 1e-15, 1 - 0x1p-53} {
		for _, m := range []IntervalMethod{Percentile, Pivotal, BCa} {
			b := Bootstrap{Replicates: 50, Confidence: confidence, Method: m}
			if iv, ok, err := b.Interval(s, lt, cols); !ok || err != nil || !(iv.Low < iv.High) || !isFinite(iv.Low) || !isFinite(iv.High) {
				t.Errorf("confidence 1 − %g, method %d: %+v, %v, %v", 1-confidence, m, iv, ok, err)
			}
		}
		if w := HalfWidth(confidence, 1); !isFinite(w) || w < 1.6 {
			t.Errorf("confidence 1 − %g: half of the width is %g", 1-confidence, w)
		}
	}
}

// TestRecordsWithoutPairs: a record without pairs changes nothing, at any position, not even a column that must
// be equal in all records.
func TestRecordsWithoutPairs(t *testing.T) {
	lt := lineType(t, "CTC")
	s := statOf(t, "CTC", "HSS_EC")
	ec, _ := lt.Column("ec_value")
	full := columnsOfCounts([4]float64{5, 2, 3, 9}, [4]float64{1, 4, 2, 8}, [4]float64{7, 1, 2, 3})
	for i := range full[ec.Slot] {
		full[ec.Slot][i] = 0.4
	}
	want, _, err := Bootstrap{Block: 3, Replicates: 20}.Interval(s, lt, full)
	if err != nil {
		t.Fatal(err)
	}
	for at := range 4 {
		cols := make([][]float64, len(full))
		for k, column := range full {
			cols[k] = append(append(append(cols[k], column[:at]...), 0), column[at:]...)
		}
		cols[ec.Slot][at] = 0.9
		a, b, c := NewAggregate(lt), NewAggregate(lt), NewAggregate(lt)
		i := 0
		eachRow(cols, func(_ int, row []float64) {
			a.Add(row)
			if i++; i%2 == 0 {
				b.Add(row)
			} else {
				c.Add(row)
			}
		})
		b.Merge(c)
		for name, x := range map[string]*Aggregate{"one": a, "two": b} {
			if v, ok := x.Eval(s); !ok || !near(v, want.Value, 1e-12) {
				t.Errorf("%s, empty record %d: %v, %v; want %v", name, at, v, ok, want.Value)
			}
		}
		iv, ok, err := Bootstrap{Block: 4, Replicates: 20}.Interval(s, lt, cols)
		if err != nil || !ok || !near(iv.Value, want.Value, 1e-12) {
			t.Errorf("empty record %d: %+v, %v, %v; want %v", at, iv, ok, err, want.Value)
		}
		draw := newDraw(firstOf, []*seriesTerms{newSeriesTerms(newPlan(lt, len(cols), !equalWeights), s, cols)})
		if v := draw([]int{0}, 4, 4); !near(v, want.Value, 1e-12) {
			t.Errorf("empty record %d: a replicate of all records is %v, want %v", at, v, want.Value)
		}
	}
	empty := NewAggregate(lt)
	row := make([]float64, lt.NumCols())
	row[ec.Slot] = 0.9
	empty.Add(row)
	if v, ok := empty.Column("ec_value"); ok {
		t.Errorf("without pairs, ec_value is %v", v)
	}
	if v, ok := empty.Column("total"); !ok || v != 0 {
		t.Errorf("without pairs, total is %v, %v", v, ok)
	}
}

// TestReliabilityOfMembers: VSDB's RELI of 2 members has the probabilities 0, 1/2 and 1 and no last threshold. Its
// Brier score is the mean squared error of the probabilities, which is computed here without bins. Without a last
// threshold, other bins have no center.
func TestReliabilityOfMembers(t *testing.T) {
	lt := lineType(t, "PCT")
	columns := func(group ...float64) (cols [][]float64) {
		for k := range lt.NumCols() {
			cols = append(cols, []float64{0, 0})
			if c, _ := lt.Column("total"); c.Slot == k {
				cols[k] = []float64{15, 15}
			}
		}
		for _, x := range group {
			cols = append(cols, []float64{x, x})
		}
		return cols
	}
	yes, no := []float64{0.5, 2.5, 4}, []float64{4.5, 2.5, 1}
	squares, events := 0.0, 0.0
	for i, p := range []float64{0, 0.5, 1} {
		squares += 2 * (yes[i]*(p-1)*(p-1) + no[i]*p*p)
		events += 2 * yes[i]
	}
	nan := math.NaN()
	reli := columns(0, yes[0], no[0], 0.5, yes[1], no[1], 1, yes[2], no[2], nan)
	for name, want := range map[string]float64{
		"BASER": events / 30, "BRIER": squares / 30, "RELIABILITY": (10*0.1*0.1 + 10*0.2*0.2) / 30, "UNCERTAINTY": events / 30 * (1 - events/30),
	} {
		if v, ok, err := Summarize(Overall, statOf(t, "PCT", name), lt, reli); !ok || err != nil || !near(v, want, 1e-12) {
			t.Errorf("%s = %v, %v, %v; want %v", name, v, ok, err, want)
		}
		truncated := columns(0, yes[0], no[0], 0.4, yes[1], no[1], 0.8, yes[2], no[2], nan)
		if v, ok, err := Summarize(Overall, statOf(t, "PCT", name), lt, truncated); ok || err != nil {
			t.Errorf("%s without a last threshold = %v, %v", name, v, err)
		}
	}
}

// TestContradictingSkill: a record with a perfect skill score and an imperfect score has no reference; the aggregate is
// undefined, and not perfect.
func TestContradictingSkill(t *testing.T) {
	lt := lineType(t, "NBRCNT")
	cols := make([][]float64, lt.NumCols())
	set := func(name string, values ...float64) {
		c, _ := lt.Column(name)
		cols[c.Slot] = values
	}
	for k := range cols {
		cols[k] = []float64{0, 0}
	}
	set("total", 10, 10)
	set("fbs", 0.2, 0.1)
	set("fss", 1, 0.5)
	if v, ok, err := Summarize(Overall, statOf(t, "NBRCNT", "FSS"), lt, cols); ok || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	set("fbs", 0, 0.1) // a perfect record and another one
	if v, ok, err := Summarize(Overall, statOf(t, "NBRCNT", "FSS"), lt, cols); !ok || err != nil || !near(v, 0.5, 1e-12) {
		t.Errorf("%v, %v, %v", v, ok, err)
	}
}

// TestSkillWithoutEvents: MET writes FBS 0 and FSS NA for fields without events. The reference's score is then 0,
// too, and the record changes only the number of pairs. Of an unknown score, the skill is unknown. The first two
// records of NBRCNT are real (grid_stat_120000L_20050807_120000V.stat, MET 12).
func TestSkillWithoutEvents(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		lineType, score, skill string
		scores, skills         []float64
		want                   float64 // NaN = undefined
	}{
		{"NBRCNT", "fbs", "fss", []float64{0, 0.01868}, []float64{nan, 0.78308}, 0.78308},
		{"NBRCNT", "fbs", "fss", []float64{0, 0}, []float64{nan, 1}, nan},
		{"NBRCNT", "fbs", "fss", []float64{0, 0}, []float64{nan, nan}, nan},
		{"NBRCNT", "fbs", "fss", []float64{0.1, 0.01868}, []float64{nan, 0.78308}, nan},
		{"NBRCNT", "fbs", "fss", []float64{nan, 0.01868}, []float64{nan, 0.78308}, nan},
		{"RPS", "rps", "rpss", []float64{0, 0.2}, []float64{nan, 0.5}, 0.5},
	} {
		lt := lineType(t, c.lineType)
		cols := make([][]float64, lt.NumCols())
		for k := range cols {
			cols[k] = []float64{0, 0}
		}
		for name, values := range map[string][]float64{"total": {524, 6862}, c.score: c.scores, c.skill: c.skills} {
			column, _ := lt.Column(name)
			cols[column.Slot] = values
		}
		v, ok, err := Summarize(Overall, statOf(t, c.lineType, strings.ToUpper(c.skill)), lt, cols)
		if ok == math.IsNaN(c.want) || err != nil || ok && !near(v, c.want, 1e-12) {
			t.Errorf("%+v: %v, %v, %v", c, v, ok, err)
		}
	}
}

// TestRoundingIsNoSpread: equal values whose mean is rounded, such as 0.1, have no spread.
func TestRoundingIsNoSpread(t *testing.T) {
	same := []float64{0.1, 0.1, 0.1}
	if mean, _ := weightedMean(same, nil); mean == 0.1 {
		t.Fatal("the mean is not rounded")
	}
	if sure := MeanDifferenceConfidence(same); sure != 0 {
		t.Errorf("confidence %v", sure)
	}
	if e, ok := Equivalent(same, []float64{0, 0, 0}, -1, 1); ok {
		t.Errorf("%+v", e)
	}
	if se := StandardError(MeanOfStats, same, true); se != 0 {
		t.Errorf("standard error %v", se)
	}
	if r := RevisionsOf([][]float64{same}); !math.IsNaN(r.Correlation) || !math.IsNaN(r.RunsProbability) {
		t.Errorf("%+v", r)
	}
	cols := make([][]float64, 7)
	for k := range cols {
		cols[k] = make([]float64, 5)
	}
	cols[0], cols[1] = []float64{1, 3, 7, 9, 11}, []float64{0.1, 0.1, 0.1, 0.1, 0.1}
	iv, ok, err := Bootstrap{Block: 1}.Interval(statOf(t, "SL1L2", "ME"), lineType(t, "SL1L2"), cols)
	if !ok || err != nil || !math.IsNaN(iv.Low) || !math.IsNaN(iv.High) || iv.Spread != 0 {
		t.Errorf("%+v, %v, %v", iv, ok, err)
	}
}

// TestNegativeVariance: a variance that rounding made negative is undefined, as its root is.
func TestNegativeVariance(t *testing.T) {
	for name, v := range map[string][]float64{"FVAR": {4, 2.000001}, "FSTDEV": {4, 2.000001}, "OVAR": {4, 2.000001}} {
		if x, ok := statOf(t, "VL1L2", name).Eval(v); ok {
			t.Errorf("%s = %v", name, x)
		}
	}
	if x, ok := statOf(t, "VL1L2", "BIAS").Eval([]float64{4, -1}); ok {
		t.Errorf("BIAS = %v", x)
	}
}

// TestAggregateHasNoRepeatingColumns: an aggregate of fixed columns does not report a statistic of the repeating ones
// as undefined by the records.
func TestAggregateHasNoRepeatingColumns(t *testing.T) {
	for lineTypeName, name := range map[string]string{"PCT": "PSTD_BRIER", "MCTC": "MCTS_ACC"} {
		a := NewAggregate(lineType(t, lineTypeName))
		a.Add([]float64{100, 2, 0.5, 20, 5, 10, 65})
		if v, ok, err := a.Stat(name); ok || err == nil || !strings.Contains(err.Error(), "needs the repeating columns") {
			t.Errorf("%s: %v, %v, %v", name, v, ok, err)
		}
		if v, ok, err := a.Stat("TOTAL"); !ok || err != nil || v != 100 {
			t.Errorf("TOTAL of %s: %v, %v, %v", lineTypeName, v, ok, err)
		}
	}
}
