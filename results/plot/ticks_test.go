package plot

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gplot "gonum.org/v1/plot"
)

func labels(ticks []gplot.Tick) string {
	var out []string
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, strings.TrimRight(t.Label, "\n "))
		}
	}
	return strings.Join(out, " ")
}

func unix(s string) float64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return float64(t.Unix())
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticker gplot.Ticker
		lo, hi float64
		want   string
	}{
		{linearTicks{5}, 0, 10, "0 2 4 6 8 10"},
		{linearTicks{5}, 0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{linearTicks{8}, 0.2, 1.02, "0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0"},
		{linearTicks{4}, -1, 1, "−1.0 −0.5 0 0.5 1.0"},
		{linearTicks{4}, 0, 1.33e6, "0 500,000 1.0M"},
		{linearTicks{4}, 0, 4e9, "0 1G 2G 3G 4G"},
		{logTicks{10}, 0.5, 50, "0.5 1 2 5 10 20 50"},
		{logTicks{5}, 0.5, 50, "1 10"},
		{logTicks{4}, 1e-3, 1e6, "0.001 1 1,000 1M"},
		{logTicks{9}, 20, 200, "20 50 100 200"},
		{leadTicks{}, 0, 240, "0 24 48 72 96 120 144 168 192 216 240"},
		{leadTicks{}, 12, 72, "12 24 36 48 60 72"},
		{leadTicks{}, 0, 840, "0 72 144 216 288 360 432 504 576 648 720 792"},
		{levelTicks{560}, 10, 1000, "1000 850 700 500 400 300 250 200 150 100 70 50 30 20 10"},
		{levelTicks{200}, 10, 1000, "1000 700 400 250 150 100 70 30 20 10"},
		{timeTicks{10}, unix("2018-12-30T00:00:00Z"), unix("2019-01-04T00:00:00Z"), "30 Dec\n2018 31 Dec 1 Jan\n2019 2 Jan 3 Jan 4 Jan"},
		{timeTicks{10}, unix("2019-01-01T03:00:00Z"), unix("2019-01-02T06:00:00Z"), "03Z\n1 Jan 2019 06Z 09Z 12Z 15Z 18Z 21Z 00Z\n2 Jan 2019 03Z 06Z"},
		{timeTicks{10}, unix("2018-11-15T00:00:00Z"), unix("2019-06-15T00:00:00Z"), "Dec\n2018 Jan\n2019 Feb Mar Apr May Jun"},
		{timeTicks{10}, unix("2006-01-01T00:00:00Z"), unix("2019-01-01T00:00:00Z"), "2006 2008 2010 2012 2014 2016 2018"},
	} {
		if got := labels(c.ticker.Ticks(c.lo, c.hi)); got != c.want {
			t.Errorf("%#v from %g to %g:\n got %q\nwant %q", c.ticker, c.lo, c.hi, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{1, "1.00"},
		{0.01234, "0.0123"},
		{9.999, "10.0"},
		{123.4, "123"},
		{12345, "12,300"},
		{358824, "359,000"},
		{999600, "1.00M"},
		{1.5e6, "1.50M"},
		{2.345e9, "2.35G"},
		{-42, "−42.0"},
		{1e-5, "1e−05"},
		{math.NaN(), "–"},
		{math.Inf(-1), "–"},
	} {
		if got := number(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestTextIsWrappedAndFitted(t *testing.T) {
	k := subtitleInk()
	for _, line := range k.wrap(strings.Repeat("words and longerwordsthanusual ", 20), 200) {
		if k.width(line) > 200 {
			t.Errorf("%q is %v wide", line, k.width(line))
		}
	}
	if got := k.fit("a long name", 50); !strings.HasSuffix(got, "…") || k.width(got) > 50 {
		t.Errorf("%q is %v wide", got, k.width(got))
	}
	if got := k.fit("abc", 50); got != "abc" {
		t.Error(got)
	}
}

// An engine has its own color in every picture. A second design of it has a shade of this color; other names have the
// next free color.
func TestAnEngineKeepsItsColour(t *testing.T) {
	a, b := &palette{}, &palette{}
	for _, name := range []string{"array", "single", "median", "duckdb"} {
		a.of(name)
	}
	if x, y := a.of("duckdb"), b.of("duckdb"); x != y || b.of("duckdb · rows") != y+3*Hues || b.add("duckdb") != y+6*Hues {
		t.Errorf("duckdb has the colours %d and %d", x, y)
	}
	for i := range 20 {
		b.of(strconv.Itoa(i))
	}
	for i, h := range b.hues {
		if slices.Contains(b.hues[:i], h) {
			t.Errorf("%s has the colour of another", b.names[i])
		}
	}
	if a.hues[0]/Hues+a.hues[1]/Hues+a.hues[2]/Hues != 0 {
		t.Errorf("three names have shades though colours are free: %v", a.hues)
	}
}

func TestColoursAreDistinct(t *testing.T) {
	seen := map[[3]uint8]int{}
	for i := range shades * Hues {
		c := paletteColor(i)
		if j, ok := seen[[3]uint8{c.R, c.G, c.B}]; ok {
			t.Errorf("colours %d and %d are equal", i, j)
		}
		seen[[3]uint8{c.R, c.G, c.B}] = i
	}
}

// TestDesignsOfEngines: a second and a third design of an engine differ from the first and from all other engines, in
// the color of bars and in the color or the dashes of lines, whichever is in the picture first.
func TestDesignsOfEngines(t *testing.T) {
	all := slices.Sorted(maps.Keys(engineHues()))
	for _, name := range all {
		for _, designsFirst := range []bool{true, false} {
			p := &palette{}
			others := func() {
				for _, other := range all {
					if h := p.of(other); h != engineHues()[other] {
						t.Errorf("%s has color %d in a picture with designs of %s", other, h, name)
					}
				}
			}
			if !designsFirst {
				others()
			}
			p.of(name)
			second, third := p.add(name), p.of(name+" wide")
			others()
			for _, design := range []int{second, third} {
				for i, h := range p.hues {
					a, b := paletteColor(design), paletteColor(h)
					d := math.Sqrt(math.Pow(float64(a.R)-float64(b.R), 2) + math.Pow(float64(a.G)-float64(b.G), 2) + math.Pow(float64(a.B)-float64(b.B), 2))
					const visible = 30
					if h != design && d < visible {
						t.Errorf("%s: the color %v of a design is too similar to the color %v of %s (%.0f)", name, a, b, p.names[i], d)
					}
				}
			}
			if own := engineHues()[name]; slices.Equal(dash(own), dash(second)) || slices.Equal(dash(second), dash(third)) {
				t.Errorf("%s: designs have equal dashes", name)
			}
		}
	}
}

// TestLawsOfEngines: in a picture with two curves for each engine, as that of the scalability, no two curves have the same
// color, and each engine's first curve has its own color.
func TestLawsOfEngines(t *testing.T) {
	for _, names := range [][]string{{"sqlite", "cassandra"}, {"cassandra", "sqlite"}, {"duckdb", "asterixdb", "bbolt"}, {"couchbase", "dry"}} {
		c := linesDrawing{}
		for _, name := range names {
			c.Curves = append(c.Curves, Curve{Name: name, Group: name}, Curve{Name: name + ", law", Group: name})
		}
		if _, _, err := c.prepare(); err != nil {
			t.Fatal(err)
		}
		for i, h := range c.hues {
			if i%2 == 0 && h != engineHues()[names[i/2]] {
				t.Errorf("%v: %s has color %d", names, names[i/2], h)
			}
			for _, other := range c.hues[:i] {
				if paletteColor(h) == paletteColor(other) {
					t.Errorf("%v: colors %d and %d are equal", names, h, other)
				}
			}
		}
	}
}
