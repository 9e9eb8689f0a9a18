package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// kvTables opens tables of records under keys; the package comment describes their layout.
type kvTables struct{ *store }

// The columns of a table besides its fields. The first has the name of YCSB's binding. The second is the
// partition of a clustered or hashed table.
const (
	keyColumn    = "y_id"
	prefixColumn = "y_prefix"
	longestName  = 48 // greatest length of a table's name, in Cassandra 5 and before
)

// kvTable is an open table.
type kvTable struct {
	*store
	layout kv.Layout
	table  string // quoted name
	parts  string // clustered table: quoted name of the table of its partitions
	prefix int    // clustered table: number of bytes of a key that name its partition
	fields []string

	// busy serializes this process's writes to one partition, because conditional writes that meet make
	// each other retry.
	busy  *kv.Stripes
	known sync.Map // clustered table: its listed partitions, as strings
}

func quote(name string) string { return `"` + name + `"` }

// Table opens or creates a table. Names are in lower case, because the server folds the names that YCSB's
// binding writes.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	name := strings.ToLower(t.Name)
	if k.name != "" {
		name = k.name + "_" + name
	}
	if len(name+partsSuffix) > longestName {
		problem := fmt.Sprintf("the name %q is longer than %d letters", name, longestName-len(partsSuffix))
		return nil, &fault.Error{Setting: "table", Problem: problem, Cure: "choose a shorter one"}
	}
	tb := &kvTable{store: k.store, layout: t.Layout, table: quote(name), parts: quote(name + partsSuffix), prefix: k.prefix, busy: kv.NewStripes()}
	for _, f := range t.Fields {
		tb.fields = append(tb.fields, quote(strings.ToLower(f)))
	}
	exists, err := tb.checkLayout(ctx, name)
	if err == nil && !exists {
		if err = t.MissingError(k.readOnly); err == nil {
			err = tb.make(ctx)
		}
		if err == nil {
			_, err = tb.checkLayout(ctx, name) // another client may have created it
		}
	}
	if err != nil {
		return nil, err
	}
	r := kv.NewRecords(k.readOnly, tb.connect, tb.count)
	if tb.layout == kv.Clustered {
		r.Partitions = func(ctx context.Context) (n int64, err error) {
			err = tb.session.Query("SELECT count(*) FROM "+tb.parts+" WHERE one = 0").ScanContext(ctx, &n)
			return n, callError(ctx, err)
		}
	}
	return r, nil
}

// partsSuffix is the suffix of the name of the table that lists a clustered table's partitions.
const partsSuffix = "_parts"

// The comments of tables: of a clustered table, followed by the length of its prefix, and of a hashed one.
const (
	clusteredComment = "barograph: a partition for each prefix of keys, bytes: "
	hashedComment    = "barograph: 24 partitions by the hash of keys"
)

// hashParts are the partitions of a hashed table. Their number gives nodes about the same number of
// partitions, and is small enough for a scan to query all.
const hashParts = 24

// partitioned reports whether a partition contains many records.
func (tb *kvTable) partitioned() bool { return tb.layout != kv.Columns }

// checkLayout reports whether the table exists, and returns an error if its layout differs.
func (tb *kvTable) checkLayout(ctx context.Context, name string) (exists bool, err error) {
	columns := map[string]string{}
	const kinds = "SELECT column_name, kind FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?"
	rows := tb.session.Query(kinds, tb.keyspace, name).IterContext(ctx)
	var column, kind string
	for rows.Scan(&column, &kind) {
		columns[column] = kind
	}
	if err := rows.Close(); err != nil || len(columns) == 0 {
		return false, callError(ctx, err)
	}
	want := map[string]string{keyColumn: "partition_key"}
	if tb.partitioned() {
		want = map[string]string{prefixColumn: "partition_key", keyColumn: "clustering"}
	}
	for _, f := range tb.fields {
		want[strings.Trim(f, `"`)] = "regular"
	}
	for column, kind := range want {
		if columns[column] != kind {
			return false, &fault.Error{
				Setting: "table " + name,
				Problem: fmt.Sprintf("has not the layout %s: its column %s is %q, not %q", tb.layout, column, columns[column], kind),
				Cure:    "give the layout and the fields that it was loaded with, or another name",
			}
		}
	}
	if !tb.partitioned() {
		return true, nil
	}
	var comment string
	const comments = "SELECT comment FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?"
	err = tb.session.Query(comments, tb.keyspace, name).ScanContext(ctx, &comment)
	if err != nil {
		return false, callError(ctx, err)
	}
	if (comment == hashedComment) != (tb.layout == kv.Hash) {
		return false, &fault.Error{
			Setting: "table " + name,
			Problem: fmt.Sprintf("has not the layout %s", tb.layout),
			Cure:    "give the layout that it was loaded with, or another name",
		}
	}
	if tb.layout == kv.Hash {
		return true, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(comment, clusteredComment))
	if err != nil || n < 1 {
		return false, &fault.Error{
			Setting: "table " + name,
			Problem: "does not contain the length of its prefixes in its comment",
			Cure:    "load it again",
		}
	}
	tb.prefix = n
	return true, nil
}

