package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prometheus/procfs"

	"github.com/barograph/barograph/internal/fault"
)

// Supported reports whether labs can be started on this system.
const Supported = true

// stopPatience is how long a server may take to stop before it is killed.
const stopPatience = 60 * time.Second

// stat reads a process's entry in /proc: its parent, and its start in clock ticks since the boot. A
// zombie counts as gone, unless only its first thread has ended: the other threads still write, and
// the files that they have mapped are written when the last of them ends.
func stat(pid int) (parent int, start string, ok bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, "", false
	}
	s, err := p.Stat()
	return s.PPID, strconv.FormatUint(s.Starttime, 10), err == nil && s.State != "X" && (s.State != "Z" || s.NumThreads > 1)
}

// identify names a running process. The name contains the boot, because ticks and pids start again
// with each boot.
func identify(pid int) (Process, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, false
	}
	_, start, ok := stat(pid)
	return Process{PID: pid, Start: strings.TrimSpace(string(boot)) + "/" + start}, ok
}

func (p Process) alive() bool {
	now, ok := identify(p.PID)
	return p.PID > 0 && ok && now == p
}

// family is the process and all that it started, parents first.
func (p Process) family() []Process {
	if !p.alive() {
		return nil
	}
	children := map[int][]int{}
	all, _ := procfs.AllProcs() // it runs itself
	for _, c := range all {
		if parent, _, ok := stat(c.PID); ok {
			children[parent] = append(children[parent], c.PID)
		}
	}
	out := []Process{p}
	for i := 0; i < len(out); i++ {
		for _, pid := range children[out[i].PID] {
			if c, ok := identify(pid); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// end asks a process to stop, and kills it and its descendants if it does not.
func (p Process) end(stop syscall.Signal) error {
	family := p.family()
	if len(family) == 0 {
		return nil
	}
	if err := p.signal(stop); err != nil {
		return err
	}
	if gone(family, stopPatience) {
		return nil
	}
	return killAll(family)
}

// killAll kills processes at once, as a power cut would.
func killAll(family []Process) error {
	for _, f := range family {
		if err := f.signal(syscall.SIGKILL); err != nil {
			return err
		}
	}
	if !gone(family, stopPatience) {
		return fmt.Errorf("process %d does not end", family[0].PID)
	}
	return nil
}

func (p Process) signal(s syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// gone waits until none of the processes is left.
func gone(family []Process, patience time.Duration) bool {
	for until := time.Now().Add(patience); ; time.Sleep(poll) {
		if !slices.ContainsFunc(family, Process.alive) {
			return true
		}
		if time.Now().After(until) {
			return false
		}
	}
}

// detach runs a command as an account, in a group of its own: ^C of the
// terminal must not reach a server.
func detach(cmd *exec.Cmd, a *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.groups}
	}
}

// private reports whether a folder belongs to this process's user and nobody
// else can put anything into it.
func private(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o002 == 0 && mine(dir)
}

// mine reports whether a file belongs to this process's user.
func mine(name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// reserved is how long a port is given to nobody else: its server listens by then.
const reserved = 5 * time.Minute

// reserve gives a port to this lab only, among all labs that start at the same
// time, by an abstract socket: its name is in no folder, so nothing is left
// behind and no other user's folder or link can be in its place.
func reserve(port int) bool {
	l, err := net.Listen("unix", "@barograph-port-"+strconv.Itoa(port)) //nolint:noctx // does not wait
	if err != nil {
		return !errors.Is(err, syscall.EADDRINUSE)
	}
	time.AfterFunc(reserved, func() { _ = l.Close() }) // nobody connects
	return true
}

// lockPatience is the time for which the lock of a killed process may outlive it: a process that it
// has just forked has the lock as well, until it runs its program.
const lockPatience = 3 * time.Second

// hold keeps other processes from starting or removing the lab in dir. The lock file is next to the
// folder, because the folder itself is created and removed. It is never removed, because two
// processes can hold a lock file that is removed.
func hold(dir string) (release func(), err error) {
	bad := func(err error) error {
		return &fault.Error{File: dir, Problem: "cannot hold a lab", Err: err, Cure: "name a folder that can be made"}
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, bad(err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, bad(err)
	}
	if !private(filepath.Dir(dir)) {
		return nil, &fault.Error{
			File: filepath.Dir(dir), Problem: "is not private to this user: others could create a lab there",
			Cure: "name a folder of your own by --lab-dir",
		}
	}
	for until := time.Now().Add(lockPatience); ; time.Sleep(poll) {
		f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, bad(err)
		}
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil && there(f) {
			return func() { _, _ = os.Remove(f.Name()), f.Close() }, nil // nothing was written
		}
		_ = f.Close() // as above
		if time.Now().After(until) {
			return nil, &fault.Error{File: dir, Problem: "another process is starting or ending this lab", Err: err, Cure: "wait for it, or name another folder"}
		}
	}
}

// there reports whether a file still has its name: the former owner of a lock has removed it at the
// end.
func there(f *os.File) bool {
	own, err := f.Stat()
	named, gone := os.Lstat(f.Name())
	return err == nil && gone == nil && os.SameFile(own, named)
}
