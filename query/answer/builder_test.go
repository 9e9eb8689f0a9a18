package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// allKinds are columns of each kind.
func allKinds() []question.Column {
	return []question.Column{
		{Name: "vx_mask", Role: question.HeaderField, Kind: question.Text, Field: record.VxMask},
		{Name: "fcst_valid_beg", Role: question.ValidBeg, Kind: question.Time},
		{Name: "fcst_lead", Role: question.Lead, Kind: question.Duration},
		{Name: "fbar", Role: question.Data, Kind: question.Number},
		{Name: "ens_i", Role: question.Repeating, Kind: question.List},
	}
}

// drawn makes an answer of n rows that differ in each column.
func drawn(n int) *Answer {
	var b Builder
	b.Reset(allKinds())
	for i := range n {
		b.Text(0, fmt.Sprint("mask", i))
		b.Seconds(1, int64(i)*3600)
		b.Seconds(2, int64(i)*60)
		b.Num(3, float64(i)/2)
		list := b.Vector(4)
		for k := range i {
			list.Num = append(list.Num, float64(10*i+k))
		}
		list.End = append(list.End, len(list.Num))
		b.Row()
	}
	return b.Take()
}

// rowTexts are the rows of an answer as text.
func rowTexts(a *Answer) (rows []string) {
	for i := range a.Rows {
		rows = append(rows, a.Row(i))
	}
	return rows
}

func TestRowsAsText(t *testing.T) {
	a := drawn(3)
	want := []string{
		"mask0 | 1970-01-01T00:00:00Z | 0 | 0 | ",
		"mask1 | 1970-01-01T01:00:00Z | 60 | 0.5 | 10",
		"mask2 | 1970-01-01T02:00:00Z | 120 | 1 | 20 21",
	}
	if got := rowTexts(a); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a.Vectors[3].Num[0], a.Vectors[3].Num[1], a.Vectors[4].Num[0] = math.NaN(), math.Copysign(0, -1), math.NaN()
	if got := a.Row(0) + a.Row(1); !strings.Contains(got, "| NA |") || !strings.Contains(got, "| 0 | NA") {
		t.Errorf("missing values and negative zero are %q", got)
	}
	// 5 + 5 + 5 bytes of text, 3 × 3 numbers and times, 3 values of lists
	if got := a.Bytes(); got != 15+8*(9+3) {
		t.Errorf("%d bytes", got)
	}
}

