package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/barograph/barograph/results/measure"
)

// MinProjectedSizes is the minimum number of measured sizes for a projection to a larger size.
const MinProjectedSizes = 3

// maxNarrowRatio is the largest ratio of the bounds of an interval that is narrow enough to plan by.
const maxNarrowRatio = 1.5

// Projection compares a value at the largest size with its projection from the smaller sizes. The
// value is the median time in ms of a query or, without a case, the size of an archive in MB.
type Projection struct {
	CellKey
	Law       string           `json:"law"` // that fits the smaller sizes better: "power" or "linear"
	Projected measure.Estimate `json:"projected"`
	Measured  float64          `json:"measured,omitempty"` // 0 = not measured

	values []float64 // by size
}

// Within reports whether the measured value is in the projected interval, except for the rounding of the fit.
func (p *Projection) Within() bool {
	const rounding = 1e-9
	return p.Projected.Low*(1-rounding) <= p.Measured && p.Measured <= p.Projected.High*(1+rounding)
}

// isNarrow reports whether the interval is narrow enough to plan by.
func (p *Projection) isNarrow() bool { return p.Projected.High <= maxNarrowRatio*p.Projected.Low }

// fittedLine is a law that was fitted to the values at some sizes: value = e^a · size^b, or a + b · size.
type fittedLine struct {
	a, b    float64
	power   bool
	squares float64      // sum of the squared logarithmic residuals
	design  [][2]float64 // the gradients at the sizes
}

// fitLine fits a law by least squares of the logarithms or, for the linear law, of the relative residuals. Neither term
// of the linear law is below 0.
func fitLine(power bool, sizes, values []float64) *fittedLine {
	l := &fittedLine{power: power}
	if power {
		x, y := make([]float64, len(sizes)), make([]float64, len(sizes))
		for i := range sizes {
			x[i], y[i] = math.Log(sizes[i]), math.Log(values[i])
		}
		l.a, l.b = stat.LinearRegression(x, y, nil, false)
	} else {
		var s11, s12, s22, s1, s2 float64
		for i, n := range sizes {
			u, v := 1/values[i], n/values[i]
			s11, s12, s22, s1, s2 = s11+u*u, s12+u*v, s22+v*v, s1+u, s2+v
		}
		det := s11*s22 - s12*s12
		l.a, l.b = (s1*s22-s2*s12)/det, (s2*s11-s1*s12)/det
		switch {
		case l.b < 0:
			l.a, l.b = s1/s11, 0
		case l.a < 0:
			l.a, l.b = 0, s2/s22
		}
	}
	for i, n := range sizes {
		l.design = append(l.design, l.gradient(n))
		d := math.Log(l.at(n) / values[i])
		l.squares += d * d
	}
	return l
}

// at returns the value of the law at a size.
func (l *fittedLine) at(n float64) float64 {
	if l.power {
		return math.Exp(l.a + l.b*math.Log(n))
	}
	return l.a + l.b*n
}

// gradient returns the derivative of the logarithm of the value at a size with respect to a and b.
func (l *fittedLine) gradient(n float64) [2]float64 {
	if l.power {
		return [2]float64{1, math.Log(n)}
	}
	return [2]float64{1 / l.at(n), n / l.at(n)}
}

// spread returns how much a new value at a size may differ from the law: the standard deviation of the logarithm of their
// ratio, as a multiple of the scatter of the fitted values about the law.
func (l *fittedLine) spread(n float64) float64 {
	var s11, s12, s22 float64
	for _, x := range l.design {
		s11, s12, s22 = s11+x[0]*x[0], s12+x[0]*x[1], s22+x[1]*x[1]
	}
	g := l.gradient(n)
	return math.Sqrt(1 + (g[0]*g[0]*s22-2*g[0]*g[1]*s12+g[1]*g[1]*s11)/(s11*s22-s12*s12))
}

// archiveSizes returns the sizes on disk of the archives that were complete at every size.
func (g *dayGrowth) archiveSizes() (out []Projection) {
	for _, archive := range g.folders[0].archives {
		p := Projection{CellKey: CellKey{Configuration: archive}}
		for _, f := range g.folders {
			if a := f.archive(archive); a.Complete && a.Bytes > 0 && a.Place != overheadPlace {
				p.values = append(p.values, float64(a.Bytes)/1e6)
			}
		}
		if len(p.values) == len(g.folders) {
			out = append(out, p)
		}
	}
	return out
}

// group returns a key of the projections that share a law and a scatter: all queries of one kind (about one day or
// about all days) on one archive, or the size of that archive.
func (g *dayGrowth) group(p *Projection) string {
	return fmt.Sprint(p.Engine, "\x00", p.Design, "\x00", slices.Contains(g.AllDays, p.Case), p.Case == "")
}

