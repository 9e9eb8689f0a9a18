package mariadb

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "mariadb",
		Licence: "GPL-2.0",
		Summary: "MariaDB, a database server; METviewer's own tables",
		Example: "mariadb://root@127.0.0.1:3306/mv_",
		Params: append(engine.TLSParams(), []engine.Param{
			{Name: "engine", Default: myISAM, Help: "storage engine of METviewer's tables, set when they are created: MyISAM, as in METviewer, or " +
				"InnoDB, which a Galera cluster always uses"},
			{Name: "apply_indexes", Default: "false", Help: "give METviewer's tables the further indexes that METdbLoad's " +
				"apply_indexes makes: true or false"},
			{Name: "protocol", Default: textProtocol, Help: "how questions are sent: text, or prepared once a connection, " +
				"with rows in binary format"},
			{Name: "server_time", Default: "false", Help: "after each query, read its time from the server (SHOW PROFILES, " +
				"one more round trip): true or false"},
			{Name: "socket", Default: "", Help: "path of the server's socket, instead of host and port"},
		}...),
		Offers: append([]any{offer()}, offered()...),
		Untested: "MySQL 8 and Aurora. Barograph supports verification archives and records under keys there (it chooses the " +
			"statements by the server's version) and refuses post and scan; reason: no registry has such a server for this machine; the tests run against MariaDB",
		Place: engine.Remote, Server: server(), Open: open,
	}
}

// offer is an SQL engine's usual offer and METviewer's queries with MariaDB's query cache.
func offer() archive.Offer {
	o := archive.SQLOffer(design.Normalized, design.Document, design.Wide)
	o.Designs[design.Normalized] = slices.Insert(o.Designs[design.Normalized], 2, flavour.CachedSQL)
	return o
}

// sessionSettings lists the settings of every session; see doc.go.
var sessionSettings = []struct{ name, value string }{ //nolint:gochecknoglobals // a constant table
	{"sql_mode", "'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'"},
	{"time_zone", "'+00:00'"},
	{"group_concat_max_len", "16777216"},         // for repeating columns
	{"max_sort_length", "8192"},                  // bytes of a text that count when it is sorted
	{"max_error_count", "64"},                    // LOAD DATA reports values that it changed only as warnings
	{"autocommit", "1"},                          // a statement outside a transaction is stored
	{"sql_select_limit", "18446744073709551615"}, // a query returns all rows
	{"tx_isolation", "'REPEATABLE-READ'"},        // no query sees records that are not committed
	{"in_predicate_conversion_threshold", "0"},   // a list of keys of any length stays a range of the index
	{"optimizer_max_sel_args", "1000000"},        // the optimizer does not give up such a range
}

const idleConnections = 16 // that a pool keeps open

// Values of the parameters.
const (
	myISAM           = "MyISAM"
	innoDB           = "InnoDB"
	textProtocol     = "text"
	preparedProtocol = "prepared"
)

// database is the set of databases of a server or cluster whose names have a prefix.
type database struct {
	prefix  string
	engine  string // storage engine of METviewer's tables in new subsets
	indexes bool
	prepare bool // prepare queries
	profile bool // profile queries

	readOnly     bool
	secure       *tls.Config // nil = connections are not encrypted
	cacheProblem string      // why cached-sql is not offered; "" = it is offered
	cluster      bool        // Galera
	mysql        bool        // MySQL 8 or Aurora, not MariaDB
	log          *slog.Logger
	pool         *sql.DB // for queries; of a cluster, all nodes
	writes       *sql.DB // for loads; of a cluster, the first node that serves
	redactedURL  string  // the URL without its password

	noPerformanceSchema *atomic.Bool // the account may not read the performance schema
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	d, err := openDatabase(ctx, u, o)
	if err != nil {
		return nil, err
	}
	offers := append([]any{d}, d.abilities(configs(u, d.secure))...)
	return &engine.Engine{Abilities: offers, Metrics: d.metrics, Statements: d.statements, About: d.about, Close: d.close}, nil
}

