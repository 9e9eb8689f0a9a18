package answer

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Means computes the answer to a question that asks for the mean of a statistic (question.Question.Mean) from the
// records, without a database. As in Reference, the first of several records of one identity counts. It keeps about 60
// bytes per record.
type Means struct {
	q        *question.Question
	grouping []question.Column
	stat     stat.Stat
	slots    []int // columns that the statistic needs
	match    *Matcher
	hash     record.Hasher

	fieldNumbers map[string]int32        // joined header fields of the grouping → index of fieldValues
	groupNumbers map[meansKey]int32      // → index of keys
	keys         []meansKey              // one for each group
	fieldValues  [][]string              // combinations of header fields
	seen         map[record.Key]struct{} // identities
	recordGroup  []int32                 // by record: index of keys
	recordValue  []float64               // by record; NaN = undefined
}

// meansKey identifies a group.
type meansKey struct {
	fields int32 // index of Means.fieldValues
	lead   int32
}

// NewMeans prepares a Means for q. It returns an error if q groups by anything but header fields and fcst_lead, or if
// its statistic is not a correlation: MeansTolerance assumes values within ±1.
func NewMeans(q *question.Question) (*Means, error) {
	s, err := stat.ByName(q.Type.Name, q.Mean)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(s.Name, "_CORR") {
		problem, cure := "asks for the mean of "+s.Name, "choose a correlation, such as ANOM_CORR"
		return nil, &fault.Error{Setting: q.Name, Problem: problem, Cure: cure}
	}
	m := &Means{
		q: q, grouping: q.GroupingColumns(), stat: s, match: NewMatcher(q),
		fieldNumbers: map[string]int32{}, groupNumbers: map[meansKey]int32{}, seen: map[record.Key]struct{}{},
	}
	for _, name := range s.Needs {
		c, _ := q.Type.Column(name)
		m.slots = append(m.slots, c.Slot)
	}
	for _, c := range m.grouping {
		if c.Role != question.HeaderField && c.Role != question.Lead {
			cure := "group by header fields and fcst_lead"
			return nil, &fault.Error{Setting: q.Name, Problem: "groups by " + c.Name, Cure: cure}
		}
	}
	return m, nil
}

// Add evaluates every record of b, which the caller may reuse afterwards.
func (m *Means) Add(b *record.Batch) {
	if b.Type != m.q.Type || b.Len() == 0 {
		return
	}
	m.match.Use(b)
	m.hash.SetBatch(b)
	heads := lists.Map(b.Headers, m.headerNumber)
	byLead := slices.ContainsFunc(m.grouping, func(c question.Column) bool { return c.Role == question.Lead })
	needs := make([]float64, len(m.slots))
	for i := range b.Len() {
		if !m.match.Row(i) {
			continue
		}
		for k, slot := range m.slots {
			needs[k] = b.Num[slot][i]
		}
		value, ok := m.stat.Eval(needs)
		if !ok {
			value = math.NaN()
		}
		k := meansKey{fields: heads[b.HeaderIndex[i]]}
		if byLead {
			k.lead = b.Lead[i]
		}
		m.add(m.hash.RecordKey(i, b.KeepConflicts), k, value)
	}
}

// headerNumber returns the index in fieldValues of a header's fields by which the question groups.
func (m *Means) headerNumber(h record.Header) int32 {
	var fields []string
	for _, c := range m.grouping {
		if c.Role == question.HeaderField {
			fields = append(fields, h[c.Field])
		}
	}
	joined := strings.Join(fields, "\x00")
	n, ok := m.fieldNumbers[joined]
	if !ok {
		n = int32(len(m.fieldValues)) //nolint:gosec // far fewer
		m.fieldNumbers[joined], m.fieldValues = n, append(m.fieldValues, fields)
	}
	return n
}

// add keeps the value of a record, unless an earlier record had the same identity.
func (m *Means) add(id record.Key, k meansKey, value float64) {
	if _, ok := m.seen[id]; ok {
		return
	}
	g, ok := m.groupNumbers[k]
	if !ok {
		g = int32(len(m.keys)) //nolint:gosec // far fewer
		m.groupNumbers[k], m.keys = g, append(m.keys, k)
	}
	m.seen[id] = struct{}{}
	m.recordGroup, m.recordValue = append(m.recordGroup, g), append(m.recordValue, value)
}

// Records is the number of records so far.
func (m *Means) Records() int { return len(m.recordValue) }

// meansSum adds numbers and compensates the rounding errors (Neumaier 1974), which makes the
// reference accurate to the last digit or two.
type meansSum struct {
	records, defined, sum, compensation float64
}

func (s *meansSum) add(x float64) {
	s.records++
	if math.IsNaN(x) {
		return
	}
	s.defined++
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.compensation += (s.sum - t) + x
	} else {
		s.compensation += (x - t) + s.sum
	}
	s.sum = t
}

// mean is NaN if no value is defined.
func (s *meansSum) mean() float64 { return (s.sum + s.compensation) / s.defined }

