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

// above is how much more than a disk was measured to give an answer may have
// read from it: measurements of one disk differ by less.
const above = 1.1

// tooFast names a disk from which an answer read more than it was measured to
// give, and says so; "" where it did not. A limit of the kernel lets short reads
// pass, and what a cache below the disk holds is not the disk's.
func tooFast(disks []run.ScanDisk, m *run.Measured) string {
	for i, d := range m.Devices {
		if i >= len(disks) || disks[i].Rate <= 0 || m.Total <= 0 {
			continue
		}
		if rate := float64(d.Read) / m.Total.Seconds(); rate > above*disks[i].Rate {
			return fmt.Sprintf("%.1f MB/s from %s, which was measured to give %.1f", rate/1e6, disks[i].Path, disks[i].Rate/1e6)
		}
	}
	return ""
}

// TooFast warns of answers that read faster than the disks were measured to
// give, one warning for each question under a configuration. No law is made of
// them.
func TooFast(r *run.Run, samples []run.Sample) (warnings []string) {
	first, n := map[run.Cell]string{}, map[run.Cell]int{}
	var order []run.Cell
	for i := range samples {
		m, c := samples[i].Measured(), samples[i].Cell
		if m == nil {
			continue
		}
		if why := tooFast(r.Scan.Disks, m); why != "" {
			if n[c]++; n[c] == 1 {
				order, first[c] = append(order, c), why
			}
		}
	}
	for _, c := range order {
		warnings = append(warnings, fmt.Sprintf("%s with %s: %d answers read faster than the disks can, the first %s: short reads pass a limit, and caches below a disk are not the disk; no law is made of them",
			c.At("query"), Words(&r.Scan.Configs[r.ConfigOf(c)]), n[c], first[c]))
	}
	return warnings
}

// Recheck measures again each disk whose rate contradicts those of its set,
// the disks with the same limit, and warns where it still does. again is
// measure.ReadRate.
func Recheck(disks []run.ScanDisk, again func(path string) (rate float64, how string, err error)) (warnings []string, err error) {
	var twice []*run.ScanDisk
	for i := range disks {
		if d := &disks[i]; odd(disks, d) {
			twice = append(twice, d)
		}
	}
	for _, d := range twice {
		before := d.Rate
		if d.Rate, d.How, err = again(d.Path); err != nil {
			return nil, err
		}
		d.How += fmt.Sprintf("; measured again, as %.1f MB/s contradicted its set", before/1e6)
	}
	for _, d := range twice {
		if odd(disks, d) {
			warnings = append(warnings, fmt.Sprintf("%s gives %.1f MB/s, measured twice, and the other disks of its set %.1f: times with it are of another disk",
				d.Path, d.Rate/1e6, usual(disks, d)/1e6))
		}
	}
	return warnings, nil
}

// odd reports whether a disk was measured to give more than its limit, or
// something else than the disks with the same limit do.
func odd(disks []run.ScanDisk, d *run.ScanDisk) bool {
	if d.Rate <= 0 || d.Limit <= 0 {
		return false
	}
	return d.Rate > above*d.Limit || math.Abs(d.Rate/usual(disks, d)-1) > above-1
}

// usual is the median rate of the disks with the same limit.
func usual(disks []run.ScanDisk, d *run.ScanDisk) float64 {
	var rates []float64
	for _, o := range disks {
		if o.Limit == d.Limit && o.Rate > 0 {
			rates = append(rates, o.Rate)
		}
	}
	return measure.Median(rates)
}

// Host is an engine that is ready to take a configuration. It is used by one
// goroutine.
type Host struct {
	Scans tables.Scans
	PIDs  []int32 // of its server's processes on this machine; nil = it is embedded, or runs elsewhere

	// Restart stops the server, calls stopped, and starts it again on its data;
	// Scans and PIDs are then those of the server that runs. What was opened by
	// Scans is closed before. Nil where the server is not to be stopped: the
	// engine's memory is then as cold as Star.Cold makes it.
	Restart func(ctx context.Context, stopped func() error) error

	Log   func() string // the end of the server's log, kept with an error; nil = there is none
	Close func() error
}

