package shef

import (
	"bytes"
	"time"

	"github.com/barograph/barograph/record"
)

// Options configures a Decoder; the zero value is the default.
type Options struct {
	// Now decides the years of dates without a year (4.1.4); the zero time means the present. A
	// product's own time is not used because it has no year.
	Now time.Time
	// Tables are the tables of codes; nil = the manual's.
	Tables *Tables
	// Lenient continues after a D element that no manual defines ("DD 20" for a wind direction), which
	// otherwise ends its message. Values read from the rest of the message get the qualifier Q, unless
	// they have one, and are counted (Account.Rescued).
	Lenient bool
}

// Decoder decodes products. It reuses its memory and is not safe for concurrent use.
type Decoder struct {
	now      clock
	tables   *Tables
	lenient  bool
	saving   saving
	dated    dateCache
	comments map[string]string
	clean    []byte // memory of b if strip copies the line

	out    *Result
	line   uint32 // of the file
	text   []byte // memory of a line without its non-text bytes, see parts
	b      []byte // the current line, clean
	rest   []byte // text after more blanks than a line may contain
	plain  bool   // b certainly has no retained comment
	long   bool   // the line is longer than allowed
	joints []int  // positions of removed comments
	i      int    // cursor
	mark   int    // beginning of the token for the next problem

	m         message
	isCounted bool // the current piece between two slashes has been counted

	tokens    []byte // tokens of the product's problems, concatenated
	tokenEnds []int  // end of each token
}

// message is the state of the current message, from its first line to the next message.
type message struct {
	state
	zone  *zone
	slots []slot // .B: the parameters of the header
}

// state is the part of a message that is reset at its beginning. It contains no pointers, which
// makes resetting cheap.
type state struct {
	format      byte // 'A', 'B', 'E'; 0 outside
	canContinue bool // by a continuation line
	revised     bool
	body        bool // of a .B message: its header is complete
	rescued     bool // without Options.Lenient, an earlier error would have ended it
	endsInSlash bool // the previous line does, or the previous element of a .E message
	number      int  // of its last continuation line, 0 = none yet

	id record.ID
	scope
	param        parameter
	hasParameter bool // .E: the parameter code is known

	// .E: the interval, the base of the series and the number of the next value.
	unit    byte // S N H D M Y E; 0 = none yet
	step    int32
	hasBase bool
	base    int64 // UTC seconds, for steps in S, N and H
	from    clock // local date and time of the base, for the longer steps
	index   int32
	series  byte

	headerError int // .B: error of the header that makes later slots uncertain

	// In a .B message, cut reports that a line with a dot that begins no message ended the body.
	// cutLines and cutPieces count the following lines that may belong to the body, and their
	// pieces.
	cut                 bool
	cutLines, cutPieces int64
}

// scope contains what D elements set.
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
	param       parameter
	headerError int // error number: its values are lost
}

// maxLine is the allowed number of bytes of a line (5.3.6). Longer lines are decoded with a
// warning.
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

// Decode decodes one product, or a part of a large one that a Splitter made, into out, which it
// empties first. It reuses out's memory and does not keep p's.
func (d *Decoder) Decode(p *Product, out *Result) {
	out.reset(p)
	d.out, d.line = out, uint32(p.Line-1)
	d.tokens, d.tokenEnds = d.tokens[:0], d.tokenEnds[:0]
	d.m.format, d.m.canContinue, d.m.cut = 0, false, false
	text := p.Text
	for torn := p.ContinuesLine; len(text) > 0; torn = false {
		line, why := text, "the line is too long to be read"
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			line, text = text[:n], text[n+1:]
		} else {
			text = nil
			if p.Cut {
				torn, why = true, "the product ends within the line, before its ETX; get the whole product"
			}
		}
		d.line++
		if torn {
			d.tornLine(line, why)
		} else {
			d.rawLine(line)
		}
	}
	d.closeBody()
	d.cite()
	out.Account.Values = int64(len(out.Values))
}

// tornLine skips a piece of a line, and notes why.
func (d *Decoder) tornLine(raw []byte, why string) {
	d.b, d.plain, d.i, d.mark, d.rest = raw, false, 0, 0, nil
	d.out.Account.Lines++
	d.out.Account.Data++
	d.long = false
	d.begin()
	d.note(0, false, why)
	d.lose()
}

// rawLine reads the bytes between two line feeds.
func (d *Decoder) rawLine(raw []byte) {
	raw = trim(raw)
	text := false
	if d.plain, text = isPlainText(raw); text {
		d.decodeLine(raw)
	} else {
		d.parts(raw)
	}
}

