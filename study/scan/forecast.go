package scan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// FitModels fits the model to the cold results of a run, for each query. A model that cannot be determined has
// a Problem. A run of one configuration, or without cold results, has no models.
func FitModels(r *run.Run, samples []run.Sample) (out []run.ScanModel) {
	if len(r.Scan.Configs) < 2 {
		return nil
	}
	for _, q := range ColdQueries(samples) {
		m, err := ModelOf(r, samples, q)
		if err != nil {
			m = &Model{ScanModel: run.ScanModel{Query: q, Phase: run.Cold, Problem: err.Error()}}
		}
		out = append(out, m.ScanModel)
	}
	return out
}

// ColdQueries returns the queries that have cold results, sorted.
func ColdQueries(samples []run.Sample) (out []string) {
	for i := range samples {
		if q := samples[i].Cell.Value("query"); samples[i].Phase == run.Cold && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	slices.Sort(out)
	return out
}

// ModelOf fits the model to the cold results of a query in a run. The same run gives the same model.
// The error is the reason why the query has no model.
func ModelOf(r *run.Run, samples []run.Sample, query string) (*Model, error) {
	points, configs, err := pointsOf(r, samples, query)
	if err != nil {
		return nil, err
	}
	m, err := FitModel(points, r.Seed)
	if err != nil {
		return nil, err
	}
	m.Query = query
	for i := range m.Fits {
		m.Fits[i].Config = configs[i]
	}
	return m, nil
}

// pointsOf returns the cold measurements of a query in a run.
func pointsOf(r *run.Run, samples []run.Sample, query string) (points []Point, configs []int, err error) {
	none := func(problem, cure string) ([]Point, []int, error) {
		return nil, nil, &fault.Error{Setting: "the model of " + query, Problem: problem, Cure: cure}
	}
	cold := ColdQueries(samples)
	disks := r.Scan.Disks
	switch {
	case len(cold) == 0:
		return none("the run has no cold times, and warm queries do not read the disks", "run it with --cold 5")
	case !slices.Contains(cold, query):
		return none(fmt.Sprintf("the run has no cold times of this query, but of %q", cold),
			"choose one of them, or run it with --queries "+query)
	case len(disks) == 0:
		return none("the run named no disks: the tables are in the engine's own folder",
			"run it with --paths, one on each disk")
	}
	for i, d := range disks {
		other := slices.IndexFunc(disks[:i], func(o run.ScanDisk) bool { return o.Device == d.Device })
		switch {
		case d.Device == "":
			return none(d.Path+" is not on a block device, so the bytes read from it are unknown",
				"name paths on disks, or make disks: barograph lab disks --count 6")
		case d.Rate <= 0:
			return none("the disk of "+d.Path+" was not measured",
				"run it with --measure-disks, or on disks made by `barograph lab disks`")
		case other >= 0:
			return none(fmt.Sprintf("%s and %s are on the same disk (%s)", disks[other].Path, d.Path, d.Device),
				"name paths on different disks, or make disks: barograph lab disks --count 6")
		}
	}
	unread := 0
	for i := range r.Scan.Configs {
		p, ok := setupOf(r, samples, i, query)
		switch {
		case ok:
			points, configs = append(points, p), append(configs, i)
		case len(p.Seconds) > 0:
			unread++
		}
	}
	if unread > len(points) {
		return none(fmt.Sprintf("the cold queries of %[2]d of %[1]d configurations read nothing from the disks", len(points)+unread, unread),
			"run it as root, because only root can empty the page cache, and with more data than the engine and the disks cache")
	}
	return points, configs, nil
}

// setupOf returns the measurements of a configuration's cold queries, without those that read faster than
// the disks can. It returns false if no result is correct, or if nothing was read.
func setupOf(r *run.Run, samples []run.Sample, config int, query string) (Point, bool) {
	c, cell := &r.Scan.Configs[config], r.ScanCell(config, query)
	p := Point{Setup: Setup{Partitions: c.Partitions, Workers: c.Workers, Cores: r.Machine.UsableCPUs}}
	for _, d := range r.Scan.Disks[:min(c.Paths, len(r.Scan.Disks))] {
		p.Bandwidth = append(p.Bandwidth, d.Rate/1e6)
	}
	var read []float64
	for i := range samples {
		m := samples[i].Measured()
		if samples[i].Cell != cell || samples[i].Phase != run.Cold || m == nil || fastRead(r.Scan.Disks, m) != "" {
			continue
		}
		sum := uint64(0)
		for _, d := range m.Devices {
			sum += d.Read
		}
		read, p.Seconds = append(read, float64(sum)), append(p.Seconds, m.Total.Seconds())
		if cpu, ok := r.Archives[0].CPU(m); ok {
			p.CPU = append(p.CPU, cpu.Seconds())
		}
	}
	if len(p.CPU) < len(p.Seconds) {
		p.CPU = nil
	}
	if len(read) == 0 || len(p.Bandwidth) == 0 {
		return p, false
	}
	p.Bytes = int64(measure.Median(read))
	return p, p.Bytes > 0
}

// Forecast is the time that a scan will take, with its limiting resource.
type Forecast struct {
	Seconds    measure.Estimate `json:"seconds"`       // the interval is that of a single scan, not of a mean
	Disks      float64          `json:"disks_seconds"` // time of the disks only
	Cores      float64          `json:"cores_seconds"` // time of the cores only
	Bound      Bound            `json:"bound"`
	BoundShare float64          `json:"sure"`             // share of the bootstrap's fits with the same Bound
	Beyond     []string         `json:"beyond,omitempty"` // values of the setup beyond the measured range
}

// Forecast forecasts the time of a scan from the model, the uncertainty of its parameters, and the
// errors of single scans in the run. Outside the measured range the errors grow: by 100 % for each
// factor e by which the data, the disks, their speed or the cores exceed the largest measured value.
func (m *Model) Forecast(s Setup) (Forecast, error) {
	x, err := s.terms()
	if err != nil {
		return Forecast{}, err
	}
	fitted := parameters{1 / m.DiskShare.Value, m.Work.Value, m.Start.Value}
	f := Forecast{Disks: fitted[0] * x.disk, Cores: fitted[1] * x.core, Bound: fitted.bound(x)}
	f.Beyond = m.MeasuredRange.exceeded(&s)
	growth := 1 + m.MeasuredRange.distance(&s) // of the errors
	r := rand.New(rand.NewPCG(m.Seed, 2))
	n := 0
	f.Seconds = m.estimate(fitted.seconds(x), func(p parameters) float64 {
		n++
		if p.bound(x) == f.Bound {
			f.BoundShare++
		}
		e := m.Residuals[r.IntN(len(m.Residuals))]
		return max(0, p.seconds(x)*(1+e*growth))
	})
	f.BoundShare /= float64(n)
	return f, nil
}

// distance is the distance of a setup from the measured range: the sum of the logarithms of the ratios.
func (s MeasuredRange) distance(x *Setup) (sum float64) {
	var now MeasuredRange
	now.extend(x)
	for _, r := range []float64{
		float64(now.Disks) / float64(s.Disks), now.Bandwidth / s.Bandwidth,
		float64(now.Parallel) / float64(s.Parallel), float64(now.Bytes) / float64(s.Bytes),
	} {
		sum += max(0, math.Log(r))
	}
	return sum
}

// exceeded lists the values of a setup that exceed the measured range by more than 50 %.
func (s MeasuredRange) exceeded(x *Setup) []string {
	const near = 1.5
	var now MeasuredRange
	now.extend(x)
	var out []string
	add := func(what string, now, seen float64) {
		if now > near*seen {
			out = append(out, fmt.Sprintf("%s: %.4g, measured up to %.4g", what, now, seen))
		}
	}
	add("disks", float64(now.Disks), float64(s.Disks))
	add("MB/s of a disk", now.Bandwidth, s.Bandwidth)
	add("workers with a core", float64(now.Parallel), float64(s.Parallel))
	add("GB", float64(now.Bytes)/1e9, float64(s.Bytes)/1e9)
	return out
}

// maxHalfWidth is the largest half of an interval, relative to the time, with which a forecast gives a single time.
const maxHalfWidth = 0.4

// TooWide reports whether the interval is wider than ±40 %. Then the forecast gives only the interval.
func (f Forecast) TooWide() bool { return f.half() > maxHalfWidth*f.Seconds.Value }

// String describes the forecast: "41 s ± 3: the disks are the limit; by the disks only 38 s, by the cores only 12 s".
func (f Forecast) String() string {
	half := f.half()
	text := fmt.Sprintf("%s s ± %s", f.Value(), digits(half, f.places()))
	if f.TooWide() {
		text = fmt.Sprintf("between %s s (95 %%): wider than ±%.0f %%, therefore no single time", f.Interval(), 100*maxHalfWidth)
	}
	text += fmt.Sprintf(": the %s are the limit", f.Bound)
	if f.BoundShare < measure.Confidence {
		text += " (not sure)"
	}
	text += fmt.Sprintf("; by the disks only %s s, by the cores only %s s", digits(f.Disks, f.places()), digits(f.Cores, f.places()))
	if len(f.Beyond) > 0 {
		text += "; beyond the measured range: " + strings.Join(f.Beyond, ", ")
	}
	return text
}

// Interval formats the 95 % interval of a single scan, in seconds: "38 – 44".
func (f Forecast) Interval() string {
	return digits(f.Seconds.Low, f.places()) + " – " + digits(f.Seconds.High, f.places())
}

// Value formats the time in seconds, up to the first uncertain digit: "41". A time below 10 s has two significant
// digits at least.
func (f Forecast) Value() string {
	return digits(f.Seconds.Value, f.places())
}

// half is the longer half of the interval.
func (f Forecast) half() float64 {
	return max(f.Seconds.High-f.Seconds.Value, f.Seconds.Value-f.Seconds.Low)
}

// places is the number of decimals of the forecast: up to the first digit of its uncertainty, and two significant
// digits of the time at least, but not more than three.
func (f Forecast) places() (n int) {
	if half := f.half(); half > 0 {
		n = -int(math.Floor(math.Log10(half)))
	}
	if v := f.Seconds.Value; v > 0 {
		n = max(n, 1-int(math.Floor(math.Log10(v))))
	}
	return min(max(n, 0), 3)
}

func digits(v float64, places int) string { return fmt.Sprintf("%.*f", places, v) }

// EnoughDisks is the smallest number of disks with which the cores limit a scan, so that more disks do not make it
// faster. Each disk reads mbps MB per second, parallel workers have a core, and partitions divide evenly among the
// disks.
func (m *Model) EnoughDisks(mbps float64, parallel int) int {
	perGB := 1000 / (mbps * m.DiskShare.Value) // seconds of one disk
	return max(1, int(math.Ceil(perGB*float64(parallel)/m.Work.Value)))
}
