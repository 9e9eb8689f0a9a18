package curve

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// TestDefaultAxis: the axis is that of the drawing, or else the first of lead, level and valid time that has several values.
func TestDefaultAxis(t *testing.T) {
	one := []string{"a P500 NH 0 6", "b P500 SH 0 6"}
	for _, c := range []struct {
		d    *question.Drawing
		rows []string
		want run.Axis
	}{
		{nil, one, run.ByTime},
		{nil, []string{"a P500 NH 0 6", "a P850 NH 0 6"}, run.ByLevel},
		{nil, []string{"a P500 NH 0 6", "a P850 NH 0 12"}, run.ByLead},
		{nil, []string{"a P500 NH 0 6", "a P500 NH 24 6"}, run.ByTime},
		{&question.Drawing{}, []string{"a P500 NH 0 6", "a P850 NH 0 12"}, run.ByLead},
		{&question.Drawing{Axis: "model"}, []string{"a P500 NH 0 6", "a P850 NH 0 12"}, "model"},
		{&question.Drawing{Picture: "revision"}, []string{"a P500 NH 0 6", "a P850 NH 0 12"}, run.ByTime},
		{&question.Drawing{Picture: "revision", Axis: "fcst_init_beg"}, one, run.ByInit},
	} {
		if got := axisOf(&question.Question{Drawing: c.d}, table(c.rows...)); got != c.want {
			t.Errorf("%+v, %v: %s, want %s", c.d, c.rows, got, c.want)
		}
	}
	if got := axisOf(&question.Question{}, &answer.Answer{Rows: 2}); got != run.ByTime {
		t.Errorf("without columns: %s", got)
	}
}

