package stat

import (
	"math"
	"strings"
	"testing"
)

// TestUndefinedIsZero: the formulas, also without the checks of Eval, return 0 and false where they are undefined, and a
// defined value at the nearest input that defines them.
func TestUndefinedIsZero(t *testing.T) {
	for _, c := range []struct {
		lineType, names    string
		undefined, defined []float64
	}{
		{"SL1L2", "FSTDEV OSTDEV", []float64{1, 2, 5}, []float64{2, 2, 5}},
		{"SL1L2", "MBIAS", []float64{1, 0}, []float64{1, 1e-9}},
		{"SL1L2", "PR_CORR", []float64{2, 0, 0, 4, 1}, []float64{2, 0, 0, 4.1, 1}},
		{"SL1L2", "PR_CORR", []float64{0, 2, 0, 1, 4}, []float64{0, 2, 0, 1, 4.1}},
		{"SL1L2", "PR_CORR", []float64{0, 0, 1.1, 1, 1}, []float64{0, 0, -1, 1, 1}},
		{"SAL1L2", "ANOM_CORR_UNCNTR", []float64{1, 0, 1}, []float64{1, 1e-9, 1}},
		{"SAL1L2", "ANOM_CORR_UNCNTR", []float64{1, 1, 0}, []float64{1, 1, 1e-9}},
		// hits, false alarms, misses, correct negatives, total
		{"CTC", "LODDS", []float64{0, 1, 2, 3, 6}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "LODDS", []float64{1, 2, 3, 0, 6}, []float64{1, 2, 3, 1, 7}},
		{"CTC", "EDS SEDS", []float64{0, 1, 2, 3, 6}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "EDS SEDS", []float64{6, 0, 0, 0, 6}, []float64{6, 0, 0, 1, 7}},
		{"CTC", "EDI SEDI", []float64{0, 1, 2, 3, 6}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "EDI SEDI", []float64{1, 0, 2, 3, 6}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "EDI SEDI", []float64{0, 1, 0, 3, 4}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "EDI SEDI", []float64{1, 0, 2, 0, 3}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "EDI", []float64{1, 1, 0, 0, 2}, []float64{1, 1, 0, 1, 3}},
		{"CTC", "SEDI", []float64{1, 2, 0, 3, 6}, []float64{1, 2, 1, 3, 7}},
		{"CTC", "SEDI", []float64{1, 2, 3, 0, 6}, []float64{1, 2, 3, 1, 7}},
		{"CTC", "BAGSS", []float64{0, 1, 2, 3, 6}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "BAGSS", []float64{1, 0, 2, 3, 6}, []float64{1, 1, 2, 3, 7}},
		{"CTC", "BAGSS", []float64{1, 2, 0, 3, 6}, []float64{1, 2, 1, 3, 7}},
		// u and v of the forecast, u and v of the observation
		{"VL1L2", "FDIR", []float64{9e-6, -9e-6}, []float64{0, 1.1e-5}},
		{"VL1L2", "ODIR", []float64{9e-6, -9e-6}, []float64{-1.1e-5, 0}},
		{"VL1L2", "VDIFF_DIR", []float64{3, 4, 3, 4}, []float64{3, 4, 3, 5}},
		{"VL1L2", "DIR_ERR DIR_ABSERR", []float64{9e-6, 0, 3, 4}, []float64{1.1e-5, 0, 3, 4}},
		{"VL1L2", "DIR_ERR DIR_ABSERR", []float64{3, 4, 0, -9e-6}, []float64{3, 4, 0, -1.1e-5}},
		// thresholds 0, 0.5 and 1 with events and non-events
		{"PCT", "ROC_AUC", []float64{0, 0, 3, 0.5, 0, 5, 1}, []float64{0, 0, 3, 0.5, 1, 5, 1}},
		{"PCT", "ROC_AUC", []float64{0, 2, 0, 0.5, 7, 0, 1}, []float64{0, 2, 1, 0.5, 7, 0, 1}},
		{"PCT", "ROC_AUC BASER", []float64{0, 0, 0, 1}, []float64{0, 2, 3, 1}},
		// n_cat, and n_cat² counts
		{"MCTC", "ACC HK HSS GER", []float64{2, 0, 0, 0, 0}, []float64{2, 1, 0, 0, 1}},
		{"MCTC", "ACC HK HSS GER", []float64{2, 1, 0, 0}, []float64{2, 1, 1, 1, 1}},
		{"MCTC", "ACC HK HSS GER", []float64{-2, 1, 0, 0, 1}, []float64{2, 1, 0, 0, 1}},
		{"MCTC", "HK HSS", []float64{1, 5}, []float64{2, 4, 0, 0, 1}},
		{"MCTC", "GER", []float64{2, 3, 0, 1, 0}, []float64{2, 3, 0, 1, 1}},
		{"NBRCNT", "AFSS", []float64{0, 0}, []float64{0, 0.1}},
		{"ECNT", "BIAS_RATIO", []float64{1, 0}, []float64{1, -0.1}},
	} {
		for name := range strings.FieldsSeq(c.names) {
			s := statOf(t, c.lineType, name)
			if v, ok := s.Func(c.undefined); ok || v != 0 {
				t.Errorf("%s of %v is %v, %v; want undefined", name, c.undefined, v, ok)
			}
			if v, ok := s.Func(c.defined); !ok || !isFinite(v) {
				t.Errorf("%s of %v is %v, %v; want a number", name, c.defined, v, ok)
			}
			if v, ok := s.Eval(append(c.defined[:len(c.defined)-1:len(c.defined)-1], math.NaN())); ok || v != 0 {
				t.Errorf("%s without the last column is %v, %v", name, v, ok)
			}
		}
	}
	for name, f := range map[string]func() (float64, bool){
		"the median of nothing":      func() (float64, bool) { return median(nil) },
		"a division by 0":            func() (float64, bool) { return div(1, 0) },
		"a division of 0 by 0":       func() (float64, bool) { return div(0, 0) },
		"the variance of one value":  func() (float64, bool) { return sampleVariance(1, 2, 5) },
		"a correlation without one":  func() (float64, bool) { return correlation(0, 0, 1) },
		"a correlation beyond one":   func() (float64, bool) { return correlation(2, 1, 1) },
		"a score that nobody knows":  func() (float64, bool) { return (&Stat{Name: "FE"}).PerfectScore() },
		"a statistic without a Func": func() (float64, bool) { return (&Stat{}).Eval([]float64{1}) },
		"an infinite result": func() (float64, bool) {
			return (&Stat{Func: func([]float64) (float64, bool) { return math.Inf(1), true }}).Eval(nil)
		},
	} {
		if v, ok := f(); ok || v != 0 {
			t.Errorf("%s is %v, %v", name, v, ok)
		}
	}
	lt := lineType(t, "SL1L2")
	record := [][]float64{{2}, {1}, {2}, {3}, {4}, {5}, {math.NaN()}}
	for name, want := range map[string]string{"FBAR": "", "MAE": "", "CSI": "statistic: CSI is a statistic of CTC, not of SL1L2"} {
		lineTypeName := map[bool]string{true: "CTC", false: "SL1L2"}[name == "CSI"]
		x := Series{statOf(t, lineTypeName, name), lt, record} // FBAR has no perfect score, MAE no value
		if v, ok, err := (Bootstrap{}).Significance(x, x); v != 0 || ok || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the significance of %s is %v, %v, %v; want %q", name, v, ok, err, want)
		}
	}
}