// Opener makes an engine ready for a configuration. It is called before each
// load, and the Host is closed before the next one. Errors that wrap a
// fault.Status end the whole run: no configuration can do better.
type Opener func(ctx context.Context, p tables.Placement) (*Host, error)

// Opened is the Opener of an engine that is open already and that the caller
// closes; pids are its server's processes on this machine.
func Opened(scans tables.Scans, pids []int32) Opener {
	return func(context.Context, tables.Placement) (*Host, error) {
		return &Host{Scans: scans, PIDs: pids, Close: func() error { return nil }}, nil
	}
}

// Node is what the rule for partitions looks at on a machine of an engine.
type Node struct {
	Cores  int
	Memory uint64 // bytes
	Paths  int    // disk paths; 0 counts as one
}

// mostPartitions of a node with one path, in the published rule.
const mostPartitions = 16

// gigabytes are the node's, to the nearest one: a machine sold with 16 GB tells
// a little less.
func (n Node) gigabytes() int { return int(math.Round(float64(n.Memory) / (1 << 30))) }

// Partitions is the published rule: one for each path where several are named;
// with a single path the least of the memory in GB, 16 and the cores.
func (n Node) Partitions() int {
	if n.Paths > 1 {
		return n.Paths
	}
	return max(1, min(n.gigabytes(), mostPartitions, n.Cores))
}

// Auto is the number of partitions of all nodes, and why, in words.
func Auto(nodes []Node) (partitions int, why string) {
	var parts []string
	for i, n := range nodes {
		p := n.Partitions()
		partitions += p
		reason := fmt.Sprintf("min(%d GB of memory, %d, %d cores) = %d, as it has a single path", n.gigabytes(), mostPartitions, n.Cores, p)
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
		why += fmt.Sprintf("; %d in all", partitions)
	}
	return partitions, why
}

// Experiment names a set of configurations.
type Experiment string

// The experiments.
const (
	One         Experiment = ""            // the placement that is named
	Experiment1 Experiment = "experiment1" // partitions on one disk
	Experiment2 Experiment = "experiment2" // disks, one partition on each
	Sweep       Experiment = "sweep"       // disks by partitions
)

// Experiments are those that have a name.
func Experiments() []Experiment { return []Experiment{Experiment1, Experiment2, Sweep} }

// Placements are the configurations of an experiment on these paths. Partitions
// are those to try; the experiments have their own where none is named. What
// would leave a path without a part is left out.
func Placements(e Experiment, paths []string, partitions []int, workers int) (out []tables.Placement, err error) {
	add := func(n, parts int) {
		out = append(out, tables.Placement{Paths: paths[:n], Partitions: parts, Workers: workers})
	}
	otherwise := func(own ...int) []int {
		if len(partitions) > 0 {
			return partitions
		}
		return own
	}
	switch e {
	case One:
		for _, p := range partitions {
			add(len(paths), p)
		}
	case Experiment1:
		for _, p := range otherwise(1, 2, 4, 8) {
			add(min(len(paths), 1), p)
		}
	case Experiment2:
		for n := range len(paths) {
			add(n+1, n+1)
		}
	case Sweep:
		for n := range len(paths) {
			for _, p := range otherwise(1, 2, 4, 8, 16) {
				if p >= n+1 {
					add(n+1, p)
				}
			}
		}
	default:
		return nil, &fault.Error{Setting: string(e), Problem: "is no experiment", Cure: fmt.Sprintf("choose of %q", Experiments())}
	}
	if (e == Experiment2 || e == Sweep) && len(paths) < 2 {
		return nil, &fault.Error{Setting: string(e), Problem: "compares numbers of disks, and one path or none is named", Cure: "name several with --paths, or make them: barograph lab disks --count 6"}
	}
	if len(out) == 0 {
		return nil, &fault.Error{Setting: "partitions", Problem: "leave no configuration", Cure: "name at least as many partitions as paths"}
	}
	return out, nil
}
