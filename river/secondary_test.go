package river_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/river"
)

// TestPrecipitation: the poster fills hourlypc, hourlypp and dailypp. Each slot gets the value that is nearest to its
// end, in any order of arrival. The poster ignores series that are not for the second stage, and values outside the
// windows. It keeps values that a person entered. Posting again changes nothing.
func TestPrecipitation(t *testing.T) {
	db, p := stocked(t, "precipitation")
	if _, err := db.Exec(t.Context(), `INSERT INTO ingestfilter VALUES ('AAA','PP',1006,'RZ','Z',1,'T','F','T'),
		('AAA','PP',2001,'RZ','Z',1,'T','F','T'), ('AAA','PP',5004,'RZ','Z',1,'T','F','T'),
		('BBB','PP',1001,'RZ','Z',1,'T','F','F'), ('AAA','PP',1003,'RZ','Z',1,'T','F','T');
		UPDATE ingestfilter SET stg2_input = 'T' WHERE lid = 'AAA'; DELETE FROM datalimits`); err != nil {
		t.Fatal(err)
	}
	p.Tokens.Precipitation = true
	var err error
	if p.Tokens.Zone, err = time.LoadLocation("America/New_York"); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	day := time.Now().UTC().Add(-48 * time.Hour).Truncate(24 * time.Hour)
	line := func(station, clock, values string) string {
		return fmt.Sprintf(".A %s %s Z DH%s/%s", station, day.Format("20060102"), clock, values)
	}
	texts := []string{
		line("AAA", "0000", "PPH .24"), line("AAA", "0558", "PPH .06"), line("AAA", "0603", "PPH .63"),
		line("AAA", "0700", "PPH M"), line("AAA", "0709", "PPH .07"),
		line("AAA", "0811", "PPH .99"), line("AAA", "0900", "PPH 400.0"), line("AAA", "1000", "PPT .99"),
		line("AAA", "0905", "PC 1.25"), line("AAA", "0855", "PC 1.20Q"),
		line("AAA", "1130", "PPQ .6"), line("AAA", "1500", "PPQ .9"), line("AAA", "1205", "PPD 1.2"),
		line("AAA", "1400", "PPD 1.9"), line("AAA", "1159", "PPP 1.1"), line("AAA", "1600", "PPP 2.2"),
		line("BBB", "1000", "PPH .5"),
	}
	hours := func(set map[int]string) string {
		var out []string
		for i := 1; i <= 24; i++ {
			if v, ok := set[i]; ok {
				out = append(out, v)
			}
		}
		return strings.Join(out, " ")
	}
	letters := func(n int, set map[int]byte) string {
		out := []byte(strings.Repeat("-", n))
		for i, c := range set {
			out[i-1] = c
		}
		return string(out)
	}
	before, at := day.Add(-24*time.Hour).Format("0102T15:04"), day.Format("0102T15:04")
	want := map[string]string{
		"SELECT lid, ts, obsdate, minute_offset, hourly_qc, hour24, hour6 FROM hourlypp WHERE hour24 IS NOT NULL": "AAA RZ " +
			before + " " + letters(24, map[int]byte{24: '0'}) + " " + letters(24, map[int]byte{24: 'Z'}) + " 24 <nil>",
		"SELECT obsdate, minute_offset, concat_ws(' ', hour6, hour7, hour8, hour9, hour10) h FROM hourlypp WHERE hour6 IS NOT NULL": at + " " +
			letters(24, map[int]byte{6: 'b', 7: 'I', 9: '0'}) + " " + hours(map[int]string{6: "6", 7: "7", 9: "-9999"}),
		"SELECT sixhr06, sixhr12, sixhr18, sixhroffset, sixhrqc FROM hourlypp WHERE sixhr12 IS NOT NULL": "<nil> 60 <nil> -c-- -Z--",
		"SELECT obsdate, minute_offset, hourly_qc, hour9 FROM hourlypc": at + " " +
			letters(24, map[int]byte{9: 'E'}) + " " + letters(24, map[int]byte{9: 'Z'}) + " 125",
		"SELECT lid, obstime, value, qc FROM dailypp": "AAA " + day.Add(12*time.Hour).Format("0102T15:04") + " 1.1 Z",
		"SELECT count(*) FROM hourlypp":               "2",
	}
	check := func(order string) {
		t.Helper()
		for query, want := range want {
			if got := rows(t, db, query); got != want {
				t.Errorf("%s: %s:\n%s\nwant\n%s", order, query, got, want)
			}
		}
	}
	post(t, p, product(-time.Hour, texts...))
	check("in one product")
	stored := everything(t, db, "postingtime")
	post(t, p, product(-time.Hour, texts...))
	if again := everything(t, db, "postingtime"); again != stored {
		t.Errorf("posting again changes\n%s\nto\n%s", stored, again)
	}
	if _, err := db.Exec(t.Context(), "TRUNCATE hourlypp, hourlypc, dailypp, rawpp, rawpc"); err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		post(t, p, product(-time.Hour, texts[len(texts)-1-i]))
	}
	check("one by one, in the reverse order")

	// the poster keeps values that a person entered, and changes the rest of the row
	const edit = "UPDATE hourlypp SET hour6 = 77, hourly_qc = overlay(hourly_qc placing 'M' from 6) WHERE hour6 IS NOT NULL; " +
		"UPDATE dailypp SET value = 7, qc = 'M'"
	if _, err := db.Exec(t.Context(), edit); err != nil {
		t.Fatal(err)
	}
	post(t, p, product(-30*time.Minute, line("AAA", "0600", "PPH .5"), line("AAA", "0500", "PPH .4"), line("AAA", "1200", "PPD .3")))
	if got := rows(t, db, "SELECT hour5, hour6, hour7 FROM hourlypp WHERE hour6 IS NOT NULL"); got != "40 77 7" {
		t.Error(got)
	}
	if got := rows(t, db, "SELECT value FROM dailypp"); got != "7" {
		t.Error(got)
	}
	// the raw table was purged: a value that is farther from the hour replaces none, but one whose nearest value was
	// revised to missing loses it
	if _, err := db.Exec(t.Context(), "DELETE FROM rawpp WHERE obstime = $1", day.Add(5*time.Hour)); err != nil {
		t.Fatal(err)
	}
	revised := ".AR" + strings.TrimPrefix(line("AAA", "0700", "PPH M"), ".A")
	post(t, p, product(-20*time.Minute, line("AAA", "0507", "PPH .9"), line("AAA", "0703", "PPH .33"), revised))
	if got := rows(t, db, "SELECT hour5, hour6, hour7 FROM hourlypp WHERE hour6 IS NOT NULL"); got != "40 77 33" {
		t.Error(got)
	}
	// another program may have stored a row with an empty code
	if _, err := db.Exec(t.Context(), "UPDATE rawpp SET shef_qual_code = '' WHERE value = 0.33"); err != nil {
		t.Fatal(err)
	}
	post(t, p, product(-10*time.Minute, line("AAA", "0705", "PPH .44")))
	if got := rows(t, db, "SELECT hour7 FROM hourlypp WHERE hour6 IS NOT NULL"); got != "33" {
		t.Error(got)
	}
	if got := strings.Join(p.Tokens.Unfilled(), " "); strings.Contains(got, "hourlypp") || strings.Contains(got, "dailypp") {
		t.Error(got)
	}
	if _, err := db.Exec(t.Context(), "ALTER TABLE hourlypp DROP COLUMN hour17"); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "table hourlypp without the column hour17") {
		t.Error(err)
	}
}

