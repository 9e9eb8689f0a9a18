package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "postgres",
		Licence: "PostgreSQL Licence",
		Summary: "PostgreSQL, a server: METviewer's tables, JSONB documents, wide tables",
		Example: "postgres://postgres@localhost:5432/postgres",
		Params: append(engine.TLSParams(), []engine.Param{
			{Name: "wide_index", Default: btree, Help: "index of wide tables, set when they are created: btree (series, time) or brin (time)"},
			{Name: "partitions", Default: "", Help: "partitions of tables of documents and wide tables, set when they are created: " +
				"hash:8 (by series) or range:day, range:month, range:year (by valid time)"},
			{Name: "tablespaces", Default: "", Help: "comma-separated folders on the server, over which the partitions are spread " +
				"in turn; created as tablespaces if they are none yet"},
			{Name: "statements", Default: prepared, Help: "how questions are sent: prepared (planned once a connection), unnamed " +
				"(planned every time) or simple (the simple protocol, replies as text)"},
			{Name: "synchronous_commit", Default: "on", Help: "when a commit is acknowledged: on, off, local, remote_write or " +
				"remote_apply; with off, a crash of the server loses some acknowledged commits"},
			{Name: "pipeline", Default: "0", Help: "records under keys: number of connections that all workers share; each carries " +
				"many statements at once, each in its own transaction; 0 = one connection for each worker"},
			{Name: "sslmode", Help: "as in libpq: disable, prefer, require, verify-ca, verify-full; tls and the other tls parameters offer more"},
		}...),
		Offers: append([]any{archive.SQLOffer(design.Normalized, design.Document, design.Wide)}, offered()...),
		Place:  engine.Remote, Server: server(), Open: open,
	}
}

// Values of the parameters.
const (
	btree    = "btree"
	brin     = "brin"
	prepared = "prepared"
	unnamed  = "unnamed"
	simple   = "simple"
)

const (
	maxConnections  = 32               // of one engine; a packaged server accepts 100
	connectTimeout  = 10 * time.Second // also for closing a connection
	rollbackTimeout = 5 * time.Second
)

// database is an open database.
type database struct {
	pool      *pgxpool.Pool
	readOnly  bool
	wideIndex string
	simple    bool // questions use the simple protocol
	parts     partitioning
	pipeline  int // number of connections that workers on records share; 0 = each worker has its own
	log       *slog.Logger
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	db := &database{readOnly: o.ReadOnly, log: o.Logger()}
	config, err := db.config(u, o)
	if err != nil {
		return nil, err
	}
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if err := db.pool.Ping(ctx); err != nil {
		db.pool.Close()
		return nil, unreachable(err)
	}
	stop, offers := func() error { db.pool.Close(); return nil }, append([]any{db}, db.abilities()...)
	return &engine.Engine{Abilities: offers, Metrics: db.metrics, Statements: db.statements, About: db.about, Close: stop}, nil
}

// config reads the URL.
func (db *database) config(u *url.URL, o engine.Options) (*pgxpool.Config, error) {
	driver, q := Driver(), u.Query()
	v := driver.Values(u)
	db.wideIndex = engine.Choice(v, "wide_index", map[string]string{btree: btree, brin: brin})
	statements := engine.Choice(v, "statements", map[string]string{prepared: prepared, unnamed: unnamed, simple: simple})
	if db.pipeline = v.Int("pipeline", 0, 1024); v.Err != nil {
		return nil, v.Err
	}
	var err error
	if db.parts, err = parsePartitioning(v.Given["partitions"], v.Given["tablespaces"]); err != nil {
		return nil, err
	}
	secure, err := engine.TLS(u)
	if err != nil {
		return nil, err
	}
	if q.Get("tls") == "false" {
		q.Set("sslmode", "disable") // pgx tries TLS unless it is disabled
	}
	const own = "wide_index statements partitions tablespaces pipeline tls tls_ca tls_cert tls_key tls_name"
	for name := range strings.FieldsSeq(own) {
		q.Del(name)
	}
	if secure != nil {
		q.Set("sslmode", "disable") // pgx must not retry without TLS
	}
	db.simple = statements == simple
	server := *u
	server.RawQuery, server.Opaque = q.Encode(), ""
	config, err := pgxpool.ParseConfig(server.String())
	if err != nil {
		const cure = "write it like postgres://user@host:5432/database"
		return nil, &fault.Error{Problem: "cannot be read", Err: err, Cure: cure} // pgx omits the password
	}
	config.MaxConns = maxConnections
	c := config.ConnConfig
	if secure != nil { // each host has a certificate for its own name
		name := u.Query().Get("tls_name")
		c.TLSConfig, secure.ServerName = secure, cmp.Or(name, c.Host)
		for _, f := range c.Fallbacks {
			f.TLSConfig = secure.Clone()
			f.TLSConfig.ServerName = cmp.Or(name, f.Host)
		}
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, connectTimeout)
	if statements == unnamed {
		c.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	}
	// The server also cancels a query whose context is done.
	c.BuildContextWatcherHandler = func(p *pgconn.PgConn) ctxwatch.Handler {
		return &cancelHandler{pgconn.CancelRequestContextWatcherHandler{Conn: p, DeadlineDelay: time.Second}}
	}
	config.AfterRelease = func(c *pgx.Conn) bool { return c.PgConn().CustomData()[canceledKey] == nil }
	params := c.RuntimeParams
	params["application_name"] = cmp.Or(params["application_name"], "barograph")
	params["datestyle"], params["timezone"], params["client_encoding"] = "ISO", "UTC", "UTF8"
	params["standard_conforming_strings"] = "on" // literals are those of standard SQL
	params["extra_float_digits"] = "3"           // numbers as texts are exact
	params["default_transaction_isolation"] = "read committed"
	params["synchronous_commit"] = cmp.Or(params["synchronous_commit"], "on")
	if o.ReadOnly {
		params["default_transaction_read_only"] = "on"
	}
	if o.Threads > 0 {
		params["max_parallel_workers_per_gather"] = strconv.Itoa(o.Threads - 1)
	}
	return config, nil
}

