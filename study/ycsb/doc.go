// Package ycsb is YCSB's core workload. It has the same properties, keys, values, distributions and
// mixes, so each program reads what the other one loaded.
//
// It is step 6 of the data flow, next to study/met, and uses the ability kv.Database. Package
// results/measure/pace runs its workers and measures them. It differs from YCSB where YCSB is
// wrong:
//
//   - it requests only keys whose insert was acknowledged, and a key that is not found is a miss
//     that fails the run;
//   - it checks the results of scans: order, bounds, and which records must be in them;
//   - an unknown property is an error;
//   - all counts have 64 bits;
//   - the target rate applies to the run, not to a thread, and the warm-up does not count.
//
// Its extensions are deletes (deleteproportion), the distribution zipfian-exact, and the check of
// every value (dataintegrity) in all operations.
package ycsb
