package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Lines shows values over a coordinate, with a curve for each model, region or engine. Examples are
// the die-off of a statistic with the forecast lead, a profile over pressure, a series over valid
// times, and the growth of times with size.
type Lines struct {
	Frame
	Curves     []Curve
	Coordinate Coordinate
	Ticks      map[float64]string // labels of the coordinate by position; nil = numbers
	References []Reference
	Guides     []Guide
	Moments    []Moment // for a horizontal coordinate
	RightLabel string   // label of the right axis, see Curve.Right
	// limits of the axes; two equal numbers = the range of the curves
	CoordinateLimits, ValueLimits [2]float64
	Square                        bool // the area of the data is square
	// LogAbove makes the axis of values logarithmic if the ratio of the largest to the smallest
	// value is higher; 0 = never.
	LogAbove float64
}

// Curve is values at coordinates. NaN makes a gap; an omitted coordinate does not.
type Curve struct {
	Name        string
	SameColorAs string    // the name of the curve that has the same color; this one is not in the legend
	Group       string    // an engine, which determines the color; "" = by its position
	Positions   []float64 // in any order
	Value       []float64
	Lo, Hi      []float64 // interval, drawn as a ribbon, or the quartiles of Boxes; nil = none
	// WhiskerLow and WhiskerHigh are the whiskers of Boxes; nil = none.
	WhiskerLow, WhiskerHigh []float64
	Outliers                [][]float64 // the values of Boxes beyond the whiskers, by coordinate; nil = none
	Count                   []float64   // records behind each value, on a small separate axis if they differ; nil = not known
	Style                   Style
	// Labels are written next to the points; nil = none. A curve with labels is not sorted: its line joins the points in
	// the given order. Its intervals are drawn as whiskers instead of a ribbon.
	Labels []string
	// Look replaces what Barograph chooses, by METviewer's names and R's values: colors, pch, lty, lwd, type, legend.
	Look  map[string]string
	Right bool // uses the axis on the right
}

// Style is how the values of a curve are drawn.
type Style int

// The styles. Bars and Boxes of several curves are drawn side by side.
const (
	Joined Style = iota // points and the line through them
	Points
	Bars
	Boxes
)

// CurveNamed returns the curve with a name, and creates it if there is none. The pointer is valid until
// the next call.
func (l *Lines) CurveNamed(name, group string) *Curve {
	i := slices.IndexFunc(l.Curves, func(q Curve) bool { return q.Name == name })
	if i < 0 {
		i, l.Curves = len(l.Curves), append(l.Curves, Curve{Name: name, Group: group})
	}
	return &l.Curves[i]
}

// Add appends a value at a coordinate.
func (q *Curve) Add(at float64, v Value) {
	if !v.hasInterval() {
		v.Lo, v.Hi = math.NaN(), math.NaN()
	}
	q.Positions, q.Value, q.Lo, q.Hi = append(q.Positions, at), append(q.Value, v.V), append(q.Lo, v.Lo), append(q.Hi, v.Hi)
}

// Coordinate is the kind of axis over which values are shown.
type Coordinate int

// The coordinates.
const (
	Leads   Coordinate = iota // forecast leads in hours
	Numbers                   // plain numbers
	Times                     // Unix seconds, UTC
	Levels                    // pressure in hPa, logarithmic, from the ground up as in a sounding
	Sizes                     // sizes or numbers of threads; both axes are logarithmic: a power law is a straight line
)

// Reference is a constant value, drawn as a straight line for comparison: 0.6, the anomaly correlation beyond which a
// forecast is considered useful; 0 for a bias. It is omitted outside the axis.
type Reference struct {
	Value float64
	Label string
}

// Moment is the time of an event that may explain a curve: maintenance, a change of settings. With
// a label it is a dashed line through the picture, with the label at its upper right. Without a
// label it is a tick at the bottom.
type Moment struct {
	At    float64 // on the axis of the coordinate
	Label string
}

