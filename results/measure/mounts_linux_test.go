package measure

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestOwnMounts: a process with its own mounts, such as a service or a container, finds the device of a folder in them,
// not in those of process 1. The test runs itself in such a process, where the folder is in memory and has no device.
func TestOwnMounts(t *testing.T) {
	const key = "BAROGRAPH_TEST_MOUNT"
	if dir := os.Getenv(key); dir != "" {
		if err := syscall.Mount("none", dir, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		if got, err := Devices(t.Context(), []string{dir}); err != nil || got[0] != "" {
			t.Fatalf("the device of a folder in memory is %q, %v", got, err)
		}
		return
	}
	t.Setenv("TMPDIR", "/var/tmp") // not in memory
	dir := t.TempDir()
	if outside, err := Devices(t.Context(), []string{dir}); err != nil || outside[0] == "" {
		t.Skipf("NOT TESTED: the system counts no device below %s: %v", dir, err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOwnMounts$", "-test.v")
	c.Env = append(os.Environ(), key+"="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := c.CombinedOutput()
	if os.IsPermission(err) || err != nil && strings.Contains(err.Error(), "not permitted") {
		t.Skipf("NOT TESTED: own mounts need root: %v", err)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
