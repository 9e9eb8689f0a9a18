package shef

import (
	"bytes"
	"time"

	"github.com/barograph/barograph/record"
)

// Options of a Decoder; the zero value is the default.
type Options struct {
	// Now decides the years of dates that are coded without one (4.1.4); the
	// zero time is the present. A product's own time is not used: it has no year.
	Now time.Time
	// Tables are those of codes; nil = the manual's.
	Tables *Tables
	// Lenient goes on behind a D element that no manual has ("DD 20" for a direction of
	// the wind), which otherwise ends its message. What is read of the message after
	// it gets the qualifier Q, where it has none, and is counted (Account.Rescued).
	Lenient bool
}

// Decoder decodes products. It keeps its memory from one to the next and is
// not safe for concurrent use.
type Decoder struct {
	now      clock
	tables   *Tables
	lenient  bool
	saving   saving
	dated    dateCache
	comments map[string]string
	clean    []byte // the line without comments, in upper case

	out    *Result
	line   uint32 // of the file
	text   []byte // the line without what is no text
	b      []byte // the line at hand, clean
	rest   []byte // what stands behind more blanks than a line may hold
	plain  bool   // it has no retained comment
	long   bool   // it is longer than a line may be
	joints []int  // where comments stood that were taken out
	i      int    // cursor
	mark   int    // where the token of the next problem begins

	m     message
	piece bool // the piece between two slashes has been counted

	tokens   []byte // tokens of the product's problems, one behind the other
	tokenEnds []int  // where each ends
}

// message is the state of the message at hand; it lasts from its first line to
// the next message.
type message struct {
	state
	zone  *zone
	slots []slot // .B: the parameters of the header
}

// state is what a message begins with empty. It holds no pointers, so that
// emptying it is cheap.
type state struct {
	format  byte // 'A', 'B', 'E'; 0 outside
	alive   bool // it can be continued
	revised bool
	body    bool // of a .B message: its header is complete
	rescued bool // it would have ended before
	slash   bool // the line before ended in a slash
	number  int  // of the line that continues it, 0 = none yet

	id record.ID
	scope
	param parameter
	named bool // .E: the parameter code is known

	// .E: the interval, the base of the series and the number of the next value.
	unit   byte // S N H D M Y E; 0 = none yet
	step   int32
	based  bool
	base   int64 // local or UTC seconds, by unit
	from   clock // local date of the base, for months and years
	index  int32
	series byte

	headerError int // .B: error of the header that makes later slots uncertain

	// .B: the body was ended by a line that begins with a dot and no message;
	// how many lines that may be its, and pieces of them, there are since.
	cut                 bool
	cutLines, cutPieces int64
}

// scope is what the D elements set.
type scope struct {
	at       clock
	rel      shift
	created  int64
	quality  byte
	metric   bool
	variable int16 // duration for V; variableUnset, variableDefault
}

const (
	variableUnset   = -1 // no DV yet: error 32
	variableDefault = -2 // DVZ: the element's default
)

type slot struct {
	scope
	param parameter
	headerError   int // error number: its values are lost
}

// maxLine is how many bytes a line may have (5.3.6); longer ones are decoded,
// with a warning.
const maxLine = 1000

// maxSlots is the longest .B header; more is error 40. shefit's limit is 200.
const maxSlots = 1000

// NewDecoder returns a Decoder.
func NewDecoder(o Options) *Decoder {
	now := o.Now
	if now.IsZero() {
		now = time.Now()
	}
	d := &Decoder{comments: make(map[string]string), tables: o.Tables, lenient: o.Lenient}
	if d.tables == nil {
		d.tables = manual
	}
	d.now.set(now.UTC().Unix())
	return d
}

// Decode decodes one product, or a part of a large one that a Splitter made,
// into out, which is emptied first. Memory of out is reused; p's is not kept.
func (d *Decoder) Decode(p *Product, out *Result) {
	out.reset(p)
	d.out, d.line = out, uint32(p.Line-1)
	d.tokens, d.tokenEnds = d.tokens[:0], d.tokenEnds[:0]
	d.m.format, d.m.alive, d.m.cut = 0, false, false
	text := p.Text
	for torn := p.ContinuesLine; len(text) > 0; torn = false {
		line := text
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			line, text = text[:n], text[n+1:]
		} else {
			text = nil
		}
		d.line++
		if torn {
			d.tornLine(line)
		} else {
			d.rawLine(line)
		}
	}
	d.closeBody()
	d.cite()
	out.Account.Values = int64(len(out.Values))
}

// tornLine gives up a piece of a line that is too long to be read.
func (d *Decoder) tornLine(raw []byte) {
	d.b, d.plain, d.i, d.mark, d.rest = raw, false, 0, 0, nil
	d.out.Account.Lines++
	d.out.Account.Data++
	d.long = false
	d.begin()
	d.note(0, false, "the line is too long to be read")
	d.lose()
}

// rawLine reads what stands between two line feeds.
func (d *Decoder) rawLine(raw []byte) {
	raw = trim(raw)
	text := false
	if d.plain, text = isPlainText(raw); text {
		d.decodeLine(raw)
	} else {
		d.parts(raw)
	}
}

