package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/measure"
)

// Scanned is the Workload of analytical runs.
const Scanned = "scan"

// Scans is a run of the analytical workload: a star over several disks, its
// questions under several placements.
type Scans struct {
	Started    time.Time         `json:"started"`
	Args       []string          `json:"args"`
	Seed       uint64            `json:"seed"`                 // of the order of configurations and questions
	Experiment string            `json:"experiment,omitempty"` // experiment1, experiment2, sweep; "" = one placement
	Engine     string            `json:"engine"`               // scheme
	Place      string            `json:"place"`                // embedded, server
	Product    string            `json:"product"`
	Version    string            `json:"version"`
	Settings   map[string]string `json:"settings"`
	Server     *Server           `json:"server,omitempty"`
	Lab        string            `json:"lab,omitempty"` // how often a throwaway server was started for the run, in words; "" = it was there before
	Machine    measure.Machine   `json:"machine"`

	Scale     float64          `json:"scale"`
	Generator string           `json:"generator"`
	Archive   *ScanArchive     `json:"archive,omitempty"` // what is asked instead of a star
	Rows      map[string]int64 `json:"rows"`              // by table, of the generated files

	Disks    []ScanDisk   `json:"disks"` // one for each path
	Limited  string       `json:"disks_limited"`
	Rule     string       `json:"partition_rule,omitempty"` // in words, where it was used
	Cold     string       `json:"cold_how,omitempty"`       // how caches were emptied; "" = there are no cold times
	Configs  []ScanConfig `json:"configurations"`
	Points   []ScanPoint  `json:"points,omitempty"` // the samples
	Laws     []ScanLaw    `json:"laws,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`

	samples []Sample // that are not in the folder yet
	folder  *Folder
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
	Plans      []ScanPlan    `json:"plans,omitempty"`
}

// ScanPlan is a question as it was sent, and the engine's plan of it.
type ScanPlan struct {
	Query string `json:"query"`
	Text  string `json:"text"`
	Plan  string `json:"plan,omitempty"`
}

// Add records an answer: with its time and what it used where it is proven,
// else with what is wrong, and without them. differs is the comparison's error.
// One wrong answer takes the times of all answers to its question under its
// configuration.
func (s *Scans) Add(x ScanPoint, took time.Duration, p answer.Proof, differs error) {
	var m *Measured
	if took > 0 {
		m = x.measured(took)
		m.Start = time.Since(s.Started) - took
	}
	if _, ok := errors.AsType[*answer.Diff](differs); differs != nil && !ok {
		differs = &answer.Diff{Problem: differs.Error()}
	}
	s.samples = append(s.samples, Sample{Cell: s.cell(x.Config, x.Query), Phase: x.Phase, Rep: x.Rep}.Judge(m, p, differs))
	x.Proof = p.Degree()
	x.Verdict, x.Time = Equal, Proven(took, p)
	if differs != nil || !p.Valid() {
		x.Verdict, x.Problem = Wrong, "the answer is not proven"
	}
	if differs != nil {
		x.Problem = differs.Error()
	}
	s.Points = append(s.Points, x)
	s.strip()
}

// strip takes the times of every answer to a question that had a wrong one
// under its configuration.
func (s *Scans) strip() {
	type cell struct {
		config int
		query  string
	}
	wrong := map[cell]bool{}
	for i := range s.Points {
		if p := &s.Points[i]; p.Verdict != Equal {
			wrong[cell{p.Config, p.Query}] = true
		}
	}
	for i, p := range s.Points {
		if wrong[cell{p.Config, p.Query}] {
			s.Points[i] = ScanPoint{Config: p.Config, Query: p.Query, Phase: p.Phase, Rep: p.Rep, Verdict: p.Verdict, Problem: p.Problem, Rows: p.Rows}
		}
	}
}

// ScanPoint is one answer. What is not right has no time.
type ScanPoint struct {
	Config  int           `json:"configuration"` // in Configs
	Query   string        `json:"query"`
	Phase   Phase         `json:"phase"`
	Rep     int           `json:"rep"` // from 1, over all loads of the configuration
	Verdict Verdict       `json:"verdict"`
	Problem string        `json:"problem,omitempty"`
	Proof   answer.Degree `json:"proof,omitempty"`
	Rows    int           `json:"rows"`
	Time    Time          `json:"time_ns"` // from the call to the last decoded row

	Devices []measure.DiskLoad   `json:"devices,omitempty"` // of the paths of the configuration
	Client  time.Duration        `json:"client_cpu_ns"`     // an embedded engine's is in it
	Server  *measure.ProcessLoad `json:"server,omitempty"`  // of its processes, where they are this machine's
	Machine measure.MachineLoad  `json:"machine"`
	Free    uint64               `json:"memory_available_bytes"` // of the machine, after the answer
}

