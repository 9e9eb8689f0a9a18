package question

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
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

// The error of a text without a line type names line_type, also if the text is empty.
func TestMissingLineType(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "name: x\n", "columns: [fbar]\n", "line_type: ''\nstat: RMSE\n"} {
		if _, err := Parse("q.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "line_type is missing; name one of") || !strings.HasPrefix(err.Error(), "q.yaml: question") {
			t.Errorf("%q: %v", text, err)
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
	for _, c := range []struct {
		times             Times
		first, last, step int64
		ok                bool
	}{
		{all, 0, 0, 0, false},
		{open, 5, 9, 0, true},
		{grid, 0, 36, 12, true},
		{Times{List: []int64{7}}, 7, 7, 0, true},
		{Times{List: []int64{1, 4, 7}}, 1, 7, 3, true},
		{list, 0, 0, 0, false},
	} {
		if first, last, step, ok := c.times.Grid(); first != c.first || last != c.last || step != c.step || ok != c.ok {
			t.Errorf("the grid of %+v is %d, %d, %d, %v", c.times, first, last, step, ok)
		}
	}
	if open.IsDiscrete() || all.IsDiscrete() || !list.IsDiscrete() {
		t.Error("IsDiscrete is wrong for a range, for all times or for a list")
	}
}

// TestTieBreakersCompleteTheOrder: Order and TieBreakers together have every column that may differ, and each once.
func TestTieBreakersCompleteTheOrder(t *testing.T) {
	q, err := Find("test_3")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range append(q.Order, q.TieBreakers()...) {
		if names[c.Name] {
			t.Errorf("%s occurs twice", c.Name)
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

// TestShortForms: the short forms of YAML give the same question as the long ones.
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
		"fcst_lead: ''":                       "is not a lead",
		"fcst_lead: 6,,12":                    "is not a lead",
		"where: {modle: GFS}":                 "did you mean model?",
		"where: {model: {a: b}}":              "",
		"columns: fbar":                       "",

		"fcst_init_beg: 2019-01-01..2019-01-02/6x": `step "6x" is not a duration`,
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

// TestDrawings: YAML describes the drawing, and is written again.
func TestDrawings(t *testing.T) {
	base := "name: x\nline_type: "
	for _, c := range []struct {
		yaml string
		want Drawing
	}{
		{"SL1L2\nstat: [RMSE, ME]\naxis: fcst_lev\n", Drawing{Stats: []string{"RMSE", "ME"}, Axis: "fcst_lev", Method: "overall", Replicates: 300, Confidence: 0.95}},
		{"SAL1L2\naxis: fcst_lead\ninterval: 0.9\n", Drawing{Stats: []string{"ANOM_CORR"}, Axis: "fcst_lead", Method: "overall", Replicates: 300, Confidence: 0.9}},
		{"CNT\nstat: rmse\n", Drawing{Stats: []string{"rmse"}, FromColumns: true, Method: "median"}},
		{"CTC\ninterval: 0\nseries: [model, fcst_thresh]\n", Drawing{Stats: []string{"CSI"}, Curves: []Group{{Field: "model"}, {Field: "fcst_thresh"}}, Method: "overall"}},
		{"SL1L2\nstat: none\nseries: {model: [GFS, [GFS, ECM]], init_hour: 12}\nmethod: sum\nminus: GFS\n", Drawing{Baseline: "GFS", Curves: []Group{{"model", [][]string{{"GFS"}, {"GFS", "ECM"}}}, {"init_hour", [][]string{{"12"}}}}, Method: "sum"}},
	} {
		qs, err := Parse("q.yaml", []byte(base+c.yaml))
		if err != nil {
			t.Errorf("%s: %v", c.yaml, err)
			continue
		}
		if !reflect.DeepEqual(*qs[0].Drawing, c.want) {
			t.Errorf("%s: %+v, want %+v", c.yaml, *qs[0].Drawing, c.want)
		}
		same(t, qs[0])
	}
	for text, says := range map[string]string{
		"SL1L2\nstat: RMSSE\n":     "did you mean RMSE?",
		"CNT\nstat: CSI\n":         "stat of CNT",
		"MPR\nstat: RMSE\n":        "stat of MPR",
		"SL1L2\naxis: fcst_leed\n": "did you mean fcst_lead?",
		"SL1L2\nseries: modle\n":   "did you mean model?",
		"CNT\nmethod: overall\n":   "method of CNT",
		"SL1L2\ninterval: 95\n":    "interval",
		"SL1L2\nboot_ci: bcaa\n":   "did you mean bca?",
		"SL1L2\nblock: -5\n":       "block is negative",

		"SL1L2\ninterval: {confidence: 0.9, replicates: 100001}\n": "at most 100000 replicates",

		"SL1L2\n---\nname: x\nline_type: CTC\n": "two questions",
	} {
		if _, err := Parse("q.yaml", []byte(base+text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// TestWritten: the cases of NOAA and the questions of a plot are read as they were written.
func TestWritten(t *testing.T) {
	qs, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		same(t, q)
	}
	for _, t1 := range record.Types() {
		if s := DefaultStat(t1); s != "" && !isStat(&Question{Type: t1}, s) {
			t.Errorf("%s has no %s", t1.Name, s)
		}
	}
	plots, _, err := FromPlotFile(filepath.Join("..", "..", "formats", "metviewer", "testdata", "plot.xml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := YAML(plots...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", text)
	if err != nil || len(again) != len(plots) {
		t.Fatalf("%d of %d questions, %v: %s", len(again), len(plots), err, text)
	}
	for i := range again {
		if !reflect.DeepEqual(again[i], plots[i]) {
			t.Errorf("%s\n got %+v %+v\nwant %+v %+v", plots[i].Name, again[i], again[i].Drawing, plots[i], plots[i].Drawing)
		}
	}
}

// TestLists: every list of items is read as it was written.
func TestLists(t *testing.T) {
	for _, items := range [][]string{{"a"}, {"0,*,*", "P500"}, {`a\`, `b\,c`, ","}, {`C:\x`, "", "z"}} {
		var words []string
		for _, item := range items {
			words = append(words, EscapeItem(item))
		}
		if got := SplitList(strings.Join(words, ",")); !slices.Equal(got, items) {
			t.Errorf("%q became %q", items, got)
		}
	}
	if got := SplitList(`C:\x,b`); !slices.Equal(got, []string{`C:\x`, "b"}) {
		t.Errorf("a lone backslash is no escape: %q", got)
	}
}

// A range of leads has a step above 0, and its hours are in order and fit into an int32 in seconds. A question has at most
// 100,000 leads. YAML has them again.
func TestRangesOfLeads(t *testing.T) {
	for text, want := range map[string]int{ // number of leads; 0 = refused
		"0-48/6":                          9,
		"5-5/1":                           1,
		"-596523-596523/596523":           3,
		"0-99999/1":                       100_000,
		"0-99998/1,100000":                100_000,
		"0-99998/1,30m":                   100_000,
		"5,+6,-7":                         3,
		"0-99999/1,100000":                0,
		"0-99999/1,30m":                   0,
		"0-99998/1,99999-199998/1":        0,
		"0-99998/1,100000-199999/1":       0,
		"0-10/0":                          0,
		"0-1/596524":                      0,
		"-596524-0/596523":                0,
		"5-4/1":                           0,
		"0-596524/596523":                 0,
		"0-100000/1":                      0,
		"0-99999/1,100000-100001/1":       0,
		"0-99998/1,100000-100001/1,5-6/1": 0,
	} {
		q := &Question{}
		if err := q.SetLeads(text); (err == nil) != (want > 0) || len(q.Lead) != want {
			t.Errorf("%s: %d leads, %v; want %d", text, len(q.Lead), err, want)
		}
		if want == 0 {
			continue
		}
		if again, err := parsed("fcst_lead: " + strings.Join(FormatLeads(q.Lead), ",")); err != nil || !slices.Equal(again.Lead, q.Lead) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for extra, isValid := range map[int]bool{0: true, 1: false} { // of a plot
		q, err := parsed("stat: RMSE")
		if err != nil {
			t.Fatal(err)
		}
		q.Lead = lists.Map(lists.Indices(maxLeads+extra), func(h int) int32 { return int32(h) * 3600 })
		if err := q.Check(); (err == nil) != isValid || err != nil && !strings.Contains(err.Error(), "100,000 leads") {
			t.Errorf("%d leads: %v", len(q.Lead), err)
		}
	}
}

// A drawing of finished statistics selects their columns and those of their limits, and the columns of conditions on
// values. All other drawings select every number of the line type.
func TestColumnsOfFinishedStatistics(t *testing.T) {
	cnt, _ := record.TypeByName("CNT")
	d := &Drawing{FromColumns: true, Stats: []string{"RMSE", "NOSUCH"}, ValueConditions: []ValueCondition{{Column: "fbar"}}}
	q := &Question{Type: cnt, Drawing: d}
	q.SelectColumns()
	want := []string{"fcst_valid_beg", "fcst_init_beg", "fcst_lead", "total", "fbar", "rmse", "rmse_bcl", "rmse_bcu"}
	if got := lists.Map(q.Columns, func(c Column) string { return c.Name }); !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
	d.FromColumns = false
	if q.SelectColumns(); len(q.Columns) != 3+cnt.NumCols() {
		t.Errorf("%d columns, want the times and %d numbers", len(q.Columns), cnt.NumCols())
	}
}
