package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/lab"
)

// message returns a message of the server.
func message(kind byte, body string) string {
	return string(kind) + string(binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))) + body
}

func dataRow(values ...string) string {
	body := string(binary.BigEndian.AppendUint16(nil, uint16(len(values))))
	for _, v := range values {
		if v == "NULL" {
			body += "\xff\xff\xff\xff"
		} else {
			body += string(binary.BigEndian.AppendUint32(nil, uint32(len(v)))) + v
		}
	}
	return message('D', body)
}

// scripted is a server that answers each request by the next of its replies, in pieces of so many bytes.
func scripted(t *testing.T, piece int, replies ...string) *pgconn.PgConn {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		replies = append([]string{message('R', "\x00\x00\x00\x00") + message('Z', "I")}, replies...)
		buf := make([]byte, 1<<16)
		for _, reply := range replies {
			if _, err := c.Read(buf); err != nil {
				return
			}
			for part := range slices.Chunk([]byte(reply), piece) {
				if _, err := c.Write(part); err != nil {
					return
				}
			}
		}
		_, _ = io.Copy(io.Discard, c) // until the client closes it, except after an empty last reply
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := pgconn.Connect(ctx, fmt.Sprintf("postgres://u@%s/d?sslmode=disable", l.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

type noHandler struct{}

func (noHandler) HandleCancel(context.Context) {}
func (noHandler) HandleUnwatchAfterCancel()    {}

const (
	bound    = "2\x00\x00\x00\x04"
	failure  = "SERROR\x00VERROR\x00C23505\x00Mduplicate key\x00\x00"
	shutdown = "SFATAL\x00VFATAL\x00C57P01\x00Mterminating connection\x00\x00"
)

// Replies arrive in pieces of any size, with notices between them.
func TestWireReplies(t *testing.T) {
	ready, long := message('Z', "I"), strings.Repeat("x", 50_000)
	notice := message('N', "SNOTICE\x00VNOTICE\x00C00000\x00Mhello\x00\x00") + message('S', "a\x00b\x00")
	for _, x := range []struct {
		name, reply string
		rows        int64
		values      string
		problem     string
		closed      bool
	}{
		{"rows", bound + dataRow("a", "", "NULL") + dataRow("b", "c", "d") + message('C', "SELECT 2\x00") + ready, 2, `["a" "" NULL] ["b" "c" "d"] `, "", false},
		{"long row", bound + dataRow(long) + message('C', "SELECT 1\x00") + ready, 1, fmt.Sprintf("[%q] ", long), "", false},
		{"insert", bound + message('C', "INSERT 0 12\x00") + ready, 12, "", "", false},
		{"no number", bound + message('C', "BEGIN\x00") + ready, 0, "", "", false},
		{"notices", notice + bound + notice + message('C', "UPDATE 1\x00") + notice + ready + notice, 1, "", "", false},
		{"error", message('E', failure) + ready, 0, "", "23505", false},
		{"error after rows", bound + dataRow("a") + message('E', failure) + ready, 0, `["a"] `, "23505", false},
		{"shutdown", message('E', shutdown) + message('Z', ""), 0, "", "57P01", false},
		{"unknown message", bound + message('G', "\x00\x00\x00"), 0, "", "unexpected message", true},
		{"bad row", bound + message('D', "\x00\x02\x00\x00\x00\x01a"), 0, "", "unexpected message", true},
		{"bad length", bound + "D\x00\x00\x00\x03", 0, "", "message of 3 bytes", true},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			if piece == 1 && len(x.reply) > 10_000 {
				continue
			}
			t.Run(fmt.Sprint(x.name, " ", piece), func(t *testing.T) {
				next := bound + message('C', "UPDATE 5\x00") + ready
				pg := scripted(t, piece, x.reply, next)
				w := newWire(pg, noHandler{})
				defer w.watch.Close()
				values := ""
				if !w.bind("kv1", [][]byte{[]byte("k"), nil, {}}) {
					t.Fatal("the request is too large")
				}
				rows, err := w.run(t.Context(), func(v [][]byte) error {
					values += "["
					for i, b := range v {
						if i > 0 {
							values += " "
						}
						if b == nil {
							values += "NULL"
						} else {
							values += fmt.Sprintf("%q", b)
						}
					}
					values += "] "
					return nil
				})
				if rows != x.rows || values != x.values || (err == nil) != (x.problem == "") || err != nil && !strings.Contains(err.Error(), x.problem) {
					t.Errorf("%d rows, %.80q, %v", rows, values, err)
				}
				if pg.IsClosed() != x.closed {
					t.Errorf("the connection is closed: %v", pg.IsClosed())
				}
				if x.closed {
					return
				}
				w.bind("kv1", nil)
				if rows, err := w.run(t.Context(), nil); rows != 5 || err != nil {
					t.Errorf("the next statement: %d rows, %v", rows, err)
				}
			})
		}
	}
}

var errRow = errors.New("the caller's")

// An error of the caller ends no connection: the rows that follow are read and dropped.
func TestWireCallersError(t *testing.T) {
	reply := bound + dataRow("a") + dataRow("b") + message('C', "SELECT 2\x00") + message('Z', "I")
	w := newWire(scripted(t, 11, reply, reply), noHandler{})
	defer w.watch.Close()
	for range 2 {
		w.bind("kv1", nil)
		calls := 0
		if _, err := w.run(t.Context(), func([][]byte) error { calls++; return errRow }); !errors.Is(err, errRow) || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
	}
}

// slowConn takes longer for its next write than pgx waits until it starts to read in the background. The reply arrives
// during the write.
type slowConn struct {
	net.Conn
	slow atomic.Bool
}

func (c *slowConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.slow.Swap(false) {
		time.Sleep(100 * time.Millisecond)
	}
	return n, err
}

// After a slow write pgx goes on to read in the background, and would take the reply of the next statement.
func TestWireAfterSlowWrite(t *testing.T) {
	config, err := new(database).config(mustParse(t, enginetest.Lab(t, Driver(), lab.Options{}).URL()), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var slow *slowConn
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		slow = &slowConn{Conn: c}
		return slow, err
	}
	c, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := newSession(c)
	defer s.Close()
	for i := range 3 {
		slow.slow.Store(true)
		st, err := s.Prepare(ctx, "SELECT "+strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			value := ""
			err := st.Query(ctx, nil, sqlengine.NoLimit, func(v [][]byte) error { value = string(v[0]); return nil })
			if err != nil || value != strconv.Itoa(i) {
				t.Fatalf("statement %d returns %q, %v", i, value, err)
			}
		}
	}
}

// countingHandler counts cancellations.
type countingHandler struct {
	noHandler
	canceled *atomic.Int64
}

func (h countingHandler) HandleCancel(context.Context) { h.canceled.Add(1) }

// lateHandler cancels a statement so late that other handlers of its context are faster.
type lateHandler struct {
	pgconn.DeadlineContextWatcherHandler
}

func (h *lateHandler) HandleCancel(ctx context.Context) {
	time.Sleep(100 * time.Millisecond)
	h.DeadlineContextWatcherHandler.HandleCancel(ctx)
}

// backgroundConn is a connection whose next write ends when pgx has read the reply in the background, and reads on.
type backgroundConn struct {
	net.Conn
	slow  atomic.Bool
	reads chan struct{}
}

func (c *backgroundConn) Read(p []byte) (int, error) {
	select {
	case c.reads <- struct{}{}:
	default:
	}
	return c.Conn.Read(p)
}

func (c *backgroundConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.slow.Swap(false) {
		<-c.reads
		<-c.reads
	}
	return n, err
}

// A context that is done while pgx synchronizes the connection is pgx's: its handler and that of the wire write to the
// same memory of the connection.
func TestWireAndPgxNeverCancelAtOnce(t *testing.T) {
	pg := scripted(t, 1<<20, message('1', "")+message('t', "\x00\x00")+message('n', "")+message('Z', "I"), "")
	background := &backgroundConn{Conn: pg.Conn(), reads: make(chan struct{}, 2)}
	hijacked, err := pg.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	hijacked.Conn = background
	hijacked.Config.BuildContextWatcherHandler = func(p *pgconn.PgConn) ctxwatch.Handler {
		return &lateHandler{pgconn.DeadlineContextWatcherHandler{Conn: p.Conn()}}
	}
	if pg, err = pgconn.Construct(hijacked); err != nil {
		t.Fatal(err)
	}
	defer pg.Close(context.Background())
	background.slow.Store(true)
	if _, err := pg.Prepare(t.Context(), "kv1", "SELECT 1", nil); err != nil {
		t.Fatal(err)
	}
	var canceled atomic.Int64
	w := newWire(pg, countingHandler{canceled: &canceled})
	defer w.watch.Close()
	w.bind("kv1", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = w.run(ctx, nil)
	if n := canceled.Load(); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the wire canceled %d statements, which it had not started; %v", n, err)
	}
}

// A context that is done cancels the statement in flight at the server, and the connection remains usable.
func TestWireCancels(t *testing.T) {
	config, err := new(database).config(mustParse(t, enginetest.Lab(t, Driver(), lab.Options{}).URL()), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(c)
	defer s.Close()
	st, err := s.Prepare(t.Context(), "SELECT pg_sleep(60)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := st.Exec(ctx, nil); err == nil || ctx.Err() == nil {
		t.Errorf("the canceled statement returns %v", err)
	}
	if _, err := st.Exec(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a statement whose context is done returns %v", err)
	}
	if c.IsClosed() {
		return // the server was too busy to answer within the second that the handler grants
	}
	quick, err := s.Prepare(t.Context(), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := quick.Query(t.Context(), nil, sqlengine.NoLimit, func([][]byte) error { return nil }); err != nil {
		t.Errorf("the next statement: %v", err)
	}
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A large request is pgx's, which reads while it writes.
func TestWireRefusesLargeRequest(t *testing.T) {
	w := &wire{}
	if w.bind("kv1", [][]byte{make([]byte, maxRequest)}) || w.bind("kv1", make([][]byte, 1<<16)) {
		t.Error("a large request is accepted")
	}
	if !w.bind("kv1", [][]byte{make([]byte, maxRequest/2)}) {
		t.Error("a request of half the limit is refused")
	}
}
