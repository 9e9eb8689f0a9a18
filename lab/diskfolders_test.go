package lab_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// TestPartitions: the lab assigns partitions to the disks in turn, and Down removes its folder from
// each disk.
func TestPartitions(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	o := lab.Options{Dir: filepath.Join(t.TempDir(), "lab"), Disks: []string{a, b}, Partitions: 5}
	l := up(t, driver(), o)
	var on []string
	for _, folder := range l.State().Cluster.Disks {
		on = append(on, filepath.Dir(folder))
	}
	if got, want := strings.Join(on, " "), strings.Join([]string{a, b, a, b, a}, " "); got != want {
		t.Errorf("partitions are on %s, not on %s", got, want)
	}
	_, err := lab.Up(t.Context(), driver(), lab.Options{Dir: o.Dir, Disks: o.Disks, Partitions: 6})
	if err == nil || !strings.Contains(err.Error(), "other disks") {
		t.Errorf("Up uses a lab with other partitions: %v", err)
	}
	if err := l.Down(); err != nil {
		t.Fatal(err)
	}
	for _, disk := range o.Disks {
		if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
			t.Errorf("%v is on the disk, %v", left, err)
		}
	}
	for _, bad := range []lab.Options{{Partitions: 2}, {Disks: o.Disks, Partitions: 1}} {
		bad.Dir = filepath.Join(t.TempDir(), "lab")
		if _, err := lab.Up(t.Context(), driver(), bad); err == nil || !strings.Contains(err.Error(), "each disk needs a partition") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestFoldersOfAnotherLab: two labs start on the same disk at the same time. The one that fails keeps the other one's
// folder.
func TestFoldersOfAnotherLab(t *testing.T) {
	disk, parent := t.TempDir(), t.TempDir()
	var faster *lab.Lab
	slower := driver()
	url := slower.Server.URL
	slower.Server.URL = func(c *launch.Cluster) string { // the slower lab has found no folder on the disk
		if faster == nil {
			faster = up(t, driver(), lab.Options{Dir: filepath.Join(parent, "faster"), Disks: []string{disk}})
		}
		return url(c)
	}
	_, err := lab.Up(t.Context(), slower, lab.Options{Dir: filepath.Join(parent, "slower"), Disks: []string{disk}})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("the slower lab: %v", err)
	}
	folder := faster.State().Cluster.Disks[0]
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the slower lab removed the folder: %v", err)
	}
	if err := faster.Down(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
		t.Errorf("%v is on the disk, %v", left, err)
	}
	if err := os.Symlink("elsewhere", folder+".lab"); err != nil {
		t.Fatal(err)
	}
	_, err = lab.Up(t.Context(), driver(), lab.Options{Dir: filepath.Join(parent, "late"), Disks: []string{disk}})
	if err == nil || !strings.Contains(err.Error(), "barograph-stub.lab exists already") {
		t.Errorf("another lab has just started to make its folder: %v", err)
	}
}

// TestFolderOfAnotherProgram: a lab also keeps a folder that another program has made during its start.
func TestFolderOfAnotherProgram(t *testing.T) {
	disk, d := t.TempDir(), driver()
	url, made := d.Server.URL, ""
	d.Server.URL = func(c *launch.Cluster) string {
		if made = c.Disks[0]; os.Mkdir(made, 0o755) != nil {
			t.Error("the folder exists already")
		}
		return url(c)
	}
	if _, err := lab.Up(t.Context(), d, lab.Options{Dir: filepath.Join(t.TempDir(), "lab"), Disks: []string{disk}}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the lab: %v", err)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) != 1 || left[0].Name() != filepath.Base(made) {
		t.Errorf("%v is on the disk, %v", left, err)
	}
}

// TestFoldersOfAnEarlierVersion: earlier versions made no links next to the folders. Down removes their folders too.
func TestFoldersOfAnEarlierVersion(t *testing.T) {
	disk, o := t.TempDir(), lab.Options{Dir: filepath.Join(t.TempDir(), "lab")}
	o.Disks = []string{disk}
	l := up(t, driver(), o)
	state := filepath.Join(o.Dir, "lab.json")
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil || keys["claims"] != true {
		t.Fatalf("%v: %s", err, text)
	}
	delete(keys, "claims")
	if text, err = json.Marshal(keys); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(state, text, 0o600), os.Remove(l.State().Cluster.Disks[0]+".lab"), l.Down()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
		t.Errorf("%v is on the disk, %v", left, err)
	}
}

// TestRemoveDisksOfALab: RemoveDisks keeps disks with the tables of a lab, however its caller writes their path, and
// if it cannot read the lab's state.
func TestRemoveDisksOfALab(t *testing.T) {
	parent, d := t.TempDir(), driver()
	labs, link := filepath.Join(parent, "labs"), filepath.Join(parent, "link")
	disk := filepath.Join(labs, lab.DisksName, "disk1")
	set, err := json.Marshal(lab.DiskSet{Dir: filepath.Dir(disk), Disks: []lab.Disk{{Path: disk}}, Complete: true})
	err = errors.Join(err, os.MkdirAll(disk, 0o755), os.Symlink(labs, link),
		os.WriteFile(filepath.Join(filepath.Dir(disk), "disks.json"), set, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	l := up(t, d, lab.Options{Dir: filepath.Join(labs, "stub"), Disks: []string{disk}})
	if err := l.StopAll(); err != nil {
		t.Fatal(err)
	}
	t.Chdir(parent)
	keeps := func(labs, why string) {
		t.Helper()
		if removed, err := lab.RemoveDisks(labs); removed || err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, %v", labs, removed, err)
		}
		if _, err := os.Stat(l.State().Cluster.Disks[0]); err != nil {
			t.Errorf("%s: the tables are removed: %v", labs, err)
		}
	}
	for _, path := range []string{labs, "labs", link, "link"} {
		keeps(path, "disks have tables of stub")
	}
	state := filepath.Join(labs, "stub", "lab.json")
	text, err := os.ReadFile(state)
	if err := errors.Join(err, os.WriteFile(state, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	keeps(labs, "is not a state file of a lab")
	if err := os.WriteFile(state, text, 0o600); err != nil { // so that Down finds the lab
		t.Fatal(err)
	}
}
