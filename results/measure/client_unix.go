//go:build unix

package measure

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// processUsage asks getrusage, which counts microseconds; /proc counts ticks of
// 10 ms. ru_maxrss is in bytes on macOS and in KiB elsewhere.
func processUsage() (usage, error) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return usage{}, err
	}
	scale := uint64(1024)
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		scale = 1
	}
	return usage{
		user:    time.Duration(ru.Utime.Nano()),
		system:  time.Duration(ru.Stime.Nano()),
		peakRSS: uint64(ru.Maxrss) * scale,
	}, nil
}
