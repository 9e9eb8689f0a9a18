package plot

import (
	"cmp"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/barograph/barograph/internal/lists"
)

// Rows shows many named values in panels, one for each case or quantity. About thirty engines,
// designs and flavours remain legible, unlike in groups of upright bars. With Log a value is a
// point on a stem, because the length of a bar has no meaning on an axis without a zero.
type Rows struct {
	Frame
	Panels []Panel
	// SideBySide places the panels next to each other, each with its own axis. All panels must
	// have the same rows; only the first shows their names. Without it, the panels are stacked and
	// share one axis, so that lengths can be compared.
	SideBySide bool
	OwnScales  bool   // panels one below the other have separate axes
	Unit       string // printed after each value: "ms"
	Log        bool
	Sorted     bool   // the smallest value first, missing values last; panels side by side have the order of the first
	Seed       uint64 // of the vertical jitter of repetitions, which makes equal ones visible
}

// Panel is one case, or one quantity.
type Panel struct {
	Title  string
	XLabel string // of panels side by side
	Rows   []Row
}

// AddRow adds a row to the panel with this title. It creates the panel if there is none.
func (r *Rows) AddRow(title string, row Row) {
	i := slices.IndexFunc(r.Panels, func(p Panel) bool { return p.Title == title })
	if i < 0 {
		i, r.Panels = len(r.Panels), append(r.Panels, Panel{Title: title})
	}
	r.Panels[i].Rows = append(r.Panels[i].Rows, row)
}

// Row is a value, or the median of repetitions.
type Row struct {
	Label string // on the left: "duckdb wide sql"
	Group string // determines the color: "duckdb"
	Value
	Repetitions []float64 // drawn as points instead of a bar; values outside the axis are omitted
}

func (b Row) extend(s *span, log bool) {
	b.Value.extend(s, log)
	for _, v := range b.Repetitions {
		Value{V: v}.extend(s, log)
	}
}

// panelDrawing is a Panel being drawn.
type panelDrawing struct {
	*Rows
	Panel
	pal         *palette
	axes        *gplot.Plot
	left, right vg.Length // width of the row names (0 = the panel on its left shows them) and of the printed values
	rowHeight   vg.Length
	xlabel      string
}

const (
	panelTitle = 24
	tickRoom   = 55 // between labels of ticks
	axisRoom   = 22
	columnGap  = 22
)

// Draw draws the picture. It fails only for sizes in which nothing is legible.
func (r Rows) Draw() ([]byte, error) {
	pal, all, drawn := &palette{}, newSpan(), false
	var names, values []string
	for _, p := range r.Panels {
		for _, b := range p.Rows {
			pal.of(b.Group)
			b.extend(&all, r.Log)
			names, values = append(names, clean(b.Label)), append(values, withUnit(b.V, r.Unit))
			drawn = drawn || b.Note != "" || isDrawable(b.V)
		}
	}
	s, err := r.layout(900, pal.legend(r.Log))
	if err != nil {
		return nil, err
	}
	if !drawn {
		return s.noData()
	}
	width, part, n := s.width-2*margin, vg.Length(0.45), vg.Length(1)
	if r.SideBySide {
		part, n = 0.35, vg.Length(len(r.Panels))
	}
	left := min(legendInk().widest(names)+12, width*part)
	column := (width - left - columnGap*(n-1)) / n
	var panels []*panelDrawing
	total, tallest := vg.Length(0), vg.Length(0)
	for i, p := range r.Panels {
		q := &panelDrawing{Rows: &r, Panel: p, pal: pal, left: left}
		if r.SideBySide && i > 0 {
			q.left = 0
		}
		q.prepare(s, all, column, values, i == len(r.Panels)-1)
		panels = append(panels, q)
		total, tallest = total+q.height()+12, max(tallest, q.height()+6)
	}
	if r.SideBySide {
		total = tallest
	}
	f := s.open(total, total)
	c := f.body
	for _, q := range panels {
		c.Max.X = c.Min.X + q.left + column
		if q.drawIn(c); r.SideBySide {
			c.Min.X = c.Max.X + columnGap
		} else {
			c.Max.Y -= q.height() + 12
		}
	}
	return f.encode()
}

