package lab

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// period is the time over which a CPU limit is kept, in microseconds: the
// kernel's default.
const period = uint64(100_000)

// groupPath is a node's control group.
func groupPath(iso *engine.Isolation, node int) string {
	return "/barograph-" + namespace(iso, node)
}

// controllers are the hierarchies of version 1 that a node is confined in.
func controllers() ([]cgroup1.Subsystem, error) {
	all, err := cgroup1.Default()
	if err != nil {
		return nil, err
	}
	var out []cgroup1.Subsystem
	for _, s := range all {
		switch s.Name() {
		case cgroup1.Cpu, cgroup1.Memory:
			out = append(out, s)
		}
	}
	return out, nil
}

// confine puts a process into its node's control group, which is made for the
// first one.
func confine(iso *engine.Isolation, node, pid int) error {
	if iso == nil {
		return nil
	}
	var err error
	if cgroups.Mode() == cgroups.Unified {
		err = confine2(iso, node, pid)
	} else {
		err = confine1(iso, node, pid)
	}
	if err != nil {
		return &fault.Error{Setting: "--isolate", Problem: "cannot limit a node's CPU and memory", Err: err, Cure: "the control groups cpu and memory must be mounted and writable for root"}
	}
	return nil
}

func confine1(iso *engine.Isolation, node, pid int) error {
	quota, length, memory := int64(iso.CPUs*float64(period)), period, iso.Memory
	r := &specs.LinuxResources{CPU: &specs.LinuxCPU{}, Memory: &specs.LinuxMemory{}}
	if quota > 0 {
		r.CPU.Quota, r.CPU.Period = &quota, &length
	}
	if memory > 0 {
		r.Memory.Limit = &memory
	}
	g, err := cgroup1.New(cgroup1.StaticPath(groupPath(iso, node)), r, cgroup1.WithHierarchy(controllers))
	if err != nil {
		return err
	}
	return g.AddProc(uint64(pid))
}

func confine2(iso *engine.Isolation, node, pid int) error {
	quota, length, memory := int64(iso.CPUs*float64(period)), period, iso.Memory
	r := &cgroup2.Resources{CPU: &cgroup2.CPU{}, Memory: &cgroup2.Memory{}}
	if quota > 0 {
		r.CPU.Max = cgroup2.NewCPUMax(&quota, &length)
	}
	if memory > 0 {
		r.Memory.Max = &memory
	}
	m, err := cgroup2.NewManager("/sys/fs/cgroup", groupPath(iso, node), r)
	if err != nil {
		return err
	}
	return m.AddProc(uint64(pid))
}

// leaving is how long a process that has ended may still be in its group: the
// kernel takes it out a little after its end can be seen.
const leaving = 5 * time.Second

// release removes a node's control group; its processes have ended.
func release(iso *engine.Isolation, node int) error {
	for until := time.Now().Add(leaving); ; time.Sleep(poll) {
		err := remove(iso, node)
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}

func remove(iso *engine.Isolation, node int) error {
	if cgroups.Mode() == cgroups.Unified {
		m, err := cgroup2.Load(groupPath(iso, node))
		if err != nil {
			return err
		}
		return gone2(m.Delete())
	}
	g, err := cgroup1.Load(cgroup1.StaticPath(groupPath(iso, node)), cgroup1.WithHierarchy(controllers))
	if errors.Is(err, cgroup1.ErrCgroupDeleted) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.Delete()
}

// gone2 forgives a group that is not there.
func gone2(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
