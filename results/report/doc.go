// Package report is step 8 of the data flow: a run folder becomes tables and
// one HTML file that opens offline.
//
// It reads nothing but the folder (package run), computes with package measure
// and draws with results/plot. Three rules bind every table and picture here:
//
//   - an answer that is wrong, or was not given, has no time;
//   - an archive that does not hold exactly the data is ranked nowhere;
//   - a difference that is not larger than the noise is printed as "~", and
//     where the repetitions are too few to tell, as "?".
//
// The tables are those of the README of NOAA-GSL/CouchbasePerformanceTest
// (2020), generalised over engines and designs, after the ones that a choice
// needs today: proof, times per case, loads and sizes.
package report
