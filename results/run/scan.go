package run

import (
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
)

// Scanned is the Workload of analytical runs.
const Scanned = "scan"

// Scan is what run.json has of an analytical run: a star over several disks, or
// a whole archive, and the placements under which it was asked.
type Scan struct {
	Experiment string `json:"experiment,omitempty"` // experiment1, experiment2, sweep; "" = one placement
	Lab        string `json:"lab,omitempty"`        // how often a throwaway server was started for the run, in words; "" = it was there before

	Scale     float64          `json:"scale"`
	Generator string           `json:"generator"`
	Archive   *ScanArchive     `json:"archive,omitempty"` // what is asked instead of a star
	Rows      map[string]int64 `json:"rows"`              // by table, of the generated files

	Disks   []ScanDisk   `json:"disks"` // one for each path
	Limited string       `json:"disks_limited"`
	Rule    string       `json:"partition_rule,omitempty"` // in words, where it was used
	Configs []ScanConfig `json:"configurations"`
	Laws    []ScanLaw    `json:"laws,omitempty"`
}

// ScanArchive is a verification archive that is asked as a whole.
type ScanArchive struct {
	Subset      string `json:"subset"`
	Files       int    `json:"files"`
	Bytes       int64  `json:"bytes_of_files"`
	Lines       int64  `json:"lines"`
	Quarantined int64  `json:"quarantined"`
	LineType    string `json:"line_type"` // that is asked
	Records     int    `json:"records"`   // of that type
	Groups      int    `json:"groups"`    // rows of the answer
}

// ScanDisk is a path and the device it lies on.
type ScanDisk struct {
	Path   string  `json:"path"`
	Device string  `json:"device,omitempty"`   // "" = not a block device that the system counts
	Rate   float64 `json:"read_bytes_s"`       // measured before use, by sequential direct reads; 0 = not measured
	How    string  `json:"rate_how,omitempty"` // how, or why it was not
	Limit  float64 `json:"limit_read_bytes_s"` // of its control group, where a lab set one; 0 = none known
	Type   string  `json:"file_system,omitempty"`
}

// ScanConfig is a placement that was loaded.
type ScanConfig struct {
	Paths      int           `json:"paths"` // the first so many of Disks; 0 = where the engine keeps its data
	Partitions int           `json:"partitions"`
	Design     string        `json:"design,omitempty"` // of a verification archive, which has no placement
	Workers    int           `json:"workers"`
	Problem    string        `json:"problem,omitempty"` // why it was given up; the first line says it, the end of a server's log may follow
	Open       time.Duration `json:"open_ns,omitempty"` // until its server was there, over all Opens
	Opens      int           `json:"opens,omitempty"`
	Restart    time.Duration `json:"restart_ns,omitempty"` // for stopping and starting its server before cold answers, over all of them
	Restarts   int           `json:"restarts,omitempty"`
	Load       time.Duration `json:"load_ns"`
	Bytes      []int64       `json:"bytes_by_path,omitempty"` // of the facts
	Loads      int           `json:"loads"`
	Rounds     int           `json:"rounds_done,omitempty"` // that were timed to their end
	Plans      []ScanPlan    `json:"plans,omitempty"`
}

// ScanPlan is a question as it was sent, and the engine's plan of it.
type ScanPlan struct {
	Query string `json:"query"`
	Text  string `json:"text"`
	Plan  string `json:"plan,omitempty"`
}

// ScanLaw is the law of the times of a question: Start + max(bytes ÷ (Drawn · the
// disks' rates), Work · bytes ÷ cores).
type ScanLaw struct {
	Query      string           `json:"query"`
	Phase      Phase            `json:"phase"`
	Problem    string           `json:"problem,omitempty"` // why there is none; then the rest is empty
	Drawn      measure.Estimate `json:"drawn"`             // share of the disks' measured rates that the engine gets
	Work       measure.Estimate `json:"work_seconds_per_gb"`
	Start      measure.Estimate `json:"start_seconds"`
	StartKnown bool             `json:"start_told"`             // false: the points cannot tell Start, which counts as 0
	Counted    bool             `json:"work_counted,omitempty"` // Work is the processor time that was counted: disks decided everywhere
	Error      float64          `json:"error"`                  // root mean square of the relative errors
	Fits       []ScanFit        `json:"fits,omitempty"`
}

// ScanFit is a configuration beside the law.
type ScanFit struct {
	Config    int     `json:"configuration"`
	Measured  float64 `json:"measured_seconds"`
	Predicted float64 `json:"predicted_seconds"`
	Residual  float64 `json:"residual"` // Measured/Predicted - 1
	Bound     string  `json:"bound"`    // disks, cores
}

// ScanCell is a question under a configuration of an analytical run.
func (r *Run) ScanCell(config int, query string) Cell {
	c := r.Scan.Configs[config]
	return NewCell(Scanned, r.Archives[0].Engine, "paths", c.Paths, "partitions", c.Partitions, "workers", c.Workers, "design", c.Design, "query", query)
}

// ConfigOf is the configuration that a cell is of; -1 = none of the run's.
func (r *Run) ConfigOf(c Cell) int {
	for i := range r.Scan.Configs {
		if r.ScanCell(i, c.At("query")) == c {
			return i
		}
	}
	return -1
}

// checkScan reports whether all that is said of configurations is of one of them.
func (r *Run) checkScan(dir string, samples []Sample) error {
	refuse := func(has string) error {
		return &fault.Error{File: dir, Problem: has + " of a configuration that it does not hold", Cure: "restore its run.json"}
	}
	if r.Scan == nil || len(r.Archives) != 1 {
		return &fault.Error{File: dir, Problem: "is a scan that does not say of what", Cure: "restore its run.json"}
	}
	for i := range samples {
		if r.ConfigOf(samples[i].Cell) < 0 {
			return refuse("has a sample")
		}
	}
	for _, l := range r.Scan.Laws {
		for _, f := range l.Fits {
			if f.Config < 0 || f.Config >= len(r.Scan.Configs) {
				return refuse("has a law")
			}
		}
	}
	return nil
}
