package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

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

// determined reports whether the law has enough measurements for an interval. It needs three sizes,
// to check whether the points form a line, and enough repetitions of each size to bound its median.
func (l *GrowthLaw) determined() bool {
	return l.Sizes > 2 && !slices.ContainsFunc(l.Times, func(e measure.Estimate) bool { return math.IsNaN(e.Low) })
}

// FarDocuments is the final archive size of the original experiment: four copies of 13 years (its
// README, 2020).
const FarDocuments = 128_342_347

// growth is the content of the page.
type growth struct {
	unit    string // copies or days
	sizes   []int
	folders []*folder // by size
	sum     GrowthSummary
}

func readGrowth(dir string) (*growth, error) {
	subs := run.SizeFolders(dir)
	g := &growth{unit: copiesUnit, sizes: slices.Sorted(maps.Keys(subs))}
	if len(g.sizes) < 2 {
		return nil, &fault.Error{File: dir, Problem: "contains no studies of several sizes", Cure: "make them: barograph met FILES --subsets 1,2,4"}
	}
	return g, g.read(subs)
}

// copiesUnit is the unit of the sizes of met --subsets.
const copiesUnit = "copies"

// read reads the studies of all sizes and fits the laws.
func (g *growth) read(subs map[int]string) error {
	for _, n := range g.sizes {
		r, samples, err := run.Read(subs[n])
		if err != nil {
			return err
		}
		f, err := openMet(subs[n], r, samples)
		if err != nil {
			return err
		}
		g.folders = append(g.folders, f)
	}
	return g.fit()
}

// fit fits a law to every cell that was timed at every size.
func (g *growth) fit() error {
	g.sum.Sizes, g.sum.Document = g.sizes, g.documents()
	g.sum.Far = float64(FarDocuments) / float64(g.sum.Document)
	sizes := floats(g.sizes)
	laws, times := map[CellKey]*GrowthLaw{}, map[CellKey][][]float64{}
	var order []CellKey
	for _, f := range g.folders {
		g.sum.Wrong += f.sum.Wrong + f.sum.Failed + f.sum.Incomplete
		for _, c := range f.sum.Cases {
			for _, k := range c.Cells {
				if k.Times == nil {
					continue
				}
				if order = appendNew(order, k.CellKey); laws[k.CellKey] == nil {
					laws[k.CellKey] = &GrowthLaw{CellKey: k.CellKey, ClientOverhead: k.ClientOverhead}
				}
				times[k.CellKey] = append(times[k.CellKey], k.Times.values)
				laws[k.CellKey].Times = append(laws[k.CellKey].Times, measure.Estimate{Value: float64(k.Times.Median), Low: float64(k.Times.Lo), High: float64(k.Times.Hi)})
			}
		}
	}
	for _, cell := range order {
		law := laws[cell]
		if len(law.Times) < len(g.sizes) {
			continue
		}
		fit, err := measure.FitGrowth(sizes, times[cell], g.folders[0].run.Seed)
		if err != nil {
			return err
		}
		law.Growth, law.Far = fit, fit.At(g.sum.Far)
		g.sum.Laws = append(g.sum.Laws, *law)
	}
	return nil
}

// documents is the number of documents of one copy, or of pairs with the same ids.
func (g *growth) documents() int64 {
	var objects int64
	for _, a := range g.folders[0].run.Archives {
		if a.ObjectKind == "documents" || a.ObjectKind == "pairs" {
			return a.Objects
		}
		objects = max(objects, a.Objects)
	}
	return max(objects, 1)
}

