package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// disksFile is the name of the state file in the folder of a set of disks.
const disksFile = "disks.json"

// DiskLimits limits the rates of a disk; 0 = no limit. MB are 10⁶ bytes. The kernel counts every request as an
// operation: 16 sequential reads of 64 KiB are 16 operations, though no disk would seek between them.
type DiskLimits struct {
	ReadMBps  float64 `json:"read_mb_per_s,omitempty"`
	WriteMBps float64 `json:"write_mb_per_s,omitempty"`
	ReadIOPS  int64   `json:"read_iops,omitempty"`
	WriteIOPS int64   `json:"write_iops,omitempty"`
}

// String describes the limits.
func (l DiskLimits) String() string {
	rate := func(what string, mbps float64, iops int64) string {
		var limits []string
		if mbps > 0 {
			limits = append(limits, fmt.Sprintf("%g MB/s", mbps))
		}
		if iops > 0 {
			limits = append(limits, fmt.Sprintf("%d IOPS", iops))
		}
		if len(limits) == 0 {
			return what + " unlimited"
		}
		return what + " " + strings.Join(limits, ", ")
	}
	return rate("read", l.ReadMBps, l.ReadIOPS) + "; " + rate("write", l.WriteMBps, l.WriteIOPS)
}

// DiskSpeed has the measured rates of a disk, without any cache.
type DiskSpeed struct {
	ReadMBps    float64 `json:"read_mb_per_s"`      // one sequential reader
	WriteMBps   float64 `json:"write_mb_per_s"`     // one sequential writer
	RandomReads float64 `json:"random_reads_per_s"` // of 4 KiB, 16 at a time
}

// Disk is a throttled disk: a file, a loop device on it, a file system, and
// limits of the kernel on that device.
type Disk struct {
	Path     string     `json:"path"`             // absolute path at which its file system is mounted
	File     string     `json:"file"`             // absolute path of the file with its content
	Node     string     `json:"node,omitempty"`   // such as /dev/loop3; "" = not created yet
	Device   string     `json:"device,omitempty"` // major and minor number, such as 7:3
	Direct   bool       `json:"direct"`           // the kernel reads the file without this machine's page cache
	Limits   DiskLimits `json:"limits"`
	Measured DiskSpeed  `json:"measured"` // all 0 = not measured
	Mounted  bool       `json:"mounted"`  // DiskStatus sets it
}

// DiskSet is the state of a folder of throttled disks.
type DiskSet struct {
	Dir      string     `json:"dir"`
	Profile  string     `json:"profile"`
	Size     int64      `json:"size"` // bytes of each disk; its file only takes the space of written data
	Limits   DiskLimits `json:"limits"`
	Disks    []Disk     `json:"disks"`
	Together float64    `json:"together_read_mb_per_s"` // all read at once, one reader each; 0 = not measured
	Groups   string     `json:"control_groups"`         // the processes to which the limits apply, in words
	Complete bool       `json:"complete" old:"whole"`   // all were created and measured; false = UpDisks was interrupted
}

// DiskOptions of UpDisks.
type DiskOptions struct {
	Dir     string // folder of the set, which is created; "" is an error
	Count   int
	Size    int64  // bytes of each; 0 = 8 GiB
	Profile string // one of DiskProfiles; "" = the first
	Limits  DiskLimits
	Measure time.Duration // duration of each measurement of a disk; 0 = 1.5 s
}

// CustomDisks is the profile whose limits are only those of DiskOptions.
const CustomDisks = "custom"

// DiskProfile is a kind of disk.
type DiskProfile struct {
	Name, Summary string
	Limits        DiskLimits
}

// DiskProfiles returns the named kinds of disks. The profile hdd allows more operations a second than a hard disk can
// seek, because the limit also counts the operations of a sequential reader. Fewer operations than MB/s ÷ 128 KiB (the
// kernel's read-ahead) would slow this reader, although it does not seek.
func DiskProfiles() []DiskProfile {
	return []DiskProfile{
		{"hdd", "a hard disk, read in sequence", DiskLimits{ReadMBps: 120, WriteMBps: 120, ReadIOPS: 1000, WriteIOPS: 1000}},
		{"ssd", "a solid-state disk on SATA", DiskLimits{ReadMBps: 540, WriteMBps: 500, ReadIOPS: 90_000, WriteIOPS: 80_000}},
		{"nvme", "a solid-state disk on PCIe 3", DiskLimits{
			ReadMBps: 3000, WriteMBps: 2000, ReadIOPS: 400_000, WriteIOPS: 300_000,
		}},
		{CustomDisks, "no limits but those given", DiskLimits{}},
	}
}

