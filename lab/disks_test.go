package lab_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

const envDisks = "LAB_TEST_DISKS" // folder of the disks that a child process creates until it is killed

// quick returns options for small disks with a very short measurement.
func quick(dir string, count int) lab.DiskOptions {
	return lab.DiskOptions{
		Dir: dir, Count: count, Size: 96 << 20, Profile: lab.CustomDisks, Measure: 20 * time.Millisecond,
		Limits: lab.DiskLimits{ReadMBps: 200, WriteMBps: 150, ReadIOPS: 4000, WriteIOPS: 3000},
	}
}

// needsDisks skips a test that creates loop devices if that is not possible here. With
// BAROGRAPH_REQUIRE=disks the test fails instead.
func needsDisks(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disks")
	_, err := lab.UpDisks(t.Context(), quick(dir, 1))
	if err = errors.Join(err, lab.DownDisks(dir)); err == nil {
		return
	}
	if required("disks") {
		t.Fatal(err)
	}
	t.Skipf("NOT TESTED: throttled disks: %v", err)
}

func disks(t *testing.T, o lab.DiskOptions) lab.DiskSet {
	t.Helper()
	t.Cleanup(func() {
		if err := lab.DownDisks(o.Dir); err != nil {
			t.Error(err)
		}
		if left := diskTraces(t, o.Dir, nil); len(left) > 0 {
			t.Errorf("DownDisks has not removed: %v", left)
		}
	})
	s, err := lab.UpDisks(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// diskTraces finds the traces of disks in the kernel: mounts and loop devices below dir, and limits
// of loop devices that are not in before.
func diskTraces(t *testing.T, dir string, before map[string]bool) []string {
	t.Helper()
	var out []string
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, dir+"/") {
			out = append(out, "mount "+line)
		}
	}
	names, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(text), dir+"/") {
			out = append(out, name+" = "+string(text))
		}
	}
	if before != nil {
		for rule := range diskRules(t) {
			if !before[rule] {
				out = append(out, rule)
			}
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		out = append(out, dir)
	}
	return out
}

// diskRules returns the limits that groups have for unused loop devices. It omits those of other
// labs' disks, which may appear and disappear during a test.
func diskRules(t *testing.T) map[string]bool {
	t.Helper()
	return rulesOf(t, func(device string) bool {
		number, isLoop := strings.CutPrefix(device, "7:")
		if !isLoop {
			return false
		}
		_, err := os.Stat("/sys/block/loop" + number + "/loop/backing_file")
		return err != nil // no disk uses the device
	})
}

