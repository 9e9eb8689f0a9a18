package valkey

import (
	"context"
	"strconv"

	"github.com/barograph/barograph/engine"
)

// infoTotals are the counts of INFO that tell what a run cost, their units, and
// what their values are to be multiplied with. The server computes in one
// thread, whose CPU time stands by itself.
var infoTotals = []struct { //nolint:gochecknoglobals // a constant table
	name, unit string
	factor     float64
}{
	{"total_commands_processed", "", 1},
	{"total_reads_processed", "", 1},
	{"total_writes_processed", "", 1},
	{"total_net_input_bytes", "bytes", 1},
	{"total_net_output_bytes", "bytes", 1},
	{"total_error_replies", "", 1},
	{"keyspace_hits", "", 1},
	{"keyspace_misses", "", 1},
	{"evicted_keys", "", 1},
	{"total_forks", "", 1},
	{"aof_delayed_fsync", "", 1},
	{"used_cpu_user", "ms", 1000},
	{"used_cpu_sys", "ms", 1000},
	{"used_cpu_user_main_thread", "ms", 1000},
	{"used_cpu_sys_main_thread", "ms", 1000},
}

// metrics adds up what the nodes that hold slots tell of themselves. Clients
// wait for nothing but the thread, so that there are no sessions to tell.
func (s *store) metrics(ctx context.Context) (m engine.Metrics, err error) {
	nodes, err := s.masters(ctx)
	if err != nil {
		return m, failed(ctx, err)
	}
	sums, told := map[string]float64{}, map[string]bool{}
	for _, node := range nodes {
		text, err := node.Info(ctx).Result()
		if err != nil {
			return m, failed(ctx, err)
		}
		info := fields(text)
		for _, t := range infoTotals {
			if v, err := strconv.ParseFloat(info[t.name], 64); err == nil {
				sums[t.name] += v * t.factor
				told[t.name] = true
			}
		}
	}
	for _, t := range infoTotals {
		if told[t.name] {
			m.Totals = append(m.Totals, engine.Total{Name: t.name, Unit: t.unit, Value: sums[t.name]})
		}
	}
	return m, nil
}
