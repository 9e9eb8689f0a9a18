package scan

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/measure"
)

// TestForecastDigits: a time below 10 s has two significant digits at least, and a time whose interval is wider than
// ±40 % is not named.
func TestForecastDigits(t *testing.T) {
	for _, c := range []struct {
		value, low, high float64
		says             string
	}{
		{2.02, 1.56, 4.38, "between 1.6 – 4.4 s (95 %): wider than ±40 %, therefore no single time: the disks"},
		{2.02, 1.4, 2.6, "2.0 s ± 0.6: the disks"},
		{2.02, 1.98, 2.05, "2.02 s ± 0.04: the disks"},
		{5, 3, 6.9, "5.0 s ± 2.0: the disks"},
		{5, 2.99, 6.9, "between 3.0 – 6.9 s"},
		{0.5, 0.4, 0.6, "0.50 s ± 0.10: the disks"},
		{41.4, 38.2, 44.1, "41 s ± 3: the disks"},
		{502, 350, 690, "502 s ± 188: the disks"},
		{0, 0, 0.2, "between 0.0 – 0.2 s"},
	} {
		f := Forecast{Seconds: measure.Estimate{Value: c.value, Low: c.low, High: c.high}, Bound: ByDisks, BoundShare: 1}
		if got := f.String(); !strings.HasPrefix(got, c.says) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestForecastCovers: the share of new single scans in the interval of their forecast is about the promised one, also
// for setups that were not measured. The interval is not much wider than the noise requires.
func TestForecastCovers(t *testing.T) {
	for _, c := range []struct {
		name        string
		noise       float64
		repetitions int
		setups      func(mbps float64, cores int, bytes int64) []Setup
	}{
		{"quiet", 0.01, 5, sweepOf},
		{"five repetitions", 0.08, 5, sweepOf},
		{"one repetition", 0.08, 1, sweepOf},
		{"few placements", 0.05, 10, func(mbps float64, cores int, bytes int64) (few []Setup) {
			for i, s := range sweepOf(mbps, cores, bytes) {
				if i%3 == 0 {
					few = append(few, s)
				}
			}
			return few
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sweeps := 40
			if testing.Short() {
				sweeps = 20
			}
			r := rand.New(rand.NewPCG(11, 0))
			inside, all, refused, width := 0, 0, 0, 0.0
			for seed := range uint64(sweeps) {
				mbps, cores, bytes := 60+100*r.Float64(), 2+r.IntN(7), int64(2e9+8e9*r.Float64())
				// With this work about three disks keep the cores busy.
				want := parameters{1 + 0.3*r.Float64(), (0.6 + 0.4*r.Float64()) * 1000 / mbps * float64(cores) / 3, r.Float64()}
				m, err := FitModel(measured(c.setups(mbps, cores, bytes), want, c.noise, c.repetitions, seed), seed)
				if err != nil {
					refused++ // the noise is too large to distinguish disks from cores
					continue
				}
				for _, disks := range []int{1, 2, 3, 4, 6, 12} {
					s := Setup{Partitions: 24, Cores: cores, Bytes: 2 * bytes}
					for range disks {
						s.Bandwidth = append(s.Bandwidth, mbps)
					}
					f, err := m.Forecast(s)
					if err != nil {
						t.Fatal(err)
					}
					x, _ := s.terms()
					for range 5 {
						one := want.seconds(x) * math.Exp(c.noise*r.NormFloat64())
						if f.Seconds.Low <= one && one <= f.Seconds.High {
							inside++
						}
						all++
					}
					width += (f.Seconds.High - f.Seconds.Low) / want.seconds(x) / (2 * 1.96 * c.noise)
				}
			}
			share := float64(inside) / float64(all)
			width /= float64(all / 5)
			t.Logf("%.1f %% of %d scans lie in their intervals, which are %.2f times as wide as those of the noise alone; %d of %d sweeps gave no model", 100*share, all, width, refused, sweeps)
			if share < 0.9 || width > 2 || refused > sweeps/8 {
				t.Errorf("95 %% are promised")
			}
		})
	}
}
