package stat

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/barograph/barograph/record"
)

// Bootstrap computes percentile confidence intervals of an aggregate statistic
// by resampling records with replacement. The zero value is usable.
//
// Replicate r draws from rand.NewPCG(Seed, r) and from nothing else, so the
// interval depends on the seed and on the records and their order: not on the
// number of workers, nor on which of them does what.
type Bootstrap struct {
	Replicates int     // how often to resample; 0 = 1000
	Confidence float64 // in (0, 1); 0 = 0.95
	Seed       uint64
	Workers    int // goroutines; 0 = as many as there are processors
	// Block is the number of consecutive records that are drawn together, the
	// rows taken as a circle (circular block bootstrap), for records that
	// follow one another in time and are not independent. 0 = 1.
	Block int
}

// Interval is a statistic with its confidence interval.
type Interval struct {
	Value     float64 // of the records themselves
	Low, High float64
	Spread    float64 // standard deviation of the replicates: the standard error of Value
	Undefined int     // replicates in which the statistic was undefined; they are left out
}

// sample holds what the replicates add up: for each record one row of the
// columns that the statistic needs, already multiplied with their weights,
// followed by both weights.
type sample struct {
	stat  *Stat
	rules []rule
	rows  []float64
	width int // len(rules) + 2
}

// Interval computes s of the records in cols (the numeric columns of type t by
// slot and then by row, as in Batch.Num) and its confidence interval. ok is
// false where the records do not define s or where fewer than half of the
// replicates do.
func (b Bootstrap) Interval(s *Stat, t *record.LineType, cols [][]float64) (iv Interval, ok bool, err error) {
	return b.Paired(s, t, cols, nil)
}

// Paired is Interval of the difference of s of two lots of records that are
// paired by row: a replicate draws pairs, so that what both lots share cancels
// out. Of minus = nil nothing is taken off.
func (b Bootstrap) Paired(s *Stat, t *record.LineType, cols, minus [][]float64) (iv Interval, ok bool, err error) {
	if b.Replicates <= 0 {
		b.Replicates = 1000
	}
	if b.Confidence <= 0 || b.Confidence >= 1 {
		b.Confidence = 0.95
	}
	b.Block = max(b.Block, 1)
	p := newPlan(t, false)
	if err := p.check(s); err != nil {
		return Interval{}, false, err
	}
	value, ok, err := Summarise(Overall, s, t, cols)
	if err != nil || !ok {
		return Interval{}, false, err
	}
	values := b.replicates(newSample(p, s, cols))
	if minus != nil {
		less, ok, err := Summarise(Overall, s, t, minus)
		if err != nil || !ok {
			return Interval{}, false, err
		}
		value -= less
		for r, v := range b.replicates(newSample(p, s, minus)) { // which draws the same rows
			values[r] -= v
		}
	}
	values = slices.DeleteFunc(values, math.IsNaN)
	iv = Interval{Value: value, Undefined: b.Replicates - len(values)}
	if 2*len(values) < b.Replicates {
		return iv, false, nil
	}
	slices.Sort(values)
	tail := (1 - b.Confidence) / 2
	iv.Low, iv.High = quantile(values, tail), quantile(values, 1-tail)
	iv.Spread = deviation(values)
	return iv, true, nil
}

// deviation is the standard deviation of values.
func deviation(values []float64) float64 {
	var mean, squares float64
	for i, v := range values {
		d := v - mean
		mean += d / float64(i+1)
		squares += d * (v - mean)
	}
	return math.Sqrt(squares / float64(max(len(values)-1, 1)))
}

// newSample extracts the records with pairs; the others add nothing.
func newSample(p *plan, s *Stat, cols [][]float64) *sample {
	sm := &sample{stat: s, width: len(s.Needs) + 2}
	for _, need := range s.Needs {
		sm.rules = append(sm.rules, p.rules[p.slots[need]])
	}
	eachRow(cols, func(row []float64) {
		weight, dir := p.weights(row)
		if p.total >= 0 && row[p.total] == 0 {
			weight, dir = 0, 0
		}
		for i, need := range s.Needs {
			x := row[p.slots[need]]
			switch {
			case sm.rules[i] == averageByTotal && weight != 0:
				x *= weight
			case sm.rules[i] == averageByTotalDir && dir != 0:
				x *= dir
			case sm.rules[i] != addCounts || weight == 0:
				x = 0
			}
			sm.rows = append(sm.rows, x)
		}
		sm.rows = append(sm.rows, weight, dir)
	})
	return sm
}

// replicates returns one value per replicate, NaN where it is undefined.
func (b Bootstrap) replicates(sm *sample) []float64 {
	values := make([]float64, b.Replicates)
	workers := b.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for w := range min(workers, b.Replicates) {
		wg.Go(func() {
			sums := make([]float64, sm.width)
			for r := w; r < b.Replicates; r += workers {
				values[r] = sm.draw(sums, rand.NewPCG(b.Seed, uint64(r)), b.Block)
			}
		})
	}
	wg.Wait()
	return values
}

// draw resamples as many records as there are and computes the statistic.
func (sm *sample) draw(sums []float64, source *rand.PCG, block int) float64 {
	random := rand.New(source)
	n := len(sm.rows) / sm.width
	clear(sums)
	for drawn := 0; drawn < n; drawn += block {
		at := random.IntN(n)
		for range min(block, n-drawn) {
			for k, x := range sm.rows[at*sm.width : (at+1)*sm.width] {
				sums[k] += x
			}
			if at++; at == n {
				at = 0
			}
		}
	}
	weight, dir := sums[sm.width-2], sums[sm.width-1]
	for i, r := range sm.rules {
		switch r {
		case averageByTotal:
			sums[i] /= weight
		case averageByTotalDir:
			sums[i] /= dir
		case addCounts:
		}
	}
	v, ok := sm.stat.Eval(sums[:len(sm.rules)])
	if !ok {
		return math.NaN()
	}
	return v
}
