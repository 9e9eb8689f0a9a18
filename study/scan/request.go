package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// ForecastRequest describes the disks and the data for which a user requests a forecast.
type ForecastRequest struct {
	Queries    []string // none = all that have cold times
	Paths      []string // folders, one on each disk, instead of Disks and ReadMBps
	Measure    bool     // measure how fast each path is read: 64 MiB
	Disks      int      // 0 = the number of rates or paths
	ReadMBps   []float64
	Cores      int    // 0 = the run's
	Workers    int    // 0 = one for each partition
	Partitions string // ByCore, auto, or a number
	Bytes      string // that the query reads: 1.2TB; "" = the run's
	ScaleData  float64
	HoldOut    bool // also forecast each configuration of the run from the others

	Progress func(s string) // of Measure; nil = none is reported
}

// ByCore is the value of Partitions that gives each core a worker, and all disks the same number of
// partitions.
const ByCore = "cores"

// Forecasts are the forecasts by the models of a run.
type Forecasts struct {
	Run       string          `json:"run"`
	Engine    string          `json:"engine"`
	Bandwidth []float64       `json:"bandwidth_mb_per_s"` // of each disk
	How       []string        `json:"bandwidth_how,omitempty"`
	Questions []QueryForecast `json:"questions"`
	HeldOut   []HeldOut       `json:"held_out,omitempty"`

	request *ForecastRequest
}

// QueryForecast has the forecasts of a query.
type QueryForecast struct {
	Query     string          `json:"query"`
	Problem   string          `json:"problem,omitempty"` // why the query has no model; the other fields are then empty
	Model     *run.ScanModel  `json:"law,omitempty"`
	Requested *SetupForecast  `json:"at,omitempty"`
	Enough    int             `json:"enough_disks,omitempty"` // Model.EnoughDisks at the slowest rate
	ByDisks   []SetupForecast `json:"by_disks,omitempty"`

	worstFit string // the configuration that differs most from the model, with the difference
}

// SetupForecast is a forecast of a setup.
type SetupForecast struct {
	Setup    Setup    `json:"setup"`
	Forecast Forecast `json:"forecast"`
}

// Forecasts reads a run and forecasts by its model. If a named query has no model, it returns an error in
// addition to the other forecasts.
func (req *ForecastRequest) Forecasts(ctx context.Context, dir string) (*Forecasts, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	if r.Workload != run.ScanWorkload {
		return nil, &fault.Error{
			File: dir, Problem: fmt.Sprintf("is not a run of barograph scan, but of %q", r.Workload),
			Cure: "name a run folder that `barograph scan sweep --out` wrote",
		}
	}
	if err := req.check(samples); err != nil {
		return nil, err
	}
	out := &Forecasts{Run: dir, Engine: strings.TrimSpace(r.Archives[0].Product + " " + r.Archives[0].Version), request: req}
	if out.Bandwidth, out.How, err = req.rates(ctx); err != nil {
		return nil, err
	}
	queries := req.Queries
	if len(queries) == 0 {
		queries = ColdQueries(samples)
	}
	if len(queries) == 0 { // report why no query has a model
		_, err := ModelOf(r, samples, "any question")
		return nil, err
	}
	var failures []error // of queries without a model
	for _, q := range queries {
		t, err := req.question(r, samples, q, out.Bandwidth)
		if err != nil {
			t = QueryForecast{Query: q, Problem: err.Error()}
			failures = append(failures, err)
		}
		if points, _, missing := pointsOf(r, samples, q); req.HoldOut && err == nil && missing == nil {
			if err := out.holdOut(q, points, r.Seed); err != nil {
				return nil, err
			}
		}
		out.Questions = append(out.Questions, t)
	}
	switch {
	case len(failures) == len(queries):
		return nil, errors.Join(failures...)
	case len(req.Queries) > 0: // a named query without a model is an error
		return out, errors.Join(failures...)
	}
	return out, nil
}

