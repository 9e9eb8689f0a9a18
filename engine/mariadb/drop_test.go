package mariadb

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Where MariaDB copied what it repaired, the second try drops a database; another
// error is not tried again.
func TestDropsTwice(t *testing.T) {
	notEmpty, denied := &mysql.MySQLError{Number: errNotDropped}, &mysql.MySQLError{Number: errDatabaseDenied}
	for _, tc := range []struct {
		answers []error
		want    error
	}{
		{[]error{nil}, nil},
		{[]error{fmt.Errorf("dropping: %w", notEmpty), nil}, nil},
		{[]error{notEmpty, notEmpty}, notEmpty},
		{[]error{denied}, denied},
	} {
		tries := 0
		err := drop(func(string) error { tries++; return tc.answers[tries-1] }, "x")
		if !errors.Is(err, tc.want) || tries != len(tc.answers) {
			t.Errorf("%v: %v after %d tries, want %v", tc.answers, err, tries, tc.want)
		}
	}
}
