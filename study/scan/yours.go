package scan

import (
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

// Yours are the disks and the data of a user, who asks how long scans will take.
type Yours struct {
	Queries    []string // none = all that have cold times
	Paths      []string // folders, one on each disk, instead of Disks and ReadMBps
	Measure    bool     // how fast each path is read: 64 MiB
	Disks      int      // 0 = as many as rates or paths are named
	ReadMBps   []float64
	Cores      int    // 0 = the run's
	Workers    int    // 0 = one for each partition
	Partitions string // ByCore, auto, or a number
	Bytes      string // that the question reads: 1.2TB; "" = the run's
	ScaleData  float64
	HoldOut    bool // forecast the run's own configurations, too, each from the others
}

// ByCore gives each core a worker, and each disk as many parts as any other.
const ByCore = "cores"

// Forecasts are the times that the law of a run gives.
type Forecasts struct {
	Run       string          `json:"run"`
	Engine    string          `json:"engine"`
	Bandwidth []float64       `json:"bandwidth_mb_per_s"` // of each disk
	How       []string        `json:"bandwidth_how,omitempty"`
	Questions []QuestionTimes `json:"questions"`
	HeldOut   []HeldOut       `json:"held_out,omitempty"`

	yours *Yours
}

// QuestionTimes is what is forecast of a question.
type QuestionTimes struct {
	Query   string       `json:"query"`
	Problem string       `json:"problem,omitempty"` // why there is no law; then the rest is empty
	Law     *run.ScanLaw `json:"law,omitempty"`
	At      *ForecastAt  `json:"at,omitempty"`
	Enough  int          `json:"enough_disks,omitempty"` // of the slowest one's rate keep the cores busy
	ByDisks []ForecastAt `json:"by_disks,omitempty"`
}

// ForecastAt is a forecast of a setup.
type ForecastAt struct {
	Setup    Setup    `json:"setup"`
	Forecast Forecast `json:"forecast"`
}

// Forecasts reads a run and forecasts by its law. Beside what could be forecast
// there is an error where a question that was named has no law.
func (y *Yours) Forecasts(dir string) (*Forecasts, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	if r.Workload != run.ScanWorkload {
		return nil, &fault.Error{File: dir, Problem: fmt.Sprintf("holds no run of barograph scan: it is one of %q", r.Workload), Cure: "name a run folder, as `barograph scan sweep --out` writes it"}
	}
	if err := y.check(samples); err != nil {
		return nil, err
	}
	out := &Forecasts{Run: dir, Engine: strings.TrimSpace(r.Archives[0].Product + " " + r.Archives[0].Version), yours: y}
	if out.Bandwidth, out.How, err = y.rates(); err != nil {
		return nil, err
	}
	queries := y.Queries
	if len(queries) == 0 {
		queries = ColdQueries(samples)
	}
	if len(queries) == 0 { // what is reported of any question is why there is none
		_, err := ModelOf(r, samples, "any question")
		return nil, err
	}
	var none []error
	for _, q := range queries {
		t, err := y.question(r, samples, q, out.Bandwidth)
		if err != nil {
			t = QuestionTimes{Query: q, Problem: err.Error()}
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
	case len(y.Queries) > 0: // what was named by its name is missed
		return out, errors.Join(none...)
	}
	return out, nil
}

// check looks for what makes no sense.
func (y *Yours) check(samples []run.Sample) error {
	var asked []string
	for i := range samples {
		if q := samples[i].Cell.At("query"); !slices.Contains(asked, q) {
			asked = append(asked, q)
		}
	}
	for _, q := range y.Queries {
		if !slices.Contains(asked, q) {
			return fault.Misuse("--query "+q, "was not asked in the run", "choose of "+strings.Join(asked, ", "))
		}
	}
	parts, number := strconv.Atoi(y.Partitions)
	switch {
	case !(y.ScaleData > 0) || math.IsInf(y.ScaleData, 0):
		return fault.Misuse(fmt.Sprintf("--scale-data %g", y.ScaleData), "is no number above 0", "10 is ten times the run's data")
	case y.Partitions != ByCore && y.Partitions != "auto" && (number != nil || parts < 1):
		return fault.Misuse("--partitions "+y.Partitions, "is no number of partitions", "write cores, auto or 8")
	case y.Bytes != "" && y.ScaleData != 1:
		return fault.Misuse("--bytes and --scale-data", "tell the amount of data twice", "name one of them")
	}
	if err := y.checkDisks(); err != nil {
		return err
	}
	_, err := y.amount(1)
	return err
}

// checkDisks looks whether the disks are named, once.
func (y *Yours) checkDisks() error {
	switch {
	case len(y.Paths) > 0 && (y.Disks > 0 || len(y.ReadMBps) > 0):
		return fault.Misuse("--paths", "names the disks, and so do --disks and --read-mbps", "name one or the other")
	case len(y.Paths) == 0 && y.Measure:
		return fault.Misuse("--measure-disks", "has nothing to measure", "name --paths, one on each disk")
	case len(y.Paths) == 0 && len(y.ReadMBps) == 0:
		return fault.Misuse("--read-mbps", "is not given", "name what a disk reads per second, or have it measured: --paths A,B --measure-disks")
	case len(y.ReadMBps) > 1 && y.Disks > 0 && y.Disks != len(y.ReadMBps):
		return fault.Misuse("--read-mbps", fmt.Sprintf("names %d rates for %d disks", len(y.ReadMBps), y.Disks), "name one rate for all, or one for each disk")
	}
	for _, mbps := range y.ReadMBps {
		if !(mbps > 0) || math.IsInf(mbps, 0) {
			return fault.Misuse(fmt.Sprintf("--read-mbps %g", mbps), "is no rate above 0", "200 is 200 MB per second")
		}
	}
	return nil
}

// rates are what each of the user's disks reads in a second, in MB, and how that is known.
func (y *Yours) rates() (mbps []float64, how []string, err error) {
	if len(y.ReadMBps) == 1 {
		return slices.Repeat(y.ReadMBps, max(y.Disks, 1)), nil, nil
	}
	mbps = y.ReadMBps
	for _, path := range y.Paths {
		if y.Measure {
			rate, warning, err := measure.ReadRate(path)
			if err != nil {
				return nil, nil, &fault.Error{File: path, Problem: "cannot be measured", Err: err, Cure: "name a folder that can be written, or --read-mbps"}
			}
			mbps, how = append(mbps, rate/1e6), append(how, path+": "+warning)
			continue
		}
		d, ok := lab.DiskOf(path)
		if !ok {
			return nil, nil, fault.Misuse("--paths "+path, "is no disk of barograph lab disks: its rate is not known", "add --measure-disks")
		}
		mbps, how = append(mbps, d.Measured.ReadMBps), append(how, path+": measured by barograph lab disks")
	}
	return mbps, how, nil
}

// amount is how many bytes a question reads that read so many in the run.
func (y *Yours) amount(inRun int64) (int64, error) {
	if y.Bytes == "" {
		return int64(float64(inRun) * y.ScaleData), nil
	}
	n, err := humanize.ParseBytes(y.Bytes)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return 0, fault.Misuse("--bytes "+y.Bytes, "is no amount of data", "write 800GB, 1.2TB or 1TiB")
	}
	return int64(n), nil
}

// setup is a setup of so many disks, which are repeated in turn.
func (y *Yours) setup(r *run.Run, disks int, mbps []float64, bytes int64) Setup {
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
		s.Partitions, _ = Auto([]Node{{Cores: s.Cores, Memory: r.Machine.Memory, Paths: disks}})
	}
	return s
}

