package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine/sqlengine"
)

// sharedLines are the connections that the sessions of all workers share (?pipeline=).
type sharedLines struct {
	dial func(ctx context.Context) (*pgx.Conn, error)
	turn chan struct{} // held by who looks at what follows
	all  []*line
	next int
}

func newSharedLines(n int, dial func(ctx context.Context) (*pgx.Conn, error)) *sharedLines {
	return &sharedLines{dial: dial, turn: make(chan struct{}, 1), all: make([]*line, n)}
}

// session is one of a line, which is opened anew if it was lost.
func (s *sharedLines) session(ctx context.Context) (sqlengine.Session, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l := &s.all[s.next%len(s.all)]
	s.next++
	if *l == nil || (*l).isLost() {
		c, err := s.dial(ctx)
		if err != nil {
			return nil, err
		}
		*l = &line{conn: c, asked: make(chan *request), quit: make(chan struct{}), lost: make(chan struct{}), known: map[string]*pgconn.StatementDescription{}}
		go (*l).work() //nolint:contextcheck // it is that of no session: all share the line
	}
	return sharing{*l}, nil
}

// close ends all lines. One on which a worker that was abandoned still waits is
// left behind.
func (s *sharedLines) close() error {
	over := time.After(giveUp)
	for _, l := range s.all {
		if l == nil {
			continue
		}
		close(l.quit)
		select {
		case <-l.lost:
		case <-over:
			return nil
		}
	}
	return nil
}

// line is a connection on which requests of many sessions are under way at once:
// those that come while a batch is are the next one.
type line struct {
	conn  *pgx.Conn
	asked chan *request
	quit  chan struct{} // closed when nobody will ask any more
	lost  chan struct{} // closed when nobody works any more
	known map[string]*pgconn.StatementDescription
}

// request is a statement of one session, and what became of it.
type request struct {
	text string
	args [][]byte
	each func(values [][]byte) error // nil = rows are not wanted
	what *pgconn.StatementDescription

	rows int64
	err  error
	done chan struct{}
}

var errLost = errors.New("postgres: the shared connection was lost")

const (
	mostBatch = 300         // requests that are sent together at most
	patience  = time.Minute // for their replies
)

func (l *line) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// work carries out what is asked until nobody asks any more or the connection is lost.
func (l *line) work() {
	defer close(l.lost)
	var batch []*request
	for !l.conn.IsClosed() {
		select {
		case first := <-l.asked:
			batch = l.gather(append(batch[:0], first))
			l.carry(batch)
		case <-l.quit:
			ctx, cancel := context.WithTimeout(context.Background(), giveUp)
			defer cancel()
			_ = l.conn.Close(ctx) // nothing is under way
		}
	}
}

// gather adds what waits already.
func (l *line) gather(batch []*request) []*request {
	for len(batch) < mostBatch {
		select {
		case r := <-l.asked:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// carry sends a batch, each statement a transaction of its own, and answers each
// when its reply is there.
func (l *line) carry(batch []*request) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, r := range batch {
		r.rows = 0
		r.what, r.err = l.prepare(ctx, r.text)
	}
	p := l.conn.PgConn().StartPipeline(ctx)
	for _, r := range batch {
		if r.err == nil {
			p.SendQueryStatement(r.what, r.args, nil, nil)
			p.SendPipelineSync()
		}
	}
	flushed := p.Flush()
	for _, r := range batch {
		if r.err == nil {
			if r.err = flushed; flushed == nil {
				r.take(p)
			}
		}
		r.done <- struct{}{}
	}
	_ = p.Close() // the connection knows whether it is lost
}

// prepare prepares a text once for all sessions.
func (l *line) prepare(ctx context.Context, text string) (*pgconn.StatementDescription, error) {
	if d := l.known[text]; d != nil {
		return d, nil
	}
	d, err := l.conn.PgConn().Prepare(ctx, statementName(len(l.known)), text, nil)
	if err == nil {
		l.known[text] = d
	}
	return d, err
}

// take reads what became of a request. It stands only when the server has
// reached the sync behind it.
func (r *request) take(p *pgconn.Pipeline) {
	note := func(err error) {
		if r.err == nil {
			r.err = err
		}
	}
	for {
		result, err := p.GetResults()
		note(err)
		switch result := result.(type) {
		case *pgconn.PipelineSync:
			return
		case *pgconn.ResultReader:
			for result.NextRow() {
				if r.err == nil && r.each != nil {
					note(r.each(result.Values()))
				}
			}
			tag, err := result.Close()
			note(err)
			r.rows = tag.RowsAffected()
		default:
			if _, fromServer := errors.AsType[*pgconn.PgError](err); !fromServer {
				note(errLost)
				return
			}
		}
	}
}

// sharing is a session on a line.
type sharing struct{ *line }

// Prepare notes a text, which the line prepares when it is first asked.
func (s sharing) Prepare(_ context.Context, text string) (sqlengine.Statement, error) {
	return &shared{line: s.line, request: request{text: text, done: make(chan struct{}, 1)}}, nil
}

// Taken reports a violated unique key.
func (sharing) Taken(err error) bool { return taken(err) }

// Close leaves the line to the others, after the server has its counts.
func (s sharing) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	if st, err := s.Prepare(ctx, forceFlush); err == nil {
		_, _ = st.Exec(ctx, nil) // a line that is lost reports nothing
	}
	return nil
}

// shared is a statement of a session on a line.
type shared struct {
	line *line
	numbered
	request
}

// ask has the line carry the statement out. One that is under way with others is
// waited for, whatever becomes of its context.
func (st *shared) ask(ctx context.Context, args [][]byte, each func(values [][]byte) error) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	st.args, st.each = args, each
	select {
	case st.line.asked <- &st.request:
	case <-st.line.lost:
		return 0, errLost
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	<-st.done
	return st.rows, st.err
}

func (st *shared) Exec(ctx context.Context, args [][]byte) (int64, error) {
	return st.ask(ctx, args, nil)
}

func (st *shared) Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error {
	_, err := st.ask(ctx, st.with(args, limit), each)
	return err
}
