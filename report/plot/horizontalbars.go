package plot

import (
	"math"
	"slices"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HorizontalBars shows many named values in panels, one for each case: up to
// some thirty engines, designs and flavours stay legible, which groups of
// upright bars do not. Within a panel bars are sorted, the smallest on top, and
// values that are none come last with their note.
//
// With Log, a value is a point on a stem, since a bar's length means nothing
// on an axis without a zero.
type HorizontalBars struct {
	Frame
	Panels []BarPanel
	// Groups is the order of the colours, so that an engine keeps its colour in
	// all pictures of a report. Groups not listed follow in order of use.
	Groups []string
	Unit   string // printed behind each value: "ms"
	Log    bool
	// OwnScales gives each panel its own axis; else all share one, and lengths
	// can be compared between panels.
	OwnScales bool
	Unsorted  bool // keep the order of the bars
	Columns   int  // of panels; 0 = 1
}

// BarPanel is one case.
type BarPanel struct {
	Title string
	Bars  []Bar
}

// Bar is one row.
type Bar struct {
	Label string // what stands on the left: "duckdb wide sql"
	Group string // gives the colour: "duckdb"
	Value
}

// SVG draws the picture. It fails only for sizes in which nothing can be read.
func (h HorizontalBars) SVG() ([]byte, error) {
	pal, used := newPalette(h.Groups), map[string]bool{}
	all, bars := newSpan(), 0
	for _, p := range h.Panels {
		for _, b := range p.Bars {
			pal.index(b.Group)
			used[b.Group] = true
			b.into(&all, h.Log)
			bars++
		}
	}
	var shape draw.GlyphDrawer
	if h.Log {
		shape = draw.CircleGlyph{}
	}
	s, err := h.layout(900, groupLegend(pal, used, shape))
	if err != nil {
		return nil, err
	}
	if bars == 0 || all.empty() && !h.anyNote() {
		return s.noData()
	}
	if all.empty() {
		all = span{1, 10}
	}
	grid := h.panels(s, pal, all)
	body := vg.Length(0)
	for _, row := range grid {
		body += tallest(row) + 12
	}
	f := s.open(body, body)
	h.drawPanels(f.body, grid)
	return f.encode()
}

func (h HorizontalBars) anyNote() bool {
	for _, p := range h.Panels {
		for _, b := range p.Bars {
			if b.Note != "" || isFinite(b.V) {
				return true
			}
		}
	}
	return false
}

const columnGap = 22

// panels makes the rows of panels of the picture, all with equal margins.
func (h HorizontalBars) panels(s *sheet, pal *palette, all span) [][]*rows {
	columns := min(max(h.Columns, 1), len(h.Panels))
	width := (s.width - 2*margin - columnGap*vg.Length(columns-1)) / vg.Length(columns)
	var names []string
	var values []float64
	for _, p := range h.Panels {
		for _, b := range p.Bars {
			names, values = append(names, b.Label), append(values, b.V)
		}
	}
	left, right := nameRoom(width, 0.45, names...), valueRoom(h.Unit, values...)
	ticks := int((width - left - right) / tickRoom)
	var out [][]*rows
	for i, p := range h.Panels {
		if i%columns == 0 {
			out = append(out, nil)
		}
		xlabel := ""
		if i+columns >= len(h.Panels) {
			xlabel = s.XLabel
		}
		r := h.panel(p, pal, all, newPanel(), ticks)
		r.left, r.right, r.xlabel = left, right, xlabel
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

func (h HorizontalBars) panel(p BarPanel, pal *palette, all span, axes *gplot.Plot, ticks int) *rows {
	bars := slices.Clone(p.Bars)
	if !h.Unsorted {
		key := func(b Bar) float64 {
			if onScale(b.V, h.Log) {
				return b.V
			}
			return math.Inf(1)
		}
		slices.SortStableFunc(bars, func(a, b Bar) int {
			switch x, y := key(a), key(b); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	if h.OwnScales {
		own := newSpan()
		for _, b := range bars {
			b.into(&own, h.Log)
		}
		if !own.empty() {
			all = own
		}
	}
	scale(&axes.X, all, h.Log, ticks)
	r := &rows{title: p.Title, height: 18, plot: axes}
	for _, b := range bars {
		r.names = append(r.names, b.Label)
	}
	r.draw = func(c draw.Canvas, x func(float64) vg.Length, i int, y vg.Length) {
		bar(c, x, y, 12, bars[i].Value, h.Log, h.Unit, hue(pal.index(bars[i].Group)))
	}
	return r
}

func tallest(row []*rows) (h vg.Length) {
	for _, r := range row {
		h = max(h, r.size())
	}
	return h
}

func (h HorizontalBars) drawPanels(c draw.Canvas, grid [][]*rows) {
	y := c.Max.Y
	for _, row := range grid {
		columns := vg.Length(min(max(h.Columns, 1), len(h.Panels)))
		width := (c.Max.X - c.Min.X - columnGap*(columns-1)) / columns
		for i, r := range row {
			x := c.Min.X + vg.Length(i)*(width+columnGap)
			r.drawIn(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: c.Min.Y}, Max: vg.Point{X: x + width, Y: y}}})
		}
		y -= tallest(row) + 12
	}
}
