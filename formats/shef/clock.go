package shef

import "github.com/barograph/barograph/record"

// zone is a row of table 8.
type zone struct {
	code   string
	west   int32 // seconds that standard time is behind UTC
	saving bool  // one letter: local time, daylight or standard time depending on the date
}

// zones is table 8. The manual prints NS, Newfoundland standard time, as UTC-2:30, which is its
// daylight time; the row of N has 3:30.
var zones = [...]zone{ //nolint:gochecknoglobals // a constant table
	{"Z", 0, false},
	{"N", 12600, true},
	{"NS", 12600, false},
	{"ND", 9000, false},
	{"A", 14400, true},
	{"AS", 14400, false},
	{"AD", 10800, false},
	{"E", 18000, true},
	{"ES", 18000, false},
	{"ED", 14400, false},
	{"C", 21600, true},
	{"CS", 21600, false},
	{"CD", 18000, false},
	{"M", 25200, true},
	{"MS", 25200, false},
	{"MD", 21600, false},
	{"P", 28800, true},
	{"PS", 28800, false},
	{"PD", 25200, false},
	{"Y", 28800, true},
	{"YS", 28800, false},
	{"YD", 25200, false},
	{"H", 36000, false},
	{"HS", 36000, false},
	{"HD", 36000, false},
	{"L", 32400, true},
	{"LS", 32400, false},
	{"LD", 28800, false},
	{"B", 36000, true},
	{"BS", 36000, false},
	{"BD", 32400, false},
	{"J", -28800, false},
}

// zoneAt is the index in zones, plus one, by the first and the second letter.
var zoneAt = func() (t [26][27]uint8) { //nolint:gochecknoglobals // a constant table
	for i, z := range zones {
		second := 0
		if len(z.code) > 1 {
			second = int(z.code[1]-'A') + 1
		}
		t[z.code[0]-'A'][second] = uint8(i + 1)
	}
	return t
}()

// findZone finds a time zone of one or two capital letters.
func findZone(tok []byte) (*zone, bool) {
	i := uint8(0)
	switch len(tok) {
	case 1:
		i = zoneAt[tok[0]-'A'][0]
	case 2:
		i = zoneAt[tok[0]-'A'][tok[1]-'A'+1]
	}
	if i == 0 {
		return nil, false
	}
	return &zones[i-1], true
}

// clock is a date and time in a zone, in separate units: 24:00:00 is a valid hour, and a day can
// still be added to the date.
type clock struct {
	year                 int32
	month, day           int8
	hour, minute, second int8
}

// shift is a relative date, DR: units are added in the order of 5.2.6.
type shift struct {
	years, months, days, ends int32 // ends: of months, DRE
	seconds                   int32
}

