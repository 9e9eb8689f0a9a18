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

// Mixed is the Workload of a run of mixes of operations.
const Mixed = "ycsb"

// MixCell is a mix of operations on an engine with so many workers; target is 0
// in a closed loop, shard "" where the work is not divided; further axes are names and values in turn.
func MixCell(engine, layout, mix string, threads int, target float64, shard string, further ...any) Cell {
	asked := []any{"layout", layout, "mix", mix, "threads", threads}
	if target > 0 {
		asked = append(asked, "target_ops_s", target)
	}
	if shard != "" {
		asked = append(asked, "shard", shard)
	}
	return NewCell(Mixed, engine, append(asked, further...)...)
}

// Mix is what was measured of operations.
type Mix struct {
	Place      string        `json:"place" table:"-"` // of the engine: embedded, server, memory
	Clients    int           `json:"clients"`         // machines whose samples were merged into this one
	Ending     string        `json:"ending" table:"-"`
	Operations int64         `json:"operations"`          // that ended, whatever way
	Unstarted  int64         `json:"unstarted,omitempty"` // due and never started: the engine does not hold the target
	Reconnects int64         `json:"reconnects,omitempty"`
	Outage     time.Duration `json:"outage_ns,omitempty"`          // during which a worker had no connection
	Throughput float64       `json:"throughput_ops_s"`             // operations that succeeded, of all clients together
	Response   Latency       `json:"response"`                     // of all operations, from when they were due
	Service    Latency       `json:"service"`                      // likewise, from when they were started
	Cost       *Cost         `json:"cost,omitempty"`               // of faults; nil = there was none
	Groups     []Group       `json:"groups"`                       // by operation and outcome
	Loaded     int64         `json:"rows_loaded_beside,omitempty"` // by a load that went on meanwhile, in tables that were stored whole
	Interval   time.Duration `json:"interval_ns" table:"-"`
	Series     []Slice       `json:"series" table:"-"` // from the end of the warm-up on
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

	ServiceTimes  measure.Packed `json:"service_times" table:"-"`
	ResponseTimes measure.Packed `json:"response_times" table:"-"`
}

// Latency is a histogram in short.
type Latency struct {
	Mean time.Duration `json:"mean_ns"`
	measure.Percentiles
}

// Short is a histogram in short.
func Short(h *measure.Histogram) Latency { return Latency{h.Mean(), h.Percentiles()} }

// Slice is one interval of a series.
type Slice struct {
	Ended  int64         `json:"ended"`
	Failed int64         `json:"failed,omitempty"`
	Slow   time.Duration `json:"slowest_ns"` // response

	P50 time.Duration `json:"p50_ns,omitempty"` // likewise, of what succeeded; in runs with faults alone
	P95 time.Duration `json:"p95_ns,omitempty"`
	P99 time.Duration `json:"p99_ns,omitempty"`
}

// Used is what was used meanwhile.
type Used struct {
	Client  measure.ClientLoad  `json:"client"`  // of all clients together
	Machine measure.MachineLoad `json:"machine"` // of the client's machine
	Free    uint64              `json:"memory_available_bytes,omitempty"`
	Server  *ServerLoad         `json:"server,omitempty"`  // nil = none, or not known
	Devices []measure.DiskLoad  `json:"devices,omitempty"` // of the paths that were asked
}

// CPU is the processor time of an answer: the client's, in which an embedded
// engine works, and the server's. It is unknown for a server elsewhere whose
// counters do not tell it.
func (a *Archive) CPU(m *Measured) (spent time.Duration, known bool) {
	spent = m.CPU
	if m.Used != nil && m.Server != nil {
		cpu, known := m.Server.CPU()
		return spent + cpu, known
	}
	return spent, a.Server == nil && a.Place == "embedded"
}

// ServerLoad is what a server spent and reported of itself.
type ServerLoad struct {
	Local    bool                `json:"local"` // its processes are this machine's, and Used is theirs
	Used     measure.ProcessLoad `json:"used"`
	Said     *Said               `json:"said,omitempty"`               // nil = its counters tell nothing
	Counters []Counter           `json:"counters,omitempty" table:"-"` // in the server's own words
	Waits    []Waiting           `json:"waits,omitempty" table:"-"`    // what sessions at work were found waiting for
	Looks    int                 `json:"looks"`                        // how often they were looked at

	Over       []Look      `json:"sessions_over_time,omitempty" table:"-"` // of the looks, each by itself
	Statements []Statement `json:"statements,omitempty" table:"-"`         // those that took longest, as far as the server counts them
}

