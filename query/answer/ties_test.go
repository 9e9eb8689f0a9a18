package answer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// numbered makes an answer of one mask whose times and numbers are given.
func numbered(times []int64, nums ...float64) *Answer {
	texts := make([]string, len(times))
	for i := range texts {
		texts[i] = "G2"
	}
	return rows(texts, times, nums)
}

// TestTiesOfOneIdentity: records of one identity come in any order, others do not.
func TestTiesOfOneIdentity(t *testing.T) {
	times := []int64{0, 1, 1, 1, 2, 3, 3}
	want := numbered(times, 1, 2, 3, 4, 5, 6, 7)
	want.Ties = [][2]int{{1, 4}, {5, 7}}
	for name, x := range map[string]struct {
		got   *Answer
		right bool
	}{
		"the same":                 {numbered(times, 1, 2, 3, 4, 5, 6, 7), true},
		"another order":            {numbered(times, 1, 4, 2, 3, 5, 7, 6), true},
		"a value of another group": {numbered(times, 1, 2, 3, 6, 5, 4, 7), false},
		"rows outside the groups":  {numbered(times, 5, 2, 3, 4, 1, 6, 7), false},
		"a value changed":          {numbered(times, 1, 2, 3, 8, 5, 6, 7), false},
		"a value twice":            {numbered(times, 1, 2, 3, 3, 5, 6, 7), false},
		"across the border":        {numbered([]int64{1, 0, 1, 1, 2, 3, 3}, 2, 1, 3, 4, 5, 6, 7), false},
		"behind the group":         {numbered([]int64{0, 1, 1, 2, 1, 3, 3}, 1, 2, 3, 5, 4, 6, 7), false},
	} {
		p, err := Compare(want, x.got)
		if (err == nil) != x.right || p.Valid() != x.right {
			t.Errorf("%s: %v", name, err)
		}
		if x.right && (p.Digest() != want.Digest() || p.Rows() != 7) {
			t.Errorf("%s: the proof is of %d rows with digest %v", name, p.Rows(), p.Digest())
		}
	}
	// The first difference is in the row of the reference's order that differs.
	_, err := Compare(want, numbered(times, 1, 4, 3, 8, 5, 7, 6))
	d, ok := errors.AsType[*Diff](err)
	if !ok || len(d.Rows) != 1 || d.Rows[0].Column != "fabar" || !strings.HasSuffix(d.Rows[0].Want, "| 2") || !strings.HasSuffix(d.Rows[0].Got, "| 8") {
		t.Errorf("%+v", d)
	}
	if want.Ties = nil; true {
		if _, err := Compare(want, numbered(times, 1, 4, 2, 3, 5, 7, 6)); err == nil {
			t.Error("without ties another order is right")
		}
	}
}

// TestSelectNotesTies: runs of rows of one identity are found, neighbors of others are not joined.
func TestSelectNotesTies(t *testing.T) {
	valid := func(hours ...int64) *record.Batch {
		return records(t, []string{"A"}, []string{"P1"}, []int32{0}, hours, 1)
	}
	for name, x := range map[string]struct {
		hours []int64
		want  [][2]int
	}{
		"none":           {[]int64{3, 1, 2}, nil},
		"the first two":  {[]int64{1, 2, 1}, [][2]int{{0, 2}}},
		"the last three": {[]int64{2, 1, 2, 2}, [][2]int{{1, 4}}},
		"two groups":     {[]int64{1, 2, 1, 2, 1}, [][2]int{{0, 3}, {3, 5}}},
		"groups apart":   {[]int64{1, 1, 2, 3, 3}, [][2]int{{0, 2}, {3, 5}}},
		"one row":        {[]int64{1}, nil},
	} {
		q := ask(t)
		if got := Select(q, valid(x.hours...)).Ties; !slices.Equal(got, x.want) {
			t.Errorf("%s: ties %v, want %v", name, got, x.want)
		}
	}
	var into Builder
	SelectInto(ask(t), valid(1, 1), &into)
	SelectInto(ask(t), valid(1, 2), &into)
	if len(into.Ties) != 0 || into.Rows != 2 {
		t.Errorf("a builder that is used again keeps ties %v, %d rows", into.Ties, into.Rows)
	}
}

