package scan

import "testing"

// TestIdleCoresDoNotLimit: more disks no longer make a scan faster, but its cores are idle. By the times only, the
// cores would be the limit; the counted processor time contradicts it.
func TestIdleCoresDoNotLimit(t *testing.T) {
	const counted, fitted = 3, 12 // core seconds a GB
	points := measured(sweepOf(120, 8, 5e9), parameters{1, fitted, 0.2}, 0.01, 5, 1)
	for _, x := range []struct {
		work    float64
		counted bool
	}{{counted, true}, {0.95 * fitted, false}} {
		for i := range points {
			points[i].CPU = []float64{x.work * float64(points[i].Bytes) / 1e9}
		}
		m, err := FitModel(points, 1)
		if err != nil {
			t.Fatal(err)
		}
		if m.WorkMeasured != x.counted || x.counted && m.Work.Value != counted {
			t.Errorf("%g counted: work %+v, measured %v", x.work, m.Work, m.WorkMeasured)
		}
	}
}
