package sqlengine

import (
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/record"
)

// The functions below turn what a driver hands over (driver.Value, or the
// wider set of types that some drivers use) into canonical types.

// AsText converts to a string. last is the string that the column held in the
// row before: where the bytes are the same it is returned, and nothing is
// allocated. NULL is "".
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

// AsWhole converts to a whole number; a float must be one.
func AsWhole(src any) (int64, error) {
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
		return 0, unexpected(src, "whole number")
	}
	switch v := reflect.ValueOf(src); {
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		return int64(v.Uint()), nil
	}
	return 0, unexpected(src, "whole number")
}

// AsTime converts a time, ISO text or an epoch, which may be text too, to Unix
// seconds.
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
	return AsWhole(src)
}

// AsNumber converts to a float64; NULL is NaN.
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

// orMissing turns METviewer's code for a missing number into NaN.
func orMissing(f float64) float64 {
	if f == design.MissingNumber {
		return math.NaN()
	}
	return f
}

func unexpected(src driver.Value, want string) error {
	return fmt.Errorf("a %s came as %T %v", want, src, src)
}

// parseISO reads 2019-01-01 00:00:00, 2019-01-01T00:00:00Z and the digits of an
// epoch, by hand, as an answer holds two of them per row.
func parseISO[S string | []byte](s S) (int64, error) {
	if len(s) < 5 || s[4] != '-' {
		n, err := strconv.ParseInt(string(s), 10, 64)
		if err != nil {
			err = fmt.Errorf("%q is no time", string(s))
		}
		return n, err
	}
	if len(s) < 19 || s[7] != '-' || s[13] != ':' || s[16] != ':' || (len(s) > 19 && string(s[19:]) != "Z") {
		return 0, fmt.Errorf("%q is no time", string(s))
	}
	var bad byte
	two := func(at int) int64 {
		a, b := s[at]-'0', s[at+1]-'0'
		if a > 9 || b > 9 {
			bad = 1
		}
		return int64(a)*10 + int64(b)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if bad != 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, fmt.Errorf("%q is no time", string(s))
	}
	return record.Days(year, month, day)*86400 + hour*3600 + minute*60 + second, nil
}

// AppendDateTime appends a time as METviewer's DATETIME: 2019-01-01 00:00:00.
func AppendDateTime(dst []byte, epoch int64) []byte {
	return time.Unix(epoch, 0).UTC().AppendFormat(dst, time.DateTime)
}

// AsRepeats appends to into the repeating columns that src holds as JSON, see
// design.ParseRepeats; NULL and the empty text hold none.
func AsRepeats(src any, into []float64) ([]float64, error) {
	text, err := AsText(src, "")
	if err != nil || text == "" {
		return into, err
	}
	return design.ParseRepeats([]byte(text), into)
}
