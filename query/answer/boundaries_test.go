package answer

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestDigestsThatAreNone: both halves of a digest are hexadecimal.
func TestDigestsThatAreNone(t *testing.T) {
	const half = "0123456789abcdef"
	if d, ok := ParseDigest(half + half); !ok || d.Hi != 0x0123456789abcdef || d.Lo != d.Hi {
		t.Errorf("%v, %t", d, ok)
	}
	for _, text := range []string{"", half, half + half + "0", half + "0123456789abcdeg", "g123456789abcdef" + half, half + half[:15]} {
		if _, ok := ParseDigest(text); ok {
			t.Errorf("%q is a digest", text)
		}
	}
}

// TestShapesOfExpectations: an offset and a limit select rows of the reference; a limit of 0 selects none, -1 all.
func TestShapesOfExpectations(t *testing.T) {
	for _, c := range [][3]int{{0, -1, 4}, {0, 0, 0}, {0, 1, 1}, {0, 4, 4}, {0, 5, 4}, {3, -1, 1}, {3, 5, 1}, {4, -1, 0}, {9, 1, 0}, {1, 2, 2}} {
		l := rowsOf([]any{1}, []any{2}, []any{3}, []any{4})
		e := Expect(l, Shape{Width: 1, By: []int{0}, Offset: c[0], Limit: c[1]})
		if e.Len() != c[2] || l.Len() != 4 {
			t.Errorf("offset %d and limit %d: %d rows of %d, want %d", c[0], c[1], e.Len(), l.Len(), c[2])
			continue
		}
		got := &Loose{rows: l.rows[min(c[0], 4):][:c[2]]}
		if p, err := CompareLoose(e, got, Tolerance); err != nil || p.Rows() != c[2] {
			t.Errorf("offset %d and limit %d: %+v, %v", c[0], c[1], p, err)
		}
	}
}

// TestListsBeforeOtherColumns: the columns after a list are those of the same record.
func TestListsBeforeOtherColumns(t *testing.T) {
	lt, _ := record.TypeByName("RHIST")
	q := &question.Question{Name: "q", Type: lt}
	var err error
	if q.Columns, err = question.Columns(lt, lt.Group.Fields[0], "model", "total"); err != nil {
		t.Fatal(err)
	}
	var b record.Batch
	b.Reset(lt, "f")
	h := record.DefaultHeader()
	h[record.Model] = "GFS"
	b.AppendTimes(b.AddHeader(h), 0, 0, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], 7)
	}
	b.Group, b.GroupEnd = []float64{1, 2, 3}, []uint32{3}
	var arranged Builder
	Arrange(q, &b, &arranged)
	for name, a := range map[string]*Answer{"Select": Select(q, &b), "Arrange": &arranged.Answer} {
		if a.Rows != 1 || a.Row(0) != "1 2 3 | GFS | 7" {
			t.Errorf("%s: %q", name, rowTexts(a))
		}
	}
}

