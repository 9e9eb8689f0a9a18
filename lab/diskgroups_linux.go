package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// groups are the control groups in which the limits of disks are set.
//
// In version 1 a limit applies only to the processes of its group, not to those of its subgroups. So the lab sets it in
// the root group, where processes are by default, and in this process's own group. The kernel's threads, which are in
// the root group, do buffered writes.
//
// In version 2 a limit also applies to subgroups, and the root group has none, so the lab sets it in each top-level
// group that exists. Each of these groups has the limits for itself. Buffered writes count for the group of the process
// that wrote. A container sees a lower group as its root, and this group has limits.
type groups struct {
	version int
	root    string   // mount point of the hierarchy
	dirs    []string // folders of the groups
}

// The files with the limits of a group.
const (
	readBytes  = "blkio.throttle.read_bps_device"
	writeBytes = "blkio.throttle.write_bps_device"
	readOps    = "blkio.throttle.read_iops_device"
	writeOps   = "blkio.throttle.write_iops_device"
	ioMax      = "io.max" // of version 2
)

// String describes the processes to which the limits apply.
func (g *groups) String() string {
	if g.version == 1 {
		return "version 1: processes in the root group of blkio and in Barograph's own group, including buffered writes, " +
			"but not processes in other groups"
	}
	return "version 2: all processes, including buffered writes, except those of top-level groups that were made later"
}

// findGroups finds the control groups in which this machine limits disks.
func findGroups() (*groups, error) {
	all, err := mounts()
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	return chooseGroups(all, string(own))
}

// chooseGroups returns groups of version 1 if it has the controller blkio, because version 2 then lacks the controller
// io. own is the content of /proc/self/cgroup.
func chooseGroups(all []mountInfo, own string) (*groups, error) {
	for _, m := range all {
		if m.kind == "cgroup" && slices.Contains(strings.Split(m.super, ","), "blkio") {
			return groups1(m.point, own)
		}
	}
	for _, m := range all {
		if m.kind != "cgroup2" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.point, "cgroup.controllers"))
		if err == nil && slices.Contains(strings.Fields(string(text)), "io") {
			return groups2(m.point)
		}
	}
	return nil, &fault.Error{
		Setting: "lab disks",
		Problem: "no control group of this machine limits disks: it has neither blkio (version 1) nor io (version 2)",
		Cure: "mount it (mount -t cgroup -o blkio none /sys/fs/cgroup/blkio), in a container with --privileged; " +
			"the kernel must have CONFIG_BLK_DEV_THROTTLING",
	}
}

func groups1(root, own string) (*groups, error) {
	g := &groups{version: 1, root: root, dirs: []string{root}}
	for line := range strings.Lines(own) { // 7:blkio:/user.slice
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || !slices.Contains(strings.Split(f[1], ","), "blkio") {
			continue
		}
		dir := filepath.Join(root, f[2])
		if _, err := os.Stat(filepath.Join(dir, readBytes)); err == nil && dir != root {
			g.dirs = append(g.dirs, dir)
		}
	}
	for _, dir := range g.dirs {
		if _, err := os.Stat(filepath.Join(dir, readBytes)); err != nil {
			return nil, &fault.Error{
				File: dir, Problem: "the control group blkio cannot limit disks", Err: err, Cure: needThrottling,
			}
		}
	}
	return g, nil
}

// Cures of errors about control groups.
const (
	needThrottling = "use a kernel with CONFIG_BLK_DEV_THROTTLING"
	needPrivilege  = "control groups must be writable for root; in a container start it with --privileged"
)

