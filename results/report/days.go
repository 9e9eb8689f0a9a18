package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// DaysWorkload is the Workload of a run of barograph growth. The run contains a study of met, in a folder of its own,
// for each number of days of one series.
const DaysWorkload = "growth"

// Days describes a run of barograph growth. The file growth.json of its folder contains it.
type Days struct {
	Sizes  []int `json:"days"` // ascending; the last one is Predict, unless Predict is 0
	Models int   `json:"models"`
	// Predict is the number of days for which the smaller sizes predict times and sizes on disk; 0 = none.
	Predict     int          `json:"predict,omitempty"`
	AllDays     []string     `json:"all_days"` // the questions about all days; the others are about the first day
	Excluded    []string     `json:"excluded,omitempty"`
	Projections []Projection `json:"projections,omitempty"` // made before Predict days were loaded
}

// DaysFolder returns the folder of the study of a number of days.
func DaysFolder(dir string, days int) string { return filepath.Join(dir, "days-"+strconv.Itoa(days)) }

const daysFile = "growth.json"

// Save writes the description into the folder of the run.
func (d *Days) Save(dir string) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return run.WriteFile(dir, daysFile, append(text, '\n'))
}

// dayGrowth is a run of barograph growth.
type dayGrowth struct {
	growth
	Days
}

