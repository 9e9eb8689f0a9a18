package shef

import (
	"slices"

	"github.com/barograph/barograph/record"
)

// positional reads the part before the data string: identifier, date and time zone (4.1). It
// returns the number of an error, or 0.
func (d *Decoder) positional() int {
	m := &d.m
	if number := d.identifier(&m.id, true); number != 0 {
		return number
	}
	if d.blanks() == 0 {
		if d.i == len(d.b) {
			return 12
		}
		return 14
	}
	if number := d.dateGroup(&m.at); number != 0 {
		return number
	}
	m.zone = &zones[0]
	if d.i < len(d.b) && !d.at('/') && d.blanks() == 0 {
		return 18
	}
	d.mark = d.i
	n := d.i
	for n < len(d.b) && upper(d.b[n]) {
		n++
	}
	if n == len(d.b) || d.b[n] == ' ' || d.b[n] == '/' {
		if z, ok := findZone(d.b[d.i:n]); ok {
			m.zone, d.i = z, n
		}
	}
	m.at.hour = 24
	if m.zone.code == "Z" {
		m.at.hour = 12
	}
	d.blanks()
	if d.i < len(d.b) && !d.at('D') && !d.at('/') {
		d.mark = d.i
		return 83
	}
	return 0
}

// identifier reads a station or a source (3.1).
func (d *Decoder) identifier(id *record.ID, positional bool) int {
	d.mark = d.i
	*id = record.ID{}
	n := 0
	for ; d.i < len(d.b); d.i++ {
		c := d.b[d.i]
		if c == ' ' || !positional && (c == ',' || c == '/' && d.atJoint() || c == 'D' && n > 0 && d.atDate()) {
			break
		}
		if !upper(c) && !digit(c) && c != '_' {
			return 13
		}
		if n == len(id) {
			return 14
		}
		id[n] = c
		n++
	}
	if n = min(n, d.i-d.mark); n < 3 { // atJoint may have moved the cursor back
		return 47
	}
	clear(id[n:])
	return 0
}

// atDate reports whether a comment between a station and its first D element ends here,
// "STNA1:Kansas City:DH0700/72/50".
func (d *Decoder) atDate() bool {
	if !slices.Contains(d.joints, d.i) || d.i+1 == len(d.b) || !upper(d.b[d.i+1]) {
		return false
	}
	at := d.i + 2
	for at < len(d.b) && digit(d.b[at]) {
		at++
	}
	if at == d.i+2 || at < len(d.b) && d.b[at] != '/' && d.b[at] != ' ' {
		return false
	}
	d.warn(55)
	return true
}

// atJoint moves back from a slash to the comment between a station and its first value,
// "STNA1:Kansas City:72/50". In all other places a comment has no effect, as in the test deck's
// "BB02:KANSAS CITY:23 4.8/1".
func (d *Decoder) atJoint() bool {
	for _, at := range d.joints {
		if at > d.mark && at < d.i {
			d.i = at
			d.warn(55)
			return true
		}
	}
	return false
}

// dateGroup reads mmdd, yymmdd or ccyymmdd (4.1.4).
func (d *Decoder) dateGroup(c *clock) int {
	d.mark = d.i
	var p [4]int32
	n, number := d.pairs(p[:])
	if number != 0 {
		return 15
	}
	if d.i < len(d.b) && digit(d.b[d.i]) {
		return 80
	}
	switch n {
	case 2:
		c.month, c.day = int8(p[0]), int8(p[1])
		c.year = nearestYear(c.month, c.day, d.now)
	case 3:
		c.month, c.day = int8(p[1]), int8(p[2])
		c.year = fullYear(p[0], c.month, c.day, d.now)
	case 4:
		c.year, c.month, c.day = p[0]*100+p[1], int8(p[2]), int8(p[3])
	default:
		return 15
	}
	if !c.dateExists() {
		return 16
	}
	return 0
}

// pairs reads numbers of two digits. An odd number of digits is error 2.
func (d *Decoder) pairs(p []int32) (n, number int) {
	for n < len(p) && d.i < len(d.b) && digit(d.b[d.i]) {
		if d.i+1 == len(d.b) || !digit(d.b[d.i+1]) {
			return n, 2
		}
		p[n] = int32(d.b[d.i]-'0')*10 + int32(d.b[d.i+1]-'0')
		d.i += 2
		n++
	}
	return n, 0
}

