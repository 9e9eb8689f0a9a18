package valkey

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine/kv"
)

// requestConn is a connection of the driver, which writes a request and then reads the reply. Write keeps a small
// request, and Read sends it and waits for the reply, which is cheaper than with a net.Conn (kv.Socket).
type requestConn struct {
	net.Conn
	system  syscall.Conn // the same connection
	socket  *kv.Socket
	request []byte // not sent yet

	read, write time.Time // the deadlines
}

const (
	// maxRequest is the maximum number of bytes of a request that Write keeps.
	maxRequest = 16 << 10

	// deadlineStep is the least delay of a distant deadline that is set on the connection. The driver sets two
	// deadlines for each command, mostly some microseconds later than the last ones.
	deadlineStep = time.Second
)

// dialer returns the driver's function that opens connections, with a requestConn around each of them, except over TLS.
func dialer(o *redis.Options) func(ctx context.Context, network, address string) (net.Conn, error) {
	dial := redis.NewDialer(o)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		system, ok := c.(syscall.Conn)
		if !ok {
			return c, nil
		}
		return &requestConn{Conn: c, system: system, socket: kv.NewSocket(c)}, nil
	}
}

// SyscallConn lets the driver check an idle connection before it uses it again.
func (c *requestConn) SyscallConn() (syscall.RawConn, error) { return c.system.SyscallConn() }

func (c *requestConn) Write(p []byte) (int, error) {
	if len(c.request) == 0 && len(p) <= maxRequest {
		c.request = append(c.request, p...)
		return len(p), nil
	}
	_, err := c.Conn.Write(c.request)
	if c.request = c.request[:0]; err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *requestConn) Read(p []byte) (int, error) {
	n, err := c.socket.Exchange(c.request, p)
	c.request = c.request[:0]
	return n, err
}

// mustSet reports whether a deadline must be set: the current one is near, or the new one is at least deadlineStep
// later or is earlier. It stores the new deadline in current.
func mustSet(t time.Time, current *time.Time) bool {
	if step := t.Sub(*current); step >= 0 && step < deadlineStep && time.Until(*current) > replyTimeout/2 {
		return false
	}
	*current = t
	return true
}

func (c *requestConn) SetReadDeadline(t time.Time) error {
	if !mustSet(t, &c.read) {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *requestConn) SetWriteDeadline(t time.Time) error {
	if !mustSet(t, &c.write) {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

func (c *requestConn) SetDeadline(t time.Time) error {
	c.read, c.write = t, t
	return c.Conn.SetDeadline(t)
}
