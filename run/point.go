package run

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"barograph/fault"
	"barograph/measure"
)

// Mixed is the Workload of a run of mixes of operations: its folder holds
// points in place of samples.
const Mixed = "ycsb"

// Point is one run of a mix of operations on one engine with one number of
// workers: an element of points.json. What is not right has no times.
type Point struct {
	Mix     string  `json:"mix"`    // workloada
	Engine  string  `json:"engine"` // scheme
	Layout  string  `json:"layout"`
	Place   string  `json:"place"` // embedded, server, memory
	Threads int     `json:"threads"`
	Target  float64 `json:"target_ops_s,omitempty"` // 0 = closed loop
	Rep     int     `json:"rep"`                    // from 1
	Shard   string  `json:"shard,omitempty"`        // 1/3: this client's part of the work
	Clients int     `json:"clients"`                // machines whose points were merged into this one

	Verdict  Verdict   `json:"verdict"` // given by Judge
	Problem  string    `json:"problem,omitempty"`
	Answers  Answers   `json:"answers"`
	Problems []Counted `json:"problems,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`

	Started    time.Time           `json:"started"` // after the warm-up
	Elapsed    time.Duration       `json:"elapsed_ns"`
	Ending     string              `json:"ending"`
	Operations int64               `json:"operations"`          // that ended, whatever way
	Unstarted  int64               `json:"unstarted,omitempty"` // due and never begun: the engine does not hold the target
	Reconnects int64               `json:"reconnects,omitempty"`
	Outage     time.Duration       `json:"outage_ns,omitempty"` // during which a worker had no connection
	Throughput float64             `json:"throughput_ops_s"`    // operations that succeeded, of all clients together
	Response   Latency             `json:"response"`            // of all operations, from when they were due
	Service    Latency             `json:"service"`             // likewise, from when they were begun
	Groups     []Group             `json:"groups"`              // by operation and outcome
	Interval   time.Duration       `json:"interval_ns"`         // of Series
	Series     []Slice             `json:"series"`              // from Started on
	Client     measure.ClientLoad  `json:"client"`              // of all clients together
	Machine    measure.MachineLoad `json:"machine"`             // of the client's machine
	Server     *ServerLoad         `json:"server,omitempty"`    // nil = none, or not known

	judged bool
}

// Answers counts how the answers of a point turned out, and what they were held
// against.
type Answers struct {
	Succeeded int64 `json:"succeeded"`         // operations
	Wrong     int64 `json:"wrong,omitempty"`   // answers that cannot be
	Missing   int64 `json:"missing,omitempty"` // records that must be there, beyond those that are allowed
	Failed    int64 `json:"failed,omitempty"`  // operations: errors, keys that were taken

	Found   int64 `json:"found"`   // reads and scans that were held against the keys and fields that must be there
	Values  int64 `json:"values"`  // of these, those whose every value was compared
	Written int64 `json:"written"` // inserts, updates, deletes: the engine's word
}

// Add adds another client's.
func (a *Answers) Add(o Answers) {
	a.Succeeded, a.Wrong, a.Missing, a.Failed = a.Succeeded+o.Succeeded, a.Wrong+o.Wrong, a.Missing+o.Missing, a.Failed+o.Failed
	a.Found, a.Values, a.Written = a.Found+o.Found, a.Values+o.Values, a.Written+o.Written
}

// Judge gives the point its verdict: it follows from the answers and from the
// error with which the run ended, and nobody else says it. What is not right,
// or of which nothing was checked, loses its times.
func (x *Point) Judge(a Answers, failed error) {
	x.judged, x.Answers, x.Verdict = true, a, Equal
	switch {
	case a.Wrong > 0:
		x.Verdict = Wrong
	case a.Missing > 0 || a.Failed > 0 || failed != nil || a.Succeeded == 0:
		x.Verdict = Failed
	case a.Found == 0:
		x.Verdict, failed = Failed, errors.New("no answer was checked")
	}
	if x.Verdict == Equal {
		return
	}
	if x.Problem = fmt.Sprintf("%d answers are wrong, %d records are missing, %d operations failed, %d succeeded", a.Wrong, a.Missing, a.Failed, a.Succeeded); failed != nil {
		x.Problem = failed.Error()
	}
	x.timeless()
}

// Latency is a histogram in short.
type Latency struct {
	Mean time.Duration `json:"mean_ns"`
	measure.Percentiles
}

// Short is a histogram in short.
func Short(h *measure.Histogram) Latency { return Latency{h.Mean(), h.Percentiles()} }

