package stat

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Bootstrap computes confidence intervals of an aggregate statistic by resampling records with
// replacement, in circular blocks. The zero value is usable.
//
// Replicate r uses only random numbers from rand.NewPCG(Seed, r). The interval therefore depends on
// the seed and on the records and their order, but not on the number of workers or their
// scheduling.
type Bootstrap struct {
	Replicates int     // number of replicates; 0 = 1000
	Confidence float64 // in (0, 1); any other value = 0.95
	Seed       uint64
	Workers    int // goroutines; 0 = as many as there are processors
	// Block is the number of consecutive records that are drawn together, because records that follow each other in
	// time are not independent. The first record follows the last one. 0 = ⌊√n⌋, as in METviewer with
	// circular_block_bootstrap; 1 = single records, as in METviewer without that setting.
	Block  int
	Method IntervalMethod
}

// IntervalMethod computes the limits of an interval from the replicates.
type IntervalMethod uint8

// The methods, with METviewer's names of them in boot_ci.
const (
	Percentile IntervalMethod = iota // perc: the replicates' quantiles
	Pivotal                          // pivotal: 2·value − quantile
	BCa                              // bca: quantiles corrected for bias and acceleration (Efron 1987); METcalcpy returns NA
)

// Interval is a statistic with its confidence interval.
type Interval struct {
	Value     float64 // statistic of the original records
	Low, High float64 // limits; NaN if all replicates are equal except for rounding, as of a single record
	Spread    float64 // standard deviation of the replicates: the standard error of Value
	Undefined int     // replicates with an undefined statistic, which are skipped
}

// Series are records whose statistic is computed. Cols are their numeric columns, see Summarize.
type Series struct {
	Stat *Stat
	Type *record.LineType
	Cols [][]float64
}

// seriesTerms contains, for all records of a series, the terms that a replicate adds up for each record that it draws.
type seriesTerms struct {
	stat    *Stat
	plan    *plan
	needs   []int     // the slots that stat needs
	slots   []int     // needs, the slots of their weights and scores, and the slot that counts the records
	terms   []float64 // by record, and then by slot in slots
	records int
	first   int // the first record with pairs
}

// Interval computes s of the records in cols and its confidence interval. ok is false if the records, or more than half
// of the replicates, do not define s. err is a *fault.Error if t is not the line type of s.
func (b Bootstrap) Interval(s *Stat, t *record.LineType, cols [][]float64) (iv Interval, ok bool, err error) {
	return b.interval(func(v []float64) float64 { return v[0] }, Series{s, t, cols})
}

// Difference applies op to the statistics of two series, and computes the confidence interval. Both
// series are resampled in the same way: their records must belong to the same cases in the same
// order. err is a *fault.Error if they have different numbers of records, or a type without the statistic.
func (b Bootstrap) Difference(op Operation, one, other Series) (iv Interval, ok bool, err error) {
	return b.interval(func(v []float64) float64 { return op.Apply(v[0], v[1]) }, one, other)
}

// interval computes the interval of f, a function of the series' statistics.
func (b Bootstrap) interval(f func(v []float64) float64, series ...Series) (iv Interval, ok bool, err error) {
	iv = Interval{Low: math.NaN(), High: math.NaN()}
	values, terms, err := b.resample(f, &iv, series)
	if err != nil || values == nil {
		return iv, false, err
	}
	if _, iv.Spread = meanAndDeviation(values); iv.Spread == 0 {
		return iv, true, nil
	}
	low := (1 - b.confidence()) / 2
	high := 1 - low
	if b.Method == BCa {
		low, high = correctTails(low, iv.Value, values, b.jackknife(f, terms))
	}
	iv.Low, iv.High = quantile(values, low), quantile(values, high)
	if b.Method == Pivotal {
		iv.Low, iv.High = 2*iv.Value-iv.High, 2*iv.Value-iv.Low
	}
	return iv, true, nil
}

func (b Bootstrap) confidence() float64 {
	if !(b.Confidence > 0 && b.Confidence < 1) {
		return 0.95
	}
	return b.Confidence
}

// block returns the length of the blocks.
func (b Bootstrap) block(records int) int {
	if b.Block > 0 {
		return b.Block
	}
	return max(1, int(math.Sqrt(float64(records))))
}

// resample sets Value and Undefined of iv. It returns the defined replicates, sorted; none if the records or more than
// half of the replicates do not define f.
func (b Bootstrap) resample(f func(v []float64) float64, iv *Interval, series []Series) ([]float64, []*seriesTerms, error) {
	terms := make([]*seriesTerms, len(series))
	v := make([]float64, len(series))
	for i, s := range series {
		var ok bool
		var err error
		if v[i], ok, err = Summarize(Overall, s.Stat, s.Type, s.Cols); err != nil || !ok {
			return nil, nil, err
		}
		terms[i] = newSeriesTerms(newPlan(s.Type, len(s.Cols), !equalWeights), s.Stat, s.Cols)
		if terms[i].records != terms[0].records {
			problem := "the series have different numbers of records"
			return nil, nil, &fault.Error{Setting: "difference", Problem: problem, Cure: "equalize events"}
		}
	}
	if b.Replicates <= 0 {
		b.Replicates = 1000
	}
	iv.Value = f(v)
	values := slices.DeleteFunc(b.replicates(f, terms), math.IsNaN)
	iv.Undefined = b.Replicates - len(values)
	if math.IsNaN(iv.Value) || 2*len(values) < b.Replicates {
		return nil, nil, nil
	}
	slices.Sort(values)
	return values, terms, nil
}

