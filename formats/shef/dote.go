package shef

import "github.com/barograph/barograph/record"

const noTime = record.NoTime

// dotE reads the data string of a .E message, or its continuation line. The first slash after a
// value ends the value; each further slash is a null, which advances the series by one step
// (5.3.5).
func (d *Decoder) dotE() {
	m := &d.m
	for {
		d.blanks()
		if d.i == len(d.b) {
			break
		}
		switch c := d.b[d.i]; {
		case c == '/':
			if m.endsInSlash && m.hasParameter && m.unit != 0 {
				d.out.Account.Nulls++
				d.nullE()
			}
			m.endsInSlash = true
			d.next()
		case c == ',':
			d.mark = d.i
			d.problem(65)
			d.next()
		case c == 'D':
			if !d.respecify() {
				return
			}
			m.endsInSlash = false
		case !m.hasParameter:
			if !d.nameE() {
				return
			}
			m.endsInSlash = false
		default:
			if !d.valueE() {
				return
			}
			m.endsInSlash = false
		}
	}
	m.endsInSlash = d.b[len(d.b)-1] == '/'
}

// nameE reads the only parameter code of the message.
func (d *Decoder) nameE() bool {
	m := &d.m
	number := m.param.resolve(d.tables, d.token())
	if number == 0 && m.param.seven {
		number = 35
	}
	if number != 0 {
		d.problem(number)
		d.lost()
		d.endMessage()
		return false
	}
	d.control()
	m.hasParameter = true
	return true
}

// valueE reads one value of the series.
func (d *Decoder) valueE() bool {
	m := &d.m
	if m.unit == 0 {
		d.mark = d.i
		d.problem(45)
		d.lost()
		d.endMessage()
		return false
	}
	if d.stray() {
		return true
	}
	var r reading
	if kind := d.value(&r); kind != found {
		d.unread(kind, 37)
		d.nullE()
		return true
	}
	if d.comma() {
		d.nullE()
		return true
	}
	return d.emitE(&r)
}

// emitE stores a value at its place in the series.
func (d *Decoder) emitE(r *reading) bool {
	m := &d.m
	first := !m.hasBase
	at, number, ends := d.stepE()
	if number != 0 {
		d.problem(number)
		d.lost()
		if ends {
			d.endMessage()
		}
		return !ends
	}
	if first && m.param.code[3] == 'F' && m.created == noTime {
		d.warn(36)
	}
	d.emit(&m.id, &m.param, &m.scope, r, at, m.series)
	m.series = 2
	return true
}

// nullE advances the series by one step without a value.
func (d *Decoder) nullE() {
	d.stepE()
	d.m.series = 2
}

// stepE returns the time of the next value, or the number of an error. ends reports that no later
// value can have a time either.
func (d *Decoder) stepE() (at int64, number int, ends bool) {
	m := &d.m
	if !m.hasBase {
		if number = d.baseE(); number != 0 {
			return 0, number, true
		}
	}
	far := int64(m.index) * int64(m.step)
	m.index++
	if m.unit == 'S' || m.unit == 'N' || m.unit == 'H' {
		at = m.base + far*unitSeconds(m.unit)
		number = outOfYears(at)
		return at, number, number != 0
	}
	if far >= maxDays || far <= -maxDays { // the units below are days or longer
		return 0, 39, true
	}
	c, steps := m.from, int32(far)
	switch m.unit {
	case 'D':
		c.addDays(steps)
	case 'M':
		c.addMonths(steps)
	case 'Y':
		c.addMonths(12 * steps)
	default:
		if !c.addEnds(steps) {
			return 0, 38, true
		}
	}
	if number = c.checkDate(); number != 0 {
		if number == 16 {
			number = 66
		}
		return 0, number, number == 39
	}
	at, number = d.utc(m.zone, d.local(&c), c.year)
	return at, number, false
}

// baseE determines the time of the first value: the last explicit time and its DR. As in shefit,
// every D element begins a new series.
func (d *Decoder) baseE() int {
	m := &d.m
	m.index, m.series = 0, 1
	at, number := d.obsAt(&m.scope)
	m.base, m.from = at, m.at
	switch m.unit {
	case 'S', 'N', 'H':
	default: // without a DR in S, N or H only the local date matters: an hour that spring skips is no error here
		switch {
		case m.rel.isZero():
			number = 0
		case m.rel.seconds == 0:
			number = m.from.shift(&m.rel)
		case number == 0:
			m.from.set(d.fromUTC(m.zone, at, m.at.year))
		}
	}
	m.hasBase = number == 0
	return number
}
