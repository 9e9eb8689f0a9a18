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
		{Error{File: "a.yaml", Line: 1, Setting: "lead", Problem: "12x is no number"}, "a.yaml:1: lead: 12x is no number"},
		{Error{File: "a.yaml", Setting: "lead", Problem: "is missing"}, "a.yaml: lead is missing"},
		{Error{Setting: "--out b/c", Err: &fs.PathError{Op: "open", Path: "b/c", Err: fs.ErrPermission}}, "--out b/c: permission denied"},
		{Error{File: "a", Problem: "x", Err: &fs.PathError{Op: "open", Path: "b", Err: fs.ErrPermission}}, "a: x: open b: permission denied"},
		{Error{File: "a", Problem: "is away", Err: Class("unreachable")}, "a is away"},
		{Error{File: "a", Err: Class("unreachable")}, "a: unreachable"},
		{Error{File: "a", Problem: "is away", Err: fmt.Errorf("%w: port 7", Class("unreachable"))}, "a is away: unreachable: port 7"},
		{Error{Problem: "x", Err: errors.New("localhost (127.0.0.1): dial error: dial tcp 127.0.0.1:5432: connect: connection refused")}, "x: 127.0.0.1:5432: connection refused"},
		{Error{File: "a"}, "a"},
		{Error{File: "a", Setting: "b", Problem: "c"}, "a: b: c"},
		{Error{Problem: "x", Cure: "y"}, "x; y"},
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
		{errors.Join(fmt.Errorf("(%w", lost("EOF)")), lost("no connection")), "(engine is unreachable: EOF)"},
		{errors.Join(lost("a:1"), lost("b:1")), "engine is unreachable: a:1\nengine is unreachable: b:1"},
	} {
		if got := Text(tc.err); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestNearestPrefix: the beginning of a known name is near from three letters on, and the exact name is nearer than a
// longer one.
func TestNearestPrefix(t *testing.T) {
	known := []string{"compare-and-report", "loads", "load"}
	for name, want := range map[string]string{"com": "compare-and-report", "co": "", "loa": "loads", "load": "load"} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The distances of these pairs can be counted by hand: letters that are left out, inserted, changed or exchanged with
// their neighbors.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "", 3},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "bc", 1},
		{"bc", "abc", 1},
		{"abc", "ab", 1},
		{"abc", "axc", 1},
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
		{"ca", "abc", 3}, // a pair that was exchanged is not changed again
		{"aab", "aba", 1},
		{"kitten", "sitting", 3},
		{"xyz", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The errors of names and settings have their exit status and name what the user can write.
func TestErrorsOfNames(t *testing.T) {
	for name, want := range map[string]string{"bais": " (did you mean bias?)", "quickly": ""} {
		if got := Meant(name, []string{"bias", "rmse"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	misuse := Misuse("--lead", "is no number", "write --lead=6")
	if Code(misuse) != Usage || misuse.Error() != "--lead is no number; write --lead=6" {
		t.Errorf("%v, status %d", misuse, Code(misuse))
	}
	absent := NotOffered("--design", "document", []string{"wide", "normalized"}, "sqlite")
	if Code(absent) != Usage || absent.Error() != "--design document is not offered by sqlite; choose one of wide, normalized" {
		t.Errorf("%v, status %d", absent, Code(absent))
	}
	skip := Skip{Engine: "duckdb", Reason: "its library is not installed", Cure: "barograph lab install duckdb"}
	if got := skip.String(); got != "duckdb: skipped, its library is not installed; barograph lab install duckdb" {
		t.Error(got)
	}
	cause := errors.New("cause")
	if !errors.Is(&Error{Problem: "x", Err: cause}, cause) || !errors.Is(&Status{Err: cause}, cause) {
		t.Error("the cause is lost")
	}
}
