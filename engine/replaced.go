package engine

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/barograph/barograph/internal/fault"
)

// StaleLog is the fault of a log file next to an embedded engine's file that it does not
// belong to: of a file that was deleted, moved or replaced, and whose last commits it has.
func StaleLog(log, file string) error {
	return &fault.Error{
		File: log, Problem: "is the log of another database than " + file, Err: ErrUnreachable,
		Cure: "bring back the database that it belongs to, whose last commits it has, or move the log to another folder",
	}
}

// Location is the file or folder of an embedded engine, as it was when it was opened.
type Location struct {
	path string
	was  fs.FileInfo
}

// NewLocation remembers the file or folder that has this name now.
func NewLocation(path string) (p Location, err error) {
	p.path = path
	p.was, err = os.Stat(path)
	return p, err
}

// Replaced returns a fault where another file or folder has the name now, or none. The
// engine still reads and writes the one that it opened, or mixes the files of both.
func (p Location) Replaced() error {
	now, err := os.Stat(p.path)
	if err == nil && os.SameFile(p.was, now) {
		return nil
	}
	what, how := "file", "replaced by another one"
	if p.was.IsDir() {
		what = "folder"
	}
	if err != nil {
		how = "moved or deleted"
	}
	return &fault.Error{
		File: p.path, Problem: fmt.Sprintf("the %s was %s while it was open", what, how), Err: ErrUnreachable,
		Cure: "run the same command again; to replace an archive, first end the commands that have it open",
	}
}
