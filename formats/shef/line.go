package shef

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"github.com/barograph/barograph/record"
)

// maxBlanks is the allowed number of consecutive blanks in a line (5.3.1).
const maxBlanks = 50

var byteOrderMark = []byte("\xef\xbb\xbf") //nolint:gochecknoglobals // a constant

// trim removes what precedes the first column (control characters, such as SOH and fill, and a byte
// order mark) and the end of a line (blanks, carriage returns, ETX, and the '=' and '&' that end
// bulletins).
func trim(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] < ' ' && raw[0] != '\t' || raw[0] == 0xef && bytes.HasPrefix(raw, byteOrderMark)) {
		if raw[0] == 0xef {
			raw = raw[2:]
		}
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

// cleanLine fills d.b with a line in upper case and without internal comments (5.3.2). It keeps
// retained comments. If the line has no comment and no lower-case letter, d.b is the line itself.
func (d *Decoder) cleanLine(raw []byte) {
	d.rest, d.joints = nil, d.joints[:0]
	if !d.plain {
		// Most comments are at the end of their line.
		if at := bytes.IndexByte(raw, ':'); at > 0 && bytes.IndexByte(raw[at+1:], ':') < 0 {
			if d.plain, _ = isPlainText(raw[:at]); d.plain {
				raw = trim(raw[:at])
			}
		}
	}
	if d.plain {
		d.b = raw
	} else {
		d.strip(raw)
	}
	if len(d.b) > maxBlanks {
		d.cutBlanks()
	}
}

// ones and tops are words of eight equal bytes.
const ones, tops = 0x0101010101010101, 0x8080808080808080

// isPlainText reports whether a line is plain, which means that strip would not change it: only
// blanks, digits, capital letters and most punctuation; and whether it is text, without control
// characters and bytes beyond ASCII. It may return false for a line that is plain or text. It
// examines eight bytes at a time.
func isPlainText(b []byte) (plain, text bool) {
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		colon, double, single := x^ones*':', x^ones*'"', x^ones*'\''
		special := x | (x + ones*0x20) | // above 0x5f: small letters and beyond
			(x-ones*0x20)&^x | // below 0x20: control characters
			(colon-ones)&^colon | (double-ones)&^double | (single-ones)&^single
		if special&tops != 0 {
			return false, isText(b)
		}
	}
	for i, c := range b {
		if c > 0x5f || c < 0x20 || c == ':' || c == '"' || c == '\'' {
			return false, isText(b[i:])
		}
	}
	return true, true
}

// isText is the second result of isPlainText.
func isText(b []byte) bool {
	strange := uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		strange |= x | (x + ones) | (x-ones*0x20)&^x // above 0x7e, and below 0x20
	}
	for _, c := range b {
		if c >= 0x7f || c < 0x20 {
			return false
		}
	}
	return strange&tops == 0
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
		case q.mark != 0:
		case c == ':':
			n := bytes.IndexByte(raw[i+1:], ':')
			if n < 0 {
				i = len(raw)
				continue
			}
			i += n + 1
			d.joints = append(d.joints, len(b))
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
			d.rest, d.b = d.b[i:], d.b[:i]
			return
		}
	}
}

// begin counts the pieces of a data line: nonblank text between slashes and commas. Decoding must
// account for each (Account.IsBalanced).
func (d *Decoder) begin() {
	d.isCounted = false
	a := &d.out.Account
	a.Pieces += pieces(d.b[d.i:], d.plain)
	mark := d.mark
	if d.long {
		d.note(0, true, "the line has more than 1000 bytes (manual 5.3.6)")
	}
	if d.rest != nil {
		n := pieces(d.rest, false)
		a.Pieces, a.LostPieces, a.Lost = a.Pieces+n, a.LostPieces+n, a.Lost+n
		d.mark = len(d.b)
		d.note(0, false, "more than 50 blanks: the rest of the line is not decoded (manual 5.3.1)")
	}
	d.mark = mark
}

func pieces(b []byte, plain bool) int64 {
	if plain {
		return plainPieces(b)
	}
	return quotedPieces(b)
}