// Draw draws the picture. It fails if the lists of a curve differ in length, for bars and boxes over Levels or Sizes, and
// for sizes in which nothing is legible.
func (l Lines) Draw() ([]byte, error) {
	c := linesDrawing{Lines: l}
	at, value, err := c.prepare()
	if err != nil {
		return nil, err
	}
	width, height, least := 900, vg.Length(400), vg.Length(170)
	if l.Coordinate == Levels {
		width, height = 720, 540
	}
	s, err := l.layout(width, c.legend())
	if err != nil {
		return nil, err
	}
	if at.empty() {
		return s.noData()
	}
	if value.empty() { // all curves use the right axis
		value = span{1, 10}
	}
	if l.Square {
		height = s.width - 2*margin
	}
	top, right := vg.Length(0), vg.Length(0) // room for the counts
	if most := c.maxCount(); most > 0 && l.Coordinate == Levels {
		right = countSize + countGap + 4
	} else if most > 0 {
		top = countSize + countGap + 4
	}
	fig, p := s.open(height+top, least+top), newAxes()
	fig.body.Max.X, fig.body.Max.Y = fig.body.Max.X-right, fig.body.Max.Y-top
	if !c.rightSpan.empty() {
		c.right = newRightAxis(c.rightSpan, l.RightLabel, false, heightTicks(fig.body))
		fig.body.Max.X -= c.right.room()
	}
	across, up := fig.body.Max.X-fig.body.Min.X, fig.body.Max.Y-fig.body.Min.Y
	coordinate, values, ticks, label := &p.X, &p.Y, heightTicks(fig.body), &s.YLabel
	p.Y.Padding = 4
	if l.Coordinate == Levels {
		coordinate, values, ticks, label = &p.Y, &p.X, int(across/75), &s.XLabel
		p.X.Padding, p.Y.Padding = 6, 0
	}
	c.scale(coordinate, at, across, up)
	if l.Coordinate == Sizes || l.LogAbove > 0 && value.ratioExceeds(l.LogAbove) {
		scale(values, value, true, ticks)
		*label = logarithmic(*label)
	} else {
		lowest := value.lo
		if value = value.padded(0.04); l.ValueLimits[0] < l.ValueLimits[1] {
			value = span{l.ValueLimits[0], l.ValueLimits[1]}
		} else if lowest == 0 && c.sideBySide > 0 {
			value.lo = 0
		}
		values.Min, values.Max, values.Tick.Marker = value.lo, value.hi, linearTicks{ticks}
	}
	p.Add(grid(true, true), &c)
	drawAxes(fig.body, p, s.XLabel, s.YLabel)
	return fig.encode()
}

// logarithmic adds "log" to the label of an axis.
func logarithmic(label string) string {
	if before, ok := strings.CutSuffix(label, ")"); ok {
		return before + ", log)"
	}
	return strings.TrimSpace(label + " (log)")
}

// linesDrawing is a Lines with what Draw computes.
type linesDrawing struct {
	Lines
	hues       []int
	at         span // of the coordinate's axis
	rightSpan  span // of the values on the right axis
	right      rightAxis
	sideBySide int     // number of curves that are bars or boxes
	gap        float64 // minimum distance of their coordinates
}

