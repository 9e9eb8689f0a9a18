package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// metrics reads the statistics views: totals of the database and of the
// write-ahead log, of pg_stat_statements where it is installed, and what the
// client sessions that are at work wait for. A backend reports its totals when
// it has been idle for a second or ends: they are read after connections are closed.
func (db *database) metrics(ctx context.Context) (engine.Metrics, error) {
	var m engine.Metrics
	for _, q := range totalQueries {
		if err := db.totals(ctx, &m, q); err != nil {
			return m, sqlengine.Failed(ctx, err)
		}
	}
	err := querier{db.pool}.Rows(ctx, `SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
		FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()
		GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`, nil, func(row []any) error {
		var s engine.Session
		var kind, event string
		err := sqlengine.Scan(row, &kind, &event, &s.Count)
		s.Wait, s.What = waitKind(kind, event), kind+":"+event
		if kind == "" {
			s.What = "running"
		}
		m.Sessions = append(m.Sessions, s)
		return err
	})
	return m, err
}

// totalQueries: each gives one row of numbers; a column's name is the total's,
// with its unit behind "__". The first is everywhere, the others may be absent.
var totalQueries = []string{ //nolint:gochecknoglobals // a constant table
	`SELECT xact_commit::float8, xact_rollback::float8, blks_hit::float8, blks_read::float8, tup_fetched::float8, tup_inserted::float8,
		tup_updated::float8, tup_deleted::float8, deadlocks::float8, temp_bytes::float8 AS temp_bytes__bytes, blk_read_time::float8 AS blk_read_time__ms
		FROM pg_stat_database WHERE datname = current_database()`,
	`SELECT wal_records::float8, wal_fpi::float8, wal_bytes::float8 AS wal_bytes__bytes FROM pg_stat_wal`,
	`SELECT wal_write::float8, wal_sync::float8, wal_sync_time::float8 AS wal_sync_time__ms FROM pg_stat_wal`, // elsewhere from version 18 on
	`SELECT sum(calls)::float8 AS statements, sum(total_exec_time)::float8 AS statements_exec_time__ms FROM pg_stat_statements`,
}

func (db *database) totals(ctx context.Context, m *engine.Metrics, query string) error {
	rows, err := db.pool.Query(ctx, query)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		for i, d := range rows.FieldDescriptions() {
			name, unit, _ := strings.Cut(d.Name, "__")
			if v, ok := values[i].(float64); ok {
				m.Totals = append(m.Totals, engine.Total{Name: name, Unit: unit, Value: v})
			}
		}
	}
	if err := rows.Err(); err != nil && !absent(err) {
		return err
	}
	return nil
}

// absent: the server has no such view, column or extension.
func absent(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "42P01" || e.Code == "42703" || e.Code == "55000" || e.Code == "42501")
}

// waitKind sorts wait events (PostgreSQL's manual, table "Wait Event Types"). A
// session that waits for the lock of the log's flush waits for the disk.
func waitKind(kind, event string) engine.Wait {
	switch kind {
	case "":
		return engine.OnCPU
	case "IO":
		return engine.OnDisk
	case "LWLock":
		if event == "WALWrite" || event == "WALSync" {
			return engine.OnDisk
		}
		return engine.OnLock
	case "Lock", "BufferPin":
		return engine.OnLock
	case "Client":
		return engine.OnNetwork
	}
	return engine.OnOther
}
