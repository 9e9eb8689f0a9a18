package report

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// lawOf returns the law of an engine in a case, over three sizes.
func lawOf(engine, name string, exponent measure.Estimate, times ...float64) GrowthLaw {
	return GrowthLaw{
		CellKey: CellKey{archiveQuery(engine), name}, Growth: measure.Growth{Exponent: exponent, Sizes: 3},
		Times: lists.Map(times, func(ms float64) measure.Estimate { return measure.Estimate{Value: ms, Low: ms / 2, High: 2 * ms} }),
		Far:   measure.Estimate{Value: 50, Low: 5, High: 500},
	}
}

// A law has an interval if it has at least three sizes, each with an interval.
func TestLawsWithIntervals(t *testing.T) {
	for sizes, want := range map[int]bool{2: false, 3: true, 4: true} {
		l := lawOf("x", "a", exact(1), 1, 2, 3)
		if l.Sizes = sizes; l.hasInterval() != want {
			t.Errorf("%d sizes: %v", sizes, !want)
		}
		if l.Times[1].Low = math.NaN(); l.hasInterval() {
			t.Errorf("%d sizes, one without an interval", sizes)
		}
	}
}

// A configuration is flat if the upper bound of its exponent is below 0.1 in every case of the study.
func TestFlatConfigurations(t *testing.T) {
	g := &growth{unit: copiesUnit, measuredSizes: []int{1, 4, 16}}
	flat, edge := measure.Estimate{Value: 0, Low: -0.1, High: 0.09}, measure.Estimate{Value: 0, Low: -0.1, High: 0.1}
	overhead, short := lawOf("dry", "a", flat), lawOf("short", "a", flat)
	overhead.ClientOverhead, short.Sizes = true, 2
	const nothing = "between 1 and 16 copies no query configuration is shown to be flat in every case."
	const these = "between 1 and 16 copies these query configurations are flat in every case (exponent below 0.1 with 95 % confidence): "
	for name, c := range map[string]struct {
		laws []GrowthLaw
		want string
	}{
		"none":          {nil, nothing},
		"one":           {[]GrowthLaw{lawOf("x", "a", flat)}, these + "x · wide · sql."},
		"at the edge":   {[]GrowthLaw{lawOf("x", "a", edge)}, nothing},
		"two, by name":  {[]GrowthLaw{lawOf("z", "a", flat), lawOf("x", "a", flat)}, these + "x · wide · sql and z · wide · sql."},
		"only one case": {[]GrowthLaw{lawOf("x", "a", flat), lawOf("x", "b", flat), lawOf("y", "a", flat)}, these + "x · wide · sql."},
		"grows in one":  {[]GrowthLaw{lawOf("x", "a", flat), lawOf("x", "b", edge)}, nothing},
		"overhead":      {[]GrowthLaw{overhead, short}, nothing},
	} {
		if got := g.sentence(c.laws); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The documents of one copy are those of the first archive of documents or pairs, else the most objects.
func TestCountedDocuments(t *testing.T) {
	a := func(kind string, n int64) run.Archive { return run.Archive{ObjectKind: kind, Objects: n} }
	for want, archives := range map[int64][]run.Archive{
		1: nil, 90: {a("rows", 70), a("rows", 90)}, 20: {a("rows", 70), a("documents", 20), a("pairs", 30)}, 30: {a("pairs", 30), a("documents", 20)}, 2: {a("documents", 0), a("rows", 2)},
	} {
		g := &growth{folders: []*folder{{results: &results{run: &run.Run{Archives: archives}}}}}
		if got := g.documents(); got != want {
			t.Errorf("%+v: %d", archives, got)
		}
	}
}

// The verdict over all sizes needs at least one result, and none that is not correct.
func TestVerdictOfSizes(t *testing.T) {
	for want, c := range map[string]struct{ wrong, first, second int }{
		"answer right: 1 result over all sizes equals the reference.":                       {0, 1, 0},
		"answer right: 1,240 results over all sizes equal the reference.":                   {0, 1000, 240},
		"answer bad: 0 results over all sizes equal the reference.":                         {0, 0, 0},
		"answer bad: 1 cell without a correct result; the reports of the sizes list them.":  {1, 5, 5},
		"answer bad: 2 cells without a correct result; the reports of the sizes list them.": {2, 5, 5},
	} {
		g := &growth{sum: GrowthSummary{Wrong: c.wrong}, folders: []*folder{{sum: Summary{Equal: c.first}}, {sum: Summary{Equal: c.second}}}}
		if got := g.verdict(); got.Class+": "+got.Text != want {
			t.Errorf("%s: %s, want %s", got.Class, got.Text, want)
		}
	}
}

// A projection is printed only if its interval is known and its bounds are at most a factor of 1000 apart.
func TestProjectedTimes(t *testing.T) {
	for want, e := range map[string]measure.Estimate{
		"50.0 (1.00 – 1,000)":  {Value: 50, Low: 1, High: 1000},
		"50.1":                 {Value: 50.1, Low: 50.1, High: 50.1},
		"cannot be determined": {Value: 50, Low: 1, High: 1001},
	} {
		got := projectionCell(e)
		if text := strings.TrimSuffix(got.Text+" ("+got.Sub+")", " ()"); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	g := &growth{unit: copiesUnit, measuredSizes: []int{1, 4}, sum: GrowthSummary{Far: 64, Laws: []GrowthLaw{
		lawOf("x", "a", measure.Estimate{Value: 0.5, Low: 0.4567, High: 0.6}, 10, 20), lawOf("dry", "a", exact(0), 3, 3),
	}}}
	g.sum.Laws[1].ClientOverhead, g.sum.Laws[1].Sizes = true, 2
	tb := g.laws()
	compareRows(t, "laws", tb,
		"a | x | wide | sql | 0.500 | 0.457 – 0.600 | 10.0 | 20.0 | 50.0 (5.00 – 500)",
		"a | dry | wide | sql | 0.000 | — | 3.00 | 3.00 | cannot be determined",
	)
	names := lists.Map(tb.Head, func(c Column) string { return c.Name + " " + c.Unit })
	if names[6] != "at 1× ms" || names[7] != "at 4× ms" || names[8] != "at 64.0× ms, projected" || tb.Rows[1].Class != "overhead" || tb.Rows[0].ID != "law-a.x.wide.sql" {
		t.Errorf("%q, %+v", names, tb.Rows)
	}
	if got := g.farInWords()[0].Text; !strings.HasPrefix(got, "128,342,347 documents, the archive of the original experiment, are 64.0 copies of this data, 16.0 times the largest") ||
		!strings.Contains(got, "the times of 1 and 4 copies") {
		t.Error(got)
	}
}

// sized returns the folder of a size, with the times of an engine in a case.
func sized(copies int, ms float64, names ...string) *folder {
	f := &folder{dir: fmt.Sprintf("runs/x%d", copies), results: &results{run: &run.Run{Seed: 1, Data: run.Data{Records: 100, Copies: copies}}, cells: map[CellKey]*result{}}}
	for _, name := range names {
		k := timedCell("x", Number(ms), Number(ms), Number(ms), "")
		k.Case, k.Times.Lo, k.Times.Hi = name, Number(ms), Number(ms)
		k.Times.values = slices.Repeat([]float64{ms}, 6)
		f.sum.Cases = append(f.sum.Cases, CaseSummary{Name: name, Title: "title of " + name, Cells: []CellSummary{k, {Verdict: "wrong"}}})
		f.cells[k.CellKey], f.cells[CellKey{archiveQuery("y"), name}] = &result{state: equal}, &result{state: wrong}
		f.sum.Equal, f.sum.Wrong = f.sum.Equal+1, f.sum.Wrong+1
	}
	return f
}

// A cell has a law if it was timed at every size: times 3 · copies² in case a.
func TestFittedLaws(t *testing.T) {
	g := &growth{unit: copiesUnit, measuredSizes: []int{1, 2, 4}, folders: []*folder{sized(1, 3, "a", "b"), sized(2, 12, "a"), sized(4, 48, "a", "b")}}
	g.folders[0].run.Archives = []run.Archive{{ObjectKind: "documents", Objects: FarDocuments / 10}}
	if err := g.fit(); err != nil {
		t.Fatal(err)
	}
	if len(g.sum.Laws) != 1 || g.sum.Wrong != 5 || !slices.Equal(g.sum.Sizes, []int{1, 2, 4}) || math.Abs(g.sum.Far-10) > 1e-5 {
		t.Fatalf("%+v", g.sum)
	}
	l := g.sum.Laws[0]
	if l.Case != "a" || l.Engine != "x" || math.Abs(l.Exponent.Value-2) > 1e-9 || math.Abs(l.Factor-3) > 1e-9 || math.Abs(l.Far.Value-300) > 1e-2 || l.ClientOverhead {
		t.Errorf("%+v", l)
	}
	if got := lists.Map(l.Times, func(e measure.Estimate) float64 { return e.Value }); !slices.Equal(got, []float64{3, 12, 48}) {
		t.Errorf("%v", got)
	}
	compareRows(t, "runs", g.runs(),
		"1 | 100 | 2 cells are WRONG, of 4; 2 results equal the reference. | x1/report.html",
		"2 | 200 | 1 cell is WRONG, of 2; 1 result equals the reference. | x2/report.html",
		"4 | 400 | 2 cells are WRONG, of 4; 2 results equal the reference. | x4/report.html",
	)
	g.sum.Laws = append(g.sum.Laws, lawOf("y", "a", exact(0), 9, 9, 9))
	slower := lawOf("y", "a", exact(0), 1, 1, 10)
	slower.Flavour = "keys"
	g.sum.Laws = append(g.sum.Laws, slower)
	sections := g.pictures()
	if len(sections) != 1 || sections[0].Title != "a" || sections[0].Small != "title of a" || len(sections[0].Parts[0].Pictures) != 2 {
		t.Fatalf("%+v", sections)
	}
	curves := func(d Drawing) []string {
		return lists.Map(d.(plot.Lines).Curves, func(c plot.Curve) string {
			return fmt.Sprint(c.Name, " ", c.Group, " ", c.Positions, " ", c.Value)
		})
	}
	if got := curves(sections[0].Pictures[0]); !slices.Equal(got, []string{"x · wide · sql (2.000) x [1 2 4] [3 12 48]", "y · wide · sql (0.000) y [1 2 4] [9 9 9]"}) {
		t.Errorf("%q", got)
	}
	if got := curves(sections[0].Parts[0].Pictures[1]); !slices.Equal(got, []string{"sql (0.000)  [1 2 4] [9 9 9]", "keys (0.000)  [1 2 4] [1 1 10]"}) {
		t.Errorf("%q", got)
	}
	for n, hasIntervals := range map[int]bool{plot.Hues: true, plot.Hues + 1: false} {
		d := g.draw("t", "s", slices.Repeat([]GrowthLaw{lawOf("y", "a", exact(0), 9, 9, 9)}, n), 0).(plot.Lines)
		if (d.Curves[0].Lo != nil) != hasIntervals || d.XLabel != "copies of the data in the archive" {
			t.Errorf("%d curves: intervals %v", n, d.Curves[0].Lo)
		}
	}
}

// The costs of a load: of two copies of 1000 records and 8 MB of text, of which this study added one in 4 s, the archive
// takes 16 MB on disk.
func TestCostsOfLoads(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"x1", "x2", "x4"} {
		if err := run.WriteFile(base, name+"/"+run.DescriptionFile, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	archive := func(engine, place string, complete bool, seconds, bytes int64) run.Archive {
		return run.Archive{
			Engine: engine, Design: "wide", Place: place, Complete: complete, Load: time.Duration(seconds) * time.Second, Bytes: bytes,
			Commits: 3, Objects: 1000, ObjectKind: "rows",
		}
	}
	r := &run.Run{Data: run.Data{Records: 1000, Bytes: 8e6, Files: 2, Copies: 2}, Archives: []run.Archive{
		archive("x", "embedded", true, 4, 16e6), archive("old", "embedded", true, 0, 16e6), archive("part", "embedded", false, 4, 16e6), archive("dry", overheadPlace, true, 4, 0),
	}}
	f := &folder{dir: filepath.Join(base, "x2"), results: collect(r, nil, nil)}
	s := f.loads()
	compareRows(t, "loads", s.Table,
		"x | wide | 4.00 | 250 | 2.00 | 3 | 16.0 | 8,000 | 1.00 | 1,000 | rows | complete",
		"old | wide | — | — | — | — | 16.0 | 8,000 | 1.00 | 1,000 | rows | complete",
		"part | wide | — | — | — | — | — | — | — | — | — | differs: incomplete",
		"dry | wide | 4.00 | 250 | 2.00 | 3 | — | — | — | 1,000 | rows | complete",
	)
	p, ok := s.Pictures[0].(plot.Rows)
	if !ok || len(p.Panels) != 3 || p.Subtitle != "1,000 records · 2 files · 8.00 MB of text · 2 copies of them in each archive" {
		t.Fatalf("%+v", s.Pictures)
	}
	var got []string
	for i := range p.Panels {
		for _, row := range p.Panels[i].Rows {
			got = append(got, fmt.Sprintf("%s %v %s", row.Group, row.V, row.Note))
		}
	}
	want := []string{
		"x 0.25 loaded before", "old NaN loaded before", "part NaN incomplete",
		"x 16 not known", "old 16 not known", "part NaN incomplete", "x 8000 not known", "old 8000 not known", "part NaN incomplete",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for copies, want := range map[int]float64{1: 0, 2: 1, 3: 2, 8: 4} {
		if r.Data.Copies = copies; f.earlierCopies() != want {
			t.Errorf("%d copies: %v of them were loaded before", copies, f.earlierCopies())
		}
	}
	r.Archives = r.Archives[2:]
	if s := (&folder{dir: base, results: collect(r, nil, nil)}).loads(); len(s.Pictures) != 0 || !s.Terminal {
		t.Errorf("a picture without a value: %+v", s.Pictures)
	}
	r.Archives = nil
	if s := (&folder{dir: base, results: collect(r, nil, nil)}).loads(); s.Terminal || s.Words[0].Text != "Nothing was loaded." {
		t.Errorf("%+v", s.Words)
	}
}
