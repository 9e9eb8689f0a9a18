package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
)

// kvTables opens tables of records under keys.
type kvTables struct{ *database }

// dialect: the server folds the unquoted names of YCSB's JDBC binding to lower case, and so do
// these statements. Keys compare bytewise.
func (k kvTables) dialect() *sqlengine.KVDialect {
	return &sqlengine.KVDialect{
		Quote:   func(name string) string { return pgx.Identifier{strings.ToLower(name)}.Sanitize() },
		Param:   func(i int) string { return "$" + strconv.Itoa(i) },
		KeyType: `varchar(255) COLLATE "C"`, TextType: "text", DocType: "jsonb",
		LimitClause: func(param string) string { return "FETCH FIRST " + param + " ROWS ONLY" },
		FieldText:   func(doc, name string) string { return doc + " ->> '" + name + "'" },
		Merge:       func(doc, param string) string { return doc + " || " + param + "::jsonb" },
		AtPath: func(doc, path string) string {
			return "jsonb_path_query_first(" + doc + ", " + path + "::jsonpath) #>> '{}'"
		},
		SetPath: func(doc, path, value string) string {
			return "jsonb_set(" + doc + ", " + path + "::text[], to_jsonb(" + value + "::text))"
		},
		MaxParams: 65535, FoldsNames: true, ClearWords: "TRUNCATE", // rows that DELETE leaves would slow every later scan
		Begin: map[kv.IsolationLevel][]string{
			kv.ReadCommitted:  {"BEGIN ISOLATION LEVEL READ COMMITTED"},
			kv.RepeatableRead: {"BEGIN ISOLATION LEVEL REPEATABLE READ"},
			kv.Serializable:   {"BEGIN ISOLATION LEVEL SERIALIZABLE"},
		},
		JoinedText: func(doc, name string) string {
			field := doc + " -> '" + name + "'"
			return "CASE jsonb_typeof(" + field + ") WHEN 'array' THEN array_to_string(ARRAY(SELECT e FROM jsonb_array_elements_text(" + field +
				") WITH ORDINALITY AS a (e, i) ORDER BY i), '') ELSE " + doc + " ->> '" + name + "' END"
		},
		Variants: map[kv.Layout]sqlengine.KVVariant{
			kv.Hash: {
				TableOptions: " PARTITION BY HASH (" + sqlengine.KVKeyColumn + ")", ExtraStatements: hashPartitions,
				CheckQuery: "SELECT (p.partstrat = 'h' AND (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.partrelid) = " +
					strconv.Itoa(sqlengine.HashPartitions) +
					")::int::text FROM pg_partitioned_table p WHERE p.partrelid = to_regclass(quote_ident($1::text))",
			},
			kv.Array:      {ExtraStatements: commentStatement(kv.Array), CheckQuery: hasComment(kv.Array)},
			kv.ArrayIndex: {ExtraStatements: arrayIndex, CheckQuery: hasComment(kv.ArrayIndex) + hasElements},
		},
		Catalog: catalog(),
	}
}

// commentStatement returns the statement that writes a layout into the table's comment, because no column
// shows it.
func commentStatement(l kv.Layout) func(d *sqlengine.KVDialect, t kv.Table) []string {
	return func(d *sqlengine.KVDialect, t kv.Table) []string {
		return []string{"COMMENT ON TABLE " + d.Quote(t.Name) + " IS '" + string(l) + "'"}
	}
}

func hasComment(l kv.Layout) string {
	return "SELECT (coalesce(obj_description(to_regclass(quote_ident($1::text)), 'pg_class'), '') = '" + string(l) + "')::int::text"
}

// hasElements follows the query of hasComment. A table without its index has another layout.
const hasElements = " WHERE EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam" +
	" WHERE i.indrelid = to_regclass(quote_ident($1::text)) AND m.amname = 'gin')"

