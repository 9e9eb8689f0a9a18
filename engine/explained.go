package engine

import (
	"errors"
	"io/fs"
	"os"

	"github.com/barograph/barograph/internal/fault"
)

// DiskFullError is the fault of an embedded engine, or of a server, whose disk has no space left.
func DiskFullError(file string, err error) error {
	return &fault.Error{
		File: file, Problem: "its disk is full", Err: err,
		Cure: "free space on that disk and run the same command again: everything that was committed is intact",
	}
}

// NotWritableError is the fault of an embedded engine whose disk cannot be written any more.
func NotWritableError(file string, err error) error {
	return &fault.Error{
		File: file, Problem: "its disk cannot be written any more", Err: err,
		Cure: "see the system's log for the disk's fault and repair it, then run the same command again: everything that was committed is intact",
	}
}

// DamagedError is the fault of an embedded engine whose file has changed since the engine wrote
// it. A command that returns it exits with the status for results that differ.
func DamagedError(file string, err error) error {
	if s, ok := errors.AsType[*fault.Status](err); ok && s.Code == fault.Differs {
		return err // it is already reported as damage
	}
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{
		Problem: "archive " + file + " is damaged", Err: err,
		Cure: "restore a copy, or remove the archive and load the files again; also check the disk",
	}}
}

// Bytes returns the total size of a file and of other files that belong to it. The others may be missing.
func Bytes(file string, others ...string) (n int64, err error) {
	for i, name := range append([]string{file}, others...) {
		info, err := os.Stat(name)
		if err == nil {
			n += info.Size()
		} else if i == 0 || !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return n, nil
}
