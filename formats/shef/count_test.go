package shef_test

import (
	"bytes"
	"regexp"
	"strings"
)

// counter counts the pieces of a product's messages. It knows only how a message, a comment and a
// piece begin and end. It shares no code with the decoder, whose account must contain the same
// number.
type counter struct {
	format   string // of the message whose body or continuation may follow; "" = none
	cut      bool   // a dot ended a body; the text before its .END belongs to it
	afterCut int64  // pieces of the lines after that dot
	lines    int64  // lines that are not blank
	pieces   int64
}

var (
	marks   = strings.NewReplacer("\r\r\n", "\n", "\r\n", "\n", "\r", "\n", "\x01", "\n", "\x03", "\n", "\v", "\n", "\f", "\n")
	hidden  = regexp.MustCompile(`(?:[\x00-\x08\x0e-\x1f\x7f]|\x{feff})(\.[ABEabe])`)
	fill    = regexp.MustCompile(`[\x00-\x08\x0e-\x1f\x7f]`) // such a byte may split a byte order mark
	message = regexp.MustCompile(`^\.([ABE])(R?)(\d{0,2})( |$)`)
)

func count(product []byte) (lines, pieces int64) {
	text := hidden.ReplaceAllString(marks.Replace(string(product)), "\n$1")
	c := &counter{}
	for line := range strings.SplitSeq(text, "\n") {
		line = fill.ReplaceAllString(line, "")
		for strings.Contains(line, "\ufeff") { // one byte order mark may split another
			line = strings.ReplaceAll(line, "\ufeff", "")
		}
		if line = strings.TrimRight(line, "\t "); !strings.HasPrefix(line, ":") {
			line = strings.TrimRight(line, "\t =&")
		}
		if line != "" {
			c.lines++
			c.line(line)
		}
	}
	return c.lines, c.pieces
}

// line counts the next line.
func (c *counter) line(raw string) {
	line := clean(raw)
	text := strings.TrimLeft(line, " ")
	indented := len(text) < len(line) || raw[0] == ':'
	kind := message.FindStringSubmatch(text)
	body := c.format == "B"
	switch {
	case raw[0] == '.' && kind != nil, !body && indented && kind != nil:
		c.pieces += pieces(strings.TrimPrefix(text, strings.TrimRight(kind[0], " ")))
		if kind[3] == "" {
			c.format, c.cut = kind[1], false
		}
	case raw[0] == '.' && (line == ".END" || strings.HasPrefix(line, ".END ")):
		if c.cut {
			c.pieces += c.afterCut
		}
		if body || c.cut {
			c.format, c.cut = "", false
		}
	case raw[0] == '.' && len(line) > 1 && strings.Contains("ABE", line[1:2]):
		c.pieces += pieces(line[1:])
		if !strings.HasPrefix(line, ".EN") {
			c.end(body)
		}
	case raw[0] == '.':
		c.end(body)
	case body:
		c.pieces += pieces(line)
	case c.cut:
		c.afterCut += pieces(line)
	}
}

// end handles a line that begins with a dot but belongs to no message.
func (c *counter) end(body bool) {
	if c.format = ""; body {
		c.cut, c.afterCut = true, 0
	}
}

// clean returns a line without comments, in capital letters except for quotations.
func clean(raw string) string {
	var b []byte
	quote, blanks := byte(0), 0
	for raw = strings.ReplaceAll(raw, "\t", " "); raw != ""; raw = raw[1:] {
		ch := raw[0]
		if quote == 0 && ch == ':' {
			_, after, ends := strings.Cut(raw[1:], ":")
			if !ends {
				break
			}
			raw = ":" + after
			continue
		}
		if blanks++; ch != ' ' {
			blanks = 0
		}
		switch {
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, blanks = ch, 0
		case quote != 0 && (ch == quote || blanks == 15):
			quote = 0
		case quote == 0:
			ch = bytes.ToUpper([]byte{ch})[0]
		}
		b = append(b, ch)
	}
	if quote == 0 {
		return string(bytes.TrimRight(b, " =&"))
	}
	return string(bytes.TrimRight(b, " "))
}

// pieces counts the pieces between slashes and commas. The first run of more than 50 blanks, where
// decoding ends, also separates pieces.
func pieces(line string) (n int64) {
	filled, quote, run, quiet, ended := false, byte(0), 0, 0, false
	for i := range len(line) {
		ch := line[i]
		if run, quiet = run+1, quiet+1; ch != ' ' {
			run, quiet = 0, 0
		}
		switch {
		case run == 51 && !ended, quote == 0 && (ch == '/' || ch == ','):
			if filled {
				n++
			}
			filled, ended = false, ended || run == 51
			continue
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, quiet = ch, 0
		case quote != 0 && (ch == quote || quiet == 15):
			quote = 0
		}
		filled = filled || ch != ' '
	}
	if filled {
		n++
	}
	return n
}
