package question

import (
	"strings"
	"testing"

	"barograph/record"
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
