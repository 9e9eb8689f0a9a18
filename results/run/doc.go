// Package run writes and reads the run folder, which contains everything that is needed to repeat a
// run and to check its results.
//
//	run.json         what was run: command, seed, versions, settings, machine, data, loads, warnings
//	cases.yaml       the questions of the run; --case RUN/cases.yaml sends them again
//	events.jsonl     the events of the run, one per line; Read takes the samples from it
//	samples.csv      one row per sample, also as samples.parquet
//	latency.hlog     HdrHistogram log, one interval per phase and cell; of a mix, two per operation and outcome
//	plans/           text and plan of each query (.txt), and the plan's accesses to stored data (.json)
//	answers/         each distinct proven answer, named after its digest
//	histories/       the calls that clients sent to the store and their responses, one per line (.jsonl.gz)
//	plots/           the verification curves that were computed from proven answers
//	quarantine.csv   file, line, reason and text of every line that could not be read
//	report.html      the report: one file that works offline
//
// Folder.Add stores a time only together with a proof: answer.Compare found that the result equals the reference. The
// folder removes passwords from what it writes, except from cases.yaml, quarantine.csv and histories/: these have the
// questions, the unreadable lines and the generated records unchanged.
package run
