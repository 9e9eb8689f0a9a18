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

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/internal/lists"
)

// Loose is the answer to a question that a user wrote in SQL, where each engine chooses the types
// of its columns.
type Loose struct {
	rows [][]value
}

// Decimal is a number in decimal digits, or PostgreSQL's NaN or Infinity.
type Decimal string

// Date is a day: 2024-07-01.
type Date string

// Moment is a date with time of day, in UTC: 2024-07-01 12:00:00.25.
type Moment string

// Untyped is a value of an engine whose columns have no type: a text, or a date or time as text.
type Untyped string

// MomentOf converts a time to a Moment.
func MomentOf(t time.Time) Moment { return Moment(t.UTC().Format("2006-01-02 15:04:05.999999")) }

// DateOf returns the day of a time as a Date.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }

// value is a value in one of the few kinds in which answers are compared.
type value struct {
	kind  byte
	text  string
	num   float64 // numbers only
	scale float64 // for a sum whose terms may cancel: the sum of their absolute values; 0 = unknown
}

const (
	nullKind byte = iota
	exactKind
	floatKind
	textKind
	dateKind
	timeKind
	untypedKind
)

var kindNames = [...]string{ //nolint:gochecknoglobals // a constant table
	"NULL", "an exact number", "a floating-point number", "a text", "a date", "a time", "a text",
}

// The degrees of proof where the expected answer comes from a database, and another engine's answer is compared with
// it. Undetermined also occurs with a reference that Barograph computed itself.
const (
	Agreed Degree = "engines agree" // both engines return the same values
	// both engines return the same values, except for the rounding of floating-point numbers
	Rounded Degree = "equal to rounding"
	// the question allows several answers: the result is one of those that were found, or agrees with them where they
	// all agree (see UncheckedColumns)
	Undetermined Degree = "undetermined"
)

// Tolerance is the largest relative difference between two numbers that count as equal, where at
// least one is not an exact decimal. It is relative to the larger number or, for a sum, to the sum
// of the absolute values, because engines add in any order.
const Tolerance = 1e-9

// exactTolerance replaces Tolerance between a decimal and the floating-point number in which an
// engine without decimals stores it. It distinguishes amounts below ten billion that differ by one cent.
const exactTolerance = 1e-12

// Len is the number of rows.
func (l *Loose) Len() int { return len(l.rows) }

// Add adds a row. The Go type of each value decides how it is compared: a string is a text, integers and floats are
// numbers, nil is NULL. An engine converts values of other Go types to Decimal, Date, Moment or Untyped, by the types
// of its result columns.
func (l *Loose) Add(row []any) { l.rows = append(l.rows, lists.Map(row, valueOf)) }

