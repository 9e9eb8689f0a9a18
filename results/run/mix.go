package run

import (
	"errors"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// MixWorkload is the Workload of a run of operation mixes.
const MixWorkload = "ycsb"

// MixCell is the cell of an operation mix on an engine with a number of workers. target is 0 in a
// closed loop; shard is "" if the work is not divided. moreAxes are alternating names and values.
func MixCell(engine, layout, mix string, threads int, target float64, shard string, moreAxes ...any) Cell {
	axes := []any{"layout", layout, "mix", mix, "threads", threads}
	if target > 0 {
		axes = append(axes, "target_ops_s", target)
	}
	if shard != "" {
		axes = append(axes, "shard", shard)
	}
	return NewCell(MixWorkload, engine, append(axes, moreAxes...)...)
}

// Mix is the measurement of a mix of operations.
type Mix struct {
	Place        string `json:"place" table:"-"`  // as Archive.Place
	LoadMachines int    `json:"clients"`          // number of machines whose samples were merged
	Ending       string `json:"ending" table:"-"` // what ended the run, see pace.Ending
	Operations   int64  `json:"operations"`       // finished operations, successful or not
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
	// InTotal reports whether Mix.Response and Mix.Service include the times of the group. They include no failures. They
	// include the reads and updates within read-modify-writes only if the mix also has reads or updates of its own,
	// because both kinds then share a group.
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

// Summarize returns the mean and the percentiles of a histogram.
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

// SetTimes stores the times of a group.
func (g *Group) SetTimes(service, response *measure.Histogram) (err error) {
	g.Service, g.Response = Summarize(service), Summarize(response)
	var failed error
	g.ServiceTimes, err = service.Pack()
	g.ResponseTimes, failed = response.Pack()
	return errors.Join(err, failed)
}