// Limits and defaults of DiskOptions.
const (
	maxDisks       = 64
	minDiskSize    = 64 << 20
	defaultSize    = 8 << 30
	defaultMeasure = 1500 * time.Millisecond
)

// Check returns an error if the options are not valid.
func (o DiskOptions) Check() error {
	_, err := planDisks(&o)
	return err
}

// planDisks checks the options and sets defaults.
func planDisks(o *DiskOptions) (*DiskSet, error) {
	bad := func(setting, problem, cure string) error {
		return &fault.Error{Setting: setting, Problem: problem, Cure: cure}
	}
	if o.Dir == "" {
		return nil, bad("disks", "have no folder", "name one")
	}
	if o.Count < 1 || o.Count > maxDisks {
		return nil, bad(fmt.Sprintf("count %d", o.Count), "is not a possible number of disks",
			fmt.Sprintf("choose 1 to %d", maxDisks))
	}
	if o.Size == 0 {
		o.Size = defaultSize
	}
	if o.Size < minDiskSize {
		return nil, bad(fmt.Sprintf("size of %d bytes", o.Size), "is too small for a file system",
			fmt.Sprintf("choose at least %d MiB", minDiskSize>>20))
	}
	if o.Measure == 0 {
		o.Measure = defaultMeasure
	}
	limits, err := limitsOf(&o.Profile, o.Limits)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &DiskSet{Dir: dir, Profile: o.Profile, Size: o.Size, Limits: limits}
	for i := range o.Count {
		name := filepath.Join(dir, fmt.Sprintf("disk%d", i+1))
		s.Disks = append(s.Disks, Disk{Path: name, File: name + ".img", Limits: limits})
	}
	return s, nil
}

// limitsOf returns the custom limits, and for those that are 0 the limits of a profile. It sets an empty profile to the
// default.
func limitsOf(profile *string, custom DiskLimits) (DiskLimits, error) {
	if custom.ReadMBps < 0 || custom.WriteMBps < 0 || custom.ReadIOPS < 0 || custom.WriteIOPS < 0 {
		return custom, &fault.Error{
			Setting: "limits of disks", Problem: "one is below 0", Cure: "write a positive number, or 0 for the profile's limit",
		}
	}
	all := DiskProfiles()
	if *profile == "" {
		*profile = all[0].Name
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
		if p.Name != *profile {
			continue
		}
		if *profile == CustomDisks && custom == (DiskLimits{}) {
			return custom, &fault.Error{
				Setting: "profile " + CustomDisks, Problem: "has no limit", Cure: "write a limit, such as --read-mbps 100",
			}
		}
		return DiskLimits{
			ReadMBps:  cmp.Or(custom.ReadMBps, p.Limits.ReadMBps),
			WriteMBps: cmp.Or(custom.WriteMBps, p.Limits.WriteMBps),
			ReadIOPS:  cmp.Or(custom.ReadIOPS, p.Limits.ReadIOPS),
			WriteIOPS: cmp.Or(custom.WriteIOPS, p.Limits.WriteIOPS),
		}, nil
	}
	cure := "choose one of " + strings.Join(names, ", ")
	return custom, &fault.Error{Setting: "profile " + *profile, Problem: "is not known", Cure: cure}
}

// String describes the disks in one line.
func (s *DiskSet) String() string {
	return fmt.Sprintf("%d disk(s) of %d MiB, profile %s: %s", len(s.Disks), s.Size>>20, s.Profile, s.Limits)
}

// Usable returns nil if all disks exist, are mounted and were measured since then.
func (s *DiskSet) Usable() error {
	if !s.Complete {
		return &fault.Error{
			File: s.Dir, Problem: "does not contain all of its disks", Cure: "make them again: `barograph lab disks`",
		}
	}
	for i := range s.Disks {
		if !s.Disks[i].Mounted {
			return &fault.Error{
				File: s.Disks[i].Path, Problem: "is not mounted",
				Cure: "run the same `barograph lab disks` again: it mounts the disk with its data",
			}
		}
	}
	if !s.isMeasured() {
		return &fault.Error{
			File: s.Dir, Problem: "contains disks that were not measured after the last mount",
			Cure: "run the same `barograph lab disks` again: it measures them",
		}
	}
	return nil
}

