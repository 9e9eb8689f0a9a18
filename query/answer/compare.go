package answer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// MaxDiffs is the number of differing rows that a Diff keeps.
const MaxDiffs = 10

// Diff is the error of an answer that differs from the reference.
type Diff struct {
	Problem           string // one line: what differs
	WantRows, GotRows int
	Missing, Extra    int // rows only in the reference, and rows only in the answer
	Rows              []DiffRow
}

// DiffRow is one differing row: its position, and both sides as text (empty = no such row).
type DiffRow struct {
	// 0-based: in the reference if Compare or CompareMeans lists one of its rows, else in the result
	Row       int
	Column    string // where the two sides differ, if in one column
	Want, Got string
}

// Error prints the problem and the first differing rows, one row per line.
func (d *Diff) Error() string {
	if d.WantRows+d.GotRows+d.Missing+d.Extra == 0 {
		return d.Problem // no rows were compared
	}
	var b strings.Builder
	expected, got := english.Plural(d.WantRows, "row", ""), humanize.Comma(int64(d.GotRows))
	fmt.Fprintf(&b, "%s (expected %s, got %s", d.Problem, expected, got)
	if d.Missing+d.Extra > 0 { // else the rows were not matched, or only their order differs
		fmt.Fprintf(&b, ": %s missing, %s unexpected", humanize.Comma(int64(d.Missing)), humanize.Comma(int64(d.Extra)))
	}
	b.WriteString(")")
	for _, r := range d.Rows {
		fmt.Fprintf(&b, "\n  row %d", r.Row)
		if r.Column != "" {
			fmt.Fprintf(&b, ", %s", r.Column)
		}
		fmt.Fprintf(&b, "\n    want %s\n    got  %s", cmp.Or(r.Want, "(no row)"), cmp.Or(r.Got, "(no row)"))
	}
	return b.String()
}

// Compare checks the columns of got, the number of rows, their order, and every value against want. Rows of one
// identity (want.Ties) may come in any order among themselves. Two numbers are equal if they are the same float64
// (−0 equals 0) or both missing. The error is a *Diff.
func Compare(want, got *Answer) (Proof, error) {
	if d := checkShape(want, got); d != nil {
		return Proof{}, d
	}
	if want.Rows == got.Rows {
		got = want.alignTies(got)
		if k, i := firstDifference(want, got); k < 0 {
			return Proof{EveryValue, want.Digest(), want.Rows, 0}, nil
		} else if d := diffOfOrder(want, got, i); d != nil {
			return Proof{}, d
		}
	}
	return Proof{}, diffOfRows(want, got)
}

// alignTies reorders rows of got that share an identity, to match the order of those in a.
func (a *Answer) alignTies(got *Answer) *Answer {
	if len(a.Ties) == 0 {
		return got
	}
	order := lists.Indices(got.Rows)
	for _, t := range a.Ties {
		mine, theirs := order[t[0]:t[1]], got.sortByText(order[t[0]:t[1]])
		for k, i := range a.sortByText(mine) {
			order[i] = theirs[k]
		}
	}
	return got.selectRows(order)
}

// SortedByText returns a copy whose rows are sorted by their text, to compare answers regardless of
// order.
func (a *Answer) SortedByText() *Answer { return a.selectRows(a.sortByText(lists.Indices(a.Rows))) }

// sortByText sorts row numbers by the text of their rows.
func (a *Answer) sortByText(rows []int) []int {
	return slices.SortedFunc(slices.Values(rows), func(i, j int) int { return strings.Compare(a.Row(i), a.Row(j)) })
}

// selectRows copies the given rows, in the given order.
func (a *Answer) selectRows(rows []int) *Answer {
	var out Builder
	out.Reset(a.Columns)
	for _, i := range rows {
		out.Copy(a, i)
	}
	return out.Take()
}