// measured is what was measured of an answer.
func (p *ScanPoint) measured(took time.Duration) *Measured {
	u := &Used{Machine: p.Machine, Free: p.Free, Devices: p.Devices}
	if p.Server != nil {
		u.Server = &ServerLoad{Local: true, Used: *p.Server}
	}
	return &Measured{Total: took, CPU: p.Client, Used: u}
}

// ScanLaw is the law of the times of a question: Start + max(bytes ÷ (Drawn · the
// disks' rates), Work · bytes ÷ cores).
type ScanLaw struct {
	Query   string           `json:"query"`
	Phase   Phase            `json:"phase"`
	Problem string           `json:"problem,omitempty"` // why there is none; then the rest is empty
	Drawn   measure.Estimate `json:"drawn"`             // share of the disks' measured rates that the engine gets
	Work    measure.Estimate `json:"work_seconds_per_gb"`
	Start   measure.Estimate `json:"start_seconds"`
	Told    bool             `json:"start_told"` // false: the points cannot tell Start, which counts as 0
	Error   float64          `json:"error"`      // root mean square of the relative errors
	Fits    []ScanFit        `json:"fits,omitempty"`
}

// ScanFit is a configuration beside the law.
type ScanFit struct {
	Config    int     `json:"configuration"`
	Measured  float64 `json:"measured_seconds"`
	Predicted float64 `json:"predicted_seconds"`
	Residual  float64 `json:"residual"`
	Bound     string  `json:"bound"` // disks, cores
}

// cell is a question under a configuration.
func (s *Scans) cell(config int, query string) Cell {
	c := s.Configs[config]
	return NewCell(Scanned, s.Engine, "paths", c.Paths, "partitions", c.Partitions, "workers", c.Workers, "design", c.Design, "query", query)
}

// Save writes the run into a folder, which is made.
func (s *Scans) Save(dir string) (err error) {
	if s.folder == nil {
		if s.folder, err = Create(dir, s.head(dir)); err != nil {
			return err
		}
	}
	s.folder.Run = s.head(dir)
	for _, x := range s.samples {
		err = errors.Join(err, s.folder.Add(x))
	}
	s.samples = nil
	return errors.Join(err, s.folder.Save())
}

// Step tells what is being done, once the run is in a folder.
func (s *Scans) Step(text string) {
	if s.folder != nil {
		_ = s.folder.Event(Event{Kind: Step, Text: text}) // what cannot be written now fails at the next sample
	}
}

// Close ends the run where it was saved.
func (s *Scans) Close(dir string, ended time.Time) error {
	if s.folder == nil {
		return nil
	}
	err := s.Save(dir)
	s.folder.Run.Ended = ended
	return errors.Join(err, s.folder.Close())
}

// head is run.json.
func (s *Scans) head(dir string) Run {
	own := *s
	own.Points, own.samples, own.folder = nil, nil, nil
	return Run{
		ID: filepath.Base(dir), Workload: Scanned, Started: s.Started, Args: s.Args, Seed: s.Seed, Machine: s.Machine, Warnings: s.Warnings, ColdHow: s.Cold, Scan: &own,
		Archives: []Archive{{Engine: s.Engine, Place: s.Place, Product: s.Product, Version: s.Version, Settings: s.Settings, Server: s.Server}},
	}
}

// ReadScans reads a run of the workload scan.
func ReadScans(dir string) (*Scans, error) {
	r, samples, err := Read(dir)
	if err != nil {
		return nil, err
	}
	if r.Scan == nil {
		return nil, &fault.Error{File: dir, Problem: fmt.Sprintf("is a run of %q, not of %s", r.Workload, Scanned), Cure: "name a folder that barograph scan wrote"}
	}
	s := r.Scan
	for _, x := range samples {
		p := ScanPoint{Config: -1, Query: x.Cell.At("query"), Phase: x.Phase, Rep: x.Rep, Verdict: x.Verdict, Problem: x.Problem, Proof: x.Proof, Rows: x.Rows}
		for i := range s.Configs {
			if s.cell(i, p.Query) == x.Cell {
				p.Config = i
			}
		}
		if m := x.measured; m != nil && m.Used != nil {
			p.Time, p.Devices, p.Client, p.Machine, p.Free = Time{m.Total}, m.Devices, m.CPU, m.Machine, m.Free
			if m.Server != nil {
				p.Server = &m.Server.Used
			}
		}
		s.Points = append(s.Points, p)
	}
	s.strip()
	return s, s.check(filepath.Join(dir, runFile))
}

// check reports whether all that is said of configurations is of one of them.
func (s *Scans) check(path string) error {
	known := func(config int) bool { return config >= 0 && config < len(s.Configs) }
	for _, p := range s.Points {
		if !known(p.Config) {
			return &fault.Error{File: path, Problem: "has a point of a configuration that it does not hold", Cure: "restore the file"}
		}
	}
	for _, l := range s.Laws {
		for _, f := range l.Fits {
			if !known(f.Config) {
				return &fault.Error{File: path, Problem: "has a law of a configuration that it does not hold", Cure: "restore the file"}
			}
		}
	}
	return nil
}
