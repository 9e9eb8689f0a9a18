package measure

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
)

// TestClientLoadIsOfTheInterval: the load of an interval has no more CPU time than the process used around it, exactly
// the collections within it, and the sum and the maximum of their pauses.
func TestClientLoadIsOfTheInterval(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection but those below
	runtime.GC()
	before := CPUTime()
	m, err := StartClient()
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	l, err := m.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if all := CPUTime() - before; l.User < 0 || l.System < 0 || l.User+l.System > all {
		t.Errorf("user %s and system %s of %s", l.User, l.System, all)
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	if l.GCs != 2 || l.GCPause != gc.Pause[0]+gc.Pause[1] || l.GCPauseMax != max(gc.Pause[0], gc.Pause[1]) {
		t.Errorf("%d collections, %s, at most %s; the pauses are %v", l.GCs, l.GCPause, l.GCPauseMax, gc.Pause[:2])
	}
	if l.Cores != runtime.GOMAXPROCS(0) {
		t.Errorf("%d cores", l.Cores)
	}
	if runtime.GOOS == "linux" && (l.PeakRSS < 1<<20 || l.PeakRSS > 1<<40 || l.PeakRSS%1024 != 0) { // the system counts KiB
		t.Errorf("%d bytes of resident memory", l.PeakRSS)
	}
}

// TestShare: the share is the CPU time per core and time; without a time or a core it is 0.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		load ClientLoad
		want float64
	}{
		{ClientLoad{Wall: 2 * time.Second, User: 3 * time.Second, System: time.Second, Cores: 4}, 0.5},
		{ClientLoad{Wall: time.Second, User: time.Second, Cores: 1}, 1},
		{ClientLoad{Wall: time.Nanosecond, User: 1, Cores: 1}, 1},
		{ClientLoad{User: time.Second, Cores: 2}, 0},
		{ClientLoad{Wall: time.Second, User: time.Second}, 0},
		{ClientLoad{Wall: -1, User: 1, Cores: 1}, 0},
		{ClientLoad{Wall: 1, User: 1, Cores: -1}, 0},
	} {
		if got := c.load.Share(); got != c.want {
			t.Errorf("%+v: %g, want %g", c.load, got, c.want)
		}
	}
}

// TestStandstillOfGaps: a gap of the clock is a standstill if it exceeds the interval of the checks by more than a
// second. The interval itself does not count.
func TestStandstillOfGaps(t *testing.T) {
	for _, ago := range []time.Duration{0, minStandstill / 2, minStandstill, minStandstill + checkEvery/2, minStandstill + 2*checkEvery, 7 * time.Second} {
		began := time.Now().Add(-ago)
		s := &StandstillMeter{last: began}
		got := s.Total()
		gap := s.last.Sub(began) // at least ago
		want := time.Duration(0)
		if gap > time.Second+100*time.Millisecond {
			want = gap - 100*time.Millisecond
		}
		if d := got - want; d < -time.Millisecond || d > time.Millisecond { // the wall clock may run faster
			t.Errorf("after %s: %s, want %s", gap, got, want)
		}
	}
	s := StartStandstillMeter()
	s.Stop()
	select {
	case <-s.done:
	default:
		t.Error("the meter runs after Stop")
	}
}

