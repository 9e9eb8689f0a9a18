package scan

import (
	"slices"

	"barograph/measure"
	"barograph/run"
)

// Laws fits the model to the cold answers of a run, question by question. There
// are none where a path's disk was not measured, or the system does not count
// what is read from it.
func Laws(r *run.Scans) (out []run.ScanLaw) {
	for _, d := range r.Disks {
		if d.Rate <= 0 || d.Device == "" {
			return nil
		}
	}
	var queries []string
	for i := range r.Points {
		if p := &r.Points[i]; p.Phase == run.Cold && !slices.Contains(queries, p.Query) {
			queries = append(queries, p.Query)
		}
	}
	slices.Sort(queries)
	for _, q := range queries {
		out = append(out, lawOf(r, q))
	}
	return out
}

// lawOf fits one question; a law that cannot be told is a problem in words.
func lawOf(r *run.Scans, query string) run.ScanLaw {
	law := run.ScanLaw{Query: query, Phase: run.Cold}
	var points []Point
	for i := range r.Configs {
		if p, ok := setupOf(r, i, query); ok {
			points, law.Fits = append(points, p), append(law.Fits, run.ScanFit{Config: i})
		}
	}
	m, err := FitModel(points, r.Seed)
	if err != nil {
		law.Problem, law.Fits = err.Error(), nil
		return law
	}
	law.Drawn, law.Work, law.Start, law.Told, law.Error = m.Drawn, m.Work, m.Start, m.Told, m.Error
	for i, f := range m.Fits {
		law.Fits[i].Measured, law.Fits[i].Predicted, law.Fits[i].Residual, law.Fits[i].Bound = f.Measured, f.Predicted, f.Residual, string(f.Bound)
	}
	return law
}

// setupOf is what was measured of a configuration's cold answers; false where
// none is right.
func setupOf(r *run.Scans, config int, query string) (Point, bool) {
	c := &r.Configs[config]
	p := Point{Setup: Setup{Partitions: c.Partitions, Workers: c.Workers, Cores: r.Machine.UsableCPUs}}
	for _, d := range r.Disks[:min(c.Paths, len(r.Disks))] {
		p.Bandwidth = append(p.Bandwidth, d.Rate/1e6)
	}
	var read []float64
	for i := range r.Points {
		x := &r.Points[i]
		if x.Config != config || x.Query != query || x.Phase != run.Cold || x.Verdict != run.Equal {
			continue
		}
		sum := uint64(0)
		for _, d := range x.Devices {
			sum += d.Read
		}
		read, p.Seconds = append(read, float64(sum)), append(p.Seconds, x.Time.Seconds())
	}
	if len(read) == 0 || len(p.Bandwidth) == 0 {
		return p, false
	}
	p.Bytes = int64(measure.Median(read))
	return p, p.Bytes > 0
}
