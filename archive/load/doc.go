// Package load is step 5: files → batches → archive.
//
// Files are parsed in parallel and stored in the order they were given, so
// that "a later value replaces an earlier one" means the same at every run.
// Every line is accounted for, per file and in total:
//
//	read = stored + replaced + quarantined
//
// A file is marked as loaded in the same commit as its last record. A load
// that is killed and run again skips the files that are marked, puts the
// records of the others once more, and ends in the same archive. (METdbLoad
// marks a file before its lines are in: a kill loses them for good.)
package load
