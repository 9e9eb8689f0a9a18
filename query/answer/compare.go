package answer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// MaxDiffs is the number of differing rows that a Diff keeps.
const MaxDiffs = 10

// Diff is the error of an answer that is not the reference.
type Diff struct {
	Problem           string // one line: what differs
	WantRows, GotRows int
	Missing, Extra    int // rows of the reference that are not in the answer, and the other way round
	Rows              []DiffRow
}

// DiffRow is one differing row: its place, and both sides as text (empty = no such row).
type DiffRow struct {
	Row       int // 0-based, in the order of the reference
	Column    string
	Want, Got string
}

// Error prints the problem and the first differing rows, one a line.
func (d *Diff) Error() string {
	if d.WantRows+d.GotRows+d.Missing+d.Extra == 0 {
		return d.Problem // no rows were compared
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d rows expected, %d came; %d missing, %d that should not be there)", d.Problem, d.WantRows, d.GotRows, d.Missing, d.Extra)
	for _, r := range d.Rows {
		fmt.Fprintf(&b, "\n  row %d", r.Row)
		if r.Column != "" {
			fmt.Fprintf(&b, ", %s", r.Column)
		}
		fmt.Fprintf(&b, "\n    want %s\n    got  %s", orNothing(r.Want), orNothing(r.Got))
	}
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "(no row)"
	}
	return s
}

// Compare holds got against want: columns, number of rows, order, and every
// value. Only records of one identity, which stand beside each other in an
// archive that keeps all, may come in any order. Numbers are equal if they are the
// same float64 (−0 equals 0) or both missing. The error is a *Diff.
func Compare(want, got *Answer) (Proof, error) {
	if d := shape(want, got); d != nil {
		return Proof{}, d
	}
	if want.Rows == got.Rows {
		got = want.untie(got)
		if k, i := firstDifference(want, got); k < 0 {
			return Proof{EveryValue, want.Digest(), want.Rows, 0}, nil
		} else if d := orderOnly(want, got, i); d != nil {
			return Proof{}, d
		}
	}
	return Proof{}, explain(want, got)
}

// untie brings those rows of got that are of one identity into the order of
// want's, as far as they are the same.
func (a *Answer) untie(got *Answer) *Answer {
	if len(a.Ties) == 0 {
		return got
	}
	order := got.inTurn()
	for _, t := range a.Ties {
		mine, theirs := order[t[0]:t[1]], got.sorted(order[t[0]:t[1]])
		for k, i := range a.sorted(mine) {
			order[i] = theirs[k]
		}
	}
	return got.of(order)
}

// AnyOrder is the same answer whatever the order of its rows was.
func (a *Answer) AnyOrder() *Answer { return a.of(a.sorted(a.inTurn())) }

