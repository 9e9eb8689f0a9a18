package run

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"path"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// MixWorkload is the Workload of a run of operation mixes.
const MixWorkload = "ycsb"

// MixCell is the cell of an operation mix on an engine with a number of workers. target is 0 in a
// closed loop; shard is "" if the work is not divided. further are alternating names and values of
// more axes.
func MixCell(engine, layout, mix string, threads int, target float64, shard string, further ...any) Cell {
	axes := []any{"layout", layout, "mix", mix, "threads", threads}
	if target > 0 {
		axes = append(axes, "target_ops_s", target)
	}
	if shard != "" {
		axes = append(axes, "shard", shard)
	}
	return NewCell(MixWorkload, engine, append(axes, further...)...)
}

// Mix is the measurement of operations.
type Mix struct {
	Place        string `json:"place" table:"-"` // place of the engine: embedded, server, memory
	LoadMachines int    `json:"clients"`         // number of machines whose samples were merged
	Ending       string `json:"ending" table:"-"`
	Operations   int64  `json:"operations"` // finished operations, successful or not
	// operations that were due but never started, because the engine does not sustain the target rate
	Unstarted  int64         `json:"unstarted,omitempty"`
	Reconnects int64         `json:"reconnects,omitempty"`
	Outage     time.Duration `json:"outage_ns,omitempty"` // time during which at least one worker had no connection
	// successful operations per second, of all clients together
	Throughput float64    `json:"throughput_ops_s"`
	Response   Latency    `json:"response"`       // of the operations in the groups with InTotal, from when they were due
	Service    Latency    `json:"service"`        // of the same operations, from when they were started
	FaultCost  *FaultCost `json:"cost,omitempty"` // cost of faults; nil = there were none
	Groups     []Group    `json:"groups"`         // by operation and outcome
	// rows that a concurrent load stored; tables that it did not complete are not counted
	ConcurrentRows int64            `json:"concurrent_rows,omitempty" old:"rows_loaded_beside"`
	Interval       time.Duration    `json:"interval_ns" table:"-"`
	Series         []SeriesInterval `json:"series" table:"-"` // beginning with the end of the warm-up
}

// Group is the measurement of one kind of operation with one outcome.
type Group struct {
	Operation string `json:"operation"` // READ
	Outcome   string `json:"outcome"`   // OK
	Count     int64  `json:"count"`
	Records   int64  `json:"records"`
	// InTotal reports whether its times are among those of all operations. A failure is not, and
	// neither is a read that is a part of a read-modify-write.
	InTotal  bool    `json:"in_total" old:"whole"`
	Service  Latency `json:"service"`
	Response Latency `json:"response"`

	ServiceTimes  measure.EncodedHistogram `json:"service_times" table:"-"`
	ResponseTimes measure.EncodedHistogram `json:"response_times" table:"-"`
}

// Latency summarizes a histogram.
type Latency struct {
	Mean time.Duration `json:"mean_ns"`
	measure.Percentiles
}

// Summarize summarizes a histogram.
func Summarize(h *measure.Histogram) Latency { return Latency{h.Mean(), h.Percentiles()} }

// SeriesInterval is one interval of a time series.
type SeriesInterval struct {
	Completed int64         `json:"completed" old:"ended"`
	Failed    int64         `json:"failed,omitempty"`
	Slowest   time.Duration `json:"slowest_ns"` // response time

	// response times of successful operations; only in runs with faults
	P50 time.Duration `json:"p50_ns,omitempty"`
	P95 time.Duration `json:"p95_ns,omitempty"`
	P99 time.Duration `json:"p99_ns,omitempty"`
}

// Usage is the use of resources during a measurement.
type Usage struct {
	Client          measure.ClientLoad  `json:"client"`  // of all clients together
	Machine         measure.MachineLoad `json:"machine"` // of the client's machine
	AvailableMemory uint64              `json:"memory_available_bytes,omitempty"`
	Server          *ServerLoad         `json:"server,omitempty"`  // nil = none, or not known
	Devices         []measure.DiskLoad  `json:"devices,omitempty"` // devices of the queried paths
}

// CPU is the processor time of an answer: that of the client, which includes an embedded engine,
// and that of the server. It is unknown for a server on another machine whose counters do not
// report it.
func (a *Archive) CPU(m *Measured) (spent time.Duration, known bool) {
	spent = m.CPU
	if m.Usage != nil && m.Server != nil {
		cpu, known := m.Server.CPU()
		return spent + cpu, known
	}
	return spent, a.Server == nil && a.Place == "embedded"
}

// ServerLoad is what a server used, and what it reported about itself.
type ServerLoad struct {
	// its processes run on this machine, and Used is measured from them
	Local    bool                `json:"local"`
	Used     measure.ProcessLoad `json:"used"`
	Reported *ReportedLoad       `json:"reported,omitempty" old:"said"` // nil = its counters report nothing
	Counters []Counter           `json:"counters,omitempty" table:"-"`  // under the server's own names
	// what active sessions were found waiting for
	Waits              []SessionWait `json:"waits,omitempty" table:"-"`
	SessionSampleCount int           `json:"session_samples" old:"looks"` // how often sessions were sampled

	SessionSamples []SessionSample `json:"sessions_over_time,omitempty" table:"-"` // each sample of the sessions
	Statements     []Statement     `json:"statements,omitempty" table:"-"`         // those with the longest total time, if the server counts them
}

