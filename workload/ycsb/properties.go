package ycsb

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/barograph/barograph/fault"
)

// Properties are settings by their name, as YCSB has them.
type Properties map[string]string

// ParseProperties reads the format of java.util.Properties: name=value,
// name:value or name value; # and ! begin a comment; a backslash at the end
// joins the next line.
func ParseProperties(file string, text []byte) (Properties, error) {
	p := Properties{}
	lines := strings.Split(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), "\n")
	for i := 0; i < len(lines); i++ {
		number, line := i+1, strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for continues(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimLeft(lines[i], " \t\f")
		}
		end := nameEnd(line)
		name, ok1 := unescape(line[:end])
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		value, ok2 := unescape(rest)
		if name == "" || !ok1 || !ok2 {
			return nil, &fault.Error{File: file, Line: number, Problem: "is no property", Cure: "write name=value"}
		}
		p[name] = strings.TrimRight(value, " \t\f") // YCSB fails on a blank behind a number
	}
	return p, nil
}

// continues reports whether a line ends in an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func nameEnd(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=', ':', ' ', '\t', '\f':
			return i
		}
	}
	return len(line)
}

func unescape(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch c := s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if len(s) < i+5 {
				return "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", false
			}
			b.WriteRune(rune(n))
			i += 4
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r)
			i += size - 1
		}
	}
	return b.String(), true
}

// Set reads "name=value", as -p gives it.
func (p Properties) Set(assignment string) error {
	name, value, ok := strings.Cut(assignment, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return &fault.Error{Setting: "-p " + assignment, Problem: "is no property", Cure: "write -p name=value"}
	}
	p[name] = strings.TrimSpace(value)
	return nil
}
