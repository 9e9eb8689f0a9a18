package curve_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// TestDerivedCurves: with method overall, a derived curve is computed from the aggregates of both curves. With other
// methods it is computed for each case, and the results are combined. The RMSE is 1, 6, 9 for A; 2, 3, 3 for B.
func TestDerivedCurves(t *testing.T) {
	rows := []row{{"A", 6, 6, 1, 1}, {"A", 12, 6, 1, 6}, {"A", 18, 6, 1, 9}, {"B", 6, 6, 1, 2}, {"B", 12, 6, 1, 3}, {"B", 18, 6, 1, 3}}
	for _, c := range []struct {
		method string
		op     stat.Operation
		want   float64
		name   string
	}{
		{"median", stat.Diff, 3, "DIFF(A-B)"}, // of -1, 3, 6; not 6 − 3
		{"mean", stat.Ratio, (0.5 + 2 + 3) / 3, "RATIO(A/B)"},
		{"sum", stat.Skill, -1 + 0.5 + 6.0/9, "SS(A and B)"},
		{"mean", stat.Single, 16.0 / 3, "SINGLE(A-B)"},
		{"mean", stat.Equivalence, 8.0 / 3, "ETB(A and B)"},
		{"overall", stat.Diff, math.Sqrt(118.0/3) - math.Sqrt(22.0/3), "DIFF(A-B)"},
		{"overall", stat.Ratio, math.Sqrt(118.0 / 22), "RATIO(A/B)"},
		{"overall", stat.Significant, math.NaN(), "DIFF_SIG(A-B)"}, // has no replicates
	} {
		q := drawn(c.method)
		q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
		q.Drawing.Derived = []question.Derived{{Operation: c.op, A: []int{0}, B: []int{1}}}
		got, err := curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1)
		if c.op == stat.Equivalence {
			if err != nil || len(got.Series) != 1 || got.Picture != curve.Equivalence || !strings.Contains(got.Note, "ETB(A and B): not different and not equivalent") {
				t.Fatalf("%v %+v", err, got)
			}
			got.Series = append(make([]run.Series, 2), got.Series...)
		}
		if err != nil || len(got.Series) != 3 {
			t.Fatal(err, got)
		}
		s := got.Series[2]
		if s.Name != c.name || s.Records[0] != 3 || !(math.Abs(s.Y[0]-c.want) <= 1e-12 || math.IsNaN(s.Y[0]) && math.IsNaN(c.want)) {
			t.Errorf("%s %s: %+v, want %v", c.method, c.op, s, c.want)
		}
		if c.op == stat.Equivalence && !(s.Low[0] < s.Y[0] && s.Y[0] < s.High[0]) {
			t.Errorf("%+v has no limits", s)
		}
	}
}

// TestEquivalencePools: a test of equivalence uses all common cases of all leads. It has both intervals and the bounds
// that the plot names, and no other curve is drawn with it.
func TestEquivalencePools(t *testing.T) {
	q := drawn("median")
	low, high := -2.0, 1.0
	q.Drawing.EquivalenceBounds = [2]*float64{&low, &high}
	q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
	q.Drawing.Derived = []question.Derived{{Operation: stat.Equivalence, A: []int{0}, B: []int{1}}, {Operation: stat.Diff, A: []int{0}, B: []int{1}}}
	rows := []row{{"A", 6, 6, 1, 1}, {"A", 12, 12, 1, 6}, {"A", 18, 18, 1, 9}, {"B", 6, 6, 1, 2}, {"B", 12, 12, 1, 3}, {"B", 18, 18, 1, 3}}
	got, err := curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1)
	if err != nil || len(got.Series) != 1 || len(got.Omitted) != 1 || !strings.HasPrefix(got.Omitted[0], "DIFF(A-B): ") {
		t.Fatalf("%v %+v", err, got)
	}
	want, _ := stat.Equivalent([]float64{1, 6, 9}, []float64{2, 3, 3}, low, high)
	s := got.Series[0]
	if s.Records[0] != 3 || !(math.Abs(s.Y[0]-8.0/3) <= 1e-12) || s.Low[0] != want.Narrow[0] || s.WhiskerHigh[0] != want.Wide[1] || !slices.Equal(s.EquivalenceBounds, run.Values(want.Bounds[:])) || want.Bounds[0] != -2*want.Bounds[1] {
		t.Errorf("%+v, want %+v", s, want)
	}
	if len(got.Ticks) != 1 || got.Ticks[0].Text != "1" || got.Ticks[0].Label != "1" || got.XLabel != "1 ETB(A and B)" {
		t.Errorf("%+v, %q", got.Ticks, got.XLabel)
	}
}

