package mariadb

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
)

// literal returns a text as a literal of a session that creates a table: such a session treats backslashes as escapes.
func literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}

// catalog returns the queries on information_schema; where is their condition on the table. The server
// commits each statement that creates something. JSON is longtext in MariaDB, and a type in MySQL.
func catalog(where string) *sqlengine.KVCatalog {
	return &sqlengine.KVCatalog{
		ColumnsQuery: `SELECT COLUMN_NAME, COLUMN_TYPE,
			CASE WHEN DATA_TYPE = 'json' THEN 'document' WHEN DATA_TYPE IN ('text', 'mediumtext', 'longtext') THEN 'text document'
			WHEN DATA_TYPE IN ('char', 'varchar', 'varbinary', 'tinytext', 'blob', 'mediumblob', 'longblob') THEN 'text' ELSE 'other' END,
			IF(IS_NULLABLE = 'NO' AND COLUMN_DEFAULT IS NULL
				AND EXTRA NOT LIKE '%auto_increment%' AND EXTRA NOT LIKE '%generated%', '1', '0')
			FROM information_schema.COLUMNS ` + where + ` ORDER BY ORDINAL_POSITION`,
		UniqueQuery: `SELECT IF(COUNT(*) > 0, '1', '0') FROM (SELECT INDEX_NAME FROM information_schema.STATISTICS ` + where +
			` AND NON_UNIQUE = 0
			GROUP BY INDEX_NAME HAVING COUNT(*) = 1 AND MIN(LOWER(COLUMN_NAME)) = '` + sqlengine.KVKeyColumn +
			`' AND MAX(SUB_PART) IS NULL) AS single_column`,
		CommentQuery: "SELECT TABLE_COMMENT FROM information_schema.TABLES " + where,
		SetComment:   func(table, comment string) string { return "ALTER TABLE " + table + " COMMENT = " + literal(comment) },
		ErrorPosition: func(err error) int {
			if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
				if m := errorLine.FindStringSubmatch(e.Message); m != nil {
					line, _ := strconv.Atoi(m[1]) // digits
					return -line
				}
			}
			return 0
		},
		Drop:             func(table string) string { return "DROP TABLE " + table },
		BackslashEscapes: true, HashComments: true,
	}
}

var errorLine = regexp.MustCompile(` at line (\d+)$`)

// createStatement returns the statement with which the server would create the table.
func (k kvTables) createStatement(ctx context.Context, t kv.Table) (string, error) {
	var name, text string
	err := k.pool.QueryRowContext(ctx, "SHOW CREATE TABLE "+ident(k.databaseOf(t))+"."+ident(t.Name)).Scan(&name, &text)
	return text, callError(ctx, err)
}
