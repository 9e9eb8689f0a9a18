package sqlite

// #cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
// #include "checksum.h"
import "C"

import (
	"errors"
	"sync"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"github.com/barograph/barograph/engine"
)

// The name of the file system that writes and compares a checksum for every page, and the number of
// bytes that it needs in each page; see checksum.c.
const (
	sumVFS   = C.SUM_VFS
	sumBytes = C.SUM_BYTES
)

// checksums registers that file system with SQLite.
var checksums = sync.OnceValue(func() error { //nolint:gochecknoglobals // SQLite's list of file systems is the process's
	if C.barograph_checksums() != 0 {
		return errors.New("SQLite refused the file system with checksums")
	}
	return nil
})

// wrongData is SQLITE_IOERR_DATA: a page does not match its checksum.
var wrongData = sqlite3.ErrIoErr.Extend(32) //nolint:gochecknoglobals // a constant

var errWrongData = errors.New("a page does not match its checksum")

// explain adds place and cure to an error if the disk is full or the file is damaged.
func (d *database) explain(err error) error {
	e, ok := errors.AsType[sqlite3.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == sqlite3.ErrFull, e.Code == sqlite3.ErrIoErr && e.SystemErrno == syscall.ENOSPC:
		return engine.DiskFullError(d.path, err)
	case e.ExtendedCode == wrongData:
		return engine.DamagedError(d.path, errWrongData) // SQLite reports an input or output error
	case e.Code == sqlite3.ErrCorrupt, e.Code == sqlite3.ErrNotADB:
		return engine.DamagedError(d.path, err)
	}
	return err
}
