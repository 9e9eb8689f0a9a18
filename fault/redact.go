package fault

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// What stands for a secret, and what is taken for one: the password of a URL
// or DSN, up to the last @ of the word, as passwords hold anything; and the
// value of whatever has the name of a secret. More may be hidden than need be.
const hidden = "xxxxx"

const secretNames = `(?:passw(?:or)?d|passphrase|pwd|secret|credential|api_?key|access_?key|auth_?token|requirepass|masterauth)`

// action is a part of the faults that are inflicted on servers.
const action = `(?:kill|restart|stop|resume|partition|heal)(?::(?:node)?\d+)?`

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