// TestSelectIsTotal: whatever the order of the records, all times, texts, numbers and lists come in one order.
func TestSelectIsTotal(t *testing.T) {
	lt, _ := record.TypeByName("PCT")
	columns, err := question.Columns(lt, "model", "fcst_init_beg", "fcst_lead", "total", "thresh_i")
	if err != nil {
		t.Fatal(err)
	}
	var b record.Batch
	b.Reset(lt, "f")
	var heads []uint32
	for _, model := range []string{"B", "A"} {
		h := record.DefaultHeader()
		h[record.Model] = model
		heads = append(heads, b.AddHeader(h))
	}
	for i := range 8 {
		b.AppendTimes(heads[i%2], int32(i/2%2)*3600, int64(i/4)*7200, 1) //nolint:gosec // few
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(i))
		}
		b.Group = append(b.Group, float64(i), 1, 2, 3, 4, 5)
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group))) //nolint:gosec // few
	}
	q := &question.Question{Name: "q", Type: lt, Columns: columns, Order: columns[:1]}
	var want []string
	for _, i := range []int{1, 3, 5, 7, 0, 2, 4, 6} { // A before B; valid time before lead
		want = append(want, fmt.Sprintf("%s | 1970-01-01T%02d:00:00Z | %d | %d | %d 3", b.Header(i)[record.Model], i/4*2-i/2%2, i/2%2*3600, i, i))
	}
	for i, w := range want {
		want[i] = strings.Replace(w, "1970-01-01T-1", "1969-12-31T23", 1)
	}
	if got := rowTexts(Select(q, &b)); !slices.Equal(got, want) {
		t.Errorf("%q,\nwant %q", got, want)
	}
	var into Builder
	Arrange(q, &b, &into)
	if got := rowTexts(&into.Answer); !slices.Equal(got, want) {
		t.Errorf("Arrange: %q,\nwant %q", got, want)
	}
}

// TestOrderOnly: rows in another order are shown up to MaxDiffs, from the first that differs.
func TestOrderOnly(t *testing.T) {
	n := 30
	times, nums := make([]int64, n), make([]float64, n)
	for i := range n {
		times[i], nums[i] = int64(i), float64(i)
	}
	want := numbered(times, nums...)
	swapped := func(i, j int) *Answer {
		got := numbered(slices.Clone(times), slices.Clone(nums)...)
		for _, k := range []int{1, 2} {
			v := &got.Vectors[k]
			if len(v.Seconds) > 0 {
				v.Seconds[i], v.Seconds[j] = v.Seconds[j], v.Seconds[i]
			} else {
				v.Num[i], v.Num[j] = v.Num[j], v.Num[i]
			}
		}
		return got
	}
	_, err := Compare(want, swapped(3, 29))
	d, _ := errors.AsType[*Diff](err)
	if d == nil || len(d.Rows) != 2 || d.Rows[0] != (DiffRow{Row: 3, Want: want.Row(3), Got: want.Row(29)}) || d.Rows[1].Row != 29 ||
		d.WantRows != n || d.GotRows != n || d.Missing != 0 || d.Extra != 0 || !strings.Contains(d.Problem, "the first differs at row 3") {
		t.Errorf("%+v", d)
	}
	backwards := numbered(slices.Clone(times), slices.Clone(nums)...)
	slices.Reverse(backwards.Vectors[1].Seconds)
	slices.Reverse(backwards.Vectors[2].Num)
	_, err = Compare(want, backwards)
	if d, _ = errors.AsType[*Diff](err); d == nil || len(d.Rows) != MaxDiffs || d.Rows[0].Row != 0 {
		t.Errorf("%+v", d)
	}
	// The same rows in other numbers are no other order.
	_, err = Compare(numbered([]int64{0, 0, 1}, 1, 1, 2), numbered([]int64{0, 1, 1}, 1, 2, 2))
	if d, _ = errors.AsType[*Diff](err); d == nil || d.Missing != 1 || d.Extra != 1 {
		t.Errorf("%+v", d)
	}
}

