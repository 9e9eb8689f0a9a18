package hec

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// sensor is a row of HEC's sensor file.
type sensor struct {
	a, b, f  string
	interval string // E part; "*" = by the duration
}

// parameter is a row of HEC's parameter file.
type parameter struct {
	c, unit, kind, transform string
}

// Tables name series of DSS as HEC's own loader does: by a sensor file, of
// which a row is a station's element, and a parameter file, of which a row is an
// element. What they do not have is named by SHEF's own words.
type Tables struct {
	codes      *shef.Tables
	sensors    map[string]sensor // by station and element
	parameters map[string]parameter
}

// ReadTables reads both files, in HEC's forms: CSV, else columns. An empty name is
// none. codes are the tables that values were decoded by, nil = the manual's;
// told is given what a file says that DSS does not have.
func ReadTables(sensors, parameters string, codes *shef.Tables, told func(error)) (*Tables, error) {
	t := &Tables{codes: codes, sensors: map[string]sensor{}, parameters: map[string]parameter{}}
	columns := func(bounds ...int) func(line string) []string {
		return func(line string) (fields []string) {
			for i := 0; i+1 < len(bounds); i += 2 {
				from, to := min(bounds[i], len(line)), min(bounds[i+1], len(line))
				fields = append(fields, strings.TrimSpace(line[from:to]))
			}
			return fields
		}
	}
	err := eachRow(sensors, 6, columns(0, 8, 8, 10, 10, 15, 16, 33, 33, 50, 50, 67), func(line int, r []string) error {
		var g record.Gauge
		err := codes.Resolve(r[1], &g)
		if r[0] == "" || len(r[1]) != 2 {
			return &fault.Error{File: sensors, Line: line, Problem: "is no row of sensors", Err: err, Cure: "write station, element, interval, A, B and F part"}
		}
		if err != nil {
			copy(g.Code[:], r[1]) // of a parameter file alone
		}
		interval, ok := ePart(r[2])
		if !ok {
			told(&fault.Error{File: sensors, Line: line, Problem: "interval " + strconv.Quote(r[2]) + " is none of DSS's: the series is irregular", Cure: "write such as 15M, 6H, 1D, 1L, 1Y, *, or nothing"})
		}
		if r[4] == "" {
			r[4] = r[0]
		}
		t.sensors[r[0]+"/"+g.Code.PE()] = sensor{a: r[3], b: r[4], f: r[5], interval: interval}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, eachRow(parameters, 5, columns(0, 2, 3, 29, 29, 37, 38, 46, 47, 57), func(line int, r []string) error {
		p := parameter{r[1], r[2], r[3], r[4]}
		if p.c == "" && p.unit == "" { // an element that is named and no more
			return nil
		}
		problem := ""
		if !slices.Contains(types, p.kind) && p.kind != "*" {
			problem = "type " + strconv.Quote(p.kind) + " is none of DSS's"
		}
		if _, err := p.value(1); err != nil {
			problem = err.Error()
		}
		if problem != "" {
			return &fault.Error{File: parameters, Line: line, Problem: problem, Cure: "write element, C part, unit, one of " + strings.Join(types, ", ") + " or *, and a factor, hm2h, dur2h or nothing"}
		}
		t.parameters[r[0]] = p
		return nil
	})
}

// types are those that DSS has.
var types = []string{"INST-VAL", "INST-CUM", "PER-AVER", "PER-CUM", "PER-MIN", "PER-MAX"} //nolint:gochecknoglobals // a constant table

// Elements are those of the parameter file, which a decoder may not know.
func (t *Tables) Elements() []string { return slices.Sorted(maps.Keys(t.parameters)) }

// eachRow reads a file of HEC's: CSV by its name's ending, else columns. Rows
// that begin with * are comments.
func eachRow(name string, fields int, columns func(string) []string, each func(line int, row []string) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text := bufio.NewReader(f)
	if bom, _ := text.Peek(3); string(bom) == "\uFEFF" {
		text.Discard(3) //nolint:errcheck // they are there
	}
	if !strings.HasSuffix(strings.ToLower(name), ".csv") {
		lines := bufio.NewScanner(text)
		for n := 1; lines.Scan(); n++ {
			line := lines.Text()
			if strings.HasPrefix(line, "*") || strings.TrimSpace(line[:min(len(line), 10)]) == "" {
				continue
			}
			if err := each(n, columns(line)); err != nil {
				return err
			}
		}
		return lines.Err()
	}
	rows := csv.NewReader(text)
	rows.FieldsPerRecord = -1
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return &fault.Error{File: name, Problem: "is no CSV", Err: err}
		}
		line, _ := rows.FieldPos(0)
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if row[0] == "" || strings.HasPrefix(row[0], "*") {
			continue
		}
		if len(row) < fields {
			return &fault.Error{File: name, Line: line, Problem: fmt.Sprintf("has %d fields, not %d", len(row), fields), Cure: "separate fields by commas, empty ones too"}
		}
		if err := each(line, row[:fields]); err != nil {
			return err
		}
	}
}