// CompareRecords compares the digest of an archive's records with the digest of the data. Both must
// have the same 128 bits and the same number of records.
func CompareRecords(want, got record.Digest) (Proof, error) {
	if want != got {
		records := english.Plural(int(got.Records), "record", "")
		problem := fmt.Sprintf("the archive has %s with digest %s, the data has %s with digest %s",
			records, got, humanize.Comma(int64(want.Records)), want)
		return Proof{}, &Diff{Problem: problem}
	}
	return Proof{DigestOnly, Digest{Hi: want.Hi, Lo: want.Lo}, int(want.Records), 0}, nil
}

// checkShape returns a Diff if the columns of got differ from those of want, or if a column has
// another length than the answer has rows; nil if the values can be compared.
func checkShape(want, got *Answer) *Diff {
	d := &Diff{WantRows: want.Rows, GotRows: got.Rows}
	if len(want.Columns) != len(got.Columns) {
		columns := english.Plural(len(got.Columns), "column", "")
		d.Problem = fmt.Sprintf("got %s, the question has %d", columns, len(want.Columns))
		return d
	}
	for k, c := range want.Columns {
		o, n := got.Columns[k], got.length(k)
		switch {
		case o.Name != c.Name:
			d.Problem = fmt.Sprintf("column %d is %s, the question has %s", k+1, o.Name, c.Name)
		case o.Kind != c.Kind:
			d.Problem = fmt.Sprintf("column %s has values of another kind than in the question", c.Name)
		case n != got.Rows:
			values, rows := english.Plural(n, "value", ""), english.Plural(got.Rows, "row", "")
			d.Problem = fmt.Sprintf("column %s has %s for %s", c.Name, values, rows)
		default:
			continue
		}
		return d
	}
	return nil
}

// CompareDigest compares the digest of an answer that another process decoded with the digest of
// want. The digest has 128 bits and covers every value and the order of rows. The error is a *Diff
// without rows.
func CompareDigest(want *Answer, got Digest, rows int) (Proof, error) {
	if d := want.Digest(); d != got || rows != want.Rows {
		problem := fmt.Sprintf("the answer's digest is %s, the reference's %s", FormatDigest(got), FormatDigest(d))
		return Proof{}, &Diff{Problem: problem, WantRows: want.Rows, GotRows: rows}
	}
	return Proof{DigestOnly, got, want.Rows, 0}, nil
}

// length is the number of values of column k.
func (a *Answer) length(k int) int {
	switch a.Columns[k].Kind {
	case question.Text:
		return len(a.Vectors[k].Text)
	case question.Number:
		return len(a.Vectors[k].Num)
	case question.List:
		return len(a.Vectors[k].End)
	default:
		return len(a.Vectors[k].Seconds)
	}
}

// firstDifference returns the first row that differs, and the first differing column of it; without a difference the
// column is −1. Both answers have the same shape.
func firstDifference(want, got *Answer) (column, row int) {
	column, row = -1, want.Rows
	for k := range want.Columns {
		for i := range row {
			if !want.equalAt(got, k, i, i) {
				column, row = k, i
				break
			}
		}
	}
	return column, row
}

// equalAt compares column k of row i of a with column k of row j of o.
func (a *Answer) equalAt(o *Answer, k, i, j int) bool {
	v, w := &a.Vectors[k], &o.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return v.Text[i] == w.Text[j]
	case question.Number:
		return equalNumbers(v.Num[i], w.Num[j])
	case question.List:
		return slices.EqualFunc(v.List(i), w.List(j), equalNumbers)
	default:
		return v.Seconds[i] == w.Seconds[j]
	}
}

func equalNumbers(x, y float64) bool { return x == y || (math.IsNaN(x) && math.IsNaN(y)) }

// diffOfOrder returns a Diff if both answers have the same rows in a different order, else nil.
func diffOfOrder(want, got *Answer, first int) *Diff {
	count := make(map[string]int, want.Rows)
	for i := range want.Rows {
		count[want.Row(i)]++
		count[got.Row(i)]--
	}
	for _, n := range count {
		if n != 0 {
			return nil
		}
	}
	problem := fmt.Sprintf("all rows are correct, but their order is not: the first differs at row %d", first)
	d := &Diff{Problem: problem, WantRows: want.Rows, GotRows: got.Rows}
	for i := first; i < want.Rows && len(d.Rows) < MaxDiffs; i++ {
		if w, g := want.Row(i), got.Row(i); w != g {
			d.Rows = append(d.Rows, DiffRow{Row: i, Want: w, Got: g})
		}
	}
	return d
}

