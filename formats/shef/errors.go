package shef

import (
	"fmt"
	"strconv"
)

// Problem is an error or a warning about one place of a product. A problem
// never ends the decoding of what stands after it, except of the message or
// station whose values it makes uncertain.
type Problem struct {
	Number  int // of appendix J; 0 where the manual has none
	Warning bool
	Line    int    // of the file, 1-based
	Token   string // what is meant, at most 20 bytes
	Remark  string // of Number, or ours where that is 0
}

// Error prints "error 062 at line 7: … [PWI]".
func (p Problem) Error() string {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	s := fmt.Sprintf("%s %03d at line %d: %s", kind, p.Number, p.Line, p.Remark)
	if p.Token != "" {
		s += " " + strconv.Quote(p.Token)
	}
	return s
}

// Remark returns the text of appendix J for an error number, "" where the
// number has none.
func Remark(number int) string {
	if number < 0 || number >= len(remarks) {
		return ""
	}
	return remarks[number]
}

const maxTokens = 4096 // tokens remembered, so that equal ones are one string

// problem notes an error; the token is what stands at the cursor.
func (d *Decoder) problem(number int) { d.note(number, false, "") }

func (d *Decoder) warn(number int) { d.note(number, true, "") }

func (d *Decoder) note(number int, warning bool, remark string) {
	if remark == "" {
		remark = remarks[number]
	}
	d.out.Counts[number]++
	if warning {
		d.out.Account.Warnings++
	} else {
		d.out.Account.Errors++
	}
	from := min(d.mark, len(d.b))
	tok := d.b[from:min(from+20, len(d.b))]
	for i, c := range tok {
		if c == '/' && i > 0 {
			tok = tok[:i]
			break
		}
	}
	d.out.Problems = append(d.out.Problems, Problem{
		Number: number, Warning: warning, Line: int(d.line), Token: d.intern(tok), Remark: remark,
	})
}

// intern returns b as a string, the same for the same bytes.
func (d *Decoder) intern(b []byte) string {
	if s, ok := d.tokens[string(b)]; ok {
		return s
	}
	if len(d.tokens) >= maxTokens {
		clear(d.tokens)
	}
	s := string(b)
	d.tokens[s] = s
	return s
}