// prepare sets the axis of a panel whose column has the given width.
func (q *panelDrawing) prepare(s *sheet, all span, column vg.Length, values []string, last bool) {
	if q.Sorted {
		sortedBy := map[bool][]Row{true: q.Panels[0].Rows, false: q.Panel.Rows}[q.SideBySide] // the first panel shows the names
		key := func(i int) float64 {
			if onScale(sortedBy[i].V, q.Log) {
				return sortedBy[i].V
			}
			return math.Inf(1)
		}
		order := lists.Indices(len(q.Panel.Rows))
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key(i), key(j)) })
		q.Panel.Rows = lists.Pick(q.Panel.Rows, order)
	}
	ownSpan, points, bars := newSpan(), false, false
	var ownValues []string
	for _, b := range q.Panel.Rows {
		b.extend(&ownSpan, q.Log)
		ownValues, points = append(ownValues, withUnit(b.V, q.Unit)), points || len(b.Repetitions) > 0
		bars = bars || len(b.Repetitions) == 0 && onScale(b.V, q.Log)
	}
	if q.OwnScales || q.SideBySide {
		all = ownSpan
	}
	if all.empty() {
		all = span{1, 10}
	}
	if q.rowHeight = 18; q.SideBySide || points {
		q.rowHeight = 21
	}
	if q.SideBySide {
		q.xlabel, values = clean(q.XLabel), ownValues
	} else if last {
		q.xlabel = s.XLabel
	}
	q.right, q.axes = valueInk().widest(values)+10, newAxes()
	scale(&q.axes.X, all, q.Log, max(4, int((column-q.right)/tickRoom)))
	if points && !bars && !q.Log && all.lo > 0.5*all.hi { // points, unlike bars, need no zero
		wide := all.padded(0.05)
		q.axes.X.Min, q.axes.X.Max = wide.lo, wide.hi
	}
}

// widest is the width of the longest text.
func (k ink) widest(all []string) (width vg.Length) {
	for _, s := range all {
		width = max(width, k.width(s))
	}
	return width * slack
}

func withUnit(v float64, unit string) string {
	if unit == "" {
		return number(v)
	}
	return number(v) + " " + clean(unit)
}

// height is the height of the panel.
func (q *panelDrawing) height() vg.Length {
	h := q.rowHeight*vg.Length(len(q.Panel.Rows)) + axisRoom
	if q.Title != "" {
		h += panelTitle
	}
	if q.xlabel != "" {
		h += axisLabel
	}
	return h
}

// drawIn draws the panel at the top of c.
func (q *panelDrawing) drawIn(c draw.Canvas) {
	bottom := c.Max.Y - q.height()
	if q.Title != "" {
		k, at := panelInk(), c.Min.X
		if q.SideBySide {
			at += q.left
		}
		k.write(c, vg.Point{X: at, Y: c.Max.Y - 15}, atLeft, k.fit(clean(q.Title), c.Max.X-at))
		c.Max.Y -= panelTitle
	}
	q.axes.HideY()
	q.axes.Y.Padding, q.axes.Y.Min, q.axes.Y.Max = 0, 0, float64(len(q.Panel.Rows))
	q.axes.Add(grid(true, false), q)
	c.Min, c.Max.X = vg.Point{X: c.Min.X + q.left, Y: bottom}, c.Max.X-q.right
	drawAxes(c, q.axes, q.xlabel, "")
}