// isMeasured reports whether each disk was measured, and all disks at once.
func (s *DiskSet) isMeasured() bool {
	return s.Together > 0 && !slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.Measured == (DiskSpeed{}) })
}

// DiskStatus reads the state of the disks in dir, and which are mounted. The error is
// os.ErrNotExist if there are none.
func DiskStatus(dir string) (DiskSet, error) {
	s, err := readDisks(dir)
	if err != nil {
		return s, err
	}
	mounted, err := mountsBelow(dir)
	if err != nil {
		return s, err
	}
	for i := range s.Disks {
		d := &s.Disks[i]
		at, ok := mounted[d.Path]
		d.Mounted = ok && at == d.Device
	}
	return s, nil
}

func readDisks(dir string) (DiskSet, error) {
	return readState[DiskSet](filepath.Join(dir, disksFile), "disks", "remove the file, then `barograph lab down disks`")
}

// DisksName is the name of the throttled disks' folder among the labs, and their name on a command
// line that names engines.
const DisksName = "disks"

// DiskPaths returns the paths of the first n throttled disks in a folder of labs; n = 0 means all disks. All disks of
// the folder must be usable.
func DiskPaths(labs string, n int) (paths []string, err error) {
	tooFew := func(problem string) error {
		cure := fmt.Sprintf("make them: run barograph lab down disks, then barograph lab disks --count %d --profile hdd; "+
			"or name folders", max(n, 6))
		return fault.Misuse("--disks", problem+" in "+labs, cure)
	}
	s, err := DiskStatus(filepath.Join(labs, DisksName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, tooFew("there are no throttled disks")
	case err != nil:
		return nil, err
	case n > len(s.Disks):
		return nil, tooFew(fmt.Sprintf("there are %d throttled disks", len(s.Disks)))
	case n == 0:
		n = len(s.Disks)
	}
	for _, d := range s.Disks[:n] {
		paths = append(paths, d.Path)
	}
	return paths, s.Usable()
}

// minShare is the fraction of a limit that a disk reaches, unless something other than the limit slows it.
const minShare = 0.9

// Warnings describes the disks that do not reach their limits. With such a disk, a study measures the machine instead
// of the limits.
func (s *DiskSet) Warnings() []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	check := func(name, what string, got, limit float64) {
		if limit > 0 && got < minShare*limit {
			warn("%s: "+what+", %.0f %% of the limit: this machine, or the disk that contains its file, is slower",
				name, got, 100*got/limit)
		}
	}
	var sum float64
	for i := range s.Disks {
		d := &s.Disks[i]
		name := filepath.Base(d.Path)
		random := float64(d.Limits.ReadIOPS)
		if b := d.Limits.ReadMBps * 1e6 / randomBlock; b > 0 {
			random = min(random, b) // without a limit on operations it is 0, so nothing is checked
		}
		check(name, "reads %.4g MB/s", d.Measured.ReadMBps, reachable(d.Limits.ReadMBps, d.Limits.ReadIOPS))
		check(name, "writes %.4g MB/s", d.Measured.WriteMBps, reachable(d.Limits.WriteMBps, d.Limits.WriteIOPS))
		check(name, "%.4g random reads a second", d.Measured.RandomReads, random)
		if !d.Direct {
			warn("%s: the kernel reads its file through the page cache: a second read of the same bytes may be faster "+
				"than the first, but not faster than the limit", name)
		}
		sum += d.Measured.ReadMBps
	}
	if len(s.Disks) > 1 && s.Together < minShare*sum {
		warn("all disks read at once give %.4g MB/s, %.0f %% of the sum of each disk read by itself: "+
			"choose lower limits, or put the disks on different hardware", s.Together, 100*s.Together/sum)
	}
	return out
}

// reachable returns the rate in MB/s of a sequential reader or writer under both limits; 0 = no limit.
func reachable(mbps float64, iops int64) float64 {
	if b := float64(iops) * sequentialBlock / 1e6; b > 0 && (mbps == 0 || b < mbps) {
		return b
	}
	return mbps
}

