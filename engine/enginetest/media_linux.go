package enginetest

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// awaitCPU waits until a child has used this much processor time from now on, or has exited. It returns the time that
// the child used. A delay in processor time ends at the same step of a load also on a busy machine.
func awaitCPU(t *testing.T, c *exec.Cmd, delay time.Duration) (used time.Duration) {
	t.Helper()
	pid, start := c.Process.Pid, time.Duration(-1)
	for {
		var now unix.Timespec
		if err := unix.ClockGettime(int32(^pid<<3|2), &now); err != nil { //nolint:gosec // clock_getcpuclockid(3)
			t.Fatal(err)
		}
		if start < 0 {
			start = time.Duration(now.Nano())
		}
		var exited unix.Siginfo
		if err := unix.Waitid(unix.P_PID, pid, &exited, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		if used = time.Duration(now.Nano()) - start; used >= delay || exited.Signo != 0 {
			return used
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// readOnlyMedia mounts a folder read-only, also for root: nobody can create or change anything in it
// until the test ends.
func readOnlyMedia(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("NOT TESTED: a folder cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// usedBytes returns how much of a file system is used.
func usedBytes(t *testing.T, disk string) int64 {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(disk, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize //nolint:gosec // the size of a disk in memory
}
