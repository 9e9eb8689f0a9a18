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
	table   string // quoted
	columns []string
	charset string // of the text: binary or utf8mb4
	replace bool   // a row of the same primary key is replaced
	set     string // further assignment; "" = none
	rows    func(out *rowWriter) error
}

// rowWriter makes what LOAD DATA reads as the server takes it, so that no file
// and no copy of all rows is needed.
type rowWriter struct {
	to   *io.PipeWriter
	buf  []byte
	made int64
}

// feedBytes is about how much text is handed on at once.
const feedBytes = 64 << 10

// row is what the next row is appended to; end takes it.
func (o *rowWriter) row() []byte { return o.buf }

func (o *rowWriter) end(row []byte) error {
	o.buf = append(row, '\n')
	if o.made++; len(o.buf) < feedBytes {
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
			return 0, sqlengine.Standard{Over: c}.Rows(ctx, text, nil, each)
		}
		r, err := c.ExecContext(ctx, text)
		if err != nil {
			return 0, err
		}
		return r.RowsAffected()
	})
}

// run loads rows and counts them. LOCAL turns what is wrong with a value into a
// warning; here every warning is an error, as the value would not be the one
// that was given. direct sends a statement, as that of sqlengine.PostConn.
func (f *infile) run(ctx context.Context, direct func(ctx context.Context, text string, args []any, each func([]any) error) (int64, error)) (int64, error) {
	in, to := io.Pipe()
	name := fmt.Sprintf("barograph-%p", in)
	mysql.RegisterReaderHandler(name, func() io.Reader { return in })
	defer mysql.DeregisterReaderHandler(name)
	out, made := &rowWriter{to: to}, make(chan error, 1)
	go func() {
		err := f.rows(out)
		if err == nil {
			err = out.flush()
		}
		made <- errors.Join(err, to.CloseWithError(err))
	}()
	how, set := "", ""
	if f.replace {
		how = "REPLACE "
	}
	if f.set != "" {
		set = " SET " + f.set
	}
	took, err := direct(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' "+how+"INTO TABLE "+f.table+" CHARACTER SET "+f.charset+
		" FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ("+strings.Join(f.columns, ", ")+")"+set, nil, nil)
	in.Close() //nolint:errcheck // it has no error: who still writes gets no further
	if failed := <-made; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return 0, failed
	}
	switch {
	case is(err, errNoLocal, errNoLocalOld):
		return 0, &fault.Error{Setting: "server setting local_infile", Problem: "is off", Err: err, Cure: "start the server with --local-infile=1"}
	case is(err, errTooLong, errIncorrect, errOutOfRange, errTruncated, errWrongValue):
		return 0, f.misfit("", err)
	case err != nil:
		return 0, fmt.Errorf("load into %s: %w", f.table, err)
	}
	if _, err := direct(ctx, "SHOW WARNINGS", nil, f.warning); err != nil {
		return 0, err
	}
	if !f.replace && took != out.made {
		return 0, fmt.Errorf("load into %s: the server took %d of %d rows", f.table, took, out.made)
	}
	return out.made, nil
}

// damaged are the numbers of errors and warnings of a MyISAM table that its
// server's death has damaged: index is corrupt, not a key file, marked as
// crashed, marked as crashed and the last repair failed, open count wrong.
var damaged = [...]int{126, 1034, 1194, 1195, 145} //nolint:gochecknoglobals // a constant table

// warning is what the server says of values. What it says of a table that it has
// just repaired, as it does when the table is opened for the first time after
// the server was killed, is no such thing.
func (f *infile) warning(row []any) error {
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
}

func (f *infile) misfit(message string, err error) error {
	return &fault.Error{
		Setting: "table " + f.table, Problem: strings.TrimSuffix("a value does not fit: "+message, ": "), Err: err,
		Cure: "the table's columns are too narrow for this record; take out the line, or load it under another design or engine",
	}
}
