//go:build !linux

package enginetest

import (
	"os/exec"
	"testing"
	"time"
)

// awaitCPU waits, where the processor time of a child is not available, at most a second.
func awaitCPU(_ *testing.T, _ *exec.Cmd, delay time.Duration) (used time.Duration) {
	used = min(delay, time.Second)
	time.Sleep(used)
	return used
}

func readOnlyMedia(t *testing.T, _ string) { t.Skip("NOT TESTED: read-only media are made on Linux") }

// usedBytes is for small disks, which are made on Linux.
func usedBytes(*testing.T, string) int64 { return 0 }
