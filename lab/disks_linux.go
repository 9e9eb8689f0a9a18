package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/internal/fault"
)

// UpDisks creates throttled disks, measures each, and leaves them mounted. If the process is killed, DownDisks removes
// everything that it created: the state file lists each step before UpDisks takes it, except those that the kernel
// undoes when the process ends. If the folder contains an equal set, UpDisks uses it. After a reboot it mounts and
// measures the disks again. If that measurement is interrupted, the next call repeats it. UpDisks removes a set whose
// creation was interrupted, and creates it anew.
func UpDisks(ctx context.Context, o DiskOptions) (DiskSet, error) {
	if err := o.Check(); err != nil {
		return DiskSet{}, err
	}
	if err := disksPossible(); err != nil {
		return DiskSet{}, err
	}
	release, err := lockDir(o.Dir)
	if err != nil {
		return DiskSet{}, err
	}
	defer release()
	o.Dir = resolved(o.Dir)
	s, err := planDisks(&o)
	if err != nil {
		return DiskSet{}, err
	}
	old, err := DiskStatus(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return DiskSet{}, err
	case !old.Complete:
		if err := downDisks(o.Dir); err != nil {
			return DiskSet{}, err
		}
	case !old.isLike(s):
		return old, &fault.Error{
			File: o.Dir, Problem: "contains other disks: " + old.String(),
			Cure: "remove them first (`barograph lab down disks`), or name another folder",
		}
	case old.Usable() == nil:
		return old, old.setLimits()
	default: // a reboot has unmounted the disks, or the measurement after it was interrupted
		s = &old
	}
	if err := s.create(ctx, o.Measure); err != nil {
		if s == &old { // the user may need its data
			return old, err
		}
		return DiskSet{}, errors.Join(err, downDisks(o.Dir))
	}
	return *s, nil
}

// disksPossible returns the reason why throttled disks are not possible on this machine, or nil.
func disksPossible() error {
	bad := func(problem, cure string, err error) error {
		return &fault.Error{Setting: "lab disks", Problem: problem, Cure: cure, Err: err}
	}
	const plainFolders = "; or scan plain folders, whose disks are not limited"
	if os.Geteuid() != 0 {
		return bad("need root: they are loop devices with limits of the kernel", "run as root"+plainFolders, nil)
	}
	if _, err := os.Stat(loopControl); err != nil {
		cure := "load the module (modprobe loop); in a container start it with --privileged" + plainFolders
		return bad("this machine has no loop devices", cure, err)
	}
	if _, err := mkfs(); err != nil {
		return bad("no file system can be made", "apt-get install e2fsprogs", err)
	}
	if _, err := findGroups(); err != nil {
		return err
	}
	return nil
}

// mkfs returns the path of mkfs.ext4, which often is only in root's PATH.
func mkfs() (string, error) {
	const name = "mkfs.ext4"
	for _, p := range []string{"/usr/sbin/" + name, "/sbin/" + name} {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return exec.LookPath(name)
}

// create creates the missing disks, and limits and measures all disks.
func (s *DiskSet) create(ctx context.Context, measure time.Duration) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Dir, disksFile)); err != nil {
		// A killed process may have left this file. If it cannot be removed, the next check fails.
		_ = os.Remove(filepath.Join(s.Dir, disksFile+newSuffix))
		if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) > 0 {
			return &fault.Error{File: s.Dir, Problem: "is not empty and contains no disks", Err: err, Cure: "name a new folder"}
		}
	}
	groups, err := findGroups()
	if err != nil {
		return err
	}
	s.Groups = groups.String()
	s.Together = 0
	for i := range s.Disks {
		s.Disks[i].Measured = DiskSpeed{} // if the measurement is interrupted, no rates of an earlier one remain
	}
	if err := s.save(); err != nil {
		return err
	}
	for i := range s.Disks {
		if err := s.createDisk(ctx, i, groups); err != nil {
			return err
		}
	}
	if err := s.measure(ctx, measure); err != nil {
		return err
	}
	s.Complete = true
	return s.save()
}

// isLike reports whether the sets have the same options.
func (s *DiskSet) isLike(o *DiskSet) bool {
	return len(s.Disks) == len(o.Disks) && s.Size == o.Size && s.Profile == o.Profile && s.Limits == o.Limits
}

// save replaces the state file in one step.
func (s *DiskSet) save() error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(s.Dir, disksFile), append(text, '\n'), 0o644)
}

// setLimits sets the limits again, because this process may be in another control group than the one that created the
// disks.
func (s *DiskSet) setLimits() error {
	groups, err := findGroups()
	if err != nil {
		return err
	}
	for i := range s.Disks {
		if err := groups.setLimits(s.Disks[i].Device, s.Disks[i].Limits); err != nil {
			return err
		}
	}
	return nil
}

