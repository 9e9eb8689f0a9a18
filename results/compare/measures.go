package compare

import (
	"time"

	"github.com/barograph/barograph/results/run"
)

// quantity is a number of a measurement that is compared between runs.
type quantity struct {
	name, unit   string
	moreIsBetter bool // more is better
	value        func(m *run.Measured) float64
}

// quantitiesOf returns the quantities of a cell, for any workload.
func quantitiesOf(c run.Cell) []quantity {
	p99 := quantity{"99th percentile", "ms", false, valueOfMix(func(x *run.Mix) float64 { return ms(x.Response.P99) })}
	switch {
	case c.Workload == run.MixWorkload && c.Number("target_ops_s") > 0: // the rate is an input
		return []quantity{p99}
	case c.Workload == run.MixWorkload:
		return []quantity{{"throughput", "ops/s", true, valueOfMix(func(x *run.Mix) float64 { return x.Throughput })}, p99}
	case c.Workload == run.PostWorkload:
		return []quantity{{"rate", "values/s", true, func(m *run.Measured) float64 {
			if m.Posting == nil {
				return 0
			}
			return m.Rate()
		}}}
	case c.Value("during") != "": // a killed node
		return []quantity{{"longest silence", "ms", false, func(m *run.Measured) float64 { return ms(m.LongestGap) }}}
	}
	return []quantity{{"time", "ms", false, func(m *run.Measured) float64 { return ms(m.Total) }}}
}

// valueOfMix reads a number of an operation mix; 0 if the sample measured none.
func valueOfMix(value func(x *run.Mix) float64) func(m *run.Measured) float64 {
	return func(m *run.Measured) float64 {
		if m.Mix == nil {
			return 0
		}
		return value(m.Mix)
	}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
