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

// value is a value in one of the few forms that answers are compared in.
type value struct {
	kind byte // null, exact, float or text
	text string
	num  float64 // of numbers
}

const (
	null byte = iota
	exact
	float
	text
)

// Agreed is the degree of what two engines of different code answered alike: no
// reference that no database computed has a part in it.
const Agreed Degree = "engines agree"

// Tolerance is the relative difference up to which two numbers are equal of
// which one at least is no exact decimal: engines sum in any order.
const Tolerance = 1e-9

// Len is the number of rows.
func (l *Loose) Len() int { return len(l.rows) }

// Add adds a row as a driver has it; its values may be the driver's own.
func (l *Loose) Add(row []any) {
	out := make([]value, len(row))
	for k, v := range row {
		out[k] = loosen(v)
	}
	l.rows = append(l.rows, out)
}

var (
	number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	power  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?[eE][-+]?[0-9]+$`)
	// what PostgreSQL writes for floating-point numbers that are no numbers, or have no bound
	unbounded = regexp.MustCompile(`^(NaN|-?Infinity)$`)
	moment    = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(Z|\+00|\+00:00)?$`)
)

// loosen reads a value: numbers that are digits as such, whatever their type;
// times to the second as far as they have one.
func loosen(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case bool:
		if v {
			return value{exact, "1", 1}
		}
		return value{exact, "0", 0}
	case float64:
		return value{float, strconv.FormatFloat(v, 'g', -1, 64), v}
	case float32:
		return value{float, strconv.FormatFloat(float64(v), 'g', -1, 32), float64(v)}
	case time.Time:
		return ofText(v.UTC().Format("2006-01-02 15:04:05.999999"))
	case []byte:
		return ofText(string(v))
	case string:
		return ofText(v)
	case fmt.Stringer: // a decimal, an integer of many digits
		return ofText(v.String())
	}
	return ofText(fmt.Sprint(v))
}

func ofText(s string) value {
	if number.MatchString(s) {
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		if s == "-0" {
			s = "0"
		}
		f, _ := strconv.ParseFloat(s, 64) // of the pattern
		return value{exact, s, f}
	}
	if power.MatchString(s) || unbounded.MatchString(s) {
		f, _ := strconv.ParseFloat(s, 64) // of the pattern
		return value{float, s, f}
	}
	if m := moment.FindStringSubmatch(s); m != nil {
		s = m[1]
		if part := strings.TrimRight(m[3], "0."); m[2] != "00:00:00" || part != "" {
			s += " " + m[2] + part
		}
	}
	return value{text, s, 0}
}

// fine are the decimals that a sum or a constant may have; a number of more is
// a quotient, which each engine cuts elsewhere.
const fine = 6

// near reports whether numbers are equal for all that can be told.
func (v value) near(o value, tolerance float64) bool {
	switch {
	case v.kind == null || o.kind == null || v.kind == text || o.kind == text:
		return v.kind == o.kind && v.text == o.text
	case v.kind == exact && o.kind == exact && decimals(v.text) <= fine && decimals(o.text) <= fine:
		return v.text == o.text
	}
	if v.kind == exact && o.kind == exact { // both of many digits: exactly, as far as a double does not see them
		a, _ := new(big.Float).SetPrec(200).SetString(v.text)
		b, _ := new(big.Float).SetPrec(200).SetString(o.text)
		d, _ := new(big.Float).Sub(a, b).Float64()
		return math.Abs(d) <= tolerance*max(math.Abs(v.num), math.Abs(o.num))
	}
	if math.IsInf(v.num, 0) || math.IsInf(o.num, 0) { // whose tolerance would be infinite, too
		return v.num == o.num
	}
	return v.num == o.num || math.IsNaN(v.num) && math.IsNaN(o.num) || math.Abs(v.num-o.num) <= tolerance*max(math.Abs(v.num), math.Abs(o.num))
}

func decimals(s string) int {
	if at := strings.IndexByte(s, '.'); at >= 0 {
		return len(s) - at - 1
	}
	return 0
}

// Order is what is known of the order of an answer's rows.
type Order struct {
	By    []int // columns, the first one first; none = rows may come in any order
	Limit int   // of rows; 0 = none
}