func (a *Answer) inTurn() []int {
	rows := make([]int, a.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// sorted are rows in the order of their texts.
func (a *Answer) sorted(rows []int) []int {
	return slices.SortedFunc(slices.Values(rows), func(i, j int) int { return strings.Compare(a.Row(i), a.Row(j)) })
}

// of copies rows.
func (a *Answer) of(rows []int) *Answer {
	var out Builder
	out.Reset(a.Columns)
	for _, i := range rows {
		out.Copy(a, i)
	}
	return out.Take()
}

// CompareRecords holds the digest of the records that an archive holds against
// that of the data: equal digests of 128 bits, and as many records.
func CompareRecords(want, got record.Digest) (Proof, error) {
	if want != got {
		return Proof{}, &Diff{Problem: fmt.Sprintf("it holds %d records with digest %s, the data %d with digest %s", got.Records, got, want.Records, want)}
	}
	return Proof{DigestAlone, Digest{Hi: want.Hi, Lo: want.Lo}, int(want.Records), 0}, nil
}

// shape returns a Diff if got has other columns than want, or columns that are
// not as long as its rows are many; nil if their values can be compared.
func shape(want, got *Answer) *Diff {
	d := &Diff{WantRows: want.Rows, GotRows: got.Rows}
	if len(want.Columns) != len(got.Columns) {
		d.Problem = fmt.Sprintf("%d columns came, %d were asked for", len(got.Columns), len(want.Columns))
		return d
	}
	for k, c := range want.Columns {
		o, n := got.Columns[k], got.length(k)
		switch {
		case o.Name != c.Name:
			d.Problem = fmt.Sprintf("column %d is %s, %s was asked for", k+1, o.Name, c.Name)
		case o.Kind != c.Kind:
			d.Problem = fmt.Sprintf("column %s holds values of another kind than was asked for", c.Name)
		case n != got.Rows:
			d.Problem = fmt.Sprintf("column %s holds %d values for %d rows", c.Name, n, got.Rows)
		default:
			continue
		}
		return d
	}
	return nil
}

// CompareDigest holds the digest of an answer that another process decoded
// against want: equal digests of 128 bits over every value and the order of
// rows. The error is a *Diff without rows.
func CompareDigest(want *Answer, got Digest, rows int) (Proof, error) {
	if d := want.Digest(); d != got || rows != want.Rows {
		problem := fmt.Sprintf("the answer's digest is %s, the reference's %s", FormatDigest(got), FormatDigest(d))
		return Proof{}, &Diff{Problem: problem, WantRows: want.Rows, GotRows: rows}
	}
	return Proof{DigestAlone, got, want.Rows, 0}, nil
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
		return len(a.Vectors[k].Whole)
	}
}

// firstDifference returns the column and row of the first differing value in
// row order, or −1, −1. Both answers have the same shape.
func firstDifference(want, got *Answer) (column, row int) {
	column, row = -1, want.Rows
	for k := range want.Columns {
		for i := range row {
			if !want.same(got, k, i, i) {
				column, row = k, i
				break
			}
		}
	}
	if column < 0 {
		return -1, -1
	}
	return column, row
}

// same compares column k of row i of a with row j of o.
func (a *Answer) same(o *Answer, k, i, j int) bool {
	v, w := &a.Vectors[k], &o.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return v.Text[i] == w.Text[j]
	case question.Number:
		return sameNumber(v.Num[i], w.Num[j])
	case question.List:
		return slices.EqualFunc(v.List(i), w.List(j), sameNumber)
	default:
		return v.Whole[i] == w.Whole[j]
	}
}

func sameNumber(x, y float64) bool { return x == y || (math.IsNaN(x) && math.IsNaN(y)) }

// orderOnly returns a Diff if both answers hold the same rows in another order.
func orderOnly(want, got *Answer, first int) *Diff {
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
	d := &Diff{Problem: fmt.Sprintf("all rows are right, but their order is not: the first differs at row %d", first), WantRows: want.Rows, GotRows: got.Rows}
	for i := first; i < want.Rows && len(d.Rows) < MaxDiffs; i++ {
		if w, g := want.Row(i), got.Row(i); w != g {
			d.Rows = append(d.Rows, DiffRow{Row: i, Want: w, Got: g})
		}
	}
	return d
}

// explain finds which rows are missing, which should not be there, and, where
// rows of the same place differ in a value, which value.
func explain(want, got *Answer) *Diff {
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
	d.pair(want, got, missing, surplus)
	switch {
	case d.Missing == d.Extra:
		d.Problem = fmt.Sprintf("%d rows hold different values", d.Missing)
	case d.Missing > d.Extra:
		d.Problem = fmt.Sprintf("%d rows are missing", d.Missing-d.Extra)
	default:
		d.Problem = fmt.Sprintf("%d rows should not be there", d.Extra-d.Missing)
	}
	return d
}

