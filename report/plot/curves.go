package plot

import (
	"fmt"
	"math"
	"slices"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"barograph/fault"
)

// Reference is a straight line to compare curves with: 0.6, the anomaly
// correlation above which a forecast is held to be useful; 0 for a bias.
type Reference struct {
	Value float64 // of the statistic
	Label string
}

// points is a curve in any of the three kinds of picture: a statistic against
// a coordinate (lead, level, time).
type points struct {
	name   string
	at     []float64 // the coordinate
	value  []float64 // the statistic
	lo, hi []float64 // nil = no interval
	hue    int
}

// check orders a curve by its coordinate and drops places without one. It
// fails where the lists differ in length.
func (p points) check() (points, error) {
	n := len(p.at)
	for _, list := range []struct {
		name string
		len  int
		must bool
	}{{"values", len(p.value), true}, {"lower bounds", len(p.lo), p.lo != nil || p.hi != nil}, {"upper bounds", len(p.hi), p.lo != nil || p.hi != nil}} {
		if list.must && list.len != n {
			return p, &fault.Error{Setting: p.name, Problem: fmt.Sprintf("%d %s for %d places on the axis", list.len, list.name, n), Cure: "give NaN for a value that is none"}
		}
	}
	var order []int
	for i, at := range p.at {
		if isFinite(at) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p.at[i] < p.at[j]:
			return -1
		case p.at[i] > p.at[j]:
			return 1
		}
		return 0
	})
	pick := func(from []float64) (out []float64) {
		if from == nil {
			return nil
		}
		for _, i := range order {
			out = append(out, from[i])
		}
		return out
	}
	p.at, p.value, p.lo, p.hi = pick(p.at), pick(p.value), pick(p.lo), pick(p.hi)
	return p, nil
}

// curves is what the three kinds share. In a profile the coordinate runs up.
type curves struct {
	all        []points
	references []Reference
	moments    []Moment // of pictures whose coordinate runs to the right
	upright    bool
}

// newCurves checks all curves and finds the ranges of coordinate and statistic;
// positive says that coordinates have to be above zero.
func newCurves(all []points, references []Reference, positive bool) (c *curves, at, value span, err error) {
	c = &curves{references: references}
	at, value = newSpan(), newSpan()
	for _, p := range all {
		if p, err = p.check(); err != nil {
			return nil, at, value, err
		}
		for i := range p.at {
			if positive && p.at[i] <= 0 {
				p.value[i] = math.NaN()
			}
			if !isFinite(p.value[i]) {
				continue
			}
			at.add(p.at[i])
			value.add(p.value[i])
			if p.lo != nil {
				value.add(p.lo[i], p.hi[i])
			}
		}
		c.all = append(c.all, p)
	}
	if !value.empty() {
		for _, r := range references {
			value.add(r.Value)
		}
	}
	return c, at, value, nil
}

func (c *curves) legend() []entry {
	var out []entry
	for i, p := range c.all {
		h := hueOf(p.hue, i)
		out = append(out, entry{name: p.name, clr: hue(h), dash: dash(h), mark: mark(h), line: true})
	}
	return out
}

// Plot is gonum's: it draws on the data's canvas.
func (c *curves) Plot(dc draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&dc)
	place := func(at, value float64) vg.Point {
		if c.upright {
			return vg.Point{X: x(value), Y: y(at)}
		}
		return vg.Point{X: x(at), Y: y(value)}
	}
	for i, q := range c.all {
		ribbon(dc, place, q, hueOf(q.hue, i))
	}
	for _, r := range c.references {
		if isFinite(r.Value) {
			c.reference(dc, p, r)
		}
	}
	c.drawMoments(dc, p)
	for i, q := range c.all {
		line(dc, place, q, hueOf(q.hue, i))
	}
	for _, r := range c.references {
		if isFinite(r.Value) {
			c.referenceLabel(dc, p, r, place)
		}
	}
}

// runs returns the ranges [from, to) in which ok holds.
func runs(n int, ok func(i int) bool) (out [][2]int) {
	from := -1
	for i := 0; i <= n; i++ {
		in := i < n && ok(i)
		switch {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			out = append(out, [2]int{from, i})
			from = -1
		}
	}
	return out
}

func ribbon(c draw.Canvas, place func(at, value float64) vg.Point, q points, h int) {
	if q.lo == nil {
		return
	}
	ok := func(i int) bool { return isFinite(q.value[i]) && isFinite(q.lo[i]) && isFinite(q.hi[i]) }
	for _, r := range runs(len(q.at), ok) {
		var edge []vg.Point
		for i := r[0]; i < r[1]; i++ {
			edge = append(edge, place(q.at[i], q.lo[i]))
		}
		for i := r[1] - 1; i >= r[0]; i-- {
			edge = append(edge, place(q.at[i], q.hi[i]))
		}
		if r[1]-r[0] == 1 { // a point alone: its interval as a line
			c.StrokeLine2(draw.LineStyle{Color: fade(hue(h), 0.35), Width: 3}, edge[0].X, edge[0].Y, edge[1].X, edge[1].Y)
			continue
		}
		c.FillPolygon(fade(hue(h), 0.15), edge)
	}
}

