package run

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"barograph/answer"
	"barograph/fault"
	"barograph/measure"
)

// Folder is a run folder that is being written. It is used by one goroutine.
// Results are written as they come, so that an interrupted run is readable.
type Folder struct {
	Dir string
	Run Run

	samples    []Sample
	results    *os.File
	csv        *csv.Writer
	quarantine *os.File
	rejects    *csv.Writer
}

// Create makes dir, which must not hold a run yet, and begins to write.
func Create(dir string, r Run) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		return nil, fmt.Errorf("%s holds a run already", dir)
	}
	for _, d := range []string{"plans", "plots"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	f := &Folder{Dir: dir, Run: r}
	if err := f.begin(filepath.Join(dir, "results.csv")); err != nil {
		return nil, err
	}
	return f, f.Save()
}

// Save writes run.json as it stands.
func (f *Folder) Save() error {
	return writeJSON(f.Dir, "run.json", &f.Run)
}

var errNoProof = errors.New("a time without a proof of its answer does not enter a run")

// Add records a repetition: with its times where its answer is proven, else
// with what is wrong, and without times. err is that of the comparison, an
// *answer.Diff, or of the asking. One repetition that is not right takes the
// times of all others of its cell, also of those that were recorded before; a
// cold start without an answer takes those of the cold ones.
func (f *Folder) Add(s Sample, p answer.Proof, err error) error {
	d, wrong := errors.AsType[*answer.Diff](err)
	switch {
	case wrong:
		s.Verdict, s.Problem, s.Rows = Wrong, err.Error(), d.GotRows
	case err != nil:
		s.Verdict, s.Problem = Failed, fault.Redact(err.Error())
	case !p.Valid():
		return errNoProof
	default:
		s.Verdict, s.Problem, s.Rows, s.Digest = Equal, "", p.Rows(), answer.FormatDigest(p.Digest())
	}
	if s.Verdict == Equal {
		return f.put(f.fit(s))
	}
	f.samples = append(f.samples, s)
	return f.rewrite()
}

// fit takes the times of a repetition if another one of its cell was not right,
// or its archive does not hold the whole data.
func (f *Folder) fit(s Sample) Sample {
	if slices.ContainsFunc(f.Run.Archives, func(a Archive) bool { return a.Engine == s.Engine && a.Design == s.Design && !a.Whole }) {
		return s.timeless()
	}
	for i := range f.samples {
		if f.samples[i].spoils(&s) {
			return s.timeless()
		}
	}
	return s
}

// spoils reports whether o may have no times because s is not right.
func (s *Sample) spoils(o *Sample) bool {
	return s.Cell == o.Cell && (s.Verdict == Wrong || s.Verdict == Failed && (s.Phase == Warm || o.Phase == Cold))
}

func (s Sample) timeless() Sample {
	s.First, s.Total, s.Server, s.Client, s.Derive = 0, 0, 0, 0, 0
	return s
}

// put appends a sample to results.csv.
func (f *Folder) put(s Sample) error {
	f.samples = append(f.samples, s)
	if err := f.csv.Write(s.fields()); err != nil {
		return err
	}
	f.csv.Flush()
	return f.csv.Error()
}

// rewrite takes the times of all samples that may have none, and writes
// results.csv anew beside the old one, so that there is always a whole one.
func (f *Folder) rewrite() error {
	samples := make([]Sample, len(f.samples))
	for i, s := range f.samples {
		samples[i] = f.fit(s)
	}
	f.samples = samples
	path := filepath.Join(f.Dir, "results.csv")
	old := f.results
	if err := f.begin(path + ".new"); err != nil {
		return err
	}
	for i := range samples {
		if err := f.csv.Write(samples[i].fields()); err != nil {
			return err
		}
	}
	f.csv.Flush()
	return errors.Join(f.csv.Error(), os.Rename(path+".new", path), old.Close())
}

// begin makes the file of results with its first line.
func (f *Folder) begin(path string) (err error) {
	if f.results, err = os.Create(path); err != nil {
		return err
	}
	f.csv = csv.NewWriter(f.results)
	return f.csv.Write(sampleColumns)
}

// Reject keeps a quarantined line.
func (f *Folder) Reject(file string, line uint32, reason, text string) error {
	if f.rejects == nil {
		var err error
		if f.quarantine, err = os.Create(filepath.Join(f.Dir, "quarantine.csv")); err != nil {
			return err
		}
		f.rejects = csv.NewWriter(f.quarantine)
		if err := f.rejects.Write([]string{"file", "line", "reason", "text"}); err != nil {
			return err
		}
	}
	return f.rejects.Write([]string{file, strconv.Itoa(int(line)), reason, text})
}

// Close writes results.parquet, latency.hlog and run.json. What was written
// before stays readable if it fails.
func (f *Folder) Close() error {
	f.csv.Flush()
	errs := []error{f.csv.Error(), f.results.Close()}
	if f.rejects != nil {
		f.rejects.Flush()
		errs = append(errs, f.rejects.Error(), f.quarantine.Close())
	}
	errs = append(errs, writeParquet(filepath.Join(f.Dir, "results.parquet"), f.samples), f.histograms(), f.Save())
	return errors.Join(errs...)
}

// histograms writes one interval per phase and cell.
func (f *Folder) histograms() error {
	byTag := map[string]*measure.Interval{}
	for _, s := range f.samples {
		if s.Total <= 0 {
			continue
		}
		tag := strings.Join([]string{string(s.Phase), s.Engine, s.Design, s.Case, s.Flavour}, "/")
		iv := byTag[tag]
		at := f.Run.Started.Add(s.Start)
		if iv == nil {
			iv = &measure.Interval{Tag: tag, Start: at, Histogram: measure.NewHistogram()}
			byTag[tag] = iv
		}
		iv.End = at.Add(s.Total)
		iv.Histogram.Record(s.Total)
	}
	file, err := os.Create(filepath.Join(f.Dir, "latency.hlog"))
	if err != nil {
		return err
	}
	w, err := measure.NewLogWriter(file, f.Run.Started, "barograph "+f.Run.Workload+", run "+f.Run.ID)
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		if err == nil {
			err = w.Write(*byTag[tag])
		}
	}
	return errors.Join(err, file.Close())
}

// ID makes the name of a run's folder from its start and workload.
func ID(started time.Time, workload string) string {
	return started.UTC().Format("20060102-150405") + "-" + workload
}