// parts reads a line with bytes that are not text. Some of them end a line; the others, fill and
// byte order marks, are removed (warning 49).
func (d *Decoder) parts(raw []byte) {
	b, removed, lines := d.text[:0], 0, d.out.Account.Lines
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
		// A removed byte directly before what may be a message also ends the line: .A must be in column one.
		if endsLine(c) || isDot(raw[i+1:]) && (c < ' ' || c == 0x7f || bytes.HasSuffix(raw[:i+1], byteOrderMark)) {
			end()
		} else {
			removed++
		}
	}
	end()
	d.text = b
	if d.out.Account.Lines == lines {
		d.decodeLine(nil)
	}
	if removed > 0 {
		d.mark = len(d.b)
		d.warn(49)
	}
}

// endsLine reports whether a control character ends a line: a carriage return, SOH and ETX, which
// delimit products, and those that start another line or page.
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

// countText counts a line that is not SHEF. After a truncated body, a later .END decides whether
// the line belongs to the body and is lost.
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

// lineOutside handles a line outside of messages that begins with blanks or a comment. A message
// must not begin in this way (4.1.1): it is lost, together with its continuation lines.
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

// lineInBody handles a line after a .B header that does not begin with a dot.
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
		if d.m.canContinue {
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
			d.endMessage() // the following lines are not part of this body, or their header is incomplete
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

// lineKind is the beginning of a line of a message.
type lineKind struct {
	format  byte // 'A', 'B', 'E'
	revised bool
	number  int // of a continuation line; -1 = it is the first line
}

// kind reads the beginning of a line of a message, from its dot.
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
	case d.i == 0: // kind found neither .A nor .B nor .E
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

// unreadable skips a line that begins like one of a message but is not.
func (d *Decoder) unreadable() {
	d.out.Account.Data++
	d.i, d.mark = 1, 0
	d.begin()
	d.problem(8)
	d.lose()
}

// endLine handles .END, and lines that are similar but end nothing.
func (d *Decoder) endLine() {
	if len(d.b) < 4 || d.b[3] != 'D' || len(d.b) > 4 && d.b[4] != ' ' {
		d.unreadable()
		return
	}
	d.out.Account.Text++
	switch {
	case d.m.cut:
		d.loseAfterCut()
	case d.m.format != 'B':
		d.warn(68)
	default:
		d.m.format, d.m.canContinue = 0, false
	}
}

// loseAfterCut counts the text between a dot in column one, which ends a body (4.1.1), and the body's
// .END.
func (d *Decoder) loseAfterCut() {
	m, a := &d.m, &d.out.Account
	d.note(68, m.cutPieces == 0, remarks[68]+": the text after the dot in column 1 that ended the body is lost")
	a.Text -= m.cutLines
	a.Data += m.cutLines
	a.Pieces += m.cutPieces
	a.LostPieces += m.cutPieces
	a.Lost += m.cutPieces
	m.cut = false
}

// closeBody reports a .B message without .END.
func (d *Decoder) closeBody() {
	if d.m.format == 'B' {
		d.mark = len(d.b)
		d.warn(46)
	}
	d.m.format = 0
}

// abandon rejects continuation lines of the current message.
func (d *Decoder) abandon() {
	if d.m.format == 'B' {
		d.m.cut, d.m.cutLines, d.m.cutPieces = true, 0, 0
	}
	d.closeBody()
	d.m.canContinue = false
}

// firstLine reads the first line of a message.
func (d *Decoder) firstLine(format byte, revised bool) {
	d.closeBody()
	m := &d.m
	m.state = state{}
	m.format, m.canContinue, m.revised, m.slots = format, true, revised, m.slots[:0]
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

// continuationLine reads a continuation line.
func (d *Decoder) continuationLine(k lineKind) {
	m := &d.m
	number := 0
	switch {
	case m.format != k.format:
		number = 9
	case k.revised && !m.revised:
		number = 10
	case !m.canContinue:
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
	if !m.endsInSlash && d.at('/') { // the separator between the lines (5.3.3)
		d.next()
	}
	m.endsInSlash = true
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

// endMessage ends a message of which nothing further can be decoded.
func (d *Decoder) endMessage() {
	if d.m.format == 'B' {
		d.m.headerError = 11
		d.m.slots = d.m.slots[:0]
	}
	d.m.canContinue = false
	d.lose()
}