// TestGerrityByHand: 16 forecasts of three categories, of which 8, 4 and 4 were observed. The odds of an observation
// above the first category are 1, above the second 1/3. The weights of Gerrity (1992) are then 2/3, 2/3 and 2 on the
// diagonal, −1/3 for the first and the second category, −1 for the first and the third, 0 for the second and the third.
func TestGerrityByHand(t *testing.T) {
	counts := []float64{
		5, 1, 1,
		2, 2, 1,
		1, 1, 2,
	}
	want := ((5+2)*2.0/3 + 2*2 - (1+2)*1.0/3 - (1 + 1)) / 16
	if got, ok := statOf(t, "MCTC", "GER").Eval(append([]float64{3}, counts...)); !ok || !near(got, want, 1e-12) {
		t.Errorf("%v, %v; want %v", got, ok, want)
	}
	// One category: every forecast is correct, and there is no score.
	if got, ok := statOf(t, "MCTC", "ACC").Eval([]float64{1, 5}); !ok || got != 1 {
		t.Errorf("accuracy %v, %v", got, ok)
	}
	if got, ok := statOf(t, "MCTC", "GER").Eval([]float64{1, 5}); ok {
		t.Errorf("Gerrity's score of one category is %v", got)
	}
}

// TestDirections: winds blow from the north (0), east (90), south (180) and west (270). An error of the direction is
// positive counter-clockwise.
func TestDirections(t *testing.T) {
	for _, c := range []struct{ u, v, from float64 }{
		{0, -1, 0}, {-1, -1, 45}, {-1, 0, 90}, {-1, 1, 135}, {0, 1, 180}, {1, 1, 225}, {1, 0, 270}, {1, -1, 315},
	} {
		for _, name := range []string{"FDIR", "ODIR"} {
			if got, ok := statOf(t, "VL1L2", name).Eval([]float64{c.u, c.v}); !ok || !near(got, c.from, 1e-12) {
				t.Errorf("%s of (%v, %v) is %v, %v; want %v", name, c.u, c.v, got, ok, c.from)
			}
		}
		if got, ok := statOf(t, "VL1L2", "VDIFF_DIR").Eval([]float64{c.u + 5, c.v - 7, 5, -7}); !ok || !near(got, c.from, 1e-12) {
			t.Errorf("VDIFF_DIR of (%v, %v) is %v, %v; want %v", c.u, c.v, got, ok, c.from)
		}
	}
	for _, c := range []struct{ uf, vf, uo, vo, want float64 }{
		{0, 1, 1, 0, 90}, {1, 0, 0, 1, -90}, {2, 2, 3, 0, 45}, {2, -2, 3, 0, -45}, {1, 0, 7, 0, 0}, {-1, 1, 2, 0, 135},
	} {
		for name, want := range map[string]float64{"DIR_ERR": c.want, "DIR_ABSERR": math.Abs(c.want)} {
			if got, ok := statOf(t, "VL1L2", name).Eval([]float64{c.uf, c.vf, c.uo, c.vo}); !ok || !near(got, want, 1e-12) {
				t.Errorf("%s of %+v is %v, %v; want %v", name, c, got, ok, want)
			}
		}
	}
}

