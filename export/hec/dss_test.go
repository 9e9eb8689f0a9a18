package hec

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// library is HEC's library, where it is installed.
func library(t *testing.T) string {
	t.Helper()
	path, err := lab.HECDSSLibrary()
	if err == nil {
		return path
	}
	if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), lab.HECDSSName) {
		t.Fatal(err)
	}
	t.Skip("NOT TESTED: HEC-DSS:", err)
	return ""
}

// named gives each value the place of its station.
type named map[string]Where

func (n named) Of(g *record.Gauge) (Where, float64, error) {
	w, ok := n[g.Station.String()]
	if !ok {
		return w, 0, fmt.Errorf("no series of %s", g.Station)
	}
	return w, g.Value, nil
}

// stored stores values, "station time value", in a file, and returns what became
// of them and what was told.
func stored(t *testing.T, lib, file string, names Names, values ...string) (Account, string) {
	t.Helper()
	var told []string
	c := &Collection{Names: names, Told: func(err error) { told = append(told, err.Error()) }}
	for _, v := range values {
		var g record.Gauge
		var id, at string
		if _, err := fmt.Sscan(v, &id, &at, &g.Value); err != nil {
			t.Fatal(err)
		}
		when, err := time.Parse("2006-01-02T15:04:05", at)
		if err != nil {
			t.Fatal(err)
		}
		copy(g.Station[:], id)
		g.Time = when.Unix()
		c.Add(&g)
	}
	if err := c.StoreDSS(lib, file); err != nil {
		t.Fatal(err)
	}
	a := c.Account
	if a.Values != a.Stored+a.Missing+a.Replaced+a.Unnamed+a.Refused {
		t.Errorf("the account is not whole: %+v", a)
	}
	return a, strings.Join(told, "\n")
}

