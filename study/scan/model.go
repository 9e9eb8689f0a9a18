package scan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dustin/go-humanize/english"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Setup describes the disks, the workers and the data of a scan.
type Setup struct {
	Bandwidth  []float64 `json:"bandwidth_mb_per_s"` // of each path's disk, as measured; MB are 10⁶ bytes
	Partitions int       `json:"partitions"`         // of equal size; partition i is on path i%len(Bandwidth)
	Workers    int       `json:"workers"`            // 0 = one for each partition
	Cores      int       `json:"cores"`              // that the engine may use
	Bytes      int64     `json:"bytes"`              // read from all disks
}

// Point is the measurement of a setup in a sweep.
type Point struct {
	Setup
	Seconds []float64 `json:"seconds"`               // of the repetitions
	CPU     []float64 `json:"cpu_seconds,omitempty"` // of the repetitions, summed over all cores; nil = not counted
}

// work is the counted processor time in seconds per 10⁹ bytes; 0 = not counted.
func (p *Point) work() float64 {
	if len(p.CPU) == 0 {
		return 0
	}
	return measure.Median(p.CPU) / (float64(p.Bytes) / 1e9)
}

// Model is a fitted model for the time of a scan:
//
//	seconds = Start + max(disks, cores)
//	disks   = bytes / (DiskShare · Σ bandwidth)
//	cores   = Work · bytes / min(workers, cores)
//
// If disks differ, or the partitions do not divide evenly among them, the disk with the longest reading time determines
// the term disks.
//
// If cores limited some setups, Work is derived from times. Otherwise it is the counted processor time. That includes
// the fixed cost of a query, so more data will cost less per byte, not more.
type Model struct {
	run.ScanModel // with a fit of each point
	// Residuals are the relative errors of all repetitions (measured/predicted - 1), each by the model of the other
	// points.
	Residuals     []float64     `json:"off"`
	Seed          uint64        `json:"seed"` // of the bootstrap and of forecasts
	MeasuredRange MeasuredRange `json:"seen"`
	Bytes         int64         `json:"bytes"` // median of the bytes that a point read

	BootstrapFits [2][][3]float64 `json:"draws"` // parameters fitted by the two bootstraps
}

// Bound is the resource that limits a scan.
type Bound string

// The limiting resources.
const (
	ByDisks Bound = "disks"
	ByCores Bound = "cores"
)

// MeasuredRange has the largest values of a sweep. A forecast names the values that exceed them.
type MeasuredRange struct {
	Disks     int     `json:"disks"`
	Bandwidth float64 `json:"bandwidth_mb_per_s"` // of one disk
	Parallel  int     `json:"parallel"`           // workers that run at the same time, each on a core
	Bytes     int64   `json:"bytes"`
}

// parameters are 1/DiskShare, Work and Start of a Model.
type parameters [3]float64

// terms are what a model computes with: seconds = max(p[0]·disk, p[1]·core) + p[2] for parameters p.
type terms struct {
	disk float64 // seconds at the disks' full bandwidth
	core float64 // 10⁹ bytes per worker that has a core
	time float64 // measured seconds
	work float64 // counted core seconds per 10⁹ bytes; 0 = not counted
}

func (p parameters) seconds(x terms) float64 { return max(p[0]*x.disk, p[1]*x.core) + p[2] }

func (p parameters) bound(x terms) Bound {
	if p[1]*x.core > p[0]*x.disk {
		return ByCores
	}
	return ByDisks
}

// isDetermined reports whether disks limit some points and cores limit others. Otherwise the points give only an upper
// bound for the cost of one of the resources.
func (p parameters) isDetermined(xs []terms) bool {
	decides := func(b Bound, term func(x terms) float64) bool {
		return slices.ContainsFunc(xs, func(x terms) bool { return p.bound(x) == b && term(x) > resolution*x.time })
	}
	return decides(ByDisks, func(x terms) float64 { return p[0] * x.disk }) &&
		decides(ByCores, func(x terms) float64 { return p[1] * x.core })
}

// parallel is the number of workers that run at the same time, each on a core.
func (s *Setup) parallel() int {
	if s.Workers == 0 {
		return min(s.Partitions, s.Cores)
	}
	return min(s.Workers, s.Cores)
}

