// Package formats is step 1 of the flow: files → records. It finds the files
// that a user means (Expand), tells what each of them is (Open) and reads it
// with the package of its format, whichever that is.
//
// A new format is a folder beside vsdb and metstat and a few lines in detect.go
// and open.go.
package formats

import "github.com/barograph/barograph/record"

// Kind names a format.
type Kind string

// The formats.
const (
	VSDB    Kind = "vsdb"    // NCEP's verification statistics data base, package formats/vsdb
	MetStat Kind = "metstat" // MET's .stat files and their _TYPE.txt twins, package formats/metstat
)

// Reader reads the records of one file.
type Reader interface {
	// Next exchanges *into for the next batch: records of one line type, or
	// rejected lines alone. It returns io.EOF after the last one.
	Next(into *record.Batch) error
	// Lines is the number of data lines read so far.
	Lines() int64
}
