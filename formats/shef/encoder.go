package shef

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// Encoder writes values as messages that decode to the same values, in the same order. It writes .B
// for values with a source, .E for at least two equal steps of one parameter (a gap is a null), and
// otherwise .A, with all values of a station and time in one message. Dates have their century,
// times are UTC, units English. All fields are preserved except Series, which depends on the
// message type, and Line. Values have 10 decimals, the maximum of a message.
type Encoder struct {
	w      *bufio.Writer
	dec    *Decoder
	out    Result
	run    []record.Gauge // values that can be in one message
	b      []byte         // the current message
	at     int            // beginning of its last line
	n      int            // number of its last line: 1 for .A1
	prefix []byte         // beginning of each of its lines: ".AR" of ".AR1"
}

const (
	lineBytes    = 80   // of a line, after which the next one continues the message
	maxContinued = 99   // lines that continue a message
	runValues    = 4096 // buffered until they are written
	headerCodes  = 40   // parameter codes of a .B header
	maxSteps     = 24   // from one value of a .E message to the next, with nulls between them
)

// NewEncoder returns an Encoder for the tables of codes t; nil = the manual's.
func NewEncoder(w io.Writer, t *Tables) *Encoder {
	return &Encoder{w: bufio.NewWriter(w), dec: NewDecoder(Options{Tables: t})}
}

// Write adds a value. If no message can represent it, Write skips it and returns an error with the
// reason: each written value must decode to itself.
func (e *Encoder) Write(g *record.Gauge) error {
	one := []record.Gauge{*g}
	if rounded, ok := Representable(g.Value); ok {
		one[0].Value = rounded
	}
	g = &one[0]
	e.b = e.b[:0]
	e.message(one)
	e.dec.Decode(&Product{Text: e.b, Line: 1}, &e.out)
	if len(e.out.Values) != 1 || !e.same(g, &e.out.Values[0]) {
		for _, p := range e.out.Problems {
			if !p.Warning {
				return fmt.Errorf("%s of %s cannot be encoded: %s", g.Code, g.Station, p.Error())
			}
		}
		return fmt.Errorf("%s of %s cannot be encoded: SHEF cannot represent all of it: %q", g.Code, g.Station, e.b)
	}
	if n := len(e.run); n > 0 && (n == runValues || !sameMessage(&e.run[n-1], g)) {
		if err := e.flush(); err != nil {
			return err
		}
	}
	e.run = append(e.run, *g)
	return nil
}

// same compares the properties of a value that messages contain.
func (e *Encoder) same(a, b *record.Gauge) bool {
	x, y := *a, *b
	x.Series, y.Series, x.Line, y.Line = 0, 0, 0, 0
	return x == y
}

// sameMessage reports whether two values can be in one message.
func sameMessage(a, b *record.Gauge) bool {
	return a.Source == b.Source && a.Revised == b.Revised && a.Created == b.Created &&
		(a.Source != record.ID{} && a.Time == b.Time || a.Source == record.ID{} && a.Station == b.Station)
}

// Close writes the remaining values.
func (e *Encoder) Close() error { return errors.Join(e.flush(), e.w.Flush()) }

func (e *Encoder) flush() error {
	e.b = e.b[:0]
	e.message(e.run)
	e.run = e.run[:0]
	_, err := e.w.Write(e.b)
	return err
}

// message writes values that can be in one message.
func (e *Encoder) message(run []record.Gauge) {
	for len(run) > 0 {
		n := steps(run)
		switch {
		case run[0].Source != record.ID{}:
			n = e.dotB(run)
		case n >= 3:
			n = e.dotE(run[:n])
		default:
			for n = 1; n < len(run) && run[n].Time == run[0].Time; {
				n++
			}
			n = e.dotA(run[:n])
		}
		e.b = append(e.b, '\n')
		run = run[n:]
	}
}

// begin writes the part before the data string.
func (e *Encoder) begin(format byte, id record.ID, g *record.Gauge) {
	e.prefix = append(e.prefix[:0], '.', format)
	if g.Revised {
		e.prefix = append(e.prefix, 'R')
	}
	e.at, e.n = len(e.b), 0
	t := time.Unix(g.Time, 0).UTC()
	layout := "DH1504"
	if t.Second() != 0 {
		layout = "DH150405"
	}
	e.b = fmt.Appendf(append(e.b, e.prefix...), " %s %s Z %s", id, t.Format("20060102"), t.Format(layout))
	if g.Created != record.NoTime {
		e.b = time.Unix(g.Created, 0).UTC().AppendFormat(e.b, "/DC200601021504")
	}
}

// add writes a piece and the slashes before it, on a new line if the current one is full; false =
// the message is full.
func (e *Encoder) add(slashes int, piece []byte) bool {
	if len(e.b)-e.at+slashes+len(piece) > lineBytes {
		if e.n == maxContinued {
			return false
		}
		e.n++
		e.b = append(e.b, '\n')
		e.at = len(e.b)
		e.b = append(strconv.AppendInt(append(e.b, e.prefix...), int64(e.n), 10), ' ')
	}
	e.b = append(append(e.b, strings.Repeat("/", slashes)...), piece...)
	return true
}

