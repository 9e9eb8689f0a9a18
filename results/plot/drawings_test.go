package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawings returns golden pictures in addition to those of pictures(): the kinds that METviewer also draws, and curves
// with METviewer's symbols, line types and colors (Curve.Look).
func drawings() map[string]drawer {
	return map[string]drawer{
		"contour":        contour(false),
		"contour_zero":   contour(true),
		"contour_narrow": narrowCells(),
		"scorecard":      scorecard(),
		"dots":           dots(),
		"boxes":          boxes(),
		"rightaxis":      rightAxisPicture(),
		"counts":         counts(Leads),
		"counts_levels":  counts(Levels),
		"performance":    performance(),
		"looks":          looks(),
		"onetime":        oneTime(),
	}
}

// contour is a field over leads and levels; diverging colors it around zero. One cell has no value.
func contour(diverging bool) Cells {
	m := Cells{
		Frame:     Frame{Title: "Bias by lead and level", Subtitle: "Made data", XLabel: "forecast lead (h)"},
		Lines:     !diverging,
		Diverging: diverging,
	}
	for j := range 8 {
		m.Columns = append(m.Columns, fmt.Sprint(24*j))
	}
	for i, level := range []string{"P200", "P500", "P700", "P850", "P1000 & <below>"} {
		r := CellRow{Label: level}
		for j := range m.Columns {
			r.Values = append(r.Values, 2*math.Sin(float64(i)*0.9)-0.35*float64(j)+0.1*float64(i*j))
		}
		if i == 2 {
			r.Values[3] = math.NaN()
		}
		m.Rows = append(m.Rows, r)
	}
	return m
}

// narrowCells has more columns than names or numbers have room, and equal values.
func narrowCells() Cells {
	m := Cells{Frame: Frame{Title: "Many valid times", XLabel: "valid time", Width: 600}}
	for j := range 40 {
		m.Columns = append(m.Columns, fmt.Sprintf("day %d", j+1))
	}
	m.Rows = []CellRow{{Label: "G2/NHX", Values: slices.Repeat([]float64{12.25}, 40)}}
	return m
}

// scorecard has every mark.
func scorecard() Cells {
	marks := []Mark{BetterAt99, BetterAt95, Same, WorseAt95, WorseAt99, TooFew}
	m := Cells{Frame: Frame{Title: "New model against the old one", Subtitle: "Made data", Width: 700}}
	for i, name := range []string{"RMSE", "anomaly correlation"} {
		r := CellRow{Label: name}
		for j := range marks {
			r.Values, r.Marks = append(r.Values, float64(i+j)), append(r.Marks, marks[(i+j)%len(marks)])
		}
		m.Rows = append(m.Rows, r)
	}
	m.Rows[1].Values[5] = math.NaN()
	for j := range marks {
		m.Columns = append(m.Columns, fmt.Sprintf("%d h", 24*j))
	}
	return m
}

// dots has dots of all sizes, two that are close together, and two that a logarithmic axis cannot show.
func dots() Dots {
	return Dots{
		Frame: Frame{Title: "Size and time", Subtitle: "Made data", XLabel: "bytes a record", YLabel: "median time (ms)"},
		Dots: []Dot{
			{Label: "sqlite · single", Group: "sqlite", Note: "sqlite: 40 bytes", X: 40, Y: 90, Size: 1},
			{Label: "duckdb · array", Group: "duckdb", X: 12, Y: 3, Size: 100, Bold: true},
			{Label: "duckdb · median", Group: "duckdb", X: 12.5, Y: 3.1, Size: 50},
			{Label: "postgres", Group: "postgres", X: 300, Y: 800, Size: 0},
			{Label: "no time", Group: "pebble", X: 10, Y: 0},
			{Label: "no size", Group: "pebble", X: -1, Y: 5},
		},
	}
}

