package shef

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// ReadTables reads a shefparm file (the manual's appendix B), as a centre keeps
// one for elements of its own, and adds to the manual's tables what it has:
// elements with their factors (*1), durations (*2), types and sources (*3),
// extrema (*4), probabilities (*5), send codes and default durations (*6). Any
// letter is a qualifier (*7) already, and there is no maximum of errors (**).
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
			return nil, &fault.Error{File: file, Line: n, Problem: strconv.Quote(lines.Text()) + " is no row of section " + section, Cure: `write a code and its number, such as "YW 1.0" below *1`}
		}
	}
	return &t, lines.Err()
}

// add adds a row of a section; false = it is none.
func (t *Tables) add(section string, words []string) bool {
	code, c := words[0], words[0][0]
	number, err := strconv.ParseFloat(words[1], 64)
	alone := len(code) == 1 && (upper(c) || digit(c))
	switch section {
	case "*1":
		if err != nil || number == 0 || !isElement(code) {
			return false
		}
		at := &t.element[pair(c, code[1])]
		if *at == 0 {
			t.elements = append(t.elements, Element{PE: code, Duration: 'I', Name: "of a centre's own"})
			*at = uint16(len(t.elements))
		}
		t.elements[*at-1].Factor = number
	case "*2":
		t.duration[c] = int16(number)
		return err == nil && alone && number >= 0 && number < 8000
	case "*3":
		if len(code) != 2 || !upper(c) && !digit(c) || !upper(code[1]) && !digit(code[1]) {
			return false
		}
		t.source[c] |= sourceBit(code[1])
	case "*4":
		t.extremum[c] = true
		return alone
	case "*5":
		t.probability[c], t.hasProb[c] = float32(number), true
		return err == nil && alone
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

// Resolve fills in what a parameter code says: the code with its defaults, its
// duration and probability. A nil Tables is the manual's.
func (t *Tables) Resolve(code string, g *record.Gauge) error {
	if t == nil {
		t = manual
	}
	var p parameter
	if number := p.resolve(t, []byte(code)); number != 0 {
		return errors.New(remarks[number] + " " + strconv.Quote(code))
	}
	g.Code, g.Duration, g.Probability, g.Coded = p.code, p.duration, t.probability[p.code[6]], p.code[6] != 'Z'
	return nil
}
