package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// GrowthSummary is the machine-readable result of studies of several sizes.
type GrowthSummary struct {
	Sizes    []int       `json:"copies"`
	Laws     []GrowthLaw `json:"laws"`
	Wrong    int         `json:"wrong"` // cells over all sizes without a correct result
	Document int64       `json:"documents_per_copy"`
	Far      float64     `json:"far_copies"` // number of copies that contain FarDocuments
}

// GrowthLaw describes how the time of one query configuration of one case grows with the size.
type GrowthLaw struct {
	CellKey
	measure.Growth
	Times          []measure.Estimate `json:"times_ms"` // median and its 95 % interval, by size
	Far            measure.Estimate   `json:"far_ms"`   // predicted for FarDocuments
	ClientOverhead bool               `json:"client_overhead,omitempty"`
}

// hasInterval reports whether the law has enough measurements for an interval. It needs three sizes, to check whether
// the points form a line, and enough repetitions of each size to bound its median.
func (l *GrowthLaw) hasInterval() bool {
	return l.Sizes > 2 && !slices.ContainsFunc(l.Times, func(e measure.Estimate) bool { return math.IsNaN(e.Low) })
}

// cells returns the configuration, the exponent with its interval, and the times by size.
func (l *GrowthLaw) cells() []Cell {
	e := l.Exponent
	bounds := when(l.hasInterval(), value(e.Low, signed(e.Low)+" – "+signed(e.High)), none)
	cells := append(texts(l.Case, l.Engine, l.Design, l.Flavour), value(e.Value, signed(e.Value)), bounds)
	return append(cells, lists.Map(l.Times, func(t measure.Estimate) Cell { return numeric(t.Value) })...)
}

// FarDocuments is the final archive size of the original experiment: four copies of 13 years (its README, 2020).
const FarDocuments = 128_342_347

// growth contains the studies of several sizes and the laws of their times.
type growth struct {
	unit          string    // copies or days
	measuredSizes []int     // ascending; of a run of barograph growth only those that are finished
	folders       []*folder // by size
	sum           GrowthSummary
}

// readGrowth reads a folder with studies of several sizes, and fits the laws.
func readGrowth(dir string) (*growth, error) {
	folders := run.SizeFolders(dir)
	g := &growth{unit: copiesUnit, measuredSizes: slices.Sorted(maps.Keys(folders))}
	if len(g.measuredSizes) < 2 {
		const problem, cure = "contains no studies of several sizes", "make them: barograph met FILES --subsets 1,2,4"
		return nil, &fault.Error{File: dir, Problem: problem, Cure: cure}
	}
	return g, g.read(folders)
}

// copiesUnit is the unit of the sizes of met --subsets.
const copiesUnit = "copies"

// read reads the studies of all sizes and fits the laws.
func (g *growth) read(folders map[int]string) error {
	for _, n := range g.measuredSizes {
		r, samples, err := run.Read(folders[n])
		if err != nil {
			return err
		}
		f, err := openMet(folders[n], r, samples)
		if err != nil {
			return err
		}
		g.folders = append(g.folders, f)
	}
	return g.fit()
}

// fit fits a law to every cell that was timed at every size.
func (g *growth) fit() error {
	g.sum.Sizes, g.sum.Document = g.measuredSizes, g.documents()
	g.sum.Far = float64(FarDocuments) / float64(g.sum.Document)
	var timed []CellSummary
	for _, f := range g.folders {
		g.sum.Wrong += len(f.cells) - f.sum.Equal
		for _, c := range f.sum.Cases {
			timed = append(timed, lists.Filter(c.Cells, func(k CellSummary) bool { return k.Times != nil })...)
		}
	}
	keys, cells := grouped(timed, func(k CellSummary) CellKey { return k.CellKey })
	for _, key := range keys {
		bySize := cells[key]
		if len(bySize) < len(g.measuredSizes) {
			continue
		}
		times := lists.Map(bySize, func(k CellSummary) []float64 { return k.Times.values })
		fit, err := measure.FitGrowth(floats(g.measuredSizes), times, g.folders[0].run.Seed)
		if err != nil {
			return err
		}
		law := GrowthLaw{CellKey: key, Growth: fit, Far: fit.At(g.sum.Far), ClientOverhead: bySize[0].ClientOverhead}
		law.Times = lists.Map(bySize, func(k CellSummary) measure.Estimate {
			return estimateOf(k.Times.Median, k.Times.Lo, k.Times.Hi)
		})
		g.sum.Laws = append(g.sum.Laws, law)
	}
	return nil
}

