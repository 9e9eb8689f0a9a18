package curve

import (
	"fmt"
	"math"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Stats lists the statistics that are drawn of a question where none is named:
// those of its drawing, or the default of its line type; none where that has none.
func Stats(q *question.Question) []string {
	if q.Drawing != nil {
		return q.Drawing.Stats
	}
	if name := question.DefaultStat(q.Type); name != "" {
		return []string{name}
	}
	return nil
}

// statOf finds a statistic: one that is computed from partial sums, or one that
// stands finished in a column.
func statOf(q *question.Question, name string) (stat.Stat, error) {
	if !question.Finished(q.Type) {
		return stat.ByName(q.Type.Name, question.Bare(q.Type.Name, name))
	}
	column := question.FinishedColumn(q.Type, name)
	if column == "" {
		return stat.Stat{}, &fault.Error{Setting: "statistic " + name, Problem: "is no column of line type " + q.Type.Name, Cure: "see `barograph list linetypes`"}
	}
	return stat.Stat{
		Name: strings.ToUpper(name), LineType: q.Type.Name, Needs: []string{column}, Summary: "as the file has it",
		Func: func(v []float64) (float64, bool) { return v[0], true },
	}, nil
}

// method makes one value of many records.
type method struct {
	kind      stat.Method
	sum       bool            // the sum of the records' statistics instead
	bootstrap *stat.Bootstrap // nil = no interval
	note      string
}

// methodOf is METviewer's for a drawing: agg_stat aggregates, plot_stat is of
// the records' statistics.
func methodOf(q *question.Question, seed uint64) method {
	replicates, confidence, how := question.UsualReplicates, question.UsualConfidence, question.DefaultMethod(q.Type)
	m := method{kind: stat.Overall, note: "partial sums weighted by total"}
	if d := q.Drawing; d != nil {
		replicates, confidence, how = d.Replicates, d.Confidence, d.Method
		if d.Seed != nil {
			seed = *d.Seed
		}
	}
	switch how {
	case "mean":
		m.kind, m.note = stat.MeanOfStats, "mean of the records' statistics"
	case "median":
		m.kind, m.note = stat.MedianOfStats, "median of the records' statistics"
	case "sum":
		m.sum, m.note = true, "sum of the records' statistics"
	}
	if replicates > 0 && m.kind == stat.Overall && !m.sum {
		m.bootstrap = &stat.Bootstrap{Replicates: replicates, Confidence: confidence, Seed: seed}
		m.note += fmt.Sprintf("; %g %% interval by bootstrap over records, %d replicates, seed %d", math.Round(1e4*confidence)/100, replicates, seed)
	}
	return m
}

// value computes s of records; what they do not define is NaN.
func (m method) value(s *stat.Stat, t *record.LineType, cols [][]float64) (y float64, err error) {
	var ok bool
	if m.sum {
		y, ok, err = sum(s, t, cols)
	} else {
		y, ok, err = stat.Summarise(m.kind, s, t, cols)
	}
	if err != nil || !ok {
		return math.NaN(), err
	}
	return y, nil
}

// sum adds the statistics of the records that define one.
func sum(s *stat.Stat, t *record.LineType, cols [][]float64) (total float64, ok bool, err error) {
	values, err := stat.PerRecord(s, t, cols)
	for _, v := range values {
		if !math.IsNaN(v) {
			total, ok = total+v, true
		}
	}
	return total, ok, err
}
