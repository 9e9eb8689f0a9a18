package scan

import (
	"fmt"
	"math"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

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
func Placements(e Experiment, paths []string, partitions []int, workers int) (out []engine.Placement, err error) {
	add := func(n, parts int) {
		out = append(out, engine.Placement{Paths: paths[:n], Partitions: parts, Workers: workers})
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
