package scan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Setup is what a scan reads, and with what.
type Setup struct {
	Bandwidth  []float64 `json:"bandwidth_mb_per_s"` // of each path's disk, as measured; MB are 10⁶ bytes
	Partitions int       `json:"partitions"`         // of equal size; part i lies on path i%len(Bandwidth)
	Workers    int       `json:"workers"`            // 0 = one for each part
	Cores      int       `json:"cores"`              // that the engine may use
	Bytes      int64     `json:"bytes"`              // read from the disks, all together
}

// Point is what a sweep measured of a setup.
type Point struct {
	Setup
	Seconds []float64 `json:"seconds"`               // of the repetitions
	CPU     []float64 `json:"cpu_seconds,omitempty"` // likewise, of all cores together; nil = not counted
}

// work is the processor time of 10⁹ bytes, as it was counted; 0 = it was not.
func (p *Point) work() float64 {
	if len(p.CPU) == 0 {
		return 0
	}
	return measure.Median(p.CPU) / (float64(p.Bytes) / 1e9)
}

// Model is a law for the time of a scan:
//
//	seconds = Start + max(disks, cores)
//	disks   = bytes / (Drawn · Σ bandwidth)
//	cores   = Work · bytes / min(workers, cores)
//
// Where disks differ, or parts do not divide evenly among them, the disk that
// has most to read for its speed stands for all, and disks is longer than so.
//
// Work comes from times where cores decided at some setups. Else it is the
// processor time that was counted, which holds what an answer costs however
// little it reads: more data will cost less for each byte, not more.
type Model struct {
	run.ScanLaw           // with a fit of each point
	Off         []float64 `json:"off"`  // relative errors of all repetitions, measured/law - 1, by the law of the other points
	Seed        uint64    `json:"seed"` // of the bootstrap and of forecasts
	Seen        Seen      `json:"seen"`
	Bytes       int64     `json:"bytes"` // that a point read: the median

	Draws [2][][3]float64 `json:"draws"` // fits of the two bootstraps: 1/Drawn, Work, Start
}

// Bound is what decides how long a scan takes.
type Bound string

// What decides.
const (
	ByDisks Bound = "disks"
	ByCores Bound = "cores"
)

// Seen are the largest values of a sweep; a forecast beyond them says so.
type Seen struct {
	Disks     int     `json:"disks"`
	Bandwidth float64 `json:"bandwidth_mb_per_s"` // of one disk
	Parallel  int     `json:"parallel"`           // workers that have a core
	Bytes     int64   `json:"bytes"`
}

// law is 1/Drawn, Work and Start.
type law [3]float64

// terms are what a law multiplies: seconds = max(p[0]·disk, p[1]·core) + p[2].
type terms struct {
	disk float64 // seconds at the disks' full bandwidth
	core float64 // 10⁹ bytes for each worker that has a core
	time float64 // measured
	work float64 // counted: seconds of a core for 10⁹ bytes; 0 = not
}

func (p law) at(x terms) float64 { return max(p[0]*x.disk, p[1]*x.core) + p[2] }

func (p law) bound(x terms) Bound {
	if p[1]*x.core > p[0]*x.disk {
		return ByCores
	}
	return ByDisks
}

// whole reports whether disks decide at some points, and cores at others: else
// the points bound what the other one costs from above alone.
func (p law) whole(xs []terms) bool {
	decides := func(b Bound, term func(x terms) float64) bool {
		return slices.ContainsFunc(xs, func(x terms) bool { return p.bound(x) == b && term(x) > resolution*x.time })
	}
	return decides(ByDisks, func(x terms) float64 { return p[0] * x.disk }) && decides(ByCores, func(x terms) float64 { return p[1] * x.core })
}

// parallel is how many workers have a core.
func (s *Setup) parallel() int {
	if s.Workers == 0 {
		return min(s.Partitions, s.Cores)
	}
	return min(s.Workers, s.Cores)
}

