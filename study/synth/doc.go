// Package synth makes archives out of a seed: verification statistics in the
// very text formats and folder layouts of real ones (VSDB files, MET .stat
// files), as large as one likes.
//
// It stands at the head of the flow: what it writes, package formats reads.
//
// The numbers are those of a plausible atmosphere. An observed state is chosen
// per series (variable, level, region) and valid time, from noise that is
// correlated in time; a correlation that falls with the forecast lead then
// gives the forecast, and both give partial sums that agree with one another:
// the Cauchy-Schwarz inequality holds, MAE ≤ RMSE, and all leads of one valid
// time are compared with the same observations.
//
// Every value is a function of the seed and of its record's identity alone. So
// files can be made in any order and by any number of workers, and an archive
// of ten years holds the same records as an archive of one day of them.
package synth
