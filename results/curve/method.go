package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// Stats lists the statistics that are drawn if none is named: those of the question's drawing, or
// the default of its line type; none if that has none.
func Stats(q *question.Question) []string {
	if q.Drawing.ShowsLineType() {
		return []string{q.Drawing.Picture}
	}
	if q.Drawing != nil && len(q.Drawing.Stats) > 0 {
		return q.Drawing.Stats
	}
	if name := question.DefaultStat(q.Type); name != "" {
		return []string{name}
	}
	return nil
}

// method computes one value from many records.
type method struct {
	stat.SummaryMethod
	bootstrap  *stat.Bootstrap // nil = no interval
	unseen     bool            // the picture shows no intervals
	confidence float64
	inflate    bool
	note       string
	interval   string // description of the interval for the note
}

// methodOf is METviewer's method for a drawing: agg_stat aggregates, plot_stat combines the
// records' statistics.
func methodOf(q *question.Question, seed uint64) method {
	replicates, how := question.DefaultReplicates, question.DefaultMethod(q.Type)
	m := method{note: "partial sums weighted by total", confidence: question.DefaultConfidence, inflate: true}
	b := stat.Bootstrap{}
	if d := q.Drawing; d != nil {
		how = d.Method
		replicates, m.confidence, m.inflate = d.Replicates, cmp.Or(d.Confidence, 0.95), !d.NoVIF
		b.Block = d.Block
		b.Method = map[string]stat.IntervalMethod{"pivotal": stat.Pivotal, "bca": stat.BCa}[d.BootCI]
		if d.Seed != nil {
			seed = *d.Seed
		}
	}
	switch how {
	case "mean":
		m.SummaryMethod, m.note = stat.MeanOfStats, "mean of the records' statistics"
	case "median":
		m.SummaryMethod, m.note = stat.MedianOfStats, "median of the records' statistics"
	case "sum":
		m.SummaryMethod, m.note = stat.SumOfStats, "sum of the records' statistics"
	}
	if q.Drawing != nil && slices.Contains([]string{"box", "revision", "contour"}, q.Drawing.Picture) { // nobody would see them
		replicates, m.unseen = 0, true
	}
	if replicates > 0 && m.SummaryMethod == stat.Overall {
		b.Replicates, b.Confidence, b.Seed = replicates, m.confidence, seed
		m.bootstrap = &b
		together := "in circular blocks"
		if b.Block == 1 {
			together = "one by one"
		}
		kind := map[stat.IntervalMethod]string{stat.Pivotal: "pivotal ", stat.BCa: "bias-corrected "}[b.Method]
		m.interval = fmt.Sprintf("; %g %% %sinterval by bootstrap over records %s, %s, seed %d", math.Round(1e4*m.confidence)/100, kind, together, run.CountOf(replicates, "replicate"), seed)
	}
	return m
}

// kind is the interval of a curve, whose style may name it.
func (m *method) kind(own string) string {
	switch {
	case own != "" && !m.unseen:
		return own
	case m.bootstrap != nil:
		return "boot"
	}
	return "none"
}

// value computes s from records; NaN if they do not define it.
func (m *method) value(s *stat.Stat, t *record.LineType, cols [][]float64) (float64, error) {
	y, ok, err := stat.Summarize(m.SummaryMethod, s, t, cols)
	if err != nil || !ok {
		return math.NaN(), err
	}
	return y, nil
}