// cancelHandler cancels the statement of a connection whose context is done. If the cancellation reaches the
// server late, it cancels the connection's next statement instead. The pool therefore closes the connection.
type cancelHandler struct {
	pgconn.CancelRequestContextWatcherHandler
}

const canceledKey = "barograph: canceled"

func (g *cancelHandler) HandleCancel(ctx context.Context) {
	g.Conn.CustomData()[canceledKey] = true
	g.CancelRequestContextWatcherHandler.HandleCancel(ctx)
}

// unreachable returns the reason why a server is unreachable, with a cure. pgx's text names the
// user and the database, never a password.
func unreachable(err error) error {
	cure := "start the server or check host and port; `barograph lab up postgres` starts one"
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "3D000":
			cure = "create the database with createdb"
		case "28P01", "28000":
			cure = "set PGPASSWORD or ~/.pgpass, or name another user"
		case "08P01":
			cure = "name PostgreSQL's own port: a pooler such as PgBouncer refuses settings of a session"
		}
	}
	return engine.UnreachableError("PostgreSQL", err, cure)
}

// performanceSettings lists the settings that determine speed. About reports them even if they are unchanged.
const performanceSettings = `'shared_buffers', 'effective_cache_size', 'work_mem', 'maintenance_work_mem', 'max_wal_size', 'jit', 'fsync',
	'synchronous_commit', 'full_page_writes', 'random_page_cost', 'max_parallel_workers_per_gather', 'server_encoding',
	'default_toast_compression', 'autovacuum'`

func (db *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "PostgreSQL", Settings: map[string]string{
		"driver": "github.com/jackc/pgx/v5", "wide_index": db.wideIndex, "pipeline": strconv.Itoa(db.pipeline), "partitions": db.parts.String(),
	}}
	if err := db.pool.QueryRow(ctx, "SHOW server_version").Scan(&a.Version); err != nil {
		return a, callError(ctx, err)
	}
	err := querier{db.pool}.Rows(ctx, `SELECT name, current_setting(name) FROM pg_settings
		WHERE name IN (`+performanceSettings+`)
		   OR (source IN ('configuration file', 'command line', 'environment variable', 'database', 'user', 'global')
		       AND category NOT LIKE 'File Locations%'
		       AND name NOT IN ('port', 'listen_addresses', 'unix_socket_directories', 'log_timezone'))`, nil, func(row []any) error {
		var name, value string
		err := sqlengine.Scan(row, &name, &value)
		a.Settings[name] = value
		return err
	})
	a.Acknowledged, a.Promises = acknowledged(a.Settings)
	a.Flushed = a.Settings["synchronous_commit"] != "off" && a.Settings["fsync"] != "off"
	return a, err
}

// acknowledged describes the durability of an acknowledged commit; see PostgreSQL's manual,
// "Reliability and the Write-Ahead Log". Data that the operating system has received survive a
// crash of the server's processes.
func acknowledged(settings map[string]string) (string, []engine.Promise) {
	switch {
	case settings["synchronous_commit"] == "off":
		return "in the server's memory, flushed within a second (synchronous_commit=off)", nil
	case settings["fsync"] == "off":
		return "given to the system, never flushed (fsync=off)", engine.Promises()
	}
	return "on disk: flushed, commits of one moment together", engine.Promises()
}

// callError is engine.CallError. It also treats the errors of a server's shutdown as a broken connection.
func callError(ctx context.Context, err error) error {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(pgErr.Code, "57P0") {
		return engine.CallError(ctx, err, pgErr)
	}
	return engine.CallError(ctx, err)
}
