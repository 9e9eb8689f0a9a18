package sqlengine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// Session is a connection for tables of records under keys: a thin layer over an engine's driver. One goroutine uses
// it.
type Session interface {
	// Prepare prepares a text. The caller prepares each text once.
	Prepare(ctx context.Context, text string) (Statement, error)
	// DuplicateKey reports whether an insert failed because the key exists already.
	DuplicateKey(err error) bool
	Close() error // closes the statements, too
}

// NoLimit as the limit of Statement.Query means that the statement has no LIMIT.
const NoLimit = -1

// Statement is a prepared statement. Its arguments are texts, nil = NULL, and it does not keep them.
type Statement interface {
	// Exec returns the number of rows that matched, changed or not.
	Exec(ctx context.Context, args [][]byte) (int64, error)
	// Query passes each row to each. A value is a text, nil = NULL, and is valid until each returns. Unless limit is
	// NoLimit, it is the last argument, a number.
	Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error
}

// OpenKV opens a table of records under keys with an engine's sessions.
func OpenKV(ctx context.Context, d *KVDialect, t kv.Table, session func(ctx context.Context) (Session, error)) (*kv.Records, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	switch t.Layout {
	case "":
		t.Layout = kv.Columns
	case kv.Columns, kv.Document:
	default:
		if _, ok := d.Variants[t.Layout]; !ok {
			return nil, fmt.Errorf("layout %s: %w", t.Layout, engine.ErrNoDesign)
		}
	}
	if t.DDL != nil && d.Catalog == nil {
		return nil, fmt.Errorf("%s: %w", t.DDL.File, engine.ErrNoDesign) // kv.Offer.OwnDDL is false
	}
	x := newKVTexts(d, t)
	if err := x.prepareTable(ctx, session); err != nil {
		return nil, err
	}
	run := func(ctx context.Context, text string, do func(st Statement) error) error {
		s, err := session(ctx)
		if err != nil {
			return err
		}
		st, err := s.Prepare(ctx, text)
		if err == nil {
			err = do(st)
		}
		return errors.Join(err, s.Close())
	}
	return &kv.Records{
		Connect: func(ctx context.Context) (*kv.Conn, error) {
			s, err := session(ctx)
			if err != nil {
				return nil, err
			}
			return x.connect(s), nil
		},
		Count: func(ctx context.Context) (n int64, err error) {
			err = run(ctx, x.countText(), func(st Statement) error {
				return st.Query(ctx, nil, NoLimit, func(v [][]byte) error {
					_, err := fmt.Sscan(string(v[0]), &n)
					return err
				})
			})
			return n, err
		},
		Clear: func(ctx context.Context) error {
			exec := func(st Statement) error { _, err := st.Exec(ctx, nil); return err }
			if x.ClearWords != "" && run(ctx, x.ClearWords+" "+x.name, exec) == nil {
				return nil
			}
			return run(ctx, "DELETE FROM "+x.name, exec) // TRUNCATE needs more privileges, and fails if a foreign key refers to the table
		},
		Close: func() error { return nil },
	}, nil
}

// prepareTable creates the table if t.Make is set, and checks that it has the requested columns and layout.
func (x *kvTexts) prepareTable(ctx context.Context, session func(ctx context.Context) (Session, error)) (err error) {
	s, err := session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if x.Catalog != nil {
		err = x.openTable(ctx, s)
	} else if x.t.Make {
		_, err = x.makeTable(ctx, s)
	}
	if err != nil {
		return err
	}
	st, err := s.Prepare(ctx, x.readText(nil))
	if err == nil {
		err = st.Query(ctx, [][]byte{{}}, NoLimit, func([][]byte) error { return nil })
	}
	if err == nil && x.t.DDL == nil {
		err = x.checkLayout(ctx, s)
	}
	if err != nil && ctx.Err() == nil {
		return &fault.Error{
			Setting: "table " + x.t.Name, Problem: "does not exist, or does not have the layout " + string(x.t.Layout),
			Err: err, Cure: "load it first, with the same fields and layout",
		}
	}
	return err
}

// checkLayout checks that the table has the requested physical layout. The columns do not show it, and it decides the
// speed.
func (x *kvTexts) checkLayout(ctx context.Context, s Session) error {
	for layout, v := range x.Variants {
		st, err := s.Prepare(ctx, v.CheckQuery)
		if err != nil {
			return err
		}
		found := false
		err = st.Query(ctx, [][]byte{[]byte(x.tableName())}, NoLimit, func(values [][]byte) error {
			found = string(values[0]) == "1"
			return nil
		})
		if err != nil {
			return err
		}
		if found != (layout == x.t.Layout) {
			if found {
				return fmt.Errorf("its layout is %s", layout)
			}
			return fmt.Errorf("its layout is not %s", layout)
		}
	}
	return nil
}

