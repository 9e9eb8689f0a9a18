// Package fault defines the error type that Barograph prints to users: an error with a place and a
// cure.
//
// Code uses it if the reader of the message can act on it: on a line of a file, a setting of a URL,
// or a field of a question. Every other error is an ordinary Go error, wrapped with %w.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/barograph/barograph/internal/lists"
)

// Error contains the place, the problem and the cure of an error. Every field except Problem may be
// empty.
type Error struct {
	File    string // path as the user gave it
	Line    int    // 1-based; 0 = the complete file
	Setting string // flag, URL parameter or YAML field
	Problem string // the problem, in words
	Cure    string // what the user can do
	Err     error  // the cause, for errors.Is and errors.As
}

// Class is an error that only classifies another one: it is not printed after a problem.
type Class string

func (c Class) Error() string { return string(c) }

// predicate is the verb of a problem whose subject is the file or setting before it.
var predicate = regexp.MustCompile(`^(is|are|has|have|holds?|names?|needs?|cannot|does|do|was|were|takes?|can|must|would|lacks?|comes?|ends|gives?|reports?|contains?|starts?|allows?|offers?|runs?|accepts?|appl(?:y|ies)|works?|replaces?|searches|exists?|declares?|differs?|already|and|belongs?|describes?|occurs?|writes?) `)

// Error prints "file:line: setting: problem: cause; cure". It omits empty fields, and the colon
// before a problem that is the predicate of a sentence.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(Name(e.File))
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
	}
	if e.Setting != "" {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(Name(e.Setting))
	}
	problem := e.Problem
	// The cause is printed unless it is only a Class, which adds nothing to a problem.
	if class, _ := errors.AsType[Class](e.Err); e.Err != nil && (e.Problem == "" || e.Err.Error() != string(class)) {
		problem = strings.TrimPrefix(problem+": "+e.cause(), ": ")
	}
	switch {
	case b.Len() == 0 || problem == "":
	case predicate.MatchString(problem):
		b.WriteString(" ")
	default:
		b.WriteString(": ")
	}
	b.WriteString(problem)
	if e.Cure != "" {
		b.WriteString("; " + e.Cure)
	}
	return b.String()
}

// dialing matches Go's text about a connection before the reason.
var dialing = regexp.MustCompile(`(?:\S+ \([^)]*\): dial error: )?dial tcp (\S+): connect: `)

