package duckdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
)

// database is an open file. It keeps and reuses its connections.
type database struct {
	path     string // "" = in memory
	alias    string // DuckDB's name of the file, a possible prefix of a schema
	readOnly bool
	bounded  bool       // a load sets the memory limit to loadMemory, see bound
	writing  sync.Mutex // locked by a writer of records under keys or posts

	mu      sync.Mutex
	handle  mapping.Database
	idle    []*conn
	loading map[string]bool // subsets with an open loader, by design and name
	closed  bool
}

// openDatabase opens a file, or a database in memory if path is empty. The driver has a cache of open databases: two
// users of one file in this process share one.
func openDatabase(path string, settings map[string]string) (*database, error) {
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return nil, errors.New("DuckDB returned no configuration")
	}
	defer mapping.DestroyConfig(&config)
	for name, value := range settings {
		if mapping.SetConfig(config, name, value) == mapping.StateError {
			return nil, fmt.Errorf("DuckDB does not accept %s=%s", name, value)
		}
	}
	db := &database{path: path, loading: map[string]bool{}}
	var message string
	var state mapping.State
	if path == "" {
		state = mapping.OpenExt("", &db.handle, config, &message)
	} else {
		state = mapping.GetOrCreateFromCache(driver.GetInstanceCache(), path, &db.handle, config, &message)
	}
	if state == mapping.StateError {
		mapping.Close(&db.handle)
		return nil, newError(mapping.ErrorTypeInvalid, message)
	}
	return db, nil
}

// seal restricts statements to the file itself, its log and folders. An archive may come from a
// stranger, and a view in it must not read anything else. Nobody can undo that while the file is open.
// The settings that a load changes stay changeable.
func (db *database) seal(ctx context.Context, folders ...string) error {
	return seal(ctx, pool{db}, db.readOnly, folders)
}

func seal(ctx context.Context, q sqlengine.Querier, lock bool, folders []string) error {
	open, err := sqlengine.QueryTexts(ctx, q, "SELECT current_setting('enable_external_access')::VARCHAR")
	if err != nil || len(open) == 1 && open[0] == "false" { // another user of this file has sealed it
		return err
	}
	// DuckDB checks both the pattern by which it finds a file and the file
	text := "SET GLOBAL allowed_directories = " + fileList(folders) + " || " + textList(folders) +
		"; SET GLOBAL enable_external_access = false"
	if lock {
		text += "; SET GLOBAL lock_configuration = true"
	}
	return q.Exec(ctx, text)
}

// close closes the idle connections and the file.
func (db *database) close() {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return
	}
	db.closed = true
	for _, c := range db.idle {
		mapping.Disconnect(&c.raw)
	}
	db.idle = nil
	mapping.Close(&db.handle)
}

// conn is a connection. One goroutine at a time uses it.
type conn struct {
	raw mapping.Connection
	db  *database
}

var errClosed = errors.New("the DuckDB file is closed")

// take returns an idle connection or opens one.
func (db *database) take() (*conn, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errClosed
	}
	if n := len(db.idle); n > 0 {
		c := db.idle[n-1]
		db.idle = db.idle[:n-1]
		return c, nil
	}
	c := &conn{db: db}
	if mapping.Connect(db.handle, &c.raw) == mapping.StateError {
		return nil, errors.New("DuckDB returned no connection")
	}
	return c, nil
}

// put returns a connection to the idle ones.
func (db *database) put(c *conn) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		mapping.Disconnect(&c.raw)
		return
	}
	db.idle = append(db.idle, c)
}

// interruptEvery is the interval at which a canceled statement is interrupted again, because DuckDB
// ignores an interrupt that comes before the statement runs.
const interruptEvery = 2 * time.Millisecond

