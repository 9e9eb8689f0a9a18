package curve_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// byLead returns the question of METviewer's issue 106: two models along the lead, with event equalization.
func byLead() *question.Question {
	return &question.Question{Name: "q", Drawing: &question.Drawing{
		Axis: "fcst_lead", Method: "overall", Replicates: 40, Confidence: 0.95, EventEqual: true,
		Curves: []question.Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}},
	}}
}

// leads returns the rows for byLead. Both models have the lead 24 h at four valid times, 48 h at three and 72 h at two.
// Only A has 96 h.
func leads() (rows []row) {
	for _, model := range []string{"A", "B"} {
		for k, lead := range []int32{24, 48, 72} {
			for day := k; day < 4; day++ {
				rows = append(rows, row{model, 24 * int64(10+day), lead, 1, float64(day + 1)})
			}
		}
	}
	rows[0].valid++ // A's first valid time is one hour later than B's, so the two rows are no common case
	return append(rows, row{"A", 24 * 10, 96, 1, 1})
}

// TestEqualisation: without event equalization, with the same cases of all models at each lead, and with the same cases
// at all leads.
func TestEqualisation(t *testing.T) {
	for _, c := range []struct {
		name          string
		equal, places bool
		xs            []float64
		n             []int
		note          string
	}{
		{"off", false, false, []float64{24, 48, 72, 96}, []int{4, 3, 2, 1}, ""},
		{"per place", true, false, []float64{24, 48, 72}, []int{3, 3, 2}, "omitted 3 of 19 rows"},
		{"all", true, true, []float64{24, 48, 72}, []int{2, 2, 2}, "omitted 7 of 19 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := byLead()
			q.Drawing.EventEqual, q.Drawing.EqualizeAcrossAxis = c.equal, c.places
			got, err := curve.ComputePoints(q, answerOf(t, q, leads()), "RMSE", 1)
			if err != nil {
				t.Fatal(err)
			}
			if s := got.Series[0]; !slices.Equal(s.X, c.xs) || !slices.Equal(s.Records, c.n) || !strings.Contains(got.Note, c.note) {
				t.Errorf("%v %v: %s", s.X, s.Records, got.Note)
			}
		})
	}
}

// TestValuesFirst: WithIntervals does not change the values that ComputePoints returned. Intervals stops with its
// context.
func TestValuesFirst(t *testing.T) {
	q := byLead()
	a := answerOf(t, q, leads())
	first, err := curve.ComputePoints(q, a, "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := curve.Compute(t.Context(), q, a, "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range whole.Series {
		if !slices.Equal(s.Y, first.Series[i].Y) || math.IsNaN(s.Low[0]) || !math.IsNaN(first.Series[i].Low[0]) {
			t.Errorf("%+v then %+v", first.Series[i], s)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.Intervals(stopped); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDifference: a difference has the cases that both curves have, in any order of the rows. If both models have equal
// errors, all replicates are equal, and there are no limits, as in METviewer.
func TestDifference(t *testing.T) {
	q := byLead()
	q.Drawing.EventEqual, q.Drawing.Baseline = false, "B"
	rows := leads()
	for i := range rows {
		if rows[i].model == "B" {
			rows[i].mistake *= 2
		}
	}
	slices.Reverse(rows)
	got, err := curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Series[0]; len(got.Series) != 1 || !slices.Equal(s.Records, []int{3, 3, 2}) {
		t.Fatalf("%+v", got.Series)
	}
	if y, want := got.Series[0].Y[2], -math.Sqrt(12.5); stat.RoundHalfUp(y, 9) != stat.RoundHalfUp(want, 9) {
		t.Errorf("%v, want %v", y, want)
	}
	for i := range rows {
		rows[i].mistake = float64(1 + rows[i].valid%7)
	}
	if got, err = curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1); err != nil || got.Series[0].Y[0] != 0 || !math.IsNaN(got.Series[0].Low[0]) {
		t.Errorf("%+v %v", got, err)
	}
	q.Drawing.Curves = append(q.Drawing.Curves, question.Group{Field: "fcst_lead", Values: [][]string{{"24"}, {"48"}}})
	if got, err = curve.Compute(t.Context(), q, answerOf(t, q, rows), "RMSE", 1); err != nil || len(got.Series) != 2 || got.Series[1].Name != "A 48 h" || got.Series[1].Records[0] != 3 {
		t.Errorf("of two fields: %+v %v", got, err)
	}
}

// TestNoDifference: without a record of the baseline, or of every other curve, there is no difference, and the error has the
// reason. Curves without a common case are omitted with the reason.
func TestNoDifference(t *testing.T) {
	q := byLead()
	q.Drawing.EventEqual = false
	for baseline, want := range map[string]string{"C": "C is not known; choose one of A B", "B": "B has no curve to compare with: model A: no record; name one that has records"} {
		q.Drawing.Baseline = baseline
		rows := leads()
		if baseline == "B" {
			rows = slices.DeleteFunc(rows, func(r row) bool { return r.model == "A" })
		}
		_, err := curve.ComputePoints(q, answerOf(t, q, rows), "RMSE", 1)
		if !errors.Is(err, curve.ErrNoDifference) || fault.Code(err) != fault.Usage || !strings.HasSuffix(strings.ReplaceAll(err.Error(), ",", ""), want) {
			t.Errorf("minus %s: %v", baseline, err)
		}
	}
	q.Drawing.Baseline = "B"
	got, err := curve.ComputePoints(q, answerOf(t, q, []row{{"A", 6, 6, 1, 1}, {"B", 12, 6, 1, 2}}), "RMSE", 1)
	if err != nil || !slices.Equal(got.Omitted, []string{"DIFF(A-B): no case in common"}) || !strings.Contains(got.Note, got.Omitted[0]) {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestEqualizedHours: across the hours of the initial time an event is the day of the initial time and the lead, and across
// those of the valid time the day of the valid time. Days before 1970 are days, too.
func TestEqualizedHours(t *testing.T) {
	for _, c := range []struct {
		axis  string
		valid []int64 // h, each with the lead 18 h
		days  string
	}{
		// initial times 00Z and 12Z of one day, and 00Z of the following day
		{"init_hour", []int64{240 + 18, 240 + 30, 264 + 18}, "2 days"},
		{"init_hour", []int64{-240 + 18, -240 + 30, -216 + 18}, "2 days"},
		{"valid_hour", []int64{240, 252, 264}, "2 days"},
		{"valid_hour", []int64{-24, -12, 0}, "2 days"},
		{"valid_hour", []int64{-24, -12}, "1 day"},
	} {
		q := byLead()
		q.Drawing.Axis, q.Drawing.EqualizeAcrossAxis, q.Drawing.Replicates = c.axis, true, 0
		var rows []row
		for _, model := range []string{"A", "B"} {
			for i, valid := range c.valid {
				rows = append(rows, row{model, valid, 18, 1, float64(i + 1)})
			}
		}
		a := answerOf(t, q, rows)
		got, err := curve.ComputePoints(q, a, "RMSE", 1)
		if err != nil || !slices.Equal(got.Series[0].X, []float64{0, 12}) || !slices.Equal(got.Series[0].Y, run.Values{1, 2}) {
			t.Errorf("%s %v: %v, %+v", c.axis, c.valid, err, got)
		}
		if title := curve.Title(q, a); !strings.HasSuffix(title, ", "+c.days) && !strings.Contains(title, c.days+", ") {
			t.Errorf("%v: %s", c.valid, title)
		}
	}
}
