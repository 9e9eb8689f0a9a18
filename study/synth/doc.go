// Package synth makes synthetic archives of any size from a seed: verification
// statistics in the text formats and folder layouts of real archives (VSDB
// files, MET .stat files), and SHEF products. Package formats reads its files.
//
// The numbers are those of a plausible atmosphere. For each series (variable,
// level, region) and valid time, the package draws an observed state from noise
// that is correlated in time. A correlation that falls with the forecast lead
// then gives the forecast. The partial sums of both are consistent: the
// Cauchy-Schwarz inequality holds, MAE ≤ RMSE, and all leads of one valid time
// are compared with the same observations.
//
// Every value of a VSDB or MET file depends only on the seed and on the identity
// of its record. Therefore an archive of ten years contains the same records of a
// day as an archive of that day. A SHEF product depends only on the description of
// its feed and on its number. Any number of workers can make the files in any
// order.
package synth