// parts reads a line with characters that are no text. Some end a line; of the
// others, fill and byte order marks, nothing is left (warning 49).
func (d *Decoder) parts(raw []byte) {
	b, left, lines := d.text[:0], 0, d.out.Account.Lines
	end := func() {
		if part := trim(b); len(part) > 0 {
			d.plain, _ = isPlainText(part)
			d.decodeLine(part)
		}
		b = b[:0]
	}
	for i, c := range raw {
		if c >= ' ' && c != 0x7f || c == '\t' {
			if b = append(b, c); !bytes.HasSuffix(b, byteOrderMark) { // fill may have split it
				continue
			}
			b = b[:len(b)-len(byteOrderMark)]
		}
		if endsLine(c) || isDot(raw[i+1:]) && (c < ' ' || c == 0x7f || bytes.HasSuffix(raw[:i+1], byteOrderMark)) {
			end()
		} else {
			left++
		}
	}
	end()
	d.text = b
	if d.out.Account.Lines == lines {
		d.decodeLine(nil)
	}
	if left > 0 {
		d.mark = len(d.b)
		d.warn(49)
	}
}

// endsLine reports whether a control character ends a line: a carriage return,
// SOH and ETX, which frame products, and those that go to another line or page.
func endsLine(c byte) bool { return c == '\r' || c == 1 || c == 3 || c == '\v' || c == '\f' }

// isDot reports whether a line could begin a message.
func isDot(b []byte) bool { return len(b) > 1 && b[0] == '.' && isFormat(b[1]) }

func (d *Decoder) decodeLine(raw []byte) {
	a := &d.out.Account
	a.Lines++
	d.long = len(raw) > maxLine
	switch {
	case len(raw) == 0:
		a.Blank++
	case raw[0] == '.':
		d.dotLine(raw)
	case d.m.format == 'B':
		d.cleanLine(raw)
		d.lineInBody()
	case raw[0] == ':' && bytes.IndexByte(raw[1:], ':') < 0:
		a.Comment++
	case raw[0] == ':' || blank(raw[0]):
		d.cleanLine(raw)
		d.lineOutside()
	default:
		d.countText(raw)
	}
}

// prose counts a line that is no SHEF. Behind a body that was cut, an .END will
// say that it is of the body, and lost.
func (d *Decoder) countText(raw []byte) {
	d.out.Account.Text++
	if !d.m.cut {
		return
	}
	d.cleanLine(raw)
	d.textAfterBody()
}

func (d *Decoder) textAfterBody() {
	if n := pieces(d.b, d.plain) + pieces(d.rest, false); n > 0 {
		d.m.cutLines++
		d.m.cutPieces += n
	}
}

// outside handles a line outside of messages that begins with blanks or a
// comment. A message may not (4.1.1): it is lost, and what would continue it.
func (d *Decoder) lineOutside() {
	a := &d.out.Account
	if d.rest != nil && len(trim(d.b)) == 0 {
		d.b, d.rest = bytes.TrimLeft(d.rest, " "), nil
		d.cutBlanks()
	}
	d.i = 0
	d.blanks()
	indent := d.i
	k, ok := d.kind()
	if !ok {
		if indent == len(d.b) && d.rest == nil {
			a.Comment++
			return
		}
		a.Text++
		if d.m.cut {
			d.textAfterBody()
		}
		return
	}
	a.Data++
	d.begin()
	d.mark = indent
	d.problem(6)
	if k.number < 0 {
		d.m.state = state{format: k.format}
		d.m.slots = d.m.slots[:0]
	}
	d.endMessage()
}

// inBody handles a line that does not begin with a dot after a .B header.
func (d *Decoder) lineInBody() {
	a := &d.out.Account
	d.i, d.mark = 0, 0
	d.blanks()
	switch {
	case d.i == len(d.b) && d.rest != nil:
		a.Data++
		d.begin()
	case d.i == len(d.b):
		a.Comment++
	case len(d.m.slots) == 0 && d.m.headerError == 0:
		a.Data++
		d.begin()
		if d.m.alive {
			d.problem(82)
		}
		d.lose()
	case d.b[d.i] == '.' && d.i+1 < len(d.b) && !digit(d.b[d.i+1]):
		a.Data++
		d.mark = d.i
		_, message := d.kind()
		d.i = d.mark
		d.begin()
		d.problem(6)
		if message {
			d.endMessage() // what follows is not of this body, or its header is not whole
		}
		d.lose()
	default:
		a.Data++
		d.m.body = true
		d.begin()
		d.bodyLine()
		d.finish()
	}
}

func isFormat(c byte) bool { c |= 0x20; return c == 'a' || c == 'b' || c == 'e' }

func blank(c byte) bool { return c == ' ' || c == '\t' }

// lineKind is what a line of a message begins with.
type lineKind struct {
	format  byte // 'A', 'B', 'E'
	revised bool
	number  int // of a line that continues; -1 = it begins
}