// quotedPieces counts pieces of a line whose retained comments may contain slashes and commas.
func quotedPieces(b []byte) (n int64) {
	filled, q := false, quoted{}
	for _, c := range b {
		if q.mark == 0 && (c == '/' || c == ',') {
			if filled {
				n++
			}
			filled = false
			continue
		}
		q.step(c)
		filled = filled || c != ' '
	}
	if filled {
		n++
	}
	return n
}

// plainPieces counts the pieces of a line without retained comments: it looks for slashes and
// commas in eight bytes at a time, and from each one backwards for a nonblank.
func plainPieces(b []byte) (n int64) {
	const rest = ^uint64(tops)
	from, i := 0, 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		slash, comma := x^ones*'/', x^ones*','
		// The top bit of each byte that is a slash or a comma, and no other bit.
		marks := ^((slash&rest + rest | slash | rest) & (comma&rest + rest | comma | rest))
		for ; marks != 0; marks &= marks - 1 {
			at := i + bits.TrailingZeros64(marks)/8
			n += notBlank(b[from:at])
			from = at + 1
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '/' || b[i] == ',' {
			n += notBlank(b[from:i])
			from = i + 1
		}
	}
	return n + notBlank(b[from:])
}

// notBlank is 1 if a piece is not blank.
func notBlank(b []byte) int64 {
	for ; len(b) > 0; b = b[:len(b)-1] {
		if b[len(b)-1] != ' ' {
			return 1
		}
	}
	return 0
}

// finish ends a line: a piece that was skipped without being counted is lost.
func (d *Decoder) finish() {
	if d.i < len(d.b) {
		d.lose()
	}
}

// The functions below count each piece once, as control (names, dates and codes), value or lost.
// They count further content of a counted piece as extra.

func (d *Decoder) control() { d.count(&d.out.Account.Control) }
func (d *Decoder) lost()    { d.out.Account.Lost++; d.count(&d.out.Account.LostPieces) }
func (d *Decoder) stored()  { d.count(&d.out.Account.ValuePieces) }

func (d *Decoder) count(kind *int64) {
	if d.isCounted {
		d.out.Account.Extra++
	}
	d.isCounted = true
	*kind++
}

// next moves over a slash or comma into the next piece.
func (d *Decoder) next() {
	d.i++
	d.isCounted = false
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

// lose skips the rest of the line: every piece of it is lost.
func (d *Decoder) lose() { d.loseTo(false) }

// loseTo skips the line, or the text before the next comma.
func (d *Decoder) loseTo(comma bool) {
	for {
		d.losePiece()
		if d.i == len(d.b) || comma && d.b[d.i] == ',' {
			return
		}
		d.next()
	}
}

// losePiece moves to the end of the piece and counts it as lost, if it is not blank and nothing of
// it was counted before.
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
	if filled && !d.isCounted {
		d.lost()
	}
}

// loseRestOfPiece moves to the end of the piece and counts the skipped text as lost, also if it
// follows a value or a code without a slash.
func (d *Decoder) loseRestOfPiece() {
	isCounted := d.isCounted
	if d.losePiece(); isCounted {
		d.lost()
	}
}

// AppendText appends a value as a line of shefit's text form 1, with its end of
// line: station, observation and creation time in UTC, parameter code, value,
// qualifier, probability, duration, revision, time series, source, comment.
func AppendText(b []byte, g *record.Gauge) []byte {
	created, last, revised := "0000-00-00 00:00:00", byte(' '), 0
	if g.Created != record.NoTime {
		created = dateTime(g.Created)
	}
	if g.HasProbability {
		last = g.Code[6]
	}
	if g.Revised {
		revised = 1
	}
	return fmt.Appendf(b, "%-10s%s  %s  %s%c%15.4f %c%9.3f  %04d %d %d  %-8s  \"%s\"\n",
		g.Station, dateTime(g.Time), created, g.Code[:6], last,
		g.Value, g.Quality, float64(g.Probability), g.Duration, revised, g.Series, g.Source, cmp.Or(g.Comment, " "))
}

func dateTime(t int64) string { return time.Unix(t, 0).UTC().Format(time.DateTime) }