// TestMachineOfThisProcess compares the facts with those that other interfaces of the system report.
func TestMachineOfThisProcess(t *testing.T) {
	dir := t.TempDir()
	m := ReadMachine(t.Context(), dir)
	if m.Threads < runtime.NumCPU() || m.Cores < 0 || m.Cores > m.Threads || m.UsableCPUs != runtime.GOMAXPROCS(0) || m.Arch != runtime.GOARCH {
		t.Errorf("%+v", m)
	}
	if available := AvailableMemory(t.Context()); available == 0 || available > m.Memory {
		t.Errorf("%d of %d bytes are available", available, m.Memory)
	}
	if len(m.Unknown) > 0 && m.CPU != "" && m.OS != "" && m.Kernel != "" && m.Disk.Mount != "" && m.Cores > 0 {
		t.Errorf("every fact is known, and %q are not", m.Unknown)
	}
	if !strings.HasPrefix(m.Kernel, runtime.GOOS+" ") || m.Disk.Free > m.Disk.Total || m.Disk.Mount != "" && !isBelow(resolved(dir), m.Disk.Mount) {
		t.Errorf("%+v", m)
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil && !strings.Contains(m.Kernel, " "+strings.TrimSpace(string(release))+" ") {
		t.Errorf("kernel %q, want %s", m.Kernel, release)
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil && m.CPU != "" && !strings.Contains(strings.Join(strings.Fields(string(text)), " "), m.CPU) {
		t.Errorf("CPU %q", m.CPU)
	}
}

// TestWarningsOfDisks: a disk in memory and one of another machine are named with their mount point, if it is known.
// A load of half the usable cores is not busy.
func TestWarningsOfDisks(t *testing.T) {
	for _, c := range []struct {
		machine Machine
		want    string
	}{
		{Machine{}, ""},
		{Machine{UsableCPUs: 4, Load: [3]float64{2, 9, 9}}, ""},
		{Machine{UsableCPUs: 4, Load: [3]float64{2.1}}, "was busy before the run: load average 2.10"},
		{Machine{UsableCPUs: 1, Load: [3]float64{0.6}}, "was busy before the run: load average 0.60"},
		{Machine{Load: [3]float64{2}}, ""}, // the number of cores is not known
		{Machine{Disk: Disk{Type: "ext4", Mount: "/"}}, ""},
		{Machine{Disk: Disk{Type: "ramfs", Mount: "/m"}}, "in memory (ramfs at /m)"},
		{Machine{Disk: Disk{Type: "tmpfs"}}, "in memory (tmpfs)"},
		{Machine{Disk: Disk{Type: "nfs4", Mount: "/home"}}, "on a shared file system (nfs4 at /home)"},
		{Machine{Disk: Disk{Type: "lustre"}}, "on a shared file system (lustre)"},
	} {
		got := strings.Join(c.machine.Warnings(), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, ";;") {
			t.Errorf("%+v: %q, want %q", c.machine, got, c.want)
		}
	}
}

// TestDeepestMount: the mount of a path is the deepest one that contains it, and of two on one point the last one, which
// hides the first.
func TestDeepestMount(t *testing.T) {
	mounts := []disk.PartitionStat{
		{Mountpoint: "/data", Fstype: "xfs"}, {Mountpoint: "/", Fstype: "ext4"}, {Mountpoint: "/data", Fstype: "btrfs"}, {Mountpoint: "/data/deep", Fstype: "nfs"},
	}
	for path, want := range map[string]string{
		"/": "ext4", "/home/x": "ext4", "/data": "btrfs", "/data/x": "btrfs", "/data/deep/x": "nfs", "/data/deeper": "btrfs", "/..data": "ext4",
	} {
		if got := deepestMount(mounts, filepath.FromSlash(path)); got == nil || got.Fstype != want {
			t.Errorf("%s: %+v, want %s", path, got, want)
		}
	}
	if got := deepestMount(mounts[2:], "/home"); got != nil {
		t.Errorf("%+v", got)
	}
	if !isBelow("/data/..x", "/data") {
		t.Error("a name that starts with two dots is not below its folder")
	}
}

// TestDiskLoad: the load of a device is the increase of the system's counters, with its time in milliseconds.
func TestDiskLoad(t *testing.T) {
	all, err := disk.IOCountersWithContext(t.Context())
	if err != nil || len(all) == 0 {
		t.Skipf("NOT TESTED: the system counts no device: %v", err)
	}
	var names []string
	start := map[string]disk.IOCountersStat{}
	for name := range all {
		names, start[name] = append(names, name), disk.IOCountersStat{} // since the system started
	}
	m, err := StartDisks(t.Context(), append(names, names[0], "", "no such device"))
	if err != nil || len(m.names) != len(names) {
		t.Fatalf("%q, %v", m.names, err)
	}
	m.start = start
	loads, err := m.Stop(t.Context())
	after, failed := disk.IOCountersWithContext(t.Context())
	if err != nil || failed != nil || len(loads) != len(names) {
		t.Fatalf("%+v, %v, %v", loads, err, failed)
	}
	for _, l := range loads {
		least, most := all[l.Device], after[l.Device]
		ms := func(n uint64) time.Duration { return time.Duration(n) * time.Millisecond } //nolint:gosec // far below 2^63
		if l.Read < least.ReadBytes || l.Read > most.ReadBytes || l.Reads < least.ReadCount || l.Reads > most.ReadCount || l.Busy < ms(least.IoTime) || l.Busy > ms(most.IoTime) {
			t.Errorf("%+v, want %v to %v", l, least, most)
		}
	}
	if none, err := (&DiskMeter{}).Stop(t.Context()); none != nil || err != nil {
		t.Errorf("of no device: %+v, %v", none, err)
	}
	for _, c := range [][3]uint64{{3, 10, 7}, {10, 3, 0}, {5, 5, 0}, {0, 1 << 63, 1 << 63}} {
		if got := increase(c[0], c[1]); got != c[2] {
			t.Errorf("from %d to %d: %d", c[0], c[1], got)
		}
	}
}
