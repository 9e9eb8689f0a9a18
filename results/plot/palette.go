package plot

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"image/color"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Hues is the number of distinguishable colors, also for color-blind readers. More series repeat
// the colors in darker and lighter shades.
const Hues = 8

// shades is the number of colors of a hue, itself included.
const shades = 7

// paletteColor returns the i-th color of Okabe and Ito (Color Universal Design, 2008), with gray in place of
// their yellow, which is hardly visible on white. The seven shades of a color are mixed with black or white; those of
// black only with white. No color occurs twice.
func paletteColor(i int) color.NRGBA {
	base := [Hues]color.NRGBA{
		{0x00, 0x72, 0xB2, 0xFF}, // blue
		{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
		{0x00, 0x9E, 0x73, 0xFF}, // bluish green
		{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
		{0xE6, 0x9F, 0x00, 0xFF}, // orange
		{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
		{0x00, 0x00, 0x00, 0xFF}, // black
		{0x8C, 0x8C, 0x8C, 0xFF}, // gray
	}[i%Hues]
	shade, black, white := i/Hues%shades, gray(0), gray(0xFF)
	if base == black {
		return mix(base, white, [shades]float64{0, 0.2, 0.5, 0.35, 0.6, 0.85, 0.7}[shade])
	}
	return mix(mix(base, black, [shades]float64{0, 0.45, 0, 0, 0.2, 0, 0.65}[shade]), white, [shades]float64{0, 0, 0.5, 0.3, 0, 0.4, 0}[shade])
}

// engineHues returns the index of each engine's color.
func engineHues() map[string]int {
	return map[string]int{
		"duckdb": 0, "sqlite": 1, "postgres": 2, "mariadb": 3, "pebble": 4, "mongodb": 5, "couchbase": 6, "dry": 7,
		"asterixdb": Hues, "cassandra": Hues + 1, "valkey": Hues + 2, "oracle": Hues + 3, "trino": Hues + 4, "clickhouse": Hues + 5,
		"bbolt": 2 * Hues,
	}
}

// hueOf is the index of an engine's color, the same in every picture of every report. Other
// names get an index from a hash of the name.
func hueOf(name string) (index int, engine bool) {
	name, _, _ = strings.Cut(name, " ")
	if i, ok := engineHues()[name]; ok {
		return i, true
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % (Hues - 1)), false
}

// palette assigns colors to the names of one picture. If two names would have the same color, an
// engine gets a shade of it (for example for a second design), and any other name gets the next
// free color.
type palette struct {
	names []string
	hues  []int
}

// add assigns another color to a name, also if the name has one already, and returns its index. If the color is
// taken, an engine gets the next shade of it that is no other engine's color. Any other name gets the next free color, or
// a shade if none is free. It never gets gray, which is the color of the dry engine.
func (p *palette) add(name string) int {
	own, engine := hueOf(name)
	isReserved := func(h int) bool {
		return engine && h != own && slices.Contains(slices.Collect(maps.Values(engineHues())), h)
	}
	h, step := own, map[bool]int{true: 3 * Hues, false: Hues}[engine] // the third shade is clearer on white than the second
	for tries := 1; slices.Contains(p.hues, h) || isReserved(h%(shades*Hues)); tries++ {
		if h += step; !engine && tries < Hues-1 {
			h = (h + 1) % Hues % (Hues - 1) // the next hue, but not gray; after all hues, their next shades follow
		}
	}
	p.names, p.hues = append(p.names, name), append(p.hues, h)
	return h
}

// of returns the index of the color of a name, always the same in a picture.
func (p *palette) of(name string) int {
	if i := slices.Index(p.names, name); i >= 0 {
		return p.hues[i]
	}
	return p.add(name)
}

func mix(a, b color.NRGBA, part float64) color.NRGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x)*(1-part) + float64(y)*part + 0.5) }
	return color.NRGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xFF}
}

func fade(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(255*alpha + 0.5)
	return c
}

func gray(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 0xFF} }

// dash returns the line style for each group of eight colors.
func dash(i int) []vg.Length {
	return [][]vg.Length{nil, {7, 3}, {2, 2.5}, {8, 3, 2, 3}}[i/Hues%4]
}

// mark gives neighbors in the palette different symbols, for readers who cannot distinguish the
// colors.
func mark(i int) draw.GlyphDrawer {
	return []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}[i%6]
}

// ColorOf returns the color that a name has if no other name of the picture has it already, as #rrggbb.
func ColorOf(name string) string {
	i, _ := hueOf(name)
	c := paletteColor(i)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// color is the color of a curve; h is the one that Barograph chooses.
func (q *Curve) color(h int) color.NRGBA {
	c := paletteColor(h)
	_, _ = fmt.Sscanf(q.Look["colors"], "#%02x%02x%02x%02x", &c.R, &c.G, &c.B, &c.A) // a color may have no alpha
	return c
}

// joined reports whether a line joins the points of a curve.
func (q *Curve) joined() bool {
	return q.Style == Joined && q.Look["lty"] != "0" && q.Look["type"] != "p"
}

// width is the width of a curve's line; usual is the one that Barograph chooses.
func (q *Curve) width(usual float64) vg.Length {
	v, _ := strconv.ParseFloat(q.Look["lwd"], 64) // 0 without one
	return vg.Length(cmp.Or(v, usual))
}

// glyph is the symbol of a curve, and its size relative to the usual one.
func (q *Curve) glyph(h int) (shape draw.GlyphDrawer, size vg.Length) {
	shape = map[string]draw.GlyphDrawer{"": mark(h), "1": draw.RingGlyph{}, "15": draw.BoxGlyph{}, "17": draw.PyramidGlyph{}}[q.Look["pch"]]
	if shape != nil {
		return shape, 1
	}
	return draw.CircleGlyph{}, map[string]vg.Length{"19": 1, "20": 2. / 3}[q.Look["pch"]]
}

// dash is the line style of a curve; without a Look, a curve on the right axis is dashed. R's lengths are multiples of the
// line's width.
func (q *Curve) dash(h int) []vg.Length {
	lengths, ok := map[string][]vg.Length{"0": nil, "1": nil, "2": {4, 4}, "3": {1, 3}, "4": {1, 3, 4, 3}, "5": {7, 3}, "6": {2, 2, 6, 2}}[q.Look["lty"]]
	switch {
	case !ok && q.Right:
		return []vg.Length{6, 3}
	case !ok:
		return dash(h)
	}
	for i := range lengths {
		lengths[i] *= q.width(1.9)
	}
	return lengths
}
