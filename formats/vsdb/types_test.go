package vsdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// Every VSDB type is stored in a type that the table has, in columns it has.
func TestEveryTypeHasItsColumns(t *testing.T) {
	for _, k := range kinds {
		if l := newLayout(k); l == nil {
			t.Errorf("%s is stored as %s, which the table of line types does not have", k.vsdb, k.target)
		}
	}
}

func line(typ, model, numbers string) string {
	return "V01 " + model + " 24 2019010100 GFS G2/NHX " + typ + " T P500 = " + numbers + "\n"
}

func TestPartialSums(t *testing.T) {
	for typ, most := range map[string]int{"SL1L2": 7, "SAL1L2": 7, "VL1L2": 10, "VAL1L2": 8, "GRAD": 10} {
		nums := make([]string, most)
		for i := range nums {
			nums[i] = fmt.Sprint(i + 1)
		}
		b := one(t, line(typ, "GFS/3", strings.Join(nums, " ")), Options{Ensemble: "1"})
		if b.Type.Name != typ || b.Header(0)[record.Model] != "GFS/3" || b.Header(0)[record.FcstThresh] != record.NA {
			t.Errorf("%s: type %s, header %q", typ, b.Type.Name, *b.Header(0))
		}
		for i, col := range b.Num {
			if v := col[0]; i < most && v != float64(i+1) || i >= most && !math.IsNaN(v) {
				t.Errorf("%s: column %d is %v", typ, i, v)
			}
		}
		if r := rejected(t, line(typ, "GFS", strings.Join(append(nums, "9"), " "))); !strings.Contains(r.Reason, "more than the") {
			t.Error(r.Reason)
		}
	}
}

func TestFHO(t *testing.T) {
	nan := math.NaN()
	for numbers, cells := range map[string][6]float64{ // total fy_oy fy_on fn_oy fn_on ec_value
		"  60582 0.00213 0.00002 0.00271":     {60582, 1, 128, 163, 60290, 0.5},
		"   3524 0.03490 0.00028 0.00738":     {3524, 1, 122, 25, 3376, 0.5},
		"   2814 0.00000 0.00000 0.00249":     {2814, 0, 0, 7, 2807, 0.5},
		"   2814 0.00249 -9999 0":             {2814, nan, nan, nan, nan, 0.5},
		"   2814 0.00249 0.00000 NA":          {2814, 0, 7, nan, nan, 0.5},
		"   2814 NA NA NA":                    {2814, nan, nan, nan, nan, 0.5},
		"  1000. 0.2505E+00 0.1255 0.3755":    {1000, 125.5, 125, 250, 499.5, 0.5}, // no counts: not rounded
		"2000000 0.50000 0.25000 0.50000":     {2000000, 500000, 500000, 500000, 500000, 0.5},
		"3 0.66667 0.33333 0.66667":           {3, 1, 1, 1, 0, 0.5},
		"1000 0.50050 0.00100 0.50051":        {1000, 1, 499.5, 499.51, 0, 0.5}, // fn_on -0.01
		"0 0 0 0":                             {0, 0, 0, 0, 0, 0.5},
		"  1000. 0.50025 0.50025 0.50025":     {1000, 500.25, 0, 0, 499.75, 0.5},
		"2000000 0.1234567 0.01234567 0.1234": {2000000, 24691.34, 222222.06, 222108.66, 1530977.94, 0.5},
	} {
		b := one(t, line("FHO>.50", "GFS", numbers), Options{})
		if b.Type.Name != "CTC" {
			t.Fatal(b.Type.Name)
		}
		for i, name := range []string{"total", "fy_oy", "fy_on", "fn_oy", "fn_on", "ec_value"} {
			got := num(t, b, name)
			if math.Abs(got-cells[i]) > 1e-6 || math.IsNaN(got) != math.IsNaN(cells[i]) {
				t.Errorf("%s: %s = %v, want %v", numbers, name, got, cells[i])
			}
		}
	}
	for numbers, reason := range map[string]string{
		"1000 0.1 0.2 0.3":  "fy_on would be -100",
		"1000 0.2 0.2 0.1":  "fn_oy would be -100",
		"1000 0.9 0.2 0.9":  "fn_on would be -600",
		"1000 0.9 0.2 0":    "fn_oy would be -200",
		"1000 1.5 0.2 0.9":  "is above 1",
		"1000 0.2 -0.1 0.2": "fy_oy would be -100",
	} {
		if r := rejected(t, line("FHO>.50", "GFS", numbers)); !strings.Contains(r.Reason, reason) {
			t.Errorf("%s: %s, want %s", numbers, r.Reason, reason)
		}
	}
}

