package shef

import (
	"bytes"
	"encoding/binary"
)

// maxBlanks is how many blanks in a row a line may hold (5.3.1).
const maxBlanks = 50

// trim cuts the end of a line: blanks, carriage returns, ETX, and the '=' and
// '&' that end bulletins.
func trim(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == 1 { // SOH
		raw = raw[1:]
	}
	n := len(raw)
	for n > 0 {
		c := raw[n-1]
		if c > ' ' && (c != '=' && c != '&' || raw[0] == ':') {
			break
		}
		n--
	}
	return raw[:n]
}

// cleanLine fills d.b with a line in upper case and without internal comments
// (5.3.2). Retained comments stay as they are. Where the line has no comment
// and no small letter, d.b is the line itself.
func (d *Decoder) cleanLine(raw []byte) {
	if isPlain(raw) {
		d.b = raw
		if len(raw) > maxBlanks {
			d.cutBlanks()
		}
		return
	}
	d.strip(raw)
	if len(d.b) > maxBlanks {
		d.cutBlanks()
	}
}

// isPlain tells lines that strip would leave as they are, and some more: lines
// of blanks, digits, capital letters and most punctuation. Eight bytes are
// looked at together.
func isPlain(b []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		colon, double, single := x^ones*':', x^ones*'"', x^ones*'\''
		special := x | (x + ones*0x20) | // above 0x5f: small letters and beyond
			(x-ones*0x20)&^x | // below 0x20: control characters
			(colon-ones)&^colon | (double-ones)&^double | (single-ones)&^single
		if special&tops != 0 {
			return false
		}
	}
	for _, c := range b {
		if c > 0x5f || c < 0x20 || c == ':' || c == '"' || c == '\'' {
			return false
		}
	}
	return true
}

// strip copies a line without its comments, in upper case.
func (d *Decoder) strip(raw []byte) {
	b := d.clean[:0]
	q := quoted{}
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\t' || c == '\r' {
			c = ' '
		}
		switch {
		case c == 0:
			i = len(raw)
			continue
		case q.mark != 0:
		case c == ':':
			n := bytes.IndexByte(raw[i+1:], ':')
			if n < 0 {
				i = len(raw)
				continue
			}
			i += n + 1
			continue
		default:
			c = toUpper(c)
		}
		q.step(c)
		b = append(b, c)
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || q.mark == 0 && (b[len(b)-1] == '=' || b[len(b)-1] == '&')) {
		b = b[:len(b)-1]
	}
	d.clean, d.b = b, b
}

func toUpper(c byte) byte {
	if c-'a' < 26 {
		c -= 'a' - 'A'
	}
	return c
}

// cutBlanks ends a line at its 51st blank in a row.
func (d *Decoder) cutBlanks() {
	run := 0
	for i, c := range d.b {
		if c != ' ' {
			run = 0
			continue
		}
		if run++; run > maxBlanks {
			d.mark = i + 1
			for d.mark < len(d.b) && d.b[d.mark] == ' ' {
				d.mark++
			}
			d.note(0, false, "more than 50 blanks: the rest of the line is not decoded (manual 5.3.1)")
			d.b = d.b[:i]
			return
		}
	}
}

// begin counts the pieces of a data line: what stands between slashes and
// commas and is not blank. Decoding must account for each (Account.Whole).
func (d *Decoder) begin() {
	d.piece = false
	n, filled, q := 0, uint8(0), quoted{}
	for _, c := range d.b[d.i:] {
		k := kinds[c]
		if k == kindQuote || q.mark != 0 {
			q.step(c)
			filled = 1
			continue
		}
		n += int(filled & k & kindMark)
		filled = (filled | k>>1) &^ k & 1
	}
	d.out.Account.Pieces += int64(n) + int64(filled)
}

// What a byte is to begin.
const (
	kindMark  = 1 // slash, comma: the end of a piece
	kindFill  = 2
	kindQuote = 4
)

var kinds = func() (t [256]uint8) { //nolint:gochecknoglobals // a constant table
	for c := range t {
		t[c] = kindFill
	}
	t[' '], t['/'], t[','], t['"'], t['\''] = 0, kindMark, kindMark, kindQuote, kindQuote
	return t
}()

// finish ends a line: a piece that was passed over without being counted is lost.
func (d *Decoder) finish() {
	if d.i < len(d.b) {
		d.lose()
	}
}

// The account of pieces: each is counted once, as control (names, dates and
// codes), value or lost; what is found beyond that in the same piece is extra.

func (d *Decoder) control() { d.count(&d.out.Account.Control) }
func (d *Decoder) lost()    { d.out.Account.Lost++; d.count(&d.out.Account.LostPieces) }
func (d *Decoder) stored()  { d.count(&d.out.Account.ValuePieces) }

func (d *Decoder) count(kind *int64) {
	if d.piece {
		d.out.Account.Extra++
	}
	d.piece = true
	*kind++
}

// next steps over a slash or comma into the next piece.
func (d *Decoder) next() {
	d.i++
	d.piece = false
}

func (d *Decoder) at(c byte) bool { return d.i < len(d.b) && d.b[d.i] == c }

// blanks skips blanks and returns how many there were.
func (d *Decoder) blanks() int {
	from := d.i
	for d.i < len(d.b) && d.b[d.i] == ' ' {
		d.i++
	}
	return d.i - from
}

// lose gives up the rest of the line: every piece of it is lost.
func (d *Decoder) lose() { d.loseTo(false) }

// loseTo gives up the line, or what stands before the next comma.
func (d *Decoder) loseTo(comma bool) {
	for {
		d.losePiece()
		if d.i == len(d.b) || comma && d.b[d.i] == ',' {
			return
		}
		d.next()
	}
}

// losePiece goes to the end of the piece and counts it as lost, if nothing of
// it was counted before and it is not blank.
func (d *Decoder) losePiece() {
	filled, q := false, quoted{}
	for ; d.i < len(d.b); d.i++ {
		c := d.b[d.i]
		if q.mark == 0 && (c == '/' || c == ',') {
			break
		}
		q.step(c)
		filled = filled || c != ' '
	}
	if filled && !d.piece {
		d.lost()
	}
}
