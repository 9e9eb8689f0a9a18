package curve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/stat"
)

// intervalNote describes the intervals. It is empty if there is none.
func (d *LazyCurves) intervalNote(shape *pictureShape) string {
	most, fewest := 0, math.MaxInt
	for _, places := range d.places {
		for _, p := range places {
			most, fewest = max(most, len(p.rows)), min(fewest, len(p.rows))
		}
	}
	if shape != nil && d.Picture != "performance" {
		return ""
	}
	describe := func(kind string) string { return d.describeInterval(kind, fewest, most) }
	words := strings.Join(lists.Map(question.Unique(d.kinds), describe), "")
	if shape != nil {
		words = strings.Replace(words, "; ", "; of PODY: ", 1)
	}
	return words
}

// describeInterval is the sentence of the note about intervals of a kind. A point has at least the fewest records, and at
// most the most.
func (d *LazyCurves) describeInterval(kind string, fewest, most int) string {
	except := map[bool]string{true: " (none of points of one record)"}[fewest < 2]
	switch _, _, inFiles := d.limits(kind); {
	case kind == "none" || most == 0:
		return ""
	case inFiles:
		return "; limits of the interval as in the files"
	case most < 2:
		return ""
	case kind == "boot" && d.method.interval != "":
		return d.method.interval + except
	case kind == "std" && d.method.SummaryMethod != stat.Overall:
		return fmt.Sprintf("; %g %% interval by the standard error", math.Round(1e4*d.method.confidence)/100) + except
	}
	return "; plot_ci " + kind + " has no interval of these statistics"
}

// limits returns the columns in which the files have the limits of a kind of intervals: x_bcl, x_ncl. ok is false if they
// have none.
func (d *LazyCurves) limits(kind string) (low, high string, ok bool) {
	letter := map[string]byte{"met_prm": 'n', "norm": 'n', "met_boot": 'b'}[kind]
	if letter == 0 || !d.c.q.Drawing.FromColumns {
		return "", "", false
	}
	return d.stat.Limits(letter)
}

// perRecord are the statistics of the records of both curves at a point.
func (d *LazyCurves) perRecord(p point) (a, b []float64, err error) {
	if a, err = stat.PerRecord(&d.stat, d.c.q.Type, d.c.copyRows(p.rows)); err == nil {
		b, err = stat.PerRecord(cmp.Or(p.other, &d.stat), d.c.q.Type, d.c.copyRows(p.baselineRows))
	}
	return a, b, err
}

// perCase are the statistics of the records of a point, or the results of the operation for each
// case.
func (d *LazyCurves) perCase(op stat.Operation, p point) ([]float64, error) {
	if d.stat.NeedsRecords() {
		return d.objectValues(p.rows), nil
	}
	a, b, err := d.perRecord(p)
	for i := range b {
		a[i] = op.Apply(a[i], b[i])
	}
	return a, err
}

// Intervals computes the intervals of all points. It stops soon after its context is cancelled.
func (d *LazyCurves) Intervals(ctx context.Context) error {
	return d.EachInterval(ctx, func(int, int, stat.Interval) {})
}

// EachInterval is Intervals, and passes each interval to f with its curve and point.
func (d *LazyCurves) EachInterval(ctx context.Context, f func(curve, point int, iv stat.Interval)) error {
	for i := range d.Series {
		s := &d.Series[i]
		for k, p := range d.places[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			iv, ok, err := d.interval(d.kinds[i], d.operations[i], p, s.Y[k])
			if err != nil {
				return err
			}
			if ok {
				s.Low[k], s.High[k] = iv.Low, iv.High
				f(i, k, iv)
			}
		}
	}
	return nil
}

// interval computes the interval of a point with value y, of METviewer's kind.
func (d *LazyCurves) interval(kind string, op stat.Operation, p point, y float64) (iv stat.Interval, ok bool, err error) {
	low, high, inFiles := d.limits(kind)
	switch {
	case inFiles && op == "":
		iv.Value = y
		for to, column := range map[*float64]string{&iv.Low: low, &iv.High: high} {
			s := d.stat
			if s.Needs = []string{column}; err == nil {
				*to, err = d.method.value(&s, d.c.q.Type, d.c.copyRows(p.rows))
			}
		}
		return iv, true, err
	case op == stat.Significant || len(p.rows) < 2 || d.stat.NeedsRecords() && kind != "std": // nothing to resample
		return iv, false, nil
	case kind == "boot" && d.method.bootstrap != nil && op != "":
		one, other := d.seriesOf(p)
		return d.method.bootstrap.Difference(op, one, other)
	case kind == "boot" && d.method.bootstrap != nil:
		return d.method.bootstrap.Interval(&d.stat, d.c.q.Type, d.c.copyRows(p.rows))
	case kind == "std" && d.method.SummaryMethod != stat.Overall:
		values, err := d.perCase(op, p)
		se := stat.StandardError(d.method.SummaryMethod, values, d.method.inflate)
		margin := stat.HalfWidth(d.method.confidence, se)
		return stat.Interval{Value: y, Low: y - margin, High: y + margin, Spread: se}, !math.IsNaN(margin), err
	}
	return iv, false, nil
}
