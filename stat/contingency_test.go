package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ctc evaluates a contingency statistic of the four counts.
func ctc(t testing.TB, name string, v ...float64) (float64, bool) {
	t.Helper()
	s, err := ByName("CTC", name)
	if err != nil {
		t.Fatal(err)
	}
	return s.Eval(append(v, v[0]+v[1]+v[2]+v[3]))
}

// Finley's tornado forecasts of 1884 (28, 72, 23, 2680), whose scores are in
// every textbook of forecast verification (Murphy 1996; Wilks, table 8.1).
func TestFinley(t *testing.T) {
	for name, want := range map[string]float64{
		"BASER": 0.0182, "FMEAN": 0.0357, "ACC": 0.966, "FBIAS": 1.961, "PODY": 0.549, "PODN": 0.974, "POFD": 0.0262,
		"FAR": 0.720, "CSI": 0.228, "GSS": 0.216, "HK": 0.523, "HSS": 0.355, "ODDS": 45.31, "ORSS": 0.957,
	} {
		got, ok := ctc(t, name, 28, 72, 23, 2680)
		if !ok || math.Abs(got-want) > 0.0006*max(1, math.Abs(want)*10) {
			t.Errorf("%s = %v, %v; want %v", name, got, ok, want)
		}
	}
}

// The scores for rare events of Finley's table, worked out from the formulas of
// Ferro and Stephenson (2011) apart from this program.
func TestFinleysExtremalScores(t *testing.T) {
	for name, want := range map[string]float64{"SEDI": 0.7528041895877162, "EDI": 0.7173623738840584, "EDS": 0.739648395638322, "SEDS": 0.5934674756057248} {
		if got, ok := ctc(t, name, 28, 72, 23, 2680); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, %v; want %v", name, got, ok, want)
		}
	}
}

// Identities between the scores, on random tables with records aggregated.
func TestContingencyIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		a := NewAggregate(ctcType())
		var sum [4]float64
		for range 5 {
			row := make([]float64, 6)
			for k := range 4 {
				row[k+1] = float64(1 + r.IntN(300))
				row[0] += row[k+1]
				sum[k] += row[k+1]
			}
			row[5] = 0.5
			a.Add(row)
		}
		for k, name := range cellColumns {
			if x, ok := a.Column(name); !ok || x != sum[k] {
				t.Fatalf("%s = %v, %v; the records add up to %v", name, x, ok, sum[k])
			}
		}
		get := func(name string) float64 {
			t.Helper()
			x, ok, err := a.Stat(name)
			if err != nil || !ok {
				t.Fatalf("%s of %v: %v, %v", name, sum, ok, err)
			}
			return x
		}
		csi, far, pody, fbias := get("CSI"), get("FAR"), get("PODY"), get("FBIAS")
		h, f, odds := get("PODY"), get("POFD"), get("ODDS")
		for name, d := range map[string]float64{
			"1/CSI = 1/POD + 1/(1-FAR) - 1": 1/csi - 1/pody - 1/(1-far) + 1,
			"FBIAS = POD/(1-FAR)":           fbias - pody/(1-far),
			"HK = POD - POFD":               get("HK") - h + f,
			"PODN = 1 - POFD":               get("PODN") - 1 + f,
			"FBIAS = FMEAN/BASER":           fbias - get("FMEAN")/get("BASER"),
			"LODDS = ln ODDS":               get("LODDS") - math.Log(odds),
			"ORSS = (ODDS-1)/(ODDS+1)":      get("ORSS") - (odds-1)/(odds+1),
			"GSS = HSS/(2-HSS)":             get("GSS") - get("HSS")/(2-get("HSS")),
			"ODDS = H(1-F)/(F(1-H))":        odds/(h*(1-f)/(f*(1-h))) - 1,
			"EDI":                           get("EDI") - (math.Log(f)-math.Log(h))/(math.Log(f)+math.Log(h)),
		} {
			if math.Abs(d) > 1e-9*max(1, odds) {
				t.Errorf("%s is off by %g for %v", name, d, sum)
			}
		}
		if s := get("SEDI"); s < -1 || s > 1 {
			t.Errorf("SEDI = %v", s)
		}
		if n, ok := a.Column("ec_value"); !ok || n != 0.5 {
			t.Errorf("ec_value = %v, %v", n, ok)
		}
	}
}

// A forecast without frequency bias needs no adjustment: BAGSS is near GSS.
func TestBiasAdjustedGilbert(t *testing.T) {
	x := lambertW(1)
	if math.Abs(x*math.Exp(x)-1) > 1e-14 || math.Abs(lambertW(math.E)-1) > 1e-14 || lambertW(0) != 0 {
		t.Errorf("lambertW(1) = %v, lambertW(e) = %v", x, lambertW(math.E))
	}
	for _, x := range []float64{1e-12, 0.3, 20, 1e6, 1e200} {
		if w := lambertW(x); math.Abs(w+math.Log(w)-math.Log(x)) > 1e-12*max(1, math.Abs(math.Log(x))) {
			t.Errorf("W(%g) = %v", x, w)
		}
	}
	// Adjusted hits H solve H = O − b/lf·W(O·lf/b); with b = c, H is a.
	gss, _ := ctc(t, "GSS", 50, 30, 30, 890)
	if got, ok := ctc(t, "BAGSS", 50, 30, 30, 890); !ok || math.Abs(got-gss) > 1e-9 {
		t.Errorf("BAGSS = %v, %v; GSS without bias is %v", got, ok, gss)
	}
}

func TestExtremeScoresOfRandomForecast(t *testing.T) {
	// Independent forecast and event, both with rate 0.1, among 10,000.
	for _, name := range []string{"SEDS", "EDI", "SEDI", "EDS", "GSS", "HSS", "HK"} {
		if x, ok := ctc(t, name, 100, 900, 900, 8100); !ok || math.Abs(x) > 1e-12 {
			t.Errorf("%s of a random forecast = %v, %v", name, x, ok)
		}
	}
}

// A score for rare events is undefined for a table from which its logarithms cannot be computed, and defined for the
// tables next to it.
func TestUndefinedExtremalScores(t *testing.T) {
	for _, c := range []struct {
		names      []string
		a, b, c, d float64 // hits, false alarms, misses, correct rejections
		defined    bool
	}{
		{[]string{"EDS", "SEDS", "EDI", "SEDI", "LODDS"}, 1, 1, 1, 1, true},
		{[]string{"EDS", "SEDS", "EDI", "SEDI", "LODDS"}, 0, 1, 1, 1, false},
		{[]string{"EDS", "SEDS", "EDI", "SEDI", "LODDS"}, 7, 0, 0, 0, false},
		{[]string{"EDI", "SEDI", "LODDS"}, 1, 0, 1, 1, false},
		{[]string{"EDS", "SEDS"}, 1, 0, 1, 1, true},
		{[]string{"SEDI", "LODDS"}, 1, 1, 0, 1, false},
		{[]string{"EDS", "SEDS", "EDI"}, 1, 1, 0, 1, true},
		{[]string{"SEDI", "LODDS"}, 1, 1, 1, 0, false},
		{[]string{"EDS", "SEDS", "EDI"}, 1, 1, 1, 0, true},
	} {
		for _, name := range c.names {
			if v, ok := ctc(t, name, c.a, c.b, c.c, c.d); ok != c.defined {
				t.Errorf("%s of %v, %v, %v, %v is %v, defined: %v, want %v", name, c.a, c.b, c.c, c.d, v, ok, c.defined)
			}
		}
	}
}
