package flavour

import "strconv"

// SinceYear1 is the seconds from year 1 to 1970, a multiple of a day. Added to an epoch before 1970, it makes the
// remainder of a division positive.
const SinceYear1 = "62135596800"

// timeFilter writes the conditions on the hours of valid and initialization time and on the
// initialization time itself. valid is the column of the valid time, validEpoch and initEpoch are
// expressions for Unix seconds, and init is the initialization time in the form that literal
// writes.
func (p *builder) timeFilter(valid, validEpoch, init, initEpoch string, literal func(int64) string) []string {
	c := &p.q.TimeFilter
	var out []string
	if len(c.ValidHour) > 0 {
		out = append(out, p.hours(valid, validEpoch, c.ValidHour))
	}
	if len(c.InitHour) > 0 {
		out = append(out, p.hours("ld.fcst_init_beg", initEpoch, c.InitHour)) // hours uses the column only in metviewer-sql
	}
	switch first, last, ok := c.Init.Bounds(); {
	case !ok:
	case c.Init.IsDiscrete():
		out = append(out, oneOf(p.d, init, c.Init.Expand(), literal))
	default:
		out = append(out, init+" BETWEEN "+literal(first)+" AND "+literal(last))
	}
	return out
}

// hours writes the condition "the hour of the day is one of". METviewer's form is HOUR(column) IN
// (…); the other flavours compare seconds, which every dialect computes in the same way.
func (p *builder) hours(column, epoch string, hours []int) string {
	if p.flavour == MetviewerSQL && p.d.Hour != nil {
		return oneOf(p.d, p.d.Hour(column), hours, strconv.Itoa)
	}
	e := "(" + epoch + " + " + SinceYear1 + ")"
	return oneOf(p.d, p.d.modulo(e, "86400")+" - "+p.d.modulo(e, "3600"), hours, func(h int) string { return strconv.Itoa(3600 * h) })
}

// docTimeFilter is timeFilter for the entries of documents.
func (p *builder) docTimeFilter() []string {
	valid := p.d.DocField("fcst_valid_epoch")
	init := valid + " - " + p.d.DocEntry("fcst_lead")
	return p.timeFilter(valid, valid, init, init, integer)
}
