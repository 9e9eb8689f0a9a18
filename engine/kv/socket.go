package kv

import (
	"net"
	"syscall"
)

// Socket exchanges requests for replies over a connection. Its system calls do not inform Go's scheduler. Those of a
// net.Conn do, and each of them may wake the thread that watches long calls.
//
// One goroutine uses a Socket. Deadlines of the connection apply.
type Socket struct {
	conn net.Conn
	raw  syscall.RawConn              // nil = the connection's own Write and Read are used
	step func(fd uintptr) (done bool) // advance, stored once: a method value allocates memory

	request  []byte // the bytes that are not sent yet
	reply    []byte // receives the reply
	received int
	err      error
}

// NewSocket returns a socket over a connection. Others may use the connection between two exchanges.
func NewSocket(conn net.Conn) *Socket {
	s := &Socket{conn: conn}
	if c, ok := conn.(syscall.Conn); ok && canAdvance {
		s.raw, _ = c.SyscallConn() // nil after an error
	}
	s.step = s.advance
	return s
}

// Exchange sends a request, which may be empty, and waits for bytes of the reply. It returns the number of bytes in
// reply, at least one if there is no error.
func (s *Socket) Exchange(request, reply []byte) (int, error) {
	if s.raw != nil {
		s.request, s.reply, s.received, s.err = request, reply, 0, nil
		if err := s.raw.Read(s.step); err != nil {
			return 0, err
		}
		if s.received > 0 || s.err != nil {
			return s.received, s.err
		}
		request = s.request // the system's buffer is full
	}
	if len(request) > 0 {
		if _, err := s.conn.Write(request); err != nil {
			return 0, err
		}
	}
	return s.conn.Read(reply)
}