func openGrowth(dir string, o Advising) (*Report, error) {
	g, err := readGrowth(dir)
	if err != nil {
		return nil, err
	}
	last := g.folders[len(g.folders)-1]
	r := last.head("What does other data in the same engine cost?")
	r.dir, r.Name, r.Warnings, r.Data = dir, filepath.Base(dir), nil, map[string]any{"growth": g.sum}
	for i, f := range g.folders {
		for _, w := range f.head("").Warnings {
			r.Warnings = append(r.Warnings, fmt.Sprintf("at %d×: %s", g.sizes[i], w))
		}
		r.below = append(r.below, f.dir)
	}
	r.Answers = append(r.Answers, headline("With other data in the same engine: %s", g.sentence(g.sum.Laws)))
	if g.sum.Wrong > 0 {
		r.Answers = append(r.Answers, verdict(false, several(g.sum.Wrong, "cell")+" without a correct result; the reports of the sizes list them"))
	}
	pictures := Section{ID: "pictures", Title: "Pictures", Words: say("Both axes are logarithmic: a power law is a straight line, and its slope, in brackets, is the exponent."), Parts: g.pictures()}
	r.Sections = []Section{
		{ID: "sizes", Title: "Proof, size by size", Words: say("At each size Barograph compared every copy with the data after the load, and the result of every query configuration with the reference, before it timed anything."), Table: g.runs()},
		pictures,
		{ID: "laws", Title: "Exponents", Table: g.laws(), Terminal: true},
		{ID: "far", Title: "What will it cost at 128 million documents?", Words: say("%s documents, the archive of the original experiment, are %s copies of this data, %s times the largest that was measured. "+
			"The last column extends the law that fits the times of %s to that size. It does not include caches that become too small for the archive, indexes that grow by a level, or merges that fall behind.",
			count(int64(FarDocuments)), number(g.sum.Far), number(g.sum.Far/float64(g.sizes[len(g.sizes)-1])), g.bounds())},
		{ID: "archives", Title: "Loads and sizes", Table: g.archives()},
	}
	return r, r.advise(o)
}

func (g *growth) bounds() string {
	return fmt.Sprintf("%d and %d %s", g.sizes[0], g.sizes[len(g.sizes)-1], g.unit)
}

// sentence names the configurations whose times hardly depend on the size.
func (g *growth) sentence(laws []GrowthLaw) string {
	notFlat, cases, most := map[string]bool{}, map[string]int{}, 0 // not flat in some case; number of cases; its maximum
	for _, l := range laws {
		cases[l.String()]++
		notFlat[l.String()] = notFlat[l.String()] || l.ClientOverhead || !l.determined() || l.Exponent.High >= flatExponent
		most = max(most, cases[l.String()])
	}
	flat := lists.Filter(slices.Sorted(maps.Keys(cases)), func(name string) bool {
		return !notFlat[name] && cases[name] == most // otherwise it did not answer every case
	})
	if len(flat) == 0 {
		return fmt.Sprintf("between %s no query configuration is shown to be flat in every case.", g.bounds())
	}
	return fmt.Sprintf("between %s these query configurations are flat in every case (exponent below %g with 95 %% confidence): %s.", g.bounds(), flatExponent, list(flat))
}

// flatExponent is the exponent below which growth is called flat: 16 times as much data take 1.3
// times as long.
const flatExponent = 0.1

// laws is the table of exponents.
func (g *growth) laws() *Table {
	columns := []string{"case", "engine", "design", "flavour", "exponent", "95 % interval"}
	columns = append(columns, lists.Map(g.sizes, func(n int) string { return fmt.Sprintf("at %d× (ms)", n) })...)
	t := table(append(columns, "at "+number(g.sum.Far)+"× (ms, projected)")...)
	for _, l := range g.sum.Laws {
		e := l.Exponent
		if !l.determined() {
			l.Far.High = math.Inf(1)
		}
		cells := append(texts(l.Case, l.Engine, l.Design, l.Flavour), value(e.Value, signed(e.Value)), when(l.determined(), value(e.Low, signed(e.Low)+" – "+signed(e.High)), none))
		cells = append(cells, lists.Map(l.Times, func(t measure.Estimate) Cell { return numeric(t.Value) })...)
		t.add(classOf(l.ClientOverhead, false), append(cells, projectionCell(l.Far))...)
		t.name(anchor("law", l.CellKey))
	}
	t.Note = "Exponent: time = factor · copies^exponent, fitted to the medians; 0 = the size has no effect, 1 = twice the archive takes twice the time. " +
		"A projection is not printed if its 95 % interval spans more than a factor of 1,000: use more sizes or a quieter machine. Fewer than three sizes, or fewer than six repetitions of a size, give no interval and no projection. The interval is the wider of a bootstrap over repetitions and of Student's t over sizes. A copy is the same data under another subset name: an engine that keeps each subset in separate tables or databases never reads the others."
	return t
}

// projectionRange is the maximum ratio of the bounds of a prediction's interval. Above it the report
// does not print the prediction.
const projectionRange = 1000

