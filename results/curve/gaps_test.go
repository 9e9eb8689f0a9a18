package curve_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// twoModels returns rows of A and B at the given number of days, each with the lead 6 h.
func twoModels(days int, a, b func(day int) float64) (rows []row) {
	for day := range days {
		rows = append(rows, row{"A", int64(24 * day), 6, 1, a(day)}, row{"B", int64(24 * day), 6, 1, b(day)})
	}
	return rows
}

// TestMarksOfRecords: for statistics of records the marks come from Student's t-test. The differences of ten cases have
// the standard error 1, and t is significant above 2.262 (95 %) and 3.250 (99 %) with 9 degrees of freedom. Fewer than
// eight cases have no test.
func TestMarksOfRecords(t *testing.T) {
	for _, c := range []struct {
		days int
		t    float64
		want int
	}{
		{10, 2.25, 0},
		{10, 2.27, -run.MarkBetter},
		{10, 3.24, -run.MarkBetter},
		{10, 3.26, -2 * run.MarkBetter},
		{10, -2.25, 0},
		{10, -2.27, run.MarkBetter},
		{10, -3.26, 2 * run.MarkBetter},
		{8, 9, -2 * run.MarkBetter},
		{7, 9, run.MarkTooFew},
	} {
		q := byLead()
		q.Drawing.EventEqual, q.Drawing.Picture, q.Drawing.Baseline, q.Drawing.Method = false, "scorecard", "B", "mean"
		rows := twoModels(c.days, func(day int) float64 { return 50 + c.t + float64(day%2*2-1)*3 }, func(int) float64 { return 50 })
		got, err := curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1)
		if err != nil || len(got.Series) != 1 || !slices.Equal(got.Series[0].Marks, []int{c.want}) {
			t.Errorf("%d cases, t = %g: %+v, %v, want mark %d", c.days, c.t, got.Series, err, c.want)
		}
	}
}

// TestOperands: the difference of a scorecard is that of the values of both models in their common cases.
func TestOperands(t *testing.T) {
	q := byLead()
	q.Drawing.EventEqual, q.Drawing.Baseline = false, "B"
	rows := twoModels(4, func(int) float64 { return 5 }, func(int) float64 { return 3 })
	got, err := curve.ComputePoints(q, answerOf(t, q, append(rows, row{"A", 999, 6, 1, 100})), "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	if a, b, err := got.Operands(0, 0); math.Abs(a-5) > 1e-12 || math.Abs(b-3) > 1e-12 || err != nil {
		t.Errorf("%g, %g, %v", a, b, err)
	}
}