// prepare sorts all curves by their coordinate and finds the ranges of coordinates and values.
func (c *linesDrawing) prepare() (at, value span, err error) {
	at, value, c.rightSpan = newSpan(), newSpan(), newSpan()
	pal := &palette{}
	c.Curves = slices.Clone(c.Curves)
	c.References = slices.DeleteFunc(slices.Clone(c.References), func(r Reference) bool { return !onScale(r.Value, c.Coordinate == Sizes) })
	c.Moments = slices.DeleteFunc(slices.Clone(c.Moments), func(m Moment) bool { return !onScale(m.At, c.Coordinate >= Levels) })
	for i := range c.Curves {
		q := &c.Curves[i]
		if err := q.sort(); err != nil {
			return at, value, err
		}
		if q.Style >= Bars && c.Coordinate >= Levels {
			const problem, cure = "has bars or boxes over a logarithmic coordinate", "draw points, or use another coordinate"
			return at, value, &fault.Error{Setting: q.Name, Problem: problem, Cure: cure}
		}
		if c.hues = append(c.hues, i); q.Group != "" && q.SameColorAs == "" {
			c.hues[i] = pal.add(q.Group)
		}
		axis := map[bool]*span{false: &value, true: &c.rightSpan}[q.Right]
		for k := range q.Positions {
			if c.Coordinate >= Levels && q.Positions[k] <= 0 || c.Coordinate == Sizes && !(q.Value[k] > 0) {
				q.Value[k] = math.NaN()
			}
			if !isDrawable(q.Value[k]) {
				continue
			}
			at.add(q.Positions[k])
			if axis.add(q.Value[k]); q.Style == Bars {
				axis.add(0)
			}
			for _, bounds := range [][]float64{q.Lo, q.Hi, q.WhiskerLow, q.WhiskerHigh} {
				if bounds == nil {
					continue
				}
				if c.Coordinate == Sizes && !(bounds[k] > 0) {
					bounds[k] = math.NaN()
				}
				axis.add(bounds[k])
			}
			axis.add(q.outliers(k)...)
		}
	}
	for i, q := range c.Curves {
		if k := slices.IndexFunc(c.Curves, func(o Curve) bool { return q.SameColorAs != "" && o.Name == q.SameColorAs }); k >= 0 {
			c.hues[i] = c.hues[k]
		}
	}
	if c.countSideBySide(); c.sideBySide > 0 && !at.empty() {
		at.add(at.lo-c.gap/2, at.hi+c.gap/2)
	}
	if !at.empty() {
		for _, r := range c.References {
			value.add(r.Value)
		}
		for _, m := range c.Moments {
			at.add(m.At)
		}
	}
	return at, value, nil
}

// sort sorts a copy of a curve's lists by the coordinate, and drops values without a coordinate. It
// fails if the lists differ in length.
func (q *Curve) sort() error {
	all := []*[]float64{&q.Positions, &q.Value, &q.Lo, &q.Hi, &q.WhiskerLow, &q.WhiskerHigh, &q.Count}
	for i, name := range []string{"coordinates", "values", "lower bounds", "upper bounds", "lower whiskers", "upper whiskers", "counts"} {
		required := i == 1 || i >= 2 && i <= 5 && *all[i^1] != nil // lower and upper values need each other
		if (required || *all[i] != nil) && len(*all[i]) != len(q.Positions) {
			return &fault.Error{Setting: q.Name, Problem: fmt.Sprintf("has %d %s for %d coordinates", len(*all[i]), name, len(q.Positions)), Cure: "use NaN for a missing value"}
		}
	}
	if n := len(q.Positions); q.Outliers != nil && len(q.Outliers) != n || q.Labels != nil && len(q.Labels) != n {
		return &fault.Error{Setting: q.Name, Problem: fmt.Sprintf("has %d lists of outliers and %d labels for %d coordinates", len(q.Outliers), len(q.Labels), n), Cure: "use nil or an empty text for a coordinate without one"}
	}
	order := lists.Filter(lists.Indices(len(q.Positions)), func(i int) bool { return isDrawable(q.Positions[i]) })
	if at := q.Positions; q.Labels == nil {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(at[i], at[j]) })
	}
	for _, list := range all {
		*list = lists.Pick(*list, order)
	}
	q.Outliers, q.Labels = lists.Pick(q.Outliers, order), lists.Pick(q.Labels, order)
	return nil
}

// outliers returns the values outside the whiskers of a box.
func (q *Curve) outliers(k int) []float64 {
	if q.Outliers == nil {
		return nil
	}
	return q.Outliers[k]
}

