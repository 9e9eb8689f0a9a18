package question

import (
	"reflect"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

func TestCases(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name         string
		times, leads int
		levels       int
	}{
		{"test_1", 16, 53, 1},
		{"test_2", 16, 53, 0},
		{"test_3", 273, 53, 1},
		{"test_4", 273, 53, 2},
		{"test_5", 273, 1, 16},
		{"test_6", 273, 53, 1},
		{"test_9", 273, 53, 1},
	}
	if len(cases) != len(want) {
		t.Fatalf("%d cases, want %d", len(cases), len(want))
	}
	for i, w := range want {
		q := cases[i]
		if q.Name != w.name || len(q.Valid.Expand()) != w.times || len(q.Lead) != w.leads || len(q.Header[record.FcstLev]) != w.levels {
			t.Errorf("%s: %d times, %d leads, %d levels; want %+v", q.Name, len(q.Valid.Expand()), len(q.Lead), len(q.Header[record.FcstLev]), w)
		}
	}
}

func TestParseErrorsNameFieldAndCure(t *testing.T) {
	base := "name: x\nline_type: SL1L2\ncolumns: [fbar]\n"
	for _, tc := range []struct{ yaml, want string }{
		{"name: x\nline_type: NOPE\ncolumns: [fbar]\n", "line_type"},
		{base + "wher: {}\n", "wher"},
		{base + "where: {colour: [red]}\n", "colour"},
		{"name: x\nline_type: SL1L2\ncolumns: [fbar, fabar]\n", "fabar"},
		{base + "fcst_lead: [soon]\n", "soon"},
		{base + "fcst_valid_beg: {first: tomorrow, last: '2019'}\n", "tomorrow"},
		{base + "fcst_valid_beg: {first: '2019-01-02', last: '2019-01-01'}\n", "ends before"},
		{base + "order_by: [fbar]\n", "order_by"},
		{"name: x\nline_type: SL1L2\ncolumns: [fbar, fbar]\n", "twice"},
	} {
		_, err := Parse("q.yaml", []byte(tc.yaml))
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "q.yaml") {
			t.Errorf("%q: error %v, want one that names q.yaml and %q", tc.yaml, err, tc.want)
		}
	}
}

func TestTimes(t *testing.T) {
	grid := Times{First: 0, Last: 36, Step: 12}
	if got := grid.Expand(); len(got) != 4 || got[3] != 36 {
		t.Errorf("Expand = %v", got)
	}
	open := Times{First: 5, Last: 9}
	list := Times{List: []int64{1, 4, 5}}
	var all Times
	for _, tc := range []struct {
		t    Times
		v    int64
		want bool
	}{{grid, 12, true}, {grid, 13, false}, {grid, 48, false}, {open, 7, true}, {open, 10, false}, {list, 4, true}, {list, 2, false}, {all, 99, true}} {
		if got := tc.t.Contains(tc.v); got != tc.want {
			t.Errorf("%+v contains %d: %v", tc.t, tc.v, got)
		}
	}
	if _, _, _, ok := list.Grid(); ok {
		t.Error("an uneven list is no grid")
	}
	if open.Discrete() || all.Discrete() || !list.Discrete() {
		t.Error("Discrete is wrong")
	}
}

func TestTieCompletesTheOrder(t *testing.T) {
	q, err := Find("test_3")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range append(q.Order, q.Tie()...) {
		if names[c.Name] {
			t.Errorf("%s stands twice", c.Name)
		}
		names[c.Name] = true
	}
	for _, must := range []string{"obtype", "version", "fcst_valid_end"} {
		if !names[must] {
			t.Errorf("the order does not decide between records that differ in %s", must)
		}
	}
	for _, not := range []string{"model", "fcst_var"} {
		if names[not] {
			t.Errorf("%s has one value only and need not be ordered by", not)
		}
	}
}

// TestShortForms: what is written shortly means what is written out.
func TestShortForms(t *testing.T) {
	long := `
name: x
line_type: SL1L2
where: {model: [GFS], fcst_lev: [P500]}
fcst_valid_beg: {first: '2019-01-01', last: '2019-01-31', step: 6h}
fcst_init_beg: {list: ['2019-01-02']}
fcst_lead: ['0-12/6', '24', '1h30m']
columns: [fcst_valid_beg, fcst_init_beg, fcst_lead, model, fcst_lev, total, fbar, obar, fobar, ffbar, oobar, mae]
order_by: [fcst_valid_beg, fcst_init_beg]
`
	short := `
name: x
line_type: sl1l2
where: {MODEL: GFS, fcst_lev: P500}
fcst_valid_beg: 2019-01-01..2019-01-31/6h
fcst_init_beg: '2019-01-02'
fcst_lead: 0-12/6, 24, 1h30m
`
	want, err := Parse("long", []byte(long))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("short", []byte(short))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for text, says := range map[string]string{
		"fcst_valid_beg: {frist: 2019-01-01}": "frist",
		"fcst_valid_beg: 2019":                "is not a time",
		"fcst_lead: ''":                       "is no lead",
		"fcst_lead: 6,,12":                    "is no lead",
		"where: {modle: GFS}":                 "did you mean model?",
		"where: {model: {a: b}}":              "",
		"columns: fbar":                       "",
	} {
		_, err := Parse("bad", []byte("name: x\nline_type: SL1L2\n"+text+"\n"))
		if text == "columns: fbar" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
