package curve_test

import (
	"math"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/stat"
)

// line is a record of a type with repeating columns: the values of its fixed columns, then those of the repeating ones.
// In asked, each line is valid one day after the previous one.
type line struct{ fixed, repeats []float64 }

// asked returns a question about all records of a line type, and its answer, which has these lines.
func asked(t *testing.T, lineType string, d *question.Drawing, lines ...line) (*question.Question, *answer.Answer) {
	t.Helper()
	lt, _ := record.TypeByName(lineType)
	b := &record.Batch{}
	b.Reset(lt, "")
	h := record.DefaultHeader()
	h[record.Model] = "gfs"
	head := b.AddHeader(h)
	for i, l := range lines {
		b.AppendTimes(head, 24*3600, int64(i)*86400, uint32(i))
		for k := range b.Num {
			x := math.NaN() // a column that the line omits
			if k < len(l.fixed) {
				x = l.fixed[k]
			}
			b.Num[k] = append(b.Num[k], x)
		}
		if lt.Group != nil {
			b.Group = append(b.Group, l.repeats...)
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	q := &question.Question{Name: "q", Type: lt, Drawing: d}
	q.Header[record.Model] = []string{"gfs"}
	q.SelectColumns()
	return q, answer.Select(q, b)
}

// ofModels distributes the records of an answer to models: the first ones to the first model, and so on. The records of each
// model begin at the same valid time.
func ofModels(a *answer.Answer, models ...string) {
	each := a.Rows / len(models)
	for k, c := range a.Columns {
		for i := range a.Rows {
			switch v := &a.Vectors[k]; c.Name {
			case "model":
				v.Text[i] = models[i/each]
			case "fcst_valid_beg", "fcst_init_beg":
				v.Seconds[i] = int64(i%each) * 86400
			}
		}
	}
}

// TestDifferencesOfRepeatingColumns: records of two models are the same case whatever their repeating columns contain.
func TestDifferencesOfRepeatingColumns(t *testing.T) {
	for _, c := range []struct {
		lineType, stat string
		a, b           line
		want           float64
	}{
		{"PCT", "PSTD_BASER", line{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, line{[]float64{5, 3}, []float64{0, 2, 1, 0.5, 1, 1, 1}}, 0.2 - 0.6},
		{"MCTC", "MCTS_ACC", line{[]float64{4, 2, 0.5}, []float64{1, 1, 1, 1}}, line{[]float64{4, 2, 0.5}, []float64{3, 0, 0, 1}}, 0.5 - 1},
	} {
		d := &question.Drawing{Axis: "fcst_lead", Method: "overall", Baseline: "b", Curves: []question.Group{{Field: "model", Values: [][]string{{"a"}, {"b"}}}}}
		d.Derived = []question.Derived{{Operation: stat.Diff, A: []int{0}, B: []int{1}}}
		q, a := asked(t, c.lineType, d, c.a, c.a, c.b, c.b)
		ofModels(a, "a", "b")
		got, err := curve.ComputePoints(q, a, c.stat, 1)
		if err != nil || len(got.Series) != 2 || len(got.Omitted) > 0 {
			t.Fatalf("%s: %v, %+v", c.stat, err, got)
		}
		for _, s := range got.Series { // the difference from the baseline, and the derived curve
			if len(s.Y) != 1 || s.Records[0] != 2 || !(math.Abs(s.Y[0]-c.want) < 1e-12) {
				t.Errorf("%s: %+v, want %v", c.stat, s, c.want)
			}
		}
	}
}

// TestStatisticsOfRepeatingColumns: the statistics add up bins and tables over records. Records with different
// thresholds have no statistic.
func TestStatisticsOfRepeatingColumns(t *testing.T) {
	for _, c := range []struct {
		lineType, stat string
		lines          []line
		want           float64
	}{
		// base rate (1+3)/10, bins 0.25 and 0.75 with 2 of 6 and 2 of 4
		{"PCT", "PSTD_BASER", []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}, 0.4},
		{"PCT", "PSTD_RELIABILITY", []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}, (6./144 + 4./16) / 10},
		{"PCT", "PSTD_BASER", []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.4, 2, 0, 1}}}, math.NaN()},
		{"PCT", "PSTD_RELIABILITY", []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.4, 2, 0, 1}}}, math.NaN()},
		{"MCTC", "MCTS_ACC", []line{{[]float64{4, 2, 0.5}, []float64{1, 1, 1, 1}}, {[]float64{4, 2, 0.5}, []float64{3, 0, 0, 1}}}, 0.75},
	} {
		q, a := asked(t, c.lineType, &question.Drawing{Axis: "fcst_lead"}, c.lines...)
		got, err := curve.ComputePoints(q, a, c.stat, 1)
		if err != nil {
			t.Fatal(err)
		}
		if y := got.Series[0].Y[0]; !(math.Abs(y-c.want) <= 1e-15 || math.IsNaN(y) && math.IsNaN(c.want)) {
			t.Errorf("%s of %d lines is %v, not %v", c.stat, len(c.lines), y, c.want)
		}
	}
}
