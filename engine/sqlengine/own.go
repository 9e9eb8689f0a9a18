package sqlengine

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
)

// OwnColumns returns the columns of a user's table for CREATE TABLE. typeNames are the engine's types. That of a
// decimal has %d for the number of all digits, and %d for those after the point.
func OwnColumns(t *tables.Table, ident func(string) string, typeNames map[tables.Kind]string) (columns []string) {
	for _, c := range t.Columns {
		name := typeNames[c.Kind]
		if strings.Contains(name, "%d") {
			name = fmt.Sprintf(name, c.Digits, c.Decimals)
		}
		columns = append(columns, ident(c.Name)+" "+name)
	}
	return columns
}

// Running returns the first row of a query as the step of tables.Tables.Running; an error means that no step is known.
func Running(ctx context.Context, q Querier, text string) (step string, done, all int64) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // the end of a load waits for the query
	defer cancel()
	if err := q.Rows(ctx, text, nil, func(row []any) error { return Scan(row, &step, &done, &all) }); err != nil {
		return "", 0, 0
	}
	return step, done, all
}

// TypedRows passes each row to f, with values of the types that package answer compares. castOf returns the cast of a
// column by the driver's name of its type.
func (s DatabaseSQL) TypedRows(ctx context.Context, text string, castOf func(typeName string) ResultCast, f func(row []any) error) error {
	rows, err := s.DB.QueryContext(ctx, text)
	if err != nil {
		return engine.CallError(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // ForEachRow reports the error
	columns, err := rows.ColumnTypes()
	if err != nil {
		return engine.CallError(ctx, err)
	}
	casts := lists.Map(columns, func(c *sql.ColumnType) ResultCast { return castOf(c.DatabaseTypeName()) })
	return ForEachRow(ctx, rows, func(row []any) error {
		for k, cast := range casts {
			row[k] = cast.Convert(row[k])
		}
		return f(row)
	})
}

// ResultCast converts the values of a column of a result, if the driver's Go type does not show the column's type.
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
