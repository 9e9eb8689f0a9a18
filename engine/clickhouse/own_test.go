package clickhouse

import (
	"reflect"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/query/answer"
)

// TestCells: a column of an answer is read by its type; one of a type that no
// reader takes is refused, not printed.
func TestCells(t *testing.T) {
	noon := time.Date(2019, 1, 1, 12, 0, 0, 0, time.UTC)
	whole := proto.NewColNullable(new(proto.ColInt64))
	whole.AppendArr([]proto.Nullable[int64]{proto.NewNullable(int64(7)), {}})
	money := proto.NewColNullable(new(proto.ColDecimal64))
	money.AppendArr([]proto.Nullable[proto.Decimal64]{proto.NewNullable(proto.Decimal64(-5)), {}})
	wide := proto.ColDecimal256{{Low: proto.UInt128{Low: 1}}, {Low: proto.UInt128{Low: 1<<64 - 100, High: 1<<64 - 1}, High: proto.UInt128{Low: 1<<64 - 1, High: 1<<64 - 1}}}
	moment := new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro).WithLocation(time.UTC)
	moment.Append(noon)
	nothing := proto.NewColNullable(new(proto.ColNothing))
	nothing.Append(proto.Nullable[proto.Nothing]{})
	text := proto.NewLowCardinality(new(proto.ColStr))
	text.Append("GFS")
	for name, test := range map[string]struct {
		column proto.ColResult
		want   []any
	}{
		"whole":    {whole, []any{int64(7), nil}},
		"byte":     {&proto.ColUInt8{1, 0}, []any{uint8(1), uint8(0)}},
		"float":    {&proto.ColFloat64{0.1}, []any{0.1}},
		"bool":     {&proto.ColBool{true}, []any{true}},
		"decimal":  {money, []any{answer.Decimal("-0.05"), nil}},
		"wide":     {&wide, []any{answer.Decimal("0.01"), answer.Decimal("-1.00")}},
		"sum":      {&proto.ColInt128{{Low: 12, High: 0}}, []any{answer.Decimal("12")}},
		"moment":   {moment, []any{noon}},
		"nothing":  {nothing, []any{nil}},
		"array":    {&proto.ColArr[int64]{Data: &proto.ColInt64{1, 2}, Offsets: proto.ColUInt64{2}}, []any{[]int64{1, 2}}},
		"map":      {proto.NewMap[string, string](new(proto.ColStr), new(proto.ColStr)), nil},
		"unsigned": {&proto.ColUInt128{{Low: 1}}, nil},
	} {
		cells := columnReader(test.column)
		if (cells == nil) != (test.want == nil) {
			t.Errorf("%s: a reader %t", name, cells != nil)
			continue
		}
		for i, want := range test.want {
			if got := decimalText(cells(i), 2); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, row %d: %v (%T), not %v", name, i, got, got, want)
			}
		}
	}
}