// arrayIndex returns the statement that creates the index over the elements of the first field.
func arrayIndex(d *sqlengine.KVDialect, t kv.Table) []string {
	return append(commentStatement(kv.ArrayIndex)(d, t), "CREATE INDEX IF NOT EXISTS "+d.Quote(t.Name+"_elements")+" ON "+d.Quote(t.Name)+
		" USING gin (("+sqlengine.KVDocumentColumn+" -> '"+t.Fields[0]+"'))")
}

// hashPartitions returns the statements that create the partitions. Their names differ from those of a user's own
// partitions.
func hashPartitions(d *sqlengine.KVDialect, t kv.Table) (all []string) {
	for i := range sqlengine.HashPartitions {
		all = append(all, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)",
			d.Quote(t.Name+"_hash_"+strconv.Itoa(i)), d.Quote(t.Name), sqlengine.HashPartitions, i))
	}
	return all
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if t.Make && k.readOnly {
		return nil, engine.ErrReadOnly
	}
	if t.Make && t.Space != "" {
		if _, err := k.pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schemaOf(t)); err != nil {
			return nil, callError(ctx, err)
		}
	}
	d, session := k.dialect(), func(ctx context.Context) (sqlengine.Session, error) { return k.session(ctx, t) }
	closeConns := func() error { return nil }
	if k.pipeline > 0 {
		if t.Make { // on a separate connection, because the statements are one transaction
			created, err := sqlengine.OpenKV(ctx, d, t, session)
			if err != nil {
				return nil, callError(ctx, err)
			}
			if err := created.Close(); err != nil {
				return nil, err
			}
			t.Make = false
		}
		all := newSharedConns(k.pipeline, func(ctx context.Context) (*pgx.Conn, error) { return k.connection(ctx, t) })
		session, closeConns = all.session, all.close
	}
	r, err := sqlengine.OpenKV(ctx, d, t, session)
	if err != nil {
		return nil, errors.Join(callError(ctx, err), closeConns())
	}
	r.DescribeDurability = func(ctx context.Context, a *engine.About) error { return k.describeDurability(ctx, t, a) }
	r.Form = func(ctx context.Context) (string, error) { return k.describe(ctx, t) }
	if r.Close = closeConns; t.Layout != kv.Document {
		return r, nil
	}
	plain := r.Connect
	r.Connect = func(ctx context.Context) (*kv.Conn, error) {
		c, err := plain(ctx)
		if err == nil {
			set := c.UpdatePath
			c.UpdatePath = func(ctx context.Context, key []byte, path string, value []byte) error {
				array, err := pathArray(path)
				if err != nil {
					return err
				}
				return set(ctx, key, array, value)
			}
		}
		return c, err
	}
	return r, nil
}