// all reads a series.
func all(t *testing.T, lib, file, path string) string {
	t.Helper()
	f, err := open(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	from, to, is := f.span(path)
	if !is {
		return "none"
	}
	s, err := f.read(path, from-86400, to+86400, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{s.Unit, s.Type}
	for _, p := range s.Points {
		out = append(out, fmt.Sprint(time.Unix(p.Time, 0).UTC().Format("0102T150405="), p.Value))
	}
	return strings.Join(out, " ")
}

// TestDSS tries what damages a DSS file, and reads back.
func TestDSS(t *testing.T) {
	lib := library(t)
	const (
		hour, day, monthly, ir = "/A/B/FLOW//1HOUR//", "/A/B/FLOW//1DAY//", "/A/B/FLOW//1MONTH//", "/A/B/STAGE//IR-MONTH//"
	)
	names := named{
		"HOUR": {Name: hour, Unit: "cfs", Type: "INST-VAL", Step: 3600}, "DAY": {Name: day, Unit: "cfs", Type: "PER-AVER", Step: 86400},
		"MONTH": {Name: monthly, Unit: "cfs", Type: "PER-AVER", Step: month}, "IR": {Name: ir, Unit: "ft", Type: "INST-VAL"},
		"CMS": {Name: hour, Unit: "cms", Type: "INST-VAL", Step: 3600}, "CUM": {Name: ir, Unit: "ft", Type: "PER-CUM"},
	}
	file := filepath.Join(t.TempDir(), "x.dss")
	base := []string{
		"HOUR 2024-01-30T22:00:00 1", "HOUR 2024-01-30T23:00:00 2", "HOUR 2024-01-31T00:00:00 3", "HOUR 2024-01-31T02:00:00 4", "HOUR 2024-06-01T02:00:00 5",
		"IR 2024-01-30T22:00:07 1", "IR 2024-03-01T00:00:00 2", "IR 2025-01-01T00:00:00 3",
		"DAY 2024-01-30T12:00:00 1", "DAY 2024-01-31T12:00:00 2", "DAY 2024-02-01T12:00:00 3", "NONE 2024-02-01T12:00:00 3",
		"MONTH 2024-01-01T00:00:00 1", "MONTH 2024-02-01T00:00:00 2", "MONTH 2024-03-01T00:00:00 3",
	}
	want := map[string]string{
		hour:    "cfs INST-VAL 0130T220000=1 0130T230000=2 0131T000000=3 0131T020000=4 0601T020000=5",
		ir:      "ft INST-VAL 0130T220007=1 0301T000000=2 0101T000000=3",
		day:     "cfs PER-AVER 0130T120000=1 0131T120000=2 0201T120000=3",
		monthly: "cfs PER-AVER 0101T000000=1 0201T000000=2 0301T000000=3",
	}
	hold := func(what string) {
		t.Helper()
		for path, want := range want {
			if got := all(t, lib, file, path); got != want {
				t.Errorf("%s: %s: %s, want %s", what, path, got, want)
			}
		}
	}
	for range 2 {
		a, told := stored(t, lib, file, names, base...)
		if a.Stored != 14 || a.Unnamed != 1 || a.Series != 4 || told != "no series of NONE" {
			t.Errorf("%+v: %s", a, told)
		}
		hold("stored")
	}
	// A missing value does not erase; of two values the later one is taken.
	if a, _ := stored(t, lib, file, names, "HOUR 2024-01-30T23:00:00 -9999", "HOUR 2024-01-31T03:00:00 9", "HOUR 2024-01-31T03:00:00 6", "HOUR 2024-01-31T03:00:00 -9999"); a.Missing != 1 || a.Replaced != 2 || a.Stored != 1 {
		t.Errorf("%+v", a)
	}
	want[hour] = "cfs INST-VAL 0130T220000=1 0130T230000=2 0131T000000=3 0131T020000=4 0131T030000=6 0601T020000=5"
	hold("a missing value")
	// Irregular values between the first and the last stay, and the seconds of what is there.
	stored(t, lib, file, names, "IR 2024-01-30T22:00:00 0.5", "IR 2024-12-01T00:00:00 2.5")
	want[ir] = "ft INST-VAL 0130T220000=0.5 0130T220007=1 0301T000000=2 1201T000000=2.5 0101T000000=3"
	hold("irregular values")
	// Another unit, another type: refused.
	if a, told := stored(t, lib, file, names, "CMS 2024-01-31T05:00:00 6", "CUM 2024-01-31T05:00:00 6"); a.Refused != 2 || a.Series != 0 || !strings.Contains(told, "in cfs, not cms") || !strings.Contains(told, "as INST-VAL, not PER-CUM") {
		t.Errorf("%+v: %s", a, told)
	}
	hold("another unit")
	// Off the grid: the day's values stay at noon, what comes is irregular; months alike.
	off := []string{"HOUR 2024-01-31T05:30:00 6", "DAY 2024-02-02T06:00:00 4", "DAY 2024-02-03T12:00:00 5", "MONTH 2024-04-15T00:00:00 6"}
	if a, told := stored(t, lib, file, names, off...); a.Stored != 4 || strings.Count(told, "off its times of day") != 3 {
		t.Errorf("%+v: %s", a, told)
	}
	want[day] = "cfs PER-AVER 0130T120000=1 0131T120000=2 0201T120000=3 0203T120000=5"
	want["/A/B/FLOW//~1HOUR//"] = "cfs INST-VAL 0131T053000=6"
	want["/A/B/FLOW//~1DAY//"] = "cfs PER-AVER 0202T060000=4"
	want["/A/B/FLOW//IR-DECADE//"] = "cfs PER-AVER 0415T000000=6"
	if a, told := stored(t, lib, file, named{"DAY": {Name: "/A/C/FLOW//1DAY//", Unit: "cfs", Type: "PER-AVER", Step: 86400}},
		"DAY 2024-02-02T06:00:00 4", "DAY 2024-02-03T06:00:00 4", "DAY 2024-02-04T05:59:59 5"); a.Stored != 3 || !strings.Contains(told, "1 of 3 values") {
		t.Errorf("%+v: %s", a, told)
	}
	hold("off the grid")
	for name, text := range map[string]string{"text": "no DSS file, but long enough to be taken for one, were it not looked at", "empty": ""} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := (&Collection{Names: names}).StoreDSS(lib, path)
		if got, read := os.ReadFile(path); err == nil || string(got) != text || read != nil {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
	for _, bad := range []string{filepath.Join(t.TempDir(), "none.so"), os.Args[0]} {
		if err := (&Collection{Names: names}).StoreDSS(bad, file); err == nil {
			t.Errorf("%s is taken for the library", bad)
		}
	}
}

// TestDSSRandom stores random parts of series in random order, several times:
// what is read is what a map has.
func TestDSSRandom(t *testing.T) {
	lib := library(t)
	file := filepath.Join(t.TempDir(), "x.dss")
	r := rand.New(rand.NewPCG(7, 0))
	for e, step := range map[string]int64{"1MINUTE": 60, "15MINUTE": 900, "1HOUR": 3600, "6HOUR": 21600, "1DAY": 86400, "1WEEK": 604800, "1MONTH": month, "1YEAR": year, "IR-MONTH": 0} {
		w := Where{Name: "/A/B/C//" + e + "//", Unit: "ft", Type: "INST-VAL", Step: step}
		start := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		want := map[int64]float64{}
		for range 12 {
			c := &Collection{Names: named{"X": w}, Told: func(err error) { t.Error(err) }}
			at := start
			for range r.IntN(400) {
				at = after(at, max(step, 1))
			}
			for range r.IntN(300) + 1 {
				if step == 0 {
					at += r.Int64N(1e6) + 1
				} else {
					at = after(at, step)
				}
				if r.IntN(4) == 0 {
					continue
				}
				g := record.Gauge{Station: record.ID{'X'}, Time: at, Value: float64(r.IntN(1e6)) / 100}
				c.Add(&g)
				want[at] = g.Value
			}
			if err := c.StoreDSS(lib, file); err != nil || c.Refused > 0 {
				t.Fatal(err)
			}
		}
		f, err := open(lib, file)
		if err != nil {
			t.Fatal(err)
		}
		times := slices.Sorted(maps.Keys(want))
		if step == week {
			w.Name = "/A/B/C//IR-DECADE//"
		}
		got, err := f.read(w.Name, times[0], times[len(times)-1], 1<<20)
		for _, p := range got.Points {
			if v, ok := want[p.Time]; !ok || v != p.Value {
				t.Errorf("%s: %d is %v, want %v", e, p.Time, p.Value, v)
			}
		}
		if len(got.Points) != len(want) {
			t.Errorf("%s: %d values, want %d", e, len(got.Points), len(want))
		}
		if err := errors.Join(err, f.close()); err != nil {
			t.Error(err)
		}
	}
}
