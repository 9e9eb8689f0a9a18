package curve

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// Text writes a statistic as a table: a line for each curve and point, rounded to METviewer's seven
// decimals.
func Text(w io.Writer, c *run.VerificationPlot) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	unit := map[run.Axis]string{run.ByLead: " (h)", run.ByLevel: " (hPa)"}[c.Axis]
	fmt.Fprintf(tw, "series\t%s%s\tN\t%s\tinterval\n", c.Axis, unit, c.Stat)
	for _, s := range c.Series {
		for i, x := range s.X {
			interval := record.NA
			if !math.IsNaN(s.Low[i]) {
				interval = orNA(s.Low[i], 7) + " … " + orNA(s.High[i], 7)
			}
			fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\n", strings.TrimSpace(cmp.Or(s.Derivation, s.Name)+" "+labelOf(s, i)), axisValue(c.Axis, x), s.Records[i], orNA(s.Y[i], 7), interval)
		}
	}
	return tw.Flush()
}

// Rows returns statistics of one axis as rows: one for each statistic, curve and point.
func Rows(all []*run.VerificationPlot) *answer.Answer {
	at := question.Column{Name: string(all[0].Axis), Kind: question.Number}
	if all[0].Axis == run.ByTime || all[0].Axis == run.ByInit {
		at.Kind = question.Time
	}
	a := &answer.Answer{Vectors: make([]answer.Vector, 7), Columns: []question.Column{
		{Name: "statistic", Kind: question.Text},
		{Name: "series", Kind: question.Text},
		at,
		{Name: "n", Kind: question.Number},
		{Name: "value", Kind: question.Number},
		{Name: "low", Kind: question.Number},
		{Name: "high", Kind: question.Number},
	}}
	if all[0].LabelAxis != "" {
		a.Columns, a.Vectors = append(a.Columns, question.Column{Name: string(all[0].LabelAxis), Kind: question.Text}), append(a.Vectors, answer.Vector{})
	}
	for _, c := range all {
		for _, s := range c.Series {
			for i, x := range s.X {
				v := a.Vectors
				if len(v) > 7 {
					v[7].Text = append(v[7].Text, labelOf(s, i))
				}
				v[0].Text, v[1].Text = append(v[0].Text, c.Stat), append(v[1].Text, cmp.Or(s.Derivation, s.Name))
				v[2].Seconds, v[2].Num = append(v[2].Seconds, int64(x)), append(v[2].Num, x)
				for k, n := range []float64{float64(s.Records[i]), s.Y[i], s.Low[i], s.High[i]} {
					v[3+k].Num = append(v[3+k].Num, n)
				}
				a.Rows++
			}
		}
	}
	return a
}

// labelOf is the label of the i-th point of a curve; "" if it has none.
func labelOf(s run.Series, i int) string {
	return strings.Join(s.Labels[min(i, len(s.Labels)):min(i+1, len(s.Labels))], "")
}

// orNA prints a number with some decimals as METviewer does, ties rounded up, or NA; with -1 decimals, exactly. −0 is 0.
func orNA(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return record.NA
	case decimals >= 0:
		v = stat.RoundHalfUp(v, decimals)
	}
	return strconv.FormatFloat(v+0, 'f', decimals, 64)
}

// axisValue prints a position on the independent axis.
func axisValue(axis run.Axis, x float64) string {
	if axis == run.ByTime || axis == run.ByInit {
		return time.Unix(int64(x), 0).UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%g", x)
}
