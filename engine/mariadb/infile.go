package mariadb

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
)

// feed is what LOAD DATA reads: text that is made as the server takes it, so
// that no file and no copy of all rows is needed.
type feed struct {
	buf  []byte
	at   int
	more func(dst []byte) []byte // appends some rows; nothing at the end
}

// feedBytes is about how much text more makes at once.
const feedBytes = 64 << 10

func (f *feed) Read(p []byte) (int, error) {
	if f.at == len(f.buf) {
		f.buf, f.at = f.more(f.buf[:0]), 0
		if len(f.buf) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(p, f.buf[f.at:])
	f.at += n
	return n, nil
}

// infile is a LOAD DATA statement.
type infile struct {
	table   string // quoted
	columns []string
	charset string // of the text: binary or utf8mb4
	replace bool   // a row of the same primary key is replaced
	set     string // further assignment; "" = none
	rows    int64  // that more makes, or rowsUnknown
	more    func(dst []byte) []byte

	took int64 // set by run: rows that the server has taken
}

// rowsUnknown stands for a number of rows that only the end of more tells.
const rowsUnknown = -1

// run loads. LOCAL turns what is wrong with a value into a warning; here every
// warning is an error, as the value would not be the one that was given.
func (f *infile) run(ctx context.Context, c *sql.Conn) error {
	if f.rows == 0 {
		return nil
	}
	source := &feed{more: f.more}
	name := fmt.Sprintf("barograph-%p", source)
	mysql.RegisterReaderHandler(name, func() io.Reader { return source })
	defer mysql.DeregisterReaderHandler(name)
	how := ""
	if f.replace {
		how = "REPLACE "
	}
	set := ""
	if f.set != "" {
		set = " SET " + f.set
	}
	r, err := c.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' "+how+"INTO TABLE "+f.table+" CHARACTER SET "+f.charset+
		" FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ("+strings.Join(f.columns, ", ")+")"+set)
	if is(err, errNoLocal, errNoLocalOld) {
		return &fault.Error{Setting: "server setting local_infile", Problem: "is off", Err: err, Cure: "start the server with --local-infile=1"}
	}
	if is(err, errTooLong, errIncorrect, errOutOfRange, errTruncated, errWrongValue) {
		return f.misfit("", err)
	}
	if err != nil {
		return fmt.Errorf("load into %s: %w", f.table, err)
	}
	if err := f.warnings(ctx, c); err != nil {
		return err
	}
	f.took, err = r.RowsAffected()
	if err == nil && !f.replace && f.rows != rowsUnknown && f.took != f.rows {
		err = fmt.Errorf("load into %s: the server took %d of %d rows", f.table, f.took, f.rows)
	}
	return err
}

// damaged are the numbers of errors and warnings of a MyISAM table that its
// server's death has damaged: index is corrupt, not a key file, marked as
// crashed, marked as crashed and the last repair failed, open count wrong.
var damaged = [...]int{126, 1034, 1194, 1195, 145} //nolint:gochecknoglobals // a constant table

// warnings looks for what the server says of values. What it says of a table
// that it has just repaired, as it does when the table is opened for the first
// time after the server was killed, is no such thing.
func (f *infile) warnings(ctx context.Context, c *sql.Conn) error {
	return sqlengine.Standard{Over: c}.Rows(ctx, "SHOW WARNINGS", nil, func(row []any) error {
		var level, message string
		var code int
		err := sqlengine.Scan(row, &level, &code, &message)
		switch {
		case err != nil:
		case code == errDuplicate: // numbers are given out once: another node's loader has taken this one
			return fmt.Errorf("load into %s: %s: %w", f.table, message, errOvertaken)
		case !slices.Contains(damaged[:], code):
			return f.misfit(message, nil)
		}
		return err
	})
}

func (f *infile) misfit(message string, err error) error {
	return &fault.Error{
		Setting: "table " + f.table, Problem: strings.TrimSuffix("a value does not fit: "+message, ": "), Err: err,
		Cure: "the table's columns are too narrow for this record; take out the line, or load it under another design or engine",
	}
}

// each makes a more of rows that are told one by one; next is false at the end.
func each(next func(dst []byte) ([]byte, bool)) func(dst []byte) []byte {
	return func(dst []byte) []byte {
		for len(dst) < feedBytes {
			var ok bool
			if dst, ok = next(dst); !ok {
				break
			}
		}
		return dst
	}
}
