package curve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
)

// ssvar returns a line of SSVAR: a bin with n pairs, the variance, and the means of the forecast squared, of the
// product, and of the observation squared.
func ssvar(n, variance, ff, fo, oo float64) line {
	return line{[]float64{2, 2, 1, n, variance, variance, variance, 0, 0, fo, ff, oo}, nil}
}

// TestPictures: the pictures that use all records of a curve have the points computed by hand.
func TestPictures(t *testing.T) {
	pct := []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}
	ctc := line{[]float64{100, 20, 10, 20, 50, 0.5}, nil}
	for _, c := range []struct {
		picture, lineType, want string
		lines                   []line
	}{
		// 4 events, 6 others: above 0.5 there are 2 and 2, above 0 all
		{"roc", "PCT", "POFD PODY: 0,0 0.333,0.5 1,1", pct},
		{"reliability", "PCT", "probability frequency: 0.25,0.333 0.75,0.5", pct},
		// the records of some archives do not say that the last bin ends at 1
		{"reliability", "PCT", "probability frequency: 0.25,0.333 0.75,0", []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, math.NaN()}}}},
		// VSDB's RELI of two members: bins of the probabilities 0, 0.5 and 1
		{"reliability", "PCT", "probability frequency: 0,0.333 0.5,0 1,0.75", []line{{[]float64{9, 4}, []float64{0, 1, 2, 0.5, 0, 2, 1, 3, 1, math.NaN()}}}},
		{"rank_histogram", "RHIST", "rank share: 1,0.25 2,0.5 3,0.25", []line{{[]float64{4, 3}, []float64{1, 2, 1}}, {[]float64{4, 3}, []float64{1, 2, 1}}}},
		{"rank_histogram", "PHIST", "bin share: 0.25,0.75 0.75,0.25", []line{{[]float64{4, 0.5, 2}, []float64{3, 1}}}},
		{"eclv", "ECLV", "cost_loss_ratio ECLV: 0.1,0.4 0.5,0.6", []line{{[]float64{4, 0.3, 0, 2}, []float64{0.1, 0.2, 0.5, 0.6}}, {[]float64{4, 0.3, 0, 2}, []float64{0.1, 0.6, 0.5, 0.6}}}},
		{"eclv", "ECLV", "cost_loss_ratio ECLV: 0.1,-3 0.5,0.6", []line{{[]float64{4, 0.3, 0, 2}, []float64{0.1, -3, 0.5, 0.6}}}},
		{"spread_skill", "SSVAR", "VAR_MEAN MSE: 1,2 4,3", []line{ssvar(50, 4, 9, 8, 10), ssvar(50, 1, 4, 3, 4)}},
		{"spread_skill", "SSVAR", "VAR_MEAN MSE: 1,1.5 4,3", []line{ssvar(50, 1, 4, 3, 4), ssvar(50, 4, 9, 8, 10), ssvar(50, 1, 4, 3, 3)}}, // a bin of two records
		{"performance", "CTC", "success_ratio PODY: 0.667,0.5", []line{ctc}},
		{"taylor", "SL1L2", "PR_CORR FSTDEV/OSTDEV: 1,2", []line{{[]float64{10, 0, 0, 2, 4, 1, 1}, nil}}},
		{"revision", "SL1L2", "fcst_valid_beg MAE:", []line{{[]float64{10, 0, 0, 2, 4, 1, 1}, nil}}},
	} {
		d := &question.Drawing{Picture: c.picture, Axis: "fcst_lead", Method: "overall"}
		if c.picture == "revision" {
			d.Axis = "fcst_valid_beg"
		} else if c.lineType == "ECLV" {
			d.Method = "median"
		}
		q, a := asked(t, c.lineType, d, c.lines...)
		narrow := *q
		narrow.Columns = q.Columns[:1]
		wide, err := curve.Widen(&narrow, []string{"MAE"})
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range q.Columns {
			isValue := column.Role == question.Data || column.Role == question.Repeating
			needed := isValue && (c.picture != "revision" || column.Name == "mae") || column.Name == "fcst_lead"
			if needed && !slices.ContainsFunc(wide.Columns, func(have question.Column) bool { return have.Name == column.Name }) {
				t.Errorf("%s of %s: the wide question lacks %s", c.picture, c.lineType, column.Name)
			}
		}
		got, err := curve.Compute(t.Context(), q, a, "MAE", 1)
		if err != nil {
			t.Errorf("%s of %s: %v", c.picture, c.lineType, err)
			continue
		}
		if noted := strings.Contains(got.Note, "values below -0.2 are not shown"); noted != strings.Contains(c.want, ",-") {
			t.Errorf("%s of %s: the note is %s", c.picture, c.lineType, got.Note)
		}
		if text := points(got); text != c.want {
			t.Errorf("%s of %s: %s, want %s", c.picture, c.lineType, text, c.want)
		}
	}
}

