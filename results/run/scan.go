package run

import (
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
)

// ScanWorkload is the Workload of analytical runs.
const ScanWorkload = "scan"

// Scan describes, in run.json, an analytical run. The run queries a star schema under several placements (numbers of
// disks, partitions and workers), or all records of one verification archive.
type Scan struct {
	Experiment string `json:"experiment,omitempty"` // experiment1, experiment2, sweep; "" = one placement
	// when the run started temporary servers, in words; "" = the server existed before
	ServerStarts string `json:"lab,omitempty"`

	Scale     float64 `json:"scale"`
	Generator string  `json:"generator"`
	// the archive that is queried instead of a star schema
	Archive *ScanArchive     `json:"archive,omitempty"`
	Rows    map[string]int64 `json:"rows"` // rows of the generated files, by table

	Disks      []ScanDisk `json:"disks"`                           // one per path
	DiskLimits string     `json:"disk_limits" old:"disks_limited"` // which paths have speed limits, in words
	// the rule for the number of partitions, in words, if it was used
	PartitionRule string       `json:"partition_rule,omitempty"`
	Configs       []ScanConfig `json:"configurations"`
	Models        []ScanModel  `json:"models,omitempty" old:"laws"`
}

// ScanArchive is a verification archive that is queried completely.
type ScanArchive struct {
	Subset      string `json:"subset"`
	Files       int    `json:"files"`
	Bytes       int64  `json:"bytes_of_files"`
	Lines       int64  `json:"lines"`
	Quarantined int64  `json:"quarantined"`
	LineType    string `json:"line_type"` // the queried line type
	Records     int    `json:"records"`   // records of that type
	Groups      int    `json:"groups"`    // rows of the answer
}

// ScanDisk is a path and its device.
type ScanDisk struct {
	Path   string `json:"path"`
	Device string `json:"device,omitempty"` // "" = not a block device with system counters
	// measured before the run by sequential direct reads; 0 = not measured
	Rate       float64 `json:"read_bytes_s"`
	RateMethod string  `json:"rate_method,omitempty" old:"rate_how"` // how it was measured, or why it was not
	// limit of the control group that a lab set; 0 = none known
	Limit float64 `json:"limit_read_bytes_s"`
	Type  string  `json:"file_system,omitempty"`
}

// ScanConfig is a loaded placement.
type ScanConfig struct {
	// number of disks used: the first ones of Scan.Disks; 0 = the engine's default location
	Paths      int `json:"paths"`
	Partitions int `json:"partitions"`
	// only for a verification archive, which is not distributed over paths
	Design  string `json:"design,omitempty"`
	Workers int    `json:"workers"`
	// why it was abandoned; the first line is the reason, the end of a server's log may follow
	Problem string `json:"problem,omitempty"`
	// time until the server was ready, summed over all Opens
	Open  time.Duration `json:"open_ns,omitempty"`
	Opens int           `json:"opens,omitempty"`
	// time to stop and start the server before cold answers, summed over all Restarts
	Restart  time.Duration `json:"restart_ns,omitempty"`
	Restarts int           `json:"restarts,omitempty"`
	Load     time.Duration `json:"load_ns"`
	Bytes    []int64       `json:"bytes_by_path,omitempty"` // bytes of the fact table
	Loads    int           `json:"loads"`
	Rounds   int           `json:"rounds_done,omitempty"` // rounds that were timed completely
	Plans    []ScanPlan    `json:"plans,omitempty"`
}

// ScanPlan is the text of a query and the engine's plan for it.
type ScanPlan struct {
	Query string `json:"query"`
	Text  string `json:"text"`
	Plan  string `json:"plan,omitempty"`
}

// ScanModel is the fitted model of a question's times: Start + max(bytes ÷ (DiskShare · the disks'
// rates), Work · bytes ÷ cores).
type ScanModel struct {
	Query string `json:"query"`
	Phase Phase  `json:"phase"`
	// why no model was fitted; the other fields are then empty
	Problem string `json:"problem,omitempty"`
	// share of the disks' measured rates that the engine reaches
	DiskShare measure.Estimate `json:"disk_share" old:"drawn"`
	Work      measure.Estimate `json:"work_seconds_per_gb"`
	Start     measure.Estimate `json:"start_seconds"`
	// false: the points do not determine Start, which is then 0
	StartKnown bool `json:"start_known" old:"start_told"`
	// Work was not fitted but taken from the measured processor time, because the disks limited every configuration
	WorkMeasured  bool      `json:"work_measured,omitempty" old:"work_counted"`
	RelativeError float64   `json:"error"` // root mean square of the relative errors
	Fits          []ScanFit `json:"fits,omitempty"`
}

// ScanFit compares the measured time of a configuration with the model.
type ScanFit struct {
	Config    int     `json:"configuration"`
	Measured  float64 `json:"measured_seconds"`
	Predicted float64 `json:"predicted_seconds"`
	Residual  float64 `json:"residual"` // Measured/Predicted - 1
	Bound     string  `json:"bound"`    // the limiting resource: disks, cores
}

// ScanCell is the cell of a question under a configuration.
func (r *Run) ScanCell(config int, query string) Cell {
	c := r.Scan.Configs[config]
	return NewCell(ScanWorkload, r.Archives[0].Engine,
		"paths", c.Paths, "partitions", c.Partitions, "workers", c.Workers, "design", c.Design, "query", query)
}

// ConfigIndex returns the index of a cell's configuration in Scan.Configs; -1 = the run has no such configuration.
func (r *Run) ConfigIndex(c Cell) int {
	for i := range r.Scan.Configs {
		if r.ScanCell(i, c.Value("query")) == c {
			return i
		}
	}
	return -1
}

// checkScan checks that all samples and models belong to a configuration of the run.
func (r *Run) checkScan(dir string, samples []Sample) error {
	refuse := func(has string) error {
		return &fault.Error{File: dir, Problem: has + " of a configuration that it does not contain", Cure: "restore its run.json"}
	}
	if r.Scan == nil || len(r.Archives) != 1 {
		return &fault.Error{File: dir, Problem: "is a scan without a description of what was scanned", Cure: "restore its run.json"}
	}
	for i := range samples {
		if r.ConfigIndex(samples[i].Cell) < 0 {
			return refuse("has a sample")
		}
	}
	for _, m := range r.Scan.Models {
		for _, f := range m.Fits {
			if f.Config < 0 || f.Config >= len(r.Scan.Configs) {
				return refuse("has a model")
			}
		}
	}
	return nil
}
