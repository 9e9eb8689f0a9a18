package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/barograph/barograph/internal/lists"
)

// Guide is a known curve for orientation, for example the diagonal of no skill or a constant critical
// success index. It is thin, and has its label at its end.
type Guide struct {
	At, Value []float64
	Label     string
}

// draw draws the parts of the guide inside the area of the data, and returns the points of the last part.
func (g *Guide) draw(c draw.Canvas, place func(at, value float64) vg.Point) (last []vg.Point) {
	pts := lists.Map(lists.Indices(len(g.At)), func(i int) vg.Point { return place(g.At[i], g.Value[i]) })
	for _, line := range c.ClipLinesXY(pts) {
		c.StrokeLines(draw.LineStyle{Color: gray(0x99), Width: 0.9, Dashes: []vg.Length{5, 3}}, line)
		last = line
	}
	return last
}

// label writes the label next to the line. It uses the position closest to the end that overlaps no
// other label and no curve. If curves pass everywhere, it uses the position with the fewest points
// of curves.
func (g *Guide) label(c draw.Canvas, line []vg.Point, taken *[]vg.Rectangle, curves []vg.Point) {
	k, label := captionInk(), clean(g.Label)
	if len(line) < 2 || label == "" {
		return
	}
	w := k.width(label) * slack
	best, fewest := vg.Rectangle{}, math.MaxInt
	const steps = 20
	for s := steps * (len(line) - 1); s >= 0 && fewest > 0; s -= steps / 4 {
		i := min(s/steps, len(line)-2) // the segment
		on := line[i].Add(line[i+1].Sub(line[i]).Scale(vg.Length(s-i*steps) / steps))
		for _, by := range [...]vg.Point{{X: 3, Y: 3}, {X: 8, Y: -12}, {X: -w - 8, Y: 4}} {
			at := vg.Point{X: max(c.Min.X+3, min(on.X+by.X, c.Max.X-w-3)), Y: max(c.Min.Y+3, min(on.Y+by.Y, c.Max.Y-12))}
			box := vg.Rectangle{Min: vg.Point{X: at.X - 4, Y: at.Y - 4}, Max: vg.Point{X: at.X + w + 4, Y: at.Y + 12}}
			if n := within(curves, box); n < fewest && !overlapsAny(box, *taken) {
				best, fewest = box, n
			}
		}
	}
	if fewest < math.MaxInt {
		*taken = append(*taken, best)
		k.writeOver(c, best.Min.Add(vg.Point{X: 4, Y: 4}), label)
	}
}

// within counts the points in a rectangle.
func within(points []vg.Point, box vg.Rectangle) int {
	return len(lists.Filter(points, func(p vg.Point) bool {
		return p.X > box.Min.X && p.X < box.Max.X && p.Y > box.Min.Y && p.Y < box.Max.Y
	}))
}

// countSideBySide counts the curves that are drawn side by side, and computes the minimum distance between
// two of their coordinates.
func (c *linesDrawing) countSideBySide() {
	var at []float64
	for _, q := range c.Curves {
		if q.Style >= Bars {
			c.sideBySide++
			at = append(at, q.Positions...)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	gaps := lists.Map(lists.Indices(max(len(at)-1, 0)), func(i int) float64 { return at[i+1] - at[i] })
	if c.gap = 1; len(gaps) > 0 {
		c.gap = slices.Min(gaps)
	}
}

// drawSideBySide draws the parts of bars and boxes inside the canvas. A box without quartiles is the line of its median.
func (c *linesDrawing) drawSideBySide(dc draw.Canvas, placeFor func(q *Curve) func(at, value float64) vg.Point) {
	k := 0
	for i, q := range c.Curves {
		if q.Style < Bars {
			continue
		}
		place, clr := placeFor(&q), q.color(c.hues[i])
		slot := (place(c.at.lo+c.gap, 0).X - place(c.at.lo, 0).X) * 0.84 / vg.Length(c.sideBySide)
		half, shift := min(slot*0.46, 22), (vg.Length(k)-vg.Length(c.sideBySide-1)/2)*min(slot, 50)
		k++
		bar := func(clr color.Color, mid, low, high vg.Length) {
			left, right := mid-half, mid+half
			dc.FillPolygon(clr, dc.ClipPolygonXY([]vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}))
		}
		for j := range q.Positions {
			if !isDrawable(q.Value[j]) || q.Positions[j] < c.at.lo || q.Positions[j] > c.at.hi {
				continue
			}
			at := func(v float64) vg.Point { return place(q.Positions[j], v).Add(vg.Point{X: shift}) }
			mid := at(q.Value[j])
			if q.Style == Bars {
				part := 0.85
				if q.Right { // behind the curves
					part = 0.3
				}
				bar(fade(clr, part), mid.X, at(0).Y, mid.Y)
				if hasBoth(q.Lo, q.Hi, j) {
					whisker(dc, gray(0x33), at(q.Lo[j]), at(q.Hi[j]), min(3, half/2))
				}
			} else {
				if hasBoth(q.WhiskerLow, q.WhiskerHigh, j) {
					whisker(dc, clr, at(q.WhiskerLow[j]), at(q.WhiskerHigh[j]), half/2)
				}
				circles(dc, clr, q.outliers(j), at)
				if hasBoth(q.Lo, q.Hi, j) {
					bar(gray(0xFF), mid.X, at(q.Lo[j]).Y, at(q.Hi[j]).Y)
					bar(fade(clr, 0.35), mid.X, at(q.Lo[j]).Y, at(q.Hi[j]).Y)
				}
				median := []vg.Point{{X: mid.X - half, Y: mid.Y}, {X: mid.X + half, Y: mid.Y}}
				dc.StrokeLines(draw.LineStyle{Color: clr, Width: 2}, dc.ClipLinesXY(median)...)
			}
			mid.Y = min(max(mid.Y, dc.Min.Y), dc.Max.Y)
			c.addTooltip(dc, mid, &q, j)
		}
	}
}

// circles marks values beyond the whiskers. It draws those that coincide once, to keep the picture
// of many records small.
func circles(dc draw.Canvas, clr color.Color, values []float64, at func(float64) vg.Point) {
	drawn := map[int]bool{}
	for _, v := range values {
		p := at(v)
		if half := int(2 * p.Y); dc.Contains(p) && !drawn[half] {
			drawn[half] = true
			dc.DrawGlyph(draw.GlyphStyle{Color: clr, Radius: 2, Shape: draw.RingGlyph{}}, p)
		}
	}
}
