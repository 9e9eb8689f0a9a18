// Package dist contains YCSB's distributions of requests and lengths, by YCSB's own formulas
// (core/src/main/java/site/ycsb/generator), and one that YCSB does not have: ExactZipf, which follows Zipf's law exactly.
//
// The caller provides the random numbers. Goroutines can share a distribution, with two exceptions: Latest, because
// its Draw changes it, and Zipf while Resize is called. Constructors do not check their arguments.
package dist
