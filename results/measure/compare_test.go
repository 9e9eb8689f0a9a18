package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// modular makes the samples for which SciPy computed the expected values below.
func modular(n, factor, modulus int, add float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64((i+1)*factor%modulus) + add
	}
	return out
}

// The permeability constants of the human chorioamnion are the textbook example
// of Hollander and Wolfe (1973, p. 69) and of R's wilcox.test; the diabetes
// example is that of SciPy's manual. The other expected values are from SciPy 1.17.1;
// for small samples with ties it listed all permutations.
func TestMannWhitney(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{
			"Hollander and Wolfe",
			[]float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
			[]float64{1.15, 0.88, 0.90, 0.74, 1.21},
			0.2544122544122544,
		},
		{"diabetes", []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, 0.1111111111111111},
		{"apart", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 0.02857142857142857},
		{"exact 30 and 20", modular(30, 7919, 1009, 0.5), modular(20, 6007, 1013, 150), 0.022372581613797935},
		{"normal, one tie", modular(60, 7919, 1009, 0), modular(55, 6007, 1013, 120), 0.03200144692102045},
		{"normal, many ties", modular(40, 7919, 8, 0), modular(30, 6007, 11, 0), 0.060939604580609645},
		{"tied", []float64{1, 1, 2}, []float64{2, 3, 3, 3}, 0.11428571428571428},
		{"tied, unequal", []float64{1, 2, 2, 3, 5}, []float64{2, 4, 5, 5}, 0.2857142857142857},
		{"tied, skew", []float64{1, 1, 1, 9}, []float64{1, 2, 2, 2, 2, 7}, 0.23809523809523808},
		{"tied, reversed", []float64{3, 3, 3, 1}, []float64{1, 1, 2}, 0.22857142857142856},
		{"equal", []float64{4, 4, 4}, []float64{4, 4}, 1},
		{"same", []float64{1, 2, 3}, []float64{1, 2, 3}, 1},
	} {
		ab, ba := MannWhitney(c.a, c.b), MannWhitney(c.b, c.a)
		if !near(ab, c.want) || !near(ba, c.want) {
			t.Errorf("%s: p = %.12g, reversed %.12g, want %.12g", c.name, ab, ba, c.want)
		}
	}
	if !math.IsNaN(MannWhitney(nil, []float64{1})) {
		t.Error("a test without a sample has a p")
	}
}

// permutationP computes the two-sided p of the rank-sum test from all divisions of the values into two samples.
func permutationP(a, b []float64) float64 {
	all := append(slices.Clone(a), b...)
	rank := make([]float64, len(all))
	for i, x := range all {
		for _, y := range all {
			if y < x {
				rank[i]++
			} else if y == x {
				rank[i] += 0.5
			}
		}
	}
	sum := func(mask int) (s float64) {
		for i, r := range rank {
			if mask>>i&1 == 1 {
				s += r
			}
		}
		return s
	}
	observed := sum(1<<len(a) - 1)
	var low, high, total float64
	for mask := range 1 << len(all) {
		bits := 0
		for m := mask; m > 0; m &= m - 1 {
			bits++
		}
		if bits != len(a) {
			continue
		}
		total++
		if s := sum(mask); s <= observed {
			low++
		}
		if s := sum(mask); s >= observed {
			high++
		}
	}
	return min(1, 2*min(low, high)/total)
}

func TestMannWhitneyAgainstPermutations(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0))
	for range 300 {
		a, b := make([]float64, 1+r.IntN(6)), make([]float64, 1+r.IntN(6))
		for i := range a {
			a[i] = float64(r.IntN(5))
		}
		for i := range b {
			b[i] = float64(r.IntN(6))
		}
		if got, want := MannWhitney(a, b), permutationP(a, b); !near(got, want) {
			t.Fatalf("%v %v: p = %v, by permutations %v", a, b, got, want)
		}
	}
}

// Expected values: R's p.adjust(c(…), "holm"), whose manual and Holm (1979)
// give the rule; the first row is worked by hand.
func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ ps, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.02, nan, 0.03}, []float64{0.04, nan, 0.04}},
		{[]float64{0.2}, []float64{0.2}},
		{[]float64{nan}, []float64{nan}},
		{nil, []float64{}},
	} {
		got := Holm(c.ps)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return near(a, b) || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%v: %v, want %v", c.ps, got, c.want)
		}
	}
}

func TestHolmProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		ps := make([]float64, 1+r.IntN(30))
		for i := range ps {
			ps[i] = r.Float64() * r.Float64()
		}
		got := Holm(ps)
		for i := range ps {
			if got[i] < ps[i] || got[i] > 1 || got[i] > ps[i]*float64(len(ps))+1e-12 {
				t.Fatalf("p %g became %g of %d", ps[i], got[i], len(ps))
			}
			for j := range ps {
				if ps[i] < ps[j] && got[i] > got[j] {
					t.Fatal("order changed")
				}
			}
		}
	}
}

func times(seed uint64, n int, median float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 77))
	out := make([]float64, n)
	for i := range out {
		out[i] = median * math.Exp(0.1*r.NormFloat64())
	}
	return out
}

func TestCompare(t *testing.T) {
	slow, fast := times(1, 30, 20), times(2, 30, 10)
	c := Compare(slow, fast, 5)
	if c.Ratio < 1.8 || c.Ratio > 2.2 || c.Lo > c.Ratio || c.Hi < c.Ratio || c.Lo < 1.7 || c.Hi > 2.3 || c.Mark() != "***" {
		t.Errorf("%v", c)
	}
	if again := Compare(slow, fast, 5); again != c {
		t.Errorf("the same seed gave %v, then %v", c, again)
	}
	if back := Compare(fast, slow, 5); !near(back.Ratio*c.Ratio, 1) || !near(back.P, c.P) {
		t.Errorf("reversed: %v", back)
	}
	if same := Compare(times(3, 20, 10), times(4, 20, 10), 1); same.Significant() || same.Mark() != "~" {
		t.Errorf("equal medians: %v", same)
	}
	if few := Compare([]float64{1, 2, 3}, []float64{7, 8, 9}, 1); few.Mark() != "?" || !math.IsNaN(few.Lo) || few.CanDiffer() {
		t.Errorf("three against three: %v", few)
	}
	if none := Compare(nil, []float64{1}, 1); !math.IsNaN(none.P) || !math.IsNaN(none.Ratio) || none.Significant() || none.Mark() != "?" {
		t.Errorf("nothing against one: %+v", none)
	}
	if zero := Compare([]float64{1, 1, 1, 1, 1}, make([]float64, 5), 1); !math.IsNaN(zero.Ratio) || !math.IsNaN(zero.Lo) {
		t.Errorf("over zero: %+v", zero)
	}
}

func TestLeastPIsReached(t *testing.T) {
	for na := 1; na < 8; na++ {
		for nb := 1; nb < 8; nb++ {
			a, b := modular(na, 1, 1000, 0), modular(nb, 1, 1000, 500)
			if got, want := leastP(na, nb), MannWhitney(a, b); !near(got, want) {
				t.Errorf("%d, %d: %v, by the test %v", na, nb, got, want)
			}
			ways := 1.0 // to choose na of na + nb values
			for i := range na {
				ways *= float64(nb+i+1) / float64(i+1)
			}
			if got := leastP(na, nb); !near(got, min(1, 2/ways)) {
				t.Errorf("%d, %d: %v, want 2/%v", na, nb, got, ways)
			}
		}
	}
	// Above 50 values the test is an approximation, which does not reach 2/61.
	if c := Compare([]float64{1000}, modular(60, 1, 1000, 0), 1); c.P < Alpha || c.LeastP != c.P || c.CanDiffer() || c.Mark() != "?" {
		t.Errorf("one value and 60: %+v", c)
	}
}

// With no true difference, five samples compared pairwise and corrected should
// show any difference in no more than 5 % of runs; 400 runs have a standard
// error of 1.1 %.
func TestPairwiseFalseAlarms(t *testing.T) {
	alarms := 0
	for run := range uint64(400) {
		samples := make([][]float64, 5)
		for i := range samples {
			samples[i] = times(run*10+uint64(i), 4+i, 10)
		}
		ps := Holm(func() (ps []float64) {
			for i := range samples {
				for j := i + 1; j < len(samples); j++ {
					ps = append(ps, MannWhitney(samples[i], samples[j]))
				}
			}
			return ps
		}())
		if slices.Min(ps) < Alpha {
			alarms++
		}
	}
	if alarms > 34 {
		t.Errorf("%d false alarms in 400 runs", alarms)
	}
}