// Look is the sessions that were found at work at one moment.
type Look struct {
	At       time.Duration `json:"at_ns"` // from the end of the warm-up
	Sessions []Waiting     `json:"sessions,omitempty"`
}

// Statement is what the server counted of statements that differ in their constants alone.
type Statement struct {
	Text  string        `json:"text"`
	Calls int64         `json:"calls"`
	Time  time.Duration `json:"time_ns"` // of all calls together, in the server
	Rows  int64         `json:"rows"`    // returned or changed
}

// Said is what a server spent by its own counters, wherever it runs.
type Said struct {
	CPU  time.Duration `json:"said_cpu_ns"`     // of all its processes and nodes; −1 = it does not tell, also below
	Read int64         `json:"said_read_bytes"` // from files, past its own buffers
}

// Says has an engine's counters as a run keeps them; nil where it has none.
func Says[T ~struct {
	CPU  time.Duration
	Read int64
}](spent func(ctx context.Context) (T, error)) func(ctx context.Context) (Said, error) {
	if spent == nil {
		return nil
	}
	return func(ctx context.Context) (Said, error) {
		s, err := spent(ctx)
		return Said(s), err
	}
}

// since is what was spent since an earlier moment. A count that has fallen was
// restarted, and tells nothing.
func (s Said) since(before Said) *Said {
	if before.CPU < 0 || s.CPU < before.CPU {
		s.CPU, before.CPU = -1, 0
	}
	if before.Read < 0 || s.Read < before.Read {
		s.Read, before.Read = -1, 0
	}
	return &Said{s.CPU - before.CPU, s.Read - before.Read}
}

// CPU is the processor time of a server, by its processes or by its own
// counters.
func (s *ServerLoad) CPU() (spent time.Duration, known bool) {
	switch {
	case s.Local:
		return s.Used.CPU, true
	case s.Said != nil && s.Said.CPU >= 0:
		return s.Said.CPU, true
	}
	return 0, false
}

// Watch reads what a server spends.
type Watch struct {
	PIDs []int32                                 // of its processes, as far as they are this machine's
	Said func(ctx context.Context) (Said, error) // its own counters; nil = it has none

	processes *measure.ProcessMeter
	before    Said
}

// Begin begins an interval.
func (w *Watch) Begin(ctx context.Context) (err error) {
	if w.Said != nil {
		w.before, err = w.Said(ctx)
	}
	if len(w.PIDs) > 0 {
		w.processes = measure.StartProcesses(ctx, w.PIDs)
	}
	return err
}