// TestDerivedOfTwoStatistics: RATIO of RMSE and ME of one curve is the ratio of the two statistics. It is drawn once,
// with the curves of RMSE. For its interval, each replicate computes both statistics from the same records.
func TestDerivedOfTwoStatistics(t *testing.T) {
	rows := []row{{"A", 6, 6, 1, 1}, {"A", 12, 6, 1, 6}, {"A", 18, 6, 1, 9}}
	for method, want := range map[string]float64{"overall": math.Sqrt(118.0/3) / 4, "mean": (1.0/4 + 6.0/4 + 9.0/4) / 3} {
		q := drawn(method)
		d := q.Drawing
		d.Stats, d.Curves, d.Replicates = []string{"ME", "RMSE"}, []question.Group{{Field: "model", Values: [][]string{{"A"}}}}, 100
		d.Derived = []question.Derived{{Operation: stat.Ratio, A: []int{0}, B: []int{0}, StatA: "RMSE", StatB: "ME"}}
		a := answerOf(t, q, rows)
		for k, c := range a.Columns {
			if c.Name == "fbar" {
				copy(a.Vectors[k].Num, []float64{4, 4, 4}) // ME is 4 in each record
			}
		}
		me, err := curve.Compute(t.Context(), q, a, "ME", 1)
		if err != nil || len(me.Series) != 1 {
			t.Fatalf("%v %+v", err, me)
		}
		got, err := curve.Compute(t.Context(), q, a, "RMSE", 1)
		if err != nil || len(got.Series) != 2 {
			t.Fatalf("%v %+v", err, got)
		}
		s := got.Series[1]
		if s.Name != "RATIO(A RMSE/A ME)" || !(math.Abs(s.Y[0]-want) <= 1e-12) || method == "overall" && !(s.Low[0] <= s.Y[0] && s.Y[0] <= s.High[0]) {
			t.Errorf("%s: %+v, want %v", method, s, want)
		}
		if none := curve.OmittedDerived(q, []string{"rmse"}); len(none) > 0 {
			t.Errorf("%v is drawn with RMSE", none)
		}
		if one := curve.OmittedDerived(q, []string{"ME"}); !slices.Equal(one, []string{"RATIO(A RMSE/A ME)"}) {
			t.Errorf("%v, want the ratio", one)
		}
		wide, err := curve.Widen(&question.Question{Name: "q", Type: q.Type, Drawing: d}, []string{"RMSE"})
		if err != nil || !slices.ContainsFunc(wide.Columns, func(c question.Column) bool { return c.Name == "fbar" }) {
			t.Errorf("the question of RMSE alone lacks what ME needs: %v, %v", wide.Columns, err)
		}
	}
}

