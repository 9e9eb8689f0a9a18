// Package results contains no code. Its subfolders record what a study measured, and report it:
//
//	run             the run folder, written and read; stores no time without a proof
//	measure         clocks, histograms, intervals, tests
//	measure/pace    the loop that generates load
//	curve           answers → curves with intervals and differences
//	compare         compares runs
//	advise          recommends an engine, a design and a flavour
//	report          run folder → HTML and terminal
//	report/site     many run folders → one page
//	report/sharing  run folder → one archive without names of hosts, users and paths
//	plot            the pictures of a report
//
// They import no engine and no study. The table allowed in layout_test.go lists what each may import; plot and measure
// import only shared packages. Test with: go test ./results/...
package results