func (c *linesDrawing) legend() (out []entry) {
	for i, q := range c.Curves {
		if q.SameColorAs != "" {
			continue
		}
		h := c.hues[i]
		e := entry{name: cmp.Or(q.Look["legend"], q.Name), clr: q.color(h)}
		if q.Style < Bars && q.Look["type"] != "l" {
			e.mark, _ = q.glyph(h)
		}
		if q.joined() {
			e.dash, e.line = q.dash(h), q.width(2)
		}
		out = append(out, e)
	}
	return out
}

// Plot implements gonum's interface: it draws on the canvas of the data.
func (c *linesDrawing) Plot(dc draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&dc)
	place := func(at, value float64) vg.Point {
		if c.Coordinate == Levels {
			at, value = value, at
		}
		return vg.Point{X: x(at), Y: y(value)}
	}
	placeFor := func(q *Curve) func(at, value float64) vg.Point {
		if !q.Right {
			return place
		}
		return func(at, value float64) vg.Point { return vg.Point{X: x(at), Y: c.right.y(dc, value)} }
	}
	c.drawSideBySide(dc, placeFor)
	c.drawCounts(dc, x, y)
	for i, q := range c.Curves {
		if q.Style < Bars {
			q.ribbon(dc, placeFor(&q), q.color(c.hues[i]))
		}
	}
	guides := make([][]vg.Point, len(c.Guides))
	for i := range c.Guides {
		guides[i] = c.Guides[i].draw(dc, place)
	}
	for _, r := range c.References {
		dashed(dc, place(c.at.lo, r.Value), place(c.at.hi, r.Value))
	}
	moments := c.drawMoments(dc, p)
	var all []vg.Point
	for i, q := range c.Curves {
		if q.Style < Bars {
			all = append(all, q.line(dc, placeFor(&q), c.hues[i])...)
		}
	}
	if !c.rightSpan.empty() {
		c.right.draw(dc)
	}
	for _, m := range moments {
		captionInk().writeOver(dc, m.at, m.text)
	}
	var taken []vg.Rectangle
	for i := range c.Guides {
		c.Guides[i].label(dc, guides[i], &taken, all)
	}
	for _, r := range c.References {
		c.label(dc, r, place((c.at.lo+c.at.hi)/2, r.Value), all)
	}
	c.labelPoints(dc, placeFor, taken)
	for i := range c.Curves { // on top of all other elements
		q := &c.Curves[i]
		for k, v := range q.Value {
			if q.Style >= Bars || !q.hasRoomForSymbols(dc) || !isDrawable(v) {
				continue
			}
			if at := placeFor(q)(q.Positions[k], v); dc.Contains(at) {
				c.addTooltip(dc, at, q, k)
			}
		}
	}
}

// labelPoints writes the labels of points where there is room.
func (c *linesDrawing) labelPoints(dc draw.Canvas, placeFor func(q *Curve) func(at, value float64) vg.Point, taken []vg.Rectangle) {
	for i := range c.Curves {
		q, k := &c.Curves[i], captionInk()
		k.clr = q.color(c.hues[i])
		for n, text := range q.Labels {
			if at := placeFor(q)(q.Positions[n], q.Value[n]); text != "" && isDrawable(q.Value[n]) && dc.Contains(at) {
				taken = append(taken, k.label(dc, at, 2, clean(text), taken, false))
			}
		}
	}
}

// dashed draws the part of a line inside the canvas. The line belongs to no curve.
func dashed(c draw.Canvas, a, b vg.Point) {
	c.StrokeLines(draw.LineStyle{Color: gray(0x66), Width: 1, Dashes: []vg.Length{5, 3}}, c.ClipLinesXY([]vg.Point{a, b})...)
}

