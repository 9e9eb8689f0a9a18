package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
)

// loadingProcess describes this command as the one that loads an archive.
func (e *env) loadingProcess() *design.Loading {
	host, _ := os.Hostname() // "" = unknown
	command := "barograph " + strings.Join(fault.RedactArgs(e.args), " ")
	return &design.Loading{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second), Command: command}
}

// loadInProgress describes the process that loads the archive.
func loadInProgress(l *design.Loading) string {
	since := l.Since.UTC().Format(time.DateTime)
	return fmt.Sprintf("is being loaded by process %d of host %s since %s UTC: %s", l.PID, l.Host, since, fault.Redact(l.Command))
}

// loadState describes the load in a catalog: it is in progress, or it was interrupted. The commits of an interrupted
// load are complete.
func loadState(l *design.Loading) string {
	if archive.InFlight(l) {
		return loadInProgress(l)
	}
	return fmt.Sprintf("is incomplete, because its load was interrupted (process %d of host %s, started %s UTC); "+
		"to load the rest, run the same command again: %s", l.PID, l.Host, l.Since.UTC().Format(time.DateTime), fault.Redact(l.Command))
}

// requestClose makes barograph serve close an archive: serve watches the loading file, and requestClose writes there
// that a load waits.
func (e *env) requestClose(file string) error {
	if file == "" {
		return nil
	}
	l := e.loadingProcess()
	l.Waiting = true
	temporary, err := writeLoading(file, l)
	return cmp.Or(err, os.Rename(temporary, file))
}

// writeLoading writes the content of a loading file into a temporary file in the same folder. The loading file itself is never
// incomplete, even for a moment: another load would take an incomplete file for that of an interrupted load.
func writeLoading(file string, l *design.Loading) (temporary string, err error) {
	text, err := json.Marshal(l)
	temporary = fmt.Sprintf("%s.%d.%d", file, l.PID, time.Now().UnixNano())
	return temporary, cmp.Or(err, os.WriteFile(temporary, text, 0o644)) //nolint:gosec // no secret
}

// lockForLoad creates the loading file of an archive, unless another process loads the archive. unlock removes the file.
func (e *env) lockForLoad(file string) (unlock func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	temporary, err := writeLoading(file, e.loadingProcess())
	defer os.Remove(temporary) //nolint:errcheck // the file was renamed or never written
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return func() {}, err
	} else if err != nil {
		return func() {}, nil // the engine reports that this user cannot write into the folder, or has no folder
	}
	if err := createLoading(temporary, file, os.Link); err != nil {
		return nil, err
	}
	return func() { os.Remove(file) }, nil //nolint:errcheck // the next load detects that this process has ended
}

// createLoading gives the temporary file the name of the loading file, unless another process loads the archive. link is
// os.Link; a file system without hard links returns an error.
func createLoading(temporary, file string, link func(from, to string) error) error {
	var err error
	for range 100 { // each time another load has removed or replaced the file
		err = link(temporary, file)
		if err != nil {
			if _, missing := os.Lstat(file); missing != nil && !errors.Is(err, fs.ErrExist) {
				err = os.Rename(temporary, file) // on a file system without hard links
			} else {
				err = replaceLoading(temporary, file)
			}
		}
		if !errors.Is(err, errReplaced) {
			break
		}
	}
	return err
}

// errReplaced means that another load has removed or replaced the file of an interrupted load.
var errReplaced = errors.New("another load has changed the loading file")

// replaceLoading replaces the loading file of an interrupted load. Several loads may find that file at the same time, so
// only the one that has locked it, and finds it still in its place, replaces it.
func replaceLoading(temporary, file string) error {
	found, err := os.Lstat(file)
	if err != nil {
		return errReplaced
	}
	if found.Mode().IsRegular() {
		old, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return errReplaced
		} else if err != nil {
			return err // the file of another user, whose load may be in progress
		}
		defer old.Close()                                 //nolint:errcheck // read only
		_ = syscall.Flock(int(old.Fd()), syscall.LOCK_EX) // an error: the file system has no locks
		locked, err := old.Stat()
		now, nowErr := os.Lstat(file)
		if cmp.Or(err, nowErr) != nil || !os.SameFile(locked, now) {
			return errReplaced
		}
		if l := archive.ReadLoading(file); l != nil {
			return lockedError(file, l)
		}
	}
	return os.Rename(temporary, file)
}

// lockedError is the error of an archive that another process loads.
func lockedError(file string, l *design.Loading) error {
	return &fault.Error{
		File: strings.TrimSuffix(file, ".loading"), Problem: loadInProgress(l), Err: engine.ErrLocked,
		Cure: "wait for that process, or end it; if it has ended, on another host, remove " + file,
	}
}

// openError returns the error of an archive that cannot be opened; if another process loads the
// archive, the error names that process instead.
func openError(file string, err error) error {
	if l := archive.ReadLoading(file); l != nil && l.PID != os.Getpid() && errors.Is(err, engine.ErrUnreachable) {
		return lockedError(file, l)
	}
	return err
}
