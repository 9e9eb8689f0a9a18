package shef

import (
	"fmt"
	"strconv"

	"github.com/barograph/barograph/record"
)

// Result is the content of one product or part. All of it is valid until the Result is reused.
type Result struct {
	Product  Product // without its text
	Values   []record.Gauge
	Problems []Problem
	Counts   [128]int32 // of problems, by number
	Account  Account
}

func (r *Result) reset(p *Product) {
	r.Product = *p
	r.Product.Text = nil
	r.Values, r.Problems = r.Values[:0], r.Problems[:0]
	r.Counts = [128]int32{}
	r.Account = Account{}
}

// Account accounts for everything in a product. IsBalanced checks it.
type Account struct {
	// Lines = Blank + Comment + Text + Data. Text lines are not SHEF: headings,
	// prose, .END, and lines with a dot that do not begin a message.
	Lines, Blank, Comment, Text, Data int64
	Messages                          int64

	// Pieces counts the nonblank pieces of data lines between slashes and commas before
	// decoding. Decoding counts the others: Pieces + Extra = ValuePieces + LostPieces + Control.
	Pieces, ValuePieces, LostPieces, Control, Extra int64

	Values int64 // decoded values, including missing ones
	// Lost counts the values that were not decoded. Each has a problem, or belongs to a message that
	// has one.
	Lost             int64
	Nulls            int64 // empty places (5.3.5)
	Errors, Warnings int64
	Rescued          int64 // of Values: read only because of Options.Lenient
}

// IsBalanced reports whether every line and every piece is accounted for.
func (a *Account) IsBalanced() bool {
	return a.Lines == a.Blank+a.Comment+a.Text+a.Data &&
		a.Pieces+a.Extra == a.ValuePieces+a.LostPieces+a.Control &&
		(a.Lost == 0 || a.Errors > 0)
}

// Add adds the counts of another product.
func (a *Account) Add(b *Account) {
	a.Lines += b.Lines
	a.Blank += b.Blank
	a.Comment += b.Comment
	a.Text += b.Text
	a.Data += b.Data
	a.Messages += b.Messages
	a.Pieces += b.Pieces
	a.ValuePieces += b.ValuePieces
	a.LostPieces += b.LostPieces
	a.Control += b.Control
	a.Extra += b.Extra
	a.Values += b.Values
	a.Lost += b.Lost
	a.Nulls += b.Nulls
	a.Errors += b.Errors
	a.Warnings += b.Warnings
	a.Rescued += b.Rescued
}

// Problem is an error or a warning about one place of a product. Decoding continues after it,
// except for the message or station whose values it makes uncertain.
type Problem struct {
	Number  int // of appendix J; 0 if it has none
	Warning bool
	Line    int    // of the file, 1-based
	Token   string // the affected token, at most 20 bytes
	Remark  string // appendix J's text for Number; Barograph's own if Number is 0
}

// Error prints `error 062 at line 7: Non-existent value … "PWI"`.
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

// Remark returns the text of appendix J for an error number; "" if the number has none.
func Remark(number int) string {
	if number < 0 || number >= len(remarks) {
		return ""
	}
	return remarks[number]
}

const maxComments = 4096 // number of comments that are cached; equal comments become one string

// problem records an error; its token is at the cursor.
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
	d.tokens = append(d.tokens, tok...)
	d.out.Problems = append(d.out.Problems, Problem{Number: number, Warning: warning, Line: int(d.line), Remark: remark})
	d.tokenEnds = append(d.tokenEnds, len(d.tokens))
}

// cite gives each problem of a product its token, from one shared text.
func (d *Decoder) cite() {
	all, from := string(d.tokens), 0
	for i, to := range d.tokenEnds {
		d.out.Problems[i].Token = all[from:to]
		from = to
	}
}

// intern returns b as a string. Equal bytes give the same string.
func (d *Decoder) intern(b []byte) string {
	if s, ok := d.comments[string(b)]; ok {
		return s
	}
	if len(d.comments) >= maxComments {
		clear(d.comments)
	}
	s := string(b)
	d.comments[s] = s
	return s
}

