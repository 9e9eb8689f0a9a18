package ycsb

import (
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/results/measure"
)

// BenchmarkOperation measures the cost of the client itself: an operation on the dry engine.
func BenchmarkOperation(b *testing.B) {
	for _, name := range Workloads() {
		b.Run("workload="+name, func(b *testing.B) {
			p, err := ReadWorkload(name)
			if err != nil {
				b.Fatal(err)
			}
			p["recordcount"], p["operationcount"] = "10000", "0"
			c, err := NewConfig(p)
			if err != nil {
				b.Fatal(err)
			}
			e, err := engine.Registry{dry.Driver()}.Open(b.Context(), "dry", engine.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := Load(b.Context(), kv.DatabaseOf(e), c, Options{}); err != nil {
				b.Fatal(err)
			}
			c.Operations = int64(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			cpu, err := measure.StartClient()
			if err != nil {
				b.Fatal(err)
			}
			r, err := Run(b.Context(), kv.DatabaseOf(e), c, Options{})
			if err != nil || r.Err() != nil {
				b.Fatal(err, r.Err())
			}
			used, err := cpu.Stop()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(used.User+used.System)/float64(b.N), "cpu-ns/op") // a busy machine does not change it as it does the time
		})
	}
}
