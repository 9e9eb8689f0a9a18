package report

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// daysFolder writes a run of barograph growth. The times of each question follow law, and the sizes increase by a
// constant for each day. With predict, Project runs before the last size.
func daysFolder(t *testing.T, law func(days float64, allDays bool) float64, predict bool, sizes ...int) string {
	t.Helper()
	dir := t.TempDir()
	f, err := run.Create(dir, run.Run{ID: "g", Workload: DaysWorkload, Data: run.Data{Source: "a day"}})
	if err != nil {
		t.Fatal(err)
	}
	d := Days{Sizes: sizes, Models: 1, AllDays: []string{"test_2", "test_3"}, Excluded: []string{"test_9 has no rows"}}
	if predict {
		d.Predict = sizes[len(sizes)-1]
	}
	if err := d.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, n := range sizes {
		if n == d.Predict {
			if err := Project(dir, n); err != nil {
				t.Fatal(err)
			}
		}
		r, cells := makeRun()
		r.Data.Records = int64(n) * 1000
		for i := range r.Archives {
			r.Archives[i].Bytes = 4_000_000 + 1_000_000*int64(n)
			if n > sizes[0] { // a study that adds days to an archive has no time of its load
				r.Archives[i].Load = 0
			}
		}
		for i := range cells {
			cells[i].noise = 0.01
			cells[i].ms *= law(float64(n), cells[i].Case != r.Cases[0].Name)
		}
		if err := os.Rename(writeRun(t, r, cells, reps), DaysFolder(dir, n)); err != nil {
			t.Fatal(err)
		}
	}
	f.Run.Finished = f.Run.Started.Add(1)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDays: questions about one day and about all days have separate laws and tables. The report of days mentions no
// copies, and that of copies no days.
func TestDays(t *testing.T) {
	proportional := func(n float64, allDays bool) float64 {
		if allDays {
			return n
		}
		return 1
	}
	dir := daysFolder(t, proportional, false, 1, 4, 16)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]float64{"fixed": 0, "growing": 1} {
		laws := r.Data[kind].([]GrowthLaw)
		if len(laws) == 0 {
			t.Errorf("no law of kind %s", kind)
		}
		for _, l := range laws {
			if math.Abs(l.Exponent.Value-want) > 0.05 || (l.Case == "test_1") != (kind == "fixed") {
				t.Errorf("%s of %s grows as %+v, want %v", l.Configuration, l.Case, l.Exponent, want)
			}
		}
	}
	page, text := html(t, dir), strings.Join(strings.Fields(terminal(t, dir)), " ")
	for _, want := range []string{
		"Questions about one day", "days-16/report.html", "days of the data in the archive", "16,000", "test_9 has no rows",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "copies of") || strings.Contains(page, "Projected") ||
		strings.Contains(html(t, growthFolder(t)), "days of the data") {
		t.Error("a report mentions copies or days that the run did not vary")
	}
	for _, want := range []string{
		"Questions about one day: between 1 and 16 days these query configurations are flat",
		"Questions about all days: between 1 and 16 days no query configuration",
		"At 16 days a query takes 1.00 times as long as at 1 day", "At 16 days a query takes 16.0 times as long as at 1 day",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	oneSize := joinLines(terminal(t, daysFolder(t, proportional, false, 4)))
	if !strings.Contains(oneSize, "Fewer than two sizes") || !strings.Contains(oneSize, "(days-4 …)") {
		t.Errorf("the text of one size is\n%s", oneSize)
	}
}

// TestWeightsOfSizes: the weights and folders of the reader apply to the reports of all sizes, which the report of the run
// rewrites.
func TestWeightsOfSizes(t *testing.T) {
	dir := daysFolder(t, func(float64, bool) float64 { return 1 }, false, 1, 4)
	weights := advise.Defaults()
	if err := weights.Set("ask=9"); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, Advising{Weights: weights}); err != nil {
		t.Fatal(err)
	}
	for _, days := range []int{1, 4} {
		page, err := os.ReadFile(filepath.Join(DaysFolder(dir, days), FileName))
		if want := "The weights are " + weights.String(); err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%v: the page of %d days lacks %q", err, days, want)
		}
	}
}

// TestDaysProjected: the report compares the stored projections with the later measurements. At the largest size the
// questions about all days take three times as long as their law, so the report places them outside of their interval.
func TestDaysProjected(t *testing.T) {
	dir := daysFolder(t, func(n float64, allDays bool) float64 {
		switch {
		case allDays && n == 128:
			return 3 * n
		case allDays:
			return n
		}
		return 1
	}, true, 1, 4, 16, 64, 128)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := r.Data["projections"].([]Projection)
	sizes, times := 0, [2]int{}
	for _, p := range all {
		switch {
		case p.Measured == 0:
			t.Errorf("%+v was not measured", p)
		case p.Case == "":
			sizes++
			if !p.Within() || p.Law != "linear" || math.Abs(p.Projected.Value-132) > 1e-6 {
				t.Errorf("the size is projected as %+v and measured as %v", p.Projected, p.Measured)
			}
		case p.Case == "test_1":
			times[0]++
		default:
			times[1]++
			if p.Within() {
				t.Errorf("%+v is within", p)
			}
		}
	}
	if sizes != 4 || times[0] == 0 || times[1] == 0 { // mongodb's archive is not complete, dry's is in memory
		t.Errorf("%d sizes and %v times are projected", sizes, times)
	}
	text := strings.Join(strings.Fields(terminal(t, dir)), " ")
	if !strings.Contains(text, "4 of 4 sizes on disk are in their interval") || !strings.Contains(text, "outside") {
		t.Error(text)
	}
}

