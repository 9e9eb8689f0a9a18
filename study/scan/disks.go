package scan

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// rateTolerance is the largest ratio of two rates that may belong to one disk: its measurements differ by less.
const rateTolerance = 1.1

// fastRead describes a disk from which a query read faster than its measured rate; "" = none. Possible reasons are
// short reads, which the kernel's limit does not slow down, and caches below the disk.
func fastRead(disks []run.ScanDisk, m *run.Measured) string {
	for i, d := range m.Devices {
		if i >= len(disks) || disks[i].Rate <= 0 || m.Total <= 0 {
			continue
		}
		if rate := float64(d.Read) / m.Total.Seconds(); rate > rateTolerance*disks[i].Rate {
			return fmt.Sprintf("%.1f MB/s from %s, whose measured rate is %.1f", rate/1e6, disks[i].Path, disks[i].Rate/1e6)
		}
	}
	return ""
}

// FastReadWarnings warns of results that were read faster than the measured rates of the disks, with one warning for
// each query in a configuration. Fitted models exclude these results.
func FastReadWarnings(r *run.Run, samples []run.Sample) (warnings []string) {
	first, n := map[run.Cell]string{}, map[run.Cell]int{}
	var order []run.Cell
	for i := range samples {
		m, c := samples[i].Measured(), samples[i].Cell
		if m == nil {
			continue
		}
		if why := fastRead(r.Scan.Disks, m); why != "" {
			if n[c]++; n[c] == 1 {
				order, first[c] = append(order, c), why
			}
		}
	}
	for _, c := range order {
		warnings = append(warnings, fmt.Sprintf("%s with %s: %d of the queries read faster than the disks can (the first: %s), because of short reads or of caches below the disks; a fitted model excludes them",
			c.Value("query"), ConfigName(&r.Scan.Configs[r.ConfigIndex(c)]), n[c], first[c]))
	}
	return warnings
}

// RemeasureRates measures each disk again whose rate contradicts the other disks with the same limit. It returns a
// warning if the second rate does so, too. readRate is measure.ReadRate.
func RemeasureRates(
	disks []run.ScanDisk, readRate func(path string) (rate float64, how string, err error),
) (warnings []string, err error) {
	var measuredTwice []*run.ScanDisk
	for i := range disks {
		if d := &disks[i]; rateContradicts(disks, d) {
			measuredTwice = append(measuredTwice, d)
		}
	}
	for _, d := range measuredTwice {
		before := d.Rate
		if d.Rate, d.RateMethod, err = readRate(d.Path); err != nil {
			return nil, err
		}
		d.RateMethod += fmt.Sprintf("; measured twice, because the first rate of %.1f MB/s contradicted the other disks", before/1e6)
	}
	for _, d := range measuredTwice {
		if rateContradicts(disks, d) {
			warnings = append(warnings, fmt.Sprintf("%s has a rate of %.1f MB/s (measured twice), but the other disks with its limit have %.1f; times with it are not comparable",
				d.Path, d.Rate/1e6, medianRate(disks, d)/1e6))
		}
	}
	return warnings, nil
}

// rateContradicts reports whether the measured rate of a disk exceeds its limit, or differs from that of the other
// disks with the same limit.
func rateContradicts(disks []run.ScanDisk, d *run.ScanDisk) bool {
	if d.Rate <= 0 || d.Limit <= 0 {
		return false
	}
	return d.Rate > rateTolerance*d.Limit || math.Abs(d.Rate/medianRate(disks, d)-1) > rateTolerance-1
}

// medianRate is the median rate of the disks with the same limit.
func medianRate(disks []run.ScanDisk, d *run.ScanDisk) float64 {
	var rates []float64
	for _, o := range disks {
		if o.Limit == d.Limit && o.Rate > 0 {
			rates = append(rates, o.Rate)
		}
	}
	return measure.Median(rates)
}

// Host is an engine that is ready for a configuration. Only one goroutine may use it.
type Host struct {
	Scans tables.Scans
	PIDs  []int32 // of its server's processes on this machine; nil = the engine is embedded, or on another machine

	// Restart stops the server, calls stopped, and starts it again on its data. Scans and
	// PIDs are then those of the new server. The caller must close everything that Scans
	// opened before. nil = the server must not be stopped: then only Star.Cold empties the
	// engine's memory.
	Restart func(ctx context.Context, stopped func() error) error

	Log   func() string // end of the server's log, which is added to an error; nil = none
	Close func() error
}