// correctTails corrects the tail probabilities low and 1 − low by BCa's bias and acceleration. value is the statistic,
// replicates are sorted, jackknifed are the statistics from jackknife.
func correctTails(low, value float64, replicates, jackknifed []float64) (float64, float64) {
	below, _ := slices.BinarySearch(replicates, value)
	// Half a replicate is added at each end, because the quantile must be finite.
	bias := normalQuantile((float64(below) + 0.5) / float64(len(replicates)+1))
	mean, _ := weightedMean(jackknifed, nil)
	square, cube := 0.0, 0.0
	for _, v := range jackknifed {
		d := mean - v
		square, cube = square+d*d, cube+d*d*d
	}
	acceleration, _ := div(cube, 6*math.Pow(square, 1.5))
	correct := func(z float64) float64 {
		z += bias
		return math.Erfc(-(bias+z/(1-acceleration*z))/math.Sqrt2) / 2
	}
	z := normalQuantile(low) // 1 − low may be 1 after rounding, and its quantile infinite
	return correct(z), correct(-z)
}

// normalQuantile returns the quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// newSeriesTerms extracts the terms of the records. Records without pairs add nothing.
func newSeriesTerms(p *plan, s *Stat, cols [][]float64) *seriesTerms {
	st := &seriesTerms{stat: s, plan: p, needs: p.neededSlots(s)}
	st.slots = append(slices.Clone(st.needs), len(p.rules)-1)
	for _, k := range st.needs {
		if r := p.rules[k]; r.method != addValues && r.method != constantValue {
			// r.score is 0 if the method has no score. The sum of slot 0 is then not used, unless stat needs it.
			st.slots = append(st.slots, r.weight, r.score)
		}
	}
	slices.Sort(st.slots)
	st.slots = slices.Compact(st.slots)
	eachRow(cols, func(_ int, row []float64) {
		hasPairs := p.totalSlot < 0 || row[p.totalSlot] != 0
		if !hasPairs && st.first == st.records {
			st.first++
		}
		st.records++
		for _, k := range st.slots {
			x := 0.0
			if hasPairs {
				x = p.term(row, k)
			}
			st.terms = append(st.terms, x)
		}
	})
	return st
}

// replicates returns one value of f per replicate, NaN where it is undefined.
func (b Bootstrap) replicates(f func(v []float64) float64, terms []*seriesTerms) []float64 {
	values := make([]float64, b.Replicates)
	n := terms[0].records
	block := b.block(n)
	workers := b.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for w := range min(workers, b.Replicates) {
		wg.Go(func() {
			draw := newDraw(f, terms)
			starts := make([]int, (n+block-1)/block)
			for r := w; r < b.Replicates; r += workers {
				random := rand.New(rand.NewPCG(b.Seed, uint64(r)))
				for i := range starts {
					starts[i] = random.IntN(n)
				}
				values[r] = draw(starts, block, n)
			}
		})
	}
	wg.Wait()
	return values
}

// jackknife returns f of all records except one block, for each block in turn.
func (b Bootstrap) jackknife(f func(v []float64) float64, terms []*seriesTerms) (values []float64) {
	n, draw := terms[0].records, newDraw(f, terms)
	block := b.block(n)
	for start := 0; start < n; start += block {
		omitted := min(block, n-start)
		if v := draw([]int{(start + omitted) % n}, n-omitted, n-omitted); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// newDraw returns a function, for one goroutine, that computes f of a resampled series of count records: for each of
// starts, block consecutive records from there on (the first record follows the last), cut off after count.
func newDraw(f func(v []float64) float64, terms []*seriesTerms) func(starts []int, block, count int) float64 {
	buffers := make([][]float64, len(terms))
	v := make([]float64, len(terms))
	for i, st := range terms {
		buffers[i] = make([]float64, len(st.plan.rules)+len(st.slots)+len(st.needs))
	}
	return func(starts []int, block, count int) float64 {
		for i, st := range terms {
			v[i] = st.statistic(buffers[i], starts, block, count)
		}
		return f(v)
	}
}

// statistic computes the statistic of count records in blocks, see newDraw.
func (st *seriesTerms) statistic(buffer []float64, starts []int, block, count int) float64 {
	all, width := len(st.plan.rules), len(st.slots)
	sums := buffer[all : all+width]
	clear(sums)
	for i, row := range starts {
		for range min(block, count-i*block) {
			for k, x := range st.terms[row*width : (row+1)*width] {
				sums[k] += x
			}
			if row++; row == st.records {
				row = 0
			}
		}
	}
	for k, slot := range st.slots {
		buffer[slot] = sums[k]
		if st.plan.rules[slot].method == constantValue {
			// Summarize has checked that all records with pairs have the same value. NaN is the last threshold of
			// VSDB's RELI, which eval replaces.
			buffer[slot] = st.terms[st.first*width+k]
		}
	}
	v, ok := st.plan.eval(st.stat, st.needs, buffer[:all], buffer[all+width:all+width])
	if !ok {
		return math.NaN()
	}
	return v
}