// openDatabase detects the kind of server and opens the pools of connections.
func openDatabase(ctx context.Context, u *url.URL, o engine.Options) (*database, error) {
	d := &database{prefix: strings.TrimPrefix(u.Path, "/"), readOnly: o.ReadOnly, log: o.Logger(), noPerformanceSchema: new(atomic.Bool)}
	d.redactedURL = fault.Redact(u.String())
	if err := d.readParameters(u.Query()); err != nil {
		return nil, err
	}
	var err error
	if d.secure, err = engine.TLS(u); err != nil {
		return nil, err
	}
	all := configs(u, d.secure)
	if err := d.probe(ctx, all); err != nil {
		return nil, err
	}
	if err := d.chooseEngine(); err != nil {
		return nil, err
	}
	for _, cfg := range all {
		if d.cacheProblem == "" { // the server caches only queries with SQL_CACHE
			cfg.Params["query_cache_type"] = "DEMAND"
		}
		if d.cluster {
			cfg.Params["wsrep_sync_wait"] = "1" // a node answers when it has everything that any other node had committed
		}
	}
	if d.writes, err = d.openPool(all, false, nil); err != nil {
		return nil, err
	}
	d.pool = d.writes
	if len(all) > 1 || d.profile {
		d.pool, err = d.openPool(all, true, func(cfg *mysql.Config) {
			if d.profile {
				cfg.Params["profiling"], cfg.Params["profiling_history_size"] = "1", "1"
			}
		})
	}
	return d, err
}

// openPool opens a pool of connections, spread over the nodes of a cluster or all to the first node
// that serves. change, if not nil, changes the configuration of each node.
func (d *database) openPool(all []*mysql.Config, spread bool, change func(*mysql.Config)) (*sql.DB, error) {
	n, err := d.newNodes(all, spread, change)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(n)
	pool.SetMaxIdleConns(idleConnections)
	return pool, nil
}

// close closes the pools, which may be the same one.
func (d *database) close() error { return errors.Join(d.pool.Close(), d.writes.Close()) }

// readParameters reads the parameters of the URL.
func (d *database) readParameters(q url.Values) error {
	choice := func(name string, into *string, known ...string) error {
		if q.Get(name) == "" {
			return nil
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, q.Get(name)) })
		if i < 0 {
			return &fault.Error{
				Setting: "mariadb URL, parameter " + name, Problem: strconv.Quote(q.Get(name)) + " is not understood",
				Cure: "write " + name + "=" + strings.Join(known, " or "+name+"="),
			}
		}
		*into = known[i]
		return nil
	}
	var indexes, protocol, profile string
	err := errors.Join(choice("engine", &d.engine, myISAM, innoDB), choice("apply_indexes", &indexes, "true", "false"),
		choice("protocol", &protocol, textProtocol, preparedProtocol), choice("server_time", &profile, "true", "false"))
	d.indexes, d.prepare, d.profile = indexes == "true", protocol == preparedProtocol, profile == "true"
	return err
}

// chooseEngine chooses the storage engine of METviewer's tables if the URL gives none: METviewer's own,
// or InnoDB in a cluster, which replicates no other engine's rows.
func (d *database) chooseEngine() error {
	if d.cluster && d.engine == myISAM {
		return &fault.Error{
			Setting: "mariadb URL, parameter engine", Problem: "a Galera cluster keeps MyISAM's rows on one node",
			Cure: "omit the parameter, or write engine=InnoDB",
		}
	}
	if d.cluster {
		d.engine = innoDB
	}
	d.engine = cmp.Or(d.engine, myISAM)
	return nil
}

