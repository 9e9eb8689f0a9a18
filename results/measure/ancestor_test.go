package measure

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
)

// TestEndedGrandchild: the use of the nearest ancestor that still runs includes that of a process that ended together
// with its parent.
func TestEndedGrandchild(t *testing.T) {
	if !childrenCounted {
		t.Skip("the system does not report the use of ended children")
	}
	m := &ProcessMeter{tries: 2, seen: map[int32]*processUse{
		1: {lastTry: 2}, 2: {parent: 1, lastTry: 1}, 3: {parent: 2, lastTry: 1}, // 1 runs
		4: {parent: 5, lastTry: 1}, 5: {parent: 4, lastTry: 1}, // reused pids
	}}
	for pid, want := range map[int32]bool{1: false, 2: true, 3: true, 4: false, 5: false} {
		if got := m.countedByAncestor(m.seen[pid]); got != want {
			t.Errorf("process %d: %v, want %v", pid, got, want)
		}
	}
}

// TestPeakIsAtLeastOneClient: if throughput never grows, one client has the highest.
func TestPeakIsAtLeastOneClient(t *testing.T) {
	for _, c := range []struct{ sigma, kappa, want float64 }{
		{1, 0.1, 1}, {1.5, 0.1, 1}, {1, 0, 1}, {0.5, 2, 1}, {0.75, 0.01, 5}, {0.5, 0, math.Inf(1)},
	} {
		u := USL{Sigma: exactEstimate(c.sigma), Kappa: exactEstimate(c.kappa)}
		if got := u.Peak(); math.Abs(got-c.want) > 1e-9 && got != c.want {
			t.Errorf("sigma %v, kappa %v: peak at %v, want %v", c.sigma, c.kappa, got, c.want)
		}
	}
}

// TestDiskIsReplaced: the counters of another device with the same name begin at 0.
func TestDiskIsReplaced(t *testing.T) {
	all, err := disk.IOCountersWithContext(t.Context())
	if err != nil || len(all) == 0 {
		t.Skipf("NOT TESTED: the system counts no device: %v", err)
	}
	for name := range all {
		m := &DiskMeter{names: []string{name}, start: map[string]disk.IOCountersStat{name: {ReadBytes: 1 << 62, ReadCount: 1 << 62, IoTime: 1 << 62}}}
		if loads, err := m.Stop(t.Context()); err != nil || loads[0] != (DiskLoad{Device: name}) {
			t.Errorf("%+v, %v", loads, err)
		}
	}
}

// TestSharesOfTheMachine: 39 of 100 seconds are work of five kinds, 17 wait for a disk, and 19 are stolen. A count that
// decreases is 0.
func TestSharesOfTheMachine(t *testing.T) {
	before := cpu.TimesStat{User: 1, System: 2, Nice: 4, Irq: 8, Softirq: 16, Iowait: 32, Steal: 64, Idle: 128}
	for _, c := range []struct {
		after cpu.TimesStat
		want  MachineLoad
	}{
		{cpu.TimesStat{User: 4, System: 7, Nice: 11, Irq: 19, Softirq: 29, Iowait: 49, Steal: 83, Idle: 153}, MachineLoad{Busy: 0.39, Disk: 0.17, Stolen: 0.19}},
		{cpu.TimesStat{User: 2, System: 2, Nice: 4, Irq: 8, Softirq: 16, Iowait: 31, Steal: 63, Idle: 131}, MachineLoad{Busy: 0.25}},
		{cpu.TimesStat{User: 0, System: 2, Nice: 4, Irq: 8, Softirq: 16, Iowait: 33, Steal: 64, Idle: 127}, MachineLoad{Disk: 1}},
		{before, MachineLoad{}},
	} {
		var got MachineLoad
		if got.setShares(before, c.after); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.after, got, c.want)
		}
	}
}

// TestSumsOfProcesses: the use of an interval is the sum of all processes that were seen in it, also of those whose pid
// another process has now, without their use before. A sum is never negative.
func TestSumsOfProcesses(t *testing.T) {
	use := func(cpu float64, read, write uint64, before float64, readBefore, writeBefore uint64) *processUse {
		return &processUse{used: processCost{cpu, read, write}, before: processCost{before, readBefore, writeBefore}}
	}
	for _, c := range []struct {
		seen, former []*processUse
		want         ProcessLoad
	}{
		{nil, nil, ProcessLoad{}},
		{[]*processUse{use(5, 100, 200, 3, 40, 150), use(1, 10, 20, 0, 0, 0)}, []*processUse{use(0.5, 1, 2, 0.25, 0, 0)}, ProcessLoad{CPU: 3250 * time.Millisecond, Read: 71, Written: 72}},
		{[]*processUse{use(1, 10, 20, 3, 40, 50)}, nil, ProcessLoad{}},
	} {
		m := &ProcessMeter{seen: map[int32]*processUse{}, former: c.former}
		for i, u := range c.seen {
			m.seen[math.MaxInt32-int32(i)] = u //nolint:gosec // no process has this pid
		}
		if got := m.Stop(t.Context()); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	if !childrenCounted {
		return
	}
	own := int32(os.Getpid()) //nolint:gosec // a pid fits
	m := StartProcesses(t.Context(), []int32{own})
	ended := use(50, 0, 0, 7, 0, 0) // 57 s before the interval and within it, which this process's use includes
	ended.parent, m.seen[math.MaxInt32] = own, ended
	m.seen[own].before.cpu -= 10
	if got := m.Stop(t.Context()); got.CPU < 3*time.Second || got.CPU > 13*time.Second || got.Processes < 1 {
		t.Errorf("%+v, want 3 s and the CPU time of this test", got)
	}
}

// TestReusedPID: a process that started more than 10 s before or after the one with the same pid is another one.
func TestReusedPID(t *testing.T) {
	own := int32(os.Getpid()) //nolint:gosec // a pid fits
	for ms, former := range map[int64]int{0: 0, 9_000: 0, -9_000: 0, 11_000: 1, -11_000: 1} {
		m := StartProcesses(t.Context(), []int32{own})
		first := m.seen[own]
		if first == nil {
			t.Skip("NOT TESTED: the system does not report this process")
		}
		first.began += ms
		m.Sample(t.Context())
		if len(m.former) != former || (m.seen[own] == first) != (former == 0) {
			t.Errorf("%d ms later: %d former processes", ms, len(m.former))
		}
	}
	m := StartProcesses(t.Context(), []int32{own})
	got := m.Stop(t.Context()).PeakRSS
	if u, err := processUsage(); err != nil || u.peakRSS > 0 && (got > u.peakRSS || got < 1<<20) {
		t.Errorf("%d bytes are resident, at most %d; %v", got, u.peakRSS, err)
	}
}