// pair lists the first differing rows; a missing and a surplus row that differ
// in one value only are shown as that value.
func (d *Diff) pair(want, got *Answer, missing, surplus []int) {
	used := make([]bool, len(surplus))
	for _, i := range missing {
		if len(d.Rows) == MaxDiffs {
			return
		}
		row := DiffRow{Row: i, Want: want.Row(i)}
		for s, j := range surplus {
			if k := onlyDifference(want, got, i, j); !used[s] && k >= 0 {
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

// onlyDifference returns the one column in which row i of want and row j of
// got differ, or −1.
func onlyDifference(want, got *Answer, i, j int) int {
	column := -1
	for k := range want.Columns {
		if !want.same(got, k, i, j) {
			if column >= 0 {
				return -1
			}
			column = k
		}
	}
	return column
}

// Row prints row i in canonical text, columns separated by " | ".
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

// AppendValue appends the canonical text of column k in row i: ISO 8601 for
// times, seconds for spans, the shortest text that parses to the same float64
// for numbers, NA for missing, blanks between those of a list.
func (a *Answer) AppendValue(b []byte, k, i int) []byte {
	v := &a.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return append(b, v.Text[i]...)
	case question.Time:
		return time.Unix(v.Whole[i], 0).UTC().AppendFormat(b, time.RFC3339)
	case question.Span:
		return strconv.AppendInt(b, v.Whole[i], 10)
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

// Degree is how much of an answer a proof compared. Proofs of different degrees
// are shown beside each other, and never ranked together.
type Degree string

// The degrees.
const (
	EveryValue    Degree = "every value"
	KeysAndCounts Degree = "keys and counts" // that what was asked for came, not what is in it
	DigestAlone   Degree = "digest"          // 128 bits over all values
)

// Proof says that what an engine gave was compared with what it must give, and
// is equal. Only the comparisons of this package make one.
type Proof struct {
	degree  Degree
	digest  Digest
	rows    int
	largest float64
}

// Largest is the largest relative difference of numbers that are Rounded.
func (p Proof) Largest() float64 { return p.largest }

// Degree is how much was compared.
func (p Proof) Degree() Degree { return p.degree }

// Digest is the digest of the answer that was proven; zero where answers were
// compared one by one.
func (p Proof) Digest() Digest { return p.digest }

// Rows is the number of rows that were proven.
func (p Proof) Rows() int { return p.rows }

// Valid is false for the zero Proof, which proves nothing.
func (p Proof) Valid() bool { return p.degree != "" }

// Tally counts how answers turned out that were compared one by one, as they
// came, and what they were held against.
type Tally struct {
	Succeeded int64 `json:"succeeded"`         // operations
	Wrong     int64 `json:"wrong,omitempty"`   // answers that cannot be
	Missing   int64 `json:"missing,omitempty"` // records that must be there, beyond those that are allowed
	Failed    int64 `json:"failed,omitempty"`  // operations: errors, keys that were taken

	Found   int64 `json:"found"`   // answers that were held against the keys and fields that must be there
	Values  int64 `json:"values"`  // of these, those whose every value was compared
	Written int64 `json:"written"` // inserts, updates, deletes: the engine's word

	// What was compared of values that carry their key, field and version, and of
	// writes by what was read later. A folder of an older version has none of these.
	Stamped  int64 `json:"stamped,omitempty"`  // records whose values were compared with key and field
	Versions int64 `json:"versions,omitempty"` // of these, those compared with the last acknowledged version
	Unmarked int64 `json:"unmarked,omitempty"` // values of other programs, which carry nothing
	Short    int64 `json:"short,omitempty"`    // values that are too short to carry anything
	Stale    int64 `json:"stale,omitempty"`    // reads of an older version, which the engine's setting allows
	Reread   int64 `json:"reread,omitempty"`   // keys that were written, and read again during the run
	Derived  bool  `json:"derived,omitempty"`  // every write of a field has the same value (dataintegrity)

	Updates      int64 `json:"updates,omitempty"` // that were acknowledged
	Inserts      int64 `json:"inserts,omitempty"`
	Deletes      int64 `json:"deletes,omitempty"`
	KeysUpdated  int64 `json:"keys_updated,omitempty"` // that were read after the end, and showed the last version
	KeysInserted int64 `json:"keys_inserted,omitempty"`
	KeysDeleted  int64 `json:"keys_deleted,omitempty"` // that were looked for after the end, and are gone
	ReadBack     int64 `json:"read_back,omitempty"`    // records of a load that were read after its end
	Counted      int64 `json:"counted,omitempty"`      // records in the table after a load, by the engine's count
}

// Add adds another client's.
func (t *Tally) Add(o Tally) {
	t.Succeeded, t.Wrong, t.Missing, t.Failed = t.Succeeded+o.Succeeded, t.Wrong+o.Wrong, t.Missing+o.Missing, t.Failed+o.Failed
	t.Found, t.Values, t.Written = t.Found+o.Found, t.Values+o.Values, t.Written+o.Written
	t.Stamped, t.Versions, t.Unmarked, t.Short = t.Stamped+o.Stamped, t.Versions+o.Versions, t.Unmarked+o.Unmarked, t.Short+o.Short
	t.Stale, t.Reread, t.Derived = t.Stale+o.Stale, t.Reread+o.Reread, t.Derived || o.Derived
	t.Updates, t.Inserts, t.Deletes = t.Updates+o.Updates, t.Inserts+o.Inserts, t.Deletes+o.Deletes
	t.KeysUpdated, t.KeysInserted, t.KeysDeleted = t.KeysUpdated+o.KeysUpdated, t.KeysInserted+o.KeysInserted, t.KeysDeleted+o.KeysDeleted
	t.ReadBack, t.Counted = t.ReadBack+o.ReadBack, t.Counted+o.Counted
}

// CompareAll proves answers that were compared one by one: all of them must be
// right, and some must have been checked. The error is a *Diff where one is
// wrong; failed, the error with which the work ended, is that of the others.
func CompareAll(t Tally, failed error) (Proof, error) {
	switch all := t.Wrong + t.Missing + t.Failed; {
	case failed != nil:
	case all+t.Succeeded == 0:
		failed = errors.New("no answer ended within the time that was measured; give it longer")
	case all > 0:
		failed = fmt.Errorf("%d answers are wrong, %d records are missing, %d operations failed, %d succeeded", t.Wrong, t.Missing, t.Failed, t.Succeeded)
	}
	switch {
	case t.Wrong > 0:
		return Proof{}, &Diff{Problem: failed.Error()}
	case failed != nil:
		return Proof{}, failed
	case t.Found == 0:
		return Proof{}, errors.New("no answer was checked")
	case t.Values < t.Found:
		return Proof{degree: KeysAndCounts}, nil
	}
	return Proof{degree: EveryValue}, nil
}

// Matcher decides which rows of a batch a question asks for. Headers are
// looked at once per batch, not once per row.
type Matcher struct {
	q     *question.Question
	valid map[int64]struct{} // of a list; nil for ranges
	b     *record.Batch
	heads []bool
}

// NewMatcher prepares to match q.
func NewMatcher(q *question.Question) *Matcher {
	m := &Matcher{q: q}
	if len(q.Valid.List) > 0 {
		m.valid = make(map[int64]struct{}, len(q.Valid.List))
		for _, v := range q.Valid.List {
			m.valid[v] = struct{}{}
		}
	}
	return m
}

// Header reports whether records under h can match.
func (m *Matcher) Header(h *record.Header) bool {
	for f, values := range m.q.Header {
		if len(values) > 0 && !slices.Contains(values, h[f]) {
			return false
		}
	}
	return true
}

// Use points the matcher at b.
func (m *Matcher) Use(b *record.Batch) {
	m.b, m.heads = b, m.heads[:0]
	for i := range b.Headers {
		m.heads = append(m.heads, m.Header(&b.Headers[i]))
	}
}

// Row reports whether row i of the batch in use matches.
func (m *Matcher) Row(i int) bool {
	return m.heads[m.b.Head[i]] && m.Times(m.b.Valid[i], m.b.Lead[i])
}

// Times reports whether a valid time and a lead match.
func (m *Matcher) Times(valid int64, lead int32) bool {
	if len(m.q.Lead) > 0 {
		if _, ok := slices.BinarySearch(m.q.Lead, lead); !ok {
			return false
		}
	}
	if !m.q.Clock.All() && !m.q.Clock.Admits(valid, lead) {
		return false
	}
	if m.valid != nil {
		_, ok := m.valid[valid]
		return ok
	}
	return m.q.Valid.Contains(valid)
}
