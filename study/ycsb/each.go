package ycsb

import (
	"errors"
	"os"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/barograph/barograph/results/measure/pace"
)

// reporting reports every operation to the receivers in Options: Metrics and the file Raw. Call the
// returned function after the run; its argument is nil if there was no run.
func (o *Options) reporting(pacing *pace.Options) (func(*pace.Result) error, error) {
	var all []func([]pace.OperationSample)
	if o.Metrics != nil {
		all = append(all, o.Metrics.observe)
	}
	var file *raw
	if o.Raw != "" {
		var err error
		if file, err = newRaw(o.Raw); err != nil {
			return nil, err
		}
		all = append(all, file.write)
	}
	switch len(all) {
	case 0:
	case 1:
		pacing.OnFinished = all[0]
	default:
		pacing.OnFinished = func(s []pace.OperationSample) {
			for _, f := range all {
				f(s)
			}
		}
	}
	return func(r *pace.Result) error {
		if file == nil {
			return nil
		}
		return file.close(r)
	}, nil
}

// RawOperation is a row of the file of operations: an operation or a component of one. Times are
// nanoseconds since the start of the run, which is in the file's metadata. An operation never
// starts before it was due.
type RawOperation struct {
	Operation string `parquet:"operation,dict"`
	Outcome   string `parquet:"outcome,dict"`
	Due       int64  `parquet:"due_ns,delta"`
	Begin     int64  `parquet:"begin_ns,delta"`
	End       int64  `parquet:"end_ns,delta"`
	Records   int32  `parquet:"records"`
}

// raw writes the file of operations.
type raw struct {
	file    *os.File
	rows    *parquet.GenericWriter[RawOperation]
	buffer  []RawOperation
	failure error // the first error of write
}

const rawGroup = 1 << 18 // rows that stay in memory until they are written

func newRaw(name string) (*raw, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	rows := parquet.NewGenericWriter[RawOperation](f,
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rawGroup))
	return &raw{file: f, rows: rows}, nil
}

func (w *raw) write(all []pace.OperationSample) {
	operations, outcomes := kinds(), statuses()
	w.buffer = w.buffer[:0]
	for _, s := range all {
		begin := s.End - s.Service
		w.buffer = append(w.buffer, RawOperation{
			Operation: operations[s.Kind], Outcome: outcomes[s.Status],
			Due: int64(begin - s.Wait), Begin: int64(begin), End: int64(s.End), Records: s.Records,
		})
	}
	if _, err := w.rows.Write(w.buffer); w.failure == nil {
		w.failure = err
	}
}

func (w *raw) close(r *pace.Result) error {
	if r != nil {
		w.rows.SetKeyValueMetadata("began", r.Started.UTC().Format(time.RFC3339Nano))
	}
	return errors.Join(w.failure, w.rows.Close(), w.file.Close())
}

// Metrics are the times of operations for Prometheus, which reads them during runs.
type Metrics struct {
	prometheus.Collector

	times   *prometheus.HistogramVec
	current [][]prometheus.Observer // of the current run, by kind and status
	labels  prometheus.Labels       // of the current run
}

// NewMetrics returns metrics without times.
func NewMetrics() *Metrics {
	times := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "barograph_ycsb_response_seconds",
		Help:    "Time of operations from when they were due. Operations of the warm-up are not counted.",
		Buckets: prometheus.ExponentialBuckets(50e-6, 2, 20), // to 26 s
	}, []string{"engine", "layout", "workload", "threads", "operation", "outcome"})
	return &Metrics{Collector: times, times: times}
}

// forRun returns the same metrics for the operations of one run.
func (m *Metrics) forRun(labels prometheus.Labels) *Metrics {
	current := make([][]prometheus.Observer, len(kinds()))
	return &Metrics{Collector: m.times, times: m.times, labels: labels, current: current}
}

func (m *Metrics) observe(all []pace.OperationSample) {
	for _, s := range all {
		observers := m.current[s.Kind]
		if observers == nil {
			observers = make([]prometheus.Observer, len(statuses()))
			m.current[s.Kind] = observers
		}
		if observers[s.Status] == nil {
			m.labels["operation"], m.labels["outcome"] = kinds()[s.Kind], statuses()[s.Status]
			observers[s.Status] = m.times.With(m.labels)
		}
		observers[s.Status].Observe((s.Service + s.Wait).Seconds())
	}
}
