// Package run writes and reads the run folder, which contains everything that is needed to repeat a
// run and to check its results.
//
//	run.json         what was run: command, seed, versions, settings, machine, data, loads, warnings
//	cases.yaml       the questions of the run, to query them again: --case RUN/cases.yaml
//	events.jsonl     the events of the run, one per line; Read takes the samples from it
//	samples.csv      one row per sample, also as samples.parquet
//	latency.hlog     HdrHistogram log, one interval per phase and cell
//	plans/           text and plan of each query (.txt), and the plan's accesses to stored data (.json)
//	answers/         each distinct proven answer, named after its digest
//	plots/           the verification curves that were computed from proven answers
//	quarantine.csv   file, line, reason and text of every line that could not be read
//	report.html      the report: one file that works offline
//
// Folder.Add stores a time only together with the proof of its answer. Passwords are removed from
// everything that is stored.
package run