// TestStoreText: the poster stores the latest versions of the products in purgeproduct. It does not store a text again
// that arrives again, in a transaction of its own or in a batch.
func TestStoreText(t *testing.T) {
	db, p := stocked(t, "storetext")
	p.Tokens.StoreText = true
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := at(-2 * time.Hour)
	text := func(ago int, value string) string {
		return product(-time.Duration(ago)*time.Minute, ".A AAA "+at+"/HG "+value, "'caf\xe9' \x00")
	}
	read := func(texts ...string) {
		t.Helper()
		in := river.Input{Options: shef.Options{Now: time.Now()}, KeepText: true}
		var all []*river.Product
		if err := in.Read(strings.NewReader(strings.Join(texts, "")), "test", time.Now(), func(p *river.Product) error {
			all = append(all, p)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Post(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	read(text(60, "1"), "\r\r\n \n") // blanks behind a product are none
	if got := rows(t, db, "SELECT product_id, num_versions, (SELECT count(*) FROM textproduct) n FROM purgeproduct"); got != "KLCHRR1LCH 0 0" {
		t.Error(got)
	}
	if _, err := db.Exec(t.Context(), "UPDATE purgeproduct SET num_versions = 2"); err != nil {
		t.Fatal(err)
	}
	const stored = "SELECT product_id, prodtype, substring(product from '/HG [^ \n]*') v, position(chr(13) in product) r FROM textproduct"
	for range 2 {
		read(text(60, "1"))
		if got := rows(t, db, stored); got != "KLCHRR1LCH O /HG 1 0" {
			t.Error(got)
		}
	}
	for range 2 {
		read(text(60, "1"), text(50, "2"), text(50, "3"), text(50, "3"))
		if got := rows(t, db, stored); got != "KLCHRR1LCH O /HG 2 0\nKLCHRR1LCH O /HG 3 0" {
			t.Error(got)
		}
	}
	const texts = "SELECT count(*), count(DISTINCT postingtime), bool_and(product LIKE '%caf?%') FROM textproduct"
	if got := rows(t, db, texts); got != "2 2 true" {
		t.Error(got)
	}
	read(strings.ReplaceAll(text(40, "4"), "RR1LCH", "RVFLCH"))
	if _, err := db.Exec(t.Context(), "UPDATE purgeproduct SET num_versions = 1 WHERE product_id = 'KLCHRVFLCH'"); err != nil {
		t.Fatal(err)
	}
	read(strings.ReplaceAll(text(30, "5"), "RR1LCH", "RVFLCH"))
	if got := rows(t, db, "SELECT prodtype FROM textproduct WHERE product_id = 'KLCHRVFLCH'"); got != "F" {
		t.Error(got)
	}
}