// make creates the table. For a clustered table it first creates the table of its partitions.
func (tb *kvTable) make(ctx context.Context) error {
	statement := "CREATE TABLE IF NOT EXISTS %s (" + keyColumn + " text PRIMARY KEY"
	end := ")"
	if tb.layout == kv.Clustered {
		parts := tb.keyspace + "." + tb.parts
		statement := "CREATE TABLE IF NOT EXISTS " + parts + " (one tinyint, prefix blob, PRIMARY KEY (one, prefix))"
		if err := tb.create(ctx, parts, statement); err != nil {
			return err
		}
	}
	if tb.partitioned() {
		comment := hashedComment
		if tb.layout == kv.Clustered {
			comment = clusteredComment + strconv.Itoa(tb.prefix)
		}
		statement = "CREATE TABLE IF NOT EXISTS %s (" + prefixColumn + " blob, " + keyColumn + " text"
		end = ", PRIMARY KEY (" + prefixColumn + ", " + keyColumn + ")) WITH comment = '" + comment + "'"
	}
	for _, f := range tb.fields {
		statement += ", " + f + " text"
	}
	table := tb.keyspace + "." + tb.table
	return tb.create(ctx, table, fmt.Sprintf(statement, table)+end)
}

// count reads all keys, because the server must finish its own count within the time limit of one request.
func (tb *kvTable) count(ctx context.Context) (n int64, err error) {
	rows := tb.session.Query("SELECT " + keyColumn + " FROM " + tb.table).IterContext(ctx)
	var key raw
	for rows.Scan(&key) {
		n++
	}
	return n, callError(ctx, rows.Close())
}

// part returns the partition of a key: the complete key, or its first bytes. Keys of one partition are
// adjacent, and partitions have the order of their prefixes.
func (tb *kvTable) part(key []byte) []byte {
	switch tb.layout {
	case kv.Clustered:
		return key[:min(tb.prefix, len(key))]
	case kv.Hash:
		return []byte{byte(xxh3.Hash(key) % hashParts)}
	}
	return key
}

// list lists the partition of a key before its first record is written, so scans find it. The partition stays listed.
func (tb *kvTable) list(ctx context.Context, part []byte) error {
	if _, ok := tb.known.Load(string(part)); ok {
		return nil
	}
	err := tb.query("INSERT INTO "+tb.parts+" (one, prefix) VALUES (0, ?)", part).ExecContext(ctx)
	if err == nil {
		tb.known.Store(string(part), true)
	}
	return callError(ctx, err)
}

// partitionsAfter returns some partitions after a given one, in their order.
func (tb *kvTable) partitionsAfter(ctx context.Context, behind []byte, n int) (parts [][]byte, err error) {
	rows := tb.query("SELECT prefix FROM "+tb.parts+" WHERE one = 0 AND prefix > ? LIMIT ?", behind, n).IterContext(ctx)
	var c raw
	for rows.Scan(&c) {
		parts = append(parts, slices.Clone(c))
	}
	return parts, callError(ctx, rows.Close())
}

var errNoKey = errors.New("cassandra: a record needs a key")

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	texts map[string]string // statements, by operation and fields
	name  []byte
	row   kv.Row
	cells []raw
	into  []any // addresses of the cells
	args  []any
}

func (tb *kvTable) connect() *kv.Conn {
	c := &kvConn{kvTable: tb, texts: map[string]string{}, cells: make([]raw, 1+len(tb.fields))}
	for i := range c.cells {
		c.into = append(c.into, &c.cells[i])
	}
	conn := &kv.Conn{Read: c.read, Insert: c.insert, Update: c.update, Delete: c.delete}
	switch tb.layout {
	case kv.Clustered:
		conn.Scan = c.scan
	case kv.Hash:
		conn.Scan = c.scanAll
	}
	return conn
}

// text returns a statement for some fields. It builds each text once, because gocql also prepares each text once.
func (c *kvConn) text(kind byte, f kv.Fields, write func() string) string {
	c.name = append(c.name[:0], kind)
	for _, i := range f {
		c.name = append(c.name, byte(i>>16), byte(i>>8), byte(i))
	}
	if f == nil {
		c.name = append(c.name, '*')
	}
	text, ok := c.texts[string(c.name)]
	if !ok {
		text = write()
		c.texts[string(c.name)] = text
	}
	return text
}