// TestUndefinedPositions: a point whose place on the lower axis is undefined is not drawn, the note names it, and the picture can
// be stored as JSON.
func TestUndefinedPositions(t *testing.T) {
	never, some := line{[]float64{100, 0, 0, 20, 80, 0.5}, nil}, line{[]float64{100, 20, 10, 20, 50, 0.5}, nil}
	for _, c := range []struct {
		picture, lineType string
		lines             []line // the first two 24 h, the others 48 h before they are valid
		n                 int    // points that are drawn
		want              string
	}{
		{"performance", "CTC", []line{never, never, some, some}, 1, "success_ratio is undefined: gfs 24"},
		{"roc", "PCT", []line{{[]float64{3, 3}, []float64{0, 1, 0, 0.5, 2, 0, 1}}}, 1, "POFD is undefined: gfs 0.5, gfs 0"},
		{"taylor", "SL1L2", []line{{[]float64{10, 0, 0, 0, 0, 0, 1}, nil}, {[]float64{10, 0, 0, 0, 0, 0, 1}, nil}, {[]float64{10, 0, 0, 2, 4, 1, 1}, nil}}, 1, "PR_CORR is undefined: gfs 24"},
		{"rank_histogram", "PHIST", []line{{[]float64{4, math.NaN(), 2}, []float64{3, 1}}}, 0, "bin is undefined: gfs, gfs"},
	} {
		q, a := asked(t, c.lineType, &question.Drawing{Picture: c.picture, Axis: "fcst_lead", Method: "overall", Replicates: 50, Confidence: 0.95}, c.lines...)
		for k, column := range a.Columns {
			for i := 2; i < a.Rows && column.Name == "fcst_lead"; i++ {
				a.Vectors[k].Seconds[i] = 48 * 3600
			}
		}
		got, err := curve.Compute(t.Context(), q, a, c.picture, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.picture, err)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s: %v", c.picture, err)
		}
		s := got.Series[0]
		if len(s.X) != c.n || len(s.Y) != c.n || s.Labels != nil && len(s.Labels) != c.n || !strings.Contains(got.Note, "; not drawn, because "+c.want) {
			t.Errorf("%s: %+v, %s", c.picture, s, got.Note)
		}
	}
}

