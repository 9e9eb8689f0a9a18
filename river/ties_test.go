package river_test

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/river"
)

// TestTies posts products of one minute that contradict each other. The stored value does not
// depend on their order or on repetitions.
func TestTies(t *testing.T) {
	db, p := stocked(t, "ties")
	then := at(-2 * time.Hour)
	line := func(kind, values string) string { return product(-time.Hour, kind+" AAA "+then+values) }
	other := func(text string) string { return strings.Replace(text, "RR1LCH", "RR2LCH", 1) }
	for want, texts := range map[string][]string{
		"2 KLCHRR1LCH":  {line(".A", "/HG 1"), line(".A", "/HG 2"), line(".A", "/HG M")},
		"1 KLCHRR2LCH":  {other(line(".A", "/HG 1")), line(".A", "/HG 2"), line(".A", "/HG 3/HG 9")}, // the later name wins
		"1 KLCHRR1LCH":  {line(".AR", "/HG 1"), other(line(".A", "/HG 2")), line(".A", "/HG 7")},     // a revision wins
		"2 KLCHRR1LCH ": {line(".A", "/HG 3/HG 1"), line(".A", "/HG 2"), line(".A", "/HG 0/HG 2")},   // the last value of a product wins
		// A missing value does not replace a good one.
		"7 KLCHRR1LCH":     {line(".A", "/HG 7"), other(line(".A", "/HG M")), line(".A", "/HG 6")},
		"-9999 KLCHRR1LCH": {line(".A", "/HG 7"), line(".AR", "/HG M"), other(line(".A", "/HG M"))}, // except in a revision
		"5 KLCHRR2LCH":     {line(".A", "/HG 5"), other(line(".A", "/HG 5")), line(".A", "/HG 6")},  // equal values with two names
	} {
		want = strings.TrimSpace(want)
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			if _, err := db.Exec(t.Context(), "TRUNCATE height"); err != nil {
				t.Fatal(err)
			}
			var all string
			for round := range 2 {
				for _, i := range order {
					post(t, p, texts[i])
					all += texts[i]
					if got := rows(t, db, "SELECT value, product_id FROM height"); round > 0 && got != want {
						t.Fatalf("%q in order %v, round %d: %s, want %s", texts, order, round, got, want)
					}
				}
			}
			post(t, p, all) // in one transaction
			if got := rows(t, db, "SELECT value, product_id FROM height"); got != want {
				t.Fatalf("%q in order %v at once: %s, want %s", texts, order, got, want)
			}
		}
	}
}

// TestTwoValuesOfAKey: a product with two values of one key, posted again, updates nothing.
func TestTwoValuesOfAKey(t *testing.T) {
	db, p := stocked(t, "twovalues")
	revised := func(value string) string { return "/HG 1\r\r\n.AR AAA " + at(-2*time.Hour) + "/HG " + value }
	for _, second := range []string{"/HG 1/HG 2", "/HG 2/HG 1", "/HG M/HG 1", revised("2"), revised("M")} {
		text := product(-time.Hour, ".A AAA "+at(-2*time.Hour)+second)
		if _, err := db.Exec(t.Context(), "TRUNCATE height"); err != nil {
			t.Fatal(err)
		}
		post(t, p, text)
		if got := post(t, p, text); got[river.Updated]+got[river.Inserted] > 0 {
			t.Errorf("%q again: %v", second, got)
		}
	}
}

// TestAlarms checks the alarms of a value in AWIPS's order of tests. A later value without an alarm
// removes the alarm. A value that is out of the gross range, rejected or excluded raises none.
// Posting again changes nothing.
func TestAlarms(t *testing.T) {
	db, p := stocked(t, "alarms")
	if _, err := db.Exec(t.Context(), `UPDATE datalimits SET gross_range_min = -10, gross_range_max = 50;
		UPDATE datalimits SET alarm_upper_limit = 30, alert_upper_limit = 20, alarm_lower_limit = 1, alert_lower_limit = 2`); err != nil {
		t.Fatal(err)
	}
	p.Tokens.Alarm = true
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT lid, ts, aa_categ, aa_check, value FROM alertalarmval"
	at, ahead := at(-2*time.Hour), at(2*time.Hour)
	for i, c := range []struct{ line, want string }{
		{".A AAA " + at + "/HG 19.9", ""},
		{".A AAA " + at + "/HG 20", "AAA RZ ALERT UPPER 20"},
		{".AR AAA " + at + "/HG 30", "AAA RZ ALARM UPPER 30"},
		{".AR AAA " + at + "/HG 31", "AAA RZ ALARM UPPER 31"},
		{".AR AAA " + at + "/HG 60", "AAA RZ ALARM UPPER 31"}, // rejected
		{".AR AAA " + at + "/HG 5", ""},
		{".AR AAA " + at + "/HG 2", "AAA RZ ALERT LOWER 2"},
		{".AR AAA " + at + "/HG M", ""},
		{".A AAA " + ahead + "/HGIFZ 1/HGICZ 1", "AAA FZ ALARM LOWER 1"}, // contingency forecasts raise none
		{".A BBB " + at + "/HG 9.9", "AAA FZ ALARM LOWER 1"},             // the station's own limits contain no alarm limits
	} {
		text := product(time.Duration(i-60)*time.Minute, c.line)
		post(t, p, text)
		if got := rows(t, db, query); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.line, got, c.want)
		}
		before := everything(t, db)
		if post(t, p, text); everything(t, db) != before {
			t.Errorf("%s: posting again changes something", c.line)
		}
	}
	first, second := product(-20*time.Minute, ".AR AAA "+at+"/HG 21"), product(-19*time.Minute, ".AR AAA "+at+"/HG 32")
	post(t, p, first+second) // in one transaction, with the result of two
	if got := rows(t, db, query); got != "AAA FZ ALARM LOWER 1\nAAA RZ ALARM UPPER 32" {
		t.Error(got)
	}
	if _, err := db.Exec(t.Context(), "ALTER TABLE locdatalimits DROP alert_lower_limit"); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "locdatalimits without the column alert_lower_limit") {
		t.Error(err)
	}
}