// watch interrupts the connection when ctx is done. The caller must call the returned function before
// another statement runs on the connection.
func (c *conn) watch(ctx context.Context) (end func()) {
	finished, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		tick := time.NewTicker(interruptEvery)
		defer tick.Stop()
		for {
			mapping.Interrupt(c.raw)
			select {
			case <-finished:
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		close(finished)
		if !stop() {
			<-gone
		}
	}
}

// result is the reply to a statement. The caller reads it chunk by chunk.
type result struct {
	raw   mapping.Result
	types []mapping.Type
	chunk mapping.DataChunk
	rows  int // number of rows in the chunk
}

// query runs a statement and waits for its complete reply. An argument is a text or a list of texts.
func (c *conn) query(ctx context.Context, text string, args ...any) (*result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer c.watch(ctx)()
	r := &result{}
	var state mapping.State
	if len(args) == 0 {
		state = mapping.Query(c.raw, text, &r.raw)
	} else {
		var statement mapping.PreparedStatement
		defer mapping.DestroyPrepare(&statement)
		if mapping.Prepare(c.raw, text, &statement) == mapping.StateError {
			return nil, failure(ctx, mapping.ErrorTypeInvalid, mapping.PrepareError(statement))
		}
		for i, a := range args {
			if err := bind(statement, i+1, a); err != nil {
				return nil, err
			}
		}
		state = mapping.ExecutePrepared(statement, &r.raw)
	}
	if state == mapping.StateError {
		err := failure(ctx, mapping.ResultErrorType(&r.raw), mapping.ResultError(&r.raw))
		mapping.DestroyResult(&r.raw)
		return nil, err
	}
	for k := range uint64(mapping.ColumnCount(&r.raw)) {
		r.types = append(r.types, mapping.ColumnType(&r.raw, mapping.IdxT(k)))
	}
	return r, nil
}

// bind sets argument i, from 1, to a text or a list of texts.
func bind(statement mapping.PreparedStatement, i int, arg any) error {
	var v mapping.Value
	switch a := arg.(type) {
	case string:
		v = mapping.CreateVarcharLength(a, mapping.IdxT(len(a)))
	case []string:
		text := mapping.CreateLogicalType(mapping.TypeVarchar)
		defer mapping.DestroyLogicalType(&text)
		items := lists.Map(a, func(s string) mapping.Value { return mapping.CreateVarcharLength(s, mapping.IdxT(len(s))) })
		v = mapping.CreateListValue(text, items)
		for k := range items {
			mapping.DestroyValue(&items[k])
		}
	default:
		return fmt.Errorf("DuckDB: argument %d is a %T", i, arg)
	}
	defer mapping.DestroyValue(&v)
	if mapping.BindValue(statement, mapping.IdxT(i), v) == mapping.StateError {
		return fmt.Errorf("DuckDB does not accept argument %d", i)
	}
	return nil
}

// failure converts DuckDB's message to an error. For a canceled statement it is the error of ctx.
func failure(ctx context.Context, kind mapping.ErrorType, message string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return newError(kind, message)
}

// refused is an error of DuckDB: its message without the stack trace, and its type, or
// ErrorTypeInvalid if DuckDB gives none.
type refused struct {
	kind mapping.ErrorType
	text string
}

func (e *refused) Error() string { return e.text }

func newError(kind mapping.ErrorType, message string) error {
	message, _, _ = strings.Cut(message, "\n\nStack Trace:")
	return &refused{kind, message}
}

// Exec runs statements and ignores their replies.
func (c *conn) Exec(ctx context.Context, text string, args ...any) error {
	r, err := c.query(ctx, text, args...)
	if err == nil {
		r.close()
	}
	return err
}

// Rows passes each row of a reply to f.
func (c *conn) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	r, err := c.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer r.close()
	return r.each(f)
}

// each passes each row to f; see value.
func (r *result) each(f func(row []any) error) error {
	columns, row := make([]vector, len(r.types)), make([]any, len(r.types))
	for r.next() {
		for k := range columns {
			columns[k] = r.vector(k)
		}
		for i := range r.rows {
			for k := range columns {
				row[k] = value(&columns[k], r.types[k], i, r.rows)
			}
			if err := f(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// value reads a value of the types that are read row by row, including the DECIMAL of a sum. Values of
// other types are nil.
func value(v *vector, t mapping.Type, i, rows int) any {
	switch {
	case v.null(i):
	case t == mapping.TypeDouble:
		return v.float64s(rows)[i]
	case t == mapping.TypeBigInt || t == mapping.TypeUBigInt: // a size in bytes
		return v.int64s(rows)[i]
	case t == mapping.TypeInteger:
		return int64(v.int32s(rows)[i])
	case t == mapping.TypeVarchar:
		return string(v.text(i))
	case t == mapping.TypeDecimal:
		return v.sum(i)
	}
	return nil
}

// next fetches the next chunk. It returns false at the end.
func (r *result) next() bool {
	if r.chunk.Ptr != nil {
		mapping.DestroyDataChunk(&r.chunk)
	}
	r.chunk = mapping.FetchChunk(r.raw)
	if r.chunk.Ptr == nil {
		return false
	}
	r.rows = int(mapping.DataChunkGetSize(r.chunk))
	return true
}

// vector returns column k of the chunk.
func (r *result) vector(k int) vector {
	return readVector(mapping.DataChunkGetVector(r.chunk, mapping.IdxT(k)))
}

func (r *result) close() {
	if r.chunk.Ptr != nil {
		mapping.DestroyDataChunk(&r.chunk)
	}
	mapping.DestroyResult(&r.raw)
}
