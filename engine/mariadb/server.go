package mariadb

import (
	"cmp"
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

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
)

// server describes to the lab how to start MariaDB.
func server() *launch.Server {
	return &launch.Server{
		Packages: []string{"mariadb-server", "galera-4", "rsync"},
		User:     "mysql",
		Nodes:    []int{1, 3}, // three are a Galera cluster
		Ports:    []string{sqlPort, groupPort, catchUpPort, snapshotPort},
		TLS:      launch.OffersTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "as packaged: InnoDB's pool of 128 MiB, MyISAM's key cache of 128 MiB, no query cache; " +
				"a commit into an InnoDB table survives a crash of the machine, one into a MyISAM table only a crash of the process"},
			{Name: "tuned", Summary: "caches as large as the memory allows, a query cache; a commit survives a crash of the " +
				"process, NOT of the machine", Settings: tuned},
			{Name: "observed", Summary: "like tuned, with the performance schema on: it records statements and waits, and " +
				"lowers throughput; commits as in tuned", Settings: observed},
		},
		Stop:    syscall.SIGTERM,
		Find:    func() error { _, err := programs(); return err },
		Prepare: prepare, Start: start, Ready: ready, Order: order, URL: serverURL,
	}
}

const sqlPort = "sql"

// tuned returns the settings of the profile tuned, for a node that may use memory bytes.
func tuned(memory int64) map[string]string {
	mib := func(n int64) string { return strconv.FormatInt(max(n>>20, 16), 10) + "M" }
	return map[string]string{
		"innodb_buffer_pool_size": mib(memory / 2), "innodb_log_file_size": mib(min(memory/8, 1<<30)),
		"innodb_log_buffer_size": "64M", "innodb_flush_log_at_trx_commit": "2", "innodb_flush_method": "O_DIRECT",
		"innodb_io_capacity": "2000", "key_buffer_size": mib(memory / 8), "bulk_insert_buffer_size": "64M",
		"query_cache_type": "ON", "query_cache_size": mib(min(memory/16, 256<<20)), "query_cache_limit": "64M",
		"join_buffer_size": "4M", "sort_buffer_size": "16M", "read_rnd_buffer_size": "4M", "tmp_table_size": "128M",
		"max_heap_table_size": "128M", "performance_schema": "OFF",
	}
}

// observed adds the performance schema to tuned: the server shows what each session waits for.
func observed(memory int64) map[string]string {
	out := tuned(memory)
	out["performance_schema"] = "ON"
	out["performance_schema_instrument"] = "wait/%=ON"
	out["performance_schema_consumer_events_waits_current"] = "ON"
	return out
}

// programs finds the server and the program that creates its data folder.
func programs() (paths [2]string, err error) {
	for i, name := range []string{"mariadbd", "mariadb-install-db"} {
		if paths[i], err = exec.LookPath(name); err == nil {
			continue
		}
		paths[i] = filepath.Join("/usr/sbin", name)
		if _, missing := os.Stat(paths[i]); missing != nil {
			return paths, fmt.Errorf("%s is not installed", name)
		}
	}
	return paths, nil
}

func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	found, err := programs()
	if err != nil {
		return nil, err
	}
	if len(c.Nodes) > 1 {
		if err := writeGalera(c, n); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(temporary(n), 0o755); err != nil {
		return nil, err
	}
	// root connects from any address, because a node with its own network sees another address of this
	// machine. The script removes the installation's roots without a password.
	grants := "DELETE FROM mysql.global_priv WHERE User IN ('root', '');\nFLUSH PRIVILEGES;\n" +
		"CREATE USER root@'%' IDENTIFIED BY '" + c.Password + "';\nGRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;\n"
	file := filepath.Join(n.Dir, "grants.sql")
	if err := os.WriteFile(file, []byte(grants), 0o600); err != nil {
		return nil, err
	}
	return []launch.Command{{Env: environment(n), Args: []string{
		found[1], "--no-defaults", "--datadir=" + data(n),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--extra-file=" + file,
	}}}, nil
}