// The sizes of the requests that measure a disk, in bytes.
const (
	sequentialBlock = 1 << 20
	randomBlock     = 4 << 10
)

// DiskOf returns the throttled disk that contains a folder, with its limits and measured rates;
// false if no throttled disk contains it. The rates are 0 if the measurement after a reboot was interrupted.
func DiskOf(folder string) (Disk, bool) {
	for p := resolved(folder); p != filepath.Dir(p); p = filepath.Dir(p) {
		s, err := DiskStatus(filepath.Dir(p))
		if err != nil {
			continue // no disks were created in this folder
		}
		for _, d := range s.Disks {
			if d.Path == p {
				return d, d.Mounted
			}
		}
	}
	return Disk{}, false
}

// resolved returns the absolute path without symbolic links, as the kernel reports paths. If the
// folder does not exist, it resolves the path of its parent.
func resolved(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return p
	}
	if p, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		return filepath.Join(p, filepath.Base(dir))
	}
	return dir
}

// folderPrefix is the start of the names of engines' folders on disks.
const folderPrefix = "barograph-"

// diskFolders returns the paths of an engine's folders on disks.
func diskFolders(disks []string, scheme string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, d := range disks {
		abs, err := filepath.Abs(d)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, &fault.Error{File: d, Problem: "is not a folder", Err: err, Cure: "name an existing folder of a disk"}
		}
		if seen[abs] {
			return nil, &fault.Error{File: d, Problem: "is named twice", Cure: "name each disk once"}
		}
		seen[abs] = true
		out = append(out, filepath.Join(abs, folderPrefix+scheme))
	}
	return out, nil
}

// assignPartitions returns the folder of each partition. Partition i is on disk i modulo the number of disks.
func assignPartitions(folders []string, partitions int) ([]string, error) {
	if partitions == 0 {
		return folders, nil
	}
	if len(folders) == 0 || partitions < len(folders) {
		return nil, &fault.Error{
			Setting: fmt.Sprintf("%d partitions over %d disks", partitions, len(folders)),
			Problem: "is not possible: each disk needs a partition",
			Cure:    "name disks, and at least as many partitions as disks",
		}
	}
	out := make([]string, partitions)
	for i := range out {
		out[i] = folders[i%len(folders)]
	}
	return out, nil
}

// distinct returns each folder once.
func distinct(folders []string) []string {
	out := slices.Clone(folders)
	slices.Sort(out)
	return slices.Compact(out)
}

// claimSuffix is the suffix of the link next to a lab's folder on a disk. The link leads to the folder of the lab.
const claimSuffix = ".lab"

// checkAbsent checks that none of the folders exists, because Down will remove them.
func checkAbsent(folders []string) error {
	for _, f := range folders {
		for _, name := range []string{f, f + claimSuffix} {
			if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				return &fault.Error{
					File: name, Problem: "exists already", Err: err,
					Cure: "end the lab that uses it (`barograph lab down`), or remove it",
				}
			}
		}
	}
	return nil
}

// makeFolders makes folders that the account owns, for the lab in dir. Another lab may make the same folders at the
// same time. So makeFolders first makes a link that names the lab: for one of the two labs this fails.
func (a *account) makeFolders(folders []string, dir string) error {
	for _, f := range folders {
		if err := os.Symlink(dir, f+claimSuffix); err != nil {
			return err
		}
		if err := os.Mkdir(f, 0o700); err != nil { // a program other than the lab has made it
			return errors.Join(err, os.Remove(f+claimSuffix))
		}
		if err := a.makeReachable(f); err != nil {
			return err
		}
		if err := a.own(f); err != nil {
			return err
		}
	}
	return nil
}

// removeFolders removes the lab's folders on disks. It keeps a folder that another lab or program made while this lab
// started: no link names this lab. Earlier versions made no links.
func (s *State) removeFolders() error {
	for _, f := range distinct(s.Cluster.Disks) {
		owner, err := os.Readlink(f + claimSuffix)
		isOld := errors.Is(err, fs.ErrNotExist) && !s.Claims
		if owner != s.Cluster.Dir && !isOld {
			continue
		}
		if err := os.RemoveAll(f); err != nil {
			return err
		}
		if err := os.Remove(f + claimSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
