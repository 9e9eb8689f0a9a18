package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
)

// session is a connection to ClickHouse. It runs one statement at a time. Rows travel in ClickHouse's blocks, which
// contain the values column by column.
type session interface {
	// query passes each block of a reply to f. A block is valid until f returns.
	query(ctx context.Context, text string, f func(proto.Results) error) error

	// insert sends the rows of INSERT INTO …, block by block. next fills the columns, and reports whether
	// more blocks follow.
	insert(ctx context.Context, text string, columns proto.Input, next func() (bool, error)) error

	// usable reports whether the session can send another statement.
	usable() bool
	close() error
}

// pool is a Querier that runs each statement on a session that is not in use.
type pool struct {
	connect func(ctx context.Context) (session, error)

	mu   sync.Mutex
	idle []session
}

// withSession runs f on a session.
func (p *pool) withSession(ctx context.Context, f func(s session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := p.takeSession(ctx)
	if err != nil {
		return engine.CallError(ctx, err)
	}
	err = f(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.usable() {
		p.idle = append(p.idle, s)
	} else {
		err = errors.Join(err, s.close())
	}
	return engine.CallError(ctx, err)
}

// takeSession returns an idle session, or a new one.
func (p *pool) takeSession(ctx context.Context) (session, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	return p.connect(ctx)
}

// close closes the idle sessions.
func (p *pool) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.idle {
		err = errors.Join(err, s.close())
	}
	p.idle = nil
	return err
}

// Exec runs a statement.
func (p *pool) Exec(ctx context.Context, text string, args ...any) error {
	return p.Rows(ctx, text, args, func([]any) error { return nil })
}

// Rows passes each row to f.
func (p *pool) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	if len(args) > 0 {
		return errors.New("clickhouse: a statement accepts no arguments")
	}
	var row []any
	return p.withSession(ctx, func(s session) error {
		return s.query(ctx, text, func(block proto.Results) error {
			row = append(row[:0], make([]any, len(block))...)
			for i := range block.Rows() {
				for k := range block {
					row[k] = value(block[k].Data, i)
				}
				if err := f(row); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// value returns value i of a column as sqlengine reads it, with times in Unix seconds. For a type that is not supported
// it returns an error, which every reader of sqlengine rejects and prints.
func value(c proto.ColResult, i int) any {
	switch c := c.(type) {
	case *proto.ColStr:
		return c.RowBytes(i)
	case *proto.ColLowCardinality[string]:
		return c.Row(i)
	case *proto.ColFloat64:
		return (*c)[i]
	case *proto.ColInt64:
		return (*c)[i]
	case *proto.ColInt32:
		return int64((*c)[i])
	case *proto.ColUInt64:
		return int64((*c)[i]) //nolint:gosec // counts and sizes
	case *proto.ColUInt8:
		return int64((*c)[i])
	case *proto.ColDateTime64:
		return int64(c.Data[i])
	case *proto.ColNullable[float64]:
		return orNull(c, i)
	case *proto.ColNullable[int64]:
		return orNull(c, i)
	case *proto.ColNullable[int32]:
		return orNull(c, i)
	case *proto.ColNullable[string]:
		return orNull(c, i)
	case *proto.ColNullable[proto.Decimal128]:
		if v := c.Row(i); v.Set {
			return cents(int64(v.Value.Low)) //nolint:gosec // sums of prices
		}
		return nil
	case *proto.ColArr[float64]:
		return c.Row(i)
	case *proto.ColArr[proto.Nullable[float64]]:
		return lists.Map(c.Row(i), func(v proto.Nullable[float64]) float64 { return v.Or(math.NaN()) })
	}
	return fmt.Errorf("columns of ClickHouse's type %s are not supported", c.Type())
}

// cents returns a DECIMAL with two decimals, given in hundredths, as text.
func cents(n int64) string {
	if n < 0 {
		return "-" + cents(-n)
	}
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

// orNull returns value i of a column, nil = NULL.
func orNull[T any](c *proto.ColNullable[T], i int) any {
	if v := c.Row(i); v.Set {
		return v.Value
	}
	return nil
}

// A block ends after blockRows rows, or after the row with which its texts, entries and lists have blockBytes or more.
const blockRows, blockBytes = 1 << 16, 1 << 26

// insert stores rows in blocks.
func (p *pool) insert(ctx context.Context, table string, cols []sqlengine.Column, next sqlengine.Next) error {
	to := newSink(cols)
	return p.withSession(ctx, func(s session) error {
		return s.insert(ctx, "INSERT INTO "+table+" ("+strings.Join(to.names(), ", ")+")", to.columns, func() (bool, error) {
			to.columns.Reset()
			to.bytes = 0
			for rows := 0; rows < blockRows && to.bytes < blockBytes; rows++ {
				if ok, err := next(to); err != nil || !ok {
					return false, err
				}
			}
			return true, nil
		})
	})
}

// sink collects rows in a block. Its methods rely on the types of columns that newSink chooses.
type sink struct {
	columns proto.Input
	bytes   int // of the texts, entries and lists in the block
}

func newSink(cols []sqlengine.Column) *sink {
	s := &sink{}
	for _, c := range cols {
		in := proto.InputColumn{Name: c.Name}
		switch c.Type {
		case sqlengine.Text:
			in.Data = new(proto.ColStr)
		case sqlengine.Entries:
			in.Name, in.Data = entriesColumn, new(proto.ColStr)
		case sqlengine.Count, sqlengine.Double:
			in.Data = new(proto.ColFloat64).Nullable()
		case sqlengine.Doubles:
			in.Data = new(proto.ColFloat64).Array()
		default:
			in.Data = new(proto.ColInt64).Nullable()
		}
		s.columns = append(s.columns, in)
	}
	return s
}

func (s *sink) names() []string {
	return lists.Map(s.columns, func(c proto.InputColumn) string { return c.Name })
}

func (s *sink) Null(k int) {
	switch c := s.columns[k].Data.(type) {
	case *proto.ColNullable[float64]:
		c.Append(proto.Null[float64]())
	case *proto.ColNullable[int64]:
		c.Append(proto.Null[int64]())
	}
}

func (s *sink) Text(k int, v string) {
	s.bytes += len(v)
	s.columns[k].Data.(*proto.ColStr).Append(v) //nolint:forcetypeassert // see sink
}

func (s *sink) Integer(k int, v int64) {
	s.columns[k].Data.(*proto.ColNullable[int64]).Append(proto.NewNullable(v)) //nolint:forcetypeassert // see sink
}

func (s *sink) Number(k int, f float64) {
	s.columns[k].Data.(*proto.ColNullable[float64]).Append(proto.NewNullable(f)) //nolint:forcetypeassert // see sink
}

func (s *sink) Time(k int, epoch int64) { s.Integer(k, epoch) }

func (s *sink) List(k int, values []float64) {
	s.bytes += 8 * len(values)
	s.columns[k].Data.(*proto.ColArr[float64]).Append(values) //nolint:forcetypeassert // see sink
}

func (s *sink) JSON(k int, entries []byte) {
	s.bytes += len(entries)
	s.columns[k].Data.(*proto.ColStr).AppendBytes(entries) //nolint:forcetypeassert // see sink
}
