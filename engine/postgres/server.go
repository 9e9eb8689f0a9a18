package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// server describes to the lab how to start PostgreSQL.
func server() *launch.Server {
	return &launch.Server{
		Packages: []string{"postgresql"},
		User:     "postgres",
		Nodes:    []int{1},
		Ports:    []string{"sql"},
		TLS:      launch.OffersTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "as packaged; a commit survives a crash of the machine"},
			{Name: "tuned", Summary: "caches for the machine's memory, fewer checkpoints, no just-in-time compiler; " +
				"a commit survives a crash of the machine", Settings: tuned},
		},
		Stop:    syscall.SIGINT, // fast shutdown: it ends sessions and writes all data
		Find:    func() error { _, err := programs(); return err },
		Prepare: prepare,
		Start: func(_ *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
			bin, err := programs()
			err = errors.Join(err, removePidFile(n))
			return []launch.Command{{Args: []string{filepath.Join(bin, "postgres"), "-D", data(n), "-c", "config_file=" + configFile(n)}}}, err
		},
		Ready: ready,
		URL:   func(c *launch.Cluster) string { return address(c, &c.Nodes[0]) },
	}
}

// removePidFile removes the pid file of a killed postmaster. The lab has checked that no postmaster runs.
// But until the parent reaps the zombie, PostgreSQL treats it as running. PostgreSQL checks for shared
// memory that is still in use separately.
func removePidFile(n *launch.Node) error {
	dir, err := os.OpenRoot(n.Dir) // a link that the server's account made cannot lead out of it
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // it is only a handle
	if err := dir.Remove(filepath.Join(filepath.Base(data(n)), "postmaster.pid")); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tuned returns the settings that PostgreSQL's manual and experts advise for a machine that
// loads in bulk and answers few, large queries. None of them gives up durability.
func tuned(memory int64) map[string]string {
	mib := func(n int64) string { return strconv.FormatInt(n/mebi, 10) + "MB" }
	return map[string]string{
		"shared_buffers": mib(min(memory/4, 8*gibi)), "effective_cache_size": mib(memory / 2),
		"work_mem":             mib(min(max(memory/256, 4*mebi), 64*mebi)),
		"maintenance_work_mem": mib(min(max(memory/32, 64*mebi), gibi)), "wal_buffers": "16MB",
		"max_wal_size": "4GB", "checkpoint_completion_target": "0.9",
		"random_page_cost":          "1.1", // solid-state disks
		"jit":                       "off",
		"default_toast_compression": "lz4", // for documents; see docs/decisions/0005-postgres.md
	}
}

// programs returns the folder of the newest installed PostgreSQL.
func programs() (string, error) {
	names, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	newest, bin := -1.0, ""
	for _, name := range names {
		dir := filepath.Dir(name)
		if v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64); err == nil && v > newest {
			newest, bin = v, dir
		}
	}
	if bin != "" {
		return bin, nil
	}
	if name, err := exec.LookPath("initdb"); err == nil { // for systems other than Debian
		if name, err = filepath.EvalSymlinks(name); err == nil {
			return filepath.Dir(name), nil
		}
	}
	return "", errors.New("no initdb in /usr/lib/postgresql/*/bin or on the path")
}

func data(n *launch.Node) string       { return filepath.Join(n.Dir, "data") }
func configFile(n *launch.Node) string { return filepath.Join(n.Dir, "postgresql.conf") }

func address(c *launch.Cluster, n *launch.Node) string {
	return fmt.Sprintf("postgres://postgres:%s@%s:%d/postgres", c.Password, n.Host, n.Ports["sql"]) + c.Parameters()
}

// prepare writes the settings and the password: every user of this machine can reach loopback.
func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cluster_name = 'barograph lab, profile %s'\n", c.Profile) // a run folder shows it among the settings
	fmt.Fprintf(&b, "listen_addresses = '%s'\nport = %d\nunix_socket_directories = ''\n", n.Host, n.Ports["sql"])
	if hasStatementsExtension(bin) {
		fmt.Fprintf(&b, "shared_preload_libraries = '%s'\n", statementsExtension)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		fmt.Fprintf(&b, "%s = %s\n", name, flavour.Quote(c.Settings[name]))
	}
	// initdb's pg_hba.conf allows only loopback, which isolated nodes do not use.
	access, clients := filepath.Join(n.Dir, "pg_hba.conf"), "host"
	fmt.Fprintf(&b, "hba_file = '%s'\n", access)
	if c.TLS {
		clients = "hostssl"
		fmt.Fprintf(&b, "ssl = on\nssl_cert_file = '%[1]s'\nssl_key_file = '%[1]s'\n", n.Certificate())
	}
	password := filepath.Join(n.Dir, "password")
	for name, text := range map[string]string{
		configFile(n): b.String(), access: clients + " all all all scram-sha-256\n", password: c.Password + "\n",
	} {
		err = errors.Join(err, os.WriteFile(name, []byte(text), 0o600))
	}
	return []launch.Command{{Args: []string{
		filepath.Join(bin, "initdb"), "-D", data(n), "-U", "postgres", "--auth=scram-sha-256", "--pwfile=" + password, "-E", "UTF8", "--locale=C",
	}}}, err
}