// TestSignificance: DIFF_SIG is −1 if the first curve is certainly worse, 1 if it is certainly better, and undefined for a
// statistic without a perfect score or without a bootstrap.
func TestSignificance(t *testing.T) {
	for _, c := range []struct {
		name       string
		items      [2]int
		replicates int
		want       float64
	}{
		{"RMSE", [2]int{0, 1}, 100, -1},
		{"RMSE", [2]int{1, 0}, 100, 1},
		{"RMSE", [2]int{0, 1}, 0, math.NaN()},
		{"FBAR", [2]int{0, 1}, 100, math.NaN()},
	} {
		q := byLead()
		q.Drawing.EventEqual, q.Drawing.Replicates = false, c.replicates
		q.Drawing.Derived = []question.Derived{{Operation: stat.Significant, A: []int{c.items[0]}, B: []int{c.items[1]}}}
		rows := twoModels(10, func(day int) float64 { return 90 + float64(day%3) }, func(day int) float64 { return 1 + float64(day%2) })
		got, err := curve.Compute(t.Context(), q, answerOf(t, q, rows), c.name, 1)
		if err != nil || len(got.Series) != 3 {
			t.Fatalf("%v, %+v", err, got)
		}
		if s := got.Series[2]; len(s.Y) != 1 || s.Y[0] != c.want && !(math.IsNaN(s.Y[0]) && math.IsNaN(c.want)) || !math.IsNaN(s.Low[0]) || !s.Right {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// TestNumbersOfObjects: CNT is the number of objects of each time and lead, of which the mean is drawn; CNTSUM is that of
// all objects. The number of records is that of the cases, or of the objects.
func TestNumbersOfObjects(t *testing.T) {
	lt, _ := record.TypeByName("MODE_OBJ_SINGLE")
	for name, want := range map[string]string{
		"CNT_AAA":    "[2] [2] of the objects of each time and lead, then mean",
		"CNTSUM_AAA": "[4] [4] of all objects together",
		"CNT_FAA":    "[3] [1] of the objects of each time and lead, then mean",
	} {
		q := &question.Question{Name: "q", Type: lt, Drawing: &question.Drawing{Stats: []string{name}, Axis: "fcst_lead", Method: "mean", FromColumns: true}}
		q.SelectColumns()
		var b record.Batch
		b.Reset(lt, "")
		header := b.AddHeader(record.DefaultHeader())
		for _, valid := range []int64{6, 6, 6, 12} { // hours; all objects are forecast ones at 6, and observed at 12
			b.AppendTimes(header, 6*3600, valid*3600, 1)
			for _, c := range lt.Columns {
				if c.Kind == record.Text {
					b.Text[c.Slot] = append(b.Text[c.Slot], record.NA)
					continue
				}
				b.Num[c.Slot] = append(b.Num[c.Slot], map[string]float64{"fcst_flag": map[bool]float64{true: 1}[valid == 6]}[c.Name])
			}
		}
		wide, err := curve.Widen(q, q.Drawing.Stats)
		if err != nil {
			t.Fatal(err)
		}
		got, err := curve.Compute(t.Context(), wide, answer.Select(wide, &b), name, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := got.Series[0]
		if text := fmt.Sprint(s.Y, s.Records, " ", strings.Split(got.Note, ";")[0]); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
}

// TestEqualizedTimes: across valid or initial times, an event is a lead, and a field of times or leads makes no combination.
func TestEqualizedTimes(t *testing.T) {
	var rows []row
	for _, model := range []string{"A", "B"} {
		rows = append(rows, row{model, 6, 6, 1, 1}, row{model, 12, 6, 1, 2}, row{model, 12, 12, 1, 3}) // initial times 0, 6, 0
	}
	for _, c := range []struct {
		axis   string
		across bool
		xs     []float64 // h
		n      []int
	}{
		{"fcst_valid_beg", false, []float64{6, 12}, []int{1, 2}},
		{"fcst_valid_beg", true, []float64{6, 12}, []int{1, 1}},
		{"fcst_init_beg", false, []float64{0, 6}, []int{2, 1}},
		{"fcst_init_beg", true, []float64{0, 6}, []int{1, 1}},
	} {
		q := byLead()
		q.Drawing.Axis, q.Drawing.EqualizeAcrossAxis, q.Drawing.Replicates = c.axis, c.across, 0
		got, err := curve.ComputePoints(q, answerOf(t, q, rows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		var hours []float64
		for _, x := range got.Series[0].X {
			hours = append(hours, x/3600)
		}
		if !slices.Equal(hours, c.xs) || !slices.Equal(got.Series[0].Records, c.n) {
			t.Errorf("%s, across %v: %v h, %v records", c.axis, c.across, hours, got.Series[0].Records)
		}
	}
	for _, field := range []string{"fcst_lead", "fcst_valid_beg", "fcst_init_beg"} {
		q := byLead()
		q.Drawing.Replicates = 0
		q.Drawing.Equalize = []question.Group{{Field: field}}
		got, err := curve.ComputePoints(q, answerOf(t, q, rows), "RMSE", 1)
		if err != nil || !strings.Contains(got.Note, "omitted 0 of 6 rows") {
			t.Errorf("%s: %v, %+v", field, err, got)
		}
	}
}

// TestValuesOfCurves: the values of a curve in each field, and METviewer's name of a group, which counts the groups of
// its axis.
func TestValuesOfCurves(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B", "A"}}}, {Field: "fcst_lead", Values: [][]string{{"6"}}}}
	got, err := curve.ComputePoints(q, answerOf(t, q, theRows), "RMSE", 1)
	if err != nil || len(got.Series) != 2 {
		t.Fatal(got, err)
	}
	if one, two := got.ValuesOf(0), got.ValuesOf(1); !slices.Equal(one, []string{"A", "6"}) || !slices.Equal(two, []string{"B+A", "6"}) {
		t.Errorf("%q, %q", one, two)
	}
	for right, axis := range map[bool]string{false: "y1", true: "y2"} {
		q := drawn("overall")
		q.Drawing.RightAxis, q.Drawing.Curves[0].Values = right, [][]string{{"A"}, {"A", "B"}, {"B", "C"}}
		q.Drawing.Derived = []question.Derived{{Operation: stat.Diff, A: []int{1}, B: []int{2}}}
		text, err := metviewerText(t, q, append(slices.Clone(theRows), row{"C", 6, 6, 1, 1}), "RMSE")
		if want := "DIFF(Group_" + axis + "_1 TMP RMSE-Group_" + axis + "_2 TMP RMSE)"; err != nil || !strings.Contains(text, want) {
			t.Errorf("%v\n%s lacks %s", err, text, want)
		}
	}
}

// TestMissingValues: values that the conditions of a question list, and that no row has, are omitted curves. Rows without
// a place on the axis are counted.
func TestMissingValues(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Curves = []question.Group{{Field: "model"}}
	q.Header[record.Model] = []string{"A", "B", "C"}
	got, err := curve.ComputePoints(q, answerOf(t, q, theRows), "RMSE", 1)
	if err != nil || !slices.Equal(got.Omitted, []string{"model C: no record"}) || !strings.HasSuffix(got.Note, "; omitted: model C: no record") {
		t.Errorf("%v, %+v", err, got)
	}
	q = drawn("overall")
	q.Drawing.Axis = "fcst_lev"
	a := answerOf(t, q, theRows)
	a.Columns = append(slices.Clip(a.Columns), question.Column{Name: "fcst_lev", Role: question.HeaderField})
	a.Vectors = append(slices.Clip(a.Vectors), answer.Vector{Text: []string{"P500", "SFC", "P850", "Z2", "P500"}})
	if got, err = curve.ComputePoints(q, a, "RMSE", 1); err != nil || !strings.Contains(got.Note, "; 4 rows without a place on this axis are omitted") { // each is in two curves
		t.Errorf("%v, %+v", err, got)
	}
}

// TestStatisticsOfQuestions: without a name the statistics are the picture's, the drawing's or the default of the line type.
func TestStatisticsOfQuestions(t *testing.T) {
	for _, c := range []struct {
		lineType string
		d        *question.Drawing
		want     []string
	}{
		{"SL1L2", nil, []string{"RMSE"}},
		{"SL1L2", &question.Drawing{}, []string{"RMSE"}},
		{"SL1L2", &question.Drawing{Stats: []string{"ME", "MAE"}}, []string{"ME", "MAE"}},
		{"SL1L2", &question.Drawing{Stats: []string{"ME"}, Picture: "taylor"}, []string{"taylor"}},
		{"SL1L2", &question.Drawing{Stats: []string{"ME"}, Picture: "box"}, []string{"ME"}},
		{"RHIST", nil, nil},
	} {
		lt, _ := record.TypeByName(c.lineType)
		if got := curve.Stats(&question.Question{Type: lt, Drawing: c.d}); !slices.Equal(got, c.want) {
			t.Errorf("%s, %+v: %q", c.lineType, c.d, got)
		}
	}
	q := drawn("overall")
	a := answerOf(t, q, theRows)
	if _, err := curve.ComputePoints(q, a, "NO_SUCH", 1); err == nil || !strings.Contains(err.Error(), "NO_SUCH") {
		t.Error(err)
	}
	if _, err := curve.Widen(q, []string{"NO_SUCH"}); err == nil {
		t.Error("an unknown statistic needs columns")
	}
	if _, err := curve.ComputePoints(q, &answer.Answer{Columns: a.Columns, Vectors: a.Vectors}, "RMSE", 1); !errors.Is(err, curve.ErrNoRecords) {
		t.Error(err)
	}
	if none := curve.OmittedDerived(&question.Question{Type: q.Type}, nil); none != nil {
		t.Errorf("%q", none)
	}
}

// TestRecordsThatDiffer: records with different thresholds, or with more repetitions than others, have no common diagram.
func TestRecordsThatDiffer(t *testing.T) {
	one := line{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}
	other := line{[]float64{5, 3}, []float64{0, 1, 2, 0.4, 2, 0, 1}}
	short := line{[]float64{5, 2}, []float64{0, 1, 2}}
	for _, c := range []struct {
		picture, lineType, field string
		lines                    []line
	}{
		{"roc", "PCT", "thresh_i", []line{one, short}},
		{"reliability", "PCT", "thresh_i", []line{one, other}},
		{"eclv", "PCT", "thresh_i", []line{other, one}},
		{"rank_histogram", "RHIST", "rank_i", []line{{[]float64{4, 3}, []float64{1, 2, 1}}, {[]float64{4, 2}, []float64{2, 2}}}},
	} {
		q, a := asked(t, c.lineType, &question.Drawing{Picture: c.picture, Method: "overall"}, c.lines...)
		if _, err := curve.ComputePoints(q, a, c.picture, 1); err == nil || !strings.Contains(err.Error(), `the records of curve "gfs" differ in their `+c.field) {
			t.Errorf("%s: %v", c.picture, err)
		}
	}
}

// TestNeighborhoodPerformance: a performance diagram of neighborhoods has the points of METviewer's NBR statistics.
func TestNeighborhoodPerformance(t *testing.T) {
	lt, _ := record.TypeByName("NBRCTC")
	var l line
	for _, c := range lt.Columns {
		l.fixed = append(l.fixed, map[string]float64{"total": 100, "fy_oy": 20, "fy_on": 10, "fn_oy": 20, "fn_on": 50}[c.Name])
	}
	q, a := asked(t, "NBRCTC", &question.Drawing{Picture: "performance", Axis: "fcst_lead", Method: "overall"}, l)
	got, err := curve.Compute(t.Context(), q, a, "performance", 1)
	if err != nil || points(got) != "success_ratio PODY: 0.667,0.5" {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestMarksOfPerfectScores: the better model is the one nearer to the perfect score, which is 1 for CSI and MBIAS.
func TestMarksOfPerfectScores(t *testing.T) {
	good, poor := []line{}, []line{}
	low, high := []line{}, []line{} // MBIAS about 0.4 and 1.2
	for i := range 10 {
		x := float64(i)
		good, poor = append(good, line{[]float64{100, 80 + x, 10, 10, 0, 0.5}, nil}), append(poor, line{[]float64{100, 40 + x, 30, 30, 0, 0.5}, nil})
		low, high = append(low, line{[]float64{10, 4 + x/100, 10, 40, 20, 100, 6}, nil}), append(high, line{[]float64{10, 12 + x/50, 10, 120, 150, 100, 2}, nil})
	}
	for _, c := range []struct {
		lineType, stat string
		a, b           []line
		want           int
	}{
		{"CTC", "CSI", good, poor, 2 * run.MarkBetter},
		{"CTC", "CSI", poor, good, -2 * run.MarkBetter},
		{"SL1L2", "MBIAS", high, low, 2 * run.MarkBetter},
		{"SL1L2", "MBIAS", low, high, -2 * run.MarkBetter},
		{"SL1L2", "FBAR", low, high, 0}, // has no perfect score
	} {
		d := &question.Drawing{Picture: "scorecard", Axis: "fcst_lead", Method: "overall", Baseline: "b", Replicates: 200, Confidence: 0.95}
		d.Curves = []question.Group{{Field: "model", Values: [][]string{{"a"}, {"b"}}}}
		q, a := asked(t, c.lineType, d, slices.Concat(c.a, c.b)...)
		ofModels(a, "a", "b")
		got, err := curve.Compute(t.Context(), q, a, c.stat, 1)
		if err != nil || len(got.Series) != 1 || !slices.Equal(got.Series[0].Marks, []int{c.want}) {
			t.Errorf("%s: %v, %+v, want mark %d", c.stat, err, got, c.want)
		}
	}
}

// TestRevisionsBetweenTimes: the revisions of a valid time, from the oldest forecast to the newest, are spread over the least
// distance of two valid times, here 6 h.
func TestRevisionsBetweenTimes(t *testing.T) {
	var lines []line
	for _, mae := range []float64{4, 1, 2, 7, 5, 9} {
		lines = append(lines, line{[]float64{10, 0, 0, 2, 4, 1, mae}, nil})
	}
	d := &question.Drawing{Picture: "revision", Axis: "fcst_valid_beg", Method: "median", Stats: []string{"MAE"}}
	q, a := asked(t, "SL1L2", d, lines...)
	for k, c := range a.Columns {
		for i := range a.Rows {
			switch c.Name {
			case "fcst_valid_beg":
				a.Vectors[k].Seconds[i] = 100000 + 21600*int64(i/3)
			case "fcst_lead":
				a.Vectors[k].Seconds[i] = int64(6+6*(i%3)) * 3600 // the newest forecast first
			}
		}
	}
	got, err := curve.Compute(t.Context(), q, a, "MAE", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := got.Series[0]
	if want := []float64{100000, 107200, 121600, 128800}; !slices.Equal(s.X, want) || fmt.Sprint(s.Y, s.Records) != "[-1 3 -4 2] [1 1 1 1]" {
		t.Errorf("%v: %v of %v records", s.X, s.Y, s.Records)
	}
}
