package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
)

// TestUnmeasuredDisk: a throttled disk whose measurement after a reboot was interrupted has no rate.
func TestUnmeasuredDisk(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	disk := filepath.Join(dir, "disk1")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=64k"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), "disks") {
			t.Fatal(err)
		}
		t.Skipf("NOT TESTED: a mounted disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	var st unix.Stat_t
	if err := unix.Stat(disk, &st); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(lab.DiskSet{Dir: dir, Complete: true, Disks: []lab.Disk{{
		Path: disk, Device: fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))),
		Limits: lab.DiskLimits{ReadMBps: 100},
	}}})
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "disks.json"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	request := ForecastRequest{Paths: []string{disk}, Progress: func(string) {}}
	if mbps, _, err := request.rates(t.Context()); err == nil || !strings.Contains(err.Error(), "was not measured") {
		t.Errorf("%v, %v", mbps, err)
	}
	p, result := Program{Paths: []string{disk}}, run.Run{Scan: &run.Scan{}}
	p.Progress = func(string) {}
	if _, err := p.describeDisks(t.Context(), &result); err != nil {
		t.Fatal(err)
	}
	if d := result.Scan.Disks[0]; d.Rate != 0 || d.Limit != 100e6 || !strings.HasPrefix(d.RateMethod, "not measured by ") {
		t.Errorf("%+v", d)
	}
}
