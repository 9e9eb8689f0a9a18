package shef

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// Product is one product of a file, or a part of a large one: text with SHEF messages, and the
// content of its envelope.
type Product struct {
	File          string
	Number        int  // of the product in the file, from 1
	Part          int  // number of the part, from 1; a large product is split between messages
	Last          bool // no part of it follows, except blanks after the last product
	Line          int  // of Text's first line, 1-based
	ContinuesLine bool // Text begins with a piece of a line that is too long to be read
	Cut           bool // it began with SOH, and the text ends in its last line, before ETX

	Heading string // WMO heading, "SRUS54 KLCH 101813 RRA"; "" if there is none
	AWIPS   string // AWIPS id, "RR1LCH"
	Issued  int64  // Unix seconds: day and time of the heading, nearest to now; record.NoTime without one

	Text []byte
}

// envelope reads the heading from the first lines of a product.
func (p *Product) envelope(now time.Time) {
	p.Heading, p.AWIPS, p.Issued = "", "", record.NoTime
	text := p.Text
	for n := 0; n < 8 && len(text) > 0; n++ {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		line = trim(line)
		switch {
		case len(line) == 0 || isSequence(line):
		case p.Heading == "" && IsHeading(line):
			p.Heading = string(line)
			p.Issued = issued(line, now)
		case bytes.HasPrefix(line, []byte("ZCZC ")):
			p.zczc(string(line[5:]))
		case p.Heading != "":
			if p.AWIPS == "" && isAWIPS(line) {
				p.AWIPS = string(line)
			}
			return
		case line[0] == '.':
			return
		}
	}
}

// zczc reads "ZCZC MEMRR7MRX CES": node and AWIPS id, then the requester.
func (p *Product) zczc(rest string) {
	id, _, _ := strings.Cut(rest, " ")
	if len(id) == 9 {
		id = id[3:]
	}
	p.AWIPS = id
}

func isSequence(line []byte) bool {
	line = bytes.TrimRight(line, " ")
	return len(line) == 3 && digit(line[0]) && digit(line[1]) && digit(line[2])
}

// IsHeading reports whether a line is a WMO heading: "TTAAii CCCC DDHHMM" with or without "BBB".
func IsHeading(line []byte) bool {
	if len(line) != 18 && (len(line) != 22 || line[18] != ' ' || !all(line[19:22], upper)) {
		return false
	}
	return all(line[:4], upper) && all(line[4:6], digit) && line[6] == ' ' &&
		all(line[7:11], func(c byte) bool { return upper(c) || digit(c) }) && line[11] == ' ' && all(line[12:18], digit)
}

func isAWIPS(line []byte) bool {
	return len(line) >= 4 && len(line) <= 6 && all(line, func(c byte) bool { return upper(c) || digit(c) })
}

func all(b []byte, is func(byte) bool) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return !is(c) })
}

// issued completes the day and time of a heading with the month nearest to now.
func issued(line []byte, now time.Time) int64 {
	two := func(i int) int { return int(line[i]-'0')*10 + int(line[i+1]-'0') }
	best := int64(record.NoTime)
	for month := -1; month <= 1; month++ {
		t := time.Date(now.Year(), now.Month()+time.Month(month), two(12), two(14), two(16), 0, 0, time.UTC)
		if t.Day() != two(12) {
			continue
		}
		if best == record.NoTime || t.Sub(now).Abs() < time.Unix(best, 0).Sub(now).Abs() {
			best = t.Unix()
		}
	}
	return best
}

// Filter selects values; the zero value selects all. Each list has patterns (*, ?, [A-C]; see
// path.Match) in any order and letter case. A pattern that begins with ! excludes what it matches.
// If a list has other patterns, one of these must match.
type Filter struct {
	Stations, Elements, Sources []string             // lid, PE, TS
	From, To                    int64                // times of observation in Unix seconds, both inclusive; 0 = any
	Known                       func(record.ID) bool // whether the station is selected; nil = every station is
}

// Check returns path.ErrBadPattern, with the pattern, for the first invalid one.
func (f *Filter) Check() error {
	for _, p := range slices.Concat(f.Stations, f.Elements, f.Sources) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q: %w", p, err)
		}
	}
	return nil
}

// Apply removes the values that the filter does not select, and returns their number.
func (f *Filter) Apply(values *[]record.Gauge) (dropped int) {
	if len(f.Stations)+len(f.Elements)+len(f.Sources) == 0 && f.From == 0 && f.To == 0 && f.Known == nil {
		return 0
	}
	all := len(*values)
	*values = slices.DeleteFunc(*values, func(g record.Gauge) bool { return !f.wants(&g) })
	return all - len(*values)
}

func (f *Filter) wants(g *record.Gauge) bool {
	return (f.From == 0 || g.Time >= f.From) && (f.To == 0 || g.Time <= f.To) && (f.Known == nil || f.Known(g.Station)) &&
		matches(f.Elements, g.Code.PE()) && matches(f.Sources, string(g.Code[3:5])) && matches(f.Stations, g.Station.String())
}

func matches(patterns []string, text string) bool {
	required, found := false, false
	for _, p := range patterns {
		bare, excludes := strings.CutPrefix(p, "!")
		isMatch, _ := path.Match(strings.ToUpper(bare), text) // Check has reported an invalid pattern
		if isMatch && excludes {
			return false
		}
		required, found = required || !excludes, found || isMatch
	}
	return found || !required
}
