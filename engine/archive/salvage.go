package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// Salvager is an Archive that can skip records that it cannot read.
type Salvager interface {
	// Salvage is Dump without the unreadable records. It calls lost for each place that
	// contains some.
	Salvage(ctx context.Context, subset string, lost func(Loss)) iter.Seq2[*record.Batch, error]
}

// Loss describes records that Salvage could not read: their place and the error.
type Loss struct {
	Place string // a line type with its row numbers, or keys
	Err   error
}

// RowRange is a range of rows of a line type's table, by the engine's own row numbers.
type RowRange struct {
	LineType    string
	First, Last int64
	MinRows     int64 // the engine cannot read fewer rows at once
}

// SplitRows divides the rows 0 to last of a table into ranges of rowsPerRange rows.
func SplitRows(lineType string, last, rowsPerRange, minRows int64) (out []RowRange) {
	for first := int64(0); first <= last; first += rowsPerRange {
		out = append(out, RowRange{lineType, first, min(first+rowsPerRange-1, last), minRows})
	}
	return out
}

// SalvageRanges reads ranges of rows. It halves an unreadable range until the range has MinRows rows, which are lost.
// It keeps the batches of a range until it has read them all: of an unreadable range it reads the halves again.
func SalvageRanges(ctx context.Context, ranges []RowRange, dump func(RowRange) iter.Seq2[*record.Batch, error], lost func(Loss)) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		var gap RowRange // adjacent unreadable ranges are one Loss
		var why error
		report := func() {
			if why != nil {
				lost(Loss{fmt.Sprintf("%s, rows %d to %d", gap.LineType, gap.First, gap.Last), why})
				why = nil
			}
		}
		defer report()
		var read func(RowRange) bool
		read = func(r RowRange) bool {
			var got []*record.Batch
			var failed error
			for b, err := range dump(r) {
				if err != nil {
					failed = err
					break
				}
				got = append(got, b.Clone())
			}
			switch {
			case failed == nil:
				for _, b := range got {
					if !yield(b, nil) {
						return false
					}
				}
				return true
			case ctx.Err() != nil:
				yield(nil, ctx.Err())
				return false
			case r.Last-r.First+1 <= r.MinRows:
				if why != nil && gap.LineType == r.LineType && gap.Last+1 == r.First {
					gap.Last = r.Last
					return true
				}
				report()
				gap, why = r, failed
				return true
			}
			middle := r.First + (r.Last-r.First)/2
			first, second := r, r
			first.Last, second.First = middle, middle+1
			return read(first) && read(second)
		}
		for _, r := range ranges {
			if !read(r) {
				return
			}
		}
	}
}

// RowReader reads ranges of numbered rows.
type RowReader interface {
	RowRanges(ctx context.Context, subset string) ([]RowRange, error)
	DumpRows(ctx context.Context, subset string, r RowRange) iter.Seq2[*record.Batch, error]
}

// SalvageSubset is SalvageRanges for all rows of a subset.
func SalvageSubset(ctx context.Context, a RowReader, subset string, lost func(Loss)) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		ranges, err := a.RowRanges(ctx, subset)
		if err != nil {
			yield(nil, err)
			return
		}
		SalvageRanges(ctx, ranges, func(r RowRange) iter.Seq2[*record.Batch, error] { return a.DumpRows(ctx, subset, r) }, lost)(yield)
	}
}

// Salvage calls the archive's Salvage if it has one. Otherwise it dumps the archive up to
// the first record that cannot be read.
func Salvage(ctx context.Context, a Archive, subset string, lost func(Loss)) iter.Seq2[*record.Batch, error] {
	if s, can := a.(Salvager); can {
		return s.Salvage(ctx, subset, lost)
	}
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range a.Dump(ctx, subset) {
			if err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrUnreachable) {
				lost(Loss{"all records after the first unreadable place", err})
				return
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Salvage is Salvage of the wrapped archive. Its errors and the losses get context.
func (e errorWrapper) Salvage(ctx context.Context, subset string, lost func(Loss)) iter.Seq2[*record.Batch, error] {
	return e.batches(Salvage(ctx, e.Archive, subset, func(l Loss) { lost(Loss{l.Place, e.addContext(l.Err)}) }))
}

// RowRanges forwards to the archive, if it is a RowReader.
func (e errorWrapper) RowRanges(ctx context.Context, subset string) ([]RowRange, error) {
	r, can := e.Archive.(RowReader)
	if !can {
		return nil, errors.ErrUnsupported
	}
	return wrap[[]RowRange](e)(r.RowRanges(ctx, subset))
}

// DumpRows forwards to the archive, if it is a RowReader.
func (e errorWrapper) DumpRows(ctx context.Context, subset string, rows RowRange) iter.Seq2[*record.Batch, error] {
	r, can := e.Archive.(RowReader)
	if !can {
		return func(yield func(*record.Batch, error) bool) { yield(nil, errors.ErrUnsupported) }
	}
	return e.batches(r.DumpRows(ctx, subset, rows))
}