func (s *shift) isZero() bool {
	return s.years|s.months|s.days|s.ends|s.seconds == 0
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func leap(year int32) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func monthDays(year int32, month int8) int8 {
	switch month {
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// firstYear and lastYear are the range of years that can be coded. Other years are error 39. maxDays
// is more than the days of all these years.
const (
	firstYear, lastYear = 1753, 2199
	maxDays             = 366 * (lastYear - firstYear + 1)
)

// outOfYears returns error 39 for a time, in seconds of UTC, that none of these years has in any
// zone; 0 for others.
func outOfYears(t int64) int {
	const first, last = -6847804800 - 8*3600, 7258118400 + 10*3600 // of J and H: 1753-01-01 and 2199-12-31 24:00 local
	if t < first || t > last {
		return 39
	}
	return 0
}

func (c *clock) dateExists() bool {
	return c.year >= firstYear && c.year <= lastYear && c.month >= 1 && c.month <= 12 &&
		c.day >= 1 && c.day <= monthDays(c.year, c.month)
}

func (c *clock) timeExists() bool {
	return c.hour >= 0 && c.hour <= 24 && c.minute >= 0 && c.minute <= 59 && c.second >= 0 && c.second <= 59 &&
		(c.hour < 24 || c.minute == 0 && c.second == 0)
}

// dateCache caches the days of the last date, because most lines of a product have the same one.
type dateCache struct {
	year       int32
	month, day int8
	days       int64
}

// local counts seconds of a clock as if its zone were UTC.
func (d *Decoder) local(c *clock) int64 {
	k := &d.dated
	if c.day != k.day || c.month != k.month || c.year != k.year {
		*k = dateCache{c.year, c.month, c.day, record.Days(c.year, int32(c.month), int32(c.day))}
	}
	return k.days*86400 + int64(int32(c.hour)*3600+int32(c.minute)*60+int32(c.second))
}

func (c *clock) set(local int64) {
	n := floorDiv(local, 86400)
	s := int32(local - n*86400)
	y, m, d := record.Date(n)
	c.year, c.month, c.day = y, int8(m), int8(d)
	c.hour, c.minute, c.second = int8(s/3600), int8(s/60%60), int8(s%60)
}

// addMonths keeps the day of the month; the date may then not exist.
func (c *clock) addMonths(n int32) {
	m := int32(c.month) - 1 + n
	c.year += int32(floorDiv(int64(m), 12))
	c.month = int8(m-int32(floorDiv(int64(m), 12))*12) + 1
}

// addEnds moves from the last day of a month to that of another: DRE, DIE.
func (c *clock) addEnds(n int32) (ok bool) {
	if c.day != monthDays(c.year, c.month) {
		return false
	}
	c.addMonths(n)
	c.day = monthDays(c.year, c.month)
	return true
}

// saving caches the daylight-saving days of the last year.
type saving struct {
	year       int32
	start, end int64 // 02:00 of the days of change, in the unit of local
	known      bool  // the year has rules: it is 1976 or later
}

// setYear computes s for a year: 5.2.3 and appendix F. 1976 is the first year (error 48); 1987
// moved the start to the first Sunday of April, 2007 start and end to the second Sunday of March
// and the first of November.
func (s *saving) setYear(year int32) {
	if s.year == year {
		return
	}
	s.year, s.known = year, year >= 1976
	if !s.known {
		return
	}
	var start, end int64
	switch {
	case year >= 2007:
		start, end = sunday(year, 3, 8), sunday(year, 11, 1)
	case year >= 1987:
		start, end = sunday(year, 4, 1), sunday(year, 10, 25)
	default:
		start, end = sunday(year, 4, 24), sunday(year, 10, 25)
	}
	s.start, s.end = start*86400+7200, end*86400+7200
}

// sunday returns the first Sunday on or after a date.
func sunday(year, month, day int32) int64 {
	n := record.Days(year, month, day)
	weekday := (n + 4) % 7 // 1970-01-01 was a Thursday
	if weekday < 0 {
		weekday += 7
	}
	return n + (7-weekday)%7
}

// utc converts seconds of local to UTC. The hour that is skipped in spring is error 44; the hour
// that occurs twice in autumn is daylight time (5.2.6).
func (d *Decoder) utc(z *zone, local int64, year int32) (t int64, number int) {
	t = local + int64(z.west)
	if !z.saving {
		return t, 0
	}
	s := &d.saving
	s.setYear(year)
	if !s.known {
		return t, d.oldSaving(local, &t)
	}
	switch {
	case local <= s.start || local > s.end:
	case local < s.start+3600:
		return 0, 44
	default:
		t -= 3600
	}
	return t, 0
}

// oldSaving handles years before 1976, for which only the months without a change of time are
// certain.
func (d *Decoder) oldSaving(local int64, t *int64) int {
	_, month, _ := record.Date(floorDiv(local, 86400))
	switch {
	case month == 4 || month == 10:
		return 48
	case month > 4 && month < 10:
		*t -= 3600
	}
	return 0
}

// fromUTC is the inverse of utc.
func (d *Decoder) fromUTC(z *zone, t int64, year int32) int64 {
	local := t - int64(z.west)
	if !z.saving {
		return local
	}
	s := &d.saving
	s.setYear(year)
	if s.known && local >= s.start && local+3600 <= s.end {
		return local + 3600
	}
	return local
}

// nearestYear returns the year for which month and day are nearest to another date (4.1.4),
// including next year; 0 if no near year has that day.
func nearestYear(month, day int8, ref clock) int32 {
	at := record.Days(ref.year, int32(ref.month), int32(ref.day))
	best, far := int32(0), int64(1<<62)
	for y := ref.year - 1; y <= ref.year+1; y++ {
		if month < 1 || month > 12 || day < 1 || day > monthDays(y, month) {
			continue
		}
		if n := record.Days(y, int32(month), int32(day)) - at; max(n, -n) < far {
			best, far = y, max(n, -n)
		}
	}
	return best
}

// fullYear completes a year of two digits to one within the 90 years before and the 10 years after
// another date (4.1.4).
func fullYear(yy int32, month, day int8, ref clock) int32 {
	y := ref.year/100*100 + yy
	later := func(a, b int32) bool { // is year a with month, day after year b with ref's?
		if a != b {
			return a > b
		}
		return month > ref.month || month == ref.month && day > ref.day
	}
	if later(y, ref.year+10) {
		return y - 100
	}
	if !later(y, ref.year-90) && (y < ref.year-90 || month != ref.month || day != ref.day) {
		return y + 100
	}
	return y
}
