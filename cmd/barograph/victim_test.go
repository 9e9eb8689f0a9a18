package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// anomalyFile is one file with 8,745 lines, whose load takes long enough to be attacked.
func anomalyFile(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dayOfData(t), "*", "*", "*", "*", "*.vsdb"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names[0]
}

// victim is an archive under attack.
type victim struct {
	engine, url string
	dir, path   string // a folder of its own, and the archive in it
	data, long  string // the folder that the archive has loaded, and a file that it has not
}

// intact fails the test if verify finds that the archive differs from the files (default: v.data).
func (v *victim) intact(t *testing.T, files ...string) {
	t.Helper()
	args := append([]string{"verify", v.url, "--subset", "archive"}, files...)
	if len(files) == 0 {
		args = append(args, v.data)
	}
	if status, stdout, stderr := barograph(t, args...); status != 0 {
		t.Errorf("not intact: status %d\n%s", status, firstLines(stdout+stderr))
	}
}

// refused fails the test unless a command ended with one of these statuses, and its output has the word, a cure and no
// trace of a crash.
func refused(t *testing.T, o ending, word string, statuses ...int) {
	t.Helper()
	if !slices.Contains(statuses, o.status) || !strings.Contains(o.text, word) || !strings.Contains(o.text, "; ") ||
		strings.Contains(o.text, "panic:") || strings.Contains(o.text, "Stack Trace") {
		t.Errorf("status %d, want one of %v, with %q and a cure:\n%s", o.status, statuses, word, o.text)
	}
}

// ending is the end of a command: its status, and everything that it printed.
type ending struct {
	status int
	text   string
}

// runCommand runs a command line in this process.
func runCommand(t *testing.T, args ...string) ending {
	t.Helper()
	status, stdout, stderr := barograph(t, args...)
	return ending{status, firstLines(stdout + stderr)}
}

// firstLines shortens a long output.
func firstLines(text string) string {
	const some = 2000
	if len(text) > some {
		return text[:some/2] + " … " + text[len(text)-some/2:]
	}
	return text
}

// shellProcess is a command in a process of its own.
type shellProcess struct {
	cmd  *exec.Cmd
	text bytes.Buffer
	done chan struct{}
}

// startShell starts the program by a line of shell that ends in "$@".
func startShell(t *testing.T, shell string, args ...string) *shellProcess {
	t.Helper()
	s := &shellProcess{done: make(chan struct{})}
	ctx, stop := context.WithTimeout(t.Context(), hangAfter)
	s.cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", shell, "sh", os.Args[0]}, args...)...)
	s.cmd.Env = append(os.Environ(), envMain+"=1")
	s.cmd.Stdout, s.cmd.Stderr = &s.text, &s.text
	s.cmd.WaitDelay = time.Second
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // its status is in the process state
		stop()
		close(s.done)
	}()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.done })
	return s
}

// hangAfter is the time after which a command counts as hung. The machine may be busy with other tests.
const hangAfter = 2 * time.Minute

// wait waits for the end of the command.
func (s *shellProcess) wait(t *testing.T) ending {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(hangAfter + time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
		t.Errorf("hangs: %v\n%s", s.cmd.Args, s.text.String())
	}
	return ending{s.cmd.ProcessState.ExitCode(), s.text.String()}
}

// signal sends a signal to the program.
func (s *shellProcess) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// loading starts the load of the long file, and stops it (SIGSTOP) after it has committed something. On a busy machine
// the load may end before this process notices the first commit: then loading restores the folder and tries again.
func (v *victim) loading(t *testing.T, path string) *shellProcess {
	t.Helper()
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(v.dir)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if s := v.tryLoading(t, path); s != nil {
			return s
		}
		if err := errors.Join(os.RemoveAll(v.dir), os.CopyFS(v.dir, os.DirFS(backup))); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("five loads ended before they were stopped")
	return nil
}

// tryLoading is loading without another try. It returns nil if the load ended before it was stopped. The load has a low
// priority.
func (v *victim) tryLoading(t *testing.T, path string) *shellProcess {
	t.Helper()
	before := bytesOf(t, v.dir)
	s := startShell(t, `exec nice -n 10 "$@"`, "load", v.long, "--engine", v.engine+":"+path, "--window", "20")
	for start := time.Now(); time.Since(start) < hangAfter; {
		if bytesOf(t, v.dir) > before+100<<10 {
			s.signal(t, syscall.SIGSTOP)
			switch v.engine {
			case "pebble": // another log may just have been made
				if bytesOf(t, v.newestLog(t, path)) > 0 {
					return s
				}
			case "sqlite": // the end of the load removes the log
				file, err := filepath.EvalSymlinks(path)
				if err == nil && bytesOf(t, file+"-wal") > 0 {
					return s
				}
			default:
				return s
			}
			s.signal(t, syscall.SIGCONT)
		}
		select {
		case <-s.done:
			t.Logf("the load ended before it was stopped:\n%s", s.text.String())
			return nil
		case <-time.After(time.Millisecond):
		}
	}
	t.Fatalf("the load commits nothing:\n%s", s.text.String())
	return nil
}

// killed loads a part of the long file, and kills the load.
func (v *victim) killed(t *testing.T, path string) {
	t.Helper()
	s := v.loading(t, path)
	s.signal(t, syscall.SIGKILL)
	<-s.done
}