// tableName returns the name as the engine stores it.
func (x *kvTexts) tableName() string {
	if x.FoldsNames {
		return strings.ToLower(x.t.Name)
	}
	return x.t.Name
}

// kvConn is the connection of one worker, with its statements and its buffers.
type kvConn struct {
	*kvTexts
	s    Session
	tx   Transactor // the session, if it has transactions; else nil
	json *kvJSON

	transactionStatements map[string]Statement // those that start and finish transactions, by text

	// broken is the error of a failed rollback. Every later read returns it, and the caller opens another connection
	// (kv.Reopen).
	broken error

	statements   map[string]Statement // by operation and fields, see statement
	statementKey []byte               // buffer for a key of statements

	rows kv.Fields // for the key of an insert's statement: the number of its rows
	args [][]byte  // arguments of a statement
	docs []byte    // the documents to which args refer
	row  kv.Row    // the current record of a scan

	// The state of the running statement. The callbacks are methods that read it, because a new closure for each call
	// would allocate.
	fields kv.Fields
	into   *kv.Row
	found  bool
	each   func(key []byte, r *kv.Row) error
	onRead func(values [][]byte) error
	onScan func(values [][]byte) error
	onPath func(values [][]byte) error
}

// kvOperation is what a statement does.
type kvOperation byte

const (
	readRecord kvOperation = iota
	scanRecords
	insertRecords
	updateRecord
	deleteRecord
	readAtPath
	updateAtPath
)

func (x *kvTexts) connect(s Session) *kv.Conn {
	c := &kvConn{kvTexts: x, s: s, json: newKVJSON(x.t.Fields, x.isArray()), statements: map[string]Statement{}}
	c.onRead, c.onScan, c.onPath = c.decodeRead, c.decodeScan, c.decodePath
	conn := &kv.Conn{
		Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete, InsertMany: c.insertMany,
		Close: s.Close,
	}
	if tx, ok := s.(Transactor); ok && len(x.Begin) > 0 {
		c.tx, c.transactionStatements, conn.Transact = tx, map[string]Statement{}, c.transact
	}
	if x.t.Layout == kv.Document && x.AtPath != nil {
		conn.ReadPath = c.readPath
	}
	if x.t.Layout == kv.Document && x.SetPath != nil {
		conn.UpdatePath = c.updatePath
	}
	return conn
}

// statement returns the prepared statement of an operation and a choice of fields. For an insert, f contains the number
// of rows instead of fields. text writes the statement.
func (c *kvConn) statement(ctx context.Context, operation kvOperation, f kv.Fields, text func(kv.Fields) string) (Statement, error) {
	c.statementKey = append(c.statementKey[:0], byte(operation))
	if f != nil {
		c.statementKey = append(c.statementKey, ':') // distinguishes an empty choice from nil, all fields
	}
	for _, i := range f {
		c.statementKey = binary.AppendUvarint(c.statementKey, uint64(i))
	}
	if st := c.statements[string(c.statementKey)]; st != nil {
		return st, nil
	}
	st, err := c.s.Prepare(ctx, text(f))
	if err == nil {
		c.statements[string(c.statementKey)] = st
	}
	return st, err
}

func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	if c.broken != nil {
		return c.broken
	}
	st, err := c.statement(ctx, readRecord, f, c.readText)
	if err != nil {
		return err
	}
	c.fields, c.into, c.found = f, into, false
	c.args = append(c.args[:0], key)
	if err := st.Query(ctx, c.args, NoLimit, c.onRead); err != nil {
		return err
	}
	if !c.found {
		return kv.ErrNotFound
	}
	return nil
}

// decode decodes the values of a record.
func (c *kvConn) decode(values [][]byte, f kv.Fields, into *kv.Row) error {
	if f == nil {
		if c.isDocument() {
			return c.json.parse(values[0], into)
		}
		f = c.allFields
	}
	for i, field := range f {
		if values[i] != nil {
			into.Add(field, values[i])
		}
	}
	return nil
}

func (c *kvConn) decodeRead(values [][]byte) error {
	c.found = true
	return c.decode(values, c.fields, c.into)
}

func (c *kvConn) decodeScan(values [][]byte) error {
	c.row.Reset()
	if err := c.decode(values[1:], c.fields, &c.row); err != nil {
		return err
	}
	return c.each(values[0], &c.row)
}