// TestFieldsOfCurves: without fields in the drawing, the fields with several values make curves, except the axis and
// columns that were added to the question's own; without such a field, model and region do. A point pools the values of
// the remaining fields.
func TestFieldsOfCurves(t *testing.T) {
	for _, c := range []struct {
		axis   run.Axis
		own    int // columns of the question, the others were added
		rows   []string
		fields string
		names  string
		pooled string
	}{
		{run.ByLead, 5, []string{"a P500 NH 0 6"}, "model vx_mask", "a NH", ""},
		{run.ByLead, 5, []string{"a P500 NH 0 6", "b P500 NH 0 6"}, "model", "a, b", ""},
		{run.ByLead, 5, []string{"a P500 NH 0 6", "a P500 NH 24 6"}, "model vx_mask", "a NH", "; pools 2 values of fcst_valid_beg"},
		{run.ByTime, 5, []string{"a P500 NH 0 6", "a P500 NH 0 12", "a P500 SH 0 12"}, "vx_mask", "NH, SH", "; pools 2 values of fcst_lead"},
		{run.ByLead, 5, []string{"a P500 NH 0 6", "a P850 SH 0 6"}, "fcst_lev vx_mask", "P500 NH, P850 SH", ""},
		{run.ByLevel, 5, []string{"a P500 NH 0 6", "a P850 SH 0 6"}, "vx_mask", "NH, SH", ""},
		{run.ByLead, 1, []string{"a P500 NH 0 6", "b P850 SH 0 6", "b P500 SH 0 6"}, "model", "a, b", "; pools 2 values of fcst_lev"},
		{run.ByLead, 1, []string{"a P500 NH 0 6"}, "model", "a", ""},
		{run.ByLead, 0, []string{"a P500 NH 0 6", "b P850 SH 24 12"}, "", "RMSE", "; pools 2 values of model, 2 values of fcst_lev, 2 values of vx_mask, 2 values of fcst_valid_beg"},
	} {
		a := table(c.rows...)
		q := &question.Question{Columns: a.Columns[:c.own]}
		one := &collector{q: q, a: a, axis: c.axis, singleCurve: "RMSE", points: map[string]map[float64][]int{}}
		naming := one.namingColumns()
		for i := range a.Rows {
			if name := one.nameOf(naming, i); name != "" {
				one.addRow(name, 0, i)
			} else {
				one.addRow(one.singleCurve, 0, i)
			}
		}
		if fields, names := strings.Join(one.curveFields(), " "), strings.Join(one.names, ", "); fields != c.fields || names != c.names || one.pooled() != c.pooled {
			t.Errorf("%v along %s: the fields %q make the curves %q%s", c.rows, c.axis, fields, names, one.pooled())
		}
	}
	one := &collector{points: map[string]map[float64][]int{}}
	for i, x := range []float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1} {
		one.addRow("a", x, i)
	}
	if one.outsideAxis != 3 || fmt.Sprint(one.points) != "map[a:map[1:[0 4]]]" || !slices.Equal(one.rows(), []int{0, 4}) {
		t.Errorf("%d rows outside, %v", one.outsideAxis, one.points)
	}
	for value, want := range map[string]string{"a": "a", "a b": `"a b"`, `a"b`: `"a\"b"`, "": ""} {
		if got := quoteName(value); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// TestRowsInOrder: the rows of a point are in the order of the valid time, and those of one valid time in that of the lead.
func TestRowsInOrder(t *testing.T) {
	a := table("a P500 NH 24 6", "a P500 NH 0 12", "a P500 NH 0 6", "a P500 NH 24 6")
	c := &collector{a: a, points: map[string]map[float64][]int{"a": {0: {0, 1, 2, 3}, 1: {3, 0}}}}
	if c.sortByTime(); fmt.Sprint(c.points) != "map[a:map[0:[2 1 0 3] 1:[3 0]]]" {
		t.Errorf("%v", c.points)
	}
	c.points = map[string]map[float64][]int{"a": {0: {0, 1}}}
	a.Columns[4].Name = "another"
	if c.sortByTime(); fmt.Sprint(c.points) != "map[a:map[0:[0 1]]]" {
		t.Errorf("without a lead: %v", c.points)
	}
}

// TestRepeatedColumns: repeating values become columns after the others, in the order of the repetitions. What a shorter
// record lacks is missing.
func TestRepeatedColumns(t *testing.T) {
	pct, _ := record.TypeByName("PCT")
	q := &question.Question{Type: pct}
	a := &answer.Answer{Rows: 2, Columns: []question.Column{{Name: "total", Role: question.Data}}, Vectors: []answer.Vector{{Num: []float64{5, 5}}}}
	for slot, name := range pct.Group.Fields {
		v := answer.Vector{End: []int{2, 3}}
		for i := range 3 {
			v.Num = append(v.Num, float64(10*i+slot))
		}
		a.Columns, a.Vectors = append(a.Columns, question.Column{Name: name, Role: question.Repeating, Slot: slot}), append(a.Vectors, v)
	}
	c := &collector{q: q, a: a, cols: [][]float64{{5, 5}}}
	if c.repeat(); fmt.Sprint(c.cols) != "[[5 5] [0 20] [1 21] [2 22] [10 NaN] [11 NaN] [12 NaN]]" {
		t.Errorf("%v", c.cols)
	}
	c.cols = append(c.cols, nil)
	if got := fmt.Sprint(c.copyRows([]int{1, 0})[5:]); got != "[[NaN 11] [NaN 12] [NaN NaN]]" {
		t.Errorf("%v", got)
	}
}

// TestLabelsOfItems: a label has the unit of its field, and quotes where it would be ambiguous.
func TestLabelsOfItems(t *testing.T) {
	for _, c := range []struct {
		field  string
		values [][]string
		fields int
		want   []string
	}{
		{"model", [][]string{{"a"}, {"b c"}}, 1, []string{"a", "b c"}},
		{"model", [][]string{{"a"}, {"b c"}}, 2, []string{"a", `"b c"`}},
		{"model", [][]string{{"a+b"}, {"c"}}, 1, []string{"a+b", "c"}},
		{"model", [][]string{{"a+b"}, {"a", "b"}}, 1, []string{`"a+b"`, "a+b"}},
		{"model", [][]string{{`a"`, "b c"}}, 2, []string{`"a\""+"b c"`}},
		{"fcst_lead", [][]string{{"6"}, {"12", "18"}}, 1, []string{"6 h", "12 h+18 h"}},
		{"valid_hour", [][]string{{"6"}}, 1, []string{"valid 6 UTC"}},
		{"init_hour", [][]string{{"0"}}, 2, []string{"init 0 UTC"}},
	} {
		if got := labelsOf(question.Group{Field: c.field, Values: c.values}, c.fields); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.field, c.values, got, c.want)
		}
	}
}

