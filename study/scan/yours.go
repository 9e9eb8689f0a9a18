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

// Forecasts are the times by the law of a run.
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
	Problem   string          `json:"problem,omitempty"` // the reason why the query has no law; then the other fields are empty
	Model     *run.ScanModel  `json:"law,omitempty"`
	Requested *SetupForecast  `json:"at,omitempty"`
	Enough    int             `json:"enough_disks,omitempty"` // number of disks of the slowest rate that keep the cores busy
	ByDisks   []SetupForecast `json:"by_disks,omitempty"`

	worstFit string // the configuration that differs most from the law, with the difference
}

// SetupForecast is a forecast of a setup.
type SetupForecast struct {
	Setup    Setup    `json:"setup"`
	Forecast Forecast `json:"forecast"`
}

// Forecasts reads a run and forecasts by its law. If a named query has no law, it returns an error in
// addition to the other forecasts.
func (y *ForecastRequest) Forecasts(ctx context.Context, dir string) (*Forecasts, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	if r.Workload != run.ScanWorkload {
		return nil, &fault.Error{File: dir, Problem: fmt.Sprintf("is not a run of barograph scan, but of %q", r.Workload), Cure: "name a run folder that `barograph scan sweep --out` wrote"}
	}
	if err := y.check(samples); err != nil {
		return nil, err
	}
	out := &Forecasts{Run: dir, Engine: strings.TrimSpace(r.Archives[0].Product + " " + r.Archives[0].Version), request: y}
	if out.Bandwidth, out.How, err = y.rates(ctx); err != nil {
		return nil, err
	}
	queries := y.Queries
	if len(queries) == 0 {
		queries = ColdQueries(samples)
	}
	if len(queries) == 0 { // report why no query has a law
		_, err := ModelOf(r, samples, "any question")
		return nil, err
	}
	var none []error
	for _, q := range queries {
		t, err := y.question(r, samples, q, out.Bandwidth)
		if err != nil {
			t = QueryForecast{Query: q, Problem: err.Error()}
			none = append(none, err)
		}
		if points, _, missing := pointsOf(r, samples, q); y.HoldOut && err == nil && missing == nil {
			if err := out.holdOut(q, points, r.Seed); err != nil {
				return nil, err
			}
		}
		out.Questions = append(out.Questions, t)
	}
	switch {
	case len(none) == len(queries):
		return nil, errors.Join(none...)
	case len(y.Queries) > 0: // a named query without a law is an error
		return out, errors.Join(none...)
	}
	return out, nil
}

// check refuses invalid and contradictory values.
func (y *ForecastRequest) check(samples []run.Sample) error {
	var queries []string
	for i := range samples {
		if q := samples[i].Cell.Value("query"); !slices.Contains(queries, q) {
			queries = append(queries, q)
		}
	}
	for _, q := range y.Queries {
		if !slices.Contains(queries, q) {
			return fault.Misuse("--queries "+q, "is not in the run", "choose one of "+strings.Join(queries, ", "))
		}
	}
	parts, number := strconv.Atoi(y.Partitions)
	switch {
	case !(y.ScaleData > 0) || math.IsInf(y.ScaleData, 0):
		return fault.Misuse(fmt.Sprintf("--scale-data %g", y.ScaleData), "must be greater than 0", "write 10 for ten times the run's data")
	case y.Partitions != ByCore && y.Partitions != "auto" && (number != nil || parts < 1):
		return fault.Misuse("--partitions "+y.Partitions, "is not a number of partitions", "write cores, auto or 8")
	case y.Bytes != "" && y.ScaleData != 1:
		return fault.Misuse("--bytes and --scale-data", "cannot be combined", "omit one of them")
	}
	if err := y.checkDisks(); err != nil {
		return err
	}
	_, err := y.bytesToRead(1)
	return err
}