// TestKindsOfIntervals: plot_ci of a curve chooses its kind of interval, and boot_ci the bootstrap's method.
func TestKindsOfIntervals(t *testing.T) {
	limits := func(method, kind, boot string) (low, high float64) {
		q := drawn(method)
		q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}}}}
		q.Drawing.Styles, q.Drawing.BootCI, q.Drawing.Replicates, q.Drawing.Confidence = []metviewer.Style{{"plot_ci": kind}}, boot, 200, 0.9
		got, err := curve.Compute(t.Context(), q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		return got.Series[0].Low[0], got.Series[0].High[0]
	}
	if low, _ := limits("overall", "none", ""); !math.IsNaN(low) {
		t.Error("none gave limits")
	}
	low, high := limits("overall", "boot", "perc")
	if pl, ph := limits("overall", "boot", "pivotal"); pl == low || ph == high || math.IsNaN(low) {
		t.Errorf("percentile %v %v, pivotal %v %v", low, high, pl, ph)
	}
	if bl, bh := limits("overall", "boot", "bca"); math.IsNaN(bl) || bl == low && bh == high {
		t.Errorf("percentile %v %v, bca %v %v", low, high, bl, bh)
	}
	want := stat.HalfWidth(0.9, stat.StandardError(stat.MeanOfStats, []float64{1, 5, 9}, true))
	if low, high = limits("mean", "std", ""); !(math.Abs((high+low)/2-5) <= 1e-9 && math.Abs((high-low)/2-want) <= 1e-9) {
		t.Errorf("std %v %v", low, high)
	}
}

// TestNoteDescribesTheIntervals: the note describes the intervals that the curves have, and says which plot_ci has none.
func TestNoteDescribesTheIntervals(t *testing.T) {
	const bootstrap, missing = "interval by bootstrap", "has no interval of these statistics"
	for _, c := range []struct{ method, kinds, want, not string }{
		{"overall", "none none", "", "interval"},
		{"overall", "boot none", bootstrap, missing},
		{"overall", "std none", "plot_ci std " + missing, bootstrap},
		{"overall", "boot met_prm", "plot_ci met_prm " + missing, "std"},
		{"mean", "std none", "90 % interval by the standard error", bootstrap},
	} {
		q := drawn(c.method)
		q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
		for kind := range strings.FieldsSeq(c.kinds) {
			q.Drawing.Styles = append(q.Drawing.Styles, metviewer.Style{"plot_ci": kind})
		}
		q.Drawing.Replicates, q.Drawing.Confidence = 100, 0.9
		got, err := curve.Compute(t.Context(), q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Note, c.want) || strings.Contains(got.Note, c.not) {
			t.Errorf("%s %s: %s", c.method, c.kinds, got.Note)
		}
	}
}

// TestLimitsOfTheFiles: a point has the limits of the files where a kind has such columns, even if it has one record, and the
// note says it. FBIAS of CTS has only the limits of the bootstrap.
func TestLimitsOfTheFiles(t *testing.T) {
	const files, missing = "limits of the interval as in the files", "has no interval of these statistics"
	lt, _ := record.TypeByName("CTS")
	for _, c := range []struct {
		kind    string
		values  []float64 // of each column, one for each day
		want    string
		low, up float64
	}{
		{"met_boot", []float64{1, 2}, files, 1.5, 1.5},
		{"met_boot", []float64{2}, files, 2, 2},
		{"met_prm", []float64{1, 2}, "plot_ci met_prm " + missing, math.NaN(), math.NaN()},
		{"std", []float64{1, 2, 4}, "interval by the standard error", 0.86, 3.81},
		{"std", []float64{2}, "", math.NaN(), math.NaN()},
	} {
		d := &question.Drawing{Method: "mean", FromColumns: true, Axis: "fcst_lead", Stats: []string{"FBIAS"}, Styles: []metviewer.Style{{"plot_ci": c.kind}}}
		d.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}}}}
		q := &question.Question{Name: "q", Type: lt, Drawing: d}
		columns, err := question.Columns(lt, "model", "fcst_valid_beg", "fcst_lead", "total", "fbias", "fbias_bcl", "fbias_bcu")
		if q.Columns = columns; err != nil {
			t.Fatal(err)
		}
		var b record.Batch
		b.Reset(lt, "")
		h := record.DefaultHeader()
		h[record.Model] = "A"
		for day := range c.values {
			b.AppendTimes(b.AddHeader(h), 0, int64(day)*86400, 1)
		}
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], c.values...)
		}
		got, err := curve.Compute(t.Context(), q, answer.Select(q, &b), "FBIAS", 1)
		if err != nil || !strings.Contains(got.Note, c.want) || c.want == "" && strings.Contains(got.Note, "interval") || strings.Contains(got.Note, "none of points") {
			t.Fatalf("%s of %d records: %v, %v", c.kind, len(c.values), got, err)
		}
		near := func(got, want float64) bool { return math.Abs(got-want) < 0.1 || math.IsNaN(got) && math.IsNaN(want) }
		if s := got.Series[0]; !near(s.Low[0], c.low) || !near(s.High[0], c.up) {
			t.Errorf("%s of %d records: %v … %v", c.kind, len(c.values), s.Low[0], s.High[0])
		}
	}
}