// TestHalfOfTheReplicates: an interval needs half of the replicates, and not one more.
func TestHalfOfTheReplicates(t *testing.T) {
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "ME")
	cols := [][]float64{{1, 1, 8}, {1, 2, 6}, {0, 0, 0}, {0, 0, 0}, {1, 4, 36}, {0, 0, 0}, {1, 2, 6}}
	for undefined, want := range map[int]bool{0: true, 4: true, 5: true, 6: false, 10: false} {
		calls := -1 // the first call is for the records themselves
		f := func(v []float64) float64 {
			if calls++; calls > 0 && calls <= undefined {
				return math.NaN()
			}
			return v[0]
		}
		iv, ok, err := Bootstrap{Replicates: 10, Workers: 1, Seed: 1}.interval(f, Series{s, lt, cols})
		if ok != want || err != nil || iv.Undefined != undefined || calls != 10 {
			t.Errorf("%d undefined: %+v, %v, %v after %d calls", undefined, iv, ok, err, calls)
		}
	}
}

// TestWrongStatistics: a statistic of another line type, or without its columns, is an error with the reason.
func TestWrongStatistics(t *testing.T) {
	lt := lineType(t, "SL1L2")
	cols := make([][]float64, lt.NumCols())
	for name, c := range map[string]struct {
		s    *Stat
		want string
	}{
		"another line type": {statOf(t, "CTC", "CSI"), "statistic: CSI is a statistic of CTC, not of SL1L2; query records of that line type"},
		"another column":    {&Stat{Name: "X", LineType: "SL1L2", Needs: []string{"fbar", "x_bar"}}, "statistic: X needs column x_bar, which SL1L2 does not have"},
	} {
		for _, m := range []SummaryMethod{Overall, MeanOfStats} {
			if v, ok, err := Summarize(m, c.s, lt, cols); v != 0 || ok || err == nil || err.Error() != c.want {
				t.Errorf("%s: %v, %v, %v; want %s", name, v, ok, err, c.want)
			}
		}
		if v, err := PerRecord(c.s, lt, cols); v != nil || err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, %v; want %s", name, v, err, c.want)
		}
	}
	if v, ok, err := NewAggregate(lt).Stat("CSI"); v != 0 || ok || err == nil {
		t.Errorf("CSI of SL1L2: %v, %v, %v", v, ok, err)
	}
	for _, name := range []string{"", "sl1l2_"} {
		if _, err := ByName("sl1l2", name); err == nil || !strings.Contains(err.Error(), "SL1L2 statistic is not named; choose one of FBAR, OBAR, ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got, want := strings.Join(Operations(), " "), "DIFF RATIO SS DIFF_SIG SINGLE ETB"; got != want {
		t.Errorf("operations %s, want %s", got, want)
	}
}

// TestAggregateOfPairs: text columns between the numbers change nothing: the mean of a column of MPR has the totals as
// weights.
func TestAggregateOfPairs(t *testing.T) {
	lt := lineType(t, "MPR")
	a := NewAggregate(lt)
	for _, x := range []struct{ total, fcst, latitude float64 }{{1, 10, 40}, {3, 20, 44}} {
		row := make([]float64, lt.NumCols())
		for name, v := range map[string]float64{"total": x.total, "fcst": x.fcst, "obs_lat": x.latitude} {
			c, _ := lt.Column(name)
			row[c.Slot] = v
		}
		a.Add(row)
	}
	for name, want := range map[string]float64{"total": 4, "fcst": 17.5, "obs_lat": 43} {
		if got, ok := a.Column(name); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", name, got, ok, want)
		}
	}
	if got, ok := a.Column("obs_sid"); ok || got != 0 {
		t.Errorf("the mean of a text is %v", got)
	}
}

// TestIntervalOfAnUndefinedStatistic: there is no interval if the records do not define the statistic, even if most of
// their replicates do. The observations of the four records cancel out. In 10 of the 16 sequences of signs that four
// draws can have, they do not.
func TestIntervalOfAnUndefinedStatistic(t *testing.T) {
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "MBIAS")
	cols := [][]float64{{1, 1, 1, 1}, {1, 2, 3, 4}, {1, 1, -1, -1}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}
	if iv, ok, err := (Bootstrap{Seed: 1, Block: 1}).Interval(s, lt, cols); ok || err != nil || iv.Value != 0 || !math.IsNaN(iv.Low) {
		t.Errorf("%+v, %v, %v", iv, ok, err)
	}
}
