package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/flavour"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "mariadb",
		Summary: "MariaDB, a database server; METviewer's own tables",
		Example: "mariadb://root@127.0.0.1:3306/mv_",
		Params: []engine.Param{
			{Name: "engine", Default: "MyISAM", Help: "storage engine of METviewer's tables: MyISAM, as METviewer has them, or InnoDB"},
			{Name: "apply_indexes", Default: "false", Help: "give METviewer's tables the further indexes that METdbLoad's apply_indexes makes: true or false"},
			{Name: "socket", Default: "", Help: "path of the server's socket, in place of host and port"},
		},
		Offers: map[design.Name][]flavour.Name{
			design.Normalized: {flavour.MetviewerSQL, flavour.SQL, flavour.CachedSQL, flavour.ISORange, flavour.EpochRange},
			design.Document:   {flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys},
			design.Wide:       {flavour.SQL, flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange},
		},
		Place:  engine.Remote,
		Server: server(),
		Open:   open,
	}
}

// settings of every session, see doc.go.
var session = []struct{ name, value string }{ //nolint:gochecknoglobals // a constant table
	{"sql_mode", "'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'"},
	{"time_zone", "'+00:00'"},
	{"max_sort_length", "8192"},                // bytes of a text that count when it is sorted
	{"in_predicate_conversion_threshold", "0"}, // a list of keys stays a range of the index, however long it is
	{"optimizer_max_sel_args", "1000000"},      // and is not given up for its length
}

const idleConnections = 16 // kept open

// database is a server, as far as its databases begin with a prefix.
type database struct {
	prefix  string
	engine  string // of METviewer's tables
	indexes bool

	readOnly bool
	cache    bool // the server has a query cache
	log      *slog.Logger
	pool     *sql.DB
	shown    string // the URL without its password
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	d := &database{prefix: strings.TrimPrefix(u.Path, "/"), engine: "MyISAM", readOnly: o.ReadOnly, log: o.Log, shown: u.Redacted()}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if err := d.options(u.Query()); err != nil {
		return nil, err
	}
	cfg := config(u)
	if err := d.probe(ctx, cfg); err != nil {
		return nil, err
	}
	if d.cache { // only what says SQL_CACHE is cached
		cfg.Params["query_cache_type"] = "DEMAND"
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, d.unreachable(err)
	}
	d.pool = sql.OpenDB(connector)
	d.pool.SetMaxIdleConns(idleConnections)
	return &engine.Engine{Archives: d, About: d.about, Close: d.pool.Close}, nil
}

// options reads the parameters of the URL.
func (d *database) options(q url.Values) error {
	bad := func(name, cure string) error {
		return &fault.Error{Setting: "mariadb URL, parameter " + name, Problem: strconv.Quote(q.Get(name)) + " is not understood", Cure: cure}
	}
	if s := q.Get("engine"); s != "" {
		known := []string{"MyISAM", "InnoDB"}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, s) })
		if i < 0 {
			return bad("engine", "write engine=MyISAM or engine=InnoDB")
		}
		d.engine = known[i]
	}
	if s := q.Get("apply_indexes"); s != "" {
		var err error
		if d.indexes, err = strconv.ParseBool(s); err != nil {
			return bad("apply_indexes", "write apply_indexes=true or apply_indexes=false")
		}
	}
	return nil
}

// config is the driver's configuration for a URL.
func config(u *url.URL) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.Net, cfg.Addr = "tcp", u.Host
	if u.Host == "" {
		cfg.Addr = "127.0.0.1"
	}
	if u.Port() == "" {
		cfg.Addr = net.JoinHostPort(strings.Trim(cfg.Addr, "[]"), "3306")
	}
	if s := u.Query().Get("socket"); s != "" {
		cfg.Net, cfg.Addr = "unix", s
	}
	cfg.InterpolateParams = true // one round trip per statement
	cfg.MaxAllowedPacket = 0     // the server's own
	cfg.Collation = "utf8mb4_bin"
	cfg.Logger = &mysql.NopLogger{}
	cfg.Params = map[string]string{}
	for _, s := range session {
		cfg.Params[s.name] = s.value
	}
	return cfg
}

// probe connects once, to learn what the server is.
func (d *database) probe(ctx context.Context, cfg *mysql.Config) error {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return d.unreachable(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // nothing was written
	var cacheType string
	var cacheSize int64
	var folded int
	err = db.QueryRowContext(ctx, "SELECT @@global.query_cache_type, @@global.query_cache_size, @@lower_case_table_names").Scan(&cacheType, &cacheSize, &folded)
	if err != nil {
		if ended := failed(ctx, err); ended != err { //nolint:errorlint // the same error or the context's
			return ended
		}
		return d.unreachable(err)
	}
	if folded != 0 {
		return &fault.Error{Setting: d.shown, Problem: "the server does not tell A from a in the names of databases", Err: engine.ErrUnreachable,
			Cure: "start it with --lower-case-table-names=0, as is usual on Linux"}
	}
	d.cache = cacheType != "OFF" && cacheSize > 0
	return nil
}

func (d *database) unreachable(err error) error {
	return &fault.Error{Setting: d.shown, Err: fmt.Errorf("%w: %w", engine.ErrUnreachable, err),
		Cure: "start the server (`barograph lab up mariadb`), or name another host, port, user or password"}
}

// about names the server and what decides its speed.
func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "MariaDB", Settings: map[string]string{
		"driver": "github.com/go-sql-driver/mysql", "metviewer_engine": d.engine, "apply_indexes": strconv.FormatBool(d.indexes),
	}}
	if err := d.pool.QueryRowContext(ctx, "SELECT version()").Scan(&a.Version); err != nil {
		return a, failed(ctx, err)
	}
	for _, s := range session {
		a.Settings["session."+s.name] = strings.Trim(s.value, "'")
	}
	rows, err := d.pool.QueryContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('key_buffer_size', 'innodb_buffer_pool_size', "+
		"'innodb_log_file_size', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_io_capacity', 'innodb_doublewrite', 'query_cache_type', "+
		"'query_cache_size', 'query_cache_limit', 'join_buffer_size', 'sort_buffer_size', 'read_buffer_size', 'read_rnd_buffer_size', "+
		"'tmp_table_size', 'max_heap_table_size', 'bulk_insert_buffer_size', 'max_allowed_packet', 'performance_schema', 'log_bin', "+
		"'myisam_recover_options', 'aria_pagecache_buffer_size')")
	if err != nil {
		return a, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return a, err
		}
		a.Settings[name] = value
	}
	return a, rows.Err()
}

// failed returns the context's error where that is why a statement failed. A
// connection that was not made in time may say so before the context does.
func failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return err
}

// Numbers of the server's errors.
const (
	errNoDatabase = 1049
	errNoTable    = 1146
	errNoLocal    = 4166 // LOAD DATA LOCAL is switched off
	errNoLocalOld = 1148

	errOutOfRange = 1264
	errTruncated  = 1265
	errWrongValue = 1292
	errIncorrect  = 1366
	errTooLong    = 1406
)

// is reports whether the server answered with one of these errors.
func is(err error, numbers ...uint16) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, e.Number)
}

// absent reports whether a subset or one of its tables does not exist.
func absent(err error) bool { return is(err, errNoDatabase, errNoTable) }
