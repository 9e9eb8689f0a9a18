//go:build oracle

package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// notRun lists the code of the engine that was not run against a server, with the reason.
const notRun = "all of it: no Oracle server is available here; " +
	"the statements are compared with golden files, the rest is tested with a stand-in"

const (
	maxConnections = 32  // of one engine
	prefetch       = 500 // rows in one reply of the server
	connectSeconds = 10
	oldest         = 19 // version of the server
)

// sessionSettings make texts compare bytewise, and make the form of times and numbers independent of the
// server's location.
const sessionSettings = "ALTER SESSION SET NLS_COMP = 'BINARY' NLS_SORT = 'BINARY' NLS_NUMERIC_CHARACTERS = '.,' " +
	"NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS' TIME_ZONE = '+00:00' DDL_LOCK_TIMEOUT = 60"

// database is an open database.
type database struct {
	pool     *sql.DB
	readOnly bool
	version  string
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	return opened(ctx, goora.NewConnector(connectString(u)), o)
}

// connectString converts the URL for the driver.
func connectString(u *url.URL) string {
	given, options := u.Query(), url.Values{}
	for ours, theirs := range map[string]string{"sid": "SID", "ssl": "SSL", "ssl_verify": "SSL VERIFY", "wallet": "WALLET"} {
		if v := given.Get(ours); v != "" {
			options.Set(theirs, v)
		}
	}
	options.Set("PREFETCH_ROWS", strconv.Itoa(prefetch))
	options.Set("CONNECT TIMEOUT", strconv.Itoa(connectSeconds))
	options.Set("SERVER LOCATION", "UTC") // times have no zone and must not be converted
	server := *u
	server.Opaque, server.RawQuery = "", options.Encode()
	return server.String()
}

// opened returns an engine that uses a connector's connections.
func opened(ctx context.Context, c driver.Connector, o engine.Options) (*engine.Engine, error) {
	db := &database{pool: sql.OpenDB(connector{c}), readOnly: o.ReadOnly}
	db.pool.SetMaxOpenConns(maxConnections)
	db.pool.SetMaxIdleConns(maxConnections)
	if err := db.check(ctx); err != nil {
		db.pool.Close() //nolint:errcheck // the first error is more specific
		return nil, err
	}
	return &engine.Engine{Abilities: []any{db}, About: db.about, Close: db.pool.Close}, nil
}

// connector sets up every session.
type connector struct{ driver.Connector }

// Connect opens a session.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	e, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T executes no statements", conn), conn.Close())
	}
	if _, err := e.ExecContext(ctx, sessionSettings, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// check connects to the server and checks that it can store an archive.
func (db *database) check(ctx context.Context) error {
	var charset string
	err := db.pool.QueryRowContext(ctx, "SELECT (SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'), "+
		"(SELECT MAX(version) FROM product_component_version WHERE product LIKE 'Oracle%') FROM DUAL").Scan(&charset, &db.version)
	if err != nil {
		return unreachable(err)
	}
	major, _, _ := strings.Cut(db.version, ".")
	switch n, err := strconv.Atoi(major); {
	case err != nil || n < oldest:
		return &fault.Error{Problem: "Oracle Database " + db.version + " is too old", Err: engine.ErrUnreachable, Cure: "use 19c or later"}
	case charset != "AL32UTF8":
		return &fault.Error{Problem: "the database's character set is " + charset, Err: engine.ErrUnreachable, Cure: "use a database (a pluggable one will do) of character set AL32UTF8, in which every text can be stored"}
	}
	return nil
}

// Numbers of Oracle's errors.
const (
	nameTaken      = 955
	badLogin       = 1017
	noSuchSID      = 12505
	noSuchService  = 12514
	missingRights  = 1031
	noQuota        = 1950
	accountIsShut  = 28000
	passwordIsOver = 28001
)

// code returns the number of Oracle's error, 0 for other errors.
func code(err error) int {
	if e, ok := errors.AsType[*network.OracleError](err); ok {
		return e.ErrCode
	}
	return 0
}

// unreachable returns the reason why a server is unreachable, with a cure.
func unreachable(err error) error {
	cure := "start the server or check host, port and service: oracle://user@host:1521/service"
	switch code(err) {
	case accountIsShut:
		cure = "unlock the account: ALTER USER the user ACCOUNT UNLOCK"
	case passwordIsOver:
		cure = "give the user a new password: ALTER USER the user IDENTIFIED BY the password"
	case badLogin:
		cure = "check user and password: oracle://user:password@host:1521/service"
	case noSuchService, noSuchSID:
		cure = "name a service that `lsnrctl status` lists on the server, or an instance by ?sid="
	}
	return &fault.Error{Problem: "Oracle does not answer", Err: fmt.Errorf("%w: %w", engine.ErrUnreachable, err), Cure: cure}
}

// about returns the server's version and the changed settings.
func (db *database) about(context.Context) (engine.About, error) {
	return engine.About{Product: "Oracle Database", Version: db.version, Settings: map[string]string{
		"driver": "github.com/sijms/go-ora/v2", "session": strings.TrimPrefix(sessionSettings, "ALTER SESSION SET "), "prefetch rows": strconv.Itoa(prefetch),
	}}, nil
}
