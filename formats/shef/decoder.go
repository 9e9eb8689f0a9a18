package shef

import (
	"bytes"
	"time"

	"barograph/record"
)

// Options of a Decoder; the zero value is the default.
type Options struct {
	// Now decides the years of dates that are coded without one (4.1.4); the
	// zero time is the present. A product's own time is not used: it has no year.
	Now time.Time
}

// Decoder decodes products. It keeps its memory from one to the next and is
// not safe for concurrent use.
type Decoder struct {
	now    clock
	saving saving
	dated  dated
	tokens map[string]string
	clean  []byte // the line without comments, in upper case

	out   *Result
	line  uint32 // of the file
	b     []byte // the line at hand, clean
	plain bool   // it has no retained comment
	i     int    // cursor
	mark  int    // where the token of the next problem begins

	m     message
	piece bool // the piece between two slashes has been counted
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
	slash   bool // the line before ended in a slash

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

	bad int // .B: error of the header that makes later slots uncertain

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
	bad   int // error number: its values are lost
}

// maxSlots is the longest .B header; more is error 40. shefit's limit is 200.
const maxSlots = 1000

// NewDecoder returns a Decoder.
func NewDecoder(o Options) *Decoder {
	now := o.Now
	if now.IsZero() {
		now = time.Now()
	}
	d := &Decoder{tokens: make(map[string]string)}
	d.now.set(now.UTC().Unix())
	return d
}

// Decode decodes one product, or a part of a large one that a Splitter made,
// into out, which is emptied first. Memory of out is reused; p's is not kept.
func (d *Decoder) Decode(p *Product, out *Result) {
	out.reset(p)
	d.out, d.line = out, uint32(p.Line-1)
	d.m.format, d.m.alive, d.m.cut = 0, false, false
	text := p.Text
	for len(text) > 0 {
		line := text
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			line, text = text[:n], text[n+1:]
		} else {
			text = nil
		}
		d.line++
		d.decodeLine(line)
	}
	d.closeBody()
	out.Account.Values = int64(len(out.Values))
}

func (d *Decoder) decodeLine(raw []byte) {
	a := &d.out.Account
	a.Lines++
	raw = trim(raw)
	switch {
	case len(raw) == 0:
		a.Blank++
	case raw[0] == '.':
		d.dotLine(raw)
	case raw[0] == ':' && d.m.format != 'B':
		a.Comment++
		if bytes.IndexByte(raw[1:], ':') >= 0 {
			d.cleanLine(raw)
			d.misplaced(d.b)
		}
	case d.m.format == 'B':
		d.cleanLine(raw)
		d.inBody()
	default:
		a.Text++
		if blank(raw[0]) {
			d.misplaced(raw)
		}
		if d.m.cut {
			d.behind(raw)
		}
	}
}

// behind counts a line behind a body that was cut. An .END will say that it is
// of the body, and lost.
func (d *Decoder) behind(raw []byte) {
	d.cleanLine(raw)
	if n := pieces(d.b, d.plain); n > 0 {
		d.m.cutLines++
		d.m.cutPieces += n
	}
}

// misplaced notes a message that does not begin in column one (4.1.1).
func (d *Decoder) misplaced(line []byte) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) > 2 && line[0] == '.' && isFormat(line[1]) && blank(line[2]) {
		d.b, d.mark = line, 0
		d.problem(6)
	}
}

// inBody handles a line that does not begin with a dot after a .B header.
func (d *Decoder) inBody() {
	a := &d.out.Account
	d.i, d.mark = 0, 0
	d.blanks()
	switch {
	case d.i == len(d.b):
		a.Comment++
	case len(d.m.slots) == 0 && d.m.bad == 0:
		a.Data++
		d.begin()
		if d.m.alive {
			d.problem(82)
		}
		d.lose()
	case d.b[d.i] == '.' && d.i+1 < len(d.b) && !digit(d.b[d.i+1]):
		a.Text++
		d.mark = d.i
		d.problem(6)
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

// dotLine handles a line with a dot in column one.
func (d *Decoder) dotLine(raw []byte) {
	a := &d.out.Account
	d.cleanLine(raw)
	d.i, d.mark = 1, 0
	switch {
	case d.i == len(d.b) || !isFormat(d.b[1]):
		a.Text++
		d.problem(7)
		d.abandon()
		return
	case d.b[1] == 'E' && len(d.b) > 2 && d.b[2] == 'N':
		a.Text++
		d.endLine()
		return
	}
	d.i = 2
	format, revised, number := d.b[1], false, -1
	if d.at('R') {
		revised = true
		d.i++
	}
	for n := 0; n < 2 && d.i < len(d.b) && digit(d.b[d.i]); n++ {
		number = max(number, 0)*10 + int(d.b[d.i]-'0')
		d.i++
	}
	if d.i < len(d.b) && d.b[d.i] != ' ' {
		a.Text++
		d.problem(8)
		d.abandon()
		return
	}
	a.Data++
	d.begin()
	if number < 0 {
		d.first(format, revised)
	} else {
		d.continued(format, revised)
	}
	d.finish()
}

// endLine handles .END and what looks like it.
func (d *Decoder) endLine() {
	switch {
	case len(d.b) < 4 || d.b[3] != 'D' || (len(d.b) > 4 && d.b[4] != ' '):
		d.problem(8)
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
func (d *Decoder) first(format byte, revised bool) {
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
		d.dead()
		return
	}
	if number := d.positional(); number != 0 {
		d.problem(number)
		d.i = from
		d.dead()
		return
	}
	d.control()
	d.elements()
}

// continued reads a continuation line.
func (d *Decoder) continued(format byte, revised bool) {
	m := &d.m
	number := 0
	switch {
	case m.format != format:
		number = 9
	case revised && !m.revised:
		number = 10
	case !m.alive:
		number = 11
	case m.body:
		number = 46
	}
	if number != 0 {
		d.problem(number)
		d.dead()
		return
	}
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
func (d *Decoder) dead() {
	if d.m.format == 'B' {
		d.m.bad = 11
		d.m.slots = d.m.slots[:0]
	}
	d.m.alive = false
	d.lose()
}
