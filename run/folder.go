package run

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/fault"
)

// Folder is a run that is being written. All but Event is used by one goroutine.
type Folder struct {
	Dir string
	Run Run

	samples    []*Sample
	journal    journal
	told       int                    // warnings that are in the journal
	answers    map[answer.Digest]bool // that are kept
	quarantine *os.File
	rejects    *csv.Writer
}

// Create makes dir, which must not hold a run yet, and begins to write. Without
// a dir the run is kept in memory alone.
func Create(dir string, r Run) (*Folder, error) {
	f := &Folder{Dir: dir, Run: r, journal: journal{dir: dir}, answers: map[answer.Digest]bool{}}
	if dir != "" {
		if _, err := os.Stat(filepath.Join(dir, runFile)); err == nil {
			return nil, &fault.Error{File: dir, Problem: "holds a run already", Cure: "name another folder"}
		}
		for _, d := range []string{"plans", "plots", "answers"} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				return nil, err
			}
		}
	}
	if err := f.journal.open(); err != nil {
		return nil, err
	}
	return f, errors.Join(f.journal.add(&Event{Kind: Began, PID: os.Getpid(), Text: r.ID}), f.Save())
}

// Save writes run.json and samples.csv as they stand.
func (f *Folder) Save() error {
	for ; f.told < len(f.Run.Warnings); f.told++ {
		if err := f.journal.add(&Event{Kind: Warned, Text: f.Run.Warnings[f.told]}); err != nil {
			return err
		}
	}
	if f.Dir == "" {
		return nil
	}
	return errors.Join(writeJSON(f.Dir, runFile, &f.Run), writeCSV(f.Dir, f.Samples()))
}

// Event records what happened; any goroutine may.
func (f *Folder) Event(e Event) error { return f.journal.add(&e) }

// Add records a repetition that was judged. One that is not right takes the times
// of all others of its cell, also of those that were recorded before; a cold
// start without an answer takes those of the cold ones.
func (f *Folder) Add(s Sample) error {
	if s.Verdict == "" {
		return errNoProof
	}
	if s.measured != nil && !f.fit(&s) {
		s.measured = nil
	}
	f.samples = append(f.samples, &s)
	if err := f.journal.add(&Event{Kind: Sampled, Sample: &s}); err != nil || s.Verdict == Equal {
		return err
	}
	for _, o := range f.samples {
		if s.spoils(o) {
			o.measured = nil
		}
	}
	return f.journal.rewrite(s.Cell)
}

// fit reports whether a repetition may have times: none of its cell was not
// right, and its archive holds the whole data.
func (f *Folder) fit(s *Sample) bool {
	return !slices.ContainsFunc(f.samples, func(o *Sample) bool { return o.spoils(s) }) &&
		!slices.ContainsFunc(f.Run.Archives, func(a Archive) bool {
			return a.Engine == s.Cell.Engine && a.Design == s.Cell.At("design") && a.Design != "" && !a.Whole
		})
}

// Samples are those that were recorded.
func (f *Folder) Samples() []Sample {
	out := make([]Sample, len(f.samples))
	for i, s := range f.samples {
		out[i] = *s
	}
	return out
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
	if err := f.rejects.Write([]string{file, strconv.Itoa(int(line)), reason, text}); err != nil {
		return err
	}
	f.rejects.Flush()
	return f.rejects.Error()
}

// Close writes samples.parquet, latency.hlog and run.json. What was written
// before stays readable if it fails.
func (f *Folder) Close() error {
	errs := []error{f.Save()}
	if f.quarantine != nil {
		errs = append(errs, f.quarantine.Close())
	}
	if f.Dir != "" {
		errs = append(errs, writeParquet(filepath.Join(f.Dir, "samples.parquet"), f.Samples()), f.histograms())
	}
	last := Ended
	if f.Run.Ended.IsZero() {
		last = Stopped
	}
	return errors.Join(append(errs, f.journal.add(&Event{Kind: last}), f.journal.close())...)
}

// ID makes the name of a run's folder from its start and workload.
func ID(started time.Time, workload string) string {
	return started.UTC().Format("20060102-150405") + "-" + workload
}