// ranges returns the ranges [from, to) in which ok is true.
func ranges(n int, ok func(i int) bool) (out [][2]int) {
	for i := range n {
		switch last := len(out) - 1; {
		case !ok(i):
		case last >= 0 && out[last][1] == i:
			out[last][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// pointsIn returns the points of a range.
func pointsIn(r [2]int, at func(i int) vg.Point) (points []vg.Point) {
	for i := r[0]; i < r[1]; i++ {
		points = append(points, at(i))
	}
	return points
}

// hasBoth reports whether a coordinate has a lower and an upper value.
func hasBoth(low, high []float64, i int) bool {
	return low != nil && isDrawable(low[i]) && isDrawable(high[i])
}

// ribbon draws the parts of the intervals inside the canvas, as a ribbon or as whiskers.
func (q *Curve) ribbon(c draw.Canvas, place func(at, value float64) vg.Point, clr color.NRGBA) {
	ok := func(i int) bool { return isDrawable(q.Value[i]) && hasBoth(q.Lo, q.Hi, i) }
	for _, r := range ranges(len(q.Positions), ok) {
		edge := pointsIn(r, func(i int) vg.Point { return place(q.Positions[i], q.Lo[i]) })
		for i := r[1] - 1; i >= r[0]; i-- {
			edge = append(edge, place(q.Positions[i], q.Hi[i]))
		}
		if q.Style == Points || q.Labels != nil {
			for k := range r[1] - r[0] {
				whisker(c, fade(clr, 0.5), edge[k], edge[len(edge)-1-k], 3)
			}
			continue
		}
		if r[1]-r[0] == 1 { // a single point: its interval is a line
			c.StrokeLines(draw.LineStyle{Color: fade(clr, 0.35), Width: 3}, c.ClipLinesXY(edge)...)
			continue
		}
		c.FillPolygon(fade(clr, 0.15), c.ClipPolygonXY(edge))
	}
}

// hasRoomForSymbols reports whether there is room for a symbol at each point.
func (q *Curve) hasRoomForSymbols(c draw.Canvas) bool {
	return q.Style == Points || q.Labels != nil || !q.joined() || len(q.Positions) > 0 && max(c.Max.X-c.Min.X, c.Max.Y-c.Min.Y)/vg.Length(len(q.Positions)) >= 11
}

// addTooltip makes a symbol show its numbers when a reader points at it.
func (c *linesDrawing) addTooltip(dc draw.Canvas, at vg.Point, q *Curve, i int) {
	x := strconv.FormatFloat(q.Positions[i], 'g', 6, 64)
	if c.Coordinate == Times {
		x = time.Unix(int64(q.Positions[i]), 0).UTC().Format("2 Jan 2006 15:04Z")
	}
	text := clean(cmp.Or(q.Name, q.SameColorAs)) + ", " + x + ": " + Digits(q.Value[i], 4)
	if hasBoth(q.Lo, q.Hi, i) {
		text += " (" + Digits(q.Lo[i], 4) + " to " + Digits(q.Hi[i], 4) + ")"
	}
	if q.Count != nil && isDrawable(q.Count[i]) {
		text += ", N = " + strconv.FormatFloat(q.Count[i], 'f', -1, 64)
	}
	captionInk().write(dc, at, atTooltip, text)
}

// line draws the parts of a curve between gaps and returns points along them, for placing labels. Points get symbols if
// there is room. A part of one point always gets a symbol, because a line of one point is invisible.
func (q *Curve) line(c draw.Canvas, place func(at, value float64) vg.Point, h int) (along []vg.Point) {
	shape, size := q.glyph(h)
	glyph := draw.GlyphStyle{Color: q.color(h), Radius: 2.9 * size, Shape: shape}
	for _, r := range ranges(len(q.Positions), func(i int) bool { return isDrawable(q.Value[i]) }) {
		pts := pointsIn(r, func(i int) vg.Point { return place(q.Positions[i], q.Value[i]) })
		style := draw.LineStyle{Color: glyph.Color, Width: q.width(1.9), Dashes: q.dash(h)}
		if inside := slices.DeleteFunc(slices.Clone(pts), func(p vg.Point) bool { return !c.Contains(p) }); q.joined() && len(inside) < len(pts) {
			c.StrokeLines(style, c.ClipLinesXY(pts)...)
			pts = inside
		} else if q.joined() {
			c.StrokeLines(style, pts)
		}
		if q.Look["type"] != "l" && q.hasRoomForSymbols(c) || len(pts) == 1 {
			for _, p := range pts {
				c.DrawGlyph(glyph, p)
			}
		}
		for i, p := range pts {
			const steps = 32
			next := pts[min(i+1, len(pts)-1)]
			for s := vg.Length(0); s < steps; s++ {
				along = append(along, p.Add(next.Sub(p).Scale(s/steps)))
			}
		}
	}
	return along
}

// label writes a reference's label on white next to its line, which passes through at. It uses the
// end that the fewest curves pass. It writes nothing if the line is outside the canvas.
func (c *linesDrawing) label(dc draw.Canvas, r Reference, at vg.Point, curves []vg.Point) {
	k := captionInk()
	label := k.fit(clean(r.Label), (dc.Max.X-dc.Min.X)/2)
	w := k.width(label) * slack
	xs, ys := []vg.Length{dc.Max.X - w - 4, dc.Min.X + 6}, []vg.Length{at.Y + 5, at.Y - 13}
	if c.Coordinate == Levels {
		xs, ys = []vg.Length{at.X + 6, at.X - w - 4}, []vg.Length{dc.Max.Y - 13, dc.Min.Y + 6}
	}
	best, fewest := vg.Rectangle{}, math.MaxInt
	for _, x := range xs {
		for _, y := range ys {
			box := vg.Rectangle{Min: vg.Point{X: x - 3, Y: y - 3}, Max: vg.Point{X: x + w + 1, Y: y + 11}}
			if box.Min.X < dc.Min.X-1 || box.Max.X > dc.Max.X+1 || box.Min.Y < dc.Min.Y-1 || box.Max.Y > dc.Max.Y+1 {
				continue
			}
			if n := within(curves, box); n < fewest {
				best, fewest = box, n
			}
		}
	}
	if fewest < math.MaxInt && label != "" && dc.Contains(at) { // otherwise the line is at the edge: there is no room
		k.writeOver(dc, vg.Point{X: best.Min.X + 3, Y: best.Min.Y + 3}, label)
	}
}

// label is a text and its position.
type label struct {
	at   vg.Point
	text string
}

// drawMoments draws the lines of moments on the axis. It returns their labels, which are drawn over the curves.
// Labels that would overlap are placed one below the other.
func (c *linesDrawing) drawMoments(dc draw.Canvas, p *gplot.Plot) (labels []label) {
	x, _ := p.Transforms(&dc)
	k := captionInk()
	var ends []vg.Length // of the last label in each row
	for _, m := range c.Moments {
		if m.At < c.at.lo || m.At > c.at.hi {
			continue
		}
		at := x(m.At)
		if m.Label == "" {
			dc.StrokeLine2(draw.LineStyle{Color: gray(0x66), Width: 1.4}, at, dc.Min.Y, at, dc.Min.Y+14)
			continue
		}
		dashed(dc, vg.Point{X: at, Y: dc.Min.Y}, vg.Point{X: at, Y: dc.Max.Y})
		text := k.fit(clean(m.Label), (dc.Max.X-at-8)/1.15)
		row := slices.IndexFunc(ends, func(end vg.Length) bool { return end <= at })
		if row < 0 {
			row, ends = len(ends), append(ends, 0)
		}
		ends[row] = at + k.width(text)*slack + 12
		labels = append(labels, label{vg.Point{X: at + 5, Y: dc.Max.Y - 12 - 14*vg.Length(row)}, text})
	}
	return labels
}
