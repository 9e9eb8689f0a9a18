package lab_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// envMaps makes the server of a test write its files as Cassandra writes its log: mapped, and only
// through memory.
const envMaps = "LAB_TEST_MAPS"

// mappedBytes is the size of a file, large enough that the kernel needs some time to write it.
const mappedBytes = 16 << 20

// mappings are the server's files, each with the function that flushes it.
func mappings() map[string]func(m []byte) error {
	return map[string]func(m []byte) error{
		"never-flushed":    func([]byte) error { return nil },
		"flushed":          func(m []byte) error { return unix.Msync(m, unix.MS_SYNC) },
		"asked-to":         func(m []byte) error { return unix.Msync(m, unix.MS_ASYNC) },
		"flushed-in-part":  func(m []byte) error { return unix.Msync(m[:mappedBytes/2], unix.MS_SYNC) },
		"flushed-and-more": func(m []byte) error { return errors.Join(unix.Msync(m, unix.MS_SYNC), fill(m, 'c')) },
	}
}

func fill(m []byte, with byte) error {
	for i := range m {
		m[i] = with
	}
	return nil
}

// mapFiles creates the files. It writes and flushes "a" to each, then overwrites it with "b"
// through memory. A restarted server finds existing files and keeps them.
func mapFiles() error {
	for name, flush := range mappings() {
		if _, err := os.Stat(name); err == nil {
			continue
		}
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		_, err = f.Write(bytes.Repeat([]byte("a"), mappedBytes))
		if err := errors.Join(err, f.Sync()); err != nil {
			return err
		}
		m, err := unix.Mmap(int(f.Fd()), 0, mappedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		if err := errors.Join(fill(m, 'b'), flush(m)); err != nil {
			return err
		}
	}
	return nil
}

// endFirstThread ends the first thread of the process while the others run on, as may happen in a JVM. A goroutine
// cannot choose its thread. So endFirstThread starts goroutines, each on a thread of its own, until one of them is on
// the first thread, whose id is that of the process.
func endFirstThread() {
	for ended := false; !ended; {
		found := make(chan bool, 1)
		go func() {
			runtime.LockOSThread()
			isFirst := unix.Gettid() == os.Getpid()
			found <- isFirst
			if isFirst {
				_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
			}
			time.Sleep(time.Second) // the next goroutine runs on another thread
		}()
		ended = <-found
	}
}

// TestMapped: a power failure keeps what msync flushed of a mapped file. It discards what the
// kernel writes later, when the last thread of the server ends.
func TestMapped(t *testing.T) {
	dir, d := filepath.Join(t.TempDir(), "lab"), driver()
	start := d.Server.Start
	d.Server.Start = func(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
		all, err := start(c, n)
		all[0].Env = append(all[0].Env, envMaps+"=1")
		return all, err
	}
	frailLabOf(t, d, dir)
	t.Cleanup(func() { _ = lab.Down(dir) })
	s, err := lab.Status(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Lab(d) // another process started the lab
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Inflict(t.Context(), lab.Fault{Action: lab.PowerOff, Node: 1}); err != nil {
		t.Fatal(err)
	}
	if tasks, err := os.ReadDir("/proc/" + strconv.Itoa(s.Nodes[0].Processes[0].PID) + "/task"); err == nil && len(tasks) > 1 {
		t.Fatalf("%d of its threads run on", len(tasks))
	}
	time.Sleep(300 * time.Millisecond) // allows late writes to arrive
	half := strings.Repeat("b", mappedBytes/2)
	for name, want := range map[string]string{
		"never-flushed": strings.Repeat("a", mappedBytes), "asked-to": strings.Repeat("a", mappedBytes),
		"flushed": half + half, "flushed-and-more": half + half,
	} {
		if got, err := os.ReadFile(filepath.Join(dir, "node1", name)); string(got) != want {
			count := func(letter string) int { return bytes.Count(got, []byte(letter)) }
			t.Errorf("%s: %d bytes, %d of a, %d of b, %d of c, %v", name, len(got), count("a"), count("b"), count("c"), err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "node1", "flushed-in-part")); !strings.HasPrefix(string(got), half) {
		t.Errorf("flushed-in-part: %d bytes, %.8q, %v", len(got), got, err)
	}
	if err := l.Inflict(t.Context(), lab.Fault{Action: lab.PowerOn, Node: 1}); err != nil {
		t.Error(err)
	}
}