// terms checks a setup and computes the factors of the model.
func (s *Setup) terms() (terms, error) {
	bad := func(what string) (terms, error) {
		return terms{}, &fault.Error{
			Setting: "scan model", Problem: what,
			Cure: "give every setup disks with their measured bandwidth, partitions, cores and bytes",
		}
	}
	if len(s.Bandwidth) == 0 || s.Partitions < 1 || s.Cores < 1 || s.Workers < 0 || s.Bytes < 1 {
		return bad(fmt.Sprintf("a setup is incomplete: %+v", *s))
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

// Constants of the fit.
const (
	bootstrapFits    = 500   // of each bootstrap
	minPoints        = 6     // two for each parameter
	minPointsCounted = 4     // two for each parameter if Work is the counted processor time
	significance     = 0.001 // level of the F tests in checkSeparable and checkDiskRate
	resolution       = 0.001 // relative errors below it do not distinguish models
	maxLostShare     = 0.1   // largest share of the bootstrap's fits that may not determine a parameter
	independent      = 1e-6  // Start is known if the other terms leave more than this share of its square unexplained
)

// FitModel fits the model to a sweep. It minimizes the relative errors of the medians
// (to first order the differences of logarithms); no parameter is negative. It sorts
// the points by disk/core, finds the best model for every split into points that cores
// limit and points that disks limit, and returns the best of these models.
//
// The uncertainty has two sources: the noise of the repetitions, which a bootstrap
// within each point shows, and deviations from the model, which a bootstrap among the
// points with the same limit shows. Each interval has the lower of both low ends and the higher of both high ends.
//
// Work is the counted processor time if the points do not separate DiskShare from Work, because disks may limit all of
// them, or if the times need more than the counted work: then the cores were partly idle, so they did not limit the
// slow points. If no time was counted, or if cores may limit all points, FitModel returns an error.
func FitModel(points []Point, seed uint64) (*Model, error) {
	m := &Model{ScanModel: run.ScanModel{Phase: run.Cold}, Seed: seed}
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
		predicted := best.parameters.seconds(x)
		m.Fits = append(m.Fits, run.ScanFit{
			Config: i, Measured: x.time, Predicted: predicted, Residual: x.time/predicted - 1, Bound: string(best.parameters.bound(x)),
		})
		m.Residuals = append(m.Residuals, m.errorsWithout(i, points[i].Seconds, xs, predicted)...)
	}
	m.RelativeError = math.Sqrt(best.loss / float64(len(xs)))
	if err := m.bootstrap(points, xs, best.parameters); err != nil {
		return nil, err
	}
	m.intervals(best.parameters)
	return m, nil
}

// read checks the points and computes their terms.
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
		m.MeasuredRange.extend(&p.Setup)
	}
	m.Bytes = int64(measure.Median(bytes))
	return xs, nil
}

// fit finds the model from the times only, if they determine it.
func (m *Model) fit(xs []terms) (fit, error) {
	counted := workOf(xs)
	few := &fault.Error{
		Setting: "scan model", Problem: english.Plural(len(xs), "setup is", "setups are") + " too few for three parameters",
		Cure: fmt.Sprintf("measure at least %d", minPoints),
	}
	if len(xs) < minPointsCounted || len(xs) < minPoints && counted == 0 {
		return fit{}, few
	}
	if len(xs) >= minPoints {
		best := fitParameters(xs, 0)
		err := checkSeparable(best, xs)
		coresLimit := best.parameters[1]*measure.BusyShare <= counted // cores that limit a scan are busy
		if counted == 0 || err == nil && coresLimit {
			return best, err
		}
	}
	m.WorkMeasured = true
	best := fitParameters(xs, counted)
	return best, checkDiskRate(best, xs, counted)
}

// workOf is the median of the counted work; 0 if a point has no count.
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

// refit fits some of the points, with Work from the same source as in the model of all points.
func (m *Model) refit(xs []terms) parameters {
	if m.WorkMeasured {
		return fitParameters(xs, workOf(xs)).parameters
	}
	return fitParameters(xs, 0).parameters
}

