package clickhouse

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/answer"
)

// ownDatabase contains a user's own tables.
const ownDatabase = "barograph_own"

// readerSettings limit the memory of the reader of Parquet. By default it keeps up to 4 GiB of decoded rows ahead of the
// insertion, and a smaller max_memory_usage ends the load of a table of several million rows. It also maps the whole
// file into memory, which max_memory_usage does not count.
const readerSettings = " SETTINGS input_format_parquet_memory_high_watermark = 134217728, storage_file_read_method = 'pread'"

// ownTables are a user's tables, in sessions that find them by their bare names.
type ownTables struct {
	*pool
	columnTypes sync.Map // []columnType of the result of each query, by its text
}

func (d *database) openOwn(ctx context.Context, keep bool) (*tables.Tables, error) {
	if !keep {
		if err := d.Exec(ctx, "DROP DATABASE IF EXISTS "+ownDatabase); err != nil {
			return nil, err
		}
	}
	p, err := d.separateDatabase(ctx, ownDatabase)
	if err != nil {
		return nil, err
	}
	o := &ownTables{pool: p}
	return &tables.Tables{
		Load: o.load, Ask: o.ask,
		Loaded: func(ctx context.Context, t *tables.Table) int64 {
			text := "SELECT sum(rows) FROM system.parts WHERE active AND database = '" + ownDatabase + "' AND table = " +
				quote(t.Name)
			n, _ := sqlengine.QueryNumber(ctx, o, text) // 0 = not known
			return n
		},
		Running: func(ctx context.Context) (step string, done, all int64) {
			text := "SELECT 'merging ' || toString(num_parts) || ' parts', toInt64(1000 * progress), toInt64(1000) " +
				"FROM system.merges WHERE database = '" + ownDatabase + "' ORDER BY rows_read DESC LIMIT 1"
			return sqlengine.Running(ctx, o, text)
		},
		Size: func(ctx context.Context) (int64, error) {
			text := "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '" + ownDatabase + "'"
			return sqlengine.QueryNumber(ctx, o, text)
		},
		Close: o.close,
	}, nil
}

