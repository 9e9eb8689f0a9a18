package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"barograph/fault"
	"barograph/measure"
	"barograph/report/plot"
)

// GrowthFolder reports whether dir holds studies of several sizes: folders x1,
// x2, x4 …, each a run folder.
func GrowthFolder(dir string) bool {
	sizes, err := growthFolders(dir)
	return err == nil && len(sizes) > 1
}

// growthFolders are the studies below dir, by their number of copies.
func growthFolders(dir string) (map[int]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "x*", "run.json"))
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, p := range paths {
		sub := filepath.Dir(p)
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(sub), "x")); err == nil && n > 0 {
			out[n] = sub
		}
	}
	return out, nil
}

// GrowthSummary is what studies of several sizes came to, for machines.
type GrowthSummary struct {
	Sizes    []int       `json:"copies"`
	Laws     []GrowthLaw `json:"laws"`
	Wrong    int         `json:"wrong"` // cells over all sizes that gave no right answer
	Document int64       `json:"documents_per_copy"`
	Far      float64     `json:"far_copies"` // the copies that FarDocuments are
}

// GrowthLaw is how the time of one way of asking one case grows.
type GrowthLaw struct {
	Asked
	measure.Growth
	Times []measure.Estimate `json:"times_ms"` // median and its 95 % interval, by size
	Far   measure.Estimate   `json:"far_ms"`   // predicted for FarDocuments
	Floor bool               `json:"floor,omitempty"`
}

// told reports whether the law rests on enough for an interval: three sizes, so
// that it can be seen whether a line holds, and repetitions of each that bound
// its median.
func (l *GrowthLaw) told() bool {
	return l.Sizes > 2 && !slices.ContainsFunc(l.Times, func(e measure.Estimate) bool { return math.IsNaN(e.Low) })
}

// FarDocuments is the archive that the original experiment ended with: four
// copies of 13 years (its README, 2020).
const FarDocuments = 128_342_347

// growth is what the page is made of.
type growth struct {
	dir     string
	sizes   []int
	folders []*folder // by size
	sum     GrowthSummary
}

func openGrowth(dir string) (*growth, error) {
	subs, err := growthFolders(dir)
	if err != nil {
		return nil, err
	}
	g := &growth{dir: dir}
	for n := range subs {
		g.sizes = append(g.sizes, n)
	}
	slices.Sort(g.sizes)
	if len(g.sizes) < 2 {
		return nil, &fault.Error{File: dir, Problem: "holds no studies of several sizes", Cure: "make them: barograph met FILES --subsets 1,2,4"}
	}
	for _, n := range g.sizes {
		f, err := open(subs[n])
		if err != nil {
			return nil, err
		}
		g.folders = append(g.folders, f)
	}
	return g, g.fit()
}

// fit makes a law of every cell that was timed at two sizes or more.
func (g *growth) fit() error {
	g.sum.Sizes = g.sizes
	g.sum.Document = g.documents()
	g.sum.Far = float64(FarDocuments) / float64(g.sum.Document)
	type series struct {
		law   GrowthLaw
		sizes []float64
		times [][]float64
	}
	byCell := map[Asked]*series{}
	var order []Asked
	for i, f := range g.folders {
		g.sum.Wrong += f.sum.Wrong + f.sum.Failed + f.sum.Incomplete
		for _, c := range f.sum.Cases {
			for _, cell := range c.Cells {
				if cell.Times == nil {
					continue
				}
				s := byCell[cell.Asked]
				if s == nil {
					s = &series{law: GrowthLaw{Asked: cell.Asked, Floor: cell.Floor}}
					byCell[cell.Asked] = s
					order = append(order, cell.Asked)
				}
				s.sizes = append(s.sizes, float64(g.sizes[i]))
				s.times = append(s.times, cell.Times.values)
				s.law.Times = append(s.law.Times, measure.Estimate{Value: float64(cell.Times.Median), Low: float64(cell.Times.Lo), High: float64(cell.Times.Hi)})
			}
		}
	}
	for _, cell := range order {
		s := byCell[cell]
		if len(s.sizes) < len(g.sizes) {
			continue
		}
		law, err := measure.FitGrowth(s.sizes, s.times, g.folders[0].run.Seed)
		if err != nil {
			return err
		}
		s.law.Growth, s.law.Far = law, law.At(g.sum.Far)
		g.sum.Laws = append(g.sum.Laws, s.law)
	}
	return nil
}

// documents is how many documents, or pairs under the same ids, one copy makes.
func (g *growth) documents() int64 {
	var objects int64
	for _, a := range g.folders[0].run.Archives {
		if a.Object == "documents" || a.Object == "pairs" {
			return a.Objects
		}
		objects = max(objects, a.Objects)
	}
	return max(objects, 1)
}

// growthPage is what the template shows.
type growthPage struct {
	page

	Sentence string
	Law      table
	Pictures []growthCase
	Archives table
	Far      string
	Runs     table
}

// growthCase is the pictures of one case.
type growthCase struct {
	Name, Title string
	Best        []byte // of every archive, the way that is fastest at the largest size
	All         [][]byte
}