// errorsWithout returns the relative errors of a point's repetitions against the model of the other
// points. Against the model of all points the errors would be too small, because its parameters follow the noise of the
// point. If the other points have no model, errorsWithout uses predicted, the time by the model of all points.
func (m *Model) errorsWithout(i int, seconds []float64, xs []terms, predicted float64) (out []float64) {
	if p := m.refit(slices.Delete(slices.Clone(xs), i, i+1)); p[0] > 0 && p[1] > 0 {
		predicted = p.seconds(xs[i])
	}
	for _, s := range seconds {
		out = append(out, s/predicted-1)
	}
	return out
}

func (s *MeasuredRange) extend(x *Setup) {
	s.Disks = max(s.Disks, len(x.Bandwidth))
	s.Bandwidth = max(s.Bandwidth, slices.Max(x.Bandwidth))
	s.Parallel = max(s.Parallel, x.parallel())
	s.Bytes = max(s.Bytes, x.Bytes)
}

// fit is a model with its sum of squared relative errors.
type fit struct {
	parameters parameters
	loss       float64
	startKnown bool
}

// fitParameters finds the model with the smallest loss. work > 0 is a known Work.
func fitParameters(xs []terms, work float64) fit {
	order := slices.Clone(xs)
	slices.SortFunc(order, func(a, b terms) int { return cmp.Compare(a.disk*b.core, b.disk*a.core) }) // points that cores limit come first
	best := fit{loss: math.Inf(1)}
	for k := range len(order) + 1 {
		if f := fitSplit(order[:k], order[k:], order, work); f.loss < best.loss {
			best = f
		}
	}
	return best
}

// fitSplit returns the best model if cores limit the points byCores and disks limit the points byDisks. Its loss is
// that of all points with the limits that the model itself gives them. work > 0 is a known Work.
func fitSplit(byCores, byDisks, all []terms, work float64) fit {
	d := sums(byDisks, func(x terms) float64 { return x.disk })
	c := sums(byCores, func(x terms) float64 { return x.core })
	project, overlap := c.project(), c.overlap()
	if work > 0 {
		project, overlap = 0, work*c.vu
	}
	uu := d.uu + c.uu
	left := uu - d.project() - project
	out := fit{loss: math.Inf(1), startKnown: left > independent*uu}
	starts := []float64{0}
	if out.startKnown {
		if s := (d.u + c.u - d.overlap() - overlap) / left; s > 0 {
			starts = append(starts, s)
		}
	}
	for _, s := range starts {
		p := parameters{d.slope(s), c.slope(s), s}
		if work > 0 {
			p[1] = work
		}
		if p[0] < 0 || p[1] < 0 {
			continue
		}
		if e := loss(p, all); e < out.loss {
			out.parameters, out.loss = p, e
		}
	}
	return out
}

// moments are sums over points of products of v = term/time and u = 1/time, as in the normal equations of relative
// least squares: the model factor·v + Start·u ≈ 1.
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

// slope is the best factor of the term for Start = s; 0 without points.
func (m moments) slope(s float64) float64 {
	if m.vv == 0 {
		return 0
	}
	return (m.v - s*m.vu) / m.vv
}

// project is the portion of Start's square that the term explains.
func (m moments) project() float64 {
	if m.vv == 0 {
		return 0
	}
	return m.vu * m.vu / m.vv
}

// overlap is the portion of Start's sum u that the term explains.
func (m moments) overlap() float64 {
	if m.vv == 0 {
		return 0
	}
	return m.v * m.vu / m.vv
}

// loss is the sum of squared relative errors.
func loss(p parameters, xs []terms) (sum float64) {
	for _, x := range xs {
		e := p.seconds(x)/x.time - 1
		sum += e * e
	}
	return sum
}