// TestPairs: a missing and a surplus row that differ in one value are one difference, each of them once.
func TestPairs(t *testing.T) {
	want := numbered([]int64{0, 1, 2, 3}, 0, 1, 2, 3)
	_, err := Compare(want, numbered([]int64{0, 1, 2, 9}, 0, 7, 8, 9))
	d, _ := errors.AsType[*Diff](err)
	text := func(at int64, v float64) string { return numbered([]int64{at}, v).Row(0) }
	all := []DiffRow{
		{Row: 1, Column: "fabar", Want: text(1, 1), Got: text(1, 7)},
		{Row: 2, Column: "fabar", Want: text(2, 2), Got: text(2, 8)},
		{Row: 3, Want: text(3, 3)},
		{Row: 3, Got: text(9, 9)},
	}
	if d == nil || !slices.Equal(d.Rows, all) || d.Missing != 3 || d.Extra != 3 || d.Problem != "3 rows have different values" {
		t.Errorf("%+v", d)
	}
	// Two missing rows are not both explained by one surplus row.
	_, err = Compare(numbered([]int64{1, 1, 4}, 1, 2, 4), numbered([]int64{1, 4}, 7, 4))
	if d, _ = errors.AsType[*Diff](err); d == nil || d.Missing != 2 || d.Extra != 1 || d.Problem != "1 row is missing" ||
		!slices.Equal(d.Rows, []DiffRow{{Row: 0, Column: "fabar", Want: text(1, 1), Got: text(1, 7)}, {Row: 1, Want: text(1, 2)}}) {
		t.Errorf("%+v", d)
	}
	// More surplus rows than are shown.
	var b Builder
	b.Reset(want.Columns)
	for i := range 40 {
		b.Copy(numbered([]int64{int64(i)}, float64(i)), 0)
	}
	_, err = Compare(want, b.Take())
	if d, _ = errors.AsType[*Diff](err); d == nil || d.Missing != 0 || d.Extra != 36 || len(d.Rows) != MaxDiffs || d.Rows[0].Row != 4 || d.Problem != "36 unexpected rows" {
		t.Errorf("%+v", d)
	}
}

func TestDiffAsText(t *testing.T) {
	d := &Diff{Problem: "2 rows are missing", WantRows: 2, Missing: 2, Rows: []DiffRow{{Row: 0, Want: "a"}, {Row: 1, Column: "fbar", Want: "b", Got: "c"}}}
	want := "2 rows are missing (expected 2 rows, got 0: 2 missing, 0 unexpected)" +
		"\n  row 0\n    want a\n    got  (no row)\n  row 1, fbar\n    want b\n    got  c"
	if d.Error() != want {
		t.Errorf("%q", d.Error())
	}
	for _, one := range []*Diff{{WantRows: 1}, {GotRows: 1}, {Missing: 1}, {Extra: 1}} {
		if one.Problem = "p"; one.Error() == "p" {
			t.Errorf("%+v: rows were compared", one)
		}
	}
	if d := (&Diff{Problem: "p", WantRows: 1, GotRows: 2}); d.Error() != "p (expected 1 row, got 2)" {
		t.Errorf("%q: the rows were not matched", d)
	}
	if (&Diff{Problem: "p"}).Error() != "p" {
		t.Error("no rows were compared")
	}
}

// TestCompareRecords: both the digest and the number of records must be equal.
func TestCompareRecords(t *testing.T) {
	if _, err := CompareRecords(record.Digest{Records: 1000}, record.Digest{Records: 1}); err == nil || !strings.Contains(err.Error(), "has 1 record with") || !strings.Contains(err.Error(), "has 1,000 with") {
		t.Error(err)
	}
	one := record.Digest{Hi: 1, Lo: 2, Records: 3}
	if p, err := CompareRecords(one, one); err != nil || p.Rows() != 3 || p.Digest() != (Digest{Hi: 1, Lo: 2}) || p.Degree() != DigestOnly {
		t.Errorf("%+v %v", p, err)
	}
	for _, other := range []record.Digest{{Hi: 2, Lo: 2, Records: 3}, {Hi: 1, Lo: 1, Records: 3}, {Hi: 1, Lo: 2, Records: 4}} {
		if p, err := CompareRecords(one, other); err == nil || p.Valid() {
			t.Errorf("%v is %v", other, one)
		}
	}
}