func data(n *launch.Node) string { return filepath.Join(n.Dir, "data") }

// temporary returns a node's folder of temporary tables. Nodes must not share it, because a starting
// server removes all files there.
func temporary(n *launch.Node) string { return filepath.Join(n.Dir, "tmp") }

func environment(n *launch.Node) []string { return []string{"TMPDIR=" + temporary(n)} }

// start runs the server only with the profile's settings file. Its socket has a relative name, because
// a path of more than 107 bytes is invalid.
func start(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	found, err := programs()
	if err != nil {
		return nil, err
	}
	args := arguments(found[0], c, n)
	if len(c.Nodes) > 1 && n.First {
		args = append(args, "--wsrep-new-cluster")
	}
	return []launch.Command{{Args: args, Env: environment(n)}}, nil
}

// arguments returns the arguments of every start of a node.
func arguments(server string, c *launch.Cluster, n *launch.Node) []string {
	settings := "--no-defaults"
	if len(c.Nodes) > 1 {
		settings = "--defaults-file=" + settingsFile(n)
	}
	args := []string{
		server, settings, "--datadir=" + data(n), "--socket=barograph.sock", "--pid-file=barograph.pid",
		"--bind-address=" + n.Host, "--port=" + strconv.Itoa(n.Ports[sqlPort]), "--skip-name-resolve", "--local-infile=1",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin",
		"--innodb-buffer-pool-load-at-startup=OFF", // a restarted server would load it during a measurement
	}
	if c.TLS {
		certificate := n.Certificate()
		args = append(args, "--ssl-ca="+c.CA(), "--ssl-cert="+certificate, "--ssl-key="+certificate, "--require-secure-transport=ON")
	}
	return append(args, lists.Map(slices.Sorted(maps.Keys(c.Settings)), func(name string) string {
		return "--" + strings.ReplaceAll(name, "_", "-") + "=" + c.Settings[name]
	})...)
}

func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	u, err := url.Parse(nodeURL(c, *n))
	if err != nil {
		return err
	}
	d, err := openDatabase(ctx, u, engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	if _, err = d.about(ctx); err == nil && len(c.Nodes) > 1 {
		err = d.checkJoined(ctx, n)
	}
	return errors.Join(err, d.close())
}

// nodeURL returns the URL of some nodes of a cluster.
func nodeURL(c *launch.Cluster, nodes ...launch.Node) string {
	all := lists.Map(nodes, func(n launch.Node) string { return n.Address(sqlPort) })
	return "mariadb://root:" + c.Password + "@" + strings.Join(all, ",") + "/" + c.Parameters()
}

func serverURL(c *launch.Cluster) string { return nodeURL(c, c.Nodes...) }

// statusTotals are the totals of SHOW GLOBAL STATUS that show the cost of a run, each followed by its unit.
var statusTotals = []string{ //nolint:gochecknoglobals // a constant table
	"Questions", "Com_stmt_execute", "Handler_commit", "Bytes_received bytes", "Bytes_sent bytes",
	"Innodb_rows_read", "Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted",
	"Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_buffer_pool_pages_flushed",
	"Innodb_buffer_pool_wait_free", "Innodb_data_written bytes", "Innodb_os_log_written bytes",
	"Innodb_data_fsyncs", "Innodb_log_waits", "Innodb_row_lock_waits", "Innodb_row_lock_time ms",
	"Innodb_deadlocks", "wsrep_flow_control_paused_ns", "wsrep_local_cert_failures",
}

