package plot

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Hues is the number of distinguishable colors, also for color-blind readers. More series repeat
// the colors in darker and lighter shades.
const Hues = 8

// paletteColor returns the i-th color of Okabe and Ito (Color Universal Design, 2008), with gray in place of
// their yellow, which is hardly visible on white. Colors 8 to 15 are mixed with black, 16 to 23 with
// white.
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
	switch i / Hues % 3 {
	case 1:
		return mix(base, color.NRGBA{0, 0, 0, 0xFF}, 0.45)
	case 2:
		return mix(base, color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}, 0.5)
	}
	return base
}

// hueOf is the index of an engine's color, the same in every picture of every report. Other
// names get an index from a hash of the name.
func hueOf(name string) (index int, engine bool) {
	name, _, _ = strings.Cut(name, " ")
	engines := map[string]int{
		"duckdb": 0, "sqlite": 1, "postgres": 2, "mariadb": 3, "pebble": 4, "mongodb": 5, "couchbase": 6, "dry": 7,
		"asterixdb": Hues, "cassandra": Hues + 1, "valkey": Hues + 2, "oracle": Hues + 3, "trino": Hues + 4, "clickhouse": Hues + 5,
		"bbolt": 2 * Hues,
	}
	if i, ok := engines[name]; ok {
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

// add assigns a color to a name, even if the name already has one, and returns its index. Names that are not engines
// get every color but the last, gray, which is the dry engine's.
func (p *palette) add(name string) int {
	h, engine := hueOf(name)
	for tries := 1; slices.Contains(p.hues, h); tries++ {
		if h += Hues; !engine && tries < Hues-1 {
			h = (h + 1) % Hues % (Hues - 1)
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