func (c *kvConn) decodePath(values [][]byte) error {
	if c.found = values[0] != nil; c.found {
		c.into.Add(0, values[0])
	}
	return nil
}

func (c *kvConn) scan(ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error) error {
	if n <= 0 {
		return ctx.Err()
	}
	st, err := c.statement(ctx, scanRecords, f, c.scanText)
	if err != nil {
		return err
	}
	c.fields, c.each = f, each
	c.args = append(c.args[:0], from)
	return st.Query(ctx, c.args, n, c.onScan)
}

// addRecord appends the arguments for an inserted record.
func (c *kvConn) addRecord(key []byte, r *kv.Row) {
	c.args = append(c.args, key)
	if c.isDocument() {
		begin := len(c.docs)
		c.docs = c.json.append(c.docs, r)
		c.args = append(c.args, c.docs[begin:])
		return
	}
	for i := range c.allFields {
		v, _ := r.Value(i)
		c.args = append(c.args, v)
	}
}

// insertError returns kv.ErrExists for the error of a key that exists already.
func (c *kvConn) insertError(err error) error {
	if err != nil && c.s.DuplicateKey(err) {
		return kv.ErrExists
	}
	return err
}

// insertStatement returns the statement that inserts this number of rows.
func (c *kvConn) insertStatement(ctx context.Context, rows int) (Statement, error) {
	c.rows = append(c.rows[:0], rows)
	return c.statement(ctx, insertRecords, c.rows, func(kv.Fields) string { return c.insertText(rows) })
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	st, err := c.insertStatement(ctx, 1)
	if err != nil {
		return err
	}
	c.args, c.docs = c.args[:0], c.docs[:0]
	c.addRecord(key, r)
	_, err = st.Exec(ctx, c.args)
	return c.insertError(err)
}

func (c *kvConn) insertMany(ctx context.Context, rows []kv.KeyRow) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	if len(rows)*c.argumentCount() > c.MaxParams {
		return &fault.Error{
			Setting: "batchsize", Problem: fmt.Sprintf("%d records are too many for one statement", len(rows)),
			Cure: fmt.Sprintf("give at most %d", c.MaxParams/c.argumentCount()),
		}
	}
	st, err := c.insertStatement(ctx, len(rows))
	if err != nil {
		return err
	}
	c.args, c.docs = c.args[:0], c.docs[:0]
	for i := range rows {
		c.addRecord(rows[i].Key, rows[i].Row)
	}
	_, err = st.Exec(ctx, c.args)
	return c.insertError(err)
}

func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	f := r.Fields()
	if c.isDocument() {
		f = nil // one statement merges any fields
	}
	st, err := c.statement(ctx, updateRecord, f, c.updateText)
	if err != nil {
		return err
	}
	c.args, c.docs = c.args[:0], c.docs[:0]
	if c.isDocument() {
		c.docs = c.json.append(c.docs, r)
		c.args = append(c.args, c.docs)
	} else {
		for i := range r.Len() {
			_, v := r.At(i)
			c.args = append(c.args, v)
		}
	}
	c.args = append(c.args, key)
	return c.updateError(st.Exec(ctx, c.args))
}

// updateError takes the results of a statement that updates or deletes; kv.ErrNotFound = it matched no row.
func (c *kvConn) updateError(n int64, err error) error {
	if err == nil && n == 0 {
		return kv.ErrNotFound
	}
	return err
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	st, err := c.statement(ctx, deleteRecord, nil, func(kv.Fields) string { return c.deleteText() })
	if err != nil {
		return err
	}
	c.args = append(c.args[:0], key)
	return c.updateError(st.Exec(ctx, c.args))
}

func (c *kvConn) readPath(ctx context.Context, key []byte, path string, into *kv.Row) error {
	st, err := c.statement(ctx, readAtPath, nil, func(kv.Fields) string { return c.readPathText() })
	if err != nil {
		return err
	}
	c.into, c.found = into, false
	c.docs = append(c.docs[:0], path...)
	c.args = append(c.args[:0], c.docs, key)
	if err := st.Query(ctx, c.args, NoLimit, c.onPath); err != nil {
		return err
	}
	if !c.found {
		return kv.ErrNotFound
	}
	return nil
}

func (c *kvConn) updatePath(ctx context.Context, key []byte, path string, value []byte) error {
	st, err := c.statement(ctx, updateAtPath, nil, func(kv.Fields) string { return c.updatePathText() })
	if err != nil {
		return err
	}
	c.docs = append(c.docs[:0], path...)
	c.args = append(c.args[:0], c.docs, value, key)
	return c.updateError(st.Exec(ctx, c.args))
}
