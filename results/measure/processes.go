package measure

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
)

// ProcessLoad is what other processes of this machine spent over an interval:
// a server and all that it started.
type ProcessLoad struct {
	Processes int           `json:"processes"` // the most at once
	CPU       time.Duration `json:"cpu_ns"`    // user and system
	PeakRSS   uint64        `json:"peak_rss_bytes"`
	Read      uint64        `json:"read_bytes"` // from disks, as the system counts it; 0 also where it may not be read
	Written   uint64        `json:"written_bytes"`
}

// ProcessMeter measures processes and their children. It is used by one
// goroutine. On Linux a child that begins and ends between two looks counts, too,
// but for its memory: the system adds what it used to its parent's.
type ProcessMeter struct {
	roots []int32
	seen  map[int32]*processUse // by pid; one whose pid was given anew is in ended
	ended []*processUse
	looks int
	peak  uint64
	most  int
}

// processUse is what a process used and, on Linux, the children that it has
// waited for.
type processUse struct {
	parent      int32
	began       int64    // ms
	look        int      // the last one that saw it
	used, used0 spending // at that look, and when the interval began
}

type spending struct {
	cpu         float64 // seconds
	read, write uint64  // bytes
}

// StartProcesses begins an interval. A process that does not run is left out.
func StartProcesses(ctx context.Context, pids []int32) *ProcessMeter {
	m := &ProcessMeter{roots: pids}
	m.look(ctx, true)
	return m
}

// Look notes what the processes have used so far; call it about once a second,
// as children come and go.
func (m *ProcessMeter) Look(ctx context.Context) { m.look(ctx, false) }

func (m *ProcessMeter) look(ctx context.Context, first bool) {
	// one that ends during a look is neither seen nor yet its parent's
	for range 3 {
		if m.tryLook(ctx, first) {
			return
		}
	}
}

// tryLook reports whether no process ended meanwhile.
func (m *ProcessMeter) tryLook(ctx context.Context, first bool) (whole bool) {
	rss, shared, n := uint64(0), uint64(0), 0
	m.looks++
	whole = true
	if first { // what an earlier try saw may be its parent's by now
		m.seen, m.ended = map[int32]*processUse{}, nil
	}
	for _, p := range m.family(ctx) {
		began, err := p.CreateTimeWithContext(ctx)
		if err != nil {
			whole = false
			continue
		}
		used, err := usedBy(ctx, p)
		if err != nil {
			whole = false
			continue
		}
		u := m.seen[p.Pid]
		if u != nil && (began-u.began > anotherProcess || u.began-began > anotherProcess) {
			m.ended, u = append(m.ended, u), nil
		}
		if u == nil {
			u = &processUse{began: began}
			m.seen[p.Pid] = u
		}
		n++
		u.used, u.look = used, m.looks
		if parent, err := p.PpidWithContext(ctx); err == nil {
			u.parent = parent
		}
		if first {
			u.used0 = used
		}
		if mem, err := p.MemoryInfoWithContext(ctx); err == nil {
			common := min(sharedMemory(ctx, p), mem.RSS)
			rss += mem.RSS - common
			shared = max(shared, common)
		}
	}
	m.peak, m.most = max(m.peak, rss+shared), max(m.most, n)
	return whole
}

// usedBy is what a process has used since it began.
func usedBy(ctx context.Context, p *process.Process) (u spending, err error) {
	times, err := p.TimesWithContext(ctx)
	if err != nil {
		return u, err
	}
	u.cpu = times.User + times.System + childTimes(p.Pid)
	if io, err := p.IOCountersWithContext(ctx); err == nil {
		u.read, u.write = io.DiskReadBytes, io.DiskWriteBytes // on Linux with those of children that were waited for
	}
	return u, nil
}

// anotherProcess is by how many ms the start of a process differs from that of
// an earlier one of its pid. The start of one process differs from look to look,
// where the time since the boot is a container's.
const anotherProcess = 10_000

// family are the roots and all that descends from them.
func (m *ProcessMeter) family(ctx context.Context) []*process.Process {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil
	}
	children := map[int32][]*process.Process{}
	var out []*process.Process
	for _, p := range all {
		for _, root := range m.roots {
			if p.Pid == root {
				out = append(out, p)
			}
		}
		if parent, err := p.PpidWithContext(ctx); err == nil {
			children[parent] = append(children[parent], p)
		}
	}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i].Pid]...)
	}
	return out
}

// Stop returns what was used since StartProcesses. Of the memory that processes
// share, such as a server's buffers, the most that one of them has is counted, once.
func (m *ProcessMeter) Stop(ctx context.Context) ProcessLoad {
	m.look(ctx, false)
	out := ProcessLoad{Processes: m.most, PeakRSS: m.peak}
	seconds, read, written := 0.0, int64(0), int64(0)
	for _, u := range slices.AppendSeq(m.ended, maps.Values(m.seen)) {
		used := u.used
		if m.passedOn(u) {
			used = spending{} // its parent's usage holds it
		}
		seconds += used.cpu - u.used0.cpu
		read += int64(used.read) - int64(u.used0.read)      //nolint:gosec // far below 2^63
		written += int64(used.write) - int64(u.used0.write) //nolint:gosec // likewise
	}
	out.CPU = max(time.Duration(seconds*float64(time.Second)), 0)
	out.Read, out.Written = uint64(max(read, 0)), uint64(max(written, 0)) //nolint:gosec // not negative
	return out
}

// passedOn reports whether a process has ended and its parent, which runs, has
// waited for it.
func (m *ProcessMeter) passedOn(u *processUse) bool {
	if !childrenCounted || m.seen[u.parent] == nil {
		return false
	}
	return u.look < m.looks && m.seen[u.parent].look == m.looks
}

// MachineLoad is what the whole machine did over an interval, of the time of
// all its cores; shares are 0 … 1.
type MachineLoad struct {
	Cores  int     `json:"cores"`
	Busy   float64 `json:"busy"`
	Disk   float64 `json:"waiting_for_disk"` // idle, while a process waited for a disk
	Stolen float64 `json:"stolen"`           // by other guests of the host
}

// MachineMeter measures the machine over an interval.
type MachineMeter struct{ begin cpu.TimesStat }

// StartMachine begins an interval.
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
	out := MachineLoad{Cores: runtime.NumCPU()}
	t, err := machineTimes(ctx)
	if err != nil {
		return out, err
	}
	b := m.begin
	// The sums are of fractions, and the kernel's counts of waiting may fall: none is below 0.
	busy := max(t.User+t.System+t.Nice+t.Irq+t.Softirq-b.User-b.System-b.Nice-b.Irq-b.Softirq, 0)
	disk, stolen, idle := max(t.Iowait-b.Iowait, 0), max(t.Steal-b.Steal, 0), max(t.Idle-b.Idle, 0)
	if all := busy + disk + stolen + idle; all > 0 {
		out.Busy, out.Disk, out.Stolen = busy/all, disk/all, stolen/all
	}
	return out, nil
}
