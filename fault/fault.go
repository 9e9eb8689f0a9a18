// Package fault holds the one error type that Barograph prints to people: an
// error with a place and a cure.
//
// It is used where a reader of the message can do something about it: a line
// of a file, a setting of a URL, a field of a question. Every other error is
// an ordinary Go error, wrapped with %w on its way up.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Error says where something is wrong, what is wrong and what to do about it.
// Every field but Problem may be empty.
type Error struct {
	File    string // path as the user gave it
	Line    int    // 1-based; 0 = the whole file
	Setting string // flag, URL parameter or YAML field
	Problem string // what is wrong, in words
	Cure    string // what to do
	Err     error  // the cause, for errors.Is and errors.As
}

// Error prints "file:line: setting: problem: cause; cure", leaving out what is empty.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Setting != "" {
		b.WriteString(e.Setting + ": ")
	}
	b.WriteString(e.Problem)
	if e.Err != nil {
		if e.Problem != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Cure != "" {
		b.WriteString("; " + e.Cure)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Status is an error that decides the exit status of the command. The
// statuses are those of docs/exit-status.md: 1 failed, 2 usage, 3 an answer
// differs, 4 incomplete, 5 engine not reached.
type Status struct {
	Code int
	Err  error
}

// Error prints the wrapped error.
func (s *Status) Error() string { return s.Err.Error() }

// Unwrap returns the wrapped error.
func (s *Status) Unwrap() error { return s.Err }

// The exit statuses of every command.
const (
	Failed      = 1   // something that was asked could not be done
	Usage       = 2   // the command line is not understood
	Differs     = 3   // an answer differs from the reference
	Incomplete  = 4   // misses, errors, quarantined lines beyond a threshold
	Unreachable = 5   // an engine could not be reached
	Interrupted = 130 // ^C; what was written is readable
)

// Code returns the exit status that err asks for: 0 for nil, Failed where
// nothing in the chain says otherwise.
func Code(err error) int {
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[*Status](err); ok {
		return s.Code
	}
	return Failed
}

// Misuse is the error of a setting that makes no sense: a command ends in Usage.
func Misuse(setting, problem, cure string) *Status {
	return &Status{Code: Usage, Err: &Error{Setting: setting, Problem: problem, Cure: cure}}
}