// line draws what is between gaps. Points get marks where there is room for
// them, and always where a line of one point would not be seen.
func line(c draw.Canvas, place func(at, value float64) vg.Point, q points, h int) {
	style := draw.LineStyle{Color: hue(h), Width: 1.9, Dashes: dash(h)}
	glyph := draw.GlyphStyle{Color: hue(h), Radius: 2.9, Shape: mark(h)}
	long := max(c.Max.X-c.Min.X, c.Max.Y-c.Min.Y)
	marks := len(q.at) > 0 && long/vg.Length(len(q.at)) >= 11
	for _, r := range runs(len(q.at), func(i int) bool { return isFinite(q.value[i]) }) {
		var pts []vg.Point
		for i := r[0]; i < r[1]; i++ {
			pts = append(pts, place(q.at[i], q.value[i]))
		}
		c.StrokeLines(style, pts)
		if marks || len(pts) == 1 {
			for _, p := range pts {
				c.DrawGlyph(glyph, p)
			}
		}
	}
}

func (c *curves) reference(dc draw.Canvas, p *gplot.Plot, r Reference) {
	x, y := p.Transforms(&dc)
	style := draw.LineStyle{Color: grey(0x66), Width: 1, Dashes: []vg.Length{5, 3}}
	if c.upright {
		dc.StrokeLine2(style, x(r.Value), dc.Min.Y, x(r.Value), dc.Max.Y)
	} else {
		dc.StrokeLine2(style, dc.Min.X, y(r.Value), dc.Max.X, y(r.Value))
	}
}

// referenceLabel puts a label beside its line, at the end where the fewest
// curves pass, on a white ground.
func (c *curves) referenceLabel(dc draw.Canvas, p *gplot.Plot, r Reference, place func(at, value float64) vg.Point) {
	k := captionInk()
	label := k.fit(clean(r.Label), (dc.Max.X-dc.Min.X)/2)
	if label == "" {
		return
	}
	x, y := p.Transforms(&dc)
	w := k.width(label) * 1.06
	var places []vg.Point
	if c.upright {
		for _, x := range []vg.Length{x(r.Value) + 6, x(r.Value) - w - 4} {
			places = append(places, vg.Point{X: x, Y: dc.Max.Y - 13}, vg.Point{X: x, Y: dc.Min.Y + 6})
		}
	} else {
		for _, y := range []vg.Length{y(r.Value) + 5, y(r.Value) - 13} {
			places = append(places, vg.Point{X: dc.Max.X - w - 4, Y: y}, vg.Point{X: dc.Min.X + 6, Y: y})
		}
	}
	best, fewest := vg.Point{}, math.MaxInt
	for _, at := range places {
		box := vg.Rectangle{Min: vg.Point{X: at.X - 3, Y: at.Y - 3}, Max: vg.Point{X: at.X + w + 1, Y: at.Y + 11}}
		if box.Min.X < dc.Min.X-1 || box.Max.X > dc.Max.X+1 || box.Min.Y < dc.Min.Y-1 || box.Max.Y > dc.Max.Y+1 {
			continue
		}
		if n := c.crossings(box, place); n < fewest {
			best, fewest = at, n
		}
	}
	if fewest == math.MaxInt {
		return // the line lies at the very edge: there is no room
	}
	fillRect(dc, fade(grey(0xFF), 0.75), best.X-3, best.Y-3, best.X+w, best.Y+10)
	k.write(dc, best, atLeft, label)
}

// crossings counts steps of curves inside a box.
func (c *curves) crossings(box vg.Rectangle, place func(at, value float64) vg.Point) (n int) {
	const steps = 32
	for _, q := range c.all {
		for i := range q.at {
			j := min(i+1, len(q.at)-1)
			if !isFinite(q.value[i]) || !isFinite(q.value[j]) {
				continue
			}
			a, b := place(q.at[i], q.value[i]), place(q.at[j], q.value[j])
			for s := range steps {
				part := vg.Length(s) / steps
				pt := vg.Point{X: a.X + (b.X-a.X)*part, Y: a.Y + (b.Y-a.Y)*part}
				if pt.X > box.Min.X && pt.X < box.Max.X && pt.Y > box.Min.Y && pt.Y < box.Max.Y {
					n++
				}
			}
		}
	}
	return n
}
