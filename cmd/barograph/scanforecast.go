package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"barograph/fault"
	"barograph/lab"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/scan"
)

// forecastFlags are the user's disks and data.
type forecastFlags struct {
	env            *env
	queries, paths []string
	disks          int
	readMBps       []float64
	measureDisks   bool
	cores, workers int
	partitions     string
	bytes          string
	scaleData      float64
}

// partsByCores is the default of --partitions.
const partsByCores = "cores"

func newScanForecast(e *env) *cobra.Command {
	f := &forecastFlags{env: e}
	c := &cobra.Command{
		Use:   "forecast RUN --disks N --read-mbps MBPS",
		Short: "How long a scan will take on your own disks and data, by the law of a run",
		Long: `Fit the law of the times again to the cold answers of a run (start + max(bytes ÷ (share drawn × the disks' rates), work ×
bytes ÷ cores)), and tell by it how long the questions will take on other disks, other numbers of them, other amounts of
data. The run needs cold times of six placements or more on disks that were measured: a sweep with --cold.

Your disks are given by --disks and --read-mbps (one rate for all, or one for each disk), or measured: --paths A,B
--measure-disks reads 64 MiB from each path, one after the other. Paths on disks of barograph lab disks need no measuring.

The interval is one for a single cold scan, not for a mean: of a hundred, about 95 lie in it, as long as the law holds. It
joins how uncertain the law's parameters are (a bootstrap over the repetitions, and one over the placements; the wider
counts) and the errors that single answers had about the law where it was measured. That your cores are as fast as the
run's, and the engine and its version the same, is taken for granted; what goes beyond all that was measured is named.

--partitions cores gives each core a worker and each disk as many parts as any other: the least multiple of the disks
that is not below the cores. auto is the published rule of barograph scan.`,
		Example: `  barograph scan forecast runs/20261121-120000-scan --query scan --disks 6 --read-mbps 200
  barograph scan forecast runs/20261121-120000-scan --disks 12 --read-mbps 550 --cores 32 --bytes 1.2TB
  barograph scan forecast runs/20261121-120000-scan --paths /d1,/d2 --measure-disks --scale-data 10`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0]) },
	}
	c.Flags().StringSliceVar(&f.queries, "query", nil, "questions (default: all that have cold times)")
	c.Flags().IntVar(&f.disks, "disks", 0, "disks (default: as many as rates or paths are named)")
	c.Flags().Float64SliceVar(&f.readMBps, "read-mbps", nil, "MB (10⁶ bytes) that a disk reads per second: one rate for all, or one for each")
	c.Flags().StringSliceVar(&f.paths, "paths", nil, "folders, one on each of your disks, instead of --disks and --read-mbps")
	c.Flags().BoolVar(&f.measureDisks, "measure-disks", false, "measure how fast each path is read: 64 MiB")
	c.Flags().IntVar(&f.cores, "cores", 0, "cores that the engine may use (default: the run's)")
	c.Flags().IntVar(&f.workers, "workers", 0, "workers of an answer (default: one for each partition)")
	c.Flags().StringVar(&f.partitions, "partitions", partsByCores, "cores, auto, or a number of partitions")
	c.Flags().StringVar(&f.bytes, "bytes", "", "bytes that the question reads from the disks: 800GB, 1.2TB, 1TiB (default: the run's)")
	c.Flags().Float64Var(&f.scaleData, "scale-data", 1, "so many times the bytes that the question read in the run")
	complete(c, "partitions", func() []string { return []string{partsByCores, "auto"} })
	return c
}

// forecasts are what is printed.
type forecasts struct {
	Run       string           `json:"run"`
	Engine    string           `json:"engine"`
	Bandwidth []float64        `json:"bandwidth_mb_per_s"` // of each disk
	How       []string         `json:"bandwidth_how,omitempty"`
	Questions []questionsTimes `json:"questions"`
}

// questionsTimes is what is told of a question.
type questionsTimes struct {
	Query   string       `json:"query"`
	Problem string       `json:"problem,omitempty"` // why there is no law; then the rest is empty
	Law     *run.ScanLaw `json:"law,omitempty"`
	At      *forecastAt  `json:"at,omitempty"`
	Enough  int          `json:"enough_disks,omitempty"` // of the slowest one's rate keep the cores busy
	ByDisks []forecastAt `json:"by_disks,omitempty"`
}

// forecastAt is a forecast of a setup.
type forecastAt struct {
	Setup    scan.Setup    `json:"setup"`
	Forecast scan.Forecast `json:"forecast"`
}

