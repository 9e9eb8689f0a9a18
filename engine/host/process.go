// Package host runs a part of an engine in a separate process, which executes this program
// again. A crash or a hang of that process does not end this one.
//
// Process starts and ends such a process. Reader reads archives in one: the process serves the
// read operations of archive.Archive over a socket to several callers at once (see Child).
package host

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// Process is a running process. It exits when its standard input is closed.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.Closer // its standard input
	stderr head
	dir    string // the folder of the socket
	exited chan struct{}
	killed atomic.Bool // this side has killed it
}

// Start starts this program with one more environment variable and a listening socket as descriptor 3. args returns the
// arguments of the process, which may name files in dir. dir is a new folder, and Close removes it.
func Start(ctx context.Context, variable string, args func(dir string) ([]string, error)) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{exited: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "barograph-"); err != nil {
		return nil, &fault.Error{Setting: "TMPDIR", Err: err, Cure: "name a writable folder"}
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
		return &fault.Error{Setting: "TMPDIR", Err: err, Cure: "name a writable folder whose path has at most 60 bytes"}
	}
	listener := l.(*net.UnixListener) //nolint:forcetypeassert // net.Listen returned it for a unix socket
	listener.SetUnlinkOnClose(false)
	defer listener.Close() //nolint:errcheck // the process has its own copy
	file, err := listener.File()
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // the process has its own copy
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), self, args...)
	p.cmd.Env, p.cmd.ExtraFiles, p.cmd.Stderr = append(os.Environ(), variable), []*os.File{file}, &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // callers read the exit status from the process state
		close(p.exited)
	}()
	return nil
}

func (p *Process) socket() string { return filepath.Join(p.dir, "s") }

// Dial connects to the process's socket.
func (p *Process) Dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", p.socket())
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr returns the beginning of the process's standard error.
func (p *Process) Stderr() string { return strings.TrimSpace(p.stderr.text()) }

// Crash waits a moment for the end of the process, and returns why it crashed; "" = it did not.
func (p *Process) Crash() string {
	select {
	case <-p.exited:
		if why, isCrash := p.ending(); isCrash {
			return why
		}
	case <-time.After(patience):
	}
	return ""
}

// ending returns why the process has exited, and whether it crashed. It crashed if a fault of its own caused a signal, or
// the exit status that Go's runtime has after a fault. The runtime has this status also without memory or threads, and
// after SIGQUIT.
func (p *Process) ending() (why string, isCrash bool) {
	state := p.cmd.ProcessState
	why = reason(p.Stderr(), state.String())
	status, _ := state.Sys().(syscall.WaitStatus)
	switch status.Signal() {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP, syscall.SIGSYS:
		return why, true
	}
	return why, state.ExitCode() == goCrashed && !noCrash.MatchString(why)
}

// goCrashed is the exit status of a Go program after a panic or a fatal error of the runtime.
const goCrashed = 2

// crashLine finds the line in which the Go runtime or C++ gives the reason of a crash.
var crashLine = regexp.MustCompile(`(?m)^(?:\s*what\(\): *|SIG[A-Z]+: |fatal error: |panic: |runtime(?:/cgo)?: ).*$`)

// noCrash matches such a line of a process that lacked memory or threads, or to which somebody sent SIGQUIT.
var noCrash = regexp.MustCompile(`^(SIGQUIT: |(fatal error: )?(runtime: )?(out of memory|cannot allocate memory)|` +
	`runtime: failed to create new OS thread|runtime/cgo: pthread_create failed)`)

func reason(stderr, state string) string {
	if line := crashLine.FindString(stderr); line != "" {
		return strings.TrimSpace(line)
	}
	return state
}

// Close closes the process's standard input and waits until it has exited.
func (p *Process) Close() error {
	err := p.stdin.Close()
	if errors.Is(err, os.ErrClosed) { // the process exited by itself, and Wait closed its input
		err = nil
	}
	<-p.exited
	return errors.Join(err, os.RemoveAll(p.dir))
}

// Kill kills the process at once.
func (p *Process) Kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // an error: the process has exited
}

// head keeps the beginning of everything that is written to it.
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
