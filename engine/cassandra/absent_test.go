package cassandra

import (
	"errors"
	"fmt"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

type serverError struct {
	code int
	text string
}

func (e serverError) Code() int       { return e.code }
func (e serverError) Message() string { return e.text }
func (e serverError) Error() string   { return e.text }

// A table that is being created is in the schema before the server serves it. Until then it counts as absent.
func TestAbsentTable(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{serverError{gocql.ErrCodeInvalid, "table x does not exist"}, true},
		{fmt.Errorf("x: %w", serverError{gocql.ErrCodeServer, "java.lang.IllegalArgumentException: Unknown CF 0d6aad00-eb97-11f1-a225-538f2a4c4529"}), true},
		{serverError{gocql.ErrCodeServer, "java.lang.NullPointerException"}, false},
		{errors.New("no connection"), false},
		{nil, false},
	} {
		if got := absent(tc.err); got != tc.want {
			t.Errorf("absent(%v) = %v", tc.err, got)
		}
	}
}