// bytesOf is the size of all files of a folder.
func bytesOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // files come and go
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// logOf is the write-ahead log of an archive.
func (v *victim) logOf(t *testing.T, path string) string {
	t.Helper()
	name := map[string]string{"duckdb": path + ".wal", "sqlite": path + "-wal"}[v.engine]
	if v.engine == "pebble" {
		name = v.newestLog(t, path)
	}
	if info, err := os.Stat(name); err != nil || info.Size() == 0 {
		t.Fatalf("the log %s is empty: %v", name, err)
	}
	return name
}

func (v *victim) newestLog(t *testing.T, path string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(path, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal("no log", err)
	}
	return slices.Max(logs)
}

// largest is the file with most of an archive's bytes.
func (v *victim) largest(t *testing.T) (name string) {
	t.Helper()
	var most int64
	err := filepath.WalkDir(v.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasSuffix(path, ".log") { // the tables have what a log has
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > most {
			name, most = path, info.Size()
		}
		return err
	})
	if err != nil || name == "" {
		t.Fatal(name, err)
	}
	return name
}

// found fails the test if verify does not find the damage of the archive, if ask returns other rows than intact, or if
// a command that reads the archive crashes.
func (v *victim) found(t *testing.T, intact string) {
	t.Helper()
	o := runCommand(t, "verify", v.url)
	if o.status != fault.Differs && o.status != fault.Unreachable {
		t.Errorf("verify: status %d\n%s", o.status, o.text)
	}
	for _, args := range readers(v.url, "")[1:] {
		status, stdout, stderr := barograph(t, args...)
		if status == 0 && args[0] == "ask" && stdout != intact {
			t.Errorf("ask returns other rows:\n%s", stdout)
		}
		if strings.Contains(stderr, "panic:") || strings.Contains(stderr, "Stack Trace") {
			t.Errorf("%v: %s", args, stderr)
		}
	}
}

// question is the command that asks the archive for rows.
func (v *victim) question() []string { return readers(v.url, "")[2] }

// load loads the long file in a process of its own.
func (v *victim) load(t *testing.T, shell string, more ...string) ending {
	t.Helper()
	return startShell(t, shell, append([]string{"load", v.long, "--engine", v.url}, more...)...).wait(t)
}

// rows is the output of question.
func (v *victim) rows(t *testing.T) string {
	t.Helper()
	return must(t, v.question()...)
}

// plainCommand is a shell line that runs the program as it is.
const plainCommand = `exec "$@"`

// withoutPrivileges is a shell line in which root is bound by the permissions of files.
const withoutPrivileges = `exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"`

func needsRoot(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setpriv"); err != nil || os.Geteuid() != 0 {
		t.Skip("NOT TESTED: privileges are removed from root with setpriv")
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// signalled sends a signal to a load. The load must not exit with status 0, unless it is complete: it may finish
// before the signal arrives, and the child of a nohup ignores SIGHUP. The next load continues it.
func (v *victim) signalled(t *testing.T, sig syscall.Signal) {
	t.Helper()
	s := v.loading(t, v.path)
	s.signal(t, sig)
	s.signal(t, syscall.SIGCONT)
	if o := s.wait(t); o.status == 0 && !strings.Contains(o.text, "1 loaded, 0 skipped") {
		t.Errorf("after %v: status 0\n%s", sig, o.text)
	}
	v.continued(t, v.path)
}

// continued loads all files into an archive whose load was interrupted. The archive must then be intact.
func (v *victim) continued(t *testing.T, path string) {
	t.Helper()
	url := v.engine + ":" + path
	o := runCommand(t, "verify", url)
	if !slices.Contains([]int{0, fault.Incomplete, fault.Unreachable, fault.Differs}, o.status) {
		t.Errorf("verify: status %d\n%s", o.status, o.text)
	}
	if l := runCommand(t, "load", v.data, v.long, "--engine", url, "--wait", "0s"); l.status != 0 {
		t.Errorf("the load is not continued: status %d\n%s", l.status, l.text)
		return
	}
	if o := runCommand(t, "verify", url, v.data, v.long); o.status != 0 {
		t.Errorf("verify after the load: status %d\n%s", o.status, o.text)
	}
}

// protect removes the permission to write from the folder of the archive, and from the archive.
func (v *victim) protect(t *testing.T) {
	t.Helper()
	_ = filepath.WalkDir(v.path, func(path string, e fs.DirEntry, err error) error { // files come and go
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o500)
		}
		_ = os.Chmod(path, 0o400)
		return nil
	})
	check(t, os.Chmod(v.dir, 0o500))
	t.Cleanup(func() { v.restore(t) })
}

// restore gives the permission back.
func (v *victim) restore(t *testing.T) {
	t.Helper()
	_ = filepath.WalkDir(v.dir, func(path string, e fs.DirEntry, err error) error { // files come and go
		if err == nil {
			_ = os.Chmod(path, map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()])
		}
		return nil
	})
}

// private fails the test if another user may read a file.
func private(t *testing.T, dir string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	}))
}

// overwrite changes one byte of a file.
func overwrite(t *testing.T, path string, at int, b byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	text[at] = b
	check(t, os.WriteFile(path, text, 0o600))
}
