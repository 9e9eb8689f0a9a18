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

// The file system that keeps and compares a checksum of every page, and the
// bytes that it needs in each; see checksum.c.
const (
	sumVFS   = C.SUM_VFS
	sumBytes = C.SUM_BYTES
)

// checksums makes that file system known to SQLite.
var checksums = sync.OnceValue(func() error { //nolint:gochecknoglobals // SQLite's list of file systems is the process's
	if C.barograph_checksums() != 0 {
		return errors.New("SQLite does not take a file system with checksums")
	}
	return nil
})

// wrongData is SQLITE_IOERR_DATA: a page does not fit its checksum.
var wrongData = sqlite3.ErrIoErr.Extend(32) //nolint:gochecknoglobals // a constant

var errWrongData = errors.New("a page does not fit its checksum")

// explain says where and what to do, where the disk is full or the file damaged.
func (d *database) explain(err error) error {
	e, ok := errors.AsType[sqlite3.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == sqlite3.ErrFull, e.Code == sqlite3.ErrIoErr && e.SystemErrno == syscall.ENOSPC:
		return engine.DiskFull(d.path, err)
	case e.ExtendedCode == wrongData:
		return engine.Damaged(d.path, errWrongData) // SQLite speaks of input and output
	case e.Code == sqlite3.ErrCorrupt, e.Code == sqlite3.ErrNotADB:
		return engine.Damaged(d.path, err)
	}
	return err
}
