package sqlengine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// Querier sends statements over a pool, over a connection or in a transaction.
type Querier interface {
	// Exec runs a statement that returns no rows.
	Exec(ctx context.Context, text string, args ...any) error

	// Rows passes each row of a reply to f, as values for AsText, AsInteger and similar
	// functions. They are valid until f returns.
	Rows(ctx context.Context, text string, args []any, f func(row []any) error) error
}

// DBTX is the common interface of *sql.DB, *sql.Conn and *sql.Tx.
type DBTX interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// DatabaseSQL is a Querier over package database/sql.
type DatabaseSQL struct{ DB DBTX }

// Exec runs a statement.
func (s DatabaseSQL) Exec(ctx context.Context, text string, args ...any) error {
	_, err := s.DB.ExecContext(ctx, text, args...)
	return engine.CallError(ctx, err)
}

// Rows passes each row to f.
func (s DatabaseSQL) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	rows, err := s.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return engine.CallError(ctx, err)
	}
	return ForEachRow(ctx, rows, f)
}

// ForEachRow passes each row to f, as Querier.Rows does, and closes the rows.
func ForEachRow(ctx context.Context, rows *sql.Rows, f func(row []any) error) error {
	defer rows.Close() //nolint:errcheck // Err below reports the error
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, destinations := make([]any, len(names)), make([]any, len(names))
	for k := range destinations {
		destinations[k] = rawValue{row, k}
	}
	for rows.Next() {
		if err := rows.Scan(destinations...); err != nil {
			return engine.CallError(ctx, err)
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return engine.CallError(ctx, rows.Err())
}

// ForEachDriverRow calls f for each row of a driver, after it has put the values into row. It closes the rows.
func ForEachDriverRow(rows driver.Rows, row []driver.Value, f func() error) error {
	var err error
	for err == nil {
		if err = rows.Next(row); err == nil {
			err = f()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// rawValue is the destination of a driver's value. It neither converts nor copies the value.
type rawValue struct {
	row []any
	k   int
}

func (s rawValue) Scan(src any) error {
	s.row[s.k] = src
	return nil
}

// Scan converts the first values of a row to the types of into: *string, *int64, *int or *float64.
func Scan(row []any, into ...any) (err error) {
	for k, to := range into {
		switch to := to.(type) {
		case *string:
			*to, err = AsText(row[k], *to)
		case *int64:
			*to, err = AsInteger(row[k])
		case *int:
			var n int64
			n, err = AsInteger(row[k])
			*to = int(n)
		case *float64:
			*to, err = AsNumber(row[k])
		default:
			err = fmt.Errorf("a row is scanned into %T", to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// QueryTexts returns the first column of a query.
func QueryTexts(ctx context.Context, q Querier, text string, args ...any) (out []string, err error) {
	err = q.Rows(ctx, text, args, func(row []any) error {
		s, err := AsText(row[0], "")
		out = append(out, s)
		return err
	})
	return out, err
}

// QueryNumber returns the only value of a query; 0 = no row, or NULL.
func QueryNumber(ctx context.Context, q Querier, text string, args ...any) (n int64, err error) {
	err = q.Rows(ctx, text, args, func(row []any) (err error) {
		if row[0] != nil {
			n, err = AsInteger(row[0])
		}
		return err
	})
	return n, err
}

// The functions below convert a driver's values (driver.Value, or the larger set of types
// that some drivers use) to canonical types.

// AsText converts a value to a string. last is the string of this column in the previous
// row. If the bytes are equal, AsText returns last and allocates nothing. NULL is "".
func AsText(src any, last string) (string, error) {
	switch v := src.(type) {
	case string:
		return v, nil
	case []byte:
		if string(v) == last { // does not allocate
			return last, nil
		}
		return string(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case nil:
		return "", nil
	}
	return "", unexpected(src, "text")
}

// asBytes returns a text's bytes, which may be the driver's own.
func asBytes(src any) ([]byte, error) {
	if b, ok := src.([]byte); ok {
		return b, nil
	}
	s, err := AsText(src, "")
	return []byte(s), err
}

// AsInteger converts a value to an integer; a float must have no fraction.
func AsInteger(src any) (int64, error) {
	switch v := src.(type) {
	case int64:
		return v, nil
	case int32:
		return int64(v), nil
	case float64:
		if n := int64(v); float64(n) == v {
			return n, nil
		}
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	case string:
		return strconv.ParseInt(v, 10, 64)
	case nil:
		return 0, unexpected(src, "integer")
	}
	switch v := reflect.ValueOf(src); {
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		return int64(v.Uint()), nil
	}
	return 0, unexpected(src, "integer")
}

// AsTime converts a time, ISO text or an epoch (a number or text) to Unix seconds.
func AsTime(src any) (int64, error) {
	switch v := src.(type) {
	case int64:
		return v, nil
	case time.Time:
		return v.Unix(), nil
	case string:
		return parseISO(v)
	case []byte:
		return parseISO(v)
	}
	return AsInteger(src)
}

// AsNumber converts a value to a float64; NULL is NaN.
func AsNumber(src any) (float64, error) {
	switch v := src.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case nil:
		return math.NaN(), nil
	case []byte:
		return strconv.ParseFloat(string(v), 64)
	case string:
		return strconv.ParseFloat(v, 64)
	case float32:
		return float64(v), nil
	}
	switch v := reflect.ValueOf(src); {
	case v.CanInt():
		return float64(v.Int()), nil
	case v.CanUint():
		return float64(v.Uint()), nil
	}
	return 0, unexpected(src, "number")
}

// missingToNaN converts METviewer's code for a missing number to NaN.
func missingToNaN(f float64) float64 {
	if f == design.MissingNumber {
		return math.NaN()
	}
	return f
}

func unexpected(src driver.Value, want string) error {
	return fmt.Errorf("expected %s, got %T %v", want, src, src)
}

// parseISO parses 2019-01-01 00:00:00, 2019-01-01T00:00:00Z and the digits of an epoch. It does not use package time,
// which is slower, because each row of an answer has two times.
func parseISO[S string | []byte](s S) (int64, error) {
	if len(s) < 5 || s[4] != '-' {
		n, err := strconv.ParseInt(string(s), 10, 64)
		if err != nil {
			err = fmt.Errorf("%q is not a time", string(s))
		}
		return n, err
	}
	if len(s) < 19 || s[7] != '-' || s[13] != ':' || s[16] != ':' || (len(s) > 19 && string(s[19:]) != "Z") {
		return 0, fmt.Errorf("%q is not a time", string(s))
	}
	isDigits := true
	two := func(at int) int64 {
		a, b := s[at]-'0', s[at+1]-'0'
		if a > 9 || b > 9 {
			isDigits = false
		}
		return int64(a)*10 + int64(b)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if !isDigits || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, fmt.Errorf("%q is not a time", string(s))
	}
	return record.Days(year, month, day)*86400 + hour*3600 + minute*60 + second, nil
}

// AppendDateTime appends a time as METviewer's DATETIME: 2019-01-01 00:00:00.
func AppendDateTime(dst []byte, epoch int64) []byte {
	return time.Unix(epoch, 0).UTC().AppendFormat(dst, time.DateTime)
}

// RepeatsDecoder appends the repeating columns in src, a driver's value of type Doubles, to into.
type RepeatsDecoder func(src any, into []float64) ([]float64, error)

// AsRepeats is the RepeatsDecoder of a list, and of JSON as for design.ParseRepeats. NULL and the empty text contain
// no values.
func AsRepeats(src any, into []float64) ([]float64, error) {
	if list, ok := src.([]float64); ok {
		return append(into, list...), nil
	}
	text, err := AsText(src, "")
	if err != nil || text == "" {
		return into, err
	}
	return design.ParseRepeats([]byte(text), into)
}
