// Package host runs a part of an engine in a process of its own, which is this program
// again: a crash or a hang there does not end this process.
//
// Process is the process. Reader reads archives by one: it serves the read side of
// archive.Archive over a socket, to several callers at once (see Child).
package host

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Process is a running process. It ends when its standard input does.
type Process struct {
	cmd    *exec.Cmd
	alive  io.Closer // its standard input
	stderr head
	dir    string // of the socket
	gone   chan struct{}
	killed atomic.Bool // by this side
}

// Start starts this program with one more environment variable and a listening socket as
// descriptor 3. args are its arguments, which may name files in a folder that is removed
// when the process ends.
func Start(ctx context.Context, variable string, args func(dir string) ([]string, error)) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{gone: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "barograph-"); err != nil { // a socket's path is short
		return nil, err
	}
	list, err := args(p.dir)
	if err == nil {
		err = p.start(ctx, self, variable, list)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	return p, nil
}

func (p *Process) start(ctx context.Context, self, variable string, args []string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", p.socket())
	if err != nil {
		return err
	}
	listener := l.(*net.UnixListener) //nolint:forcetypeassert // of a unix socket
	listener.SetUnlinkOnClose(false)
	defer listener.Close() //nolint:errcheck // the process has its own
	file, err := listener.File()
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // as above
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), self, args...)
	p.cmd.Env = append(os.Environ(), variable)
	p.cmd.ExtraFiles = []*os.File{file}
	p.cmd.Stderr = &p.stderr
	if p.alive, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // callers read how it ended from its state
		close(p.gone)
	}()
	return nil
}

func (p *Process) socket() string { return filepath.Join(p.dir, "s") }

// Dial connects to the process's socket.
func (p *Process) Dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", p.socket())
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr is the begin of what the process has written to its standard error.
func (p *Process) Stderr() string { return strings.TrimSpace(p.stderr.text()) }

// Close ends the process, and waits until it has left its files.
func (p *Process) Close() error {
	err := p.alive.Close()
	if errors.Is(err, os.ErrClosed) { // the process ended by itself, and Wait has closed its input
		err = nil
	}
	<-p.gone
	return errors.Join(err, os.RemoveAll(p.dir))
}

// kill ends the process at once.
func (p *Process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // an error: it is gone
}

// head keeps the begin of what is written.
type head struct {
	mu  sync.Mutex
	buf []byte
}

const headBytes = 64 << 10

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = append(h.buf, p[:min(len(p), headBytes-len(h.buf))]...)
	return len(p), nil
}

func (h *head) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.buf)
}
