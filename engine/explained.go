package engine

import (
	"errors"
	"io/fs"
	"os"

	"github.com/barograph/barograph/internal/fault"
)

// DiskFull is the fault of an embedded engine whose disk has no space left.
func DiskFull(file string, err error) error {
	return &fault.Error{
		File: file, Problem: "its disk is full", Err: err,
		Cure: "free space there and run the same command again: what was committed is whole",
	}
}

// NotWritten is the fault of an embedded engine whose disk cannot be written any more.
func NotWritten(file string, err error) error {
	return &fault.Error{
		File: file, Problem: "its disk cannot be written any more", Err: err,
		Cure: "repair what the system's log says of the disk, then run the same command again: what was committed is whole",
	}
}

// Damaged is the fault of an embedded engine whose file is not as it was written. A
// command that meets it ends with the status of results that differ.
func Damaged(file string, err error) error {
	if s, ok := errors.AsType[*fault.Status](err); ok && s.Code == fault.Differs {
		return err // it is reported once
	}
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{
		Problem: "archive " + file + " is damaged", Err: err,
		Cure: "bring back a copy, or remove it and load the files again; look at the disk, too",
	}}
}

// Bytes is the size of a file and of others next to it, which may not be there.
func Bytes(file string, beside ...string) (n int64, err error) {
	for i, name := range append([]string{file}, beside...) {
		info, err := os.Stat(name)
		if err == nil {
			n += info.Size()
		} else if i == 0 || !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return n, nil
}