// End returns what was spent since Begin; nil where nobody tells.
func (w *Watch) End(ctx context.Context) (*ServerLoad, error) {
	if w.processes == nil && w.Said == nil {
		return nil, nil
	}
	out := &ServerLoad{}
	if w.processes != nil {
		out.Local, out.Used = true, w.processes.Stop(ctx)
	}
	if w.Said == nil {
		return out, nil
	}
	after, err := w.Said(ctx)
	out.Said = after.since(w.before)
	return out, err
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

// Times keeps the times of a group.
func (g *Group) Times(service, response *measure.Histogram) (err error) {
	g.Service, g.Response = Short(service), Short(response)
	var failed error
	g.ServiceTimes, err = service.Pack()
	g.ResponseTimes, failed = response.Pack()
	return errors.Join(err, failed)
}

// Fault is what was done to a server while a mix was asked of it, and what
// became of the operations. Counts are known also where nothing is measured, as
// the store was not correct.
type Fault struct {
	Moments    []Moment         `json:"moments"`
	Errors     map[string]int64 `json:"errors,omitempty"` // operations that failed, by what became of them
	Lost       int64            `json:"lost"`             // operations that were due, and failed or were never started
	Retries    int64            `json:"retries"`          // further tries of operations that had failed
	TimedOut   int64            `json:"timed_out"`        // tries that were given up
	Reconnects int64            `json:"reconnects"`
	History    *History         `json:"history,omitempty"` // nil = none was recorded
}

// Moment is when something was done, from the end of the warm-up.
type Moment struct {
	What    string        `json:"what"` // kill node2
	At      time.Duration `json:"at_ns"`
	Took    time.Duration `json:"took_ns"` // of a start, until the node served
	Problem string        `json:"problem,omitempty"`
	Said    string        `json:"said,omitempty"` // by the command that did it: exit status, stdout, stderr
}

// Cost is what faults cost, counted from the first on.
type Cost struct {
	Rate    float64       `json:"rate_before_ops_s"`  // that succeeded
	Without time.Duration `json:"without_service_ns"` // in all, in which nothing succeeded
	Back    time.Duration `json:"back_ns"`            // until three seconds in a row, the first of them counted, had 95 % of the rate before; -1 = never
}

// History is what became of a history that was recorded beside a run.
type History struct {
	File       string `json:"file"` // in the folder; "" = none
	Clients    int    `json:"clients"`
	Operations int    `json:"operations"`
	Unknown    int    `json:"unknown"` // of these, those that were not answered
	Promises   []Kept `json:"promises"`
	Problem    string `json:"problem,omitempty"` // why it proves nothing
}

// BeforeFault is the part of a run up to the first fault: what is promised of it
// does not depend on what outlives a fault.
const BeforeFault = "before the first fault"

// Kept is what became of a promise.
type Kept struct {
	Promise  string `json:"promise"`
	When     string `json:"when,omitempty"` // part of the run that it is about; "" = all of it
	Promised bool   `json:"promised"`       // by the server, as it was set up, before the run
	Held     bool   `json:"held"`
	Broken   int    `json:"broken,omitempty"` // times, or keys; 0 and not held = not decided in time
	Example  string `json:"example,omitempty"`
}

// KeepHistory keeps the calls of a history, a line each, as histories/NAMES.jsonl.gz,
// and returns the name of the file; "" in memory.
func KeepHistory[T any](f *Folder, calls []T, names ...string) (string, error) {
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
	return file, errors.Join(err, z.Close(), write(f.Dir, file, b.Bytes()))
}

// Posted is the Workload of a run that posts SHEF values.
const Posted = "post"

// PostCell is a test of the report of 2006, under a design, by a method. What is
// beside these: posters, together (messages in a transaction); of the live feed the day.
func PostCell(engine, test, scenario, design, method string, more ...any) Cell {
	return NewCell(Posted, engine, append([]any{"test", test, "scenario", scenario, "design", design, "method", method}, more...)...)
}

// Decoded is what decoding came to, of the products once.
type Decoded struct {
	Products int64 `json:"products"`
	Values   int64 `json:"values"`
	Lost     int64 `json:"lost"` // not decoded; barograph shef decode --problems says which
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
}

// Posting is what was measured of a posting.
type Posting struct {
	Products int64     `json:"products"`
	Values   int64     `json:"values"`
	Parse    PostTimes `json:"parse"`
	Post     PostTimes `json:"post"`

	RowsRead     int64 `json:"rows_read"`
	RowsInserted int64 `json:"rows_inserted"` // −1 = not reported, as below
	RowsUpdated  int64 `json:"rows_updated"`
	Retries      int64 `json:"retries"`
	TableBytes   int64 `json:"table_bytes"`
	IndexBytes   int64 `json:"index_bytes"`
	DeadRows     int64 `json:"dead_rows"`
	LogBytes     int64 `json:"log_bytes"` // of the write-ahead log, written meanwhile, by others too

	Late   int64 `json:"late,omitempty"`   // products of a day of the live feed that were started more than a minute of the feed's time after their time
	Upkeep bool  `json:"upkeep,omitempty"` // maintenance followed
}

// PostTimes are times of products. Of products that were posted together each
// has the time of all.
type PostTimes struct {
	Total time.Duration `json:"total_ns"`
	Latency
	Times measure.Packed `json:"times,omitempty" table:"-"`
}

// Rate is values a second of posting, as the report has it: parsing left out.
func (f *Posting) Rate() float64 {
	if f.Post.Total <= 0 {
		return 0
	}
	return float64(f.Values) / f.Post.Total.Seconds()
}
