// Package scan is the study of analytical queries: it loads a star of TPC-DS
// over several disks, proves the results of its queries, and then times them.
//
// It repeats an experiment with an analytics engine on several disk paths, and
// varies the numbers of paths and of partitions. It compares every result with
// tables.StarReference, which no database computed. A result that differs has
// no time.
//
//	Auto       the published rule for the number of partitions
//	Placements the configurations of the named experiments
//	Run        loads each configuration, proves its results, and times them
package scan