func TestCompareWithBase(t *testing.T) {
	samples := [][]float64{times(1, 12, 10), times(2, 12, 10), times(3, 12, 30)}
	// Four against four reach p = 0.029: enough for one comparison, not for three.
	small := [][]float64{times(1, 4, 10), times(2, 4, 90), times(3, 4, 900)}
	if one := Compare(small[0], small[1], 1); one.Mark() != "*" {
		t.Errorf("alone: %v", one)
	}
	if three := CompareWithBase(append(small, times(4, 4, 9)), 0, 1)[1]; three.Mark() != "?" || three.CanDiffer() {
		t.Errorf("among three: %v", three)
	}
	base := CompareWithBase(samples, 0, 1)
	if base[0].Ratio != 1 || base[0].Mark() != "~" || base[1].Mark() != "~" || base[2].Mark() == "~" || base[2].Ratio < 2.5 {
		t.Errorf("%v", base)
	}
}

// TestUnequalSizesCanDiffer: Holm's correction multiplies only the smallest p-value by the number of comparisons. So a
// comparison of small samples can be significant next to one of large samples.
func TestUnequalSizesCanDiffer(t *testing.T) {
	large := Compare(modular(10, 1, 1000, 0), modular(10, 1, 1000, 500), 1)
	small := Compare(modular(4, 1, 1000, 0), modular(4, 1, 1000, 500), 1)
	CorrectTogether([]*Comparison{&large, &small})
	if !small.Significant() || !small.CanDiffer() || small.Mark() != "*" {
		t.Errorf("%v", small)
	}
	small.PHolm = 0.06
	if small.CanDiffer() {
		t.Errorf("%v", small)
	}
}

func TestLetters(t *testing.T) {
	type pair struct{ i, j int }
	for _, c := range []struct {
		n      int
		differ []pair
		want   []string
	}{
		{0, nil, nil},
		{3, nil, []string{"a", "a", "a"}},
		{2, []pair{{0, 1}}, []string{"a", "b"}},
		{3, []pair{{0, 2}}, []string{"a", "ab", "b"}},
		{3, []pair{{0, 1}, {0, 2}, {1, 2}}, []string{"a", "b", "c"}},
		{4, []pair{{0, 2}, {0, 3}, {1, 3}}, []string{"a", "ab", "bc", "c"}},
	} {
		got := Letters(c.n, func(i, j int) bool { return slices.Contains(c.differ, pair{i, j}) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.differ, got, c.want)
		}
	}
}

// Two samples share a letter exactly where they do not differ.
func TestLettersProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		n := 2 + r.IntN(7)
		m := make([][]bool, n)
		for i := range m {
			m[i] = make([]bool, n)
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				m[i][j] = r.IntN(2) == 0
			}
		}
		l := Letters(n, func(i, j int) bool { return m[i][j] })
		for i := range n {
			for j := i + 1; j < n; j++ {
				share := false
				for _, c := range l[i] {
					share = share || slices.Contains([]rune(l[j]), c)
				}
				if share == m[i][j] {
					t.Fatalf("%v: %q and %q, differ = %v", m, l[i], l[j], m[i][j])
				}
			}
		}
	}
}

func TestRepsFor(t *testing.T) {
	for _, tc := range []struct{ comparisons, want int }{{0, 6}, {1, 6}, {23, 6}, {24, 7}, {85, 7}, {86, 8}} {
		n := RepsFor(tc.comparisons)
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(n+i)
		}
		if p := MannWhitney(a, b); n != tc.want || p*float64(tc.comparisons) >= Alpha {
			t.Errorf("RepsFor(%d) = %d, want %d; the smallest p is %g", tc.comparisons, n, tc.want, p)
		}
	}
}

// TestGroupsOfFour: samples share a letter if they do not differ; the pairs are those of the samples' order.
func TestGroupsOfFour(t *testing.T) {
	around := func(center float64) (out []float64) {
		for i := range 12 {
			out = append(out, center+float64(i)/100)
		}
		return out
	}
	for _, c := range []struct {
		centers []float64
		want    string
	}{
		{[]float64{1, 1, 2, 2}, "a a b b"},
		{[]float64{1, 2, 1, 2}, "a b a b"},
		{[]float64{1, 2, 2, 1}, "a b b a"},
		{[]float64{1, 2, 3, 3}, "a b c c"},
		{[]float64{1, 1, 1, 2}, "a a a b"},
		{[]float64{1, 1, 1, 1}, "   "},
	} {
		var samples [][]float64
		for _, center := range c.centers {
			samples = append(samples, around(center))
		}
		if got := strings.Join(Groups(samples), " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.centers, got, c.want)
		}
	}
}
