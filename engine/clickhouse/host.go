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

// process is the process of one archive. It executes this program's file, in which host_linux.c takes over before
// Barograph's main function.
type process struct {
	*host.Process
	statements atomic.Int64 // number of statements
	pool       *pool
}

const (
	envLibrary   = "BAROGRAPH_CHDB"
	startTimeout = 30 * time.Second
)

// startHost starts the library's process. args returns the library's arguments, which may name files in dir, a folder
// that is removed when the process exits. startHost returns when the process answers. Its error has what the process
// printed.
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
	startCtx, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	if err := h.pool.Exec(startCtx, "SELECT 1"); err != nil {
		_ = h.close()
		if output := h.Stderr(); output != "" && ctx.Err() == nil {
			err = errors.New(output)
		}
		return nil, err
	}
	return h, nil
}

// close stops the process, and waits until it has exited.
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
	broken    bool  // the stream is at an unknown position
	remaining int   // remaining bytes of the current frame
	reported  error // the error of ClickHouse that ended the current reply; the session stays usable
}

func (s *librarySession) usable() bool { return !s.broken }
func (s *librarySession) close() error { return s.conn.Close() }

// send sends a frame; host_linux.c lists the kinds.
func (s *librarySession) send(kind byte, body []byte) error {
	header := [5]byte{kind}
	binary.NativeEndian.PutUint32(header[1:], uint32(len(body))) //nolint:gosec // shorter than 4 GiB, see blockBytes
	frame := net.Buffers{header[:], body}
	_, err := frame.WriteTo(s.conn)
	return err
}

// run runs f, which sends the statement and reads the reply. If ctx ends before f returns, run kills the statement, and
// the session cannot be used any more.
func (s *librarySession) run(ctx context.Context, text string, f func(text string) error) error {
	tag := fmt.Sprintf("barograph %d %d", os.Getpid(), s.host.statements.Add(1))
	stop := context.AfterFunc(ctx, func() {
		_ = s.conn.SetDeadline(time.Now())
		kill := "KILL QUERY WHERE query LIKE '/*" + tag + "*/%' ASYNC"
		_ = s.host.pool.Exec(context.WithoutCancel(ctx), kill) // if it fails, the statement finishes by itself
	})
	s.reported = nil
	err := f("/*" + tag + "*/ " + text)
	if !stop() || err != nil && s.reported == nil {
		s.broken = true // nobody reads the rest of the reply
	}
	if s.reported != nil {
		return s.reported
	}
	_, isNetwork := errors.AsType[*net.OpError](err)
	if isNetwork || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("the process of ClickHouse has ended: %w", err)
	}
	return err
}

// readHeader reads the header of the next frame with rows. It returns io.EOF at the end of the reply.
func (s *librarySession) readHeader() error {
	var header [5]byte
	if _, err := io.ReadFull(s.in, header[:]); err != nil {
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	s.remaining = int(binary.NativeEndian.Uint32(header[1:]))
	switch header[0] {
	case 'Z': // the end of the reply
		return io.EOF
	case 'X': // an error
		text := make([]byte, s.remaining)
		if _, err := io.ReadFull(s.in, text); err != nil {
			return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
		}
		s.remaining, s.reported = 0, errors.New(strings.TrimSpace(string(text)))
		return s.reported
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

// query implements session.
func (s *librarySession) query(ctx context.Context, text string, f func(proto.Results) error) error {
	kind := byte('Q')                      // the library sends the complete reply at once
	if strings.HasPrefix(text, "SELECT") { // only replies to SELECT can be streamed
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

// insert implements session. Its frames are I (the statement), D (a block) and F (the end).
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
			return err // run marks the session as broken, and its end drops the rows
		}
		if err := s.send('F', nil); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, s)
		return err
	})
}
