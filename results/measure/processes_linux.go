package measure

import (
	"context"

	"github.com/prometheus/procfs"
	"github.com/shirou/gopsutil/v4/process"
)

// sharedMemory is the part of a process's resident memory that others may map, too.
func sharedMemory(ctx context.Context, p *process.Process) uint64 {
	m, err := p.MemoryInfoExWithContext(ctx)
	if err != nil {
		return 0
	}
	return m.Shared
}

// childrenCounted: Linux adds the use of a process that has ended to the parent
// that waits for it (proc(5): cutime, cstime).
const childrenCounted = true

// ticks is the number of clock ticks per second in which proc(5) counts times (USER_HZ, always 100 for programs).
const ticks = 100

// childTimes are the seconds of CPU of the children that a process has waited for.
func childTimes(pid int32) float64 {
	p, err := procfs.NewProc(int(pid))
	if err != nil {
		return 0
	}
	stat, _ := p.Stat() // after an error it is zero
	return float64(stat.CUTime+stat.CSTime) / ticks
}