func (o *ownTables) load(ctx context.Context, t *tables.Table) error {
	columns := sqlengine.OwnColumns(t, ident, map[tables.Kind]string{
		tables.Bool: "Nullable(Bool)", tables.Integer: "Nullable(Int64)", tables.Float: "Nullable(Float64)",
		tables.Decimal: "Nullable(Decimal(%d, %d))",
		tables.Date:    "Nullable(Date32)", tables.Time: "Nullable(DateTime64(6, 'UTC'))", tables.Text: "Nullable(String)",
	})
	dir, err := os.MkdirTemp("", "barograph-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it contains only links
	file, err := literalPath(dir, t.Parquet)
	if err != nil {
		return err
	}
	name := ident(t.Name)
	for _, text := range []string{
		"CREATE TABLE " + name + " (" + strings.Join(columns, ", ") + ") ENGINE = MergeTree ORDER BY tuple() " +
			"SETTINGS " + tableSettings,
		"INSERT INTO " + name + " SELECT * FROM file(" + quote(file) + ", Parquet)" + readerSettings,
		"OPTIMIZE TABLE " + name + " FINAL",
	} {
		if err := o.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// decimalScale matches the scale in the name of a decimal type.
var decimalScale = regexp.MustCompile(`^(?:Nullable\()?Decimal\(\d+, (\d+)\)`)

// isQuery matches statements that return rows; others have no columns to describe.
var isQuery = regexp.MustCompile(`(?is)^\s*(/\*.*?\*/\s*)*(\(\s*)*(SELECT|WITH|SHOW|DESCRIBE|EXPLAIN)\b`)

// ask passes each row of a result to f. Because the rows do not have the scale of decimals, ask first queries the types
// of the columns, once for each text.
func (o *ownTables) ask(ctx context.Context, text string, f func(row []any) error) error {
	known, ok := o.columnTypes.Load(text)
	if !ok && !isQuery.MatchString(text) {
		return o.Exec(ctx, text)
	}
	if !ok {
		var types []columnType
		err := o.Rows(ctx, "DESCRIBE TABLE ("+text+"\n)", nil, func(row []any) error {
			name, err := sqlengine.AsText(row[1], "")
			var t columnType
			if m := decimalScale.FindStringSubmatch(name); m != nil {
				t.scale, _ = strconv.Atoi(m[1]) // the pattern matches only digits
			}
			if strings.Contains(name, "Date") && !strings.Contains(name, "DateTime") {
				t.cast = sqlengine.AsDate
			}
			types = append(types, t)
			return err
		})
		if err != nil {
			return err
		}
		o.columnTypes.Store(text, types)
		known = types
	}
	types := known.([]columnType) //nolint:forcetypeassert // the map contains only this type
	return o.withSession(ctx, func(s session) error {
		return s.query(ctx, text, func(block proto.Results) error {
			cells := make([]func(i int) any, len(block))
			for k := range block {
				if cells[k] = columnReader(block[k].Data); cells[k] == nil {
					return fmt.Errorf("an answer has a column of ClickHouse's type %s", block[k].Data.Type())
				}
			}
			row := make([]any, len(block))
			for i := range block.Rows() {
				for k := range block {
					row[k] = types[k].cast.Convert(decimalText(cells[k](i), types[k].scale))
				}
				if err := f(row); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// columnType is what the values of a column do not show.
type columnType struct {
	scale int // number of decimals
	cast  sqlengine.ResultCast
}

// columnReader returns a function that reads the values of a column, NULL as nil. It returns nil for a type that it
// does not support.
func columnReader(c proto.ColResult) func(i int) any {
	for _, reader := range []func(c proto.ColResult) func(i int) any{
		typedReader[string], typedReader[bool], typedReader[float64], typedReader[float32], typedReader[time.Time],
		typedReader[int64], typedReader[int32], typedReader[int16], typedReader[int8],
		typedReader[uint64], typedReader[uint32], typedReader[uint16], typedReader[uint8],
		typedReader[proto.Decimal32], typedReader[proto.Decimal64], typedReader[proto.Decimal128],
		typedReader[proto.Decimal256], typedReader[proto.Int128],
		typedReader[[]byte], typedReader[[]string], typedReader[[]float64], typedReader[[]int64], typedReader[proto.Nothing],
	} {
		if cells := reader(c); cells != nil {
			return cells
		}
	}
	return nil
}

// typedReader is columnReader for one Go type.
func typedReader[T any](c proto.ColResult) func(i int) any {
	switch c := c.(type) {
	case interface{ Row(i int) T }:
		return func(i int) any { return c.Row(i) }
	case interface{ Row(i int) proto.Nullable[T] }:
		return func(i int) any {
			if v := c.Row(i); v.Set {
				return v.Value
			}
			return nil
		}
	}
	return nil
}

// decimalText returns a decimal, or an integer that no Go type can contain, as text. Values of other types are
// unchanged.
func decimalText(v any, scale int) any {
	switch d := v.(type) {
	case proto.Decimal32:
		return digits(big.NewInt(int64(d)), scale)
	case proto.Decimal64:
		return digits(big.NewInt(int64(d)), scale)
	case proto.Decimal128:
		return digits(signed(d.High, d.Low), scale)
	case proto.Int128:
		return digits(signed(d.High, d.Low), 0)
	case proto.Decimal256:
		return digits(signed(d.High.High, d.High.Low, d.Low.High, d.Low.Low), scale)
	}
	return v
}

// signed returns an integer in two's complement from its 64-bit words, the highest one first.
func signed(high uint64, words ...uint64) *big.Int {
	n := big.NewInt(int64(high)) //nolint:gosec // the highest word has the sign
	for _, word := range words {
		n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(word))
	}
	return n
}

// digits writes an integer with a decimal point before the last scale digits.
func digits(n *big.Int, scale int) answer.Decimal {
	text, sign := new(big.Int).Abs(n).String(), ""
	if n.Sign() < 0 {
		sign = "-"
	}
	if scale == 0 {
		return answer.Decimal(sign + text)
	}
	text = strings.Repeat("0", max(scale+1-len(text), 0)) + text
	return answer.Decimal(sign + text[:len(text)-scale] + "." + text[len(text)-scale:])
}
