package measure

import (
	"context"

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
