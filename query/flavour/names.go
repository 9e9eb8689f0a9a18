package flavour

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Escaped stands before the name of a subset that an engine keeps for itself.
const Escaped = "^_"

// EscapeCase writes a subset's name for an engine that does not tell A from a in
// names: a capital is ^ and its small letter, and ^ is ^^. Most names stay as
// they are.
func EscapeCase(subset string) string {
	var b strings.Builder
	for i := range len(subset) {
		switch c := subset[i]; {
		case c >= 'A' && c <= 'Z':
			b.WriteString("^" + string(rune(c-'A'+'a')))
		case c == '^':
			b.WriteString("^^")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// UnescapeCase is the inverse of EscapeCase.
func UnescapeCase(schema string) string {
	var b strings.Builder
	for i := 0; i < len(schema); i++ {
		c := schema[i]
		if c == '^' && i+1 < len(schema) {
			i++
			if c = schema[i]; c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Shortened cuts a name that is longer than so many bytes, and puts the digest of
// what it stands for in front.
func Shortened(name, of string, most int) string {
	digest := fmt.Sprintf("^%016x_", xxh3.HashString(of))
	cut := name[:most-len(digest)]
	for !utf8.ValidString(cut) && cut != "" {
		cut = cut[:len(cut)-1]
	}
	return digest + cut
}
