package cassandra

import (
	"context"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
)

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	texts map[string]string // statements, by what they do and their fields
	name  []byte
	row   engine.Row
	cells []cell
	into  []any // the cells' addresses
	args  []any
}

func (tb *kvTable) connect() *engine.Conn {
	c := &kvConn{kvTable: tb, texts: map[string]string{}, cells: make([]cell, 1+len(tb.fields))}
	for i := range c.cells {
		c.into = append(c.into, &c.cells[i])
	}
	conn := &engine.Conn{Read: c.read, Insert: c.insert, Update: c.update, Delete: c.delete}
	if tb.layout == engine.Clustered {
		conn.Scan = c.scan
	}
	return conn
}

// text is a statement for some fields. It is written once: gocql prepares each
// text once too.
func (c *kvConn) text(kind byte, f engine.Fields, write func() string) string {
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

// columns lists chosen fields, each followed by what is behind.
func (tb *kvTable) columns(f engine.Fields, behind string) string {
	names := tb.fields
	if f != nil {
		names = make([]string, len(f))
		for i, field := range f {
			names[i] = tb.fields[field]
		}
	}
	return strings.Join(names, behind+", ") + behind
}

// where is the record of a key; at gives its arguments.
func (tb *kvTable) where() string {
	if tb.layout == engine.Clustered {
		return " WHERE " + prefixColumn + " = ? AND " + keyColumn + " = ?"
	}
	return " WHERE " + keyColumn + " = ?"
}

func (c *kvConn) at(args []any, key []byte) []any {
	if c.layout == engine.Clustered {
		args = append(args, c.part(key))
	}
	return append(args, key)
}

// decode appends chosen fields of cells; a null has no value.
func (tb *kvTable) decode(cells []cell, f engine.Fields, into *engine.Row) {
	for i := range cells {
		field := i
		if f != nil {
			field = f[i]
		}
		if cells[i].bytes != nil {
			into.Add(field, cells[i].bytes)
		}
	}
}

// width is the number of chosen fields.
func (tb *kvTable) width(f engine.Fields) int {
	if f == nil {
		return len(tb.fields)
	}
	return len(f)
}

func (c *kvConn) read(ctx context.Context, key []byte, f engine.Fields, into *engine.Row) error {
	if len(key) == 0 {
		return engine.ErrNotFound // no partition has an empty key
	}
	text := c.text('r', f, func() string { return "SELECT " + c.columns(f, "") + " FROM " + c.table + c.where() })
	c.args = c.at(c.args[:0], key)
	rows := c.session.Query(text, c.args...).IterContext(ctx)
	n := c.width(f)
	found := rows.Scan(c.into[:n]...)
	if found {
		c.decode(c.cells[:n], f, into)
	}
	if err := rows.Close(); err != nil {
		return failed(ctx, err)
	}
	if !found {
		return engine.ErrNotFound
	}
	return nil
}

// there reports whether a key has a record.
func (c *kvConn) there(ctx context.Context, key []byte) (bool, error) {
	text := c.text('t', nil, func() string { return "SELECT " + keyColumn + " FROM " + c.table + c.where() })
	rows := c.session.Query(text, c.at(nil, key)...).IterContext(ctx)
	found := rows.Scan(&c.cells[0])
	return found, failed(ctx, rows.Close())
}

// write runs a statement that must find a record, or must find none: found says
// which. Such a statement has a condition, which is sent once: one whose reply
// is lost may have been carried out, and would then find its own record. With
// conditional=false the record is looked for first, and the statement is plain.
func (c *kvConn) write(ctx context.Context, key []byte, found bool, text, condition string) error {
	unlock, err := c.busy.Lock(ctx, c.part(key))
	if err != nil {
		return err
	}
	defer unlock()
	refused := engine.ErrNotFound
	if !found {
		refused = engine.ErrExists
	}
	if c.conditional {
		done, err := c.session.Query(text+condition, c.args...).Idempotent(false).MapScanCASContext(ctx, map[string]any{})
		if err == nil && !done {
			return refused
		}
		return failed(ctx, err)
	}
	if there, err := c.there(ctx, key); err != nil {
		return err
	} else if there != found {
		return refused
	}
	return failed(ctx, c.session.Query(text, c.args...).ExecContext(ctx))
}

// values appends the values of a row.
func (c *kvConn) values(args []any, r *engine.Row) []any {
	for i := range r.Len() {
		_, v := r.At(i)
		args = append(args, v)
	}
	return args
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *engine.Row) error {
	if len(key) == 0 {
		return errNoKey
	}
	if c.layout == engine.Clustered {
		if err := c.list(ctx, c.part(key)); err != nil {
			return err
		}
	}
	text := c.text('i', r.Fields(), func() string {
		names, more := keyColumn, 0
		if c.layout == engine.Clustered {
			names, more = prefixColumn+", "+keyColumn, 1
		}
		return "INSERT INTO " + c.table + " (" + names + ", " + c.columns(r.Fields(), "") + ") VALUES (?" + strings.Repeat(", ?", r.Len()+more) + ")"
	})
	c.args = c.values(c.at(c.args[:0], key), r)
	return c.write(ctx, key, false, text, " IF NOT EXISTS")
}

func (c *kvConn) update(ctx context.Context, key []byte, r *engine.Row) error {
	if len(key) == 0 {
		return engine.ErrNotFound
	}
	text := c.text('u', r.Fields(), func() string { return "UPDATE " + c.table + " SET " + c.columns(r.Fields(), " = ?") + c.where() })
	c.args = c.at(c.values(c.args[:0], r), key)
	return c.write(ctx, key, true, text, " IF EXISTS")
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	if len(key) == 0 {
		return engine.ErrNotFound
	}
	text := c.text('d', nil, func() string { return "DELETE FROM " + c.table + c.where() })
	c.args = c.at(c.args[:0], key)
	return c.write(ctx, key, true, text, " IF EXISTS")
}

const (
	mostParts = 32   // partitions that a scan reads at once
	pageRows  = 1000 // of a partition, sent at once
)

// scan reads the partition of the first key, which mostly holds enough, then
// those behind it as they are listed: one, which tells how large they are, and
// then as many at once as that promises to be enough, up to 32.
func (c *kvConn) scan(ctx context.Context, from []byte, n int, f engine.Fields, each func(key []byte, r *engine.Row) error) (err error) {
	if n <= 0 {
		return ctx.Err()
	}
	counted := func(key []byte, r *engine.Row) error {
		n--
		return each(key, r)
	}
	last := c.part(from)
	if len(last) > 0 {
		if err := c.within(ctx, last, from, n, f, &c.row, counted); err != nil {
			return err
		}
	}
	var listed [][]byte // not yet read
	for window := 1; n > 0; {
		if len(listed) == 0 {
			if listed, err = c.listed(ctx, last, mostParts); err != nil || len(listed) == 0 {
				return err
			}
		}
		parts := listed[:min(window, len(listed))]
		listed, last = listed[len(parts):], parts[len(parts)-1]
		rows, err := c.together(ctx, parts, n, f)
		if err != nil {
			return err
		}
		for i := 0; i < len(rows) && n > 0; i++ {
			if err := counted(rows[i].Key, rows[i].Row); err != nil {
				return err
			}
		}
		window = min(n*len(parts)/max(len(rows), 1)+1, mostParts)
	}
	return nil
}

// together reads at most n records of each of some partitions, beside each other.
func (c *kvConn) together(ctx context.Context, parts [][]byte, n int, f engine.Fields) ([]engine.KeyRow, error) {
	rows := make([][]engine.KeyRow, len(parts))
	g, inner := errgroup.WithContext(ctx)
	for i, part := range parts {
		g.Go(func() error {
			return c.within(inner, part, nil, n, f, &engine.Row{}, func(key []byte, r *engine.Row) error {
				kept := &engine.Row{}
				kept.AddRow(r)
				rows[i] = append(rows[i], engine.KeyRow{Key: append([]byte(nil), key...), Row: kept})
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, failed(ctx, err)
	}
	var all []engine.KeyRow
	for _, r := range rows {
		all = append(all, r...)
	}
	return all, nil
}

// within gives records of one partition, from a key on.
func (tb *kvTable) within(ctx context.Context, part, from []byte, n int, f engine.Fields, row *engine.Row, each func(key []byte, r *engine.Row) error) error {
	text := "SELECT " + keyColumn + ", " + tb.columns(f, "") + " FROM " + tb.table + " WHERE " + prefixColumn + " = ? AND " + keyColumn + " >= ? LIMIT ?"
	cells := make([]cell, 1+tb.width(f))
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	if from == nil {
		from = []byte{}
	}
	rows := tb.session.Query(text, part, from, n).PageSize(min(n, pageRows)).Prefetch(0).IterContext(ctx)
	for rows.Scan(into...) {
		row.Reset()
		tb.decode(cells[1:], f, row)
		if err := each(cells[0].bytes, row); err != nil {
			_ = rows.Close() // err is what is told
			return err
		}
	}
	return failed(ctx, rows.Close())
}

var _ gocql.Unmarshaler = (*cell)(nil)
