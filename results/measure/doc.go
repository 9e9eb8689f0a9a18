// Package measure holds what a measurement needs and nothing of what is
// measured: a monotonic clock, the random interleaving of repetitions, latency
// histograms and their log, the statistics of a sample and of comparisons
// between samples, the client's own load, the facts of the machine and the
// dropping of the page cache.
//
// It is step 7 of the data flow (see docs/design.md): workloads time with it,
// package run stores what it returns, package report prints it.
//
// # Which statistics, and why
//
// Times of database calls are skewed, have outliers and follow no known
// distribution, so nothing here assumes one. A sample is summed up by its
// median with an interval from order statistics (David and Nagaraja, Order
// Statistics, 3rd ed. 2003, section 7.1), two samples are compared by the
// Mann-Whitney U test and by the ratio of their medians, and many comparisons
// are corrected by Holm (1979). Too few samples is a value that is printed,
// never a number that is made up.
package measure
