package stat

import (
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Aggregate combines the partial sums of many records of one line type into those of one record over all their pairs,
// by METcalcpy's rules (agg_stat.py): it adds counts (total and similar columns, the cells of contingency tables, and
// for Summarize the repeating columns), and averages means with the number of pairs as weight, Σ N·x / Σ N. plan.ruleOf
// has the exceptions.
//
// A column that is missing (NaN) in any record with pairs is missing in the aggregate: a mean over some of the pairs
// would not fit the other columns. A missing total makes every mean missing. A record with total 0 has no pairs and
// changes nothing. A skill score may be missing if its score is 0, see plan.term.
//
// The zero value is not usable; call NewAggregate.
type Aggregate struct {
	plan    *plan
	sums    []float64 // by slot, see plan.term
	records int       // including those without pairs
}

// plan defines how each numeric column of a line type is aggregated. A slot is a column's index in a record: first the
// fixed columns, then the repeating ones. One more slot counts the records with pairs.
type plan struct {
	lineType     string
	slots        map[string]int // by the name of a fixed column
	rules        []rule         // by slot
	fixedColumns int            // their number
	totalSlot    int            // of the column total; -1 = the type has none, and every record has weight 1
}

// rule defines what is summed up for a column, and what the sum means.
type rule struct {
	method aggregation
	weight int // means only: the slot with the number of pairs
	score  int // skill scores only: the slot of the score
}

type aggregation uint8

const (
	addValues        aggregation = iota
	mean                         // Σ w·x / Σ w
	rootOfMeanSquare             // √(Σ w·x² / Σ w): roots of means of squares
	// 1 − Σ w·s / Σ w·r for the skill score x = 1 − s/r of a score s and the reference's score r. A record contains x
	// and s, hence r = s/(1−x).
	skillScoreMean
	constantValue // the value if it is the same in all records, else missing
)

// equalWeights as an argument of newPlan gives every record the same weight instead of its number of pairs.
const equalWeights = true

// newPlan returns the plan for records of width numbers. A width of 0 is that of the fixed columns.
func newPlan(t *record.LineType, width int, equal bool) *plan {
	p := &plan{lineType: t.Name, slots: map[string]int{}, fixedColumns: t.NumCols()}
	width = max(width, p.fixedColumns)
	p.rules = make([]rule, width+1)
	for _, c := range t.Columns {
		if c.Kind != record.Text {
			p.slots[c.Name] = c.Slot
		}
	}
	p.totalSlot = p.slot("total")
	for _, c := range t.Columns {
		if c.Kind == record.Text {
			continue
		}
		r := p.ruleOf(t, &c)
		if equal || r.weight < 0 {
			r.weight = width // the slot that counts the records
		}
		p.rules[c.Slot] = r
	}
	for k := p.fixedColumns; k < width; k++ {
		if f := t.Group.Fields[(k-p.fixedColumns)%len(t.Group.Fields)]; f == "thresh_i" || f == "x_pnt_i" {
			p.rules[k].method = constantValue
		}
	}
	return p
}

// slot returns the slot of a fixed column; -1 = the line type does not have it.
func (p *plan) slot(name string) int {
	if s, ok := p.slots[name]; ok {
		return s
	}
	return -1
}

// ruleOf returns the rule of a column, as METcalcpy's functions _prepare_…_data implement it. A weight of -1 = the
// number of records.
func (p *plan) ruleOf(t *record.LineType, c *record.Column) rule {
	r := rule{method: mean, weight: p.totalSlot}
	switch name := t.Name + " " + c.Name; {
	case c.Name == "ec_value" || c.Name == "bin_size" || t.Group != nil && c.Name == t.Group.Count:
		r.method = constantValue
	case c.Kind == record.Count || slices.Contains(cellColumns, c.Name):
		// Cells of a contingency table are no record.Count, because those computed from VSDB's rates may be fractional.
		r.method = addValues
	case strings.HasPrefix(c.Name, "dir_") || strings.HasPrefix(c.Name, "dira_"):
		r.weight = p.slot("total_dir")
	case t.Name == "SSVAR":
		r.weight = p.slot("bin_n")
	case name == "ECNT me_ge_obs" || name == "ECNT me_lt_obs":
		r.weight = p.slot("n" + c.Name[2:])
	case name == "ECNT rmse" || name == "ECNT rmse_oerr" || strings.HasPrefix(name, "ECNT spread") && c.Name != "spread_md":
		r.method = rootOfMeanSquare
	case name == "NBRCNT fss":
		r.method, r.score = skillScoreMean, p.slot("fbs")
	case name == "RPS rpss":
		r.method, r.score = skillScoreMean, p.slot("rps")
	}
	return r
}

// term returns what a record adds to the sum of slot k: its value, or for means its value times its weight.
func (p *plan) term(row []float64, k int) float64 {
	if k == len(row) {
		return 1
	}
	x, r := row[k], &p.rules[k]
	w := 1.0
	if r.weight < len(row) {
		w = row[r.weight]
	}
	switch {
	case r.method == addValues || r.method == constantValue:
		return x
	case w == 0:
		return 0 // the mean over no pairs may have any value, even NA
	case r.method == mean:
		return w * x
	case r.method == rootOfMeanSquare:
		return w * x * x
	case r.method == skillScoreMean && row[r.score] == 0 && (x == 1 || math.IsNaN(x)):
		// From s = 0 and x = 1, r cannot be computed, because every r > 0 fits. For r = 0, MET writes s = 0 and no x
		// (NBRCNT of a field without events).
		// Counting r as 0 in both cases, as METcalcpy does, makes an aggregate of only such records undefined.
		return 0
	}
	return w * row[r.score] / (1 - x) // skillScoreMean: w·r
}

// value returns the aggregated column of a slot, NaN or infinite if it is undefined.
func (p *plan) value(sums []float64, k int) float64 {
	switch r := &p.rules[k]; {
	case r.method == addValues:
	case sums[len(sums)-1] == 0 || math.IsInf(sums[k], 0):
		// No record has pairs; or a record has skill 1 and a score other than 0, for which term divides by 0.
		return math.NaN()
	case r.method == mean:
		return sums[k] / sums[r.weight]
	case r.method == rootOfMeanSquare:
		return math.Sqrt(sums[k] / sums[r.weight])
	case r.method == skillScoreMean:
		return 1 - sums[r.score]/sums[k]
	}
	return sums[k]
}

// NewAggregate returns an empty aggregate for records of type t. It has the fixed columns only: Summarize computes the
// statistics of the repeating columns (those of PCT and MCTC).
func NewAggregate(t *record.LineType) *Aggregate { return newPlan(t, 0, !equalWeights).newAggregate() }

func (p *plan) newAggregate() *Aggregate {
	return &Aggregate{plan: p, sums: make([]float64, len(p.rules))}
}

// Reset empties a.
func (a *Aggregate) Reset() {
	clear(a.sums)
	a.records = 0
}

// Add adds one record: its numeric columns by Column.Slot, as in one row of Batch.Num. It does not
// keep columns. It panics if there are fewer columns than the line type has fixed ones, which is an error of the
// caller.
func (a *Aggregate) Add(columns []float64) {
	p, last := a.plan, len(a.plan.rules)-1
	a.records++
	if p.totalSlot >= 0 && columns[p.totalSlot] == 0 {
		return
	}
	for k := range p.rules[:last] {
		switch r := &p.rules[k]; {
		case r.method == constantValue:
			if a.sums[last] == 0 {
				a.sums[k] = columns[k]
			} else if a.sums[k] != columns[k] {
				a.sums[k] = math.NaN()
			}
		case r.method == addValues:
			a.sums[k] += columns[k]
		case r.method == mean && r.weight < last: // the same as term, without a call
			if w := columns[r.weight]; w != 0 {
				a.sums[k] += w * columns[k]
			}
		default:
			a.sums[k] += p.term(columns, k)
		}
	}
	a.sums[last]++
}

// Merge adds the records of another aggregate of the same line type.
func (a *Aggregate) Merge(other *Aggregate) {
	last := len(a.sums) - 1 // it is added last
	for k := range a.sums {
		switch {
		case a.plan.rules[k].method != constantValue || a.sums[last] == 0:
			a.sums[k] += other.sums[k]
		case other.sums[last] > 0 && a.sums[k] != other.sums[k]:
			a.sums[k] = math.NaN()
		}
	}
	a.records += other.records
}

// Column returns an aggregated column by METviewer's name; false if it is missing or the line type
// has no such column.
func (a *Aggregate) Column(name string) (float64, bool) {
	slot, ok := a.plan.slots[name]
	if !ok || a.records == 0 {
		return 0, false
	}
	x := a.plan.value(a.sums, slot)
	return x, isFinite(x)
}

// Stat computes a statistic of the aggregate by name (see ByName). ok is false if the records do not define it; err is
// not nil if the line type has no such statistic, or if the statistic needs the repeating columns.
func (a *Aggregate) Stat(name string) (value float64, ok bool, err error) {
	s, err := ByName(a.plan.lineType, name)
	if err == nil && slices.Contains(s.Needs, Repeats) {
		problem := "needs the repeating columns, which an Aggregate does not have"
		err = &fault.Error{Setting: "statistic " + s.Name, Problem: problem, Cure: "use Summarize"}
	}
	if err != nil {
		return 0, false, err
	}
	value, ok = a.Eval(&s)
	return value, ok, nil
}

// Eval computes s, which must be a statistic of the aggregate's line type. ok is false if the records do not define it.
func (a *Aggregate) Eval(s *Stat) (value float64, ok bool) {
	return a.plan.eval(s, a.plan.neededSlots(s), a.sums, nil)
}

// eval computes s from sums. slots are those of the columns that s needs, v is a buffer for their values.
func (p *plan) eval(s *Stat, slots []int, sums, v []float64) (float64, bool) {
	if sums[len(sums)-1] == 0 {
		return 0, false // no record has pairs
	}
	for _, k := range slots {
		v = append(v, p.value(sums, k))
	}
	// The last four columns of PCT are thresh_i, oy_i and on_i of the last bin, and the last threshold. VSDB's RELI
	// of m members has bins for the probabilities 0, 1/m … 1 and no last threshold. Stat.Eval rejects NaN, therefore
	// the last threshold gets a value here. bins does not use it if the last bin is the probability 1.
	if last := len(v) - 1; p.lineType == "PCT" && last > 2 && v[last-3] == 1 && math.IsNaN(v[last]) {
		v[last] = 1
	}
	return s.Eval(v)
}

// neededSlots returns the slots of the columns that s needs.
func (p *plan) neededSlots(s *Stat) (slots []int) {
	for _, need := range s.Needs {
		if need == Repeats {
			for k := p.fixedColumns; k < len(p.rules)-1; k++ {
				slots = append(slots, k)
			}
			continue
		}
		slots = append(slots, p.slots[need])
	}
	return slots
}

// check returns an error for a statistic that cannot be computed from the line type.
func (p *plan) check(s *Stat) error {
	if s.LineType != p.lineType {
		return &fault.Error{
			Setting: "statistic", Problem: s.Name + " is a statistic of " + s.LineType + ", not of " + p.lineType,
			Cure: "query records of that line type",
		}
	}
	for _, column := range s.Needs {
		if _, ok := p.slots[column]; !ok && column != Repeats {
			problem := s.Name + " needs column " + column + ", which " + p.lineType + " does not have"
			return &fault.Error{Setting: "statistic", Problem: problem}
		}
	}
	return nil
}
