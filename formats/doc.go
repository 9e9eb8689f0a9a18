// Package formats reads files as records: files → records. It finds the files that a user names
// (Expand), detects their format (Open), and reads them with the package of that format.
//
// A new format is a folder next to vsdb and metstat and a few lines in detect.go and open.go.
package formats

import "github.com/barograph/barograph/record"

// Kind names a format.
type Kind string

// The formats.
const (
	VSDB    Kind = "vsdb"    // NCEP's verification statistics data base, package formats/vsdb
	MetStat Kind = "metstat" // MET's .stat files and the corresponding _TYPE.txt files, package formats/metstat
)

// Reader reads the records of one file.
type Reader interface {
	// Next exchanges *into for the next batch: records of one line type, or only
	// rejected lines. It returns io.EOF after the last one.
	Next(into *record.Batch) error
	// Lines is the number of data lines read so far.
	Lines() int64
}
