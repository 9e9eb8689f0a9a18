package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// isolines draws lines of equal values over the cells, at the values of the legend between the
// minimum and the maximum. at returns the center of a cell. A line stops where a value is missing.
func (m *Cells) isolines(c draw.Canvas, all span, at func(i, j int) vg.Point) {
	var lines [][2]vg.Point
	for _, part := range []float64{0.25, 0.5, 0.75} {
		level := all.lo + part*(all.hi-all.lo)
		for i := range len(m.Rows) - 1 {
			for j := range len(m.Columns) - 1 {
				corners := [4]vg.Point{at(i, j), at(i, j+1), at(i+1, j+1), at(i+1, j)}
				values := [4]float64{m.Rows[i].Values[j], m.Rows[i].Values[j+1], m.Rows[i+1].Values[j+1], m.Rows[i+1].Values[j]}
				lines = append(lines, crossings(corners, values, level)...)
			}
		}
	}
	for _, s := range []draw.LineStyle{{Color: gray(0xFF), Width: 2.4}, {Color: gray(0x11), Width: 1.2}} { // a halo first
		for _, l := range lines {
			c.StrokeLine2(s, l[0].X, l[0].Y, l[1].X, l[1].Y)
		}
	}
}

// crossings returns the segments of a level's line between four corners. If two opposite corners
// exceed the level and two do not, the mean of all four decides which segments are connected.
func crossings(corners [4]vg.Point, values [4]float64, level float64) (lines [][2]vg.Point) {
	var ends []vg.Point
	mean := 0.0
	for i, v := range values {
		if !isDrawable(v) {
			return nil
		}
		mean += v / 4
		w := values[(i+1)%4]
		if (v > level) != (w > level) {
			part := vg.Length((level - v) / (w - v))
			a, b := corners[i], corners[(i+1)%4]
			ends = append(ends, vg.Point{X: a.X + part*(b.X-a.X), Y: a.Y + part*(b.Y-a.Y)})
		}
	}
	if len(ends) == 4 && (values[0] > level) != (mean > level) {
		ends = []vg.Point{ends[3], ends[0], ends[1], ends[2]}
	}
	for i := 0; i+1 < len(ends); i += 2 {
		lines = append(lines, [2]vg.Point{ends[i], ends[i+1]})
	}
	return lines
}
