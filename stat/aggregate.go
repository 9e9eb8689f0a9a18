package stat

import (
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// Aggregate holds the partial sums of many records of one line type as if they
// were one record over all their pairs.
//
// Counts are added: total and its like, and the cells fy_oy, fy_on, fn_oy, fn_on
// of a contingency table. Means are averaged with the number of
// pairs as weight, Σ N·x / Σ N: with the total_dir of the record for the
// columns of wind direction (dir_…, dira_…), with total for all others. This is
// METcalcpy's rule (aggregate_field_values, get_total_values,
// get_total_dir_values).
//
// A column that is missing (NaN) in any record with pairs is missing in the
// aggregate: a mean over some of the pairs would not belong to the other
// columns. A missing total makes every mean missing. A record with total 0 has
// no pairs and changes nothing.
//
// The zero value is not usable; call NewAggregate.
type Aggregate struct {
	plan    *plan
	sum     []float64 // by slot: Σ count, or Σ weight·mean
	weight  float64   // Σ of the weights of ordinary means
	dir     float64   // Σ total_dir
	records int
}

// plan says how each numeric column of a line type is aggregated.
type plan struct {
	lineType string
	slots    map[string]int
	rules    []rule
	total    int // slot of total; -1 = the type has none, every record weighs 1
	totalDir int // slot of total_dir; -1 = none
	equal    bool
}

type rule uint8

const (
	addCounts rule = iota
	averageByTotal
	averageByTotalDir
)

func newPlan(t *record.LineType, equal bool) *plan {
	p := &plan{lineType: t.Name, slots: map[string]int{}, total: -1, totalDir: -1, equal: equal}
	for _, c := range t.Columns {
		if c.Kind == record.Text {
			continue
		}
		for len(p.rules) <= c.Slot {
			p.rules = append(p.rules, addCounts)
		}
		p.slots[c.Name] = c.Slot
		switch {
		case c.Name == "total":
			p.total = c.Slot
		case c.Name == "total_dir":
			p.totalDir = c.Slot
		case c.Kind == record.Count || slices.Contains(counts, c.Name):
			// Cells of a contingency table are added although they are no
			// Count: computed from VSDB's rates they need not be whole.
		case strings.HasPrefix(c.Name, "dir_") || strings.HasPrefix(c.Name, "dira_"):
			p.rules[c.Slot] = averageByTotalDir
		default:
			p.rules[c.Slot] = averageByTotal
		}
	}
	return p
}

// weights returns the weight of a record's ordinary means and of its means of
// direction.
func (p *plan) weights(columns []float64) (weight, dir float64) {
	weight, dir = 1, 1
	if p.equal {
		return weight, dir
	}
	if p.total >= 0 {
		weight = columns[p.total]
	}
	if p.totalDir >= 0 {
		dir = columns[p.totalDir]
	}
	return weight, dir
}

// NewAggregate returns an empty aggregate for records of type t.
func NewAggregate(t *record.LineType) *Aggregate { return newPlan(t, false).aggregate() }

func (p *plan) aggregate() *Aggregate {
	return &Aggregate{plan: p, sum: make([]float64, len(p.rules))}
}

// Reset empties a.
func (a *Aggregate) Reset() {
	clear(a.sum)
	a.weight, a.dir, a.records = 0, 0, 0
}

// Add adds one record: its numeric columns by Column.Slot, as in one row of
// Batch.Num. columns is not kept. It panics where columns are too few, which is
// a fault of the caller.
func (a *Aggregate) Add(columns []float64) {
	p := a.plan
	a.records++
	if p.total >= 0 && columns[p.total] == 0 {
		return
	}
	weight, dir := p.weights(columns)
	a.weight += weight
	if dir != 0 {
		a.dir += dir
	}
	for slot, r := range p.rules {
		switch r {
		case addCounts:
			a.sum[slot] += columns[slot]
		case averageByTotal:
			a.sum[slot] += weight * columns[slot]
		case averageByTotalDir:
			// No pair had a direction: the mean may be anything, NA included.
			if dir != 0 {
				a.sum[slot] += dir * columns[slot]
			}
		}
	}
}

// Merge adds the records of another aggregate of the same line type.
func (a *Aggregate) Merge(o *Aggregate) {
	a.weight += o.weight
	a.dir += o.dir
	a.records += o.records
	for slot := range a.sum {
		a.sum[slot] += o.sum[slot]
	}
}

// Column returns an aggregated column by METviewer's name; false where it is
// missing or the line type has no such column.
func (a *Aggregate) Column(name string) (float64, bool) {
	slot, ok := a.plan.slots[name]
	if !ok || a.records == 0 {
		return 0, false
	}
	x := a.sum[slot]
	switch a.plan.rules[slot] {
	case averageByTotal:
		x /= a.weight
	case averageByTotalDir:
		x /= a.dir
	case addCounts:
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, false
	}
	return x, true
}

// Stat computes a statistic of the aggregate by name (see ByName). ok is false
// where the records do not define it; err is not nil where the line type has no
// such statistic.
func (a *Aggregate) Stat(name string) (value float64, ok bool, err error) {
	s, err := ByName(a.plan.lineType, name)
	if err != nil {
		return 0, false, err
	}
	value, ok = a.Eval(&s)
	return value, ok, nil
}

// Eval computes s, which must be a statistic of the aggregate's line type.
func (a *Aggregate) Eval(s *Stat) (float64, bool) {
	var buf [8]float64
	v := buf[:0]
	for _, need := range s.Needs {
		x, ok := a.Column(need)
		if !ok {
			return 0, false
		}
		v = append(v, x)
	}
	return s.Eval(v)
}

// check refuses a statistic that does not belong to the line type.
func (p *plan) check(s *Stat) error {
	if s.LineType == p.lineType {
		for _, need := range s.Needs {
			if _, ok := p.slots[need]; !ok {
				return &fault.Error{
					Setting: "statistic", Problem: s.Name + " needs column " + need + ", which " + p.lineType + " does not have",
				}
			}
		}
		return nil
	}
	return &fault.Error{
		Setting: "statistic", Problem: s.Name + " is a statistic of " + s.LineType + ", not of " + p.lineType,
		Cure: "ask records of that line type",
	}
}
