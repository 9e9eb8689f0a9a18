package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestErrorNamesPlaceAndCure(t *testing.T) {
	for _, tc := range []struct {
		e    Error
		want string
	}{
		{Error{File: "a.vsdb", Line: 17, Problem: `lead "2x" is not a number of hours`, Cure: "line quarantined"}, `a.vsdb:17: lead "2x" is not a number of hours; line quarantined`},
		{Error{Setting: "--design wide", Problem: "is not offered", Cure: "choose another"}, "--design wide is not offered; choose another"},
		{Error{File: "x", Problem: "cannot be opened", Err: fs.ErrNotExist}, "x cannot be opened: file does not exist"},
		{Error{File: "x", Err: fs.ErrNotExist}, "x: file does not exist"},
		{Error{Setting: "--a", Err: &fs.PathError{Op: "open", Err: fs.ErrNotExist}}, "--a: open : file does not exist"},
	} {
		if got := tc.e.Error(); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}

func TestCode(t *testing.T) {
	inner := &Status{Code: Differs, Err: errors.New("2 cells are wrong")}
	for _, tc := range []struct {
		err  error
		want int
	}{{nil, 0}, {errors.New("x"), Failed}, {fmt.Errorf("met: %w", inner), Differs}, {&Error{Err: inner}, Differs}} {
		if got := Code(tc.err); got != tc.want {
			t.Errorf("Code(%v) = %d, want %d", tc.err, got, tc.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"lab", "load", "met", "show"}
	for name, want := range map[string]string{"laod": "load", "mte": "met", "shwo": "show", "lab1": "lab", "quickly": "", "": ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A name is near if at most half of its letters, rounded down, must change.
func TestNearestLimit(t *testing.T) {
	for name, want := range map[string]string{
		"wxcd": "abcd", "ubyd": "abcd", "abcde": "abcd", "wxyd": "", "wxcde": "", "x": "", "ax": "",
	} {
		if got := Nearest(name, []string{"abcd"}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The error of an unknown name lists all known names if none is near, and at most eight in addition to a near one. It does
// not repeat the only known name.
func TestUnknown(t *testing.T) {
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("name%d", i))
		}
		return all
	}
	for _, c := range []struct {
		name  string
		known int
		near  bool
		lists bool
	}{
		{"nameX", 1, true, false},
		{"nameX", 2, true, true},
		{"nameX", 8, true, true},
		{"nameX", 9, true, false},
		{"other", 1, false, true},
		{"other", 9, false, true},
	} {
		known := names(c.known)
		got := Unknown("thing", c.name, known).Error()
		near := strings.Contains(got, "did you mean name0?")
		lists := strings.Contains(strings.ToLower(got), "choose one of "+strings.Join(known, ", "))
		if near != c.near || lists != c.lists || !strings.HasPrefix(got, "thing "+c.name+" is not known; ") {
			t.Errorf("%s of %d names: %s", c.name, c.known, got)
		}
	}
}

// The exit statuses are those of the manual, on which scripts rely.
func TestExitStatuses(t *testing.T) {
	got := [...]int{Failed, Usage, Differs, Incomplete, Unreachable, Interrupted}
	if want := [...]int{1, 2, 3, 4, 5, 130}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// An error of the operating system without a cure gets one; another error does not.
func TestTextAddsCures(t *testing.T) {
	for err, want := range map[error]string{
		&fs.PathError{Op: "mkdir", Path: "a/b", Err: syscall.ENOTDIR}:                                              "mkdir a/b: not a directory; a part of this path is a file: name a folder",
		&fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}:                                                  "open a: permission denied; change its permissions, or name another place",
		&Error{File: "a", Err: &fs.PathError{Path: "a", Err: syscall.EACCES}, Cure: "x"}:                           "a: permission denied; x",
		&fs.PathError{Op: "open", Path: "a", Err: syscall.EIO}:                                                     "open a: input/output error",
		&Error{File: "x", Err: &Error{Problem: "cannot be written", Err: syscall.ENOSPC, Cure: "free some space"}}: "x cannot be written: no space left on device; free some space",
		errors.Join(&Error{Problem: "y"}, &Error{Problem: "z", Err: syscall.EROFS, Cure: "mount it"}):              "y\nz: read-only file system; mount it",
	} {
		if got := Text(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A statement that fails, and what fails in consequence, are one cause. Errors of two places stay two.
func TestTextPrintsOneCauseOnce(t *testing.T) {
	const unreachable = Class("engine is unreachable")
	lost := func(text string) error { return fmt.Errorf("%w: %s", unreachable, text) }
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errors.Join(fmt.Errorf("commit: %w", lost("EOF")), lost("no connection"), lost("no connection")), "commit: engine is unreachable: EOF"},
		{errors.Join(errors.New("commit: disk full: x"), errors.New("disk full: x")), "commit: disk full: x"},
		{
			errors.Join(&fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}, fmt.Errorf("log: %w", &fs.PathError{Op: "write", Path: "b", Err: syscall.ENOSPC}), errors.New("x")),
			"write a: no space left on device\nx; free space on that disk, or name another place",
		},
		{
			errors.Join(&fs.PathError{Op: "open", Path: "b", Err: syscall.EROFS}, &fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}),
			"open b: read-only file system\nwrite a: no space left on device; free space on that disk, or name another place",
		},
		{errors.Join(lost("a:1"), lost("b:1")), "engine is unreachable: a:1\nengine is unreachable: b:1"},
	} {
		if got := Text(tc.err); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
