package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/barograph/barograph/record"
)

// lineType finds a line type of record's table.
func lineType(t testing.TB, name string) *record.LineType {
	t.Helper()
	lt, ok := record.TypeByName(name)
	if !ok {
		t.Fatalf("line type %s is not in the table", name)
	}
	return lt
}

// ctcType returns MET's CTC, even if record's table does not have it.
func ctcType() *record.LineType {
	if t, ok := record.TypeByName("CTC"); ok {
		return t
	}
	t := &record.LineType{Name: "CTC"}
	for i, name := range []string{"total", "fy_oy", "fy_on", "fn_oy", "fn_on", "ec_value"} {
		kind := record.Count
		if name == "ec_value" {
			kind = record.Float
		}
		t.Columns = append(t.Columns, record.Column{Name: name, Kind: kind, Slot: i})
	}
	return t
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// pairs are matched forecasts and observations.
type pairs struct{ f, o []float64 }

func randomPairs(r *rand.Rand, n int, level float64) pairs {
	var p pairs
	for range n {
		o := level + 5*r.NormFloat64()
		p.o = append(p.o, o)
		p.f = append(p.f, level+0.4+0.8*(o-level)+2*r.NormFloat64())
	}
	return p
}

// sl1l2 is the partial sums of p as MET writes them.
func (p pairs) sl1l2() []float64 {
	n := float64(len(p.f))
	row := make([]float64, 7)
	for i, f := range p.f {
		o := p.o[i]
		for k, x := range []float64{f, o, f * o, f * f, o * o, math.Abs(f - o)} {
			row[k+1] += x / n
		}
	}
	row[0] = n
	return row
}

// direct computes statistics straight from the pairs, by their definitions.
func (p pairs) direct() map[string]float64 {
	n := float64(len(p.f))
	var f, o, me, mse, mae float64
	for i := range p.f {
		e := p.f[i] - p.o[i]
		f, o, me, mse, mae = f+p.f[i]/n, o+p.o[i]/n, me+e/n, mse+e*e/n, mae+math.Abs(e)/n
	}
	var ff, oo, fo, ee float64 // centered
	for i := range p.f {
		df, do := p.f[i]-f, p.o[i]-o
		ff, oo, fo = ff+df*df, oo+do*do, fo+df*do
		ee += (df - do) * (df - do)
	}
	return map[string]float64{
		"FBAR": f, "OBAR": o, "ME": me, "ME2": me * me, "MSE": mse, "RMSE": math.Sqrt(mse), "MAE": mae,
		"BCMSE": ee / n, "BCRMSE": math.Sqrt(ee / n), "MBIAS": f / o, "FE": me / f, "SI": math.Sqrt(mse) / o,
		"FSTDEV": math.Sqrt(ff / (n - 1)), "OSTDEV": math.Sqrt(oo / (n - 1)), "ESTDEV": math.Sqrt(ee / (n - 1)),
		"MSESS": 1 - mse/(oo/(n-1)), "PR_CORR": fo / math.Sqrt(ff*oo),
	}
}

// An aggregate over records must be the statistic of all their pairs.
func TestAggregateOfRecordsIsStatisticOfPooledPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, parts := NewAggregate(lineType(t, "SL1L2")), []*Aggregate{NewAggregate(lineType(t, "SL1L2")), NewAggregate(lineType(t, "SL1L2"))}
	var all pairs
	for i := range 40 {
		p := randomPairs(r, 1+r.IntN(200), 10)
		a.Add(p.sl1l2())
		parts[i%2].Add(p.sl1l2())
		all.f, all.o = append(all.f, p.f...), append(all.o, p.o...)
	}
	a.Add([]float64{0, math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}) // no pairs
	parts[0].Merge(parts[1])
	for name, want := range all.direct() {
		for _, agg := range []*Aggregate{a, parts[0]} {
			got, ok, err := agg.Stat(name)
			if err != nil || !ok || !near(got, want, 1e-9) {
				t.Errorf("%s = %v, %v, %v; the pairs give %v", name, got, ok, err, want)
			}
		}
	}
	if n, _ := a.Column("total"); int(n) != len(all.f) {
		t.Errorf("total = %v, want %d", n, len(all.f))
	}
}

func TestAnomalyAndVectorStatisticsFromPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	u, v := randomPairs(r, 500, 3), randomPairs(r, 500, -2)
	su, sv := u.sl1l2(), v.sl1l2()
	du, dv := u.direct(), v.direct()
	var fs, os float64
	for i := range u.f {
		fs += math.Hypot(u.f[i], v.f[i]) / 500
		os += math.Hypot(u.o[i], v.o[i]) / 500
	}
	row := []float64{500, su[1], sv[1], su[2], sv[2], su[3] + sv[3], su[4] + sv[4], su[5] + sv[5], fs, os, 500, 1, 2, 3}
	vl, val, sal := NewAggregate(lineType(t, "VL1L2")), NewAggregate(lineType(t, "VAL1L2")), NewAggregate(lineType(t, "SAL1L2"))
	vl.Add(row)
	val.Add(row)
	sal.Add(su)
	msve := du["MSE"] + dv["MSE"]
	fspd, ospd := math.Hypot(su[1], sv[1]), math.Hypot(su[2], sv[2])
	covariance := func(s []float64, i, j, ij int) float64 { return s[ij] - s[i]*s[j] }
	vacc := (covariance(su, 1, 2, 3) + covariance(sv, 1, 2, 3)) /
		math.Sqrt((covariance(su, 1, 1, 4)+covariance(sv, 1, 1, 4))*(covariance(su, 2, 2, 5)+covariance(sv, 2, 2, 5)))
	for _, c := range []struct {
		a    *Aggregate
		name string
		want float64
	}{
		{vl, "MSVE", msve},
		{vl, "VL1L2_RMSVE", math.Sqrt(msve)},
		{vl, "FSPD", fspd},
		{vl, "OSPD", ospd},
		{vl, "SPEED_ERR", fspd - ospd},
		{vl, "BIAS", math.Sqrt(row[6]) - math.Sqrt(row[7])},
		{vl, "FVAR", row[6] - fs*fs},
		{vl, "OVAR", row[7] - os*os},
		{vl, "DIR_MAE", 2},
		{val, "VAL1L2_ANOM_CORR", vacc},
		{val, "anom_corr", vacc},
		{val, "DIRA_MSE", 3},
		{sal, "ANOM_CORR", du["PR_CORR"]},
		{sal, "ANOM_CORR_RAW", su[3] / math.Sqrt(su[4]*su[5])},
		{sal, "RMSFA", math.Sqrt(su[4])},
		{sal, "RMSOA", math.Sqrt(su[5])},
	} {
		got, ok, err := c.a.Stat(c.name)
		if err != nil || !ok || !near(got, c.want, 1e-9) {
			t.Errorf("%s = %v, %v, %v; want %v", c.name, got, ok, err, c.want)
		}
	}
}

// Directions are averaged with total_dir, not with total.
func TestDirectionColumnsUseTheirOwnCount(t *testing.T) {
	a := NewAggregate(lineType(t, "VL1L2"))
	row := func(total, dirs, me float64) []float64 {
		return []float64{total, 0, 0, 0, 0, 0, 0, 0, 0, 0, dirs, me, 0, 0}
	}
	a.Add(row(100, 1, 10))
	a.Add(row(100, 3, 2))
	a.Add(row(100, 0, math.NaN()))
	if got, ok, _ := a.Stat("DIR_ME"); !ok || got != 4 {
		t.Errorf("DIR_ME = %v, %v; want 4", got, ok)
	}
}

func TestMissingColumnIsMissingInTheAggregate(t *testing.T) {
	a := NewAggregate(lineType(t, "SL1L2"))
	a.Add([]float64{2, 1, 2, 3, 4, 5, 0.5})
	a.Add([]float64{2, 1, 2, 3, 4, 5, math.NaN()})
	if _, ok, err := a.Stat("MAE"); ok || err != nil {
		t.Errorf("MAE: ok %v, %v; the second record has none", ok, err)
	}
	if _, ok, _ := a.Stat("RMSE"); !ok {
		t.Error("RMSE does not need mae")
	}
	a.Add([]float64{math.NaN(), 1, 2, 3, 4, 5, 0.5})
	if v, ok, _ := a.Stat("ME"); ok {
		t.Errorf("ME = %v from a record without total", v)
	}
}

