package plot

import (
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the small axis of counts: its height (for Levels, its width), and the gap between it
// and the data.
const (
	countSize = 26
	countGap  = 12
)

// maxCount is the largest count of all curves if counts differ. If all are equal it is 0, and no axis is drawn.
func (c *linesDrawing) maxCount() float64 {
	all := newSpan()
	for _, q := range c.Curves {
		all.add(q.Count...)
	}
	if all.empty() || all.lo == all.hi {
		return 0
	}
	return all.hi
}

// drawCounts draws the number of records behind each value on an axis from 0: at the top of the
// data, or on the right for Levels. A hole in the data is also a hole here, and so is a coordinate outside the axis.
func (c *linesDrawing) drawCounts(dc draw.Canvas, x, y func(v float64) vg.Length) {
	most := c.maxCount()
	if most == 0 {
		return
	}
	k := newInk(tickSize, xfont.WeightNormal, gray(0x44))
	style := draw.LineStyle{Color: gray(0x88), Width: 0.8}
	from := dc.Max.Y + countGap
	place := func(v, n float64) vg.Point { return vg.Point{X: x(v), Y: from + countSize*vg.Length(n/most)} }
	if c.Coordinate == Levels {
		if from = dc.Max.X + countGap; !c.rightSpan.empty() {
			from += c.right.room()
		}
		place = func(v, n float64) vg.Point { return vg.Point{X: from + countSize*vg.Length(n/most), Y: y(v)} }
	}
	for _, n := range []float64{0, most} {
		a, b := place(c.at.lo, n), place(c.at.hi, n)
		dc.StrokeLine2(style, a.X, min(a.Y, b.Y), b.X, max(a.Y, b.Y))
	}
	for i, q := range c.Curves {
		clr := q.color(c.hues[i])
		isOnAxis := func(k int) bool { return q.Positions[k] >= c.at.lo && q.Positions[k] <= c.at.hi }
		for _, r := range ranges(len(q.Count), func(k int) bool { return isDrawable(q.Count[k]) && isOnAxis(k) }) {
			pts := pointsIn(r, func(k int) vg.Point { return place(q.Positions[k], q.Count[k]) })
			if len(pts) == 1 {
				dc.DrawGlyphNoClip(draw.GlyphStyle{Color: clr, Radius: 1.8, Shape: draw.CircleGlyph{}}, pts[0])
				continue
			}
			dc.StrokeLines(draw.LineStyle{Color: clr, Width: 1.2, Dashes: q.dash(c.hues[i])}, pts)
		}
	}
	text := "N = 0 to " + strconv.FormatFloat(most, 'f', -1, 64)
	if c.Coordinate == Levels {
		writeUp(dc, k, vg.Point{X: from + 3 + k.capHeight()/2, Y: dc.Min.Y + 4}, atLeft, text)
		return
	}
	k.writeOver(dc, vg.Point{X: dc.Min.X + 5, Y: from + 4}, text)
}
