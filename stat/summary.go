package stat

import (
	"math"
	"slices"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// SummaryMethod computes one statistic from many records. The quoted names are METexpress's: its "Overall statistic" is
// Unweighted, not Overall.
type SummaryMethod uint8

// The methods. With Unweighted, a mean that is NA in one record is missing, also if the record has no pairs for it, as
// DIR_ME with a total_dir of 0.
const (
	Overall             SummaryMethod = iota // aggregate by number of pairs, then compute: METviewer's agg_stat
	Unweighted                               // aggregate with equal weights, then compute: "Overall statistic"
	MeanOfStats                              // compute per record, then the mean: "Mean statistic"
	WeightedMeanOfStats                      // the same, weighted by total: "Mean statistic weighted by N"
	MedianOfStats                            // compute per record, then the median: "Median statistic"
	SumOfStats                               // compute per record, then add: METviewer's plot_stat sum
)

// Summarize computes statistic s from the records in cols: the numeric columns of type t, by slot and then by record,
// as in Batch.Num, with the repeating columns after the fixed ones. Means, medians and sums skip records that do not
// define the statistic; ok is false if no record remains. A mean weighted by total is undefined if a record that
// defines the statistic has no total. err is a *fault.Error if t is not the line type of s.
func Summarize(m SummaryMethod, s *Stat, t *record.LineType, cols [][]float64) (value float64, ok bool, err error) {
	p := newPlan(t, len(cols), m == Unweighted)
	if err := p.check(s); err != nil {
		return 0, false, err
	}
	if m == Overall || m == Unweighted {
		a := p.newAggregate()
		eachRow(cols, func(_ int, row []float64) { a.Add(row) })
		value, ok = a.Eval(s)
		return value, ok, nil
	}
	var values, weights []float64
	p.perRecord(s, cols, func(v, weight float64) {
		if !math.IsNaN(v) {
			values, weights = append(values, v), append(weights, weight)
		}
	})
	if m == WeightedMeanOfStats {
		value, ok = weightedMean(values, weights)
	} else {
		value, ok = m.Combine(values)
	}
	return value, ok, nil
}

// Combine computes the median of statistics for MedianOfStats, their sum for SumOfStats, and their mean for every other
// method. It skips missing ones (NaN), and returns false if none remains.
func (m SummaryMethod) Combine(values []float64) (value float64, ok bool) {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	sum, n := lists.Sum(slices.Values(values)), float64(len(values))
	switch m {
	case MedianOfStats:
		return median(values)
	case SumOfStats:
		n = min(n, 1)
	}
	return div(sum, n)
}

// PerRecord computes s for every record in cols, NaN if the record does not define it. These are the points of a box
// plot. err is a *fault.Error if t is not the line type of s.
func PerRecord(s *Stat, t *record.LineType, cols [][]float64) (values []float64, err error) {
	p := newPlan(t, len(cols), !equalWeights)
	if err := p.check(s); err != nil {
		return nil, err
	}
	p.perRecord(s, cols, func(v, _ float64) { values = append(values, v) })
	return values, nil
}

// perRecord calls f with the statistic of each record and its number of pairs.
func (p *plan) perRecord(s *Stat, cols [][]float64, f func(v, weight float64)) {
	aggregate, needs := p.newAggregate(), p.neededSlots(s)
	buffer := make([]float64, len(needs))
	eachRow(cols, func(_ int, row []float64) {
		aggregate.Reset()
		aggregate.Add(row)
		v, ok := p.eval(s, needs, aggregate.sums, buffer[:0])
		if !ok {
			v = math.NaN()
		}
		weight := 1.0
		if p.totalSlot >= 0 {
			weight = row[p.totalSlot]
		}
		f(v, weight)
	})
}

// eachRow calls f with the number and the columns of each record. The row is valid until f returns.
func eachRow(cols [][]float64, f func(i int, row []float64)) {
	if len(cols) == 0 {
		return
	}
	row := make([]float64, len(cols))
	for i := range cols[0] {
		for k := range cols {
			row[k] = cols[k][i]
		}
		f(i, row)
	}
}

// weightedMean is the mean of values. Nil weights are equal.
func weightedMean(values, weights []float64) (float64, bool) {
	sum, all := 0.0, 0.0
	for i, v := range values {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum, all = sum+w*v, all+w
	}
	return div(sum, all)
}

// median sorts values and returns their median.
func median(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	return quantile(values, 0.5), true
}

// Box describes the box of a box plot.
type Box struct {
	LowerQuartile, Median, UpperQuartile float64
	// The whiskers end at the lowest value that is at most 1.5 interquartile ranges below the lower quartile, and at
	// the highest value that is at most 1.5 interquartile ranges above the upper quartile.
	WhiskerLow, WhiskerHigh float64
	Outliers                []float64 // the values beyond the whiskers, ascending
}

// BoxOf returns the box of values. It skips missing ones, and returns false if none remains.
func BoxOf(values []float64) (b Box, ok bool) {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if b.Median, ok = median(values); !ok {
		return b, false
	}
	b.LowerQuartile, b.UpperQuartile = quantile(values, 0.25), quantile(values, 0.75)
	reach := 1.5 * (b.UpperQuartile - b.LowerQuartile)
	within := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v < b.LowerQuartile-reach || v > b.UpperQuartile+reach })
	b.WhiskerLow, b.WhiskerHigh = within[0], within[len(within)-1] // the median is always within
	b.Outliers = lists.Filter(values, func(v float64) bool { return v < b.WhiskerLow || v > b.WhiskerHigh })
	return b, true
}

// quantile interpolates linearly between order statistics (type 7 of Hyndman and Fan, the default of R and NumPy);
// 0 ≤ q ≤ 1.
func quantile(sorted []float64, q float64) float64 {
	position := q * float64(len(sorted)-1)
	i := int(position)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	share := position - float64(i)
	if distance := sorted[i+1] - sorted[i]; !math.IsInf(distance, 0) {
		return sorted[i] + share*distance
	}
	return (1-share)*sorted[i] + share*sorted[i+1]
}