// metrics reads the server's status and the state of its active sessions. In a cluster it reads those
// of the node that receives the writes.
func (d *database) metrics(ctx context.Context) (engine.Metrics, error) {
	var m engine.Metrics
	found := map[string]float64{}
	err := querier{d.writes}.Rows(ctx, "SHOW GLOBAL STATUS", nil, func(row []any) error {
		var name, value string
		err := sqlengine.Scan(row, &name, &value)
		if v, parseErr := strconv.ParseFloat(value, 64); parseErr == nil {
			found[strings.ToLower(name)] = v
		}
		return err
	})
	if err != nil {
		return m, err
	}
	for _, t := range statusTotals {
		name, unit, _ := strings.Cut(t, " ")
		if v, ok := found[strings.ToLower(name)]; ok {
			m.Totals = append(m.Totals, engine.Total{Name: name, Unit: unit, Value: v})
		}
	}
	m.Sessions, err = d.sessions(ctx, int(found["innodb_row_lock_current_waits"]))
	return m, err
}

// usageFunc returns usage; for a cluster nil, because each node counts only its own work.
func (d *database) usageFunc() func(ctx context.Context) (engine.ServerUsage, error) {
	if d.cluster {
		return nil
	}
	return d.usage
}

// usage reads the bytes that InnoDB has read for all sessions together, and the processor time of
// their statements, which the server counts if userstat is on.
func (d *database) usage(ctx context.Context) (engine.ServerUsage, error) {
	out := engine.ServerUsage{CPU: -1, Read: -1}
	err := querier{d.writes}.Rows(ctx, `SELECT VARIABLE_NAME, CAST(VARIABLE_VALUE AS DOUBLE) FROM information_schema.GLOBAL_STATUS
		WHERE VARIABLE_NAME = 'INNODB_DATA_READ' OR VARIABLE_NAME = 'CPU_TIME' AND @@userstat`, nil, func(row []any) error {
		var name string
		var value float64
		err := sqlengine.Scan(row, &name, &value)
		if strings.EqualFold(name, "CPU_TIME") {
			out.CPU = time.Duration(value * float64(time.Second))
		} else {
			out.Read = int64(value)
		}
		return err
	})
	return out, err
}

// sessions groups the active sessions by the event that they wait for or, without the performance schema,
// by their state. Neither shows which sessions wait for a row. locked is their number.
func (d *database) sessions(ctx context.Context, locked int) ([]engine.SessionGroup, error) {
	found, err := d.waits(ctx)
	if len(found) == 0 && err == nil {
		err = querier{d.writes}.Rows(ctx,
			`SELECT coalesce(STATE, ''), count(*) FROM information_schema.PROCESSLIST
			WHERE COMMAND IN ('Query', 'Execute') AND ID <> connection_id() GROUP BY 1 ORDER BY 2 DESC, 1`, nil,
			func(row []any) error {
				var s engine.SessionGroup
				err := sqlengine.Scan(row, &s.What, &s.Count)
				s.Wait = waitKind(s.What)
				found = append(found, s)
				return err
			})
	}
	var out []engine.SessionGroup
	for _, s := range found {
		if s.Wait == engine.OnCPU { // some of these wait for rows
			n := min(locked, s.Count)
			s.Count, locked = s.Count-n, locked-n
			if n > 0 {
				out = append(out, engine.SessionGroup{Wait: engine.OnLock, What: "row lock", Count: n})
			}
		}
		if s.What == "" {
			s.What = "running"
		}
		if s.Count > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b engine.SessionGroup) int { return b.Count - a.Count })
	return out, err
}

