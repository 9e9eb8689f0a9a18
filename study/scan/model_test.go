package scan

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// sweepOf returns the setups of a sweep: 1 to 8 paths with 1 to 16 partitions each, on disks that read mbps MB/s.
func sweepOf(mbps float64, cores int, bytes int64) []Setup {
	var out []Setup
	for paths := 1; paths <= 8; paths++ {
		for _, partitions := range []int{1, 2, 4, 8, 16} {
			s := Setup{Partitions: partitions, Cores: cores, Bytes: bytes}
			for range paths {
				s.Bandwidth = append(s.Bandwidth, mbps)
			}
			out = append(out, s)
		}
	}
	return out
}

// measured returns points whose times follow a known model, with relative noise.
func measured(setups []Setup, p parameters, noise float64, repetitions int, seed uint64) []Point {
	r := rand.New(rand.NewPCG(seed, 7))
	var out []Point
	for _, s := range setups {
		x, err := s.terms()
		if err != nil {
			panic(err)
		}
		at := Point{Setup: s}
		for range repetitions {
			at.Seconds = append(at.Seconds, p.seconds(x)*math.Exp(noise*r.NormFloat64()))
		}
		out = append(out, at)
	}
	return out
}

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b) }

func TestModelTerms(t *testing.T) {
	for _, c := range []struct {
		s          Setup
		disk, core float64
	}{
		{Setup{Bandwidth: []float64{100}, Partitions: 1, Cores: 2, Bytes: 1e9}, 10, 1},
		{Setup{Bandwidth: []float64{100, 100}, Partitions: 8, Cores: 4, Bytes: 1e9}, 5, 0.25},
		{Setup{Bandwidth: []float64{100, 100, 100}, Partitions: 4, Cores: 4, Bytes: 1e9}, 5, 0.25}, // two parts on the first
		{Setup{Bandwidth: []float64{100, 100, 100}, Partitions: 2, Cores: 4, Bytes: 1e9}, 5, 0.5},  // nothing on the third
		{Setup{Bandwidth: []float64{100, 50}, Partitions: 2, Cores: 4, Bytes: 1e9}, 10, 0.5},       // the slow one is last
		{Setup{Bandwidth: []float64{100}, Partitions: 1, Workers: 3, Cores: 8, Bytes: 3e9}, 30, 1},
	} {
		x, err := c.s.terms()
		if err != nil || !near(x.disk, c.disk, 1e-12) || !near(x.core, c.core, 1e-12) {
			t.Errorf("%+v: %+v, %v", c.s, x, err)
		}
	}
}