func (f *forecastFlags) run(dir string) error {
	r, err := run.ReadScans(dir)
	if err != nil {
		return &fault.Error{File: dir, Problem: "holds no run of barograph scan", Err: err, Cure: "name a run folder, as `barograph scan sweep --out` writes it"}
	}
	if err := f.check(r); err != nil {
		return usage(err)
	}
	out := &forecasts{Run: dir, Engine: strings.TrimSpace(r.Product + " " + r.Version)}
	if out.Bandwidth, out.How, err = f.rates(); err != nil {
		return err
	}
	queries := f.queries
	if len(queries) == 0 {
		queries = scan.ColdQueries(r)
	}
	if len(queries) == 0 { // what is told of any question is why there is none
		_, err := scan.ModelOf(r, "any question")
		return err
	}
	var none []error
	for _, q := range queries {
		t, err := f.question(r, q, out.Bandwidth)
		if err != nil {
			t = questionsTimes{Query: q, Problem: err.Error()}
			none = append(none, err)
		}
		out.Questions = append(out.Questions, t)
	}
	if len(none) == len(queries) {
		return errors.Join(none...)
	}
	if f.env.json {
		err = f.env.printJSON(out)
	} else {
		err = f.print(out)
	}
	if len(f.queries) > 0 { // what was named by its name is missed
		err = errors.Join(append(none, err)...)
	}
	return err
}

// check looks for what makes no sense.
func (f *forecastFlags) check(r *run.Scans) error {
	bad := func(setting, problem, cure string) error {
		return &fault.Error{Setting: setting, Problem: problem, Cure: cure}
	}
	var asked []string
	for i := range r.Points {
		if q := r.Points[i].Query; !slices.Contains(asked, q) {
			asked = append(asked, q)
		}
	}
	for _, q := range f.queries {
		if !slices.Contains(asked, q) {
			return bad("--query "+q, "was not asked in the run", "choose of "+strings.Join(asked, ", "))
		}
	}
	parts, number := strconv.Atoi(f.partitions)
	switch {
	case !(f.scaleData > 0) || math.IsInf(f.scaleData, 0):
		return bad(fmt.Sprintf("--scale-data %g", f.scaleData), "is no number above 0", "10 is ten times the run's data")
	case f.partitions != partsByCores && f.partitions != "auto" && (number != nil || parts < 1):
		return bad("--partitions "+f.partitions, "is no number of partitions", "write cores, auto or 8")
	case f.bytes != "" && f.scaleData != 1:
		return bad("--bytes and --scale-data", "tell the amount of data twice", "name one of them")
	case len(f.paths) > 0 && (f.disks > 0 || len(f.readMBps) > 0):
		return bad("--paths", "names the disks, and so do --disks and --read-mbps", "name one or the other")
	case len(f.paths) == 0 && f.measureDisks:
		return bad("--measure-disks", "has nothing to measure", "name --paths, one on each disk")
	case len(f.paths) == 0 && len(f.readMBps) == 0:
		return bad("--read-mbps", "is not given", "name what a disk reads per second, or have it measured: --paths A,B --measure-disks")
	case len(f.readMBps) > 1 && f.disks > 0 && f.disks != len(f.readMBps):
		return bad("--read-mbps", fmt.Sprintf("names %d rates for %d disks", len(f.readMBps), f.disks), "name one rate for all, or one for each disk")
	}
	for _, mbps := range f.readMBps {
		if !(mbps > 0) || math.IsInf(mbps, 0) {
			return bad(fmt.Sprintf("--read-mbps %g", mbps), "is no rate above 0", "200 is 200 MB per second")
		}
	}
	_, err := f.amount(1)
	return err
}

// rates are what each of the user's disks reads in a second, in MB, and how that is known.
func (f *forecastFlags) rates() (mbps []float64, how []string, err error) {
	if len(f.paths) == 0 {
		if len(f.readMBps) == 1 {
			return slices.Repeat(f.readMBps, max(f.disks, 1)), nil, nil
		}
		return f.readMBps, nil, nil
	}
	for _, path := range f.paths {
		if f.measureDisks {
			rate, told, err := measure.ReadRate(path)
			if err != nil {
				return nil, nil, &fault.Error{File: path, Problem: "cannot be measured", Err: err, Cure: "name a folder that can be written, or --read-mbps"}
			}
			mbps, how = append(mbps, rate/1e6), append(how, path+": "+told)
			continue
		}
		d, ok := lab.DiskOf(path)
		if !ok {
			return nil, nil, usage(&fault.Error{Setting: "--paths " + path, Problem: "is no disk of barograph lab disks: its rate is not known", Cure: "add --measure-disks"})
		}
		mbps, how = append(mbps, d.Measured.ReadMBps), append(how, path+": measured by barograph lab disks")
	}
	return mbps, how, nil
}