// Opener makes an engine ready for a configuration. Run calls it before each load, and
// closes the Host before the next one. Errors that wrap a fault.Status end the run, because
// they affect all configurations.
type Opener func(ctx context.Context, p tables.Placement) (*Host, error)

// OpenEngine returns the Opener of an open engine, which the caller closes. pids are its server's
// processes on this machine.
func OpenEngine(scans tables.Scans, pids []int32) Opener {
	return func(context.Context, tables.Placement) (*Host, error) {
		return &Host{Scans: scans, PIDs: pids, Close: func() error { return nil }}, nil
	}
}

// Node has the properties of a machine on which the rule for partitions depends.
type Node struct {
	Cores  int
	Memory uint64 // bytes
	Paths  int    // disk paths; 0 counts as one
}

// maxPartitions limits the partitions of a node with one path, in the published rule.
const maxPartitions = 16

// memoryGB rounds the memory, because a machine with 16 GB reports slightly less.
func (n Node) memoryGB() int { return int(math.Round(float64(n.Memory) / (1 << 30))) }

// Partitions is the published rule: with several paths one partition for each path, with a single path
// the minimum of the memory in GB, 16 and the cores.
func (n Node) Partitions() int {
	if n.Paths > 1 {
		return n.Paths
	}
	return max(1, min(n.memoryGB(), maxPartitions, n.Cores))
}

// AutoPartitions returns the number of partitions of all nodes, and the reason in words.
func AutoPartitions(nodes []Node) (partitions int, why string) {
	var parts []string
	for i, n := range nodes {
		p := n.Partitions()
		partitions += p
		reason := fmt.Sprintf("min(%d GB of memory, %d, %s) = %d, because there is one path", n.memoryGB(), maxPartitions, run.CountOf(n.Cores, "core"), p)
		if n.Paths > 1 {
			reason = fmt.Sprintf("%d, one for each path", p)
		}
		if len(nodes) > 1 {
			reason = fmt.Sprintf("node %d: %s", i+1, reason)
		}
		parts = append(parts, reason)
	}
	why = strings.Join(parts, "; ")
	if len(nodes) > 1 {
		why += fmt.Sprintf("; %d in total", partitions)
	}
	return partitions, why
}

// Experiment is the name of a set of configurations.
type Experiment string

// The experiments.
const (
	SinglePlacement Experiment = ""            // the placement that the flags describe
	Experiment1     Experiment = "experiment1" // partitions on one disk
	Experiment2     Experiment = "experiment2" // one disk with the automatic number of partitions; then disks, one partition on each
	Sweep           Experiment = "sweep"       // disks by partitions
)

// Experiments returns the named experiments.
func Experiments() []Experiment { return []Experiment{Experiment1, Experiment2, Sweep} }

// Placements returns the configurations of an experiment on paths. partitions are the numbers of partitions
// to try (experiment2: on its first path only); empty = those of the experiment. Placements omits
// configurations that leave a path without a partition.
func Placements(e Experiment, paths []string, partitions []int, workers int) (out []tables.Placement, err error) {
	add := func(n, parts int) {
		out = append(out, tables.Placement{Paths: paths[:n], Partitions: parts, Workers: workers})
	}
	orDefault := func(own ...int) []int {
		if len(partitions) > 0 {
			return partitions
		}
		return own
	}
	switch e {
	case SinglePlacement:
		for _, p := range partitions {
			add(len(paths), p)
		}
	case Experiment1:
		for _, p := range orDefault(1, 2, 4, 8) {
			add(min(len(paths), 1), p)
		}
	case Experiment2:
		for _, p := range partitions {
			if p > 1 && len(paths) > 0 { // one path with one partition is added below
				add(1, p)
			}
		}
		for n := range len(paths) {
			add(n+1, n+1)
		}
	case Sweep:
		for n := range len(paths) {
			for _, p := range orDefault(1, 2, 4, 8, 16) {
				if p >= n+1 {
					add(n+1, p)
				}
			}
		}
	default:
		return nil, &fault.Error{
			Setting: string(e), Problem: "is not an experiment", Cure: fmt.Sprintf("choose one of %q", Experiments()),
		}
	}
	if (e == Experiment2 || e == Sweep) && len(paths) < 2 {
		return nil, &fault.Error{
			Setting: string(e), Problem: "needs at least two paths",
			Cure: "name them with --paths, or make disks: barograph lab disks --count 6",
		}
	}
	if len(out) == 0 {
		return nil, &fault.Error{
			Setting: "partitions", Problem: "are fewer than the paths in every configuration",
			Cure: "name at least as many partitions as paths",
		}
	}
	return out, nil
}
