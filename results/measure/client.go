package measure

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// ClientMeter measures the resources that this process uses in an interval. It does nothing between
// start and stop.
type ClientMeter struct {
	clock Clock
	start usage
	gc    debug.GCStats
}

// usage is what the operating system reports about this process since its start.
type usage struct {
	user, system time.Duration
	peakRSS      uint64 // bytes; 0 = not known
}

// ClientLoad is what the process used. For an embedded engine it includes the engine, which runs in
// this process; for a server it is the client only.
type ClientLoad struct {
	Wall   time.Duration `json:"wall_ns"`
	User   time.Duration `json:"user_cpu_ns"`
	System time.Duration `json:"system_cpu_ns"`
	// Cores is how many cores Go code may use at once (GOMAXPROCS, which by
	// default respects affinity and container limits).
	Cores int `json:"cores"`
	// PeakRSS is the highest resident memory, in bytes, since the process
	// started: the operating system keeps no other peak. 0 = not known.
	PeakRSS uint64 `json:"peak_rss_bytes"`
	GCs     int64  `json:"gc_count"`
	// GCPause is the time for which the garbage collector stopped all goroutines.
	GCPause    time.Duration `json:"gc_pause_ns"`
	GCPauseMax time.Duration `json:"gc_pause_max_ns"` // of the last 256 collections
}

// CPUTime is the processor time of all threads of this process until now; 0 if the system does not
// report it.
func CPUTime() time.Duration {
	u, _ := processUsage() // after an error it is zero
	return u.user + u.system
}

// StartClient starts to measure this process.
func StartClient() (*ClientMeter, error) {
	u, err := processUsage()
	if err != nil {
		return nil, fmt.Errorf("read the client's own CPU time: %w", err)
	}
	m := &ClientMeter{start: u}
	debug.ReadGCStats(&m.gc)
	m.clock = StartClock()
	return m, nil
}

// Stop returns the resources used since StartClient. It may be called several times.
func (m *ClientMeter) Stop() (ClientLoad, error) {
	wall := m.clock.Now()
	u, err := processUsage()
	if err != nil {
		return ClientLoad{}, fmt.Errorf("read the client's own CPU time: %w", err)
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	out := ClientLoad{
		Wall: wall, User: u.user - m.start.user, System: u.system - m.start.system,
		Cores: runtime.GOMAXPROCS(0), PeakRSS: u.peakRSS,
		GCs: gc.NumGC - m.gc.NumGC, GCPause: gc.PauseTotal - m.gc.PauseTotal,
	}
	for i := range min(int(out.GCs), len(gc.Pause)) {
		out.GCPauseMax = max(out.GCPauseMax, gc.Pause[i])
	}
	return out, nil
}

// Share is the processor time of this process divided by the time of its cores, 0 … 1. It exceeds 1 if
// threads outside Go (of an embedded engine) use further cores.
func (l ClientLoad) Share() float64 {
	if l.Wall <= 0 || l.Cores <= 0 {
		return 0
	}
	return float64(l.User+l.System) / (float64(l.Wall) * float64(l.Cores))
}

// BusyShare is the share above which the client counts as the bottleneck. Above it, a goroutine
// often waits for a free core, and its times include this wait.
const BusyShare = 0.8

// Warning explains that the client, not the engine, may have been the bottleneck; "" if its share
// is at most threshold (0 = BusyShare). Use it for servers only: an embedded engine is expected to
// use the cores.
func (l ClientLoad) Warning(threshold float64) string {
	if threshold == 0 {
		threshold = BusyShare
	}
	share := l.Share()
	if share <= threshold {
		return ""
	}
	return fmt.Sprintf("the client used %.0f %% of its %d core(s) (threshold %.0f %%): it may have been the bottleneck, not the engine; "+
		"give it more cores, put it on a machine of its own, or use fewer workers", 100*share, l.Cores, 100*threshold)
}
