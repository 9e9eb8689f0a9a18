package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

// schemaOf returns the quoted schema of a table with a Space.
func schemaOf(t kv.Table) string {
	return pgx.Identifier{"ycsb_" + strings.ToLower(t.Space)}.Sanitize()
}

// tableOf returns the quoted name of a table for to_regclass.
func tableOf(t kv.Table) string {
	name := pgx.Identifier{strings.ToLower(t.Name)}.Sanitize()
	if t.Space != "" {
		return schemaOf(t) + "." + name
	}
	return name
}

const tableOID = "to_regclass(quote_ident($1::text))"

// catalog returns the queries on pg_catalog. A script is one transaction, so a failed script leaves nothing.
// CREATE TABLESPACE is not possible in a transaction: tablespaces must exist before.
func catalog() *sqlengine.KVCatalog {
	return &sqlengine.KVCatalog{
		ColumnsQuery: `SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),
			CASE WHEN t.typname = 'jsonb' THEN 'document' WHEN t.typcategory = 'S' THEN 'text' ELSE 'other' END,
			(a.attnotnull AND NOT a.atthasdef AND a.attidentity = '')::int::text
			FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
			WHERE a.attrelid = ` + tableOID + ` AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
		UniqueQuery: `SELECT (count(*) > 0)::int::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum
			= i.indkey[0]
			WHERE i.indrelid = ` + tableOID +
			` AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL
			AND a.attname = '` + sqlengine.KVKeyColumn + `'`,
		CommentQuery: "SELECT coalesce(obj_description(" + tableOID + ", 'pg_class'), '')",
		SetComment: func(table, comment string) string {
			return "COMMENT ON TABLE " + table + " IS " + flavour.Quote(comment)
		},
		ErrorPosition: func(err error) int {
			if e, ok := errors.AsType[*pgconn.PgError](err); ok {
				return int(e.Position)
			}
			return 0
		},
		Begin: "BEGIN", Commit: "COMMIT", Rollback: "ROLLBACK", DollarQuotes: true,
	}
}

// maxFormLines is the limit for the lines of a description. A table may have thousands of partitions.
const maxFormLines = 200

// describe returns a description in SQL, with a line for each column, index, trigger and partition of a table.
func (k kvTables) describe(ctx context.Context, t kv.Table) (string, error) {
	var lines []string
	err := querier{k.pool}.Rows(ctx, `WITH tree AS (
			SELECT to_regclass($1)::oid AS oid, 0 AS level UNION SELECT relid, level FROM pg_partition_tree(to_regclass($1))
		), storage AS (
			SELECT c.oid, t.level, c.relname, c.relkind IN ('p', 'I') AS divided,
				coalesce(' USING ' || am.amname, '') || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '')
				|| coalesce(' TABLESPACE ' || s.spcname, '') AS how,
				CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END AS logged, c.relpartbound
			FROM tree t JOIN pg_class c ON c.oid = t.oid LEFT JOIN pg_am am ON am.oid = c.relam LEFT JOIN pg_tablespace s ON
				s.oid = c.reltablespace
		)
		SELECT line FROM (
			SELECT CASE level WHEN 0 THEN 0 ELSE 4 END AS part, level AS a, relname::text AS b,
				repeat('  ', level) || logged || CASE level WHEN 0 THEN 'TABLE ' ELSE 'PARTITION ' END || relname
				|| coalesce(' ' || pg_get_expr(relpartbound, oid), '') || coalesce(' PARTITION BY ' || pg_get_partkeydef(oid), '')
					|| how AS line
			FROM storage
			UNION ALL
			SELECT 1, a.attnum, '', '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
				|| CASE WHEN a.attcollation NOT IN (0, y.typcollation) THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END
				|| CASE WHEN a.attstorage <> y.typstorage THEN ' STORAGE ' || a.attstorage::text ELSE '' END
				|| CASE to_jsonb(a) ->> 'attcompression' WHEN 'l' THEN ' COMPRESSION lz4' WHEN 'p' THEN ' COMPRESSION pglz' ELSE ''
					END
				|| CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
			FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_collation l ON l.oid = a.attcollation
			WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
			UNION ALL
			SELECT 2, 0, c.relname::text, '  ' || pg_get_indexdef(i.indexrelid) || coalesce(' TABLESPACE ' || s.spcname, '')
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE
				i.indrelid = to_regclass($1)
			UNION ALL
			SELECT 3, 0, tgname::text, '  ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = to_regclass($1) AND NOT
				tgisinternal
		) AS lines ORDER BY part, a, b`, []any{tableOf(t)}, func(row []any) error {
		var line string
		err := sqlengine.Scan(row, &line)
		lines = append(lines, line)
		return err
	})
	if n := len(lines) - maxFormLines; n > 0 {
		lines = append(lines[:maxFormLines], fmt.Sprintf("  and %d lines more", n))
	}
	return strings.Join(lines, "\n"), callError(ctx, err)
}
