package clickhouse

import (
	"context"
	"fmt"
	"math/big"
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

// ownTables are a user's tables, in sessions that find them by their names alone.
type ownTables struct {
	*pool
	columnTypes sync.Map // text of a query → type of each column of its answer
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
		Size: func(ctx context.Context) (int64, error) {
			return sqlengine.QueryNumber(ctx, o, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '"+ownDatabase+"'")
		},
		Close: o.close,
	}, nil
}

func (o *ownTables) load(ctx context.Context, t *tables.Table) error {
	columns := sqlengine.OwnColumns(t, ident, map[tables.Kind]string{
		tables.Bool: "Nullable(Bool)", tables.Integer: "Nullable(Int64)", tables.Float: "Nullable(Float64)", tables.Decimal: "Nullable(Decimal(%d, %d))",
		tables.Date: "Nullable(Date32)", tables.Time: "Nullable(DateTime64(6, 'UTC'))", tables.Text: "Nullable(String)",
	})
	name := ident(t.Name)
	for _, text := range []string{
		"CREATE TABLE " + name + " (" + strings.Join(columns, ", ") + ") ENGINE = MergeTree ORDER BY tuple() SETTINGS " + tableSettings,
		"INSERT INTO " + name + " SELECT * FROM file(" + quote(t.Parquet) + ", Parquet)",
		"OPTIMIZE TABLE " + name + " FINAL",
	} {
		if err := o.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

var decimalScale = regexp.MustCompile(`^(?:Nullable\()?Decimal\(\d+, (\d+)\)`)

// isQuery matches what returns rows; other statements have no columns to describe.
var isQuery = regexp.MustCompile(`(?is)^\s*(/\*.*?\*/\s*)*(\(\s*)*(SELECT|WITH|SHOW|DESCRIBE|EXPLAIN)\b`)

// ask passes on each row. Before, it queries the scale of decimal columns, once for each text.
func (o *ownTables) ask(ctx context.Context, text string, f func(row []any) error) error {
	known, ok := o.columnTypes.Load(text)
	if !ok && !isQuery.MatchString(text) {
		return o.Exec(ctx, text)
	}
	if !ok {
		var scales []columnType
		err := o.Rows(ctx, "DESCRIBE TABLE ("+text+"\n)", nil, func(row []any) error {
			kind, err := sqlengine.AsText(row[1], "")
			var h columnType
			if m := decimalScale.FindStringSubmatch(kind); m != nil {
				h.scale, _ = strconv.Atoi(m[1]) // the pattern matches only digits
			}
			if strings.Contains(kind, "Date") && !strings.Contains(kind, "DateTime") {
				h.cast = sqlengine.AsDate
			}
			scales = append(scales, h)
			return err
		})
		if err != nil {
			return err
		}
		o.columnTypes.Store(text, scales)
		known = scales
	}
	scales := known.([]columnType) //nolint:forcetypeassert // the map contains only this type
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
					row[k] = scales[k].cast.Convert(decimalText(cells[k](i), scales[k].scale))
				}
				if err := f(row); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// columnType is the type of a column of an answer.
type columnType struct {
	scale int // number of decimals
	cast  sqlengine.ResultCast
}

// columnReader returns a function that reads the values of a column, NULL as nil; nil = the type is not supported.
func columnReader(c proto.ColResult) func(i int) any {
	for _, reader := range []func(c proto.ColResult) func(i int) any{
		typedReader[string], typedReader[bool], typedReader[float64], typedReader[float32], typedReader[time.Time],
		typedReader[int64], typedReader[int32], typedReader[int16], typedReader[int8], typedReader[uint64], typedReader[uint32], typedReader[uint16], typedReader[uint8],
		typedReader[proto.Decimal32], typedReader[proto.Decimal64], typedReader[proto.Decimal128], typedReader[proto.Decimal256], typedReader[proto.Int128],
		typedReader[[]byte], typedReader[[]string], typedReader[[]float64], typedReader[[]int64], typedReader[proto.Nothing],
	} {
		if cells := reader(c); cells != nil {
			return cells
		}
	}
	return nil
}

// typedReader is cellsOf for one Go type.
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

// decimalText writes a decimal or a number of many digits as digits.
func decimalText(v any, scale int) any {
	switch d := v.(type) {
	case proto.Decimal32:
		return digits(big.NewInt(int64(d)), scale)
	case proto.Decimal64:
		return digits(big.NewInt(int64(d)), scale)
	case proto.Decimal128:
		return digits(int128(int64(d.High), d.Low), scale) //nolint:gosec // High has the sign
	case proto.Int128:
		return digits(int128(int64(d.High), d.Low), 0) //nolint:gosec // High has the sign
	case proto.Decimal256:
		return digits(new(big.Int).Add(new(big.Int).Lsh(int128(int64(d.High.High), d.High.Low), 128), new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(d.Low.High), 64), new(big.Int).SetUint64(d.Low.Low))), scale) //nolint:gosec // High has the sign
	}
	return v
}

func int128(high int64, low uint64) *big.Int {
	return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(high), 64), new(big.Int).SetUint64(low))
}

// digits writes a decimal.
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
