package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
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

// stat reads a process's entry in /proc: its parent, and its start in clock ticks since the boot. ok is false for a
// process that has ended. The kernel reports a process as a zombie when its first thread has ended. A zombie with more
// threads has not ended: its threads still write, and the kernel writes their mapped files after the last one.
func stat(pid int) (parent int, start string, ok bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, "", false
	}
	s, err := p.Stat()
	ok = err == nil && s.State != "X" && (s.State != "Z" || s.NumThreads > 1)
	return s.PPID, strconv.FormatUint(s.Starttime, 10), ok
}

// identify returns the identity of a running process. It contains the id of the boot, because ticks and pids start
// again with each boot.
func identify(pid int) (Process, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, false
	}
	_, start, ok := stat(pid)
	return Process{PID: pid, Start: strings.TrimSpace(string(boot)) + "/" + start}, ok
}

// alive reports whether the process runs.
func (p Process) alive() bool {
	now, ok := identify(p.PID)
	return p.PID > 0 && ok && now == p
}

// family returns the process and its descendants, parents first.
func (p Process) family() []Process {
	if !p.alive() {
		return nil
	}
	children := map[int][]int{}
	all, _ := procfs.AllProcs() // without a list, the process is its family
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

// stop sends a process the signal to stop, and kills it and its descendants if they do not stop. It resumes halted
// processes, because a halted process does not receive the signal.
func (p Process) stop(signal syscall.Signal) error {
	family := p.family()
	if len(family) == 0 {
		return nil
	}
	err := p.signal(signal)
	for _, f := range family {
		err = errors.Join(err, f.signal(syscall.SIGCONT))
	}
	if err != nil {
		return err
	}
	if waitEnded(family, stopPatience) {
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
	if !waitEnded(family, stopPatience) {
		return fmt.Errorf("process %d does not end", family[0].PID)
	}
	return nil
}

// signal sends a signal to the process, if it runs.
func (p Process) signal(s syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// waitEnded waits until all processes have ended. It returns false if some have not after the patience.
func waitEnded(family []Process, patience time.Duration) bool {
	for until := time.Now().Add(patience); ; time.Sleep(poll) {
		if !slices.ContainsFunc(family, Process.alive) {
			return true
		}
		if time.Now().After(until) {
			return false
		}
	}
}

// detach makes a command run as an account, in a process group of its own, because ^C on the terminal must not reach a
// server.
func detach(cmd *exec.Cmd, a *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.groups}
	}
}

// isPrivate reports whether a folder belongs to this process's user and is not writable by others.
func isPrivate(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o002 != 0 || !isOwned(dir) {
		return false
	}
	return info.Mode().Perm()&0o020 == 0 || hasOwnGroup(info)
}

// hasOwnGroup reports whether the group of a file has the name of this process's user. Many systems give each user such
// a group without other members, and make new folders writable for it.
func hasOwnGroup(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	u, userErr := user.LookupId(strconv.Itoa(os.Geteuid()))
	g, groupErr := user.LookupGroupId(strconv.FormatUint(uint64(s.Gid), 10))
	return userErr == nil && groupErr == nil && u.Username == g.Name
}

// isOwned reports whether a file belongs to this process's user.
func isOwned(name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// reservationTime is how long a port is reserved. The server of the port listens by then.
const reservationTime = 5 * time.Minute

// reserve reserves a port for this lab among all labs that start at the same time. It returns false if another lab has
// reserved the port. The reservation is an abstract socket: its name is in no folder, so the lab leaves no file behind,
// and no other user can put a file or link in its place.
func reserve(port int) bool {
	l, err := net.Listen("unix", "@barograph-port-"+strconv.Itoa(port)) //nolint:noctx // does not wait
	if err != nil {
		return !errors.Is(err, syscall.EADDRINUSE)
	}
	time.AfterFunc(reservationTime, func() { _ = l.Close() }) // no client has connected, so no error matters
	return true
}

// lockPatience is the time for which the lock of a killed process may outlive it: a process that it has just forked
// also holds the lock, until it runs its program.
const lockPatience = 3 * time.Second

// lockDir keeps other processes from starting or removing the lab in dir, until its caller calls release. The lock file
// is next to the folder, because the folder itself is created and removed. release removes the lock file while it holds
// the lock. A process that locks the removed file notices this, and tries again with a new file.
func lockDir(dir string) (release func(), err error) {
	bad := func(err error) error {
		return &fault.Error{File: dir, Problem: "cannot contain a lab", Err: err, Cure: "name a folder that can be made"}
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, bad(err)
	}
	if err := makeFolder(filepath.Dir(dir)); err != nil {
		return nil, bad(err)
	}
	if !isPrivate(filepath.Dir(dir)) {
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
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil && hasName(f) {
			return func() { _, _ = os.Remove(f.Name()), f.Close() }, nil // nothing was written
		}
		_ = f.Close() // nothing was written
		if time.Now().After(until) {
			return nil, &fault.Error{
				File: dir, Problem: "another process is starting or ending this lab", Err: err,
				Cure: "wait for it, or name another folder",
			}
		}
	}
}

// makeFolder makes a folder and its missing parents. Every account can search them, even if the umask forbids that.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := makeFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) { // another process has just made it
			return nil
		}
		return err
	}
	return os.Chmod(dir, 0o755)
}

// hasName reports whether an open file still has its name. It has lost it if the former owner of the lock has just
// removed the file.
func hasName(f *os.File) bool {
	open, err := f.Stat()
	named, namedErr := os.Lstat(f.Name())
	return err == nil && namedErr == nil && os.SameFile(open, named)
}
