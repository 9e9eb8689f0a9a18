package cassandra

import (
	"context"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/engine"
)

// counts are the virtual tables of a node that count what it has done, and of
// which rows; the totals have this order. Reads and writes of a node for itself
// are one for each copy; those of system.paxos are the price of conditional
// statements.
var counts = []struct { //nolint:gochecknoglobals // a constant table
	name, text string   // of the total, and the query of a name and a count
	rows       []string // those that tell what a run cost; nil = all, added up
}{
	{"cql", "SELECT name, value FROM system_views.cql_metrics", []string{"prepared_statements_executed", "regular_statements_executed"}},
	{"completed_tasks", "SELECT name, completed_tasks FROM system_views.thread_pools", []string{
		"Native-Transport-Requests", "ReadStage", "MutationStage", "RequestResponseStage", "MemtableFlushWriter", "CompactionExecutor",
	}},
	{"blocked_tasks", "SELECT name, blocked_tasks_all_time FROM system_views.thread_pools", []string{"Native-Transport-Requests"}},
	{"cache requests", "SELECT name, request_count FROM system_views.caches", []string{"keys"}},
	{"cache hits", "SELECT name, hit_count FROM system_views.caches", []string{"keys"}},
	{"local_reads", "SELECT keyspace_name, count FROM system_views.local_read_latency", nil},
	{"local_writes", "SELECT keyspace_name, count FROM system_views.local_write_latency", nil},
	{"local_writes of system.paxos", "SELECT keyspace_name, count FROM system_views.local_write_latency WHERE keyspace_name = 'system' AND table_name = 'paxos'", nil},
}

// metrics adds up what the nodes that are up tell of themselves; ScyllaDB tells
// none of it. What requests wait for is not told: there are no sessions.
func (s *store) metrics(ctx context.Context) (m engine.Metrics, err error) {
	nodes := s.up()
	for _, c := range counts {
		found := map[string]float64{}
		told := false
		for _, node := range nodes {
			err := s.add(ctx, node, c.text, found)
			if absent(err) {
				break
			}
			if err != nil {
				return m, failed(ctx, err)
			}
			told = true
		}
		if !told {
			continue
		}
		if c.rows == nil {
			sum := 0.0
			for _, v := range found {
				sum += v
			}
			m.Totals = append(m.Totals, engine.Total{Name: c.name, Value: sum})
		}
		for _, row := range c.rows {
			m.Totals = append(m.Totals, engine.Total{Name: c.name + ": " + row, Value: found[row]})
		}
	}
	return m, nil
}

// add asks one node for names and counts.
func (s *store) add(ctx context.Context, node *gocql.HostInfo, text string, to map[string]float64) error {
	rows := s.session.Query(text).SetHostID(node.HostID()).Consistency(gocql.One).IterContext(ctx)
	for row := map[string]any{}; rows.MapScan(row); row = map[string]any{} {
		name, value := "", 0.0
		for _, v := range row {
			switch v := v.(type) {
			case string:
				name = v
			case int64:
				value = float64(v)
			case int:
				value = float64(v)
			case float64:
				value = v
			}
		}
		to[name] += value
	}
	return rows.Close()
}
