package clickhouse

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/engine/host"
)

// process is the process of one archive. It runs this program, and host_linux.c prevents it from becoming Barograph.
type process struct {
	*host.Process
	statements atomic.Int64 // number of the last statement
	pool       *pool
}

const (
	envLibrary   = "BAROGRAPH_CHDB"
	startTimeout = 30 * time.Second
)

// startHost starts the library's process. args are the library's arguments, which may name files in a
// folder that is removed when the process exits. startHost returns when the process answers, or an error
// with what it printed.
func startHost(ctx context.Context, args func(dir string) ([]string, error)) (*process, error) {
	library, err := libraryPath()
	if err != nil {
		return nil, err
	}
	h := &process{}
	if h.Process, err = host.Start(ctx, envLibrary+"="+library, args); err != nil {
		return nil, err
	}
	h.pool = &pool{connect: h.connect}
	within, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	if err := h.pool.Exec(within, "SELECT 1"); err != nil {
		_ = h.close()
		if output := h.Stderr(); output != "" && ctx.Err() == nil {
			err = errors.New(output)
		}
		return nil, err
	}
	return h, nil
}

// close ends the process and waits until it has closed the archive.
func (h *process) close() error { return errors.Join(h.pool.close(), h.Close()) }

// connect opens a session.
func (h *process) connect(ctx context.Context) (session, error) {
	c, err := h.Dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &librarySession{host: h, conn: c, in: bufio.NewReaderSize(c, 1<<16)}
	for _, text := range sessionStatements {
		if err := s.query(ctx, text, nil); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// librarySession is a session with the library; host_linux.c describes the protocol.
type librarySession struct {
	host      *process
	conn      net.Conn
	in        *bufio.Reader
	broken    bool
	remaining int // remaining bytes of the current frame
}

func (s *librarySession) usable() bool { return !s.broken }
func (s *librarySession) close() error { return s.conn.Close() }

func (s *librarySession) send(kind byte, body []byte) error {
	head := [5]byte{kind}
	binary.NativeEndian.PutUint32(head[1:], uint32(len(body))) //nolint:gosec // texts and blocks are shorter
	parts := net.Buffers{head[:], body}
	_, err := parts.WriteTo(s.conn)
	return err
}

// run runs f, which talks to the process. If ctx ends before f, guard kills the statement and abandons the session.
func (s *librarySession) run(ctx context.Context, text string, f func(text string) error) error {
	tag := fmt.Sprintf("barograph %d %d", os.Getpid(), s.host.statements.Add(1))
	stop := context.AfterFunc(ctx, func() {
		_ = s.conn.SetDeadline(time.Now())
		_ = s.host.pool.Exec(context.WithoutCancel(ctx), "KILL QUERY WHERE query LIKE '%"+tag+"*/%' AND query NOT LIKE 'KILL%' ASYNC") // an error: the statement ends by itself
	})
	err := f("/*" + tag + "*/ " + text)
	refused, ok := errors.AsType[*serverError](err)
	if !stop() || err != nil && !ok {
		s.broken = true // nobody reads the rest of the reply
	}
	if ok {
		return refused
	}
	if _, lost := errors.AsType[*net.OpError](err); lost || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("the process of ClickHouse has ended: %w", err)
	}
	return err
}

// serverError is an error of ClickHouse; the session stays usable.
type serverError struct{ text string }

func (r *serverError) Error() string { return r.text }

// readHeader reads the header of a frame of rows; io.EOF at the end of a reply.
func (s *librarySession) readHeader() error {
	var head [5]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	s.remaining = int(binary.NativeEndian.Uint32(head[1:]))
	switch head[0] {
	case 'Z':
		return io.EOF
	case 'X':
		text := make([]byte, s.remaining)
		_, err := io.ReadFull(s.in, text)
		s.remaining = 0
		return errors.Join(err, &serverError{strings.TrimSpace(string(text))})
	}
	return nil
}

// Read reads the rows of a reply.
func (s *librarySession) Read(p []byte) (int, error) {
	for s.remaining == 0 {
		if err := s.readHeader(); err != nil {
			return 0, err
		}
	}
	n, err := s.in.Read(p[:min(len(p), s.remaining)])
	s.remaining -= n
	return n, err
}

func (s *librarySession) query(ctx context.Context, text string, f func(proto.Results) error) error {
	kind := byte('Q')
	if strings.HasPrefix(text, "SELECT") { // replies of other statements cannot be streamed
		kind = 'S'
	}
	return s.run(ctx, text, func(text string) error {
		if err := s.send(kind, []byte(text)); err != nil {
			return err
		}
		r, results := proto.NewReader(s), proto.Results{}
		for {
			var block proto.Block
			switch err := block.DecodeRawBlock(r, 0, results.Auto()); {
			case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
				return nil
			case err != nil:
				return err
			}
			if f == nil || block.Rows == 0 {
				continue
			}
			if err := f(results); err != nil {
				return err
			}
		}
	})
}

func (s *librarySession) insert(ctx context.Context, text string, columns proto.Input, next func() (bool, error)) error {
	return s.run(ctx, text, func(text string) error {
		err := s.send('I', []byte(text))
		var buf proto.Buffer
		for more := true; more && err == nil; {
			if more, err = next(); err != nil {
				break
			}
			buf.Reset()
			block := proto.Block{Columns: len(columns), Rows: columns[0].Data.Rows()}
			if block.Rows == 0 {
				break
			}
			if err = block.EncodeRawBlock(&buf, 0, columns); err == nil {
				err = s.send('D', buf.Buf)
			}
		}
		if err != nil {
			return err // the session is closed, and with it the rows
		}
		if err := s.send('F', nil); err != nil {
			return err
		}
		for err == nil {
			_, err = io.Copy(io.Discard, s)
			if err == nil {
				return nil
			}
		}
		return err
	})
}
