// Package results has no code of its own. Its folders record what a study
// measured and report it:
//
//	run         the run folder, written and read; no time without a proof
//	measure     clocks, histograms, intervals, tests; pace runs the load loop
//	curve       answers → curves with intervals and differences
//	compare     runs compared; advise: which engine, design and flavour
//	report      run folder → HTML and terminal; plot: its pictures
//
// They may import record, query, stat and each other, no engine and no study.
// Test with: go test ./results/...
package results
