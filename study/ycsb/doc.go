// Package ycsb is YCSB's core workload: the same properties, keys, values,
// distributions and mixes, so that what the one loads the other reads.
//
// It is step 6 of the data flow, beside study/met, over the ability
// kv.Database. Package results/measure/pace runs its workers and times them. Where it
// differs from YCSB it is because YCSB is wrong there:
//
//   - only keys whose insert was acknowledged are requested, and one that is not
//     found is a miss that fails the run;
//   - what scans return is checked: order, bounds, and which records must be there;
//   - a property that is not known is an error;
//   - all counts have 64 bits;
//   - the target rate is the run's, not a thread's, and the warm-up does not count.
//
// Deletes (deleteproportion), the distribution zipfian-exact and the check of
// every value (dataintegrity) over all operations are its own.
package ycsb
