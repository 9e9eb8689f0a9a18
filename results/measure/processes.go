package measure

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
)

// ProcessLoad is what other processes of this machine used in an interval: a server and its
// children.
type ProcessLoad struct {
	Processes int           `json:"processes"` // largest number at the same time
	CPU       time.Duration `json:"cpu_ns"`    // user and system
	PeakRSS   uint64        `json:"peak_rss_bytes"`
	Read      uint64        `json:"read_bytes"` // from disks; 0 also if it is not readable
	// Written is the size of the pages that became dirty, as the system counts it; 0 also if it is not readable. Linux 6
	// counts all pages of a large folio of which one byte was written: 250 times the bytes of a log on ext4.
	Written uint64 `json:"written_bytes"`
}

// ProcessMeter measures processes and their children. Only one goroutine may use it. On Linux it
// includes children that start and end between two samples, except for their memory: the system
// adds their use to their parent's.
type ProcessMeter struct {
	roots  []int32
	seen   map[int32]*processUse // by pid
	former []*processUse         // processes that have ended and whose pid another process has now
	tries  int                   // number of tries to take a sample
	peak   uint64                // largest resident memory of all processes, bytes
	most   int                   // largest number of processes at the same time
}

// processUse is what a process used, including, on Linux, the children that it has waited for.
type processUse struct {
	parent  int32
	began   int64       // ms since 1970
	lastTry int         // number of the last try that saw the process
	used    processCost // from the start of the process to that try
	before  processCost // from the start of the process to the start of the interval
}

type processCost struct {
	cpu         float64 // seconds
	read, write uint64  // bytes
}

// StartProcesses starts an interval. It skips processes that do not run.
func StartProcesses(ctx context.Context, pids []int32) *ProcessMeter {
	m := &ProcessMeter{roots: pids}
	m.sample(ctx, true)
	return m
}

// Sample records what the processes have used until now. Call it about once per second, because
// children come and go.
func (m *ProcessMeter) Sample(ctx context.Context) { m.sample(ctx, false) }

// sample reads the processes one after the other, a parent before its children. If a child ends between these two
// reads, its use is missing: the parent's counters did not include it yet, and the child can no longer be read. In
// this case sample tries again, three times in all.
func (m *ProcessMeter) sample(ctx context.Context, first bool) {
	for range 3 {
		if m.trySample(ctx, first) {
			return
		}
	}
}

// trySample reports whether no process ended during the sample.
func (m *ProcessMeter) trySample(ctx context.Context, first bool) (complete bool) {
	rss, shared, n := uint64(0), uint64(0), 0
	m.tries++
	complete = true
	if first { // forget processes that ended during an earlier try: processUse.before of their parent includes their use
		m.seen, m.former = map[int32]*processUse{}, nil
	}
	for _, p := range m.family(ctx) {
		began, timeErr := p.CreateTimeWithContext(ctx)
		used, err := costOf(ctx, p)
		if timeErr != nil || err != nil {
			complete = false
			continue
		}
		u := m.seen[p.Pid]
		if u != nil && (began-u.began > maxStartDifference || u.began-began > maxStartDifference) {
			m.former, u = append(m.former, u), nil
		}
		if u == nil {
			u = &processUse{began: began}
			m.seen[p.Pid] = u
		}
		n++
		u.used, u.lastTry = used, m.tries
		if parent, err := p.PpidWithContext(ctx); err == nil {
			u.parent = parent
		}
		if first {
			u.before = used
		}
		if mem, err := p.MemoryInfoWithContext(ctx); err == nil {
			common := min(sharedMemory(ctx, p), mem.RSS)
			rss += mem.RSS - common
			shared = max(shared, common)
		}
	}
	m.peak, m.most = max(m.peak, rss+shared), max(m.most, n)
	return complete
}

// costOf is what a process has used since its start. It reads the CPU times last, because they are always readable
// while the process exists: if the process ends during costOf, the result is an error instead of an incomplete cost.
func costOf(ctx context.Context, p *process.Process) (u processCost, err error) {
	if io, err := p.IOCountersWithContext(ctx); err == nil {
		u.read, u.write = io.DiskReadBytes, io.DiskWriteBytes // on Linux with those of children that were waited for
	}
	u.cpu = childTimes(p.Pid)
	times, err := p.TimesWithContext(ctx)
	if err == nil {
		u.cpu += times.User + times.System
	}
	return u, err
}

