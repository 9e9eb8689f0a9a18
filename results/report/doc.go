// Package report turns a run folder into tables and one HTML file
// that opens offline.
//
// It reads only the folder (package run), computes with package measure and draws with
// results/plot. Every table and picture follows three rules:
//
//   - A wrong or missing result has no time.
//   - An archive that does not contain exactly the data is not ranked.
//   - A difference that is not larger than the noise is printed as "~", and
//     as "?" if the repetitions are too few to decide.
//
// The report of a study of met shows the choice, the proof, the times of each case and their reasons, the tables of the
// README of NOAA-GSL/CouchbasePerformanceTest (2020), generalized over engines and designs, and the loads and sizes.
// Every other workload has a report of its own.
package report
