// Package sqlite is the engine sqlite: an archive in one file, in Barograph's own process, with
// github.com/mattn/go-sqlite3 (docs/decisions/ gives the reasons for this one of four drivers).
//
// The file is in WAL mode with synchronous=FULL. Queries run during a load. A commit is on disk when
// Commit returns, and a killed program leaves the last commit. The name of a subset's table is
// "subset/table"; see archive.go. Documents are JSONB, which keeps 17 digits of each number; SQLite 3.53
// converts them to the same float64 (the tests try hundreds of thousands of doubles). Therefore this
// package decodes no number from text.
//
// Every page of a file that Barograph created ends with a checksum (checksum.c), because SQLite would
// silently return results from damaged pages. Other programs can read such files, but must not write
// them: the checksums would become wrong.
//
// An open file allows one loader at a time. Loaders of other processes may be open, and their commits take turns.
package sqlite
