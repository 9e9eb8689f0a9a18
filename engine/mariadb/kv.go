package mariadb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

// kvTables opens tables of records under keys, in the database named by the URL's prefix and
// recordsDatabase. YCSB's JDBC binding finds them there by their names. configs contains the
// configurations of the nodes. kvTables uses only one node of a cluster: if two nodes changed
// one record at the same time, one of them would fail.
type kvTables struct {
	*database
	configs []*mysql.Config
}

// dialect: keys are compared as bytes. A table is InnoDB's, clustered by its key.
func (k kvTables) dialect(t kv.Table) *sqlengine.KVDialect {
	text := k.translate(" CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
	schema := ident(k.databaseOf(t))
	value := "JSON_VALUE(%s, %s)"
	if k.mysql { // MySQL's JSON_VALUE returns at most 512 characters
		value = "JSON_UNQUOTE(JSON_EXTRACT(%s, %s))"
	}
	quote := flavour.Quote
	if t.Make { // see session
		quote = literal
	}
	where := "WHERE TABLE_SCHEMA = " + quote(k.databaseOf(t)) + " AND TABLE_NAME = ?"
	return &sqlengine.KVDialect{
		Quote:   ident,
		Schema:  schema + ".",
		Param:   func(int) string { return "?" },
		KeyType: "varchar(255)" + text, TextType: "longtext" + text, DocType: "JSON",
		TableOptions: " ENGINE=InnoDB",
		LimitClause:  func(param string) string { return "LIMIT " + param },
		FieldText:    func(doc, name string) string { return fmt.Sprintf(value, doc, "'$."+name+"'") },
		Merge:        func(doc, param string) string { return "JSON_MERGE_PATCH(" + doc + ", " + param + ")" },
		AtPath:       func(doc, path string) string { return fmt.Sprintf(value, doc, path) },
		SetPath:      func(doc, path, value string) string { return "JSON_SET(" + doc + ", " + path + ", " + value + ")" },
		MaxParams:    65535,
		ClearWords:   "TRUNCATE TABLE",
		Begin: map[kv.IsolationLevel][]string{
			kv.ReadCommitted:  {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"},
			kv.RepeatableRead: {"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION"},
			kv.Serializable:   {"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "START TRANSACTION"},
		},
		Variants: map[kv.Layout]sqlengine.KVVariant{kv.Hash: {
			TableOptions: fmt.Sprintf(" ENGINE=InnoDB PARTITION BY KEY (%s) PARTITIONS %d", sqlengine.KVKeyColumn, sqlengine.HashPartitions),
			CheckQuery: fmt.Sprintf("SELECT IF(COUNT(*) = %d AND MIN(PARTITION_METHOD) = 'KEY' AND MAX(SUBPARTITION_METHOD) IS NULL, "+
				"'1', '0') FROM information_schema.PARTITIONS %s", sqlengine.HashPartitions, where),
		}},
		Catalog: catalog(where),
	}
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if t.Make {
		if k.readOnly {
			return nil, engine.ErrReadOnly
		}
		if _, err := k.writes.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+ident(k.databaseOf(t))); err != nil {
			return nil, callError(ctx, err)
		}
	}
	session := func(ctx context.Context) (sqlengine.Session, error) { return k.session(ctx, t) }
	r, err := sqlengine.OpenKV(ctx, k.dialect(t), t, session)
	if err == nil {
		r.DescribeDurability = func(ctx context.Context, a *engine.About) error { return k.describeDurability(ctx, t, a) }
		r.Form = func(ctx context.Context) (string, error) { return k.createStatement(ctx, t) }
	}
	return r, err
}

// databaseOf returns the database of a table.
func (k kvTables) databaseOf(t kv.Table) string {
	if t.Space != "" {
		return k.prefix + recordsDatabase + "_" + strings.ToLower(t.Space)
	}
	return k.prefix + recordsDatabase
}

// describeDurability reports the table's storage engine and row format. Only InnoDB keeps what About
// reports of commits.
func (k kvTables) describeDurability(ctx context.Context, t kv.Table, a *engine.About) error {
	var storage, format string
	err := k.pool.QueryRowContext(ctx, "SELECT coalesce(ENGINE, ''), coalesce(ROW_FORMAT, '') FROM information_schema.TABLES "+
		"WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?", k.databaseOf(t), t.Name).Scan(&storage, &format)
	if err != nil {
		return callError(ctx, err)
	}
	if a.Settings != nil {
		a.Settings["table.engine"], a.Settings["table.row_format"] = storage, format
	}
	if storage == innoDB {
		return nil
	}
	a.Acknowledged = storage + ": in the server's memory or given to the system; no log of commits brings it back after a crash"
	a.Promises, a.Flushed = nil, false
	return nil
}

func (k kvTables) session(ctx context.Context, t kv.Table) (sqlengine.Session, error) {
	c, err := k.dial(ctx, k.configs, func(cfg *mysql.Config) {
		if t.Make {
			// A user's script creates the table in the default database, and may escape quotes by backslashes.
			cfg.DBName = k.databaseOf(t)
			cfg.Params["sql_mode"] = strings.Replace(cfg.Params["sql_mode"], "NO_BACKSLASH_ESCAPES,", "", 1)
		}
	})
	if err != nil {
		return nil, err
	}
	return &sqlengine.DriverSession{
		Conn: c, IsDuplicateKey: func(err error) bool { return is(err, errDuplicate) }, WrapWrite: retryDeadlock,
		IsConflict: func(err error) bool { return is(err, errDeadlock, errLockWait, errChanged) },
	}, nil
}

// dial opens a connection outside the pools, to the first node that serves.
func (d *database) dial(ctx context.Context, all []*mysql.Config, change func(*mysql.Config)) (driver.Conn, error) {
	n, err := d.newNodes(all, false, func(cfg *mysql.Config) {
		cfg.ClientFoundRows = true // also count updated rows whose values did not change
		if d.readOnly {
			cfg.Params["tx_read_only"] = "1"
		}
		change(cfg)
	})
	if err != nil {
		return nil, err
	}
	c, err := n.Connect(ctx)
	if err != nil {
		return nil, d.unreachable(err)
	}
	return c, nil
}

// maxDeadlocks is the number of deadlocks after which the caller of a statement gets the error.
const maxDeadlocks = 20

// retryDeadlock runs a statement outside a transaction. If InnoDB aborts it to resolve a deadlock,
// nothing of it is stored, and retryDeadlock runs it again.
func retryDeadlock(statement func() error) error {
	var err error
	for range maxDeadlocks {
		if err = statement(); !is(err, errDeadlock) {
			break
		}
	}
	return err
}
