package river_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/river"
)

// TestLearnIngest: FilteredFinder lists a series that ingestfilter does not contain, with a statement that admits it.
// That statement works. With shef_load_ingest, the poster admits the series and adds its row. A series that is switched
// off stays excluded.
func TestLearnIngest(t *testing.T) {
	db, p := stocked(t, "learn")
	then := at(-2 * time.Hour)
	text := product(-time.Hour,
		".A AAA "+then+"/HL 1/PPQ .5/TA 3",
		".A AAA "+at(-3*time.Hour)+"/HL 2",
		".A XXX "+then+"/HG 1",
		".A OFF "+then+"/HG 1",
		".A BBB "+then+"/HG 2")
	in := river.Input{Options: shef.Options{Now: time.Now()}}
	look := func() (out []string) {
		x := p.NewFilteredFinder()
		if err := in.Read(strings.NewReader(text), "test", time.Now(), func(p *river.Product) error { x.Add(p); return nil }); err != nil {
			t.Fatal(err)
		}
		for _, s := range x.All() {
			series := fmt.Sprint(s.Lid, s.PE, s.Duration, s.TypeSource, s.Extremum)
			out = append(out, fmt.Sprint(series, " ", s.Why, " ", s.Values, " ", s.FirstValue, " ", s.LastValue, " ", s.Cure))
		}
		return out
	}
	const insert = "INSERT INTO ingestfilter (lid, pe, dur, ts, extremum, ts_rank, ingest, ofs_input, stg2_input) VALUES "
	want := []string{
		"AAAHL0RZZ filtered 2 2 1 " + insert + "('AAA', 'HL', 0, 'RZ', 'Z', 1, 'T', 'F', 'F');",
		"AAAPP1006RZZ filtered 1 0.5 0.5 " + insert + "('AAA', 'PP', 1006, 'RZ', 'Z', 1, 'T', 'F', 'T');",
		"AAATA0RZZ filtered 1 3 3 UPDATE ingestfilter SET ingest = 'T' " +
			"WHERE lid = 'AAA' AND pe = 'TA' AND dur = 0 AND ts = 'RZ' AND extremum = 'Z';",
		"OFFHG0RZZ inactive 1 1 1 UPDATE location SET post = 1 WHERE lid = 'OFF';",
		"XXXHG0RZZ unknown 1 1 1 INSERT INTO location (lid, post) VALUES ('XXX', 1); " +
			insert + "('XXX', 'HG', 0, 'RZ', 'Z', 1, 'T', 'F', 'F');",
	}
	got := look()
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if before := rows(t, db, "SELECT count(*) FROM height"); before != "0" {
		t.Error("looking posts " + before)
	}
	if _, err := db.Exec(t.Context(), strings.SplitAfterN(got[0], "1 ", 2)[1]); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := look(); !slices.Equal(got, want[1:]) {
		t.Errorf("after the statement: %q", got)
	}
	p.Tokens.LearnIngest = true // the poster needs no row of ingestfilter
	unknown, _, _ := strings.Cut(want[4], " INSERT INTO ingestfilter")
	if got := look(); !slices.Equal(got, []string{want[2], want[3], unknown}) {
		t.Errorf("with shef_load_ingest: %q", got)
	}
	for range 2 { // in the second round the rows exist
		got := post(t, p, text)
		if got[river.Filtered] != 1 || got[river.Inserted]+got[river.Unchanged] != 4 || got[river.Unknown] != 1 || got[river.Inactive] != 1 {
			t.Errorf("%v", got)
		}
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := rows(t, db, "SELECT ingest, stg2_input FROM ingestfilter WHERE lid = 'AAA' AND dur = 1006"); got != "T T" {
		t.Error(got)
	}
	for _, s := range got[3:] { // the station that is switched off, and the unknown one
		if _, err := db.Exec(t.Context(), s[strings.Index(s, " 1 1 1 ")+7:]); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := post(t, p, text); got[river.Inserted] != 2 || got[river.Filtered] != 1 {
		t.Errorf("with all statements: %v", got)
	}
	columns := "ALTER TABLE location ADD county text NOT NULL DEFAULT 'none', ADD wfo text; " +
		"ALTER TABLE location ALTER county DROP DEFAULT"
	if _, err := db.Exec(t.Context(), columns); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	text = product(-time.Hour, ".A YYY "+then+"/HG 1")
	if got := strings.Join(look(), ""); !strings.Contains(got, "INSERT INTO location (lid, post, county) VALUES ('YYY', 1, :'county');") {
		t.Error(got)
	}
	unfilled := "alertalarmval dailypp hourlypc hourlypp latestobsvalue productlink riverstatus stnclass textproduct unkstn unkstnvalue"
	if got := strings.Join(p.Tokens.Unfilled(), " "); got != unfilled {
		t.Error(got)
	}
}
