package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine/sqlengine"
)

// sharedConns contains the connections that the sessions of all workers share (?pipeline=).
type sharedConns struct {
	dial  func(ctx context.Context) (*pgx.Conn, error)
	mutex chan struct{} // locks the fields below
	conns []*sharedConn
	next  int
}

func newSharedConns(n int, dial func(ctx context.Context) (*pgx.Conn, error)) *sharedConns {
	return &sharedConns{dial: dial, mutex: make(chan struct{}, 1), conns: make([]*sharedConn, n)}
}

// session returns a session on one of the connections. It reopens a lost connection.
func (s *sharedConns) session(ctx context.Context) (sqlengine.Session, error) {
	select {
	case s.mutex <- struct{}{}:
		defer func() { <-s.mutex }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l := &s.conns[s.next%len(s.conns)]
	s.next++
	if *l == nil || (*l).isLost() {
		c, err := s.dial(ctx)
		if err != nil {
			return nil, err
		}
		*l = &sharedConn{
			conn: c, requests: make(chan *request), quit: make(chan struct{}), done: make(chan struct{}),
			known: map[string]*pgconn.StatementDescription{},
		}
		go (*l).work() //nolint:contextcheck // all sessions share the connection
	}
	return sharedSession{*l}, nil
}

// close closes all connections, except one on which an abandoned worker still waits.
func (s *sharedConns) close() error {
	timeout := time.After(connectTimeout)
	for _, l := range s.conns {
		if l == nil {
			continue
		}
		close(l.quit)
		select {
		case <-l.done:
		case <-timeout:
			return nil
		}
	}
	return nil
}

// sharedConn is a connection with the requests of many sessions in flight at once. Requests that
// arrive during a batch form the next batch.
type sharedConn struct {
	conn     *pgx.Conn
	requests chan *request
	quit     chan struct{} // closed after the last request
	done     chan struct{} // closed when work has returned
	known    map[string]*pgconn.StatementDescription
}

// request is a statement of one session and its outcome.
type request struct {
	text        string
	args        [][]byte
	each        func(values [][]byte) error // nil = discard the rows
	description *pgconn.StatementDescription

	rows int64
	err  error
	done chan struct{}
}

var errConnectionLost = errors.New("postgres: the shared connection was lost")

const (
	maxBatch     = 300         // greatest number of requests in a batch
	batchTimeout = time.Minute // limit for the replies of a batch
)

func (l *sharedConn) isLost() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// work executes requests until quit is closed or the connection is lost.
func (l *sharedConn) work() {
	defer close(l.done)
	var batch []*request
	for !l.conn.IsClosed() {
		select {
		case first := <-l.requests:
			batch = l.gather(append(batch[:0], first))
			l.sendBatch(batch)
		case <-l.quit:
			ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
			defer cancel()
			_ = l.conn.Close(ctx) // no request is in flight
		}
	}
}

// gather adds the waiting requests to the batch.
func (l *sharedConn) gather(batch []*request) []*request {
	for len(batch) < maxBatch {
		select {
		case r := <-l.requests:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// sendBatch sends a batch in which each statement is a separate transaction. It completes each
// request when its reply arrives.
func (l *sharedConn) sendBatch(batch []*request) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
	defer cancel()
	for _, r := range batch {
		r.rows = 0
		r.description, r.err = l.prepare(ctx, r.text)
	}
	p := l.conn.PgConn().StartPipeline(ctx)
	for _, r := range batch {
		if r.err == nil {
			p.SendQueryStatement(r.description, r.args, nil, nil)
			p.SendPipelineSync()
		}
	}
	flushed := p.Flush()
	for _, r := range batch {
		if r.err == nil {
			if r.err = flushed; flushed == nil {
				r.readReply(p)
			}
		}
		r.done <- struct{}{}
	}
	_ = p.Close() // conn.IsClosed reports a lost connection
}

// prepare prepares a text once for all sessions.
func (l *sharedConn) prepare(ctx context.Context, text string) (*pgconn.StatementDescription, error) {
	if d := l.known[text]; d != nil {
		return d, nil
	}
	d, err := l.conn.PgConn().Prepare(ctx, statementName(len(l.known)), text, nil)
	if err == nil {
		l.known[text] = d
	}
	return d, err
}

// readReply reads the outcome of a request. The outcome is final only when the server has reached
// the sync that follows.
func (r *request) readReply(p *pgconn.Pipeline) {
	keepFirst := func(err error) {
		if r.err == nil {
			r.err = err
		}
	}
	for {
		result, err := p.GetResults()
		keepFirst(err)
		switch result := result.(type) {
		case *pgconn.PipelineSync:
			return
		case *pgconn.ResultReader:
			for result.NextRow() {
				if r.err == nil && r.each != nil {
					keepFirst(r.each(result.Values()))
				}
			}
			tag, err := result.Close()
			keepFirst(err)
			r.rows = tag.RowsAffected()
		default:
			if _, fromServer := errors.AsType[*pgconn.PgError](err); !fromServer {
				keepFirst(errConnectionLost)
				return
			}
		}
	}
}

// sharedSession is a session on a sharedConn.
type sharedSession struct{ *sharedConn }

// Prepare records a text. The connection prepares it at its first use.
func (s sharedSession) Prepare(_ context.Context, text string) (sqlengine.Statement, error) {
	return &sharedStatement{conn: s.sharedConn, request: request{text: text, done: make(chan struct{}, 1)}}, nil
}

// DuplicateKey reports whether an error is a violated unique key.
func (sharedSession) DuplicateKey(err error) bool { return isDuplicateKey(err) }

// Close makes the server report its counts. It leaves the connection open for the other sessions.
func (s sharedSession) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	if st, err := s.Prepare(ctx, forceFlush); err == nil {
		_, _ = st.Exec(ctx, nil) // a lost connection reports nothing
	}
	return nil
}

// sharedStatement is a statement of a sharedSession.
type sharedStatement struct {
	conn *sharedConn
	limitArgs
	request
}

// do makes the connection execute the statement. It waits for a statement that is in flight even if
// the context ends.
func (st *sharedStatement) do(ctx context.Context, args [][]byte, each func(values [][]byte) error) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	st.args, st.each = args, each
	select {
	case st.conn.requests <- &st.request:
	case <-st.conn.done:
		return 0, errConnectionLost
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	<-st.done
	return st.rows, st.err
}

func (st *sharedStatement) Exec(ctx context.Context, args [][]byte) (int64, error) {
	return st.do(ctx, args, nil)
}

func (st *sharedStatement) Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error {
	_, err := st.do(ctx, st.withLimit(args, limit), each)
	return err
}
