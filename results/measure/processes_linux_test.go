package measure

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

// TestProcessEndsWhileItIsRead: a process that ends while costOf reads it is an error, so that the meter tries again.
// The disk counters of this made-up process are in a pipe, so the test knows when costOf reads them.
func TestProcessEndsWhileItIsRead(t *testing.T) {
	pid := os.Getpid()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	for _, ends := range []bool{false, true} {
		proc := t.TempDir()
		dir := filepath.Join(proc, strconv.Itoa(pid))
		counters := filepath.Join(dir, "io")
		err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "stat"), stat, 0o600), syscall.Mkfifo(counters, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			f, err := os.OpenFile(counters, os.O_WRONLY, 0) // waits for costOf
			if err == nil && ends {
				err = os.Remove(filepath.Join(dir, "stat"))
			}
			if err == nil {
				_, err = f.WriteString("read_bytes: 5\nwrite_bytes: 6\n")
			}
			written <- errors.Join(err, f.Close())
		}()
		ctx := context.WithValue(t.Context(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: proc})
		used, err := costOf(ctx, &process.Process{Pid: int32(pid)}) //nolint:gosec // pids are small
		if failed := <-written; failed != nil {
			t.Fatal(failed)
		}
		if (err != nil) != ends || used.read != 5 || used.write != 6 {
			t.Errorf("ends %v: %+v, %v", ends, used, err)
		}
	}
}

// TestProcessWithoutDiskCounters: a process whose disk counters cannot be read still counts.
func TestProcessWithoutDiskCounters(t *testing.T) {
	pid := os.Getpid()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	proc := t.TempDir()
	dir := filepath.Join(proc, strconv.Itoa(pid))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "stat"), stat, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx := context.WithValue(t.Context(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: proc})
	if used, err := costOf(ctx, &process.Process{Pid: int32(pid)}); err != nil || used.read != 0 { //nolint:gosec // pids are small
		t.Errorf("%+v, %v", used, err)
	}
}

// TestCoresOfTheMachine: the shares of the load refer to all cores of the machine, also if the process may use only one.
// The test runs itself in such a process.
func TestCoresOfTheMachine(t *testing.T) {
	const key = "BAROGRAPH_TEST_CORES"
	if want := os.Getenv(key); want != "" {
		m, err := StartMachine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if l, err := m.Stop(t.Context()); err != nil || strconv.Itoa(l.Cores) != want || runtime.NumCPU() != 1 {
			t.Fatalf("%+v, want %s cores, of which %d is usable: %v", l, want, runtime.NumCPU(), err)
		}
		return
	}
	text, err := os.ReadFile("/proc/stat")
	n := len(regexp.MustCompile(`(?m)^cpu\d`).FindAll(text, -1))
	if err != nil || n < 2 {
		t.Skipf("NOT TESTED: the machine has %d cores: %v", n, err)
	}
	runtime.LockOSThread() // the new process inherits the cores of this thread
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	for i := 0; one.Count() == 0; i++ {
		if all.IsSet(i) {
			one.Set(i)
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCoresOfTheMachine$", "-test.v")
	c.Env = append(os.Environ(), key+"="+strconv.Itoa(n))
	out, err := c.CombinedOutput()
	if err := errors.Join(err, unix.SchedSetaffinity(0, &all)); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRemoteFileSystemHasNoDevice: the name of a remote file system may end with the name of a local disk.
func TestRemoteFileSystemHasNoDevice(t *testing.T) {
	dir := t.TempDir()
	mounts := "27 1 0:50 / / rw - nfs4 nas:/export/sda rw\n" +
		"28 27 8:0 / /local rw - ext4 /dev/sda rw\n" +
		"29 27 0:51 / /tag rw - virtiofs sda rw\n"
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "mountinfo"), []byte(mounts), 0o600),
		os.WriteFile(filepath.Join(dir, "diskstats"), []byte("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOST_PROC_MOUNTINFO", filepath.Join(dir, "mountinfo"))
	ctx := context.WithValue(t.Context(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: dir})
	got, err := Devices(ctx, []string{"/none", "/local/none", "/tag/none"})
	if err != nil || got[0] != "" || got[1] != "sda" || got[2] != "" {
		t.Errorf("%q, %v", got, err)
	}
}