// TestCopyAndOrder: Copy and SortedByText keep each row. SortedByText only changes the order.
func TestCopyAndOrder(t *testing.T) {
	a := drawn(12)
	var b Builder
	b.Reset(a.Columns)
	want := rowTexts(a)
	order := rand.New(rand.NewPCG(1, 2)).Perm(a.Rows)
	for n, i := range order {
		b.Copy(a, i)
		if b.Rows != n+1 || b.Answer.Row(n) != want[i] {
			t.Fatalf("row %d is %q after %d copies, want %q", n, b.Answer.Row(b.Rows-1), b.Rows, want[i])
		}
	}
	mixed := b.Take()
	if b.Rows != 0 || b.Columns != nil || b.Vectors != nil {
		t.Error("Take leaves something behind")
	}
	if _, err := Compare(a, mixed); err == nil {
		t.Error("another order is equal")
	}
	if _, err := Compare(a.SortedByText(), mixed.SortedByText()); err != nil {
		t.Error(err)
	}
	slices.Sort(want)
	if got := rowTexts(mixed.SortedByText()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBuilderIsUsedAgain: nothing of an answer is in the next one, whatever its columns are.
func TestBuilderIsUsedAgain(t *testing.T) {
	var b Builder
	fill := func(columns []question.Column, rows int) *Answer {
		b.Reset(columns)
		if b.Rows != 0 || len(b.Vectors) != len(columns) || !b.FirstRow.IsZero() || b.Ties != nil {
			t.Fatalf("after Reset: %d rows, %d vectors, first row at %v, ties %v", b.Rows, len(b.Vectors), b.FirstRow, b.Ties)
		}
		for k := range columns {
			if b.length(k) != 0 || len(b.Vectors[k].Num) != 0 {
				t.Fatalf("column %d is not empty after Reset", k)
			}
		}
		if b.Grow(0); !b.FirstRow.IsZero() {
			t.Fatal("no row is a first row")
		}
		for i := range rows {
			b.Copy(drawn(rows), i)
			b.addTie(i + 1)
			if b.FirstRow.IsZero() {
				t.Fatal("the time of the first row is not noted")
			}
		}
		return &b.Answer
	}
	all := allKinds()
	if got := rowTexts(fill(all, 3)); !slices.Equal(got, rowTexts(drawn(3))) {
		t.Errorf("%q", got)
	}
	first := b.FirstRow
	if b.Grow(1); b.FirstRow != first {
		t.Error("the second row is no first row")
	}
	b.Reset(all[:2])
	b.Reset(append(all, question.Column{Name: "obar", Kind: question.Number}))
	if len(b.Vectors) != 6 {
		t.Errorf("%d vectors for 6 columns", len(b.Vectors))
	}
	if got := rowTexts(fill(all, 2)); !slices.Equal(got, rowTexts(drawn(2))) {
		t.Errorf("%q", got)
	}
}

// TestBuilderLists: List takes the repeating column's values and no others.
func TestBuilderLists(t *testing.T) {
	lt, _ := record.TypeByName("PCT")
	columns, err := question.Columns(lt, "thresh_i", "on_i")
	if err != nil {
		t.Fatal(err)
	}
	var b Builder
	b.Reset(columns)
	for _, repeats := range [][]float64{{0, 1, 2, 3, 4, 5}, {}, {6, 7, 8}} {
		b.List(0, repeats)
		b.List(1, repeats)
		b.Row()
	}
	if got := rowTexts(&b.Answer); !slices.Equal(got, []string{"0 3 | 2 5", " | ", "6 | 8"}) {
		t.Errorf("%q", got)
	}
	if b.length(0) != 3 || b.length(1) != 3 {
		t.Errorf("%d and %d lists of 3 rows", b.length(0), b.length(1))
	}
}

// TestDigestOfEachValue: a change of any one value changes the digest and is a difference in its column and row.
func TestDigestOfEachValue(t *testing.T) {
	want := drawn(4)
	for k, c := range want.Columns {
		for i := 1; i < want.Rows; i++ {
			got := drawn(4)
			switch v := &got.Vectors[k]; c.Kind {
			case question.Text:
				v.Text[i] += "x"
			case question.Number:
				v.Num[i]++
			case question.List:
				v.Num[v.End[i]-1]++
			default:
				v.Seconds[i]++
			}
			if got.Digest() == want.Digest() {
				t.Errorf("%s of row %d is not in the digest", c.Name, i)
			}
			if column, row := firstDifference(want, got); column != k || row != i {
				t.Errorf("%s of row %d: the first difference is in column %d, row %d", c.Name, i, column, row)
			}
			if column := singleDifference(want, got, i, i); column != k {
				t.Errorf("%s of row %d: the only difference is in column %d", c.Name, i, column)
			}
		}
	}
	if singleDifference(want, want, 1, 2) != -1 || singleDifference(want, want, 1, 1) != -1 {
		t.Error("rows with several differences, or none, have no only difference")
	}
	// The digest also covers the lengths of texts and lists.
	if a, b := rows([]string{"ab", "c"}, []int64{0, 0}, []float64{0, 0}), rows([]string{"a", "bc"}, []int64{0, 0}, []float64{0, 0}); a.Digest() == b.Digest() {
		t.Error("ab, c has the digest of a, bc")
	}
	got := drawn(4)
	if got.Vectors[4].End[1]++; got.Digest() == want.Digest() {
		t.Error("the ends of lists are not in the digest")
	}
	two := drawn(4)
	two.Vectors[3].Num[3]++
	two.Vectors[2].Seconds[1]++
	if column, row := firstDifference(want, two); column != 2 || row != 1 {
		t.Errorf("the first of two differences is in column %d, row %d", column, row)
	}
	two = drawn(4)
	two.Vectors[3].Num[1]++
	two.Vectors[2].Seconds[3]++
	if column, row := firstDifference(want, two); column != 3 || row != 1 {
		t.Errorf("the first of two differences is in column %d, row %d", column, row)
	}
}