// createDisk creates the missing file, device and mount of a disk, and limits it.
func (s *DiskSet) createDisk(ctx context.Context, i int, groups *groups) error {
	d := &s.Disks[i]
	if err := format(ctx, d.File, s.Size); err != nil {
		return err
	}
	if !d.Mounted {
		// A device that no process has open detaches itself. Therefore it disappears if this process is killed before
		// the mount.
		node, err := attach(d)
		if err != nil {
			return &fault.Error{
				File: d.File, Problem: "cannot be made a loop device", Err: err,
				Cure: "use Linux 5.8 or later; in a container, CAP_SYS_ADMIN",
			}
		}
		defer node.Close() //nolint:errcheck // the mount keeps the device open
		if err := s.save(); err != nil {
			return err
		}
		if err := mount(d); err != nil {
			return &fault.Error{
				File: d.Path, Problem: "cannot be mounted", Err: err,
				Cure: "load the kernel's module (modprobe ext4); in a container, add CAP_SYS_ADMIN",
			}
		}
	}
	return groups.setLimits(d.Device, d.Limits)
}

// format makes the file of a disk with an empty file system. The file is sparse, so it only takes the space of written
// data.
func format(ctx context.Context, file string, size int64) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	raw := file + ".new"
	f, err := os.OpenFile(raw, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	program, err := mkfs()
	if err != nil {
		return err
	}
	// The file is all zeros, so tables of inodes need not be written.
	cmd := exec.CommandContext(ctx, program, "-q", "-F", "-m", "0", "-L", "barograph",
		"-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard", raw)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return os.Rename(raw, file)
}

const (
	loopControl = "/dev/loop-control"
	loopBacking = "/sys/block/loop*/loop/backing_file"
	attachTries = 20 // another process may take a free device first
)

// attach attaches a disk's file to a loop device, and returns the open device.
func attach(d *Disk) (*os.File, error) {
	back, err := os.OpenFile(d.File, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer back.Close() //nolint:errcheck // the device has its own
	control, err := os.OpenFile(loopControl, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close() //nolint:errcheck // nothing was written
	config := unix.LoopConfig{
		Fd:   uint32(back.Fd()),
		Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR | unix.LO_FLAGS_DIRECT_IO},
	}
	copy(config.Info.File_name[:len(config.Info.File_name)-1], d.File)
	var last error
	for range attachTries {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", loopControl, err)
		}
		node, err := loopNode(number)
		if err != nil {
			return nil, err
		}
		if last = unix.IoctlLoopConfigure(int(node.Fd()), &config); last == nil {
			return node, d.recordDevice(node, number)
		}
		_ = node.Close() // nothing was done with it
		if !errors.Is(last, unix.EBUSY) {
			return nil, last
		}
		time.Sleep(poll)
	}
	return nil, last
}

// loopNode opens a loop device. If /dev is not the kernel's own, as in a container, it creates the
// device's node.
func loopNode(number int) (*os.File, error) {
	const major = 7
	name := "/dev/loop" + strconv.Itoa(number)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		err := unix.Mknod(name, unix.S_IFBLK|0o600, int(unix.Mkdev(major, uint32(number))))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}

// recordDevice records a disk's device, and whether the kernel reads its file without the page cache.
func (d *Disk) recordDevice(node *os.File, number int) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(node.Fd()), &st); err != nil {
		return err
	}
	d.Node = node.Name()
	d.Device = fmt.Sprintf("%d:%d", unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev)))
	direct, err := os.ReadFile(fmt.Sprintf("/sys/block/loop%d/loop/dio", number))
	d.Direct = err == nil && string(bytes.TrimSpace(direct)) == "1"
	return nil
}

func mount(d *Disk) error {
	if err := os.MkdirAll(d.Path, 0o755); err != nil {
		return err
	}
	const flags = unix.MS_NOATIME | unix.MS_NODEV | unix.MS_NOSUID
	const options = "noinit_itable,discard" // discard frees the space of removed files in the disk's file
	if err := unix.Mount(d.Node, d.Path, "ext4", flags, options); err != nil {
		return err
	}
	d.Mounted = true
	return nil
}

// mountsBelow returns the devices of the mounts inside a folder, by mount point.
func mountsBelow(dir string) (map[string]string, error) {
	all, err := mounts()
	if err != nil {
		return nil, err
	}
	dir, out := resolved(dir), map[string]string{}
	for _, m := range all {
		if isBelow(m.point, dir) {
			out[m.point] = m.device
		}
	}
	return out, nil
}

// mountInfo has some fields of a line of /proc/self/mountinfo.
type mountInfo struct{ device, point, kind, super string }

