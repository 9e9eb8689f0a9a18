package curve_test

import (
	"errors"
	"maps"
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

// row is a record of SL1L2. mistake is its RMSE.
type row struct {
	model          string
	valid          int64 // in hours
	lead           int32 // in hours
	total, mistake float64
}

// answerOf builds the answer to a question from rows.
func answerOf(t *testing.T, q *question.Question, rows []row) *answer.Answer {
	t.Helper()
	sl1l2, _ := record.TypeByName("SL1L2")
	q.Type = sl1l2
	var err error
	if q.Columns, err = question.Columns(sl1l2, "model", "fcst_valid_beg", "fcst_init_beg", "fcst_lead", "total", "fbar", "obar", "fobar", "ffbar", "oobar", "mae"); err != nil {
		t.Fatal(err)
	}
	var b record.Batch
	b.Reset(sl1l2, "")
	for _, r := range rows {
		h := record.DefaultHeader()
		h[record.Model] = r.model
		b.AppendTimes(b.AddHeader(h), r.lead*3600, r.valid*3600, 1)
		values := map[string]float64{"total": r.total, "ffbar": r.mistake * r.mistake}
		for _, c := range sl1l2.Columns {
			b.Num[c.Slot] = append(b.Num[c.Slot], values[c.Name])
		}
	}
	return answer.Select(q, &b)
}

// theRows has an event of A that B lacks: 18 h.
var theRows = []row{
	{"A", 6, 6, 1, 1},
	{"A", 12, 6, 3, 5},
	{"A", 18, 6, 1, 9},
	{"B", 6, 6, 1, 2},
	{"B", 12, 6, 1, 4},
}

func drawn(method string) *question.Question {
	return &question.Question{Name: "q", Drawing: &question.Drawing{
		Stats: []string{"RMSE"}, Axis: "fcst_lead", Method: method,
		Curves: []question.Group{{Field: "model", Values: [][]string{{"B"}, {"A"}, {"A", "B"}}}},
	}}
}

// values computes the curves of theRows, and returns the name and the only value of each.
func values(t *testing.T, q *question.Question) (names []string, ys []float64, c *run.VerificationPlot) {
	t.Helper()
	a := answerOf(t, q, theRows)
	c, err := curve.Compute(t.Context(), q, a, "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Series {
		names = append(names, s.Name)
		if len(s.Y) != 1 {
			t.Fatalf("%s has %d points", s.Name, len(s.Y))
		}
		ys = append(ys, stat.RoundHalfUp(s.Y[0], 7))
	}
	return names, ys, c
}

// TestMethods: the values are those computed by hand. The method overall gives for A √((1·1 + 3·25 + 1·81)/5).
func TestMethods(t *testing.T) {
	for method, want := range map[string][]float64{
		"overall": {stat.RoundHalfUp(math.Sqrt(10), 7), stat.RoundHalfUp(math.Sqrt(157./5), 7), stat.RoundHalfUp(math.Sqrt(177./7), 7)},
		"mean":    {3, 5, 4.2},
		"median":  {3, 5, 4},
		"sum":     {6, 15, 21},
	} {
		names, ys, _ := values(t, drawn(method))
		if !slices.Equal(names, []string{"B", "A", "A+B"}) || !slices.Equal(ys, want) {
			t.Errorf("%s: %v %v, want %v", method, names, ys, want)
		}
	}
}

// TestEventEqualisation: no curve uses an event that another curve lacks.
func TestEventEqualisation(t *testing.T) {
	q := drawn("sum")
	q.Drawing.EventEqual = true
	_, ys, c := values(t, q)
	if !slices.Equal(ys, []float64{6, 6, 12}) || !strings.Contains(c.Note, "omitted 1 of 5 rows") {
		t.Errorf("%v %s", ys, c.Note)
	}
}

// TestBootstrapOfAPlot: the bootstrap uses the seed and the replicates of the plot, not the seed of the caller.
func TestBootstrapOfAPlot(t *testing.T) {
	seed := uint64(42)
	q := drawn("overall")
	q.Drawing.Replicates, q.Drawing.Seed, q.Drawing.Confidence = 50, &seed, 0.9
	a := answerOf(t, q, theRows)
	var got []*run.VerificationPlot
	for _, callerSeed := range []uint64{1, 2} {
		c, err := curve.Compute(t.Context(), q, a, "RMSE", callerSeed)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	s := got[0].Series[1]
	if !slices.Equal(s.Low, got[1].Series[1].Low) || !(s.Low[0] <= s.Y[0] && s.Y[0] <= s.High[0]) {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(got[0].Note, "90 % interval by bootstrap over records in circular blocks, 50 replicates, seed 42") {
		t.Error(got[0].Note)
	}
	q.Drawing.Replicates = 0
	_, _, c := values(t, q)
	if !math.IsNaN(c.Series[0].Low[0]) {
		t.Error("an interval without replicates")
	}
}

// TestAxes draws along every axis that the rows have.
func TestAxes(t *testing.T) {
	for axis, want := range map[string][]float64{
		"fcst_lead": {6}, "fcst_valid_beg": {6 * 3600, 12 * 3600, 18 * 3600}, "fcst_init_beg": {0, 6 * 3600, 12 * 3600},
		"valid_hour": {6, 12, 18}, "init_hour": {0, 6, 12}, "model": {1},
	} {
		q := drawn("overall")
		q.Drawing.Axis = axis
		c, err := curve.Compute(t.Context(), q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Series[1].X; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", axis, got, want)
		}
		if axis == "model" && c.XLabel != "model: 1 A, 2 B" {
			t.Errorf("places are called %q", c.XLabel)
		}
	}
}

// TestPooled: the note lists the fields of which a point pools several values, except those that the axis determines.
func TestPooled(t *testing.T) {
	for axis, want := range map[string]string{"fcst_lead": "; pools 3 values of fcst_valid_beg", "valid_hour": ""} {
		q := drawn("overall")
		q.Drawing.Axis = axis
		c, err := curve.Compute(t.Context(), q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" && !strings.Contains(c.Note, want+"; ") || want == "" && strings.Contains(c.Note, "pools") {
			t.Errorf("%s: %s", axis, c.Note)
		}
	}
}

// TestCurvesByHour: fields of time make curves, too.
func TestCurvesByHour(t *testing.T) {
	q := drawn("sum")
	q.Drawing.Curves = []question.Group{{Field: "init_hour", Values: [][]string{{"0", "6"}, {"12"}}}}
	names, ys, _ := values(t, q)
	if !slices.Equal(names, []string{"init 0 UTC+init 6 UTC", "init 12 UTC"}) || !slices.Equal(ys, []float64{12, 9}) {
		t.Errorf("%v %v", names, ys)
	}
}

// TestFinishedStatistic reads a column as MET wrote it.
func TestFinishedStatistic(t *testing.T) {
	cnt, _ := record.TypeByName("CNT")
	cols, err := question.Columns(cnt, "fcst_lead", "total", "rmse")
	if err != nil {
		t.Fatal(err)
	}
	q := &question.Question{Name: "q", Type: cnt, Columns: cols, Drawing: &question.Drawing{Stats: []string{"RMSE"}, Axis: "fcst_lead", Method: "median"}}
	var b record.Batch
	b.Reset(cnt, "")
	head := b.AddHeader(record.DefaultHeader())
	for i, v := range []float64{1, 7, 3} {
		b.AppendTimes(head, 3600, int64(i)*3600, 1)
		for _, c := range cnt.Columns {
			x := record.Missing()
			switch c.Name {
			case "total":
				x = 5
			case "rmse":
				x = v
			}
			b.Num[c.Slot] = append(b.Num[c.Slot], x)
		}
	}
	c, err := curve.Compute(t.Context(), q, answer.Select(q, &b), "RMSE", 1)
	if err != nil || len(c.Series) != 1 || c.Series[0].Name != "RMSE" || stat.RoundHalfUp(c.Series[0].Y[0], 7) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestThreshold(t *testing.T) {
	for text, want := range map[string]float64{">=2.54": 2.54, "gt0.254": 0.254, "<273": 273, "ge-5": -5} {
		if got := curve.Threshold(text); got != want {
			t.Errorf("%s is %g", text, got)
		}
	}
	if !math.IsNaN(curve.Threshold("NA")) {
		t.Error("NA is no threshold")
	}
}

// TestUnlikeThresholds: <273 and >=273 have different places on the axis; ge273 and >=273 have the same.
func TestUnlikeThresholds(t *testing.T) {
	ctc, _ := record.TypeByName("CTC")
	for _, c := range []struct {
		thresholds []string
		x          []float64
		label      string
	}{
		{[]string{"<273", ">=273", ">=280", ">=273"}, []float64{1, 2, 3}, "fcst_thresh: 1 <273, 2 >=273, 3 >=280"},
		{[]string{"ge273", ">=273.0", ">=280", "<290"}, []float64{273, 280, 290}, ""},
		{[]string{"ge273", ">=273.0", "<273", "==273", "eq273"}, []float64{1, 2, 3}, "fcst_thresh: 1 <273, 2 ==273, 3 >=273.0"},
	} {
		var b record.Batch
		b.Reset(ctc, "")
		for i, text := range c.thresholds {
			h := record.DefaultHeader()
			h[record.FcstThresh] = text
			b.AppendTimes(b.AddHeader(h), 0, int64(i), 1)
			for _, c := range ctc.Columns {
				b.Num[c.Slot] = append(b.Num[c.Slot], 1)
			}
		}
		q := &question.Question{Name: "q", Type: ctc, Drawing: &question.Drawing{Stats: []string{"CSI"}, Axis: "fcst_thresh", Method: "overall"}}
		q.SelectColumns()
		got, err := curve.Compute(t.Context(), q, answer.Select(q, &b), "CSI", 1)
		if err != nil || len(got.Series) != 1 || !slices.Equal(got.Series[0].X, c.x) || got.XLabel != c.label {
			t.Errorf("%v: %+v, %v", c.thresholds, got, err)
		}
	}
}

// TestExcludedRowsOfPictures: the note reports rows that a plot's condition on values excludes, whatever the picture.
func TestExcludedRowsOfPictures(t *testing.T) {
	rows := []row{{"A", 6, 6, 1, 1}, {"A", 12, 6, 1, 6}, {"A", 18, 6, 1, 9}, {"B", 6, 6, 1, 2}, {"B", 12, 6, 1, 3}, {"B", 18, 6, 1, 3}, {"A", 24, 6, 5, 1}}
	for picture, begin := range map[string]string{"": "median of the records' statistics; ", "box": "boxes from the lower ", curve.Equivalence: "the difference of all cases, "} {
		q := drawn("median")
		q.Drawing.Curves[0].Values = [][]string{{"A"}, {"B"}}
		q.Drawing.ValueConditions = []question.ValueCondition{{Column: "total", Op: "<", Value: 2}}
		if q.Drawing.Picture = picture; picture == curve.Equivalence {
			q.Drawing.Picture, q.Drawing.Derived = "", []question.Derived{{Operation: stat.Equivalence, A: []int{0}, B: []int{1}}}
		}
		c, err := curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1)
		if err != nil || !strings.HasPrefix(c.Note, begin) || !strings.Contains(c.Note, "; the plot's condition on values excludes 1 row; ") {
			t.Errorf("%q: %v, %+v", picture, err, c)
		}
	}
}

// TestExcludedCurves: a curve whose records are all excluded is not reported as one without a record.
func TestExcludedCurves(t *testing.T) {
	const excluded = ": the plot's condition on values excludes all records"
	models := question.Group{Field: "model", Values: [][]string{{"A"}, {"B"}, {"C"}}}
	valid := question.Group{Field: "valid_hour", Values: [][]string{{"6"}, {"12"}, {"18"}}}
	for _, c := range []struct {
		fields []question.Group
		least  float64 // of ffbar, the square of the error
		want   []string
	}{
		{[]question.Group{models}, 17, []string{"model B" + excluded, "model C: no record"}},
		{[]question.Group{models, valid}, 4, []string{"model C: no record", "A valid 6 UTC" + excluded, "B valid 18 UTC: no record"}},
	} {
		q := drawn("overall")
		q.Drawing.Curves, q.Drawing.ValueConditions = c.fields, []question.ValueCondition{{Column: "ffbar", Op: ">=", Value: c.least}}
		got, err := curve.Compute(t.Context(), q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil || !slices.Equal(got.Omitted, c.want) {
			t.Errorf("%v: %v, %+v", c.want, err, got)
		}
	}
	q := drawn("overall")
	q.Drawing.Baseline, q.Drawing.ValueConditions = "B", []question.ValueCondition{{Column: "ffbar", Op: "<", Value: 0}}
	if got, err := curve.ComputePoints(q, answerOf(t, q, theRows), "RMSE", 1); !errors.Is(err, curve.ErrNoRecords) {
		t.Errorf("without any record: %v, %v", got, err)
	}
}

// TestOnlyWhatIsDrawn: curves omit the rows that a plot's condition on values excludes, and the note has their number.
func TestOnlyWhatIsDrawn(t *testing.T) {
	q := drawn("overall")
	q.Drawing.ValueConditions = []question.ValueCondition{{Column: "total", Op: "<", Value: 2}, {Column: "ffbar", Op: ">=", Value: 4}}
	c, err := curve.Compute(t.Context(), q, answerOf(t, q, theRows), "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 1} { // B: 2 and 4, A: 9
		if c.Series[i].Records[0] != want {
			t.Errorf("%s is of %d rows, want %d", c.Series[i].Name, c.Series[i].Records[0], want)
		}
	}
	if !strings.Contains(c.Note, "the plot's condition on values excludes 2 rows") {
		t.Error(c.Note)
	}
}

// TestCurvesWhoseValuesReadAsOthers: values that are ambiguous in a name give the right curves. A model called A+B is
// not the group of A and B, the blanks in models and regions do not mix up their values, and a value that is named
// twice counts once.
func TestCurvesWhoseValuesReadAsOthers(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	q := &question.Question{Name: "q", Type: sl1l2, Drawing: &question.Drawing{Stats: []string{"ME"}, Axis: "fcst_lead", Method: "overall"}}
	q.Drawing.Curves = []question.Group{
		{Field: "model", Values: [][]string{{"A+B"}, {"A", "B"}, {"X"}, {"X Y"}, {"A", "A"}}},
		{Field: "vx_mask", Values: [][]string{{"Z"}, {"Y Z"}}},
	}
	q.SelectColumns()
	var b record.Batch
	b.Reset(sl1l2, "")
	add := func(model, mask string, lead int32, fbar float64) {
		h := record.DefaultHeader()
		h[record.Model], h[record.VxMask] = model, mask
		b.AppendTimes(b.AddHeader(h), lead*3600, 0, 1)
		for _, c := range sl1l2.Columns {
			b.Num[c.Slot] = append(b.Num[c.Slot], map[string]float64{"total": 1, "fbar": fbar}[c.Name])
		}
	}
	for i, v := range [][2]string{{"A+B", "Z"}, {"A", "Z"}, {"B", "Z"}, {"X", "Y Z"}, {"X Y", "Z"}} {
		add(v[0], v[1], 6, float64(int(1)<<i))
	}
	check := func(want map[string]float64) {
		t.Helper()
		got, err := curve.Compute(t.Context(), q, answer.Select(q, &b), "ME", 1)
		if err != nil {
			t.Fatal(err)
		}
		ys := map[string]float64{}
		for _, s := range got.Series {
			ys[s.Name] = s.Y[0]
		}
		if !maps.Equal(ys, want) {
			t.Errorf("%v, want %v", ys, want)
		}
	}
	check(map[string]float64{`"A+B" Z`: 1, "A+B Z": 3, `X "Y Z"`: 8, `"X Y" Z`: 16, "A+A Z": 2})
	q.Drawing.Curves[0].Values = [][]string{{"X Y"}, {"A+B"}} // the names of a scorecard's rows omit the model
	q.Drawing.Baseline, q.Drawing.Picture = "A+B", "scorecard"
	check(map[string]float64{"Z": 15})
	q.Drawing.Baseline = "X Y" // the first item, whose label is quoted
	check(map[string]float64{"Z": -15})
}