// configs returns the driver's configurations for the servers of a URL.
func configs(u *url.URL, secure *tls.Config) []*mysql.Config {
	network, all := addresses(u)
	var out []*mysql.Config
	for _, address := range all {
		cfg := mysql.NewConfig()
		cfg.User = u.User.Username()
		cfg.Passwd, _ = u.User.Password()
		cfg.Net, cfg.Addr, cfg.TLS = network, address, secure.Clone()
		if secure != nil && len(all) > 1 && u.Query().Get("tls_name") == "" {
			cfg.TLS.ServerName = "" // each node has a certificate for its own address
		}
		if len(all) > 1 {
			cfg.Timeout = connectTimeout
		}
		cfg.InterpolateParams = true // one round trip per statement
		cfg.MaxAllowedPacket = 0     // use the server's value
		cfg.Collation = "utf8mb4_bin"
		cfg.Logger = &mysql.NopLogger{}
		cfg.Params = map[string]string{}
		for _, s := range sessionSettings {
			cfg.Params[s.name] = s.value
		}
		out = append(out, cfg)
	}
	return out
}

// probe connects once and detects the kind of server.
func (d *database) probe(ctx context.Context, all []*mysql.Config) error {
	db, err := d.openPool(all, false, func(cfg *mysql.Config) { cfg.Params = nil }) // MySQL does not know all of them
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it has written nothing
	var version, cacheType string
	var cacheSize int64
	var lowerCase int
	err = db.QueryRowContext(ctx, "SELECT version(), @@lower_case_table_names").Scan(&version, &lowerCase)
	d.mysql = isMySQL(version)
	if err == nil && !d.mysql {
		err = db.QueryRowContext(ctx, "SELECT @@global.query_cache_type, @@global.query_cache_size, @@global.wsrep_on").
			Scan(&cacheType, &cacheSize, &d.cluster)
	}
	if err != nil {
		if err = callError(ctx, err); ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return d.unreachable(err)
	}
	if lowerCase != 0 {
		return &fault.Error{
			Setting: d.redactedURL, Problem: "the server ignores letter case in the names of databases", Err: engine.ErrUnreachable,
			Cure: "start it with --lower-case-table-names=0, as is usual on Linux",
		}
	}
	switch {
	case d.mysql:
		d.cacheProblem = "MySQL has no query cache"
	case cacheType == "OFF":
		d.cacheProblem = "query_cache_type is OFF"
	case cacheSize == 0:
		d.cacheProblem = "query_cache_size is 0"
	}
	return nil
}

// callError is engine.CallError. It also recognizes the driver's error for a connection that broke after it had sent a
// statement, and adds a cure to the error of a statement that is too long.
func callError(ctx context.Context, err error) error {
	if _, explained := errors.AsType[*fault.Error](err); errors.Is(err, mysql.ErrPktTooLarge) && !explained {
		const cure = "raise it: SET GLOBAL max_allowed_packet = 1073741824 allows statements of 1 GiB"
		err = &fault.Error{Setting: "server setting max_allowed_packet", Problem: "is too small for a statement", Cure: cure}
	}
	return engine.CallError(ctx, err, mysql.ErrInvalidConn)
}

// querier implements Querier with database/sql. callError classifies its errors.
type querier struct{ over sqlengine.DBTX }

// Exec runs a statement.
func (q querier) Exec(ctx context.Context, text string, args ...any) error {
	_, err := q.over.ExecContext(ctx, text, args...)
	return callError(ctx, err)
}

// Rows passes each row to f.
func (q querier) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return callError(ctx, sqlengine.DatabaseSQL{DB: q.over}.Rows(ctx, text, args, f))
}

func (d *database) unreachable(err error) error {
	return engine.UnreachableError(d.redactedURL, err, "start the server (`barograph lab up mariadb`), or name another host, port, user or password")
}

