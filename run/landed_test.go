package run_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/run"
)

// TestLandedFolders: folders that a version before events.jsonl wrote (cut to
// their first samples) keep their figures.
func TestLandedFolders(t *testing.T) {
	for name, want := range map[string]struct {
		samples int
		engine  string
		proof   answer.Degree
		total   time.Duration
		rate    float64 // of a mix
	}{
		"met":    {samples: 8, engine: "sqlite", proof: answer.EveryValue, total: 3058112},
		"sweep":  {samples: 2, engine: "pebble", proof: answer.KeysAndCounts, rate: 100384.9108830444},
		"post":   {samples: 2, engine: "SQLite", proof: answer.DigestAlone},
		"scan":   {samples: 4, engine: "duckdb", proof: answer.EveryValue, total: 7013468},
		"faults": {samples: 2, engine: "valkey", proof: answer.DigestAlone, total: 5124200443},
	} {
		t.Run(name, func(t *testing.T) {
			r, samples, err := run.Read(filepath.Join("testdata", "landed", name))
			if err != nil {
				t.Fatal(err)
			}
			if len(samples) != want.samples || r.Started.IsZero() {
				t.Fatalf("%d samples, begun %s", len(samples), r.Started)
			}
			for i := range samples {
				s := &samples[i]
				if s.Verdict != run.Equal || s.Proof == "" || s.Measured() == nil {
					t.Errorf("%s: %s, proof %q, measured %t", s.Cell, s.Verdict, s.Proof, s.Measured() != nil)
				}
			}
			if s := samples[0]; s.Cell.Engine != want.engine || s.Proof != want.proof {
				t.Errorf("%s, proof %q", s.Cell, s.Proof)
			}
			m := samples[0].Measured()
			if want.total > 0 && m.Total != want.total || want.rate > 0 && m.Throughput != want.rate {
				t.Errorf("%s took %s", samples[0].Cell, m.Total)
			}
		})
	}
}
