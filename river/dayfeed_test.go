package river_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// daySeries is a series that the offices report.
type daySeries struct {
	lid, text, pe, ts string // text: its code in a message
	dur               int
	table             string
	decimals          int
	scale, add        float64 // from the text to the table
	admitted          bool
	low, high         int // of values, in units of the last decimal
}

// daySent is a value that an office sent.
type daySent struct {
	series    *daySeries
	at, basis time.Time
	number    int  // in units of the last decimal
	missing   bool // M
	qualifier byte // 0 = none
	revised   bool
	product   string
	issued    time.Time
}

// written returns the value as a message contains it.
func (s *daySent) written() string {
	text := "M"
	if !s.missing {
		text = fmt.Sprintf("%.*f", s.series.decimals, float64(s.number)/math.Pow10(s.series.decimals))
	}
	if s.qualifier != 0 {
		text += string(s.qualifier)
	}
	return text
}

// stored returns the value as a table contains it.
func (s *daySent) stored() float64 {
	if s.missing {
		return -9999
	}
	return float64(s.number)/math.Pow10(s.series.decimals)*s.series.scale + s.series.add
}

// code returns the value's quality_code. Bit 30 means that the value is usable, 29 that it is certain. Bits 21 and 19
// are the results of the two range tests. Bits 20 and 23 report whether the sender questioned or rejected the value.
func (s *daySent) code() int64 {
	if s.missing {
		return good
	}
	code := int64(good)
	if s.series.pe == "HG" {
		switch v := s.stored(); {
		case v < -10 || v > 50:
			code &^= 1<<21 | 1<<30
		case v < 0 || v > 40:
			code &^= 1<<19 | 1<<29
		}
	}
	switch s.qualifier {
	case 'Q':
		code &^= 1<<20 | 1<<29
	case 'B':
		code &^= 1<<23 | 1<<30
	}
	return code
}

// wall writes a time in one of three forms: in UTC, in the zone's local time of that day, or in standard time.
func (d day) wall(at time.Time, way int) (zone, date, clock string) {
	zone = "Z"
	switch {
	case way == 1 && at.Before(d.change), way == 1 && at.Equal(d.change) && d.twice > 0: // 02:00 is read as daylight time
		zone, at = "C", at.Add(d.before)
	case way == 1 && at.After(d.change.Add(d.twice)), way == 1 && d.twice == 0:
		zone, at = "C", at.Add(d.after)
	case way == 2:
		zone, at = "CS", at.Add(-6*time.Hour)
	}
	return zone, at.Format("20060102"), at.Format("1504")
}

// dayProduct is a product of the day.
type dayProduct struct {
	id      string
	issued  time.Time
	arrives time.Time
	text    string
}

