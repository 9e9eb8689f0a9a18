// Package dist contains YCSB's distributions of requests and lengths, by YCSB's own formulas
// (core/src/main/java/site/ycsb/generator), and one that YCSB does not have: a Zipf distribution
// over the existing records.
//
// The caller provides the random numbers. Goroutines can share a distribution, except a Latest, because its
// Draw changes it; Zipf.Resize changes a Zipf, too. Constructors do not check their arguments. The package
// does not depend on records.
package dist
