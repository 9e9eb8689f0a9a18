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
	l := e.loadingProcess()
	l.Waiting = true
	text, err := json.Marshal(l)
	if err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, text, 0o644) //nolint:gosec // no secret
}

// lockForLoad creates the loading file of an archive, unless another process loads the archive. unlock removes the file.
// The file is never empty, even for a moment: another load would take an empty file for that of an interrupted load.
func (e *env) lockForLoad(file string) (unlock func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	text, err := json.Marshal(e.loadingProcess())
	temporary := fmt.Sprintf("%s.%d", file, time.Now().UnixNano())
	defer os.Remove(temporary)                              //nolint:errcheck // the file was renamed or never written
	err = cmp.Or(err, os.WriteFile(temporary, text, 0o644)) //nolint:gosec // no secret
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return func() {}, err
	} else if err != nil {
		return func() {}, nil // the engine reports that this user cannot write into the folder, or has no folder
	}
	for range 2 {
		if err = os.Link(temporary, file); err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(temporary, file) // on a file system without hard links
		}
		if err == nil {
			return func() { os.Remove(file) }, nil //nolint:errcheck // the next load detects that this process has ended
		}
		if l := archive.ReadLoading(file); l != nil {
			return nil, lockedError(file, l)
		}
		os.Remove(file) //nolint:errcheck // an interrupted load has left the file
	}
	return nil, err
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
