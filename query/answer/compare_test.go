package answer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// rows makes an answer of three columns: a text, a time and a number.
func rows(texts []string, times []int64, nums []float64) *Answer {
	var b Builder
	b.Reset([]question.Column{
		{Name: "vx_mask", Role: question.HeaderField, Kind: question.Text, Field: record.VxMask},
		{Name: "fcst_valid_beg", Role: question.ValidBeg, Kind: question.Time},
		{Name: "fabar", Role: question.Data, Kind: question.Number},
	})
	for i := range texts {
		b.Text(0, texts[i])
		b.Seconds(1, times[i])
		b.Num(2, nums[i])
		b.Row()
	}
	return b.Take()
}

func base() *Answer {
	return rows([]string{"G2", "G2", "G2/NHX"}, []int64{0, 21600, 0}, []float64{1.5, math.NaN(), -3})
}

func TestEqualAnswersAreProven(t *testing.T) {
	for name, pair := range map[string][2]*Answer{
		"same":        {base(), base()},
		"minus zero":  {rows([]string{"a"}, []int64{1}, []float64{0}), rows([]string{"a"}, []int64{1}, []float64{math.Copysign(0, -1)})},
		"another NaN": {rows([]string{"a"}, []int64{1}, []float64{math.NaN()}), rows([]string{"a"}, []int64{1}, []float64{math.Float64frombits(0x7ff8000000000123)})},
		"no rows":     {rows(nil, nil, nil), rows(nil, nil, nil)},
	} {
		p, err := Compare(pair[0], pair[1])
		if err != nil || !p.Valid() || p.Rows() != pair[0].Rows || p.Digest() != pair[1].Digest() {
			t.Errorf("%s: proof %+v, %v", name, p, err)
		}
		if q, err := CompareDigest(pair[0], pair[1].Digest(), pair[1].Rows); err != nil || q.Digest() != p.Digest() || q.Rows() != p.Rows() || q.Degree() != DigestOnly || p.Degree() != EveryValue {
			t.Errorf("%s: by digest %+v, %v", name, q, err)
		}
	}
	if (Proof{}).Valid() {
		t.Error("the zero proof proves something")
	}
}

// DBMS-Benchmarker rounds and sorts before it compares, and only warns of a
// difference. Here one bit, one row, or the order of rows is wrong.
func TestDBMSBenchmarkerOneBitOneRowOrOrderIsWrong(t *testing.T) {
	oneBit := base()
	oneBit.Vectors[2].Num[0] = math.Nextafter(1.5, 2)
	for _, tc := range []struct {
		name           string
		got            *Answer
		says           string
		missing, extra int
		column         string
	}{
		{"one bit", oneBit, "1 row has different values", 1, 1, "fabar"},
		{"missing row", rows([]string{"G2", "G2/NHX"}, []int64{0, 0}, []float64{1.5, -3}), "1 row is missing", 1, 0, ""},
		{"surplus row", rows([]string{"G2", "G2", "G2", "G2/NHX"}, []int64{0, 0, 21600, 0}, []float64{1.5, 1.5, math.NaN(), -3}), "1 unexpected row", 0, 1, ""},
		{"swapped rows", rows([]string{"G2", "G2", "G2/NHX"}, []int64{21600, 0, 0}, []float64{math.NaN(), 1.5, -3}), "order is not: the first differs at row 0", 0, 0, ""},
		{"missing for a number", rows([]string{"G2", "G2", "G2/NHX"}, []int64{0, 21600, 0}, []float64{1.5, 0, -3}), "different values", 1, 1, "fabar"},
		{"empty", rows(nil, nil, nil), "3 rows are missing", 3, 0, ""},
	} {
		p, err := Compare(base(), tc.got)
		d, ok := errors.AsType[*Diff](err)
		if !ok || p.Valid() {
			t.Errorf("%s: %+v, %v; want a *Diff and no proof", tc.name, p, err)
			continue
		}
		if !strings.Contains(d.Problem, tc.says) || d.Missing != tc.missing || d.Extra != tc.extra {
			t.Errorf("%s: %+v, want %q, %d missing, %d extra", tc.name, d, tc.says, tc.missing, tc.extra)
		}
		if len(d.Rows) == 0 || d.Rows[0].Column != tc.column {
			t.Errorf("%s: shown rows %+v, want the first to name column %q", tc.name, d.Rows, tc.column)
		}
		if _, err := CompareDigest(base(), tc.got.Digest(), tc.got.Rows); err == nil {
			t.Errorf("%s: the digest is that of the reference", tc.name)
		}
	}
}

