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
// goroutine. A child that begins and ends between two looks is not seen.
type ProcessMeter struct {
	roots []int32
	seen  map[int32]*processUse // by pid; one whose pid was given anew is in ended
	ended []*processUse
	peak  uint64
	most  int
}

type processUse struct {
	began         int64   // ms
	cpu, cpu0     float64 // seconds
	read, read0   uint64
	write, write0 uint64
}

// StartProcesses begins an interval. A process that does not run is left out.
func StartProcesses(ctx context.Context, pids []int32) *ProcessMeter {
	m := &ProcessMeter{roots: pids, seen: map[int32]*processUse{}}
	m.look(ctx, true)
	return m
}

// Look notes what the processes have used so far; call it about once a second,
// as children come and go.
func (m *ProcessMeter) Look(ctx context.Context) { m.look(ctx, false) }

func (m *ProcessMeter) look(ctx context.Context, first bool) {
	rss, shared, n := uint64(0), uint64(0), 0
	for _, p := range m.family(ctx) {
		began, err := p.CreateTimeWithContext(ctx)
		if err != nil {
			continue // it has ended
		}
		times, err := p.TimesWithContext(ctx)
		if err != nil {
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
		u.cpu = times.User + times.System
		if io, err := p.IOCountersWithContext(ctx); err == nil {
			u.read, u.write = io.DiskReadBytes, io.DiskWriteBytes
		}
		if first {
			u.cpu0, u.read0, u.write0 = u.cpu, u.read, u.write
		}
		if mem, err := p.MemoryInfoWithContext(ctx); err == nil {
			common := min(sharedMemory(ctx, p), mem.RSS)
			rss += mem.RSS - common
			shared = max(shared, common)
		}
	}
	m.peak, m.most = max(m.peak, rss+shared), max(m.most, n)
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
	seconds := 0.0
	for _, u := range slices.AppendSeq(m.ended, maps.Values(m.seen)) {
		seconds += u.cpu - u.cpu0
		out.Read += u.read - u.read0
		out.Written += u.write - u.write0
	}
	out.CPU = time.Duration(seconds * float64(time.Second))
	return out
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
	busy := t.User + t.System + t.Nice + t.Irq + t.Softirq - b.User - b.System - b.Nice - b.Irq - b.Softirq
	disk, stolen, idle := t.Iowait-b.Iowait, t.Steal-b.Steal, t.Idle-b.Idle
	if all := busy + disk + stolen + idle; all > 0 {
		out.Busy, out.Disk, out.Stolen = busy/all, max(disk, 0)/all, stolen/all
	}
	return out, nil
}