func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	u, err := url.Parse(address(c, n))
	if err != nil {
		return err
	}
	config, err := new(database).config(u, engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // no statement is in flight
	var preloaded string
	if err := conn.QueryRow(ctx, "SELECT current_setting('shared_preload_libraries')").Scan(&preloaded); err != nil ||
		!strings.Contains(preloaded, statementsExtension) {
		return err
	}
	if _, err := conn.Exec(ctx, "SET default_transaction_read_only = off"); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS "+statementsExtension)
	return err
}

// statementsExtension counts statements. The lab preloads it if it is installed.
const statementsExtension = "pg_stat_statements"

// hasStatementsExtension reports whether statementsExtension is installed next to the programs in bin.
func hasStatementsExtension(bin string) bool {
	return slices.ContainsFunc([]string{"../lib", "../lib/postgresql", "../lib64/pgsql"}, func(dir string) bool {
		_, err := os.Stat(filepath.Join(bin, dir, statementsExtension+".so"))
		return err == nil
	})
}

// statements reads pg_stat_statements in the extension's schema. It returns none without the extension.
func (db *database) statements(ctx context.Context) (all []engine.Statement, err error) {
	var schema string
	err = db.pool.QueryRow(ctx,
		"SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = "+
			"$1", statementsExtension).Scan(&schema)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, callError(ctx, err)
	}
	err = querier{db.pool}.Rows(ctx,
		`SELECT queryid::text, min(query), sum(calls)::bigint, sum(total_exec_time)::float8, sum(rows)::bigint FROM
			`+schema+`.pg_stat_statements
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND queryid IS NOT NULL AND query NOT
			LIKE '%pg_stat_%' GROUP BY queryid`, nil, func(row []any) error {
			var s engine.Statement
			var ms float64
			err := sqlengine.Scan(row, &s.ID, &s.Text, &s.Calls, &ms, &s.Rows)
			s.Text, s.Time = strings.Join(strings.Fields(s.Text), " "), time.Duration(ms*float64(time.Millisecond))
			all = append(all, s)
			return err
		})
	if absent(err) { // it is not preloaded, or too old
		return nil, nil
	}
	return all, callError(ctx, err)
}

// metrics reads the statistics views: totals of the database and of the write-ahead log, of
// pg_stat_statements if it is installed, and the wait events of active client sessions. The
// sessions of records under keys report their counts before they are closed; see forceFlush.
func (db *database) metrics(ctx context.Context) (engine.Metrics, error) {
	var m engine.Metrics
	for _, q := range totalQueries {
		if err := db.totals(ctx, &m, q); err != nil {
			return m, callError(ctx, err)
		}
	}
	err := querier{db.pool}.Rows(ctx, `SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
		FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()
		GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`, nil, func(row []any) error {
		var s engine.SessionGroup
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

// totalQueries each return one row of numbers. A column's name is the total's name, followed by
// "__" and its unit. The first query works on every server, the others may fail.
var totalQueries = []string{ //nolint:gochecknoglobals // a constant table
	`SELECT xact_commit::float8, xact_rollback::float8, blks_hit::float8, blks_read::float8, tup_fetched::float8, tup_inserted::float8,
		tup_updated::float8, tup_deleted::float8, deadlocks::float8, temp_bytes::float8 AS temp_bytes__bytes,
		blk_read_time::float8 AS blk_read_time__ms
		FROM pg_stat_database WHERE datname = current_database()`,
	`SELECT wal_records::float8, wal_fpi::float8, wal_bytes::float8 AS wal_bytes__bytes FROM pg_stat_wal`,
	// From version 18 these columns are in another view.
	`SELECT wal_write::float8, wal_sync::float8, wal_sync_time::float8 AS wal_sync_time__ms FROM pg_stat_wal`,
	`SELECT sum(calls)::float8 AS statements, sum(total_exec_time)::float8 AS statements_exec_time__ms FROM pg_stat_statements`,
}

// usage reads the counters of this database. If pg_stat_kcache is installed, these are processor
// time and bytes from disks; otherwise the blocks that were not in shared_buffers. The pool's
// idle sessions first report their counts. Before version 15 they do that after a second.
func usage(ctx context.Context, pool *pgxpool.Pool) (engine.ServerUsage, error) {
	out := engine.ServerUsage{CPU: -1, Read: -1}
	var seconds float64
	err := pool.QueryRow(ctx, `SELECT coalesce(sum(exec_user_time + exec_system_time), 0), coalesce(sum(exec_reads), 0)::bigint
		FROM pg_stat_kcache WHERE datname = current_database()`).Scan(&seconds, &out.Read)
	if err == nil {
		out.CPU = time.Duration(seconds * float64(time.Second))
		return out, nil
	}
	if !absent(err) {
		return out, callError(ctx, err)
	}
	for _, c := range pool.AcquireAllIdle(ctx) {
		_, err := c.Exec(ctx, forceFlush)
		c.Release()
		if err != nil && !hasCode(err, "42883") { // the function does not exist
			return out, callError(ctx, err)
		}
	}
	err = pool.QueryRow(ctx, "SELECT blks_read * current_setting('block_size')::bigint FROM pg_stat_database "+
		"WHERE datname = current_database()").Scan(&out.Read)
	return out, callError(ctx, err)
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

// absent reports that the server lacks a view, column or extension.
func absent(err error) bool { return hasCode(err, "42P01", "42703", "55000", "42501") }

// waitKind classifies wait events (PostgreSQL's manual, table "Wait Event Types"). A session
// that waits for the lock of the log's flush waits for the disk.
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
