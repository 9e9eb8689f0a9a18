package mariadb

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// statusTotals are the totals of SHOW GLOBAL STATUS that tell what a run cost,
// and their units. Times of row locks are in ms.
var statusTotals = []struct{ name, unit string }{ //nolint:gochecknoglobals // a constant table
	{"Questions", ""},
	{"Com_stmt_execute", ""},
	{"Handler_commit", ""},
	{"Bytes_received", "bytes"},
	{"Bytes_sent", "bytes"},
	{"Innodb_rows_read", ""},
	{"Innodb_rows_inserted", ""},
	{"Innodb_rows_updated", ""},
	{"Innodb_rows_deleted", ""},
	{"Innodb_buffer_pool_read_requests", ""},
	{"Innodb_buffer_pool_reads", ""},
	{"Innodb_buffer_pool_pages_flushed", ""},
	{"Innodb_buffer_pool_wait_free", ""},
	{"Innodb_data_written", "bytes"},
	{"Innodb_os_log_written", "bytes"},
	{"Innodb_data_fsyncs", ""},
	{"Innodb_log_waits", ""},
	{"Innodb_row_lock_waits", ""},
	{"Innodb_row_lock_time", "ms"},
	{"Innodb_deadlocks", ""},
	{"wsrep_flow_control_paused_ns", ""},
	{"wsrep_local_cert_failures", ""},
}

// metrics reads the server's status, and what its sessions at work are doing;
// of a cluster, those of the node that is written to.
func (d *database) metrics(ctx context.Context) (engine.Metrics, error) {
	var m engine.Metrics
	found := map[string]float64{}
	err := sqlengine.Standard{Over: d.writes}.Rows(ctx, "SHOW GLOBAL STATUS", nil, func(row []any) error {
		var name, value string
		err := sqlengine.Scan(row, &name, &value)
		if v, no := strconv.ParseFloat(value, 64); no == nil {
			found[strings.ToLower(name)] = v
		}
		return err
	})
	if err != nil {
		return m, err
	}
	for _, t := range statusTotals {
		if v, ok := found[strings.ToLower(t.name)]; ok {
			m.Totals = append(m.Totals, engine.Total{Name: t.name, Unit: t.unit, Value: v})
		}
	}
	m.Sessions, err = d.sessions(ctx, int(found["innodb_row_lock_current_waits"]))
	return m, err
}

// sessions groups the sessions at work by their state. The list of processes
// does not tell who waits for a row; the status does tell how many.
func (d *database) sessions(ctx context.Context, locked int) ([]engine.Session, error) {
	var out []engine.Session
	err := sqlengine.Standard{Over: d.writes}.Rows(ctx, `SELECT coalesce(STATE, ''), count(*) FROM information_schema.PROCESSLIST
		WHERE COMMAND IN ('Query', 'Execute') AND ID <> connection_id() GROUP BY 1 ORDER BY 2 DESC, 1`, nil, func(row []any) error {
		var s engine.Session
		if err := sqlengine.Scan(row, &s.What, &s.Count); err != nil {
			return err
		}
		s.Wait = waitKind(s.What)
		if s.Wait == engine.OnCPU { // some of these wait for rows
			n := min(locked, s.Count)
			s.Count, locked = s.Count-n, locked-n
			if n > 0 {
				out = append(out, engine.Session{Wait: engine.OnLock, What: "row lock", Count: n})
			}
		}
		if s.What == "" {
			s.What = "running"
		}
		if s.Count > 0 {
			out = append(out, s)
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b engine.Session) int { return b.Count - a.Count })
	return out, err
}

// waitKind sorts states of the list of processes (MariaDB's manual, "General
// Thread States"). A commit waits for the log to be flushed.
func waitKind(state string) engine.Wait {
	switch s := strings.ToLower(state); {
	case strings.Contains(s, "lock"):
		return engine.OnLock
	case s == "commit", strings.Contains(s, "flush"):
		return engine.OnDisk
	case strings.Contains(s, "net"), strings.HasPrefix(s, "wsrep"), strings.Contains(s, "certify"):
		return engine.OnNetwork
	}
	return engine.OnCPU
}
