package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

var update = flag.Bool("update", false, "write the golden pictures anew; look at them before committing")

func TestGoldenPictures(t *testing.T) {
	all := pictures()
	maps.Copy(all, drawings())
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := p.Draw()
			if err != nil {
				t.Fatal(err)
			}
			again, err := p.Draw()
			if err != nil || !bytes.Equal(got, again) {
				t.Fatalf("the same struct gave other bytes (%v)", err)
			}
			checkSVG(t, got)
			path := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; run go test with -update and look at the picture", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s changed; run go test with -update and look at it", path)
			}
		})
	}
}

var (
	outside = regexp.MustCompile(`href|url\(|@import|<image|<script|<style|<use|<foreignObject`)
	badness = regexp.MustCompile(`NaN|Inf|%!`)
)

// checkSVG parses the picture and checks that it has no external references and no invalid numbers.
func checkSVG(t *testing.T, svg []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	attributes := ""
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			attributes += "<" + e.Name.Local + " "
			for _, a := range e.Attr {
				if a.Name.Local != "xmlns" && strings.Contains(a.Value, "//") {
					t.Errorf("%s=%q refers to something outside", a.Name.Local, a.Value)
				}
				attributes += a.Name.Local + "=" + a.Value + " "
			}
		}
	}
	if found := outside.FindString(attributes); found != "" {
		t.Errorf("the picture has %s", found)
	}
	if found := badness.FindString(attributes); found != "" {
		t.Errorf("the picture has a number %s", found)
	}
	if strings.Contains(attributes, "Liberation Sans;") {
		t.Error("a text asks for one font only")
	}
}

func TestTextsAreKept(t *testing.T) {
	svg, err := pictures()["awkward"].Draw()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a &amp; b &lt;c&gt;", "ms &amp; &lt;s&gt;"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
}

func TestEmptyAndNonFiniteInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, p := range map[string]drawer{
		"lines": Lines{}, "profile": Lines{Coordinate: Levels}, "times": Lines{Coordinate: Times}, "sizes": Lines{Coordinate: Sizes}, "rows": Rows{}, "rows beside": Rows{SideBySide: true}, "columns": Columns{}, "series": Columns{Step: 1},
		"empty curve":     Lines{Curves: []Curve{{Name: "x"}}},
		"NaN curve":       Lines{Curves: []Curve{{Name: "x", Positions: []float64{0, nan}, Value: []float64{nan, 1}, Lo: []float64{nan, inf}, Hi: []float64{nan, nan}}}},
		"level not above": Lines{Coordinate: Levels, Curves: []Curve{{Positions: []float64{0, -5}, Value: []float64{1, 2}}}},
		"empty panel":     Rows{Panels: []Panel{{Title: "x"}}},
		"NaN bars":        Rows{Panels: []Panel{{Rows: []Row{{Value: Value{V: nan}}}}}},
		"NaN repetitions": Rows{Panels: []Panel{{Rows: []Row{{Value: Value{V: nan}, Repetitions: []float64{nan, inf}}}}}},
	} {
		svg, err := p.Draw()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkSVG(t, svg)
		if !strings.Contains(string(svg), "no data") {
			t.Errorf("%s: the picture does not say that there is no data", name)
		}
	}
}

func TestAwkwardNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	odd := []float64{0, -1, nan, inf, -inf, 1e-300, 1e300, math.MaxFloat64 / 4, math.SmallestNonzeroFloat64, 5}
	for _, log := range []bool{false, true} {
		for _, v := range odd {
			for _, p := range []drawer{
				Rows{Log: log, Panels: []Panel{{Rows: []Row{{Label: "a", Value: Value{V: v, Lo: -inf, Hi: nan}}, {Label: "b", Value: Value{V: 3, Lo: -1, Hi: 4}}}}}},
				Rows{Log: log, Panels: []Panel{{Rows: []Row{{Label: "a", Value: Value{V: v}}}}}},
				Rows{Log: log, Panels: []Panel{{Rows: []Row{{Value: Value{V: v}, Repetitions: []float64{v, v, v}}}}}},
				Rows{SideBySide: true, Log: log, Panels: []Panel{{Rows: []Row{{Value: Value{V: v}}}}}},
				Lines{LogAbove: 2, Curves: []Curve{{Positions: []float64{24}, Value: []float64{v}}}, References: []Reference{{nan, "x"}}},
				Lines{Coordinate: Levels, Curves: []Curve{{Positions: []float64{500}, Value: []float64{v}}}},
				Lines{Coordinate: Times, Curves: []Curve{{Positions: []float64{0}, Value: []float64{v}}}},
				Lines{Coordinate: Sizes, Curves: []Curve{{Positions: []float64{v, 1}, Value: []float64{v, 1}, Lo: []float64{-1, v}, Hi: []float64{v, v}}}},
				Columns{Groups: []Group{{Bars: []Bar{{Value: Value{V: v}, Line: v}, {Value: Value{V: 1, Lo: v, Hi: 2}, Line: 1}}}}},
				Columns{Step: 1, Groups: []Group{{Bars: []Bar{{Value: Value{V: v}, Line: v}, {Value: Value{V: 1}}}}}},
			} {
				svg, err := p.Draw()
				if err != nil {
					t.Fatalf("%T %v: %v", p, v, err)
				}
				checkSVG(t, svg)
			}
		}
	}
}

func TestListsOfUnequalLengthAreNamed(t *testing.T) {
	for name, p := range map[string]drawer{
		"values":  Lines{Curves: []Curve{{Name: "G2/NHX", Positions: []float64{1, 2}, Value: []float64{1}}}},
		"bounds":  Lines{Curves: []Curve{{Name: "G2/NHX", Positions: []float64{1}, Value: []float64{1}, Lo: []float64{1}}}},
		"nothing": Lines{Coordinate: Levels, Curves: []Curve{{Name: "G2/NHX", Positions: []float64{1}}}},
	} {
		var f *fault.Error
		if _, err := p.Draw(); !errors.As(err, &f) || f.Setting != "G2/NHX" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range []Frame{{Width: -1}, {Width: 20}, {Height: -3}, {Width: 1 << 30}} {
		if _, err := (Lines{Frame: f}).Draw(); err == nil {
			t.Errorf("%+v was drawn", f)
		}
	}
}

// Drawing does not sort or change the caller's lists.
func TestInputIsUnchanged(t *testing.T) {
	c := Curve{Positions: []float64{48, 24}, Value: []float64{1, 2}}
	if _, err := (Lines{Curves: []Curve{c}}).Draw(); err != nil || c.Positions[0] != 48 || c.Value[0] != 1 {
		t.Errorf("%v %v", c, err)
	}
	b := []Row{{Label: "slow", Value: Value{V: 9}}, {Label: "fast", Value: Value{V: 1}}}
	if _, err := (Rows{Sorted: true, Panels: []Panel{{Rows: b}}}).Draw(); err != nil || b[0].Label != "slow" {
		t.Errorf("%v %v", b, err)
	}
}
