package river

import (
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/record"
)

// TestSlots: a time has the slot and the letter that AWIPS's gage_pp gives it. Midnight is hour 24 of the day before.
func TestSlots(t *testing.T) {
	tokens := DefaultTokens()
	kinds := tokens.accumulations()
	const pc, hour, six, day = 0, 1, 2, 3
	for _, c := range []struct {
		kind int
		at   string
		day  string // of the slot; "" = none
		slot int
		code byte
	}{
		{hour, "2026-11-20T13:00:00Z", "2026-11-20", 12, '0'},
		{hour, "2026-11-20T13:01:00Z", "2026-11-20", 12, 'A'},
		{hour, "2026-11-20T13:10:59Z", "2026-11-20", 12, 'J'},
		{hour, "2026-11-20T13:11:00Z", "", 0, 0},
		{hour, "2026-11-20T12:50:00Z", "2026-11-20", 12, 'j'},
		{hour, "2026-11-20T12:49:59Z", "", 0, 0},
		{hour, "2026-11-20T12:30:00Z", "", 0, 0},
		{hour, "2026-11-20T00:00:00Z", "2026-11-19", 23, '0'},
		{hour, "2026-11-20T00:05:00Z", "2026-11-19", 23, 'E'},
		{hour, "2026-11-19T23:58:00Z", "2026-11-19", 23, 'b'},
		{hour, "2026-11-19T22:58:00Z", "2026-11-19", 22, 'b'},
		{hour, "2026-03-01T00:05:00Z", "2026-02-28", 23, 'E'},
		{pc, "2026-11-20T00:55:00Z", "2026-11-20", 0, 'e'},
		{six, "2026-11-20T06:00:00Z", "2026-11-20", 24, '0'},
		{six, "2026-11-20T00:00:00Z", "2026-11-19", 27, '0'},
		{six, "2026-11-20T22:00:00Z", "2026-11-20", 27, 'l'}, // twelve ten minutes before
		{six, "2026-11-20T21:59:00Z", "", 0, 0},
		{six, "2026-11-20T14:00:00Z", "2026-11-20", 25, 'L'},
		{six, "2026-11-20T12:01:00Z", "2026-11-20", 25, 'A'}, // rounded up to ten minutes
		{six, "2026-11-20T11:59:00Z", "2026-11-20", 25, 'a'},
		{six, "2026-11-20T14:01:00Z", "", 0, 0},
		{day, "2026-11-20T09:00:00Z", "2026-11-20", 0, 0},
		{day, "2026-11-20T15:00:00Z", "2026-11-20", 0, 0},
		{day, "2026-11-20T15:01:00Z", "", 0, 0},
		{day, "2026-11-20T08:59:00Z", "", 0, 0},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		a := kinds[c.kind]
		end, in := a.endOf(at)
		if in != (c.day != "") {
			t.Errorf("%s %s: in a slot: %v", a.table, c.at, in)
		}
		if !in {
			continue
		}
		if c.kind == day {
			if end.Hour() != 12 || end.Format(time.DateOnly) != c.day {
				t.Errorf("%s %s: %s", a.table, c.at, end)
			}
			continue
		}
		date, number := a.slotOf(end)
		if code := a.offset(at.Truncate(time.Minute).Sub(end)); date.Format(time.DateOnly) != c.day || number != c.slot || code != c.code {
			t.Errorf("%s %s: slot %d of %s with %c, want %d of %s with %c",
				a.table, c.at, number, date.Format(time.DateOnly), code, c.slot, c.day, c.code)
		}
	}
}

// TestPeriodOfDay: a PPP counts as a day if it ends near 7 a.m. of the service's zone.
func TestPeriodOfDay(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, c := range []struct {
		zone string
		dur  int16
		at   string
		want bool
	}{
		{"America/New_York", ppPeriod, "2026-11-20T12:00:00Z", true}, // 7 a.m.
		{"America/New_York", ppPeriod, "2026-11-20T14:59:00Z", true},
		{"America/New_York", ppPeriod, "2026-11-20T15:00:00Z", false},
		{"America/New_York", ppPeriod, "2026-07-20T08:01:00Z", true}, // summer: 7 a.m. is 11Z
		{"America/Los_Angeles", ppPeriod, "2026-11-20T12:00:00Z", false},
		{"America/Los_Angeles", ppPeriod, "2026-11-20T15:00:00Z", true},
		{"UTC", ppPeriod, "2026-11-20T09:00:00Z", false},
		{"UTC", ppDay, "2026-11-20T09:00:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		tokens := DefaultTokens()
		tokens.Zone = zone(c.zone)
		if got := tokens.isDay(c.dur, at); got != c.want {
			t.Errorf("%s %d %s: %v", c.zone, c.dur, c.at, got)
		}
	}
}

// TestPreference: the order in which values are preferred for a slot does not depend on the order of their arrival.
func TestPreference(t *testing.T) {
	tokens := DefaultTokens()
	a := tokens.accumulations()[1]
	end := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	at := func(minutes int, value float64, dur int16, ext string) slotValue {
		return slotValue{dur: dur, ext: ext, at: end.Add(time.Duration(minutes) * time.Minute), value: value}
	}
	want := []slotValue{
		at(0, 1, 60, "Z"), at(0, 2, 1001, "Z"), at(0, 3, 1001, "X"), at(2, 4, 60, "Z"), at(-2, 5, 60, "Z"), at(3, 6, 60, "Z"),
		at(0, record.NoValue, 60, "Z"), at(1, record.NoValue, 60, "Z"),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, a.preference(end))
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
}

func TestInHundredths(t *testing.T) {
	for v, want := range map[float64]int16{
		0: 0, 0.125: 13, 327.67: 32767, 327.68: -9999, -0.01: -1, 1e30: -9999, -1e30: -9999, record.NoValue: -9999,
	} {
		if got := inHundredths(v); got != want {
			t.Errorf("%v: %d, want %d", v, got, want)
		}
	}
}