// maxStartDifference is the difference in start time, in ms, above which a pid belongs to a new
// process. The reported start of one process varies if a container reports the time since boot.
const maxStartDifference = 10_000

// family returns the roots and all their descendants.
func (m *ProcessMeter) family(ctx context.Context) []*process.Process {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil
	}
	children := map[int32][]*process.Process{}
	var out []*process.Process
	for _, p := range all {
		if slices.Contains(m.roots, p.Pid) {
			out = append(out, p)
		} else if parent, err := p.PpidWithContext(ctx); err == nil {
			children[parent] = append(children[parent], p)
		}
	}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i].Pid]...)
	}
	return out
}

// Stop returns the use since StartProcesses. Memory that processes share, such as a server's
// buffers, counts once: as the largest share of a single process.
func (m *ProcessMeter) Stop(ctx context.Context) ProcessLoad {
	m.sample(ctx, false)
	out := ProcessLoad{Processes: m.most, PeakRSS: m.peak}
	seconds, read, written := 0.0, int64(0), int64(0)
	for _, u := range slices.AppendSeq(m.former, maps.Values(m.seen)) {
		used := u.used
		if m.countedByAncestor(u) {
			used = processCost{} // the ancestor's use includes it
		}
		seconds += used.cpu - u.before.cpu
		read += int64(used.read) - int64(u.before.read)      //nolint:gosec // far below 2^63
		written += int64(used.write) - int64(u.before.write) //nolint:gosec // likewise
	}
	out.CPU = max(time.Duration(seconds*float64(time.Second)), 0)
	out.Read, out.Written = uint64(max(read, 0)), uint64(max(written, 0)) //nolint:gosec // not negative
	return out
}

// countedByAncestor reports whether the use of an ancestor that still runs includes that of a process that has ended.
// It assumes that each process between the two waited for its children. It is always false on systems other than Linux.
func (m *ProcessMeter) countedByAncestor(u *processUse) bool {
	p := u
	for range m.seen { // reused pids may form a cycle
		if p = m.seen[p.parent]; p == nil || p.lastTry == m.tries {
			break
		}
	}
	return childrenCounted && u.lastTry < m.tries && p != nil && p.lastTry == m.tries
}

// MachineLoad is the load of the machine in an interval, as shares (0 … 1) of the time of all its
// cores.
type MachineLoad struct {
	Cores  int     `json:"cores"` // of the machine, also if this process may use only some of them
	Busy   float64 `json:"busy"`
	Disk   float64 `json:"waiting_for_disk"` // idle while a process waited for a disk
	Stolen float64 `json:"stolen"`           // used by other guests of the host
}

// MachineMeter measures the machine over an interval.
type MachineMeter struct{ start cpu.TimesStat }

// StartMachine starts an interval.
func StartMachine(ctx context.Context) (*MachineMeter, error) {
	t, err := machineTimes(ctx)
	return &MachineMeter{t}, err
}

func machineTimes(ctx context.Context) (cpu.TimesStat, error) {
	all, err := cpu.TimesWithContext(ctx, false)
	if err != nil || len(all) == 0 {
		return cpu.TimesStat{}, err
	}
	return all[0], nil
}

// Stop returns the shares since StartMachine.
func (m *MachineMeter) Stop(ctx context.Context) (MachineLoad, error) {
	cores, err := cpu.CountsWithContext(ctx, true)
	t, timesErr := machineTimes(ctx)
	out := MachineLoad{Cores: cores}
	if err = errors.Join(err, timesErr); err != nil {
		return out, err
	}
	out.setShares(m.start, t)
	return out, nil
}

// setShares sets the shares of the time between two readings. A difference may be slightly negative, because of rounding
// and because the kernel's count of waiting may decrease.
func (l *MachineLoad) setShares(before, t cpu.TimesStat) {
	busy := max(t.User+t.System+t.Nice+t.Irq+t.Softirq-before.User-before.System-before.Nice-before.Irq-before.Softirq, 0)
	disk, stolen, idle := max(t.Iowait-before.Iowait, 0), max(t.Steal-before.Steal, 0), max(t.Idle-before.Idle, 0)
	if all := busy + disk + stolen + idle; all > 0 {
		l.Busy, l.Disk, l.Stolen = busy/all, disk/all, stolen/all
	}
}
