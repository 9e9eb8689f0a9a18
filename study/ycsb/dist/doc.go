// Package dist holds YCSB's distributions of requests and lengths, by YCSB's
// own formulas (its core/src/main/java/site/ycsb/generator), and one that YCSB
// does not have: a Zipf distribution over the records that exist.
//
// A distribution is a value of constants; who draws brings the random numbers.
// It is part of step 6, the ycsb workload, and knows nothing of records.
package dist