// SessionSample is one sample of the active sessions.
type SessionSample struct {
	At       time.Duration `json:"at_ns"` // since the end of the warm-up
	Sessions []SessionWait `json:"sessions,omitempty"`
}

// Statement has the server's counters of statements that differ only in their constants.
type Statement struct {
	Text  string        `json:"text"`
	Calls int64         `json:"calls"`
	Time  time.Duration `json:"time_ns"` // of all calls together, in the server
	Rows  int64         `json:"rows"`    // returned or changed
}

// ReportedLoad is what a server used according to its own counters, wherever it runs.
type ReportedLoad struct {
	CPU  time.Duration `json:"cpu_ns" old:"said_cpu_ns"`         // of all its processes and nodes; −1 = not reported, as for Read
	Read int64         `json:"read_bytes" old:"said_read_bytes"` // bytes that the server read from files because its own buffers did not contain them
}

// ReportFunc adapts an engine's counter function; nil if the engine has none.
func ReportFunc[T ~struct {
	CPU  time.Duration
	Read int64
}](spent func(ctx context.Context) (T, error)) func(ctx context.Context) (ReportedLoad, error) {
	if spent == nil {
		return nil
	}
	return func(ctx context.Context) (ReportedLoad, error) {
		s, err := spent(ctx)
		return ReportedLoad(s), err
	}
}

// growthSince is the use since an earlier moment. A counter that decreased was restarted and counts as
// not reported.
func (s ReportedLoad) growthSince(before ReportedLoad) *ReportedLoad {
	if before.CPU < 0 || s.CPU < before.CPU {
		s.CPU, before.CPU = -1, 0
	}
	if before.Read < 0 || s.Read < before.Read {
		s.Read, before.Read = -1, 0
	}
	return &ReportedLoad{s.CPU - before.CPU, s.Read - before.Read}
}

// CPU is the processor time of a server, from its processes or its own counters.
func (s *ServerLoad) CPU() (spent time.Duration, known bool) {
	switch {
	case s.Local:
		return s.Used.CPU, true
	case s.Reported != nil && s.Reported.CPU >= 0:
		return s.Reported.CPU, true
	}
	return 0, false
}

// ServerMeter measures what a server uses.
type ServerMeter struct {
	PIDs   []int32                                         // its processes on this machine
	Report func(ctx context.Context) (ReportedLoad, error) // its own counters; nil = it has none

	processes *measure.ProcessMeter
	before    ReportedLoad
}

// Start begins an interval.
func (w *ServerMeter) Start(ctx context.Context) (err error) {
	if w.Report != nil {
		w.before, err = w.Report(ctx)
	}
	if len(w.PIDs) > 0 {
		w.processes = measure.StartProcesses(ctx, w.PIDs)
	}
	return err
}

// Stop returns the use since Start; nil if neither processes nor counters are known.
func (w *ServerMeter) Stop(ctx context.Context) (*ServerLoad, error) {
	if w.processes == nil && w.Report == nil {
		return nil, nil
	}
	out := &ServerLoad{}
	if w.processes != nil {
		out.Local, out.Used = true, w.processes.Stop(ctx)
	}
	if w.Report == nil {
		return out, nil
	}
	after, err := w.Report(ctx)
	out.Reported = after.growthSince(w.before)
	return out, err
}

// Counter is the growth of a server's counter.
type Counter struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

// SessionWait is one thing that sessions were found waiting for.
type SessionWait struct {
	Kind     string  `json:"kind"` // cpu, lock, disk, network, other
	Event    string  `json:"what"`
	Sessions float64 `json:"sessions"` // average number over the samples
}

// SetTimes stores the times of a group.
func (g *Group) SetTimes(service, response *measure.Histogram) (err error) {
	g.Service, g.Response = Summarize(service), Summarize(response)
	var failed error
	g.ServiceTimes, err = service.Pack()
	g.ResponseTimes, failed = response.Pack()
	return errors.Join(err, failed)
}

// Fault lists the faults that were injected into a server during a mix, and their effects on
// operations. The counts are kept even if the sample has no times because the store was incorrect.
type Fault struct {
	Moments []InjectedFault  `json:"moments"`
	Errors  map[string]int64 `json:"errors,omitempty"` // failed operations, by outcome
	// operations that were due and either failed or were never started
	Lost       int64         `json:"lost"`
	Retries    int64         `json:"retries"`   // repeated attempts of failed operations
	TimedOut   int64         `json:"timed_out"` // abandoned attempts
	Reconnects int64         `json:"reconnects"`
	History    *HistoryCheck `json:"history,omitempty"` // nil = not recorded
}

