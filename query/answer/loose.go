package answer

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
)

// Loose is an answer to a question that a user put in SQL: each engine chooses
// the types of its columns.
type Loose struct {
	rows [][]value
}

// Decimal is a number in digits; or NaN or Infinity, of PostgreSQL. Decimal, Date,
// Moment and Untyped are what an engine's values are by the types of its answer's
// columns. A string is a text, an integer and a floating-point number are what they are.
type Decimal string

// Date is a day: 2024-07-01.
type Date string

// Moment is a time of a day in UTC: 2024-07-01 12:00:00.25.
type Moment string

// Untyped is of an engine whose columns have no type: a text, or a date or time as text.
type Untyped string

// MomentOf is a time as a Moment.
func MomentOf(t time.Time) Moment { return Moment(t.UTC().Format("2006-01-02 15:04:05.999999")) }

// DateOf is the day of a time as a Date.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }

// value is a value in one of the few forms that answers are compared in.
type value struct {
	kind  byte
	text  string
	num   float64 // of numbers
	scale float64 // what a sum that may cancel was computed of: the sum of absolute values; 0 = nothing
}

const (
	null byte = iota
	exact
	float
	text
	day
	moment
	untyped
)

var kindNames = [...]string{"NULL", "an exact number", "a floating-point number", "a text", "a date", "a time", "a text"} //nolint:gochecknoglobals // a constant table

// The degrees of what two engines of different code answered: alike; alike but
// for the rounding of floating-point numbers; or the question does not fix the
// answer, and what came is one of those that it allows. No reference that no
// database computed has a part in them.
const (
	Agreed       Degree = "engines agree"
	Rounded      Degree = "equal to rounding"
	Undetermined Degree = "undetermined"
)

// Tolerance is the difference up to which two numbers are equal of which one at
// least is no exact decimal, relative to the larger or, of a sum, to the sum of
// the absolute values: engines sum in any order.
const Tolerance = 1e-9

// exactTolerance is Tolerance between a decimal and the floating-point number in
// which an engine without decimals keeps it: a cent of a hundred billion counts.
const exactTolerance = 1e-12

// Len is the number of rows.
func (l *Loose) Len() int { return len(l.rows) }

// Add adds a row.
func (l *Loose) Add(row []any) {
	out := make([]value, len(row))
	for k, v := range row {
		out[k] = loosen(v)
	}
	l.rows = append(l.rows, out)
}