// projectionCell prints a predicted time with its interval, or that it cannot be determined.
func projectionCell(e measure.Estimate) Cell {
	return when(e.High <= projectionRange*e.Low, estimate(e), "cannot be determined")
}

func signed(v float64) string { return fmt.Sprintf("%.3f", v) }

// archives lists the load rate and the disk usage of each size.
func (g *growth) archives() *Table {
	t := table("engine", "design")
	for _, column := range []Column{{Name: "to %d " + g.unit, Unit: "records/s"}, {Name: "at %d " + g.unit, Unit: "MB on disk"}} {
		t.Head = append(t.Head, lists.Map(g.sizes, func(n int) Column { return Column{Name: fmt.Sprintf(column.Name, n), Unit: column.Unit} })...)
	}
	for k, a := range g.folders[0].run.Archives {
		cells, before := texts(a.Engine, a.Design), int64(0)
		var sizes []Cell
		for _, f := range g.folders {
			if k >= len(f.run.Archives) {
				continue
			}
			b := f.run.Archives[k]
			records := f.run.Data.Records * int64(max(f.run.Data.Copies, 1))
			cells = append(cells, numeric(float64(records-before)/b.Load.Seconds()))
			sizes = append(sizes, numeric(float64(b.Bytes)/1e6))
			before = records
		}
		t.add("", append(cells, sizes...)...)
		t.name(anchor("archive", CellKey{Configuration{a.Engine, a.Design, ""}, ""}))
	}
	t.Note = "The rate is that of the " + g.unit + " added at that size."
	return t
}

// runs links to the study of each size.
func (g *growth) runs() *Table {
	t := table(g.unit, "records", "proof", "report")
	for i, f := range g.folders {
		proof := text(f.proofInWords(&f.sum))
		if !f.sum.right() {
			proof.Class = "bad"
		}
		link := filepath.Base(f.dir) + "/" + FileName
		t.add("", countCell(g.sizes[i]), countCell(f.run.Data.Records*int64(max(f.run.Data.Copies, 1))), proof, Cell{Text: link, Link: link})
	}
	return t
}

// pictures draws, for each case, the fastest configuration of every archive, and then all
// configurations of each archive.
func (g *growth) pictures() (out []Section) {
	for _, c := range g.folders[len(g.folders)-1].sum.Cases {
		byArchive := map[string][]GrowthLaw{}
		var order []string
		for _, l := range g.sum.Laws {
			if l.Case == c.Name {
				key := l.Engine + " " + l.Design
				order, byArchive[key] = appendNew(order, key), append(byArchive[key], l)
			}
		}
		if len(order) == 0 {
			continue
		}
		var best []GrowthLaw
		every := Section{Title: "Every configuration of " + c.Name, Folded: true, SideBySide: true}
		for _, key := range order {
			best = append(best, slices.MinFunc(byArchive[key], func(a, b GrowthLaw) int {
				return cmp.Compare(a.Times[len(a.Times)-1].Value, b.Times[len(b.Times)-1].Value)
			}))
			every.Pictures = append(every.Pictures, g.draw(key, c.Name, byArchive[key], curveWidth))
		}
		out = append(out, Section{Title: c.Name, Small: c.Title, Pictures: []Drawing{g.draw(c.Name+" · "+c.Title, "the fastest configuration of each archive", best, 0)}, Parts: []Section{every}})
	}
	return out
}

func (g *growth) draw(title, subtitle string, laws []GrowthLaw, width int) Drawing {
	p := plot.Lines{Frame: plot.Frame{Title: title, Subtitle: subtitle, XLabel: g.unit + " of the data in the archive", YLabel: "median time (ms)", Width: width}, Coordinate: plot.Sizes}
	for _, l := range laws {
		c := plot.Curve{Name: fmt.Sprintf("%s (%s)", l.String(), signed(l.Exponent.Value)), Group: l.Engine}
		if width > 0 {
			c.Name, c.Group = fmt.Sprintf("%s (%s)", l.Flavour, signed(l.Exponent.Value)), ""
		}
		for i, v := range l.Times {
			c.Add(float64(g.sizes[i]), plot.Value{V: v.Value, Lo: v.Low, Hi: v.High})
		}
		if len(laws) > plot.Hues {
			c.Lo, c.Hi = nil, nil
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
