package ycsb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// Measurement is one line of YCSB's output.
type Measurement struct {
	Metric      string  `json:"metric"`
	Measurement string  `json:"measurement"`
	Value       float64 `json:"value"`

	isWhole bool // the value is a whole number
}

// Measurements returns the report in YCSB's terms and order. If results are wrong, missing or
// unchecked, it has only counts.
func (r *Report) Measurements() []Measurement {
	var out []Measurement
	count := func(metric, measurement string, n int64) {
		out = append(out, Measurement{metric, measurement, float64(n), true})
	}
	number := func(metric, measurement string, x float64) {
		out = append(out, Measurement{metric, measurement, x, false})
	}
	timed := r.timed()
	if timed {
		count("OVERALL", "RunTime(ms)", r.Result.Elapsed.Milliseconds())
		number("OVERALL", "Throughput(ops/sec)", r.Throughput())
	}
	if r.Config.Target > 0 {
		count("OVERALL", "Unstarted", r.Result.Unstarted)
	}
	if n := r.Operations(); !timed || n != r.Succeeded() || r.Reconnects > 0 {
		count("OVERALL", "Attempts", n)
		count("OVERALL", "Succeeded", r.Succeeded())
		count("OVERALL", "Reconnects", r.Reconnects)
		count("OVERALL", "Outage(ms)", r.Outage.Milliseconds())
	}
	if r.Retries > 0 {
		count("OVERALL", "Retries", r.Retries)
	}
	if r.Resume {
		count("INSERT", "Existing", r.Skipped)
	}
	for kind, name := range kinds() {
		out = r.operation(out, name, r.Result.Groups[kind])
	}
	if t := r.Transfers; t != nil {
		name := kinds()[opTransfer]
		count(name, "Conflicts", t.Aborted)
		count(name, "Unknown", t.Unknown)
		count(name, "Sum", t.Sum)
		count(name, "AccountsOff", t.Unexplained)
	}
	if timed && r.Cleanup.Count() > 0 {
		out = r.latencies(out, "CLEANUP", r.Cleanup)
	}
	// YCSB lists each garbage collector, then their sum. Go has one collector.
	for _, x := range []struct{ count, suffix string }{{"TOTAL_GCS_Go", "_Go"}, {"TOTAL_GCs", ""}} {
		count(x.count, "Count", r.Client.GCs)
		count("TOTAL_GC_TIME"+x.suffix, "Time(ms)", r.Client.GCPause.Milliseconds())
		number("TOTAL_GC_TIME_%"+x.suffix, "Time(%)", 100*share(r.Client.GCPause, r.Client.Wall))
	}
	return out
}

func share(part, total time.Duration) float64 {
	if total <= 0 {
		return 0
	}
	return float64(part) / float64(total)
}

// operation appends one kind of operation: the times of the successful ones, the number of each outcome,
// and the times of the failed ones.
func (r *Report) operation(out []Measurement, name string, groups []*pace.OutcomeTimes) []Measurement {
	failed, counts := map[string]*pace.OutcomeTimes{}, []Measurement(nil)
	var order []string
	for status, word := range statuses() {
		g := groups[status]
		if g == nil {
			continue
		}
		counts = append(counts, Measurement{name, "Return=" + word, float64(g.RecordCount), true})
		if status == statusOK || status == statusDeleted {
			continue
		}
		suffix := "FAILED"
		if r.Config.EachError || status == statusRetried {
			suffix = word
		}
		all := failed[suffix]
		if all == nil {
			all = &pace.OutcomeTimes{Service: measure.NewHistogram(), Response: measure.NewHistogram()}
			failed[suffix] = all
			order = append(order, suffix)
		}
		_ = all.Service.Merge(g.Service) // both have the same range
		_ = all.Response.Merge(g.Response)
	}
	if len(counts) == 0 {
		return out
	}
	if g := groups[statusOK]; g != nil {
		out = r.times(out, name, g, counts)
		if g.RecordCount != g.Count {
			out = append(out, Measurement{name, "Records", float64(g.RecordCount), true})
		}
	} else {
		out = append(out, Measurement{name, "Operations", 0, true})
		out = append(out, counts...)
	}
	for _, suffix := range order {
		out = r.times(out, name+"-"+suffix, failed[suffix], nil)
	}
	return out
}

// times appends the requested times; counts follow the first of them.
func (r *Report) times(out []Measurement, name string, g *pace.OutcomeTimes, counts []Measurement) []Measurement {
	if r.Config.Times != "intended" {
		out = append(r.latencies(out, name, g.Service), counts...)
	}
	if r.Config.Times != "op" {
		out = r.latencies(out, "Intended-"+name, g.Response)
		if r.Config.Times == "intended" {
			out = append(out, counts...)
		}
	}
	return out
}

