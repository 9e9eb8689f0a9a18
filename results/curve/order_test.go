package curve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/stat"
)

// TestOrderOfColumns: a plot is the same whichever column of the answer is the first.
func TestOrderOfColumns(t *testing.T) {
	pct := []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}
	ctc := line{[]float64{100, 20, 10, 20, 50, 0.5}, nil}
	sums := line{[]float64{10, 0, 0, 2, 4, 1, 1}, nil}
	models := []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
	for name, c := range map[string]struct {
		lineType, stat string
		d              question.Drawing
		lines          []line
	}{
		"lead":        {"SL1L2", "RMSE", question.Drawing{Curves: models, Method: "overall", Replicates: 20}, nil},
		"times":       {"SL1L2", "RMSE", question.Drawing{Axis: "fcst_valid_beg", Method: "mean", Baseline: "B", Curves: models}, nil},
		"hours":       {"SL1L2", "RMSE", question.Drawing{Axis: "init_hour", Method: "median", Curves: models, EventEqual: true}, nil},
		"across":      {"SL1L2", "RMSE", question.Drawing{Axis: "fcst_lead", Method: "overall", Curves: models, EventEqual: true, EqualizeAcrossAxis: true}, nil},
		"models":      {"SL1L2", "RMSE", question.Drawing{Axis: "model", Method: "overall", Ticks: []metviewer.Tick{{Value: "A", Label: "America"}}}, nil},
		"leads":       {"SL1L2", "RMSE", question.Drawing{Axis: "valid_hour", Method: "overall", Curves: []question.Group{{Field: "fcst_lead"}}}, nil},
		"differences": {"SL1L2", "RMSE", question.Drawing{Axis: "fcst_lead", Method: "median", Curves: models, Derived: []question.Derived{{Operation: stat.Diff, A: []int{0}, B: []int{1}}}}, nil},
		"equivalence": {"SL1L2", "RMSE", question.Drawing{Axis: "fcst_lead", Method: "median", Curves: models, Derived: []question.Derived{{Operation: stat.Equivalence, A: []int{0}, B: []int{1}}}}, nil},
		"roc":         {"PCT", "", question.Drawing{Picture: "roc", Method: "overall"}, pct},
		"performance": {"CTC", "", question.Drawing{Picture: "performance", Axis: "fcst_lead", Method: "overall"}, []line{ctc, ctc}},
		"spread":      {"SSVAR", "", question.Drawing{Picture: "spread_skill", Method: "overall"}, []line{ssvar(50, 1, 4, 3, 4), ssvar(50, 4, 9, 8, 10)}},
		"boxes":       {"SL1L2", "MAE", question.Drawing{Picture: "box", Axis: "fcst_lead", Method: "median"}, []line{sums, sums}},
		"revisions":   {"SL1L2", "MAE", question.Drawing{Picture: "revision", Axis: "fcst_valid_beg", Method: "median"}, []line{sums, sums}},
		"probability": {"PCT", "PSTD_BASER", question.Drawing{Axis: "fcst_lead", Method: "overall"}, pct},
	} {
		d := c.d
		var q *question.Question
		var a *answer.Answer
		if c.lines != nil {
			if c.stat != "" {
				d.Stats = []string{c.stat}
			}
			q, a = asked(t, c.lineType, &d, c.lines...)
		} else {
			q = &question.Question{Name: "q", Drawing: &d}
			a = answerOf(t, q, theRows)
		}
		describe := func(q *question.Question, a *answer.Answer) string {
			got, err := curve.ComputePoints(q, a, c.stat, 1)
			if err != nil {
				return err.Error()
			}
			table, err := got.Metviewer()
			with, errOfIntervals := got.WithIntervals(t.Context())
			written := got.Question().Drawing
			words := strings.FieldsFunc(with.Note, func(r rune) bool { return strings.ContainsRune(",;", r) })
			slices.Sort(words) // the note lists levels, regions, leads and days in the order of the columns
			with.Note = strings.Join(words, ",")
			return fmt.Sprintf("%+v %v %v %v %v %+v %+v", with, table, err, errOfIntervals, written.Axis, written.Curves, written.Stats)
		}
		want := describe(q, a)
		for k, column := range a.Columns {
			one, other := withFirst(q, a, k)
			if got := describe(one, other); got != want {
				t.Errorf("%s: with %s as the first column the plot is\n%s\nnot\n%s", name, column.Name, got, want)
			}
		}
	}
}

// withFirst returns a question and its answer with column k as the first one.
func withFirst(q *question.Question, a *answer.Answer, k int) (*question.Question, *answer.Answer) {
	one, other, column := *q, *a, a.Columns[k]
	first := func(columns []question.Column) []question.Column {
		i := slices.IndexFunc(columns, func(have question.Column) bool { return have.Name == column.Name })
		return slices.Insert(slices.Delete(slices.Clone(columns), i, i+1), 0, column)
	}
	one.Columns, other.Columns = first(q.Columns), first(a.Columns)
	other.Vectors = slices.Insert(slices.Delete(slices.Clone(a.Vectors), k, k+1), 0, a.Vectors[k])
	return &one, &other
}