// readDays reads the sizes whose studies have finished.
func readDays(dir string) (*dayGrowth, error) {
	g := &dayGrowth{growth: growth{unit: "days"}}
	text, err := run.ReadFile(dir, daysFile)
	if err == nil {
		err = json.Unmarshal(text, &g.Days)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	folders := map[int]string{}
	for _, n := range g.Sizes {
		if info, err := os.Lstat(DaysFolder(dir, n)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			const problem, cure = "is a symbolic link, which may lead out of the run folder", "replace it by the folder itself"
			return nil, &fault.Error{File: DaysFolder(dir, n), Problem: problem, Cure: cure}
		}
		switch r, err := run.ReadRun(DaysFolder(dir, n)); {
		case errors.Is(err, fs.ErrNotExist): // this size has not been measured yet
		case err != nil:
			return nil, err
		case !r.Finished.IsZero():
			g.measuredSizes, folders[n] = append(g.measuredSizes, n), DaysFolder(dir, n)
		}
	}
	if len(g.measuredSizes) < 2 { // a law needs at least two sizes
		return g, nil
	}
	return g, g.read(folders)
}

// lawsOf returns the laws of the questions of one kind.
func (g *dayGrowth) lawsOf(allDays bool) []GrowthLaw {
	return lists.Filter(g.sum.Laws, func(l GrowthLaw) bool {
		return slices.Contains(g.AllDays, l.Case) == allDays
	})
}

// openDays reports a run of the workload growth.
func openDays(dir string, r *run.Run, _ []run.Sample) *Report {
	out := ofRun(dir, r, "What happens when the series grows?")
	g, err := readDays(dir)
	if err != nil {
		out.Warnings = append(out.Warnings, "the sizes cannot be read: "+err.Error())
		return out
	}
	fixed, growing := g.lawsOf(false), g.lawsOf(true)
	out.Data = map[string]any{"run": r, "days": g.Days, "fixed": fixed, "growing": growing}
	if len(g.folders) == 0 {
		example := ""
		if len(g.Sizes) > 0 {
			example = " (" + filepath.Base(DaysFolder(dir, g.Sizes[0])) + " …)"
		}
		out.Answers = append(out.Answers, headline("Fewer than two sizes were measured, so there is no growth to report. "+
			"Each size has a report in its own folder%s.", example))
		return out
	}
	measured := list(lists.Map(g.measuredSizes, count[int])) + " days"
	out.Facts = append([]Fact{{"Series", g.series(r)}, {"Measured", measured}}, machineFacts(r.Machine)...)
	out.Facts = append(out.Facts, Fact{"Command", commandLine(r.Args)})
	out.Warnings = append(out.Warnings, g.warnings(r)...)
	for _, f := range g.folders {
		out.linked = append(out.linked, f.dir)
	}
	for _, kind := range []struct {
		title string
		laws  []GrowthLaw
	}{{"Questions about one day", fixed}, {"Questions about all days", growing}} {
		out.Answers = append(out.Answers, headline("%s: %s%s", kind.title, g.sentence(kind.laws), g.ratios(kind.laws)))
	}
	g.setMeasured()
	if len(g.Projections) > 0 {
		out.Answers = append(out.Answers, headline("%s", g.projectionsInWords()))
		out.Data["projections"] = g.Projections
	}
	out.Answers = append(out.Answers, g.verdict())
	questions := func(id, title, rows string, laws []GrowthLaw) Section {
		const exponents = "An exponent of 0 means that the days have no effect, 1 that twice the days take twice the time."
		return Section{
			ID: id, Title: title, Terminal: len(laws) <= maxTerminalLaws, Words: say("%s %s", rows, exponents),
			Table: g.lawTable(laws),
		}
	}
	proof := g.proofSection()
	proof.Terminal = true
	out.Sections = filled(
		proof,
		Section{
			ID: "projected", Title: "Projected and measured", Terminal: true, Words: g.projectionMethod(),
			Pictures: g.projectionErrors(), Table: g.projectionTable(),
		},
		questions("fixed", "Questions about one day", "The answer has the same rows at every size.", fixed),
		questions("growing", "Questions about all days", "The answer grows with the series.", growing),
		Section{ID: "archives", Title: "Loads and sizes", Pictures: g.diskPicture(), Table: g.archives()},
		Section{ID: "pictures", Title: "Pictures", Words: explain("growth pictures"), Parts: g.pictures()},
	)
	if len(g.Excluded) > 0 {
		out.Sections[0].Notes = g.Excluded
	}
	return out
}

// maxTerminalLaws is the number of exponents up to which a terminal shows their table.
const maxTerminalLaws = 12

// warnings returns the warnings of all sizes. Of warnings that differ only in their numbers it returns the one of the
// largest size.
func (g *dayGrowth) warnings(r *run.Run) (out []string) {
	index := map[string]int{} // by the text without numbers
	for i, f := range g.folders {
		for _, w := range f.head("").Warnings {
			if slices.Contains(r.Warnings, w) { // the run itself has it
				continue
			}
			text, key := fmt.Sprintf("at %s: %s", several(g.measuredSizes[i], "day"), w), numerals.ReplaceAllString(w, "0")
			if k, ok := index[key]; ok {
				out[k] = text
				continue
			}
			index[key], out = len(out), append(out, text)
		}
	}
	return out
}

var numerals = regexp.MustCompile(`[0-9][0-9.,]*`)

// ratios compares the times at the largest size with those at the smallest. It returns "" if no law has both.
func (g *dayGrowth) ratios(laws []GrowthLaw) string {
	var all []float64
	for _, l := range laws {
		if n := len(l.Times); !l.ClientOverhead && n > 1 {
			all = append(all, l.Times[n-1].Value/l.Times[0].Value)
		}
	}
	if len(all) == 0 {
		return ""
	}
	first, last := several(g.measuredSizes[0], "day"), several(g.measuredSizes[len(g.measuredSizes)-1], "day")
	return fmt.Sprintf(" At %s a query takes %s times as long as at %s (%s – %s, the median of %d).",
		last, number(measure.Median(all)), first, number(slices.Min(all)), number(slices.Max(all)), len(all))
}

// series describes what was varied.
func (g *dayGrowth) series(r *run.Run) string {
	const moved = "the days of the files, moved to later days: other times, the same leads and values"
	return fmt.Sprintf("%s; %s; %s", r.Data.Source, several(g.Models, "model"), moved)
}

// lawTable returns the table of exponents of the questions of one kind.
func (g *dayGrowth) lawTable(laws []GrowthLaw) *Table {
	columns := []string{"question", "engine", "design", "flavour", "exponent", "95 % interval"}
	columns = append(columns, lists.Map(g.measuredSizes, func(n int) string { return fmt.Sprintf("at %d (ms)", n) })...)
	t := table(columns...)
	for _, l := range laws {
		t.add(classOf(l.ClientOverhead, false), l.cells()...)
		t.setAnchor(anchor("law", l.CellKey))
	}
	t.Note = prose("laws of days")
	return t
}

// diskPicture draws the sizes on disk.
func (g *dayGrowth) diskPicture() []Drawing {
	p := plot.Lines{
		Frame:      plot.Frame{Title: "Size on disk", XLabel: "days of the series", YLabel: "MB on disk"},
		Coordinate: plot.Sizes,
	}
	for _, q := range g.archiveSizes() {
		c := plot.Curve{Name: q.Engine + " " + q.Design, Group: q.Engine}
		for i, v := range q.values {
			c.Add(float64(g.measuredSizes[i]), plot.Value{V: v, Lo: v, Hi: v})
		}
		p.Curves = append(p.Curves, c)
	}
	return []Drawing{p}
}

// projectionErrors draws the measured values as multiples of the projected ones.
func (g *dayGrowth) projectionErrors() []Drawing {
	p := plot.Lines{Frame: plot.Frame{
		Title:    fmt.Sprintf("Measured at %d days, as a multiple of the projection", g.Predict),
		Subtitle: "each point is a query or a size on disk; the shaded interval is the projected one",
		XLabel:   "number, ordered by the multiple", YLabel: "measured ÷ projected",
	}, LogAbove: maxNarrowRatio}
	all := lists.Filter(g.Projections, func(q Projection) bool { return q.Measured != 0 })
	if len(all) == 0 {
		return nil
	}
	ratio := func(q Projection) float64 { return q.Measured / q.Projected.Value }
	slices.SortFunc(all, func(a, b Projection) int { return cmp.Compare(ratio(a), ratio(b)) })
	measured, projected := plot.Curve{Name: "measured"}, plot.Curve{Name: "projected, with its interval"}
	for i, q := range all {
		measured.Add(float64(i+1), plot.Value{V: ratio(q), Lo: ratio(q), Hi: ratio(q)})
		e := q.Projected
		projected.Add(float64(i+1), plot.Value{V: 1, Lo: e.Low / e.Value, Hi: e.High / e.Value})
	}
	p.Curves = []plot.Curve{measured, projected}
	return []Drawing{p}
}
