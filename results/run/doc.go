// Package run is step 7: the run folder, which holds everything that is needed
// to repeat a run and to judge it.
//
//	run.json         what was run: command, seed, versions, settings, machine, data, loads, warnings
//	cases.yaml       the questions that were asked, to be asked again: --case RUN/cases.yaml
//	events.jsonl     what happened, sample by sample, a line each: what Read reads
//	samples.csv      one row per sample, also as samples.parquet
//	latency.hlog     HdrHistogram log, one interval per phase and cell
//	plans/           each query's text and plan (.txt), and how the plan reaches what is stored (.json)
//	answers/         each distinct answer that was proven, by its digest
//	plots/           the verification curves that were computed from proven answers
//	quarantine.csv   file, line, reason and text of every line that could not be read
//	report.html      the report: one file that opens offline
//
// A time enters a run with the proof of its answer and in no other way
// (Folder.Add). A password never does.
package run