// checkDisks checks that the disks are described exactly once.
func (y *ForecastRequest) checkDisks() error {
	switch {
	case len(y.Paths) > 0 && (y.Disks > 0 || len(y.ReadMBps) > 0):
		return fault.Misuse("--paths", "cannot be combined with --disks and --read-mbps", "omit --paths, or both others")
	case len(y.Paths) == 0 && y.Measure:
		return fault.Misuse("--measure-disks", "needs --paths", "add --paths, one on each disk")
	case len(y.Paths) == 0 && len(y.ReadMBps) == 0:
		return fault.Misuse("--read-mbps", "is missing", "name the MB that a disk reads per second, or measure them: --paths A,B --measure-disks")
	case len(y.ReadMBps) > 1 && y.Disks > 0 && y.Disks != len(y.ReadMBps):
		return fault.Misuse("--read-mbps", fmt.Sprintf("names %d rates for %d disks", len(y.ReadMBps), y.Disks), "name one rate for all, or one for each disk")
	}
	for _, mbps := range y.ReadMBps {
		if !(mbps > 0) || math.IsInf(mbps, 0) {
			return fault.Misuse(fmt.Sprintf("--read-mbps %g", mbps), "must be greater than 0", "write 200 for 200 MB per second")
		}
	}
	return nil
}

// rates returns the MB per second that each of the user's disks reads, and how each was measured.
func (y *ForecastRequest) rates(ctx context.Context) (mbps []float64, how []string, err error) {
	if len(y.ReadMBps) == 1 {
		return slices.Repeat(y.ReadMBps, max(y.Disks, 1)), nil, nil
	}
	mbps = y.ReadMBps
	meter := newRateMeter(y.Progress, len(y.Paths), measure.ReadRate)
	for _, path := range y.Paths {
		if y.Measure {
			rate, warning, err := meter.read(ctx, path)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				return nil, nil, &fault.Error{File: path, Problem: "cannot be measured", Err: err, Cure: "name a folder that can be written, or use --read-mbps"}
			}
			mbps, how = append(mbps, rate/1e6), append(how, path+": "+warning)
			continue
		}
		d, ok := lab.DiskOf(path)
		if !ok {
			return nil, nil, fault.Misuse("--paths "+path, "is not a disk of barograph lab disks, so its rate is unknown", "add --measure-disks")
		}
		mbps, how = append(mbps, d.Measured.ReadMBps), append(how, path+": measured by barograph lab disks")
	}
	return mbps, how, nil
}

// bytesToRead returns the bytes that a query will read, if it read inRun bytes in the run.
func (y *ForecastRequest) bytesToRead(inRun int64) (int64, error) {
	if y.Bytes == "" {
		return int64(float64(inRun) * y.ScaleData), nil
	}
	n, err := humanize.ParseBytes(y.Bytes)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return 0, fault.Misuse("--bytes "+y.Bytes, "is not an amount of data", "write 800GB, 1.2TB or 1TiB")
	}
	return int64(n), nil
}

// setup returns a setup with a number of disks, whose rates are those of mbps in turn.
func (y *ForecastRequest) setup(r *run.Run, disks int, mbps []float64, bytes int64) Setup {
	s := Setup{Cores: y.Cores, Workers: y.Workers, Bytes: bytes}
	if s.Cores == 0 {
		s.Cores = max(r.Machine.UsableCPUs, 1)
	}
	for i := range disks {
		s.Bandwidth = append(s.Bandwidth, mbps[i%len(mbps)])
	}
	switch n, err := strconv.Atoi(y.Partitions); {
	case err == nil:
		s.Partitions = n
	case y.Partitions == ByCore:
		s.Partitions = (s.Cores + disks - 1) / disks * disks
	default:
		s.Partitions, _ = AutoPartitions([]Node{{Cores: s.Cores, Memory: r.Machine.Memory, Paths: disks}})
	}
	return s
}

// question forecasts the times of a query.
func (y *ForecastRequest) question(r *run.Run, samples []run.Sample, query string, mbps []float64) (out QueryForecast, err error) {
	m, err := ModelOf(r, samples, query)
	if err != nil {
		return out, err
	}
	out.Query = query
	worst := slices.MaxFunc(m.Fits, func(a, b run.ScanFit) int { return cmp.Compare(math.Abs(a.Residual), math.Abs(b.Residual)) })
	out.worstFit = fmt.Sprintf("%s (%+.0f %%)", ConfigName(&r.Scan.Configs[worst.Config]), 100*worst.Residual)
	m.Fits = nil // the fits belong to the run
	out.Model = &m.ScanModel
	bytes, err := y.bytesToRead(m.Bytes)
	if err != nil {
		return out, err
	}
	at := func(disks int) (SetupForecast, error) {
		s := y.setup(r, disks, mbps, bytes)
		projection, err := m.Forecast(s)
		return SetupForecast{s, projection}, err
	}
	yours, err := at(len(mbps))
	if err != nil {
		return out, err
	}
	out.Requested = &yours
	parallel := yours.Setup.Cores
	if y.Workers > 0 {
		parallel = min(parallel, y.Workers)
	}
	if _, err := strconv.Atoi(y.Partitions); err == nil && y.Workers == 0 {
		parallel = min(parallel, yours.Setup.Partitions)
	}
	out.Enough = m.EnoughDisks(slices.Min(mbps), parallel)
	for _, n := range numbersOfDisks(len(mbps), out.Enough) {
		row, err := at(n)
		if err != nil {
			return out, err
		}
		out.ByDisks = append(out.ByDisks, row)
	}
	return out, nil
}

