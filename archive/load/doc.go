// Package load loads files into an archive: files → batches → archive.
//
// It parses files in parallel and stores them in the order of their paths. Therefore a policy for
// conflicts (OnConflict) has the same result in every run. Every line is accounted for, per file
// and in total:
//
//	read = stored + duplicates + conflicts + quarantined
//
// The commit with the last record of a file also marks the file as loaded. If a load is interrupted
// and run again, it skips marked files and stores the records of all others again; the archive ends
// up identical. (METdbLoad marks a file before it stores the lines, and an interruption loses
// them.)
package load