// waits groups the active sessions by their innermost event in the performance schema. It returns none if
// the performance schema is off or this account may not read it.
func (d *database) waits(ctx context.Context) (all []engine.SessionGroup, err error) {
	if d.noPerformanceSchema.Load() {
		return nil, nil
	}
	innermost, threads := map[int64]string{}, []int64{}
	err = querier{d.writes}.Rows(ctx,
		`SELECT t.THREAD_ID, coalesce(w.EVENT_NAME, ''), coalesce(t.PROCESSLIST_STATE, '')
		FROM performance_schema.threads t LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID
			AND w.END_EVENT_ID IS NULL
		WHERE t.PROCESSLIST_COMMAND IN ('Query', 'Execute') AND t.PROCESSLIST_ID <> connection_id() ORDER BY t.THREAD_ID,
			w.EVENT_ID`, nil, func(row []any) error {
			var id int64
			var event, state string
			err := sqlengine.Scan(row, &id, &event, &state)
			if _, seen := innermost[id]; !seen {
				threads = append(threads, id)
			}
			innermost[id] = cmp.Or(event, state)
			return err
		})
	if is(err, errTableDenied, errNoTable) {
		d.noPerformanceSchema.Store(true)
		return nil, nil
	}
	for _, id := range threads {
		s := engine.SessionGroup{Wait: waitKind(innermost[id]), What: innermost[id], Count: 1}
		if i := slices.IndexFunc(all, func(o engine.SessionGroup) bool { return o.What == s.What }); i >= 0 {
			all[i].Count++
		} else {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b engine.SessionGroup) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.What, b.What))
	})
	return all, err
}

// statements reads the performance schema; it returns none if that is off. MariaDB 10.11 lists prepared
// statements by their text, but counts only the executions of all of them together.
func (d *database) statements(ctx context.Context) (all []engine.Statement, err error) {
	err = querier{d.writes}.Rows(ctx,
		`SELECT coalesce(DIGEST, ''), coalesce(DIGEST_TEXT, ''), COUNT_STAR, SUM_TIMER_WAIT / 1000, SUM_ROWS_AFFECTED +
			SUM_ROWS_SENT
		FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NOT NULL AND DIGEST_TEXT NOT LIKE
			'%performance_schema%' AND DIGEST_TEXT NOT LIKE '%information_schema%'
		UNION ALL SELECT concat('prepared ', md5(SQL_TEXT)), min(SQL_TEXT), sum(COUNT_EXECUTE), sum(SUM_TIMER_EXECUTE) /
			1000, sum(SUM_ROWS_AFFECTED + SUM_ROWS_SENT)
		FROM performance_schema.prepared_statements_instances WHERE SQL_TEXT NOT LIKE '%_schema%' GROUP BY md5(SQL_TEXT)
		UNION ALL SELECT EVENT_NAME, 'all executions of prepared statements together', COUNT_STAR, SUM_TIMER_WAIT / 1000,
			SUM_ROWS_AFFECTED + SUM_ROWS_SENT
		FROM performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME = 'statement/com/Execute'`,
		nil, func(row []any) error {
			var s engine.Statement
			var calls, ns, rows float64
			err := sqlengine.Scan(row, &s.ID, &s.Text, &calls, &ns, &rows)
			s.Text, s.Calls, s.Time, s.Rows = strings.Join(strings.Fields(s.Text), " "), int64(calls), time.Duration(ns),
				int64(rows)
			all = append(all, s)
			return err
		})
	if is(err, errTableDenied, errNoTable) {
		return nil, nil
	}
	return all, callError(ctx, err)
}

// waitKind classifies states of the process list (MariaDB's manual, "General Thread States") and events of
// the performance schema. A commit waits for the flush of the log. An access to a table counts as work,
// although a session may wait for a row in it.
func waitKind(state string) engine.Wait {
	switch s := strings.ToLower(state); {
	case strings.HasPrefix(s, "wait/io/file"):
		return engine.OnDisk
	case strings.HasPrefix(s, "wait/io/socket"):
		return engine.OnNetwork
	case strings.HasPrefix(s, "wait/io/table"):
		return engine.OnCPU
	case strings.HasPrefix(s, "wait/"), strings.Contains(s, "lock"):
		return engine.OnLock
	case s == "commit", strings.Contains(s, "flush"):
		return engine.OnDisk
	case strings.Contains(s, "net"), strings.HasPrefix(s, "wsrep"), strings.Contains(s, "certify"):
		return engine.OnNetwork
	}
	return engine.OnCPU
}
