// Package advise says from a run folder of the workload met, or from those of a
// study of several sizes, which engine, design and way of asking to choose, by
// weights that the reader gives: data in, findings out.
//
// What is not right is no choice, and what was not measured has no weight.
package advise
