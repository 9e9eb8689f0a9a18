//go:build !unix

package measure

import (
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// processUsage asks gopsutil. The peak of memory is not known everywhere.
func processUsage() (usage, error) {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return usage{}, err
	}
	t, err := p.Times()
	if err != nil {
		return usage{}, err
	}
	out := usage{user: seconds(t.User), system: seconds(t.System)}
	if m, err := p.MemoryInfo(); err == nil {
		out.peakRSS = m.HWM
	}
	return out, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
