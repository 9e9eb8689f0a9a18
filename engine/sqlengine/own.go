package sqlengine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/answer"
)

// OwnColumns returns the columns of a user's table for CREATE TABLE. kinds are the engine's
// types. The type of a decimal has %d for all its digits and for the digits after the point.
func OwnColumns(t *tables.Table, ident func(string) string, kinds map[tables.Kind]string) (columns []string) {
	for _, c := range t.Columns {
		kind := kinds[c.Kind]
		if strings.Contains(kind, "%d") {
			kind = fmt.Sprintf(kind, c.Digits, c.Decimals)
		}
		columns = append(columns, ident(c.Name)+" "+kind)
	}
	return columns
}

// TypedRows passes each row to f with the types of its columns, as package answer compares
// them. kinds finds the type of a column by the driver's name for it.
func (s DatabaseSQL) TypedRows(ctx context.Context, text string, kinds func(name string) ResultCast, f func(row []any) error) error {
	rows, err := s.DB.QueryContext(ctx, text)
	if err != nil {
		return CallError(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Each reports the error
	columns, err := rows.ColumnTypes()
	if err != nil {
		return CallError(ctx, err)
	}
	var casts []ResultCast
	for _, c := range columns {
		casts = append(casts, kinds(c.DatabaseTypeName()))
	}
	return ForEachRow(ctx, rows, func(row []any) error {
		for k, cast := range casts {
			row[k] = cast.Convert(row[k])
		}
		return f(row)
	})
}

// ResultCast is the type of a column of an answer, if its Go type is ambiguous.
type ResultCast byte

// The casts.
const (
	AsIs ResultCast = iota
	AsDecimal
	AsFloat
	AsDate
	AsMoment
	AsUntyped
)

// Convert converts a value to the type.
func (c ResultCast) Convert(v any) any {
	if t, ok := v.(time.Time); ok {
		if c == AsDate {
			return answer.DateOf(t)
		}
		return answer.MomentOf(t)
	}
	text, ok := v.(string)
	if b, isBytes := v.([]byte); isBytes {
		text, ok = string(b), true
	}
	if !ok {
		return v
	}
	switch c {
	case AsDecimal:
		return answer.Decimal(text)
	case AsFloat:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case AsDate:
		return answer.Date(text)
	case AsMoment:
		return answer.Moment(text)
	case AsUntyped:
		return answer.Untyped(text)
	case AsIs:
	}
	return text
}