// checkSeparable returns an error if the points fit about as well without disks or without cores (an F test
// of the model with one parameter less).
func checkSeparable(best fit, xs []terms) error {
	free := float64(len(xs) - 3)
	noise := max(best.loss, float64(len(xs))*resolution*resolution) / free
	test := distuv.F{D1: 1, D2: free}
	needless := func(without fit) bool { return test.Survival(max(0, without.loss-best.loss)/noise) > significance }
	var most float64 // upper bound of Work by the fastest points
	for i, x := range xs {
		if r := x.time / x.core; i == 0 || r < most {
			most = r
		}
	}
	switch {
	case needless(fitSplit(nil, xs, xs, 0)):
		return &fault.Error{
			Setting: "scan model", Problem: fmt.Sprintf("disks may limit all configurations: the processor time cannot be determined, only that it is below %.3g core seconds per 10⁹ bytes", most),
			Cure: "measure with more or faster disks, or with fewer workers",
		}
	case needless(fitSplit(xs, nil, xs, 0)):
		return &fault.Error{
			Setting: "scan model", Problem: "cores may limit all configurations: the rate of the disks cannot be determined",
			Cure: "measure with fewer or slower disks (`barograph lab disks`), or with more workers and cores",
		}
	}
	return nil
}

// checkDiskRate returns an error if the points fit about as well by the counted work without disks: then
// the rate of the disks cannot be determined.
func checkDiskRate(best fit, xs []terms, work float64) error {
	free := float64(len(xs) - 2)
	noise := max(best.loss, float64(len(xs))*resolution*resolution) / free
	without := fitSplit(xs, nil, xs, work).loss
	if (distuv.F{D1: 1, D2: free}).Survival(max(0, without-best.loss)/noise) <= significance {
		return nil
	}
	return &fault.Error{
		Setting: "scan model", Problem: "by the counted processor time, cores may limit all configurations: the rate of the disks cannot be determined",
		Cure: "measure with fewer or slower disks (`barograph lab disks`), or with more data",
	}
}

// bootstrap fits the model to resampled repetitions, and to resampled points.
func (m *Model) bootstrap(points []Point, xs []terms, best parameters) error {
	r := rand.New(rand.NewPCG(m.Seed, 1))
	by := map[Bound][]terms{}
	for _, x := range xs {
		b := best.bound(x)
		by[b] = append(by[b], x)
	}
	var times []float64
	drawRepetitions := func(into []terms) []terms {
		for i, x := range xs {
			times = resample(r, times[:0], points[i].Seconds)
			x.time = measure.Median(times)
			if m.WorkMeasured {
				times = resample(r, times[:0], points[i].CPU)
				x.work = measure.Median(times) / (float64(points[i].Bytes) / 1e9)
			}
			into = append(into, x)
		}
		return into
	}
	drawPoints := func(into []terms) []terms { return resample(r, resample(r, into, by[ByDisks]), by[ByCores]) }
	sample := make([]terms, 0, len(xs))
	for k, draw := range []func([]terms) []terms{drawRepetitions, drawPoints} {
		for range bootstrapFits {
			xs := draw(sample[:0])
			if p := m.refit(xs); p.isDetermined(xs) || m.WorkMeasured && p[0] > 0 {
				m.BootstrapFits[k] = append(m.BootstrapFits[k], p)
			}
		}
		if lost := bootstrapFits - len(m.BootstrapFits[k]); float64(lost) > maxLostShare*bootstrapFits {
			return &fault.Error{
				Setting: "scan model", Problem: fmt.Sprintf("too few configurations distinguish disks from cores: %d of %d resamples do not", lost, bootstrapFits),
				Cure: "measure more setups, some with few disks and some with few workers",
			}
		}
	}
	return nil
}

// resample appends len(from) values of from, drawn with replacement.
func resample[T any](r *rand.Rand, into, from []T) []T {
	for range from {
		into = append(into, from[r.IntN(len(from))])
	}
	return into
}

// intervals sets the intervals of the parameters. Each contains 95 % of the models of both bootstraps.
func (m *Model) intervals(best parameters) {
	m.DiskShare = m.estimate(1/best[0], func(p parameters) float64 { return 1 / p[0] })
	m.Work = m.estimate(best[1], func(p parameters) float64 { return p[1] })
	m.Start = m.estimate(best[2], func(p parameters) float64 { return p[2] })
}

// estimate returns a value with the smallest interval that contains the 95 % intervals of both bootstraps; of computes
// it from parameters.
func (m *Model) estimate(value float64, of func(parameters) float64) measure.Estimate {
	e := measure.Estimate{Value: value, Low: value, High: value}
	for _, draws := range m.BootstrapFits {
		all := make([]float64, len(draws))
		for i, p := range draws {
			all[i] = of(p)
		}
		e.Widen(all)
	}
	return e
}