// amount is how many bytes a question reads that read so many in the run.
func (f *forecastFlags) amount(inRun int64) (int64, error) {
	if f.bytes == "" {
		return int64(float64(inRun) * f.scaleData), nil
	}
	parse := units.FromHumanSize
	if strings.ContainsAny(f.bytes, "iI") { // TiB
		parse = units.RAMInBytes
	}
	n, err := parse(f.bytes)
	if err != nil || n <= 0 {
		return 0, &fault.Error{Setting: "--bytes " + f.bytes, Problem: "is no amount of data", Cure: "write 800GB, 1.2TB or 1TiB"}
	}
	return n, nil
}

// setup is a setup of so many disks, which are repeated in turn.
func (f *forecastFlags) setup(r *run.Scans, disks int, mbps []float64, bytes int64) scan.Setup {
	s := scan.Setup{Cores: f.cores, Workers: f.workers, Bytes: bytes}
	if s.Cores == 0 {
		s.Cores = max(r.Machine.UsableCPUs, 1)
	}
	for i := range disks {
		s.Bandwidth = append(s.Bandwidth, mbps[i%len(mbps)])
	}
	switch n, err := strconv.Atoi(f.partitions); {
	case err == nil:
		s.Partitions = n
	case f.partitions == partsByCores:
		s.Partitions = (s.Cores + disks - 1) / disks * disks
	default:
		s.Partitions, _ = scan.Auto([]scan.Node{{Cores: s.Cores, Memory: r.Machine.Memory, Paths: disks}})
	}
	return s
}

// question tells the times of a question.
func (f *forecastFlags) question(r *run.Scans, query string, mbps []float64) (out questionsTimes, err error) {
	m, err := scan.ModelOf(r, query)
	if err != nil {
		return out, err
	}
	out.Query = query
	out.Law = &run.ScanLaw{Query: query, Phase: run.Cold, Drawn: m.Drawn, Work: m.Work, Start: m.Start, Told: m.Told, Error: m.Error}
	bytes, err := f.amount(m.Bytes)
	if err != nil {
		return out, err
	}
	at := func(disks int) (forecastAt, error) {
		s := f.setup(r, disks, mbps, bytes)
		told, err := m.Forecast(s)
		return forecastAt{s, told}, err
	}
	yours, err := at(len(mbps))
	if err != nil {
		return out, err
	}
	out.At = &yours
	parallel := yours.Setup.Cores
	if f.workers > 0 {
		parallel = min(parallel, f.workers)
	}
	if _, err := strconv.Atoi(f.partitions); err == nil && f.workers == 0 {
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

// print prints sentences, then a table.
func (f *forecastFlags) print(x *forecasts) error {
	w := f.env.stdout
	fmt.Fprintf(w, "By the law of %s, measured with %s:\n", x.Run, x.Engine)
	for _, how := range x.How {
		fmt.Fprintln(w, how)
	}
	for _, q := range x.Questions {
		if q.Problem != "" {
			fmt.Fprintf(w, "\n%s: no forecast: %s\n", q.Query, q.Problem)
			continue
		}
		fmt.Fprintf(w, "\n%s, %s of %s, %s, %s, %.4g GB read:\n%s\n", q.Query, several(len(x.Bandwidth), "disk"), rates(x.Bandwidth),
			several(q.At.Setup.Partitions, "partition"), several(q.At.Setup.Cores, "core"), float64(q.At.Setup.Bytes)/1e9, q.At.Forecast)
		fmt.Fprintln(w, f.enough(&q, x.Bandwidth))
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
	fmt.Fprintln(w, "\n95 %: for a single cold scan, while the law holds; cores as fast as the run's, the same engine.")
	return nil
}

// enough says how many disks are.
func (f *forecastFlags) enough(q *questionsTimes, mbps []float64) string {
	slowest := []float64{slices.Min(mbps)}
	if parts, err := strconv.Atoi(f.partitions); err == nil && q.Enough > parts {
		return fmt.Sprintf("Disks of %s decide however many there are: no more than the %s can be read at once.", rates(slowest), several(parts, "partition"))
	}
	workers := several(q.At.Setup.Cores, "core")
	if f.workers > 0 && f.workers < q.At.Setup.Cores {
		workers = several(f.workers, "worker")
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

// several is a number of things: "1 disk", "6 disks".
func several(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
