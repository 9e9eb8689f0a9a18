package shef

import (
	"bufio"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Element is a physical element of table 1.
type Element struct {
	PE string
	// Duration is the default duration code: 'I', or the exception of table 7.
	Duration byte
	// Factor converts metric to English units (appendix I); -1 means degrees Celsius to Fahrenheit.
	Factor float64
	// Name and units, English first, as in table 1.
	Name string
}

// Elements returns table 1 of the manual, by code.
func Elements() []Element { return elements[:] }

// Code is a row of a table of codes.
type Code struct {
	Table   string // of the manual: "3", "4", …
	Code    string
	Number  float64 // duration in shefit's encoding, or probability; else 0
	Meaning string
}

// Codes returns tables 2 to 6, 8 and 10 of the manual.
func Codes() []Code { return codes[:] }

var codes = [...]Code{ //nolint:gochecknoglobals // a constant table
	{"2", "AD", 0, "ADZZZZZ"},
	{"2", "HN", 0, "HGIRZNZ"},
	{"2", "HX", 0, "HGIRZXZ"},
	{"2", "HY", 0, "HGIRZZZ at 7 a.m. local"},
	{"2", "PF", 0, "PPTCF"},
	{"2", "PY", 0, "PPDRZZZ at 7 a.m. local"},
	{"2", "QN", 0, "QRIRZNZ"},
	{"2", "QX", 0, "QRIRZXZ"},
	{"2", "QY", 0, "QRIRZZZ at 7 a.m. local"},
	{"2", "SF", 0, "SFDRZZZ"},
	{"2", "TN", 0, "TAIRZNZ"},
	{"2", "TX", 0, "TAIRZXZ"},
	{"3", "I", 0, "instantaneous"},
	{"3", "U", 1, "1 minute"},
	{"3", "E", 5, "5 minutes"},
	{"3", "G", 10, "10 minutes"},
	{"3", "C", 15, "15 minutes"},
	{"3", "J", 30, "30 minutes"},
	{"3", "H", 1001, "1 hour"},
	{"3", "B", 1002, "2 hours"},
	{"3", "T", 1003, "3 hours"},
	{"3", "F", 1004, "4 hours"},
	{"3", "Q", 1006, "6 hours"},
	{"3", "A", 1008, "8 hours"},
	{"3", "K", 1012, "12 hours"},
	{"3", "L", 1018, "18 hours"},
	{"3", "D", 2001, "1 day"},
	{"3", "W", 2007, "1 week"},
	{"3", "N", 2015, "from the 1st to the 15th of the month"},
	{"3", "M", 3001, "1 month"},
	{"3", "Y", 4001, "1 year"},
	{"3", "P", 5004, "from the previous 7 a.m. local to the observation"},
	{"3", "V", 5003, "variable, given by DV"},
	{"3", "S", 5001, "season"},
	{"3", "R", 5002, "entire period of record"},
	{"3", "X", 5005, "unknown"},
	{"3", "Z", 5000, "default of the element (table 7)"},
	{"4", "C", 0, "contingency: C1-C9 CA-CZ"},
	{"4", "F", 0, "forecast: FA-FG FL FM FN FP FQ FR FU-FX FZ"},
	{"4", "H", 0, "historical: HA-HZ"},
	{"4", "M", 0, "model: MA MC MH MK MS MT MW"},
	{"4", "P", 0, "processed: P1-P3 PA-PZ; levels 1-9 with A-D F G M P R S T V W X Z and 2-9"},
	{"4", "R", 0, "reading: R2-R9 RA-RD RF RG RM RP RR RS RT RV RW RX RZ"},
	{"5", "J", 0, "minimum of record"},
	{"5", "K", 0, "minimum of year"},
	{"5", "L", 0, "minimum of month"},
	{"5", "M", 0, "minimum of week"},
	{"5", "N", 0, "minimum of day"},
	{"5", "F", 0, "minimum of 1 hour"},
	{"5", "G", 0, "minimum of 3 hours"},
	{"5", "H", 0, "minimum of 6 hours"},
	{"5", "P", 0, "minimum of 12 hours"},
	{"5", "I", 0, "minimum of 18 hours"},
	{"5", "T", 0, "maximum of record"},
	{"5", "U", 0, "maximum of year"},
	{"5", "V", 0, "maximum of month"},
	{"5", "W", 0, "maximum of week"},
	{"5", "X", 0, "maximum of day"},
	{"5", "D", 0, "maximum of 1 hour"},
	{"5", "E", 0, "maximum of 3 hours"},
	{"5", "R", 0, "maximum of 6 hours"},
	{"5", "Y", 0, "maximum of 12 hours"},
	{"5", "S", 0, "maximum of 18 hours"},
	{"5", "Z", 0, "none"},
	{"6", "A", .002, ""},
	{"6", "B", .004, ""},
	{"6", "C", .01, ""},
	{"6", "D", .02, ""},
	{"6", "E", .04, ""},
	{"6", "F", .05, ""},
	{"6", "1", .1, ""},
	{"6", "2", .2, ""},
	{"6", "G", .25, ""},
	{"6", "3", .3, ""},
	{"6", "4", .4, ""},
	{"6", "5", .5, ""},
	{"6", "6", .6, ""},
	{"6", "7", .7, ""},
	{"6", "H", .75, ""},
	{"6", "8", .8, ""},
	{"6", "9", .9, ""},
	{"6", "T", .95, ""},
	{"6", "U", .96, ""},
	{"6", "V", .98, ""},
	{"6", "W", .99, ""},
	{"6", "X", .996, ""},
	{"6", "Y", .998, ""},
	{"6", "J", .0013, "-3 standard deviations"},
	{"6", "K", .0228, "-2 standard deviations"},
	{"6", "L", .1587, "-1 standard deviation"},
	{"6", "M", -.5, "mean"},
	{"6", "N", .8413, "+1 standard deviation"},
	{"6", "P", .9772, "+2 standard deviations"},
	{"6", "Q", .9987, "+3 standard deviations"},
	{"6", "Z", -1, "none"},
	{"10", "G", 0, "good, manual quality control"},
	{"10", "M", 0, "manual edit"},
	{"10", "S", 0, "screened, level 1"},
	{"10", "V", 0, "verified, levels 1 and 2"},
	{"10", "W", 0, "withheld"},
	{"10", "P", 0, "passed levels 1, 2 and 3"},
	{"10", "F", 0, "flagged by sensor or telemetry"},
	{"10", "Q", 0, "questioned in level 2 or 3"},
	{"10", "N", 0, "reserved"},
	{"10", "B", 0, "bad, manual quality control"},
	{"10", "R", 0, "rejected by level 1"},
	{"10", "Z", 0, "no quality control performed"},
	{"10", "E", 0, "estimated"},
	{"10", "D", 0, "partial"},
	{"10", "L", 0, "lumped"},
	{"10", "T", 0, "triggered"},
}

// Tables are the tables of codes of a Decoder, by letter: those of the manual, with the additions
// of ReadTables. They are immutable.
type Tables struct {
	elements    []Element
	element     [26 * 26]uint16 // 1 + index into elements
	send        [26 * 26]string // meaning of a code of table 2
	duration    [256]int16      // -1 = none
	extremum    [256]bool
	probability [256]float32
	hasProb     [256]bool   // the letter has a probability
	source      [256]uint64 // by type: a bit for each existing source, see sourceBit
}

const noDuration = -1

var manual = newTables() //nolint:gochecknoglobals // constant tables, by letter

func newTables() *Tables {
	t := &Tables{elements: elements[:]}
	for i := range elements {
		t.element[pair(elements[i].PE[0], elements[i].PE[1])] = uint16(i + 1)
	}
	for i := range t.duration {
		t.duration[i] = noDuration
	}
	for _, c := range codes {
		switch c.Table {
		case "2":
			t.send[pair(c.Code[0], c.Code[1])] = c.Meaning
		case "3":
			t.duration[c.Code[0]] = int16(c.Number)
		case "5":
			t.extremum[c.Code[0]] = true
		case "6":
			t.probability[c.Code[0]], t.hasProb[c.Code[0]] = float32(c.Number), true
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	allow := func(kind byte, sources string) {
		for i := range len(sources) {
			t.source[kind] |= sourceBit(sources[i])
		}
	}
	allow('C', "123456789"+letters)
	allow('F', "ABCDEFGLMNPQRUVWXZ")
	allow('H', letters)
	allow('M', "ACHKSTW")
	allow('P', "123"+letters)
	allow('R', "23456789ABCDFGMPRSTVWXZ")
	for level := byte('1'); level <= '9'; level++ {
		allow(level, "ABCDFGMPRSTVWXZ23456789")
	}
	return t
}

// sourceBit maps digits and letters to bits 0 to 42.
func sourceBit(c byte) uint64 { return 1 << (c - '0') }

func pair(a, b byte) int { return int(a-'A')*26 + int(b-'A') }

// parameter is a parameter code as used in a message.
type parameter struct {
	code     record.Parameter
	coded    bool // the message has all seven characters
	seven    bool // HY, PY, QY: at 7 a.m. local
	variable bool // duration V: taken from DV
	duration int16
	element  uint16 // index into Tables.elements
}

func upper(c byte) bool { return c-'A' < 26 }
func digit(c byte) bool { return c-'0' < 10 }

// resolve reads a parameter code of two to seven characters and adds the defaults (tables 2, 3, 7).
// It returns the number of an error, or 0.
func (p *parameter) resolve(t *Tables, tok []byte) int {
	switch {
	case len(tok) < 2:
		return 64
	case len(tok) > 7:
		return 54
	case !upper(tok[0]) || !upper(tok[1]):
		return 29
	}
	for i, c := range tok[2:] {
		// a digit can be a type (3), a source (4) or a probability (6)
		if !upper(c) && (c-'1' >= 9 || (i != 1 && i != 2 && i != 4)) {
			return 29
		}
	}
	at := pair(tok[0], tok[1])
	if meaning := t.send[at]; meaning != "" {
		if err := p.sendCode(t, tok, meaning); err != 0 || len(tok) == 2 {
			return err
		}
	}
	p.seven, p.coded = false, len(tok) == 7
	return p.fill(t, tok)
}

// sendCode resolves a code of table 2. "SF" is one. It means the element SF, hence "SFDRZ" is a plain
// code. "TX" cannot be extended, because it means another element.
func (p *parameter) sendCode(t *Tables, tok []byte, meaning string) int {
	if len(tok) > 2 {
		if meaning[:2] == string(tok[:2]) {
			return 0
		}
		return 30
	}
	code, _, seven := strings.Cut(meaning, " ")
	p.seven, p.coded = seven, len(code) == 7
	return p.fill(t, []byte(code))
}

func (p *parameter) fill(t *Tables, tok []byte) int {
	i := t.element[pair(tok[0], tok[1])]
	if i == 0 {
		return 62
	}
	p.element = i - 1
	p.code = record.Parameter{tok[0], tok[1], 'Z', 'R', 'Z', 'Z', 'Z'}
	copy(p.code[2:], tok[2:])
	if p.code[2] == 'Z' { // 5.3.4: a pointer to the default
		p.code[2] = t.elements[p.element].Duration
	}
	p.variable = p.code[2] == 'V'
	p.duration = t.duration[p.code[2]]
	if p.duration == noDuration {
		return 60
	}
	if p.code[3] == 'Z' {
		if p.code[4] != 'Z' {
			return 29
		}
		p.code[3] = 'R'
	}
	if t.source[p.code[3]]&sourceBit(p.code[4]) == 0 {
		return 34
	}
	if !t.extremum[p.code[5]] {
		return 61
	}
	if !t.hasProb[p.code[6]] {
		return 63
	}
	return 0
}

// precipitation reports whether the element is PP or PC, or PY by its expansion.
func (p *parameter) precipitation() bool {
	return p.code[0] == 'P' && (p.code[1] == 'P' || p.code[1] == 'C')
}

// trace reports whether a trace is allowed for the element: those of 5.1.2, and the snow that error
// 31 adds.
func (p *parameter) trace() bool {
	return p.precipitation() || p.code[0] == 'S' && (p.code[1] == 'D' || p.code[1] == 'F' || p.code[1] == 'W')
}

// ReadTables reads a shefparm file (the manual's appendix B), in which a center defines its own
// elements, and adds its content to the manual's tables: elements with their factors (*1),
// durations (*2), types and sources (*3), extrema (*4), probabilities (*5), send codes and default
// durations (*6). Qualifiers (*7) are ignored because any letter is valid, and so is the maximum
// number of errors (**). A row that is none of its section is a *fault.Error with file and line, and so
// is a text without a section.
func ReadTables(r io.Reader, file string) (*Tables, error) {
	t := *manual
	t.elements = slices.Clone(t.elements)
	section, lines := "", bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0 || words[0][0] == '$' || words[0] == "*":
		case words[0][0] == '*':
			section = words[0]
		case !t.add(section, append(words, "", "")):
			problem := strconv.Quote(lines.Text()) + " is not a row of section " + section
			return nil, &fault.Error{File: file, Line: n, Problem: problem, Cure: `write a code and its number, such as "YW 1.0" below *1`}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err}
	}
	if section == "" {
		return nil, &fault.Error{File: file, Problem: "has no section", Cure: "give a shefparm file; its elements are below a line *1"}
	}
	return &t, nil
}

// add adds a row of a section; false = the row is invalid.
func (t *Tables) add(section string, words []string) bool {
	code, c := words[0], words[0][0]
	number, err := strconv.ParseFloat(words[1], 64)
	isSingle := len(code) == 1 && (upper(c) || digit(c))
	switch section {
	case "": // a title
	case "*1":
		if len(code) == 2 && upper(c) && digit(code[1]) && err == nil {
			return true // Sacramento's file has a Q2, which no message can have: elements are letters
		}
		if err != nil || number == 0 || !(math.Abs(number) < 1e10) || !isElement(code) {
			return false
		}
		at := &t.element[pair(c, code[1])]
		if *at == 0 {
			t.elements = append(t.elements, Element{PE: code, Duration: 'I', Name: "of the center's own"})
			*at = uint16(len(t.elements))
		}
		t.elements[*at-1].Factor = number
	case "*2":
		t.duration[c] = int16(number)
		return err == nil && isSingle && number >= 0 && number < 8000
	case "*3":
		if len(code) != 2 || !upper(c) && !digit(c) || !upper(code[1]) && !digit(code[1]) {
			return false
		}
		t.source[c] |= sourceBit(code[1])
	case "*4":
		t.extremum[c] = true
		return isSingle
	case "*5":
		t.probability[c], t.hasProb[c] = float32(number), true
		return err == nil && isSingle && number >= -1 && number <= 1
	case "*6":
		return t.send6(code, words[1], words[2] == "1")
	case "*7", "**":
	default:
		return false
	}
	return true
}

// send6 adds a send code, or the default duration of an element.
func (t *Tables) send6(code, meaning string, seven bool) bool {
	if !isElement(code) || len(meaning) < 3 || len(meaning) > 7 || !isElement(meaning[:2]) {
		return false
	}
	at := pair(code[0], code[1])
	if len(meaning) == 3 && meaning[:2] == code {
		if t.element[at] > 0 {
			t.elements[t.element[at]-1].Duration = meaning[2]
		}
		return t.element[at] > 0
	}
	if t.send[at] = meaning; seven {
		t.send[at] += " at 7 a.m. local"
	}
	return true
}

func isElement(code string) bool { return len(code) == 2 && upper(code[0]) && upper(code[1]) }

// Resolve completes a parameter code of two to seven characters with its defaults, and sets Code,
// Duration, Probability and HasProbability of g. Its error is a remark of appendix J and the code. A
// nil Tables means the manual's.
func (t *Tables) Resolve(code string, g *record.Gauge) error {
	if t == nil {
		t = manual
	}
	var p parameter
	if number := p.resolve(t, []byte(code)); number != 0 {
		return errors.New(remarks[number] + " " + strconv.Quote(code))
	}
	g.Code, g.Duration, g.Probability, g.HasProbability = p.code, p.duration, t.probability[p.code[6]], p.code[6] != 'Z'
	return nil
}

// Letters returns the letters of a duration and a probability: V if no letter has the duration, Z
// if none has the probability. A nil Tables means the manual's.
func (t *Tables) Letters(duration int16, probability float32) (d, p byte) {
	if t == nil {
		t = manual
	}
	d, p = 'V', 'Z'
	for c := byte('Z'); c >= '0'; c-- {
		if t.duration[c] == duration && c != 'V' && c != 'Z' {
			d = c
		}
		if t.hasProb[c] && t.probability[c] == probability && c != 'Z' {
			p = c
		}
	}
	return d, p
}