// Counted is one thing that went wrong, and how often.
type Counted struct {
	What    string `json:"what"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
}

// Group is what was measured of one kind of operation that ended one way.
type Group struct {
	Operation string  `json:"operation"` // READ
	Outcome   string  `json:"outcome"`   // OK
	Count     int64   `json:"count"`
	Records   int64   `json:"records"`
	Whole     bool    `json:"whole"` // its times are among those of all operations; a read that is a part of a read-modify-write, or a failure, is not
	Service   Latency `json:"service"`
	Response  Latency `json:"response"`

	ServiceTimes, ResponseTimes *measure.Histogram `json:"-"` // latency.hlog
}

// Slice is one interval of a point's series.
type Slice struct {
	Ended  int64         `json:"ended"`
	Failed int64         `json:"failed,omitempty"`
	Slow   time.Duration `json:"slowest_ns"` // response
}

// ServerLoad is what a server spent and told of itself during a point.
type ServerLoad struct {
	Local    bool                `json:"local"` // its processes are this machine's, and Used is theirs
	Used     measure.ProcessLoad `json:"used"`
	Counters []Counter           `json:"counters,omitempty"` // in the server's own words
	Waits    []Waiting           `json:"waits,omitempty"`    // what sessions at work were found waiting for
	Looks    int                 `json:"looks"`              // how often they were looked at
}

// Counter is what a count of the server grew by.
type Counter struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

// Waiting is one thing that sessions were found waiting for.
type Waiting struct {
	Kind     string  `json:"kind"` // cpu, lock, disk, network, other
	What     string  `json:"what"`
	Sessions float64 `json:"sessions"` // on average over the looks
}

// Points is a folder of points that is being written, by one goroutine. Each
// point is written as it comes, so that an interrupted run is readable.
type Points struct {
	Dir    string
	Run    Run
	points []*Point
	log    *os.File
	hlog   *measure.LogWriter
}

// CreatePoints makes dir, which must not hold a run yet.
func CreatePoints(dir string, r Run) (*Points, error) {
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		return nil, &fault.Error{File: dir, Problem: "holds a run already", Cure: "name another folder"}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &Points{Dir: dir, Run: r}
	var err error
	if p.log, err = os.Create(filepath.Join(dir, "latency.hlog")); err != nil {
		return nil, err
	}
	if p.hlog, err = measure.NewLogWriter(p.log, r.Started, "barograph "+r.Workload+", run "+r.ID); err != nil {
		return nil, errors.Join(err, p.log.Close())
	}
	return p, p.save()
}

// Add records a point that was judged.
func (p *Points) Add(x *Point) error {
	if !x.judged {
		return errNoProof
	}
	p.points = append(p.points, x)
	if err := p.histograms(len(p.points)-1, x); err != nil {
		return err
	}
	return p.save()
}

// timeless: what is not right is never shown as fast.
func (x *Point) timeless() {
	x.Elapsed, x.Throughput, x.Response, x.Service, x.Series = 0, 0, Latency{}, Latency{}, nil
	x.Client, x.Machine, x.Server = measure.ClientLoad{}, measure.MachineLoad{}, nil
	for i := range x.Groups {
		g := &x.Groups[i]
		g.Service, g.Response, g.ServiceTimes, g.ResponseTimes = Latency{}, Latency{}, nil, nil
	}
}

func tag(point int, g *Group, what string) string {
	return strconv.Itoa(point) + "/" + g.Operation + "/" + g.Outcome + "/" + what
}

// The times of a log of points.
const (
	serviceTimes  = "service"
	responseTimes = "response"
)

func (p *Points) histograms(at int, x *Point) error {
	for i := range x.Groups {
		g := &x.Groups[i]
		for _, h := range []struct {
			what string
			h    *measure.Histogram
		}{{serviceTimes, g.ServiceTimes}, {responseTimes, g.ResponseTimes}} {
			if h.h == nil {
				continue
			}
			err := p.hlog.Write(measure.Interval{Tag: tag(at, g, h.what), Start: x.Started, End: x.Started.Add(x.Elapsed), Histogram: h.h})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// save writes run.json, points.json and results.csv.
func (p *Points) save() error {
	f := Folder{Dir: p.Dir, Run: p.Run}
	return errors.Join(f.Save(), writeJSON(p.Dir, "points.json", p.points), p.csv())
}

// csv writes a row for each operation and outcome of each point, and one for all.
func (p *Points) csv() error {
	path := filepath.Join(p.Dir, "results.csv")
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	err = WritePointsCSV(file, p.points)
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// WritePointsCSV writes points as CSV: a row for all operations of a point, and
// one for each operation and outcome. Times are in microseconds; what is not
// right has none.
func WritePointsCSV(w interface{ Write(p []byte) (int, error) }, points []*Point) error {
	out := csv.NewWriter(w)
	rows := [][]string{strings.Split("mix,engine,layout,threads,target_ops_s,rep,shard,verdict,operation,outcome,count,throughput_ops_s,"+
		"mean_us,p50_us,p90_us,p95_us,p99_us,p99_9_us,max_us,service_p95_us,client_cpu_us_per_op,server_cpu_us_per_op", ",")}
	for _, x := range points {
		n := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		timed := func(v float64) string {
			if x.Verdict != Equal {
				return ""
			}
			return n(v)
		}
		head := []string{x.Mix, x.Engine, x.Layout, strconv.Itoa(x.Threads), n(x.Target), strconv.Itoa(x.Rep), x.Shard, string(x.Verdict)}
		times := func(r, s Latency) (t []string) {
			for _, d := range []time.Duration{r.Mean, r.P50, r.P90, r.P95, r.P99, r.P999, r.Max, s.P95} {
				t = append(t, timed(float64(d)/1000))
			}
			return t
		}
		per := func(d time.Duration) string { return timed(float64(d.Microseconds()) / float64(max(x.Operations, 1))) }
		all := append(append(append([]string{}, head...), "ALL", "", strconv.FormatInt(x.Operations, 10), timed(x.Throughput)), times(x.Response, x.Service)...)
		server := ""
		if x.Server != nil && x.Server.Local {
			server = per(x.Server.Used.CPU)
		}
		rows = append(rows, append(all, per(x.Client.User+x.Client.System), server))
		for _, g := range x.Groups {
			row := append(append(append([]string{}, head...), g.Operation, g.Outcome, strconv.FormatInt(g.Count, 10), ""), times(g.Response, g.Service)...)
			rows = append(rows, append(row, "", ""))
		}
	}
	return out.WriteAll(rows)
}

// Close ends the run.
func (p *Points) Close() error { return errors.Join(p.save(), p.log.Close()) }

// ReadRun reads run.json of a folder.
func ReadRun(dir string) (*Run, error) {
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, &fault.Error{File: dir, Problem: "is no run folder", Err: err, Cure: "name a folder that barograph wrote"}
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, &fault.Error{File: filepath.Join(dir, "run.json"), Err: err}
	}
	if fault.Planted && r.Reps > 9 {
		panic("planted: a run of more than nine repetitions")
	}
	return &r, nil
}

// ReadPoints reads a folder of points. Histograms are read only where they are
// asked for.
func ReadPoints(dir string, histograms bool) (*Run, []*Point, error) {
	r, err := ReadRun(dir)
	if err != nil {
		return nil, nil, err
	}
	if r.Workload != Mixed {
		return nil, nil, &fault.Error{File: dir, Problem: fmt.Sprintf("is a run of %q, not of %s", r.Workload, Mixed), Cure: "name a folder that barograph ycsb wrote"}
	}
	name := filepath.Join(dir, "points.json")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	var points []*Point
	if err := json.Unmarshal(text, &points); err != nil {
		return nil, nil, &fault.Error{File: name, Err: err}
	}
	for _, x := range points {
		x.judged = true // before it was written
		if x.Answers == (Answers{}) && x.Verdict == Equal {
			x.Answers.Succeeded = x.Operations // of an older folder, which does not say what was checked
		}
	}
	if histograms {
		err = readTimes(filepath.Join(dir, "latency.hlog"), points)
	}
	return r, points, err
}

// readTimes gives the groups their histograms.
func readTimes(name string, points []*Point) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	groups := map[string]**measure.Histogram{}
	for at, x := range points {
		for i := range x.Groups {
			g := &x.Groups[i]
			groups[tag(at, g, serviceTimes)], groups[tag(at, g, responseTimes)] = &g.ServiceTimes, &g.ResponseTimes
		}
	}
	for i, err := range measure.ReadLog(file) {
		if err != nil {
			if e, ok := errors.AsType[*fault.Error](err); ok {
				e.File = name
			}
			return err
		}
		to, ok := groups[i.Tag]
		if !ok {
			return &fault.Error{File: name, Problem: "has times of " + i.Tag + ", which points.json does not know"}
		}
		*to = i.Histogram
	}
	for _, x := range points {
		for i := range x.Groups {
			if g := &x.Groups[i]; x.Verdict == Equal && (g.ServiceTimes == nil || g.ServiceTimes.Count() != g.Count) {
				return &fault.Error{File: name, Problem: fmt.Sprintf("does not hold the %d times of %s", g.Count, g.Operation), Cure: "restore the file"}
			}
		}
	}
	return nil
}