// minLastRow is the minimum for the last row of the table of disks.
const minLastRow = 8

// numbersOfDisks returns 1, 2, 4, … up to the number of the user's disks and the number of enough disks,
// and these two numbers.
func numbersOfDisks(yours, enough int) []int {
	out := []int{yours}
	if enough <= minLastRow*yours { // a larger number is not realistic
		out = append(out, enough)
	}
	most := max(minLastRow, slices.Max(out))
	for n := 1; n <= most; n *= 2 {
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Text writes sentences, then a table.
func (x *Forecasts) Text(w io.Writer) error {
	fmt.Fprintf(w, "Forecast by the law of %s, measured with %s:\n", x.Run, x.Engine)
	for _, how := range x.How {
		fmt.Fprintln(w, how)
	}
	for _, q := range x.Questions {
		if q.Problem != "" {
			fmt.Fprintf(w, "\n%s: no forecast: %s\n", q.Query, q.Problem)
			continue
		}
		fmt.Fprintf(w, "\n%s, %s of %s, %s, %s, %.4g GB read:\n%s\n", q.Query, run.CountOf(len(x.Bandwidth), "disk"), rates(x.Bandwidth),
			run.CountOf(q.Requested.Setup.Partitions, "partition"), run.CountOf(q.Requested.Setup.Cores, "core"), float64(q.Requested.Setup.Bytes)/1e9, q.Requested.Forecast)
		if q.Requested.Forecast.TooWide() {
			fmt.Fprintln(w, q.narrower())
		}
		fmt.Fprintln(w, x.request.enoughText(&q, x.Bandwidth))
		if q.Model.WorkMeasured {
			fmt.Fprintln(w, "Disks limited all measured configurations. The time of the cores is the counted processor time; more data will not need more per byte.")
		}
		fmt.Fprintf(w, "The error of the law in the run was %.1f %% (root mean square of medians).\n", 100*q.Model.RelativeError)
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
			fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s%s\t\n", q.Query, len(row.Setup.Bandwidth), row.Setup.Partitions, seconds, row.Forecast.Interval(), row.Forecast.Bound, sure)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(x.HeldOut) > 0 {
		fmt.Fprintln(w, "\n"+HeldOutWords(x.HeldOut))
	}
	fmt.Fprintln(w, "\nThe 95 % interval is that of a single cold scan. It assumes that the law is valid, cores as fast as the run's, and the same engine.")
	return nil
}

// narrower says how to get an interval of at most ±40 %.
func (q *QueryForecast) narrower() string {
	if len(q.Requested.Forecast.Beyond) > 0 {
		return "Measure nearer to these disks and data: run a sweep there, or name values within the measured range."
	}
	return fmt.Sprintf("The results of the run differ too much from the law: run it again with more cold repetitions on a quiet machine. The largest difference: %s.", q.worstFit)
}

// enoughText describes how many disks keep the cores busy.
func (y *ForecastRequest) enoughText(q *QueryForecast, mbps []float64) string {
	slowest := []float64{slices.Min(mbps)}
	if parts, err := strconv.Atoi(y.Partitions); err == nil && q.Enough > parts {
		return fmt.Sprintf("Disks of %s are the limit for any number of disks: a query reads at most %s at once.", rates(slowest), run.CountOf(parts, "partition"))
	}
	workers := run.CountOf(q.Requested.Setup.Cores, "core")
	if y.Workers > 0 && y.Workers < q.Requested.Setup.Cores {
		workers = run.CountOf(y.Workers, "worker")
	}
	return fmt.Sprintf("%d disks of %s are enough; with more, %s are the limit.", q.Enough, rates(slowest), workers)
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