var (
	number  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	dateISO = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	timeISO = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(Z|\+00|\+00:00)?$`)
)

// loosen reads a value by its type.
func loosen(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case bool:
		if v {
			return value{kind: exact, text: "1", num: 1}
		}
		return value{kind: exact, text: "0"}
	case float64:
		return value{kind: float, text: strconv.FormatFloat(v, 'g', -1, 64), num: v}
	case float32:
		return value{kind: float, text: strconv.FormatFloat(float64(v), 'g', -1, 32), num: float64(v)}
	case Date:
		return value{kind: day, text: string(v)}
	case Moment:
		return momentOf(string(v))
	case time.Time:
		return momentOf(string(MomentOf(v)))
	case Untyped:
		return value{kind: untyped, text: string(v)}
	case []byte:
		return value{kind: text, text: string(v)}
	case string:
		return value{kind: text, text: v}
	case Decimal:
		return numberOf(string(v))
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return numberOf(fmt.Sprint(v))
	case fmt.Stringer: // a decimal, an integer of many digits, a UUID
		if s := v.String(); number.MatchString(s) {
			return numberOf(s)
		}
	}
	return value{kind: text, text: fmt.Sprint(v)}
}

// numberOf reads digits as they are, and what has none as a floating-point number.
func numberOf(s string) value {
	f, err := strconv.ParseFloat(s, 64)
	if !number.MatchString(s) {
		if err != nil { // beyond the range: 1e400 is not 7e999
			return value{kind: text, text: s}
		}
		return value{kind: float, text: s, num: f}
	}
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return value{kind: exact, text: s, num: f}
}

// momentOf reads a time to the microsecond.
func momentOf(s string) value {
	if m := timeISO.FindStringSubmatch(s); m != nil {
		return value{kind: moment, text: m[1] + " " + m[2] + strings.TrimRight(m[3], "0.")}
	}
	return value{kind: moment, text: s}
}

// as reads a value without a type as the other side's is.
func (v value) as(kind byte) value {
	if v.kind != untyped {
		return v
	}
	switch {
	case kind == text || kind == day && dateISO.MatchString(v.text):
		v.kind = kind
	case kind == moment && timeISO.MatchString(v.text):
		return momentOf(v.text)
	case kind == exact || kind == float:
		if n := numberOf(v.text); n.kind == exact && n.text == v.text { // 1.0 is a text, 1 may be a number
			return n
		}
	}
	return v
}

// fine are the decimals that a sum or a constant may have; a number of more is
// a quotient, which each engine cuts elsewhere.
const fine = 6

func (v value) quotient() bool { return v.kind == exact && decimals(v.text) > fine }

// near reports whether values are equal for all that can be determined; off is by how
// much, relative to what the tolerance is.
func (v value) near(o value, tolerance float64) (off float64, ok bool) {
	v, o = v.as(o.kind), o.as(v.kind)
	numbers := (v.kind == exact || v.kind == float) && (o.kind == exact || o.kind == float)
	switch {
	case !numbers:
		return 0, v.kind == o.kind && v.text == o.text
	case v.kind == o.kind && v.text == o.text:
		return 0, true
	case v.kind == exact && o.kind == exact && !v.quotient() && !o.quotient():
		return 0, false
	case v.kind != o.kind && !v.quotient() && !o.quotient():
		tolerance = min(tolerance, exactTolerance)
	}
	size := max(math.Abs(v.num), math.Abs(o.num), v.scale, o.scale)
	if math.IsInf(v.num, 0) || math.IsInf(o.num, 0) || math.IsNaN(v.num) || math.IsNaN(o.num) { // whose tolerance would be infinite, too
		return 0, v.num == o.num || math.IsNaN(v.num) && math.IsNaN(o.num)
	}
	off = math.Abs(v.num - o.num)
	if v.kind == exact && o.kind == exact { // both of many digits: exactly, as far as a double does not see them
		a, _ := new(big.Float).SetPrec(200).SetString(v.text)
		b, _ := new(big.Float).SetPrec(200).SetString(o.text)
		off, _ = a.Sub(a, b).Float64()
		off = math.Abs(off)
	}
	if off == 0 {
		return 0, true
	}
	return off / size, off <= tolerance*size
}

func decimals(s string) int {
	if at := strings.IndexByte(s, '.'); at >= 0 {
		return len(s) - at - 1
	}
	return 0
}

// CompareLoose compares the answer of an engine with what is expected. Rows that
// are equal in the order, or all where there is none, are compared as sets with
// repetitions; where a limit cuts through rows that tie, those that came must be
// among them. The error is a *Diff.
func CompareLoose(e *Expected, got *Loose, tolerance float64) (Proof, error) {
	p, err := e.compare(got, tolerance)
	for _, o := range e.others {
		if err == nil {
			break
		}
		if q, wrong := o.compare(got, tolerance); wrong == nil {
			p, err = q, nil
		}
	}
	if err != nil && len(e.others) > 0 {
		p, err = e.fixed(got, tolerance, err)
	}
	if err == nil && (len(e.cut) > 0 || e.why != "") {
		p.degree = Undetermined
	}
	return p, err
}

// source names what an answer is compared with, to begin with what it has.
func (e *Expected) source() string {
	if e.degree == EveryValue {
		return "the reference has"
	}
	return "the other engine gave"
}

func (e *Expected) compare(got *Loose, tolerance float64) (p Proof, err error) {
	want := e.rows[e.offset : e.offset+e.count]
	d := &Diff{WantRows: len(want), GotRows: len(got.rows)}
	if len(want) != len(got.rows) {
		d.Problem = fmt.Sprintf("%d rows came, %s %d", len(got.rows), e.source(), len(want))
		return Proof{}, d
	}
	if len(want) > 0 && e.width != len(got.rows[0]) {
		d.Problem = fmt.Sprintf("%d columns came, %s %d", len(got.rows[0]), e.source(), e.width)
		return Proof{}, d
	}
	for i := range want {
		for _, k := range e.by {
			if k >= e.width {
				break
			}
			if _, ok := want[i][k].near(got.rows[i][k], tolerance); !ok {
				d.Problem = fmt.Sprintf("the order differs at row %d", i+1)
				if (want[i][k].kind == null) != (got.rows[i][k].kind == null) {
					d.Problem += ", as engines have NULL first or last: write NULLS FIRST or NULLS LAST"
				}
				d.unlike(i, want[i][:e.width], got.rows[i])
				return Proof{}, d
			}
		}
	}
	var largest float64
	equal := true
	e.groups(func(from, to int) bool {
		first, last := max(from, e.offset), min(to, e.offset+e.count)
		if first >= last {
			return true
		}
		var off float64
		off, equal = same(e.rows[from:to], got.rows[first-e.offset:last-e.offset], e.width, tolerance, d)
		largest = max(largest, off)
		return equal
	})
	if !equal {
		return Proof{}, d
	}
	p = Proof{degree: e.degree, digest: got.Digest(), rows: len(want), largest: largest}
	if largest > 0 {
		p.degree = Rounded
	}
	return p, nil
}

// agrees compares some columns of another answer.
func (e *Expected) agrees(columns []int, l *Loose, tolerance float64) bool {
	a, b := e.answer().project(columns), l.project(columns)
	_, ok := same(a.rows, b.rows, len(columns), tolerance, &Diff{})
	return len(a.rows) == len(b.rows) && ok
}

// common finds the columns whose values are the same in all answers that the
// question allows, row by row or each for itself, and those that nobody can compare.
func (e *Expected) common(tolerance float64) (checks [][]int, open []int) {
	all := append([]*Expected{e}, e.others...)
	var together []int
	for k := range e.width {
		fixed := func(columns []int) bool {
			return !slices.ContainsFunc(all, func(o *Expected) bool { return !e.agrees(columns, o.answer(), tolerance) })
		}
		if more := append(slices.Clone(together), k); fixed(more) {
			together = more
		} else if fixed([]int{k}) {
			checks = append(checks, []int{k})
		} else {
			open = append(open, k)
		}
	}
	return append(checks, together), open
}

// Open returns the columns that are not compared where an answer is none of those
// that were found: the question allows too many.
func (e *Expected) Open() []int {
	if len(e.others) == 0 {
		return nil
	}
	_, open := e.common(Tolerance)
	return open
}

// fixed compares what all answers that the question allows have in common: the
// number of rows, and the columns whose values are the same in all of them.
func (e *Expected) fixed(got *Loose, tolerance float64, wrong error) (Proof, error) {
	checks, _ := e.common(tolerance)
	all := append([]*Expected{e}, e.others...)
	counted := !slices.ContainsFunc(all, func(o *Expected) bool { return o.count != e.count })
	if counted && len(got.rows) != e.count || len(got.rows) > 0 && len(got.rows[0]) != e.width {
		return Proof{}, wrong
	}
	for _, columns := range checks {
		if counted && !e.agrees(columns, got, tolerance) {
			return Proof{}, wrong
		}
	}
	return Proof{degree: Undetermined, digest: got.Digest(), rows: len(got.rows)}, nil
}

// project are some columns of an answer.
func (l *Loose) project(columns []int) *Loose {
	out := &Loose{}
	for _, row := range l.rows {
		var short []value
		for _, k := range columns {
			short = append(short, row[k])
		}
		out.rows = append(out.rows, short)
	}
	return out
}

// same finds got among the rows of want: all of them, or some where a limit cuts.
// Columns in which both sides have nothing but texts and exact numbers bring
// equal rows together; within those that are equal there the other numbers do,
// in their order.
func same(want, got [][]value, width int, tolerance float64, d *Diff) (largest float64, equal bool) {
	if len(got) == 0 {
		return 0, true
	}
	sure := make([]bool, width)
	for k := range sure {
		kinds := map[byte]bool{}
		for _, r := range slices.Concat(want, got) {
			if v := r[k]; v.kind != null && v.kind != untyped {
				kinds[v.kind] = true
			}
			if r[k].quotient() {
				kinds[float] = true
			}
		}
		sure[k] = !kinds[float] && len(kinds) <= 1
		if len(kinds) == 1 {
			for kind := range kinds { // texts of an engine without types
				for _, rows := range [][][]value{want, got} {
					for i := range rows {
						if rows[i][k].kind == untyped {
							rows[i] = slices.Clone(rows[i])
							rows[i][k] = rows[i][k].as(kind)
						}
					}
				}
			}
		}
	}
	order := func(a, b []value) int {
		for k := range width {
			if sure[k] {
				if c := cmp.Or(cmp.Compare(a[k].kind, b[k].kind), strings.Compare(a[k].text, b[k].text)); c != 0 {
					return c
				}
			}
		}
		for k := range width {
			if !sure[k] {
				if _, ok := a[k].near(b[k], tolerance); !ok {
					return cmp.Or(cmp.Compare(a[k].num, b[k].num), cmp.Compare(a[k].kind, b[k].kind), strings.Compare(a[k].text, b[k].text))
				}
			}
		}
		return 0
	}
	want, got = slices.SortedStableFunc(slices.Values(want), order), slices.SortedStableFunc(slices.Values(got), order)
	spare := len(want) - len(got) // rows that need not have come
	for i, j := 0, 0; j < len(got); i, j = i+1, j+1 {
		for spare > 0 && order(want[i], got[j]) < 0 {
			i, spare = i+1, spare-1
		}
		for k := range width {
			off, ok := want[i][k].near(got[j][k], tolerance)
			if largest = max(largest, off); ok {
				continue
			}
			if d.Missing, d.Extra = d.Missing+1, d.Extra+1; len(d.Rows) < MaxDiffs {
				d.unlike(j, want[i][:width], got[j])
			}
			if a, b := want[i][k].as(got[j][k].kind).kind, got[j][k].as(want[i][k].kind).kind; d.Problem == "" && kindNames[a] != kindNames[b] && a != null && b != null && (a > float || b > float) {
				d.Problem = fmt.Sprintf("column %d is %s, the other engine gave %s: cast it to one type", k+1, kindNames[b], kindNames[a])
			}
			break
		}
	}
	if d.Missing > 0 {
		d.Problem = cmp.Or(d.Problem, fmt.Sprintf("%d rows hold different values", d.Missing))
	}
	return largest, d.Missing == 0
}

func (d *Diff) unlike(i int, want, got []value) {
	d.Rows = append(d.Rows, DiffRow{Row: i, Want: inWords(want), Got: inWords(got)})
}

func inWords(row []value) string {
	var out []string
	for _, v := range row {
		switch v.kind {
		case null:
			out = append(out, "NULL")
		default:
			out = append(out, v.text)
		}
	}
	return strings.Join(out, " | ")
}

// Digest is one over the rows as they came.
func (l *Loose) Digest() Digest {
	h := xxh3.New()
	for _, row := range l.rows {
		_, _ = h.WriteString(inWords(row) + "\n") // a hash takes all
	}
	return h.Sum128()
}

// CompareAgreed is CompareAll for answers each of which was held against
// another engine's.
func CompareAgreed(t Tally, failed error) (Proof, error) {
	p, err := CompareAll(t, failed)
	if err == nil {
		p.degree = Agreed
	}
	return p, err
}
