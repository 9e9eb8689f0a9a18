package run

import (
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/barograph/barograph/measure"
)

// histograms writes latency.hlog: an interval for each phase of a cell.
func (f *Folder) histograms() error {
	byTag := map[string]*measure.Interval{}
	for _, s := range f.samples {
		m := s.measured
		if m == nil || m.Total <= 0 {
			continue
		}
		at := f.Run.Started.Add(m.Start)
		tag, end := path.Join(string(s.Phase), s.Cell.String()), at.Add(m.Total)
		if m.Mix == nil {
			intervalOf(byTag, tag, at, end).Record(m.Total)
			continue
		}
		for _, g := range m.Groups {
			for what, packed := range map[string]measure.Packed{"service": g.ServiceTimes, "response": g.ResponseTimes} {
				h, err := packed.Histogram()
				if err != nil {
					return err
				}
				if err := intervalOf(byTag, path.Join(tag, g.Operation, g.Outcome, what), at, end).Merge(h); err != nil {
					return err
				}
			}
		}
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

// intervalOf finds the histogram of a tag, and widens its interval.
func intervalOf(byTag map[string]*measure.Interval, tag string, from, to time.Time) *measure.Histogram {
	iv := byTag[tag]
	if iv == nil {
		iv = &measure.Interval{Tag: tag, Start: from, Histogram: measure.NewHistogram()}
		byTag[tag] = iv
	}
	iv.End = to
	return iv.Histogram
}
