package shef

import "bytes"

// dotA reads the data string of a .A message, or its continuation line (4.2).
func (d *Decoder) dotA() {
	m := &d.m
	for {
		d.blanks()
		if d.i == len(d.b) {
			break
		}
		switch d.b[d.i] {
		case '/':
			d.next()
		case 'D':
			if !d.respecify() {
				return
			}
		default:
			d.parameterAndValue()
		}
	}
	m.endsInSlash = d.b[len(d.b)-1] == '/'
}

// respecify reads a D element of a .A or .E message. After an error the meaning of the following
// values is uncertain, and the message ends.
func (d *Decoder) respecify() bool {
	from, before := d.i, d.m.scope
	set, number := d.dElement(&d.m.scope)
	apart := from+2 < len(d.b) && d.b[from+2] == ' ' // "DD 20": a code and a value, no date
	if number != 0 && d.lenient && (number == 20 || apart) {
		d.problem(number)
		d.i, d.m.scope, d.m.rescued = from, before, true
		d.loseRestOfPiece()
		return true
	}
	if number != 0 {
		d.problem(number)
		d.lost()
		d.endMessage()
		return false
	}
	d.control()
	if set == setTime {
		d.m.rel = shift{}
	}
	d.m.hasBase = false
	return true
}

// token returns the word at the cursor, up to a blank, slash, comma or quote.
func (d *Decoder) token() []byte {
	d.mark = d.i
	d.skipToken()
	return d.b[d.mark:d.i]
}

// parameterAndValue reads a parameter code and its value with qualifier and comment, such as "HG
// 2.3E".
func (d *Decoder) parameterAndValue() {
	m := &d.m
	if d.stray() {
		return
	}
	number := m.param.resolve(d.tables, d.token())
	if number != 0 {
		if d.i == d.mark { // a comma
			d.next()
			return
		}
		d.problem(number)
		d.i = d.mark
		d.loseRestOfPiece()
		d.loseNext()
		return
	}
	d.blanks()
	if d.i == len(d.b) || d.at('/') {
		d.control()
		if !d.valueAfterSlash() {
			return
		}
	}
	var r reading
	kind := d.value(&r)
	if kind != found {
		if kind == nothing {
			d.problem(37)
		}
		d.lost()
		d.toSlash()
		return
	}
	if !d.comma() {
		d.store(&m.id, &m.param, &m.scope, &r)
	}
}

// loseNext skips a value that a slash separates from an invalid code.
func (d *Decoder) loseNext() {
	if d.at('/') && d.i+1 < len(d.b) && (digit(d.b[d.i+1]) || d.b[d.i+1] == '.') {
		d.next()
		d.losePiece()
	}
}

// valueAfterSlash distinguishes "PP/.25" and "PP/ M", which are accepted, from a code without a
// value, which is a null (5.3.5).
func (d *Decoder) valueAfterSlash() bool {
	at := d.i
	for at < len(d.b) && (d.b[at] == '/' || d.b[at] == ' ') {
		if d.b[at] == '/' && at > d.i {
			at = len(d.b) // a second slash: null
			break
		}
		at++
	}
	if at == len(d.b) || !digit(d.b[at]) && d.b[at] != '.' && d.b[at] != '-' && d.b[at] != '+' && !d.word(at) {
		d.warn(37)
		d.out.Account.Nulls++
		return false
	}
	d.warn(87)
	d.next()
	d.blanks()
	return true
}

// word reports whether a separate missing value or trace is at this position: M, MM or T. A code
// such as TA is not, and neither is MM with a value of its own.
func (d *Decoder) word(at int) bool {
	from := at
	for at < len(d.b) && d.b[at] == d.b[from] {
		at++
	}
	if c := d.b[from]; c != 'M' && c != 'T' || at < len(d.b) && upper(d.b[at]) {
		return false
	}
	rest := bytes.TrimLeft(d.b[at:], " ")
	return at == from+1 || len(rest) == 0 || rest[0] == '/'
}

// toSlash skips the text before the next slash.
func (d *Decoder) toSlash() {
	for {
		d.losePiece()
		if d.i == len(d.b) || d.b[d.i] == '/' {
			return
		}
		d.next()
	}
}