// check refuses invalid and contradictory values.
func (req *ForecastRequest) check(samples []run.Sample) error {
	var queries []string
	for i := range samples {
		if q := samples[i].Cell.Value("query"); !slices.Contains(queries, q) {
			queries = append(queries, q)
		}
	}
	for _, q := range req.Queries {
		if !slices.Contains(queries, q) {
			return fault.Misuse("--queries "+q, "is not in the run", "choose one of "+strings.Join(queries, ", "))
		}
	}
	parts, number := strconv.Atoi(req.Partitions)
	switch {
	case !(req.ScaleData > 0) || math.IsInf(req.ScaleData, 0):
		return fault.Misuse(fmt.Sprintf("--scale-data %g", req.ScaleData), "must be greater than 0",
			"write 10 for ten times the run's data")
	case req.Partitions != ByCore && req.Partitions != "auto" && (number != nil || parts < 1):
		return fault.Misuse("--partitions "+req.Partitions, "is not a number of partitions", "write cores, auto or 8")
	case req.Bytes != "" && req.ScaleData != 1:
		return fault.Misuse("--bytes and --scale-data", "cannot be combined", "omit one of them")
	}
	if err := req.checkDisks(); err != nil {
		return err
	}
	_, err := req.bytesToRead(1)
	return err
}

// checkDisks checks that the disks are described exactly once.
func (req *ForecastRequest) checkDisks() error {
	switch {
	case len(req.Paths) > 0 && (req.Disks > 0 || len(req.ReadMBps) > 0):
		return fault.Misuse("--paths", "cannot be combined with --disks and --read-mbps", "omit --paths, or both others")
	case len(req.Paths) == 0 && req.Measure:
		return fault.Misuse("--measure-disks", "needs --paths", "add --paths, one on each disk")
	case len(req.Paths) == 0 && len(req.ReadMBps) == 0:
		return fault.Misuse("--read-mbps", "is missing",
			"name the MB that a disk reads per second, or measure them: --paths A,B --measure-disks")
	case len(req.ReadMBps) > 1 && req.Disks > 0 && req.Disks != len(req.ReadMBps):
		return fault.Misuse("--read-mbps", fmt.Sprintf("names %s for %s", run.CountOf(len(req.ReadMBps), "rate"), run.CountOf(req.Disks, "disk")),
			"name one rate for all, or one for each disk")
	}
	for _, mbps := range req.ReadMBps {
		if !(mbps > 0) || math.IsInf(mbps, 0) {
			return fault.Misuse(fmt.Sprintf("--read-mbps %g", mbps), "must be greater than 0", "write 200 for 200 MB per second")
		}
	}
	return nil
}

// rates returns the MB per second that each of the user's disks reads, and how each rate was measured.
func (req *ForecastRequest) rates(ctx context.Context) (mbps []float64, how []string, err error) {
	if len(req.ReadMBps) == 1 {
		return slices.Repeat(req.ReadMBps, max(req.Disks, 1)), nil, nil
	}
	mbps = req.ReadMBps
	meter := newRateMeter(req.Progress, len(req.Paths), measure.ReadRate)
	for _, path := range req.Paths {
		if req.Measure {
			rate, method, err := meter.read(ctx, path)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				return nil, nil, &fault.Error{
					File: path, Problem: "cannot be measured", Err: err,
					Cure: "name a folder that can be written, or use --read-mbps",
				}
			}
			mbps, how = append(mbps, rate/1e6), append(how, path+": "+method)
			continue
		}
		d, ok := lab.DiskOf(path)
		if !ok {
			return nil, nil, fault.Misuse("--paths "+path, "is not a disk of barograph lab disks, so its rate is unknown",
				"add --measure-disks")
		}
		if d.Measured.ReadMBps == 0 {
			return nil, nil, fault.Misuse("--paths "+path, "was not measured after the last mount, so its rate is unknown",
				"run the same `barograph lab disks` again, or add --measure-disks")
		}
		mbps, how = append(mbps, d.Measured.ReadMBps), append(how, path+": measured by barograph lab disks")
	}
	return mbps, how, nil
}