// dotA writes a message of one station and time, and returns its number of values.
func (e *Encoder) dotA(run []record.Gauge) int {
	e.begin('A', run[0].Station, &run[0])
	for i := range run {
		if !e.add(1, appendValue(append(e.code(&run[i], true), ' '), &run[i])) {
			return i
		}
	}
	return len(run)
}

// code returns a parameter code. If duration is set, it writes before the code the DV that defines a duration V. It
// omits the last letter if that was not coded.
func (e *Encoder) code(g *record.Gauge, duration bool) (b []byte) {
	if g.Code[2] == 'V' && duration {
		b = append(e.variable(g), '/')
	}
	if !g.HasProbability {
		return append(b, g.Code[:6]...)
	}
	return append(b, g.Code[:]...)
}

// variable returns the DV element of a duration.
func (e *Encoder) variable(g *record.Gauge) []byte {
	var p parameter
	if p.resolve(e.dec.tables, append([]byte(g.Code.PE()), 'Z')) == 0 && p.duration == g.Duration {
		return []byte("DVZ")
	}
	return fmt.Appendf(nil, "DV%c%02d", "NHDMY??S"[min(max(g.Duration/1000, 0), 7)], g.Duration%1000)
}

// steps is the number of values, from the first on, that have one parameter and equal steps, not
// counting gaps.
func steps(run []record.Gauge) int {
	n := 1
	for ; n < len(run); n++ {
		a, b, step := &run[n-1], &run[n], run[1].Time-run[0].Time
		if b.Code != a.Code || b.HasProbability != a.HasProbability || b.Duration != a.Duration || interval(step) == "" ||
			(b.Time-a.Time)%step != 0 || b.Time <= a.Time || (b.Time-a.Time)/step > maxSteps {
			break
		}
	}
	return n
}

// interval returns the DI element of a step in seconds; "" = there is none.
func interval(step int64) string {
	for i, unit := range []int64{86400, 3600, 60, 1} {
		if n := step / unit; step%unit == 0 && n > 0 && n < 100 {
			return fmt.Sprintf("DI%c%02d", "DHNS"[i], n)
		}
	}
	return ""
}

// dotE writes a message of one parameter.
func (e *Encoder) dotE(run []record.Gauge) int {
	step := run[1].Time - run[0].Time
	e.begin('E', run[0].Station, &run[0])
	e.add(1, append(e.code(&run[0], true), "/"+interval(step)...))
	last := run[0].Time - step
	for i := range run {
		if !e.add(int((run[i].Time-last)/step), appendValue(nil, &run[i])) {
			return i
		}
		last = run[i].Time
	}
	return len(run)
}

// dotB writes a message of one time and source.
func (e *Encoder) dotB(run []record.Gauge) int {
	e.begin('B', run[0].Source, &run[0])
	var codes [][]byte
	var columns []int
	for i := range run {
		code := e.code(&run[i], true)
		at := slices.IndexFunc(codes, func(c []byte) bool { return bytes.Equal(c, code) })
		if at < 0 {
			if len(codes) == headerCodes {
				break
			}
			at = len(codes)
			codes = append(codes, code)
			e.add(1, code)
		}
		columns = append(columns, at)
	}
	for i, column := range columns {
		value := appendValue(nil, &run[i])
		slashes := column
		isNext := i > 0 && run[i-1].Station == run[i].Station && column > columns[i-1]
		if isNext && len(e.b)-e.at+len(value)+column < lineBytes {
			slashes -= columns[i-1]
		} else {
			e.b = append(e.b, '\n')
			e.at = len(e.b)
			e.b = fmt.Appendf(e.b, "%s ", run[i].Station)
		}
		e.b = append(append(e.b, strings.Repeat("/", slashes)...), value...)
	}
	e.b = append(e.b, "\n.END"...)
	return len(columns)
}

// appendValue writes a value, its qualifier and its retained comment.
func appendValue(b []byte, g *record.Gauge) []byte {
	from := len(b)
	switch p := (&parameter{code: g.Code}); {
	case g.IsMissing() && g.Quality != 'M':
		b = append(b, 'M')
	case g.Value == .001 && p.trace() && g.Quality != 'T':
		b = append(b, 'T')
	default:
		b = strconv.AppendFloat(b, g.Value, 'f', -1, 64)
		if p.precipitation() && !bytes.ContainsRune(b[from:], '.') {
			b = append(b, '.')
		}
	}
	if g.Quality != 'Z' {
		b = append(b, g.Quality)
	}
	if g.Comment == "" {
		return b
	}
	quote := byte('"')
	if strings.IndexByte(g.Comment, quote) >= 0 {
		quote = '\''
	}
	return append(append(append(b, quote), g.Comment...), quote)
}