func TestModelExact(t *testing.T) {
	want := parameters{1 / 0.9, 12, 0.8}
	m, err := FitModel(measured(sweepOf(120, 8, 5e9), want, 0, 1, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !near(m.DiskShare.Value, 0.9, 1e-9) || !near(m.Work.Value, 12, 1e-9) || !near(m.Start.Value, 0.8, 1e-9) || !m.StartKnown || m.RelativeError > 1e-9 {
		t.Errorf("%+v", *m)
	}
}

// TestModelRecovers: FitModel finds known parameters in noisy sweeps. Their intervals contain them about as often as
// they promise.
func TestModelRecovers(t *testing.T) {
	sweeps := 40
	if testing.Short() {
		sweeps = 10
	}
	var inside [4]int
	r := rand.New(rand.NewPCG(3, 0))
	for seed := range uint64(sweeps) {
		bytes := int64(2e9 + 8e9*r.Float64())
		mbps, cores := 60+100*r.Float64(), 2+r.IntN(7)
		// With this work about three disks keep the cores busy.
		want := parameters{1 + 0.3*r.Float64(), (0.6 + 0.4*r.Float64()) * 1000 / mbps * float64(cores) / 3, r.Float64()}
		m, err := FitModel(measured(sweepOf(mbps, cores, bytes), want, 0.05, 5, seed), seed)
		if err != nil {
			t.Errorf("sweep %d: %v", seed, err)
			continue
		}
		if !near(m.DiskShare.Value, 1/want[0], 0.12) || !near(m.Work.Value, want[1], 0.12) {
			t.Errorf("sweep %d: drawn %.4g, work %.4g; the model is %.4g", seed, m.DiskShare.Value, m.Work.Value, want)
		}
		yours := Setup{Bandwidth: []float64{mbps, mbps, mbps, mbps, mbps, mbps}, Partitions: 12, Cores: cores, Bytes: 2 * bytes}
		f, err := m.Forecast(yours)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := yours.terms()
		if f.BoundShare > 0.95 && f.Bound != want.bound(x) {
			t.Errorf("sweep %d: %s are said to decide; the model is %.4g", seed, f.Bound, want)
		}
		for i, in := range []bool{
			m.DiskShare.Low <= 1/want[0] && 1/want[0] <= m.DiskShare.High, m.Work.Low <= want[1] && want[1] <= m.Work.High,
			m.Start.Low <= want[2] && want[2] <= m.Start.High, f.Seconds.Low <= want.seconds(x) && want.seconds(x) <= f.Seconds.High,
		} {
			if in {
				inside[i]++
			}
		}
	}
	t.Logf("of %d sweeps the interval holds the truth in: drawn %d, work %d, start %d, forecast %d", sweeps, inside[0], inside[1], inside[2], inside[3])
	for i, n := range inside {
		if n < sweeps*8/10 {
			t.Errorf("parameter %d lies in its interval in %d of %d sweeps", i, n, sweeps)
		}
	}
}

// TestModelRefuses: FitModel returns no model of a sweep in which one resource limits all points, or of too few or
// invalid points.
func TestModelRefuses(t *testing.T) {
	disks, cores := parameters{1.1, 0.2, 1}, parameters{1, 400, 1}
	for name, c := range map[string]struct {
		points []Point
		want   string
	}{
		"disks decide":  {measured(sweepOf(100, 8, 5e9), disks, 0.05, 5, 1), "disks may limit all configurations"},
		"cores decide":  {measured(sweepOf(500, 8, 5e9), cores, 0.05, 5, 1), "cores may limit all configurations"},
		"no noise":      {measured(sweepOf(100, 8, 5e9), disks, 0, 1, 1), "disks may limit all configurations"},
		"five points":   {measured(sweepOf(100, 8, 5e9)[:5], parameters{1, 10, 1}, 0, 1, 1), "5 setups"},
		"one setup":     {measured(sameSetup(sweepOf(100, 8, 5e9)[0], 9), parameters{1, 10, 1}, 0.05, 3, 1), "may limit all configurations"},
		"nothing":       {nil, "0 setups"},
		"no times":      {make([]Point, 6), "incomplete"},
		"a time of 0":   {[]Point{{Setup: sweepOf(100, 8, 5e9)[0], Seconds: []float64{1, 0}}}, "no times above 0"},
		"no bandwidth":  {[]Point{{Setup: Setup{Bandwidth: []float64{0}, Partitions: 1, Cores: 1, Bytes: 1}, Seconds: []float64{1}}}, "0 MB/s"},
		"a time of NaN": {[]Point{{Setup: sweepOf(100, 8, 5e9)[0], Seconds: []float64{math.NaN()}}}, "no times above 0"},
	} {
		if m, err := FitModel(c.points, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v; want %q", name, err, m, c.want)
		}
	}
}

func sameSetup(s Setup, n int) []Setup {
	var out []Setup
	for range n {
		out = append(out, s)
	}
	return out
}

// TestModelSeldomWrong: if disks limit all points, FitModel seldom mistakes the noise for the limit of the cores.
func TestModelSeldomWrong(t *testing.T) {
	const sweeps = 100
	taken := 0
	for seed := range uint64(sweeps) {
		if _, err := FitModel(measured(sweepOf(100, 8, 5e9), parameters{1.1, 0.2, 1}, 0.05, 5, seed), seed); err == nil {
			taken++
		}
	}
	if taken > sweeps/20 {
		t.Errorf("%d of %d sweeps that only disks limit gave a model", taken, sweeps)
	}
}

func TestModelForecast(t *testing.T) {
	m, err := FitModel(measured(sweepOf(120, 8, 5e9), parameters{1, 16, 1}, 0.03, 7, 4), 9)
	if err != nil {
		t.Fatal(err)
	}
	four := Setup{Bandwidth: []float64{120, 120, 120, 120}, Partitions: 12, Cores: 8, Bytes: 5e9}
	f, err := m.Forecast(four)
	if err != nil {
		t.Fatal(err)
	}
	// disks 5000/480 = 10.42 s, cores 16·5/8 = 10 s
	if f.Seconds.Low > 11.42 || f.Seconds.High < 11.42 || f.Bound != ByDisks || len(f.Beyond) > 0 {
		t.Errorf("%+v", f)
	}
	four.Bytes, four.Cores = 50e9, 2
	if f, err = m.Forecast(four); err != nil {
		t.Fatal(err)
	}
	if text := f.String(); f.Bound != ByCores || len(f.Beyond) != 1 || !strings.Contains(text, "the cores are the limit; ") || !strings.Contains(text, "GB: 50, measured up to 5") {
		t.Errorf("%+v: %s", f, text)
	}
	// one disk takes 1000/120 s for a GB, eight cores 2
	if n := m.EnoughDisks(120, 8); n != 4 && n != 5 {
		t.Errorf("enough disks: %d", n)
	}
	if _, err := m.Forecast(Setup{}); err == nil {
		t.Error("a forecast for nothing")
	}

	// A model that was kept as JSON forecasts the same.
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Model
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if g, err := again.Forecast(four); err != nil || !reflect.DeepEqual(f, g) {
		t.Errorf("%+v, %v; was %+v", g, err, f)
	}
}

func TestForecastInWords(t *testing.T) {
	f := Forecast{Bound: ByDisks, BoundShare: 0.99, Disks: 38.2, Cores: 12.1}
	f.Seconds.Value, f.Seconds.Low, f.Seconds.High = 41.3, 39, 44.4
	if got, want := f.String(), "41 s ± 3: the disks are the limit; by the disks only 38 s, by the cores only 12 s"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	f.BoundShare = 0.6
	f.Seconds.Low, f.Seconds.High = 41.27, 41.32
	if got, want := f.String(), "41.30 s ± 0.03: the disks are the limit (not sure); by the disks only 38.20 s, by the cores only 12.10 s"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestModelStart: if the points that disks limit have the same term disks, and the points that cores limit the same
// term cores, the points do not determine Start. Then it is 0 and not known.
func TestModelStart(t *testing.T) {
	var setups []Setup
	for range 4 {
		for _, s := range []Setup{
			{Bandwidth: []float64{100}, Workers: 1},
			{Bandwidth: []float64{100}, Workers: 4},
			{Bandwidth: []float64{1000}, Workers: 1},
			{Bandwidth: []float64{220}, Workers: 1},
		} {
			s.Partitions, s.Cores, s.Bytes = 4, 8, 1e9
			setups = append(setups, s)
		}
	}
	m, err := FitModel(measured(setups, parameters{1, 5, 0.5}, 0.02, 5, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if m.StartKnown || m.Start.Value != 0 {
		t.Errorf("%+v", m)
	}
}