// The cells of rounded rates add up to the number of cases, and are the counts
// that the rates were made from.
func TestFHORecoversCounts(t *testing.T) {
	l := newLayout(kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.vsdb == "FHO" })])
	row := make([]float64, len(l.emptyRow))
	for _, n := range []int{1, 7, 133, 5789, 60582, 99999} {
		for i := range 200 {
			oy, fy := i*n/311, (i*7919)%(n+1)
			hit := min(oy, fy) * (i % 3) / 2
			hit = max(min(hit, oy, fy), fy+oy-n)
			r5 := func(c int) float64 { return math.Round(float64(c)/float64(n)*1e5) / 1e5 }
			if why := l.derive([]float64{float64(n), r5(fy), r5(hit), r5(oy)}, row); why != "" {
				t.Fatal(why)
			}
			got := [4]float64{row[l.slotOf("fy_oy")], row[l.slotOf("fy_on")], row[l.slotOf("fn_oy")], row[l.slotOf("fn_on")]}
			want := [4]float64{float64(hit), float64(fy - hit), float64(oy - hit), float64(n - fy - oy + hit)}
			if got != want {
				t.Fatalf("N %d fy %d hit %d oy %d: %v, want %v", n, fy, hit, oy, got, want)
			}
		}
	}
}

// METdbLoad computes 1 − fbs/x + y.
func TestMETdbLoadFSSBrackets(t *testing.T) {
	b := one(t, line("FSS>1.0", "GFS", "100 0.2 0.5 0.3"), Options{})
	want(t, b, map[string]float64{"total": 100, "fbs": 0.2, "fss": 1 - 0.2/(0.5+0.3), "afss": math.NaN()})
	if b.Type.Name != "NBRCNT" || b.Header(0)[record.ObsThresh] != ">1.0" {
		t.Error(b.Type.Name, *b.Header(0))
	}
	for _, numbers := range []string{"100 0 0 0", "100 0.2 0 0", "100 0.2 0.5 NA"} {
		b := one(t, line("FSS>1.0", "GFS", numbers), Options{})
		want(t, b, map[string]float64{"total": 100, "fss": math.NaN()})
	}
}

func TestEnsembleTypes(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		typ, model, numbers, target string
		values                      map[string]float64
		repeats                     []float64
	}{
		{"RMSE", "GEFS/20", "1 2 3 4 0.5", "CNT", map[string]float64{"total": 0, "estdev": 1, "rmse": 2, "me": 3, "mae": 4, "anom_corr": 0.5, "ranks": 0, "frank_ties": 0, "orank_ties": 0, "fbar": nan}, nil},
		{"BSS", "GEFS/20", "0.1 0.2 0.3 4 5 6", "PSTD", map[string]float64{"total": 0, "n_thresh": 0, "brier": 0.1, "briercl": 0.2, "bss": 0.3, "reliability": 4, "resolution": 5, "uncertainty": 6, "baser": nan}, nil},
		{"RPS", "GEFS/20", "1 2 0.3 4 5 0.6", "ENSCNT", map[string]float64{"rpsf": 1, "rpscl": 2, "rpss": 0.3, "crpsf": 4, "crpscl": 5, "crpss": 0.6}, nil},
		{"RELI", "GEFS/2", "1 2 3 10 20 30", "PCT", map[string]float64{"total": 60, "n_thresh": 4}, []float64{0, 1, 9, 0.5, 2, 18, 1, 3, 27, nan}},
		{"RELI", "GEFS/2", "1 2 3 10 NA -9999", "PCT", map[string]float64{"total": nan, "n_thresh": 4}, []float64{0, 1, 9, 0.5, 2, nan, 1, 3, nan, nan}},
		{"HIST", "GEFS/2", "0.25 0.5 0.25", "RHIST", map[string]float64{"total": 0, "n_rank": 3}, []float64{25, 50, 25}},
		{"RELP", "GEFS/3", "0.25 0.5 0.25", "RELP", map[string]float64{"total": 0, "n_ens": 3}, []float64{0.25, 0.5, 0.25}},
	} {
		b := one(t, line(c.typ, c.model, c.numbers), Options{Ensemble: "1"})
		if b.Type.Name != c.target || b.Header(0)[record.Model] != "GEFS_1" {
			t.Errorf("%s: %s of model %q", c.typ, b.Type.Name, b.Header(0)[record.Model])
		}
		want(t, b, c.values)
		if fmt.Sprint(b.Repeats(0)) != fmt.Sprint(c.repeats) {
			t.Errorf("%s: repeating columns %v, want %v", c.typ, b.Repeats(0), c.repeats)
		}
		thresh := record.NA
		if c.typ == "RELI" {
			thresh = "==1/3"
		}
		if h := b.Header(0); h[record.FcstThresh] != thresh || h[record.ObsThresh] != thresh {
			t.Errorf("%s: threshold %q", c.typ, h[record.FcstThresh])
		}
	}
}

