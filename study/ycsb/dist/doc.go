// Package dist contains YCSB's distributions of requests and lengths, by YCSB's own formulas
// (core/src/main/java/site/ycsb/generator), and one that YCSB does not have: a Zipf distribution
// over the existing records.
//
// A distribution is a value of constants; the caller provides the random numbers. The package
// belongs to step 6, the ycsb workload, and does not depend on records.
package dist
