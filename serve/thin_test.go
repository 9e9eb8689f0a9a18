package serve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// TestThin tests part of statement 15: above the limit, thin keeps the minimum and the maximum of
// each stretch. It returns how many of how many points remain.
func TestThin(t *testing.T) {
	const n = 150_000
	made := func() *run.VerificationPlot {
		c := &run.VerificationPlot{}
		for _, name := range []string{"a", "b"} {
			s := run.Series{Name: name, Derivation: "DIFF(x-y)", Right: true, Style: map[string]string{"plot_disp": "FALSE"}}
			for i := range n {
				s.X, s.Records, s.Y = append(s.X, float64(i)), append(s.Records, i), append(s.Y, math.Sin(float64(i)))
				s.Low, s.High = append(s.Low, -float64(i)), append(s.High, float64(i))
				s.Labels, s.WhiskerHigh = append(s.Labels, fmt.Sprint(i)), append(s.WhiskerHigh, 2*float64(i))
			}
			s.Y[77_777], s.Y[99_999], s.Y[5] = 50, -50, math.NaN()
			c.Series = append(c.Series, s)
		}
		return c
	}
	c := made()
	if shown, all := thin(c, maxPoints); all != 2*n || shown > maxPoints+4 || shown != len(c.Series[0].X)+len(c.Series[1].X) {
		t.Errorf("%d of %d", shown, all)
	}
	for _, s := range c.Series {
		high, low := slices.Index(s.Y, 50), slices.Index(s.Y, -50)
		if high < 0 || low < 0 || s.X[high] != 77_777 || s.Records[low] != 99_999 || s.High[high] != 77_777 || !slices.IsSorted(s.X) {
			t.Errorf("%s: %d, %d", s.Name, high, low)
			continue
		}
		if s.Derivation != "DIFF(x-y)" || !s.Right || s.Style["plot_disp"] != "FALSE" || s.Labels[high] != "77777" || s.WhiskerHigh[low] != 199_998 || s.Outliers != nil || s.Marks != nil {
			t.Errorf("%s has lost what it has besides its values", s.Name)
		}
	}
	c = made()
	if shown, all := thin(c, 2*n); shown != 2*n || all != 2*n || len(c.Series[0].X) != n {
		t.Errorf("%d of %d", shown, all)
	}
}

// TestThinFlatCurves: a curve without a lowest and a highest point keeps its ends, so that its line is drawn completely.
func TestThinFlatCurves(t *testing.T) {
	c := &run.VerificationPlot{}
	for name, n := range map[string]int{"none": 0, "one": 1, "short": 4, "long": 100_000, "undefined": 5, "wave": 1001} {
		s := run.Series{Name: name}
		for i := range n {
			s.X, s.Y = append(s.X, float64(i)), append(s.Y, map[string]float64{"undefined": math.NaN(), "wave": float64(i*i%7 - 3)}[name])
		}
		c.Series = append(c.Series, s)
	}
	shown, all := thin(c, maxPoints)
	if all != 101_011 || shown >= all {
		t.Errorf("%d of %d", shown, all)
	}
	for _, s := range c.Series {
		n := map[string]int{"none": 0, "one": 1, "short": 4, "long": 100_000, "undefined": 5, "wave": 1001}[s.Name]
		if len(s.X) != len(s.Y) || len(s.X) < min(n, 2) || n > 0 && (s.X[0] != 0 || s.X[len(s.X)-1] != float64(n-1)) || !slices.IsSorted(s.X) {
			t.Errorf("%s of %d points keeps %.10v", s.Name, n, s.X[:min(len(s.X), 5)])
		}
	}
}

// TestBestScores: the table has no statistic whose best value package stat knows.
func TestBestScores(t *testing.T) {
	for _, s := range stat.Table() {
		if _, ok := s.PerfectScore(); ok {
			if _, twice := bestScores[s.Name]; twice {
				t.Errorf("%s of %s", s.Name, s.LineType)
			}
		}
	}
}