var (
	number  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	dateISO = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	timeISO = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})` +
		`(?:(\.[0-9]{1,6})[0-9]*)?(?:Z|\+00|\+00:00)?$`)
)

// valueOf converts a value by its Go type.
func valueOf(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case bool:
		return numberOf(map[bool]string{true: "1", false: "0"}[v])
	case float64:
		return value{kind: floatKind, text: strconv.FormatFloat(v, 'g', -1, 64), num: v}
	case float32:
		return value{kind: floatKind, text: strconv.FormatFloat(float64(v), 'g', -1, 32), num: float64(v)}
	case Date:
		return value{kind: dateKind, text: string(v)}
	case Moment:
		return momentOf(string(v))
	case time.Time:
		return momentOf(string(MomentOf(v)))
	case Untyped:
		return value{kind: untypedKind, text: string(v)}
	case []byte:
		return value{kind: textKind, text: string(v)}
	case string:
		return value{kind: textKind, text: v}
	case Decimal:
		return numberOf(string(v))
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return numberOf(fmt.Sprint(v))
	case fmt.Stringer: // a decimal, an integer of many digits, a UUID
		if s := v.String(); number.MatchString(s) {
			return numberOf(s)
		}
	}
	return value{kind: textKind, text: fmt.Sprint(v)}
}

// numberOf keeps plain decimal digits exact, and reads every other number as floating point.
func numberOf(s string) value {
	f, err := strconv.ParseFloat(s, 64)
	if !number.MatchString(s) {
		if err != nil { // beyond the range of a float64, where 1e400 and 7e999 would both be infinite
			return value{kind: textKind, text: s}
		}
		return value{kind: floatKind, text: s, num: f}
	}
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return value{kind: exactKind, text: s, num: f}
}

// momentOf cuts a time to microseconds and removes trailing zeros.
func momentOf(s string) value {
	if m := timeISO.FindStringSubmatch(s); m != nil {
		return value{kind: timeKind, text: m[1] + " " + m[2] + strings.TrimRight(m[3], "0.")}
	}
	return value{kind: timeKind, text: s}
}

// convertTo interprets a value without a type as the kind of the value that it is compared with.
func (v value) convertTo(kind byte) value {
	if v.kind != untypedKind {
		return v
	}
	switch {
	case kind == textKind || kind == dateKind && dateISO.MatchString(v.text):
		v.kind = kind
	case kind == timeKind && timeISO.MatchString(v.text):
		return momentOf(v.text)
	case kind == exactKind || kind == floatKind:
		if n := numberOf(v.text); n.kind == exactKind && n.text == v.text { // 1.0 is a text, 1 may be a number
			return n
		}
	}
	return v
}

// maxDecimals is the largest number of decimals that a column or a sum of its values is assumed to have. A number with
// more decimals is taken for a quotient. Engines cut quotients at different lengths, so the tolerance applies to them.
const maxDecimals = 6

func (v value) isQuotient() bool { return v.kind == exactKind && decimals(v.text) > maxDecimals }

// isIdentical reports whether two values have the same kind and text.
func (v value) isIdentical(o value) bool { return v.kind == o.kind && v.text == o.text }

// approxEqual reports whether two values count as equal, and their relative difference. It is relative to the size that
// the comment of Tolerance names.
func (v value) approxEqual(o value, tolerance float64) (difference float64, ok bool) {
	v, o = v.convertTo(o.kind), o.convertTo(v.kind)
	numbers := (v.kind == exactKind || v.kind == floatKind) && (o.kind == exactKind || o.kind == floatKind)
	switch {
	case !numbers || v.isIdentical(o):
		return 0, v.isIdentical(o)
	case v.kind == exactKind && o.kind == exactKind && !v.isQuotient() && !o.isQuotient():
		return 0, false
	case v.kind != o.kind && !v.isQuotient() && !o.isQuotient():
		tolerance = min(tolerance, exactTolerance)
	}
	size := max(math.Abs(v.num), math.Abs(o.num), v.scale, o.scale)
	if math.IsInf(v.num, 0) || math.IsInf(o.num, 0) || math.IsNaN(v.num) || math.IsNaN(o.num) {
		// tolerance·size would be infinite or NaN
		return 0, v.num == o.num || math.IsNaN(v.num) && math.IsNaN(o.num)
	}
	difference = math.Abs(v.num - o.num)
	if v.kind == exactKind && o.kind == exactKind { // a float64 may lose their last digits: subtract exactly
		a, _ := new(big.Float).SetPrec(200).SetString(v.text)
		b, _ := new(big.Float).SetPrec(200).SetString(o.text)
		difference, _ = a.Sub(a, b).Float64()
		difference = math.Abs(difference)
	}
	if difference == 0 {
		return 0, true
	}
	return difference / size, difference <= tolerance*size
}

func decimals(s string) int {
	if at := strings.IndexByte(s, '.'); at >= 0 {
		return len(s) - at - 1
	}
	return 0
}

// CompareLoose compares an engine's answer with the expected one. It compares rows that tie in the
// order (all rows if there is no order) as multisets. Where a limit cuts through tied rows, the
// returned rows must be among them. The error is a *Diff.
func CompareLoose(e *Expected, got *Loose, tolerance float64) (Proof, error) {
	p, err := e.compare(got, tolerance)
	for _, o := range e.alternatives {
		if err == nil {
			break
		}
		if q, wrong := o.compare(got, tolerance); wrong == nil {
			p, err = q, nil
		}
	}
	if err != nil && len(e.alternatives) > 0 {
		p, err = e.compareCommon(got, tolerance, err)
	}
	if err == nil && (len(e.tiesAtLimit) > 0 || e.ambiguity != "") {
		p.degree = Undetermined
	}
	return p, err
}

// sourceWords returns the beginning of a message about the expected answer.
func (e *Expected) sourceWords() string {
	if e.degree == EveryValue {
		return "the reference has"
	}
	return "the other engine gave"
}

func (e *Expected) compare(got *Loose, tolerance float64) (p Proof, err error) {
	want := e.rows[e.offset : e.offset+e.count]
	d := &Diff{WantRows: len(want), GotRows: len(got.rows)}
	if len(want) != len(got.rows) {
		rows := english.Plural(len(got.rows), "row", "")
		d.Problem = fmt.Sprintf("got %s, %s %s", rows, e.sourceWords(), humanize.Comma(int64(len(want))))
		return Proof{}, d
	}
	if len(want) > 0 && e.width != len(got.rows[0]) {
		columns := english.Plural(len(got.rows[0]), "column", "")
		d.Problem = fmt.Sprintf("got %s, %s %d", columns, e.sourceWords(), e.width)
		return Proof{}, d
	}
	for i := range want {
		for _, k := range e.orderColumns {
			if k >= e.width {
				break
			}
			if _, ok := want[i][k].approxEqual(got.rows[i][k], tolerance); !ok {
				d.Problem = fmt.Sprintf("the order differs at row %d", i)
				if (want[i][k].kind == nullKind) != (got.rows[i][k].kind == nullKind) {
					d.Problem += ", because some engines sort NULL first and others last: write NULLS FIRST or NULLS LAST"
				}
				d.addLooseRow(i, want[i][:e.width], got.rows[i])
				return Proof{}, d
			}
		}
	}
	var largest float64
	for from, to := range e.ties {
		first, last := max(from, e.offset), min(to, e.offset+e.count)
		if first >= last {
			continue
		}
		difference, equal := matchRows(e.rows[from:to], got.rows[first-e.offset:last-e.offset], e.width, tolerance, d)
		if !equal {
			for i := range d.Rows {
				d.Rows[i].Row += first - e.offset
			}
			return Proof{}, d
		}
		largest = max(largest, difference)
	}
	p = Proof{degree: e.degree, digest: got.Digest(), rows: len(want), largestDifference: largest}
	if largest > 0 {
		p.degree = Rounded
	}
	return p, nil
}

// agreesOn compares some columns of another answer.
func (e *Expected) agreesOn(columns []int, l *Loose, tolerance float64) bool {
	if e.count != len(l.rows) {
		return false
	}
	_, ok := matchRows(e.resultRows().project(columns).rows, l.project(columns).rows, len(columns), tolerance, &Diff{})
	return ok
}

// commonColumns finds out what all allowed answers have in common. A set of columns is common if all answers, cut to
// these columns, have the same rows in any order. The last of commonSets starts empty: commonColumns tries the columns
// from left to right, and adds each with which this set is still common. A column that is common only without the
// others is a set of its own. unchecked lists the columns that are in no set.
func (e *Expected) commonColumns(tolerance float64) (commonSets [][]int, unchecked []int) {
	all := append([]*Expected{e}, e.alternatives...)
	isCommon := func(columns []int) bool {
		return !slices.ContainsFunc(all, func(o *Expected) bool { return !e.agreesOn(columns, o.resultRows(), tolerance) })
	}
	var largest []int
	for k := range e.width {
		if more := append(slices.Clone(largest), k); isCommon(more) {
			largest = more
		} else if isCommon([]int{k}) {
			commonSets = append(commonSets, []int{k})
		} else {
			unchecked = append(unchecked, k)
		}
	}
	return append(commonSets, largest), unchecked
}

// UncheckedColumns returns the columns in which the allowed answers differ. A question may allow more answers than
// were found. CompareLoose therefore accepts a result that equals none of them if it agrees with them in the other
// columns.
func (e *Expected) UncheckedColumns() []int {
	if len(e.alternatives) == 0 {
		return nil
	}
	_, unchecked := e.commonColumns(Tolerance)
	return unchecked
}

// compareCommon checks what all allowed answers have in common: the number of rows, and the columns
// with the same values in all of them. If their numbers of rows differ, it checks only the number of columns. wrong is
// the error that it returns if the check fails.
func (e *Expected) compareCommon(got *Loose, tolerance float64, wrong error) (Proof, error) {
	commonSets, _ := e.commonColumns(tolerance)
	all := append([]*Expected{e}, e.alternatives...)
	sameCount := !slices.ContainsFunc(all, func(o *Expected) bool { return o.count != e.count })
	if sameCount && len(got.rows) != e.count || len(got.rows) > 0 && len(got.rows[0]) != e.width {
		return Proof{}, wrong
	}
	for _, columns := range commonSets {
		if sameCount && !e.agreesOn(columns, got, tolerance) {
			return Proof{}, wrong
		}
	}
	return Proof{degree: Undetermined, digest: got.Digest(), rows: len(got.rows)}, nil
}

// project returns some columns of an answer.
func (l *Loose) project(columns []int) *Loose {
	return &Loose{lists.Map(l.rows, func(row []value) []value {
		return lists.Map(columns, func(k int) value { return row[k] })
	})}
}

// matchRows finds each row of got among the rows of want; got has fewer rows if a limit cuts through tied rows. It
// first pairs rows by their exact columns, in which both sides have only texts or only exact numbers. Among rows that
// are equal there, it pairs the remaining numbers in ascending order. Rounding may change that order. Before it reports
// a difference, it therefore also pairs the rows regardless of order, unless there are too many.
func matchRows(want, got [][]value, width int, tolerance float64, d *Diff) (largest float64, equal bool) {
	if len(got) == 0 {
		return 0, true
	}
	rows := slices.Concat(want, got) // a copy, because other engines are compared with want, too
	isExact := make([]bool, width)
	for k := range isExact {
		kinds := map[byte]bool{}
		for _, r := range rows {
			if v := r[k]; v.kind != nullKind && v.kind != untypedKind {
				kinds[v.kind] = true
			}
			if r[k].isQuotient() {
				kinds[floatKind] = true
			}
		}
		isExact[k] = !kinds[floatKind] && len(kinds) <= 1
		if len(kinds) != 1 {
			continue
		}
		for kind := range kinds { // the only kind, to which values of an engine without types are converted
			for i := range rows {
				if rows[i][k].kind == untypedKind {
					rows[i] = slices.Clone(rows[i])
					rows[i][k] = rows[i][k].convertTo(kind)
				}
			}
		}
	}
	want, got = rows[:len(want)], rows[len(want):]
	compareRows := func(a, b []value) int {
		for k := range width {
			if isExact[k] {
				if c := cmp.Or(cmp.Compare(a[k].kind, b[k].kind), strings.Compare(a[k].text, b[k].text)); c != 0 {
					return c
				}
			}
		}
		for k := range width {
			if !isExact[k] {
				if _, ok := a[k].approxEqual(b[k], tolerance); !ok {
					byKind := cmp.Compare(a[k].kind, b[k].kind)
					return cmp.Or(cmp.Compare(a[k].num, b[k].num), byKind, strings.Compare(a[k].text, b[k].text))
				}
			}
		}
		return 0
	}
	want = slices.SortedStableFunc(slices.Values(want), compareRows)
	order := lists.Indices(len(got))
	slices.SortStableFunc(order, func(i, j int) int { return compareRows(got[i], got[j]) })
	i, spare := 0, len(want)-len(got) // rows of want that may be absent
	for _, j := range order {
		for spare > 0 && compareRows(want[i], got[j]) < 0 {
			i, spare = i+1, spare-1
		}
		for k := range width {
			difference, ok := want[i][k].approxEqual(got[j][k], tolerance)
			if largest = max(largest, difference); ok {
				continue
			}
			// Both sides are sorted by the exact columns first. If this column is exact and no row of want may be absent,
			// no other row of want equals this row.
			if mayMatch := !isExact[k] || len(want) > len(got); d.Missing == 0 && mayMatch && len(want)*len(got) <= maxPairs {
				if difference, ok := matchUnordered(want, got, tolerance); ok {
					return difference, true
				}
			}
			d.Missing, d.Extra = d.Missing+1, d.Extra+1
			d.addLooseRow(j, want[i][:width], got[j])
			a, b := want[i][k].convertTo(got[j][k].kind).kind, got[j][k].convertTo(want[i][k].kind).kind
			differ := kindNames[a] != kindNames[b] && a != nullKind && b != nullKind && (a > floatKind || b > floatKind)
			if d.Problem == "" && differ {
				const castIt = "column %d is %s, the other engine gave %s: cast it to one type"
				d.Problem = fmt.Sprintf(castIt, k+1, kindNames[b], kindNames[a])
			}
			break
		}
		i++
	}
	if d.Missing > 0 {
		d.Problem = cmp.Or(d.Problem, english.Plural(d.Missing, "row has", "rows have")+" different values")
	}
	return largest, d.Missing == 0
}

// maxPairs is the largest number of pairs of rows that matchRows compares in addition to the sorted ones.
const maxPairs = 1 << 20

// matchUnordered finds for each row of got the first row of want that equals it and is not taken by another row. It
// returns the largest difference, and false if a row of got has none.
func matchUnordered(want, got [][]value, tolerance float64) (largest float64, ok bool) {
	free := slices.Clone(want)
	for _, row := range got {
		difference := 0.0
		i := slices.IndexFunc(free, func(w []value) bool {
			difference = 0
			for k, v := range row {
				x, equal := w[k].approxEqual(v, tolerance)
				if !equal {
					return false
				}
				difference = max(difference, x)
			}
			return true
		})
		if i < 0 {
			return 0, false
		}
		free, largest = slices.Delete(free, i, i+1), max(largest, difference)
	}
	return largest, true
}

func (d *Diff) addLooseRow(i int, want, got []value) {
	d.addRow(DiffRow{Row: i, Want: rowText(want), Got: rowText(got)})
}

func rowText(row []value) string {
	return strings.Join(lists.Map(row, func(v value) string {
		if v.kind == nullKind {
			return "NULL"
		}
		return v.text
	}), " | ")
}

// Digest covers the rows in the order in which the engine returned them.
func (l *Loose) Digest() Digest {
	h := xxh3.New()
	for _, row := range l.rows {
		_, _ = h.WriteString(rowText(row) + "\n") // a hash never fails
	}
	return h.Sum128()
}

// CompareAgreed is CompareAll for answers that were each compared with another engine's answer. The tally does not
// count answers that are equal only to rounding, or undetermined: the degree is Agreed with them, too.
func CompareAgreed(t Tally, workError error) (Proof, error) {
	p, err := CompareAll(t, workError)
	if err == nil {
		p.degree = Agreed
	}
	return p, err
}
