// Package results contains no code. Its subfolders record what a study measured, and report it:
//
//	run         the run folder, written and read; stores no time without a proof
//	measure     clocks, histograms, intervals, tests; pace runs the load loop
//	curve       answers → curves with intervals and differences
//	compare     compares runs; advise recommends an engine, design and flavour
//	report      run folder → HTML and terminal; plot draws its pictures
//
// These packages may import record, query, stat and each other, but no engine and no study. Test
// with: go test ./results/...
package results