// rulesOf returns the kernel's limits for some devices, as "file: device numbers".
func rulesOf(t *testing.T, some func(device string) bool) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir("/sys/fs/cgroup", func(name string, e fs.DirEntry, err error) error {
		hasLimits := strings.HasPrefix(e.Name(), "blkio.throttle.") && !strings.Contains(name, "io_service") || e.Name() == "io.max"
		if err != nil || e.IsDir() || !hasLimits {
			return nil //nolint:nilerr // groups appear and disappear
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		for line := range strings.Lines(string(text)) {
			if device, _, _ := strings.Cut(line, " "); some(device) {
				out[name+": "+strings.TrimSpace(line)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDisks(t *testing.T) {
	needsDisks(t)
	dir := filepath.Join(t.TempDir(), "disks")
	o := quick(dir, 2)
	s := disks(t, o)
	now, err := lab.DiskStatus(dir)
	all := now.Disks
	if err != nil || len(all) != 2 || s.Together <= 0 || s.Groups == "" {
		t.Fatalf("%+v, %v", s, err)
	}
	for i, d := range all {
		if d.Path != filepath.Join(dir, fmt.Sprintf("disk%d", i+1)) || d.Limits != o.Limits || !d.Mounted {
			t.Errorf("disk %d: %+v", i, d)
		}
		if d.Measured.ReadMBps <= 0 || d.Measured.WriteMBps <= 0 || d.Measured.RandomReads <= 0 {
			t.Errorf("disk %d was not measured: %+v", i, d.Measured)
		}
		if _, err := os.Stat(filepath.Join(d.Path, ".barograph-speed")); err == nil {
			t.Error("the file of the measurement is still on the disk")
		}
		root := "/sys/fs/cgroup/blkio/blkio.throttle."
		if got := rule(t, root+"read_bps_device", d.Device); got != "" && got != "200000000" {
			t.Errorf("disk %d: reads are limited to %q", i, got)
		}
		if got := rule(t, root+"write_iops_device", d.Device); got != "" && got != "3000" {
			t.Errorf("disk %d: writes are limited to %q", i, got)
		}
	}
	if err := os.WriteFile(filepath.Join(all[0].Path, "kept"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	// UpDisks reuses an equal set and refuses a different one.
	again, err := lab.UpDisks(t.Context(), o)
	if err != nil || again.Disks[0].Device != s.Disks[0].Device {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := lab.UpDisks(t.Context(), quick(dir, 3)); err == nil || !strings.Contains(err.Error(), "contains other disks") {
		t.Errorf("other disks in the same folder: %v", err)
	}

	// After a reboot no disk is mounted, but the data still exist.
	for _, d := range all {
		if out, err := exec.CommandContext(t.Context(), "umount", d.Path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if _, err := lab.DiskPaths(filepath.Dir(dir), 0); err == nil || !strings.Contains(err.Error(), "is not mounted") {
		t.Errorf("disks that are not mounted: %v", err)
	}
	if _, err := lab.UpDisks(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(all[0].Path, "kept")); err != nil {
		t.Error(err)
	}
}

// TestFullDiskAfterReboot: a disk without room for the file of the measurement cannot be measured again after a reboot.
// UpDisks reports this, and leaves nothing on the disk.
func TestFullDiskAfterReboot(t *testing.T) {
	needsDisks(t)
	o := quick(filepath.Join(t.TempDir(), "disks"), 1)
	d := disks(t, o).Disks[0]
	f, err := os.Create(filepath.Join(d.Path, "data"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
	if err := errors.Join(f.Truncate(o.Size/2), f.Close()); err != nil {
		t.Fatal(err)
	}
	for full, i := false, 0; !full; i++ { // all but a few MiB
		err := os.WriteFile(filepath.Join(d.Path, strconv.Itoa(i)), make([]byte, 1<<20), 0o600)
		full = errors.Is(err, syscall.ENOSPC)
	}
	if out, err := exec.CommandContext(t.Context(), "umount", d.Path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := lab.UpDisks(t.Context(), o); err == nil || !strings.Contains(err.Error(), "make room on it") {
		t.Errorf("a full disk was measured: %v", err)
	}
	if _, err := os.Stat(filepath.Join(d.Path, ".barograph-speed")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of the measurement is still on the disk: %v", err)
	}
	// The rates from before the reboot are not used, and UpDisks measures again.
	s, err := lab.DiskStatus(o.Dir)
	if err != nil || s.Usable() == nil || !strings.Contains(s.Usable().Error(), "not measured after the last mount") {
		t.Errorf("the disk without a measurement: %v, %v", s.Usable(), err)
	}
	if d, ok := lab.DiskOf(d.Path); !ok || d.Measured != (lab.DiskSpeed{}) {
		t.Errorf("the disk without a measurement has the rates %+v, %v", d.Measured, ok)
	}
	if _, err := lab.UpDisks(t.Context(), o); err == nil || !strings.Contains(err.Error(), "make room on it") {
		t.Errorf("the second measurement of a full disk: %v", err)
	}
	if err := os.Remove(filepath.Join(d.Path, "data")); err != nil {
		t.Fatal(err)
	}
	if s, err := lab.UpDisks(t.Context(), o); err != nil || s.Disks[0].Measured.ReadMBps <= 0 || s.Together <= 0 {
		t.Errorf("with room: %+v, %v", s, err)
	}
	if s, err := lab.DiskStatus(o.Dir); err != nil || s.Usable() != nil {
		t.Errorf("with room: %v, %v", s.Usable(), err)
	}
}

// rule reads a device's limit; "" if the file does not exist (version 2).
func rule(t *testing.T, file, device string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if d, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && d == device {
			return value
		}
	}
	return "nothing"
}

// TestDiskLimits: the kernel has the requested limits. `barograph lab disks` measures and prints
// the speed that results.
func TestDiskLimits(t *testing.T) {
	needsDisks(t)
	o := quick(filepath.Join(t.TempDir(), "disks"), 1)
	o.Limits = lab.DiskLimits{ReadMBps: 20, WriteMBps: 25, ReadIOPS: 400}
	d := disks(t, o).Disks[0]
	rules := rulesOf(t, func(device string) bool { return device == d.Device })
	for _, limit := range []string{"20000000", "25000000", "400"} {
		hasLimit := func(r string) bool { return strings.HasSuffix(r, limit) || strings.Contains(r, "="+limit+" ") }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(rules)), hasLimit) {
			t.Errorf("no rule of %s has the limit %s: %v", d.Device, limit, rules)
		}
	}
}

// TestDisksKilled kills a process that creates disks at random moments. DownDisks, or the next
// UpDisks, removes the remains.
func TestDisksKilled(t *testing.T) {
	needsDisks(t)
	parent := t.TempDir()
	before := diskRules(t)
	child := func(name string) (*exec.Cmd, string) {
		dir := filepath.Join(parent, name)
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), envDisks+"="+dir)
		return c, dir
	}
	c, dir := child("complete")
	start := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	takes := time.Since(start)
	if err := lab.DownDisks(dir); err != nil {
		t.Fatal(err)
	}
	kills := 12
	if testing.Short() {
		kills = 3
	}
	if n, err := strconv.Atoi(os.Getenv("BAROGRAPH_SOAK")); err == nil {
		kills *= n
	}
	found := map[string]int{}
	for i := range kills {
		c, dir := child("killed" + strconv.Itoa(i))
		t.Cleanup(func() { _ = lab.DownDisks(dir) }) // again, in case the first attempt failed
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rand.Float64() * float64(takes))
		time.Sleep(after)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		s, err := lab.DiskStatus(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found["nothing written"]++
		case err != nil:
			t.Errorf("killed after %s: %v", after, err)
		case s.Complete:
			found["complete"]++
		default:
			found["incomplete"]++
		}
		if i%3 == 0 { // UpDisks takes over the remains
			if _, err := lab.UpDisks(t.Context(), quick(dir, 1)); err != nil && !s.Complete {
				t.Errorf("killed after %s: up again: %v", after, err)
			}
		}
		if err := lab.DownDisks(dir); err != nil {
			t.Errorf("killed after %s: %v", after, err)
		}
		if left := diskTraces(t, dir, before); len(left) > 0 {
			t.Errorf("killed after %s, not removed: %v", after, left)
		}
	}
	t.Logf("%d kills within %s: %v", kills, takes, found)
}

// makeDisks is the work of the child process.
func makeDisks(dir string) int {
	if _, err := lab.UpDisks(context.Background(), quick(dir, 3)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestDisksOfAServer: a server's account can write to its folder on each disk, and Down removes the
// folder.
func TestDisksOfAServer(t *testing.T) {
	needsDisks(t)
	parent := t.TempDir()
	set := disks(t, quick(filepath.Join(parent, "disks"), 2))
	d := driver()
	d.Server.User = "nobody"
	d.Server.Prepare = func(c *launch.Cluster, _ *launch.Node) ([]launch.Command, error) {
		var out []launch.Command
		for _, dir := range c.Disks {
			out = append(out, launch.Command{Args: []string{"sh", "-c", `echo x > "$0"/table`, dir}})
		}
		return out, nil
	}
	d.Server.Start = func(*launch.Cluster, *launch.Node) ([]launch.Command, error) {
		return []launch.Command{{Args: []string{"sleep", "1000"}}}, nil
	}
	d.Server.Ready = func(context.Context, *launch.Cluster, *launch.Node) error { return nil }
	o := lab.Options{Dir: filepath.Join(parent, "stub"), Disks: []string{set.Disks[0].Path, set.Disks[1].Path}}
	l := up(t, d, o)
	folders := l.State().Cluster.Disks
	for i, f := range folders {
		if filepath.Dir(f) != set.Disks[i].Path {
			t.Errorf("folder %d is %s", i, f)
		}
		if d, ok := lab.DiskOf(f); !ok || d.Device != set.Disks[i].Device || d.Measured != set.Disks[i].Measured {
			t.Errorf("folder %d is on %+v, %v", i, d, ok)
		}
		if _, err := os.Stat(filepath.Join(f, "table")); err != nil {
			t.Error(err)
		}
	}
	if _, err := lab.Up(t.Context(), d, lab.Options{Dir: o.Dir}); err == nil || !strings.Contains(err.Error(), "on other disks") {
		t.Errorf("the same lab without disks: %v", err)
	}
	if d, ok := lab.DiskOf(o.Dir); ok {
		t.Errorf("an ordinary folder is on %+v", d)
	}
	other := o
	other.Dir = filepath.Join(parent, "other")
	if _, err := lab.Up(t.Context(), d, other); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("another lab on the same disks: %v", err)
	}
	if err := l.Down(); err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if _, err := os.Stat(f); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s still exists", f)
		}
	}
}

func TestDiskFoldersInUse(t *testing.T) {
	needsDisks(t)
	o := quick(filepath.Join(t.TempDir(), "disks"), 2)
	s := disks(t, o)
	f, err := os.Create(filepath.Join(s.Disks[1].Path, "open"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.DownDisks(o.Dir); err == nil || !strings.Contains(err.Error(), "fuser -vm "+s.Disks[1].Path) {
		t.Errorf("the second disk is in use: %v", err)
	}
	if again, err := lab.DiskStatus(o.Dir); err != nil || again.Usable() != nil {
		t.Errorf("after that: %+v, %v", again, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDiskMistakes(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    lab.DiskOptions
		want string
	}{
		"no folder":       {lab.DiskOptions{Count: 1}, "name one"},
		"no disks":        {lab.DiskOptions{Dir: foreign}, "choose 1 to 64"},
		"too small":       {lab.DiskOptions{Dir: foreign, Count: 1, Size: 1 << 20}, "at least 64 MiB"},
		"no such profile": {lab.DiskOptions{Dir: foreign, Count: 1, Profile: "tape"}, "hdd, ssd, nvme, custom"},
		"no limit":        {lab.DiskOptions{Dir: foreign, Count: 1, Profile: lab.CustomDisks}, "--read-mbps"},
		"below 0":         {lab.DiskOptions{Dir: foreign, Count: 1, Limits: lab.DiskLimits{ReadIOPS: -1}}, "below 0"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := lab.UpDisks(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
		})
	}
	if err := lab.DownDisks(foreign); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(foreign, "thesis.tex")); err != nil {
		t.Error("a file of the user was removed")
	}
}

func TestForeignFolderOfDisks(t *testing.T) {
	needsDisks(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.UpDisks(t.Context(), quick(dir, 1)); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder with other files: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.tex")); err != nil {
		t.Error("a file of the user was removed")
	}
}

// TestDisksWithoutRoot: a user other than root gets an error with a remedy.
func TestDisksWithoutRoot(t *testing.T) {
	if !lab.Supported {
		t.Skip("NOT TESTED: disks are made on Linux only")
	}
	if os.Geteuid() != 0 {
		_, err := lab.UpDisks(t.Context(), quick(filepath.Join(t.TempDir(), "disks"), 1))
		wantsRoot(t, fmt.Sprint(err))
		return
	}
	dir := t.TempDir()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program)
	c.Dir = dir
	c.Env = []string{envDisks + "=" + filepath.Join(dir, "disks")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := c.CombinedOutput()
	wantsRoot(t, string(out))
}

func wantsRoot(t *testing.T, message string) {
	t.Helper()
	if !strings.Contains(message, "need root") || !strings.Contains(message, "plain folders") {
		t.Errorf("the message is %q", message)
	}
}
