package ycsb

import (
	"time"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/measure/pace"
	"github.com/barograph/barograph/run"
)

// ReportJSON is a report for machines. What is not right has no throughput.
type ReportJSON struct {
	Phase        string              `json:"phase"`
	Engine       string              `json:"engine"`
	Threads      int                 `json:"threads"`
	Ending       pace.Ending         `json:"ending"`
	Operations   int64               `json:"operations"` // that ended, whatever way
	Verdict      run.Verdict         `json:"verdict"`
	Answers      *run.Answers        `json:"answers"`
	Throughput   float64             `json:"throughput_ops_s,omitempty"`
	Reconnects   int64               `json:"reconnects"`
	Outage       time.Duration       `json:"outage_ns"`
	Measurements []Measurement       `json:"measurements"`
	Problems     []Problem           `json:"problems"`
	Warnings     []string            `json:"warnings"`
	Machine      measure.MachineLoad `json:"machine"`
	Server       *run.ServerLoad     `json:"server,omitempty"`
	Right        bool                `json:"right"`
}

// JSON is the report, and its sample, for machines.
func (r *Report) JSON(s run.Sample) ReportJSON {
	out := ReportJSON{
		Phase: "run", Engine: s.Cell.Engine, Threads: r.Threads, Ending: r.Result.Ending, Operations: r.Operations(), Verdict: s.Verdict, Answers: s.Answers,
		Reconnects: r.Reconnects, Outage: r.Outage, Measurements: r.Measurements(), Problems: r.Problems, Warnings: r.Warnings, Right: r.Err() == nil,
	}
	if m := s.Measured(); m != nil {
		out.Throughput, out.Server, out.Machine = m.Throughput, m.Server, m.Machine
	}
	if r.Load {
		out.Phase = "load"
	}
	return out
}