// cause prints the cause, without the name of the file if that is the error's own.
func (e *Error) cause() string {
	if p, ok := e.Err.(*fs.PathError); ok && p.Path != "" && (p.Path == e.File || strings.Contains(e.Setting, p.Path)) { //nolint:errorlint // a chain may contain more
		return p.Err.Error()
	}
	return dialing.ReplaceAllString(Message(e.Err), "$1: ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Skip is an engine that a study omits from its default set, because the engine's library or server
// is not installed.
type Skip struct {
	Engine string `json:"engine"`
	Reason string `json:"reason"` // "its library is not installed"
	Cure   string `json:"cure"`   // a command
}

func (s Skip) String() string { return s.Engine + ": skipped, " + s.Reason + "; " + s.Cure }

// Text prints the error of a complete command, and each cause only once. It omits a line
//   - if an earlier line ends with it;
//   - if it begins with the text of the error's Class, and an earlier line has this text after the name of what failed;
//   - if it ends with the same reason of a disk (full, read-only, quota) as an earlier line.
//
// If no error has a cure, and the cause is a disk, a quota, a permission or a file in place of a folder, Text adds one.
func Text(err error) string {
	var lines []string
	class, _ := errors.AsType[Class](err)
	ofOneDisk := func(a, b string) bool {
		return slices.ContainsFunc([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS}, func(reason syscall.Errno) bool {
			return strings.HasSuffix(a, ": "+reason.Error()) && strings.HasSuffix(b, ": "+reason.Error())
		})
	}
	for line := range strings.Lines(Message(err)) {
		line = strings.TrimRight(line, "\n")
		repeats := func(earlier string) bool {
			follows := ofOneDisk(line, earlier) || class != "" && strings.HasPrefix(line, string(class)) && strings.Index(earlier, string(class)) > 0
			return follows || strings.HasSuffix(earlier, line)
		}
		if !slices.ContainsFunc(lines, repeats) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	for _, c := range []Error{
		{Err: syscall.ENOSPC, Cure: "free space on that disk, or name another place"},
		{Err: syscall.EDQUOT, Cure: "your quota is used up: remove what you need no more, or name another place"},
		{Err: syscall.EROFS, Cure: "its file system is read-only: name another place"},
		{Err: syscall.EACCES, Cure: "change its permissions, or name another place"},
		{Err: syscall.ENOTDIR, Cure: "a part of this path is a file: name a folder"},
	} {
		if errors.Is(err, c.Err) && !hasCure(err) {
			return text + "; " + c.Cure
		}
	}
	return text
}

// hasCure reports whether an error, or one that it wraps, has a cure.
func hasCure(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *Error:
		return e.Cure != "" || hasCure(e.Err)
	case interface{ Unwrap() error }:
		return hasCure(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), hasCure)
	}
	return false
}

// Name prints the name of a file; all names are printed by it. It escapes characters that move the
// cursor, start a new line or reorder the text, because a name could otherwise forge a line of
// output.
func Name(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 && utf8.ValidString(name) {
		return name
	}
	quoted := strconv.Quote(name)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// Message prints an error of the operating system, or a chain whose last error is one, with the
// names of its files by Name.
func Message(err error) string {
	text := err.Error()
	var walk func(err error)
	walk = func(err error) {
		switch e := err.(type) { //nolint:errorlint // this code walks the tree
		case *fs.PathError:
			text = strings.ReplaceAll(text, e.Path, Name(e.Path))
		case *os.LinkError:
			text = strings.ReplaceAll(strings.ReplaceAll(text, e.Old, Name(e.Old)), e.New, Name(e.New))
		case interface{ Unwrap() error }:
			if next := e.Unwrap(); next != nil {
				walk(next)
			}
		case interface{ Unwrap() []error }:
			for _, next := range e.Unwrap() {
				walk(next)
			}
		}
	}
	walk(err)
	return text
}

// Plain escapes the characters of a text that control a terminal. It keeps line ends and tabs.
func Plain(text string) string {
	if !controls.MatchString(text) {
		return text
	}
	return controls.ReplaceAllStringFunc(text, func(s string) string { return strings.Trim(strconv.QuoteToASCII(s), `"`) })
}

var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

// Status is an error that determines the exit status of the command. docs/reference/exit-status.md
// lists the statuses: 1 failed, 2 usage, 3 an answer differs or an archive is damaged, 4
// incomplete, 5 engine not reached.
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
	Failed      = 1   // the command could not do everything that the user requested
	Usage       = 2   // the command line is invalid
	Differs     = 3   // an answer differs from the reference, or an archive is damaged
	Incomplete  = 4   // lines are quarantined, files are unreadable, records are missing, or a threshold is exceeded
	Unreachable = 5   // an engine could not be reached
	Interrupted = 130 // ^C; the data written until then are readable
)

// Code returns the exit status of err: 0 for nil, that of the first Status in the chain, and
// otherwise Failed.
func Code(err error) int {
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[*Status](err); ok {
		return s.Code
	}
	return Failed
}

// Misuse returns the error of an invalid setting, with the exit status Usage.
func Misuse(setting, problem, cure string) *Status {
	return &Status{Code: Usage, Err: &Error{Setting: setting, Problem: problem, Cure: cure}}
}

// hidden replaces a secret: the password of a URL or DSN, and the value of each name that names a
// secret. It may also replace a text that is not secret.
const hidden = "xxxxx"

const secretNames = `(?:passw(?:or)?d|passphrase|pwd|secret|credential|api_?key|access_?key|auth_?token|requirepass|masterauth)`

// moment matches a duration as Go prints it, such as 1m20s.
const moment = `(?:[\d.]+(?:ns|us|µs|ms|s|m|h))+`

// action matches a fault that Barograph inflicts on servers.
const action = `(?:kill|restart|stop|resume|partition|heal|slow|fast|(?:no-)?delay|(?:full-)?bandwidth|disk-full|disk-free|power-off|power-on)(?::(?:node)?\d+)?(?::(?:` + moment + `|[\d.]+[kmg]?bit))?`

var (
	urlStart    = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://`)
	quotedURL   = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*%3A%2F%2F[^\s:@/"%]*(?::|%3A))[^\s"]*(@|%40)`) // as a parameter of another URL
	dsnPassword = regexp.MustCompile(`([\w.%+-]+):[^\s"/@][^\s"]*@`)
	noPassword  = regexp.MustCompile(`^(?:` + action + `@` + moment + `,)*` + action + `@$`) // kill:node2@20s,restart@1m0s
	namedSecret = regexp.MustCompile(`(?i)(` + secretNames + `[\w.-]*(?:["']?\s*=\s*|["']\s*:\s*))(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s&"']*[^\s&"':;,])`)
	secretValue = regexp.MustCompile(`(?i)` + secretNames + `[\w.-]*=([^&]+)`) // of an argument
	atInName    = regexp.MustCompile(`(?:^|&)[^&=]*@`)                         // of a parameter
	secretName  = regexp.MustCompile(`(?i)` + secretNames)
)

// Redact prints a text without its secrets. URLs, DSNs, properties, settings, plans and errors are
// all printed by it.
func Redact(text string) string {
	text = quotedURL.ReplaceAllString(redactURLs(text), "${1}"+hidden+"$2")
	text = dsnPassword.ReplaceAllStringFunc(text, func(dsn string) string {
		if noPassword.MatchString(dsn) {
			return dsn
		}
		user, _, _ := strings.Cut(dsn, ":")
		return user + ":" + hidden + "@"
	})
	return namedSecret.ReplaceAllString(text, "${1}"+hidden)
}

// redactURLs hides the passwords of the URLs of a text. In a URL that cannot be parsed it hides
// everything from the scheme to the last @ of its line, because a password may contain blanks, tabs
// and quotes.
func redactURLs(text string) string {
	var b strings.Builder
	for {
		at := urlStart.FindStringIndex(text)
		if at == nil {
			return b.String() + text
		}
		scheme, rest := text[at[0]:at[1]], text[at[1]:]
		b.WriteString(text[:at[1]])
		end := len(rest) // end of the line, or the beginning of the next URL
		if next := urlStart.FindStringIndex(rest); next != nil {
			end = next[0]
		}
		if i := strings.IndexByte(rest[:end], '\n'); i >= 0 {
			end = i
		}
		word := rest[:end]
		if i := strings.IndexAny(word, " \t\v\f\r\""); i >= 0 {
			word = word[:i]
		}
		user, host := "", word
		if i := strings.LastIndexByte(word, '@'); i >= 0 {
			user, host = word[:i], word[i+1:]
		}
		authority, _, _ := strings.Cut(strings.TrimRight(host, ".,:;)'"), "/")
		lastAt := strings.LastIndexByte(rest[:end], '@')
		hiddenTo := -1 // index in rest of the @ up to which everything is hidden; -1 = nothing
		switch name, _, secret := strings.Cut(user, ":"); {
		case secret:
			b.WriteString(name + ":" + hidden + "@")
			hiddenTo = len(user)
		case lastAt > len(user) && !isHost(scheme, authority):
			b.WriteString(hidden + "@")
			hiddenTo = lastAt
		}
		text = rest[hiddenTo+1:]
	}
}

// isHost reports whether a text is the host of a URL, or several with their ports.
func isHost(scheme, hosts string) bool {
	for host := range strings.SplitSeq(hosts, ",") {
		host, _, _ = strings.Cut(host, "?")
		if _, err := url.Parse(scheme + host); err != nil {
			return false
		}
	}
	return true
}

// ParseURL parses the URL of a database; all URLs from users are parsed by it. It refuses a URL of which url.Query
// would drop a part without an error. Its error contains only the scheme of the URL and the name of a parameter.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	place, problem := "", "cannot be parsed"
	cure := `write it as in ` + "`barograph list engines`" + `; signs other than letters and digits of a user's name, a password or a database are written as %20 (blank), %22 ("), %23 (#), %2F (/), %3A (:), %3B (;), %40 (@), or the password is in a file: ?passfile=FILE`
	if err == nil {
		params := strings.Split(u.RawQuery, "&")
		bad := slices.IndexFunc(params, func(p string) bool { _, err := url.ParseQuery(p); return err != nil })
		switch {
		case u.Host != "" && u.User == nil && (strings.Contains(u.Path+u.Fragment, "@") || atInName.MatchString(u.RawQuery)):
			problem = "has an @ after its host" // the host may be a user's name, and the path the remainder of a password
		case bad >= 0 && !strings.Contains(u.RawQuery, "@"): // otherwise the name may be a part of a password
			place, problem = ", parameter "+strings.Split(params[bad], "=")[0], "contains a semicolon, or a % without two hexadecimal digits"
			cure = "separate parameters with &; in a value, write a semicolon as %3B and a % as %25"
		case bad < 0 && u.Fragment != "":
			problem, cure = "contains a #, and would end there", "write it as %23"
		case bad < 0:
			return u, nil
		}
	}
	scheme, _, _ := strings.Cut(raw, ":")
	if start := scheme + "://"; urlStart.FindString(start) != start {
		scheme = "xxxxx"
	}
	return nil, &Error{Setting: "URL " + scheme + ":" + hidden + place, Problem: problem, Cure: cure}
}

// secrets returns those secrets of a command line that Redact cannot delimit in a text, such as a password with blanks
// or quotes. It returns each one as written and unescaped.
func secrets(args []string) (all []string) {
	add := func(secret string) {
		plain, _ := url.PathUnescape(secret)
		plain = cmp.Or(plain, secret) // the escape may be incomplete
		if len(plain) > 2 && strings.ContainsAny(plain, " \t\v\f\r\n\"'@/") {
			all = append(all, secret, plain, strings.Trim(strconv.Quote(secret), `"`), strings.Trim(strconv.Quote(plain), `"`))
		}
	}
	for _, arg := range args {
		if at := urlStart.FindStringIndex(arg); at != nil {
			if last := strings.LastIndexByte(arg, '@'); last > at[1] {
				if _, password, ok := strings.Cut(arg[at[1]:last], ":"); ok {
					add(password)
				}
			}
		}
		for _, m := range secretValue.FindAllStringSubmatch(arg, -1) {
			add(m[1])
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// RedactValue prints a value without its secrets. If the name names a secret, the complete value is
// secret.
func RedactValue(name, value string) string {
	if value != "" && secretName.MatchString(name) {
		return hidden
	}
	return Redact(value)
}

// assignment matches an argument name=value or --flag=name=value. A URL with a parameter is none.
var assignment = regexp.MustCompile(`^((?:--?[\w-]+=)?[\w.-]+)=`)

// RedactArgs returns the arguments of a command without their secrets. If the name before a value names a secret, the
// complete value is secret.
func RedactArgs(args []string) []string {
	known := replacer(args)
	return lists.Map(args, func(arg string) string {
		if m := assignment.FindStringSubmatch(arg); m != nil && secretName.MatchString(m[1]) {
			return m[1] + "=" + hidden
		}
		return Redact(known.Replace(arg))
	})
}

// replacer hides those secrets of a command line that Redact cannot delimit in a text.
func replacer(args []string) *strings.Replacer {
	var pairs []string
	for _, secret := range secrets(args) {
		pairs = append(pairs, secret, hidden)
	}
	return strings.NewReplacer(pairs...)
}

// Redacting returns a writer that writes to w without secrets, including those of the command line
// args, and without control characters. Each Write must be a complete message.
func Redacting(w io.Writer, args ...string) io.Writer {
	return redacting{w, replacer(args)}
}

type redacting struct {
	io.Writer
	known *strings.Replacer
}

func (r redacting) Write(p []byte) (int, error) {
	_, err := fmt.Fprint(r.Writer, Plain(Redact(r.known.Replace(string(p)))))
	return len(p), err
}

// Unknown returns the error of an unknown name. The cure contains the nearest known name. It lists
// all known names if there are at most eight, or if none is near.
func Unknown[T ~string](setting, name string, known []T) *Error {
	names := lists.Map(known, func(k T) string { return string(k) })
	cure := "choose one of " + strings.Join(names, ", ")
	if near := Nearest(name, names); near != "" {
		if cure = "did you mean " + near + "?"; len(names) > 1 && len(names) <= 8 {
			cure += " Choose one of " + strings.Join(names, ", ")
		}
	}
	return &Error{Setting: setting + " " + name, Problem: "is not known", Cure: cure}
}

// Meant returns " (did you mean X?)" if a known name is near, and otherwise "".
func Meant(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// Nearest returns the known name that is nearest to a misspelled one; "" if none is near.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		d := distance(name, k)
		if len(name) > 2 && strings.HasPrefix(k, name) { // the user typed only the beginning
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to omit, insert, change or exchange with their neighbors
// (optimal string alignment).
func distance(a, b string) int {
	var before, row []int // distances of a[:i-1] and a[:i] from the prefixes of b
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

// NotOffered returns the error of a name that Barograph knows but that the engines in by do not offer, with the exit
// status Usage. offered are the names that they offer.
func NotOffered[T ~string](setting string, name T, offered []T, by string) *Status {
	e := Unknown(setting, string(name), offered)
	e.Problem = "is not offered by " + by
	return &Status{Code: Usage, Err: e}
}