// TestProjectedFitsATerminal: the table of projections fits 100 columns with the longest names. Only the law and, if
// necessary, the interval are omitted.
func TestProjectedFitsATerminal(t *testing.T) {
	for flavour, omitted := range map[string]string{"epoch-range": "law", "metviewer-sql": "interval and law"} {
		g := &dayGrowth{Days: Days{Predict: 128, Projections: []Projection{
			{
				CellKey{Configuration{"clickhouse", "normalized", flavour}, "dieoff_sal1l2_hgt"},
				"linear",
				measure.Estimate{Value: 1234, Low: 12.3, High: 123456},
				234567, nil,
			},
			{CellKey{Configuration{"clickhouse", "normalized", ""}, ""}, "power", measure.Estimate{Value: 1234, Low: 1230, High: 1240}, 1235, nil},
		}}}
		if omitted == "law" {
			g.Projections[0].Design, g.Projections[1].Design = "wide", "wide"
		}
		var b strings.Builder
		g.projectionTable().print(&b)
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); strings.HasPrefix(line, " ") && n > projectionWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if got := b.String(); !strings.Contains(got, "Only in report.html: "+omitted+".") ||
			!strings.Contains(got, "outside, wide") || !strings.Contains(got, "within") {
			t.Errorf("%s:\n%s", flavour, got)
		}
	}
}

// TestProjection: values that follow either law are within a narrow interval. Values of twice the law are outside of
// it.
func TestProjection(t *testing.T) {
	for name, law := range map[string]func(n float64) float64{
		"constant": func(float64) float64 { return 1 }, "root": math.Sqrt, "proportional": func(n float64) float64 { return n },
		"constant and rate": func(n float64) float64 { return 1 + n/50 },
	} {
		g, random := &dayGrowth{}, rand.New(rand.NewPCG(1, 0))
		g.measuredSizes, g.folders = []int{1, 4, 16, 64}, []*folder{{results: &results{run: &run.Run{}}}}
		var measured []float64
		for k := range 40 {
			l := GrowthLaw{CellKey: CellKey{Configuration{"x", "wide", "sql"}, fmt.Sprint("case", k)}}
			for _, n := range append(g.measuredSizes, 128) {
				v := float64(k+1) * law(float64(n)) * math.Exp(0.02*random.NormFloat64())
				if n == 128 {
					measured = append(measured, v)
				} else {
					l.Times = append(l.Times, measure.Estimate{Value: v})
				}
			}
			g.sum.Laws = append(g.sum.Laws, l)
		}
		within := 0
		for k, p := range g.project(128) {
			if p.Measured = measured[k]; p.Within() {
				within++
			}
			if p.Measured *= 2; p.Within() {
				t.Errorf("%s: twice the time of the law is within %+v", name, p.Projected)
			}
			if !p.isNarrow() {
				t.Errorf("%s: the interval of %s is %+v", name, p.Case, p.Projected)
			}
		}
		if within < 35 {
			t.Errorf("%s: %d of 40 times that follow the law are within", name, within)
		}
	}
}

// TestDamagedSize: a size whose run.json cannot be read is reported, not omitted.
func TestDamagedSize(t *testing.T) {
	constant := func(float64, bool) float64 { return 1 }
	dir := daysFolder(t, constant, false, 1, 4)
	if err := os.WriteFile(filepath.Join(DaysFolder(dir, 4), run.DescriptionFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := joinLines(terminal(t, dir)); !strings.Contains(got, "the sizes cannot be read") {
		t.Error(got)
	}
}

// TestLinkedSize: a size that is a symbolic link is not read, because it may be a private folder.
func TestLinkedSize(t *testing.T) {
	constant := func(float64, bool) float64 { return 1 }
	dir := daysFolder(t, constant, false, 1, 4)
	size, elsewhere := DaysFolder(dir, 4), filepath.Join(t.TempDir(), "private")
	if err := errors.Join(os.Rename(size, elsewhere), os.Symlink(elsewhere, size)); err != nil {
		t.Fatal(err)
	}
	if got := joinLines(terminal(t, dir)); !strings.Contains(got, "the sizes cannot be read") || !strings.Contains(got, "days-4 is a symbolic link") {
		t.Error(got)
	}
}
