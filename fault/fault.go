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
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"
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

// Text prints the error of a whole command: what several met once, and with a
// cure where a disk took no more and nobody has named one.
func Text(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimRight(line, "\n"); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	if f, ok := errors.AsType[*Error](err); ok && f.Cure != "" {
		return text
	}
	for reason, cure := range map[syscall.Errno]string{
		syscall.ENOSPC: "free space there, or name another place",
		syscall.EDQUOT: "your quota is used up: remove what you need no more, or name another place",
		syscall.EROFS:  "its file system is read-only: name another place",
	} {
		if errors.Is(err, reason) {
			return text + "; " + cure
		}
	}
	return text
}

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

// What stands for a secret, and what is taken for one: the password of a URL
// or DSN, up to the last @ of the word, as passwords hold anything; and the
// value of whatever has the name of a secret. More may be hidden than need be.
const hidden = "xxxxx"

const secretNames = `(?:passw(?:or)?d|passphrase|pwd|secret|credential|api_?key|access_?key|auth_?token|requirepass|masterauth)`

// action is a part of the faults that are inflicted on servers.
const action = `(?:kill|restart|stop|resume|partition|heal|slow|fast|(?:no-)?delay|(?:full-)?bandwidth|disk-full|disk-free|power-off|power-on)(?::(?:node)?\d+)?(?::[\d.]+(?:[mun]?s|[kmg]?bit))?`

var (
	urlPassword = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*(?:://|%3A%2F%2F)[^\s:@/"%]*(?::|%3A))[^\s"]*(@|%40)`)
	dsnPassword = regexp.MustCompile(`([\w.%+-]+):[^\s"/@][^\s"]*@`)
	noPassword  = regexp.MustCompile(`^(?:` + action + `@[\d.]+m?s,)*` + action + `@$`) // kill:node2@20s,restart@40s
	namedSecret = regexp.MustCompile(`(?i)(` + secretNames + `[\w.-]*(?:["']?\s*=\s*|["']\s*:\s*))(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s&"']*[^\s&"':;,])`)
	secretName  = regexp.MustCompile(`(?i)` + secretNames)
)

// Redact prints a text without its secrets. It is the one printer of URLs,
// DSNs, properties, settings, plans and errors.
func Redact(text string) string {
	text = urlPassword.ReplaceAllString(text, "${1}"+hidden+"$2")
	text = dsnPassword.ReplaceAllStringFunc(text, func(dsn string) string {
		if noPassword.MatchString(dsn) {
			return dsn
		}
		user, _, _ := strings.Cut(dsn, ":")
		return user + ":" + hidden + "@"
	})
	return namedSecret.ReplaceAllString(text, "${1}"+hidden)
}

// RedactValue prints a value without its secrets: all of it is one where its name says so.
func RedactValue(name, value string) string {
	if value != "" && secretName.MatchString(name) {
		return hidden
	}
	return Redact(value)
}

// Redacting writes on without secrets; each Write is a whole message.
func Redacting(w io.Writer) io.Writer { return redacting{w} }

type redacting struct{ io.Writer }

func (r redacting) Write(p []byte) (int, error) {
	_, err := fmt.Fprint(r.Writer, Redact(string(p)))
	return len(p), err
}

// Unknown is the error of a name that is none of those known; the cure names
// the nearest, and all.
func Unknown[T ~string](setting, name string, known []T) *Error {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	cure := "choose one of " + strings.Join(names, ", ")
	if near := Nearest(name, names); near != "" {
		cure = "did you mean " + near + "? Choose one of " + strings.Join(names, ", ")
	}
	return &Error{Setting: setting + " " + name, Problem: "is not known", Cure: cure}
}

// Meant is " (did you mean X?)", where a known name is near.
func Meant(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// Nearest is the known name that is nearest to a misspelt one; "" where none
// is near.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to leave out, put in, change or exchange
// with their neighbours (optimal string alignment).
func distance(a, b string) int {
	var before, row []int // of the letters of a up to the one before last, and to the last
	for k := range len(b) + 1 {
		row = append(row, k)
	}
	for i := range len(a) {
		next := []int{i + 1}
		for k := range len(b) {
			cost := row[k]
			if a[i] != b[k] {
				cost++
			}
			d := min(cost, next[k]+1, row[k+1]+1)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				d = min(d, before[k-1]+1)
			}
			next = append(next, d)
		}
		before, row = row, next
	}
	return row[len(b)]
}

// NotOffered is the error of a name that is known and not offered by all, or by
// none; a command ends in Usage.
func NotOffered[T ~string](setting string, name T, offered []T, by string) *Status {
	e := Unknown(setting, string(name), offered)
	e.Problem = "is not offered by " + by
	return &Status{Code: Usage, Err: e}
}
