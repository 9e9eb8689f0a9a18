// Package scan is step 6 of the flow for analytical questions: a star of
// TPC-DS spread over several disks, its questions proven, then timed.
//
// It repeats an experiment with an analytics engine that is given several disk
// paths: how many paths, how many partitions. Every answer is held against
// tables.StarReference, which no database computed; what differs has no time.
//
//	Auto       the published rule for the number of partitions
//	Placements the configurations of the named experiments
//	Run        loads each configuration, proves it, then times it
package scan