// TestMissingColumns: without a column that a picture or a statistic reads, the error names the column.
func TestMissingColumns(t *testing.T) {
	bin, pair := ssvar(50, 1, 4, 3, 4), line{[]float64{1, 1, 0.5}, nil}
	for _, c := range []struct{ picture, lineType, stat, column string }{
		{"spread_skill", "SSVAR", "", "var_min"},
		{"rank_histogram", "PHIST", "", "bin_size"},
		{"performance", "CTC", "", "fn_oy"},
		{"revision", "SL1L2", "MAE", "fcst_lead"},
		{"", "SL1L2", "MAE", "mae"},
		{"", "PCT", "PSTD_BRIER", "oy_i"},
		{"", "MODE_OBJ_PAIR", "MAXINT_AA", "object_id"},
	} {
		d := &question.Drawing{Picture: c.picture, Axis: "fcst_valid_beg", Method: "median"}
		if c.stat != "" {
			d.Stats = []string{c.stat}
		}
		l := map[string]line{"SSVAR": bin, "MODE_OBJ_PAIR": pair}[c.lineType]
		if c.lineType == "PCT" || c.lineType == "PHIST" {
			l = line{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}
		}
		q, a := asked(t, c.lineType, d, l)
		isIt := func(have question.Column) bool { return have.Name == c.column }
		if k := slices.IndexFunc(a.Columns, isIt); k >= 0 {
			a.Columns, a.Vectors = slices.Delete(slices.Clone(a.Columns), k, k+1), slices.Delete(slices.Clone(a.Vectors), k, k+1)
		}
		q.Columns = slices.DeleteFunc(slices.Clone(q.Columns), isIt)
		_, err := curve.ComputePoints(q, a, c.stat, 1)
		if lacks, ok := errors.AsType[*fault.Error](err); !ok || lacks.Problem != "lacks "+c.column {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func points(c *run.VerificationPlot) string {
	out := fmt.Sprintf("%s %s:", c.Axis, c.Stat)
	for i := range c.Series[0].X {
		out += fmt.Sprintf(" %.3g,%.3g", c.Series[0].X[i], c.Series[0].Y[i])
	}
	return out
}

// TestOtherThresholds: records with different thresholds cannot be combined into one diagram.
func TestOtherThresholds(t *testing.T) {
	q, a := asked(t, "PCT", &question.Drawing{Picture: "roc", Method: "overall"},
		line{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, line{[]float64{5, 3}, []float64{0, 1, 2, 0.4, 2, 0, 1}})
	if _, err := curve.Compute(t.Context(), q, a, "roc", 1); err == nil || !strings.Contains(err.Error(), "differ in their thresh_i") {
		t.Error(err)
	}
}

// pair returns records of the models a and b over ten days. a is better at 24 h, and both are equal at 48 h.
func pair(lt *record.LineType) *record.Batch {
	b := &record.Batch{}
	b.Reset(lt, "")
	for m, model := range []string{"a", "b"} {
		h := record.DefaultHeader()
		h[record.Model], h[record.FcstVar], h[record.FcstLev], h[record.VxMask] = model, "T", "P500", "NH"
		head := b.AddHeader(h)
		for day := range int64(10) {
			for lead := int32(1); lead <= 2; lead++ {
				b.AppendTimes(head, lead*24*3600, day*86400, uint32(b.Len()))
				mse := 4 + float64(day%3)/10
				if m == 1 && lead == 1 {
					mse *= 2
				}
				for k, x := range []float64{10, 0, 0, 0, mse, 0, 1} {
					b.Num[k] = append(b.Num[k], x)
				}
			}
		}
	}
	return b
}

// TestScorecard: a scorecard marks that a is better at 24 h, and has no mark at 48 h. Without a bootstrap, nothing is
// tested.
func TestScorecard(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	q := &question.Question{Name: "q", Type: lt}
	q.Scorecard("a", "b")
	d, err := curve.ComputePoints(q, answer.Select(q, pair(lt)), "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	var got *run.VerificationPlot
	for range 2 {
		if got, err = d.WithIntervals(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := got.Series; len(s) != 1 || s[0].Name != "T P500 NH" || fmt.Sprint(s[0].Marks) != fmt.Sprint([]int{2 * run.MarkBetter, 0}) {
			t.Errorf("%+v", s)
		}
	}
	slices.Reverse(q.Drawing.Curves) // the model is the last field
	q.Drawing.Replicates = 0
	untested, err := curve.Compute(t.Context(), q, answer.Select(q, pair(lt)), "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := untested.Series; len(s) != 1 || s[0].Name != "NH P500 T" || fmt.Sprint(s[0].Marks) != fmt.Sprint([]int{run.MarkTooFew, run.MarkTooFew}) || !strings.Contains(untested.Note, "; no difference is tested") {
		t.Errorf("%+v, %s", s, untested.Note)
	}
	more := *got
	if !curve.MergeScorecards(got, &more) || len(got.Series) != 2 {
		t.Error("a second card is not added")
	}
}

// TestMarksOfConfidences: the marks have 95 % and 99 %, whatever the confidence of the drawing's interval. The mean error of b is 0
// in each case, and that of a has the standard error 0.25.
func TestMarksOfConfidences(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	for _, c := range []struct {
		confidence, mean float64
		want             int
	}{
		{0.95, 1.8, 0},
		{0.95, 2.2, -run.MarkBetter},
		{0.95, 2.85, -2 * run.MarkBetter},
		{0.9, 1.8, 0},
		{0.9, 2.35, -run.MarkBetter},
		{0.9, 2.85, -2 * run.MarkBetter},
		{0.99, 1.8, 0},
		{0.99, 2.2, -run.MarkBetter},
		{0.99, 2.85, -2 * run.MarkBetter},
	} {
		b := &record.Batch{}
		b.Reset(lt, "")
		for _, model := range []string{"a", "b"} {
			h := record.DefaultHeader()
			h[record.Model] = model
			head := b.AddHeader(h)
			for day := range 16 {
				b.AppendTimes(head, 24*3600, int64(day)*86400, uint32(b.Len()))
				me := 0.0
				if model == "a" {
					me = 0.25*c.mean + (float64(day)-7.5)/math.Sqrt(255./12) // the standard deviation is 1
				}
				for k, x := range []float64{10, me, 0, 0, me * me, 0, 1} {
					b.Num[k] = append(b.Num[k], x)
				}
			}
		}
		q := &question.Question{Name: "q", Type: lt}
		q.Scorecard("a", "b")
		q.Drawing.Confidence, q.Drawing.Replicates, q.Drawing.Block = c.confidence, 5000, 1
		got, err := curve.Compute(t.Context(), q, answer.Select(q, b), "ME", 1)
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Series[0]; len(s.Marks) != 1 || s.Marks[0] != c.want {
			t.Errorf("%g standard errors, interval of %g: %+v, want mark %d", c.mean, c.confidence, s, c.want)
		}
	}
}

// TestBoxes: a box has the quartiles, the whiskers and the outlier of the records.
func TestBoxes(t *testing.T) {
	var lines []line
	for _, mae := range []float64{1, 2, 3, 4, 100} {
		lines = append(lines, line{[]float64{10, 0, 0, 2, 4, 1, mae}, nil})
	}
	q, a := asked(t, "SL1L2", &question.Drawing{Picture: "box", Axis: "fcst_lead", Method: "median"}, lines...)
	got, err := curve.Compute(t.Context(), q, a, "MAE", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := got.Series[0]
	if text := fmt.Sprint(s.WhiskerLow, s.Low, s.Y, s.High, s.WhiskerHigh, s.Outliers); text != "[1] [2] [3] [4] [4] [[100]]" {
		t.Error(text)
	}
}

// TestPerformanceIntervals: the probability of detection has a bootstrap's interval.
func TestPerformanceIntervals(t *testing.T) {
	d := &question.Drawing{Picture: "performance", Axis: "fcst_lead", Method: "overall", Replicates: 200, Confidence: 0.95}
	var lines []line
	for i := range 12 {
		hits := float64(10 + i)
		lines = append(lines, line{[]float64{100, hits, 10, 30 - hits, 60, 0.5}, nil})
	}
	q, a := asked(t, "CTC", d, lines...)
	got, err := curve.Compute(t.Context(), q, a, "performance", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := got.Series[0]
	if low, y, high := s.Low[0], s.Y[0], s.High[0]; !(low > 0.3 && low < y && y < high && high < 0.7) {
		t.Errorf("%v … %v … %v", low, y, high)
	}
	if !strings.Contains(got.Note, "; of PODY: 95 % interval by bootstrap") {
		t.Error(got.Note)
	}
	d = &question.Drawing{
		Picture: "performance", Axis: "fcst_lead", Method: "mean", FromColumns: true, Stats: []string{"PODY", "FAR"},
		Curves: []question.Group{{Field: "model"}}, Styles: []metviewer.Style{{"plot_ci": "met_prm"}},
	}
	q, a = asked(t, "CTS", d, line{slices.Repeat([]float64{0.25}, 400), nil})
	if got, err = curve.Compute(t.Context(), q, a, "performance", 1); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Note, "; of PODY: limits of the interval as in the files") || got.Series[0].Low[0] != 0.25 {
		t.Errorf("%s, %+v", got.Note, got.Series[0])
	}
}

// TestNotesWithoutIntervals: the note describes no intervals if every point has one record, or if the picture requests
// none.
func TestNotesWithoutIntervals(t *testing.T) {
	cell := line{[]float64{100, 10, 10, 20, 60, 0.5}, nil}
	for _, c := range []struct {
		picture, name string
		replicates    int
		lines         []line
	}{
		{"performance", "performance", 200, []line{cell}},
		{"performance", "performance", 0, []line{cell, cell, cell}},
		{"", "CSI", 200, []line{cell}},
		{"", "CSI", 0, []line{cell, cell, cell}},
	} {
		d := &question.Drawing{Picture: c.picture, Axis: "fcst_lead", Method: "overall", Replicates: c.replicates, Confidence: 0.95}
		q, a := asked(t, "CTC", d, c.lines...)
		got, err := curve.Compute(t.Context(), q, a, c.name, 1)
		if err != nil || strings.Contains(got.Note, "PODY") || strings.Contains(got.Note, "interval") || strings.Contains(got.Note, "one record") {
			t.Errorf("%+v: %q, %v", c, got.Note, err)
		}
	}
}

// TestRevisionTests: a curve of revisions has the changes between forecasts, and the note has METviewer's tests.
func TestRevisionTests(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(lt, "")
	h := record.DefaultHeader()
	h[record.Model] = "gfs"
	head := b.AddHeader(h)
	for i, mae := range []float64{5, 3, 4, 1, 9, 2, 8, 7, 6} { // three valid times, of three forecasts each
		b.AppendTimes(head, int32(24*3600*(3-i%3)), int64(i/3)*86400, uint32(i))
		for k, x := range []float64{10, 0, 0, 2, 4, 1, mae} {
			b.Num[k] = append(b.Num[k], x)
		}
	}
	q := &question.Question{Name: "q", Type: lt, Drawing: &question.Drawing{Picture: "revision", Axis: "fcst_valid_beg", Method: "median", Stats: []string{"MAE"}}}
	q.Header[record.Model] = []string{"gfs"}
	q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"gfs"}}}}
	q.Drawing.Styles = []metviewer.Style{{"plot_disp": "FALSE", "colors": "#ff0000"}}
	q.SelectColumns()
	got, err := curve.Compute(t.Context(), q, answer.Select(q, b), "MAE", 1)
	if err != nil {
		t.Fatal(err)
	}
	if style := got.Series[0].Style; style["plot_disp"] != "FALSE" || style["colors"] != "#ff0000" {
		t.Errorf("the curve has the style %v", style)
	}
	if text := points(got); text != "fcst_valid_beg MAE: 0,-2 2.88e+04,1 8.64e+04,8 1.15e+05,-7 1.73e+05,-1 2.02e+05,-1" {
		t.Error(text)
	}
	if !strings.Contains(got.Note, "6 revisions, runs test p = ") || !strings.Contains(got.Note, "autocorrelation -") {
		t.Error(got.Note)
	}
}

// TestLabelsOfPoints: the points of performance and ROC diagrams are labeled by their place, in the order of the places; the
// label is a column of the listed values.
func TestLabelsOfPoints(t *testing.T) {
	for _, c := range []struct{ picture, axis, lineType, want string }{
		{"performance", "fcst_lead", "CTC", "fcst_lead: 0.667,0.5=24 0.667,0.5=48"},
		{"performance", "model", "CTC", "model: 0.667,0.5=gfs"},
		{"roc", "fcst_thresh", "CTC", "fcst_thresh: 1,1= 0.167,0.5=>5 0,0="},
		{"roc", "", "PCT", "thresh_i: 0,0= 0.333,0.5=0.5 1,1=0"},
	} {
		lines := []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}
		if c.lineType == "CTC" {
			ctc := line{[]float64{100, 20, 10, 20, 50, 0.5}, nil}
			lines = []line{ctc, ctc}
		}
		q, a := asked(t, c.lineType, &question.Drawing{Picture: c.picture, Axis: c.axis, Method: "overall"}, lines...)
		for k, col := range a.Columns {
			switch col.Name {
			case "fcst_lead":
				for i := range a.Vectors[k].Seconds {
					a.Vectors[k].Seconds[i] = int64(2-i) * 24 * 3600 // the later lead first
				}
			case "fcst_thresh":
				for i := range a.Vectors[k].Text {
					a.Vectors[k].Text[i] = ">5"
				}
			}
		}
		got, err := curve.Compute(t.Context(), q, a, c.picture, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, text := got.Series[0], string(got.LabelAxis)+":"
		for i := range s.X {
			text += fmt.Sprintf(" %.3g,%.3g=%s", s.X[i], s.Y[i], s.Labels[i])
		}
		if text != c.want || got.XLabel != "" || got.Ticks != nil { // the axes of the picture are not the axis of the labels
			t.Errorf("%s: %s %s %v, want %s", c.picture, text, got.XLabel, got.Ticks, c.want)
		}
		rows := curve.Rows([]*run.VerificationPlot{got})
		if last := len(rows.Columns) - 1; rows.Columns[last].Name != string(got.LabelAxis) || fmt.Sprint(rows.Vectors[last].Text) != fmt.Sprint(s.Labels) {
			t.Errorf("%s: the rows lack the labels: %v", c.picture, rows.Columns)
		}
	}
}

// TestTicks: each value on the axis has a tick, with the label and the position that the drawing gives, or its own.
func TestTicks(t *testing.T) {
	sums, x := line{[]float64{10, 0, 0, 2, 4, 1, 1}, nil}, 2.0
	for _, c := range []struct{ axis, given, label, want string }{
		{"fcst_lead", "24", "Day 1", "[{24 24 2 Day 1}] "},
		{"fcst_lead", "24", "", "[{24 24 2 24}] "},
		{"fcst_lead", "48", "Day 2", "[{24 24 24 24}] "},
		{"model", "gfs", "America", "[{1 gfs 2 America}] model"},
		{"init_hour", "0", "midnight", "[{0 0 2 midnight}] "},
	} {
		q, a := asked(t, "SL1L2", &question.Drawing{Axis: c.axis, Method: "overall", Ticks: []metviewer.Tick{{Value: c.given, Label: c.label, Position: &x}}}, sums)
		got, err := curve.Compute(t.Context(), q, a, "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(got.Ticks, " ", got.XLabel); text != c.want {
			t.Errorf("%s: %s, want %s", c.axis, text, c.want)
		}
	}
}
