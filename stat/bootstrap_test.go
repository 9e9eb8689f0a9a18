package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// columnsOf transposes n random SL1L2 records.
func columnsOf(r *rand.Rand, n int) [][]float64 {
	cols := make([][]float64, 7)
	for range n {
		for k, x := range randomPairs(r, 20+r.IntN(100), 10).sl1l2() {
			cols[k] = append(cols[k], x)
		}
	}
	return cols
}

func statOf(t testing.TB, lineType, name string) *Stat {
	t.Helper()
	s, err := ByName(lineType, name)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func firstOf(v []float64) float64 { return v[0] }

// METcalcpy's interval depends on the number of its threads. Ours does not.
func TestIntervalDoesNotDependOnWorkers(t *testing.T) {
	cols := columnsOf(rand.New(rand.NewPCG(9, 10)), 200)
	lt := lineType(t, "SL1L2")
	for _, block := range []int{1, 5, 200} {
		var want Interval
		for _, workers := range []int{1, 2, 3, 8} {
			b := Bootstrap{Seed: 42, Workers: workers, Replicates: 333, Block: block}
			got, ok, err := b.Interval(statOf(t, "SL1L2", "RMSE"), lt, cols)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if workers == 1 {
				want = got
			}
			if fmt.Sprint(got) != fmt.Sprint(want) { // a block of all records has no limits: NaN
				t.Errorf("block %d, %d workers: %+v, 1 worker: %+v", block, workers, got, want)
			}
		}
	}
}

func TestIntervalContainsTheValueAndDependsOnTheSeed(t *testing.T) {
	cols := columnsOf(rand.New(rand.NewPCG(11, 12)), 300)
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "ME")
	narrow, ok, err := Bootstrap{Seed: 1, Confidence: 0.5}.Interval(s, lt, cols)
	wide, wok, werr := Bootstrap{Seed: 1}.Interval(s, lt, cols)
	other, _, _ := Bootstrap{Seed: 2}.Interval(s, lt, cols)
	if !ok || !wok || err != nil || werr != nil {
		t.Fatal(ok, wok, err, werr)
	}
	if !(wide.Low < narrow.Low && narrow.Low < wide.Value && wide.Value < narrow.High && narrow.High < wide.High) {
		t.Errorf("narrow %+v, wide %+v", narrow, wide)
	}
	if other == wide {
		t.Error("another seed gave the same interval")
	}
}

// The interval contains the true value about as often as its confidence requires. 200 experiments at
// 90 % have 180 ± 4.2 hits; the bounds are 4.5 standard deviations away.
func TestIntervalCoversTheTruth(t *testing.T) {
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "ME")
	hits := 0
	for i := range 200 {
		cols := columnsOf(rand.New(rand.NewPCG(13, uint64(i))), 60)
		iv, ok, err := Bootstrap{Seed: uint64(i), Replicates: 300, Confidence: 0.9}.Interval(s, lt, cols)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if iv.Low <= 0.4 && 0.4 <= iv.High { // randomPairs' bias
			hits++
		}
	}
	if hits < 160 || hits > 198 {
		t.Errorf("a 90 %% interval contains the true value in %d of 200", hits)
	}
}

// The share of replicates outside of the interval is 1 − confidence; the default is 5 %.
func TestIntervalHasItsLevel(t *testing.T) {
	cols := columnsOf(rand.New(rand.NewPCG(21, 22)), 200)
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "ME")
	others := Bootstrap{Seed: 99, Replicates: 4000, Block: 1}.replicates(firstOf, []*seriesTerms{newSeriesTerms(newPlan(lt, 0, !equalWeights), s, cols)})
	for _, level := range []float64{0, 0.9, 0.95} {
		iv, ok, err := Bootstrap{Seed: 1, Replicates: 4000, Confidence: level, Block: 1}.Interval(s, lt, cols)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		beyond := 0
		for _, v := range others {
			if v < iv.Low || v > iv.High {
				beyond++
			}
		}
		if level == 0 {
			level = 0.95
		}
		if share := float64(beyond) / float64(len(others)); math.Abs(share-(1-level)) > 0.015 {
			t.Errorf("%.1f %% of replicates are outside of the %g %% interval", 100*share, 100*level)
		}
	}
}

// Blocks are circular: a block as long as the series contains each record once, wherever it begins.
func TestBlocksGoRoundTheCircle(t *testing.T) {
	cols := columnsOf(rand.New(rand.NewPCG(31, 32)), 37)
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "ME")
	for _, v := range (Bootstrap{Seed: 1, Replicates: 100, Block: 37}).replicates(firstOf, []*seriesTerms{newSeriesTerms(newPlan(lt, 0, !equalWeights), s, cols)}) {
		if want, _, _ := Summarize(Overall, s, lt, cols); !near(v, want, 1e-12) {
			t.Fatalf("a block of all records gives %v, not %v", v, want)
		}
	}
	// Each record occurs twice in a row. Blocks keep the copies together, so the interval is √2 times as wide.
	pairs := make([][]float64, len(cols))
	for i, c := range columnsOf(rand.New(rand.NewPCG(33, 34)), 200) {
		for _, x := range c {
			pairs[i] = append(pairs[i], x, x)
		}
	}
	width := func(block int) float64 {
		iv, _, _ := Bootstrap{Seed: 1, Block: block}.Interval(s, lt, pairs)
		return iv.High - iv.Low
	}
	if ratio := width(20) / width(1); ratio < 1.2 || ratio > 1.65 { // √2, and a little noise
		t.Errorf("with blocks the interval is %.2f times as wide", ratio)
	}
}

