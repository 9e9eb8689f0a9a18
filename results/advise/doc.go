// Package advise recommends an engine, a design and a flavour from a run folder of the workload
// met, or from those of a study with several data sizes. The user sets the weights. The package only
// computes; results/report turns the result into sentences.
//
// A choice needs a flavour whose results are correct in every case. A criterion that was not
// measured has no weight.
package advise
