package plot

import (
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Moment is where something happened that may explain a curve: maintenance, a
// change of settings. One with a label is a dashed line through the picture,
// with the label at its upper right; one without is a tick at the bottom.
type Moment struct {
	At    float64 // on the axis of the coordinate
	Label string
}

// tickUp is how far an unlabelled moment reaches up.
const tickUp = 14

// drawMoments draws them; labels that would touch are put below one another.
func (c *curves) drawMoments(dc draw.Canvas, p *gplot.Plot) {
	x, _ := p.Transforms(&dc)
	k := captionInk()
	var ends []vg.Length // of the last label in each row
	for _, m := range c.moments {
		if !isFinite(m.At) || m.At < p.X.Min || m.At > p.X.Max {
			continue
		}
		at := x(m.At)
		if m.Label == "" {
			dc.StrokeLine2(draw.LineStyle{Color: grey(0x66), Width: 1.4}, at, dc.Min.Y, at, dc.Min.Y+tickUp)
			continue
		}
		dc.StrokeLine2(draw.LineStyle{Color: grey(0x66), Width: 1, Dashes: []vg.Length{5, 3}}, at, dc.Min.Y, at, dc.Max.Y)
		label := k.fit(clean(m.Label), dc.Max.X-at-8)
		row := 0
		for row < len(ends) && ends[row] > at {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		width := k.width(label) * 1.06
		ends[row] = at + width + 12
		y := dc.Max.Y - 12 - 14*vg.Length(row)
		fillRect(dc, fade(grey(0xFF), 0.75), at+3, y-3, at+6+width, y+10)
		k.write(dc, vg.Point{X: at + 5, Y: y}, atLeft, label)
	}
}
