package ycsb

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/barograph/barograph/internal/fault"
)

// FuzzProperties: a property file is read as java.util.Properties documents it, or refused
// with its line, and no value makes the workload panic.
func FuzzProperties(f *testing.F) {
	for _, text := range []string{
		"a=1\nb: 2\\\n 3\nc\\u0041", "# c\\\na = 1\r\n! d\rb\\ c\\=d\\t 2\n", "a=\\uD83D\\uDE00\n", "a=b\\", "=1", "\\\n\n", "a\\u00", "a=\\ud800x",
		"0\\u000\\\n0", "a\\u00\\\n  4\\\n1=1", "a=\\ud83d\\\n\\ude00", "a\\u00\n41",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParseProperties("f", text)
		want, ok := javaProperties(string(text))
		if where, is := errors.AsType[*fault.Error](err); err != nil && (!is || where.File != "f" || where.Line == 0) {
			t.Errorf("an error without a place: %v", err)
		}
		if utf8.Valid(text) && ((err == nil) != ok || ok && !maps.Equal(p, want)) {
			t.Errorf("%q is %q, %v; as Java documents it %q, %t", text, p, err, want, ok)
		}
		if err == nil {
			_, _ = NewConfig(p)
		}
	})
}

// javaProperties reads a file character by character. It is false where a line has no name or
// an escape is incomplete.
func javaProperties(text string) (p Properties, ok bool) {
	p = Properties{}
	in := []rune(text)
	blank := func(c rune) bool { return c == ' ' || c == '\t' || c == '\f' }
	ends := func(i int) bool { return i >= len(in) || in[i] == '\n' || in[i] == '\r' }
	next := func(i int) int { // behind the end of a line
		if i+1 < len(in) && in[i] == '\r' && in[i+1] == '\n' {
			return i + 2
		}
		return i + 1
	}
	skip := func(i int) int {
		for i < len(in) && blank(in[i]) {
			i++
		}
		return i
	}
	for i := 0; i < len(in); {
		if i = skip(i); ends(i) || in[i] == '#' || in[i] == '!' {
			for !ends(i) {
				i++
			}
			i = next(i)
			continue
		}
		var logical []rune // the line and those that continue it: Java joins them before it reads escapes
		for !ends(i) {
			if in[i] != '\\' {
				logical, i = append(logical, in[i]), i+1
			} else if i+1 >= len(in) {
				return nil, false
			} else if ends(i + 1) {
				i = skip(next(i + 1))
			} else {
				logical, i = append(logical, in[i], in[i+1]), i+2
			}
		}
		line, escaped, ok := javaUnescape(logical)
		if !ok {
			return nil, false
		}
		i = next(i)
		end := 0
		for end < len(line) && (escaped[end] || !blank(line[end]) && line[end] != '=' && line[end] != ':') {
			end++
		}
		value := end
		for separator := false; value < len(line) && !escaped[value]; value++ {
			if c := line[value]; !blank(c) && (separator || c != '=' && c != ':') {
				break
			} else if !blank(c) {
				separator = true
			}
		}
		if end == 0 {
			return nil, false
		}
		p[joined(line[:end])] = strings.TrimRight(joined(line[value:]), " \t\f")
	}
	return p, true
}

// javaUnescape returns the characters of a logical line and which of them were escaped: these
// separate nothing. It is false where the four digits of \u are incomplete.
func javaUnescape(logical []rune) (line []rune, escaped []bool, ok bool) {
	for i := 0; i < len(logical); i++ {
		c, e := logical[i], logical[i] == '\\'
		if e {
			i++
			switch c = logical[i]; c {
			case 't':
				c = '\t'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 'f':
				c = '\f'
			case 'u':
				if i+4 >= len(logical) {
					return nil, nil, false
				}
				n, err := strconv.ParseUint(string(logical[i+1:i+5]), 16, 16)
				if err != nil {
					return nil, nil, false
				}
				c, i = rune(n), i+4 //nolint:gosec // of 16 bits
			}
		}
		line, escaped = append(line, c), append(escaped, e)
	}
	return line, escaped, true
}

// joined makes of two halves of a character, each an escape of its own, the character.
func joined(line []rune) string {
	for i := 0; i+1 < len(line); i++ {
		if c := utf16.DecodeRune(line[i], line[i+1]); c != '\uFFFD' {
			line = append(append(append([]rune{}, line[:i]...), c), line[i+2:]...)
		}
	}
	return string(line)
}