func TestCompareAgreed(t *testing.T) {
	if p, err := CompareAgreed(Tally{Succeeded: 1, Found: 1, Values: 1}, nil); err != nil || p.Degree() != Agreed {
		t.Errorf("%+v %v", p, err)
	}
	for name, x := range map[string]struct {
		t      Tally
		failed error
	}{"nothing": {}, "wrong": {t: Tally{Succeeded: 1, Found: 1, Wrong: 1}}, "failed": {Tally{Succeeded: 1, Found: 1, Values: 1}, errors.New("x")}} {
		if p, err := CompareAgreed(x.t, x.failed); err == nil || p.Valid() {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
}

// TestRank: ranks sort as the values do and take no more bits than they need.
func TestRank(t *testing.T) {
	b := &record.Batch{}
	lt, _ := record.TypeByName("SL1L2")
	b.Reset(lt, "f")
	for _, model := range []string{"C", "A", "B", "A"} {
		h := record.DefaultHeader()
		h[record.Model] = model
		b.AddHeader(h)
	}
	for i, valid := range []int64{21600, -21600, 43200, 0} {
		b.AppendTimes(uint32(i), int32(i%2)*7, valid, 1) //nolint:gosec // few
	}
	b.ObsBeg = []int64{0, 5, 10, 25}
	for _, x := range []struct {
		column string
		width  int
		want   []uint64
		ok     bool
	}{
		{"model", 2, []uint64{2, 0, 1, 0}, true},
		{"vx_mask", 0, nil, true},
		{"fcst_valid_beg", 2, []uint64{2, 0, 3, 1}, true},
		{"fcst_lead", 1, []uint64{0, 1, 0, 1}, true},
		{"obs_lead", 0, nil, true},
		{"obs_valid_beg", 3, []uint64{0, 1, 2, 5}, true},
		{"fbar", 0, nil, false},
	} {
		c, err := question.ColumnByName(lt, x.column)
		if err != nil {
			t.Fatal(err)
		}
		into := make([]uint64, b.Len())
		width, ok := rank(&c, b, into)
		if width != x.width || ok != x.ok || x.want != nil && !slices.Equal(into, x.want) {
			t.Errorf("%s: %d bits, %v, ranks %v; want %d, %v, %v", x.column, width, ok, into, x.width, x.ok, x.want)
		}
	}
	c, _ := question.ColumnByName(lt, "fcst_valid_beg")
	empty := &record.Batch{}
	empty.Reset(lt, "f")
	if width, ok := rank(&c, empty, nil); width != 0 || !ok {
		t.Errorf("no records: %d bits, %v", width, ok)
	}
	if ranks, most := headerRanks(record.Model, empty); len(ranks) != 0 || most != 0 {
		t.Errorf("no headers: %v, %d", ranks, most)
	}
	for _, x := range [][3]uint64{{12, 18, 6}, {0, 5, 5}, {5, 0, 5}, {7, 3, 1}} {
		if got := gcd(x[0], x[1]); got != x[2] {
			t.Errorf("gcd(%d, %d) = %d", x[0], x[1], got)
		}
	}
}

// TestRadix: any number of bits is sorted, and equal keys keep their order.
func TestRadix(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, bits := range []int{0, 1, 10, 11, 12, 22, 23, 33, 63, 64} {
		keys := make([]sortKey, 500)
		for i := range keys {
			keys[i] = sortKey{rng.Uint64(), int32(i)} //nolint:gosec // few
			if bits < 64 {
				keys[i].key &= 1<<bits - 1
			}
			if i%5 == 4 {
				keys[i].key = keys[i-1].key
			}
		}
		want := slices.SortedStableFunc(slices.Values(keys), func(a, b sortKey) int {
			if a.key < b.key {
				return -1
			}
			if a.key > b.key {
				return 1
			}
			return 0
		})
		if got := radix(slices.Clone(keys), bits); !slices.Equal(got, want) {
			t.Errorf("%d bits are not sorted", bits)
		}
	}
}

// TestSortTies: each run of equal keys is sorted, and nothing else.
func TestSortTies(t *testing.T) {
	keys := []sortKey{{1, 9}, {1, 3}, {2, 1}, {3, 8}, {3, 7}, {3, 2}}
	sortTies(keys, func(i, j int) int { return i - j })
	if want := []sortKey{{1, 3}, {1, 9}, {2, 1}, {3, 2}, {3, 7}, {3, 8}}; !slices.Equal(keys, want) {
		t.Errorf("%v", keys)
	}
}

// TestWithoutImplied: the third of valid time, initialization and lead follows from the two before.
func TestWithoutImplied(t *testing.T) {
	for given, want := range map[string]string{
		"fcst_lead fcst_init_beg model fcst_valid_beg vx_mask": "fcst_lead fcst_init_beg model vx_mask",
		"fcst_valid_beg fcst_lead fcst_init_beg":               "fcst_valid_beg fcst_lead",
		"fcst_init_beg obs_lead fcst_valid_beg fcst_lead":      "fcst_init_beg obs_lead fcst_valid_beg",
		"model fcst_valid_beg":                                 "model fcst_valid_beg",
		"fcst_valid_end obs_lead obs_valid_beg obs_valid_end":  "fcst_valid_end obs_lead obs_valid_beg obs_valid_end",
	} {
		cols, err := question.Columns(nil, strings.Fields(given)...)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range dropImplied(cols) {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// TestAcceptedRows: a TimeFilter removes rows from a copy; a filter that accepts all returns the batch itself.
func TestAcceptedRows(t *testing.T) {
	b := records(t, []string{"A"}, []string{"P1"}, []int32{0, 6}, []int64{0, 6, 12, 18}, 1)
	q := ask(t)
	if AcceptedRows(q, b) != b {
		t.Error("without a filter the rows are copied")
	}
	q.TimeFilter.ValidHour = []int{6, 18}
	got := AcceptedRows(q, b)
	if got.Len() != 4 || b.Len() != 8 || slices.ContainsFunc(got.Valid, func(v int64) bool { return v%43200 != 21600 }) {
		t.Errorf("%d of %d rows: %v", got.Len(), b.Len(), got.Valid)
	}
}

func TestDecimals(t *testing.T) {
	for s, want := range map[string]int{"": 0, "5": 0, "5.25": 2, ".5": 1, "-1.234567": 6} {
		if got := decimals(s); got != want {
			t.Errorf("%s has %d decimals, want %d", s, got, want)
		}
	}
	if valueOf(Decimal("1.123456")).isQuotient() || !valueOf(Decimal("1.1234567")).isQuotient() || valueOf(1.1234567).isQuotient() {
		t.Error("a quotient is an exact number of more than six decimals")
	}
}

// TestBordersOfLooseAnswers: a difference equal to the tolerance, and ties that end exactly at the offset or limit.
func TestBordersOfLooseAnswers(t *testing.T) {
	one, two := valueOf(1.0), valueOf(2.0)
	if off, ok := one.approxEqual(two, 0.5); !ok || off != 0.5 {
		t.Errorf("off by %g, %v", off, ok)
	}
	if _, ok := one.approxEqual(two, 0.4999); ok {
		t.Error("beyond the tolerance is equal")
	}
	rows := rowsOf([]any{1, "a"}, []any{1, "b"}, []any{2, "c"}, []any{2, "d"}, []any{3, "e"})
	for _, x := range [][3]int{{2, -1, 0}, {2, 2, 0}, {0, 2, 0}, {2, 1, 1}, {1, 3, 1}, {4, -1, 0}, {5, -1, 0}, {9, -1, 0}, {0, 0, 0}} {
		e := Expect(rows, Shape{Width: 2, By: []int{0}, Offset: x[0], Limit: x[1]})
		if n, column := e.LimitTies(); n != x[2] || (n == 0) != (column < 0) {
			t.Errorf("offset %d and limit %d cut through %d rows, distinguished by column %d; want %d", x[0], x[1], n, column, x[2])
		}
	}
	// The error advises a cast between a text and a number, but not between two kinds of numbers.
	for _, x := range []struct {
		want, got any
		typed     bool
	}{{2.5, 1, false}, {1, 2.5, false}, {2.5, "x", true}, {"x", 2.5, true}, {nil, "x", false}, {"x", nil, false}} {
		_, err := CompareLoose(Expect(rowsOf([]any{x.want}), Shape{Width: 1, Limit: -1}), rowsOf([]any{x.got}), Tolerance)
		if err == nil || strings.Contains(err.Error(), "cast it") != x.typed {
			t.Errorf("%v and %v: %v", x.want, x.got, err)
		}
	}
	if e := Expect(rows, Shape{Width: 2, By: []int{1}, Limit: -1}); e.HasNull() || e.HasFloats() {
		t.Error("there is no NULL and no floating-point number")
	}
	mixed := rowsOf([]any{1, nil}, []any{2, 0.5})
	if e := Expect(mixed, Shape{Width: 1, By: []int{1}, Limit: -1}); !e.HasNull() || e.HasFloats() {
		t.Error("a column of the order has NULL; a column that is not shown has the number")
	}
	if e := Expect(mixed, Shape{Width: 2, By: []int{0}, Limit: -1}); e.HasNull() || !e.HasFloats() {
		t.Error("a column that is not of the order has NULL; one that is shown has a floating-point number")
	}
}

// TestCompareMeansCounts: what is wrong is counted and shown once.
func TestCompareMeansCounts(t *testing.T) {
	columns := []question.Column{
		{Name: "vx_mask", Role: question.HeaderField, Kind: question.Text, Field: record.VxMask},
		{Name: "records", Role: question.GroupStatistic, Kind: question.Number},
		{Name: question.DefinedColumn, Role: question.GroupStatistic, Kind: question.Number},
		{Name: question.MeanColumn, Role: question.GroupStatistic, Kind: question.Number},
	}
	type group struct {
		mask string
		mean float64
	}
	answer := func(groups ...group) *Answer {
		var b Builder
		b.Reset(columns)
		for _, g := range groups {
			b.Text(0, g.mask)
			b.Num(1, 100)
			b.Num(2, 50)
			b.Num(3, g.mean)
			b.Row()
		}
		return b.Take()
	}
	a, b, c := group{"a", 0.1}, group{"b", 0.2}, group{"c", math.NaN()}
	off := MeansTolerance(50)
	if math.Abs(off-(1e-12+50*0x1p-52)) > 1e-26 {
		t.Errorf("tolerance %g", off)
	}
	for name, x := range map[string]struct {
		got            *Answer
		missing, extra int
		rows           []DiffRow
		problem        string
	}{
		"the same":         {answer(a, b, c), 0, 0, nil, ""},
		"another order":    {answer(c, a, b), 0, 0, nil, ""},
		"nearly":           {answer(group{"a", 0.1 + 0.9*off}, b, c), 0, 0, nil, ""},
		"too far":          {answer(group{"a", 0.1 - 1.1*off}, b, c), 1, 1, []DiffRow{{Row: 0, Column: question.MeanColumn}}, "1 group has different values"},
		"defined":          {answer(a, b, group{"c", 0}), 1, 1, []DiffRow{{Row: 2, Column: question.MeanColumn}}, "1 group has different values"},
		"one less":         {answer(a, c), 1, 0, []DiffRow{{Row: 1}}, "1 group is missing"},
		"one more":         {answer(a, group{"d", 1}, b, c, group{"e", 1}), 0, 2, []DiffRow{{Row: 1}, {Row: 4}}, "2 groups are unexpected"},
		"twice":            {answer(a, b, b, c), 0, 1, []DiffRow{{Row: 2}}, "1 group is unexpected"},
		"instead of other": {answer(a, group{"d", 0.2}, c), 1, 1, []DiffRow{{Row: 1}, {Row: 1}}, "1 group is missing, 1 group is unexpected"},
	} {
		want := answer(a, b, c)
		p, err := CompareMeans(want, x.got)
		if len(x.rows) == 0 {
			if err != nil || p.Degree() != EveryValue || p.Rows() != 3 || p.Digest() != want.Digest() {
				t.Errorf("%s: %+v %v", name, p, err)
			}
			continue
		}
		d, ok := errors.AsType[*Diff](err)
		if !ok || p.Valid() || d.Problem != x.problem || d.Missing != x.missing || d.Extra != x.extra || len(d.Rows) != len(x.rows) || d.WantRows != 3 || d.GotRows != x.got.Rows {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		for i, r := range x.rows {
			if d.Rows[i].Row != r.Row || d.Rows[i].Column != r.Column {
				t.Errorf("%s: row %d is %+v, want %+v", name, i, d.Rows[i], r)
			}
		}
	}
	var many []group
	for i := range 30 {
		many = append(many, group{fmt.Sprint(i), 1})
	}
	_, err := CompareMeans(answer(), answer(many...))
	if d, _ := errors.AsType[*Diff](err); d == nil || d.Extra != 30 || len(d.Rows) != MaxDiffs {
		t.Errorf("%+v", d)
	}
}

// TestMeansOfCancelingValues: meansSum also compensates where the value is larger than the sum.
func TestMeansOfCancelingValues(t *testing.T) {
	for _, values := range [][]float64{{1, 1e100, 1, -1e100}, {1e100, 1, -1e100, 1}, {-1e100, 1, 1, 1e100}} {
		var s meansSum
		for _, v := range values {
			s.add(v)
		}
		if got := s.mean(); got != 0.5 {
			t.Errorf("%v: mean %v, want 0.5", values, got)
		}
	}
}

// TestMatcherHeader: every header field with allowed values counts.
func TestMatcherHeader(t *testing.T) {
	q := ask(t)
	q.Header[record.Model], q.Header[record.VxMask] = []string{"GFS", "ECM"}, []string{"G2"}
	m := NewMatcher(q)
	for _, x := range []struct {
		model, mask string
		want        bool
	}{{"GFS", "G2", true}, {"ECM", "G2", true}, {"GFS", "G3", false}, {"gfs", "G2", false}, {"", "", false}} {
		h := record.DefaultHeader()
		h[record.Model], h[record.VxMask] = x.model, x.mask
		if got := m.Header(&h); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}