// What a D element sets, as bits; a .B body keeps it from one value of a station to the next.
const (
	setTime = 1 << iota
	setRel
	setCreated
	setQuality
	setUnits
	setVariable
	setInterval
)

// dElement reads one D element, beginning at its D. It returns what was set, and the number of an
// error or 0.
func (d *Decoder) dElement(s *scope) (set, number int) {
	d.mark = d.i
	d.i++
	letter := d.letter()
	switch letter {
	case 'T', 'Y', 'M', 'D', 'H', 'N', 'S':
		set, number = setTime, d.obsTime(letter, &s.at)
	case 'J':
		set, number = setTime, d.julian(&s.at)
	case 'R':
		set, number = setRel, d.relative(&s.rel)
	case 'C':
		set, number = setCreated, d.creation(s)
	case 'Q':
		set, number = setQuality, d.dataQualifier(s)
	case 'U':
		set, number = setUnits, d.units(s)
	case 'V':
		set, number = setVariable, d.variableDuration(s)
	case 'I':
		if d.m.format != 'E' {
			return 0, 20
		}
		set, number = setInterval, d.interval()
	default:
		return 0, 20
	}
	if number != 0 {
		return 0, number
	}
	return set, d.delimiter()
}

// letter reads a capital letter; 0 if there is none.
func (d *Decoder) letter() byte {
	if d.i == len(d.b) || !upper(d.b[d.i]) {
		return 0
	}
	d.i++
	return d.b[d.i-1]
}

// delimiter checks the character after a D element. A slash is correct; another D element or a
// blank is accepted.
func (d *Decoder) delimiter() int {
	n := d.blanks()
	switch {
	case d.i == len(d.b) || d.b[d.i] == '/' || d.b[d.i] == ',':
	case d.b[d.i] == 'D':
		if n == 0 {
			d.warn(55)
		}
	case n == 0:
		return 56
	default:
		d.warn(57)
	}
	return 0
}

// obsTime reads the digits of DT, DY, DM, DD, DH, DN or DS (table 9). Hours reset minutes and
// seconds that are not given with them, and minutes reset seconds; other units keep the smaller
// ones (5.2.2). Larger units are kept: DM keeps the year (5.4.1, examples 3 and 4: "current year
// assumed").
func (d *Decoder) obsTime(letter byte, c *clock) int {
	var p [7]int32
	first := 0
	for "TYMDHNS"[first] != letter {
		first++
	}
	n, number := d.pairs(p[:7-first])
	if number != 0 || n == 0 {
		return 2
	}
	if d.i < len(d.b) && digit(d.b[d.i]) {
		return 80
	}
	ref := *c
	for k, v := range p[:n] {
		switch first + k {
		case 0:
			c.year = v*100 + ref.year%100
		case 1:
			if first == 0 {
				c.year = p[0]*100 + v
			} else {
				c.year = -v - 1 // of two digits, until month and day are known
			}
		case 2:
			c.month = int8(v)
		case 3:
			c.day = int8(v)
		case 4:
			c.hour, c.minute, c.second = int8(v), 0, 0
		case 5:
			c.minute, c.second = int8(v), 0
		case 6:
			c.second = int8(v)
		}
	}
	if c.year < 0 {
		c.year = fullYear(-c.year-1, c.month, c.day, ref)
	}
	if !c.dateExists() {
		return 16
	}
	if !c.timeExists() {
		return 17
	}
	return 0
}

// julian reads DJddd, DJyyddd or DJccyyddd.
func (d *Decoder) julian(c *clock) int {
	from := d.i
	n := int32(0)
	for ; d.i < len(d.b) && digit(d.b[d.i]) && d.i-from < 8; d.i++ {
		n = n*10 + int32(d.b[d.i]-'0')
	}
	ref := *c
	switch d.i - from {
	case 1, 2:
		d.warn(79)
		c.year = nearestJulian(n, ref)
	case 3:
		c.year = nearestJulian(n, ref)
	case 5:
		c.year = fullYear(n/1000, 1, 1, ref)
	case 7:
		c.year = n / 1000
	default:
		return 16
	}
	n %= 1000
	if n < 1 || n > 365 && (n > 366 || !leap(c.year)) || c.year < firstYear || c.year > lastYear {
		return 16
	}
	_, m, day := record.Date(record.Days(c.year, 1, 1) + int64(n) - 1)
	c.month, c.day = int8(m), int8(day)
	return 0
}