// diffOfRows finds the missing and the unexpected rows. Where such a pair differs in a single
// value, it names the column.
func diffOfRows(want, got *Answer) *Diff {
	d := &Diff{WantRows: want.Rows, GotRows: got.Rows}
	extra := make(map[string]int, got.Rows)
	for i := range got.Rows {
		extra[got.Row(i)]++
	}
	var missing []int
	for i := range want.Rows {
		key := want.Row(i)
		if extra[key] > 0 {
			extra[key]--
			continue
		}
		missing = append(missing, i)
	}
	d.Missing = len(missing)
	var surplus []int
	for i := range got.Rows {
		if key := got.Row(i); extra[key] > 0 {
			extra[key]--
			surplus = append(surplus, i)
		}
	}
	d.Extra = len(surplus)
	d.pairRows(want, got, missing, surplus)
	switch {
	case d.Missing == d.Extra:
		d.Problem = english.Plural(d.Missing, "row has", "rows have") + " different values"
	case d.Missing > d.Extra:
		d.Problem = english.Plural(d.Missing-d.Extra, "row is", "rows are") + " missing"
	default:
		d.Problem = english.Plural(d.Extra-d.Missing, "unexpected row", "")
	}
	return d
}

// pairRows lists the first differing rows. It shows a missing and an unexpected row as one entry if
// they differ in a single value.
func (d *Diff) pairRows(want, got *Answer, missing, surplus []int) {
	used := make([]bool, len(surplus))
	for _, i := range missing {
		if len(d.Rows) == MaxDiffs {
			return
		}
		row := DiffRow{Row: i, Want: want.Row(i)}
		for s, j := range surplus {
			if k := singleDifference(want, got, i, j); !used[s] && k >= 0 {
				used[s] = true
				row.Column, row.Got = want.Columns[k].Name, got.Row(j)
				break
			}
		}
		d.Rows = append(d.Rows, row)
	}
	for s, j := range surplus {
		if !used[s] && len(d.Rows) < MaxDiffs {
			d.Rows = append(d.Rows, DiffRow{Row: j, Got: got.Row(j)})
		}
	}
}

// singleDifference returns the column if row i of want and row j of got differ in exactly one, else
// −1.
func singleDifference(want, got *Answer, i, j int) int {
	column := -1
	for k := range want.Columns {
		if !want.equalAt(got, k, i, j) {
			if column >= 0 {
				return -1
			}
			column = k
		}
	}
	return column
}

// Row prints row i in canonical text, with " | " between columns.
func (a *Answer) Row(i int) string {
	var b []byte
	for k := range a.Columns {
		if k > 0 {
			b = append(b, " | "...)
		}
		b = a.AppendValue(b, k, i)
	}
	return string(b)
}

// AppendValue appends the canonical text of column k in row i: ISO 8601 for times, seconds for
// durations, for numbers the shortest text that parses to the same float64, NA for missing. The values
// of a list are separated by blanks.
func (a *Answer) AppendValue(b []byte, k, i int) []byte {
	v := &a.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return append(b, v.Text[i]...)
	case question.Time:
		return time.Unix(v.Seconds[i], 0).UTC().AppendFormat(b, time.RFC3339)
	case question.Duration:
		return strconv.AppendInt(b, v.Seconds[i], 10)
	case question.List:
		for k, f := range v.List(i) {
			if k > 0 {
				b = append(b, ' ')
			}
			b = appendNumber(b, f)
		}
		return b
	}
	return appendNumber(b, v.Num[i])
}