// remarks is appendix J of the manual: number → remark.
var remarks = [...]string{ //nolint:gochecknoglobals // a constant table
	0:  "No number in appendix J; --problems FILE lists the remarks",
	2:  "Two digits are required in date or time group",
	3:  "An expected parameter code is missing",
	4:  "File read error while accessing data file",
	5:  "No dot in column 1 when looking for new message",
	6:  "Dot found but not in column 1 of new message",
	7:  "Unknown message type, looking for .A, .B, or .E",
	8:  "Bad char in message type format (or missing blank delimiter)",
	9:  "Last message format was different from this continuation messg",
	10: "Last message was NOT a revision unlike this continuation messg",
	11: "Last message had an error so cannot continue",
	12: "No positional data or no blank before it",
	13: "Bad character in station id",
	14: "Station id has more than 8 characters",
	15: "Bad number in positional data date group",
	16: "Incorrect number in date group",
	17: "Incorrect number in time group",
	18: "Missing blank char in positional data",
	19: "Bad creation date",
	20: "Bad date code letter after the character 'D'",
	21: "Unknown data qualifier, data value is lost",
	22: "Unknown data units code (need S or E)",
	23: "Unknown duration code",
	24: "Bad 2-digit number following duration code",
	25: "Unknown time interval code (need Y,M,D,H,N,S,E)",
	26: "Bad 2-digit number following time interval code",
	27: "Bad character after 'DR' (relative date code)",
	28: "Bad 1- or 2-digit number in relative date code",
	29: "Bad character in parameter code",
	30: "Bad parameter code calls for send code",
	31: "Trace for code other than PP, PC, PY, SD, SF, SW",
	32: "Variable duration not defined",
	33: "Bad character where delimiter is expected",
	34: "Non-existent value for given type and source parameter code",
	35: "ZULU, DR, or DI has send code QY, PY, or HY",
	36: "Forecast data given without creation date",
	37: "No value given after parameter code and before slash or eol",
	38: "Explicit date for codes DRE or DIE is not the end-of-month",
	39: "Year not in good range (1753-2199)",
	40: "Exceeded limit of data items",
	41: "Too many data items for given .B format",
	42: "Not enough data items for given .B format",
	43: "Cannot adjust forecast date to Zulu time",
	44: "Time between 0201 & 0259 on day changing from standard to daylight",
	45: "No time increment specified (use DI code)",
	46: "No '.END' message for previous '.B' format",
	47: "ID requires 3 to 8 characters",
	48: "For daylight savings time, check Apr or Oct for 1976 thru 2040 only",
	49: "Bad character in the message",
	50: "Missing parameter code",
	51: "Bad value chars (or missing delimiter), data may be lost",
	52: "Bad character in data field",
	53: "'?' not accepted for missing, use 'M' or '+'",
	54: "Parameter code is too long or too short",
	55: "Missing delimiter between data type fields",
	56: "Missing delimiter after data type field",
	57: "Should use '/' after date, time, or other D-code; before data",
	58: "Parm codes PP and PC require decimal value",
	59: "Abort, cannot read 'shefparm' file correctly",
	60: "Non-existent value for given duration parameter code",
	61: "Non-existent value for given extremum parameter code",
	62: "Non-existent value for given conversion factor parameter code",
	63: "Non-existent value for given probability parameter code",
	64: "Parameter code too short or field misinterpreted as param-code",
	65: "Comma not allowed in data field, data value is lost",
	66: "Date check for yr-mo-da shows bad date",
	67: "No data on line identified with a message type format",
	68: "An unexpected '.END' message was encountered",
	69: "BUMMER!!! Maximum number of errors reached, abort message",
	70: "Cannot output to binary shefpars file",
	71: "Cannot access 'PE conversion factors' from the 'shefparm' file",
	72: "Cannot access 'send codes' from the 'shefparm' file",
	73: "Cannot access 'duration codes' from the 'shefparm' file",
	74: "Cannot access 'type/source codes' from the 'shefparm' file",
	75: "Cannot access 'extremum codes' from the 'shefparm' file",
	76: "Cannot access 'probability codes' from the 'shefparm' file",
	77: "Cannot read 'SHEFPARM' file!!!!!",
	78: "Bad character in data value, data value is lost",
	79: "Julian day should be written with 3 digits",
	80: "Too many digits in date group!",
	81: "Too many characters in quotes",
	82: "Data line found before completing .B format line(s)",
	83: "Missing slash delimiter or bad time zone code",
	84: "Too many chars in qualifier code, data value is lost",
	85: "Bad data qualifier, rest of format is lost",
	86: "Retained comment found without a data value, comment is lost",
	87: "Unexpected slash found after parameter code, before data value",
	88: "Cannot access 'qualifier codes' from the 'shefparm' file",
	90: "Unknown error number given",
}
