package record

import (
	"maps"
	"math"
	"strings"
	"testing"
)

// Every numeric column of every line type has a rule, and no rule names a column
// that no line type has.
func TestEveryColumnHasARule(t *testing.T) {
	used := map[string]bool{}
	use := func(lt, column string, r *Rule) {
		if r == nil || r.Allowed == "" || r.Min >= r.Max || !r.Accepts(Missing()) || !r.Accepts(0) || r.Accepts(math.Inf(1)) || r.Accepts(math.Inf(-1)) {
			t.Errorf("%s.%s: rule %+v", lt, column, r)
		}
		used[lt+"."+column], used[column] = true, true
	}
	for _, lt := range Types() {
		for _, c := range lt.Columns {
			if c.Kind == Text {
				continue
			}
			use(lt.Name, c.Name, c.Rule)
			if c.Kind == Count != c.Rule.Integer {
				t.Errorf("%s.%s: kind %d, rule %q", lt.Name, c.Name, c.Kind, c.Rule.Allowed)
			}
		}
		if lt.Group == nil {
			continue
		}
		for i, f := range lt.Group.Fields {
			use(lt.Name, f, lt.Group.Rules[i])
		}
	}
	for name := range rules {
		if !used[name] {
			t.Errorf("the table of rules names %s, which no line type has", name)
		}
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		column    string // TYPE.column
		good, bad []float64
	}{
		{"SL1L2.total", []float64{0, 1, MaxCount}, []float64{-1, 1.5, MaxCount + 1, 1e308}},
		{"SL1L2.fbar", []float64{-1e300, 1e300}, nil},
		{"SL1L2.ffbar", []float64{0, 84100.5}, []float64{-0.1}},
		{"CTC.fy_oy", []float64{0, 12.5}, []float64{-1, 1e16}},
		{"CTS.pody", []float64{0, 1}, []float64{-0.00001, 1.00001}},
		{"CTS.pody_ncl", []float64{-0.2, 1.3}, nil},
		{"CTS.gss", []float64{-1. / 3, 1}, []float64{1.1, -1.1}},
		{"CTS.hss", []float64{-7, 1}, []float64{1.1}},
		{"CNT.pr_corr", []float64{-1, 1}, []float64{-1.1, 1.1}},
		{"CNT.bcmse", []float64{-1e-12}, nil},
		{"MPR.obs_lat", []float64{-90, 90}, []float64{-90.1, 91}},
		{"MPR.obs_lon", []float64{-180, 359.9}, []float64{-361, 400}},
		{"ISC.tile_xll", []float64{-3, 0}, []float64{0.5}},
		{"MTD_2D_OBJ.area", []float64{-5}, nil}, // a revision is a difference
	} {
		name, column, _ := strings.Cut(c.column, ".")
		lt, _ := TypeByName(name)
		col, ok := lt.Column(column)
		if !ok {
			t.Fatal(c.column)
		}
		for _, v := range c.good {
			if !col.Rule.Accepts(v) {
				t.Errorf("%s: %v is refused: %s", c.column, v, col.Rule.Allowed)
			}
		}
		for _, v := range c.bad {
			if col.Rule.Accepts(v) {
				t.Errorf("%s: %v is allowed: %s", c.column, v, col.Rule.Allowed)
			}
		}
	}
	if got, want := count.Violation("total", `"-99"`), `column total: "-99" is not a count: a whole number from 0 to 9007199254740991`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestRulesAllowWhatTheirTextSays: a user reads the text of a rule as the reason for a quarantined line. The rule
// accepts the limits that the text names, and rejects the next number beyond each.
func TestRulesAllowWhatTheirTextSays(t *testing.T) {
	const huge, integer = math.MaxFloat64, 9007199254740991 // 2⁵³ − 1
	limits := map[string][2]float64{
		"a count: a whole number from 0 to 9007199254740991":        {0, integer},
		"a whole number from -9007199254740991 to 9007199254740991": {-integer, integer},
		"a number of cases, from 0 to 9007199254740991":             {0, integer},
		"a finite number":                      {-huge, huge},
		"a finite number that is not negative": {0, huge},
		"a finite number of at most 1":         {-huge, 1},
		"a number from 0 to 1":                 {0, 1},
		"a number from 0 to 100":               {0, 100},
		"a number from -1 to 1":                {-1, 1},
		"a latitude from -90 to 90":            {-90, 90},
		"a longitude from -360 to 360":         {-360, 360},
	}
	seen := map[string]bool{}
	for name, r := range maps.All(rules) {
		seen[r.Allowed] = true
		want, ok := limits[r.Allowed]
		if !ok {
			t.Fatalf("%s: %q is not in the list of this test", name, r.Allowed)
		}
		low, high := math.Nextafter(want[0], math.Inf(-1)), math.Nextafter(want[1], math.Inf(1))
		if !r.Accepts(want[0]) || !r.Accepts(want[1]) || r.Accepts(low) || r.Accepts(high) || r.Accepts(want[0]-1) && want[0] > -huge {
			t.Errorf("%s: %q allows %v: %v, %v: %v, %v: %v, %v: %v", name, r.Allowed,
				low, r.Accepts(low), want[0], r.Accepts(want[0]), want[1], r.Accepts(want[1]), high, r.Accepts(high))
		}
		if r.Accepts(0.5) == strings.Contains(r.Allowed, "whole number") {
			t.Errorf("%s: %q, and 0.5 is accepted: %v", name, r.Allowed, r.Accepts(0.5))
		}
	}
	if len(seen) != len(limits)-1 { // only ruleOf uses the rule of counts
		t.Errorf("%d different rules, want %d", len(seen), len(limits)-1)
	}
	if *ruleOf("X", "n_x", Count) != (Rule{0, integer, true, "a count: a whole number from 0 to 9007199254740991"}) {
		t.Errorf("the rule of counts is %+v", ruleOf("X", "n_x", Count))
	}
	for _, limit := range []string{"x_ncl", "x_ncu", "x_bcl", "x_bcu"} {
		if r := ruleOf("X", limit, Float); r == nil || r.Allowed != "a finite number" {
			t.Errorf("%s: %+v", limit, r)
		}
	}
	if r := ruleOf("X", "x_ncx", Float); r != nil {
		t.Errorf("a column that the table does not list has the rule %+v", r)
	}
}
