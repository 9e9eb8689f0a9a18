package shef

import (
	"cmp"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// store stores a reading of a .A message or a .B body at the time of its scope.
func (d *Decoder) store(id *record.ID, p *parameter, s *scope, r *reading) {
	at, number := int64(0), 0
	if p.seven {
		at, number = d.sevenAt(s)
	} else {
		at, number = d.obsAt(s)
	}
	if number != 0 {
		d.problem(number)
		d.lost()
		return
	}
	if p.code[3] == 'F' && s.created == noTime {
		d.warn(36)
	}
	d.emit(id, p, s, r, at, 0)
}

// emit stores a reading of a parameter. series is Gauge.Series.
func (d *Decoder) emit(id *record.ID, p *parameter, s *scope, r *reading, at int64, series byte) {
	if fault.Planted && len(d.out.Values) == 8 {
		return // a product's ninth value is neither stored nor lost
	}
	v := r.value
	switch {
	case v == record.NoValue && !r.trace:
	case r.trace:
		if !p.trace() {
			d.problem(31)
			d.lost()
			return
		}
		v = .001
	case s.metric:
		if f := d.tables.elements[p.element].Factor; f < 0 {
			v = v*1.8 + 32
		} else {
			v *= f
		}
		rounded, ok := Representable(v)
		if !ok {
			d.problem(78)
			d.lost()
			return
		}
		v = rounded
	case r.whole && v > 0 && p.precipitation(): // 5.1.2
		d.warn(58)
		v /= 100
	}
	duration := p.duration
	if p.variable {
		switch s.variable {
		case variableUnset:
			d.problem(32)
			d.lost()
			return
		case variableDefault:
			duration = d.tables.duration[d.tables.elements[p.element].Duration]
		default:
			duration = s.variable
		}
	}
	quality := s.quality
	if r.quality != 0 {
		quality = r.quality
	}
	if d.m.rescued {
		d.out.Account.Rescued++
		if quality == 'Z' {
			quality = 'Q'
		}
	}
	g := d.out.grow() // every field is written: a literal would be copied
	g.Station, g.Code, g.Quality = *id, p.code, quality
	g.Time, g.Created, g.Value = at, s.created, v
	g.Duration, g.Probability = duration, d.tables.probability[p.code[6]]
	g.Revised, g.Series, g.HasProbability, g.Line, g.Comment = d.m.revised, series, p.coded, d.line, r.comment
	g.Source = record.ID{}
	if d.m.format == 'B' {
		g.Source = d.m.id
	}
	d.stored()
}

// grow appends a value.
func (r *Result) grow() *record.Gauge {
	if n := len(r.Values); n < cap(r.Values) {
		r.Values = r.Values[:n+1]
	} else {
		r.Values = append(r.Values, record.Gauge{})
	}
	return &r.Values[len(r.Values)-1]
}

// obsAt returns the time of a value in UTC, with its DR (5.2.6), or the number
// of an error.
func (d *Decoder) obsAt(s *scope) (int64, int) {
	if s.rel.isZero() {
		return d.utc(d.m.zone, d.local(&s.at), s.at.year)
	}
	c := s.at
	if number := c.shift(&s.rel); number != 0 {
		return 0, number
	}
	t, number := d.utc(d.m.zone, d.local(&c), c.year)
	t += int64(s.rel.seconds)
	return t, cmp.Or(number, outOfYears(t))
}

// shift adds the days, months and years of a DR.
func (c *clock) shift(r *shift) int {
	if r.days != 0 {
		c.addDays(r.days)
	}
	c.addMonths(r.months + 12*r.years)
	if r.ends != 0 && !c.addEnds(r.ends) {
		return 38
	}
	return c.checkDate()
}

// addDays adds days and keeps the time of day, including hour 24.
func (c *clock) addDays(n int32) {
	y, m, day := record.Date(record.Days(c.year, int32(c.month), int32(c.day)) + int64(n))
	c.year, c.month, c.day = y, int8(m), int8(day)
}

func (c *clock) checkDate() int {
	switch {
	case c.year < firstYear || c.year > lastYear:
		return 39
	case !c.dateExists():
		return 16
	}
	return 0
}

// sevenAt returns 7 a.m. local on or before the time of s, for HY, PY and QY (table 2, 7.4.1), or the
// number of an error.
func (d *Decoder) sevenAt(s *scope) (int64, int) {
	if d.m.zone.code == "Z" || !s.rel.isZero() {
		return 0, 35
	}
	c := s.at
	if c.hour < 7 {
		c.addDays(-1)
	}
	c.hour, c.minute, c.second = 7, 0, 0
	return d.utc(d.m.zone, d.local(&c), c.year)
}