// TestOneWrongAnswer: a single wrong answer is a Diff, also if the work ended early. The text of the other error is kept
// without passwords.
func TestOneWrongAnswer(t *testing.T) {
	ended := errors.New("cannot reach postgres://u:secret@h/d")
	for name, c := range map[string]struct {
		tally Tally
		ended error
		want  string
		diff  bool
	}{
		"wrong":           {Tally{Wrong: 1, Succeeded: 5, Found: 5, Values: 5}, nil, "1 answer is wrong, 0 records are missing, 0 operations failed, 5 succeeded", true},
		"wrong, early":    {Tally{Wrong: 1}, ended, "1 answer is wrong; the work ended early: cannot reach", true},
		"wrong, a diff":   {Tally{Wrong: 1}, &Diff{Problem: "this row"}, "this row", true},
		"early":           {Tally{Succeeded: 5, Found: 5, Values: 5}, ended, ended.Error(), false},
		"nothing":         {Tally{}, nil, "no answer finished within the measured time; measure longer", false},
		"one missing":     {Tally{Missing: 1}, nil, "0 answers are wrong, 1 record is missing", false},
		"one failed":      {Tally{Failed: 1, Succeeded: 5, Found: 5, Values: 5}, nil, "1 operation failed, 5 succeeded", false},
		"nothing checked": {Tally{Succeeded: 1}, nil, "no answer was checked", false},
	} {
		p, err := CompareAll(c.tally, c.ended)
		_, isDiff := errors.AsType[*Diff](err)
		if p.Valid() || err == nil || !strings.Contains(err.Error(), c.want) || isDiff != c.diff || c.diff && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for values, want := range map[int64]Degree{0: KeysAndCounts, 4: KeysAndCounts, 5: EveryValue} {
		if p, err := CompareAll(Tally{Succeeded: 1, Found: 5, Values: values}, nil); err != nil || p.Degree() != want {
			t.Errorf("%d of 5 values: %q, %v", values, p.Degree(), err)
		}
	}
}

// TestPairsOfManyRows: up to 2^20 pairs, rows whose rounded sums sort otherwise are paired regardless of order.
func TestPairsOfManyRows(t *testing.T) {
	for n, want := range map[int]bool{1024: true, 1025: false} {
		reference, got := &Loose{}, &Loose{}
		for i := range n - 2 {
			v := float64(i + 10)
			reference.Add([]any{v, v, v})
			got.Add([]any{v, v})
		}
		reference.Add([]any{1e-12, 2.0, 1e4})
		reference.Add([]any{3e-12, 1.0, 1e4})
		got.Add([]any{-2e-12, 2.0})
		got.Add([]any{5e-12, 1.0})
		e := Expect(reference, Shape{Width: 2, Limit: -1, Scales: map[int]int{0: 2}})
		if _, err := CompareLoose(e, got, Tolerance); (err == nil) != want {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}

// TestUncheckedColumns: a column is not compared if the allowed answers differ in it.
func TestUncheckedColumns(t *testing.T) {
	first := func() *Expected {
		return Expect(rowsOf([]any{"a", 1, "x"}, []any{"b", 2, "y"}), Shape{Width: 3, Limit: -1})
	}
	if open := first().UncheckedColumns(); open != nil {
		t.Errorf("one answer: %v", open)
	}
	for _, c := range []struct {
		other *Loose
		want  []int
	}{
		{rowsOf([]any{"a", 1, "x"}, []any{"b", 3, "y"}), []int{1}},
		{rowsOf([]any{"a", 2, "x"}, []any{"b", 1, "y"}), nil}, // the same numbers in other rows
		{rowsOf([]any{"a", 5, "z"}, []any{"b", 6, "z"}), []int{1, 2}},
	} {
		e := first()
		if e.Allow(Expect(c.other, Shape{Width: 3, Limit: -1}), "why"); !slices.Equal(e.UncheckedColumns(), c.want) {
			t.Errorf("%v: %v, want %v", c.other, e.UncheckedColumns(), c.want)
		}
	}
}

// TestRecordsOfReference: a Reference keeps the matching records of each question, each identity once. Means counts them.
func TestRecordsOfReference(t *testing.T) {
	one, other := ask(t), ask(t)
	one.Header[record.VxMask] = []string{"A"}
	r := NewReference(one, other)
	for range 2 {
		r.Add(records(t, []string{"A", "B"}, []string{"P1"}, []int32{0, 6, 12}, []int64{0}, 1))
	}
	if rows := r.Rows(); len(rows) != 2 || rows[0].Len() != 3 || rows[1].Len() != 6 || len(rows[1].Headers) != 2 || len(rows[0].Headers) != 1 {
		t.Errorf("%+v", rows)
	}
	ctc, _ := record.TypeByName("CTC")
	r = NewReference(&question.Question{Name: "ctc", Type: ctc}, other) // a question of another line type has no records
	r.Add(records(t, []string{"A"}, []string{"P1"}, []int32{0}, []int64{0}, 1))
	if rows := r.Rows(); rows[0].Len() != 0 || rows[1].Len() != 1 {
		t.Errorf("%d records of CTC, %d of SAL1L2", rows[0].Len(), rows[1].Len())
	}
	q := question.MeanAnomalyCorrelation("a")
	m, err := NewMeans(q)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m.Add(records(t, []string{"A", "B"}, []string{"P1"}, []int32{0, 6, 12}, []int64{0}, 1))
	}
	if m.Records() != 6 || m.Answer().Rows != 6 {
		t.Errorf("%d records, %d groups", m.Records(), m.Answer().Rows)
	}
}

// TestSizeOfAnswers: 8 bytes for each number and time, the length of each text, and nothing for the ends of lists.
func TestSizeOfAnswers(t *testing.T) {
	a := &Answer{Vectors: []Vector{{Text: []string{"GFS", ""}}, {Seconds: []int64{1, 2}}, {Num: []float64{1, math.NaN()}}, {Num: []float64{1, 2, 3}, End: []int{1, 3}}}}
	if got := a.Bytes(); got != 3+16+16+24 {
		t.Errorf("%d bytes", got)
	}
}

// TestCanonicalNumbers: the text of a number is the shortest that gives the same float64; -0 is 0.
func TestCanonicalNumbers(t *testing.T) {
	for want, f := range map[string]float64{"0": math.Copysign(0, -1), "NA": math.NaN(), "0.1": 0.1, "-2": -2, "1e+30": 1e30, "1.0000000000000002": 1 + 0x1p-52} {
		if got := string(appendNumber([]byte("x"), f)); got != "x"+want {
			t.Errorf("%v: %s, want x%s", f, got, want)
		}
	}
}

// TestBatchesOfOneRecord: a batch of one record counts, and an empty one changes nothing.
func TestBatchesOfOneRecord(t *testing.T) {
	m, err := NewMeans(question.MeanAnomalyCorrelation("a"))
	if err != nil {
		t.Fatal(err)
	}
	r := NewReference(ask(t))
	for hour, levels := range [][]string{{"P1"}, {}, {"P2"}} {
		b := records(t, []string{"A"}, levels, []int32{0}, []int64{int64(hour)}, 1)
		m.Add(b)
		r.Add(b)
	}
	if a := r.Answers()[0]; a.Rows != 2 || m.Records() != 2 {
		t.Errorf("%d rows, %d records, want 2", a.Rows, m.Records())
	}
}

// TestLimitOfMeans: means whose difference equals the tolerance are equal. The tolerance grows with the number of defined
// values.
func TestLimitOfMeans(t *testing.T) {
	columns := question.MeanAnomalyCorrelation("a").Columns[4:] // the lead, and the statistics of a group
	group := func(defined, mean float64) *Answer {
		return &Answer{Rows: 1, Columns: columns, Vectors: []Vector{{Seconds: []int64{0}}, {Num: []float64{1e9}}, {Num: []float64{defined}}, {Num: []float64{mean}}}}
	}
	for _, defined := range []float64{1, 1e6} {
		limit := MeansTolerance(defined)
		for difference, want := range map[float64]bool{0: true, limit: true, -limit: true, math.Nextafter(limit, 1): false, math.Nextafter(-limit, -1): false} {
			if _, err := CompareMeans(group(defined, 0), group(defined, difference)); (err == nil) != want {
				t.Errorf("%g of %g values: %v", difference, defined, err)
			}
		}
	}
}

// TestMixedKinds: a column without a type may contain numbers and texts. Their rows come in any order.
func TestMixedKinds(t *testing.T) {
	want := func() *Expected { return Expect(rowsOf([]any{2}, []any{"10"}), Shape{Width: 1, Limit: -1}) }
	for _, got := range []*Loose{rowsOf([]any{Untyped("10")}, []any{Untyped("2")}), rowsOf([]any{"10"}, []any{2})} {
		if _, err := CompareLoose(want(), got, Tolerance); err != nil {
			t.Error(err)
		}
	}
	if _, err := CompareLoose(want(), rowsOf([]any{Untyped("10")}, []any{Untyped("3")}), Tolerance); err == nil {
		t.Error("3 is 2")
	}
}

// TestOrderOfGroupingColumns: the lead may come before the header fields by which a question groups.
func TestOrderOfGroupingColumns(t *testing.T) {
	q := question.MeanAnomalyCorrelation("a")
	c := q.Columns // model, fcst_var, fcst_lev, vx_mask, fcst_lead, then the statistics
	q.Columns = slices.Concat([]question.Column{c[4], c[3], c[2]}, c[5:])
	m, err := NewMeans(q)
	if err != nil {
		t.Fatal(err)
	}
	m.Add(records(t, []string{"B", "A"}, []string{"P1"}, []int32{6, 0}, []int64{0}, 1))
	want := []string{"0 | A | P1 | 1 | 0 | NA", "21600 | A | P1 | 1 | 0 | NA", "0 | B | P1 | 1 | 0 | NA", "21600 | B | P1 | 1 | 0 | NA"}
	if got := rowTexts(m.Answer()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
