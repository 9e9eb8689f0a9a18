// Package sqlite is the engine sqlite: an archive in one file, in Barograph's
// own process, through github.com/mattn/go-sqlite3 (docs/decisions/ says why
// that one of four drivers).
//
// The file is in WAL mode with synchronous=FULL: questions are answered while
// a load is under way, a commit is in the file system when Commit returns, and
// a program that is killed leaves the last commit. A subset's tables are named
// "subset/table"; see archive.go. Documents are JSONB: numbers keep their 17
// digits, and SQLite 3.53 turns them into the same float64 (the tests try
// hundreds of thousands of doubles), so no number is decoded from text here.
//
// Every page of a file that Barograph made ends in a checksum (checksum.c), as
// SQLite would answer from damaged pages without a word. Other programs read
// such files as any other, but must not write them: the sums would be wrong.
//
// One loader may be open at a time.
package sqlite