// documents returns the number of documents that one copy has. Archives of pairs have a pair for each document, so their
// pairs count too. If no archive stores either, it returns the largest number of other objects. It is at least 1, because
// it is a divisor.
func (g *growth) documents() int64 {
	var objects int64
	for _, a := range g.folders[0].run.Archives {
		if a.Objects > 0 && (a.ObjectKind == "documents" || a.ObjectKind == "pairs") {
			return a.Objects
		}
		objects = max(objects, a.Objects)
	}
	return max(objects, 1)
}

// openGrowth reports a folder with studies of several sizes.
func openGrowth(dir string, o Advising) (*Report, error) {
	g, err := readGrowth(dir)
	if err != nil {
		return nil, err
	}
	last := g.folders[len(g.folders)-1]
	r := last.head("What does other data in the same engine cost?")
	r.dir, r.Name, r.Answers, r.Warnings, r.Data = dir, filepath.Base(dir), nil, nil, map[string]any{"growth": g.sum}
	for i, f := range g.folders {
		size := f.head("")
		for _, w := range size.Warnings {
			r.Warnings = append(r.Warnings, fmt.Sprintf("at %d×: %s", g.measuredSizes[i], w))
		}
		r.Answers = slices.Compact(append(r.Answers, size.Answers...)) // a head has an answer only if its run is not finished
		r.linked = append(r.linked, f.dir)
	}
	r.Answers = append(r.Answers, headline("With other data in the same engine: %s", g.sentence(g.sum.Laws)), g.verdict())
	r.Sections = []Section{
		g.proofSection(),
		{ID: "pictures", Title: "Pictures", Words: explain("growth pictures"), Parts: g.pictures()},
		{ID: "laws", Title: "Exponents", Table: g.laws(), Terminal: true},
		{ID: "far", Title: "What will it cost at 128 million documents?", Words: g.farInWords()},
		{ID: "archives", Title: "Loads and sizes", Table: g.archives()},
	}
	return r, r.advise(o)
}

// verdict is the answer whether all results of all sizes are correct.
func (g *growth) verdict() Words {
	if g.sum.Wrong > 0 {
		return verdict(false, several(g.sum.Wrong, "cell")+" without a correct result; the reports of the sizes list them.")
	}
	correct := 0
	for _, f := range g.folders {
		correct += f.sum.Equal
	}
	return verdict(correct > 0, english.Plural(correct, "result over all sizes equals", "results over all sizes equal")+" the reference.")
}

// proofSection lists the studies of the sizes.
func (g *growth) proofSection() Section {
	return Section{ID: "sizes", Title: "Proof, size by size", Words: explain("sizes"), Table: g.runs()}
}

// farInWords explains the projection to FarDocuments.
func (g *growth) farInWords() []Words {
	largest := float64(g.measuredSizes[len(g.measuredSizes)-1])
	documents, copies, times := count(int64(FarDocuments)), number(g.sum.Far), number(g.sum.Far/largest)
	return say(prose("far projection"), documents, copies, times, g.sizeRange())
}

// sizeRange names the smallest and the largest size.
func (g *growth) sizeRange() string {
	return fmt.Sprintf("%d and %d %s", g.measuredSizes[0], g.measuredSizes[len(g.measuredSizes)-1], g.unit)
}

// sentence names the configurations whose times hardly depend on the size.
func (g *growth) sentence(laws []GrowthLaw) string {
	growsInACase, cases, mostCases := map[string]bool{}, map[string]int{}, 0
	for _, l := range laws {
		cases[l.String()]++
		mostCases = max(mostCases, cases[l.String()])
		if l.ClientOverhead || !l.hasInterval() || l.Exponent.High >= flatExponent {
			growsInACase[l.String()] = true
		}
	}
	flat := lists.Filter(slices.Sorted(maps.Keys(cases)), func(name string) bool {
		return !growsInACase[name] && cases[name] == mostCases // otherwise it did not answer every case
	})
	if len(flat) == 0 {
		return fmt.Sprintf("between %s no query configuration is shown to be flat in every case.", g.sizeRange())
	}
	return fmt.Sprintf(prose("flat"), g.sizeRange(), flatExponent, list(flat))
}

// flatExponent is the exponent below which growth is called flat: 16 times as much data take 1.3 times as long.
const flatExponent = 0.1

// laws returns the table of exponents.
func (g *growth) laws() *Table {
	columns := []string{"case", "engine", "design", "flavour", "exponent", "95 % interval"}
	columns = append(columns, lists.Map(g.measuredSizes, func(n int) string { return fmt.Sprintf("at %d× (ms)", n) })...)
	t := table(append(columns, "at "+number(g.sum.Far)+"× (ms, projected)")...)
	for _, l := range g.sum.Laws {
		if !l.hasInterval() {
			l.Far.High = math.Inf(1)
		}
		t.add(classOf(l.ClientOverhead, false), append(l.cells(), projectionCell(l.Far))...)
		t.setAnchor(anchor("law", l.CellKey))
	}
	t.Note = prose("laws of copies")
	return t
}