// boxes has boxes and bars side by side.
func boxes() Lines {
	nan := math.NaN()
	return Lines{
		Frame: Frame{Title: "Errors by lead", Subtitle: "Made data", XLabel: "forecast lead (h)", YLabel: "error (K)"},
		Curves: []Curve{
			{
				Name: "GFS", Style: Boxes, Positions: []float64{48, 24, 72}, Value: []float64{1.5, 1, nan}, Lo: []float64{1.2, 0.8, nan}, Hi: []float64{1.9, 1.3, nan},
				WhiskerLow: []float64{0.6, 0.4, nan}, WhiskerHigh: []float64{2.8, 2, nan}, Outliers: [][]float64{{3.2, 3.2, 4}, {2.6}, nil},
			},
			{Name: "ECMWF", Style: Boxes, Positions: []float64{24, 48, 72}, Value: []float64{0.9, 1.3, 1.8}, Lo: []float64{0.7, 1, 1.5}, Hi: []float64{1.2, 1.6, 2.4}},
			{Name: "difference", Style: Bars, Positions: []float64{24, 48, 72}, Value: []float64{0.1, 0.2, nan}, Lo: []float64{0.05, 0.1, nan}, Hi: []float64{0.15, 0.3, nan}, Count: []float64{30, 30, 30}},
			{Name: "mean", Positions: []float64{24, 48, 72}, Value: []float64{1.05, 1.6, 1.9}},
		},
	}
}

// rightAxisPicture has bars on the right axis, behind a curve on the left one, and a dashed curve on the right one.
func rightAxisPicture() Lines {
	return Lines{
		Frame:      Frame{Title: "Correlation and cases", Subtitle: "Made data", XLabel: "forecast lead (h)", YLabel: "correlation"},
		RightLabel: "cases",
		Curves: []Curve{
			{Name: "GFS", Positions: []float64{0, 24, 48, 72}, Value: []float64{1, 0.97, 0.9, 0.8}},
			{Name: "cases", Style: Bars, Right: true, Positions: []float64{0, 24, 48, 72}, Value: []float64{31, 30, 28, 11}},
			{Name: "stations", Right: true, Positions: []float64{0, 24, 48, 72}, Value: []float64{20, 20, 19, 18}},
		},
	}
}

// counts has curves whose values come from different numbers of records. One curve has a count between two gaps.
func counts(coordinate Coordinate) Lines {
	nan := math.NaN()
	at := []float64{1000, 850, 700, 500, 250, 100}
	value := []float64{1, 2, 4, 3, 2.5, 1}
	d := Lines{
		Frame:      Frame{Title: "RMSE and its cases", Subtitle: "Made data", XLabel: "RMSE (K)", YLabel: "pressure (hPa)"},
		Coordinate: coordinate,
		Curves: []Curve{
			{Name: "GFS", Positions: at, Value: value, Count: []float64{30, 28, nan, 31, nan, 12}},
			{Name: "ECMWF", Positions: at, Value: []float64{0.5, 1.5, 2.5, 2, 1.5, 0.5}, Count: []float64{31, 31, 31, 30, 30, 29}},
		},
	}
	if coordinate == Leads {
		d.Frame = Frame{Title: d.Title, Subtitle: d.Subtitle, XLabel: "forecast lead (h)", YLabel: "RMSE (K)"}
		for i := range d.Curves {
			d.Curves[i].Positions = []float64{0, 24, 48, 72, 96, 120}
		}
	}
	return d
}