// WriteGrowth writes report.html over studies of several sizes and returns its path.
func WriteGrowth(dir string) (string, error) {
	g, err := openGrowth(dir)
	if err != nil {
		return "", err
	}
	for _, n := range g.sizes { // the reports of the sizes, which it links to
		if _, err := Write(filepath.Join(dir, "x"+strconv.Itoa(n))); err != nil {
			return "", err
		}
	}
	p, err := g.page()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := render(&b, "growth.html", p); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// SummariseGrowth reads studies of several sizes.
func SummariseGrowth(dir string) (GrowthSummary, error) {
	g, err := openGrowth(dir)
	if err != nil {
		return GrowthSummary{}, err
	}
	return g.sum, nil
}

func (g *growth) page() (*growthPage, error) {
	last := g.folders[len(g.folders)-1]
	p := &growthPage{page: page{Title: "Barograph · growth · " + filepath.Base(g.dir), Head: last.head()}}
	p.Head.ID = filepath.Base(g.dir)
	if err := p.assets(); err != nil {
		return nil, err
	}
	p.Head.Warnings = nil
	for i, f := range g.folders {
		for _, w := range f.head().Warnings {
			p.Head.Warnings = append(p.Head.Warnings, fmt.Sprintf("at %d×: %s", g.sizes[i], w))
		}
	}
	p.Sentence, p.Law, p.Archives, p.Runs = g.sentence(), g.laws(), g.archives(), g.runs()
	p.Far = fmt.Sprintf("%s documents, the archive of the original experiment, are %s copies of this data, %s times the largest that was measured. "+
		"The last column assumes that the law which fits %s goes on holding that far: caches that no longer hold the archive, indexes that grow a level and merges that fall behind are not in it.",
		count(int64(FarDocuments)), number(g.sum.Far), number(g.sum.Far/float64(g.sizes[len(g.sizes)-1])), g.bounds())
	var err error
	p.Pictures, err = g.pictures()
	return p, err
}

func (g *growth) bounds() string {
	return fmt.Sprintf("%d to %d copies", g.sizes[0], g.sizes[len(g.sizes)-1])
}

// sentence says in words which ways do not mind the size.
func (g *growth) sentence() string {
	flat, cases := map[string]bool{}, map[string]int{}
	for _, l := range g.sum.Laws {
		switch {
		case l.Floor:
		case l.told() && l.Exponent.High < flatExponent:
			flat[l.way()] = true
		}
	}
	for _, l := range g.sum.Laws {
		cases[l.way()]++
		if !l.told() || l.Exponent.High >= flatExponent {
			delete(flat, l.way())
		}
	}
	most := 0
	for _, n := range cases {
		most = max(most, n)
	}
	maps.DeleteFunc(flat, func(way string, _ bool) bool { return cases[way] < most }) // it did not answer every case
	if len(flat) == 0 {
		return fmt.Sprintf("From %s no way of asking is shown to be flat in every case.", g.bounds())
	}
	names := slices.Sorted(maps.Keys(flat))
	return fmt.Sprintf("From %s these ways are flat in every case (exponent below %g with 95 %% confidence): %s.", g.bounds(), flatExponent, list(names))
}

// flatExponent is below which growth is called flat: 16 times as much takes 1.3 times as long.
const flatExponent = 0.1

// laws is the table of exponents.
func (g *growth) laws() table {
	t := table{Wide: true, Head: []column{{Name: "case", Text: true}, {Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "flavour", Text: true},
		{Name: "exponent"}, {Name: "95 % interval"}}}
	for _, n := range g.sizes {
		t.Head = append(t.Head, column{Name: fmt.Sprintf("at %d×", n), Unit: "ms"})
	}
	t.Head = append(t.Head, column{Name: "at " + number(g.sum.Far) + "×", Unit: "ms, predicted"})
	for _, l := range g.sum.Laws {
		e := l.Exponent
		span := dim(none)
		if l.told() {
			span = text(signed(e.Low) + " – " + signed(e.High))
		}
		r := row{Cells: []cell{text(l.Case), text(l.Engine), text(l.Design), text(l.Flavour), value(e.Value, signed(e.Value)), span}}
		if l.Floor {
			r.Class = "floor"
		}
		for _, v := range l.Times {
			r.Cells = append(r.Cells, value(v.Value, number(v.Value)))
		}
		if !l.told() {
			l.Far.High = math.Inf(1)
		}
		r.Cells = append(r.Cells, forecast(l.Far))
		t.Rows = append(t.Rows, r)
	}
	t.Note = "Exponent: time = factor · copies^exponent, fitted to the medians; 0 = the size does not matter, 1 = twice the archive takes twice the time. " +
		"Predictions whose 95 % interval spans more than a factor of 1,000 are not printed: more sizes, or a quieter machine, would narrow it. Fewer than three sizes, or than six repetitions of a size, give no interval and no prediction. The interval is the wider of a bootstrap over repetitions and of Student's t over sizes. A copy is the same data under another subset name: engines that keep each subset in tables or databases of its own never look at the others."
	return t
}

// forecastRange is the widest interval of a prediction, as a ratio of its ends,
// beside which the prediction is still printed.
const forecastRange = 1000

// forecast is a predicted time with its interval, or that it cannot be told.
func forecast(e measure.Estimate) cell {
	if !(e.High <= forecastRange*e.Low) {
		return cell{Text: "cannot be told", Class: "dim", Sort: "1e99"}
	}
	c := value(e.Value, number(e.Value))
	c.Sub = interval(e.Low, e.High)
	return c
}

func signed(v float64) string { return fmt.Sprintf("%.3f", v) }

// archives tells what each size cost to load and weighs.
func (g *growth) archives() table {
	t := table{Head: []column{{Name: "engine", Text: true}, {Name: "design", Text: true}}}
	for _, n := range g.sizes {
		t.Head = append(t.Head, column{Name: fmt.Sprintf("to %d×", n), Unit: "records/s"})
	}
	for _, n := range g.sizes {
		t.Head = append(t.Head, column{Name: fmt.Sprintf("at %d×", n), Unit: "MB on disk"})
	}
	for k, a := range g.folders[0].run.Archives {
		r := row{Cells: []cell{text(a.Engine), text(a.Design)}}
		var sizes []cell
		before := 0
		for i, f := range g.folders {
			if k >= len(f.run.Archives) {
				continue
			}
			b := f.run.Archives[k]
			if b.Load > 0 {
				rate := float64(f.run.Data.Records) * float64(g.sizes[i]-before) / b.Load.Seconds()
				r.Cells = append(r.Cells, value(rate, number(rate)))
			} else {
				r.Cells = append(r.Cells, dim(none))
			}
			sizes = append(sizes, value(float64(b.Bytes), number(float64(b.Bytes)/1e6)))
			before = g.sizes[i]
		}
		r.Cells = append(r.Cells, sizes...)
		t.Rows = append(t.Rows, r)
	}
	t.Note = "The rate is that of the copies which that size added."
	return t
}

// runs links to the study of each size.
func (g *growth) runs() table {
	t := table{Head: []column{{Name: "copies"}, {Name: "proof", Text: true, Wrap: true}, {Name: "report", Text: true}}}
	for i, f := range g.folders {
		sub := "x" + strconv.Itoa(g.sizes[i])
		verdict := text(f.proofInWords(&f.sum))
		if f.sum.Wrong+f.sum.Failed+f.sum.Incomplete > 0 {
			verdict.Class = "bad"
		}
		t.Rows = append(t.Rows, row{Cells: []cell{value(float64(g.sizes[i]), count(g.sizes[i])), verdict, {Text: sub + "/" + FileName, Link: sub + "/" + FileName}}})
	}
	return t
}

// pictures draws, for each case, the fastest way of every archive, and then
// all ways of each.
func (g *growth) pictures() ([]growthCase, error) {
	var out []growthCase
	for _, c := range g.folders[0].sum.Cases {
		gc := growthCase{Name: c.Name, Title: c.Title}
		byArchive := map[string][]GrowthLaw{}
		var order []string
		for _, l := range g.sum.Laws {
			if l.Case != c.Name {
				continue
			}
			key := l.Engine + " " + l.Design
			if byArchive[key] == nil {
				order = append(order, key)
			}
			byArchive[key] = append(byArchive[key], l)
		}
		var best []GrowthLaw
		for _, key := range order {
			best = append(best, slices.MinFunc(byArchive[key], func(a, b GrowthLaw) int {
				return cmp.Compare(a.Times[len(a.Times)-1].Value, b.Times[len(b.Times)-1].Value)
			}))
		}
		if len(best) == 0 {
			continue
		}
		var err error
		if gc.Best, err = g.draw(c.Name+" · "+c.Title, "the fastest way of each archive", best, 0); err != nil {
			return nil, err
		}
		for _, key := range order {
			svg, err := g.draw(key, c.Name, byArchive[key], curveWidth)
			if err != nil {
				return nil, err
			}
			gc.All = append(gc.All, svg)
		}
		out = append(out, gc)
	}
	return out, nil
}

func (g *growth) draw(title, subtitle string, laws []GrowthLaw, width int) ([]byte, error) {
	p := plot.Growth{Frame: plot.Frame{Title: title, Subtitle: subtitle, XLabel: "copies of the data in the archive", YLabel: "median time (ms)", Width: width}}
	for _, l := range laws {
		c := plot.GrowthCurve{Name: fmt.Sprintf("%s (%s)", l.way(), signed(l.Exponent.Value))}
		if width > 0 {
			c.Name = fmt.Sprintf("%s (%s)", l.Flavour, signed(l.Exponent.Value))
		}
		for i, v := range l.Times {
			c.Size, c.Value = append(c.Size, float64(g.sizes[i])), append(c.Value, v.Value)
			c.Lo, c.Hi = append(c.Lo, v.Low), append(c.Hi, v.High)
		}
		if len(laws) > plot.Hues {
			c.Lo, c.Hi = nil, nil
		}
		p.Curves = append(p.Curves, c)
	}
	return p.SVG()
}
