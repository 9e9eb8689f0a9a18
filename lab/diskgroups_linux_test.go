package lab

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tree creates a folder that imitates a hierarchy of control groups. files maps paths to contents.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// v1 returns the files of a control group of version 1.
func v1(group string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{readBytes, writeBytes, readOps, writeOps} {
		out[filepath.Join(group, name)] = ""
	}
	return out
}

// content returns the text of a file; "" if it does not exist.
func content(t *testing.T, elems ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elems...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

var limits = DiskLimits{ReadMBps: 1.5, WriteIOPS: 40}

// TestGroups1: version 1 needs limits in both the root group and the process's own group.
func TestGroups1(t *testing.T) {
	files := v1("")
	for _, g := range []string{"mine", "other"} {
		maps.Copy(files, v1(g))
	}
	root := tree(t, files)
	g, err := chooseGroups([]mountInfo{
		{kind: "cgroup2", point: "/nowhere"}, {kind: "cgroup", super: "rw,blkio", point: root},
	}, "8:pids:/x\n7:blkio:/mine\n0::/\n")
	if err != nil || g.version != 1 || len(g.dirs) != 2 {
		t.Fatalf("%+v, %v", g, err)
	}
	if err := g.setLimits("7:3", limits); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", "mine"} {
		r, w, n := content(t, root, dir, readBytes), content(t, root, dir, writeOps), content(t, root, dir, writeBytes)
		if r != "7:3 1500000" || w != "7:3 40" || n != "7:3 0" {
			t.Errorf("group %q: %q, %q, %q", dir, r, w, n)
		}
	}
	if r := content(t, root, "other", readBytes); r != "" {
		t.Errorf("another group has the limit %q", r)
	}
	if err := g.removeLimits([]string{"7:3"}); err != nil {
		t.Fatal(err)
	}
	if r := content(t, root, "mine", readBytes); r != "7:3 0" {
		t.Errorf("after removeLimits: %q", r)
	}
}

// TestGroups2: version 2 sets limits in each top-level group, and never in the machine's root.
func TestGroups2(t *testing.T) {
	root := tree(t, map[string]string{
		"cgroup.controllers": "cpu io memory\n", "cgroup.subtree_control": "cpu\n",
		"user.slice/io.max": "", "user.slice/session/io.max": "", "system.slice/io.max": "", "node/io.max": "",
	})
	g, err := chooseGroups([]mountInfo{
		{kind: "cgroup", super: "rw,memory", point: "/nowhere"}, {kind: "cgroup2", point: root},
	}, "0::/user.slice/session\n")
	if err != nil || g.version != 2 || len(g.dirs) != 3 {
		t.Fatalf("%+v, %v", g, err)
	}
	if got := content(t, root, "cgroup.subtree_control"); got != "+io" {
		t.Errorf("the controller is not enabled for groups: %q", got)
	}
	if err := g.setLimits("7:3", limits); err != nil {
		t.Fatal(err)
	}
	const want = "7:3 rbps=1500000 wbps=max riops=max wiops=40"
	a, b, c := content(t, root, "user.slice", ioMax), content(t, root, "system.slice", ioMax), content(t, root, "user.slice/session", ioMax)
	if a != want || b != want || c != "" {
		t.Errorf("%q, %q, %q", a, b, c)
	}
	if err := g.removeLimits([]string{"7:3", "7:4"}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, root, "user.slice", ioMax); got != "7:3 rbps=max wbps=max riops=max wiops=max" {
		t.Errorf("after removeLimits: %q", got)
	}
	if err := g.set(filepath.Join(root, "missing"), "7:3", limits); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group that does not exist: %v", err)
	}
}