func TestIntervalOfUndefined(t *testing.T) {
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "MAE")
	cols := columnsOf(rand.New(rand.NewPCG(1, 1)), 5)
	cols[6][2] = math.NaN()
	if iv, ok, err := (Bootstrap{}).Interval(s, lt, cols); ok || err != nil {
		t.Errorf("%+v, %v, %v", iv, ok, err)
	}
	if _, _, err := (Bootstrap{}).Interval(statOf(t, "CTC", "CSI"), lt, cols); err == nil {
		t.Error("CSI of SL1L2 records was accepted")
	}
	if _, ok, err := (Bootstrap{}).Interval(s, lt, make([][]float64, 7)); ok || err != nil {
		t.Errorf("no records: %v, %v", ok, err)
	}
}

// columnsOfCounts transposes CTC records: total, the four counts, ec_value.
func columnsOfCounts(records ...[4]float64) [][]float64 {
	cols := make([][]float64, 6)
	for _, r := range records {
		cols[0] = append(cols[0], r[0]+r[1]+r[2]+r[3])
		for k, n := range r {
			cols[k+1] = append(cols[k+1], n)
		}
		cols[5] = append(cols[5], 0.5)
	}
	return cols
}

// If fewer than half of the replicates are defined, there is no interval: the defined ones are not a random selection of
// all replicates.
func TestHalfOfTheReplicatesUndefined(t *testing.T) {
	sedi := statOf(t, "CTC", "SEDI") // needs all four counts
	for name, c := range map[string]struct {
		records [][4]float64
		ok      bool
	}{
		"a quarter is defined":  {[][4]float64{{9, 0, 0, 0}, {0, 8, 0, 0}, {0, 0, 7, 0}, {0, 0, 0, 6}}, false},
		"two thirds is defined": {[][4]float64{{9, 8, 7, 0}, {9, 8, 6, 0}, {0, 0, 0, 6}}, true},
	} {
		iv, ok, err := Bootstrap{Seed: 1}.Interval(sedi, lineType(t, "CTC"), columnsOfCounts(c.records...))
		if ok != c.ok || err != nil || iv.Undefined == 0 || (2*iv.Undefined > 1000) == ok {
			t.Errorf("%s: %+v, %v, %v", name, iv, ok, err)
		}
	}
}

func TestSummaries(t *testing.T) {
	lt, s := lineType(t, "SL1L2"), statOf(t, "SL1L2", "ME")
	// totals 1, 1, 8; errors 1, 2, 6
	cols := [][]float64{{1, 1, 8}, {1, 2, 6}, {0, 0, 0}, {0, 0, 0}, {1, 4, 36}, {0, 0, 0}, {1, 2, 6}}
	for m, want := range map[SummaryMethod]float64{
		Overall: 5.1, Unweighted: 3, MeanOfStats: 3, WeightedMeanOfStats: 5.1, MedianOfStats: 2,
	} {
		got, ok, err := Summarize(m, s, lt, cols)
		if err != nil || !ok || !near(got, want, 1e-12) {
			t.Errorf("%v = %v, %v, %v; want %v", m, got, ok, err, want)
		}
	}
	each, err := PerRecord(statOf(t, "SL1L2", "MBIAS"), lt, cols)
	if err != nil || len(each) != 3 || slices.ContainsFunc(each, func(x float64) bool { return !math.IsNaN(x) }) {
		t.Errorf("MBIAS with OBAR 0 = %v, %v", each, err)
	}
	// RMSE of the mean sums is not the mean of the RMSE.
	rmse, _, _ := Summarize(Unweighted, statOf(t, "SL1L2", "RMSE"), lt, cols)
	if want := math.Sqrt(41.0 / 3); !near(rmse, want, 1e-12) {
		t.Errorf("unweighted RMSE = %v, want %v", rmse, want)
	}
}

func BenchmarkInterval(b *testing.B) {
	lt, s := lineType(b, "SL1L2"), statOf(b, "SL1L2", "RMSE")
	cols := columnsOf(rand.New(rand.NewPCG(1, 1)), 541)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				if _, ok, err := (Bootstrap{Workers: workers}).Interval(s, lt, cols); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			b.ReportMetric(1000*541*float64(b.N)/b.Elapsed().Seconds(), "draws/s")
		})
	}
}

func BenchmarkAggregate(b *testing.B) {
	row := randomPairs(rand.New(rand.NewPCG(1, 1)), 100, 10).sl1l2()
	a := NewAggregate(lineType(b, "SL1L2"))
	for b.Loop() {
		a.Add(row)
	}
}
