package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
)

// loading says of this command that it loads.
func (e *env) loading() *design.Loading {
	host, _ := os.Hostname() // "" where nobody knows it
	return &design.Loading{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second), Command: "barograph " + strings.Join(redacted(e.args), " ")}
}

func holds(l *design.Loading) string {
	return fmt.Sprintf("is being loaded by process %d of host %s since %s UTC: %s", l.PID, l.Host, l.Since.UTC().Format(time.DateTime), l.Command)
}

// loads tells of a load that a catalog knows of: it is under way, or it was broken
// off, and then what it has stored is whole and the rest is not there.
func loads(l *design.Loading) string {
	if archive.InFlight(l) {
		return holds(l)
	}
	return fmt.Sprintf("was being loaded when that was broken off (process %d of host %s, started %s UTC); what is not there yet is brought by the same command again: %s", l.PID, l.Host, l.Since.UTC().Format(time.DateTime), l.Command)
}

// askToClose asks whoever only looks at an archive to close it: barograph serve
// sees the file of the load that waits for it.
func (e *env) askToClose(file string) error {
	l := e.loading()
	l.Waiting = true
	text, err := json.Marshal(l)
	if err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, text, 0o644) //nolint:gosec // no secret
}

// hold writes who loads, unless another one does.
func (e *env) hold(file string) (free func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	text, err := json.Marshal(e.loading())
	for range 2 {
		var f *os.File
		if f, err = os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil { //nolint:gosec // no secret
			_, err = f.Write(text)
			return func() { os.Remove(file) }, errors.Join(err, f.Close()) //nolint:errcheck // whoever comes next sees that this process is gone
		}
		if !errors.Is(err, fs.ErrExist) {
			return func() {}, nil // the folder cannot be written: the engine says so, in its words
		}
		if l := archive.ReadLoading(file); l != nil {
			return nil, held(file, l)
		}
		os.Remove(file) //nolint:errcheck // a load that was broken off has left it
	}
	return nil, err
}

func held(file string, l *design.Loading) error {
	return &fault.Error{
		File: strings.TrimSuffix(file, ".loading"), Problem: holds(l), Err: engine.ErrLocked,
		Cure: "wait for it or end it; where that process is no more, on another host, remove " + file,
	}
}

// notHeld is the error of an archive that cannot be opened, or who loads it.
func notHeld(file string, err error) error {
	if l := archive.ReadLoading(file); l != nil && l.PID != os.Getpid() && errors.Is(err, engine.ErrUnreachable) {
		return held(file, l)
	}
	return err
}
