package compare

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// BenchmarkPairs compares the run folders of $BAROGRAPH_RUNS in pairs; all are of the same
// configuration, one after the other. It reports in how many pairs a cell is marked although
// nothing changed. It also reports in how many pairs it finds a cell that was then made 10 %
// slower.
func BenchmarkPairs(b *testing.B) {
	dirs, err := filepath.Glob(filepath.Join(os.Getenv("BAROGRAPH_RUNS"), "*", "run.json"))
	if err != nil || len(dirs) < 2 {
		b.Skip("BAROGRAPH_RUNS names no folder of run folders")
	}
	marked, found, planted := 0, 0, 0
	for i := 0; i+1 < len(dirs); i += 2 {
		runs, err := Read(filepath.Dir(dirs[i]), filepath.Dir(dirs[i+1]))
		if err != nil {
			b.Fatal(err)
		}
		changed := false
		same := Runs(runs[0], runs[1:], 1).Others[0]
		for _, f := range same.Findings {
			if f.Verdict != Same {
				changed = true
				b.Logf("%s: %s %s %.3g p=%.2g", filepath.Base(runs[1].Dir), f.Name(), f.Verdict, f.Ratio.Value, f.P)
			}
		}
		if changed {
			marked++
		}
		cell := runs[1].Samples[i%len(runs[1].Samples)].Cell
		slow(runs[1], cell)
		planted++
		for _, f := range Runs(runs[0], runs[1:], 1).Others[0].Findings {
			if f.Cell == cell && f.Verdict == Slower {
				found++
			} else if f.Cell == cell {
				b.Logf("planted, not found: %s %.3g [%.3g, %.3g] p=%.2g", f.Name(), f.Ratio.Value, f.Ratio.Low, f.Ratio.High, f.P)
			}
		}
	}
	b.ReportMetric(float64(marked), "marked")
	b.ReportMetric(float64(found), "found")
	b.ReportMetric(float64(planted), "pairs")
}

// slow makes a cell 10 % slower.
func slow(r Run, c run.Cell) {
	for i := range r.Samples {
		if m := r.Samples[i].Measured(); m != nil && r.Samples[i].Cell == c {
			m.Total += m.Total / 10
		}
	}
}
