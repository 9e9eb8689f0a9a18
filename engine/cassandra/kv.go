package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// kv opens tables of records under keys; the package comment says how they lie.
type kv struct{ *store }

// The columns of a table besides its fields: YCSB's binding has the first. The
// second is the partition of a clustered table.
const (
	keyColumn    = "y_id"
	prefixColumn = "y_prefix"
	longestName  = 48 // of a table, in Cassandra 5 and before
)

// kvTable is an open table.
type kvTable struct {
	*store
	layout engine.Layout
	table  string // quoted
	parts  string // of a clustered table: the table of its partitions, quoted
	prefix int    // of a clustered table: bytes of a key that make its partition
	fields []string

	// busy keeps writes of this process to one partition apart: conditional ones
	// that meet only make each other begin again.
	busy  *engine.Stripes
	known sync.Map // of a clustered table: its partitions that are listed, as strings
}

func quote(name string) string { return `"` + name + `"` }

// Table opens or makes a table. Names are in lower case, as the server folds
// those that YCSB's binding writes.
func (k kv) Table(ctx context.Context, t engine.Table) (*engine.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	name := strings.ToLower(t.Name)
	if k.name != "" {
		name = k.name + "_" + name
	}
	if len(name+partsOf) > longestName {
		return nil, &fault.Error{Setting: "table", Problem: fmt.Sprintf("the name %q is longer than %d letters", name, longestName-len(partsOf)), Cure: "choose a shorter one"}
	}
	tb := &kvTable{store: k.store, layout: t.Layout, table: quote(name), parts: quote(name + partsOf), prefix: k.prefix, busy: engine.NewStripes()}
	for _, f := range t.Fields {
		tb.fields = append(tb.fields, quote(strings.ToLower(f)))
	}
	there, err := tb.prove(ctx, name)
	if err == nil && !there {
		if err = t.Absent(k.readOnly); err == nil {
			err = tb.make(ctx)
		}
		if err == nil {
			_, err = tb.prove(ctx, name) // somebody else may have been faster
		}
	}
	if err != nil {
		return nil, err
	}
	return engine.NewRecords(k.readOnly, tb.connect, tb.count), nil
}

// partsOf is the end of the name of the table that lists a clustered table's
// partitions.
const partsOf = "_parts"

// prefixed is the comment of a clustered table, before the length of its prefix.
const prefixed = "barograph: a partition for each prefix of keys, bytes: "

// prove reports whether the table is there, and that it is laid out as it must be.
func (tb *kvTable) prove(ctx context.Context, name string) (there bool, err error) {
	columns := map[string]string{}
	rows := tb.session.Query("SELECT column_name, kind FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", tb.keyspace, name).IterContext(ctx)
	var column, kind string
	for rows.Scan(&column, &kind) {
		columns[column] = kind
	}
	if err := rows.Close(); err != nil || len(columns) == 0 {
		return false, failed(ctx, err)
	}
	want := map[string]string{keyColumn: "partition_key"}
	if tb.layout == engine.Clustered {
		want = map[string]string{prefixColumn: "partition_key", keyColumn: "clustering"}
	}
	for _, f := range tb.fields {
		want[strings.Trim(f, `"`)] = "regular"
	}
	for column, kind := range want {
		if columns[column] != kind {
			return false, &fault.Error{
				Setting: "table " + name, Problem: fmt.Sprintf("is not laid out as %s: the column %s is %q there, not %q", tb.layout, column, columns[column], kind),
				Cure: "give the layout and the fields that it was loaded with, or another name",
			}
		}
	}
	if tb.layout != engine.Clustered {
		return true, nil
	}
	var comment string
	err = tb.session.Query("SELECT comment FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?", tb.keyspace, name).ScanContext(ctx, &comment)
	if err != nil {
		return false, failed(ctx, err)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(comment, prefixed))
	if err != nil || n < 1 {
		return false, &fault.Error{Setting: "table " + name, Problem: "does not say in its comment how long its prefixes are", Cure: "load it anew"}
	}
	tb.prefix = n
	return true, nil
}

// make makes the table, of a clustered one first that of its partitions.
func (tb *kvTable) make(ctx context.Context) error {
	statement := "CREATE TABLE IF NOT EXISTS %s (" + keyColumn + " text PRIMARY KEY"
	end := ")"
	if tb.layout == engine.Clustered {
		parts := tb.keyspace + "." + tb.parts
		if err := tb.create(ctx, parts, "CREATE TABLE IF NOT EXISTS "+parts+" (one tinyint, prefix blob, PRIMARY KEY (one, prefix))"); err != nil {
			return err
		}
		statement = "CREATE TABLE IF NOT EXISTS %s (" + prefixColumn + " blob, " + keyColumn + " text"
		end = ", PRIMARY KEY (" + prefixColumn + ", " + keyColumn + ")) WITH comment = '" + prefixed + strconv.Itoa(tb.prefix) + "'"
	}
	for _, f := range tb.fields {
		statement += ", " + f + " text"
	}
	table := tb.keyspace + "." + tb.table
	return tb.create(ctx, table, fmt.Sprintf(statement, table)+end)
}

// count walks over all keys: what the server counts by itself must be ready
// within the time of one request.
func (tb *kvTable) count(ctx context.Context) (n int64, err error) {
	rows := tb.session.Query("SELECT " + keyColumn + " FROM " + tb.table).IterContext(ctx)
	var key cell
	for rows.Scan(&key) {
		n++
	}
	return n, failed(ctx, rows.Close())
}

// part is the partition of a key: all of it, or its first bytes. Keys of one
// partition are neighbours, and partitions have the order of their prefixes.
func (tb *kvTable) part(key []byte) []byte {
	if tb.layout == engine.Clustered {
		return key[:min(tb.prefix, len(key))]
	}
	return key
}

// list lists the partition of a key, so that scans find it, before its first
// record comes. It stays listed.
func (tb *kvTable) list(ctx context.Context, part []byte) error {
	if _, ok := tb.known.Load(string(part)); ok {
		return nil
	}
	err := tb.session.Query("INSERT INTO "+tb.parts+" (one, prefix) VALUES (0, ?)", part).ExecContext(ctx)
	if err == nil {
		tb.known.Store(string(part), true)
	}
	return failed(ctx, err)
}

// listed are some partitions behind one, in their order.
func (tb *kvTable) listed(ctx context.Context, behind []byte, n int) (parts [][]byte, err error) {
	rows := tb.session.Query("SELECT prefix FROM "+tb.parts+" WHERE one = 0 AND prefix > ? LIMIT ?", behind, n).IterContext(ctx)
	var c cell
	for rows.Scan(&c) {
		parts = append(parts, slices.Clone(c.bytes))
	}
	return parts, failed(ctx, rows.Close())
}

// cell is a value as it was sent, valid until the next row is read.
type cell struct{ bytes []byte }

// UnmarshalCQL takes the bytes; nil = null.
func (c *cell) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	c.bytes = data
	return nil
}

var errNoKey = errors.New("cassandra: a record needs a key")
