package ycsb

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/barograph/barograph/results/measure"
)

// TestEach: the file of operations and the metrics have every operation, with the times of the report.
func TestEach(t *testing.T) {
	c := config(t, "readproportion=0.5", "updateproportion=0.3", "insertproportion=0.2", "operationcount=5000")
	file, m := filepath.Join(t.TempDir(), "raw.parquet"), NewMetrics()
	target := &Target{Scheme: "fake", KV: loaded(t, config(t)), Metrics: m}
	o := target.Options()
	o.Raw = file
	_, r, err := target.Measure(t.Context(), c, o, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[RawOperation](file)
	if err != nil || int64(len(rows)) != r.Operations() {
		t.Fatalf("%d rows of %d operations, %v", len(rows), r.Operations(), err)
	}
	reads := measure.NewHistogram()
	for _, x := range rows {
		if x.Due > x.Begin || x.Begin > x.End || x.Outcome != "OK" || x.Records != 1 {
			t.Fatalf("%+v", x)
		}
		if x.Operation == "READ" {
			reads.Record(time.Duration(x.End - x.Due))
		}
	}
	if want := r.Result.Groups[opRead][statusOK].Response; reads.Count() != want.Count() || reads.At(99) != want.At(99) || reads.Max() != want.Max() {
		t.Errorf("%d reads, p99 %s, of %d, %s", reads.Count(), reads.At(99), want.Count(), want.At(99))
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	p, err := parquet.OpenFile(f, info.Size())
	if began, ok := p.Lookup("began"); err != nil || !ok || began == "" {
		t.Errorf("the file does not say when it began: %v", err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	all, err := registry.Gather()
	n := uint64(0)
	for _, x := range all[0].GetMetric() {
		n += x.GetHistogram().GetSampleCount()
	}
	if err != nil || n != uint64(r.Operations()) || len(all[0].GetMetric()) != 3 {
		t.Errorf("%d of %d operations, %v", n, r.Operations(), err)
	}
	if _, _, err := target.Measure(t.Context(), c, Options{Raw: filepath.Join(t.TempDir(), "none", "raw")}, "a", 1); err == nil {
		t.Error("a file that cannot be made is no error")
	}
}
