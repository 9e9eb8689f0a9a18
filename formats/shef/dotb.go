package shef

import "github.com/barograph/barograph/record"

// header reads the parameter control string of a .B message, or its continuation line (4.3).
func (d *Decoder) header() {
	m := &d.m
	for {
		d.blanks()
		if d.i == len(d.b) {
			break
		}
		switch d.b[d.i] {
		case '/':
			d.next()
		case 'D':
			d.control()
			set, number := d.dElement(&m.scope)
			if number != 0 {
				d.spoil(number)
				return
			}
			if set == setTime {
				m.rel = shift{}
			}
		default:
			if !d.slot() {
				return
			}
		}
	}
	m.endsInSlash = d.b[len(d.b)-1] == '/'
}

// slot reads a parameter code of the header. A code that is not in the tables keeps its place: only
// its own values are lost.
func (d *Decoder) slot() bool {
	m := &d.m
	if d.ends() { // a comma or a quote
		d.mark = d.i
		d.spoilAll(33)
		return false
	}
	d.control()
	s := slot{scope: m.scope}
	s.headerError = s.param.resolve(d.tables, d.token())
	switch {
	case s.headerError == 29 || s.headerError == 54 || s.headerError == 64:
		d.spoilAll(s.headerError)
		return false
	case len(m.slots) == maxSlots:
		d.spoil(40)
		return false
	case s.headerError != 0:
		d.problem(s.headerError)
	}
	m.slots = append(m.slots, s)
	return true
}

// spoil marks the following parameters as uncertain.
func (d *Decoder) spoil(number int) {
	d.problem(number)
	if len(d.m.slots) == 0 {
		d.endMessage()
		return
	}
	d.m.headerError = number
	d.lose()
}

// spoilAll abandons the message because it is unknown which value belongs to which parameter.
func (d *Decoder) spoilAll(number int) {
	d.problem(number)
	d.endMessage()
}

// bodyLine reads a line of a .B body: one station, or several separated by commas (4.5).
func (d *Decoder) bodyLine() {
	if len(d.m.slots) == 0 {
		d.lose()
		return
	}
	for d.i < len(d.b) {
		d.blanks()
		switch {
		case d.i == len(d.b):
			return
		case d.b[d.i] == ',':
			d.next()
		default:
			d.station()
		}
	}
}

// station reads the values of one station, up to a comma or the end.
func (d *Decoder) station() {
	m := &d.m
	id := m.id
	if number := d.identifier(&id, false); number != 0 {
		d.problem(number)
		d.i = d.mark
		d.loseTo(true)
		return
	}
	d.control()
	var s scope
	item, set, slash := 0, 0, true
	for {
		d.blanks()
		if d.i == len(d.b) || d.b[d.i] == ',' {
			break
		}
		inherit(&s, &m.slots[min(item, len(m.slots)-1)].scope, set)
		switch d.b[d.i] {
		case '/':
			if slash {
				d.out.Account.Nulls++
				item++
			}
			slash = true
			d.next()
		case 'D':
			n, number := d.dElement(&s)
			if number != 0 {
				d.problem(number)
				d.lost()
				d.loseTo(true)
				return
			}
			d.control()
			set |= n
			slash = false
		default:
			if item >= len(m.slots) {
				d.tooMany()
				return
			}
			d.bodyValue(&id, &m.slots[item], &s)
			item++
			slash = false
		}
	}
}

// inherit copies what the header sets and no override has replaced (4.5.2).
func inherit(s, header *scope, set int) {
	if set == 0 {
		*s = *header
		return
	}
	if set&setTime == 0 {
		s.at = header.at
	}
	if set&setRel == 0 {
		s.rel = header.rel
	}
	if set&setCreated == 0 {
		s.created = header.created
	}
	if set&setQuality == 0 {
		s.quality = header.quality
	}
	if set&setUnits == 0 {
		s.metric = header.metric
	}
	if set&setVariable == 0 {
		s.variable = header.variable
	}
}

// tooMany skips values of a station beyond the header's parameters. If the header has an error,
// these are the values that the error makes uncertain.
func (d *Decoder) tooMany() {
	if d.m.headerError == 0 {
		d.mark = d.i
		d.problem(41)
	}
	d.lost()
	d.loseTo(true)
}

// bodyValue reads one value of a station.
func (d *Decoder) bodyValue(id *record.ID, s *slot, sc *scope) {
	if d.stray() {
		return
	}
	var r reading
	if kind := d.value(&r); kind != found {
		d.unread(kind, 78)
		return
	}
	if d.i < len(d.b) && d.b[d.i] != '/' && d.b[d.i] != ',' {
		d.mark = d.i
		d.warn(51)
	}
	if s.headerError != 0 { // the header has reported the error
		d.lost()
		return
	}
	d.store(id, &s.param, sc, &r)
}