// TestBaselines: the curve that is subtracted from another one has the baseline's label in one field and equal labels in the
// others, or is the curve with the name of the baseline.
func TestBaselines(t *testing.T) {
	q := &question.Question{Drawing: &question.Drawing{Curves: []question.Group{
		{Field: "model", Values: [][]string{{"a"}, {"b"}, {"c d"}}}, {Field: "vx_mask", Values: [][]string{{"NH"}, {"SH"}}},
	}}}
	c := &collector{q: q, a: table("a P500 NH 0 6", "b P500 NH 0 6", "c P500 SH 0 6", "a P500 SH 0 6"), points: map[string]map[float64][]int{}}
	if err := c.collectDrawn(func(int) float64 { return 0 }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.names, []string{"a NH", "a SH", "b NH"}) {
		t.Fatalf("%q", c.names)
	}
	if got := strings.Join(c.absent, "; "); got != `model "c d": no record; b SH: no record` {
		t.Errorf("%q", got)
	}
	for _, x := range []struct{ baseline, name, want string }{
		{"b", "a NH", "b NH"},
		{"b", "a SH", ""},
		{"b", "b NH", ""},
		{"NH", "a SH", "a NH"},
		{"NH", "a NH", ""},
		{"a NH", "a SH", "a NH"},
		{"a NH", "b NH", "a NH"},
		{"a NH", "a NH", ""},
		{"c d", "a NH", ""},
		{"unknown", "a NH", ""},
		{"b", "no curve", ""},
	} {
		q.Drawing.Baseline = x.baseline
		if got := c.counterpart(x.name); got != x.want {
			t.Errorf("minus %s: from %s %q is subtracted, want %q", x.baseline, x.name, got, x.want)
		}
		is := x.name == x.baseline || slices.Contains(strings.Fields(x.name), x.baseline)
		if c.isBaseline(x.name) != is {
			t.Errorf("minus %s: %s is the baseline: %v", x.baseline, x.name, !is)
		}
	}
	if got := c.groups[0].labelOf("c d"); got != `"c d"` {
		t.Errorf("the label is %q", got)
	}
	if !slices.Equal(c.curveOrder, []string{"a NH", "a SH", "b NH", "b SH", `"c d" NH`, `"c d" SH`}) {
		t.Errorf("%q", c.curveOrder)
	}
	if got := c.curveName([]int{1, 0}); got != "b NH" {
		t.Errorf("%q", got)
	}
}

// TestCommonCases: rows of two curves are paired by their times and by the fields that the question names, each row once.
func TestCommonCases(t *testing.T) {
	a := table("a P500 NH 0 6", "a P500 NH 24 6", "a P500 NH 24 6", "a P500 NH 48 6", "b P850 NH 24 6", "b P500 NH 24 6", "b P500 NH 24 12", "b P500 NH 0 6", "b P500 SH 48 6")
	for _, c := range []struct {
		own         int
		rows, other []int
	}{
		{5, []int{0, 1}, []int{7, 5}}, // the level and the region must be equal
		{2, []int{0, 1, 3}, []int{7, 5, 8}},
		{1, []int{0, 1, 2, 3}, []int{7, 4, 5, 8}},
	} {
		q := &question.Question{Columns: a.Columns[:c.own], Drawing: &question.Drawing{Curves: []question.Group{{Field: "model"}}}}
		p := (&collector{q: q, a: a}).matchCases([]int{0, 1, 2, 3}, []int{4, 5, 6, 7, 8})
		if !slices.Equal(p.rows, c.rows) || !slices.Equal(p.baselineRows, c.other) {
			t.Errorf("%d columns: %v and %v, want %v and %v", c.own, p.rows, p.baselineRows, c.rows, c.other)
		}
	}
}