func TestCompareRefusesOtherShapes(t *testing.T) {
	for says, spoil := range map[string]func(a *Answer){
		"fabar has 2 values for 3 rows (expected 3 rows, got 3)": func(a *Answer) { a.Vectors[2].Num = a.Vectors[2].Num[:2] },
		"fabar has 1 value for 3 rows":                           func(a *Answer) { a.Vectors[2].Num = a.Vectors[2].Num[:1] },
		"got 1 column, the question has 3":                       func(a *Answer) { a.Columns, a.Vectors = a.Columns[:1], a.Vectors[:1] },
		"got 2 columns, the question has 3":                      func(a *Answer) { a.Columns, a.Vectors = a.Columns[:2], a.Vectors[:2] },
		"column 3 is oabar, the question has fabar":              func(a *Answer) { a.Columns[2].Name = "oabar" },
		"column fabar has values of another kind":                func(a *Answer) { a.Columns[2].Kind, a.Vectors[2] = question.Text, Vector{Text: make([]string, 3)} },
		"column vx_mask has values of another kind":              func(a *Answer) { a.Columns[0].Kind, a.Vectors[0] = question.Time, Vector{Seconds: make([]int64, 3)} },
		"fcst_valid_beg has values of another kind ":             func(a *Answer) { a.Columns[1].Kind = question.Duration },
	} {
		got := base()
		spoil(got)
		if p, err := Compare(base(), got); p.Valid() || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", says, p, err)
		}
		if p, err := CompareMeans(base(), got); p.Valid() || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("means, %s: %v, %v", says, p, err)
		}
	}
}

// Half of a digest proves nothing, and neither do the same values under other names.
func TestDigestsAreComparedWhole(t *testing.T) {
	d := base().Digest()
	for name, got := range map[string]Digest{"high half": {Hi: d.Hi, Lo: d.Lo + 1}, "low half": {Hi: d.Hi + 1, Lo: d.Lo}} {
		if p, err := CompareDigest(base(), got, 3); p.Valid() || err == nil {
			t.Errorf("equal only in the %s: %v, %v", name, p, err)
		}
	}
	if p, err := CompareDigest(base(), d, 2); p.Valid() || err == nil {
		t.Errorf("another number of rows: %v, %v", p, err)
	}
	renamed := base()
	renamed.Columns[2].Name = "oabar"
	if renamed.Digest() == d {
		t.Error("the digest does not cover the names")
	}
}

func TestManyDifferencesAreCounted(t *testing.T) {
	n := 1000
	texts, times, nums := make([]string, n), make([]int64, n), make([]float64, n)
	for i := range n {
		texts[i], times[i], nums[i] = "G2", int64(i), float64(i)
	}
	want := rows(texts, times, nums)
	for i := range n {
		nums[i]++
	}
	_, err := Compare(want, rows(texts, times, nums))
	d, ok := errors.AsType[*Diff](err)
	if !ok || d.Missing != n || len(d.Rows) != MaxDiffs {
		t.Errorf("%d missing, %d shown; want %d and %d", d.Missing, len(d.Rows), n, MaxDiffs)
	}
}

func TestDigestText(t *testing.T) {
	d := base().Digest()
	if got, ok := ParseDigest(FormatDigest(d)); !ok || got != d {
		t.Errorf("%v does not come back: %v %v", d, got, ok)
	}
	for _, bad := range []string{"", "xyz", strings.Repeat("g", 32), strings.Repeat("0", 33)} {
		if _, ok := ParseDigest(bad); ok {
			t.Errorf("%q is taken for a digest", bad)
		}
	}
}
