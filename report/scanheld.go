package report

import (
	"fmt"
	"math"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// scanUse is what answers used, on average over the repetitions.
type scanUse struct {
	read  float64 // bytes a second, of all devices of the paths
	bytes float64 // an answer, likewise

	throttled bool    // the disks' requests wait before the device, which counts as idle meanwhile
	counted   bool    // there is a device that the system counts
	busy      float64 // share of the time in which the busiest device had a request under way
	cores     float64 // that client and server used
	told      bool    // cores are those of all that worked: an embedded engine, or a server on this machine
	machine   float64 // share of all cores that anybody used
	waiting   float64 // share of all cores' time that was idle for a disk
	free      float64 // bytes of memory available after the answer, the least
}

func (s *scans) use(c *scanCell) scanUse {
	u := scanUse{free: math.Inf(1)}
	for _, d := range s.Disks[:min(s.Configs[c.config].Paths, len(s.Disks))] {
		u.throttled = u.throttled || d.Limit > 0
	}
	n := float64(len(c.answers))
	a := s.run.Archives[0]
	for _, p := range c.answers {
		t := p.Total.Seconds()
		most := 0.0
		for _, d := range p.Devices {
			u.counted = true
			u.read += float64(d.Read) / t / n
			u.bytes += float64(d.Read) / n
			most = max(most, min(d.Busy.Seconds()/t, 1))
		}
		u.busy += most / n
		cpu := p.CPU
		if p.Server != nil {
			cpu += p.Server.Used.CPU
		}
		u.told = p.Server != nil || a.Server == nil && a.Place == "embedded"
		u.cores += cpu.Seconds() / t / n
		u.machine += p.Machine.Busy / n
		u.waiting += p.Machine.Disk / n
		u.free = min(u.free, float64(p.Free))
	}
	return u
}

// The shares beyond which a resource counts as what holds an answer back.
const (
	busyDisk    = 0.8
	busyCores   = measure.BusyShare
	waitingDisk = 0.3 // of the time of all cores
	littleFree  = 0.05
	tooFast     = 1.1 // of what was measured: beyond it the disks do not hold back
)

// bottleneck names what held the answers of a cell back, from what was counted.
func (s *scans) bottleneck(c *scanCell, u scanUse) string {
	config := &s.Configs[c.config]
	cores := float64(s.run.Machine.UsableCPUs)
	if config.Workers > 0 && s.run.Archives[0].Place == "embedded" {
		cores = min(cores, float64(config.Workers))
	}
	measured := 0.0
	for i := range min(config.Paths, len(s.Disks)) {
		measured += s.Disks[i].Rate
	}
	switch {
	case s.run.Machine.Memory > 0 && u.free < littleFree*float64(s.run.Machine.Memory):
		return fmt.Sprintf("memory: %s was left", byteSize(u.free))
	case u.counted && measured > 0 && u.read > tooFast*measured:
		return fmt.Sprintf("not the disks: %s/s came of the %s/s that were measured, past their limit or from a cache", byteSize(u.read), byteSize(measured))
	case u.counted && measured > 0 && u.read > busyDisk*measured:
		return fmt.Sprintf("disk reads: %s/s of the %s/s that were measured", byteSize(u.read), byteSize(measured))
	case u.told && cores > 0 && u.cores > busyCores*cores:
		return fmt.Sprintf("CPU: %s of %g cores that it may use", number(u.cores), cores)
	case u.counted && !u.throttled && u.busy > busyDisk && u.read > 0:
		return fmt.Sprintf("disk reads: a device was busy %.0f %% of the time", 100*u.busy)
	case u.machine > busyCores:
		return fmt.Sprintf("CPU of the machine: %.0f %% busy, %s cores of it not the engine's", 100*u.machine, number(max(u.machine*float64(s.run.Machine.Threads)-u.cores, 0)))
	case u.waiting > waitingDisk:
		return fmt.Sprintf("disk: %.0f %% of the cores' time was idle for one", 100*u.waiting)
	}
	return "neither disks nor cores were full"
}

// bottlenecks names what limited each answer.
func (s *scans) bottlenecks() *Table {
	t := table("question", "phase", "configuration", "read (an answer)", "read (a second)", "busiest device (%)", "cores used", "machine busy (%)", "memory left", "held back by")
	t.Note = "Means over the repetitions, from the system's counters of devices and processes. Cores used: by Barograph and, where it runs on this machine, the server; an embedded engine works inside Barograph. " +
		"Busy for a device means that a request was under way; one that serves many at once may have room left, and of a throttled disk it is not told: requests wait before the device."
	for _, c := range s.cells {
		if len(c.answers) == 0 {
			continue
		}
		u := s.use(c)
		t.add("", append(texts(c.query, string(c.phase), s.names[c.config]), when(u.counted, size(u.bytes, ""), "not counted"), when(u.counted, size(u.read, ""), "not counted"),
			when(u.counted && !u.throttled, numeric(100*u.busy), none), when(u.told, numeric(u.cores), "not told"), numeric(100*u.machine), size(u.free, ""), text(s.bottleneck(c, u)))...)
	}
	return t
}

// laws are what the model makes of cold answers, and how far it is off.
func (s *scans) laws() *Table {
	t := table("question", "configuration", "measured (s)", "law (s)", "off by (%)", "decided by", "the law")
	t.Note = "Of cold answers: start + max(bytes read ÷ (share drawn × the disks' measured rates), work × bytes ÷ cores). Intervals: 95 %, by bootstrap."
	told := ""
	for _, l := range s.Laws {
		if l.Problem != "" {
			t.add("", text(l.Query), dim(none), dim(none), dim(none), dim(none), dim(none), text("none: "+l.Problem))
			continue
		}
		told = " For your own disks and data: barograph scan forecast, with this run's folder, --disks 6 --read-mbps 200."
		words := lawInWords(&l)
		for _, f := range l.Fits {
			t.add("", text(l.Query), text(s.names[f.Config]), numeric(f.Measured), numeric(f.Predicted), numeric(100*f.Residual), text(f.Bound), text(words))
			words = ""
		}
	}
	t.Note += told
	return t
}

// lawInWords gives the parameters of a law.
func lawInWords(l *run.ScanLaw) string {
	of := func(e measure.Estimate) string { return number(e.Value) + " (" + interval(e.Low, e.High) + ")" }
	start := "start " + of(l.Start) + " s"
	if !l.Told {
		start = "start too short to tell"
	}
	return fmt.Sprintf("share drawn %s, work %s s a core and GB, %s; errors %s %%", of(l.Drawn), of(l.Work), start, number(100*l.Error))
}