func appendNumber(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NA"...)
	case f == 0:
		return append(b, '0')
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// Degree is how much of an answer a proof compared. Reports list proofs of different degrees next
// to each other but never rank them together.
type Degree string

// The degrees.
const (
	EveryValue Degree = "every value"
	// the result has the expected keys and the expected number of records; not all of its values were compared
	KeysAndCounts Degree = "keys and counts"
	DigestOnly    Degree = "digest" // 128 bits over all values
)

// Proof states that an engine's result was compared with the expected result, and is equal. Only
// the comparison functions of this package create one.
type Proof struct {
	degree            Degree
	digest            Digest
	rows              int
	largestDifference float64
}

// LargestDifference is the largest relative difference of numbers in a proof of degree Rounded or Undetermined.
func (p Proof) LargestDifference() float64 { return p.largestDifference }

// Degree is how much of the answer was compared.
func (p Proof) Degree() Degree { return p.degree }

// Digest is the digest of the proven answer; zero where many answers were compared one by one.
func (p Proof) Digest() Digest { return p.digest }

// Rows is the number of proven rows.
func (p Proof) Rows() int { return p.rows }

// Valid is false for the zero Proof, which proves nothing.
func (p Proof) Valid() bool { return p.degree != "" }

// Tally counts answers that were compared one by one during a run: by their outcome, and by what they
// were compared with.
type Tally struct {
	Succeeded int64 `json:"succeeded"`       // operations
	Wrong     int64 `json:"wrong,omitempty"` // answers that contradict the data
	// records that must exist but were not found, beyond the number that the setting allows
	Missing int64 `json:"missing,omitempty"`
	Failed  int64 `json:"failed,omitempty"` // operations that ended in an error, or whose key existed already

	// answers that returned something to check, and whose keys and fields were compared
	Found   int64 `json:"found"`
	Values  int64 `json:"values"`  // of Found: answers of which every value was compared, too
	Written int64 `json:"written"` // inserts, updates and deletes that the engine acknowledged

	// The study ycsb writes values that contain a stamp: a code of their key, field and version.
	Stamped  int64 `json:"stamped,omitempty"`  // records whose stamps were compared with their key and field
	Versions int64 `json:"versions,omitempty"` // of Stamped: records also compared with the last acknowledged version
	Unmarked int64 `json:"unmarked,omitempty"` // values without a stamp, which another program wrote
	Short    int64 `json:"short,omitempty"`    // values that are too short for a stamp
	// reads that returned an older version, where the engine's setting allows it
	Stale  int64 `json:"stale,omitempty"`
	Reread int64 `json:"reread,omitempty"` // written keys that were read again during the run
	// values follow from key and field (YCSB's dataintegrity), so an update writes the existing value
	Derived bool `json:"derived,omitempty"`

	Updates int64 `json:"updates,omitempty"` // acknowledged updates
	Inserts int64 `json:"inserts,omitempty"`
	Deletes int64 `json:"deletes,omitempty"`
	// updated keys that showed the last version after the end of the run
	KeysUpdated  int64 `json:"keys_updated,omitempty"`
	KeysInserted int64 `json:"keys_inserted,omitempty"`
	// deleted keys that were not found after the end of the run
	KeysDeleted int64 `json:"keys_deleted,omitempty"`
	ReadBack    int64 `json:"read_back,omitempty"` // records that were read back after a load
	Counted     int64 `json:"counted,omitempty"`   // records in the table after a load, counted by the engine
}

// Add adds the counts of another client.
func (t *Tally) Add(o Tally) {
	t.Succeeded, t.Wrong = t.Succeeded+o.Succeeded, t.Wrong+o.Wrong
	t.Missing, t.Failed = t.Missing+o.Missing, t.Failed+o.Failed
	t.Found, t.Values, t.Written = t.Found+o.Found, t.Values+o.Values, t.Written+o.Written
	t.Stamped, t.Versions = t.Stamped+o.Stamped, t.Versions+o.Versions
	t.Unmarked, t.Short = t.Unmarked+o.Unmarked, t.Short+o.Short
	t.Stale, t.Reread, t.Derived = t.Stale+o.Stale, t.Reread+o.Reread, t.Derived || o.Derived
	t.Updates, t.Inserts, t.Deletes = t.Updates+o.Updates, t.Inserts+o.Inserts, t.Deletes+o.Deletes
	t.KeysUpdated, t.KeysInserted = t.KeysUpdated+o.KeysUpdated, t.KeysInserted+o.KeysInserted
	t.KeysDeleted += o.KeysDeleted
	t.ReadBack, t.Counted = t.ReadBack+o.ReadBack, t.Counted+o.Counted
}

// CompareAll proves a set of answers that were compared one by one. All of them must be correct, and at least one must
// have been checked. workError is the error that ended the work, if any. CompareAll returns workError if it is a *Diff.
// Else, if the tally has wrong answers, it returns a *Diff with their number. If no answer is wrong, it returns
// workError or, without one, an error that counts the missing records and the failures.
func CompareAll(t Tally, workError error) (Proof, error) {
	wrong := english.Plural(int(t.Wrong), "answer is", "answers are") + " wrong"
	counts := fmt.Sprintf("%s, %s missing, %s failed, %s succeeded", wrong,
		english.Plural(int(t.Missing), "record is", "records are"), english.Plural(int(t.Failed), "operation", ""),
		humanize.Comma(t.Succeeded))
	_, isDiff := errors.AsType[*Diff](workError)
	switch {
	case t.Wrong > 0 && workError != nil && !isDiff:
		early := fault.Redact(workError.Error())
		return Proof{}, &Diff{Problem: wrong + "; the work ended early: " + early}
	case t.Wrong > 0 && !isDiff:
		return Proof{}, &Diff{Problem: counts}
	case workError != nil:
		return Proof{}, workError
	case t.Missing+t.Failed+t.Succeeded == 0:
		return Proof{}, errors.New("no answer finished within the measured time; measure longer")
	case t.Missing+t.Failed > 0:
		return Proof{}, errors.New(counts)
	case t.Found == 0:
		return Proof{}, errors.New("no answer was checked")
	case t.Values < t.Found:
		return Proof{degree: KeysAndCounts}, nil
	}
	return Proof{degree: EveryValue}, nil
}

// Matcher decides which rows of a batch satisfy a question's conditions. It evaluates header
// conditions once per batch, not once per row.
type Matcher struct {
	q             *question.Question
	valid         map[int64]bool // a list of times; empty for a range
	batch         *record.Batch
	headerMatches []bool
}

// NewMatcher prepares a Matcher for q.
func NewMatcher(q *question.Question) *Matcher {
	return &Matcher{q: q, valid: lists.Set(q.Valid.List, func(v int64) int64 { return v })}
}

// Header reports whether records with header h can match.
func (m *Matcher) Header(h *record.Header) bool {
	for f, values := range m.q.Header {
		if len(values) > 0 && !slices.Contains(values, h[f]) {
			return false
		}
	}
	return true
}

// Use sets the batch whose rows Row tests.
func (m *Matcher) Use(b *record.Batch) {
	m.batch, m.headerMatches = b, m.headerMatches[:0]
	for i := range b.Headers {
		m.headerMatches = append(m.headerMatches, m.Header(&b.Headers[i]))
	}
}

// Row reports whether row i of the current batch matches.
func (m *Matcher) Row(i int) bool {
	return m.headerMatches[m.batch.HeaderIndex[i]] && m.Times(m.batch.Valid[i], m.batch.Lead[i])
}

// Times reports whether a valid time and a lead match.
func (m *Matcher) Times(valid int64, lead int32) bool {
	if len(m.q.Lead) > 0 {
		if _, ok := slices.BinarySearch(m.q.Lead, lead); !ok {
			return false
		}
	}
	if !m.q.TimeFilter.AcceptsAll() && !m.q.TimeFilter.Accepts(valid, lead) {
		return false
	}
	if len(m.valid) > 0 {
		return m.valid[valid]
	}
	return m.q.Valid.Contains(valid)
}