// performance is a square diagram with guides, limits, and labels at its points, whose intervals are whiskers.
func performance() Lines {
	d := Lines{
		Frame:            Frame{Title: "Performance diagram", Subtitle: "Made data", XLabel: "success ratio", YLabel: "probability of detection", Width: 560},
		Coordinate:       Numbers,
		Square:           true,
		CoordinateLimits: [2]float64{0, 1},
		ValueLimits:      [2]float64{0, 1},
		Curves: []Curve{
			{
				Name: "GFS", Positions: []float64{0.8, 0.6, 0.62, 1.2}, Value: []float64{0.4, 0.6, 0.62, 0.5}, Lo: []float64{0.35, 0.5, 0.6, 0.4}, Hi: []float64{0.45, 0.7, 0.64, 0.6},
				Labels: []string{">1 mm", ">5 mm", "", "outside"},
			},
			{Name: "ECMWF", Style: Points, Positions: []float64{0.5, 0.9}, Value: []float64{0.5, 0.3}, Lo: []float64{0.4, 0.2}, Hi: []float64{0.6, 0.35}},
		},
	}
	for _, csi := range []float64{0.2, 0.5} {
		g := Guide{Label: fmt.Sprintf("CSI %g", csi)}
		for x := csi; x <= 1.2; x += 0.1 {
			g.At, g.Value = append(g.At, x), append(g.Value, 1/(1/csi-1/x+1))
		}
		d.Guides = append(d.Guides, g)
	}
	d.Guides = append(d.Guides, Guide{At: []float64{0, 1}, Value: []float64{0, 1}})
	return d
}

// looks has a curve for each symbol and each line type of R, colors, a width, a name for the legend, and named ticks, some
// of which would overlap.
func looks() Lines {
	d := Lines{
		Frame:      Frame{Title: "METviewer's looks", Subtitle: "Made data", XLabel: "season", YLabel: "value"},
		Coordinate: Numbers,
		Ticks:      map[float64]string{1: "winter 2018", 2: "spring 2019", 3: "summer 2019", 3.2: "a storm in summer", 4: "autumn 2019"},
	}
	r := rand.New(rand.NewPCG(8, 8))
	for i, look := range []map[string]string{
		{"lty": "0", "pch": "1"},
		{"lty": "1", "pch": "15"},
		{"lty": "2", "pch": "17"},
		{"lty": "3", "pch": "19"},
		{"lty": "4", "pch": "20"},
		{"lty": "5", "type": "l"},
		{"lty": "6", "type": "p"},
		{"colors": "#102030FF", "lwd": "4", "legend": "another name"},
		{"colors": "#FF000080"},
	} {
		q := Curve{Name: fmt.Sprintf("curve %d", i), Look: look}
		for x := 1.0; x <= 4; x++ {
			q.Add(x, Value{V: float64(i) + r.Float64(), Lo: math.NaN(), Hi: math.NaN()})
		}
		d.Curves = append(d.Curves, q)
	}
	again := d.Curves[7]
	again.Name, again.SameColorAs, again.Look = "again", "curve 1", nil
	last := Curve{Name: "last", Positions: []float64{1, 2, 3, 4}, Value: []float64{9.5, 9.5, 9.75, 9.5}}
	d.Curves = slices.Insert(d.Curves, 2, again)
	d.Curves = append(d.Curves, last)
	return d
}

// oneTime has one time only: the axis shows a day around it.
func oneTime() Coverage {
	return Coverage{
		Frame:  Frame{Title: "One time", XLabel: "fcst_valid_beg (UTC)"},
		Panels: []CoveragePanel{{Title: "SL1L2", Rows: []CoverageRow{{Label: "gfs", Group: "gfs", Runs: []Period{{1546300800, 1546300800}}, Note: "1 time"}}}},
	}
}

// A curve or a panel with a name that exists is that one; a new name appends one.
func TestNamesAreFoundAgain(t *testing.T) {
	var l Lines
	for _, name := range []string{"a", "b", "a", "b"} {
		l.CurveNamed(name, "group of "+name).Add(float64(len(l.Curves)), Value{V: 1, Lo: 0, Hi: 2})
	}
	if len(l.Curves) != 2 || l.Curves[0].Name != "a" || l.Curves[1].Group != "group of b" || !slices.Equal(l.Curves[0].Positions, []float64{1, 2}) || !slices.Equal(l.Curves[1].Hi, []float64{2, 2}) {
		t.Errorf("%+v", l.Curves)
	}
	var r Rows
	for _, title := range []string{"x", "y", "x", "y"} {
		r.AddRow(title, Row{Label: fmt.Sprint(len(r.Panels))})
	}
	if len(r.Panels) != 2 || r.Panels[0].Title != "x" || r.Panels[1].Title != "y" || len(r.Panels[0].Rows) != 2 || len(r.Panels[1].Rows) != 2 {
		t.Errorf("%+v", r.Panels)
	}
}

