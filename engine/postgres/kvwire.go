package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/barograph/barograph/engine/kv"
)

// wire executes prepared statements over a connection of pgx, in the messages of the extended query protocol
// (PostgreSQL's manual, "Message Formats"). For each statement pgx itself locks the context, which all workers share,
// starts and stops a timer, and allocates. No byte of a reply remains between two statements, so pgx may use the
// connection then.
type wire struct {
	pg      *pgconn.PgConn
	socket  *kv.Socket
	request []byte
	reply   []byte // of it, the bytes from begin to end are not parsed yet
	begin   int
	end     int
	values  [][]byte // of a row, in reply
	watch   kv.Watch
}

const (
	// maxRequest is the greatest size of a request. With larger ones, server and client could wait for each other to
	// read; pgx prevents that.
	maxRequest = 16 << 10

	replyBuffer = 8 << 10
	maxMessage  = 1 << 30 // PostgreSQL's limit for a value
)

func newWire(pg *pgconn.PgConn, handler ctxwatch.Handler) *wire {
	w := &wire{pg: pg, socket: kv.NewSocket(pg.Conn()), reply: make([]byte, replyBuffer)}
	w.watch.Cancel = func() { handler.HandleCancel(context.Background()) } // no handler uses the context
	w.watch.Settle = handler.HandleUnwatchAfterCancel
	return w
}

// bind writes the request to execute a prepared statement. It returns false if the request is too large.
func (w *wire) bind(name string, args [][]byte) bool {
	size := len(name)
	for _, a := range args {
		size += len(a)
	}
	if size+4*len(args) > maxRequest || len(args) > math.MaxUint16 {
		return false
	}
	out := append(w.request[:0], 'B', 0, 0, 0, 0, 0) // the length follows; the portal has no name
	out = append(out, name...)
	out = append(out, 0, 0, 0) // all arguments are texts
	out = binary.BigEndian.AppendUint16(out, uint16(len(args)))
	for _, a := range args {
		if a == nil {
			out = appendNull(out)
		} else {
			out = appendText(out, a)
		}
	}
	out = append(out, 0, 0) // all values are texts
	binary.BigEndian.PutUint32(out[1:], uint32(len(out)-1))
	w.request = append(out, "E\x00\x00\x00\x09\x00\x00\x00\x00\x00"+"S\x00\x00\x00\x04"...) // all rows of the portal; sync
	return true
}

// run sends the request and passes each row to each. It returns the number of rows that the server reports. After an
// error that is not the server's it closes the connection.
func (w *wire) run(ctx context.Context, each func(values [][]byte) error) (rows int64, err error) {
	// After a slow write of its own, pgx still reads in the background. SyncConn has its own watch of the context: two at
	// once would cancel with the same memory of the connection.
	if err := w.pg.SyncConn(ctx); err != nil {
		return 0, err
	}
	if err := w.watch.Begin(ctx); err != nil {
		return 0, err
	}
	defer w.watch.End()
	w.begin, w.end = 0, 0
	request := w.request
	ready := false
	for !ready || w.begin < w.end {
		kind, body, connErr := w.next(request)
		request = nil
		if connErr == nil {
			ready = ready || kind == 'Z'
			connErr = w.take(kind, body, &rows, &err, each)
		}
		if connErr != nil {
			w.breakOff() //nolint:contextcheck // the context may be done
			if err == nil && !ready {
				err = contextError(ctx, connErr)
			}
			return rows, err
		}
	}
	return rows, err
}

// next returns the next message of the reply, valid until the next call. It sends the request before.
func (w *wire) next(request []byte) (kind byte, body []byte, err error) {
	const head = 5
	for need := head; ; {
		if w.end-w.begin >= head {
			size := binary.BigEndian.Uint32(w.reply[w.begin+1:])
			if size < head-1 || size > maxMessage {
				return 0, nil, fmt.Errorf("postgres: a message of %d bytes", size)
			}
			if need = int(size) + 1; w.end-w.begin >= need {
				m := w.reply[w.begin : w.begin+need]
				w.begin += need
				return m[0], m[head:], nil
			}
		}
		if w.begin+need > len(w.reply) {
			into := w.reply
			if need > len(into) {
				into = make([]byte, max(need, 2*len(into)))
			}
			w.begin, w.end = 0, copy(into, w.reply[w.begin:w.end])
			w.reply = into
		}
		n, err := w.socket.Exchange(request, w.reply[w.end:])
		if err != nil {
			return 0, nil, err
		}
		w.end, request = w.end+n, nil
	}
}

var errMessage = errors.New("postgres: the server sent an unexpected message")

// take handles a message. problem receives the first error of the server or of each.
func (w *wire) take(kind byte, body []byte, rows *int64, problem *error, each func(values [][]byte) error) error {
	switch kind {
	case 'D': // a row
		if !w.split(body) {
			return errMessage
		}
		if *problem == nil && each != nil {
			*problem = each(w.values)
		}
	case 'C': // a command is complete: its name and numbers, the last one is that of rows
		*rows = 0
		for _, c := range body {
			if c >= '0' && c <= '9' {
				*rows = *rows*10 + int64(c-'0')
			} else if c != 0 {
				*rows = 0
			}
		}
	case 'E':
		var m pgproto3.ErrorResponse
		if err := m.Decode(body); err != nil {
			return err
		}
		if *problem == nil {
			*problem = pgconn.ErrorResponseToPgError(&m)
		}
	case '2', 'I', 'Z', 'N', 'S', 'A': // bound, an empty statement, ready, and messages that may come at any time
	default:
		return errMessage
	}
	return nil
}

// split sets values to those of a row.
func (w *wire) split(row []byte) bool {
	w.values = w.values[:0]
	if len(row) < 2 {
		return false
	}
	n := int(binary.BigEndian.Uint16(row))
	for row = row[2:]; n > 0; n-- {
		if len(row) < 4 {
			return false
		}
		size := int(int32(binary.BigEndian.Uint32(row)))
		if row = row[4:]; size < 0 {
			w.values = append(w.values, nil)
			continue
		}
		if size > len(row) {
			return false
		}
		w.values = append(w.values, row[:size:size])
		row = row[size:]
	}
	return len(row) == 0
}

// breakOff closes the connection after an error. pgx then reports it as closed.
func (w *wire) breakOff() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.pg.Close(ctx) // it is broken
}

// contextError returns the error of a context that ended a statement by a deadline of the connection.
func contextError(ctx context.Context, err error) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() && ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