// project projects the values at a number of days from those at the measured sizes.
//
// All values of a group follow the same law: the one of the two that has the smaller scatter over all of them. The
// interval is Student's, with the group's scatter. It also contains the projection of the other law if the scatter of
// that law is less than 1.5 times as large.
func (g *dayGrowth) project(days int) []Projection {
	var out []Projection
	for _, l := range g.sum.Laws {
		p := Projection{CellKey: l.CellKey}
		for _, t := range l.Times {
			p.values = append(p.values, t.Value)
		}
		if !l.ClientOverhead {
			out = append(out, p)
		}
	}
	out = append(out, g.archiveSizes()...)
	sizes := floats(g.measuredSizes)
	// By group: the sums of squares of both laws (0 = power, 1 = linear), and the degrees of freedom.
	squares, freedom := map[string][2]float64{}, map[string]int{}
	fits := make([][2]*fittedLine, len(out))
	for i := range out {
		key := g.group(&out[i])
		sums := squares[key]
		for k, power := range []bool{true, false} {
			fits[i][k] = fitLine(power, sizes, out[i].values)
			sums[k] += fits[i][k].squares
		}
		squares[key], freedom[key] = sums, freedom[key]+len(sizes)-2
	}
	for i := range out {
		p, key := &out[i], g.group(&out[i])
		sums, n := squares[key], float64(freedom[key])
		best, other := 0, 1
		if p.Law = "power"; sums[1] < sums[0] {
			best, other, p.Law = 1, 0, "linear"
		}
		law, x := fits[i][best], float64(days)
		quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n}.Quantile(0.975)
		half := quantile * math.Sqrt(sums[best]/n) * law.spread(x)
		e := measure.Estimate{Value: law.at(x), Low: law.at(x) * math.Exp(-half), High: law.at(x) * math.Exp(half)}
		if alternative := fits[i][other].at(x); math.Sqrt(sums[other]) < 1.5*math.Sqrt(sums[best]) {
			e.Low, e.High = min(e.Low, alternative), max(e.High, alternative)
		}
		p.Projected = e
	}
	return out
}

// Project projects the times and sizes of a run of barograph growth at a number of days that was not measured, and
// stores the projections in the run's description.
func Project(dir string, days int) error {
	g, err := readDays(dir)
	if err != nil {
		return err
	}
	if len(g.measuredSizes) < MinProjectedSizes {
		return nil
	}
	g.Projections = g.project(days)
	return g.Save(dir)
}

// setMeasured adds the measured values to the projections.
func (g *dayGrowth) setMeasured() {
	if g.measuredSizes[len(g.measuredSizes)-1] != g.Predict {
		return
	}
	measured, last := map[CellKey]float64{}, len(g.measuredSizes)-1
	for _, l := range g.sum.Laws {
		measured[l.CellKey] = l.Times[last].Value
	}
	for _, p := range g.archiveSizes() {
		measured[p.CellKey] = p.values[last]
	}
	for i := range g.Projections {
		g.Projections[i].Measured = measured[g.Projections[i].CellKey]
	}
}

// projectionsInWords reports how many projections the measurement confirmed.
func (g *dayGrowth) projectionsInWords() string {
	var all, measured, within, narrow [2]int // the numbers of times and of sizes
	for i := range g.Projections {
		p, k := &g.Projections[i], 0
		if p.Case == "" {
			k = 1
		}
		all[k]++
		if p.isNarrow() {
			narrow[k]++
		}
		if p.Measured > 0 {
			measured[k]++
			if p.Within() {
				within[k]++
			}
		}
	}
	words := fmt.Sprintf("%s are projected from the smaller sizes, with 95 %% intervals. "+
		"The bounds differ by at most a factor of %g for %d of %d times and %d of %d sizes.",
		several(g.Predict, "day"), maxNarrowRatio, narrow[0], all[0], narrow[1], all[1])
	if measured == [2]int{} {
		return words
	}
	return words + fmt.Sprintf(" Measured afterwards, %d of %d times and %d of %d sizes on disk are in their interval.",
		within[0], measured[0], within[1], measured[1])
}

// projectionMethod explains the projections.
func (g *dayGrowth) projectionMethod() []Words {
	return say("Barograph stored the projections before it loaded %s. %s", several(g.Predict, "day"), prose("projections"))
}

// projectionWidth is the width of a terminal that the table of projections fits.
const projectionWidth = 100

// projectionTable lists projected and measured values.
func (g *dayGrowth) projectionTable() *Table {
	t := table("question", "configuration", "projected", "interval", "measured", "verdict", "law")
	t.Width, t.Head[3].Spare, t.Head[6].Spare = projectionWidth, true, true
	for i := range g.Projections {
		p := &g.Projections[i]
		measured, verdict := numeric(p.Measured), text("within")
		switch {
		case p.Measured == 0:
			measured, verdict = dim(none), dim("not measured")
		case !p.Within():
			verdict = bad("outside")
		}
		if !p.isNarrow() {
			verdict.Text += ", wide"
		}
		names := texts(cmp.Or(p.Case, "size on disk"), strings.TrimSpace(p.Engine+" "+p.Design+" "+p.Flavour))
		projected := []Cell{numeric(p.Projected.Value), span(p.Projected.Low, p.Projected.High)}
		t.add("", slices.Concat(names, projected, []Cell{measured, verdict, text(p.Law)})...)
		t.Rows[i].Quiet = p.Case != "" && p.Within()
	}
	t.Note = "Times in ms, sizes in MB. Wide: the bounds of the interval differ by more than a factor of " +
		fmt.Sprint(maxNarrowRatio) + "."
	return t
}
