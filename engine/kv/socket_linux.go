package kv

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// canAdvance reports whether advance works on this system.
const canAdvance = true

// advance sends the request and reads the reply. It returns false if the caller must wait until bytes arrive. It
// returns true without bytes and without an error if the system accepts only a part of the request: then Exchange
// sends the rest. It reads before the first wait, although the reply has rarely arrived by then: nothing else shows
// that the server has closed its side before the request was sent.
func (s *Socket) advance(fd uintptr) (done bool) {
	if len(s.request) > 0 {
		n, errno := transfer(syscall.SYS_WRITE, fd, s.request)
		if errno != 0 && errno != syscall.EAGAIN {
			s.err = s.opError("write", errno)
			return true
		}
		if s.request = s.request[n:]; len(s.request) > 0 {
			return true
		}
	}
	n, errno := transfer(syscall.SYS_READ, fd, s.reply)
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno != 0:
		s.err = s.opError("read", errno)
	case n == 0:
		s.err = io.EOF
	default:
		s.received = n
	}
	return true
}

// opError returns the error that the connection's own Read or Write would return.
func (s *Socket) opError(op string, errno syscall.Errno) error {
	local := s.conn.LocalAddr()
	err := os.NewSyscallError(op, errno)
	return &net.OpError{Op: op, Net: local.Network(), Source: local, Addr: s.conn.RemoteAddr(), Err: err}
}

// transfer writes or reads bytes. It does not inform the scheduler of the system call, which would wake a thread that
// watches long calls: no call on a non-blocking socket waits.
func transfer(call, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // as syscall.Read does
		if errno == 0 {
			return int(n), 0 //nolint:gosec // at most len(p)
		}
		if errno != syscall.EINTR { // a signal interrupted the call
			return 0, errno
		}
	}
}
