package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

var errPage = errors.New("a page is damaged")

// rowsOf yields a batch for each row of a range, whose values are the row's number, up to the first damaged row.
func rowsOf(t *testing.T, damaged ...int64) func(RowRange) iter.Seq2[*record.Batch, error] {
	t.Helper()
	return func(r RowRange) iter.Seq2[*record.Batch, error] {
		return func(yield func(*record.Batch, error) bool) {
			for row := r.First; row <= r.Last; row++ {
				if slices.Contains(damaged, row) {
					yield(nil, errPage)
					return
				}
				if !yield(sl1l2(t, "", float64(row)), nil) {
					return
				}
			}
		}
	}
}

// TestSalvageRanges: every readable row is read once, and unreadable neighbors are one loss. With a minimum of rows, the
// loss has that many.
func TestSalvageRanges(t *testing.T) {
	for name, c := range map[string]struct {
		ranges  []RowRange
		damaged []int64
		lost    string
		rows    []float64
	}{
		"nothing damaged": {SplitRows("MPR", 4, 3, 1), nil, "", []float64{0, 1, 2, 3, 4}},
		"one row":         {SplitRows("MPR", 4, 3, 1), []int64{1}, "MPR, rows 1 to 1", []float64{0, 2, 3, 4}},
		"the last row":    {SplitRows("MPR", 4, 3, 1), []int64{4}, "MPR, rows 4 to 4", []float64{0, 1, 2, 3}},
		"neighbors":       {SplitRows("MPR", 9, 4, 1), []int64{2, 3, 4}, "MPR, rows 2 to 4", []float64{0, 1, 5, 6, 7, 8, 9}},
		"two places":      {SplitRows("MPR", 9, 10, 1), []int64{2, 7}, "MPR, rows 2 to 2; MPR, rows 7 to 7", []float64{0, 1, 3, 4, 5, 6, 8, 9}},
		"two at once":     {SplitRows("MPR", 7, 8, 2), []int64{2}, "MPR, rows 2 to 3", []float64{0, 1, 4, 5, 6, 7}},
		"all":             {SplitRows("MPR", 3, 2, 1), []int64{0, 1, 2, 3}, "MPR, rows 0 to 3", nil},
		"two line types":  {[]RowRange{{"MPR", 0, 1, 1}, {"CTC", 2, 3, 1}}, []int64{1, 2}, "MPR, rows 1 to 1; CTC, rows 2 to 2", []float64{0, 3}},
	} {
		var lost []string
		var rows []float64
		for b, err := range SalvageRanges(t.Context(), c.ranges, rowsOf(t, c.damaged...), func(l Loss) {
			if lost = append(lost, l.Place); !errors.Is(l.Err, errPage) {
				t.Errorf("%s: %v", name, l.Err)
			}
		}) {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, b.Num[0]...)
		}
		if strings.Join(lost, "; ") != c.lost || !slices.Equal(rows, c.rows) {
			t.Errorf("%s: lost %q, rows %v; want %q, %v", name, lost, rows, c.lost, c.rows)
		}
	}
}

// TestSalvageEnds: a canceled salvage ends with the context's error and reports no loss of what it did not read. A caller
// may stop.
func TestSalvageEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	noLoss := func(l Loss) { t.Errorf("lost %+v", l) }
	var failed []error
	for _, err := range SalvageRanges(ctx, SplitRows("MPR", 3, 4, 1), rowsOf(t, 0), noLoss) {
		failed = append(failed, err)
	}
	if len(failed) != 1 || !errors.Is(failed[0], context.Canceled) {
		t.Errorf("%v", failed)
	}
	n := 0
	for range SalvageRanges(t.Context(), SplitRows("MPR", 3, 2, 1), rowsOf(t, 3), noLoss) {
		if n++; n == 1 {
			break
		}
	}
	if n != 1 {
		t.Errorf("%d batches", n)
	}
}

// numbered is an archive with numbered rows, of which one is damaged.
type numbered struct {
	stored
	t   *testing.T
	err error // of RowRanges
}

func (n numbered) RowRanges(_ context.Context, subset string) ([]RowRange, error) {
	return SplitRows(subset, 3, 2, 1), n.err
}

func (n numbered) DumpRows(_ context.Context, _ string, r RowRange) iter.Seq2[*record.Batch, error] {
	return rowsOf(n.t, 2)(r)
}

// TestSalvageSubset: the ranges are those of the archive; an error that lists none ends the salvage.
func TestSalvageSubset(t *testing.T) {
	for _, broken := range []error{nil, errors.New("no connection")} {
		rows, lost, failed := 0, "", error(nil)
		for b, err := range SalvageSubset(t.Context(), numbered{t: t, err: broken}, "MPR", func(l Loss) { lost += l.Place }) {
			if failed = err; err == nil {
				rows += b.Len()
			}
		}
		if !errors.Is(failed, broken) || broken == nil && (rows != 3 || lost != "MPR, rows 2 to 2") || broken != nil && (rows != 0 || lost != "") {
			t.Errorf("%d rows, lost %q, %v", rows, lost, failed)
		}
	}
}

// TestSalvageOfADump: an archive without numbered rows is read up to the first damaged place. A lost server is an error
// and no loss.
func TestSalvageOfADump(t *testing.T) {
	one := sl1l2(t, "a", 1, 2)
	gone := fmt.Errorf("%w: EOF", engine.ErrUnreachable)
	for _, c := range []struct {
		err  error
		lost int
	}{{nil, 0}, {errPage, 1}, {gone, 0}} {
		rows, lost, failed := 0, 0, error(nil)
		for b, err := range Salvage(t.Context(), stored{batches: []*record.Batch{one, one}, err: c.err}, "s", func(l Loss) {
			if lost++; !errors.Is(l.Err, c.err) || l.Place != "all records after the first unreadable place" {
				t.Errorf("%+v", l)
			}
		}) {
			if failed = err; err == nil {
				rows += b.Len()
			}
		}
		if rows != 4 || lost != c.lost || (failed != nil) != errors.Is(c.err, engine.ErrUnreachable) {
			t.Errorf("%v: %d rows, %d losses, %v", c.err, rows, lost, failed)
		}
	}
}
