package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
)

// Machine contains the facts about the machine that a reader needs to judge a time. It contains no
// name, address or user, except what is in the name of the mount point. A fact that the operating system does not
// report is empty, and Unknown gives the reason.
type Machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`       // physical; 0 = not known
	Threads    int    `json:"threads"`     // logical
	UsableCPUs int    `json:"usable_cpus"` // GOMAXPROCS: affinity and container limits applied
	Memory     uint64 `json:"memory_bytes"`

	OS     string `json:"os"`     // "debian 12.7"
	Kernel string `json:"kernel"` // "linux 6.1.0 x86_64"
	Go     string `json:"go"`
	Arch   string `json:"arch"`
	// Virtual is the kind of virtualization that the machine reports.
	Virtual string `json:"virtual,omitempty"`

	Disk Disk       `json:"disk"`
	Load [3]float64 `json:"load"` // load averages over 1, 5 and 15 minutes

	Unknown []string `json:"unknown,omitempty"`
}

// Disk is the file system that contains a path.
type Disk struct {
	Type  string `json:"type"`  // "ext4"
	Mount string `json:"mount"` // mount point; "" = not known
	Total uint64 `json:"total_bytes"`
	Free  uint64 `json:"free_bytes"` // for this user
}

// Shared reports whether the file system may belong to another machine.
func (d *Disk) Shared() bool {
	return slices.Contains([]string{
		"nfs", "nfs4", "cifs", "smb2", "smb3", "9p", "fuse", "fuse.sshfs", "fuse.glusterfs", "ceph", "glusterfs",
		"lustre", "gpfs", "beegfs", "afs",
	}, d.Type)
}

// place names the file system and its mount point, if that is known.
func (d *Disk) place() string { return strings.TrimSuffix(d.Type+" at "+d.Mount, " at ") }

// ReadDisk describes the file system of a path, which need not exist yet. Its type is "" if
// unknown.
func ReadDisk(ctx context.Context, path string) Disk {
	var m Machine
	m.readDisk(ctx, path)
	return m.Disk
}

// ReadMachine reads the facts; path is the folder of the archives. A fact that cannot be read is
// not an error: Unknown names it.
func ReadMachine(ctx context.Context, path string) Machine {
	m := Machine{Go: runtime.Version(), Arch: runtime.GOARCH, UsableCPUs: runtime.GOMAXPROCS(0)}
	m.readCPU(ctx)
	if v, err := mem.VirtualMemoryWithContext(ctx); err != nil {
		m.missing("memory", err)
	} else {
		m.Memory = v.Total
	}
	m.readSystem(ctx)
	if l, err := load.AvgWithContext(ctx); err != nil {
		m.missing("load average", err)
	} else {
		m.Load = [3]float64{l.Load1, l.Load5, l.Load15}
	}
	m.readDisk(ctx, path)
	return m
}

// AvailableMemory is the number of bytes available without swapping; 0 = not known.
func AvailableMemory(ctx context.Context) uint64 {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0
	}
	return v.Available
}

// Warnings lists properties of the machine that make times doubtful.
func (m Machine) Warnings() []string {
	var out []string
	if m.UsableCPUs > 0 && m.Load[0] > 0.5*float64(m.UsableCPUs) {
		out = append(out, fmt.Sprintf("the machine was busy before the run: load average %.2f, usable cores: %d; other work makes the measured times longer",
			m.Load[0], m.UsableCPUs))
	}
	switch {
	case m.Disk.Type == "tmpfs" || m.Disk.Type == "ramfs":
		out = append(out, fmt.Sprintf("the archives are in memory (%s): times of loads and cold reads do not include a disk", m.Disk.place()))
	case m.Disk.Shared():
		out = append(out, fmt.Sprintf("the archives are on a shared file system (%s): its server and its network also affect the times", m.Disk.place()))
	}
	return out
}

func (m *Machine) missing(what string, err error) {
	m.Unknown = append(m.Unknown, fmt.Sprintf("%s: %v", what, err))
}

func (m *Machine) readCPU(ctx context.Context) {
	if infos, err := cpu.InfoWithContext(ctx); err != nil {
		m.missing("CPU model", err)
	} else if len(infos) > 0 {
		m.CPU = strings.Join(strings.Fields(infos[0].ModelName), " ")
	}
	var err error
	if m.Cores, err = cpu.CountsWithContext(ctx, false); err != nil {
		m.missing("cores", err)
	}
	if m.Threads, err = cpu.CountsWithContext(ctx, true); err != nil {
		m.missing("threads", err)
	}
}

func (m *Machine) readSystem(ctx context.Context) {
	h, err := host.InfoWithContext(ctx)
	if err != nil {
		m.missing("operating system", err)
		return
	}
	m.OS = strings.TrimSpace(h.Platform + " " + h.PlatformVersion)
	m.Kernel = strings.TrimSpace(strings.Join([]string{h.OS, h.KernelVersion, h.KernelArch}, " "))
	if h.VirtualizationRole == "guest" {
		m.Virtual = h.VirtualizationSystem
	}
}

// readDisk finds the deepest mount point above the path, which need not exist yet. It takes the
// file system's name from the mount table, because statfs is less precise (ext2/ext3/ext4).
func (m *Machine) readDisk(ctx context.Context, path string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		m.missing("disk", err)
		return
	}
	for _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) && abs != filepath.Dir(abs); _, err = os.Stat(abs) {
		abs = filepath.Dir(abs)
	}
	abs = resolved(abs)
	u, err := disk.UsageWithContext(ctx, abs)
	if err != nil {
		m.missing("disk", err)
		return
	}
	m.Disk = Disk{Type: u.Fstype, Total: u.Total, Free: u.Free}
	mounts, err := ownMounts(ctx)
	if err != nil {
		m.missing("mount table", err)
	} else if p := deepestMount(mounts, abs); p != nil {
		m.Disk.Type, m.Disk.Mount = p.Fstype, p.Mountpoint
	}
}

// deepestMount is the mount that contains a path, the last one if several have the same mount
// point; nil = none.
func deepestMount(mounts []disk.PartitionStat, path string) (best *disk.PartitionStat) {
	for i, p := range mounts {
		if isBelow(path, p.Mountpoint) && (best == nil || len(p.Mountpoint) >= len(best.Mountpoint)) {
			best = &mounts[i]
		}
	}
	return best
}

// isBelow reports whether path is mount or inside it.
func isBelow(path, mount string) bool {
	rel, err := filepath.Rel(mount, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