// Plot implements gonum's interface: it draws on the canvas of the data.
func (q *panelDrawing) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	k := legendInk()
	for i, b := range q.Panel.Rows {
		mid := y(float64(len(q.Panel.Rows)-i) - 0.5)
		if q.left > 0 {
			k.write(c, vg.Point{X: c.Min.X - 8, Y: mid - k.capHeight()/2}, atRight, k.fit(clean(b.Label), q.left-12))
		}
		end, clr := c.Max.X, paletteColor(q.pal.of(b.Group))
		switch {
		case !onScale(b.V, q.Log):
			k := noteInk()
			k.write(c, vg.Point{X: c.Min.X + 6, Y: mid - k.capHeight()/2}, atLeft, k.fit(b.note(q.Log), c.Max.X-c.Min.X-8))
			continue
		case len(b.Repetitions) > 0:
			q.points(c, x, i, mid, clr)
		default:
			end = q.bar(c, x, mid, b.Value, clr)
		}
		k := valueInk()
		k.write(c, vg.Point{X: end + 6, Y: mid - k.capHeight()/2}, atLeft, withUnit(b.V, q.Unit))
	}
	c.StrokeLine2(draw.LineStyle{Color: gray(0x88), Width: 0.8}, c.Min.X, c.Min.Y, c.Min.X, c.Max.Y)
}

// points draws every repetition of a row, and a tick at their median.
func (q *panelDrawing) points(c draw.Canvas, x func(float64) vg.Length, i int, y vg.Length, clr color.NRGBA) {
	c.StrokeLine2(draw.LineStyle{Color: gray(0xEE), Width: 0.6}, c.Min.X, y+q.rowHeight/2, c.Max.X, y+q.rowHeight/2)
	if i == slices.IndexFunc(q.Panel.Rows, func(b Row) bool { return len(b.Repetitions) > 0 && onScale(b.V, q.Log) }) {
		captionInk().write(c, vg.Point{X: c.Max.X + 6, Y: c.Max.Y + 3}, atLeft, "median")
	}
	r := rand.New(rand.NewPCG(q.Seed, uint64(i)))
	for _, v := range q.Panel.Rows[i].Repetitions {
		if onScale(v, q.Log) {
			c.DrawGlyph(draw.GlyphStyle{Color: fade(clr, 0.6), Radius: 2.6, Shape: draw.CircleGlyph{}}, vg.Point{X: x(v), Y: y + vg.Length(r.Float64()-0.5)*11})
		}
	}
	at := x(q.Panel.Rows[i].V)
	c.StrokeLine2(draw.LineStyle{Color: gray(0x11), Width: 2}, at, y-8, at, y+8)
}

// bar draws a value as a bar from the axis, or on a stem, and returns its end.
func (q *panelDrawing) bar(c draw.Canvas, x func(float64) vg.Length, y vg.Length, v Value, clr color.NRGBA) vg.Length {
	const half = 6
	from, to, ink := c.Min.X, x(v.V), clr
	if q.Log {
		c.StrokeLine2(draw.LineStyle{Color: fade(clr, 0.45), Width: 1.4}, from, y, to, y)
	} else {
		from, ink = x(0), gray(0x33)
		fillRect(c, fade(clr, 0.88), from, y-half, to, y+half)
	}
	end := max(from, to)
	if v.hasInterval() {
		whisker(c, ink, vg.Point{X: x(v.Lo), Y: y}, vg.Point{X: x(v.Hi), Y: y}, 3.5)
		end = max(end, x(v.Hi))
	}
	if q.Log {
		c.DrawGlyph(draw.GlyphStyle{Color: clr, Radius: 3.8, Shape: draw.CircleGlyph{}}, vg.Point{X: to, Y: y})
		end = max(end, to+4)
	}
	return end
}

// legend lists the colors in use, if there is more than one.
func (p *palette) legend(points bool) (out []entry) {
	shape := map[bool]draw.GlyphDrawer{true: draw.CircleGlyph{}}[points] // false = a square
	for _, h := range slices.Sorted(slices.Values(p.hues)) {             // the same order in every picture
		if name := p.names[slices.Index(p.hues, h)]; name != "" {
			out = append(out, entry{name: name, clr: paletteColor(h), mark: shape})
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