// columns lists chosen fields, each followed by a suffix.
func (tb *kvTable) columns(f kv.Fields, behind string) string {
	names := tb.fields
	if f != nil {
		names = make([]string, len(f))
		for i, field := range f {
			names[i] = tb.fields[field]
		}
	}
	return strings.Join(names, behind+", ") + behind
}

// where is the condition on a key; keyArgs returns its arguments.
func (tb *kvTable) where() string {
	if tb.partitioned() {
		return " WHERE " + prefixColumn + " = ? AND " + keyColumn + " = ?"
	}
	return " WHERE " + keyColumn + " = ?"
}

func (c *kvConn) keyArgs(args []any, key []byte) []any {
	if c.partitioned() {
		args = append(args, c.part(key))
	}
	return append(args, key)
}

// decode appends chosen fields of cells; a null has no value.
func (tb *kvTable) decode(cells []raw, f kv.Fields, into *kv.Row) {
	for i := range cells {
		field := i
		if f != nil {
			field = f[i]
		}
		if cells[i] != nil {
			into.Add(field, cells[i])
		}
	}
}

// width returns the number of chosen fields.
func (tb *kvTable) width(f kv.Fields) int {
	if f == nil {
		return len(tb.fields)
	}
	return len(f)
}

func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	if len(key) == 0 {
		return kv.ErrNotFound // no partition has an empty key
	}
	text := c.text('r', f, func() string { return "SELECT " + c.columns(f, "") + " FROM " + c.table + c.where() })
	c.args = c.keyArgs(c.args[:0], key)
	rows := c.query(text, c.args...).IterContext(ctx)
	n := c.width(f)
	found := rows.Scan(c.into[:n]...)
	if found {
		c.decode(c.cells[:n], f, into)
	}
	if err := rows.Close(); err != nil {
		return callError(ctx, err)
	}
	if !found {
		return kv.ErrNotFound
	}
	return nil
}

// exists reports whether a record has the key.
func (c *kvConn) exists(ctx context.Context, key []byte) (bool, error) {
	text := c.text('t', nil, func() string { return "SELECT " + keyColumn + " FROM " + c.table + c.where() })
	rows := c.query(text, c.keyArgs(nil, key)...).IterContext(ctx)
	found := rows.Scan(&c.cells[0])
	return found, callError(ctx, rows.Close())
}

// write runs a statement that must find a record (found) or no record. Such a statement has a condition and
// is sent once: if its reply is lost, it may have been executed, and a retry would find its own record.
// With conditional=false, write reads the record first, and the statement has no condition.
func (c *kvConn) write(ctx context.Context, key []byte, found bool, text, condition string) error {
	unlock, err := c.busy.Lock(ctx, c.part(key))
	if err != nil {
		return err
	}
	defer unlock()
	refused := kv.ErrNotFound
	if !found {
		refused = kv.ErrExists
	}
	if c.conditional {
		done, err := c.query(text+condition, c.args...).Idempotent(false).MapScanCASContext(ctx, map[string]any{})
		if err == nil && !done {
			return refused
		}
		return callError(ctx, err)
	}
	if exists, err := c.exists(ctx, key); err != nil {
		return err
	} else if exists != found {
		return refused
	}
	return callError(ctx, c.query(text, c.args...).ExecContext(ctx))
}

// values appends the values of a row.
func (c *kvConn) values(args []any, r *kv.Row) []any {
	for i := range r.Len() {
		_, v := r.At(i)
		args = append(args, v)
	}
	return args
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	if len(key) == 0 {
		return errNoKey
	}
	if c.layout == kv.Clustered {
		if err := c.list(ctx, c.part(key)); err != nil {
			return err
		}
	}
	text := c.text('i', r.Fields(), func() string {
		names, more := keyColumn, 0
		if c.partitioned() {
			names, more = prefixColumn+", "+keyColumn, 1
		}
		return "INSERT INTO " + c.table + " (" + names + ", " + c.columns(r.Fields(), "") + ") " +
			"VALUES (?" + strings.Repeat(", ?", r.Len()+more) + ")"
	})
	c.args = c.values(c.keyArgs(c.args[:0], key), r)
	return c.write(ctx, key, false, text, " IF NOT EXISTS")
}

func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	if len(key) == 0 {
		return kv.ErrNotFound
	}
	text := c.text('u', r.Fields(), func() string { return "UPDATE " + c.table + " SET " + c.columns(r.Fields(), " = ?") + c.where() })
	c.args = c.keyArgs(c.values(c.args[:0], r), key)
	return c.write(ctx, key, true, text, " IF EXISTS")
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	if len(key) == 0 {
		return kv.ErrNotFound
	}
	text := c.text('d', nil, func() string { return "DELETE FROM " + c.table + c.where() })
	c.args = c.keyArgs(c.args[:0], key)
	return c.write(ctx, key, true, text, " IF EXISTS")
}