// nearestJulian is nearestYear for a day of the year.
func nearestJulian(n int32, ref clock) int32 {
	at := record.Days(ref.year, int32(ref.month), int32(ref.day))
	best, far := ref.year, int64(1<<62)
	if n == 366 { // the last day of the year of ref; error 16 if that is no leap year
		return best
	}
	for y := ref.year - 1; y <= ref.year+1; y++ {
		off := record.Days(y, 1, 1) + int64(n) - 1 - at
		if max(off, -off) < far {
			best, far = y, max(off, -off)
		}
	}
	return best
}

// signed reads an optional sign and one or two digits.
func (d *Decoder) signed() (v int32, ok bool) {
	d.blanks()
	neg := d.at('-')
	if neg || d.at('+') {
		d.i++
	}
	from := d.i
	for ; d.i < len(d.b) && digit(d.b[d.i]) && d.i-from < 3; d.i++ {
		v = v*10 + int32(d.b[d.i]-'0')
	}
	if neg {
		v = -v
	}
	return v, d.i-from == 1 || d.i-from == 2
}

// relative reads DR (table 13). It replaces the previous one.
func (d *Decoder) relative(r *shift) int {
	unit := d.letter()
	v, ok := int32(0), false
	switch unit {
	case 'S', 'N', 'H', 'D', 'M', 'E', 'Y':
		v, ok = d.signed()
	default:
		return 27
	}
	if !ok {
		return 28
	}
	*r = shift{}
	switch unit {
	case 'D':
		r.days = v
	case 'M':
		r.months = v
	case 'E':
		r.ends = v
	case 'Y':
		r.years = v
	default:
		r.seconds = v * int32(unitSeconds(unit))
	}
	return 0
}

// unitSeconds returns the seconds of a unit of table 12 or 13: S, N (minute) or H.
func unitSeconds(unit byte) int64 {
	switch unit {
	case 'S':
		return 1
	case 'N':
		return 60
	}
	return 3600
}

// creation reads DC (4.4.2): month and day, then hour and minute; a year or a century is only
// allowed before all of these.
func (d *Decoder) creation(s *scope) int {
	var p [6]int32
	n, number := d.pairs(p[:])
	if number != 0 {
		return number
	}
	if d.i < len(d.b) && digit(d.b[d.i]) {
		return 80
	}
	if n < 2 {
		return 19
	}
	c := clock{hour: 24}
	if d.m.zone.code == "Z" {
		c.hour = 12
	}
	rest := p[max(n-4, 0):]
	c.month, c.day = int8(rest[0]), int8(rest[1])
	if n > 2 {
		c.hour = int8(rest[2])
	}
	if n > 3 {
		c.minute = int8(rest[3])
	}
	switch n {
	case 5:
		c.year = fullYear(p[0], c.month, c.day, s.at)
	case 6:
		c.year = p[0]*100 + p[1]
	default:
		c.year = nearestYear(c.month, c.day, s.at)
	}
	if !c.dateExists() {
		return 16
	}
	if !c.timeExists() {
		return 17
	}
	s.created, number = d.utc(d.m.zone, d.local(&c), c.year)
	return number
}

func (d *Decoder) dataQualifier(s *scope) int {
	if d.i == len(d.b) || !qualifier(d.b[d.i]) {
		return 85
	}
	s.quality = d.b[d.i]
	d.i++
	return 0
}

func (d *Decoder) units(s *scope) int {
	switch {
	case d.at('S'):
		s.metric = true
	case d.at('E'):
		s.metric = false
	default:
		return 22
	}
	d.i++
	return 0
}

// variableDuration reads DV (table 11).
func (d *Decoder) variableDuration(s *scope) int {
	unit := d.letter()
	base := int16(0)
	switch unit {
	case 'Z':
		s.variable = variableDefault
		return 0
	case 'S':
		base = 7000
	case 'N':
	case 'H':
		base = 1000
	case 'D':
		base = 2000
	case 'M':
		base = 3000
	case 'Y':
		base = 4000
	default:
		return 23
	}
	v, ok := d.signed()
	if !ok || v < 0 {
		return 24
	}
	s.variable = base + int16(v)
	return 0
}

// interval reads DI (table 12).
func (d *Decoder) interval() int {
	unit := d.letter()
	switch unit {
	case 'S', 'N', 'H', 'D', 'M', 'E', 'Y':
	default:
		return 25
	}
	v, ok := d.signed()
	if !ok {
		return 26
	}
	d.m.unit, d.m.step = unit, v
	return 0
}
