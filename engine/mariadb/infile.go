package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
)

// infile is a LOAD DATA statement.
type infile struct {
	table   string // quoted name
	columns []string
	charset string // character set of the text: binary or utf8mb4
	replace bool   // replace a row with the same primary key
	set     string // further assignments; "" = none
	rows    func(out *rowWriter) error
}

// rowWriter writes the text for LOAD DATA while the server reads it. It needs no file and no copy
// of all rows.
type rowWriter struct {
	to   *io.PipeWriter
	buf  []byte
	rows int64
}

// feedBytes is the approximate number of bytes that are passed on at once.
const feedBytes = 64 << 10

// row returns the buffer for the next row; end takes it.
func (o *rowWriter) row() []byte { return o.buf }

func (o *rowWriter) end(row []byte) error {
	o.buf = append(row, '\n')
	if o.rows++; len(o.buf) < feedBytes {
		return nil
	}
	return o.flush()
}

func (o *rowWriter) flush() error {
	_, err := o.to.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

// load loads over a connection.
func (f *infile) load(ctx context.Context, c *sql.Conn) (int64, error) {
	return f.run(ctx, func(ctx context.Context, text string, _ []any, each func([]any) error) (int64, error) {
		if each != nil {
			return 0, querier{c}.Rows(ctx, text, nil, each)
		}
		r, err := c.ExecContext(ctx, text)
		if err != nil {
			return 0, err
		}
		return r.RowsAffected()
	})
}

type directFunc func(ctx context.Context, text string, args []any, each func([]any) error) (int64, error)

// run loads rows and counts them. LOCAL converts errors of values to warnings. run treats every
// warning as an error, because the stored value would differ from the given one. direct sends a
// statement, like the Direct of sqlengine.PostConn.
func (f *infile) run(ctx context.Context, direct directFunc) (int64, error) {
	in, to := io.Pipe()
	name := fmt.Sprintf("barograph-%p", in)
	mysql.RegisterReaderHandler(name, func() io.Reader { return in })
	defer mysql.DeregisterReaderHandler(name)
	out, written := &rowWriter{to: to}, make(chan error, 1)
	go func() {
		err := f.rows(out)
		if err == nil {
			err = out.flush()
		}
		written <- errors.Join(err, to.CloseWithError(err))
	}()
	replace, set := "", ""
	if f.replace {
		replace = "REPLACE "
	}
	if f.set != "" {
		set = " SET " + f.set
	}
	stored, err := direct(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' "+replace+"INTO TABLE "+f.table+
		" CHARACTER SET "+f.charset+" FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ("+
		strings.Join(f.columns, ", ")+")"+set, nil, nil)
	in.Close() //nolint:errcheck // it returns no error; a goroutine that still writes gets one
	if writeErr := <-written; writeErr != nil && !errors.Is(writeErr, io.ErrClosedPipe) {
		return 0, writeErr
	}
	switch {
	case is(err, errNoLocal, errNoLocalOld):
		const cure = "start the server with --local-infile=1"
		return 0, &fault.Error{Setting: "server setting local_infile", Problem: "is off", Err: err, Cure: cure}
	case is(err, errTooLong, errIncorrect, errOutOfRange, errTruncated, errWrongValue):
		return 0, f.misfit("", err)
	case err != nil:
		return 0, fmt.Errorf("load into %s: %w", f.table, err)
	}
	if _, err := direct(ctx, "SHOW WARNINGS", nil, f.warning); err != nil {
		return 0, err
	}
	if !f.replace && stored != out.rows {
		return 0, fmt.Errorf("load into %s: the server stored %d of %d rows", f.table, stored, out.rows)
	}
	return out.rows, nil
}

// damageCodes lists the server's warnings about a MyISAM table that a crash of the server has damaged:
// index is corrupt, not a key file, marked as crashed, marked as crashed and the last repair failed,
// open count wrong.
var damageCodes = [...]int{126, 1034, 1194, 1195, 145} //nolint:gochecknoglobals // a constant table

// warning returns an error for a warning about values. It ignores a warning about a table that the
// server has just repaired, when it opened the table for the first time after a crash.
func (f *infile) warning(row []any) error {
	var level, message string
	var code int
	err := sqlengine.Scan(row, &level, &code, &message)
	switch {
	case err != nil:
	case code == errDuplicate: // a loader at another node has used this number
		return fmt.Errorf("load into %s: %s: %w", f.table, message, errCommitConflict)
	case !slices.Contains(damageCodes[:], code):
		return f.misfit(message, nil)
	}
	return err
}

func (f *infile) misfit(message string, err error) error {
	return &fault.Error{
		Setting: "table " + f.table, Problem: strings.TrimSuffix("a value does not fit: "+message, ": "), Err: err,
		Cure: "the table's columns are too narrow for this record; remove the line, or load it with another design or engine",
	}
}