func TestECON(t *testing.T) {
	b := one(t, line("ECON", "GEFS/20", "-1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 -17 0.18"), Options{})
	r := b.Repeats(0)
	if b.Type.Name != "ECLV" || len(r) != 36 || r[0] != 0.952380952 || r[1] != -1 || r[34] != 0.002 || r[35] != 0.18 {
		t.Errorf("%s %v", b.Type.Name, r)
	}
	want(t, b, map[string]float64{"total": 0, "n_pts": 18, "baser": math.NaN()})
	if m := b.Header(0)[record.Model]; m != "GEFS" {
		t.Errorf("model %q", m)
	}
}

func TestEnsembleModel(t *testing.T) {
	for _, c := range []struct{ typ, model, want string }{
		{"RPS", "GEFS", "GEFS_1"},
		{"BSS", "GEFS/20", "GEFS_1"},
		{"HIST", "GEFS/2", "GEFS_1"},
		{"SL1L2", "GFS/3", "GFS/3"},
		{"SL1L2", "GFS", "GFS"},
	} {
		nums := map[string]string{"HIST": "1 2 3"}[c.typ]
		b := one(t, line(c.typ, c.model, cmp.Or(nums, "1 0 0 0 0 0")), Options{Ensemble: "1"})
		if m := b.Header(0)[record.Model]; m != c.want {
			t.Errorf("%s of %s: model %q, want %q", c.typ, c.model, m, c.want)
		}
	}
	for _, model := range []string{"GEFS", "GEFS/", "GEFS/0", "GEFS/-1", "GEFS/x", "GEFS/1001", "GEFS/99999999999999999999"} {
		for _, typ := range []string{"HIST", "RELI", "RELP"} {
			if r := rejected(t, line(typ, model, "1 2 3")); !strings.Contains(r.Reason, fmt.Sprintf("%q", model)) {
				t.Error(r.Reason)
			}
		}
	}
	if r := rejected(t, line("HIST", "GEFS/2", "1 2 3 4")); !strings.Contains(r.Reason, "more than the 3 numbers") {
		t.Error(r.Reason)
	}
	if r := rejected(t, line("RELI", "GEFS/1", "1 2 1e308 1e308")); !strings.Contains(r.Reason, "column total: +Inf is not a count") {
		t.Error(r.Reason)
	}
	if r := rejected(t, line("HIST", "GEFS/2", "1 2 1e307")); !strings.Contains(r.Reason, "column rank_i[3]: +Inf is not a number of cases") {
		t.Error(r.Reason)
	}
}

// A record has a model, and text that SQL and JSON can represent, also where a part of it is the name
// of a directory.
func TestUnusableEnsembleModel(t *testing.T) {
	for _, c := range []struct{ typ, model, ensemble, reason string }{
		{"RPS", "/20", "", `model "/20" of line type RPS has no name before its slash`},
		{"HIST", "/2", "1", `model "/2" of line type HIST has no name before its slash`},
		{"BSS", "GEFS/20", "\xff", `header token "GEFS_\xff" is not valid UTF-8`},
		{"RELP", "GEFS/6", "a\tb", `header token "GEFS_a\tb" has the control character 0x09`},
	} {
		batches, _ := readAll(t, strings.NewReader(line(c.typ, c.model, "1 0 0 0 0 0")), "t", Options{Ensemble: c.ensemble})
		if len(batches) != 1 || len(batches[0].Rejects) != 1 || batches[0].Rejects[0].Reason != c.reason {
			t.Errorf("%s of %s in a directory x_%q: %+v, want %s", c.typ, c.model, c.ensemble, batches[0].Rejects, c.reason)
		}
	}
}

// Two models that lose their "/n" share a header, but not the length of their lines.
func TestEnsembleSizesShareAHeader(t *testing.T) {
	text := line("HIST", "GEFS/2", "1 2 3") + line("HIST", "GEFS/3", "1 2 3 4")
	batches, _ := readAll(t, strings.NewReader(text), "t", Options{})
	if len(batches) != 1 || len(batches[0].Headers) != 1 || len(batches[0].Repeats(0)) != 3 || len(batches[0].Repeats(1)) != 4 {
		t.Errorf("%+v", batches[0])
	}
}

func TestEnsembleOf(t *testing.T) {
	for dir, want := range map[string]string{
		"/data/gefs_1": "1", "/data/gefs_1/": "1", "gefs_b_12": "12", "/da_ta/gefs": "", "": "", "/": "", "x_": "", "_x": "x", "a/_b": "b", "a_b/c": "",
	} {
		if got := EnsembleOf(dir); got != want {
			t.Errorf("EnsembleOf(%q) = %q, want %q", dir, got, want)
		}
	}
}
