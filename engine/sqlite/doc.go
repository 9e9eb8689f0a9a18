// Package sqlite is the engine sqlite: an archive in one file, in Barograph's
// own process, through github.com/mattn/go-sqlite3 (docs/decisions/ says why
// that one of four drivers).
//
// The file is in WAL mode with synchronous=FULL: questions are answered while
// a load is under way, a commit is in the file system when Commit returns, and
// a program that is killed leaves the last commit. A subset's tables are named
// "subset/table"; see schema.go. Documents are JSONB: numbers keep their 17
// digits, and SQLite 3.53 turns them into the same float64 (the tests try
// hundreds of thousands of doubles), so no number is decoded from text here.
//
// One loader may be open at a time.
package sqlite