// terms checks a setup and works out what the law multiplies.
func (s *Setup) terms() (terms, error) {
	bad := func(what string) (terms, error) {
		return terms{}, &fault.Error{Setting: "scan model", Problem: what, Cure: "give every setup disks with their measured bandwidth, partitions, cores and bytes"}
	}
	if len(s.Bandwidth) == 0 || s.Partitions < 1 || s.Cores < 1 || s.Workers < 0 || s.Bytes < 1 {
		return bad(fmt.Sprintf("a setup is not whole: %+v", *s))
	}
	var disk float64
	for i, mbps := range s.Bandwidth {
		if !(mbps > 0) || math.IsInf(mbps, 0) {
			return bad(fmt.Sprintf("a disk's bandwidth is %g MB/s", mbps))
		}
		parts := s.Partitions / len(s.Bandwidth)
		if i < s.Partitions%len(s.Bandwidth) {
			parts++
		}
		disk = max(disk, float64(s.Bytes)*float64(parts)/float64(s.Partitions)/(mbps*1e6))
	}
	return terms{disk: disk, core: float64(s.Bytes) / 1e9 / float64(s.parallel())}, nil
}

// Of the fit.
const (
	modelDraws  = 500
	minPoints   = 6     // two for each parameter
	minCounted  = 4     // likewise, where Work is counted
	doubt       = 0.001 // a parameter counts as determined where the points would look so without it in fewer than so many sweeps
	resolution  = 0.001 // relative errors below this are not distinguished
	lostAtMost  = 0.1   // of the bootstrap's fits that lack a parameter
	independent = 1e-6  // share of Start's square that the other terms must leave
)

// FitModel fits the law to a sweep so that the relative errors of the medians
// are least, which to first order are the differences of logarithms; no
// parameter is below 0. For every way to say at which points the disks decide,
// in the order of disk by core, the best law is found directly, and the best
// of these stands.
//
// Two things make the law uncertain: the noise of the repetitions, seen by a
// bootstrap within each point, and that the law may not hold, seen by one that
// draws points among those that the same thing decides. Intervals are the
// wider of the two.
//
// Where the points do not tell Drawn and Work apart, as they look as if disks
// decided at all of them, Work is what was counted; the error tells where
// nothing was, or where cores may have decided at all points.
func FitModel(points []Point, seed uint64) (*Model, error) {
	m := &Model{ScanLaw: run.ScanLaw{Phase: run.Cold}, Seed: seed}
	xs, err := m.read(points)
	if err != nil {
		return nil, err
	}
	best, err := m.fit(xs)
	if err != nil {
		return nil, err
	}
	m.StartKnown = best.startKnown
	for i, x := range xs {
		at := best.law.at(x)
		m.Fits = append(m.Fits, run.ScanFit{Config: i, Measured: x.time, Predicted: at, Residual: x.time/at - 1, Bound: string(best.law.bound(x))})
		m.Off = append(m.Off, m.errorsWithout(i, points[i].Seconds, xs, at)...)
	}
	m.Error = math.Sqrt(best.loss / float64(len(xs)))
	if err := m.bootstrap(points, xs, best.law); err != nil {
		return nil, err
	}
	m.intervals(best.law)
	return m, nil
}

// read checks the points and works out their terms.
func (m *Model) read(points []Point) ([]terms, error) {
	xs := make([]terms, len(points))
	bytes := make([]float64, len(points))
	for i := range points {
		p := &points[i]
		bytes[i] = float64(p.Bytes)
		x, err := p.terms()
		if err != nil {
			return nil, err
		}
		if len(p.Seconds) == 0 || !(slices.Min(p.Seconds) > 0) || math.IsInf(slices.Max(p.Seconds), 0) {
			return nil, &fault.Error{Setting: "scan model", Problem: "a setup has no times above 0", Cure: "measure each setup"}
		}
		x.time, x.work = measure.Median(p.Seconds), p.work()
		xs[i] = x
		m.Seen.note(&p.Setup)
	}
	m.Bytes = int64(measure.Median(bytes))
	return xs, nil
}

// fit finds the law, by times alone if they tell it.
func (m *Model) fit(xs []terms) (fitted, error) {
	counted := workOf(xs)
	few := &fault.Error{Setting: "scan model", Problem: fmt.Sprintf("%d setups cannot tell three parameters", len(xs)), Cure: fmt.Sprintf("measure at least %d", minPoints)}
	if len(xs) < minCounted || len(xs) < minPoints && counted == 0 {
		return fitted{}, few
	}
	if len(xs) >= minPoints {
		best := fitLaw(xs, 0)
		err := determined(best, xs)
		if err == nil || counted == 0 {
			return best, err
		}
	}
	m.Counted = true
	best := fitLaw(xs, counted)
	return best, drawsFromDisks(best, xs, counted)
}

