package measure

import (
	"math"
	"testing"

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
