package flavour

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// EscapedPrefix begins the stored name of a subset whose own name an engine reserves.
const EscapedPrefix = "^_"

// EscapeCase writes a subset's name for an engine whose names ignore case: a capital becomes ^ and
// its lower-case letter, and ^ becomes ^^. Most names do not change.
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

// ShortenName returns a name of at most maxBytes bytes: the digest of the full name, between ^ and _,
// and the beginning of name. The digest with ^ and _ has 18 bytes; name must be long enough to fill
// the remaining bytes.
func ShortenName(name, full string, maxBytes int) string {
	digest := fmt.Sprintf("^%016x_", xxh3.HashString(full))
	cut := name[:maxBytes-len(digest)]
	for !utf8.ValidString(cut) && cut != "" {
		cut = cut[:len(cut)-1]
	}
	return digest + cut
}