// TestPositions: the place of a row on each kind of axis, and the error if its column is missing.
func TestPositions(t *testing.T) {
	a := table("b P500 NH 30 6", "a P850 SH 0 12", "a SFC NH 0 0")
	a.Columns = append(a.Columns, question.Column{Name: "fcst_init_beg", Kind: question.Time}, question.Column{Name: "fcst_thresh", Kind: question.Text, Role: question.HeaderField})
	a.Vectors = append(a.Vectors, answer.Vector{Seconds: []int64{24 * 3600, -12 * 3600, 0}}, answer.Vector{Text: []string{">5", ">=2.5", "gt5"}})
	header := map[run.Axis][]string{"vx_mask": {"SH", "NH"}}
	for axis, want := range map[run.Axis]string{
		"": "0 0 0", run.ByLead: "6 12 0", run.ByTime: "108000 0 0", run.ByInit: "86400 -43200 0", run.ByValidHour: "6 0 0", run.ByInitHour: "0 12 0",
		run.ByLevel: "500 850 NaN", "model": "2 1 1", "vx_mask": "2 1 2", run.ByThresh: "5 2.5 5",
	} {
		q := &question.Question{Name: "q"}
		q.Header[record.VxMask] = header[axis]
		c := &collector{q: q, a: a, axis: axis}
		x, err := c.xOf()
		if err != nil {
			t.Fatal(axis, err)
		}
		if got := fmt.Sprint(x(0), x(1), x(2)); got != want {
			t.Errorf("%s: %s, want %s", axis, got, want)
		}
	}
	for axis, lacks := range map[run.Axis]string{"obtype": "obtype", run.ByInitHour: "fcst_init_beg"} {
		c := &collector{q: &question.Question{Name: "q"}, a: &answer.Answer{Columns: a.Columns[:5], Vectors: a.Vectors[:5]}, axis: axis}
		if _, err := c.xOf(); err == nil || !strings.Contains(err.Error(), "lacks "+lacks+";") {
			t.Errorf("%s: %v", axis, err)
		}
	}
}

// TestTextsOfFields: the values of a field in the form of a question, and the errors of what makes no curves.
func TestTextsOfFields(t *testing.T) {
	a := table("b P500 NH 30 6", "a P850 SH 0 12")
	a.Columns = append(a.Columns, question.Column{Name: "total", Kind: question.Number, Role: question.Data})
	a.Vectors = append(a.Vectors, answer.Vector{Num: []float64{1, 2}})
	a.Vectors[4].Seconds[1] = 5400
	c := &collector{q: &question.Question{Name: "q"}, a: a}
	for field, want := range map[string]string{
		"model": "b a", "fcst_lead": "6 1.5", "valid_hour": "6 0", "fcst_valid_beg": "1970-01-02T06:00:00Z 1970-01-01T00:00:00Z",
	} {
		text, err := c.text(field)
		if err != nil {
			t.Fatal(field, err)
		}
		if got := text(0) + " " + text(1); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	for field, want := range map[string]string{"init_hour": "lacks fcst_init_beg", "total": `"total" cannot make curves`} {
		if _, err := c.text(field); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestKeptRows: a row counts once, however many curves have it; a position without rows is removed.
func TestKeptRows(t *testing.T) {
	c := &collector{names: []string{"a", "b"}, points: map[string]map[float64][]int{"a": {1: {0, 1}, 2: {2}}, "b": {1: {1, 3}}}}
	n := c.filterRows(func(x float64, row int) bool { return x == 1 && row > 0 })
	if n != 2 || fmt.Sprint(c.points) != "map[a:map[1:[1]] b:map[1:[1 3]]]" || len(slices.Collect(maps.Keys(c.points["a"]))) != 1 {
		t.Errorf("%d rows, %v", n, c.points)
	}
}
