package river

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// ingestRow returns a row of ingestfilter that admits a series, with the values that AWIPS uses
// (shef_load_ingest): rank 1 among the type-sources, and input of the second stage of precipitation
// processing (stg2_input) if the element is PC or PP.
func ingestRow(s series) string {
	stage2 := "F"
	if pe := string(s.pe[:]); pe == "PC" || pe == "PP" {
		stage2 = "T"
	}
	return fmt.Sprintf("ingestfilter (lid, pe, dur, ts, extremum, ts_rank, ingest, ofs_input, stg2_input) "+
		"VALUES (%s, %s, %d, %s, %s, 1, 'T', 'F', '%s')",
		quote(s.lid.String()), quote(string(s.pe[:])), s.dur, quote(string(s.ts[:])), quote(string(s.ext)), stage2)
}

// quote quotes a text for SQL.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// locationRow returns a row of location that admits a station. For each further required column it
// contains a psql variable, such as :'state', which the user sets.
func (r *reference) locationRow(lid string) string {
	columns, values := "lid, post", quote(lid)+", 1"
	for _, name := range r.required {
		columns += ", " + name
		values += ", :'" + name + "'"
	}
	return "location (" + columns + ") VALUES (" + values + ")"
}

// Unfilled lists the tables that AWIPS can fill and this poster does not fill, because of its tokens.
func (t *Tokens) Unfilled() []string {
	out := []string{"stnclass"}
	for table, filled := range map[string]bool{
		"riverstatus":    t.MaxForecast,
		"alertalarmval":  t.Alarm,
		"productlink":    t.Link,
		"latestobsvalue": t.Latest != "OFF" && t.Latest != "",
		"hourlypp":       t.Precipitation,
		"hourlypc":       t.Precipitation,
		"dailypp":        t.Precipitation,
		"textproduct":    t.StoreText,
		"unkstn":         t.Unknown != "NONE",
		"unkstnvalue":    t.Unknown == "IDS_AND_DATA",
	} {
		if !filled {
			out = append(out, table)
		}
	}
	slices.Sort(out)
	return out
}

// FilteredSeries is a series whose values the poster does not post, because the database does not admit the series or
// its station.
type FilteredSeries struct {
	Station    record.ID `json:"-"`
	Lid        string    `json:"lid"`
	PE         string    `json:"pe"`
	Duration   int16     `json:"dur"`
	TypeSource string    `json:"ts"`
	Extremum   string    `json:"ext"`
	Why        string    `json:"why"` // the name of a Fate: unknown, inactive or filtered
	Values     int64     `json:"values"`
	FirstValue float64   `json:"first_value"`
	LastValue  float64   `json:"last_value"`
	First      time.Time `json:"first"` // time of the first observation
	Last       time.Time `json:"last"`
	Cure       string    `json:"cure"` // the SQL that admits the series
}

// FilteredFinder finds the FilteredSeries of products, and the SQL that admits each. It posts nothing.
type FilteredFinder struct {
	db   *IHFS
	seen map[series]*FilteredSeries
}

// NewFilteredFinder returns a finder without products.
func (p *IHFS) NewFilteredFinder() *FilteredFinder {
	return &FilteredFinder{p, map[series]*FilteredSeries{}}
}

// Add judges each value of a product as the poster would.
func (x *FilteredFinder) Add(p *Product) {
	judged := &posting{IHFS: x.db, now: p.Issued, tables: map[string][]*row{}}
	for i := range p.Values {
		g := &p.Values[i]
		fate := new(Fate)
		if *fate = judged.judge(p, g, fate); *fate != Unknown && *fate != Inactive && *fate != Filtered {
			continue
		}
		s := judged.newRow(p, g, fate).series
		at := time.Unix(g.Time, 0).UTC()
		f := x.seen[s]
		if f == nil {
			f = x.newFiltered(s, *fate)
			f.First, f.FirstValue = at, g.Value
			x.seen[s] = f
		}
		if f.Values++; at.Before(f.First) {
			f.First, f.FirstValue = at, g.Value
		}
		if !at.Before(f.Last) {
			f.Last, f.LastValue = at, g.Value
		}
	}
}

// newFiltered describes a series without values, and the SQL that admits it.
func (x *FilteredFinder) newFiltered(s series, fate Fate) *FilteredSeries {
	f := &FilteredSeries{
		Station: s.lid, Lid: s.lid.String(), PE: string(s.pe[:]), Duration: s.dur,
		TypeSource: string(s.ts[:]), Extremum: string(s.ext), Why: Fates()[fate],
	}
	_, inFilter := x.db.ref.ingest[s]
	switch {
	case fate == Unknown:
		f.Cure = "INSERT INTO " + x.db.ref.locationRow(f.Lid) + "; "
	case fate == Inactive:
		f.Cure = "UPDATE location SET post = 1 WHERE lid = " + quote(f.Lid) + "; "
	case inFilter:
		f.Cure = fmt.Sprintf("UPDATE ingestfilter SET ingest = 'T' "+
			"WHERE lid = %s AND pe = '%s' AND dur = %d AND ts = '%s' AND extremum = '%s'; ",
			quote(f.Lid), f.PE, f.Duration, f.TypeSource, f.Extremum)
	}
	if !inFilter && !x.db.Tokens.LearnIngest { // otherwise the poster inserts the row
		f.Cure += "INSERT INTO " + ingestRow(s) + "; "
	}
	f.Cure = strings.TrimSpace(f.Cure)
	return f
}

// All returns the series that were found, those with the most values first.
func (x *FilteredFinder) All() (out []*FilteredSeries) {
	for _, k := range x.seen {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *FilteredSeries) int {
		return cmp.Or(cmp.Compare(b.Values, a.Values), strings.Compare(a.Lid, b.Lid), strings.Compare(a.Cure, b.Cure))
	})
	return out
}