func groups2(root string) (*groups, error) {
	g := &groups{version: 2, root: root}
	if _, err := os.Stat(filepath.Join(root, ioMax)); err == nil {
		g.dirs = []string{root}
		return g, nil
	}
	if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+io"), 0); err != nil {
		return nil, &fault.Error{
			File: root, Problem: "the controller io cannot be enabled for its groups", Err: err, Cure: needPrivilege,
		}
	}
	names, err := filepath.Glob(filepath.Join(root, "*", ioMax))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		g.dirs = append(g.dirs, filepath.Dir(name))
	}
	if len(g.dirs) == 0 {
		return nil, &fault.Error{File: root, Problem: "none of its groups has " + ioMax, Cure: needThrottling}
	}
	return g, nil
}

// setLimits limits a device in all groups.
func (g *groups) setLimits(device string, l DiskLimits) error {
	for _, dir := range g.dirs {
		if err := g.set(dir, device, l); err != nil {
			return &fault.Error{File: dir, Problem: "cannot limit the device " + device, Err: err, Cure: needPrivilege}
		}
	}
	return nil
}

// set limits a device in one group. A limit of 0 removes an existing limit.
func (g *groups) set(dir, device string, l DiskLimits) error {
	rate := []int64{int64(l.ReadMBps * 1e6), int64(l.WriteMBps * 1e6), l.ReadIOPS, l.WriteIOPS}
	if g.version == 1 {
		for i, name := range []string{readBytes, writeBytes, readOps, writeOps} {
			if err := put(filepath.Join(dir, name), fmt.Sprintf("%s %d", device, rate[i])); err != nil { // 0 = none
				return err
			}
		}
		return nil
	}
	text := []string{device}
	for i, key := range []string{"rbps", "wbps", "riops", "wiops"} {
		value := "max"
		if rate[i] > 0 {
			value = strconv.FormatInt(rate[i], 10)
		}
		text = append(text, key+"="+value)
	}
	return put(filepath.Join(dir, ioMax), strings.Join(text, " "))
}

// put writes to an existing file of the kernel.
func put(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// removeLimits removes the limits of devices from all groups of the machine.
func removeLimits(devices []string) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range all {
		g := &groups{root: m.point}
		switch {
		case m.kind == "cgroup" && slices.Contains(strings.Split(m.super, ","), "blkio"):
			g.version = 1
		case m.kind == "cgroup2":
			g.version = 2
		default:
			continue
		}
		if err := g.removeLimits(devices); err != nil {
			return err
		}
	}
	return nil
}

// removeLimits removes the limits of devices from all groups of the hierarchy.
func (g *groups) removeLimits(devices []string) error {
	return filepath.WalkDir(g.root, func(dir string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the group was removed in the meantime
		}
		if err != nil || !e.IsDir() {
			return err
		}
		for _, device := range devices {
			if !g.hasLimit(dir, device) {
				continue
			}
			if err := g.set(dir, device, DiskLimits{}); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// hasLimit reports whether a group limits a device.
func (g *groups) hasLimit(dir, device string) bool {
	names := []string{ioMax}
	if g.version == 1 {
		names = []string{readBytes, writeBytes, readOps, writeOps}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if d, _, _ := strings.Cut(line, " "); d == device {
				return true
			}
		}
	}
	return false
}

// throttleNode sets the limits of the disks in an isolated node's group. In version 2 this is a new top-level group. In
// version 1 isolated nodes stay in Barograph's own group of blkio, which has the limits already.
func throttleNode(c *launch.Cluster, node int) error {
	if c.Isolation == nil {
		return nil
	}
	return throttle(groupPath(c.Isolation, node), distinct(c.Disks), findGroups)
}

// throttle sets the limits of the disks that contain some folders in a group of version 2. Only if one of the disks is
// throttled, this machine must have groups that limit disks.
func throttle(group string, folders []string, find func() (*groups, error)) error {
	for _, f := range folders {
		d, ok := DiskOf(f)
		if !ok {
			continue
		}
		g, err := find()
		if err != nil || g.version == 1 {
			return err
		}
		if err := g.set(filepath.Join(g.root, group), d.Device, d.Limits); err != nil {
			return err
		}
	}
	return nil
}
