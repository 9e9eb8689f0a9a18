// Package advise recommends an engine, a design and a flavour from a run folder of the workload
// met, or from those of a study of several sizes. The reader gives the weights. The input is data,
// the output is findings.
//
// A choice needs a flavour whose results are correct in every case. A criterion that was not
// measured has no weight.
package advise
