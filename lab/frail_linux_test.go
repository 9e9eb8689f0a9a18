package lab_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/lab"
)

// frailLab starts a lab on frail disks, or skips the test if none can be mounted.
func frailLab(t *testing.T, dir string) *lab.Lab {
	t.Helper()
	return frailLabOf(t, driver(), dir)
}

func frailLabOf(t *testing.T, d *engine.Driver, dir string) *lab.Lab {
	t.Helper()
	if err := lab.TryFrailDisk(); err != nil {
		t.Skipf("NOT TESTED: frail disks: %v", err)
	}
	l, err := lab.Up(t.Context(), d, lab.Options{Dir: dir, Frail: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFrailDisk: only flushed data survive a power failure, and a full disk still accepts writes
// that need no space.
func TestFrailDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	l := frailLab(t, dir)
	t.Cleanup(func() { _ = lab.Down(dir) })
	at := filepath.Join(dir, "node1")
	inflict := func(a lab.Action) {
		t.Helper()
		if err := l.Inflict(t.Context(), lab.Fault{Action: a, Node: 1}); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
	}
	big := bytes.Repeat([]byte("x"), 10_000)
	for name, c := range map[string]struct {
		do   func(f *os.File) error // after "before" was flushed
		want string
	}{
		"nothing":           {func(*os.File) error { return nil }, "before"},
		"written over":      {func(f *os.File) error { _, err := f.WriteAt([]byte("B"), 0); return err }, "before"},
		"longer":            {func(f *os.File) error { _, err := f.WriteAt(big, 6); return err }, "before"},
		"cut off":           {func(f *os.File) error { return f.Truncate(2) }, "before"},
		"cut off, and long": {func(f *os.File) error { return errors.Join(f.Truncate(0), write(f, "after, and longer")) }, "before"},
		"recreated":         {func(f *os.File) error { return os.WriteFile(f.Name(), []byte("after"), 0o600) }, "before"},
		"flushed":           {func(f *os.File) error { return errors.Join(write(f, "after.."), f.Sync(), write(f, "later..")) }, "after.."},
		"data flushed":      {func(f *os.File) error { return errors.Join(write(f, "after."), unix.Fdatasync(int(f.Fd()))) }, "after."},
		"renamed": {func(f *os.File) error {
			return errors.Join(write(f, "after."), os.Rename(f.Name(), f.Name()+"2"), os.Rename(f.Name()+"2", f.Name()))
		}, "before"},
		"flushed at once": {func(f *os.File) error {
			again, err := os.OpenFile(f.Name(), os.O_WRONLY|os.O_SYNC, 0)
			return errors.Join(err, write(again, "after."), again.Close())
		}, "after."},
		"mapped": {func(f *os.File) error {
			m, err := unix.Mmap(int(f.Fd()), 0, 6, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			copy(m, "after.")
			return unix.Munmap(m)
		}, "before"},
	} {
		f, err := os.Create(filepath.Join(at, strings.ReplaceAll(name, " ", "-")))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(f, "before"), f.Sync(), c.do(f), f.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		inflict(lab.PowerOff)
		if got, err := os.ReadFile(f.Name()); string(got) != c.want {
			t.Errorf("%s: %.20q, %v, want %q", name, got, err, c.want)
		}
		inflict(lab.PowerOn)
	}
	old := filepath.Join(at, "nothing")
	inflict(lab.DiskFull)
	if err := os.WriteFile(filepath.Join(at, "new"), nil, 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a file was made on a full disk: %v", err)
	}
	for name, create := range map[string]func(path string) error{
		"symlink":      func(path string) error { return os.Symlink(old, path) },
		"mknod":        func(path string) error { return unix.Mknod(path, unix.S_IFREG|0o600, 0) },
		"without name": func(string) error { _, err := unix.Open(at, unix.O_TMPFILE|unix.O_RDWR, 0o600); return err },
	} {
		if err := create(filepath.Join(at, "new-"+name)); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EOPNOTSUPP) {
			t.Errorf("%s on a full disk: %v", name, err)
		}
	}
	f, err := os.OpenFile(old, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(big, 0); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a file grew on a full disk: %v", err)
	}
	if err := write(f, "BEFORE"); err != nil {
		t.Errorf("a write that needs no space was refused: %v", err)
	}
	inflict(lab.DiskFree)
	if _, err := f.WriteAt(big, 0); err != nil {
		t.Error(err)
	}
	if err := lab.Down(dir); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile("/proc/mounts"); strings.Contains(string(text), dir) {
		t.Error("the disk is still mounted")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder still exists: %v", err)
	}
}

func write(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// TestFrailDiskEnded: the process of a frail disk is killed. The next start of the node mounts the disk again, with its
// data.
func TestFrailDiskEnded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	l := frailLab(t, dir)
	t.Cleanup(func() {
		if err := lab.Down(dir); err != nil {
			t.Error(err)
		}
	})
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	n := &l.State().Cluster.Nodes[0]
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		args, _ := os.ReadFile(name) // the process may have ended
		if strings.HasSuffix(string(args), "\x00"+lab.DiskCommand+"\x00"+n.Dir+".disk\x00"+n.Dir+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	for err == nil || errors.Is(err, syscall.ECONNABORTED) { // the call during which the process ends
		_, err = os.Stat(n.Dir)
	}
	if !errors.Is(err, syscall.ENOTCONN) {
		t.Fatal(err)
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got, err := query(t.Context(), n); err != nil || got != "node 0\n" {
		t.Errorf("the node replies %q, %v", got, err)
	}
	if err := l.Inflict(t.Context(), lab.Fault{Action: lab.DiskFull, Node: 1}); err != nil {
		t.Error(err)
	}
}