func mounts() ([]mountInfo, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(text)), nil
}

// parseMounts reads lines of proc(5): id, parent, major:minor, root, mount
// point, options, optional fields, "-", type, source, options of the super block.
func parseMounts(text string) []mountInfo {
	var out []mountInfo
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(text) {
		mount, fileSystem, ok := strings.Cut(line, " - ")
		a, b := strings.Fields(mount), strings.Fields(fileSystem)
		if ok && len(a) >= 5 && len(b) >= 3 {
			out = append(out, mountInfo{device: a[2], point: plain.Replace(a[4]), kind: b[0], super: b[2]})
		}
	}
	return out
}

// loopsBelow returns the numbers (major:minor) of the loop devices on files inside a folder, by name. others are the
// numbers of all other loop devices in use.
func loopsBelow(dir string) (ours map[string]string, others map[string]bool, err error) {
	names, err := filepath.Glob(loopBacking)
	if err != nil {
		return nil, nil, err
	}
	ours, others = map[string]string{}, map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it was detached in the meantime
		}
		block := filepath.Dir(filepath.Dir(name))
		number, err := os.ReadFile(filepath.Join(block, "dev"))
		if err != nil {
			continue
		}
		device := string(bytes.TrimSpace(number))
		file := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), " (deleted)")
		if isBelow(file, dir) {
			ours["/dev/"+filepath.Base(block)] = device
		} else {
			others[device] = true
		}
	}
	return ours, others, nil
}

// DownDisks unmounts the disks in dir, removes their limits and devices, and removes the folder with all data. It
// returns nil if there are no disks.
func DownDisks(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer release()
	return downDisks(resolved(dir))
}

// downDisks is DownDisks for a caller that has locked dir. It unmounts what the kernel has mounted below dir, because
// the state file may be older. The state file also lists devices that have detached themselves and still have limits.
func downDisks(dir string) error {
	s, err := readDisks(dir)
	hasState := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours, others, err := loopsBelow(dir)
	if err != nil {
		return err
	}
	devices := slices.Collect(maps.Values(ours))
	for i := range s.Disks {
		if d := s.Disks[i].Device; d != "" && !others[d] && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	if !hasState && len(devices) == 0 {
		return removeEmpty(dir)
	}
	if err := unmountBelow(dir); err != nil {
		return err
	}
	if err := removeLimits(devices); err != nil {
		return err
	}
	if err := detachBelow(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// removeEmpty removes the remains of a process that was killed before it had written its state file. It does not remove
// other files.
func removeEmpty(dir string) error {
	_ = os.Remove(filepath.Join(dir, disksFile+newSuffix)) // it seldom exists
	if err := os.Remove(dir); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// releasePatience is how long processes that are ending may still use a mount or a device.
const releasePatience = 5 * time.Second

// unmountBelow unmounts all mounts below a folder, the innermost first.
func unmountBelow(dir string) error {
	for until := time.Now().Add(releasePatience); ; time.Sleep(poll) {
		all, err := mountsBelow(dir)
		if err != nil || len(all) == 0 {
			return err
		}
		busy := ""
		for _, point := range slices.Backward(slices.Sorted(maps.Keys(all))) {
			if err = unix.Unmount(point, 0); err != nil {
				busy, err = point, fmt.Errorf("%s: %w", point, err)
				break
			}
		}
		if err != nil && time.Now().After(until) {
			return &fault.Error{
				File: dir, Problem: "a disk is in use", Err: err,
				Cure: "end the processes that `fuser -vm " + busy + "` lists, or run `barograph lab down`",
			}
		}
	}
}

// detachBelow detaches the loop devices on files below a folder and waits
// until they are free.
func detachBelow(dir string) error {
	for until := time.Now().Add(releasePatience); ; time.Sleep(poll) {
		ours, _, err := loopsBelow(dir)
		if err != nil || len(ours) == 0 {
			return err
		}
		var all []error
		for name := range ours {
			if err := detachLoop(name); err != nil {
				all = append(all, fmt.Errorf("%s: %w", name, err))
			}
		}
		if time.Now().After(until) {
			devices := strings.Join(slices.Sorted(maps.Keys(ours)), " ")
			return &fault.Error{
				File: dir, Problem: "its loop devices are in use", Err: errors.Join(all...),
				Cure: "end the processes that `lsof " + devices + "` lists",
			}
		}
	}
}

// detachLoop detaches a loop device, unless it has detached itself.
func detachLoop(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if _, err := unix.IoctlRetInt(int(f.Fd()), unix.LOOP_CLR_FD); err != nil && !errors.Is(err, unix.ENXIO) {
		return err
	}
	return nil
}
