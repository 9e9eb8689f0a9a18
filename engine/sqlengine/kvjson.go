package sqlengine

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/kv"
)

// kvJSON reads and writes records as flat JSON objects of strings. It does not allocate for each record, because the
// client's own time must stay small.
type kvJSON struct {
	names  []string
	arrays bool // the first field is an array of strings
	data   []byte
	spans  []jsonSpan // by field
}

// jsonSpan is a value within data.
type jsonSpan struct {
	begin, end int
	exists     bool
}

func newKVJSON(names []string, arrays bool) *kvJSON {
	return &kvJSON{names: names, arrays: arrays, spans: make([]jsonSpan, len(names))}
}

const hexDigits = "0123456789abcdef"

// append writes the fields of the row.
func (j *kvJSON) append(to []byte, r *kv.Row) []byte {
	to = append(to, '{')
	for i := range r.Len() {
		if i > 0 {
			to = append(to, ',')
		}
		field, v := r.At(i)
		to = append(to, '"')
		to = append(to, j.names[field]...) // needs no escape, see kv.Table.Check
		to = append(to, '"', ':')
		if j.arrays && field == 0 {
			to = appendPieces(to, v)
		} else {
			to = appendText(to, v)
		}
	}
	return append(to, '}')
}

// appendPieces writes a value as an array of strings of at most kv.ArrayPiece bytes, cut between characters.
func appendPieces(to, v []byte) []byte {
	to = append(to, '[')
	for first := true; len(v) > 0; first = false {
		n := min(len(v), kv.ArrayPiece)
		for n < len(v) && n > 1 && !utf8.RuneStart(v[n]) {
			n--
		}
		if !first {
			to = append(to, ',')
		}
		to = appendText(to, v[:n])
		v = v[n:]
	}
	return append(to, ']')
}

func appendText(to, v []byte) []byte {
	to = append(to, '"')
	for _, c := range v {
		switch {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c < ' ':
			to = append(to, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			to = append(to, c)
		}
	}
	return append(to, '"')
}

var errNoRecord = errors.New("the document is not a record: it must be an object of strings")

// parse appends the record's fields, in the order of the table. It ignores members that are not fields and members that
// are null.
func (j *kvJSON) parse(doc []byte, into *kv.Row) error {
	clear(j.spans)
	j.data = j.data[:0]
	p := jsonReader{doc, 0}
	if !p.accept('{') {
		return errNoRecord
	}
	for first := true; !p.accept('}'); first = false {
		if !first && !p.accept(',') {
			return errNoRecord
		}
		if err := j.member(&p); err != nil {
			return err
		}
	}
	if p.skipBlanks(); p.pos != len(doc) {
		return errNoRecord
	}
	for i, v := range j.spans {
		if v.exists {
			into.Add(i, j.data[v.begin:v.end])
		}
	}
	return nil
}

// member parses one member of the object.
func (j *kvJSON) member(p *jsonReader) (err error) {
	begin := len(j.data)
	if j.data, err = p.appendString(j.data); err != nil {
		return err
	}
	field := -1
	for i := range j.names {
		if string(j.data[begin:]) == j.names[i] {
			field = i
			break
		}
	}
	j.data = j.data[:begin]
	if !p.accept(':') {
		return errNoRecord
	}
	if p.acceptWord("null") {
		return nil
	}
	if j.arrays && p.accept('[') {
		j.data, err = p.appendStrings(j.data)
	} else {
		j.data, err = p.appendString(j.data)
	}
	if err != nil {
		return err
	}
	if field >= 0 {
		j.spans[field] = jsonSpan{begin, len(j.data), true}
	}
	return nil
}

// jsonReader reads a JSON text from left to right.
type jsonReader struct {
	s   []byte
	pos int
}

func (p *jsonReader) skipBlanks() {
	for p.pos < len(p.s) && (p.s[p.pos] == ' ' || p.s[p.pos] == '\n' || p.s[p.pos] == '\t' || p.s[p.pos] == '\r') {
		p.pos++
	}
}

// accept skips blanks, and c if it follows.
func (p *jsonReader) accept(c byte) bool {
	if p.skipBlanks(); p.pos < len(p.s) && p.s[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// acceptWord skips blanks, and w if it follows.
func (p *jsonReader) acceptWord(w string) bool {
	if p.skipBlanks(); len(p.s)-p.pos >= len(w) && string(p.s[p.pos:p.pos+len(w)]) == w {
		p.pos += len(w)
		return true
	}
	return false
}

// appendStrings appends the strings of an array, joined. The caller has accepted the opening bracket.
func (p *jsonReader) appendStrings(to []byte) ([]byte, error) {
	for first := true; !p.accept(']'); first = false {
		if !first && !p.accept(',') {
			return to, errNoRecord
		}
		var err error
		if to, err = p.appendString(to); err != nil {
			return to, err
		}
	}
	return to, nil
}

// appendString appends the next string.
func (p *jsonReader) appendString(to []byte) ([]byte, error) {
	if !p.accept('"') {
		return to, errNoRecord
	}
	for p.pos < len(p.s) {
		switch c := p.s[p.pos]; {
		case c == '"':
			p.pos++
			return to, nil
		case c < ' ':
			return to, errNoRecord
		case c != '\\':
			to = append(to, c)
			p.pos++
		default:
			var err error
			if to, err = p.appendEscape(to); err != nil {
				return to, err
			}
		}
	}
	return to, errNoRecord
}

// appendEscape appends the character of an escape sequence.
func (p *jsonReader) appendEscape(to []byte) ([]byte, error) {
	if p.pos+1 >= len(p.s) {
		return to, errNoRecord
	}
	c := p.s[p.pos+1]
	p.pos += 2
	switch c {
	case '"', '\\', '/':
		return append(to, c), nil
	case 'b':
		return append(to, '\b'), nil
	case 'f':
		return append(to, '\f'), nil
	case 'n':
		return append(to, '\n'), nil
	case 'r':
		return append(to, '\r'), nil
	case 't':
		return append(to, '\t'), nil
	case 'u':
		r, ok := p.codeUnit()
		if !ok {
			return to, errNoRecord
		}
		if utf16.IsSurrogate(r) {
			pos := p.pos
			if len(p.s)-p.pos >= 2 && p.s[p.pos] == '\\' && p.s[p.pos+1] == 'u' {
				p.pos += 2
				if low, ok := p.codeUnit(); ok {
					if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
						return utf8.AppendRune(to, pair), nil
					}
				}
			}
			p.pos, r = pos, utf8.RuneError
		}
		return utf8.AppendRune(to, r), nil
	}
	return to, errNoRecord
}

// codeUnit reads the four hexadecimal digits of a UTF-16 code unit.
func (p *jsonReader) codeUnit() (rune, bool) {
	if len(p.s)-p.pos < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.s[p.pos:p.pos+4]), 16, 16)
	p.pos += 4
	return rune(n), err == nil
}
