package plot

import (
	"fmt"
	"slices"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Coverage shows the times for which data exist: a row for each series, in panels, with its runs (the
// periods without a hole) as bars over one time axis. A hole is white between gray edges, even if it
// is narrower than a pixel.
type Coverage struct {
	Frame
	Panels []CoveragePanel
}

// CoveragePanel is a panel.
type CoveragePanel struct {
	Title string
	Rows  []CoverageRow
}

// CoverageRow is a row of a panel.
type CoverageRow struct {
	Label, Group string   // Group determines the color
	Runs         []Period // ascending
	Note         string   // after the row: "60 times, 2 missing"
}

// Period is the first and the last time of a sequence without a hole, in Unix seconds.
type Period struct{ First, Last float64 }

const (
	seriesHeight = 17
	holeWidth    = 1.6  // minimum width of a hole, px
	notePart     = 0.17 // largest part of the width that the notes take
)

// Draw draws the picture.
func (g Coverage) Draw() ([]byte, error) {
	pal, all, body := &palette{}, newSpan(), vg.Length(axisRoom+axisLabel)
	var names, notes []string
	for _, p := range g.Panels {
		body += panelTitle + seriesHeight*vg.Length(len(p.Rows)) + 8
		for _, row := range p.Rows {
			pal.of(row.Group)
			names, notes = append(names, clean(row.Label)), append(notes, clean(row.Note))
			for _, r := range row.Runs {
				all.add(r.First, r.Last)
			}
		}
	}
	s, err := g.layout(900, pal.legend(false))
	if err != nil {
		return nil, err
	}
	if all.empty() {
		return s.noData()
	}
	if all.lo == all.hi { // one time only
		all = span{all.lo - 43200, all.hi + 43200}
	}
	f := s.open(body, body)
	c := f.body
	left, right := min(legendInk().widest(names)+12, 0.35*s.width), min(valueInk().widest(notes)+10, notePart*s.width)
	axes := newAxes()
	axes.HideY()
	axes.X.Min, axes.X.Max, axes.Y.Min, axes.Y.Max = all.lo, all.hi, 0, float64(body-axisRoom-axisLabel)
	axes.X.Tick.Marker = timeTicks{int((c.Max.X - c.Min.X - left - right) / 58)}
	axes.Y.Padding = 0
	axes.Add(grid(true, false), coverageDrawing{g, pal, left, right})
	c.Min.X, c.Max.X = c.Min.X+left, c.Max.X-right
	drawAxes(c, axes, s.XLabel, "")
	return f.encode()
}

// coverageDrawing draws the rows on the canvas of the data.
type coverageDrawing struct {
	Coverage
	pal         *palette
	left, right vg.Length
}

// Plot implements gonum's interface.
func (g coverageDrawing) Plot(c draw.Canvas, p *gplot.Plot) {
	x, _ := p.Transforms(&c)
	y := c.Max.Y
	for _, panel := range g.Panels {
		panelInk().write(c, vg.Point{X: c.Min.X - g.left, Y: y - 16}, atLeft, clean(panel.Title))
		y -= panelTitle
		for _, row := range panel.Rows {
			g.row(c, x, y-seriesHeight/2, row)
			y -= seriesHeight
		}
		y -= 8
	}
}

func (g coverageDrawing) row(c draw.Canvas, x func(float64) vg.Length, mid vg.Length, row CoverageRow) {
	const half = 4.5
	k, note := legendInk(), valueInk()
	k.write(c, vg.Point{X: c.Min.X - 8, Y: mid - k.capHeight()/2}, atRight, k.fit(clean(row.Label), g.left-12))
	note.write(c, vg.Point{X: c.Max.X + 8, Y: mid - note.capHeight()/2}, atLeft, note.fit(clean(row.Note), g.right-8))
	if len(row.Runs) == 0 {
		return
	}
	clr, edge := paletteColor(g.pal.of(row.Group)), draw.LineStyle{Color: gray(0x55), Width: 0.7}
	last := x(row.Runs[0].First) - 1 // a single time also has a width
	fillRect(c, clr, last, mid-half, x(row.Runs[len(row.Runs)-1].Last)+1, mid+half)
	for i := range row.Runs[1:] {
		a, b := x(row.Runs[i].Last)+1, x(row.Runs[i+1].First)-1
		if b-a < holeWidth {
			a, b = (a+b-holeWidth)/2, (a+b+holeWidth)/2
		}
		if b <= last { // a hole in the same pixel as the previous one
			continue
		}
		last = b
		fillRect(c, gray(0xFF), a, mid-half-0.5, b, mid+half+0.5)
		c.StrokeLine2(edge, a, mid-half-2, b, mid-half-2)
		c.StrokeLine2(edge, a, mid+half+2, b, mid+half+2)
	}
}

// PeriodsOf splits ascending times at each gap of more than a step. With a step of 0 all times are one period.
func PeriodsOf(times []int64, step int64) (runs []Period) {
	for i, t := range times {
		if n := len(runs); n > 0 && (step == 0 || t-times[i-1] <= step) {
			runs[n-1].Last = float64(t)
			continue
		}
		runs = append(runs, Period{float64(t), float64(t)})
	}
	return slices.Clip(runs)
}

// TimesNote describes the number of times of a row, and the number missing in its holes.
func TimesNote(times, missing int) string {
	words := fmt.Sprintf("%d times", times)
	if times == 1 {
		words = "1 time"
	}
	if missing > 0 {
		words += fmt.Sprintf(", %d missing", missing)
	}
	return words
}