// workOf is the median of what was counted; 0 unless it was at all points.
func workOf(xs []terms) float64 {
	all := make([]float64, len(xs))
	for i, x := range xs {
		if all[i] = x.work; x.work == 0 {
			return 0
		}
	}
	if len(all) == 0 {
		return 0
	}
	return measure.Median(all)
}

// law is the best one for some of the points.
func (m *Model) law(xs []terms) law {
	if m.Counted {
		return fitLaw(xs, workOf(xs)).law
	}
	return fitLaw(xs, 0).law
}

// errorsWithout are the relative errors of a point's repetitions by the law of the
// other points: a law's own points flatter it, as its parameters have followed their noise.
// Where the others have no law, they are those by the law of all, at.
func (m *Model) errorsWithout(i int, seconds []float64, xs []terms, at float64) (out []float64) {
	if p := m.law(slices.Delete(slices.Clone(xs), i, i+1)); p[0] > 0 && p[1] > 0 {
		at = p.at(xs[i])
	}
	for _, s := range seconds {
		out = append(out, s/at-1)
	}
	return out
}

func (s *Seen) note(x *Setup) {
	s.Disks = max(s.Disks, len(x.Bandwidth))
	s.Bandwidth = max(s.Bandwidth, slices.Max(x.Bandwidth))
	s.Parallel = max(s.Parallel, x.parallel())
	s.Bytes = max(s.Bytes, x.Bytes)
}

// fitted is a law with its sum of squared relative errors.
type fitted struct {
	law        law
	loss       float64
	startKnown bool
}

// fitLaw finds the law with the least loss. A work above 0 is known.
func fitLaw(xs []terms, work float64) fitted {
	order := slices.Clone(xs)
	slices.SortFunc(order, func(a, b terms) int { return cmp.Compare(a.disk*b.core, b.disk*a.core) }) // cores decide first
	best := fitted{loss: math.Inf(1)}
	for k := range len(order) + 1 {
		if f := fitSplit(order[:k], order[k:], order, work); f.loss < best.loss {
			best = f
		}
	}
	return best
}

// fitSplit is the best law if cores decide at some points and disks at the
// others; its loss is that of all points under the law itself. A work above 0 is
// known.
func fitSplit(byCores, byDisks, all []terms, work float64) fitted {
	d := sums(byDisks, func(x terms) float64 { return x.disk })
	c := sums(byCores, func(x terms) float64 { return x.core })
	project, overlap := c.project(), c.overlap()
	if work > 0 {
		project, overlap = 0, work*c.vu
	}
	uu := d.uu + c.uu
	left := uu - d.project() - project
	out := fitted{loss: math.Inf(1), startKnown: left > independent*uu}
	starts := []float64{0}
	if out.startKnown {
		if s := (d.u + c.u - d.overlap() - overlap) / left; s > 0 {
			starts = append(starts, s)
		}
	}
	for _, s := range starts {
		p := law{d.slope(s), c.slope(s), s}
		if work > 0 {
			p[1] = work
		}
		if p[0] < 0 || p[1] < 0 {
			continue
		}
		if e := loss(p, all); e < out.loss {
			out.law, out.loss = p, e
		}
	}
	return out
}

// moments are sums over points of v = term/time and u = 1/time: the normal
// equations of relative least squares.
type moments struct{ vv, v, vu, u, uu float64 }

func sums(xs []terms, of func(terms) float64) (m moments) {
	for _, x := range xs {
		v, u := of(x)/x.time, 1/x.time
		m.vv += v * v
		m.v += v
		m.vu += v * u
		m.u += u
		m.uu += u * u
	}
	return m
}

// slope is the best factor of the term where Start is s; 0 without points.
func (m moments) slope(s float64) float64 {
	if m.vv == 0 {
		return 0
	}
	return (m.v - s*m.vu) / m.vv
}

// project is what the term explains of Start's own square.
func (m moments) project() float64 {
	if m.vv == 0 {
		return 0
	}
	return m.vu * m.vu / m.vv
}

func (m moments) overlap() float64 {
	if m.vv == 0 {
		return 0
	}
	return m.v * m.vu / m.vv
}

func loss(p law, xs []terms) (sum float64) {
	for _, x := range xs {
		e := p.at(x)/x.time - 1
		sum += e * e
	}
	return sum
}

