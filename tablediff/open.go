package tablediff

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/fault"
)

// Open connects to one database: mariadb://user:password@host:port/database,
// or with ?socket=PATH in place of the host. The caller closes it.
func Open(ctx context.Context, rawURL string) (*sql.DB, error) {
	u, err := url.Parse(rawURL)
	if err != nil { // it quotes the URL, and a password with it
		return nil, &fault.Error{Setting: "URL", Problem: "is not understood", Cure: "write mariadb://user:password@host:port/database"}
	}
	if u.Scheme != "mariadb" && u.Scheme != "mysql" {
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Problem: "is not a database of METviewer's", Cure: "write mariadb://user:password@host:port/database"}
	}
	cfg := mysql.NewConfig()
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	cfg.Net, cfg.Addr = "tcp", u.Host
	if cfg.DBName == "" {
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Problem: "names no database", Cure: "write mariadb://user:password@host:port/database"}
	}
	if u.Port() == "" {
		cfg.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	if s := u.Query().Get("socket"); s != "" {
		cfg.Net, cfg.Addr = "unix", s
	}
	cfg.MaxAllowedPacket = 0 // the server's own
	cfg.Collation = "utf8mb4_bin"
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Err: err, Cure: "write mariadb://user:password@host:port/database"}
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		db.Close() //nolint:errcheck // nothing was opened
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Problem: "is not reached", Err: fmt.Errorf("%w", err), Cure: "start the server, or name another host, port, user, password or database"}
	}
	return db, nil
}
