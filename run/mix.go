package run

import (
	"errors"
	"time"

	"github.com/barograph/barograph/measure"
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
	Unstarted  int64         `json:"unstarted,omitempty"` // due and never begun: the engine does not hold the target
	Reconnects int64         `json:"reconnects,omitempty"`
	Outage     time.Duration `json:"outage_ns,omitempty"` // during which a worker had no connection
	Throughput float64       `json:"throughput_ops_s"`    // operations that succeeded, of all clients together
	Response   Latency       `json:"response"`            // of all operations, from when they were due
	Service    Latency       `json:"service"`             // likewise, from when they were begun
	Cost       *Cost         `json:"cost,omitempty"`      // of faults; nil = there was none
	Groups     []Group       `json:"groups"`              // by operation and outcome
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

// ServerLoad is what a server spent and told of itself.
type ServerLoad struct {
	Local    bool                `json:"local"` // its processes are this machine's, and Used is theirs
	Used     measure.ProcessLoad `json:"used"`
	Counters []Counter           `json:"counters,omitempty" table:"-"` // in the server's own words
	Waits    []Waiting           `json:"waits,omitempty" table:"-"`    // what sessions at work were found waiting for
	Looks    int                 `json:"looks"`                        // how often they were looked at
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