// kind reads the begin of a line of a message; the cursor is at its dot.
func (d *Decoder) kind() (k lineKind, ok bool) {
	if !isDot(d.b[d.i:]) {
		return k, false
	}
	k = lineKind{format: d.b[d.i+1], number: -1}
	d.i += 2
	if d.at('R') {
		k.revised = true
		d.i++
	}
	for n := 0; n < 2 && d.i < len(d.b) && digit(d.b[d.i]); n++ {
		k.number = max(k.number, 0)*10 + int(d.b[d.i]-'0')
		d.i++
	}
	return k, d.i == len(d.b) || d.b[d.i] == ' '
}

// dotLine handles a line with a dot in column one.
func (d *Decoder) dotLine(raw []byte) {
	a := &d.out.Account
	d.cleanLine(raw)
	d.i, d.mark = 0, 0
	k, ok := d.kind()
	switch {
	case d.i == 0:
		a.Text++
		d.problem(7)
		d.abandon()
		return
	case !ok:
		if bytes.HasPrefix(d.b, []byte(".EN")) {
			d.endLine()
			return
		}
		d.abandon()
		d.unreadable()
		return
	}
	a.Data++
	d.begin()
	if k.number < 0 {
		d.firstLine(k.format, k.revised)
	} else {
		d.continuationLine(k)
	}
	d.finish()
}

// unreadable gives up a line that begins like one of a message, and is none.
func (d *Decoder) unreadable() {
	d.out.Account.Data++
	d.i, d.mark = 1, 0
	d.begin()
	d.problem(8)
	d.lose()
}

// endLine handles .END and what looks like it, which ends nothing.
func (d *Decoder) endLine() {
	if len(d.b) < 4 || d.b[3] != 'D' || len(d.b) > 4 && d.b[4] != ' ' {
		d.unreadable()
		return
	}
	d.out.Account.Text++
	switch {
	case d.m.cut:
		d.loseBehind()
	case d.m.format != 'B':
		d.warn(68)
	default:
		d.m.format, d.m.alive = 0, false
	}
}

// loseBehind counts what stands between a dot in column one, which ends a body
// (4.1.1), and the body's .END.
func (d *Decoder) loseBehind() {
	m, a := &d.m, &d.out.Account
	d.note(68, m.cutPieces == 0, remarks[68]+": what stands since a dot in column 1 ended the body is lost")
	a.Text -= m.cutLines
	a.Data += m.cutLines
	a.Pieces += m.cutPieces
	a.LostPieces += m.cutPieces
	a.Lost += m.cutPieces
	m.cut = false
}

// closeBody notes a .B message that has no .END.
func (d *Decoder) closeBody() {
	if d.m.format == 'B' {
		d.mark = len(d.b)
		d.warn(46)
	}
	d.m.format = 0
}

// abandon makes continuation lines of the message at hand impossible.
func (d *Decoder) abandon() {
	if d.m.format == 'B' {
		d.m.cut, d.m.cutLines, d.m.cutPieces = true, 0, 0
	}
	d.closeBody()
	d.m.alive = false
}

// first reads the line that begins a message.
func (d *Decoder) firstLine(format byte, revised bool) {
	d.closeBody()
	m := &d.m
	m.state = state{}
	m.format, m.alive, m.revised, m.slots = format, true, revised, m.slots[:0]
	m.quality, m.created, m.variable = 'Z', record.NoTime, variableUnset
	d.out.Account.Messages++
	from := d.i
	d.mark = from
	d.blanks()
	if d.i == len(d.b) {
		d.warn(67)
		d.problem(12)
		d.endMessage()
		return
	}
	if number := d.positional(); number != 0 {
		d.problem(number)
		d.i = from
		d.endMessage()
		return
	}
	d.control()
	d.elements()
}

// continued reads a continuation line.
func (d *Decoder) continuationLine(k lineKind) {
	m := &d.m
	number := 0
	switch {
	case m.format != k.format:
		number = 9
	case k.revised && !m.revised:
		number = 10
	case !m.alive:
		number = 11
	case m.body:
		number = 46
	}
	if number != 0 {
		d.problem(number)
		d.endMessage()
		return
	}
	if k.number != m.number+1 {
		d.note(0, true, "lines that continue are out of sequence (manual 4.1.1)")
	}
	m.number = k.number
	d.blanks()
	if d.i == len(d.b) {
		d.warn(67)
		return
	}
	if !m.slash && d.at('/') { // the separator between the lines (5.3.3)
		d.next()
	}
	m.slash = true
	d.elements()
}

// elements reads the data string of .A and .E, the header of .B.
func (d *Decoder) elements() {
	switch d.m.format {
	case 'A':
		d.dotA()
	case 'E':
		d.dotE()
	default:
		d.header()
	}
}

// dead ends a message in which nothing that follows can be decoded.
func (d *Decoder) endMessage() {
	if d.m.format == 'B' {
		d.m.headerError = 11
		d.m.slots = d.m.slots[:0]
	}
	d.m.alive = false
	d.lose()
}