// steps are the intervals of DSS in seconds. Of weeks, parts of months and
// decades only weeks are used.
var steps = func() map[string]int64 { //nolint:gochecknoglobals // a constant table
	out := map[string]int64{"1Day": 86400, "1Week": 604800, "1Month": 30 * 86400, "1Year": 365 * 86400}
	for _, n := range []int64{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30} {
		if n != 8 {
			out[fmt.Sprintf("%dMinute", n)] = 60 * n
		}
		if 24%n == 0 && n <= 12 {
			out[fmt.Sprintf("%dHour", n)] = 3600 * n
		}
	}
	return out
}()

const irregular = "IR-Month"

// ePart is the E part of a sensor's interval; false = DSS has none such.
func ePart(interval string) (string, bool) {
	switch interval = strings.ReplaceAll(interval, " ", ""); interval {
	case "":
		return irregular, true
	case "*":
		return "*", true
	}
	n, err := strconv.Atoi(interval[:len(interval)-1])
	unit, ok := map[byte]string{'M': "Minute", 'H': "Hour", 'D': "Day", 'L': "Month", 'Y': "Year"}[interval[len(interval)-1]]
	switch {
	case err != nil || !ok || n < 0:
		return irregular, false
	case n == 0:
		return irregular, true
	case n == 7 && unit == "Day":
		return "1Week", true
	}
	e := strconv.Itoa(n) + unit
	if steps[e] == 0 {
		return irregular, false
	}
	return e, true
}

// byDuration is the E part of a duration: regular where DSS has its interval.
func byDuration(d int16) string {
	n := int(d % 1000)
	unit := map[int16]string{0: "Minute", 1: "Hour", 2: "Day", 3: "Month", 4: "Year"}[d/1000]
	e := strconv.Itoa(n) + unit
	switch {
	case d == 2007:
		return "1Week"
	case unit == "Minute" && n == 60:
		return "1Hour"
	case steps[e] == 0:
		return irregular
	}
	return e
}