// bytesToRead returns the bytes that a query will read, if it read inRun bytes in the run.
func (req *ForecastRequest) bytesToRead(inRun int64) (int64, error) {
	if req.Bytes == "" {
		return int64(float64(inRun) * req.ScaleData), nil
	}
	n, err := humanize.ParseBytes(req.Bytes)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return 0, fault.Misuse("--bytes "+req.Bytes, "is not an amount of data", "write 800GB, 1.2TB or 1TiB")
	}
	return int64(n), nil
}

// setup returns a setup with a number of disks, whose rates are those of mbps in turn.
func (req *ForecastRequest) setup(r *run.Run, disks int, mbps []float64, bytes int64) Setup {
	s := Setup{Cores: req.Cores, Workers: req.Workers, Bytes: bytes}
	if s.Cores == 0 {
		s.Cores = max(r.Machine.UsableCPUs, 1)
	}
	for i := range disks {
		s.Bandwidth = append(s.Bandwidth, mbps[i%len(mbps)])
	}
	switch n, err := strconv.Atoi(req.Partitions); {
	case err == nil:
		s.Partitions = n
	case req.Partitions == ByCore:
		s.Partitions = (s.Cores + disks - 1) / disks * disks
	default:
		s.Partitions, _ = AutoPartitions([]Node{{Cores: s.Cores, Memory: r.Machine.Memory, Paths: disks}})
	}
	return s
}

// question forecasts the times of a query.
func (req *ForecastRequest) question(r *run.Run, samples []run.Sample, query string, mbps []float64) (out QueryForecast, err error) {
	m, err := ModelOf(r, samples, query)
	if err != nil {
		return out, err
	}
	out.Query = query
	worst := slices.MaxFunc(m.Fits, func(a, b run.ScanFit) int {
		return cmp.Compare(math.Abs(a.Residual), math.Abs(b.Residual))
	})
	out.worstFit = fmt.Sprintf("%s (%+.0f %%)", ConfigName(&r.Scan.Configs[worst.Config]), 100*worst.Residual)
	m.Fits = nil // the fits belong to the run
	out.Model = &m.ScanModel
	bytes, err := req.bytesToRead(m.Bytes)
	if err != nil {
		return out, err
	}
	forecastFor := func(disks int) (SetupForecast, error) {
		s := req.setup(r, disks, mbps, bytes)
		f, err := m.Forecast(s)
		return SetupForecast{s, f}, err
	}
	requested, err := forecastFor(len(mbps))
	if err != nil {
		return out, err
	}
	out.Requested = &requested
	parallel := requested.Setup.Cores
	if req.Workers > 0 {
		parallel = min(parallel, req.Workers)
	}
	if _, err := strconv.Atoi(req.Partitions); err == nil && req.Workers == 0 {
		parallel = min(parallel, requested.Setup.Partitions)
	}
	out.Enough = m.EnoughDisks(slices.Min(mbps), parallel)
	for _, n := range numbersOfDisks(len(mbps), out.Enough) {
		row, err := forecastFor(n)
		if err != nil {
			return out, err
		}
		out.ByDisks = append(out.ByDisks, row)
	}
	return out, nil
}

// minLastRow is the least number of disks in the last row of the table.
const minLastRow = 8