// describeDurability reports whether a table or one of its partitions is unlogged: the server empties it after
// a crash.
func (k kvTables) describeDurability(ctx context.Context, t kv.Table, a *engine.About) error {
	var unlogged bool
	err := k.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class WHERE relpersistence = 'u' AND (oid = to_regclass($1)
		OR oid IN (SELECT relid FROM pg_partition_tree(to_regclass($1)))))`, tableOf(t)).Scan(&unlogged)
	if err != nil || !unlogged {
		return callError(ctx, err)
	}
	a.Acknowledged, a.Promises, a.Flushed = "in the server's memory: the table is unlogged, and a crash empties it", nil, false
	return nil
}

// pathArray writes a path such as $.a[0].b in the form of jsonb_set: {a,0,b}.
func pathArray(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "$")
	var steps []string
	for ok && rest != "" {
		var step string
		switch rest[0] {
		case '.':
			n := strings.IndexAny(rest[1:], ".[")
			if n < 0 {
				n = len(rest) - 1
			}
			step, rest = rest[1:n+1], rest[n+1:]
		case '[':
			if step, rest, ok = strings.Cut(rest[1:], "]"); ok {
				_, err := strconv.Atoi(step)
				ok = err == nil
			}
		}
		ok = ok && step != ""
		quoted, err := json.Marshal(step)
		ok = ok && err == nil
		steps = append(steps, string(quoted))
	}
	if !ok || len(steps) == 0 {
		return "", fmt.Errorf("path %q is not understood; write it like $.field3 or $.data[0].value", path)
	}
	return "{" + strings.Join(steps, ",") + "}", nil
}

// session is a connection without pgx's conversions: it sends and receives texts unchanged.
type session struct {
	conn  *pgx.Conn
	pg    *pgconn.PgConn
	wire  *wire
	names int
}

// connection opens a connection whose search path finds the table.
func (k kvTables) connection(ctx context.Context, t kv.Table) (*pgx.Conn, error) {
	config := k.pool.Config().ConnConfig
	if t.Space != "" {
		config.RuntimeParams["search_path"] = schemaOf(t) // no other schema, which may have a table of this name
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, unreachable(err)
	}
	return c, nil
}

func (k kvTables) session(ctx context.Context, t kv.Table) (sqlengine.Session, error) {
	c, err := k.connection(ctx, t)
	if err != nil {
		return nil, err
	}
	return newSession(c), nil //nolint:contextcheck // the session outlives the context
}

func newSession(c *pgx.Conn) *session {
	pg := c.PgConn()
	return &session{conn: c, pg: pg, wire: newWire(pg, c.Config().BuildContextWatcherHandler(pg))}
}

// Prepare prepares a statement under a unique name.
func (s *session) Prepare(ctx context.Context, text string) (sqlengine.Statement, error) {
	s.names++
	d, err := s.pg.Prepare(ctx, statementName(s.names), text, nil)
	if err != nil {
		return nil, err
	}
	return &statement{pg: s.pg, wire: s.wire, description: d}, nil
}

func statementName(n int) string { return "kv" + strconv.Itoa(n) }

// DuplicateKey reports whether an error is a violated unique key.
func (s *session) DuplicateKey(err error) bool { return isDuplicateKey(err) }

// Conflict reports whether an error is a serialization failure or a deadlock.
func (s *session) Conflict(err error) bool { return hasCode(err, "40001", "40P01") }

// RunTransaction runs a transaction.
func (s *session) RunTransaction(f func() error) error { return f() }

// forceFlush makes a session report its counts before it answers. Otherwise the server's
// counters lack the session's last second until its process has exited, and closing the
// connection does not wait for that. Versions before 15 have no such function.
const forceFlush = "SELECT pg_stat_force_next_flush()"

func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	s.wire.watch.Close()
	_, _ = s.conn.Exec(ctx, forceFlush) // a lost connection reports nothing
	return s.conn.Close(ctx)
}

type statement struct {
	pg          *pgconn.PgConn
	wire        *wire
	description *pgconn.StatementDescription
	limitArgs
}

// limitArgs is memory for arguments and the limit that follows them.
type limitArgs struct {
	values [][]byte
	number []byte
}

func (n *limitArgs) withLimit(args [][]byte, limit int) [][]byte {
	if limit == sqlengine.NoLimit {
		return args
	}
	n.number = strconv.AppendInt(n.number[:0], int64(limit), 10)
	n.values = append(append(n.values[:0], args...), n.number)
	return n.values
}

func (st *statement) Exec(ctx context.Context, args [][]byte) (int64, error) {
	if st.wire.bind(st.description.Name, args) {
		return st.wire.run(ctx, nil)
	}
	tag, err := st.pg.ExecStatement(ctx, st.description, args, nil, nil).Close()
	return tag.RowsAffected(), err
}

func (st *statement) Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error {
	args = st.withLimit(args, limit)
	if st.wire.bind(st.description.Name, args) {
		_, err := st.wire.run(ctx, each)
		return err
	}
	rows := st.pg.ExecStatement(ctx, st.description, args, nil, nil)
	var stop error
	for rows.NextRow() && stop == nil {
		stop = each(rows.Values())
	}
	_, err := rows.Close() // it reads the remaining rows
	if stop != nil {
		return stop
	}
	return err
}
