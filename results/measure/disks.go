package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/disk"
)

// DiskLoad is what a block device did in an interval.
type DiskLoad struct {
	Device string `json:"device"` // as the system names it: "sda", "loop3"
	Read   uint64 `json:"read_bytes"`
	Reads  uint64 `json:"reads"` // completed requests
	// time with a request in flight; not informative for devices that serve many requests at once
	Busy time.Duration `json:"busy_ns"`
}

// Devices names the block device of each path, or "" if the system has no counters for it: in
// memory, over a network, on an overlay. The name of a remote file system may end like that of a local disk
// (nas:/export/sda), so only a file in /dev is a device.
func Devices(ctx context.Context, paths []string) ([]string, error) {
	mounts, err := ownMounts(ctx)
	if err != nil {
		return nil, err
	}
	counted, err := disk.IOCountersWithContext(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(paths))
	for i, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if m := deepestMount(mounts, resolved(abs)); m != nil && strings.HasPrefix(m.Device, "/dev/") {
			if name := filepath.Base(resolved(m.Device)); counted[name].Name != "" { // /dev/mapper/x → ../dm-0
				out[i] = name
			}
		}
	}
	return out, nil
}

// ownMounts lists the mounts of this process. By default the library lists those of process 1, which differ if this
// process is in a container or in a service with folders of its own.
func ownMounts(ctx context.Context) ([]disk.PartitionStat, error) {
	if os.Getenv(string(common.HostProcMountinfo)) == "" {
		ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{common.HostProcMountinfo: "/proc/self/mountinfo"})
	}
	return disk.PartitionsWithContext(ctx, true)
}

// DiskMeter measures devices over an interval.
type DiskMeter struct {
	names []string
	start map[string]disk.IOCountersStat
}

// StartDisks starts an interval. It skips empty and unknown names.
func StartDisks(ctx context.Context, devices []string) (*DiskMeter, error) {
	m := &DiskMeter{}
	var err error
	if m.start, err = disk.IOCountersWithContext(ctx); err != nil {
		return nil, err
	}
	seen := map[string]bool{"": true}
	for _, name := range devices {
		if _, known := m.start[name]; known && !seen[name] {
			m.names, seen[name] = append(m.names, name), true
		}
	}
	return m, nil
}

// Stop returns what each device did since StartDisks.
func (m *DiskMeter) Stop(ctx context.Context) ([]DiskLoad, error) {
	if len(m.names) == 0 {
		return nil, nil
	}
	now, err := disk.IOCountersWithContext(ctx)
	if err != nil {
		return nil, err
	}
	var out []DiskLoad
	for _, name := range m.names {
		start, end := m.start[name], now[name] // end is zero if the device has disappeared
		out = append(out, DiskLoad{
			Device: name, Read: increase(start.ReadBytes, end.ReadBytes), Reads: increase(start.ReadCount, end.ReadCount),
			Busy: time.Duration(increase(start.IoTime, end.IoTime)) * time.Millisecond, //nolint:gosec // far below 2^63
		})
	}
	return out, nil
}

// increase is the increase of a counter; 0 if it is lower than before, because another device now has the name.
func increase(start, end uint64) uint64 { return end - min(start, end) }

// readRateBytes is the size of ReadRate's file.
const readRateBytes = 64 << 20

// ReadRate measures the sequential read rate of a folder in bytes per second: it writes a file of
// 64 MiB, drops it from the page cache, reads and removes it. how describes the method.
func ReadRate(dir string) (rate float64, how string, err error) {
	f, err := os.CreateTemp(dir, ".barograph-rate-")
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{1})
	for range readRateBytes / len(block) {
		if _, err := random.Read(block); err != nil {
			return 0, "", err
		}
		if _, err := f.Write(block); err != nil {
			return 0, "", err
		}
	}
	how, err = DropCaches([]string{f.Name()})
	if err != nil {
		return 0, "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, "", err
	}
	began := time.Now()
	n, err := discard(f, block)
	if err != nil {
		return 0, "", err
	}
	return float64(n) / time.Since(began).Seconds(), fmt.Sprintf("%d MiB read in order, after %s", n>>20, how), nil
}

// discard reads to the end, as much as block at a time, and returns the number of bytes. io.CopyBuffer would use the
// methods ReadFrom of io.Discard and WriteTo of a file, which ignore block.
func discard(r io.Reader, block []byte) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, block)
}