// question tells the times of a question.
func (y *Yours) question(r *run.Run, samples []run.Sample, query string, mbps []float64) (out QuestionTimes, err error) {
	m, err := ModelOf(r, samples, query)
	if err != nil {
		return out, err
	}
	out.Query = query
	m.Fits = nil // they are those of the run
	out.Law = &m.ScanLaw
	bytes, err := y.amount(m.Bytes)
	if err != nil {
		return out, err
	}
	at := func(disks int) (ForecastAt, error) {
		s := y.setup(r, disks, mbps, bytes)
		projection, err := m.Forecast(s)
		return ForecastAt{s, projection}, err
	}
	yours, err := at(len(mbps))
	if err != nil {
		return out, err
	}
	out.At = &yours
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

// mostDisks ends the table of disks where neither the user's nor enough are more.
const mostDisks = 8

// numbersOfDisks are 1, 2, 4, … as far as the user's disks and those that are
// enough, and these themselves.
func numbersOfDisks(yours, enough int) []int {
	out := []int{yours}
	if enough <= mostDisks*yours { // so many are no plan
		out = append(out, enough)
	}
	most := max(mostDisks, slices.Max(out))
	for n := 1; n <= most; n *= 2 {
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Text writes sentences, then a table.
func (x *Forecasts) Text(w io.Writer) error {
	fmt.Fprintf(w, "By the law of %s, measured with %s:\n", x.Run, x.Engine)
	for _, how := range x.How {
		fmt.Fprintln(w, how)
	}
	for _, q := range x.Questions {
		if q.Problem != "" {
			fmt.Fprintf(w, "\n%s: no forecast: %s\n", q.Query, q.Problem)
			continue
		}
		fmt.Fprintf(w, "\n%s, %s of %s, %s, %s, %.4g GB read:\n%s\n", q.Query, run.Several(len(x.Bandwidth), "disk"), rates(x.Bandwidth),
			run.Several(q.At.Setup.Partitions, "partition"), run.Several(q.At.Setup.Cores, "core"), float64(q.At.Setup.Bytes)/1e9, q.At.Forecast)
		fmt.Fprintln(w, x.yours.enough(&q, x.Bandwidth))
		if q.Law.Counted {
			fmt.Fprintln(w, "Disks decided wherever it was measured: what the cores take is the processor time that was counted, which more data will not exceed.")
		}
		fmt.Fprintf(w, "The law was off by %.1f %% (root mean square of medians) where it was measured.\n", 100*q.Law.Error)
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "\nquestion\tdisks\tpartitions\tseconds\t95 %\tdecided by\t")
	for _, q := range x.Questions {
		for _, row := range q.ByDisks {
			sure := ""
			if row.Forecast.Sure < measure.Confidence {
				sure = " (not sure)"
			}
			if len(row.Forecast.Beyond) > 0 {
				sure += ", beyond what was measured"
			}
			fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s%s\t\n", q.Query, len(row.Setup.Bandwidth), row.Setup.Partitions, row.Forecast.Value(), row.Forecast.Interval(), row.Forecast.Bound, sure)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(x.HeldOut) > 0 {
		fmt.Fprintln(w, "\n"+HeldOutWords(x.HeldOut))
	}
	fmt.Fprintln(w, "\n95 %: for a single cold scan, while the law holds; cores as fast as the run's, the same engine.")
	return nil
}

// enough says how many disks are.
func (y *Yours) enough(q *QuestionTimes, mbps []float64) string {
	slowest := []float64{slices.Min(mbps)}
	if parts, err := strconv.Atoi(y.Partitions); err == nil && q.Enough > parts {
		return fmt.Sprintf("Disks of %s decide however many there are: no more than the %s can be read at once.", rates(slowest), run.Several(parts, "partition"))
	}
	workers := run.Several(q.At.Setup.Cores, "core")
	if y.Workers > 0 && y.Workers < q.At.Setup.Cores {
		workers = run.Several(y.Workers, "worker")
	}
	return fmt.Sprintf("Enough disks of %s: %d; with more, %s decide.", rates(slowest), q.Enough, workers)
}

// rates are MB a second: "200 MB/s", or all where they differ.
func rates(mbps []float64) string {
	var all []string
	for _, r := range mbps {
		all = append(all, fmt.Sprintf("%.4g", r))
	}
	return strings.Join(slices.Compact(all), ", ") + " MB/s"
}

// bandwidths are all of them, exactly: "100;99.5".
func bandwidths(mbps []float64) string {
	var all []string
	for _, r := range mbps {
		all = append(all, strconv.FormatFloat(r, 'g', -1, 64))
	}
	return strings.Join(all, ";")
}