// numbersOfDisks returns the rows of the table: the requested number, the number that is enough, and 1, 2, 4, … up to
// the larger of these.
func numbersOfDisks(requested, enough int) []int {
	out := []int{requested}
	if enough <= minLastRow*requested { // a larger number is not realistic
		out = append(out, enough)
	}
	last := max(minLastRow, slices.Max(out))
	for n := 1; n <= last; n *= 2 {
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Text writes sentences, then a table.
func (x *Forecasts) Text(w io.Writer) error {
	fmt.Fprintf(w, "Forecast by the model of %s, measured with %s:\n", x.Run, x.Engine)
	for _, how := range x.How {
		fmt.Fprintln(w, how)
	}
	for _, q := range x.Questions {
		if q.Problem != "" {
			fmt.Fprintf(w, "\n%s: no forecast: %s\n", q.Query, q.Problem)
			continue
		}
		s := &q.Requested.Setup
		fmt.Fprintf(w, "\n%s, %s of %s, %s, %s, %.4g GB read:\n%s\n", q.Query, run.CountOf(len(x.Bandwidth), "disk"),
			rates(x.Bandwidth), run.CountOf(s.Partitions, "partition"), run.CountOf(s.Cores, "core"), float64(s.Bytes)/1e9,
			q.Requested.Forecast)
		if q.Requested.Forecast.TooWide() {
			fmt.Fprintln(w, q.narrower())
		}
		fmt.Fprintln(w, x.request.enoughText(&q, x.Bandwidth))
		if q.Model.WorkMeasured {
			fmt.Fprintln(w, "The measured times do not determine what the cores need: disks limited all configurations, "+
				"or the cores were idle. It is the counted processor time; more data will not need more per byte.")
		}
		fmt.Fprintf(w, "The error of the model in the run was %.1f %% (root mean square of medians).\n", 100*q.Model.RelativeError)
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "\nquery\tdisks\tpartitions\tseconds\t95 %\tlimited by\t")
	for _, q := range x.Questions {
		for _, row := range q.ByDisks {
			sure := ""
			if row.Forecast.BoundShare < measure.Confidence {
				sure = " (not sure)"
			}
			if len(row.Forecast.Beyond) > 0 {
				sure += ", beyond the measured range"
			}
			seconds := row.Forecast.Value()
			if row.Forecast.TooWide() {
				seconds = "too wide"
			}
			fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s%s\t\n", q.Query, len(row.Setup.Bandwidth), row.Setup.Partitions, seconds,
				row.Forecast.Interval(), row.Forecast.Bound, sure)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(x.HeldOut) > 0 {
		fmt.Fprintln(w, "\n"+HeldOutWords(x.HeldOut))
	}
	fmt.Fprintln(w, "\nThe 95 % interval is that of a single cold scan. "+
		"It assumes that the model is valid, cores as fast as the run's, and the same engine.")
	return nil
}

// narrower describes how to get an interval of at most ±40 %.
func (q *QueryForecast) narrower() string {
	if len(q.Requested.Forecast.Beyond) > 0 {
		return "Measure nearer to these disks and data: run a sweep there, or name values within the measured range."
	}
	return fmt.Sprintf("The results of the run differ too much from the model: "+
		"run it again with more cold repetitions on a quiet machine. The largest difference: %s.", q.worstFit)
}

// enoughText describes how many disks keep the cores busy.
func (req *ForecastRequest) enoughText(q *QueryForecast, mbps []float64) string {
	slowest := []float64{slices.Min(mbps)}
	if parts, err := strconv.Atoi(req.Partitions); err == nil && q.Enough > parts {
		return fmt.Sprintf("Disks of %s are the limit for any number of disks: a query reads at most %s at once.", rates(slowest), run.CountOf(parts, "partition"))
	}
	workers := run.CountOf(q.Requested.Setup.Cores, "core")
	if req.Workers > 0 && req.Workers < q.Requested.Setup.Cores {
		workers = run.CountOf(req.Workers, "worker")
	}
	return fmt.Sprintf("%s of %s %s enough; with more, the limit is %s.",
		run.CountOf(q.Enough, "disk"), rates(slowest), english.PluralWord(q.Enough, "is", "are"), workers)
}

// rates formats MB per second: "200 MB/s", or all rates if they differ.
func rates(mbps []float64) string {
	var all []string
	for _, r := range mbps {
		all = append(all, fmt.Sprintf("%.4g", r))
	}
	return strings.Join(slices.Compact(all), ", ") + " MB/s"
}

// bandwidths formats all rates with all digits: "100;99.5".
func bandwidths(mbps []float64) string {
	var all []string
	for _, r := range mbps {
		all = append(all, strconv.FormatFloat(r, 'g', -1, 64))
	}
	return strings.Join(all, ";")
}