// about reports the server's version and the settings that determine its speed.
func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "MariaDB", Settings: map[string]string{
		"driver": "github.com/go-sql-driver/mysql", "metviewer_engine": d.engine, "apply_indexes": strconv.FormatBool(d.indexes),
		"protocol": textProtocol, "server_time": strconv.FormatBool(d.profile), "cached-sql": "offered",
	}}
	if d.prepare {
		a.Settings["protocol"] = preparedProtocol
	}
	if d.cacheProblem != "" {
		a.Settings["cached-sql"] = "not offered: " + d.cacheProblem
	}
	if d.cluster {
		a.Settings["metviewer_engine"] = innoDB + " (a Galera cluster replicates nothing else)"
		a.Settings["session.wsrep_sync_wait"] = "1"
	}
	if err := d.pool.QueryRowContext(ctx, "SELECT version()").Scan(&a.Version); err != nil {
		return a, callError(ctx, err)
	}
	if d.mysql {
		a.Product = "MySQL"
	}
	for _, s := range sessionSettings {
		if !d.lacks(s.name, "") {
			a.Settings["session."+s.name] = strings.Trim(s.value, "'")
		}
	}
	err := d.readSettings(ctx, a.Settings, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('key_buffer_size', "+
		"'innodb_buffer_pool_size', 'innodb_log_file_size', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method', "+
		"'innodb_io_capacity', 'innodb_doublewrite', 'query_cache_type', "+
		"'query_cache_size', 'query_cache_limit', 'join_buffer_size', 'sort_buffer_size', 'read_buffer_size', 'read_rnd_buffer_size', "+
		"'tmp_table_size', 'max_heap_table_size', 'bulk_insert_buffer_size', 'max_allowed_packet', 'performance_schema', 'log_bin', "+
		"'myisam_recover_options', 'aria_pagecache_buffer_size')")
	if err == nil && d.cluster {
		err = d.readSettings(ctx, a.Settings, "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_provider_version')")
	}
	d.describeCommits(&a)
	return a, callError(ctx, err)
}

// describeCommits describes the durability of an acknowledged InnoDB commit. In a Galera cluster every
// node has received an acknowledged commit. A client that writes to one node and reads from another
// may still read the previous state.
func (d *database) describeCommits(a *engine.About) {
	a.Promises = engine.Promises()
	switch a.Settings["innodb_flush_log_at_trx_commit"] {
	case "1":
		a.Acknowledged, a.Flushed = "InnoDB: on disk, flushed, commits of one moment together", true
	case "2":
		a.Acknowledged = "InnoDB: given to the system, flushed every second (innodb_flush_log_at_trx_commit=2)"
	default:
		a.Acknowledged, a.Promises = "InnoDB: in the server's memory, written every second (innodb_flush_log_at_trx_commit=0)", nil
	}
	if d.cluster {
		a.Acknowledged = "at all " + a.Settings["wsrep_cluster_size"] + " nodes; of each " + a.Acknowledged
		a.Promises = []engine.Promise{engine.NoLostWrites, engine.NoRevivedRecords}
	}
}

// readSettings adds the rows of a SHOW statement to a map.
func (d *database) readSettings(ctx context.Context, into map[string]string, query string) error {
	return querier{d.pool}.Rows(ctx, query, nil, func(row []any) error {
		var name, value string
		err := sqlengine.Scan(row, &name, &value)
		into[name] = value
		return err
	})
}

// Numbers of the server's errors.
const (
	errNotDropped, errNoDatabase, errNoTable           = 1010, 1049, 1146
	errNoLocal, errNoLocalOld                          = 4166, 1148 // LOAD DATA LOCAL is switched off
	errColumnExists, errIndexExists, errNoThread       = 1060, 1061, 1094
	errDatabaseDenied, errTableDenied, errColumnDenied = 1044, 1142, 1143

	errOutOfRange, errTruncated, errWrongValue, errIncorrect, errTooLong = 1264, 1265, 1292, 1366, 1406
)

// is reports whether the server returned one of these errors.
func is(err error, numbers ...uint16) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, e.Number)
}

// drop drops a database. After a crash MariaDB repairs MyISAM tables before it drops them, and
// first copies them in the same folder (myisam_recover_options). Then the folder is not empty, and
// only the second attempt removes it.
func drop(exec func(statement string) error, name string) error {
	statement := "DROP DATABASE IF EXISTS " + ident(name)
	err := exec(statement)
	if is(err, errNotDropped) {
		err = exec(statement)
	}
	return err
}

// absent reports whether a subset or one of its tables does not exist.
func absent(err error) bool { return is(err, errNoDatabase, errNoTable) }