// Of names a value's series.
func (t *Tables) Of(g *record.Gauge) (Where, float64, error) {
	pe := g.Code.PE()
	s, known := t.sensors[g.Station.String()+"/"+pe]
	if !known {
		s = sensor{b: g.Station.String(), interval: "*"}
		switch { // what is no reading is kept apart
		case g.Code[3] == 'F':
			s.f = "*"
		case g.Code[3] != 'R':
			s.f = string(g.Code[3:5])
		}
	}
	p, known := t.parameters[pe]
	if !known || p.c == "" {
		own := ofManual(pe)
		if !known {
			p = own
		}
		p.c = pe
	}
	value, err := p.value(g.Value)
	if g.IsMissing() {
		value = g.Value
	} else if err != nil {
		return Where{}, 0, fmt.Errorf("%s of %s: %w", pe, g.Station, err)
	}
	if p.transform == "dur2h" {
		value *= hours(s.interval, g.Duration)
	}
	e := s.interval
	if e == "*" {
		e = byDuration(g.Duration)
	}
	f := s.f
	if f == "*" {
		if f = ""; g.Created != record.NoTime {
			f = time.Unix(g.Created, 0).UTC().Format("T:20060102-1504|")
		}
	}
	if g.Code[5] != 'Z' { // HEC's loader mixes them with readings
		p.c += map[bool]string{true: "-Min", false: "-Max"}[minimum(g)]
	}
	path := strings.ToUpper(fmt.Sprintf("/%s/%s/%s//%s/%s/", s.a, s.b, p.c, e, f))
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > 128 {
			return Where{}, 0, fmt.Errorf("%s of %s: %q is too long for a part of DSS's path", pe, g.Station, part)
		}
	}
	kind := p.kind
	if kind == "*" || kind == "" {
		kind = inferred(g)
	}
	return Where{Name: path, Unit: p.unit, Type: kind, Step: steps[e], Version: record.NoTime}, value, nil
}

// inferred is DSS's type of a value whose parameter file says *: HEC's loader
// does the same but for PP and its like, which are sums, and for extremes.
func inferred(g *record.Gauge) string {
	switch pe := g.Code.PE(); {
	case pe == "PC":
		return "INST-CUM"
	case g.Code[5] != 'Z' && minimum(g):
		return "PER-MIN"
	case g.Code[5] != 'Z':
		return "PER-MAX"
	case g.Duration == 0:
		return "INST-VAL"
	case pe == "CV":
		return "PER-AVER"
	case slices.Contains([]string{"RI", "UC", "UL", "PP", "EA", "EM", "EP", "ET", "EV", "LC", "QC", "QV", "RT", "SF"}, pe):
		return "PER-CUM"
	}
	return "INST-VAL"
}

// minimum reports whether an extreme is the least.
func minimum(g *record.Gauge) bool { return strings.IndexByte("JKLMNFGHPI", g.Code[5]) >= 0 }

// value is a value of SHEF in the parameter's unit.
func (p *parameter) value(v float64) (float64, error) {
	switch p.transform {
	case "", "dur2h":
		return v, nil
	case "hm2h": // hours and minutes in one number
		h := float64(int(v / 100))
		if m := v - 100*h; m < 60 {
			return h + m/60, nil
		}
		return v, nil // as HEC's loader leaves it
	}
	factor, err := strconv.ParseFloat(p.transform, 64)
	if err != nil || factor == 0 {
		return 0, fmt.Errorf("%q is neither a factor nor hm2h nor dur2h", p.transform)
	}
	return v * factor, nil
}

// hours is how long the interval of a sensor is, else the duration of a value;
// of power that makes energy. 1 where neither says.
func hours(e string, d int16) float64 {
	step := steps[e]
	if step == 0 {
		step = steps[byDuration(d)]
	}
	if step == 0 {
		step = 3600
	}
	return float64(step) / 3600
}

// ofManual is what SHEF's own table 1 says of an element, in its words.
func ofManual(pe string) parameter {
	p := parameter{unit: "n/a", kind: "*"}
	for _, e := range shef.Elements() {
		if e.PE != pe {
			continue
		}
		at := strings.LastIndexByte(e.Name, '(')
		words, _, _ := strings.Cut(strings.TrimRight(e.Name[at+1:], ")"), ",")
		if words = strings.TrimSpace(words); at > 0 && len(words) <= 8 && words != "coded" {
			p.unit = strings.ToLower(words)
		}
		switch {
		case p.unit == "df":
			p.unit = "F"
		case pe == "AT" || pe == "AU" || pe == "AW":
			p.unit, p.transform = "hr", "hm2h"
		}
	}
	return p
}
