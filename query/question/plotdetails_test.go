package question

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// TestTagsOfTitles: a tag is a variable or a statistic of the plot, or the value of a fixed field. A tag that refers to
// nothing stays.
func TestTagsOfTitles(t *testing.T) {
	b := &builder{
		p: &metviewer.Plot{
			Deps: []metviewer.Dep{
				{Axis: 1, Var: "A", Stats: []string{"ME", "RMSE"}}, {Axis: 2, Var: "B", Stats: []string{"MAE"}}, {Axis: 1, Var: "C", Stats: []string{"MSE"}},
			},
			Maps: map[string]map[string]string{"vx_mask": {"E": "East"}, "other": {"E": "Ost"}},
		},
		fixed: []metviewer.Field{
			{Name: "vx_mask", Values: metviewer.Values{List: []string{"E", "W"}}},
			{Name: "init_hour", Values: metviewer.Values{List: []string{"6"}}},
			{Name: "fcst_valid_beg", Values: metviewer.Values{First: "2019-01-01 00:00:00", Last: "2019-01-02 06:00:00"}},
			{Name: "obs_thresh", Values: metviewer.Values{List: []string{">=25.4"}}},
		},
		dep: metviewer.Dep{Axis: 1, Var: "X", Stats: []string{"ME"}},
	}
	for text, want := range map[string]string{
		"{dep1_1}": "X", "{dep1_2}": "C", "{dep2_1}": "B", "{dep1_3}": "{dep1_3}", "{dep2_2}": "{dep2_2}", "{dep1_0}": "{dep1_0}", "{dep3_1}": "{dep3_1}",
		"{dep1_1_stat1}": "ME", "{dep1_1_stat2}": "{dep1_1_stat2}", "{dep1_1_stat0}": "{dep1_1_stat0}", "{dep1_2_stat1}": "MSE", "{dep2_1_stat1}": "MAE",
		"{fcst_var}": "X", "{vx_mask}": "E, W", "{inithour}": "6", "{init_hour?format=HH}": "06", "{fcst_valid_beg}": "2019010206", "{obs_thresh?units=in}": ">=1.000",
		"{obs_lev}": "{obs_lev}", " a \n b ": "a b", `a\nb`: "a b", `1\"`: `1"`, `1\\"`: `1"`, `1\\\"`: `1"`, `a\\nb`: "a b", "{}": "{}",
	} {
		if got := b.fillTags(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	b.fixed[0].List = []string{"E"}
	for text, want := range map[string]string{
		"{vx_mask?map=true}": "East", "{vx_mask?map=other}": "Ost", "{vx_mask?map=none}": "E", "{vx_mask}": "E", "{vx_mask? map = true & x = y}": "East",
		"{init_hour?map=true;format=HH}": "06",
	} {
		if got := b.fillTags(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	b.dep.Axis = 2
	if got := b.fillTags("{dep1_1} {dep2_1}"); got != "A X" {
		t.Errorf("on the second axis: %s", got)
	}
	b.dep.Var = ""
	if got := b.fillTags("{fcst_var}"); got != "{fcst_var}" {
		t.Errorf("without a variable: %s", got)
	}
}

// TestThresholdsOfTitles: a threshold of millimeters in inches (25.4 mm), with the decimals of a format, or with letters.
func TestThresholdsOfTitles(t *testing.T) {
	for _, c := range []struct{ value, units, format, symbol, want string }{
		{">=25.400", "", "", "", ">=25.400"},
		{">=25.400", "in", "", "", ">=1.000"},
		{">12.7", "in", "0.0", "", ">0.5"},
		{">12.7", "in", "0.00", "letters", "gt0.50"},
		{"<=2.54", "mm", "0.0", "letters", "le2.5"},
		{"<2.54", "", "", "letters", "lt2.54"},
		{"==0", "", "0.00", "letters", "eq0.00"},
		{"!=0", "", "", "letters", "ne0"},
		{">=5", "", "0", "letters", "ge5"},
		{"ge5", "in", "0.0", "letters", "ge5"},
		{">", "in", "0.0", "letters", ">"},
		{"NA", "in", "", "", "NA"},
		{">=5&&<10", "in", "", "", ">=5&&<10"},
	} {
		if got := formatThreshold(c.value, c.units, c.format, c.symbol); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	b := &builder{p: &metviewer.Plot{}}
	for name, want := range map[string]string{"fcst_thresh": ">1.000", "fcst_thr": ">1.000", "thresh": ">25.4", "model": ">25.4"} {
		if got := b.formatTag(name, ">25.4", "units=in"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestConditionsOfSQL: the field, the values and the limits of one condition of SQL.
func TestConditionsOfSQL(t *testing.T) {
	const begin, end = "1900-01-01 00:00:00", "9999-12-31 23:59:59"
	for text, want := range map[string]string{
		"h.model = 'A'": "model [A]  ",
		"BINARY `h`.model IN ('A', \"B\", 'it''s')": "",
		"BINARY h.`model` IN ('A', \"B\", 'it''s')": "model [A B it's]  ",
		"((MODEL='A'))":                                         "model [A]  ",
		"((model='A'))":                                         "model [A]  ",
		"fcst_lead IN (60000,120000)":                           "fcst_lead [60000 120000]  ",
		"vx_mask BETWEEN 'A' AND 'B'":                           "vx_mask [] A B",
		"vx_mask BETWEEN 'A' and 'B'":                           "vx_mask [] A B",
		"vx_mask BETWEEN 'A'":                                   "",
		"vx_mask BETWEEN 'A' AND 'B' AND 'C'":                   "",
		"vx_mask >= 'A'":                                        "",
		"fcst_lead > 5":                                         "",
		"fcst_valid_beg >= '2019-01-01'":                        "fcst_valid_beg [] 2019-01-01 00:00:00 " + end,
		"fcst_valid_beg > '2019-01-01'":                         "fcst_valid_beg [] 2019-01-01 00:00:01 " + end,
		"fcst_init_beg <= '2019-01-01'":                         "fcst_init_beg [] " + begin + " 2019-01-01 00:00:00",
		"fcst_init_beg < '2019-01-01'":                          "fcst_init_beg [] " + begin + " 2018-12-31 23:59:59",
		"fcst_init_beg < 'x'":                                   "",
		"HOUR(fcst_valid_beg) = 6":                              "valid_hour [6]  ",
		"hour( ld.fcst_init_beg ) IN ('06', 12)":                "init_hour [06 12]  ",
		"HOUR(fcst_init_beg) >= 6":                              "init_hour [] 6 23",
		"HOUR(fcst_init_beg) > 6":                               "init_hour [] 7 23",
		"HOUR(fcst_init_beg) <= 6":                              "init_hour [] 0 6",
		"HOUR(fcst_init_beg) < 6":                               "init_hour [] 0 5",
		"HOUR(model) = 6":                                       "",
		"UNIX_TIMESTAMP(fcst_valid_beg) = 0":                    "fcst_valid_beg [1970-01-01T00:00:00Z]  ",
		"unix_timestamp(fcst_valid_beg) BETWEEN -60 AND 60":     "fcst_valid_beg [] 1969-12-31T23:59:00Z 1970-01-01T00:01:00Z",
		"unix_timestamp(fcst_valid_beg) = 1.5":                  "",
		"unix_timestamp(fcst_valid_beg)%(24*3600)/3600 IN(0,6)": "valid_hour [0 6]  ",
		"unix_timestamp(fcst_init_beg)%(24*3600)/3600 IN('12')": "init_hour [12]  ",
		"model = A":       "",
		"model IN ('A',)": "",
		"model = 'A' 'B'": "",
		"model = '*'":     "",
		"fbar = 5":        "",
		"model LIKE 'A'":  "",
		"":                "",
	} {
		f, ok := parseComparison(text)
		got := ""
		if ok {
			got = fmt.Sprint(f.Name, " ", f.List, " ", f.First, " ", f.Last)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestBracketsOfConditions: only a pair of brackets around the complete condition is removed.
func TestBracketsOfConditions(t *testing.T) {
	for text, want := range map[string]string{
		"(a)": "a", "(a) OR (b)": "", "((a) OR (b))": "(a) OR (b)", "a": "", "": "", "()": "", "(a": "", "a)": "", "(a)b": "", "f(a)": "", "(a = 'é')": "a = 'é'",
	} {
		inner, ok := stripBrackets(text)
		if ok != (want != "" || text == "()") || ok && inner != want {
			t.Errorf("%q: %q, %t, want %q", text, inner, ok, want)
		}
	}
}

// TestPartsOfConditions: an AND in quotes, in brackets, or of a BETWEEN separates no conditions.
func TestPartsOfConditions(t *testing.T) {
	for text, want := range map[string][]string{
		"a = 1":                           {"a = 1"},
		"a = 1 AND b = 2 and c = 3":       {"a = 1", "b = 2", "c = 3"},
		"AND a = 1 AND":                   {"a = 1"},
		"a BETWEEN 1 AND 2 AND b = 3":     {"a BETWEEN 1 AND 2", "b = 3"},
		"a between 1 and 2 and b = 3":     {"a between 1 and 2", "b = 3"},
		"a = 'x AND y' AND b = 2":         {"a = 'x AND y'", "b = 2"},
		"a = 'it''s AND' AND b = 2":       {"a = 'it''s AND'", "b = 2"},
		"a = '(' AND b = 2":               {"a = '('", "b = 2"},
		"a = ')' AND b = 2":               {"a = ')'", "b = 2"},
		"(a = 1 AND b = 2) AND c = 3":     {"(a = 1 AND b = 2)", "c = 3"},
		"(a BETWEEN 1 AND 2) AND c = 3":   {"(a BETWEEN 1 AND 2)", "c = 3"},
		"a = 'BETWEEN' AND b = 2":         {"a = 'BETWEEN'", "b = 2"},
		"a IN ('x','y') AND band = 'AND'": {"a IN ('x','y')", "band = 'AND'"},
		"":                                nil,
	} {
		var got []string
		for _, part := range splitAnd(text) {
			got = append(got, strings.TrimSpace(part))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestConditionsOnNumbers: a condition on a numeric column concerns the picture, which a note says. One on a text, or with
// several values, is not supported.
func TestConditionsOnNumbers(t *testing.T) {
	for cond, want := range map[string]string{
		"ld.total >= 5":             "[{total >= 5}]",
		"total = 5":                 "[{total = 5}]",
		"TOTAL <= 5":                "[{total <= 5}]",
		"total BETWEEN -1.5 AND 2":  "[{total >= -1.5} {total <= 2}]",
		"(total > 5)":               "[{total > 5}]",
		"(total > 5 AND fbar < 3)":  "[{total > 5} {fbar < 3}]",
		"total = 'x'":               "",
		"total IN (5)":              "",
		"HOUR(total) = 5":           "",
		"obs_sid = 5":               "",
		"total > 5 OR fbar > 5":     "",
		"total BETWEEN 1 AND 2 AND": "[{total >= 1} {total <= 2}]",
	} {
		qs, notes := plotOf(t, rmse+byLead+"\n<plot_cond>"+strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(cond)+"</plot_cond>")
		if want == "" {
			if len(qs) != 0 || !strings.Contains(strings.Join(notes, "\n"), "line 3: plot_cond") {
				t.Errorf("%s: %d questions, %q", cond, len(qs), notes)
			}
			continue
		}
		if len(qs) != 1 || fmt.Sprint(qs[0].Drawing.ValueConditions) != want || !strings.Contains(strings.Join(notes, "\n"), "line 3: plot_cond: ") ||
			!strings.Contains(notes[0], "applies to the picture; the answer's rows also include other records") {
			t.Errorf("%s: %d questions, %q", cond, len(qs), notes)
		}
	}
}

// TestIntersectionsOfTimes: two conditions of a plot on times leave the times that satisfy both.
func TestIntersectionsOfTimes(t *testing.T) {
	const day = 86400
	list := func(days ...int64) Times {
		for i := range days {
			days[i] *= day
		}
		return Times{List: days}
	}
	between := func(first, last int64) Times { return Times{First: first * day, Last: last * day} }
	text := func(v Times) (values []string, first, last string) {
		for _, s := range v.List {
			values = append(values, formatGroupTime(s))
		}
		if values == nil && !v.IsAll() {
			first, last = formatGroupTime(v.First), formatGroupTime(v.Last)
		}
		return values, first, last
	}
	for _, c := range []struct{ old, now, want Times }{ // no want = a contradiction
		{Times{}, list(1, 2), list(1, 2)},
		{list(1, 2), Times{}, list(1, 2)},
		{between(1, 9), Times{}, between(1, 9)},
		{Times{}, Times{}, Times{}},
		{list(1, 2, 3), list(2, 3, 4), list(2, 3)},
		{between(2, 3), list(1, 2, 3, 4), list(2, 3)},
		{list(1, 2, 3, 4), between(2, 3), list(2, 3)},
		{between(1, 5), between(3, 9), between(3, 5)},
		{between(3, 9), between(1, 5), between(3, 5)},
		{between(1, 3), between(3, 9), between(3, 3)},
		{between(1, 9), between(3, 5), between(3, 5)},
		{between(-1, 0), between(0, 1), list(0)},
		{between(0, 1), between(-1, 0), list(0)},
		{Times{First: day, Last: 9 * day, Step: 2 * day}, list(1, 2, 3), list(1, 3)},
		{between(1, 2), between(3, 4), Times{}},
		{list(1), list(2), Times{}},
		{list(1), between(2, 3), Times{}},
	} {
		b := &builder{parsedTimes: map[*string]Times{}}
		values, first, last := text(c.now)
		f := metviewer.Field{Name: "fcst_valid_beg", Line: 7, Values: metviewer.Values{First: first, Last: last}}
		for range 2 { // the second time from the cache
			got, err := b.intersectTimes(c.old, f, values)
			isContradiction := c.want.IsAll() && !c.old.IsAll()
			if isContradiction != (err != nil) || err != nil && err.Error() != "line 7: fcst_valid_beg: contradicts another condition of the plot" ||
				err == nil && fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v and %v: %v, %v, want %v", c.old, c.now, got, err, c.want)
			}
		}
	}
}

// TestIntersectionsOfValues: two conditions of a plot on one field leave the values that satisfy both.
func TestIntersectionsOfValues(t *testing.T) {
	f := metviewer.Field{Name: "vx_mask", Line: 7}
	for _, c := range []struct{ old, now, want []string }{
		{nil, []string{"A"}, []string{"A"}},
		{[]string{"A"}, nil, []string{"A"}},
		{nil, nil, nil},
		{[]string{"A", "B", "C"}, []string{"D", "C", "A"}, []string{"C", "A"}},
		{[]string{"A"}, []string{"B"}, nil},
	} {
		got, err := intersect(c.old, parsePlotTexts, f, c.now)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil && c.now != nil) {
			t.Errorf("%v and %v: %v, %v, want %v", c.old, c.now, got, err, c.want)
		}
	}
}

// TestHoursOfPlots: hours of a plot are sorted, each once.
func TestHoursOfPlots(t *testing.T) {
	for _, c := range []struct {
		values metviewer.Values
		want   string
	}{
		{metviewer.Values{List: []string{"12", "00", "12"}}, "[0 12]"},
		{metviewer.Values{List: []string{"23"}}, "[23]"},
		{metviewer.Values{List: []string{"24"}}, "no"},
		{metviewer.Values{List: []string{"-1"}}, "no"},
		{metviewer.Values{List: []string{"x"}}, "no"},
		{metviewer.Values{First: "21", Last: "23"}, "[21 22 23]"},
		{metviewer.Values{First: "0", Last: "0"}, "[0]"},
		{metviewer.Values{First: "1", Last: "0"}, "no"},
		{metviewer.Values{First: "2", Last: "0"}, "no"},
	} {
		hours, err := parsePlotHours(metviewer.Field{Name: "init_hour", Line: 7}, c.values.List)
		if c.values.First != "" {
			hours, err = parsePlotHours(metviewer.Field{Name: "init_hour", Line: 7, Values: c.values}, nil)
		}
		if got := fmt.Sprint(hours); err == nil && got != c.want || err != nil && (c.want != "no" || !strings.HasPrefix(err.Error(), "line 7: init_hour: ")) {
			t.Errorf("%+v: %s, %v", c.values, got, err)
		}
	}
}

// TestListsOfDateTimes: a list of date-times in order has no groups.
func TestListsOfDateTimes(t *testing.T) {
	const a, b = "2019-01-01 00:00:00", "2019-01-01 06:00:00"
	for _, c := range []struct {
		values []string
		want   bool
	}{
		{nil, false},
		{[]string{a}, true},
		{[]string{a, b}, true},
		{[]string{b, a}, false},
		{[]string{a, a}, false},
		{[]string{a, "x"}, false},
		{[]string{a + ":" + b}, false},
		{[]string{"2019-01-01T00:00:00"}, false},
		{[]string{"2019/01/01 00:00:00"}, false},
		{[]string{"2019-01-01 00.00.00"}, false},
	} {
		if got := areDateTimes(c.values); got != c.want {
			t.Errorf("%q: %t", c.values, got)
		}
	}
	for want, values := range map[string][]string{"[A B C]": {"A:B", "C", "A"}, "[" + a + " " + b + "]": {a + ":" + b}, "[]": nil} {
		if got := fmt.Sprint(expandGroups(values)); got != want {
			t.Errorf("%q: %s, want %s", values, got, want)
		}
	}
}

// TestCodesOfLeads: a list that contains a code of 1000 or more is [H]HHMMSS, also with a sign.
func TestCodesOfLeads(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string // seconds
	}{
		{[]string{"12", "6", "6"}, "[21600 43200]"},
		{[]string{"999"}, "[3596400]"},
		{[]string{"1000"}, "[600]"},
		{[]string{"-999"}, "[-3596400]"},
		{[]string{"-1000"}, "[-600]"},
		{[]string{"6", "60000"}, "[6 21600]"},
		{[]string{"x"}, "no"},
		{[]string{"99999999999"}, "no"},
	} {
		got, err := parsePlotLeads(metviewer.Field{Name: "fcst_lead", Line: 7}, c.values)
		if text := fmt.Sprint(got); err == nil && text != c.want || err != nil && (c.want != "no" || !strings.HasPrefix(err.Error(), "line 7: fcst_lead: ")) {
			t.Errorf("%v: %s, %v", c.values, text, err)
		}
	}
	if _, err := parsePlotLeads(metviewer.Field{Values: metviewer.Values{First: "0"}}, nil); err == nil {
		t.Error("a range of leads is accepted")
	}
}

// TestLimitOfPlots: a plot has at most 1000 combinations of fixed values.
func TestLimitOfPlots(t *testing.T) {
	sets := func(n int) (all []metviewer.Values) {
		for i := range n {
			all = append(all, metviewer.Values{List: []string{fmt.Sprint("v", i)}})
		}
		return all
	}
	for _, c := range []struct {
		sizes    []int
		want     int
		complete bool
	}{
		{nil, 1, true},
		{[]int{0}, 1, true},
		{[]int{3}, 3, true},
		{[]int{2, 0, 3}, 6, true},
		{[]int{10, 100}, 1000, true},
		{[]int{1001}, 1000, false},
		{[]int{10, 101}, 1000, false},
		{[]int{1001, 1}, 1000, false},
		{[]int{40, 40, 40}, 1000, false},
	} {
		var fix []metviewer.Fix
		for i, n := range c.sizes {
			fix = append(fix, metviewer.Fix{Name: fmt.Sprint("f", i), Line: i, Equalize: i == 0, Sets: sets(n)})
		}
		all, complete := combinations(fix)
		if len(all) != c.want || complete != c.complete {
			t.Errorf("%v: %d combinations, %t", c.sizes, len(all), complete)
		}
		seen := map[string]bool{}
		for _, fields := range all {
			seen[fmt.Sprint(fields)] = true
		}
		if len(seen) != len(all) {
			t.Errorf("%v: %d different combinations of %d", c.sizes, len(seen), len(all))
		}
	}
	all, _ := combinations([]metviewer.Fix{{Name: "a", Line: 3, Equalize: true, Sets: sets(2)}, {Name: "b", Line: 4, Sets: sets(1)}})
	if f := all[1]; f[0].Name != "a" || f[0].Line != 3 || !f[0].Equalize || f[0].List[0] != "v1" || f[1].Name != "b" || f[1].Equalize || f[1].List[0] != "v0" {
		t.Errorf("%+v", f)
	}
	var b strings.Builder
	for _, s := range sets(1001) {
		b.WriteString("<val>" + s.List[0] + "</val>")
	}
	qs, notes := plotOf(t, rmse+byLead+`<plot_fix><field name="vx_mask">`+b.String()+`</field></plot_fix>`)
	if len(qs) != 1000 || !strings.Contains(strings.Join(qs[0].Omitted, ""), "plot_fix: specifies more than 1000 plots; the others are omitted") {
		t.Errorf("%d questions, %q", len(qs), notes)
	}
}

// TestBootstrapsOfPlots: a plot that aggregates sums has the method overall, and an interval if it requests more than one
// replicate. All others combine the statistics of the records.
func TestBootstrapsOfPlots(t *testing.T) {
	const sums = "<agg_stat><agg_sl1l2>true</agg_sl1l2>"
	for body, want := range map[string]string{ // method, replicates, seed, kind of interval, block, confidence
		sums + "</agg_stat>":                         "overall 0 -  0 0.95",
		sums + "<boot_repl>1</boot_repl></agg_stat>": "overall 0 -  0 0.95",
		sums + "<boot_repl>2</boot_repl></agg_stat>": "overall 2 -  0 0.95",
		sums + "<boot_repl>9</boot_repl><boot_random_seed>7</boot_random_seed><boot_ci>bca</boot_ci></agg_stat>":                        "overall 9 7 bca 0 0.95",
		sums + "<boot_repl>9</boot_repl><circular_block_bootstrap>false</circular_block_bootstrap></agg_stat><ci_alpha>0.25</ci_alpha>": "overall 9 -  1 0.75",
		sums + "<boot_repl>1</boot_repl><circular_block_bootstrap>false</circular_block_bootstrap></agg_stat>":                          "overall 0 -  0 0.95",
		"<calc_stat><calc_sl1l2>true</calc_sl1l2></calc_stat>":                                                                          "median 0 -  0 0.95",
		"<calc_stat><calc_sl1l2>true</calc_sl1l2></calc_stat><plot_stat>mean</plot_stat>":                                               "mean 0 -  0 0.95",
		"<calc_stat><calc_sl1l2>true</calc_sl1l2></calc_stat><plot_stat>sum</plot_stat>":                                                "sum 0 -  0 0.95",
		"<plot_stat>median</plot_stat>": "median 0 -  0 0.95",
	} {
		qs, notes := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep>`+byLead+body)
		if len(qs) != 1 {
			t.Fatal(notes)
		}
		d, seed := qs[0].Drawing, "-"
		if d.Seed != nil {
			seed = fmt.Sprint(*d.Seed)
		}
		if got := fmt.Sprint(d.Method, " ", d.Replicates, " ", seed, " ", d.BootCI, " ", d.Block, " ", d.Confidence); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestTitlesOfPlots: a plot without a title has its variable and statistics as title, which a picture may replace.
func TestTitlesOfPlots(t *testing.T) {
	for title, want := range map[string]string{"": "TMP RMSE, ME true", "<tmpl><title>{fcst_var} of all</title></tmpl>": "TMP of all false"} {
		qs, notes := plotOf(t, strings.Replace(rmse, "</stat>", "</stat><stat>ME</stat>", 1)+byLead+title)
		if len(qs) != 1 || fmt.Sprint(qs[0].Title, " ", qs[0].Untitled) != want {
			t.Errorf("%+v, %q, want %s", qs, notes, want)
		}
	}
}

// TestScorecardsOfPlots: the second model is the baseline, and what differs in a condition makes a row.
func TestScorecardsOfPlots(t *testing.T) {
	field := func(name string, values ...string) string {
		return "<field name='" + name + "'><val>" + strings.Join(values, "</val><val>") + "</val></field>"
	}
	card := func(stat, models, fix string) *Question {
		t.Helper()
		qs, notes := specOf(t, "<plot><template>scorecard</template>"+stat+"<plot_fix>"+models+fix+"</plot_fix><rows>"+
			"<field name='stat'><val name='RMSE'/><field name='fcst_var'><val name='TMP'/></field></field></rows><columns>"+
			"<field name='fcst_lead'><val>24</val><val>48</val></field></columns></plot>")
		if len(qs) != 1 {
			t.Fatal(notes)
		}
		return qs[0]
	}
	q := card("<stat>DIFF_SIG</stat>", field("model", "NEW", "OLD"), field("vx_mask", "E", "W")+field("fcst_lev", "Z2"))
	d := q.Drawing
	if got := fmt.Sprint(d.Picture, " ", d.Baseline, " ", d.Method, " ", d.Axis, " ", d.Curves); got != "scorecard OLD mean fcst_lead [{model [[NEW] [OLD]]} {vx_mask []}]" {
		t.Error(got)
	}
	if q.Title != "Scorecard of NEW against OLD" || q.Untitled || len(q.Refused) != 0 || q.Drawing.Derived != nil {
		t.Errorf("%q, untitled %t, refused %q", q.Title, q.Untitled, q.Refused)
	}
	for _, c := range []struct {
		stat, models string
		refused      int
		baseline     string
	}{
		{"DIFF", field("model", "NEW", "OLD"), 0, "OLD"},
		{"SINGLE", field("model", "NEW", "OLD"), 1, "OLD"},
		{"DIFF", field("model", "NEW", "OLD", "THIRD"), 1, ""},
	} {
		q := card("<stat>"+c.stat+"</stat>", c.models, "")
		if len(q.Refused) != c.refused || q.Drawing.Baseline != c.baseline || (c.baseline == "") != q.Untitled {
			t.Errorf("%+v: refused %q, baseline %q, title %q", c, q.Refused, q.Drawing.Baseline, q.Title)
		}
	}
	aggregated := card("<stat>DIFF</stat><agg_stat>true</agg_stat>", field("model", "NEW", "OLD"), "")
	if aggregated.Drawing.Method != "overall" || aggregated.Header[record.Model][1] != "OLD" {
		t.Errorf("%+v", aggregated.Drawing)
	}
}
