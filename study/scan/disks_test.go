package scan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

// TestFastReadWarnings: the run warns of results that were read faster than the measured rate of a disk, and the model
// excludes them.
func TestFastReadWarnings(t *testing.T) {
	f := folder(t, run.Run{Machine: measure.Machine{UsableCPUs: 1}}, run.Scan{
		Disks:   []run.ScanDisk{{Path: "/d1", Device: "loop1", Rate: 59.7e6}, {Path: "/d2", Device: "loop2", Rate: 59.7e6}},
		Configs: []run.ScanConfig{{Paths: 1, Partitions: 1}, {Paths: 2, Partitions: 2}},
	})
	add := func(config int, rates ...float64) {
		var read []measure.DiskLoad
		for _, mbps := range rates {
			read = append(read, measure.DiskLoad{Read: uint64(mbps * 1e6)})
		}
		addCold(t, f, config, "q55", time.Second, read)
	}
	add(0, 60)
	add(1, 50, 129)
	add(1, 59, 130)
	warned := scan.FastReadWarnings(&f.Run, f.Samples())
	if len(warned) != 1 || !strings.Contains(warned[0], "2 paths, 2 partitions: 2 of the queries") || !strings.Contains(warned[0], "129.0 MB/s from /d2, whose measured rate is 59.7") {
		t.Errorf("%q", warned)
	}
	if models := scan.FitModels(&f.Run, f.Samples()); len(models) != 1 || !strings.Contains(models[0].Problem, "1 setup is too few") {
		t.Errorf("the model counts them: %+v", models)
	}
}

// TestRemeasureRates: a disk whose rate contradicts the other disks with its limit is measured once again.
func TestRemeasureRates(t *testing.T) {
	for name, c := range map[string]struct {
		rates  []float64 // MB/s of disks limited to 120
		again  float64
		asked  []string
		warned int
	}{
		"all alike":              {[]float64{119, 120, 118}, 0, nil, 0},
		"one slow, then not":     {[]float64{119, 59.7, 118}, 119, []string{"b"}, 0},
		"one slow, and it stays": {[]float64{119, 59.7, 118}, 60, []string{"b"}, 1},
		"above its limit":        {[]float64{200, 200, 200}, 120, []string{"a", "b", "c"}, 0},
		"not measured":           {[]float64{119, 0, 118}, 0, nil, 0},
	} {
		var disks []run.ScanDisk
		for i, rate := range c.rates {
			disks = append(disks, run.ScanDisk{Path: string(rune('a' + i)), Limit: 120e6, Rate: rate * 1e6})
		}
		var asked []string
		warned, err := scan.RemeasureRates(disks, func(path string) (float64, string, error) {
			asked = append(asked, path)
			return c.again * 1e6, "read", nil
		})
		if err != nil || len(warned) != c.warned || !slices.Equal(asked, c.asked) {
			t.Errorf("%s: asked %v, warned %q, %v", name, asked, warned, err)
		}
		if len(asked) > 0 && disks[asked[0][0]-'a'].Rate != c.again*1e6 {
			t.Errorf("%s: %+v", name, disks)
		}
	}
}