// Answer returns the answer for the records added until now. Its rows are ordered by the header fields of the grouping,
// and then by the lead.
func (m *Means) Answer() *Answer {
	sums := make([]meansSum, len(m.keys))
	for i, g := range m.recordGroup {
		sums[g].add(m.recordValue[i])
	}
	order := lists.Indices(len(m.keys))
	slices.SortFunc(order, func(i, j int) int {
		a, b := m.keys[i], m.keys[j]
		return cmp.Or(slices.Compare(m.fieldValues[a.fields], m.fieldValues[b.fields]), cmp.Compare(a.lead, b.lead))
	})
	var into Builder
	into.Reset(m.q.Columns)
	for _, g := range order {
		k, field := m.keys[g], 0
		for i, c := range m.grouping {
			if c.Role == question.Lead {
				into.Seconds(i, int64(k.lead))
				continue
			}
			into.Text(i, m.fieldValues[k.fields][field])
			field++
		}
		s := &sums[g]
		for i, x := range []float64{s.records, s.defined, s.mean()} {
			into.Num(len(m.grouping)+i, x)
		}
		into.Row()
	}
	return into.Take()
}

// MeansTolerance is the allowed difference between an engine's and the reference's mean of n correlations, which are
// within ±1. An engine may add them in any order. Each of its n additions rounds a sum of at most n by at most n·2⁻⁵³,
// so the mean is off by at most n·2⁻⁵³. Twice that is allowed. The additional 10⁻¹² covers the statistics themselves,
// which machines with fused multiply-add round differently.
func MeansTolerance(n float64) float64 { return 1e-12 + n*0x1p-52 }

// CompareMeans compares an engine's means of a statistic with those of the reference. Both must have the
// same groups, in any order, the same counts, and means that differ by at most MeansTolerance. The
// error is a *Diff.
func CompareMeans(want, got *Answer) (Proof, error) {
	if d := checkShape(want, got); d != nil {
		return Proof{}, d
	}
	d := &Diff{WantRows: want.Rows, GotRows: got.Rows}
	different := 0 // groups of both that have different values
	gotRows := make(map[string]int, got.Rows)
	for i := range got.Rows {
		key := got.groupKey(i)
		if _, twice := gotRows[key]; twice {
			d.addExtra(got, i)
			continue
		}
		gotRows[key] = i
	}
	for i := range want.Rows {
		key := want.groupKey(i)
		j, ok := gotRows[key]
		delete(gotRows, key)
		if !ok {
			d.Missing++
			d.addRow(DiffRow{Row: i, Want: want.Row(i)})
		} else if k := want.differingColumn(got, i, j); k >= 0 {
			different, d.Missing, d.Extra = different+1, d.Missing+1, d.Extra+1
			d.addRow(DiffRow{Row: i, Column: want.Columns[k].Name, Want: want.Row(i), Got: got.Row(j)})
		}
	}
	for _, i := range slices.Sorted(maps.Values(gotRows)) {
		d.addExtra(got, i)
	}
	if d.Missing == 0 && d.Extra == 0 {
		return Proof{EveryValue, want.Digest(), want.Rows, 0}, nil
	}
	var problems []string
	addCount := func(n int, one, many string) {
		if n > 0 {
			problems = append(problems, english.Plural(n, one, many))
		}
	}
	addCount(different, "group has different values", "groups have different values")
	addCount(d.Missing-different, "group is missing", "groups are missing")
	addCount(d.Extra-different, "group is unexpected", "groups are unexpected")
	d.Problem = strings.Join(problems, ", ")
	return Proof{}, d
}

func (d *Diff) addExtra(got *Answer, i int) {
	d.Extra++
	d.addRow(DiffRow{Row: i, Got: got.Row(i)})
}

func (d *Diff) addRow(r DiffRow) {
	if len(d.Rows) < MaxDiffs {
		d.Rows = append(d.Rows, r)
	}
}

// groupKey joins the columns of row i that identify its group.
func (a *Answer) groupKey(i int) string {
	var b []byte
	for k, c := range a.Columns {
		if c.Role != question.GroupStatistic {
			b = append(a.AppendValue(b, k, i), 0)
		}
	}
	return string(b)
}

// differingColumn returns the first column in which row i of a and row j of got, both of one group,
// differ; −1 = none.
func (a *Answer) differingColumn(got *Answer, i, j int) int {
	defined := math.NaN()
	for k, c := range a.Columns {
		if c.Name == question.DefinedColumn {
			defined = a.Vectors[k].Num[i]
		}
	}
	for k, c := range a.Columns {
		if c.Role != question.GroupStatistic {
			continue
		}
		x, y := a.Vectors[k].Num[i], got.Vectors[k].Num[j]
		if c.Name == question.MeanColumn && math.Abs(x-y) <= MeansTolerance(defined) {
			continue
		}
		if !a.equalAt(got, k, i, j) {
			return k
		}
	}
	return -1
}
