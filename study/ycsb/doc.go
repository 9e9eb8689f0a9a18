// Package ycsb is YCSB's core workload. It has the same properties, keys, values, distributions and
// mixes, so each program reads the records that the other one loaded.
//
// It is a study, like study/met, and uses the ability kv.Database. Package results/measure/pace runs
// its workers and measures them. It differs from YCSB where YCSB is wrong:
//
//   - it requests only keys whose insert was acknowledged, and a key that is not found is a miss
//     that fails the run;
//   - it checks the results of scans: order, bounds, and which records must be in them;
//   - an unknown property is an error;
//   - all counts have 64 bits;
//   - the target rate applies to the run, not to a thread, and the warm-up does not count.
//
// Its extensions are marked "not YCSB's" in Settings, among them deletes, reads and updates of a value
// inside a document, and transfers.
//
// The files, in the order in which a command uses them:
//
//   - settings.go and config.go read the properties into a Config.
//   - target.go opens an engine as a Target, and converts the Report of a run to a sample.
//   - run.go executes a load or a run; workload.go is what its workers share; worker.go is one of them.
//   - sequence.go numbers keys; scan.go, check.go, stamp.go and ledger.go check results; transfers.go
//     checks transactions.
//   - faults.go, afflict.go and faultcommand.go inject faults into servers. Package history checks the
//     calls of further clients meanwhile.
//   - sweep.go and ramp.go search for the number of threads and the rate that an engine sustains.
//   - agents.go and agent.go run a workload on several machines, and merge.go joins their results.
//   - observe.go, each.go and output.go report: the server's metrics, every operation, YCSB's lines.
package ycsb
