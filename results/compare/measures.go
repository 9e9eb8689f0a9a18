package compare

import (
	"time"

	"github.com/barograph/barograph/results/run"
)

// quantity is the part of a sample that is compared.
type quantity struct {
	name, unit   string
	moreIsBetter bool // more is better
	value        func(m *run.Measured) float64
}

// quantitiesOf returns the quantities of a cell, for any workload.
func quantitiesOf(c run.Cell) []quantity {
	switch {
	case c.Workload == run.MixWorkload && c.Number("target_ops_s") > 0: // the rate is an input
		return []quantity{{"99th percentile", "ms", false, valueOfMix(func(x *run.Mix) float64 { return ms(x.Response.P99) })}}
	case c.Workload == run.MixWorkload:
		return []quantity{
			{"throughput", "ops/s", true, valueOfMix(func(x *run.Mix) float64 { return x.Throughput })},
			{"99th percentile", "ms", false, valueOfMix(func(x *run.Mix) float64 { return ms(x.Response.P99) })},
		}
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

func valueOfMix(of func(x *run.Mix) float64) func(m *run.Measured) float64 {
	return func(m *run.Measured) float64 {
		if m.Mix == nil {
			return 0
		}
		return of(m.Mix)
	}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
