// Package measure contains the tools of a measurement, independent of what is measured:
//   - a monotonic clock, and a meter of times in which the process stood still;
//   - the random interleaving of repetitions;
//   - latency histograms and their log;
//   - the statistics of a sample, comparisons between samples, and the letters of groups that do not differ;
//   - the laws of growth (time against size) and of scalability (throughput against clients);
//   - the load of the client, of server processes, of disks and of the machine, and the facts of the machine;
//   - the dropping of the page cache.
//
// Studies time their operations with it, package run stores the results, and package report prints
// them.
//
// # Which statistics, and why
//
// Times of database calls are skewed, have outliers and follow no known distribution. Hence the
// methods of this package assume no distribution. A sample is summarized by its median with an
// interval from order statistics (David and Nagaraja, Order Statistics, 3rd ed. 2003, section 7.1).
// Two samples are compared by the Mann-Whitney U test and by the ratio of their medians. Several
// comparisons are corrected by Holm's method (1979). If a sample is too small, the result states so
// instead of guessing a number.
package measure