// CompareLoose holds the answer of one engine against that of another. Rows that
// are equal in the order, or all where there is none, are compared as sets with
// repetitions; where a limit cuts through rows that are equal in the order, any
// of these may have come, and loose counts those of which only what orders them
// was compared. The error is a *Diff.
func CompareLoose(want, got *Loose, o Order, tolerance float64) (p Proof, loose int, err error) {
	d := &Diff{WantRows: len(want.rows), GotRows: len(got.rows)}
	if len(want.rows) != len(got.rows) {
		d.Problem = fmt.Sprintf("%d rows came, the other engine gave %d", len(got.rows), len(want.rows))
		return Proof{}, 0, d
	}
	if len(want.rows) > 0 && len(want.rows[0]) != len(got.rows[0]) {
		d.Problem = fmt.Sprintf("%d columns came, the other engine gave %d", len(got.rows[0]), len(want.rows[0]))
		return Proof{}, 0, d
	}
	for i := range want.rows {
		for _, k := range o.By {
			if !want.rows[i][k].near(got.rows[i][k], tolerance) {
				d.Problem = fmt.Sprintf("the order differs at row %d", i+1)
				if (want.rows[i][k] == value{}) != (got.rows[i][k] == value{}) {
					d.Problem += ", as engines have NULL first or last: write NULLS FIRST or NULLS LAST"
				}
				d.unlike(i, want.rows[i], got.rows[i])
				return Proof{}, 0, d
			}
		}
	}
	for from := 0; from < len(want.rows); {
		to := from + 1
		for to < len(want.rows) && want.tie(o.By, from, to, tolerance) {
			to++
		}
		if to == len(want.rows) && to == o.Limit && len(o.By) > 0 && to-from > 0 && !same(want.rows[from:to], got.rows[from:to], tolerance, &Diff{}) {
			loose = to - from // the limit cut through them, or through others like them
			break
		}
		if !same(want.rows[from:to], got.rows[from:to], tolerance, d) {
			return Proof{}, 0, d
		}
		from = to
	}
	return Proof{Agreed, want.Digest(), len(want.rows)}, loose, nil
}

// tie reports whether rows i and j are equal in an order.
func (l *Loose) tie(by []int, i, j int, tolerance float64) bool {
	for _, k := range by {
		if !l.rows[i][k].near(l.rows[j][k], tolerance) {
			return false
		}
	}
	return true
}

// same compares rows as sets with repetitions. Columns in which both sides have
// nothing but texts and exact numbers bring equal rows together; within those
// that are equal there the other numbers do, in their order.
func same(want, got [][]value, tolerance float64, d *Diff) bool {
	if len(want) == 0 {
		return true
	}
	sure := make([]bool, len(want[0]))
	for k := range sure {
		sure[k] = !slices.ContainsFunc(slices.Concat(want, got), func(r []value) bool { return r[k].kind == float || decimals(r[k].text) > fine && r[k].kind == exact })
	}
	order := func(a, b []value) int {
		for k := range a {
			if sure[k] {
				if c := cmp.Or(cmp.Compare(a[k].kind, b[k].kind), strings.Compare(a[k].text, b[k].text)); c != 0 {
					return c
				}
			}
		}
		for k := range a {
			if !sure[k] && !a[k].near(b[k], tolerance) {
				return cmp.Or(cmp.Compare(a[k].num, b[k].num), cmp.Compare(a[k].kind, b[k].kind), strings.Compare(a[k].text, b[k].text))
			}
		}
		return 0
	}
	want, got = slices.SortedStableFunc(slices.Values(want), order), slices.SortedStableFunc(slices.Values(got), order)
	for i := range want {
		for k := range want[i] {
			if !want[i][k].near(got[i][k], tolerance) {
				d.Missing, d.Extra = d.Missing+1, d.Extra+1
				if len(d.Rows) < MaxDiffs {
					d.unlike(i, want[i], got[i])
				}
				break
			}
		}
	}
	if d.Missing > 0 {
		d.Problem = fmt.Sprintf("%d rows hold other values", d.Missing)
	}
	return d.Missing == 0
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
