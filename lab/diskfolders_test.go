package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
