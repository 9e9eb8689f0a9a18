package engine

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/barograph/barograph/internal/fault"
)

// StaleLogError is the fault of a log file that is next to an embedded engine's file but
// belongs to another one. The user deleted, moved or replaced that other file, and the log
// contains its last commits.
func StaleLogError(log, file string) error {
	return &fault.Error{
		File: log, Problem: "does not belong to " + file, Err: ErrUnreachable,
		Cure: "restore the database to which the log belongs (the log contains its last commits), or move the log to another folder",
	}
}

// Location is the file or folder of an embedded engine, as it was when the engine opened it.
type Location struct {
	path string
	info fs.FileInfo
}

// NewLocation remembers which file or folder has this path now.
func NewLocation(path string) (p Location, err error) {
	p.path = path
	p.info, err = os.Stat(path)
	return p, err
}

// CheckReplaced returns a fault if the path now names another file or folder, or nothing. The
// engine would still read and write the old file, or mix the contents of both.
func (p Location) CheckReplaced() error {
	now, err := os.Stat(p.path)
	if err == nil && os.SameFile(p.info, now) {
		return nil
	}
	what, how := "file", "replaced by another one"
	if p.info.IsDir() {
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