// A shared color: curves with SameColorAs have the color of the named curve, and no legend entry.
func TestSameColor(t *testing.T) {
	c := linesDrawing{Lines: Lines{Curves: []Curve{
		{Name: "a", Positions: []float64{1}, Value: []float64{1}},
		{Name: "b", Positions: []float64{1}, Value: []float64{2}},
		{Name: "", SameColorAs: "a", Positions: []float64{1}, Value: []float64{3}},
		{Name: "d", Positions: []float64{1}, Value: []float64{4}},
	}}}
	if _, _, err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.hues, []int{0, 1, 0, 3}) {
		t.Errorf("hues %v", c.hues)
	}
	grouped := linesDrawing{Lines: Lines{Curves: []Curve{
		{Name: "law", SameColorAs: "mongodb", Group: "mongodb"}, {Name: "x"}, {Name: "mongodb", Group: "mongodb"}, {Name: "mongodb wide", Group: "mongodb"},
	}}}
	if _, _, err := grouped.prepare(); err != nil {
		t.Fatal(err)
	}
	if own, _ := hueOf("mongodb"); grouped.hues[0] != own || grouped.hues[2] != own || grouped.hues[3] == own {
		t.Errorf("hues %v of curves in the color of mongodb", grouped.hues)
	}
	var names []string
	for _, e := range c.legend() {
		names = append(names, e.name)
	}
	if !slices.Equal(names, []string{"a", "b", "d"}) {
		t.Errorf("the legend has %q", names)
	}
}

// Dark letters are on light grounds, white letters on dark ones, and every value has the color of its place between the
// minimum and the maximum.
func TestColorsOfValues(t *testing.T) {
	all := span{10, 20}
	m := Cells{}
	for _, c := range []struct {
		v     float64
		want  string
		light bool
	}{{10, "00224e", false}, {12, "35456c", false}, {14, "666970", false}, {16, "948e77", true}, {18, "c8b866", true}, {20, "fee838", true}} {
		got := m.valueColor(all, c.v)
		if hex := fmt.Sprintf("%02x%02x%02x", got.R, got.G, got.B); hex != c.want || light(got) != c.light {
			t.Errorf("%g: %s, light %v", c.v, hex, light(got))
		}
	}
	m.Diverging = true
	white := m.valueColor(span{-2, 1}, 0)
	if white.R != 0xFF || white.G != 0xFF || white.B != 0xFF {
		t.Errorf("zero is %v", white)
	}
	above, below := m.valueColor(span{-2, 2}, 2), m.valueColor(span{-2, 2}, -2)
	if above.B <= above.R || below.R <= below.B {
		t.Errorf("above is %v, below is %v: want blue and vermilion", above, below)
	}
}

// Each engine has its color in every picture of every report: those of a published palette, then the darker and the
// lighter ones. The dry engine has gray, which no other name gets.
func TestColorsOfEngines(t *testing.T) {
	for name, want := range map[string]string{
		"duckdb": "#0072b2", "sqlite": "#d55e00", "postgres": "#009e73", "mariadb": "#cc79a7", "pebble": "#e69f00", "mongodb": "#56b4e9", "couchbase": "#000000", "dry": "#8c8c8c",
		"asterixdb": "#003f62", "cassandra": "#753400", "valkey": "#00573f", "oracle": "#70435c", "trino": "#7f5700", "clickhouse": "#2f6380", "bbolt": "#80b9d9",
		"duckdb wide": "#0072b2",
	} {
		if got := ColorOf(name); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	for i := range 200 {
		if got := ColorOf(fmt.Sprintf("model%d", i)); got == "#8c8c8c" {
			t.Errorf("model%d is gray", i)
		}
	}
}