func TestUndefinedIsNeverANumber(t *testing.T) {
	special := []float64{0, 1, -1, 1e-300, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range Table() {
		defined := 0
		for range 20_000 {
			v := make([]float64, len(s.Needs))
			if s.Needs[len(s.Needs)-1] == Repeats {
				v = make([]float64, len(s.Needs)+6)
			}
			for i := range v {
				v[i] = special[r.IntN(len(special))]
			}
			if s.LineType == "MCTC" && s.Name != "TOTAL" {
				v = v[:len(s.Needs)+3] // two categories have four counts
				v[0] = 2
			}
			x, ok := s.Eval(v)
			if ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				t.Fatalf("%s %s%v = %v with ok", s.LineType, s.Name, v, x)
			}
			if ok {
				defined++
			}
		}
		if defined == 0 {
			t.Errorf("%s %s: none of the inputs reaches its formula", s.LineType, s.Name)
		}
	}
	for _, c := range []struct {
		lineType, name string
		v              []float64
	}{
		{"SL1L2", "MBIAS", []float64{1, 0}},
		{"SL1L2", "FE", []float64{0, 1}},
		{"SL1L2", "MSE", []float64{3, 1, 1}},
		{"SL1L2", "FSTDEV", []float64{1, 2, 4}},
		{"SL1L2", "OSTDEV", []float64{10, 2, 3}},
		{"SL1L2", "PR_CORR", []float64{0, 0, 2, 1, 1}},
		{"SAL1L2", "ANOM_CORR", []float64{0, 0, 1, 0, 1}},
		{"CTC", "LODDS", []float64{1, 1, 0, 1, 3}},
		{"CTC", "PODY", []float64{0, 1, 0, 1, 2}},
		{"CTC", "BAGSS", []float64{1, 0, 1, 1, 3}},
	} {
		s, err := ByName(c.lineType, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if x, ok := s.Eval(c.v); ok {
			t.Errorf("%s%v = %v, want undefined", c.name, c.v, x)
		}
	}
	perfect, _ := ByName("SAL1L2", "ANOM_CORR")
	if x, ok := perfect.Eval([]float64{0.1, 0.1, 0.3, 0.3, 0.3}); !ok || x != 1 {
		t.Errorf("perfect forecast: %v, %v", x, ok)
	}
}

func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Table() {
		key := s.LineType + " " + s.Name
		if seen[key] || s.Source == "" || s.Summary == "" || s.Unit == "" || len(s.Needs) == 0 {
			t.Errorf("%s: twice, or source, summary, unit or columns missing", key)
		}
		seen[key] = true
		lt := ctcType()
		if s.LineType != "CTC" {
			lt = lineType(t, s.LineType)
		}
		if err := newPlan(lt, 0, !equalWeights).check(&s); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := ByName("SL1L2", "NOPE"); err == nil {
		t.Error("an unknown statistic was found")
	}
	if _, err := ByName("NOPE", "RMSE"); err == nil {
		t.Error("an unknown line type was found")
	}
}

func TestRoundHalfUp(t *testing.T) {
	for _, c := range [][2]float64{{0.12345675, 0.1234568}, {-0.5, -0.5}, {1e-8, 0}} {
		if got := RoundHalfUp(c[0], 7); !near(got, c[1], 1e-12) {
			t.Errorf("RoundHalfUp(%v) = %v, want %v", c[0], got, c[1])
		}
	}
	for x, want := range map[float64]float64{-1.5: -1, -0.5: 0, 0.5: 1, 2.5: 3, -0.75: -1} {
		if got := RoundHalfUp(x, 0); got != want {
			t.Errorf("RoundHalfUp(%v, 0) = %v, want %v", x, got, want)
		}
	}
}

// TestTotals: the number of pairs is a statistic of every line type of sums, also by METviewer's name SL1L2_TOTAL, and
// is the sum of the records' totals.
func TestTotals(t *testing.T) {
	for _, name := range lineTypes() {
		s, err := ByName(name, "TOTAL")
		byType, err2 := ByName(name, name+"_TOTAL")
		if err != nil || err2 != nil || byType.Name != s.Name {
			t.Errorf("%s: %v, %v", name, err, err2)
			continue
		}
		lt := lineType(t, name)
		cols := make([][]float64, lt.NumCols())
		for k := range cols {
			cols[k] = []float64{0, 0}
		}
		total, _ := lt.Column("total")
		cols[total.Slot] = []float64{100, 300}
		if y, ok, err := Summarize(Overall, &s, lt, cols); err != nil || !ok || y != 400 {
			t.Errorf("%s: %v, %v, %v; want 400", name, y, ok, err)
		}
	}
}
