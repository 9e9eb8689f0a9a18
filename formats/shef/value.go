package shef

import (
	"bytes"
	"math"
	"strconv"

	"github.com/barograph/barograph/record"
)

// reading is the content of the place of a value.
type reading struct {
	value   float64
	quality byte // qualifier attached to the value; 0 = none
	trace   bool
	whole   bool // without a decimal point
	comment string
}

// The results of reading the place of a value.
const (
	found   = iota
	nothing // no value begins here
	bad     // text that begins like a value; read has recorded the problem
)

func qualifier(c byte) bool { return upper(c) && c != 'O' && c != 'I' }

// ends reports whether a value ends at the cursor.
func (d *Decoder) ends() bool {
	if d.i == len(d.b) {
		return true
	}
	switch d.b[d.i] {
	case ' ', '/', ',', '"', '\'':
		return true
	}
	return false
}

// read reads a value and its qualifier. It moves the cursor past the value, or past an invalid
// token. If it returns nothing, the cursor does not move.
func (d *Decoder) read(r *reading) int {
	*r = reading{}
	d.mark = d.i
	if d.i == len(d.b) {
		return nothing
	}
	switch c := d.b[d.i]; {
	case c == 'M':
		if d.i++; d.at('M') { // 5.1.1: M and MM; a third M is a qualifier, as any letter
			d.i++
		}
		r.value = record.NoValue
	case c == 'T': // 5.1.2: a second T is a qualifier
		d.i++
		r.trace = true
	case c == '?':
		d.problem(53)
		d.skipToken()
		return bad
	case digit(c) || c == '+' || c == '-' || c == '.':
		if !d.number(r) {
			d.problem(78)
			d.skipToken()
			return bad
		}
	default:
		return nothing
	}
	if !d.ends() {
		if number := d.glued(r); number != 0 {
			d.problem(number)
			d.skipToken()
			return bad
		}
	}
	return found
}

// glued reads the qualifier that is attached to a value (4.4.7), and returns the number of an error
// or 0. Table 10 reserves all letters except O and I for the future. It asks software not to depend
// on its list.
func (d *Decoder) glued(r *reading) int {
	c := d.b[d.i]
	switch {
	case !upper(c):
		return 78
	case !qualifier(c):
		return 21
	}
	d.i++
	if !d.ends() {
		return 84
	}
	r.quality = c
	return 0
}

func (d *Decoder) skipToken() {
	for !d.ends() {
		d.i++
	}
}

// exact contains the powers of ten, up to 1e10, that a float64 represents exactly.
var exact = [...]float64{ //nolint:gochecknoglobals // a constant table
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
}

// mostDigits is the maximum number of digits of a number on either side of its point. With more,
// shefit also gives error 78. It bounds every stored value.
const mostDigits = 10

// number reads a decimal number, or one of the signs and points that represent a missing value. The
// result is the nearest float64.
func (d *Decoder) number(r *reading) bool {
	from := d.i
	sign := d.b[d.i]
	if sign == '+' || sign == '-' {
		d.i++
	} else {
		sign = 0
	}
	mantissa, digits, decimals, point := uint64(0), 0, 0, false
	for ; d.i < len(d.b); d.i++ {
		c := d.b[d.i]
		if c == '.' && !point {
			point = true
			continue
		}
		if !digit(c) {
			break
		}
		if digits < 19 {
			mantissa = mantissa*10 + uint64(c-'0')
		}
		digits++
		if point {
			decimals++
		}
	}
	if digits == 0 {
		return d.absent(r, sign, point)
	}
	r.whole = !point
	switch {
	case max(digits-decimals, decimals) > mostDigits:
		return false
	case mantissa < 1<<53 && digits < 19:
		r.value = float64(mantissa) / exact[decimals]
		if sign == '-' && mantissa > 0 { // no negative zero
			r.value = -r.value
		}
	default:
		v, err := strconv.ParseFloat(string(d.b[from:d.i]), 64)
		if err != nil {
			return false
		}
		r.value = v
	}
	return true
}

// absent reads the rest of "+", "--", "." and similar texts: missing (5.1.1).
func (d *Decoder) absent(r *reading, sign byte, point bool) bool {
	if sign != 0 && !point {
		for d.at(sign) {
			d.i++
		}
	}
	r.value = record.NoValue
	return sign != 0 || d.ends() && !d.at('"') && !d.at('\'')
}

// Representable rounds a number to the decimals that a message can represent. It returns false if the number has more
// digits before the point than a message can represent, if it is not a number, or if it is not zero and would become
// zero.
func Representable(v float64) (float64, bool) {
	const scale = 1e10
	switch size := math.Abs(v); {
	case !(size < scale):
		return v, false
	case size >= 1e6 || v == math.Trunc(v): // its shortest decimals are few enough
		return v, true
	case size >= 1e5: // the product below is not exact
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', mostDigits, 64), 64)
		return rounded, err == nil
	}
	rounded := math.Round(v*scale) / scale
	return rounded, rounded != 0
}

// value reads a value with its qualifier and its comment.
func (d *Decoder) value(r *reading) int {
	kind := d.read(r)
	if kind == found {
		d.blanks()
		r.comment = d.comment()
		d.blanks()
	}
	return kind
}

// unread counts text that is not a value as lost, and skips its comment. number is the error of
// text that does not begin like a value; for other text, read has recorded the error.
func (d *Decoder) unread(kind, number int) {
	if kind == nothing {
		d.token()
		d.problem(number)
	}
	d.lost()
	d.blanks()
	d.comment()
}

// stray counts a retained comment that belongs to no value as lost.
func (d *Decoder) stray() bool {
	if !d.at('"') && !d.at('\'') {
		return false
	}
	d.mark = d.i
	d.problem(86)
	d.comment()
	d.lost()
	return true
}

// comma counts a value before a comma as lost, in a place where a comma is not allowed.
func (d *Decoder) comma() bool {
	if !d.at(',') {
		return false
	}
	d.mark = d.i
	d.problem(65)
	d.lost()
	d.toSlash()
	return true
}

const maxComment = 80

// comment reads a retained comment, if one begins at the cursor (5.3.2).
func (d *Decoder) comment() string {
	if d.i == len(d.b) || d.b[d.i] != '"' && d.b[d.i] != '\'' {
		return ""
	}
	q := quoted{}
	q.step(d.b[d.i])
	d.i++
	from := d.i
	for d.i < len(d.b) && q.mark != 0 {
		q.step(d.b[d.i])
		d.i++
	}
	text := d.b[from:d.i]
	if n := len(text); n > 0 && q.mark == 0 { // the closing quote, or the last of the blanks that end the comment
		text = text[:n-1]
	}
	if text = bytes.TrimSpace(text); len(text) > maxComment {
		d.mark = from
		d.warn(81)
		text = bytes.TrimRight(text[:maxComment], " ")
	}
	return d.intern(text)
}

// quoted follows the retained comments of a line: each begins with a quote and ends with the same
// quote or with 15 blanks.
type quoted struct {
	mark byte // the open quote; 0 = none
	run  int  // blanks in a row
}

const endBlanks = 15

// step processes the next byte.
func (q *quoted) step(c byte) {
	switch {
	case q.mark == 0:
		if c == '"' || c == '\'' {
			q.mark, q.run = c, 0
		}
	case c == q.mark:
		q.mark = 0
	case c != ' ':
		q.run = 0
	default:
		if q.run++; q.run == endBlanks {
			q.mark = 0
		}
	}
}