// determined reports, as an error, that the points fit about as well without disks
// or without cores (an F test of the law with one parameter less).
func determined(best fitted, xs []terms) error {
	free := float64(len(xs) - 3)
	noise := max(best.loss, float64(len(xs))*resolution*resolution) / free
	test := distuv.F{D1: 1, D2: free}
	needless := func(without fitted) bool { return test.Survival(max(0, without.loss-best.loss)/noise) > doubt }
	var most float64 // Work that the fastest points leave room for
	for i, x := range xs {
		if r := x.time / x.core; i == 0 || r < most {
			most = r
		}
	}
	switch {
	case needless(fitSplit(nil, xs, xs, 0)):
		return &fault.Error{
			Setting: "scan model", Problem: fmt.Sprintf("disks may decide at all points: what the work costs cannot be determined, only that it is below %.3g s of a core for 10⁹ bytes", most),
			Cure: "measure with more or faster disks, or with fewer workers",
		}
	case needless(fitSplit(xs, nil, xs, 0)):
		return &fault.Error{
			Setting: "scan model", Problem: "cores may decide at all points: what the disks give cannot be determined",
			Cure: "measure with fewer or slower disks (`barograph lab disks`), or with more workers and cores",
		}
	}
	return nil
}

// drawsFromDisks reports, as an error, that the points fit about as well by the
// counted work alone: then what the disks give cannot be determined.
func drawsFromDisks(best fitted, xs []terms, work float64) error {
	free := float64(len(xs) - 2)
	noise := max(best.loss, float64(len(xs))*resolution*resolution) / free
	without := fitSplit(xs, nil, xs, work).loss
	if (distuv.F{D1: 1, D2: free}).Survival(max(0, without-best.loss)/noise) <= doubt {
		return nil
	}
	return &fault.Error{
		Setting: "scan model", Problem: "by the processor time that was counted, cores may decide at all points: what the disks give cannot be determined",
		Cure: "measure with fewer or slower disks (`barograph lab disks`), or with more data",
	}
}

// bootstrap fits the law to repetitions and to points drawn anew.
func (m *Model) bootstrap(points []Point, xs []terms, best law) error {
	r := rand.New(rand.NewPCG(m.Seed, 1))
	by := map[Bound][]terms{}
	for _, x := range xs {
		b := best.bound(x)
		by[b] = append(by[b], x)
	}
	var times []float64
	repetitions := func(into []terms) []terms {
		for i, x := range xs {
			times = drawn(r, times[:0], points[i].Seconds)
			x.time = measure.Median(times)
			if m.Counted {
				times = drawn(r, times[:0], points[i].CPU)
				x.work = measure.Median(times) / (float64(points[i].Bytes) / 1e9)
			}
			into = append(into, x)
		}
		return into
	}
	others := func(into []terms) []terms { return drawn(r, drawn(r, into, by[ByDisks]), by[ByCores]) }
	sample := make([]terms, 0, len(xs))
	for k, draw := range []func([]terms) []terms{repetitions, others} {
		for range modelDraws {
			xs := draw(sample[:0])
			if p := m.law(xs); p.whole(xs) || m.Counted && p[0] > 0 {
				m.Draws[k] = append(m.Draws[k], p)
			}
		}
		if lost := modelDraws - len(m.Draws[k]); float64(lost) > lostAtMost*modelDraws {
			return &fault.Error{
				Setting: "scan model", Problem: fmt.Sprintf("too few points tell disks from cores: %d of %d samples of them do not", lost, modelDraws),
				Cure: "measure more setups, some with few disks and some with few workers",
			}
		}
	}
	return nil
}

// drawn appends as many values as there are, drawn with replacement.
func drawn[T any](r *rand.Rand, into, from []T) []T {
	for range from {
		into = append(into, from[r.IntN(len(from))])
	}
	return into
}

// intervals are the wider of those in which 95 % of each bootstrap's laws lie.
func (m *Model) intervals(best law) {
	m.DiskShare = m.widest(1/best[0], func(p law) float64 { return 1 / p[0] })
	m.Work = m.widest(best[1], func(p law) float64 { return p[1] })
	m.Start = m.widest(best[2], func(p law) float64 { return p[2] })
}

func (m *Model) widest(value float64, of func(law) float64) measure.Estimate {
	e := measure.Estimate{Value: value, Low: value, High: value}
	for _, draws := range m.Draws {
		all := make([]float64, len(draws))
		for i, p := range draws {
			all[i] = of(p)
		}
		e.Widen(all)
	}
	return e
}