// projectionRange is the maximum ratio of the bounds of a projection's interval. Above it the report does not print the
// projection.
const projectionRange = 1000

// projectionCell prints a projected time with its interval, or that it cannot be determined.
func projectionCell(e measure.Estimate) Cell {
	return when(e.High <= projectionRange*e.Low, estimate(e), "cannot be determined")
}

// signed prints an exponent.
func signed(v float64) string { return fmt.Sprintf("%.3f", v) }

// archives lists the disk usage of each size and, of copies, the load rate. An incomplete archive has neither. A study
// that adds days to an archive has no time of its load.
func (g *growth) archives() *Table {
	var rates, sizes []string
	for _, n := range g.measuredSizes {
		rates = append(rates, fmt.Sprintf("to %d %s (records/s)", n, g.unit))
		sizes = append(sizes, fmt.Sprintf("at %d %s (MB on disk)", n, g.unit))
	}
	t := table(slices.Concat([]string{"engine", "design"}, sizes, rates)...)
	if t.Note = "The rate is that of the copies added at that size."; g.unit != copiesUnit {
		t.Head, t.Note = t.Head[:2+len(sizes)], "The first size's report has the load rates."
	}
	for _, archive := range g.folders[0].archives {
		cells, rates := texts(archive.Engine, archive.Design), []Cell(nil)
		before := int64(0)
		for _, f := range g.folders {
			cost := costOf(f.archive(archive)) // none if this size has no such archive
			records := f.run.Data.Records * int64(max(f.run.Data.Copies, 1))
			cells = append(cells, numeric(cost.disk))
			rates = append(rates, numeric(float64(records-before)/cost.seconds))
			before = records
		}
		t.add("", append(cells, rates...)[:len(t.Head)]...)
		t.setAnchor(anchor("archive", CellKey{archive, ""}))
	}
	return t
}

// runs lists the studies of the sizes, each with its records, its proof and a link to its report.
func (g *growth) runs() *Table {
	t := table(g.unit, "records", "proof", "report")
	for i, f := range g.folders {
		proof := text(f.proofInWords(&f.sum))
		if !f.sum.allCorrect() {
			proof.Class = "bad"
		}
		link := filepath.Base(f.dir) + "/" + FileName
		records := f.run.Data.Records * int64(max(f.run.Data.Copies, 1))
		t.add("", countCell(g.measuredSizes[i]), countCell(records), proof, Cell{Text: link, Link: link})
	}
	return t
}

// pictures draws, for each case, the fastest configuration of every archive, and then all configurations of each
// archive.
func (g *growth) pictures() (out []Section) {
	for _, c := range g.folders[len(g.folders)-1].sum.Cases {
		laws := lists.Filter(g.sum.Laws, func(l GrowthLaw) bool { return l.Case == c.Name })
		archives, byArchive := grouped(laws, func(l GrowthLaw) string { return l.Engine + " " + l.Design })
		if len(laws) == 0 {
			continue
		}
		var best []GrowthLaw
		every := Section{Title: "Every configuration of " + c.Name, Folded: true, SideBySide: true}
		for _, archive := range archives {
			best = append(best, slices.MinFunc(byArchive[archive], func(a, b GrowthLaw) int {
				return cmp.Compare(a.Times[len(a.Times)-1].Value, b.Times[len(b.Times)-1].Value)
			}))
			every.Pictures = append(every.Pictures, g.draw(archive, c.Name, byArchive[archive], curveWidth))
		}
		s := Section{Title: c.Name, Small: c.Title, Parts: []Section{every}}
		s.Pictures = []Drawing{g.draw(c.Name+" · "+c.Title, "the fastest configuration of each archive", best, 0)}
		out = append(out, s)
	}
	return out
}

// draw draws the times of laws over the sizes. A picture with a width shows one archive, so its curves have the names
// of flavours.
func (g *growth) draw(title, subtitle string, laws []GrowthLaw, width int) Drawing {
	p := plot.Lines{Frame: plot.Frame{
		Title: title, Subtitle: subtitle, Width: width,
		XLabel: g.unit + " of the data in the archive", YLabel: "median time (ms)",
	}, Coordinate: plot.Sizes}
	for _, l := range laws {
		c := plot.Curve{Name: fmt.Sprintf("%s (%s)", l.String(), signed(l.Exponent.Value)), Group: l.Engine}
		if width > 0 {
			c.Name, c.Group = fmt.Sprintf("%s (%s)", l.Flavour, signed(l.Exponent.Value)), ""
		}
		for i, v := range l.Times {
			c.Add(float64(g.measuredSizes[i]), valueOf(v))
		}
		if len(laws) > plot.Hues {
			c.Lo, c.Hi = nil, nil
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
