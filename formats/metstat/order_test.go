package metstat

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestNamedColumnOrder: a header line that names a type's own columns in another order than MET's decides which value
// belongs to which column. If it does not name all of them, it is that of another line type, and the place decides.
func TestNamedColumnOrder(t *testing.T) {
	common := make([]string, len(commonColumns))
	for i, c := range commonColumns {
		common[i] = c.name
	}
	header := strings.Join(common, " ")
	const sl1l2 = plain24 + "SL1L2 10 1 2 3 4 5 6\n"
	for name, c := range map[string]struct {
		text   string
		want   []float64 // of the columns of SL1L2; nil = the line is rejected
		reason string
	}{
		"MET's order":          {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"two exchanged":        {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2, []float64{10, 2, 1, 3, 4, 5, 6}, ""},
		"MAE first":            {header + " MAE TOTAL FBAR OBAR FOBAR FFBAR OOBAR\n" + plain24 + "SL1L2 6 10 1 2 3 4 5\n", []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"an unknown name":      {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR ABSERR\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"no names":             {header + "\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"a further column":     {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE X\n" + plain24 + "SL1L2 10 1 2 3 4 5 6 7\n", []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"and a further column": {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR X MAE\n" + plain24 + "SL1L2 10 1 2 3 4 5 7 6\n", nil, "the 7 columns of SL1L2 in another order than MET, but the line has 8"},
		"of another type":      {header + " TOTAL OBAR FBAR\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"one twice":            {header + " TOTAL FBAR FBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"a shorter line":       {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR MAE\n" + plain24 + "SL1L2 10 1 2 3 4 5\n", nil, "the 7 columns of SL1L2 in another order than MET, but the line has 6"},
		"a second header": {
			header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR MAE\n" + header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2,
			[]float64{10, 1, 2, 3, 4, 5, 6},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(strings.NewReader(c.text), "x.stat", Options{})
			var b record.Batch
			if err := r.Next(&b); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if c.want == nil {
				if len(b.Rejects) != 1 || !strings.Contains(b.Rejects[0].Reason, c.reason) {
					t.Errorf("%+v, want %q", b.Rejects, c.reason)
				}
				return
			}
			if b.Len() != 1 {
				t.Fatalf("%+v", b.Rejects)
			}
			for k, want := range c.want {
				if got := b.Num[k][0]; got != want {
					t.Errorf("column %d: %v, want %v", k+1, got, want)
				}
			}
		})
	}
}

// TestRowsOfABatch: no batch has more lines than Options.Rows, and all lines of the file are in one.
func TestRowsOfABatch(t *testing.T) {
	text := strings.Repeat(plain24+"SL1L2 10 1 2 3 4 5 6\n", 7)
	for rows, want := range map[int][]int{1: {1, 1, 1, 1, 1, 1, 1}, 3: {3, 3, 1}, 7: {7}, 100: {7}} {
		r := NewReader(strings.NewReader(text), "x.stat", Options{Rows: rows})
		var got []int
		for {
			var b record.Batch
			if err := r.Next(&b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Lines)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows: batches of %v lines, want %v", rows, got, want)
		}
	}
}
