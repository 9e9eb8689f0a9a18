package measure

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
)

// TestReadRate reads a file from a folder and finds, where the system counts the
// folder's device, that it was read. The rate is at least that of the complete call, because reading is a part of it.
// The file is removed.
func TestReadRate(t *testing.T) {
	dir := t.TempDir()
	devices, err := Devices(t.Context(), []string{dir, dir + "/."})
	if err != nil || len(devices) != 2 || devices[0] != devices[1] {
		t.Fatalf("%q, %v", devices, err)
	}
	m, err := StartDisks(t.Context(), append(devices, "", "no such device"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	rate, how, err := ReadRate(dir)
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	const bytes = 64 * 1024 * 1024
	if rate < bytes/time.Since(began).Seconds() || math.IsInf(rate, 1) || !strings.HasPrefix(how, "64 MiB read in order, after ") {
		t.Errorf("%g bytes a second, %s", rate, how)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, _, err := ReadRate(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist has a rate")
	}
	loads, err := m.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if devices[0] == "" {
		t.Logf("the system counts no device below %s", dir)
		return
	}
	if len(loads) != 1 || loads[0].Device != devices[0] || loads[0].Read < readRateBytes/2 {
		t.Errorf("%+v of %q", loads, devices)
	}
}

func TestMean(t *testing.T) {
	// 1 … 10: the 97.5th percentile of Student's t with 9 degrees of freedom is 2.262157.
	e := Mean([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, math.NaN()})
	half := 2.2621571628 * math.Sqrt(82.5/9) / math.Sqrt(10)
	if e.Value != 5.5 || math.Abs(e.High-5.5-half) > 1e-6 || math.Abs(5.5-e.Low-half) > 1e-6 {
		t.Errorf("%+v, half an interval is %g", e, half)
	}
	if e := Mean([]float64{3}); e.Low != 3 || e.High != 3 || e.Value != 3 {
		t.Errorf("of one value: %+v", e)
	}
	if e := Mean(nil); !math.IsNaN(e.Value) {
		t.Errorf("of none: %+v", e)
	}
}

// TestDiskDisappears: a device that disappears within an interval has done nothing in it.
func TestDiskDisappears(t *testing.T) {
	m := &DiskMeter{names: []string{"gone0"}, start: map[string]disk.IOCountersStat{"gone0": {ReadBytes: 100, ReadCount: 3, IoTime: 7}}}
	loads, err := m.Stop(t.Context())
	if err != nil || len(loads) != 1 || loads[0] != (DiskLoad{Device: "gone0"}) {
		t.Errorf("%+v, %v", loads, err)
	}
}

// sizes records how many bytes each read requests.
type sizes struct {
	io.Reader
	requested map[int]bool
}

func (s *sizes) Read(p []byte) (int, error) {
	s.requested[len(p)] = true
	return s.Reader.Read(p)
}

// TestDiscardReadsBlocks: each read is as large as the block.
func TestDiscardReadsBlocks(t *testing.T) {
	s := &sizes{strings.NewReader(strings.Repeat("x", 100_000)), map[int]bool{}}
	n, err := discard(s, make([]byte, 30_000))
	if n != 100_000 || err != nil || len(s.requested) != 1 || !s.requested[30_000] {
		t.Errorf("%d bytes by reads of %v bytes, %v", n, s.requested, err)
	}
}
