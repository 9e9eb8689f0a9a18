package run

import (
	"context"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// TimeQuery measures one query. It reads the counters of devices, of the server's processes (if any) and of the machine
// before and after the query, and nothing in between, because reading takes time.
func (f *Folder) TimeQuery(ctx context.Context, devices []string, server *ServerMeter, query func() error) (*Measured, error) {
	disks, err := measure.StartDisks(ctx, devices)
	if err != nil {
		return nil, err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return nil, err
	}
	if err := server.Start(ctx); err != nil {
		return nil, err
	}
	spent := measure.CPUTime()
	m := &Measured{Start: time.Since(f.Run.Started), Usage: &Usage{}}
	started := time.Now()
	err = query()
	m.Total = time.Since(started)
	m.CPU = measure.CPUTime() - spent
	if err != nil {
		return nil, err
	}
	if m.Machine, err = machine.Stop(ctx); err != nil {
		return nil, err
	}
	if m.Server, err = server.Stop(ctx); err != nil {
		return nil, err
	}
	m.AvailableMemory = measure.AvailableMemory(ctx)
	m.Devices, err = disks.Stop(ctx)
	return m, err
}

// Usage is the use of resources during a measurement.
type Usage struct {
	Client          measure.ClientLoad  `json:"client"`  // of all clients together
	Machine         measure.MachineLoad `json:"machine"` // of the client's machine
	AvailableMemory uint64              `json:"memory_available_bytes,omitempty"`
	Server          *ServerLoad         `json:"server,omitempty"`  // nil = none, or not known
	Devices         []measure.DiskLoad  `json:"devices,omitempty"` // devices of the queried paths
}

// CPU returns the processor time of a measured query of the archive: that of the client, which includes an embedded
// engine, plus that of the server. known is false for a server on another machine whose counters do not report it.
func (a *Archive) CPU(m *Measured) (spent time.Duration, known bool) {
	spent = m.CPU
	if m.Usage != nil && m.Server != nil {
		cpu, known := m.Server.CPU()
		return spent + cpu, known
	}
	return spent, a.Server == nil && a.Place == "embedded"
}

// ServerLoad is what a server used, and what it reported about itself.
type ServerLoad struct {
	// its processes run on this machine, and Used is measured from them
	Local    bool                `json:"local"`
	Used     measure.ProcessLoad `json:"used"`
	Reported *ReportedLoad       `json:"reported,omitempty" old:"said"` // nil = its counters report nothing
	Counters []Counter           `json:"counters,omitempty" table:"-"`  // under the server's own names
	// what active sessions were found waiting for
	Waits              []SessionWait `json:"waits,omitempty" table:"-"`
	SessionSampleCount int           `json:"session_samples" old:"looks"` // how often sessions were sampled

	SessionSamples []SessionSample `json:"sessions_over_time,omitempty" table:"-"` // each sample of the sessions
	// those with the longest total time, if the server counts them
	Statements []Statement `json:"statements,omitempty" table:"-"`
}

// SessionSample is one sample of the active sessions.
type SessionSample struct {
	At       time.Duration `json:"at_ns"` // since the end of the warm-up
	Sessions []SessionWait `json:"sessions,omitempty"`
}

// Statement has the server's counters of statements that differ only in their constants.
type Statement struct {
	Text  string        `json:"text"`
	Calls int64         `json:"calls"`
	Time  time.Duration `json:"time_ns"` // of all calls together, in the server
	Rows  int64         `json:"rows"`    // returned or changed
}

// ReportedLoad is what a server used according to its own counters, wherever it runs.
type ReportedLoad struct {
	// of all its processes and nodes; −1 = not reported, as for Read
	CPU time.Duration `json:"cpu_ns" old:"said_cpu_ns"`
	// bytes that the server read from files because its own buffers did not contain them
	Read int64 `json:"read_bytes" old:"said_read_bytes"`
}

// ReportFunc makes a ServerMeter.Report of spent, an engine's function that reads its own counters. It returns nil if
// spent is nil, because the engine has no counters.
func ReportFunc[T ~struct {
	CPU  time.Duration
	Read int64
}](spent func(ctx context.Context) (T, error)) func(ctx context.Context) (ReportedLoad, error) {
	if spent == nil {
		return nil
	}
	return func(ctx context.Context) (ReportedLoad, error) {
		s, err := spent(ctx)
		return ReportedLoad(s), err
	}
}

// growthSince is the growth since an earlier report. A counter that decreased was reset, so it counts as not reported.
func (s ReportedLoad) growthSince(before ReportedLoad) *ReportedLoad {
	if before.CPU < 0 || s.CPU < before.CPU {
		s.CPU, before.CPU = -1, 0
	}
	if before.Read < 0 || s.Read < before.Read {
		s.Read, before.Read = -1, 0
	}
	return &ReportedLoad{s.CPU - before.CPU, s.Read - before.Read}
}

// CPU is the processor time of a server, from its processes or its own counters.
func (s *ServerLoad) CPU() (spent time.Duration, known bool) {
	switch {
	case s.Local:
		return s.Used.CPU, true
	case s.Reported != nil && s.Reported.CPU >= 0:
		return s.Reported.CPU, true
	}
	return 0, false
}

// ServerMeter measures what a server uses between Start and Stop.
type ServerMeter struct {
	PIDs   []int32                                         // its processes on this machine
	Report func(ctx context.Context) (ReportedLoad, error) // its own counters; nil = it has none

	processes *measure.ProcessMeter
	before    ReportedLoad
}

// Start begins an interval.
func (m *ServerMeter) Start(ctx context.Context) (err error) {
	if m.Report != nil {
		m.before, err = m.Report(ctx)
	}
	if len(m.PIDs) > 0 {
		m.processes = measure.StartProcesses(ctx, m.PIDs)
	}
	return err
}

// Stop returns the use since Start; nil if neither processes nor counters are known.
func (m *ServerMeter) Stop(ctx context.Context) (*ServerLoad, error) {
	if m.processes == nil && m.Report == nil {
		return nil, nil
	}
	out := &ServerLoad{}
	if m.processes != nil {
		out.Local, out.Used = true, m.processes.Stop(ctx)
	}
	if m.Report == nil {
		return out, nil
	}
	after, err := m.Report(ctx)
	out.Reported = after.growthSince(m.before)
	return out, err
}

// Counter is the growth of a server's counter.
type Counter struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

// SessionWait is one thing that sessions were found waiting for.
type SessionWait struct {
	Kind     string  `json:"kind"` // cpu, lock, disk, network, other
	Event    string  `json:"what"`
	Sessions float64 `json:"sessions"` // average number over the samples
}