// feed returns the products of a day, the values in them, and all series.
func (d day) feed(seed uint64, scale int) (products []*dayProduct, sent []*daySent, all []*daySeries) {
	r := rand.New(rand.NewPCG(seed, 38))
	kinds := []daySeries{
		{text: "HG", pe: "HG", ts: "RZ", table: "height", decimals: 2, scale: 1, low: -50, high: 4500},
		{text: "QR", pe: "QR", ts: "RZ", table: "discharge", decimals: 3, scale: 1000, high: 90000},
		{text: "PPH", pe: "PP", ts: "RZ", dur: 1001, table: "rawpp", decimals: 2, scale: 1, high: 180},
		{text: "PC", pe: "PC", ts: "RZ", table: "rawpc", decimals: 2, scale: 1, high: 9000},
		{text: "TA", pe: "TA", ts: "RZ", table: "temperature", scale: 1, low: -30, high: 110},
		{text: "HP", pe: "HP", ts: "RZ", table: "height", decimals: 1, scale: 2, add: 7, low: 10, high: 900}, // (value / 1 + 3) × 2 + 1
		{text: "HGIFF", pe: "HG", ts: "FF", table: "fcstheight", decimals: 1, scale: 1, low: 10, high: 390},
	}
	offices := []string{"KOUN", "KLUB", "KSGF", "KEAX", "KDVN", "KMPX"}
	of := make([][]*daySeries, len(offices))
	for i := range 4 * scale {
		lid := fmt.Sprintf("%s%02d", map[int]string{5: "NEW", 7: "OFF"}[i%8], i)
		if len(lid) == 2 {
			lid = "DAY" + lid
		}
		for k := range kinds {
			s := kinds[k]
			s.lid, s.admitted = lid, r.IntN(12) > 0
			of[i%len(offices)] = append(of[i%len(offices)], &s)
			all = append(all, &s)
		}
	}
	memory := map[string]*daySent{} // the last that was sent of each key
	minute := 0
	for issued := d.begins; issued.Before(d.ends()); issued = issued.Add(time.Minute) {
		office := minute % len(offices)
		if minute++; minute%(1+60/(10*scale)) != 0 && scale < 6 || r.IntN(3) == 0 {
			continue
		}
		p := &dayProduct{id: offices[office] + []string{"RR1", "RR2", "RVF"}[r.IntN(3)] + offices[office][1:], issued: issued, arrives: issued}
		if r.IntN(10) == 0 {
			p.arrives = issued.Add(time.Duration(r.IntN(90)) * time.Minute)
		}
		lines, once := []string(nil), map[string]bool{}
		// send draws a value for a series and a time, or repeats or revises the value that was sent before
		send := func(s *daySeries, at, basis time.Time, revising bool) *daySent {
			key := fmt.Sprint(s.lid, s.text, at.Unix(), basis.Unix())
			if once[key] {
				return nil
			}
			once[key] = true
			v := &daySent{series: s, at: at, basis: basis, product: p.id, issued: issued, revised: revising, number: s.low + r.IntN(s.high-s.low)}
			before := memory[key]
			switch {
			case before != nil && !revising && r.IntN(4) > 0:
				v.number, v.missing, v.qualifier = before.number, before.missing, before.qualifier
				if v.missing && before.revised { // a missing value that is no revision replaces nothing
					v.missing = false
				}
			case r.IntN(25) == 0 && (before == nil || revising):
				v.missing = true
			case r.IntN(20) == 0:
				v.qualifier = "QBE"[r.IntN(3)]
			case s.pe == "HG" && r.IntN(15) == 0:
				v.number = []int{-20, 45, 99}[r.IntN(3)] * int(math.Pow10(s.decimals))
			}
			memory[key] = v
			sent = append(sent, v)
			return v
		}
		some := func() []*daySeries {
			n := r.IntN(len(of[office]))
			return of[office][n:min(len(of[office]), n+7)]
		}
		past := func(s *daySeries) time.Time {
			if s.dur == 0 && s.pe != "PC" {
				return issued.Add(-time.Duration(r.IntN(180)) * time.Minute).Truncate(15 * time.Minute)
			}
			return issued.Add(-time.Duration(r.IntN(180)) * time.Minute).Truncate(5 * time.Minute)
		}
		for range 1 + r.IntN(4) {
			way, revising, mark := r.IntN(3), r.IntN(8) == 0, ""
			if revising {
				mark = "R"
			}
			list := some()
			switch s := list[0]; r.IntN(4) {
			case 0, 1: // .A: the readings of one time
				at := past(s)
				zone, date, clock := d.wall(at, way)
				var values []string
				for _, s := range list {
					if s.lid == list[0].lid && s.ts == "RZ" {
						if v := send(s, at, time.Time{}, revising); v != nil {
							values = append(values, s.text+" "+v.written())
						}
					}
				}
				if len(values) > 0 {
					lines = append(lines, fmt.Sprintf(".A%s %s %s %s DH%s/%s", mark, s.lid, date, zone, clock, strings.Join(values, "/")))
				}
			case 2: // .B: one element of several stations
				if s.ts != "RZ" {
					continue
				}
				at := past(s)
				zone, date, clock := d.wall(at, way)
				var body []string
				for _, other := range of[office] {
					if other.text == s.text {
						if v := send(other, at, time.Time{}, revising); v != nil {
							body = append(body, other.lid+" "+v.written())
						}
					}
				}
				if len(body) > 0 {
					head := fmt.Sprintf(".B%s %s %s %s DH%s/%s", mark, offices[office][1:], date, zone, clock, s.text)
					lines = slices.Concat(lines, []string{head}, body, []string{".END"})
				}
			case 3: // .E: readings or forecasts in steps of an hour
				begins, steps, basis, created := past(s).Truncate(time.Hour), 1+r.IntN(5), time.Time{}, ""
				if s.ts == "FF" {
					basis, steps = issued.Truncate(time.Hour), 24
					begins = basis.Add(6 * time.Hour)
				} else if begins = begins.Add(-time.Duration(steps) * time.Hour); s.pe == "PC" || s.dur != 0 {
					steps = min(steps, 3)
				}
				zone, date, clock := d.wall(begins, way)
				if s.ts == "FF" {
					_, created, _ = d.wall(basis, way)
					_, _, at := d.wall(basis, way)
					if z, _, _ := d.wall(basis, way); z != zone { // one zone for all times of a message
						zone, date, clock = d.wall(begins, 0)
						_, created, at = d.wall(basis, 0)
					}
					created = "/DC" + created + at
				}
				var values []string
				for i := range steps {
					if v := send(s, begins.Add(time.Duration(i)*time.Hour), basis, revising); v != nil {
						values = append(values, v.written())
					} else {
						values = append(values, "")
					}
				}
				text := strings.Join(values, "/")
				lines = append(lines,
					fmt.Sprintf(".E%s %s %s %s DH%s%s/%s/DIH1/%s", mark, s.lid, date, zone, clock, created, s.text, text))
			}
		}
		if len(lines) == 0 {
			continue
		}
		heading := fmt.Sprintf("SRUS5%d %s %s", 1+office, offices[office], issued.Format("021504"))
		p.text = fmt.Sprintf("\x01\r\r\n%03d \r\r\n%s\r\r\n%s\r\r\n%s\r\r\n\x03",
			minute%1000, heading, p.id[4:], strings.Join(lines, "\r\r\n"))
		products = append(products, p)
	}
	slices.SortStableFunc(products, func(a, b *dayProduct) int { return a.arrives.Compare(b.arrives) })
	return products, sent, all
}
