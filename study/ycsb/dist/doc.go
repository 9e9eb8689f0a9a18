// Package dist contains YCSB's distributions of requests and lengths, by YCSB's own formulas
// (core/src/main/java/site/ycsb/generator), and one that YCSB does not have: a Zipf distribution
// over the existing records.
//
// The caller provides the random numbers. Distributions that drawing does not change can be shared by
// goroutines: all except Latest and Zipf.Resize. The package does not depend on records.
package dist