// InjectedFault is when a fault was injected, counted from the end of the warm-up.
type InjectedFault struct {
	Command  string        `json:"what"` // kill node2
	At       time.Duration `json:"at_ns"`
	Duration time.Duration `json:"took_ns"` // of a start: until the node was ready
	Problem  string        `json:"problem,omitempty"`
	// of the command that injected it: exit status, stdout, stderr
	Output string `json:"output,omitempty" old:"said"`
}

// FaultCost is the cost of faults, counted from the first one.
type FaultCost struct {
	RateBefore         float64       `json:"rate_before_ops_s"`  // successful operations before the first fault
	TimeWithoutSuccess time.Duration `json:"without_service_ns"` // total time without any success
	// RecoveryTime is the time from the first fault to the end of the first second that begins three consecutive seconds
	// with at least 95 % of Rate; −1 = the rate did not recover.
	RecoveryTime time.Duration `json:"back_ns"`
}

// HistoryCheck is the result of checking a history: the calls that clients sent to the store during a run, with their
// responses.
type HistoryCheck struct {
	File       string          `json:"file"` // in the folder; "" = none
	Clients    int             `json:"clients"`
	Operations int             `json:"operations"`
	Unknown    int             `json:"unknown"` // of Operations: those without a response
	Promises   []PromiseResult `json:"promises"`
	Problem    string          `json:"problem,omitempty"` // why it proves nothing
}

// BeforeFault names the interval of a run before the first fault. In it the server must keep its promises even if its
// settings allow data loss after a fault.
const BeforeFault = "before the first fault"

// PromiseResult is whether a promise was kept.
type PromiseResult struct {
	Promise  string `json:"promise"`
	When     string `json:"when,omitempty"` // part of the run that it concerns; "" = all of it
	Promised bool   `json:"promised"`       // the server promised it before the run, by its settings
	Kept     bool   `json:"kept" old:"held"`
	// number of violations; for linearizability, number of keys with one. If it is 0 and Kept is false, the check ran out
	// of time.
	Violations int    `json:"violations,omitempty" old:"broken"`
	Example    string `json:"example,omitempty"`
}

// StoreHistory stores the recorded calls of a history, one per line, as histories/NAMES.jsonl.gz, and returns
// the name of the file; "" if the run is only in memory.
func StoreHistory[T any](f *Folder, calls []T, names ...string) (string, error) {
	if f == nil || f.Dir == "" {
		return "", nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	out, err := json.NewEncoder(z), error(nil)
	for i := range calls {
		err = errors.Join(err, out.Encode(&calls[i]))
	}
	file := path.Join("histories", FileName(names...)+".jsonl.gz")
	return file, errors.Join(err, z.Close(), writeFile(f.Dir, file, b.Bytes()))
}

// PostWorkload is the Workload of a run that posts SHEF values.
const PostWorkload = "post"

// PostCell is the cell of a test of the 2006 report, under a design, by a method. Further axes are
// posters, together (messages per transaction) and, for the live feed, the day.
func PostCell(engine, test, scenario, design, method string, more ...any) Cell {
	return NewCell(PostWorkload, engine, append([]any{"test", test, "scenario", scenario, "design", design, "method", method}, more...)...)
}

// DecodeCounts counts the result of decoding all products once.
type DecodeCounts struct {
	Products int64 `json:"products"`
	Values   int64 `json:"values"`
	// values that could not be decoded; barograph shef decode --problems lists them
	Lost     int64 `json:"lost"`
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
}

// Posting is the measurement of posting a set of SHEF products.
type Posting struct {
	Products int64     `json:"products"`
	Values   int64     `json:"values"`
	Parse    PostTimes `json:"parse"`
	Post     PostTimes `json:"post"`

	RowsRead     int64 `json:"rows_read"`
	RowsInserted int64 `json:"rows_inserted"` // −1 = not reported, likewise below
	RowsUpdated  int64 `json:"rows_updated"`
	Retries      int64 `json:"retries"`
	TableBytes   int64 `json:"table_bytes"`
	IndexBytes   int64 `json:"index_bytes"`
	DeadRows     int64 `json:"dead_rows"`
	// growth of the write-ahead log during the posting, including writes of other clients
	LogBytes int64 `json:"log_bytes"`

	// live feed only: products whose posting started more than one minute late, on the feed's clock
	Late       int64 `json:"late,omitempty"`
	Maintained bool  `json:"maintained,omitempty" old:"upkeep"` // the database was maintained after the posting
}

// PostTimes are times of products. If products were posted together, each has the time of all of
// them.
type PostTimes struct {
	Total time.Duration `json:"total_ns"`
	Latency
	Times measure.EncodedHistogram `json:"times,omitempty" table:"-"`
}

// Rate is values per second of posting, without parsing, as in the 2006 report.
func (f *Posting) Rate() float64 {
	if f.Post.Total <= 0 {
		return 0
	}
	return float64(f.Values) / f.Post.Total.Seconds()
}