// TestCasesOfEqualisation: an event remains only if it has a row for each value of each field that makes curves and of
// each field in Equalize. The members of a group count separately. If a value has no row at all, nothing remains, and
// the note names the value.
func TestCasesOfEqualisation(t *testing.T) {
	for _, c := range []struct {
		values   [][]string
		equalize []question.Group
		rows     int
		says     string
	}{
		{[][]string{{"A"}, {"B"}}, nil, 4, "omitted 1 of 5 rows"},
		{[][]string{{"A", "B"}}, nil, 4, "omitted 1 of 5 rows"},
		{[][]string{{"A"}, {"B"}, {"C"}}, nil, 0, "omitted 5 of 5 rows, because no row exists for C"},
		{[][]string{{"A"}}, []question.Group{{Field: "model", Values: [][]string{{"A", "Z"}}}}, 0, "no row exists for A Z"},
		{[][]string{{"A"}}, nil, 3, "omitted 0 of 5 rows"},
	} {
		q := drawn("overall")
		q.Drawing.EventEqual, q.Drawing.Equalize = true, c.equalize
		q.Drawing.Curves = []question.Group{{Field: "model", Values: c.values}}
		got, err := curve.ComputePoints(q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		var n []int
		for _, s := range got.Series {
			n = append(n, s.Records...)
		}
		sum := 0
		for _, k := range n {
			sum += k
		}
		if sum != c.rows || !strings.Contains(got.Note, c.says) {
			t.Errorf("%v: %v rows, %s", c.values, n, got.Note)
		}
	}
}

// TestDifferenceOverWhatIsPooled: two models have common cases although each is verified against its own analyses.
func TestDifferenceOverWhatIsPooled(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
	q.Drawing.Derived = []question.Derived{{Operation: stat.Diff, A: []int{0}, B: []int{1}}}
	a := answerOf(t, q, theRows)
	own := make([]string, a.Rows)
	for i := range own {
		own[i] = a.Vectors[0].Text[i]
	}
	a.Columns = append(slices.Clip(a.Columns), question.Column{Name: "obtype", Role: question.HeaderField})
	a.Vectors = append(slices.Clip(a.Vectors), answer.Vector{Text: own})
	got, err := curve.ComputePoints(q, a, "RMSE", 1)
	if err != nil || len(got.Series) != 3 || !slices.Equal(got.Series[2].Records, []int{2}) {
		t.Errorf("%+v, %v", got.Series, err)
	}
}

// TestQuestionOfCurves: the question of curves has every default written out. Without fields that make curves, these are the
// columns whose values differ between the rows.
func TestQuestionOfCurves(t *testing.T) {
	for _, fields := range [][]question.Group{nil, {{Field: "model"}}, {{Field: "model", Values: [][]string{{"B"}}}}} {
		q := drawn("overall")
		q.Drawing.Curves = fields
		got, err := curve.ComputePoints(q, answerOf(t, q, theRows), "RMSE", 1)
		if err != nil {
			t.Fatal(err)
		}
		of := got.Question().Drawing
		want := [][]string{{"A"}, {"B"}}
		if len(fields) > 0 && fields[0].Values != nil {
			want = fields[0].Values
		}
		if len(of.Curves) != 1 || of.Curves[0].Field != "model" || !reflect.DeepEqual(of.Curves[0].Values, want) || of.Axis != "fcst_lead" || !slices.Equal(of.Stats, []string{"RMSE"}) {
			t.Errorf("%v: %+v", fields, of)
		}
		if len(q.Drawing.Curves) != len(fields) {
			t.Errorf("%v: the question itself has changed: %+v", fields, q.Drawing.Curves)
		}
	}
}

// TestNamesOfOneStatistic: BIAS and VL1L2_BIAS are the same statistic. Its styles and its derived curves are drawn, whichever
// name is requested.
func TestNamesOfOneStatistic(t *testing.T) {
	d := &question.Drawing{Axis: "fcst_lead", Method: "overall", Stats: []string{"VL1L2_RMSVE", "VL1L2_BIAS"}}
	d.Curves = []question.Group{{Field: "model", Values: [][]string{{"a"}, {"a"}, {"b"}}}} // as a plot_spec may repeat a value
	for _, color := range []string{"#000001", "#000002", "#000003", "#000004", "#000005", "#000006"} {
		d.Styles = append(d.Styles, metviewer.Style{"colors": color})
	}
	d.Derived = []question.Derived{{Operation: stat.Diff, A: []int{0}, B: []int{2}, StatA: "VL1L2_BIAS", StatB: "VL1L2_BIAS"}}
	sums := line{[]float64{10, 0, 0, 0, 0, 0, 9, 4}, nil}
	q, a := asked(t, "VL1L2", d, sums, sums)
	ofModels(a, "a", "b")
	for _, name := range []string{"BIAS", "vl1l2_bias"} {
		got, err := curve.ComputePoints(q, a, name, 1)
		if err != nil || len(got.Series) != 3 {
			t.Fatalf("%s: %v, %+v", name, err, got)
		}
		if one, two := got.Series[0].Style["colors"], got.Series[1].Style["colors"]; one != "#000004" || two != "#000006" {
			t.Errorf("%s: colors %s and %s", name, one, two)
		}
		if omitted := curve.OmittedDerived(q, []string{name}); len(omitted) > 0 {
			t.Errorf("%v is drawn with %s", omitted, name)
		}
	}
	if omitted := curve.OmittedDerived(q, []string{"VL1L2_RMSVE"}); len(omitted) != 1 {
		t.Errorf("omitted: %v", omitted)
	}
}

// TestNoTestOfEquivalence: a test of equivalence needs common cases, and the error has their number, whatever else the note
// reports.
func TestNoTestOfEquivalence(t *testing.T) {
	q := drawn("median")
	q.Drawing.Curves = []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
	q.Drawing.Derived = []question.Derived{{Operation: stat.Equivalence, A: []int{0}, B: []int{1}}}
	q.Drawing.ValueConditions = []question.ValueCondition{{Column: "total", Op: "<", Value: 2}}
	rows := []row{{"A", 6, 6, 1, 1}, {"B", 12, 6, 1, 2}, {"A", 18, 6, 5, 1}, {"A", 24, 6, 1, 1}}
	for _, axis := range []string{"fcst_lead", "fcst_lev"} {
		q.Drawing.Axis = axis
		a := answerOf(t, q, rows)
		a.Columns = append(slices.Clip(a.Columns), question.Column{Name: "fcst_lev", Role: question.HeaderField})
		a.Vectors = append(slices.Clip(a.Vectors), answer.Vector{Text: []string{"P500", "P500", "SFC", "P500"}}) // A, A, A, B
		got, err := curve.ComputePoints(q, a, "RMSE", 1)
		if !errors.Is(err, curve.ErrNoRecords) || !strings.Contains(err.Error(), "ETB(A and B): 0 cases in common") {
			t.Errorf("%s: %v, %v", axis, got, err)
		}
	}
}