func (r *Report) latencies(out []Measurement, name string, h *measure.Histogram) []Measurement {
	micro := func(d time.Duration) float64 { return float64(d.Microseconds()) }
	out = append(out, Measurement{name, "Operations", float64(h.Count()), true})
	if !r.timed() {
		return out
	}
	out = append(out,
		Measurement{name, "AverageLatency(us)", float64(h.Mean()) / 1000, false},
		Measurement{name, "MinLatency(us)", micro(h.Min()), true},
		Measurement{name, "MaxLatency(us)", micro(h.Max()), true})
	for _, p := range r.Config.Percentiles {
		n, err := strconv.ParseFloat(p, 64)
		if err != nil {
			continue // the property was checked
		}
		out = append(out, Measurement{name, ordinal(p) + "PercentileLatency(us)", micro(h.At(n)), true})
	}
	return out
}

// ordinal writes 50 as 50th, 99.9 as it is.
func ordinal(p string) string {
	n, err := strconv.Atoi(p)
	if err != nil {
		return p
	}
	switch {
	case n%10 == 1 && n%100 != 11:
		return p + "st"
	case n%10 == 2 && n%100 != 12:
		return p + "nd"
	case n%10 == 3 && n%100 != 13:
		return p + "rd"
	}
	return p + "th"
}

// WriteText writes the report as YCSB does: [GROUP], measure, value.
func (r *Report) WriteText(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, m := range r.Measurements() {
		value := strconv.FormatFloat(m.Value, 'f', -1, 64)
		if !m.isWhole && !strings.Contains(value, ".") {
			value += ".0"
		}
		fmt.Fprintf(w, "[%s], %s, %s\n", m.Metric, m.Measurement, value)
	}
	return w.Flush()
}

// logged is an interval of a run, for WriteLogs.
type logged struct {
	from, to time.Duration // since the end of the warm-up
	groups   [][]*pace.OutcomeTimes
}

// WriteLogs writes an HdrHistogram log for each kind of operation that succeeded: service times
// and, if requested, response times, with a line for each status interval, as YCSB does, or for each second of a run
// with faults. A run whose times may not be shown (see timed) has none.
func (r *Report) WriteLogs() (err error) {
	if !r.timed() {
		return nil
	}
	service := func(g *pace.OutcomeTimes) *measure.Histogram { return g.Service }
	response := func(g *pace.OutcomeTimes) *measure.Histogram { return g.Response }
	for kind, name := range kinds() {
		if r.Result.Groups[kind][statusOK] == nil {
			continue
		}
		if r.Config.Times != "intended" {
			err = errors.Join(err, r.writeLog(name, kind, service))
		}
		if r.Config.Times != "op" {
			err = errors.Join(err, r.writeLog("Intended-"+name, kind, response))
		}
	}
	return err
}

func (r *Report) writeLog(name string, kind int, times func(g *pace.OutcomeTimes) *measure.Histogram) (err error) {
	f, err := os.Create(r.Config.HdrPath + name + ".hdr")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	begin := r.Result.Started.Add(time.Duration(r.Config.Warmup) * time.Second)
	w, err := measure.NewLogWriter(f, begin)
	if err != nil {
		return err
	}
	for _, i := range r.intervals {
		if g := i.groups[kind][statusOK]; g != nil {
			x := measure.Interval{Tag: name, Start: begin.Add(i.from), End: begin.Add(i.to), Histogram: times(g)}
			if err := w.Write(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReportJSON is a report for programs. A run with errors has no throughput.
type ReportJSON struct {
	Phase        string              `json:"phase"`
	Engine       string              `json:"engine"`
	Threads      int                 `json:"threads"`
	Ending       pace.Ending         `json:"ending"`
	Operations   int64               `json:"operations"` // that finished, with any outcome
	Verdict      run.Verdict         `json:"verdict"`
	Answers      *run.Answers        `json:"answers"`
	Throughput   float64             `json:"throughput_ops_s,omitempty"`
	Reconnects   int64               `json:"reconnects"`
	Outage       time.Duration       `json:"outage_ns"`
	Measurements []Measurement       `json:"measurements"`
	Problems     []run.ProblemCount  `json:"problems"`
	Warnings     []string            `json:"warnings"`
	Machine      measure.MachineLoad `json:"machine"`
	Server       *run.ServerLoad     `json:"server,omitempty"`
	Right        bool                `json:"right"`
}

// JSON is the report, and its sample, for machines.
func (r *Report) JSON(s run.Sample) ReportJSON {
	out := ReportJSON{
		Phase: "run", Engine: s.Cell.Engine, Threads: r.Threads, Ending: r.Result.Ending,
		Operations: r.Operations(), Verdict: s.Verdict, Answers: s.Answers,
		Reconnects: r.Reconnects, Outage: r.Outage, Measurements: r.Measurements(),
		Problems: r.Problems, Warnings: r.Warnings, Right: r.Err() == nil,
	}
	if m := s.Measured(); m != nil {
		out.Throughput, out.Server, out.Machine = m.Throughput, m.Server, m.Machine
	}
	if r.Load {
		out.Phase = "load"
	}
	return out
}
