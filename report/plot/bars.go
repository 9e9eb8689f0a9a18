package plot

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"barograph/fault"
)

// Bars shows one or more measures of the same things side by side: load rates,
// sizes on disk, memory. The rows keep their order.
type Bars struct {
	Frame
	Rows     []BarRow
	Measures []Measure
	Groups   []string // order of the colours, as in HorizontalBars
}

// BarRow is one thing that was measured.
type BarRow struct{ Label, Group string }

// Measure is one column of bars, with an axis of its own.
type Measure struct {
	Name   string  // above the column: "load rate"
	XLabel string  // below, with unit: "records/s"
	Unit   string  // behind each value; may be empty
	Values []Value // one for each row
	Log    bool
}

// SVG draws the picture. It fails where a measure has not one value for each
// row, and for sizes in which nothing can be read.
func (b Bars) SVG() ([]byte, error) {
	pal, used := newPalette(b.Groups), map[string]bool{}
	var names []string
	for _, r := range b.Rows {
		pal.index(r.Group)
		used[r.Group] = true
		names = append(names, r.Label)
	}
	for _, m := range b.Measures {
		if len(m.Values) != len(b.Rows) {
			return nil, &fault.Error{Setting: m.Name, Problem: fmt.Sprintf("%d values for %d rows", len(m.Values), len(b.Rows)), Cure: "give NaN for a value that is none"}
		}
	}
	s, err := b.layout(900, groupLegend(pal, used, nil))
	if err != nil {
		return nil, err
	}
	if len(b.Rows) == 0 || len(b.Measures) == 0 {
		return s.noData()
	}
	left := nameRoom(s.width-2*margin, 0.35, names...)
	n := vg.Length(len(b.Measures))
	width := (s.width - 2*margin - left - columnGap*(n-1)) / n
	var columns []*rows
	for i, m := range b.Measures {
		r := b.column(m, names, pal, width)
		if i == 0 {
			r.left = left
		} else {
			r.names, r.left = make([]string, len(names)), 0
		}
		columns = append(columns, r)
	}
	f := s.open(tallest(columns)+6, tallest(columns)+6)
	x := f.body.Min.X
	for _, r := range columns {
		c := f.body
		c.Min.X, c.Max.X = x, x+r.left+width
		x = c.Max.X + columnGap
		r.drawIn(c)
	}
	return f.encode()
}

func (b Bars) column(m Measure, names []string, pal *palette, width vg.Length) *rows {
	all := newSpan()
	var values []float64
	for _, v := range m.Values {
		v.into(&all, m.Log)
		values = append(values, v.V)
	}
	if all.empty() {
		all = span{1, 10}
	}
	axes := newPanel()
	r := &rows{title: m.Name, overData: true, names: names, height: 20, plot: axes, xlabel: m.XLabel, right: valueRoom(m.Unit, values...)}
	scale(&axes.X, all, m.Log, max(4, int((width-r.right)/tickRoom)))
	r.draw = func(c draw.Canvas, x func(float64) vg.Length, i int, y vg.Length) {
		bar(c, x, y, 13, m.Values[i], m.Log, m.Unit, hue(pal.index(b.Rows[i].Group)))
	}
	return r
}