// TestThrottle: the new group of an isolated node gets the limits of the disks that are mounted.
func TestThrottle(t *testing.T) {
	root := tree(t, map[string]string{"node/io.max": ""})
	find := func() (*groups, error) { return &groups{version: 2, root: root}, nil }
	set := DiskSet{Dir: resolved(t.TempDir())}
	var folders []string
	for _, name := range []string{"disk1", "disk2"} {
		d := Disk{Path: filepath.Join(set.Dir, name), Device: "7:5", Limits: limits}
		if err := os.Mkdir(d.Path, 0o755); err != nil {
			t.Fatal(err)
		}
		set.Disks, folders = append(set.Disks, d), append(folders, filepath.Join(d.Path, "barograph-x"))
	}
	throttled := func(folders ...string) string {
		t.Helper()
		if err := errors.Join(set.save(), throttle("node", folders, find)); err != nil {
			t.Fatal(err)
		}
		return content(t, root, "node", ioMax)
	}
	if got := throttled(folders...); got != "" {
		t.Errorf("limits of disks that are not mounted: %q", got)
	}

	mounted := &set.Disks[0]
	if err := unix.Mount("none", mounted.Path, "tmpfs", 0, "size=64k"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), "disks") {
			t.Fatal(err)
		}
		t.Skipf("NOT TESTED: limits of a mounted disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mounted.Path, 0); err != nil {
			t.Error(err)
		}
	})
	mounts, err := mountsBelow(set.Dir)
	if err != nil {
		t.Fatal(err)
	}
	mounted.Device = mounts[mounted.Path]
	if got, want := throttled(folders...), mounted.Device+" rbps=1500000 wbps=max riops=max wiops=40"; got != want {
		t.Errorf("the group has the limits %q, not %q", got, want)
	}

	missing := errors.New("no groups")
	find = func() (*groups, error) { return nil, missing }
	if err := throttle("node", folders, find); !errors.Is(err, missing) {
		t.Errorf("a throttled disk without groups: %v", err)
	}
	if err := throttle("node", []string{filepath.Join(t.TempDir(), "barograph-x")}, find); err != nil {
		t.Errorf("an ordinary disk without groups: %v", err)
	}
}

// TestGroupsOfAContainer: the group that a container sees as the root accepts limits.
func TestGroupsOfAContainer(t *testing.T) {
	root := tree(t, map[string]string{"cgroup.controllers": "io\n", ioMax: "", "child/io.max": ""})
	g, err := chooseGroups([]mountInfo{{kind: "cgroup2", point: root}}, "0::/\n")
	if err != nil || len(g.dirs) != 1 || g.dirs[0] != root {
		t.Fatalf("%+v, %v", g, err)
	}
}

func TestGroupsThatAreMissing(t *testing.T) {
	none := tree(t, map[string]string{"cgroup.controllers": "cpu memory\n"})
	bare := tree(t, map[string]string{"cgroup.procs": ""})
	noMax := tree(t, map[string]string{"cgroup.controllers": "io\n", "cgroup.subtree_control": "", "a/io.stat": ""})
	for name, c := range map[string]struct {
		mounts []mountInfo
		want   string
	}{
		"no group at all":             {nil, "mount -t cgroup -o blkio"},
		"version 2 without io":        {[]mountInfo{{kind: "cgroup2", point: none}}, "neither blkio"},
		"version 1 without throttle":  {[]mountInfo{{kind: "cgroup", super: "rw,blkio", point: bare}}, "CONFIG_BLK_DEV_THROTTLING"},
		"version 2 without io.max":    {[]mountInfo{{kind: "cgroup2", point: noMax}}, "CONFIG_BLK_DEV_THROTTLING"},
		"version 1 that has no blkio": {[]mountInfo{{kind: "cgroup", super: "rw,memory", point: bare}}, "neither blkio"},
	} {
		if _, err := chooseGroups(c.mounts, "0::/\n"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q in it", name, err, c.want)
		}
	}
}

func TestParseMounts(t *testing.T) {
	got := parseMounts("36 35 7:3 / /var/tmp/a\\040b rw,noatime shared:1 master:2 - ext4 /dev/loop3 rw,discard\n" +
		"nonsense\n" +
		"25 1 0:20 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n")
	if len(got) != 2 || got[0] != (mountInfo{"7:3", "/var/tmp/a b", "ext4", "rw,discard"}) || got[1].super != "rw,blkio" {
		t.Errorf("%+v", got)
	}
}

func TestDiskWarnings(t *testing.T) {
	l := DiskLimits{ReadMBps: 100, WriteMBps: 100, ReadIOPS: 1000}
	fast := Disk{Path: "/x/disk1", Direct: true, Limits: l, Measured: DiskSpeed{ReadMBps: 99, WriteMBps: 98, RandomReads: 990}}
	slow := Disk{Path: "/x/disk2", Limits: l, Measured: DiskSpeed{ReadMBps: 50, WriteMBps: 98, RandomReads: 100}}
	for _, c := range []struct {
		set  DiskSet
		want []string
	}{
		{DiskSet{Disks: []Disk{fast}}, nil},
		{DiskSet{Disks: []Disk{fast, fast}, Together: 190}, nil},
		{DiskSet{Disks: []Disk{fast, fast}, Together: 100}, []string{"at once"}},
		{DiskSet{Disks: []Disk{slow}}, []string{"50 % of the limit", "random reads", "page cache"}},
	} {
		got := c.set.Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%d warnings, not %d: %v", len(got), len(c.want), got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%q lacks %q", got[i], c.want[i])
			}
		}
	}
}
